//! The catalogue for clients: every definition serialized for the wire, and a table of names. It is made once for each state of the
//! catalogue and each part of it; a request then only leaves out what its principal may not see.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::decode::List;
use crate::discover;
use crate::names::{Mode, Table, inward, outward};
use crate::wire::content::Addresses;
use crate::wire::headers::{self, Param};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use interlingua_model::{Fault, FaultKind, Json, Noun, PeerId, Principal, Skill, SkillId, SkillKind, Text, Uri};
use moka::sync::Cache;

use super::own::{Own, SEARCH, Shown, is_search};
use super::views::{Renamed, View};
use super::{Scope, Settings, Spelling};
use crate::settings::HubTools;
use interlingua_hub::Hub;
use interlingua_hub::registry::{Catalogue, READ_RESOURCE, Registered};

/// How many bytes of parts of the catalogue are kept ready.
const MAX_LISTINGS: u64 = 64 * 1024 * 1024;
/// How many entries one page has. Large, because many clients read no more than the first.
const PAGE: usize = 1000;
/// What clients that ask sites call without looking at a list: NLWeb's own tools.
const SITES: [(&str, &str); 3] = [("hub", "ask"), ("hub", "list_sites"), ("hub", "await")];

#[derive(Debug)]
pub(super) struct Listings {
    kept: Cache<(Scope, Mode), Arc<Listing>>,
}

impl Default for Listings {
    fn default() -> Self {
        let weigher = |_: &(Scope, Mode), listing: &Arc<Listing>| listing.weight();
        Listings { kept: Cache::builder().max_capacity(MAX_LISTINGS).weigher(weigher).build() }
    }
}

impl Listings {
    /// As the catalogue is now.
    pub(super) fn now(&self, hub: &Hub, scope: &Scope, settings: &Settings) -> Arc<Listing> {
        let catalogue = hub.catalogue();
        let mode = settings.mode(scope);
        let key = (scope.clone(), mode);
        if let Some(listing) = self.kept.get(&key).filter(|listing| listing.generation == catalogue.generation) {
            return listing;
        }
        let view = match scope {
            Scope::View(name) => settings.views.get(name),
            Scope::All | Scope::Peer(_) => None,
        };
        let own = Own::of(&catalogue, settings);
        let listing = Arc::new(Listing::of(&catalogue, scope, view, mode, own));
        self.kept.insert(key, listing.clone());
        listing
    }

    /// What configuration says of views has changed.
    pub(super) fn forget(&self) {
        self.kept.invalidate_all();
    }
}

/// One entry of a list.
#[derive(Debug)]
pub(super) struct Entry {
    /// Its name, or its address.
    pub(super) key: Text,
    /// Who may see it is decided by this.
    pub(super) skill: Arc<Skill>,
    json: Box<[u8]>,
    /// Arguments that headers repeat.
    pub(super) params: Vec<Param>,
    /// Arguments that a view has fixed.
    pub(super) fixed: Option<Json>,
}

#[derive(Debug)]
pub(super) struct Listing {
    generation: u64,
    pub(super) mode: Mode,
    pub(super) scope: Scope,
    /// Those that are the hub's own.
    own: Own,
    pub(super) tools: Vec<Entry>,
    prompts: Vec<Entry>,
    resources: Vec<Entry>,
    templates: Vec<Entry>,
    pub(super) tool_names: Table,
    prompt_names: Table,
    places: HashMap<SkillId, usize>,
    /// Names of the view's own.
    pub(super) renamed: HashMap<Text, usize>,
    /// Peers with resources, and what their addresses are.
    readable: Vec<(PeerId, Vec<(Uri, bool)>)>,
}

impl Listing {
    /// About how many bytes it takes.
    fn weight(&self) -> u32 {
        let entries = self.entries().map(|entry| size_of::<Entry>() + entry.json.len() + 4 * entry.key.len());
        u32::try_from(entries.sum::<usize>() + size_of::<Listing>()).unwrap_or(u32::MAX)
    }

    /// Of all lists.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        [&self.tools, &self.prompts, &self.resources, &self.templates].into_iter().flatten()
    }

    fn of(catalogue: &Catalogue, scope: &Scope, view: Option<&View>, mode: Mode, own: Own) -> Listing {
        let seen = |skill: &&Arc<Skill>| scope.shows(view, &skill.id);
        let (prompts, tools): (Vec<&Arc<Skill>>, Vec<&Arc<Skill>>) =
            catalogue.newest().filter(seen).partition(|skill| skill.kind == SkillKind::Prompt);
        let tool_names = Table::build(mode, tools.iter().map(|skill| &skill.id));
        let prompt_names = Table::build(mode, prompts.iter().map(|skill| &skill.id));
        let mut tools = entries(&tools, &tool_names, discover::write_tool);
        let named = view.map(|view| renamed_entries(catalogue, view)).unwrap_or_default();
        tools.retain(|entry| named.iter().all(|renamed| renamed.key != entry.key));
        let chosen: Vec<Text> = named.iter().map(|entry| entry.key.clone()).collect();
        tools.extend(named);
        tools.sort_by(|a, b| a.key.cmp(&b.key));
        let (mut places, mut renamed) = (HashMap::new(), HashMap::new());
        for (place, entry) in tools.iter().enumerate() {
            if chosen.contains(&entry.key) {
                renamed.insert(entry.key.clone(), place);
            } else {
                places.insert(entry.skill.id.clone(), place);
            }
        }
        let (mut resources, mut templates, mut readable) = (Vec::new(), Vec::new(), Vec::new());
        let reads = |id: &PeerId| scope.shows(view, &SkillId::new(id.as_str(), READ_RESOURCE));
        let several = shared_addresses(catalogue.peers.iter().filter(|(id, _)| reads(id)));
        for (id, registered) in catalogue.peers.iter().filter(|(id, _)| reads(id)) {
            let mut addresses = Vec::new();
            for resource in &registered.card.resources {
                addresses.push((resource.uri.clone(), resource.template));
                let Some(reader) = registered.reader(&resource.uri) else { continue };
                let party = interlingua_model::Party::Peer(id.clone());
                let spelt = if several.contains(&resource.uri) { Mode::Prefixed } else { mode };
                let uri = Spelling(spelt).outward(&party, &resource.uri);
                let mut json = Vec::new();
                discover::write_resource(&uri, &discover::resource_name(resource), resource, &mut json);
                let entry =
                    Entry { key: uri, skill: reader.clone(), json: json.into(), params: Vec::new(), fixed: None };
                if resource.template { &mut templates } else { &mut resources }.push(entry);
            }
            if !addresses.is_empty() {
                readable.push((id.clone(), addresses));
            }
        }
        resources.sort_by(|a: &Entry, b: &Entry| a.key.cmp(&b.key));
        templates.sort_by(|a: &Entry, b: &Entry| a.key.cmp(&b.key));
        let prompts = entries(&prompts, &prompt_names, discover::write_prompt);
        let (generation, scope) = (catalogue.generation, scope.clone());
        Listing {
            generation,
            mode,
            scope,
            own,
            tools,
            prompts,
            resources,
            templates,
            tool_names,
            prompt_names,
            places,
            renamed,
            readable,
        }
    }

    fn list(&self, list: List) -> &[Entry] {
        match list {
            List::Tools => &self.tools,
            List::Prompts => &self.prompts,
            List::Resources => &self.resources,
            List::Templates => &self.templates,
        }
    }

    /// One page of what this principal may see, and the cursor of the next.
    pub(super) fn page(
        &self,
        hub: &Hub,
        by: &Principal,
        list: List,
        cursor: Option<&str>,
        shown: Shown,
    ) -> Result<(Vec<&[u8]>, Option<String>), Fault> {
        let entries = self.list(list);
        let from = match cursor {
            None => 0,
            Some(cursor) => {
                let after = opened(list, cursor)?;
                entries.partition_point(|entry| *entry.key <= *after)
            }
        };
        let visible = hub.visible(by);
        let may = |entry: &&Entry| self.has(shown, entry) && visible.lists(&entry.skill);
        let mut page: Vec<&Entry> = entries[from..].iter().filter(may).take(PAGE + 1).collect();
        let more = page.len() > PAGE;
        page.truncate(PAGE);
        let next = page.last().filter(|_| more).map(|last| sealed(list, &last.key));
        Ok((page.into_iter().map(Entry::json).collect(), next))
    }

    /// Which tools the list has, however many there are. A hub that reads this one has no model whose context they would fill.
    pub(super) fn whole(&self, settings: &Settings) -> Shown {
        match (&self.scope, settings.hub_tools) {
            (Scope::Peer(_) | Scope::View(_), _) | (Scope::All, HubTools::All) => Shown::All,
            (Scope::All, HubTools::Off | HubTools::Search) => Shown::Others,
        }
    }

    /// Which tools the list of this principal has. Whoever may not search is shown everything that they may see.
    pub(super) fn shown(&self, hub: &Hub, by: &Principal, settings: &Settings) -> Shown {
        let whole = self.whole(settings);
        let above = settings.search_above;
        let searched = matches!(self.scope, Scope::All) && settings.hub_tools != HubTools::Off;
        if !searched || self.tools.len() <= above {
            return whole;
        }
        let visible = hub.visible(by);
        let seen = |shown: Shown| {
            let entries = self.tools.iter().filter(move |entry| self.has(shown, entry));
            entries.filter(|entry| visible.lists(&entry.skill))
        };
        let too_many = seen(whole).take(above.saturating_add(1)).count() > above;
        if too_many && seen(Shown::Search).count() == SEARCH.len() { Shown::Search } else { whole }
    }

    /// The tool that waits for a task, where this principal can call it here, and whether it is listed to them.
    pub(super) fn waiting_tool(&self, hub: &Hub, by: &Principal, settings: &Settings) -> Option<(Text, bool)> {
        let waits = |entry: &&Entry| (entry.skill.id.peer.as_str(), entry.skill.id.skill.as_str()) == ("hub", "await");
        let entry = self.tools.iter().filter(waits).find(|entry| entry.fixed.is_none())?;
        let visible = hub.visible(by);
        let is_listed = || self.has(self.shown(hub, by, settings), entry) && visible.lists(&entry.skill);
        visible.calls(&entry.skill).then(|| (entry.key.clone(), is_listed()))
    }

    fn has(&self, shown: Shown, entry: &Entry) -> bool {
        match shown {
            Shown::All => true,
            Shown::Others => !self.own.has(&entry.skill.id),
            Shown::Search => is_search(&entry.skill.id),
        }
    }

    /// The tool of this name, listed or not. Whether it may be called is decided behind the door.
    pub(super) fn tool(&self, name: &str) -> Result<&Entry, Fault> {
        if let Some(place) = self.renamed.get(name) {
            return Ok(&self.tools[*place]);
        }
        // The hub's short names hold where no skill claims them: one that a peer has too is refused like any other that two
        // have, so that neither is called in place of the other.
        let mut own = SEARCH.iter().chain(&SITES);
        let short = own.find(|(_, short)| *short == name && !self.tool_names.is_claimed(name));
        let search = short.map(|(peer, skill)| SkillId::new(*peer, *skill));
        let id = match (self.tool_names.skill(name), &search) {
            (Ok(id), _) | (Err(_), Some(id)) => id,
            (Err(fault), None) => return Err(fault),
        };
        let unknown = || Fault::caller(FaultKind::NotFound(Noun::Skill), "Unknown tool");
        self.places.get(id).map(|place| &self.tools[*place]).ok_or_else(unknown)
    }

    pub(super) fn prompt(&self, name: &str) -> Result<&SkillId, Fault> {
        self.prompt_names.skill(name).map_err(|fault| {
            let public = fault.public.replace("Unknown tool", "Unknown prompt");
            Fault { public: public.into(), ..fault }
        })
    }

    /// Whose resource this is, and as that peer knows it.
    pub(super) fn resource(&self, uri: &str) -> Result<(PeerId, Uri), Fault> {
        let shown: String = uri.chars().take(512).collect();
        let unknown = || Fault::caller(FaultKind::NotFound(Noun::Resource), format!("Resource not found: {shown}"));
        if self.mode == Mode::Prefixed {
            let (peer, own) = inward(uri).ok_or_else(unknown)?;
            return Ok((PeerId::from(peer), own.into()));
        }
        if let Some((peer, own)) =
            inward(uri).filter(|(peer, _)| self.readable.iter().any(|(id, _)| id.as_str() == *peer))
        {
            return Ok((PeerId::from(peer), own.into()));
        }
        let named = |(of, template): &(Uri, bool)| !template && **of == *uri;
        let covered = |(of, template): &(Uri, bool)| *template && covers(of, uri);
        let having = |has: &dyn Fn(&(Uri, bool)) -> bool| -> Vec<&PeerId> {
            self.readable.iter().filter(|(_, all)| all.iter().any(has)).map(|(peer, _)| peer).collect()
        };
        let mut found = having(&named);
        if found.is_empty() {
            found = having(&covered);
        }
        match (found.as_slice(), self.readable.as_slice()) {
            ([peer], _) => Ok(((*peer).clone(), uri.into())),
            // A peer may know more than it lists; with one alone there is no doubt whose it is.
            ([], [(only, _)]) => Ok((only.clone(), uri.into())),
            ([], _) => Err(unknown()),
            (_, _) => {
                let text = format!("several peers have {shown}: spell it with its peer, {}", outward("PEER", &shown));
                Err(Fault::caller(FaultKind::NotFound(Noun::Resource), text))
            }
        }
    }
}

/// Addresses that more than one peer has, or that would read as another peer's: each is listed with its peer.
fn shared_addresses<'a>(peers: impl Iterator<Item = (&'a PeerId, &'a Registered)>) -> HashSet<Uri> {
    let (mut all, mut several) = (HashSet::new(), HashSet::new());
    for (_, registered) in peers {
        let own: HashSet<&Uri> = registered.card.resources.iter().map(|resource| &resource.uri).collect();
        for uri in own {
            if !all.insert(uri.clone()) || inward(uri).is_some() {
                several.insert(uri.clone());
            }
        }
    }
    several
}

impl Scope {
    /// Is this skill in this part of the hub?
    fn shows(&self, view: Option<&View>, id: &SkillId) -> bool {
        match self {
            Scope::All => true,
            Scope::Peer(peer) => id.peer == *peer,
            Scope::View(_) => view.is_some_and(|view| view.shows(id)),
        }
    }
}

/// The tools to which a view gives names of its own, as far as they are there.
fn renamed_entries(catalogue: &Catalogue, view: &View) -> Vec<Entry> {
    let entry = |renamed: &Renamed| {
        let skill = catalogue.skill(&renamed.skill, None)?;
        let mut json = Vec::with_capacity(256);
        let told = renamed.defined(skill);
        discover::write_tool(&renamed.name, &told, &mut json);
        // Headers repeat what the client gives: what is fixed is not among it.
        let params = headers::params(&told.input.0).unwrap_or_default();
        let (key, fixed) = (renamed.name.clone(), renamed.fixed.clone());
        Some(Entry { key, skill: skill.clone(), json: json.into(), params, fixed })
    };
    view.tools.iter().filter_map(entry).collect()
}

/// A template covers what begins and ends as it does around its variables, or is the template itself.
fn covers(template: &str, uri: &str) -> bool {
    let (head, tail) = (template.split('{').next(), template.rsplit('}').next());
    template == uri || (uri.starts_with(head.unwrap_or_default()) && uri.ends_with(tail.unwrap_or_default()))
}

impl Entry {
    fn json(&self) -> &[u8] {
        &self.json
    }
}

fn entries(skills: &[&Arc<Skill>], names: &Table, write: fn(&str, &Skill, &mut Vec<u8>)) -> Vec<Entry> {
    let entry = |skill: &&Arc<Skill>| {
        let name = names.name(&skill.id)?;
        let mut json = Vec::with_capacity(256);
        write(&name, skill, &mut json);
        // A definition whose marks cannot be used was left out by whoever listed it; here it merely has none.
        let params = headers::params(&skill.input.0).unwrap_or_default();
        Some(Entry { key: name, skill: (*skill).clone(), json: json.into(), params, fixed: None })
    };
    let mut entries: Vec<Entry> = skills.iter().filter_map(entry).collect();
    entries.sort_by(|a, b| a.key.cmp(&b.key));
    entries
}

fn letter(list: List) -> char {
    match list {
        List::Tools => 't',
        List::Prompts => 'p',
        List::Resources => 'r',
        List::Templates => 'm',
    }
}

/// A cursor names the last entry it follows, in whichever peer's part of the list that was.
pub(crate) fn sealed(list: List, after: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{}{after}", letter(list)))
}

pub(crate) fn opened(list: List, cursor: &str) -> Result<String, Fault> {
    let bad = || Fault::caller(FaultKind::InvalidInput, "Invalid cursor");
    let text = URL_SAFE_NO_PAD.decode(cursor).ok().and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(bad)?;
    text.strip_prefix(letter(list)).map(str::to_owned).ok_or_else(bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m_33_a_cursor_of_another_list_or_of_nobody_is_refused() {
        let cursor = sealed(List::Tools, "b__x");
        assert_eq!(opened(List::Tools, &cursor).ok().as_deref(), Some("b__x"));
        for (list, cursor) in [(List::Prompts, cursor.as_str()), (List::Tools, "?"), (List::Tools, "")] {
            assert_eq!(opened(list, cursor).expect_err(cursor).kind, FaultKind::InvalidInput);
        }
    }

    #[test]
    fn a_template_covers_what_its_fixed_ends_allow() {
        assert!(covers("test://t/{id}/data", "test://t/7/data"));
        assert!(covers("test://t/{id}/data", "test://t/{id}/data"));
        assert!(!covers("test://t/{id}/data", "test://t/7/other"));
    }
}
