//! Who the hub can call: for each peer the one protocol it speaks, and what configuration says of it.

use std::path::PathBuf;

use indexmap::IndexMap;
use interlingua_core::{CardFrom, Effects, Skill, glob};
use schemars::JsonSchema;
use serde::Deserialize;

use super::a2a_peer::A2aPeer;
use super::aip::AipPeer;
use super::mcp_peer::McpPeer;
use super::nlweb::NlwebPeer;
use super::phrases::Phrases;
use super::scalar::Span;
use super::secret::Secret;
use super::site::SitePeer;

/// A peer that is configured. Its `speaks` is exactly one of the protocol keys.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Written")]
pub struct Peer {
    pub speaks: Speaks,
    pub title: Option<String>,
    pub description: Option<String>,
    pub effects: Option<EffectsOverride>,
    pub skills: IndexMap<String, SkillSettings>,
    pub trust_hints: bool,
    pub public: bool,
    pub hub: bool,
    pub allow: Vec<String>,
    pub deny: Vec<String>,
    pub timeout: Option<Span>,
    /// Checked: each is an origin.
    pub origins: Vec<String>,
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

/// What configuration says of some skills of a peer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SkillSettings {
    /// What they do, instead of what the peer says of them.
    pub effects: Option<EffectsOverride>,
    /// Sentences that mean one of them, such as `["status of order {order_id}"]`: words, `{slot}` for an argument of that name,
    /// `[…]` for what may be left out, `(a|b)` for one of several. A list is English; others go by language.
    pub phrases: Phrases,
}

/// What configuration says that skills do: only it can take effects away. One word, or several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Words")]
pub struct EffectsOverride(Effects);

impl EffectsOverride {
    /// They only read, whatever the peer says.
    pub const READS: EffectsOverride = EffectsOverride(Effects::reads_only(CardFrom::Configuration));
    /// They may do anything, whatever the peer says.
    pub const UNKNOWN: EffectsOverride =
        EffectsOverride(Effects { claimed_by: CardFrom::Configuration, ..Effects::unknown() });

    pub fn effects(self) -> Effects {
        self.0
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected reads, writes, destroys, spends or unknown, or a list of these")]
#[schemars(rename = "Effects")]
enum Words {
    One(Word),
    Several(Vec<Word>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Effect")]
enum Word {
    Reads,
    Writes,
    Destroys,
    Spends,
    Unknown,
}

impl TryFrom<Words> for EffectsOverride {
    type Error = &'static str;

    fn try_from(words: Words) -> Result<EffectsOverride, Self::Error> {
        let words = match words {
            Words::One(word) => vec![word],
            Words::Several(words) => words,
        };
        let says = |word: Word| words.contains(&word);
        let reads = words.iter().all(|word| *word == Word::Reads);
        match reads {
            _ if words.is_empty() => Err("expected at least one of reads, writes, destroys, spends, unknown"),
            true => Ok(EffectsOverride::READS),
            false => Ok(EffectsOverride(Effects {
                destroys: says(Word::Destroys),
                spends: says(Word::Spends),
                unknown: says(Word::Unknown),
                ..Effects::writes(CardFrom::Configuration)
            })),
        }
    }
}

impl JsonSchema for EffectsOverride {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Words::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Words::json_schema(generator)
    }
}

/// How an NLIP peer is reached.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NlipPeer {
    /// Its door, such as `https://agent.example/nlip`, or `wss://` for a WebSocket.
    pub url: String,
    /// Default: `http` for `http://` and `https://`, `ws` for `ws://` and `wss://`.
    pub binding: Option<Binding>,
    /// Sent as the authentication token.
    pub token: Option<Secret>,
    /// A PEM file of authorities to trust instead of the machine's own.
    pub ca: Option<PathBuf>,
    /// Send the token even where it can be read on the way (neither TLS nor loopback).
    #[serde(default)]
    pub insecure: bool,
}

impl NlipPeer {
    pub fn new(url: impl Into<String>) -> NlipPeer {
        NlipPeer { url: url.into(), binding: None, token: None, ca: None, insecure: false }
    }

    pub fn binding(&self) -> Binding {
        let socket = self.url.starts_with("ws://") || self.url.starts_with("wss://");
        self.binding.unwrap_or(if socket { Binding::Ws } else { Binding::Http })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Binding {
    Http,
    /// A WebSocket with CBOR messages.
    Ws,
    /// A WebSocket with JSON messages.
    WsText,
}

impl Peer {
    pub fn new(speaks: Speaks) -> Peer {
        Peer {
            speaks,
            title: None,
            description: None,
            effects: None,
            skills: IndexMap::new(),
            trust_hints: false,
            public: false,
            hub: false,
            allow: vec!["*".into()],
            deny: Vec::new(),
            timeout: None,
            origins: Vec::new(),
        }
    }

    /// Is this skill of the peer offered at all? A deny wins over an allow.
    pub fn offers(&self, skill: &str) -> bool {
        let any = |patterns: &[String]| patterns.iter().any(|pattern| glob::matches(pattern, skill));
        any(&self.allow) && !any(&self.deny)
    }

    /// What configuration says of a skill, what counts first: by its name, then by each pattern that fits.
    fn settings_of<'s>(&'s self, skill: &'s str) -> impl Iterator<Item = &'s SkillSettings> {
        let fits = self.skills.iter().filter(move |(pattern, _)| glob::matches(pattern, skill));
        self.skills.get(skill).into_iter().chain(fits.map(|(_, settings)| settings))
    }

    /// What configuration says that a skill does: by its name, by the first pattern that fits and says it, else of all.
    pub fn said_of(&self, skill: &str) -> Option<Effects> {
        let said = self.settings_of(skill).find_map(|settings| settings.effects).or(self.effects);
        said.map(EffectsOverride::effects)
    }

    /// A skill with the phrases that configuration has for it, under the name that the peer has for it.
    pub fn phrased(&self, name: &str, mut skill: Skill) -> Skill {
        let said = self.settings_of(name).map(|settings| &settings.phrases).find(|phrases| !phrases.is_empty());
        skill.phrases.extend(said.into_iter().flat_map(Phrases::iter).cloned());
        skill
    }

    /// What a skill does, by what configuration says of it and what the peer claims: a claim may add effects; only
    /// configuration takes any away. What neither says is unknown.
    pub fn effects_of(&self, skill: &str, claimed: Effects) -> Effects {
        match self.said_of(skill) {
            Some(said) if !said.unknown => said,
            None if self.trust_hints => claimed,
            said => Effects {
                destroys: claimed.destroys || said.is_some_and(|said| said.destroys),
                spends: claimed.spends || said.is_some_and(|said| said.spends),
                claimed_by: if said.is_some() { CardFrom::Configuration } else { CardFrom::Manifest },
                ..Effects::unknown()
            },
        }
    }

    /// A skill with the effects that the peer claims, as far as they are believed.
    pub fn believed(&self, mut skill: Skill) -> Skill {
        skill.effects = self.effects_of(skill.id.skill.as_str(), skill.effects);
        skill.public = self.public;
        let name = skill.id.skill.clone();
        self.phrased(name.as_str(), skill).sealed()
    }
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
        Ok(Peer {
            speaks,
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
        })
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

#[cfg(test)]
mod tests {
    use interlingua_core::Effects;

    use super::{EffectsOverride, NlipPeer, Peer, SkillSettings, Speaks};

    #[test]
    fn what_a_skill_does_is_said_by_name_by_pattern_or_for_all() {
        let said = |json: &str| serde_json::from_str::<EffectsOverride>(json).map(EffectsOverride::effects);
        let names = |effects: Effects| effects.names().collect::<Vec<_>>().join(" ");
        for (json, expected) in [
            (r#""reads""#, "reads idempotent"),
            (r#"["writes"]"#, "reads writes"),
            (r#""destroys""#, "reads writes destroys"),
            (r#"["reads","spends","destroys"]"#, "reads writes destroys spends"),
            (r#""unknown""#, "reads writes unknown"),
        ] {
            assert_eq!(said(json).map(names).unwrap_or_default(), expected, "{json}");
        }
        assert!(said("[]").is_err() && said(r#""harmless""#).is_err());
        let mut peer = Peer::new(Speaks::Nlip(NlipPeer::new("http://127.0.0.1:1/nlip")));
        let claimed = Effects::claimed(&["reads", "idempotent"]);
        assert!(peer.effects_of("x", claimed).unknown, "a claim takes nothing away");
        assert!(peer.effects_of("x", Effects::claimed(&["reads", "spends"])).spends, "a claim adds");
        peer.effects = Some(EffectsOverride::READS);
        let destroys = said(r#""destroys""#).expect("a word");
        let does = |effects| SkillSettings { effects: Some(effects), ..SkillSettings::default() };
        peer.skills = [
            ("delete_*".to_owned(), does(EffectsOverride(destroys))),
            ("delete_draft".to_owned(), does(EffectsOverride::READS)),
            ("delete_all".to_owned(), SkillSettings::default()),
        ]
        .into_iter()
        .collect();
        assert!(peer.effects_of("delete_all", claimed).destroys, "an entry that does not say it hides none that does");
        assert!(peer.effects_of("delete_draft", claimed).only_read());
        assert!(peer.effects_of("list", Effects::unknown()).only_read());
    }

    #[test]
    fn a_deny_wins_over_an_allow() {
        let mut peer = Peer::new(Speaks::Nlip(NlipPeer::new("http://127.0.0.1:1/nlip")));
        peer.deny = vec!["delete_*".into()];
        assert!(peer.offers("read") && !peer.offers("delete_all"));
        peer.allow = vec!["search".into()];
        assert!(peer.offers("search") && !peer.offers("read"));
    }
}
