//! What a client hands over to the hub that it starts: the credentials that its file holds for servers of its own, and those servers that
//! the hub's configuration has too.
//!
//! An imported configuration refers to credentials and holds none. The client starts the hub, so the hub finds them in its environment if
//! the client's entry sets them: they stay in the file they are in.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use interlingua_model::Secret;
use serde_json::{Map, Value};

use crate::cli::import::{self, Fate, Imported, yaml};
use crate::config::{self, Config, Overrides, Rejected};

/// Variables that every program has, whoever starts it.
const USUAL: [&str; 8] = ["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"];

/// The list of servers in a client's file.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClientList<'a> {
    pub(super) text: &'a str,
    /// Where the list stands in the file.
    pub(super) key: &'a str,
    /// The name of the hub's own entry in it.
    pub(super) own: &'a str,
}

impl ClientList<'_> {
    fn entries(&self) -> Map<String, Value> {
        let mut file: Value = serde_json::from_str(self.text).unwrap_or_default();
        match file.get_mut(self.key).map(Value::take) {
            Some(Value::Object(entries)) => entries,
            Some(_) | None => Map::new(),
        }
    }

    fn names(&self) -> Vec<String> {
        self.entries().into_iter().map(|(name, _)| name).collect()
    }
}

#[derive(Debug, Default)]
pub(super) struct Handover {
    /// Variables that the configuration refers to and the client's file has the values of.
    pub(super) env: BTreeMap<String, Secret>,
    /// Servers of the client's own that the configuration has too, by their names in the file.
    pub(super) covered: Vec<String>,
    /// Why the hub would not start as the client starts it.
    pub(super) problems: Option<String>,
}

/// What a client with this list hands over to a hub with this configuration.
pub(super) fn of(config: &Path, list: Option<ClientList<'_>>) -> Handover {
    let imported = list.and_then(|list| import::convert(list.text).ok());
    let referred = referred(config);
    let mut env = known(list, imported.as_ref());
    env.retain(|name, _| referred.contains(name));
    let covered = match (list, &imported) {
        (Some(list), Some(imported)) => covered(config, list, imported),
        (None, _) | (_, None) => Vec::new(),
    };
    let problems = as_started(config, &env).err().map(|rejected| rejected.to_string());
    Handover { env, covered, problems }
}

/// The values in the client's file: what the hub's own entry sets wins over what its servers are given.
fn known(list: Option<ClientList<'_>>, imported: Option<&Imported>) -> BTreeMap<String, Secret> {
    let mut known = imported.map(|imported| imported.credentials.clone()).unwrap_or_default();
    let own = list.and_then(|list| list.entries().remove(list.own)).unwrap_or_default();
    let own = own["env"].as_object().into_iter().flatten();
    known.extend(own.filter_map(|(name, value)| Some((name.clone(), Secret::new(value.as_str()?)))));
    known
}

/// A value for every variable: the one of this machine, else its own name.
fn filled(name: &str) -> Option<String> {
    std::env::var(name).ok().or_else(|| Some(name.to_owned()))
}

/// The variables that the configuration refers to, whether it is valid with their values or not.
fn referred(config: &Path) -> BTreeSet<String> {
    let asked = RefCell::new(BTreeSet::new());
    let environment = |name: &str| {
        asked.borrow_mut().insert(name.to_owned());
        filled(name)
    };
    let _ = config::load(config, &Overrides::default(), &environment);
    asked.into_inner()
}

/// The servers that are peers of the configuration, whatever they are called there.
fn covered(config: &Path, list: ClientList<'_>, imported: &Imported) -> Vec<String> {
    let overrides = Overrides::default();
    let theirs = config::load_text(&yaml(&imported.config), config, &overrides, &filled);
    let (Ok(theirs), Ok(ours)) = (theirs, config::load(config, &overrides, &filled)) else { return Vec::new() };
    let is_peer = |name: &str| {
        let peer = theirs.config.peers.get(name);
        peer.is_some_and(|peer| ours.config.peers.values().any(|other| other.speaks == peer.speaks))
    };
    let is_covered = |entry: &str| {
        let path = format!("{}.{entry}", list.key);
        let mut fates = imported.fates.iter().filter(|(told, _)| *told == path).map(|(_, fate)| fate).peekable();
        // A key of one entry can be spelt like the name of another: all that is told of it has to be a peer.
        fates.peek().is_some()
            && fates.all(|fate| match fate {
                Fate::Kept(new) => new.strip_prefix("peers.").is_some_and(is_peer),
                Fate::Left(_) | Fate::Note(_) => false,
            })
    };
    list.names().into_iter().filter(|name| name != list.own && is_covered(name)).collect()
}

/// The configuration as a hub reads it that the client starts with these variables.
fn as_started(config: &Path, env: &BTreeMap<String, Secret>) -> Result<Config, Rejected> {
    let environment = |name: &str| match env.get(name) {
        Some(value) => value.text().map(ToOwned::to_owned),
        None => USUAL.contains(&name).then(|| std::env::var(name).ok()).flatten(),
    };
    config::load(config, &Overrides::default(), &environment).map(|loaded| loaded.config)
}
