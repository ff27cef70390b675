//! Answers to questions, brought in `metadata`.
//!
//! `confirmation {id, approve}` says yes or no to exactly one pending call. `answer {id, …}` answers the other
//! kinds of question: with a `value` (an object is taken as arguments, anything else as words), a `token`, `visited: true`
//! or `declined: true`. The id names the question and with it the task.

use interlingua_model::json::Tree;
use interlingua_model::{Answer, Fault, FaultKind, Input, Json, MessageId, Noun, QuestionId, Secret, Signal, TaskId};

use crate::wire::Message;

/// The signal a message brings, if it brings one.
pub(super) fn decode(message: &Message) -> Result<Option<(TaskId, Signal)>, Fault> {
    let (asked, answer) = match (message.metadata.get("confirmation"), message.metadata.get("answer")) {
        (None, None) => return Ok(None),
        (Some(confirmation), None) => (confirmation, approval(confirmation)?),
        (None, Some(answer)) => (answer, given(answer)?),
        (Some(_), Some(_)) => return Err(malformed("metadata has a confirmation and an answer: send them one by one")),
    };
    let question = question(asked)?;
    let message = MessageId(message.control.message_id.clone());
    Ok(Some((question.0, Signal::Answered { question, message, answer })))
}

/// What is not an id of ours names nothing: the same answer as for one nobody knows.
fn question(asked: &Tree) -> Result<QuestionId, Fault> {
    let Some(id) = asked.get("id").and_then(Tree::as_str) else {
        return Err(malformed("the id of the question is missing"));
    };
    id.parse().map_err(|_| Fault::caller(FaultKind::NotFound(Noun::Task), "no such question is open"))
}

fn approval(confirmation: &Tree) -> Result<Answer, Fault> {
    match confirmation.get("approve").and_then(Tree::as_bool) {
        Some(true) => Ok(Answer::Granted),
        Some(false) => Ok(Answer::Declined),
        None => Err(malformed("metadata.confirmation.approve must be true or false")),
    }
}

fn given(answer: &Tree) -> Result<Answer, Fault> {
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
        None => Err(malformed("metadata.answer has neither value, token, visited nor declined")),
        Some(Tree::String(words)) => Ok(Answer::Given(Input::text(words))),
        Some(value @ Tree::Object(_)) => Ok(Answer::Given(Input::args(Json::from_tree(value.clone())))),
        Some(other) => Ok(Answer::Given(Input::text(&other.to_string()))),
    }
}

fn malformed(text: &str) -> Fault {
    Fault::caller(FaultKind::Malformed, text)
}
