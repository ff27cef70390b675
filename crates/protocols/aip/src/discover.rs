//! Cards of devices, merged from the configuration, a manifest and the device's own description; and the description of other peers for a
//! constellation.

use std::collections::BTreeMap;

use interlingua_model::{
    Card, CardFrom, CardSource, Effects, Health, Json, PeerId, RouteClass, Schema, Skill, SkillId, SkillKind, Text,
    Time,
};

use super::telemetry;
use interlingua_wire::members::{Members, elements};
use interlingua_wire::object::Object;

/// What a merged profile takes over from a device's account of itself.
const SYSTEM: [&str; 8] = [
    "platform",
    "os_version",
    "cpu_count",
    "memory_total_gb",
    "hostname",
    "ip_address",
    "platform_type",
    "schema_version",
];
/// The skill of a device that takes words.
pub(crate) const DO: &str = "do";
/// How many tools of one device are believed.
const TOOLS: usize = 1024;
/// How many capabilities of one device are believed, and bytes of the name of one.
const CAPABILITIES: usize = 512;
const CAPABILITY: usize = 128;

/// What each of the three says of a device; all but its id may be absent.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// `os`, `capabilities`, `metadata`.
    pub configuration: Option<Json>,
    /// Free keys; `additional_features` and `tags` are known.
    pub manifest: Option<Json>,
    /// `system_info` of REGISTER.
    pub telemetry: Option<Json>,
}

/// The three as one.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    pub os: Option<Text>,
    /// Without order or doubles.
    pub capabilities: Vec<Text>,
    pub metadata: Json,
}

fn members(json: Option<&Json>) -> Members {
    json.map_or_else(Members::absent, Members::of)
}

fn texts(members: &Members, key: &str) -> Vec<Text> {
    let list = members.list(key).unwrap_or_default();
    list.iter().filter_map(|one| one.tree().as_str().map(Text::from)).collect()
}

/// The device's own account wins for what it is, configuration keeps what nobody else speaks of, features add up.
pub fn merge(sources: &Sources) -> Profile {
    let (configured, manifest) = (members(sources.configuration.as_ref()), members(sources.manifest.as_ref()));
    let told = members(sources.telemetry.as_ref());
    let mut capabilities = texts(&configured, "capabilities");
    capabilities.extend(texts(&told, "supported_features"));
    capabilities.extend(texts(&manifest, "additional_features"));
    capabilities.sort_unstable();
    capabilities.dedup();
    let os = told.text("platform").or_else(|| configured.text("os")).map(|os| Text::from(&*os));
    let mut metadata: BTreeMap<Text, Json> = BTreeMap::new();
    if let Some(user) = configured.object("metadata") {
        metadata.extend(user.iter().map(|(key, value)| (key.into(), value)));
    }
    if sources.telemetry.is_some() {
        let known = SYSTEM.iter().filter_map(|key| Some((*key, told.get(key)?)));
        metadata
            .insert("system_info".into(), Object::json(|out| known.for_each(|(key, value)| out.value(key, &value))));
    }
    let custom = sources.manifest.clone().filter(Json::is_object).or_else(|| told.get("custom_metadata"));
    metadata.extend(custom.map(|custom| ("custom_metadata".into(), custom)));
    let tags = manifest.get("tags").or_else(|| told.get("tags"));
    metadata.extend(tags.map(|tags| ("tags".into(), tags)));
    let metadata = Object::json(|out| metadata.iter().for_each(|(key, value)| out.value(key, value)));
    Profile { os, capabilities, metadata }
}

/// The card of a device: its tools, and `do`, which a planner runs in words.
pub fn card(device: &str, sources: &Sources, tools: Vec<Skill>, now: Time) -> Card {
    let told = sources.telemetry.as_ref().map(telemetry::of_info);
    let (telemetry, report) = told.map(|told| (told.fields, told.report)).unzip();
    let sources = &Sources { telemetry, ..sources.clone() };
    let mut profile = merge(sources);
    profile.capabilities.retain(|name| name.len() <= CAPABILITY && !name.chars().any(char::is_control));
    profile.capabilities.truncate(CAPABILITIES);
    let peer = PeerId::from(device);
    let from = [
        (CardFrom::Configuration, &sources.configuration),
        (CardFrom::Manifest, &sources.manifest),
        (CardFrom::Telemetry, &sources.telemetry),
    ];
    let told = report.as_ref().and_then(|report| report.state.platform.clone());
    let configured = profile.os.clone().filter(|_| !members(sources.telemetry.as_ref()).has("platform"));
    let os = told.or(configured).unwrap_or_else(|| "unknown system".into());
    let mut skills = vec![tell(&peer, &profile)];
    skills.extend(tools);
    Card {
        title: device.into(),
        description: format!("a device ({os})").into(),
        version: "1".into(),
        class: RouteClass::Device,
        provider: None,
        skills,
        resources: Vec::new(),
        sources: from
            .into_iter()
            .filter_map(|(from, json)| Some(CardSource { from, digest: json.as_ref()?.digest() }))
            .collect(),
        health: Health::Up,
        telemetry: report.map(|report| report.state.to_json()),
        seen: now,
        raw: None,
        peer,
    }
}

fn tell(peer: &PeerId, profile: &Profile) -> Skill {
    let schema = r#"{"type":"object","properties":{"request":{"type":"string","description":"what is to be done, in words"}},"required":["request"]}"#;
    let input = Schema(Json::parse(schema.into()).unwrap_or_else(|_| Json::empty_object()));
    let mut skill = Skill::new(
        SkillId::new(peer.as_str(), DO),
        SkillKind::Agent,
        "Does what it is told in words, with the tools of this device",
        input,
        Effects::unknown(),
    );
    skill.tags.clone_from(&profile.capabilities);
    skill.always_kept = true;
    skill.sealed()
}

/// The answer of a device's `list_tools`: a list of tool descriptions. What is no description is passed over.
pub fn tools(device: &str, result: &Json) -> Vec<(Skill, ToolKey)> {
    let list = elements(result).unwrap_or_default();
    list.iter().take(TOOLS).filter_map(|tool| one_tool(device, &Members::of(tool))).collect()
}

/// How a device knows a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolKey {
    pub name: Text,
    pub tool_type: super::wire::ToolType,
    pub namespace: Option<Text>,
}

fn one_tool(device: &str, tool: &Members) -> Option<(Skill, ToolKey)> {
    let name = tool.text("tool_name").filter(|name| !name.is_empty())?;
    let tool_type = super::wire::ToolType::parse(&tool.text("tool_type")?)?;
    let text = |key: &str| tool.text(key).filter(|text| !text.is_empty()).map(|text| Text::from(&*text));
    let input = tool.get("input_schema").filter(Json::is_object).unwrap_or_else(Json::empty_object);
    // Its own claim that it only collects data frees nothing: configuration may.
    let effects = Effects::unknown();
    let description = text("description").or_else(|| text("title")).unwrap_or_else(|| (&*name).into());
    let mut skill = Skill::new(SkillId::new(device, &*name), SkillKind::Tool, description, Schema(input), effects);
    skill.title = text("title").unwrap_or_else(|| (&*name).into());
    skill.output = tool.get("output_schema").filter(Json::is_object).map(Schema);
    skill.category = text("namespace");
    let key = ToolKey { name: (&*name).into(), tool_type, namespace: text("namespace") };
    Some((skill.sealed(), key))
}

/// A tool of ours as a device lists it.
pub fn write_tool(skill: &Skill, tool_type: super::wire::ToolType, namespace: &str, out: &mut Vec<u8>) {
    let mut tool = Object::open(out);
    let name = skill.id.skill.as_str();
    tool.text("tool_key", &format!("{}::{name}", tool_type.as_str()));
    tool.text("tool_name", name);
    tool.text("title", &skill.title);
    tool.text("namespace", namespace);
    tool.text("tool_type", tool_type.as_str());
    tool.text("description", &skill.description);
    tool.value("input_schema", &skill.input.0);
    match &skill.output {
        Some(schema) => tool.value("output_schema", &schema.0),
        None => tool.null("output_schema"),
    }
    tool.null("meta");
    tool.null("annotations");
    tool.finish();
}

/// What a constellation that asks for a peer's device information is told of one that is no device.
pub fn system_info(card: &Card) -> Json {
    Object::json(|out| {
        out.text("device_id", card.peer.as_str());
        out.text("platform", "hub");
        out.text("os_version", &card.version);
        out.text("hostname", &card.title);
        out.array("supported_features", &card.skills, |skill, out| {
            interlingua_model::json::write_string(skill.id.skill.as_str(), out);
        });
        out.text("platform_type", "peer");
        out.text("schema_version", "1.0");
        out.object("custom_metadata", |custom| custom.text("description", &card.description));
    })
}

/// What a constellation is told of a device that is not there.
pub fn unknown(device: &str) -> Json {
    Object::json(|out| out.text("error", &format!("Device {device} not found or no system info available")))
}
