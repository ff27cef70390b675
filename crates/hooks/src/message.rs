//! Hook messages: the request and the answer of a hook, as JSON.

use bytes::Bytes;
use interlingua_model::{Fault, FaultKind, Json, Outcome};
use serde_json::{Map, Value, json};

use interlingua_hub::hooks::{HookCall, HookNote, Verdict, When, words};

/// The longest word of refusal that is passed on.
const MAX_WHY: usize = 1_000;

pub(super) fn encode(told: &HookCall) -> Bytes {
    let mut object = Map::new();
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            object.insert(key.to_owned(), value);
        }
    };
    let effects = &told.effects;
    set("hook", Some(told.hook.as_ref().into()));
    let (key, moment) = told.when.moment();
    set(key, Some(moment.into()));
    set("task", Some(told.task.to_string().into()));
    set("by", Some(told.by.as_str().into()));
    set("wire", told.wire.as_deref().map(Value::from));
    set("skill", Some(told.skill.to_string().into()));
    set(
        "effects",
        Some(json!({
            "reads": effects.reads,
            "writes": effects.writes,
            "destroys": effects.destroys,
            "spends": effects.spends,
            "idempotent": effects.idempotent,
            "unknown": effects.unknown,
        })),
    );
    set("arguments", told.arguments.as_ref().map(|arguments| arguments.tree().clone()));
    set("text", told.text.as_deref().map(Value::from));
    if let Some(waiting) = &told.waiting {
        set("question", Some(waiting.question.to_string().into()));
        set("until", Some(waiting.until.to_string().into()));
    }
    if let Some(finished) = &told.finished {
        set("outcome", Some(finished.outcome.as_str().into()));
        set("result", finished.output.structured.as_ref().map(|result| result.tree().clone()));
        set("answer", words(finished).map(Value::from));
        if let Outcome::Failed(fault) = &finished.outcome {
            set("fault", Some(json!({"kind": fault.kind.as_str(), "text": fault.public})));
        }
    }
    Value::Object(object).to_string().into()
}

/// A notification.
pub(super) fn encode_note(told: &HookNote) -> Bytes {
    let (key, moment) = When::Notification.moment();
    let mut object = json!({
        "hook": &*told.hook,
        "by": told.by.as_str(),
        "wire": told.wire,
        "message": &*told.message,
    });
    object[key] = moment.into();
    if let Some(session) = &told.session {
        object["session"] = (**session).into();
    }
    if let Some(content) = &told.content {
        object["content"] = content.tree().clone();
    }
    object.to_string().into()
}

pub(super) fn decode(answer: Bytes, when: When) -> Result<Verdict, Fault> {
    if answer.iter().all(u8::is_ascii_whitespace) {
        return Ok(Verdict::Pass);
    }
    let bad = |what: &str| Fault::hub(FaultKind::BadReply, format!("the hook's answer {what}"));
    let answer = Json::parse(answer).map_err(|error| bad("is not JSON").because(error))?;
    let object = answer.tree().as_object().ok_or_else(|| bad("is not an object"))?;
    if let Some(unknown) = object.keys().find(|key| !["refuse", "arguments", "result"].contains(&key.as_str())) {
        let unknown: String = unknown.chars().take(100).collect();
        return Err(bad(&format!("has a key that means nothing: {unknown}")));
    }
    if let Some(result) = object.get("result") {
        return match (object.len(), when) {
            (1, When::After) => Ok(Verdict::Result(Json::from_tree(result.clone()))),
            (1, When::Before) => Err(bad("has a result, and the call has not begun")),
            (1, When::Confirm | When::Notification) => Err(bad("decides, and it was only told")),
            (_, _) => Err(bad("decides two things at once")),
        };
    }
    match (object.get("refuse"), object.get("arguments"), when) {
        (None, None, _) => Ok(Verdict::Pass),
        (Some(_), _, When::Confirm | When::Notification) | (_, Some(_), When::Confirm | When::Notification) => {
            Err(bad("decides, and it was only told"))
        }
        (Some(why), None, _) => {
            let why = why.as_str().ok_or_else(|| bad("refuses without saying why"))?;
            Ok(Verdict::Refuse(why.chars().take(MAX_WHY).collect::<String>().into()))
        }
        (None, Some(arguments), When::Before) if arguments.is_object() => {
            Ok(Verdict::Arguments(Json::from_tree(arguments.clone())))
        }
        (None, Some(_), When::Before) => Err(bad("has arguments that are no object")),
        (None, Some(_), When::After) => Err(bad("has arguments, and the call is over")),
        (Some(_), Some(_), _) => Err(bad("refuses and goes on at once")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(answer: &'static str, when: When) -> Result<Verdict, FaultKind> {
        decode(Bytes::from_static(answer.as_bytes()), when).map_err(|fault| fault.kind)
    }

    #[test]
    fn an_answer_is_nothing_a_refusal_or_other_arguments_and_anything_else_is_none() {
        assert_eq!(read(" \n", When::After), Ok(Verdict::Pass));
        assert_eq!(read("{}", When::Before), Ok(Verdict::Pass));
        assert_eq!(read(r#"{"refuse":"no"}"#, When::After), Ok(Verdict::Refuse("no".into())));
        let arguments = read(r#"{"arguments":{"a":1}}"#, When::Before);
        assert_eq!(arguments, Ok(Verdict::Arguments(Json::from_tree(json!({"a": 1})))));
        for bad in ["[]", "yes", r#"{"refuse":true}"#, r#"{"allow":true}"#, r#"{"refuse":"no","arguments":{}}"#] {
            assert_eq!(read(bad, When::Before), Err(FaultKind::BadReply), "{bad}");
        }
        assert_eq!(read(r#"{"arguments":{}}"#, When::After), Err(FaultKind::BadReply));
        let result = read(r#"{"result":{"a":1}}"#, When::After);
        assert_eq!(result, Ok(Verdict::Result(Json::from_tree(json!({"a": 1})))));
        for (two, when) in [
            (r#"{"result":1}"#, When::Before),
            (r#"{"result":1}"#, When::Confirm),
            (r#"{"result":1,"refuse":"no"}"#, When::After),
        ] {
            assert_eq!(read(two, when), Err(FaultKind::BadReply), "{two}");
        }
        for decides in [r#"{"refuse":"no"}"#, r#"{"arguments":{}}"#, r#"{"approve":true}"#] {
            assert_eq!(read(decides, When::Confirm), Err(FaultKind::BadReply), "{decides}");
            assert_eq!(read(decides, When::Notification), Err(FaultKind::BadReply), "{decides}");
        }
    }
}
