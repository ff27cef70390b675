//! Names and cards of peers that run inside the hub.

use interlingua_model::{Card, Health, PeerId, RouteClass, Skill, Text, Time};

/// The name of the peer that is the hub itself.
pub const HUB: &str = "hub";

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
