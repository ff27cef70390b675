//! `hub/ask`: plain words as the arguments of a skill, for protocols that have no verb for plain words, and the names by which a question
//! selects its peer.
//!
//! A call of `hub/ask` is rewritten when it enters the hub: from there on it is a call in words, to one peer or to any that fits, and is
//! resolved, asks questions and is confirmed like any other. It never reaches a peer under its own name.

use std::collections::BTreeMap;

use interlingua_model::address::Address;
use interlingua_model::json::Tree;
use interlingua_model::{
    Ask, Call, Fault, FaultKind, Input, Json, Noun, Part, PeerId, Principal, Provenance, Role, SkillId, Target, Text,
    Turn,
};

use super::Hub;
use super::policy::Action;

const ASK: (&str, &str) = ("hub", "ask");
/// Earlier questions that are looked at.
const MAX_PREV: usize = 64;
/// Every peer, in the words of those who ask sites.
const ALL: &str = "all";

pub(super) fn is_ask(id: &SkillId) -> bool {
    (id.peer.as_str(), id.skill.as_str()) == ASK
}

impl Hub {
    /// Rewrites a call of `hub/ask` to a call in plain words.
    pub(super) fn put_in_words(&self, by: &Principal, call: &mut Call) -> Result<(), Fault> {
        let Ask::Invoke { target: Target::Skill(id, _), input } = &call.ask else { return Ok(()) };
        if !is_ask(id) {
            return Ok(());
        }
        let asked = Asked::read(input.args.as_ref())?;
        let target = match &asked.site {
            None => Target::Words,
            Some(site) => Target::Peer(self.peer_named(by, site).ok_or_else(|| no_such_peer(site))?),
        };
        let words = |text: String| vec![Part::text(text, Provenance::caller())];
        let history = asked.prev.into_iter().map(|text| Turn { role: Role::User, parts: words(text) });
        let input = Input { args: None, parts: words(asked.text), history: history.collect(), trust: input.trust };
        call.ask = Ask::Invoke { target, input };
        call.origin.in_words();
        // The frame it came in names another skill.
        call.raw = None;
        Ok(())
    }

    /// Peers with at least one skill that this principal may see, by name, with their descriptions.
    pub fn peers_seen_by(&self, by: &Principal) -> BTreeMap<String, Text> {
        let (catalogue, policy, now) = (self.registry.catalogue(), self.policy.load_full(), self.now());
        let mut peers = BTreeMap::new();
        for skill in catalogue.newest().filter(|skill| policy.allows(by, Action::List, skill, now)) {
            if let Some(registered) = catalogue.peers.get(&skill.id.peer) {
                peers.entry(skill.id.peer.to_string()).or_insert_with(|| registered.card.description.clone());
            }
        }
        peers
    }

    /// The peer of a name: its own name, its host, or its provider's name for it.
    pub fn peer_named(&self, by: &Principal, name: &str) -> Option<PeerId> {
        let peers = self.peers_seen_by(by);
        if peers.contains_key(name) {
            return Some(PeerId::from(name));
        }
        let catalogue = self.registry.catalogue();
        let wanted = name.trim_start_matches("www.");
        let is_it = |peer: &str| {
            let provider = catalogue.peers.get(&PeerId::from(peer))?.card.provider.clone()?;
            let address = Address::parse(provider.url.as_deref()?).ok()?;
            let host = address.origin.host.trim_start_matches("www.").to_owned();
            Some(host == wanted || *provider.name == *name)
        };
        peers.into_keys().find(|peer| is_it(peer).unwrap_or(false)).map(PeerId::from)
    }
}

/// The fault for a site that does not exist, or that this caller may not see.
pub fn no_such_peer(name: &str) -> Fault {
    let text = format!("there is no site `{}`", name.chars().take(100).collect::<String>());
    Fault::caller(FaultKind::NotFound(Noun::Skill), text)
}

/// The arguments of `hub/ask`. `query` is text, or an object with `text` and whatever else belongs to the question.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    text: String,
    site: Option<String>,
    prev: Vec<String>,
}

impl Asked {
    fn read(args: Option<&Json>) -> Result<Asked, Fault> {
        let wrong = |field: &str, problem: &str| Fault::caller(FaultKind::InvalidInput, format!("'{field}' {problem}"));
        let args = args.map(Json::tree).unwrap_or(&Tree::Null);
        let query = args.get("query").unwrap_or(&Tree::Null);
        let text = query.as_str().or_else(|| query.get("text")?.as_str()).map(str::trim).unwrap_or_default();
        if text.is_empty() {
            let fault = wrong("query", "must be text, or an object with `text`");
            return Err(fault.field("/query", "is missing"));
        }
        let beside = |key: &str| query.get(key).or_else(|| args.get(key));
        let mut sites: Vec<&str> = texts(beside("site"));
        sites.retain(|site| !site.is_empty());
        if sites.iter().any(|site| site.eq_ignore_ascii_case(ALL)) {
            sites.clear();
        }
        if sites.len() > 1 {
            return Err(wrong("site", "names several: ask one of them, or all").field("/site", "names several"));
        }
        let prev = texts(beside("prev").or_else(|| args.get("context")?.get("prev")));
        Ok(Asked {
            text: text.to_owned(),
            site: sites.first().map(ToString::to_string),
            prev: prev.into_iter().take(MAX_PREV).map(str::to_owned).collect(),
        })
    }
}

/// One text or a list of them.
fn texts(tree: Option<&Tree>) -> Vec<&str> {
    match tree {
        Some(Tree::Array(all)) => all.iter().filter_map(Tree::as_str).collect(),
        Some(tree) => tree.as_str().into_iter().collect(),
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(args: Tree) -> Result<Asked, String> {
        Asked::read(Some(&Json::from_tree(args))).map_err(|fault| fault.public.to_string())
    }

    #[test]
    fn q_62_a_query_is_text_or_an_object() {
        let asked = |site: Option<&str>, prev: &[&str]| Asked {
            text: "soup".into(),
            site: site.map(str::to_owned),
            prev: prev.iter().map(ToString::to_string).collect(),
        };
        assert_eq!(read(json!({"query": "soup"})), Ok(asked(None, &[])));
        assert_eq!(read(json!({"query": "soup", "site": ["a"], "generate_mode": "list"})), Ok(asked(Some("a"), &[])));
        assert_eq!(read(json!({"query": {"text": "soup", "site": "all"}})), Ok(asked(None, &[])));
        let nested = json!({"query": {"text": "soup", "site": "a"}, "context": {"prev": ["x", "y"]}});
        assert_eq!(read(nested), Ok(asked(Some("a"), &["x", "y"])));
        for bad in [json!({}), json!({"query": " "}), json!({"query": {"site": "a"}}), json!({"query": 1}), json!([])] {
            assert!(read(bad).unwrap_err().starts_with("'query' must be text"));
        }
        assert!(read(json!({"query": "soup", "site": ["a", "b"]})).unwrap_err().starts_with("'site' names several"));
    }
}
