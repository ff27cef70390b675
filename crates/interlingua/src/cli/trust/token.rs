//! `token`: who may come in with a token. Works on the list of callers; a running hub reads it again by itself.
//!
//! A token is 256 random bits and is printed once. The list keeps its SHA-256, which is of no use to whoever reads it: so
//! many bits cannot be guessed.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use interlingua_core::{Digest, Time};
use serde_json::json;

use super::arguments::{CreateArguments, RevokeArguments, TokenArguments, TokenCommand, TokensArguments};
use crate::cli::screen::Screen;
use crate::cli::table::Table;
use crate::cli::{Exit, Failure};
use crate::config::{AccessToken, Shows, tokens};
use crate::hub::entropy;
use crate::server::access::TOKEN_PREFIX;

pub(in crate::cli) fn token(arguments: &TokenArguments) -> Result<Exit, Failure> {
    match &arguments.command {
        TokenCommand::Create(arguments) => create(arguments),
        TokenCommand::List(arguments) => list(arguments),
        TokenCommand::Revoke(arguments) => revoke(arguments),
    }
}

/// The list as it is.
struct List {
    file: PathBuf,
    text: String,
    callers: Vec<AccessToken>,
}

impl List {
    fn open(arguments: &TokensArguments) -> Result<List, Failure> {
        let wrong = |message: String| Failure::new(Exit::Configuration, message);
        let file = match (&arguments.file, &arguments.config) {
            (Some(file), _) => file.clone(),
            (None, Some(config)) => tokens::named_in(config).map_err(wrong)?,
            (None, None) => {
                return Err(Failure::new(Exit::Usage, "name the configuration with -c, or the list with --file"));
            }
        };
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(wrong(format!("cannot read {}: {}", file.display(), error.kind()))),
        };
        let environment = |name: &str| std::env::var(name).ok();
        let callers = tokens::callers(&text, &file, &environment).map_err(wrong)?;
        Ok(List { file, text, callers })
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.callers.iter().position(|caller| caller.name == name)
    }

    /// Writes the changed list, once it is sure that it is one and holds whom it should.
    fn replace(&self, text: &str, expected: usize) -> Result<(), Failure> {
        let environment = |name: &str| std::env::var(name).ok();
        let read = tokens::callers(text, &self.file, &environment);
        if read.map(|callers| callers.len()) != Ok(expected) {
            let text =
                format!("{} is written in a way this command does not change: edit it yourself", self.file.display());
            return Err(Failure::new(Exit::Configuration, text));
        }
        write_whole(&self.file, text).map_err(|error| {
            Failure::new(Exit::Failed, format!("cannot write {}: {}", self.file.display(), error.kind()))
        })
    }
}

fn create(arguments: &CreateArguments) -> Result<Exit, Failure> {
    let usage = |text: &str| Err(Failure::new(Exit::Usage, text));
    let name = arguments.name.as_str();
    if name.is_empty() || name.len() > 128 || name.contains(char::is_control) {
        return usage("a caller's name is 1 to 128 characters");
    }
    let list = List::open(&arguments.list)?;
    if list.place(name).is_some() {
        return usage(&format!("`{name}` has a token already; revoke it first"));
    }
    let token = format!("{TOKEN_PREFIX}{:032x}{:032x}", entropy::bits(), entropy::bits());
    let expires = arguments.expires.map(|span| until(span.0)).transpose()?;
    let entry = tokens::Entry {
        name,
        sha256: &Digest::of(token.as_bytes()).to_string(),
        skills: &arguments.skills,
        roles: &arguments.roles,
        approve: arguments.approve,
        register: arguments.register,
        expires: expires.clone(),
    };
    list.replace(&tokens::added(&list.text, &entry), list.callers.len() + 1)?;
    let screen = Screen { json: arguments.list.json };
    if screen.json {
        screen.value(&json!({ "name": name, "token": token, "expires": expires }))?;
    } else {
        screen.say(&token)?;
        screen.note(&format!("this is shown once; {} keeps only its SHA-256", list.file.display()));
    }
    Ok(Exit::Done)
}

fn until(span: std::time::Duration) -> Result<String, Failure> {
    let now = jiff::Timestamp::now();
    let then = jiff::SignedDuration::try_from(span).ok().and_then(|span| now.checked_add(span).ok());
    let then = then.ok_or_else(|| Failure::new(Exit::Usage, "--expires is too long"))?;
    Ok(then.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

fn list(arguments: &TokensArguments) -> Result<Exit, Failure> {
    let list = List::open(arguments)?;
    let screen = Screen { json: arguments.json };
    if screen.json {
        let items: Vec<_> = list.callers.iter().map(view).collect();
        screen.value(&json!({ "items": items }))?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&["name", "shows", "expires", "rights", "roles", "skills"]);
    for caller in &list.callers {
        let rights: Vec<&str> = [("approve", caller.approve), ("register", caller.register)]
            .iter()
            .filter(|(_, has)| *has)
            .map(|(right, _)| *right)
            .collect();
        table.row([
            caller.name.as_str(),
            shows(caller.shows),
            &caller.expires.map(|time: Time| time.to_string()).unwrap_or_else(|| "never".into()),
            &rights.join(" "),
            &caller.roles.join(" "),
            &caller.skills.join(" "),
        ]);
    }
    screen.say(&table.render(screen.width()))?;
    Ok(Exit::Done)
}

fn shows(shows: Shows) -> &'static str {
    match shows {
        Shows::Token => "token",
        Shows::Certificate => "certificate",
    }
}

fn view(caller: &AccessToken) -> serde_json::Value {
    json!({
        "name": caller.name,
        "shows": shows(caller.shows),
        "skills": caller.skills,
        "roles": caller.roles,
        "approve": caller.approve,
        "register": caller.register,
        "expires": caller.expires.map(|time| time.to_string()),
    })
}

fn revoke(arguments: &RevokeArguments) -> Result<Exit, Failure> {
    let list = List::open(&arguments.list)?;
    let nobody = || Failure::new(Exit::Usage, format!("there is no caller `{}`", arguments.name));
    let place = list.place(&arguments.name).ok_or_else(nobody)?;
    let text = tokens::without(&list.text, place).unwrap_or_else(|| list.text.clone());
    list.replace(&text, list.callers.len() - 1)?;
    let screen = Screen { json: arguments.list.json };
    if screen.json {
        screen.value(&json!({ "revoked": arguments.name }))?;
    } else {
        screen.say(&format!("revoked the token of {}", arguments.name))?;
    }
    Ok(Exit::Done)
}

/// Whole or not at all, and for its owner alone.
fn write_whole(file: &Path, text: &str) -> std::io::Result<()> {
    let part = file.with_extension("new");
    let mut out = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part)?;
    out.write_all(text.as_bytes())?;
    out.sync_all()?;
    std::fs::rename(&part, file)
}
