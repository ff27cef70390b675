//! A question on the terminal, and its answer to the hub.

use std::io::BufRead;

use interlingua_core::Json;
use interlingua_core::percent::encoded;
use interlingua_core::words::folded;
use serde_json::{Map, Value};

use super::client::{Client, Extras};
use super::decide::Decision;
use super::screen::{Screen, plain};
use super::{Exit, Failure};
use crate::api::view::{AnswerRequest, QuestionView, SignalRequest, TaskView};

/// What a person can say to a question.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reply {
    Yes,
    No,
    Words(String),
    Fields(Json),
    Token(String),
    Visited,
}

/// Nobody can be asked here.
pub(super) fn needed(question: &QuestionView) -> Failure {
    let what = plain(&question.text);
    let how = match question.kind.as_str() {
        "confirm" => format!("interlingua approve {0}   or   interlingua deny {0}", question.id),
        "visit" => format!("interlingua answer {} --visited   once you have been at the address", question.id),
        "credential" => format!("interlingua answer {} -   with the token on standard input", question.id),
        _ => format!("interlingua answer {} ANSWER", question.id),
    };
    Failure::new(Exit::Needed, format!("{what}\n  {how}"))
}

/// Asks on standard error, reads from standard input.
pub(super) fn ask(screen: Screen, question: &QuestionView) -> Result<Reply, Failure> {
    screen.note(&described(question));
    let mut input = std::io::stdin().lock();
    match question.kind.as_str() {
        "confirm" => {
            screen.note("yes or no? [no]");
            Ok(if affirmative(&line(&mut input)?) { Reply::Yes } else { Reply::No })
        }
        "credential" => {
            screen.note("token (it is shown while you type; an empty line declines):");
            let token = line(&mut input)?;
            Ok(if token.is_empty() { Reply::No } else { Reply::Token(token) })
        }
        "visit" => {
            screen.note("press return once you have been there, or type no");
            let text = line(&mut input)?;
            Ok(if text.is_empty() || affirmative(&text) { Reply::Visited } else { Reply::No })
        }
        "input" => fill(screen, question, &mut input),
        other => Err(Failure::new(Exit::Needed, format!("this program cannot answer a question of kind {other}"))),
    }
}

pub(super) fn described(question: &QuestionView) -> String {
    let mut text = format!("? {}", question.text);
    if let Some(confirm) = &question.confirm {
        text.push_str(&format!("\n  {} ({})", confirm.skill, confirm.effects.words()));
    }
    if let Some(arguments) = unsaid(question) {
        text.push_str(&format!("\n  {arguments}"));
    }
    if let Some(url) = &question.url {
        text.push_str(&format!("\n  {url}"));
    }
    // A question of the hub's own lists its choices itself.
    let listed = question.choices.iter().all(|choice| question.text.contains(&choice.id));
    for (number, choice) in question.choices.iter().enumerate().filter(|_| !listed) {
        text.push_str(&format!("\n  {}. {}", number + 1, choice.text));
    }
    plain(&text)
}

/// The arguments of a call that waits for a yes, where the question's own words do not hold all of them.
pub(super) fn unsaid(question: &QuestionView) -> Option<String> {
    let arguments = folded::arguments(question.confirm.as_ref()?.arguments.as_ref()?.as_str());
    (!question.text.contains(&arguments)).then_some(arguments)
}

/// A person's yes on the terminal.
pub(super) fn agrees(screen: Screen) -> Result<bool, Failure> {
    screen.note("yes or no? [no]");
    Ok(affirmative(&line(&mut std::io::stdin().lock())?))
}

/// A person's decision; none to leave it as it is.
pub(super) fn decision(screen: Screen) -> Result<Option<Decision>, Failure> {
    screen.note("approve? y/n [leave it]");
    let said = line(&mut std::io::stdin().lock())?;
    let refused = matches!(said.to_lowercase().as_str(), "n" | "no");
    Ok(if affirmative(&said) { Some(Decision::Approve) } else { refused.then_some(Decision::Deny) })
}

fn affirmative(text: &str) -> bool {
    matches!(text.to_lowercase().as_str(), "y" | "yes" | "s" | "sí" | "si")
}

fn line(input: &mut impl BufRead) -> Result<String, Failure> {
    let mut text = String::new();
    match input.read_line(&mut text) {
        Ok(0) | Err(_) => Err(Failure::new(Exit::Needed, "no answer was given")),
        Ok(_) => Ok(text.trim().to_owned()),
    }
}

/// A choice by number, the fields of the form one by one, or words.
fn fill(screen: Screen, question: &QuestionView, input: &mut impl BufRead) -> Result<Reply, Failure> {
    if !question.choices.is_empty() {
        screen.note("number:");
        let text = line(input)?;
        let chosen = text.parse::<usize>().ok().and_then(|number| question.choices.get(number.checked_sub(1)?));
        return Ok(Reply::Words(chosen.map_or(text, |choice| choice.id.clone())));
    }
    let form = question.form.as_ref().map(|form| form.tree().clone()).unwrap_or_default();
    let Some(properties) = form.get("properties").and_then(Value::as_object).filter(|fields| !fields.is_empty()) else {
        return line(input).map(Reply::Words);
    };
    let required: Vec<&str> =
        form.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let mut fields = Map::new();
    for (name, schema) in properties {
        let about = schema.get("description").or_else(|| schema.get("title")).and_then(Value::as_str);
        let optional = if required.contains(&name.as_str()) { "" } else { " (optional)" };
        let about = about.map(|about| format!(" – {about}")).unwrap_or_default();
        screen.note(&plain(&format!("{name}{about}{optional}:")));
        let text = line(input)?;
        if !text.is_empty() {
            fields.insert(name.clone(), typed(&text, schema));
        }
    }
    Ok(Reply::Fields(Json::from_tree(Value::Object(fields))))
}

/// What was typed, as the schema wants it; the hub says when it does not fit.
fn typed(text: &str, schema: &Value) -> Value {
    let wanted = schema.get("type").and_then(Value::as_str).unwrap_or("string");
    match wanted {
        "string" => Value::from(text),
        "boolean" if affirmative(text) => Value::from(true),
        "boolean" if matches!(text.to_lowercase().as_str(), "n" | "no") => Value::from(false),
        _ => serde_json::from_str(text).unwrap_or_else(|_| Value::from(text)),
    }
}

pub(super) async fn send(client: &Client, question: &QuestionView, reply: Reply) -> Result<(), Failure> {
    let mut answer = AnswerRequest { question: question.id.clone(), ..AnswerRequest::default() };
    match (question.kind.as_str(), reply) {
        (_, Reply::Yes) => answer.approve = Some(true),
        ("confirm", Reply::No) => answer.approve = Some(false),
        (_, Reply::No) => answer.decline = true,
        (_, Reply::Words(text)) => answer.text = Some(text),
        (_, Reply::Fields(fields)) => answer.arguments = Some(fields),
        (_, Reply::Token(token)) => answer.token = Some(token),
        (_, Reply::Visited) => answer.visited = true,
    }
    let signal = SignalRequest { answer: Some(answer), ..SignalRequest::default() };
    let path = format!("/api/tasks/{}/signals", encoded(&question.task));
    client.post::<TaskView>(&path, &signal, &Extras::default()).await.map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::{Reply, Screen, fill, line, typed};
    use crate::api::view::{ChoiceView, QuestionView};
    use interlingua_core::Json;
    use serde_json::json;

    fn question(form: Option<&str>) -> QuestionView {
        QuestionView {
            id: "t.1".into(),
            task: "t".into(),
            kind: "input".into(),
            to: "caller".into(),
            text: "Which?".into(),
            asked_by: "hub".into(),
            expires: String::new(),
            form: form.map(|form| Json::parse(form.to_owned().into()).unwrap()),
            ..QuestionView::default()
        }
    }

    #[test]
    fn what_is_typed_becomes_what_the_schema_wants() {
        assert_eq!(typed("2", &json!({ "type": "integer" })), json!(2));
        assert_eq!(typed("2", &json!({ "type": "string" })), json!("2"));
        assert_eq!(typed("sí", &json!({ "type": "boolean" })), json!(true));
        assert_eq!(typed("two", &json!({ "type": "integer" })), json!("two"));
    }

    #[test]
    fn a_form_is_filled_in_field_by_field() {
        let form = r#"{"properties":{"city":{"type":"string"},"nights":{"type":"integer"}},"required":["city"]}"#;
        let reply = fill(Screen { json: true }, &question(Some(form)), &mut "Vienna\n\n".as_bytes()).unwrap();
        assert_eq!(reply, Reply::Fields(Json::from_tree(json!({ "city": "Vienna" }))));
    }

    #[test]
    fn a_choice_is_taken_by_its_number() {
        let mut asked = question(None);
        asked.choices = ["a", "b"].map(|id| ChoiceView { id: id.into(), text: id.into() }).to_vec();
        assert_eq!(fill(Screen { json: true }, &asked, &mut "2\n".as_bytes()).unwrap(), Reply::Words("b".into()));
    }

    #[test]
    fn the_end_of_input_is_no_answer() {
        assert_eq!(line(&mut "".as_bytes()).unwrap_err().exit.code(), 5);
    }
}
