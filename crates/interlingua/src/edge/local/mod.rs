//! What runs inside the hub: its own skills, the file tools, custom tools, agents that follow a script.

pub mod hub_skills;
mod script;
pub mod settings;
mod tools;

pub use crate::hub::in_process::card;
pub(crate) use tools::shared_roots;

use std::sync::Arc;

use interlingua_core::Fault;
use interlingua_drivers::files::lent::Lent;

use crate::hub::Hub;

/// Registers everything that runs inside the hub.
pub async fn register(hub: &Arc<Hub>, lent: Arc<Lent>, sections: settings::Sections<'_>) -> Result<(), Fault> {
    hub_skills::register(hub).await?;
    script::register(hub, sections.scripts).await?;
    tools::register(hub, lent, sections.tools, sections.data).await
}
