use std::time::Duration;

use interlingua_model::json::Tree;
use interlingua_model::{
    Answer, Ask, Call, DeadlineBy, FaultKind, Feature, KindSet, Missing, Noun, OnDisconnect, Priority, QuestionId,
    Role, Secret, Signal, SkillId, Target, TaskId, Via,
};
use serde_json::json;

use super::{NOW, call, decode_whole, decode_with, message, routed};
use crate::decode::{Context, Meaning, Own, Tool, decode};
use crate::names::Table;
use crate::priority;
use crate::translators::Translators;

fn one(changes: Tree) -> Box<Call> {
    routed(changes).remove(0).call.expect("resolved")
}

fn chat(changes: Tree) -> Box<Call> {
    match decode_whole(changes).expect("decodable").value.meaning {
        Meaning::Call(call) => call,
        other => panic!("no chat: {other:?}"),
    }
}

#[test]
fn r_05_request_without_tool_calls_is_an_error() {
    for calls in [json!(null), json!([])] {
        let fault = decode_whole(json!({"tool_calls": calls})).expect_err("refused");
        assert_eq!(&*fault.public, "No tool calls found in request");
        assert_eq!(fault.kind, FaultKind::Malformed);
    }
}

#[test]
fn r_07_every_tool_call_becomes_a_call() {
    let calls = json!({"tool_calls": [call("t1", "read_file"), call("t2", "mcp__search__web_search")]});
    let routed = routed(calls);
    let calls: Vec<&Call> = routed.iter().map(|it| &**it.call.as_ref().expect("resolved")).collect();
    let skills = [SkillId::new("files", "read_file"), SkillId::new("search", "web_search")];
    for (index, (call, skill)) in calls.iter().zip(skills).enumerate() {
        assert_eq!(call.id.as_str(), format!("m1/t{}", index + 1));
        let Ask::Invoke { target, input } = &call.ask else { panic!("{call:?}") };
        assert_eq!(target, &Target::Skill(skill, None));
        assert_eq!(input.args.as_ref().expect("args").tree(), &json!({"path": "a.txt"}));
    }
}

#[test]
fn r_08_an_unknown_tool_refuses_its_own_call_alone() {
    let routed = routed(json!({"tool_calls": [call("t1", "no_such"), call("t2", "read_file")]}));
    assert_eq!(routed[0].call.as_ref().expect_err("refused").kind, FaultKind::NotFound(Noun::Skill));
    let second = routed[1].call.as_ref().expect("resolved");
    assert_eq!(second.id.as_str(), "m1/t2");
}

#[test]
fn r_14_a_notification_is_noted_under_its_session() {
    let noted = |session: Tree| {
        let changes = json!({"control": {"message_type": "notification"}, "token": {"session_id": session},
            "content": {"event": "x"}});
        match decode_whole(changes).expect("decodable").value.meaning {
            Meaning::Own(Own::Noted { session, content }) => (session, content),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(noted(json!("s9")), (Some("s9".into()), json!({"event": "x"}).into()));
    assert_eq!(noted(Tree::Null).0, None);
}

#[test]
fn r_15_a_response_or_error_given_as_request_is_refused() {
    for kind in ["response", "error"] {
        let changes = json!({"control": {"message_type": kind}, "tool_calls": [call("t", "read_file")]});
        assert_eq!(decode_whole(changes).expect_err("refused").kind, FaultKind::Malformed);
    }
}

#[test]
fn r_18_message_id_and_tool_id_are_the_idempotency_key() {
    let call = one(json!({"tool_calls": [call("t7", "read_file")]}));
    assert_eq!(call.id.as_str(), "m1/t7");
    assert!(call.id_given);
}

#[test]
fn r_18_the_same_tool_id_twice_is_refused() {
    let twice = json!({"tool_calls": [call("t", "read_file"), call("t", "write_file")]});
    assert_eq!(decode_whole(twice).expect_err("refused").kind, FaultKind::Malformed);
}

#[test]
fn h_11_a_retry_is_the_same_call() {
    let first = one(json!({"tool_calls": [call("t", "read_file")]}));
    let retry = one(json!({"control": {"retry_count": 2}, "tool_calls": [call("t", "read_file")]}));
    assert_eq!(first, retry);
}

#[test]
fn r_32_a_disabled_translator_refuses_its_tools_alone() {
    for (name, spelt, other) in [
        ("mcp", "mcp__web_search", "read_file"),
        ("builtin", "read_file", "search_flights"),
        ("custom", "custom_tool__search_flights", "mcp__search__web_search"),
    ] {
        let mut translators = Translators::default();
        assert!(translators.switch(name, false));
        let changes = json!({"tool_calls": [call("1", spelt), call("2", other)]});
        let Meaning::Own(Own::Tools(routed)) = decode_with(changes, &translators).expect("decodable").value.meaning
        else {
            panic!("no calls")
        };
        let fault = routed[0].call.as_ref().expect_err("refused");
        assert_eq!(fault.kind, FaultKind::Unsupported(Feature::SwitchedOff));
        assert!(fault.public.contains("translator disabled"), "{fault}");
        assert!(routed[1].call.is_ok());
    }
}

#[test]
fn r_34_timeout_is_the_callers_deadline_and_the_default_the_hubs() {
    let deadline = |timeout: Tree, default_timeout: Option<Duration>| {
        let translators = Translators::default();
        let (names, _) = Table::build(&translators, super::registry());
        let context = Context { names: &names, translators: &translators, now: NOW, default_timeout, peer: None };
        let message = message(json!({"control": {"timeout": timeout}, "tool_calls": [call("t", "read_file")]}));
        match decode(message, &context).expect("decodable").value.meaning {
            Meaning::Own(Own::Tools(mut routed)) => routed.remove(0).call.expect("resolved").limits.deadline,
            other => panic!("{other:?}"),
        }
    };
    let own = deadline(json!(30), Some(Duration::from_secs(300))).expect("deadline");
    assert_eq!((own.at, own.set_by), (NOW.after(Duration::from_secs(30)), DeadlineBy::Caller));
    let default = deadline(Tree::Null, Some(Duration::from_secs(300))).expect("deadline");
    assert_eq!((default.at, default.set_by), (NOW.after(Duration::from_secs(300)), DeadlineBy::Hub));
    assert_eq!(deadline(Tree::Null, None), None);
    assert_eq!(deadline(json!(0), None).map(|deadline| deadline.at), Some(NOW));
}

#[test]
fn r_35_require_confirmation_asks_for_a_yes() {
    let mut careful = call("t", "write_file");
    careful["require_confirmation"] = json!(true);
    let routed = routed(json!({"tool_calls": [careful, call("u", "read_file")]}));
    let confirm: Vec<bool> = routed.iter().map(|it| it.call.as_ref().expect("resolved").limits.confirm).collect();
    assert_eq!(confirm, [true, false]);
}

#[test]
fn r_35_a_confirmation_answers_the_question_it_names() {
    let question = QuestionId(TaskId(7), 2);
    for (approve, expected) in [(true, Answer::Granted), (false, Answer::Declined)] {
        let changes = json!({"metadata": {"confirmation": {"id": question.to_string(), "approve": approve}}});
        match decode_whole(changes).expect("decodable").value.meaning {
            Meaning::Signal { to, signal: Signal::Answered { question: named, message, answer } } => {
                assert_eq!((to, named, message.as_str()), (TaskId(7), question, "m1"));
                assert_eq!(answer, expected);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn r_35_a_confirmation_that_is_not_clear_is_refused() {
    let id = QuestionId(TaskId(7), 2).to_string();
    let kind = |metadata: Tree, calls: Tree| {
        decode_whole(json!({"metadata": metadata, "tool_calls": calls})).expect_err("refused").kind
    };
    let none = || json!([]);
    assert_eq!(kind(json!({"confirmation": {"id": id}}), none()), FaultKind::Malformed);
    assert_eq!(kind(json!({"confirmation": {"id": id, "approve": "yes"}}), none()), FaultKind::Malformed);
    assert_eq!(kind(json!({"confirmation": {"approve": true}}), none()), FaultKind::Malformed);
    assert_eq!(kind(json!({"confirmation": true}), none()), FaultKind::Malformed);
    let unknown = json!({"confirmation": {"id": "nonsense", "approve": true}});
    assert_eq!(kind(unknown, none()), FaultKind::NotFound(Noun::Task));
    let both = json!({"confirmation": {"id": id, "approve": true}});
    assert_eq!(kind(both, json!([call("t", "read_file")])), FaultKind::Malformed);
}

#[test]
fn an_answer_has_the_form_of_its_kind() {
    let id = QuestionId(TaskId(7), 0).to_string();
    let answer = |mut given: Tree| {
        given["id"] = id.as_str().into();
        match decode_whole(json!({"metadata": {"answer": given}})).map(|carried| carried.value.meaning) {
            Ok(Meaning::Signal { signal: Signal::Answered { answer, .. }, .. }) => Some(answer),
            Ok(other) => panic!("{other:?}"),
            Err(_) => None,
        }
    };
    assert_eq!(answer(json!({"declined": true})), Some(Answer::Declined));
    assert_eq!(answer(json!({"visited": true})), Some(Answer::Visited));
    assert_eq!(answer(json!({"token": "sesame"})), Some(Answer::Token(Secret::new("sesame"))));
    match answer(json!({"value": {"date": "2026-05-01"}})) {
        Some(Answer::Given(input)) => assert_eq!(input.args.expect("args").tree(), &json!({"date": "2026-05-01"})),
        other => panic!("{other:?}"),
    }
    match answer(json!({"value": "May 1"})) {
        Some(Answer::Given(input)) => assert_eq!(input.words(), "May 1"),
        other => panic!("{other:?}"),
    }
    assert_eq!(answer(json!({})), None);
}

#[test]
fn r_37_priority_table_is_that_of_the_model() {
    let read: Vec<u8> = (0..=10).map(|priority| priority::decode(priority).level()).collect();
    assert_eq!(read, [5, 6, 6, 7, 7, 7, 8, 8, 9, 9, 9]);
    let written: Vec<u8> = (0..=9).map(|level| priority::encode(Priority::new(level).expect("in range"))).collect();
    assert_eq!(written, [0, 0, 0, 0, 0, 0, 2, 5, 7, 10]);
    let call = one(json!({"control": {"priority": 7}, "tool_calls": [call("t", "read_file")]}));
    assert_eq!(call.limits.priority.level(), 8);
}

#[test]
fn r_39_the_auth_token_is_a_credential_and_no_content() {
    let changes = json!({"control": {"auth_token": "sesame"}, "tool_calls": [call("t", "read_file")]});
    let decoded = decode_whole(changes).expect("decodable").value;
    assert_eq!(decoded.credentials, [Secret::new("sesame")]);
    let Meaning::Own(Own::Tools(routed)) = decoded.meaning else { panic!("no calls") };
    let kept = serde_json::to_string(routed[0].call.as_ref().expect("resolved")).expect("a call can be kept");
    for secret in ["sesame", "c1", "st1"] {
        assert!(!kept.contains(secret), "{kept}");
    }
}

#[test]
fn r_41_a_caller_that_leaves_cancels() {
    let call = one(json!({"tool_calls": [call("t", "read_file")]}));
    assert_eq!(call.limits.on_disconnect, OnDisconnect::Cancel);
    assert_eq!(call.caller.missing, Missing::Refuse);
    assert!(call.caller.can_answer.has(KindSet::CONFIRM) && call.caller.can_answer.has(KindSet::INPUT));
    assert_eq!(call.conversation.as_ref().map(|id| id.as_str()), Some("s1"));
}

#[test]
fn content_messages_without_tool_calls_are_a_chat_with_history() {
    let call = chat(json!({"content": {"messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "image", "source": "x"}]},
        {"role": "assistant", "content": null},
        {"role": "user", "content": "What can you do?"},
    ]}}));
    let Ask::Invoke { target: Target::Words, input } = &call.ask else { panic!("{call:?}") };
    assert_eq!(input.words(), "What can you do?");
    let roles: Vec<Role> = input.history.iter().map(|turn| turn.role).collect();
    assert_eq!(roles, [Role::System, Role::User, Role::Agent]);
    assert_eq!(input.history[1].parts.len(), 2);
    assert_eq!((call.id.as_str(), call.id_given), ("m1", true));
}

#[test]
fn a_chat_that_is_not_clear_is_refused() {
    for messages in [
        json!("hello"),
        json!([{"role": "assistant", "content": "Hi"}]),
        json!([{"role": "wizard", "content": "Hi"}]),
        json!([{"content": "Hi"}]),
        json!(["Hi"]),
        json!([{"role": "user", "content": 7}]),
    ] {
        let fault = decode_whole(json!({"content": {"messages": messages}})).expect_err("refused");
        assert_eq!(fault.kind, FaultKind::Malformed);
    }
    let empty = decode_whole(json!({"content": {"messages": []}})).expect_err("refused");
    assert_eq!(&*empty.public, "No tool calls found in request");
}

#[test]
fn what_a_request_says_beside_its_calls_is_a_loss() {
    let losses = |changes: Tree| decode_whole(changes).expect("decodable").losses.len();
    assert_eq!(losses(json!({"tool_calls": [call("t", "read_file")]})), 0);
    assert_eq!(losses(json!({"content": {"backend_execution": true}, "tool_calls": [call("t", "read_file")]})), 1);
    let chat = json!([{"role": "user", "content": "Hi"}]);
    assert_eq!(losses(json!({"content": {"messages": chat}})), 0);
    assert_eq!(losses(json!({"content": {"messages": chat, "options": {"temperature": 0}}})), 1);
}

#[test]
fn via_and_trace_are_read_from_metadata() {
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let call =
        one(json!({"metadata": {"via": ["a", "b"], "traceparent": trace}, "tool_calls": [call("t", "read_file")]}));
    let via = call.via.expect("via");
    assert_eq!(via.hubs.iter().map(|hub| hub.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(call.trace.and_then(|it| it.parent).as_deref(), Some(trace));
    let many: Vec<String> = (0..100).map(|n| format!("hub{n}")).collect();
    let full = one(json!({"metadata": {"via": many}, "tool_calls": [super::call("t", "read_file")]}));
    assert_eq!(full.via.expect("via").hubs.len(), usize::from(Via::LIMIT));
}

#[test]
fn a_kept_call_remembers_its_tool() {
    let routed = routed(json!({"metadata": {"mine": 1}, "tool_calls": [call("t1", "mcp__web_search")]}));
    let call = routed[0].call.as_ref().expect("resolved");
    assert_eq!(Tool::of(call), Some(routed[0].tool.clone()));
}
