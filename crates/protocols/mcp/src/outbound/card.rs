//! Card of a server: its tools and prompts as skills, and its resources, from its lists and the configuration. An unusable definition is
//! omitted, and no other; the reason is reported to the owner of the hub.

use crate::Version;
use crate::discover::{
    Claims, Unusable, decode_prompt, decode_resource, decode_template, decode_tool, stays_at_its_hub,
};
use crate::names::server_name;
use crate::wire::headers;
use interlingua_model::{
    Card, CardFrom, CardSource, Digest, Effects, Health, Json, PeerId, Resource, RouteClass, Skill, Text, Time,
};
use interlingua_wire::hub_headers::IMPORTED;

use super::listing::Listing;
use interlingua_settings::Peer;

/// Descriptions are for people and models; longer ones are cut.
const LONGEST: usize = 4_000;

#[derive(Debug)]
pub(super) struct Shown {
    pub(super) card: Card,
    pub(super) problems: Vec<Text>,
}

pub(super) fn shown(name: &PeerId, config: &Peer, listing: &Listing, health: Health, seen: Time) -> Shown {
    let version = listing.version();
    let mut problems = Vec::new();
    let mut skills = Vec::new();
    let taken = |json: &&Json| !(config.hub && stays_at_its_hub(json));
    for json in listing.tools.iter().filter(taken) {
        match tool(name, config, json, version) {
            Ok(skill) => skills.push(skill),
            Err(problem) => problems.push(problem),
        }
    }
    for json in listing.prompts.iter().filter(taken) {
        match decode_prompt(name, json, version) {
            Ok(skill) => skills.push(marked(config, Skill { public: config.public, ..skill }).sealed()),
            Err(unusable) => problems.push(format!("a prompt is left out: {unusable}").into()),
        }
    }
    skills.retain(|skill| config.offers(server_name(&skill.id.skill)));
    skills.sort_by(|a, b| a.id.cmp(&b.id));
    // The first of a name counts; a server that lists two has made a mistake.
    skills.dedup_by(|b, a| {
        let twice = a.id == b.id;
        if twice {
            problems.push(format!("`{}` is listed twice; the second is left out", b.id.skill).into());
        }
        twice
    });
    let resources = resources(name, config, listing, &mut problems);
    Shown { card: card(name, config, listing, skills, resources, health, seen), problems }
}

fn card(
    name: &PeerId,
    config: &Peer,
    listing: &Listing,
    skills: Vec<Skill>,
    resources: Vec<Resource>,
    health: Health,
    seen: Time,
) -> Card {
    let title: Text =
        config.title.as_deref().map(Text::from).or_else(|| listing.title.clone()).unwrap_or_else(|| name.0.clone());
    let described = config.description.as_deref().map(Text::from);
    let instructed = listing.instructions.as_ref().map(|text| text.chars().take(LONGEST).collect::<String>().into());
    let description = described.or(instructed).unwrap_or_else(|| format!("{title}, an MCP server.").into());
    let digests: Vec<[u8; 32]> = skills.iter().map(|skill| skill.digest.0).collect();
    let manifest = Digest::of_fields(digests.iter().map(<[u8; 32]>::as_slice));
    Card {
        peer: name.clone(),
        title,
        description,
        version: listing.server_version.clone().unwrap_or_else(|| "1".into()),
        class: RouteClass::Tool,
        provider: None,
        skills,
        resources,
        sources: vec![CardSource { from: CardFrom::Manifest, digest: manifest }],
        health,
        telemetry: None,
        seen,
        raw: None,
    }
}

fn tool(name: &PeerId, config: &Peer, json: &Json, version: Version) -> Result<Skill, Text> {
    let left_out = |unusable: Unusable| Text::from(format!("a tool is left out: {unusable}"));
    let tool = decode_tool(name, json, version).map_err(left_out)?;
    let mut skill = tool.skill;
    headers::params(&skill.input.0).map_err(|bad| Text::from(format!("`{}` is left out: {bad}", skill.id.skill)))?;
    skill.effects = config.effects_of(server_name(&skill.id.skill), claimed(tool.claims));
    skill.public = config.public;
    let asked = server_name(&skill.id.skill).to_owned();
    Ok(marked(config, config.phrased(&asked, skill)).sealed())
}

/// What is taken from another hub says so, wherever it is listed.
fn marked(config: &Peer, mut skill: Skill) -> Skill {
    if config.hub {
        skill.tags.push(IMPORTED.into());
    }
    skill
}

/// Annotations are claims (2026-07-28, tools). Without a word a tool may destroy: "default: true" of `destructiveHint`.
fn claimed(claims: Claims) -> Effects {
    if claims.read_only == Some(true) {
        return Effects::reads_only(CardFrom::Manifest);
    }
    let said = match claims.destructive {
        Some(destroys) => Effects { destroys, ..Effects::writes(CardFrom::Manifest) },
        None => Effects::unknown(),
    };
    Effects { idempotent: claims.idempotent == Some(true), ..said }
}

fn resources(name: &PeerId, config: &Peer, listing: &Listing, problems: &mut Vec<Text>) -> Vec<Resource> {
    let version = listing.version();
    let taken = |json: &&Json| !(config.hub && stays_at_its_hub(json));
    let listed = listing.resources.iter().filter(taken).map(|json| decode_resource(name, json, version));
    let templates = listing.templates.iter().filter(taken).map(|json| decode_template(name, json, version));
    let mut resources = Vec::new();
    for resource in listed.chain(templates) {
        match resource {
            Ok(resource) => resources.push(Resource { public: config.public, ..resource }),
            Err(unusable) => problems.push(format!("a resource is left out: {unusable}").into()),
        }
    }
    resources
}

#[cfg(test)]
mod tests {
    use crate::client::list::List;
    use serde_json::{Value, json};

    use super::*;
    use interlingua_settings::EffectsOverride;

    fn show(config: &Peer, tools: &[Value]) -> Shown {
        let mut listing = Listing::default();
        *listing.of(List::Tools) = tools.iter().cloned().map(Json::from).collect();
        shown(&"p".into(), config, &listing, Health::Up, Time(1))
    }

    fn tool(name: &str, annotations: &Value) -> Value {
        json!({"name": name, "inputSchema": {"type": "object"}, "annotations": annotations})
    }

    #[test]
    fn annotations_add_effects_and_take_none_away_unless_configuration_trusts_them() {
        let tools = [
            tool("reads", &json!({"readOnlyHint": true})),
            tool("destroys", &json!({"destructiveHint": true})),
            tool("says_nothing", &json!({})),
        ];
        let of = |config: &Peer| -> Vec<(String, bool, bool, bool)> {
            let skills = show(config, &tools).card.skills;
            skills
                .iter()
                .map(|it| (it.id.skill.to_string(), it.effects.writes, it.effects.destroys, it.effects.idempotent))
                .collect()
        };
        let named = |name: &str, writes, destroys, idempotent| (name.to_owned(), writes, destroys, idempotent);
        let plain = Peer::default();
        assert_eq!(
            of(&plain),
            [
                named("destroys", true, true, false),
                named("reads", true, false, false),
                named("says_nothing", true, false, false)
            ]
        );
        let trusted = Peer { trust_hints: true, ..Peer::default() };
        assert_eq!(of(&trusted)[1], named("reads", false, false, true));
        let reading = Peer { effects: Some(EffectsOverride::READS), ..Peer::default() };
        assert!(of(&reading).iter().all(|(_, writes, destroys, _)| !writes && !destroys));
    }

    #[test]
    fn m_35_a_tool_with_a_bad_mark_is_left_out_and_no_other() {
        let bad = json!({"name": "bad", "inputSchema": {"type": "object",
            "properties": {"a": {"type": "number", "x-mcp-header": "A"}}}});
        let shown = show(&Peer::default(), &[bad, tool("good", &json!({})), json!({"name": "no schema"}), json!(7)]);
        let names: Vec<&str> = shown.card.skills.iter().map(|skill| skill.id.skill.as_str()).collect();
        assert_eq!(names, ["good"]);
        assert_eq!(shown.problems.len(), 3, "{:?}", shown.problems);
    }

    #[test]
    fn m_43_what_is_denied_or_listed_twice_is_not_shown() {
        let config = Peer { deny: vec!["delete_*".into()], ..Peer::default() };
        let tools =
            [tool("b", &json!({})), tool("delete_all", &json!({})), tool("a", &json!({})), tool("b", &json!({}))];
        let shown = show(&config, &tools);
        let names: Vec<&str> = shown.card.skills.iter().map(|skill| skill.id.skill.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(shown.problems[0].contains("twice"), "{:?}", shown.problems);
    }
}
