//! Peers that run inside the hub: its own skills ([`hub_skills`]), the file tools of a workspace ([`files`]), custom tools, which are
//! programs of a directory ([`custom`]), both as one peer ([`local`]), and scripted agents.

mod configured;
pub mod custom;
pub mod files;
#[doc(hidden)]
pub mod fuzzing;
pub mod hub_skills;
pub mod local;
mod script;
pub mod settings;

pub use configured::shared_roots;
pub use interlingua_hub::in_process::card;

use std::sync::Arc;

use crate::files::run_workspaces::RunWorkspaces;
use interlingua_model::Fault;

use interlingua_hub::Hub;

/// Registers everything that runs inside the hub.
pub async fn register(hub: &Arc<Hub>, lent: Arc<RunWorkspaces>, sections: settings::Sections<'_>) -> Result<(), Fault> {
    hub_skills::register(hub).await?;
    script::register(hub, sections.scripts).await?;
    configured::register(hub, lent, sections.tools, sections.data).await
}
