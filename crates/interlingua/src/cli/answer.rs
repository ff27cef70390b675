//! Prompt on the terminal for a question of a task, and its answer to the hub.

use interlingua_machines::words::folded;
use interlingua_model::Json;
use interlingua_model::percent::encoded;
use serde_json::{Map, Value};

use super::client::{Client, Extras};
use super::decide::Decision;
use super::screen::{Screen, plain};
use super::{Exit, Failure, lines};
use interlingua_api::view::{AnswerRequest, QuestionView, SignalRequest, TaskView};

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
        // Its text says who can, and how.
        "confirm" if question.to == "approvers" => {
            format!("interlingua tasks {}   shows what came of it", question.task)
        }
        "confirm" => format!("interlingua approve {0}   or   interlingua deny {0}", question.id),
        "visit" => format!("interlingua answer {} --visited   once you have been at the address", question.id),
        "credential" => format!("interlingua answer {} -   with the token on standard input", question.id),
        _ => format!("interlingua answer {} ANSWER", question.id),
    };
    Failure::new(Exit::Needed, format!("{what}\n  {how}"))
}

/// Asks on standard error, reads from the terminal.
pub(super) fn ask(screen: Screen, question: &QuestionView) -> Result<Reply, Failure> {
    screen.note(&described(question));
    match question.kind.as_str() {
        "confirm" => Ok(if agrees(screen)? { Reply::Yes } else { Reply::No }),
        "credential" => {
            screen.note("token (an empty line declines):");
            let token = lines::secret()?;
            Ok(if token.is_empty() { Reply::No } else { Reply::Token(token) })
        }
        "visit" => {
            screen.note("press return once you have been there, or type no");
            let text = lines::answer()?;
            Ok(if text.is_empty() || affirmative(&text) { Reply::Visited } else { Reply::No })
        }
        "input" => fill(screen, question, &mut lines::answer),
        other => Err(Failure::new(Exit::Needed, format!("this program cannot answer a question of kind {other}"))),
    }
}

pub(super) fn described(question: &QuestionView) -> String {
    let mut text = format!("? {}", question.text);
    if let Some(confirm) = &question.confirm {
        // Where the question names the call, only what it does is new.
        let skill = if question.text.contains(&confirm.skill) { "effects:" } else { &confirm.skill };
        text.push_str(&format!("\n  {skill} {}", confirm.effects.words()));
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
    Ok(affirmative(&lines::answer()?))
}

/// A person's decision; none to leave it as it is.
pub(super) fn decision(screen: Screen) -> Result<Option<Decision>, Failure> {
    screen.note("approve? y/n [leave it]");
    let said = lines::answer()?;
    let refused = matches!(said.to_lowercase().as_str(), "n" | "no");
    Ok(if affirmative(&said) { Some(Decision::Approve) } else { refused.then_some(Decision::Deny) })
}

fn affirmative(text: &str) -> bool {
    matches!(text.to_lowercase().as_str(), "y" | "yes" | "s" | "sí" | "si")
}

/// A choice by number, the fields of the form one by one, or words.
fn fill(
    screen: Screen,
    question: &QuestionView,
    line: &mut impl FnMut() -> Result<String, Failure>,
) -> Result<Reply, Failure> {
    if !question.choices.is_empty() {
        screen.note("number:");
        let text = line()?;
        let chosen = text.parse::<usize>().ok().and_then(|number| question.choices.get(number.checked_sub(1)?));
        return Ok(Reply::Words(chosen.map_or(text, |choice| choice.id.clone())));
    }
    let form = question.form.as_ref().map(|form| form.tree().clone()).unwrap_or_default();
    let Some(properties) = form.get("properties").and_then(Value::as_object).filter(|fields| !fields.is_empty()) else {
        return line().map(Reply::Words);
    };
    let required: Vec<&str> =
        form.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let mut fields = Map::new();
    for (name, schema) in properties {
        let about = schema.get("description").or_else(|| schema.get("title")).and_then(Value::as_str);
        let optional = if required.contains(&name.as_str()) { "" } else { " (optional)" };
        let about = about.map(|about| format!(" – {about}")).unwrap_or_default();
        screen.note(&plain(&format!("{name}{about}{optional}:")));
        let text = line()?;
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
        _ => Json::parse(text.to_owned().into()).map_or_else(|_| Value::from(text), |value| value.tree().clone()),
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
    use super::{Reply, Screen, described, fill, typed};
    use crate::cli::Failure;
    use interlingua_api::view::{ChoiceView, QuestionView};
    use interlingua_model::Json;
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

    /// Lines that somebody types.
    fn says(lines: &'static [&'static str]) -> impl FnMut() -> Result<String, Failure> {
        let mut lines = lines.iter();
        move || Ok((*lines.next().unwrap()).to_owned())
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
        let reply = fill(Screen { json: true }, &question(Some(form)), &mut says(&["Vienna", ""])).unwrap();
        assert_eq!(reply, Reply::Fields(Json::from_tree(json!({ "city": "Vienna" }))));
    }

    #[test]
    fn a_choice_is_taken_by_its_number() {
        let mut asked = question(None);
        asked.choices = ["a", "b"].map(|id| ChoiceView { id: id.into(), text: id.into() }).to_vec();
        assert_eq!(fill(Screen { json: true }, &asked, &mut says(&["2"])).unwrap(), Reply::Words("b".into()));
    }

    #[test]
    fn a_call_that_the_question_names_and_choices_that_it_lists_are_not_told_again() {
        let mut asked = question(None);
        asked.kind = "confirm".into();
        asked.text = "Shall I run local/erase with {\"what\":\"all\"}?".into();
        let effects = json!({"reads": false, "writes": false, "destroys": true, "spends": false, "idempotent": false});
        let confirm = json!({"skill": "local/erase", "arguments": {"what": "all"}, "effects": effects});
        asked.confirm = Some(serde_json::from_value(confirm).unwrap());
        assert_eq!(described(&asked), "? Shall I run local/erase with {\"what\":\"all\"}?\n  effects: destroys");
        asked.text = "Really?".into();
        assert_eq!(described(&asked), "? Really?\n  local/erase destroys\n  {\"what\":\"all\"}");
        let mut asked = question(None);
        asked.choices = ["a", "b"].map(|id| ChoiceView { id: format!("p/{id}"), text: id.into() }).to_vec();
        assert_eq!(described(&asked), "? Which?\n  1. a\n  2. b");
        asked.text = "Which?\n1. a (p/a)\n2. b (p/b)".into();
        assert_eq!(described(&asked), "? Which?\n1. a (p/a)\n2. b (p/b)");
    }
}
