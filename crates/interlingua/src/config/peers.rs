//! Who the hub can call: for each peer the one protocol it speaks, and what configuration says of it.

use std::ops::{Deref, DerefMut};
use std::path::PathBuf;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

use interlingua_a2a::settings::A2aPeer;
use interlingua_aip::settings::AipPeer;
use interlingua_mcp::settings::McpPeer;
use interlingua_nlip::settings::NlipPeer;
use interlingua_nlweb::settings::NlwebPeer;
use interlingua_settings::{self, EffectsOverride, SkillSettings, Span};
use interlingua_sites::settings::SitePeer;

/// A peer that is configured. Its `speaks` is exactly one of the protocol keys.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Written")]
pub struct Peer {
    pub speaks: Speaks,
    pub common: interlingua_settings::Peer,
}

impl Peer {
    pub fn new(speaks: Speaks) -> Peer {
        Peer { speaks, common: interlingua_settings::Peer::default() }
    }
}

impl Deref for Peer {
    type Target = interlingua_settings::Peer;

    fn deref(&self) -> &interlingua_settings::Peer {
        &self.common
    }
}

impl DerefMut for Peer {
    fn deref_mut(&mut self) -> &mut interlingua_settings::Peer {
        &mut self.common
    }
}

/// The protocols this hub can call a peer with.
#[derive(Debug, Clone, PartialEq)]
pub enum Speaks {
    Nlip(NlipPeer),
    Mcp(Box<McpPeer>),
    A2a(Box<A2aPeer>),
    Aip(Box<AipPeer>),
    Nlweb(NlwebPeer),
    /// No protocol at all: a browser drives it.
    Site(SitePeer),
}

/// A peer as it is written in the file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Peer")]
pub(super) struct Written {
    /// It speaks NLIP. Each peer has exactly one protocol key.
    nlip: Option<NlipPeer>,
    /// It is an MCP server: a program, or reached by a URL.
    mcp: Option<McpPeer>,
    /// It is an A2A agent.
    a2a: Option<A2aPeer>,
    /// It is a device, reached through an AIP server.
    aip: Option<AipPeer>,
    /// It is a site that is asked in natural language.
    nlweb: Option<NlwebPeer>,
    /// It is a website without an interface for programs: the file that says how to use it.
    site: Option<PathBuf>,
    /// Its name for people.
    title: Option<String>,
    /// What it is for; searched when a request comes in plain words.
    description: Option<String>,
    /// What its skills do, instead of what it says itself.
    effects: Option<EffectsOverride>,
    /// What some of its skills do and which sentences mean them, by name or pattern; `*` stands for any letters. A name counts
    /// before a pattern, the first pattern before a later one, and both before `effects` of the peer.
    #[serde(default)]
    skills: IndexMap<String, SkillSettings>,
    /// Believe its own claims that a skill only reads.
    #[serde(default)]
    trust_hints: bool,
    /// Anyone may call it, without a credential.
    #[serde(default)]
    public: bool,
    /// It is a hub too: believe what it says of faults, losses and the way a call has taken.
    #[serde(default)]
    hub: bool,
    /// Skills that are offered; `*` stands for any letters. Default: all.
    #[serde(default = "everything")]
    allow: Vec<String>,
    /// Skills that are not offered; wins over `allow`.
    #[serde(default)]
    deny: Vec<String>,
    /// How long one call of it may take; `limits.deadline` holds too.
    timeout: Option<Span>,
    /// Other places that are its own, such as `https://files.agent.example:9443`: an address that it names is called only at its
    /// own scheme, host and port or at one of these, and is shown its credentials there. Default: none.
    #[serde(default)]
    origins: Vec<String>,
}

fn everything() -> Vec<String> {
    vec!["*".into()]
}

impl TryFrom<Written> for Peer {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Peer, Self::Error> {
        let nlip = written.nlip.map(Speaks::Nlip);
        let mcp = written.mcp.map(|mcp| Speaks::Mcp(Box::new(mcp)));
        let a2a = written.a2a.map(|a2a| Speaks::A2a(Box::new(a2a)));
        let aip = written.aip.map(|aip| Speaks::Aip(Box::new(aip)));
        let site = written.site.map(|file| Speaks::Site(SitePeer::new(file)));
        let nlweb = written.nlweb.map(Speaks::Nlweb);
        let mut spoken = [nlip, mcp, a2a, aip, nlweb, site].into_iter().flatten();
        let missing = "a peer needs its protocol and address: `nlip: { url: … }`, `mcp: { … }`, `a2a: { url: … }`, `aip: { … }`, `nlweb: { url: … }` or `site: FILE`";
        let speaks = spoken.next().ok_or(missing)?;
        if spoken.next().is_some() {
            return Err("a peer speaks exactly one protocol; make it two peers");
        }
        let common = interlingua_settings::Peer {
            title: written.title,
            description: written.description,
            effects: written.effects,
            skills: written.skills,
            trust_hints: written.trust_hints,
            public: written.public,
            hub: written.hub,
            allow: written.allow,
            deny: written.deny,
            timeout: written.timeout,
            origins: written.origins,
        };
        Ok(Peer { speaks, common })
    }
}

impl JsonSchema for Peer {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Written::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Written::json_schema(generator)
    }
}
