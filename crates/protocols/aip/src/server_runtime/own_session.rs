//! Sessions of the hub itself with a device: for a call, and for listing the device's tools.

use std::sync::Arc;
use std::time::Duration;

use interlingua_model::{Json, TaskId, Text, uuid_v4};

use super::{Given, ServerRuntime};
use crate::registrar::LIST_TOOLS;
use crate::safe_task_name;
use crate::say::End;
use crate::server::Happening;
use crate::wire::{Command, ResultStatus, Status, ToolType};
use interlingua_hub::{Hub, entropy};

/// How long a device may take to say what tools it has.
const LISTING: Duration = Duration::from_secs(10);

/// A session of the hub's own. Dropped before its end, the device hears that it is not wanted any more.
pub(crate) struct OwnSession {
    runtime: Arc<ServerRuntime>,
    pub(crate) session: Text,
    over: bool,
}

impl OwnSession {
    pub(crate) fn begin(runtime: &Arc<ServerRuntime>, device: &Text, task: TaskId, task_name: &str) -> OwnSession {
        OwnSession::open(runtime, device, task.to_string().into(), task_name)
    }

    fn open(runtime: &Arc<ServerRuntime>, device: &Text, session: Text, task_name: &str) -> OwnSession {
        let task_name = safe_task_name(Some(task_name), entropy::bits());
        runtime.step(Happening::Begin { session: session.clone(), device: device.clone(), task_name });
        OwnSession { runtime: runtime.clone(), session, over: false }
    }

    /// The device hears that it is done, and how.
    pub(crate) fn end(self, given: &Given) {
        let failed = given.results.iter().find(|result| result.status != ResultStatus::Success);
        let end = match failed {
            None => End { status: Status::Completed, error: None, result: None, messages: None, metadata: None },
            Some(result) => End::failed(result.error.clone().unwrap_or_else(|| "it failed".into())),
        };
        self.finish(end);
    }

    pub(crate) fn finish(mut self, end: End) {
        self.over = true;
        self.runtime.step(Happening::Finished { session: self.session.clone(), end });
    }
}

impl Drop for OwnSession {
    fn drop(&mut self) {
        if !self.over {
            let end = End::failed("cancelled: it is not wanted any more");
            self.runtime.step(Happening::Finished { session: self.session.clone(), end });
        }
    }
}

impl ServerRuntime {
    /// Asks a device for its tools after a while, unless it left meanwhile or has told them. A device that has just come in is
    /// not asked at once: whoever sits at the other end may first want to see what it says.
    pub(super) fn list_tools_later(self: &Arc<Self>, hub: &Arc<Hub>, device: Text) {
        let (Some(after), Some(visit)) = (self.settings().list_tools, self.registrar.visit(&device)) else { return };
        let runtime = Arc::downgrade(self);
        hub.spawn_until_stop(async move {
            tokio::time::sleep(after).await;
            let Some(runtime) = runtime.upgrade() else { return };
            if runtime.registrar.visit(&device) == Some(visit) && !runtime.registrar.has_tools(&device) {
                runtime.list_tools(&device).await;
            }
        });
    }

    /// Asks a device for its tools now.
    pub(crate) async fn list_tools(self: &Arc<Self>, device: &Text) {
        let session: Text = uuid_v4(entropy::bits()).into();
        let own = OwnSession::open(self, device, session, LIST_TOOLS);
        let action = Command {
            tool_name: LIST_TOOLS.into(),
            parameters: Some(Json::empty_object()),
            tool_type: ToolType::Action,
            call_id: None,
        };
        let agent = self.settings().agent_name(self.registrar.platform(device).as_deref());
        let Ok(given) = self.command(&own.session, agent, vec![action], Some(LISTING), None).await else { return };
        if let Some(tools) = given.results.first().and_then(|result| result.result.clone()) {
            self.registrar.set_tools(device, tools);
        }
        own.end(&given);
    }
}
