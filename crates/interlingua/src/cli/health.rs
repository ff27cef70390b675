//! `health`: is a running hub ready? A container without a shell or another program to ask with has this one.

use serde_json::json;

use super::arguments::ListArguments;
use super::client::Client;
use super::screen::Screen;
use super::{Exit, Failure};

pub(super) async fn health(arguments: &ListArguments) -> Result<Exit, Failure> {
    let unready = Client::new(&arguments.hub)?.unready().await?;
    let screen = Screen { json: arguments.hub.json };
    if screen.json {
        screen.value(&json!({ "ready": unready.is_none(), "reason": unready }))?;
        return Ok(if unready.is_none() { Exit::Done } else { Exit::Failed });
    }
    match unready {
        None => screen.say("ready").map(|()| Exit::Done),
        Some(reason) => Err(Failure::new(Exit::Failed, reason)),
    }
}
