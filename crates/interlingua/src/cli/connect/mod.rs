//! `connect`: the configuration that a desktop client needs to find the hub, printed or written to the client's file.
//!
//! A client starts `interlingua mcp` and speaks MCP to it over stdio: that needs no address and no token, and attaches to the hub that
//! holds the data directory, or becomes one. With `--hub` the client gets a running hub's address instead, and a token of its own that the
//! hub makes for it: it may call, and cannot approve. The Owner's token is never given to a client. [`clients`] knows the file and format
//! of each client; [`handover`] what a client's own servers mean for the hub; [`mod@file`] changes a file of another program.

mod clients;
mod file;
mod handover;
mod present;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use interlingua_model::Secret;
use serde_json::{Value, json};

pub use clients::Client;
use file::Edit;
use handover::{ClientList, Handover};
pub(super) use present::{Present, present};

use super::arguments::{ConnectArguments, HubArguments};
use super::screen::Screen;
use super::{Exit, Failure, view};
use crate::config::{self, Config, Overrides};

/// Where a hub without a file keeps its data.
const DATA: &str = "data";
/// The configuration of a directory, if nobody names another.
const CONFIGURATION: &str = "hub.yaml";

/// How a client reaches the hub.
#[derive(Debug, Clone, PartialEq)]
enum Way {
    /// It starts this program, with these variables.
    Program { command: String, args: Vec<String>, env: BTreeMap<String, Secret> },
    /// It opens this address, and shows this token.
    Address { url: String, token: String },
}

pub(super) async fn connect(arguments: &ConnectArguments) -> Result<Exit, Failure> {
    let screen = Screen { json: arguments.json };
    let place = place(arguments)?;
    let config = configuration(arguments)?;
    let handover = handed_over(arguments, &place, config.as_deref())?;
    // What is printed may be copied anywhere: credentials are written to the client's own file only.
    let env = if arguments.write { handover.env.clone() } else { BTreeMap::new() };
    let way = way(arguments, config.as_deref(), env).await?;
    let entry = arguments.client.entry(&way).ok_or_else(|| no_address(arguments.client))?;
    if arguments.write {
        write(screen, arguments, &place, &entry, &handover)?;
    } else {
        print(screen, arguments, &place, &entry, &handover)?;
    }
    if let (Some(config), None) = (&config, &arguments.config) {
        screen.note(&format!("The hub is started with {}.", config.display()));
    }
    if let (Some(config), Some(problems)) = (&config, &handover.problems) {
        let title = title(arguments);
        screen.note(&format!("as {title} starts it, {} is not valid:\n{problems}", config.display()));
        screen.note(&format!("Set what is missing in the environment of {title}."));
    }
    Ok(Exit::Done)
}

/// `-c`, else the configuration of this directory, where nothing else says which hub is meant.
fn configuration(arguments: &ConnectArguments) -> Result<Option<PathBuf>, Failure> {
    match &arguments.config {
        Some(file) => there(file).map(Some),
        None if arguments.hub.is_some() || arguments.data.is_some() => Ok(None),
        None => Path::new(CONFIGURATION).is_file().then(|| there(Path::new(CONFIGURATION))).transpose(),
    }
}

fn handed_over(arguments: &ConnectArguments, place: &Path, config: Option<&Path>) -> Result<Handover, Failure> {
    let Some(config) = config else { return Ok(Handover::default()) };
    let text = file::read(place)?;
    let list = text.as_deref().zip(arguments.client.key());
    let list = list.map(|(text, key)| ClientList { text, key, own: &arguments.name });
    Ok(handover::of(config, list))
}

fn print(
    screen: Screen,
    arguments: &ConnectArguments,
    place: &Path,
    entry: &Value,
    handover: &Handover,
) -> Result<(), Failure> {
    let snippet = arguments.client.snippet(&arguments.name, entry);
    if screen.json {
        return screen.value(&json!({ "client": title(arguments), "file": place, "snippet": snippet }));
    }
    screen.note(&format!("{} reads {}. Add this to it, or run again with --write:", title(arguments), place.display()));
    screen.say(&snippet)?;
    if !handover.env.is_empty() {
        let names: Vec<&str> = handover.env.keys().map(String::as_str).collect();
        screen.note(&format!("With --write the entry also sets {}, as the file does now.", names.join(", ")));
    }
    Ok(())
}

fn write(
    screen: Screen,
    arguments: &ConnectArguments,
    place: &Path,
    entry: &Value,
    handover: &Handover,
) -> Result<(), Failure> {
    let Some(key) = arguments.client.key() else {
        let why = format!("{} keeps its settings in a form this program does not change", title(arguments));
        return Err(Failure::new(Exit::Usage, format!("{why}; add what `connect` prints to {}", place.display())));
    };
    let without = if arguments.replace { handover.covered.as_slice() } else { &[] };
    let done = file::put(place, key, &Edit { name: &arguments.name, entry, without })?;
    let change = match done.change {
        file::Change::Added => "added",
        file::Change::Replaced => "replaced",
        file::Change::None => "was there already",
    };
    if screen.json {
        return screen.value(&json!({
            "client": title(arguments), "file": place, "entry": arguments.name, "change": change,
            "removed": without, "copy": done.copy,
        }));
    }
    screen.say(&format!("{}: `{}` {change}", place.display(), arguments.name))?;
    if let Some(copy) = &done.copy {
        let copy = copy.display();
        screen.say(&format!(
            "removed from its list, because the hub has them: {}; the file as it was: {copy}",
            without.join(", ")
        ))?;
    } else if !handover.covered.is_empty() {
        let names = handover.covered.join(", ");
        screen.note(&format!(
            "{} starts these itself too, so that it lists their tools twice: {names}. With --replace they are removed from its list.",
            title(arguments)
        ));
    }
    screen.note(&format!("Start {} again, and it will find the hub.", title(arguments)));
    Ok(())
}

fn title(arguments: &ConnectArguments) -> &'static str {
    arguments.client.title()
}

fn no_address(client: Client) -> Failure {
    let title = client.title();
    Failure::new(Exit::Usage, format!("{title} cannot be given an address in its file; leave --hub away"))
}

async fn way(
    arguments: &ConnectArguments,
    config: Option<&Path>,
    env: BTreeMap<String, Secret>,
) -> Result<Way, Failure> {
    if let Some(hub) = &arguments.hub {
        if !arguments.client.takes_address() {
            return Err(no_address(arguments.client));
        }
        if let Some(view) = &arguments.view {
            view::of_hub(&asked(arguments, hub), view).await?;
        }
        let path = arguments.view.as_ref().map(|view| format!("/{view}")).unwrap_or_default();
        let url = format!("{}/mcp{path}", hub.trim_end_matches('/'));
        return Ok(Way::Address { url, token: token(arguments, hub).await? });
    }
    let program = std::env::current_exe().map_err(|error| {
        Failure::new(Exit::Failed, format!("where this program is, is not known: {}", error.kind()))
    })?;
    let mut args = vec!["mcp".to_owned()];
    if let Some(config) = config {
        args.extend(["-c".to_owned(), text(config)?]);
    }
    // Without a file the hub is the one of `./data`: of this folder, and not of whichever the client starts it in.
    let data = arguments.data.as_deref().or(config.is_none().then_some(Path::new(DATA)));
    if let Some(data) = data {
        args.extend(["--data".to_owned(), text(&absolute(data)?)?]);
    }
    if let Some(view) = &arguments.view {
        match config {
            Some(file) => view::of_config(&loaded(file)?, view)?,
            None => view::of_hub(&HubArguments { data: data.map(Path::to_path_buf), ..HubArguments::default() }, view)
                .await
                .map_err(without_file)?,
        }
        args.extend(["--view".to_owned(), view.clone()]);
    }
    Ok(Way::Program { command: text(&program)?, args, env })
}

fn loaded(file: &Path) -> Result<Config, Failure> {
    let environment = |name: &str| std::env::var(name).ok();
    let loaded = config::load(file, &Overrides::default(), &environment);
    loaded.map(|loaded| loaded.config).map_err(|rejected| Failure::new(Exit::Configuration, rejected.render()))
}

/// Views are in a configuration, or in a hub that runs with one.
fn without_file(failure: Failure) -> Failure {
    if failure.exit != Exit::Unreachable {
        return failure;
    }
    let advice = "or name the configuration that has the view with -c FILE";
    Failure::new(failure.exit, format!("{}\n  {advice}", failure.message))
}

/// Where a file is that has to be there: a client would start the program and hear nothing but that it ended.
fn there(file: &Path) -> Result<PathBuf, Failure> {
    file.canonicalize().map_err(|error| Failure::new(Exit::Usage, config::unreadable(file, &error)))
}

/// Made by the hub for this client, over the socket in its data directory, or at its address by whoever shows its Owner's token.
async fn token(arguments: &ConnectArguments, hub: &str) -> Result<String, Failure> {
    super::trust::for_client(&asked(arguments, hub), &arguments.client.caller()).await.map_err(|failure| {
        let advice = "run it beside the hub's data directory (--data), or show its Owner's token (--token)";
        Failure::new(failure.exit, format!("no token for {}: {}\n  {advice}", title(arguments), failure.message))
    })
}

/// How its Owner reaches the hub whose address the client is given.
fn asked(arguments: &ConnectArguments, hub: &str) -> HubArguments {
    HubArguments {
        hub: arguments.token.is_some().then(|| hub.to_owned()),
        token: arguments.token.clone(),
        data: arguments.data.clone(),
        ..HubArguments::default()
    }
}

/// A client starts the program wherever it likes, so that relative paths would lead elsewhere.
fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    path.canonicalize()
        .or_else(|_| std::path::absolute(path))
        .map_err(|error| Failure::new(Exit::Usage, format!("{}: {}", path.display(), error.kind())))
}

fn text(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().map(ToOwned::to_owned);
    text.ok_or_else(|| Failure::new(Exit::Usage, format!("{} is not UTF-8 and fits no JSON file", path.display())))
}

fn place(arguments: &ConnectArguments) -> Result<PathBuf, Failure> {
    if let Some(file) = &arguments.file {
        return absolute(file);
    }
    arguments.client.place(&clients::Homes::here()).ok_or_else(|| {
        Failure::new(Exit::Usage, "where your home directory is, is not known: name the client's file with --file")
    })
}
