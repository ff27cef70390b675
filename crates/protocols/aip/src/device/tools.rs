//! The skills of the hub inside a device as its tools, and COMMANDs as calls of them: in order, one result for each action, and the rest
//! skipped after a failure.

use std::collections::HashMap;
use std::sync::Arc;

use crate::client::commands;
use crate::wire::{CommandResult, ResultStatus, ServerMessage, ToolType};
use crate::{WIRE, discover, encode};
use interlingua_model::{
    Call, CancelWhy, Channel, Event, Fault, Finished, Json, Link, Part, Party, PeerId, Principal, Proof, Request,
    Skill, SkillId, SkillName, Subject, Text, Transcript, Wire,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::registrar::LIST_TOOLS;
use interlingua_hub::audit::losses::{LossContext, Named};
use interlingua_hub::{Hub, entropy};

/// How many log lines come with the results of one COMMAND.
const LINES: usize = 256;
/// Bytes of one of them; the rest of it is cut off.
const LINE: usize = 4 * 1024;
/// What is in the device for its own sake.
const OWN: &str = "hub";
/// The peer whose tools are called by their bare names.
const LOCAL: &str = "local";

/// What came of a COMMAND.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) response: Text,
    pub(super) results: Vec<CommandResult>,
    pub(super) lines: Vec<Text>,
}

/// A log line of a COMMAND that runs.
#[derive(Debug)]
pub(super) struct LogLine {
    pub(super) response: Text,
    pub(super) text: Text,
}

/// Where log lines go: to the server while there is room on the way, else with the results.
struct CommandLog {
    response: Text,
    said: mpsc::Sender<LogLine>,
    rest: Vec<Text>,
}

impl CommandLog {
    fn add(&mut self, text: &str) {
        let text = &text[..text.floor_char_boundary(LINE)];
        let line = LogLine { response: self.response.clone(), text: text.into() };
        // In their order: what waits for the results comes last.
        let refused = if self.rest.is_empty() { self.said.try_send(line).is_err() } else { true };
        if refused && self.rest.len() < LINES {
            self.rest.push(text.into());
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Tools {
    hub: Arc<Hub>,
    by: Principal,
}

/// What a skill is called by whoever commands the device.
fn name(skill: &SkillId) -> Text {
    if skill.peer.as_str() == LOCAL { skill.skill.0.clone() } else { format!("{}__{}", skill.peer, skill.skill).into() }
}

fn tool_type(skill: &Skill) -> ToolType {
    if skill.effects.only_read() { ToolType::DataCollection } else { ToolType::Action }
}

impl Tools {
    /// Whoever commands a device may call what it offers; what destroys or spends still waits for a yes of its owner.
    pub(super) fn new(hub: Arc<Hub>) -> Tools {
        let subject = Subject::Agent(PeerId::from("aip-server"));
        let by = Principal::new(Link { subject, proof: Proof::Key, scopes: vec!["*".into()], until: None });
        Tools { hub, by }
    }

    fn offered(&self) -> Vec<Arc<Skill>> {
        let catalogue = self.hub.catalogue();
        catalogue.newest().filter(|skill| skill.id.peer.as_str() != OWN).cloned().collect()
    }

    /// As `list_tools` answers.
    pub(super) fn list(&self) -> Json {
        let mut out = vec![b'['];
        for (index, skill) in self.offered().iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            let named =
                Skill { id: SkillId { skill: SkillName(name(&skill.id)), ..skill.id.clone() }, ..(**skill).clone() };
            discover::write_tool(&named, tool_type(skill), skill.id.peer.as_str(), &mut out);
        }
        out.push(b']');
        Json::parse(out.into()).unwrap_or_else(|_| Json::null())
    }

    /// Does what a COMMAND says and reports it, whatever happens; once stopped, nothing is reported.
    pub(super) fn run(
        &self,
        frame: ServerMessage,
        stop: CancellationToken,
        done: mpsc::Sender<Done>,
        said: mpsc::Sender<LogLine>,
    ) -> impl Future<Output = ()> + Send + use<> {
        let tools = self.clone();
        async move {
            let Some(response) = frame.response_id.clone() else { return };
            let mut log = CommandLog { response: response.clone(), said, rest: Vec::new() };
            let results = tokio::select! {
                results = tools.actions(&frame, &mut log) => results,
                () = stop.cancelled() => return,
            };
            let _ = done.send(Done { response, results, lines: log.rest }).await;
        }
    }

    async fn actions(&self, frame: &ServerMessage, log: &mut CommandLog) -> Vec<CommandResult> {
        let offered: HashMap<Text, SkillId> =
            self.offered().iter().map(|skill| (name(&skill.id), skill.id.clone())).collect();
        let skill = |tool: &str| offered.get(tool).cloned();
        let calls = commands::calls(frame, |_| entropy::message_id(), skill, self.hub.now());
        let actions = frame.actions.as_deref().unwrap_or_default();
        let mut results: Vec<CommandResult> = Vec::with_capacity(calls.len());
        let mut failed = false;
        for (action, call) in actions.iter().zip(calls) {
            let namespace = offered.get(&action.tool_name).map(|skill| skill.peer.0.clone());
            let result = match call {
                _ if failed => {
                    let skipped = Finished::cancelled(Party::Hub, CancelWhy::EarlierFailed);
                    encode::result(&skipped, action.call_id.clone(), None).value
                }
                _ if action.tool_name.as_ref() == LIST_TOOLS => CommandResult {
                    status: ResultStatus::Success,
                    error: None,
                    result: Some(self.list()),
                    namespace: None,
                    call_id: action.call_id.clone(),
                },
                Ok(call) => match self.call(call, log).await {
                    Ok((of, finished)) => {
                        let result = encode::result(&finished, action.call_id.clone(), namespace);
                        let (by, wire, skill) = (&self.by, Wire(WIRE.into()), offered.get(&action.tool_name));
                        self.hub.lost(&LossContext { by, of, wire, skill }, &result.losses);
                        result.value
                    }
                    Err(fault) => encode::result(&Finished::failed(fault), action.call_id.clone(), namespace).value,
                },
                Err(result) => result,
            };
            failed |= result.status != ResultStatus::Success;
            results.push(result);
        }
        results
    }

    async fn call(&self, call: Call, log: &mut CommandLog) -> Result<(Named, Finished), Fault> {
        let request = Request { by: self.by.clone(), connection: 0, call: Box::new(call) };
        let mut running = self.hub.open(request).await?;
        let hear = |event: &Event| {
            if let Event::Said { channel: Channel::Note(_), parts, .. } = event {
                parts.iter().filter_map(Part::as_text).for_each(|text| log.add(text));
            }
        };
        let finished = running.finish(&mut Transcript::of_messages(), hear).await?;
        Ok((running.named(), finished))
    }
}
