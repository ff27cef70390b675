//! Card of an NLIP agent. NLIP has no card: it is made from configuration alone, and an agent's description of itself is not trusted.

use crate::client::{CHAT, chat_input};
use interlingua_model::{
    Card, CardFrom, CardSource, Digest, Effects, Health, PeerId, RouteClass, Skill, SkillId, SkillKind, Text, Time,
};

use interlingua_settings::Peer;

pub(super) fn card(name: &PeerId, config: &Peer, seen: Time) -> Card {
    let title: Text = config.title.as_deref().unwrap_or(name.as_str()).into();
    let description: Text = match &config.description {
        Some(description) => description.as_str().into(),
        None => format!("{title}, an agent that is spoken to in plain words.").into(),
    };
    let skills = if config.offers(CHAT) { vec![chat(name, config, &title, &description)] } else { Vec::new() };
    let digest = Digest::of_fields([title.as_bytes(), description.as_bytes()]);
    Card {
        peer: name.clone(),
        title,
        description,
        version: "1".into(),
        class: RouteClass::Agent,
        provider: None,
        skills,
        resources: Vec::new(),
        sources: vec![CardSource { from: CardFrom::Configuration, digest }],
        health: Health::Starting,
        telemetry: None,
        seen,
        raw: None,
    }
}

fn chat(name: &PeerId, config: &Peer, title: &Text, description: &Text) -> Skill {
    let id = SkillId { peer: name.clone(), skill: CHAT.into() };
    let mut skill = Skill::new(id, SkillKind::Agent, description.clone(), chat_input(), effects(config));
    skill.title = title.clone();
    skill.public = config.public;
    config.phrased(CHAT, skill).sealed()
}

/// Words may do anything, unless configuration says that they only read.
fn effects(config: &Peer) -> Effects {
    config.effects_of(CHAT, Effects::unknown())
}

#[cfg(test)]
mod tests {
    use super::*;
    use interlingua_settings::EffectsOverride;

    #[test]
    fn an_agent_has_one_skill_that_may_do_anything_until_configuration_says_it_reads() {
        let card = card(&"desk".into(), &Peer::default(), Time(1));
        let [chat] = card.skills.as_slice() else { panic!("one skill") };
        assert_eq!(chat.id.to_string(), "desk/chat");
        assert!(chat.effects.writes && !chat.effects.idempotent && !chat.public);
        let reading = Peer { effects: Some(EffectsOverride::READS), public: true, ..Peer::default() };
        let card = super::card(&"desk".into(), &reading, Time(1));
        assert!(card.skills[0].effects.idempotent && !card.skills[0].effects.writes && card.skills[0].public);
    }

    #[test]
    fn a_skill_that_is_denied_is_not_offered() {
        let denied = Peer { deny: vec!["chat".into()], ..Peer::default() };
        assert!(card(&"desk".into(), &denied, Time(1)).skills.is_empty());
    }
}
