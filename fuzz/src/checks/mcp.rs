//! Invariants of the MCP codec for any bytes: no panic, a request survives a round trip, and every block, definition and question that is
//! read can be written as JSON again, in every version.

use bytes::Bytes;
use interlingua_mcp::decode::{Context, NamedTool, Names, NoTool, Said, decode};
use interlingua_mcp::wire::content::{self, Verbatim, Writer};
use interlingua_mcp::wire::{headers, meta};
use interlingua_mcp::{Version, discover, question};
use interlingua_model::{
    Effects, Fault, FaultKind, Json, Loss, MessageId, Noun, OnDisconnect, PeerId, Provenance, Schema, Skill, SkillId,
    SkillKind, Time, Uri, Way,
};
use interlingua_wire::members::{Members, elements};
use interlingua_wire::rpc::{self, Frame, Id, Message, Request};

const DEPTH: usize = 64;

pub(crate) fn json(data: &[u8]) {
    let frame = Bytes::copy_from_slice(data);
    let messages = match rpc::decode(&frame, DEPTH) {
        Ok(Frame::One(message)) => vec![message],
        Ok(Frame::Batch(messages)) => messages.into_iter().flatten().collect(),
        Err(invalid) => return drop(invalid.error()),
    };
    messages.iter().for_each(message);
}

fn message(message: &Message) {
    match message {
        Message::Request(request) => {
            let mut written = Vec::new();
            rpc::write_request(&request.id, &request.method, request.params.json(), &mut written);
            let again = rpc::decode(&written.into(), DEPTH).expect("what was written can be read");
            let Frame::One(Message::Request(again)) = again else { panic!("it is a request still") };
            assert_eq!((&again.id, &again.method), (&request.id, &request.method));
            assert_eq!(again.params.json(), request.params.json());
            asked(request);
        }
        Message::Notification(notification) => {
            let (method, params) = (notification.method.clone(), notification.params.clone());
            asked(&Request { id: Id::NULL, method, params });
        }
        Message::Response(response) => {
            if let Ok(result) = &response.outcome {
                answered(result);
            }
            assert_eq!(Id::of(&response.id.json()).as_ref(), Some(&response.id));
        }
    }
}

/// A hub on which every name is that of a tool, of an agent or of nothing, by its length.
struct Hub {
    tool: Skill,
    agent: Skill,
    fixed: Json,
}

impl Hub {
    fn new() -> Hub {
        let skill = |name: &str, kind| {
            let id = SkillId::new("p", name);
            Skill::new(id, kind, "", Schema(Json::empty_object()), Effects::unknown())
        };
        let fixed = Json::parse(Bytes::from_static(br#"{"message":"fixed"}"#)).expect("JSON");
        Hub { tool: skill("tool", SkillKind::Tool), agent: skill("agent", SkillKind::Agent), fixed }
    }
}

impl Names for Hub {
    fn tool(&self, name: &str) -> Result<NamedTool<'_>, NoTool> {
        match name.len() % 4 {
            0 => Ok(NamedTool { skill: &self.tool, params: &[], fixed: None }),
            1 => Ok(NamedTool { skill: &self.tool, params: &[], fixed: Some(&self.fixed) }),
            2 => Ok(NamedTool { skill: &self.agent, params: &[], fixed: None }),
            _ => Err(NoTool::Fault(Fault::caller(FaultKind::NotFound(Noun::Skill), "no such tool"))),
        }
    }

    fn prompt(&self, name: &str) -> Result<SkillId, Fault> {
        Ok(SkillId::new("p", name))
    }

    fn resource(&self, uri: &str) -> Result<(PeerId, Uri), Fault> {
        Ok((PeerId::from("p"), uri.into()))
    }
}

/// As a server reads it.
fn asked(request: &Request) {
    let (method, params, names) = (&*request.method, &request.params, &Hub::new());
    let modern = Said::modern(params.object(meta::META).as_ref(), Time(0));
    let legacy = Version::SERVED.into_iter().filter(|version| !version.is_modern());
    let legacy = legacy.map(|version| Said::legacy(params, version, Default::default(), Time(0)));
    for said in legacy.chain([modern]).flatten() {
        let minted = || MessageId::from("minted");
        let on_disconnect = OnDisconnect::Cancel;
        let _ = decode(request, &Context { said: &said, names, header: None, minted, on_disconnect, confirms: true });
    }
    let peer = PeerId::from("p");
    if let Ok(Some(asked)) = question::decode(method, params, &peer, Time(0), None) {
        for version in Version::SERVED {
            let asking = question::encode(&asked, version).expect("what was asked here can be asked here");
            checked(asking.params.as_bytes());
        }
        let _ = question::decode_answer(&asked, params);
    }
}

/// As a client reads it.
fn answered(result: &Members) {
    let (peer, by) = (PeerId::from("p"), Provenance::peer("p".into()));
    for content in result.list("content").unwrap_or_default() {
        let part = content::decode(&content, &by);
        for version in Version::SERVED {
            let (mut out, mut losses): (Vec<u8>, Vec<Loss>) = (Vec::new(), Vec::new());
            Writer { version, way: Way::Output, addresses: &Verbatim }.block(&part, &mut losses, &mut out);
            checked(&out);
        }
    }
    for tool in result.list("tools").unwrap_or_default() {
        if let Ok(tool) = discover::decode_tool(&peer, &tool, Version::LATEST) {
            let mut out = Vec::new();
            discover::write_tool("n", &tool.skill, &mut out);
            checked(&out);
            let _ = headers::params(&tool.skill.input.0);
        }
    }
    for prompt in result.list("prompts").unwrap_or_default() {
        if let Ok(skill) = discover::decode_prompt(&peer, &prompt, Version::LATEST) {
            let mut out = Vec::new();
            discover::write_prompt("n", &skill, &mut out);
            checked(&out);
        }
    }
    for resource in result.list("resources").unwrap_or_default() {
        if let Ok(resource) = discover::decode_resource(&peer, &resource, Version::LATEST) {
            let mut out = Vec::new();
            discover::write_resource(&resource.uri, "n", &resource, &mut out);
            checked(&out);
        }
    }
    if let Some(json) = result.json() {
        let _ = elements(json);
    }
}

/// One JSON value, and nothing that another reader could take for something else.
fn checked(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    Json::parse(Bytes::copy_from_slice(bytes)).unwrap_or_else(|bad| panic!("{bad}: {text}"));
}
