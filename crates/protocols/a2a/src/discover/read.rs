//! Reads an agent's card (section 4.4, 8): of 1.0 by `supportedInterfaces`, of 0.3 by `url`. Unknown members are skipped; an error in a
//! single skill or interface omits that one and no other.

use bytes::Bytes;
use interlingua_model::json::Reader;
use interlingua_model::{Json, Media, Provider, Text};

use crate::Version;
use crate::ext;
use crate::invalid::{Invalid, Problem};
use crate::json::field;

/// How much of one card is taken.
const MOST_SKILLS: usize = 1_000;
const MOST_INTERFACES: usize = 32;

/// What an agent says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentCard {
    pub name: Text,
    pub description: Text,
    pub version: Text,
    pub provider: Option<Provider>,
    /// In the agent's own order: the first is the one it likes best (section 8.3.2).
    pub interfaces: Vec<Interface>,
    pub streaming: bool,
    pub skills: Vec<Offer>,
    pub takes: Vec<Media>,
    pub gives: Vec<Media>,
    /// It speaks our extension; with what it says there of its skills.
    pub hub: Option<Json>,
    /// Extensions it insists on and we do not know.
    pub foreign: Vec<Text>,
    pub schemes: Vec<Scheme>,
    /// Nothing is answered without one of the schemes.
    pub guarded: bool,
    pub signed: bool,
    /// What was left out, and why.
    pub problems: Vec<Text>,
}

/// Where it can be spoken to, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    pub url: Text,
    pub binding: Binding,
    pub version: Version,
    /// Goes back with every request.
    pub tenant: Option<Text>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Binding {
    JsonRpc,
    HttpJson,
    Grpc,
}

impl Binding {
    fn named(name: &str) -> Option<Binding> {
        match name {
            "JSONRPC" => Some(Binding::JsonRpc),
            "HTTP+JSON" => Some(Binding::HttpJson),
            "GRPC" => Some(Binding::Grpc),
            _ => None,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Binding::JsonRpc => "JSONRPC",
            Binding::HttpJson => "HTTP+JSON",
            Binding::Grpc => "GRPC",
        }
    }
}

/// A skill as the card lists it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Offer {
    pub id: Text,
    pub title: Text,
    pub description: Text,
    pub tags: Vec<Text>,
    pub examples: Vec<Text>,
    pub takes: Vec<Media>,
    pub gives: Vec<Media>,
}

/// How a caller can prove who it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scheme {
    Bearer,
    Basic,
    /// A key in this header.
    Header(Text),
    /// One that needs more than a configured secret, by its name.
    Other(Text),
}

/// Reads a card. An error says why there is nothing to go by at all.
pub fn decode(frame: &Bytes, depth: usize) -> Result<AgentCard, Invalid> {
    let mut reader = Reader::new(frame, depth)?;
    let mut read = Read::default();
    field::object(&mut reader, |key, reader| read.member(key, reader, frame))?;
    reader.end()?;
    read.finish()
}

#[derive(Default)]
struct Read {
    name: Option<Text>,
    description: Option<Text>,
    version: Option<Text>,
    provider: Option<Provider>,
    listed: Vec<ListedInterface>,
    /// Members of 0.3.
    url: Option<Text>,
    transport: Option<Text>,
    old_version: Option<Text>,
    additional: Vec<ListedInterface>,
    streaming: bool,
    hub: Option<Json>,
    foreign: Vec<Text>,
    skills: Vec<Offer>,
    takes: Vec<Media>,
    gives: Vec<Media>,
    schemes: Option<Json>,
    guarded: bool,
    signed: bool,
    problems: Vec<Text>,
}

/// An interface as it is written.
#[derive(Default)]
struct ListedInterface {
    url: Option<Text>,
    binding: Option<Text>,
    version: Option<Text>,
    tenant: Option<Text>,
}

impl Read {
    fn member(&mut self, key: &str, reader: &mut Reader<'_>, frame: &Bytes) -> Result<(), Invalid> {
        match key {
            "name" => self.name = field::non_empty(reader)?,
            "description" => self.description = field::non_empty(reader)?,
            "version" => self.version = field::non_empty(reader)?,
            "provider" => self.provider = provider(reader)?,
            "supportedInterfaces" | "supported_interfaces" => self.listed = interfaces(reader, "protocolBinding")?,
            "url" => self.url = field::non_empty(reader)?,
            "preferredTransport" => self.transport = field::non_empty(reader)?,
            "protocolVersion" => self.old_version = field::non_empty(reader)?,
            "additionalInterfaces" => self.additional = interfaces(reader, "transport")?,
            "capabilities" => {
                if field::present(reader)? {
                    field::object(reader, |key, reader| self.capability(key, reader, frame))?;
                }
            }
            "skills" => field::list(reader, |reader| self.skill(reader))?,
            "defaultInputModes" | "default_input_modes" => self.takes = field::texts(reader)?,
            "defaultOutputModes" | "default_output_modes" => self.gives = field::texts(reader)?,
            "securitySchemes" | "security_schemes" => self.schemes = field::metadata(reader, frame)?,
            "securityRequirements" | "security_requirements" | "security" => {
                field::list(reader, |reader| {
                    // An empty requirement is one that anybody meets.
                    self.guarded |= field::any(reader, frame)?.tree().as_object().is_some_and(|one| !one.is_empty());
                    Ok(())
                })?;
            }
            "signatures" => field::list(reader, |reader| {
                self.signed = true;
                field::skip(reader)
            })?,
            _ => field::skip(reader)?,
        }
        Ok(())
    }

    fn capability(&mut self, key: &str, reader: &mut Reader<'_>, frame: &Bytes) -> Result<(), Invalid> {
        match key {
            "streaming" => self.streaming = field::bool(reader)?.unwrap_or_default(),
            "extensions" => field::list(reader, |reader| self.extension(reader, frame))?,
            _ => field::skip(reader)?,
        }
        Ok(())
    }

    fn extension(&mut self, reader: &mut Reader<'_>, frame: &Bytes) -> Result<(), Invalid> {
        let (mut uri, mut required, mut params) = (None, false, None);
        field::object(reader, |key, reader| {
            match key {
                "uri" => uri = field::non_empty(reader)?,
                "required" => required = field::bool(reader)?.unwrap_or_default(),
                "params" => params = field::metadata(reader, frame)?,
                _ => field::skip(reader)?,
            }
            Ok(())
        })?;
        match uri {
            Some(uri) if &*uri == ext::URI => self.hub = Some(params.unwrap_or_else(Json::empty_object)),
            Some(uri) if required => self.foreign.push(uri),
            Some(_) | None => {}
        }
        Ok(())
    }

    fn skill(&mut self, reader: &mut Reader<'_>) -> Result<(), Invalid> {
        let mut offer = Offer::default();
        field::object(reader, |key, reader| {
            match key {
                "id" => offer.id = field::non_empty(reader)?.unwrap_or_default(),
                "name" => offer.title = field::non_empty(reader)?.unwrap_or_default(),
                "description" => offer.description = field::non_empty(reader)?.unwrap_or_default(),
                "tags" => offer.tags = field::texts(reader)?,
                "examples" => offer.examples = field::texts(reader)?,
                "inputModes" | "input_modes" => offer.takes = field::texts(reader)?,
                "outputModes" | "output_modes" => offer.gives = field::texts(reader)?,
                _ => field::skip(reader)?,
            }
            Ok(())
        })?;
        if offer.id.is_empty() {
            self.problems.push("a skill without an id is left out".into());
        } else if self.skills.len() >= MOST_SKILLS {
            self.problems.push(format!("`{}` is left out: {MOST_SKILLS} skills are enough", offer.id).into());
        } else {
            self.skills.push(offer);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<AgentCard, Invalid> {
        let name = self.name.take().ok_or_else(|| Invalid::at("name", Problem::Missing))?;
        let interfaces = self.interfaces();
        if interfaces.is_empty() {
            return Err(Invalid::at("supportedInterfaces", Problem::Missing));
        }
        Ok(AgentCard {
            description: self.description.unwrap_or_else(|| name.clone()),
            name,
            version: self.version.unwrap_or_else(|| "1".into()),
            provider: self.provider,
            interfaces,
            streaming: self.streaming,
            skills: self.skills,
            takes: self.takes,
            gives: self.gives,
            hub: self.hub,
            foreign: self.foreign,
            schemes: self.schemes.as_ref().map(schemes).unwrap_or_default(),
            guarded: self.guarded,
            signed: self.signed,
            problems: self.problems,
        })
    }

    /// Where both generations describe themselves, the newer description counts: it names both.
    fn interfaces(&mut self) -> Vec<Interface> {
        let listed = std::mem::take(&mut self.listed);
        if !listed.is_empty() {
            return listed.into_iter().filter_map(|listed| self.interface(listed, Version::V1)).collect();
        }
        let version = self.old_version.clone();
        let main = ListedInterface {
            url: self.url.clone(),
            binding: Some(self.transport.clone().unwrap_or_else(|| "JSONRPC".into())),
            version: version.clone(),
            tenant: None,
        };
        let more = std::mem::take(&mut self.additional);
        let all = [main].into_iter().chain(more).map(|listed| ListedInterface { version: version.clone(), ..listed });
        let mut found: Vec<Interface> = Vec::new();
        for interface in all.filter_map(|listed| self.interface(listed, Version::V03)).collect::<Vec<_>>() {
            // The preferred one is often listed again among the others.
            if !found.contains(&interface) {
                found.push(interface);
            }
        }
        found
    }

    fn interface(&mut self, listed: ListedInterface, unsaid: Version) -> Option<Interface> {
        let url = listed.url?;
        let name = listed.binding.unwrap_or_default();
        let Some(binding) = Binding::named(&name) else {
            self.problems.push(format!("its interface by `{name}` is left out: nobody here speaks that").into());
            return None;
        };
        let Some(version) = listed.version.map_or(Some(unsaid), |version| spoken(&version)) else {
            self.problems.push(format!("its interface at {url} is left out: its version is not spoken here").into());
            return None;
        };
        Some(Interface { url, binding, version, tenant: listed.tenant })
    }
}

/// Cards write patch versions, too; those before 0.3 are near enough to be tried as it.
fn spoken(version: &str) -> Option<Version> {
    let mut numbers = version.trim().trim_start_matches('v').split('.');
    match (numbers.next()?, numbers.next()) {
        ("1", _) => Some(Version::V1),
        ("0", Some("2" | "3")) => Some(Version::V03),
        _ => None,
    }
}

fn provider(reader: &mut Reader<'_>) -> Result<Option<Provider>, Invalid> {
    if !field::present(reader)? {
        return Ok(None);
    }
    let (mut name, mut url) = (None, None);
    field::object(reader, |key, reader| {
        match key {
            "organization" => name = field::non_empty(reader)?,
            "url" => url = field::non_empty(reader)?,
            _ => field::skip(reader)?,
        }
        Ok(())
    })?;
    Ok(name.map(|name| Provider { name, url, contact: None }))
}

fn interfaces(reader: &mut Reader<'_>, binding: &str) -> Result<Vec<ListedInterface>, Invalid> {
    let mut all = Vec::new();
    field::list(reader, |reader| {
        let mut listed = ListedInterface::default();
        field::object(reader, |key, reader| {
            match key {
                "url" => listed.url = field::non_empty(reader)?,
                "protocolVersion" => listed.version = field::non_empty(reader)?,
                "tenant" => listed.tenant = field::non_empty(reader)?,
                key if key == binding => listed.binding = field::non_empty(reader)?,
                _ => field::skip(reader)?,
            }
            Ok(())
        })?;
        if all.len() < MOST_INTERFACES {
            all.push(listed);
        }
        Ok(())
    })?;
    Ok(all)
}

/// Both spellings: by the member that is there (1.0), by `type` (0.3).
fn schemes(map: &Json) -> Vec<Scheme> {
    let named = map.tree().as_object().into_iter().flatten();
    named
        .map(|(name, scheme)| {
            let http = scheme.pointer("/httpAuthSecurityScheme/scheme").or_else(|| scheme.get("scheme"));
            let key = scheme.get("apiKeySecurityScheme").unwrap_or(scheme);
            let place = key.get("location").or_else(|| key.get("in")).and_then(|place| place.as_str());
            let header = key.get("name").and_then(|name| name.as_str()).filter(|_| place == Some("header"));
            match (http.and_then(|http| http.as_str()).map(str::to_ascii_lowercase).as_deref(), header) {
                (Some("bearer"), _) => Scheme::Bearer,
                (Some("basic"), _) => Scheme::Basic,
                (_, Some(header)) => Scheme::Header(header.into()),
                (Some(_) | None, None) => Scheme::Other(name.as_str().into()),
            }
        })
        .collect()
}
