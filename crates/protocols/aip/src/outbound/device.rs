//! A device of this hub as a peer: each of its tools is a skill, and `do` takes words.
//!
//! A call that belongs to a task which already works on the device uses that task's session; any other has a session of its own, which
//! begins and ends with it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::discover::{DO, ToolKey};
use crate::link::Tongue;
use crate::plan::commands;
use crate::wire::ToolType;
use crate::{decode, encode};
use interlingua_model::peer::{Calling, Dispatch, Peer, Reply};
use interlingua_model::{Call, CancelWhy, Fault, FaultKind, Finished, Input, Loss, Party, PeerId, Text, uuid_v4};

use super::plan;
use crate::server_runtime::{Hearing, NoResult, OwnSession, ServerRuntime};
use interlingua_hub::{Hub, entropy};
use interlingua_net::client::going::{FinalResult, Going, News};

/// The argument of it that has them.
pub(super) const REQUEST: &str = "request";

pub(crate) struct DevicePeer {
    pub(super) runtime: Arc<ServerRuntime>,
    pub(super) device: Text,
    pub(super) name: PeerId,
    platform: Option<Text>,
    tools: HashMap<Text, ToolKey>,
}

impl std::fmt::Debug for DevicePeer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DevicePeer").field("device", &self.device).finish_non_exhaustive()
    }
}

impl DevicePeer {
    pub(crate) fn new(
        runtime: Arc<ServerRuntime>,
        device: Text,
        name: PeerId,
        platform: Option<Text>,
        tools: Vec<ToolKey>,
    ) -> DevicePeer {
        let tools = tools.into_iter().map(|tool| (tool.name.clone(), tool)).collect();
        DevicePeer { runtime, device, name, platform, tools }
    }

    fn fault(&self, kind: FaultKind, text: impl Into<Text>) -> Fault {
        Fault::new(kind, Party::Peer(self.name.clone()), text)
    }

    pub(super) fn failed(&self, kind: FaultKind, text: impl Into<Text>) -> FinalResult {
        (Finished::failed(self.fault(kind, text)), Vec::new())
    }

    /// It left while it was at work.
    pub(super) fn lost(&self) -> FinalResult {
        self.failed(FaultKind::OutcomeUnknown, "the device was lost; what it was told may have happened")
    }

    /// What is known without a result, and what was lost of the lines on the way.
    pub(super) fn without_result(&self, why: NoResult, hearing: &Hearing) -> FinalResult {
        let (finished, mut losses) = match why {
            NoResult::Lost => self.lost(),
            NoResult::Unwanted => (Finished::cancelled(Party::Caller, CancelWhy::Disconnected), Vec::new()),
            NoResult::Reported(report) => {
                hearing.hear(&report.lines, report.lines_lost);
                let told = decode::reported(&report, &self.name);
                (told.value, told.losses)
            }
        };
        losses.extend(hearing.loss());
        (finished, losses)
    }

    pub(super) fn agent(&self) -> Text {
        self.runtime.settings().agent_name(self.platform.as_deref())
    }

    pub(super) fn tool_type(&self, tool: &str) -> ToolType {
        self.tools.get(tool).map_or(ToolType::Action, |tool| tool.tool_type)
    }

    pub(super) fn tool_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.tools.keys().map(|name| &**name).collect();
        names.sort_unstable();
        names
    }

    /// How long the device may take, as far as the caller says.
    pub(super) fn time_left(hub: &Hub, dispatch: &Dispatch) -> Option<Duration> {
        dispatch.call.limits.deadline.map(|deadline| deadline.at.until(hub.now()))
    }

    async fn tool(self: Arc<Self>, hub: Arc<Hub>, tool: ToolKey, dispatch: Dispatch, news: News) -> FinalResult {
        let within = match self.runtime.opened(&dispatch.call.id) {
            Some(session) => Some(session),
            None => self.runtime.session_of(&hub, &dispatch).await,
        };
        let mut own = None;
        let session = match within {
            Some(session) => session,
            None => {
                own.insert(OwnSession::begin(&self.runtime, &self.device, dispatch.task, &tool.name)).session.clone()
            }
        };
        let call_id: Text = uuid_v4(entropy::bits()).into();
        let command = encode::command(&dispatch.call, tool.name, tool.tool_type, call_id.clone());
        let timeout = Self::time_left(&hub, &dispatch);
        let hearing = Hearing::new(&news, &dispatch.key, &self.name);
        let (actions, heard) = (vec![command.value], Some(hearing.clone()));
        let mut losses = command.losses;
        match self.runtime.command(&session, self.agent(), actions, timeout, heard).await {
            Err(why) => {
                let own = own.filter(|_| matches!(why, NoResult::Reported(_)));
                let (finished, more) = self.without_result(why, &hearing);
                if let Some(own) = own {
                    own.finish(encode::end(&finished, &[], Tongue::Plain).value);
                }
                losses.extend(more);
                (finished, losses)
            }
            Ok(given) => {
                if let Some(own) = own {
                    own.end(&given);
                }
                hearing.hear(&given.lines, 0);
                losses.extend(hearing.loss());
                let mut finished = decode::results(&given.results, &[call_id], &self.name);
                (finished.pop().unwrap_or_else(|| self.lost().0), losses)
            }
        }
    }

    /// Does the device itself what it is told in words? A planner that is configured comes before it.
    pub(super) fn takes_words(&self) -> bool {
        self.runtime.settings().planner.is_none() && self.runtime.takes_tasks(&self.device)
    }
}

impl Peer for DevicePeer {
    fn speaks(&self) -> Option<&'static str> {
        Some(crate::PROTOCOL)
    }

    /// Its tools take arguments, and its `do` takes words.
    fn loses(&self, call: &Call) -> Vec<Loss> {
        call.input().map(Input::lost_beside_arguments).unwrap_or_default()
    }

    fn leaves_words(&self, input: &Input) -> bool {
        let words = input.words();
        let is_told = input.args.as_ref().is_some_and(|args| args.get(REQUEST).is_some());
        let planned = || self.runtime.settings().planner.is_some();
        let listed = || commands(&words, |tool| self.tool_type(tool)).is_some();
        let left = !is_told && !words.trim().is_empty() && !self.tools.is_empty();
        left && !planned() && !self.takes_words() && !listed()
    }

    fn call(self: Arc<Self>, dispatch: Dispatch) -> Calling {
        Box::pin(async move {
            let hub = self.runtime.hub().ok_or_else(Fault::shutting_down)?;
            if !self.runtime.has_device(&self.device) {
                return Err(self.fault(FaultKind::Unreachable, "the device is not connected"));
            }
            let name = dispatch.skill.id.skill.as_str();
            if name == DO {
                let going = Going::new(|news| plan::run(self, hub, dispatch, news));
                return Ok(Reply::Live(Box::new(going)));
            }
            let gone = || self.fault(FaultKind::Unreachable, "the device has this tool no longer");
            let tool = self.tools.get(name).cloned().ok_or_else(gone)?;
            Ok(Reply::Live(Box::new(Going::new(|news| self.tool(hub, tool, dispatch, news)))))
        })
    }
}
