//! What runs inside the hub: its own skills, the file tools, custom tools, agents that follow a script.

pub mod hub_skills;
mod script;
mod tools;

pub use crate::hub::in_process::card;
pub(crate) use tools::shared_roots;

use std::sync::Arc;

use interlingua_core::Fault;
use interlingua_drivers::files::lent::Lent;

use crate::config::Config;
use crate::hub::Hub;

/// Registers everything that runs inside the hub.
pub async fn register(hub: &Arc<Hub>, lent: Arc<Lent>, config: &Config) -> Result<(), Fault> {
    hub_skills::register(hub).await?;
    script::register(hub, config).await?;
    tools::register(hub, lent, config).await
}
