//! `migrate`: prints a MassGen configuration as a configuration of the hub. What has no counterpart is reported on standard
//! error.

use super::arguments::MigrateArguments;
use super::massgen::{convert, yaml};
use super::screen::{Screen, plain};
use super::{Exit, Failure};
use crate::config;

pub(super) fn migrate(arguments: &MigrateArguments) -> Result<Exit, Failure> {
    let file = &arguments.file;
    let bad = |text: String| Failure::new(Exit::Configuration, format!("{}: {text}", file.display()));
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::new(Exit::Configuration, config::unreadable(file, &error)))?;
    let converted = convert(&text).map_err(|error| bad(error.to_string()))?;
    let screen = Screen::people();
    screen.say(yaml(&converted.config).trim_end())?;
    for (path, note) in &converted.notes {
        screen.note(&plain(&format!("{path}: {note}")));
    }
    Ok(Exit::Done)
}
