use bytes::Bytes;
use interlingua_model::{Ask, Effects, Schema, SkillKind, Time};
use interlingua_wire::rpc::{self, Frame, Message};
use serde_json::{Value, json};

use super::*;
use crate::fault::MISSING_CAPABILITY;
use crate::wire::headers::HEADER_MISMATCH;

/// Three tools: `write`, whose argument `to` a header repeats; `fixed`, of which `to` is fixed; `agent`.
struct Hub {
    write: Skill,
    agent: Skill,
    params: Vec<Param>,
    fixed: Json,
}

impl Hub {
    fn new() -> Hub {
        let skill = |name: &str, kind, effects| {
            Skill::new(SkillId::new("p", name), kind, "", Schema(Json::empty_object()), effects)
        };
        let changes = Effects { unknown: false, ..Effects::unknown() };
        Hub {
            write: skill("write", SkillKind::Tool, changes),
            agent: skill("agent", SkillKind::Agent, Effects::unknown()),
            params: vec![Param { header: "mcp-param-to".into(), path: vec!["to".into()] }],
            fixed: json!({"to": "here"}).into(),
        }
    }
}

impl Names for Hub {
    fn tool(&self, name: &str) -> Result<NamedTool<'_>, NoTool> {
        match name {
            "write" => Ok(NamedTool { skill: &self.write, params: &self.params, fixed: None }),
            "fixed" => Ok(NamedTool { skill: &self.write, params: &[], fixed: Some(&self.fixed) }),
            "agent" => Ok(NamedTool { skill: &self.agent, params: &[], fixed: None }),
            "scoped" => Err(NoTool::Scopes(vec!["more".into()])),
            _ => Err(NoTool::Fault(Fault::caller(FaultKind::NotFound(Noun::Skill), "Unknown tool"))),
        }
    }

    fn prompt(&self, _: &str) -> Result<SkillId, Fault> {
        Err(Fault::caller(FaultKind::NotFound(Noun::Skill), "Unknown prompt"))
    }

    fn resource(&self, uri: &str) -> Result<(PeerId, Uri), Fault> {
        match uri.strip_prefix("p:") {
            Some(own) => Ok(("p".into(), own.into())),
            None => Err(Fault::caller(FaultKind::NotFound(Noun::Resource), "Resource not found")),
        }
    }
}

fn asked(method: &str, params: &Value, capabilities: &Value) -> Result<Incoming, Invalid> {
    let mut params = params.clone();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let Ok(Frame::One(Message::Request(request))) = rpc::decode(&Bytes::from(message), 64) else { panic!("a request") };
    let said = Said::modern(request.params.object(meta::META).as_ref(), Time(0)).expect("said well");
    let header = |name: &str| (name == "mcp-param-to").then_some("there");
    let context = Context {
        said: &said,
        names: &Hub::new(),
        header: Some(&header),
        minted: || MessageId::from("minted"),
        on_disconnect: OnDisconnect::Cancel,
        confirms: true,
    };
    decode(&request, &context).map(|carried| carried.value)
}

fn called(method: &str, params: Value) -> (Box<interlingua_model::Call>, ReplyTo) {
    let incoming = asked(method, &params, &json!({"elicitation": {}})).expect("decoded");
    match incoming.meaning {
        Meaning::Call(call) => (call, incoming.reply),
        other => panic!("a call: {other:?}"),
    }
}

fn refused(method: &str, params: Value, capabilities: Value) -> (i64, u16) {
    match asked(method, &params, &capabilities).expect_err("refused") {
        Invalid::Refused(refused) => (refused.error.code, refused.status),
        other => panic!("an error: {other:?}"),
    }
}

#[test]
fn a_tool_is_called_with_what_its_client_said() {
    let (call, reply) = called("tools/call", json!({"name": "write", "arguments": {"to": "there"}, "more": 1}));
    let Ask::Invoke { target, input } = &call.ask else { panic!("{:?}", call.ask) };
    assert_eq!(target, &interlingua_model::Target::Skill(SkillId::new("p", "write"), None));
    assert_eq!(input.args.as_ref().expect("arguments").tree(), &json!({"to": "there"}));
    assert_eq!((call.id.as_str(), call.id_given, call.limits.confirm), ("minted", false, true));
    assert!(call.raw.is_some(), "a parameter that is not known here travels along");
    assert_eq!((reply.verb, reply.call.method, &*reply.call.name), (Verb::Call, "tools/call", "write"));
    let (call, _) = called("tools/call", json!({"name": "fixed", "arguments": {"to": "there", "n": 1}}));
    let Ask::Invoke { input, .. } = &call.ask else { panic!("{:?}", call.ask) };
    assert_eq!(input.args.as_ref().expect("arguments").tree(), &json!({"n": 1, "to": "here"}));
}

#[test]
fn an_agent_is_told_words_and_its_conversation_is_for_the_hub_to_open() {
    let (call, reply) = called("tools/call", json!({"name": "agent", "arguments": {"message": "hello"}}));
    let Ask::Invoke { input, .. } = &call.ask else { panic!("{:?}", call.ask) };
    assert_eq!(input.parts[0].as_text(), Some("hello"));
    assert!(matches!(reply.turn, Turn::First) && call.conversation.is_none() && !call.limits.confirm);
    let next = json!({"name": "agent", "arguments": {"message": "more", "conversation": "c.1"}});
    assert!(matches!(called("tools/call", next).1.turn, Turn::Next(token) if token == "c.1"));
}

#[test]
fn a_request_state_goes_on_with_a_call_and_begins_none() {
    let params =
        json!({"name": "write", "arguments": {"to": "there"}, "requestState": "s", "inputResponses": {"q0": {}}});
    let incoming = asked("tools/call", &params, &json!({})).expect("decoded");
    let Meaning::Own(Own::Resume(resume)) = incoming.meaning else { panic!("{:?}", incoming.meaning) };
    assert_eq!((&*resume.state, resume.responses.len()), ("s", 1));
    assert!(incoming.reply.brought.is_empty() && incoming.reply.call.args.is_some());
    let (_, reply) = called("resources/read", json!({"uri": "p:a", "inputResponses": {"q0": {}}}));
    assert_eq!((reply.brought.len(), reply.uri.as_deref()), (1, Some("p:a")), "answers before anything was asked");
}

#[test]
fn a_name_is_looked_up_before_its_headers_are_compared_and_both_before_a_state_is_taken() {
    let fault = |params: Value| match asked("tools/call", &params, &json!({})).expect_err("refused") {
        Invalid::Fault { fault, verb, .. } => (fault.kind, verb),
        other => panic!("a fault: {other:?}"),
    };
    let unknown = json!({"name": "x", "arguments": {"to": "elsewhere"}, "requestState": "s"});
    assert_eq!(fault(unknown), (FaultKind::NotFound(Noun::Skill), Verb::Call));
    let lies = json!({"name": "write", "arguments": {"to": "elsewhere"}, "requestState": "s"});
    assert_eq!(refused("tools/call", lies, json!({})), (HEADER_MISMATCH, 400));
    assert_eq!(refused("tools/call", json!({"name": "x", "arguments": []}), json!({})), (rpc::INVALID_PARAMS, 200));
    let scoped = asked("tools/call", &json!({"name": "scoped"}), &json!({})).expect_err("refused");
    assert!(matches!(scoped, Invalid::Scopes(scopes) if scopes == ["more"]));
}

#[test]
fn an_unknown_reference_of_a_completion_is_bad_input_and_an_unknown_resource_says_its_address() {
    let argument = json!({"name": "n", "value": "v"});
    let params = json!({"ref": {"type": "ref/prompt", "name": "x"}, "argument": argument});
    let invalid = asked("completion/complete", &params, &json!({})).expect_err("refused");
    assert!(
        matches!(invalid, Invalid::Fault { fault, verb: Verb::Other, .. } if fault.kind == FaultKind::InvalidInput)
    );
    let invalid = asked("resources/read", &json!({"uri": "x:a"}), &json!({})).expect_err("refused");
    assert!(matches!(invalid, Invalid::Fault { verb: Verb::Read, uri: Some(uri), .. } if &*uri == "x:a"));
    let artifact = asked("resources/read", &json!({"uri": "interlingua://artifacts/a"}), &json!({})).expect("decoded");
    assert!(matches!(artifact.meaning, Meaning::Own(Own::Artifact(_))));
}

#[test]
fn a_task_is_named_by_a_client_that_declared_the_extension() {
    let declared = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let id = TaskId(7);
    let params = json!({"taskId": id.to_string()});
    assert_eq!(refused("tasks/cancel", json!({}), json!({})), (rpc::INVALID_PARAMS, 200));
    assert_eq!(refused("tasks/cancel", json!({"taskId": "x"}), json!({})), (MISSING_CAPABILITY, 400));
    let unknown = asked("tasks/cancel", &json!({"taskId": "x"}), &declared).expect_err("refused");
    assert!(matches!(unknown, Invalid::Fault { fault, .. } if fault.kind == FaultKind::NotFound(Noun::Task)));
    let cancel = asked("tasks/cancel", &params, &declared).expect("decoded").meaning;
    assert!(matches!(cancel, Meaning::Signal { to, signal: Signal::Cancel(CancelWhy::Asked) } if to == id));
    let get = asked("tasks/get", &params, &declared).expect("decoded");
    assert!(matches!(get.meaning, Meaning::Own(Own::TaskGet(found)) if found == id) && get.reply.verb == Verb::Call);
}

#[test]
fn methods_of_another_era_are_not_there() {
    for method in ["initialize", "ping", "resources/subscribe", "logging/setLevel", "nothing"] {
        assert_eq!(refused(method, json!({}), json!({})), (rpc::METHOD_NOT_FOUND, 404), "{method}");
    }
}
