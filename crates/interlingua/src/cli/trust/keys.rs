//! `keys`: lists and rotates the keys of a running hub. The hub continues to run, and data sealed by old keys stays readable.

use std::path::Path;

use serde_json::json;

use super::arguments::{KeysArguments, KeysCommand, RotateArguments};
use crate::cli::arguments::HubArguments;
use crate::cli::client::{Client, Extras};
use crate::cli::screen::Screen;
use crate::cli::table::Table;
use crate::cli::{Exit, Failure};
use interlingua_api::view::{KeyView, KeysView, RotateRequest, Rotated};

pub(crate) async fn keys(arguments: KeysArguments) -> Result<Exit, Failure> {
    match arguments.command {
        KeysCommand::List(hub) => {
            let view: KeysView = Client::new(&hub)?.get("/api/keys").await?;
            show(Screen { json: hub.json }, &view)
        }
        KeysCommand::Rotate(arguments) => rotate(arguments).await,
        KeysCommand::Retire(hub) => retire(&hub).await,
    }
}

async fn rotate(arguments: RotateArguments) -> Result<Exit, Failure> {
    let screen = Screen { json: arguments.hub.json };
    if let Some(file) = &arguments.outer {
        return put_outer(screen, file);
    }
    let what = match (arguments.owner_token, arguments.audit) {
        (true, _) => Rotated::OwnerToken,
        (false, true) => Rotated::AuditKey,
        (false, false) => Rotated::Key,
    };
    let client = Client::new(&arguments.hub)?;
    let view: KeysView = client.post("/api/keys/rotate", &RotateRequest { what }, &Extras::default()).await?;
    if !screen.json && what == Rotated::OwnerToken {
        screen.note("the Owner has a new token, in the file `token` of the data directory; the old one is refused");
    }
    if !screen.json && what == Rotated::AuditKey {
        screen.note(
            "the old key signed that the new one follows it; give the new one to `interlingua audit verify --key`",
        );
    }
    show(screen, &view)
}

const RETIRING: &str = "the hub seals anew, with its newest key, what the old ones sealed, and then deletes the old ones. It goes on by \
                        itself, also after a restart; it is done when `interlingua keys list` names none that `is being taken out`";
const RETIRED: &str = "what the old keys sealed is sealed by the newest, and the old keys are deleted";
const WORTHLESS: &str = "what an old key made and the hub only handed out (tokens of conversations and sessions, receipts, cursors of \
                         pages) is refused once that key is deleted";

async fn retire(hub: &HubArguments) -> Result<Exit, Failure> {
    let client = Client::new(hub)?;
    client.delete("/api/keys/old").await?;
    let view: KeysView = client.get("/api/keys").await?;
    let screen = Screen { json: hub.json };
    if !screen.json {
        screen.note(if view.retiring { RETIRING } else { RETIRED });
        screen.note(WORTHLESS);
    }
    show(screen, &view)
}

/// The file alone is changed: a hub that was told of it in its configuration reads it by itself.
fn put_outer(screen: Screen, file: &Path) -> Result<Exit, Failure> {
    let held = interlingua_keys::put_new(file).map_err(|fault| Failure::new(Exit::Failed, fault.to_string()))?;
    if screen.json {
        screen.value(&json!({ "file": file.display().to_string(), "keys": held }))?;
    } else {
        screen.say(&format!("{} has a new outer key, before {} older ones", file.display(), held - 1))?;
        screen.note(&format!(
            "a hub uses it if its configuration has `store: {{ encryption: {{ key: file:{} }} }}`",
            file.display()
        ));
        screen.note("once `interlingua keys list` names it first, the older ones may be taken out of the file");
    }
    Ok(Exit::Done)
}

fn show(screen: Screen, view: &KeysView) -> Result<Exit, Failure> {
    if screen.json {
        screen.value(view)?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&["key", "made", "seals", "does"]);
    let rows = |keys: &[KeyView], first: &'static str, others: &'static str, table: &mut Table| {
        for (place, key) in keys.iter().enumerate() {
            let does = if place == 0 { first } else { others };
            let values = key.values.map_or_else(|| "-".to_owned(), |values| values.to_string());
            table.row([key.id.as_str(), key.made.as_deref().unwrap_or("not known"), &values, does]);
        }
    };
    let older = if view.retiring { "is being taken out" } else { "opens what it sealed" };
    rows(&view.keys, "seals and opens", older, &mut table);
    rows(&view.outer, "wraps the others", "may be taken out", &mut table);
    rows(&view.audit, "signs the audit", "signed the audit before", &mut table);
    screen.say(&table.render(screen.width()))?;
    if !view.encrypted {
        screen.note("what is kept is not encrypted: `store.encryption` of the configuration");
    }
    Ok(Exit::Done)
}
