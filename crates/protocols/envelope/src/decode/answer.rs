//! Answers to questions, in `metadata`.
//!
//! `confirmation {id, approve}` approves or declines exactly one pending call. `answer {id, …}` answers the other kinds of question:
//! with a `value` (an object is taken as arguments, anything else as words), a `token`, `visited: true` or `declined: true`. The id names
//! the question and with it the task.

use interlingua_model::json::Tree;
use interlingua_model::{Answer, Input, Json, MessageId, QuestionId, Secret, Signal, TaskId};

use crate::invalid::Rule;
use crate::wire::Message;

/// The signal a message brings, if it brings one.
pub(super) fn decode(message: &Message) -> Result<Option<(TaskId, Signal)>, Rule> {
    let (asked, answer) = match (message.metadata.get("confirmation"), message.metadata.get("answer")) {
        (None, None) => return Ok(None),
        (Some(confirmation), None) => (confirmation, approval(confirmation)?),
        (None, Some(answer)) => (answer, given(answer)?),
        (Some(_), Some(_)) => return Err(Rule::TwoAnswers),
    };
    let question = question(asked)?;
    let message = MessageId(message.control.message_id.clone());
    Ok(Some((question.0, Signal::Answered { question, message, answer })))
}

fn question(asked: &Tree) -> Result<QuestionId, Rule> {
    let id = asked.get("id").and_then(Tree::as_str).ok_or(Rule::NoQuestion)?;
    id.parse().map_err(|_| Rule::UnknownQuestion)
}

fn approval(confirmation: &Tree) -> Result<Answer, Rule> {
    match confirmation.get("approve").and_then(Tree::as_bool) {
        Some(true) => Ok(Answer::Granted),
        Some(false) => Ok(Answer::Declined),
        None => Err(Rule::UnclearApproval),
    }
}

fn given(answer: &Tree) -> Result<Answer, Rule> {
    let says = |key| answer.get(key).and_then(Tree::as_bool) == Some(true);
    if says("declined") {
        return Ok(Answer::Declined);
    }
    if says("visited") {
        return Ok(Answer::Visited);
    }
    if let Some(token) = answer.get("token").and_then(Tree::as_str) {
        return Ok(Answer::Token(Secret::new(token)));
    }
    match answer.get("value") {
        None => Err(Rule::EmptyAnswer),
        Some(Tree::String(words)) => Ok(Answer::Given(Input::text(words))),
        Some(value @ Tree::Object(_)) => Ok(Answer::Given(Input::args(Json::from_tree(value.clone())))),
        Some(other) => Ok(Answer::Given(Input::text(&other.to_string()))),
    }
}
