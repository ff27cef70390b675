//! `connect`: the configuration that a desktop client needs to find the hub, printed or written to the client's file.
//!
//! A client starts `interlingua mcp` and speaks MCP to it over stdio: that needs no address and no token, and attaches to the hub that
//! holds the data directory, or becomes one. With `--hub` the client gets a running hub's address instead, and a token of its own that the
//! hub makes for it: it may call, and cannot approve. The Owner's token is never given to a client. [`clients`] knows the file and format
//! of each client; [`mod@file`] changes a file of another program.

mod clients;
mod file;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

pub use clients::Client;

use super::arguments::{ConnectArguments, HubArguments};
use super::screen::Screen;
use super::{Exit, Failure, view};
use crate::config::{self, Config, Overrides};

/// Where a hub without a file keeps its data.
const DATA: &str = "data";

/// How a client reaches the hub.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Way {
    /// It starts this program.
    Program { command: String, args: Vec<String> },
    /// It opens this address, and shows this token.
    Address { url: String, token: String },
}

pub(super) async fn connect(arguments: &ConnectArguments) -> Result<Exit, Failure> {
    let screen = Screen { json: arguments.json };
    let place = place(arguments)?;
    let way = way(arguments).await?;
    let entry = arguments.client.entry(&way).ok_or_else(|| no_address(arguments.client))?;
    if arguments.write {
        return write(screen, arguments, &place, &entry);
    }
    let snippet = arguments.client.snippet(&arguments.name, &entry);
    if screen.json {
        screen.value(&json!({ "client": arguments.client.title(), "file": place, "snippet": snippet }))?;
        return Ok(Exit::Done);
    }
    screen.note(&format!("{} reads {}. Add this to it, or run again with --write:", title(arguments), place.display()));
    screen.say(&snippet)?;
    Ok(Exit::Done)
}

fn write(screen: Screen, arguments: &ConnectArguments, place: &Path, entry: &Value) -> Result<Exit, Failure> {
    let Some(key) = arguments.client.key() else {
        let why = format!("{} keeps its settings in a form this program does not change", title(arguments));
        return Err(Failure::new(Exit::Usage, format!("{why}; add what `connect` prints to {}", place.display())));
    };
    let changed = file::put(place, key, &arguments.name, entry)?;
    let done = match changed {
        file::Change::Added => "added",
        file::Change::Replaced => "replaced",
        file::Change::None => "was there already",
    };
    if screen.json {
        screen.value(&json!({ "client": title(arguments), "file": place, "entry": arguments.name, "change": done }))?;
    } else {
        screen.say(&format!("{}: `{}` {done}", place.display(), arguments.name))?;
        screen.note(&format!("Start {} again, and it will find the hub.", title(arguments)));
    }
    Ok(Exit::Done)
}

fn title(arguments: &ConnectArguments) -> &'static str {
    arguments.client.title()
}

fn no_address(client: Client) -> Failure {
    let title = client.title();
    Failure::new(Exit::Usage, format!("{title} cannot be given an address in its file; leave --hub away"))
}

async fn way(arguments: &ConnectArguments) -> Result<Way, Failure> {
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
    if let Some(config) = &arguments.config {
        args.extend(["-c".to_owned(), text(&there(config)?)?]);
    }
    // Without a file the hub is the one of `./data`: of this folder, and not of whichever the client starts it in.
    let data = arguments.data.as_deref().or(arguments.config.is_none().then_some(Path::new(DATA)));
    if let Some(data) = data {
        args.extend(["--data".to_owned(), text(&absolute(data)?)?]);
    }
    if let Some(view) = &arguments.view {
        match &arguments.config {
            Some(file) => view::of_config(&loaded(file)?, view)?,
            None => view::of_hub(&HubArguments { data: data.map(Path::to_path_buf), ..HubArguments::default() }, view)
                .await
                .map_err(without_file)?,
        }
        args.extend(["--view".to_owned(), view.clone()]);
    }
    Ok(Way::Program { command: text(&program)?, args })
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
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let homes = clients::Homes {
        home: variable("HOME").or_else(|| variable("USERPROFILE")),
        settings: variable("XDG_CONFIG_HOME"),
        project: std::env::current_dir().ok(),
    };
    arguments.client.place(&homes).ok_or_else(|| {
        Failure::new(Exit::Usage, "where your home directory is, is not known: name the client's file with --file")
    })
}
