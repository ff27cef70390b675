//! `sessions`: sessions of the routing envelope, and what one of them holds.

use clap::Args;
use interlingua_model::percent::encoded;

use super::arguments::HubArguments;
use super::client::Client;
use super::list::{all, briefly, show};
use super::screen::{Screen, plain};
use super::table::Table;
use super::{Exit, Failure};
use interlingua_api::view::{PageView, RoutedSessionView};

const PATH: &str = "/api/sessions?limit=200";

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  interlingua sessions              list your sessions at /nlip/route
  interlingua sessions trip-1       show its messages and notifications
  interlingua sessions --json")]
pub struct RoutedSessionsArguments {
    /// Show this session
    #[arg(value_name = "ID")]
    pub id: Option<String>,
    #[command(flatten)]
    pub hub: HubArguments,
}

pub(super) async fn sessions(arguments: &RoutedSessionsArguments) -> Result<Exit, Failure> {
    let hub = &arguments.hub;
    let Some(id) = &arguments.id else {
        let page: PageView<RoutedSessionView> = all(hub, PATH).await?;
        let mut table = Table::new(&["session", "turn", "used", "expires", "last message"]);
        for session in &page.items {
            let last = session.messages.last().map_or("-", |head| head.message.as_str());
            let (used, expires) = (briefly(&session.used), briefly(&session.expires));
            table.row([session.id.as_str(), &session.turn.to_string(), &used, &expires, last]);
        }
        return show(hub, &page, &table);
    };
    let session: RoutedSessionView = Client::new(hub)?.get(&format!("/api/sessions/{}", encoded(id))).await?;
    let screen = Screen { json: hub.json };
    if screen.json {
        screen.value(&session)?
    } else {
        screen.say(&plain_lines(&session))?
    }
    Ok(Exit::Done)
}

/// One line for each thing that is known. What callers wrote cannot move the cursor or end a line.
fn plain_lines(session: &RoutedSessionView) -> String {
    let mut lines = vec![
        format!("session   {}", session.id),
        format!("turn      {}", session.turn),
        format!("created   {}", session.created),
        format!("used      {}", session.used),
        format!("expires   {}", session.expires),
    ];
    if !session.context_keys.is_empty() {
        lines.push(format!("context   {}", session.context_keys.join(", ")));
    }
    for head in &session.messages {
        lines.push(format!("message   {} {} {}", head.at, head.kind, head.message));
    }
    for note in &session.notifications {
        let content = note.content.as_ref().map_or_else(|| format!("({} bytes)", note.size), ToString::to_string);
        lines.push(format!("noted     {} {} {content}", note.at, note.message));
    }
    lines.iter().map(|line| plain(line)).collect::<Vec<_>>().join("\n")
}
