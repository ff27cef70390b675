//! Writes an agent's card (section 4.4, 8), readable by both generations: all members of 1.0, and beside them those that a client of 0.3
//! reads. Readers of either generation ignore unknown members.

use interlingua_model::address::Written;
use interlingua_model::json::write_string;
use interlingua_model::{Json, Media, Provider, Skill, SkillKind, Text};

use crate::Version;
use crate::ext;
use crate::wire::{Content, Part};
use interlingua_wire::object::Object;

/// What a card is made from.
#[derive(Debug, Clone)]
pub struct Facts<'a> {
    pub name: &'a str,
    pub description: &'a str,
    pub version: &'a str,
    pub provider: Option<&'a Provider>,
    /// Of JSON-RPC and of HTTP with JSON, in both generations.
    pub url: &'a str,
    /// `host:port` of gRPC, where it is spoken.
    pub grpc: Option<&'a str>,
    /// Which agent is meant, where an address alone does not say.
    pub tenant: Option<&'a str>,
    pub skills: Vec<ListedSkill<'a>>,
    pub capabilities: Capabilities,
    /// Whether a client must know our extension.
    pub extension_required: bool,
    pub credential: Credential,
    pub readers: Readers,
}

/// Who a card is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Whoever comes: what a client of 0.3 looks for stands beside the members of 1.0.
    Any,
    /// Clients of 1.0, some of which refuse members they do not know.
    New,
}

/// A skill under the id by which this card lists it.
#[derive(Debug, Clone)]
pub struct ListedSkill<'a> {
    pub id: String,
    pub skill: &'a Skill,
}

/// What of the protocol is switched on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    pub streaming: bool,
    pub push: bool,
    pub extended_card: bool,
}

/// Whether a bearer token must be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credential {
    Offered,
    Required,
}

/// The name of the one scheme.
const SCHEME: &str = "bearer";
/// What is taken and given where a skill does not say.
const USUAL: [&str; 2] = ["text/plain", "application/json"];

#[derive(Clone, Copy)]
struct Interface {
    binding: &'static str,
    version: Version,
}

const INTERFACES: [Interface; 6] = [
    Interface { binding: "JSONRPC", version: Version::V1 },
    Interface { binding: "HTTP+JSON", version: Version::V1 },
    Interface { binding: GRPC, version: Version::V1 },
    Interface { binding: "JSONRPC", version: Version::V03 },
    Interface { binding: "HTTP+JSON", version: Version::V03 },
    Interface { binding: GRPC, version: Version::V03 },
];

const GRPC: &str = "GRPC";

impl Interface {
    /// Where it is spoken for this agent, if it is. gRPC has one address for all agents, and 0.3 no word for which is meant.
    fn url<'a>(self, facts: &Facts<'a>) -> Option<&'a str> {
        match (self.version, self.binding, facts.tenant) {
            (Version::V03, _, _) if facts.readers == Readers::New => None,
            (Version::V03, GRPC, Some(_)) => None,
            (Version::V1 | Version::V03, GRPC, _) => facts.grpc,
            (Version::V1 | Version::V03, _, _) => Some(facts.url),
        }
    }
}

pub fn card(facts: &Facts<'_>) -> Json {
    Object::json(|card| {
        card.text("name", facts.name);
        card.text("description", facts.description);
        card.text("version", facts.version);
        interfaces(card, facts);
        if let Some(provider) = facts.provider {
            card.object("provider", |object| {
                object.text("organization", &provider.name);
                object.text("url", provider.url.as_deref().unwrap_or_default());
            });
        }
        card.object("capabilities", |object| capabilities(object, facts));
        security(card, facts);
        let (takes, gives) = modes(facts.skills.iter().map(|listed| listed.skill));
        texts(card, "defaultInputModes", &takes);
        texts(card, "defaultOutputModes", &gives);
        card.array("skills", &facts.skills, |listed, out| {
            let mut object = Object::open(out);
            skill(&mut object, listed);
            object.finish();
        });
        match facts.readers {
            Readers::Any => old_members(card, facts),
            Readers::New => {}
        }
    })
}

fn interfaces(card: &mut Object<'_>, facts: &Facts<'_>) {
    let all = INTERFACES.into_iter().filter_map(|interface| Some((interface.url(facts)?, interface)));
    card.array("supportedInterfaces", all, |(url, interface), out| {
        let mut object = Object::open(out);
        object.text("url", url);
        object.text("protocolBinding", interface.binding);
        object.text("protocolVersion", interface.version.as_str());
        if let (Some(tenant), GRPC) = (facts.tenant, interface.binding) {
            object.text("tenant", tenant);
        }
        object.finish();
    });
}

fn capabilities(object: &mut Object<'_>, facts: &Facts<'_>) {
    object.bool("streaming", facts.capabilities.streaming);
    object.bool("pushNotifications", facts.capabilities.push);
    object.bool("extendedAgentCard", facts.capabilities.extended_card);
    object.array("extensions", [ext::URI], |uri, out| {
        let mut object = Object::open(out);
        object.text("uri", uri);
        object.text(
            "description",
            "Schemas and choice of skills, priority, deadlines, and what a translation could not carry",
        );
        object.bool("required", facts.extension_required);
        object.object("params", |params| {
            ext::schemas(params, facts.skills.iter().map(|listed| (listed.id.as_str(), listed.skill)));
        });
        object.finish();
    });
}

/// Both spellings of the scheme in one object.
fn security(card: &mut Object<'_>, facts: &Facts<'_>) {
    card.object("securitySchemes", |schemes| {
        schemes.object(SCHEME, |scheme| {
            scheme.object("httpAuthSecurityScheme", |http| http.text("scheme", "Bearer"));
            if facts.readers == Readers::Any {
                scheme.text("type", "http");
                scheme.text("scheme", "bearer");
            }
        });
    });
    match facts.credential {
        Credential::Offered => {}
        Credential::Required => {
            card.array("securityRequirements", [SCHEME], |scheme, out| {
                let mut object = Object::open(out);
                object.object("schemes", |schemes| {
                    schemes.object(scheme, |list| list.array("list", [""; 0], write_string));
                });
                object.finish();
            });
            if facts.readers == Readers::Any {
                card.array("security", [SCHEME], |scheme, out| {
                    let mut object = Object::open(out);
                    object.array(scheme, [""; 0], write_string);
                    object.finish();
                });
            }
        }
    }
}

/// What a client of 0.3 reads.
fn old_members(card: &mut Object<'_>, facts: &Facts<'_>) {
    card.text("protocolVersion", "0.3.0");
    card.text("url", facts.url);
    card.text("preferredTransport", "JSONRPC");
    let old = INTERFACES.into_iter().filter(|interface| interface.version == Version::V03);
    let old = old.filter_map(|interface| Some((interface.url(facts)?, interface.binding)));
    let scheme = Written::of(facts.url).map_or("http", |written| written.scheme);
    card.array("additionalInterfaces", old, |(url, transport), out| {
        let mut object = Object::open(out);
        // There an address is a URL, also that of gRPC.
        match transport {
            GRPC => object.text("url", &format!("{scheme}://{url}")),
            _ => object.text("url", url),
        }
        object.text("transport", transport);
        object.finish();
    });
    card.bool("supportsAuthenticatedExtendedCard", facts.capabilities.extended_card);
}

fn skill(object: &mut Object<'_>, ListedSkill { id, skill }: &ListedSkill<'_>) {
    object.text("id", id);
    object.text("name", &skill.title);
    // Neither may be empty.
    let description = if skill.description.is_empty() { &skill.title } else { &skill.description };
    object.text("description", description);
    let kind: Text = skill.kind.as_str().into();
    let tags: Vec<Text> = if skill.tags.is_empty() { vec![kind] } else { skill.tags.clone() };
    texts(object, "tags", &tags);
    if !skill.examples.is_empty() {
        texts(object, "examples", &skill.examples);
    }
    let (takes, gives) = modes([*skill].into_iter());
    texts(object, "inputModes", &takes);
    texts(object, "outputModes", &gives);
}

fn texts<T: AsRef<str>>(object: &mut Object<'_>, key: &str, texts: &[T]) {
    object.array(key, texts, |text, out| write_string(text.as_ref(), out));
}

/// What these skills take and give together.
pub fn modes<'a>(skills: impl Iterator<Item = &'a Skill>) -> (Vec<Media>, Vec<Media>) {
    let (mut takes, mut gives) = (Vec::new(), Vec::new());
    for skill in skills {
        add(&mut takes, &skill.takes);
        add(&mut gives, &skill.gives);
    }
    if takes.is_empty() {
        add(&mut takes, &[]);
    }
    if gives.is_empty() {
        add(&mut gives, &[]);
    }
    (takes, gives)
}

fn add(modes: &mut Vec<Media>, more: &[Media]) {
    let usual = USUAL.map(Media::from);
    let more = if more.is_empty() { usual.as_slice() } else { more };
    for mode in more {
        if !modes.contains(mode) {
            modes.push(mode.clone());
        }
    }
}

/// Is a part of a kind that is taken? One that does not say what it is is taken at its content.
pub fn takes(modes: &[Media], part: &Part) -> bool {
    let Some(media) = &part.media else { return true };
    let kind = media.split(';').next().unwrap_or_default().trim();
    let fits = |mode: &Media| {
        let mode = mode.split(';').next().unwrap_or_default().trim();
        mode == "*/*"
            || mode.eq_ignore_ascii_case(kind)
            || mode
                .strip_suffix("/*")
                .is_some_and(|family| kind.split_once('/').is_some_and(|(given, _)| given.eq_ignore_ascii_case(family)))
    };
    // Any data is JSON, whatever vocabulary it says it is in; any text can be read as text.
    let read_as = match &part.content {
        Content::Data(_) => kind.to_ascii_lowercase().ends_with("+json").then_some("application/json"),
        Content::Text(_) => kind.to_ascii_lowercase().starts_with("text/").then_some("text/plain"),
        Content::Raw(_) | Content::Url(_) => None,
    };
    modes.iter().any(|mode| fits(mode) || read_as.is_some_and(|kind| &**mode == kind))
}

/// A card lists at least one skill: what the hub does with plain words.
pub fn words(peer: &str, description: &str) -> Skill {
    let schema = interlingua_model::Schema(Json::from_tree(serde_json::json!({"type": "object"})));
    let effects = interlingua_model::Effects::unknown();
    let id = interlingua_model::SkillId::new(peer, "ask");
    let mut skill = Skill::new(id, SkillKind::Agent, description, schema, effects);
    skill.title = "Ask in plain words".into();
    skill.tags = vec!["words".into()];
    skill
}
