//! What runs inside the hub: its own skills, the file tools, custom tools, agents that follow a script.

pub mod hub_skills;
mod script;
pub mod settings;
mod tools;

pub(crate) use tools::shared_roots;

use std::sync::Arc;

use interlingua_core::{Card, Fault, Health, PeerId, RouteClass, Skill, Text, Time};
use interlingua_drivers::files::lent::Lent;

use crate::hub::Hub;

/// The card of something inside the hub.
pub fn card(peer: PeerId, title: &str, description: impl Into<Text>, skills: Vec<Skill>, seen: Time) -> Card {
    Card {
        peer,
        title: title.into(),
        description: description.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        class: RouteClass::InProcess,
        provider: None,
        skills,
        resources: Vec::new(),
        sources: Vec::new(),
        health: Health::Up,
        telemetry: None,
        seen,
        raw: None,
    }
}

/// Registers everything that runs inside the hub.
pub async fn register(hub: &Arc<Hub>, lent: Arc<Lent>, sections: settings::Sections<'_>) -> Result<(), Fault> {
    hub_skills::register(hub).await?;
    script::register(hub, sections.scripts).await?;
    tools::register(hub, lent, sections.tools, sections.data).await
}
