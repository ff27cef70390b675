//! Converts what servers list (tools, prompts, resources and templates) to skills and resources of the model, and back.
//!
//! A definition keeps its bytes ([`Raw`]), so a caller of this protocol sees every field its server wrote, known here or not; only the
//! name, the address, and fields for features that the hub does not pass through (`execution`) are ours.

use interlingua_model::{
    CardFrom, Effects, Json, PeerId, Raw, Resource, Schema, Skill, SkillId, SkillKind, SkillName, Text, Uri, Wire,
};
use serde_json::json;

use super::Version;
use super::names::{inward, prompt_skill};
use super::wire::meta::{self, META};
use super::wire::version::is_ours;
use interlingua_wire::hub_headers::IMPORTED;
use interlingua_wire::members::Members;
use interlingua_wire::object::Object;

/// Why something listed cannot be used. The rest of the list stands.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    #[error("it has no name")]
    NoName,
    #[error("`{0}` has no object as its inputSchema")]
    NoInput(Text),
    #[error("it has no address")]
    NoUri,
}

/// A tool as its server listed it. Effects are unknown until configuration has heard the claims.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    pub skill: Skill,
    pub claims: Claims,
}

/// What a tool's annotations say (schema: `ToolAnnotations`). Claims, not proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Claims {
    pub read_only: Option<bool>,
    pub destructive: Option<bool>,
    pub idempotent: Option<bool>,
    pub open_world: Option<bool>,
}

fn text(members: &Members, key: &str) -> Option<Text> {
    members.text(key).map(|text| (&*text).into())
}

fn raw(json: &Json, wire: &Wire) -> Option<Raw> {
    Some(Raw { wire: wire.clone(), json: json.clone() })
}

pub fn decode_tool(peer: &PeerId, json: &Json, version: Version) -> Result<Tool, Unusable> {
    let members = Members::of(json);
    let name = text(&members, "name").filter(|name| !name.is_empty()).ok_or(Unusable::NoName)?;
    let input = members.get("inputSchema").filter(Json::is_object).ok_or_else(|| Unusable::NoInput(name.clone()))?;
    let annotations = members.object("annotations").unwrap_or(Members::absent());
    let id = SkillId { peer: peer.clone(), skill: SkillName(name.clone()) };
    let description = text(&members, "description").unwrap_or_default();
    let mut skill = Skill::new(id, SkillKind::Tool, description, Schema(input), Effects::unknown());
    skill.title = text(&members, "title").or_else(|| text(&annotations, "title")).unwrap_or(name);
    skill.output = members.get("outputSchema").filter(Json::is_object).map(Schema);
    skill.raw = raw(json, &version.wire());
    let claims = Claims {
        read_only: annotations.bool("readOnlyHint"),
        destructive: annotations.bool("destructiveHint"),
        idempotent: annotations.bool("idempotentHint"),
        open_world: annotations.bool("openWorldHint"),
    };
    Ok(Tool { skill: skill.sealed(), claims })
}

/// A prompt: what it takes becomes an object of texts.
pub fn decode_prompt(peer: &PeerId, json: &Json, version: Version) -> Result<Skill, Unusable> {
    let members = Members::of(json);
    let name = text(&members, "name").filter(|name| !name.is_empty()).ok_or(Unusable::NoName)?;
    let (mut properties, mut required) = (serde_json::Map::new(), Vec::new());
    for argument in members.list("arguments").unwrap_or_default() {
        let argument = Members::of(&argument);
        let Some(name) = argument.text("name") else { continue };
        let mut property = json!({"type": "string"});
        if let Some(description) = argument.text("description") {
            property["description"] = (*description).into();
        }
        properties.insert(name.as_ref().into(), property);
        if argument.bool("required") == Some(true) {
            required.push(name.into_owned());
        }
    }
    let input = json!({"type": "object", "properties": properties, "required": required});
    let id = SkillId { peer: peer.clone(), skill: prompt_skill(&name) };
    let description = text(&members, "description").unwrap_or_default();
    let effects = Effects::reads_only(CardFrom::Manifest);
    let mut skill = Skill::new(id, SkillKind::Prompt, description, Schema(input.into()), effects);
    skill.title = text(&members, "title").unwrap_or(name);
    skill.raw = raw(json, &version.wire());
    Ok(skill.sealed())
}

pub fn decode_resource(peer: &PeerId, json: &Json, version: Version) -> Result<Resource, Unusable> {
    listed(peer, json, version, "uri", false)
}

pub fn decode_template(peer: &PeerId, json: &Json, version: Version) -> Result<Resource, Unusable> {
    listed(peer, json, version, "uriTemplate", true)
}

fn listed(peer: &PeerId, json: &Json, version: Version, key: &str, template: bool) -> Result<Resource, Unusable> {
    let members = Members::of(json);
    let uri: Uri = text(&members, key).filter(|uri| !uri.is_empty()).ok_or(Unusable::NoUri)?;
    let title = text(&members, "title").or_else(|| text(&members, "name")).unwrap_or_else(|| uri.clone());
    Ok(Resource {
        peer: peer.clone(),
        uri,
        template,
        title,
        description: text(&members, "description"),
        media: text(&members, "mimeType"),
        size: members.number("size"),
        public: false,
        raw: raw(json, &version.wire()),
    })
}

/// The definition as this protocol's server wrote it, when one did.
fn original(raw: Option<&Raw>) -> Option<Members> {
    let raw = raw.filter(|raw| is_ours(&raw.wire))?;
    Some(Members::of(&raw.json))
}

/// Is it nothing that a hub takes from another hub? What every hub has of its own, and what that hub took from a third, is not
/// taken: two hubs that know each other would go on giving each other their own tools back.
pub fn stays_at_its_hub(json: &Json) -> bool {
    let members = Members::of(json);
    let own = members.text("name").is_some_and(|name| name.starts_with("hub__"));
    let nested = ["uri", "uriTemplate"].iter().filter_map(|key| members.text(key)).any(|uri| is_nested(&uri));
    own || nested || members.object(META).is_some_and(|meta| meta.bool(meta::IMPORTED) == Some(true))
}

/// Whether the peer of that hub whose address this is has it from a hub.
fn is_nested(uri: &str) -> bool {
    inward(uri).is_some_and(|(_, own)| inward(own).is_some())
}

/// What the hub itself says of a skill in `_meta`.
fn marks(skill: &Skill) -> &'static [&'static str] {
    if skill.tags.iter().any(|tag| &**tag == IMPORTED) { &[meta::IMPORTED] } else { &[] }
}

/// Copies a definition with some members replaced, some left out, and marks of ours in `_meta`.
const ANNOTATIONS: &str = "annotations";
const HINTS: [&str; 3] = ["readOnlyHint", "destructiveHint", "idempotentHint"];

/// What a tool does, in annotations: nothing is said of what is not known.
struct Hints {
    effects: Effects,
    /// Annotations of other kinds that stay beside it.
    beside: Option<Members>,
}

impl Hints {
    fn write(&self, object: &mut Object<'_>) {
        let effects = self.effects;
        let others = || self.beside.iter().flat_map(Members::iter).filter(|(key, _)| !HINTS.contains(key));
        let destroys = effects.destroys || effects.spends || effects.calls;
        if effects.unknown && !destroys && others().next().is_none() {
            return;
        }
        object.object(ANNOTATIONS, |annotations| {
            others().for_each(|(key, value)| annotations.value(key, &value));
            if effects.unknown {
                if destroys {
                    annotations.bool("destructiveHint", true);
                }
                return;
            }
            annotations.bool("readOnlyHint", effects.only_read());
            if !effects.only_read() {
                annotations.bool("destructiveHint", destroys);
            }
            annotations.bool("idempotentHint", effects.idempotent);
        });
    }
}

fn rewritten(
    members: &Members,
    replaced: &[(&str, &str)],
    without: &[&str],
    hints: Option<&Hints>,
    marks: &[&str],
    out: &mut Vec<u8>,
) {
    let mut object = Object::open(out);
    if let Some(hints) = hints {
        hints.write(&mut object);
    }
    for (key, value) in members.iter().filter(|(key, _)| hints.is_none() || *key != ANNOTATIONS) {
        if let Some((_, text)) = replaced.iter().find(|(name, _)| *name == key) {
            object.text(key, text);
        } else if key == META {
            write_meta(&value, marks, &mut object);
        } else if !without.contains(&key) {
            object.value(key, &value);
        }
    }
    if !members.has(META) {
        write_marks(marks, &mut object);
    }
    object.finish();
}

fn write_meta(value: &Json, marks: &[&str], object: &mut Object<'_>) {
    if marks.is_empty() && !value.as_str().contains(meta::OURS) {
        return object.value(META, value);
    }
    object.object(META, |object| {
        for (key, value) in Members::of(value).iter().filter(|(key, _)| !key.starts_with(meta::OURS)) {
            object.value(key, &value);
        }
        marks.iter().for_each(|mark| object.bool(mark, true));
    });
}

fn write_marks(marks: &[&str], object: &mut Object<'_>) {
    if !marks.is_empty() {
        object.object(META, |object| marks.iter().for_each(|mark| object.bool(mark, true)));
    }
}

/// A skill as a tool of this name.
pub fn write_tool(name: &str, skill: &Skill, out: &mut Vec<u8>) {
    if let Some(members) = original(skill.raw.as_ref()) {
        // Hints are handed on as they came, unless configuration knows better.
        return match skill.effects.claimed_by {
            CardFrom::Configuration => {
                let hints = Hints { effects: skill.effects, beside: members.object(ANNOTATIONS) };
                rewritten(&members, &[("name", name)], &["execution"], Some(&hints), marks(skill), out);
            }
            CardFrom::Manifest | CardFrom::Telemetry => {
                rewritten(&members, &[("name", name)], &["execution"], None, marks(skill), out);
            }
        };
    }
    let mut object = Object::open(out);
    object.text("name", name);
    object.text("title", &skill.title);
    object.text("description", &skill.description);
    match skill.kind {
        SkillKind::Agent => object.value("inputSchema", &agent_input(&skill.input)),
        SkillKind::Tool | SkillKind::Prompt => object.value("inputSchema", &object_schema(&skill.input)),
    }
    if let Some(output) = skill.output.as_ref().filter(|schema| is_object_schema(schema)) {
        object.value("outputSchema", &output.0);
    }
    Hints { effects: skill.effects, beside: None }.write(&mut object);
    write_marks(marks(skill), &mut object);
    object.finish();
}

/// Before 2026-07-28 an output schema describes an object.
fn is_object_schema(schema: &Schema) -> bool {
    schema.0.get("type").and_then(serde_json::Value::as_str) == Some("object")
}

/// An input schema must say that it takes an object.
fn object_schema(schema: &Schema) -> Json {
    if is_object_schema(schema) {
        return schema.0.clone();
    }
    let mut tree = schema.0.tree().clone();
    match tree.as_object_mut() {
        Some(object) => drop(object.insert("type".into(), "object".into())),
        None => tree = json!({"type": "object"}),
    }
    tree.into()
}

/// The argument by which a conversation with an agent goes on.
pub const CONVERSATION: &str = "conversation";
/// The argument that holds what is said to an agent.
pub const MESSAGE: &str = "message";

/// What an agent takes: its own arguments, or what is said to it; and which conversation it goes on with.
fn agent_input(schema: &Schema) -> Json {
    let mut tree = object_schema(schema).tree().clone();
    let Some(object) = tree.as_object_mut() else { return json!({"type": "object"}).into() };
    let said = object.get("properties").and_then(serde_json::Value::as_object).is_some_and(|all| !all.is_empty());
    if !said {
        object.insert("properties".into(), json!({MESSAGE: {"type": "string", "description": "What to say."}}));
        object.insert("required".into(), json!([MESSAGE]));
    }
    if let Some(properties) = object.get_mut("properties").and_then(serde_json::Value::as_object_mut) {
        let about = "Goes on with an earlier conversation: what an earlier result called `conversation`.";
        properties.entry(CONVERSATION).or_insert_with(|| json!({"type": "string", "description": about}));
    }
    tree.into()
}

/// A skill as a prompt of this name.
pub fn write_prompt(name: &str, skill: &Skill, out: &mut Vec<u8>) {
    if let Some(members) = original(skill.raw.as_ref()) {
        return rewritten(&members, &[("name", name)], &[], None, marks(skill), out);
    }
    let mut object = Object::open(out);
    object.text("name", name);
    object.text("title", &skill.title);
    object.text("description", &skill.description);
    let tree = skill.input.0.tree();
    let required: Vec<&str> =
        tree["required"].as_array().into_iter().flatten().filter_map(serde_json::Value::as_str).collect();
    let properties = tree["properties"].as_object().into_iter().flatten();
    object.array("arguments", properties, |(name, property), out| {
        let mut argument = Object::open(out);
        argument.text("name", name);
        if let Some(description) = property["description"].as_str() {
            argument.text("description", description);
        }
        argument.bool("required", required.contains(&name.as_str()));
        argument.finish();
    });
    write_marks(marks(skill), &mut object);
    object.finish();
}

/// A resource or template under the address by which the other side reads it, and a name of its own.
pub fn write_resource(uri: &str, name: &str, resource: &Resource, out: &mut Vec<u8>) {
    let key = if resource.template { "uriTemplate" } else { "uri" };
    if let Some(members) = original(resource.raw.as_ref()) {
        let named = members.has("name");
        let replaced: &[(&str, &str)] = &[(key, uri), ("name", name)];
        if named {
            return rewritten(&members, replaced, &[], None, &[], out);
        }
    }
    let mut object = Object::open(out);
    object.text(key, uri);
    object.text("name", name);
    object.text("title", &resource.title);
    if let Some(description) = &resource.description {
        object.text("description", description);
    }
    if let Some(media) = &resource.media {
        object.text("mimeType", media);
    }
    if let Some(size) = resource.size {
        object.number("size", size);
    }
    object.finish();
}

/// The name a resource's server gave it.
pub fn resource_name(resource: &Resource) -> Text {
    let named = original(resource.raw.as_ref()).and_then(|members| text(&members, "name"));
    named.unwrap_or_else(|| resource.title.clone())
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn json(text: &str) -> Json {
        Json::parse(Bytes::copy_from_slice(text.as_bytes())).expect("JSON")
    }

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn m_34_unknown_fields_of_definitions_survive_in_their_order() {
        let tool = r#"{"x-new":{"b":1.0,"a":12345678901234567890},"name":"find","inputSchema":{"type":"object","x":1},"icons":[],"execution":{"taskSupport":"required"},"_meta":{"a/b":1,"interlingua/task":"x"}}"#;
        let decoded = decode_tool(&"p".into(), &json(tool), Version::V2025_11_25).expect("usable");
        assert_eq!(
            written(|out| write_tool("p__find", &decoded.skill, out)),
            r#"{"x-new":{"b":1.0,"a":12345678901234567890},"name":"p__find","inputSchema":{"type":"object","x":1},"icons":[],"_meta":{"a/b":1}}"#
        );
        let resource = r#"{"uri":"test://a","name":"a","annotations":{"priority":1.0},"y":[]}"#;
        let decoded = decode_resource(&"p".into(), &json(resource), Version::LATEST).expect("usable");
        assert_eq!(
            written(|out| write_resource("hub://p/test://a", "a", &decoded, out)),
            r#"{"uri":"hub://p/test://a","name":"a","annotations":{"priority":1.0},"y":[]}"#
        );
    }

    #[test]
    fn what_a_hub_has_of_its_own_or_from_another_stays_there() {
        let tool = |name: &str, tags: &[&str]| {
            let input = Schema(json!({"type": "object"}).into());
            let mut skill = Skill::new(SkillId::new("p", name), SkillKind::Tool, "", input, Effects::unknown());
            skill.tags = tags.iter().map(|tag| Text::from(*tag)).collect();
            skill
        };
        let listed = |name: &str, skill: &Skill| json(&written(|out| write_tool(name, skill, out)));
        assert!(!stays_at_its_hub(&listed("local__find", &tool("find", &[]))));
        assert!(stays_at_its_hub(&listed("hub__find_skills", &tool("find_skills", &[]))));
        let taken = listed("far__find", &tool("find", &[IMPORTED]));
        assert!(stays_at_its_hub(&taken), "{}", taken.as_str());
        // Listed on by the next hub, under a definition that came as bytes, it still says so.
        let again = decode_tool(&"q".into(), &taken, Version::LATEST).expect("usable").skill;
        let again = Skill { tags: vec![IMPORTED.into()], ..again };
        assert!(stays_at_its_hub(&listed("q__far__find", &again)));
        let resource = |uri: &str| Json::from(json!({"uri": uri, "name": "r"}));
        assert!(!stays_at_its_hub(&resource("interlingua://peers/p/test://a")));
        assert!(stays_at_its_hub(&resource("interlingua://peers/p/interlingua://peers/q/test://a")));
    }

    #[test]
    fn a_tool_is_a_skill_with_unknown_effects_and_claims_beside_it() {
        let tool = r#"{"name":"t","title":"T","description":"d","inputSchema":{"type":"object"},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"title":"other"}}"#;
        let Tool { skill, claims } = decode_tool(&"p".into(), &json(tool), Version::LATEST).expect("usable");
        assert_eq!((skill.id.to_string().as_str(), &*skill.title, &*skill.description), ("p/t", "T", "d"));
        assert_eq!(skill.effects, Effects::unknown());
        assert_eq!(claims, Claims { read_only: Some(true), ..Claims::default() });
        assert!(skill.output.is_some());
        for bad in [r#"{"inputSchema":{}}"#, r#"{"name":"","inputSchema":{}}"#, r#"{"name":"x"}"#, "[]"] {
            assert!(decode_tool(&"p".into(), &json(bad), Version::LATEST).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_prompt_and_a_tool_of_one_name_are_two_skills() {
        let prompt = r#"{"name":"t","arguments":[{"name":"a","required":true,"description":"x"},{"name":"b"}]}"#;
        let skill = decode_prompt(&"p".into(), &json(prompt), Version::LATEST).expect("usable");
        assert_eq!((skill.id.skill.as_str(), crate::names::server_name(&skill.id.skill)), ("prompt:t", "t"));
        assert_eq!(skill.input.0.tree()["required"], json!(["a"]));
        let plain = Skill { raw: None, ..skill };
        assert_eq!(
            written(|out| write_prompt("n", &plain, out)),
            r#"{"name":"n","title":"t","description":"","arguments":[{"name":"a","description":"x","required":true},{"name":"b","required":false}]}"#
        );
    }

    #[test]
    fn an_agent_takes_a_message_and_a_conversation() {
        let id = SkillId::new("a", "chat");
        let any = Schema(json!({"type": "object"}).into());
        let skill = Skill::new(id, SkillKind::Agent, "Talks.", any, Effects::unknown());
        let tool = json(&written(|out| write_tool("a__chat", &skill, out)));
        assert_eq!(tool.tree()["inputSchema"]["required"], json!(["message"]));
        assert!(tool.tree()["inputSchema"]["properties"]["conversation"].is_object());
    }
}
