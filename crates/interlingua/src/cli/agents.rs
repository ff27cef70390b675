//! `agents`: lists the agents that can receive messages, and registers or unregisters one.

use std::io::Read;
use std::path::Path;

use interlingua_model::percent::encoded;
use serde_json::{Value, json};

use super::arguments::AgentsArguments;
use super::client::{Client, Extras};
use super::list::{all, score, show};
use super::screen::Screen;
use super::table::Table;
use super::{Exit, Failure};
use crate::config;
use interlingua_api::view::{AgentView, PageView};

/// No card is longer.
const MAX_CARD: u64 = 256 * 1024;

pub(super) async fn agents(arguments: &AgentsArguments) -> Result<Exit, Failure> {
    let screen = Screen { json: arguments.hub.json };
    if let Some(given) = &arguments.register {
        let agent = application(given)?;
        let agent: AgentView = Client::new(&arguments.hub)?.post("/api/agents", &agent, &Extras::default()).await?;
        match screen.json {
            true => screen.value(&agent)?,
            false => screen.say(&format!("{} is registered", agent.agent_id))?,
        }
        return Ok(Exit::Done);
    }
    if let Some(id) = &arguments.unregister {
        Client::new(&arguments.hub)?.delete(&format!("/api/agents/{}", encoded(id))).await?;
        if !screen.json {
            screen.say(&format!("{id} is unregistered"))?;
        }
        return Ok(Exit::Done);
    }
    let page: PageView<AgentView> = all(&arguments.hub, &path(arguments)).await?;
    let mut table = Table::new(&["agent", "health", "score", "skills", "owner", "description"]);
    for agent in &page.items {
        let about = if agent.description.is_empty() { &agent.name } else { &agent.description };
        let owner = agent.owner.as_deref().unwrap_or("-");
        let score = score(&agent.standing);
        table.row([&agent.agent_id, &agent.health, &score, &agent.capabilities.len().to_string(), owner, about]);
    }
    show(&arguments.hub, &page, &table)
}

fn path(arguments: &AgentsArguments) -> String {
    let words = Some(arguments.query.join(" ")).filter(|words| !words.is_empty());
    let filters = [
        ("q", words),
        ("skill", arguments.skill.clone()),
        ("tag", arguments.tag.clone()),
        ("provider", arguments.provider.clone()),
    ];
    let given = filters.iter().filter_map(|(name, value)| Some(format!("&{name}={}", encoded(value.as_ref()?))));
    given.fold("/api/agents?limit=200".to_owned(), |path, filter| path + &filter)
}

/// By its address; or by what is in a file: a card of A2A, else what `/api/agents` takes.
fn application(given: &Path) -> Result<Value, Failure> {
    if let Some(url) = given.to_str().filter(|text| text.starts_with("http://") || text.starts_with("https://")) {
        return Ok(json!({ "url": url }));
    }
    let read = card(given)?;
    let of_a2a = read.get("skills").is_some() && read.get("capabilities").is_none_or(Value::is_object);
    Ok(if of_a2a { json!({ "card": read }) } else { read })
}

/// The card in a file, or on standard input.
fn card(file: &Path) -> Result<Value, Failure> {
    let unreadable = |error: std::io::Error| {
        let advice = "an address begins with http:// or https://";
        Failure::new(Exit::Usage, format!("{}; {advice}", config::unreadable(file, &error)))
    };
    let mut text = String::new();
    match file.to_str() {
        Some("-") => std::io::stdin().take(MAX_CARD).read_to_string(&mut text),
        _ => std::fs::File::open(file).and_then(|file| file.take(MAX_CARD).read_to_string(&mut text)),
    }
    .map_err(unreadable)?;
    serde_json::from_str(&text).map_err(|error| Failure::new(Exit::Usage, format!("{}: {error}", file.display())))
}
