//! `token`: access tokens. A running hub stores them, or, if its configuration names one, a file that the hub reads again by itself.
//!
//! A token is 256 random bits and is printed once. Its SHA-256 is stored, which is useless to a reader: so many bits cannot be guessed. The
//! Owner's own token is in a file of the data directory, and printed from there.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use interlingua_model::{Digest, Time};
use serde_json::json;

use super::arguments::{
    CreateArguments, OwnerArguments, RevokeArguments, TokenArguments, TokenCommand, TokensArguments,
};
use crate::cli::arguments::HubArguments;
use crate::cli::client::{Client, Extras};
use crate::cli::screen::Screen;
use crate::cli::table::Table;
use crate::cli::{Exit, Failure};
use crate::config::{self, AccessToken, Shows, tokens};
use interlingua_access::TOKEN_PREFIX;
use interlingua_access::owner_token;
use interlingua_api::view::{TokenMadeView, TokenRequest, TokenView, TokensView};
use interlingua_hub::entropy;

pub(crate) async fn token(arguments: TokenArguments) -> Result<Exit, Failure> {
    match &arguments.command {
        TokenCommand::Create(arguments) => create(arguments).await,
        TokenCommand::List(arguments) => list(arguments).await,
        TokenCommand::Revoke(arguments) => revoke(arguments).await,
        TokenCommand::Owner(arguments) => owner(arguments),
    }
}

/// Who keeps the tokens.
enum Keeper {
    File(List),
    Hub(Client),
}

impl Keeper {
    fn of(arguments: &TokensArguments) -> Result<Keeper, Failure> {
        let wrong = |message: String| Failure::new(Exit::Configuration, message);
        let named = match (&arguments.file, &arguments.config) {
            (Some(file), _) => Some(file.clone()),
            (None, Some(config)) => tokens::named_in(config).map_err(wrong)?,
            (None, None) => None,
        };
        if let Some(file) = named {
            return List::open(file).map(Keeper::File);
        }
        let mut hub = arguments.hub.clone();
        if let (None, None, Some(config)) = (&hub.hub, &hub.data, &arguments.config) {
            hub.data = Some(data_of(config)?);
        }
        Client::new(&hub).map(Keeper::Hub)
    }
}

/// The data directory that a configuration names.
fn data_of(file: &Path) -> Result<PathBuf, Failure> {
    let environment = |name: &str| std::env::var(name).ok();
    let loaded = config::load(file, &config::Overrides::default(), &environment);
    let loaded = loaded.map_err(|rejected| Failure::new(Exit::Configuration, rejected.render()))?;
    Ok(loaded.config.data().to_path_buf())
}

/// The file is its Owner's alone to read, so nobody else is told.
fn owner(arguments: &OwnerArguments) -> Result<Exit, Failure> {
    let data = match (&arguments.data, &arguments.config) {
        (Some(data), _) => data.clone(),
        (None, Some(config)) => data_of(config)?,
        (None, None) => PathBuf::from("data"),
    };
    let path = data.join(owner_token::FILE);
    let token = owner_token::read(&path).map_err(|error| {
        let advice = match error.kind() {
            std::io::ErrorKind::NotFound => "; a hub makes it when it starts, `--data` says where",
            _ => "",
        };
        Failure::new(Exit::Failed, format!("cannot read {}: {error}{advice}", path.display()))
    })?;
    let screen = Screen { json: arguments.json };
    if screen.json {
        screen.value(&json!({ "token": token.as_str() }))?;
    } else {
        screen.say(&token)?;
    }
    Ok(Exit::Done)
}

/// The list as it is.
struct List {
    file: PathBuf,
    text: String,
    callers: Vec<AccessToken>,
}

impl List {
    fn open(file: PathBuf) -> Result<List, Failure> {
        let wrong = |message: String| Failure::new(Exit::Configuration, message);
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

async fn create(arguments: &CreateArguments) -> Result<Exit, Failure> {
    let name = arguments.name.as_str();
    if name.is_empty() || name.len() > 128 || name.contains(char::is_control) {
        return Err(Failure::new(Exit::Usage, "a caller's name is 1 to 128 characters"));
    }
    let expires = arguments.expires.map(|span| until(span.0)).transpose()?;
    let (made, keeper) = match Keeper::of(&arguments.list)? {
        Keeper::Hub(client) => (asked_for(&client, arguments, expires).await?, "the hub".to_owned()),
        Keeper::File(list) => (added(&list, arguments, expires)?, list.file.display().to_string()),
    };
    let screen = Screen { json: arguments.list.hub.json };
    if screen.json {
        screen.value(&made)?;
    } else {
        screen.say(&made.token)?;
        screen.note(&format!("this is shown once; {keeper} keeps only its SHA-256"));
    }
    Ok(Exit::Done)
}

async fn asked_for(
    client: &Client,
    arguments: &CreateArguments,
    expires: Option<String>,
) -> Result<TokenMadeView, Failure> {
    let request = TokenRequest {
        name: arguments.name.clone(),
        skills: arguments.skills.clone(),
        roles: arguments.roles.clone(),
        approve: arguments.approve,
        register: arguments.register,
        expires,
    };
    client.post("/api/tokens", &request, &Extras::default()).await
}

fn added(list: &List, arguments: &CreateArguments, expires: Option<String>) -> Result<TokenMadeView, Failure> {
    let name = arguments.name.as_str();
    if list.place(name).is_some() {
        return Err(Failure::new(Exit::Usage, format!("`{name}` has a token already; revoke it first")));
    }
    let token = format!("{TOKEN_PREFIX}{:032x}{:032x}", entropy::bits(), entropy::bits());
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
    Ok(TokenMadeView { name: name.to_owned(), token, expires })
}

fn until(span: std::time::Duration) -> Result<String, Failure> {
    let now = jiff::Timestamp::now();
    let then = jiff::SignedDuration::try_from(span).ok().and_then(|span| now.checked_add(span).ok());
    let then = then.ok_or_else(|| Failure::new(Exit::Usage, "--expires is too long"))?;
    Ok(then.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

/// A caller as the table has it.
struct Shown {
    caller: TokenView,
    shows: &'static str,
}

async fn list(arguments: &TokensArguments) -> Result<Exit, Failure> {
    let callers: Vec<Shown> = match Keeper::of(arguments)? {
        Keeper::Hub(client) => {
            let view: TokensView = client.get("/api/tokens").await?;
            view.items.into_iter().map(|caller| Shown { caller, shows: shows(Shows::Token) }).collect()
        }
        Keeper::File(list) => list.callers.iter().map(shown).collect(),
    };
    let screen = Screen { json: arguments.hub.json };
    if screen.json {
        let items: Vec<_> = callers.iter().map(view).collect();
        screen.value(&json!({ "items": items }))?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&["name", "shows", "expires", "rights", "roles", "skills"]);
    for Shown { caller, shows } in &callers {
        let rights: Vec<&str> = [("approve", caller.approve), ("register", caller.register)]
            .iter()
            .filter(|(_, has)| *has)
            .map(|(right, _)| *right)
            .collect();
        table.row([
            caller.name.as_str(),
            shows,
            caller.expires.as_deref().unwrap_or("never"),
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

fn shown(caller: &AccessToken) -> Shown {
    let AccessToken { name, shows: by, skills, approve, register, roles, expires, digest: _ } = caller.clone();
    let expires = expires.map(|time: Time| time.to_string());
    Shown { caller: TokenView { name, skills, roles, approve, register, expires }, shows: shows(by) }
}

fn view(Shown { caller, shows }: &Shown) -> serde_json::Value {
    json!({
        "name": caller.name,
        "shows": shows,
        "skills": caller.skills,
        "roles": caller.roles,
        "approve": caller.approve,
        "register": caller.register,
        "expires": caller.expires,
    })
}

async fn revoke(arguments: &RevokeArguments) -> Result<Exit, Failure> {
    match Keeper::of(&arguments.list)? {
        Keeper::Hub(client) => client.delete(&of(&arguments.name)).await?,
        Keeper::File(list) => {
            let nobody = || Failure::new(Exit::Usage, format!("there is no caller `{}`", arguments.name));
            let place = list.place(&arguments.name).ok_or_else(nobody)?;
            let text = tokens::without(&list.text, place).unwrap_or_else(|| list.text.clone());
            list.replace(&text, list.callers.len() - 1)?;
        }
    }
    let screen = Screen { json: arguments.list.hub.json };
    if screen.json {
        screen.value(&json!({ "revoked": arguments.name }))?;
    } else {
        screen.say(&format!("revoked the token of {}", arguments.name))?;
    }
    Ok(Exit::Done)
}

/// Where the token of somebody is at the hub.
fn of(name: &str) -> String {
    format!("/api/tokens/{}", interlingua_model::percent::encoded(name))
}

/// A token for a client that is given the address of a hub: it may call, and never say yes. One that the client had before is
/// taken back.
pub(crate) async fn for_client(hub: &HubArguments, name: &str) -> Result<String, Failure> {
    let client = Client::new(hub)?;
    match client.delete(&of(name)).await {
        // Most often there was none; whatever else is wrong, making one says so.
        Ok(()) | Err(_) => {}
    }
    let request = TokenRequest { name: name.to_owned(), ..TokenRequest::default() };
    let made: TokenMadeView = client.post("/api/tokens", &request, &Extras::default()).await?;
    Ok(made.token.clone())
}

/// Whole or not at all, and for its owner alone.
fn write_whole(file: &Path, text: &str) -> std::io::Result<()> {
    let part = file.with_extension("new");
    let mut out = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part)?;
    out.write_all(text.as_bytes())?;
    out.sync_all()?;
    std::fs::rename(&part, file)
}
