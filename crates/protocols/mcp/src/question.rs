//! Questions, both ways: from a server to its client (`elicitation/create`, `sampling/createMessage`, `roots/list`), and the client's
//! answers. Legacy servers send them as requests, modern ones in the `inputRequests` of a result; the forms are the same.
//!
//! A form of this protocol (a flat object of primitives) passes through unchanged; any other is asked for as one text.

use interlingua_model::{
    Addressee, Answer, BadLink, Choice, Confirm, Input, Json, ModelRequest, Part, Party, PeerId, Provenance, Question,
    QuestionId, QuestionKind, Role, Schema, Secret, TaskId, Text, Time, Trust, Turn, Way, WebLink,
};
use serde_json::{Value, json};

use super::discover::decode_tool;
use super::wire::capabilities::Client;
use super::wire::content::{self, Verbatim, Writer};
use super::wire::meta::{self, META};
use super::{Version, discover};
use interlingua_wire::members::{Members, elements};
use interlingua_wire::object::Object;
use interlingua_wire::rpc;

pub const ELICIT: &str = "elicitation/create";
pub const SAMPLE: &str = "sampling/createMessage";
pub const ROOTS: &str = "roots/list";

/// The one field of forms that the hub makes itself.
const YES: &str = "approve";
const CHOICE: &str = "choice";
const ANSWER: &str = "answer";

/// A question as a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Asking {
    pub method: &'static str,
    pub params: Json,
}

/// Can this client be asked this?
pub fn is_askable(question: &Question, client: Client, version: Version) -> bool {
    question.to == Addressee::Caller && client.kinds().has(question.kind.set()) && encode(question, version).is_some()
}

/// A question as the client of this version is asked; `None` where the wire has no form for it.
pub fn encode(question: &Question, version: Version) -> Option<Asking> {
    let params = match &question.kind {
        QuestionKind::Input { form, choices } => elicit(&question.text, &asked_form(form, choices, version), version),
        QuestionKind::Confirm(confirm) => {
            let form = json!({
                "type": "object",
                "properties": {YES: {"type": "boolean", "title": "Approve", "description": "Say yes to exactly this call."}},
                "required": [YES],
            });
            marked(&elicit(&question.text, &form.into(), version), confirm)
        }
        QuestionKind::Visit { url } => Object::json(|params| {
            params.text("mode", "url");
            params.text("message", &question.text);
            params.text("url", url);
            if !version.is_modern() {
                params.text("elicitationId", &question.id.to_string());
            }
        }),
        QuestionKind::Model(request) => sampling(request, version),
        QuestionKind::Roots => return Some(Asking { method: ROOTS, params: Json::empty_object() }),
        QuestionKind::Credential { .. } | QuestionKind::Tool { .. } => return None,
    };
    let method = if matches!(question.kind, QuestionKind::Model(_)) { SAMPLE } else { ELICIT };
    Some(Asking { method, params })
}

/// Says that it is a request for approval, and of what: another hub passes it to approvers of its own.
fn marked(params: &Json, confirm: &Confirm) -> Json {
    Object::json(|all| {
        all.splice(params);
        all.object(META, |meta| {
            meta.object(meta::CONFIRM, |object| {
                object.text("skill", &confirm.skill.to_string());
                object.text("digest", &confirm.call.to_string());
                if let Some(args) = &confirm.args {
                    object.value("arguments", args);
                }
            });
        });
    })
}

fn elicit(message: &str, form: &Json, version: Version) -> Json {
    Object::json(|params| {
        if version.has_url_elicitation() {
            params.text("mode", "form");
        }
        params.text("message", message);
        params.value("requestedSchema", form);
    })
}

/// The form as it is when a client can show it, else one field.
fn asked_form(form: &Schema, choices: &[Choice], version: Version) -> Json {
    if is_flat(form.0.tree()) {
        return form.0.clone();
    }
    let (name, field) = if choices.is_empty() {
        (ANSWER, json!({"type": "string"}))
    } else if version.has_url_elicitation() {
        let titled: Vec<Value> = choices.iter().map(|one| json!({"const": &*one.id, "title": &*one.text})).collect();
        (CHOICE, json!({"type": "string", "oneOf": titled}))
    } else {
        let ids: Vec<&str> = choices.iter().map(|one| &*one.id).collect();
        let names: Vec<&str> = choices.iter().map(|one| &*one.text).collect();
        (CHOICE, json!({"type": "string", "enum": ids, "enumNames": names}))
    };
    json!({"type": "object", "properties": {name: field}, "required": [name]}).into()
}

/// An object whose properties are primitives or lists of texts: the restricted schema of elicitation.
fn is_flat(form: &Value) -> bool {
    let Some(properties) = form["properties"].as_object().filter(|all| !all.is_empty()) else { return false };
    let primitive = |field: &Value| match field["type"].as_str() {
        Some("string" | "number" | "integer" | "boolean") => true,
        Some("array") => field["items"].is_object(),
        _ => false,
    };
    form["type"] == "object" && properties.values().all(primitive)
}

/// What a server of this protocol asked travels as it was written.
fn sampling(request: &ModelRequest, version: Version) -> Json {
    if request.hints.get("messages").is_some_and(Value::is_array) {
        return request.hints.clone();
    }
    let writer = Writer { version, way: Way::Output, addresses: &Verbatim };
    Object::json(|params| {
        params.array("messages", &request.messages, |turn, out| {
            let mut message = Object::open(out);
            message.text("role", if turn.role == Role::Agent { "assistant" } else { "user" });
            let text: Vec<&str> = turn.parts.iter().filter_map(Part::as_text).collect();
            match turn.parts.as_slice() {
                [one] => writer.block(one, &mut Vec::new(), message.key("content")),
                _ => content::write_text(&text.join("\n"), message.key("content")),
            }
            message.finish();
        });
        if !request.tools.is_empty() {
            params.array("tools", &request.tools, |skill, out| {
                discover::write_tool(skill.id.skill.as_str(), skill, out);
            });
        }
        params.number("maxTokens", request.max_tokens.into());
    })
}

/// What the client answered, read by what was asked. `Err` says what is wrong with it.
pub fn decode_answer(question: &Question, answer: &Members) -> Result<Answer, &'static str> {
    let given = |args: Json| Answer::Given(Input { trust: Trust::Caller, ..Input::args(args) });
    match &question.kind {
        QuestionKind::Model(_) => match answer.get("content") {
            Some(content) => {
                let mut input = Input::parts(content::decode_all(&content, &Provenance::caller()));
                input.args = answer.json().cloned();
                Ok(Answer::Given(input))
            }
            None => Err("a sampling answer needs `content`"),
        },
        QuestionKind::Roots => match answer.json() {
            Some(roots) if answer.list("roots").is_some() => Ok(given(roots.clone())),
            Some(_) | None => Err("an answer to roots/list needs `roots`"),
        },
        QuestionKind::Tool { .. } => Err("no client of this protocol is asked for this"),
        QuestionKind::Input { form, .. } => match action(answer)? {
            Action::Accept => {
                let content = answer.get("content").filter(Json::is_object).unwrap_or_else(Json::empty_object);
                Ok(filled(form, content))
            }
            Action::Decline => Ok(Answer::Declined),
            Action::Cancel => Ok(Answer::Dismissed),
        },
        QuestionKind::Confirm(_) => match action(answer)? {
            Action::Accept => match answer.object("content").and_then(|content| content.bool(YES)) {
                Some(true) => Ok(Answer::Granted),
                Some(false) => Ok(Answer::Declined),
                None => Err("the answer needs `approve`: true or false"),
            },
            Action::Decline | Action::Cancel => Ok(Answer::Declined),
        },
        QuestionKind::Visit { .. } | QuestionKind::Credential { .. } => match action(answer)? {
            Action::Accept => Ok(Answer::Visited),
            Action::Decline | Action::Cancel => Ok(Answer::Declined),
        },
    }
}

/// What was filled in. A form that the hub had to make is given back as the text it asked for.
fn filled(form: &Schema, content: Json) -> Answer {
    let members = Members::of(&content);
    let text = [ANSWER, CHOICE].into_iter().find_map(|key| members.text(key));
    match text {
        Some(text) if !is_flat(form.0.tree()) => Answer::Given(Input::text(&text)),
        _ => Answer::Given(Input::args(content)),
    }
}

enum Action {
    Accept,
    Decline,
    Cancel,
}

fn action(answer: &Members) -> Result<Action, &'static str> {
    match answer.text("action").as_deref() {
        Some("accept") => Ok(Action::Accept),
        Some("decline") => Ok(Action::Decline),
        Some("cancel") => Ok(Action::Cancel),
        Some(_) | None => Err("an elicitation answer needs `action`: accept, decline or cancel"),
    }
}

/// What a server asks, as a question of that peer; `None` when it is nothing we know, an error when it wants a person to open
/// what nobody should. Its number is the task's to give.
pub fn decode(
    method: &str,
    params: &Members,
    peer: &PeerId,
    expires: Time,
    resume: Option<Secret>,
) -> Result<Option<Question>, BadLink> {
    let visit = method == ELICIT && params.text("mode").as_deref() == Some("url");
    let asked = if visit { link(params, peer)? } else { other(method, params, peer) };
    Ok(asked.map(|(kind, message)| Question {
        id: QuestionId(TaskId(0), 0),
        to: Addressee::Caller,
        kind,
        text: message,
        asked_by: Party::Peer(peer.clone()),
        expires,
        resume,
        name: None,
    }))
}

fn link(params: &Members, peer: &PeerId) -> Result<Option<(QuestionKind, Text)>, BadLink> {
    let (Some(url), Some(message)) = (params.text("url"), params.text("message")) else { return Ok(None) };
    let url = WebLink::parse(&url)?;
    let message = url.asked_by(peer, &message);
    Ok(Some((QuestionKind::Visit { url }, message)))
}

fn other(method: &str, params: &Members, peer: &PeerId) -> Option<(QuestionKind, Text)> {
    match method {
        ELICIT if approval(params).is_some() => {
            let (asked, message) = (approval(params)?, params.text("message")?);
            let (shown, skill) = (asked.json()?.digest(), asked.text("skill"));
            let confirm = Confirm::asked_by(peer, shown, skill.as_deref(), asked.get("arguments"));
            Some((QuestionKind::Confirm(confirm.into()), (&*message).into()))
        }
        ELICIT => {
            let form = Schema(params.get("requestedSchema").filter(Json::is_object)?);
            let message = params.text("message")?;
            Some((QuestionKind::Input { form, choices: Vec::new() }, (&*message).into()))
        }
        SAMPLE => {
            Some((QuestionKind::Model(model_request(params, peer)?), "The tool asks for a model's answer.".into()))
        }
        ROOTS => Some((QuestionKind::Roots, "The tool asks which folders it may use.".into())),
        _ => None,
    }
}

/// What a hub says that it wants approved. It is believed of every server: it takes the answer from the caller and gives it to
/// approvers.
fn approval(params: &Members) -> Option<Members> {
    params.object(META)?.object(meta::CONFIRM)
}

fn model_request(params: &Members, peer: &PeerId) -> Option<ModelRequest> {
    let by = Provenance::peer(peer.clone());
    let mut messages = Vec::new();
    if let Some(system) = params.text("systemPrompt") {
        messages.push(Turn { role: Role::System, parts: vec![Part::text(&*system, by.clone())] });
    }
    for message in params.list("messages")? {
        let message = Members::of(&message);
        let role = if message.text("role").as_deref() == Some("assistant") { Role::Agent } else { Role::User };
        messages.push(Turn { role, parts: content::decode_all(&message.get("content")?, &by) });
    }
    let tools = params.get("tools").and_then(|tools| elements(&tools)).unwrap_or_default();
    Some(ModelRequest {
        messages,
        tools: tools.iter().filter_map(|tool| Some(decode_tool(peer, tool, Version::LATEST).ok()?.skill)).collect(),
        max_tokens: params.number("maxTokens").unwrap_or(1024),
        hints: params.json()?.clone(),
    })
}

/// The answer as the server that asked gets it; the error is for one it cannot be given.
pub fn encode_answer(question: &Question, answer: &Answer) -> Result<Json, rpc::Error> {
    let acted = |action: &str| -> Json { json!({"action": action}).into() };
    let declined = || rpc::Error::new(-1, "User rejected the request");
    match (&question.kind, answer) {
        (QuestionKind::Input { form, .. }, Answer::Given(input)) => Ok(Object::json(|result| {
            result.text("action", "accept");
            result.value("content", &form_content(form, input));
        })),
        (QuestionKind::Model(_), Answer::Given(input)) => Ok(sampled(input)),
        (QuestionKind::Roots, Answer::Given(input)) => {
            let roots = input.args.as_ref().filter(|args| args.get("roots").is_some_and(Value::is_array));
            Ok(roots.cloned().unwrap_or_else(|| json!({"roots": []}).into()))
        }
        (QuestionKind::Roots, _) => Ok(json!({"roots": []}).into()),
        (QuestionKind::Model(_), _) => Err(declined()),
        (QuestionKind::Confirm(_), Answer::Granted) => Ok(json!({"action": "accept", "content": {YES: true}}).into()),
        (QuestionKind::Visit { .. } | QuestionKind::Credential { .. }, Answer::Visited | Answer::Token(_)) => {
            Ok(acted("accept"))
        }
        (_, Answer::Dismissed) => Ok(acted("cancel")),
        (_, Answer::Declined | Answer::Given(_) | Answer::Granted | Answer::Visited | Answer::Token(_)) => {
            Ok(acted("decline"))
        }
    }
}

/// What was filled in; a plain text is the only field, or the first.
fn form_content(form: &Schema, input: &Input) -> Json {
    if let Some(args) = input.args.as_ref().filter(|args| args.is_object()) {
        return args.clone();
    }
    let first = form.0.tree()["properties"].as_object().and_then(|all| all.keys().next().cloned());
    match first {
        Some(name) => json!({name: &*input.words()}).into(),
        None => Json::empty_object(),
    }
}

/// A model's answer: as it came when it came from this protocol, else its text.
fn sampled(input: &Input) -> Json {
    if let Some(args) = input.args.as_ref().filter(|args| args.get("content").is_some()) {
        return args.clone();
    }
    let text = input.words();
    json!({"role": "assistant", "content": {"type": "text", "text": &*text}, "model": "unknown", "stopReason": "endTurn"})
        .into()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use interlingua_model::{Digest, Effects, SkillId};

    use super::*;

    fn members(text: &str) -> Members {
        Members::of(&Json::parse(Bytes::copy_from_slice(text.as_bytes())).expect("JSON"))
    }

    fn asked(method: &str, params: &str) -> Question {
        decode(method, &members(params), &"p".into(), Time(1), None).expect("no link").expect("a question")
    }

    #[test]
    fn m_17_what_one_era_asks_the_other_is_asked_in_the_same_words() {
        let form = r#"{"message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string","default":"x"}},"required":["name"]}}"#;
        let question = asked(ELICIT, form);
        let modern = encode(&question, Version::LATEST).expect("asked");
        assert_eq!(
            modern.params.as_str(),
            r#"{"mode":"form","message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string","default":"x"}},"required":["name"]}}"#
        );
        assert_eq!(encode(&question, Version::V2025_06_18).expect("asked").params.as_str(), form);
        let sampling = r#"{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"maxTokens":7,"x":1.0}"#;
        assert_eq!(encode(&asked(SAMPLE, sampling), Version::LATEST).expect("asked").params.as_str(), sampling);
        assert_eq!(encode(&asked(ROOTS, "{}"), Version::LATEST).expect("asked").method, ROOTS);
    }

    #[test]
    fn answers_go_back_as_they_came() {
        let form = asked(
            ELICIT,
            r#"{"message":"?","requestedSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}"#,
        );
        for (given, back) in [
            (r#"{"action":"accept","content":{"n":1}}"#, r#"{"action":"accept","content":{"n":1}}"#),
            (r#"{"action":"decline"}"#, r#"{"action":"decline"}"#),
            (r#"{"action":"cancel"}"#, r#"{"action":"cancel"}"#),
        ] {
            let answer = decode_answer(&form, &members(given)).expect(given);
            assert_eq!(encode_answer(&form, &answer).expect(given).as_str(), back);
        }
        assert!(decode_answer(&form, &members(r#"{"action":"maybe"}"#)).is_err());
        let model = asked(SAMPLE, r#"{"messages":[],"maxTokens":7}"#);
        let sampled = r#"{"role":"assistant","content":{"type":"text","text":"4"},"model":"m","extra":[1.0]}"#;
        let answer = decode_answer(&model, &members(sampled)).expect("an answer");
        assert_eq!(encode_answer(&model, &answer).expect("goes back").as_str(), sampled);
    }

    #[test]
    fn a_yes_is_one_field_and_anything_less_is_no_yes() {
        let confirm = Confirm {
            call: Digest([0; 32]),
            skill: SkillId::new("a", "b"),
            args: None,
            parts: Box::default(),
            effects: Effects::unknown(),
            basis: None,
            relays: None,
        };
        let question = Question { kind: QuestionKind::Confirm(confirm.into()), ..asked(ROOTS, "{}") };
        let asking = encode(&question, Version::LATEST).expect("asked");
        assert_eq!(asking.params.tree()["requestedSchema"]["required"], json!(["approve"]));
        let answer = |text: &str| decode_answer(&question, &members(text));
        assert_eq!(answer(r#"{"action":"accept","content":{"approve":true}}"#), Ok(Answer::Granted));
        assert_eq!(answer(r#"{"action":"accept","content":{"approve":false}}"#), Ok(Answer::Declined));
        assert_eq!(answer(r#"{"action":"cancel"}"#), Ok(Answer::Declined));
        assert!(answer(r#"{"action":"accept","content":{}}"#).is_err());
    }

    #[test]
    fn a_form_no_client_can_show_is_asked_for_as_one_text() {
        let nested = Schema(json!({"type": "object", "properties": {"a": {"type": "object"}}}).into());
        let kind = QuestionKind::Input { form: nested, choices: Vec::new() };
        let question = Question { kind, ..asked(ROOTS, "{}") };
        let asking = encode(&question, Version::LATEST).expect("asked");
        assert_eq!(asking.params.tree()["requestedSchema"]["required"], json!(["answer"]));
        let given = members(r#"{"action":"accept","content":{"answer":"May 1"}}"#);
        assert_eq!(decode_answer(&question, &given), Ok(Answer::Given(Input::text("May 1"))));
    }
}
