//! `open`: the web console in this person's browser, signed in.
//!
//! Others on the machine can read command lines, so a ticket is on none: the browser is given a file that only its owner can
//! read, and the file leads on to the console.

use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

use super::arguments::OpenArguments;
use super::client::{self, Client, Extras};
use super::screen::Screen;
use super::{Exit, Failure};
use interlingua_api::view::TicketView;
use interlingua_endpoint::html::escaped;

/// In the data directory.
const FILE: &str = "console.html";

pub(super) async fn open(arguments: &OpenArguments) -> Result<Exit, Failure> {
    let client = Client::new(&arguments.hub)?;
    let ticket: TicketView = client.post("/api/session/tickets", &json!({}), &Extras::default()).await?;
    let page = match &arguments.hub.hub {
        Some(hub) => format!("{}/console/", hub.trim_end_matches('/')),
        None => ticket.url.clone(),
    };
    let address = format!("{page}#ticket={}", ticket.ticket);
    let screen = Screen { json: arguments.hub.json };
    if arguments.print {
        if screen.json {
            screen.value(&json!({ "url": address, "expires": ticket.expires }))?;
        } else {
            screen.say(&address)?;
        }
        screen.note("this address signs a browser in as you, once and within a minute");
        return Ok(Exit::Done);
    }
    let file = write(&folder(arguments)?, &address).map_err(|error| {
        Failure::new(Exit::Failed, format!("cannot write the file for the browser: {}; try --print", error.kind()))
    })?;
    launch(&file)?;
    if screen.json {
        screen.value(&json!({ "opened": page }))?;
    } else {
        screen.say(&format!("opened {page} in your browser"))?;
    }
    Ok(Exit::Done)
}

/// Where only this user reads: the data directory, or for a hub elsewhere the folder of the user's own session.
fn folder(arguments: &OpenArguments) -> Result<PathBuf, Failure> {
    let own = || std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let data = client::data(&arguments.hub).map(Path::to_path_buf);
    let folder = data.or_else(own).ok_or_else(|| {
        Failure::new(Exit::Usage, "there is no folder of your own for the ticket of this hub; use --print")
    })?;
    std::path::absolute(&folder)
        .map_err(|error| Failure::new(Exit::Failed, format!("{}: {}", folder.display(), error.kind())))
}

/// Whole or not at all, and for its owner alone.
fn write(folder: &Path, address: &str) -> std::io::Result<PathBuf> {
    let (file, part) = (folder.join(FILE), folder.join("console.html.new"));
    let mut out = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part)?;
    // The mode above is for a new file; one that is there may have been opened to others.
    out.set_permissions(PermissionsExt::from_mode(0o600))?;
    let to = escaped(address);
    writeln!(
        out,
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
         <meta http-equiv=\"refresh\" content=\"0;url={to}\"><title>Interlingua</title><p>The console opens.</p></html>"
    )?;
    std::fs::rename(&part, &file)?;
    Ok(file)
}

/// The browser of `BROWSER`, else the one that the desktop has chosen.
fn launch(file: &Path) -> Result<(), Failure> {
    let chosen = std::env::var("BROWSER").ok();
    let chosen = chosen.as_deref().and_then(|list| list.split(':').find(|program| !program.is_empty()));
    let program = chosen.unwrap_or(if cfg!(target_os = "macos") { "open" } else { "xdg-open" });
    let mut command = Command::new(program);
    command.arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().map(drop).map_err(|error| {
        let text = format!("cannot start the browser with {program}: {}; use --print", error.kind());
        Failure::new(Exit::Failed, text)
    })
}
