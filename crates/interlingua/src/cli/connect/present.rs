//! Which clients this person has, as far as their files tell: for `doctor`, which only looks.

use std::path::PathBuf;

use clap::ValueEnum as _;
use serde_json::{Map, Value};

use super::clients::{Client, Homes};
use super::file;
use crate::cli::import::is_hub;

/// A client whose file is there.
#[derive(Debug)]
pub(in crate::cli) struct Present {
    pub(in crate::cli) client: Client,
    pub(in crate::cli) file: PathBuf,
    /// Does one of its entries start this program, or lead to a hub?
    pub(in crate::cli) connected: bool,
    /// How many servers of its own it has.
    pub(in crate::cli) servers: usize,
}

/// Clients whose file can be read as it is; another file says nothing here.
pub(in crate::cli) fn present() -> Vec<Present> {
    let homes = Homes::here();
    Client::value_variants().iter().filter_map(|client| look(*client, &homes)).collect()
}

fn look(client: Client, homes: &Homes) -> Option<Present> {
    let (file, key) = (client.place(homes)?, client.key()?);
    let text = file::read(&file).ok().flatten()?;
    let whole: Value = serde_json::from_str(&text).ok()?;
    let none = Map::new();
    let servers = whole[key].as_object().unwrap_or(&none);
    let hubs = servers.iter().filter(|(name, server)| *name == "interlingua" || is_hub(server)).count();
    Some(Present { client, file, connected: hubs > 0, servers: servers.len() - hubs })
}
