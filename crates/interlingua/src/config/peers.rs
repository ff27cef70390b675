//! The section `peers`: for each peer the one protocol it speaks, and its settings.

use std::ops::{Deref, DerefMut};
use std::path::PathBuf;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::protocols::table;
use interlingua_endpoint::protocol::Spoken;
use interlingua_endpoint::sections::{Connect, PeerSection};
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

/// What a peer speaks, for those who do not know protocols.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind<'a> {
    /// The key of its protocol, and what stands there.
    Protocol(&'static str, &'a dyn Connect),
    Site(&'a SitePeer),
}

macro_rules! peers {
    ($($name:ident: $krate:ident::$protocol:ident
        $(, extends $base:ident)? $(, section $section:ident)? $(, peer $peer:ident)?;)*) => {
        /// The protocols this hub can call a peer with.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Speaks {
            $($(
                #[doc = concat!("What stands under `", stringify!($peer), "`.")]
                $protocol(Box<<$krate::$protocol as Spoken>::Peer>),
            )?)*
            /// No protocol at all: a browser drives it.
            Site(SitePeer),
        }

        /// A peer as it is written in the file.
        #[derive(Debug, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        #[schemars(rename = "Peer")]
        pub(super) struct Written {
            $($(
                #[schemars(description = <$krate::$protocol as Spoken>::ABOUT)]
                $peer: Option<<$krate::$protocol as Spoken>::Peer>,
            )?)*
            /// A website without an API: the file that describes how to use it.
            site: Option<PathBuf>,
            /// Display name.
            title: Option<String>,
            /// What it is for. Used when a request comes in plain words.
            description: Option<String>,
            /// Effects of its skills; overrides what the peer declares.
            effects: Option<EffectsOverride>,
            /// Effects and phrases of some of its skills, by name or pattern; `*` matches any characters. A name counts
            /// before a pattern, an earlier pattern before a later one, and both before `effects` of the peer.
            #[serde(default)]
            skills: IndexMap<String, SkillSettings>,
            /// Trust its declaration that a skill only reads.
            #[serde(default)]
            trust_hints: bool,
            /// Anyone may call it, without a credential.
            #[serde(default)]
            public: bool,
            /// It is a hub too: trust what it reports about faults, losses and the route of a call.
            #[serde(default)]
            hub: bool,
            /// Skills to offer; `*` matches any characters. Default: all.
            #[serde(default = "everything")]
            allow: Vec<String>,
            /// Skills not to offer; overrides `allow`.
            #[serde(default)]
            deny: Vec<String>,
            /// Timeout of one call; `limits.deadline` also applies.
            timeout: Option<Span>,
            /// Other origins that belong to it, such as `https://files.agent.example:9443`. The hub calls an address that the
            /// peer names only at its own scheme, host and port or at one of these (SSRF guard), with its credentials. Default:
            /// none.
            #[serde(default)]
            origins: Vec<String>,
        }

        impl Speaks {
            /// The same, whatever protocol it is.
            pub(crate) fn kind(&self) -> Kind<'_> {
                match self {
                    $($(Speaks::$protocol(peer) => Kind::Protocol(stringify!($peer), &**peer),)?)*
                    Speaks::Site(site) => Kind::Site(site),
                }
            }

            /// Files and folders that it names.
            pub(super) fn paths(&mut self) -> Vec<&mut PathBuf> {
                match self {
                    $($(Speaks::$protocol($peer) => $peer.paths(),)?)*
                    Speaks::Site(site) => vec![&mut site.file],
                }
            }

            /// A peer from the command line, by the key of its protocol.
            pub(super) fn of_words(key: &str, text: &str) -> Result<Speaks, &'static str> {
                match key {
                    $($(stringify!($peer) => PeerSection::of_words(text).map(Box::new).map(Speaks::$protocol),)?)*
                    "site" => Ok(Speaks::Site(SitePeer::new(text))),
                    _ => Err("there is no such protocol"),
                }
            }
        }

        impl Written {
            /// Each protocol whose key is there.
            fn spoken(&mut self) -> Vec<Speaks> {
                let protocols = [$($(self.$peer.take().map(Box::new).map(Speaks::$protocol),)?)*];
                let site = self.site.take().map(|file| Speaks::Site(SitePeer::new(file)));
                protocols.into_iter().chain([site]).flatten().collect()
            }
        }

        /// How each protocol is written, for whoever forgot it.
        fn examples() -> String {
            let examples = [$($((stringify!($peer), <$krate::$protocol as Spoken>::EXAMPLE),)?)*];
            examples.map(|(key, example)| format!("`{key}: {example}`")).join(", ")
        }
    };
}
table!(peers);

impl Speaks {
    /// What stands under the key of its protocol, if it speaks one.
    pub(crate) fn protocol(&self) -> Option<&dyn PeerSection> {
        match self.kind() {
            Kind::Protocol(_, section) => Some(section),
            Kind::Site(_) => None,
        }
    }
}

fn everything() -> Vec<String> {
    vec!["*".into()]
}

impl TryFrom<Written> for Peer {
    type Error = String;

    fn try_from(mut written: Written) -> Result<Peer, String> {
        let mut spoken = written.spoken().into_iter();
        let missing = || format!("a peer needs its protocol and address: {} or `site: FILE`", examples());
        let speaks = spoken.next().ok_or_else(missing)?;
        if spoken.next().is_some() {
            return Err("a peer speaks exactly one protocol; make it two peers".into());
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
