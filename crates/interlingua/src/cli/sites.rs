//! `sites`: sessions of driven websites, and ending one.

use clap::{Args, Subcommand};
use interlingua_model::percent::encoded;

use super::arguments::HubArguments;
use super::client::Client;
use super::list::{all, show};
use super::screen::Screen;
use super::table::Table;
use super::{Exit, Failure};
use interlingua_api::view::{PageView, SiteSessionView};

const PATH: &str = "/api/sites/sessions?limit=200";

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  interlingua call shop/log_in '{\"session\":\"main\",\"user\":\"ann\",\"password\":\"…\"}'
  interlingua sites sessions                    list your sessions and when they expire
  interlingua sites end shop/main               log out; delete cookies and storage

Add `session:` to a definition to keep the login of a call that names a session.")]
pub struct SitesArguments {
    #[command(subcommand)]
    pub command: SitesCommand,
}

#[derive(Debug, Subcommand)]
pub enum SitesCommand {
    /// List the sessions that websites keep for you, or all sessions if you are the hub's Owner
    #[command(after_help = "\
Examples:
  interlingua sites sessions
  interlingua sites sessions --json")]
    Sessions(SessionsArguments),
    /// End a session, and any call that runs in it
    #[command(after_help = "\
Examples:
  interlingua sites end shop/main
  interlingua sites end 0123456789abcdef    end it by its id")]
    End(EndArguments),
}

#[derive(Debug, Args)]
pub struct SessionsArguments {
    #[command(flatten)]
    pub hub: HubArguments,
}

#[derive(Debug, Args)]
pub struct EndArguments {
    /// End this session, written SITE/NAME or by its id
    #[arg(value_name = "SITE/NAME|ID")]
    pub session: String,
    #[command(flatten)]
    pub hub: HubArguments,
}

pub(super) async fn sites(arguments: &SitesArguments) -> Result<Exit, Failure> {
    match &arguments.command {
        SitesCommand::Sessions(arguments) => sessions(&arguments.hub).await,
        SitesCommand::End(arguments) => end(&arguments.session, &arguments.hub).await,
    }
}

async fn sessions(hub: &HubArguments) -> Result<Exit, Failure> {
    let page: PageView<SiteSessionView> = all(hub, PATH).await?;
    let mut table = Table::new(&["session", "state", "calls", "used", "expires", "owner", "id"]);
    for session in &page.items {
        let name = format!("{}/{}", session.site, session.name);
        let calls = session.calls.to_string();
        table.row([&name, &session.state, &calls, &session.used, &session.expires, &session.owner, &session.id]);
    }
    show(hub, &page, &table)
}

async fn end(named: &str, hub: &HubArguments) -> Result<Exit, Failure> {
    let page: PageView<SiteSessionView> = all(hub, PATH).await?;
    let is_it =
        |session: &&SiteSessionView| session.id == named || format!("{}/{}", session.site, session.name) == named;
    let found: Vec<&SiteSessionView> = page.items.iter().filter(is_it).collect();
    let session = match found.as_slice() {
        [one] => one,
        [] => {
            return Err(Failure::new(
                Exit::Usage,
                format!("there is no session {named}\n  `interlingua sites sessions` lists them"),
            ));
        }
        several => {
            let ids: Vec<String> = several.iter().map(|one| format!("{} of {}", one.id, one.owner)).collect();
            return Err(Failure::new(
                Exit::Usage,
                format!("there are several; name one by its id: {}", ids.join(", ")),
            ));
        }
    };
    Client::new(hub)?.delete(&format!("/api/sites/sessions/{}", encoded(&session.id))).await?;
    let screen = Screen { json: hub.json };
    if !screen.json {
        screen.say(&format!("{}/{} has ended", session.site, session.name))?;
    }
    Ok(Exit::Done)
}
