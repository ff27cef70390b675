//! Tool list filter: which tools are the hub's own, and which tools the list of `/mcp` has (`mcp.hub_tools`).
//!
//! A model reads the list, and every tool in it costs context and competes with the others. The list does not decide permissions: an
//! unlisted tool can still be called by its name, by a caller with permission.

use interlingua_model::SkillId;

use super::Settings;
use interlingua_hub::names::{LOCAL, is_file_tool, is_reserved};
use interlingua_hub::registry::Catalogue;

/// How a client that sees too many tools finds them.
pub(super) const SEARCH: [(&str, &str); 2] = [("hub", "find_skills"), ("hub", "call_skill")];

/// The hub's own tools, as far as its users did not ask for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Own {
    /// The file tools are among them.
    files: bool,
}

impl Own {
    /// A hub without any other peer has nothing but its file tools to show; and where `tools:` is configured somebody wants them.
    pub(super) fn of(catalogue: &Catalogue, settings: &Settings) -> Own {
        let others = catalogue.peers.keys().any(|peer| !is_reserved(peer.as_str()));
        Own { files: others && !settings.own_files }
    }

    /// Custom tools are their author's, wherever they lie.
    pub(super) fn has(self, id: &SkillId) -> bool {
        match id.peer.as_str() {
            LOCAL => self.files && is_file_tool(id.skill.as_str()),
            peer => is_reserved(peer),
        }
    }
}

pub(super) fn is_search(id: &SkillId) -> bool {
    SEARCH.iter().any(|(peer, skill)| (id.peer.as_str(), id.skill.as_str()) == (*peer, *skill))
}

/// Which tools a list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    All,
    /// All but the hub's own.
    Others,
    /// How to search them, in the place of all.
    Search,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn custom_tools_and_peers_are_never_the_hubs_own() {
        for files in [true, false] {
            let own = Own { files };
            assert_eq!(own.has(&SkillId::new("local", "read_file")), files);
            for (peer, skill) in [("hub", "echo"), ("graph", "run"), ("hub", "find_skills")] {
                assert!(own.has(&SkillId::new(peer, skill)), "{peer}/{skill}");
            }
            for (peer, skill) in [("local", "word_count"), ("files", "read_file"), ("hubs", "echo")] {
                assert!(!own.has(&SkillId::new(peer, skill)), "{peer}/{skill}");
            }
        }
    }
}
