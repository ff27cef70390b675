//! Card of an NLWeb site. It has no card of its own: configuration describes it.

use crate::client::{ASK, ask_input};
use interlingua_model::{
    Card, CardFrom, CardSource, Digest, Effects, Health, PeerId, Provider, RouteClass, Schema, Skill, SkillId,
    SkillKind, Text, Time,
};
use serde_json::json;

use crate::settings::NlwebPeer;
use interlingua_settings::Peer;

pub(super) fn card(name: &PeerId, config: &Peer, nlweb: &NlwebPeer, seen: Time) -> Card {
    let title: Text = config.title.as_deref().unwrap_or(name.as_str()).into();
    let description: Text = match &config.description {
        Some(description) => description.as_str().into(),
        None => format!("{title}, a site that answers questions about what it offers.").into(),
    };
    let skills = if config.offers(ASK) { vec![ask(name, config, &title, &description)] } else { Vec::new() };
    let digest = Digest::of_fields([title.as_bytes(), description.as_bytes(), nlweb.url.as_bytes()]);
    Card {
        peer: name.clone(),
        provider: Some(Provider { name: title.clone(), url: Some(nlweb.url.as_str().into()), contact: None }),
        title,
        description,
        version: "1".into(),
        class: RouteClass::Agent,
        skills,
        resources: Vec::new(),
        sources: vec![CardSource { from: CardFrom::Configuration, digest }],
        health: Health::Starting,
        telemetry: None,
        seen,
        raw: None,
    }
}

fn ask(name: &PeerId, config: &Peer, title: &Text, description: &Text) -> Skill {
    let output = json!({"type": "object", "properties": {"results": {"type": "array", "items": {"type": "object"}}}, "required": ["results"]});
    let id = SkillId { peer: name.clone(), skill: ASK.into() };
    let mut skill = Skill::new(id, SkillKind::Agent, description.clone(), ask_input(), effects(config));
    skill.title = title.clone();
    skill.output = Some(Schema(output.into()));
    skill.public = config.public;
    config.phrased(ASK, skill).sealed()
}

/// To ask is to read, unless configuration knows better.
fn effects(config: &Peer) -> Effects {
    // Asking is a query by its protocol; a hub takes any wish this way.
    let asking = if config.hub { Effects::unknown() } else { Effects::reads_only(CardFrom::Manifest) };
    config.said_of(ASK).unwrap_or(asking)
}
