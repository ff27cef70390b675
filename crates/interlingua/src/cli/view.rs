//! `--view NAME`: an unknown view is an error before anything else is done. A client that was configured with one would only see that each
//! of its requests is refused.

use super::arguments::HubArguments;
use super::client::Client;
use super::{Exit, Failure};
use crate::config::Config;

/// Of the hub that a configuration makes.
pub(super) fn of_config(config: &Config, view: &str) -> Result<(), Failure> {
    if config.mcp.views.contains_key(view) {
        return Ok(());
    }
    let names: Vec<&str> = config.mcp.views.keys().map(String::as_str).collect();
    let there = match names.is_empty() {
        true => "the configuration has none (`mcp.views`)".to_owned(),
        false => format!("there are: {}", names.join(", ")),
    };
    Err(none(view, &format!("there is no view of this name; {there}")))
}

/// Of a hub that runs.
pub(super) async fn of_hub(hub: &HubArguments, view: &str) -> Result<(), Failure> {
    match Client::new(hub)?.lacks_view(view).await? {
        None => Ok(()),
        Some(said) => Err(none(view, &said)),
    }
}

fn none(view: &str, why: &str) -> Failure {
    Failure::new(Exit::Usage, format!("--view {view}: {why}"))
}
