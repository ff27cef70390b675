//! Decodes a server's description of itself and its lists: `initialize` and `server/discover` results, and pages of lists.

use interlingua_model::{Json, Text};

use crate::Version;
use crate::wire::meta::{META, SERVER_INFO};
use interlingua_wire::members::Members;

/// The lists a server may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    Tools,
    Prompts,
    Resources,
    Templates,
}

impl List {
    pub const ALL: [List; 4] = [List::Tools, List::Prompts, List::Resources, List::Templates];

    pub fn method(self) -> &'static str {
        match self {
            List::Tools => "tools/list",
            List::Prompts => "prompts/list",
            List::Resources => "resources/list",
            List::Templates => "resources/templates/list",
        }
    }

    /// Where a page of it has its items.
    pub fn key(self) -> &'static str {
        match self {
            List::Tools => "tools",
            List::Prompts => "prompts",
            List::Resources => "resources",
            List::Templates => "resourceTemplates",
        }
    }

    /// Which lists a notification says have changed.
    pub fn changed(method: &str) -> &'static [List] {
        match method {
            "notifications/tools/list_changed" => &[List::Tools],
            "notifications/prompts/list_changed" => &[List::Prompts],
            "notifications/resources/list_changed" => &[List::Resources, List::Templates],
            _ => &[],
        }
    }
}

/// What a server is, by its own words.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Server {
    pub title: Option<Text>,
    pub version: Option<Text>,
    pub instructions: Option<Text>,
    pub tools: Offer,
    pub prompts: Offer,
    pub resources: Offer,
    pub completions: bool,
    pub logging: bool,
}

/// Whether a server has a kind of thing, and what it tells of it: when its list changes, when one of it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Offer {
    pub offered: bool,
    pub list_changed: bool,
    pub subscribe: bool,
}

impl Server {
    /// From the result of `initialize` or `server/discover`.
    pub fn decode(result: &Members) -> Server {
        let capabilities = result.object("capabilities").unwrap_or(Members::absent());
        let in_meta = result.object(META).and_then(|meta| meta.object(SERVER_INFO));
        let info = result.object("serverInfo").or(in_meta).unwrap_or(Members::absent());
        let text = |members: &Members, key| members.text(key).map(|text| Text::from(&*text));
        let offer = |key| match capabilities.object(key) {
            Some(offer) => Offer {
                offered: true,
                list_changed: offer.bool("listChanged") == Some(true),
                subscribe: offer.bool("subscribe") == Some(true),
            },
            None => Offer::default(),
        };
        Server {
            title: text(&info, "title").or_else(|| text(&info, "name")),
            version: text(&info, "version"),
            instructions: text(result, "instructions"),
            tools: offer("tools"),
            prompts: offer("prompts"),
            resources: offer("resources"),
            completions: capabilities.object("completions").is_some(),
            logging: capabilities.object("logging").is_some(),
        }
    }

    pub fn has(&self, list: List) -> bool {
        match list {
            List::Tools => self.tools.offered,
            List::Prompts => self.prompts.offered,
            List::Resources | List::Templates => self.resources.offered,
        }
    }

    pub fn tells_changes(&self) -> bool {
        [self.tools, self.prompts, self.resources].iter().any(|offer| offer.list_changed)
    }
}

/// The version a legacy server chose; `None` for one this hub cannot speak.
pub fn chosen_version(result: &Members) -> Option<Version> {
    Version::parse(&result.text("protocolVersion")?).filter(|version| !version.is_modern())
}

/// Is this what a modern server answers to `server/discover`?
pub fn is_discovery(result: &Members) -> bool {
    result.list("supportedVersions").is_some() && result.object("capabilities").is_some()
}

/// The versions a modern server says it supports, in a discovery or in an error's data.
pub fn supports(result: &Members, key: &str, version: Version) -> bool {
    let wanted = format!("\"{}\"", version.as_str());
    result.list(key).is_some_and(|all| all.iter().any(|one| one.as_str() == wanted))
}

/// One page: its items, and where the next one begins. An empty cursor is a cursor (2026-07-28, pagination).
pub fn page(list: List, result: &Members) -> Option<(Vec<Json>, Option<String>)> {
    let items = result.list(list.key())?;
    Some((items, result.text("nextCursor").map(std::borrow::Cow::into_owned)))
}
