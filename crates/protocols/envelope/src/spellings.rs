//! The current tool names of this hub: a table made from the registry, once for each of its generations.
//!
//! The hub's file tools have their bare names, the owner's own programs are `custom_tool__name`, skills of every other peer are
//! `mcp__peer__skill`. The name of a skill that the caller may not call is treated as unknown.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::names::{Named, Names, Table};
use crate::translators::{Translator, Translators};
use arc_swap::{ArcSwap, ArcSwapOption};
use interlingua_model::{Fault, FaultKind, Noun, PeerId, Principal, Skill, Target, Text};

use crate::settings::Settings;
use interlingua_hub::registry::Catalogue;
use interlingua_hub::visible;
use interlingua_nlip::settings::Translation;

/// The peer whose tools run inside the hub.
const LOCAL: &str = "local";

/// Is this skill one of the translator's?
pub type SkillPredicate = Arc<dyn Fn(&Skill) -> bool + Send + Sync>;

/// A further translator, and the skills that are its.
#[derive(Clone)]
pub struct Plug {
    pub translator: Translator,
    pub claims: SkillPredicate,
}

impl fmt::Debug for Plug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plug").field("translator", &self.translator).finish_non_exhaustive()
    }
}

/// The table, as it was made last.
#[derive(Debug, Default)]
pub(super) struct Spellings {
    plugs: ArcSwap<Vec<Plug>>,
    plugging: Mutex<()>,
    made: ArcSwapOption<Made>,
}

/// Good for one generation of the catalogue, one list of plugs and one way the translators are switched.
#[derive(Debug)]
pub(super) struct Made {
    generation: u64,
    plugs: usize,
    switches: Translation,
    pub(super) table: Table,
    pub(super) translators: Translators,
}

impl Spellings {
    pub(super) fn plug(&self, plug: Plug) -> bool {
        let _one = self.plugging.lock().unwrap_or_else(PoisonError::into_inner);
        let mut plugs = Vec::clone(&self.plugs.load());
        plugs.push(plug);
        let fits = translators(&plugs).is_some();
        if fits {
            self.plugs.store(Arc::new(plugs));
        }
        fits
    }

    /// The names of this catalogue's skills.
    pub(super) fn of(&self, catalogue: &Catalogue, settings: &Settings) -> Arc<Made> {
        let plugs = self.plugs.load();
        let fits = |made: &&Arc<Made>| {
            made.generation == catalogue.generation
                && made.plugs == plugs.len()
                && made.switches == settings.translation
        };
        if let Some(made) = self.made.load().as_ref().filter(fits) {
            return made.clone();
        }
        let made = Arc::new(Made::new(catalogue, &plugs, &settings.translation));
        self.made.store(Some(made.clone()));
        made
    }
}

impl Made {
    fn new(catalogue: &Catalogue, plugs: &[Plug], switches: &Translation) -> Made {
        let mut translators = translators(plugs).unwrap_or_default();
        for (name, enabled) in [
            ("mcp", switches.mcp_enabled),
            ("custom", switches.custom_tools_enabled),
            ("builtin", switches.builtin_tools_enabled),
        ] {
            translators.switch(name, enabled);
        }
        let skills = catalogue.newest().map(|skill| (skill.id.clone(), translator_of(skill, plugs)));
        let (table, collisions) = Table::build(&translators, skills);
        for collision in collisions {
            tracing::warn!(event = "tool_name_collision", %collision, "a tool cannot be called by one of its names");
        }
        Made { generation: catalogue.generation, plugs: plugs.len(), switches: switches.clone(), table, translators }
    }
}

/// `None` when two have the same name, or there are too many.
fn translators(plugs: &[Plug]) -> Option<Translators> {
    let mut all = Translators::default();
    for plug in plugs {
        all.register(plug.translator.clone()).ok()?;
    }
    Some(all)
}

/// Whose a skill is, the registry says and not its name (H-13): a tool of the owner's that is called `vote` is custom.
fn translator_of(skill: &Skill, plugs: &[Plug]) -> Text {
    if let Some(plug) = plugs.iter().find(|plug| (plug.claims)(skill)) {
        return plug.translator.name.clone();
    }
    if skill.id.peer.as_str() != LOCAL {
        return "mcp".into();
    }
    let builtin = interlingua_hub::names::is_file_tool(skill.id.skill.as_str());
    if builtin { "builtin".into() } else { "custom".into() }
}

/// The table as one principal sees it.
pub(super) struct Visible<'a> {
    pub(super) table: &'a Table,
    pub(super) seen: visible::Visible<'a>,
    pub(super) by: &'a Principal,
    /// At this peer's own path: only its skills are there.
    pub(super) peer: Option<&'a PeerId>,
}

impl Names for Visible<'_> {
    fn named(&self, spelt: &str) -> Result<Named, Fault> {
        match self.peer {
            None => self.anywhere(spelt),
            Some(peer) => self.at(peer, spelt),
        }
    }
}

impl Visible<'_> {
    fn anywhere(&self, spelt: &str) -> Result<Named, Fault> {
        let named = match self.table.named(spelt) {
            Ok(named) => named,
            // That there are several tells of tools which only the Owner is sure to see.
            Err(fault) if self.by.is_hub_owner() => return Err(fault),
            Err(_) => return Err(hidden(spelt)),
        };
        let Target::Skill(id, version) = &named.target else { return Ok(named) };
        if self.seen.skill(id, version.as_ref()).is_some() { Ok(named) } else { Err(hidden(spelt)) }
    }

    /// A bare name is the peer's own; every other spelling counts if it means a skill of the peer.
    fn at(&self, peer: &PeerId, spelt: &str) -> Result<Named, Fault> {
        let of_peer = |named: &Named| matches!(&named.target, Target::Skill(id, _) if id.peer == *peer);
        let own = self.anywhere(&format!("{peer}/{spelt}"));
        own.or_else(|_| self.anywhere(spelt)).ok().filter(of_peer).ok_or_else(|| hidden(spelt))
    }
}

fn hidden(spelt: &str) -> Fault {
    Fault::caller(FaultKind::NotFound(Noun::Skill), format!("no tool is called {spelt:?}"))
}
