//! The client that the official MCP conformance suite starts for each of its client scenarios: a hub with one peer, the suite's server, and
//! nothing else. Everything on the wire is the hub's own client.
//!
//! `MCP_CONFORMANCE_SCENARIO=tools_call cargo run -p interlingua --example mcp_client -- http://127.0.0.1:9000/mcp`
//!
//! The hub finds the era, reads the lists and follows changes by itself. This program then calls what the scenario names, or every tool
//! once, and answers questions with the defaults of the form. If a sign-in is required, the test browser does it.

#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use interlingua::config::{Config, Overrides, load_text};
use interlingua::server::run::Server;
use interlingua_endpoint::SignIns;
use interlingua_hub::{Hub, Settled};
use interlingua_model::{
    Answer, Ask, Call, Card, Health, Input, KindSet, PeerId, Principal, Proof, Question, QuestionKind, Request, Schema,
    Skill, SkillId, SkillKind, Target, Transcript,
};
use interlingua_testkit::browser;
use serde_json::{Map, Value, json};

type Failure = Box<dyn Error + Send + Sync>;

const PEER: &str = "server";
/// How long a server may take to be found and listed. The suite gives a scenario 30 seconds.
const PATIENCE: Duration = Duration::from_secs(12);
/// How long a server that was reached may take to list something.
const LISTING: Duration = Duration::from_secs(3);
/// A call that asks more often than this is not going to end.
const ROUNDS: usize = 8;
/// Whoever must sign in more often than this gives up.
const SIGN_INS: usize = 8;
/// What the suite expects a client to be known by where a document will do.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let url = std::env::args().next_back().ok_or("the server's address is missing")?;
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default();
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").ok();
    let context: Value = context.map_or(Ok(Value::Null), |text| serde_json::from_str(&text))?;

    let folder = std::env::temp_dir().join(format!("interlingua-mcp-client-{}", std::process::id()));
    let server = Server::start(&config(&url, &scenario, &context, &folder)?).await?;
    let done = tokio::select! {
        done = exercise(&server.hub, &scenario, &context) => done,
        () = sign_in(&server.shared.sign_ins) => unreachable!("it signs in as long as it is asked"),
    };
    server.stop().await;
    std::fs::remove_dir_all(folder)?;
    done
}

fn config(url: &str, scenario: &str, context: &Value, folder: &std::path::Path) -> Result<Config, Failure> {
    let oauth = oauth(scenario, context);
    let yaml = format!("peers: {{ {PEER}: {{ mcp: {{ url: {url:?}, oauth: {oauth} }}, effects: reads }} }}\n");
    let overrides =
        Overrides { listen: Some("127.0.0.1:0".parse()?), data: Some(folder.join("data")), ..Overrides::default() };
    let loaded = load_text(&yaml, &folder.join("interlingua.yaml"), &overrides, &|name| std::env::var(name).ok());
    Ok(loaded.map_err(|rejected| rejected.render())?.config)
}

/// What the scenario says of the client.
fn oauth(scenario: &str, context: &Value) -> Value {
    let mut oauth = json!({ "client_metadata": DOCUMENT });
    if scenario.starts_with("auth/client-credentials") {
        oauth["grant"] = json!("client_credentials");
    }
    for (name, key) in
        [("client_id", "client_id"), ("client_secret", "client_secret"), ("private_key_pem", "private_key")]
    {
        if !context[name].is_null() {
            oauth[key] = context[name].clone();
        }
    }
    oauth
}

/// A person who opens every link once, as often as new ones come. It ends never.
async fn sign_in(sign_ins: &SignIns) {
    let mut seen = Vec::new();
    loop {
        let new = sign_ins.waiting().into_iter().map(|waiting| waiting.url).find(|url| !seen.contains(url));
        match new {
            Some(url) if seen.len() < SIGN_INS => {
                let page = browser::sign_in(&url).await;
                println!("signed in: HTTP {}", page.status);
                seen.push(url);
            }
            Some(_) | None => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn exercise(hub: &Arc<Hub>, scenario: &str, context: &Value) -> Result<(), Failure> {
    found(hub, scenario).await?;
    for (name, arguments) in calls(hub, scenario, context) {
        let ended = call(hub, &name, arguments).await;
        println!("{scenario}: {name} {ended:?}");
    }
    Ok(())
}

/// Waits until the hub has connected and listed. A server without a single tool is given a while to list one.
async fn found(hub: &Arc<Hub>, scenario: &str) -> Result<(), Failure> {
    let peer = PeerId::from(PEER);
    let holds = async |what: fn(&Card) -> bool| {
        while !hub.registry().catalogue().peers.get(&peer).is_some_and(|known| what(&known.card)) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let up = tokio::time::timeout(PATIENCE, holds(|card| card.health == Health::Up));
    up.await.map_err(|_| "the server was not reached in time")?;
    // It may be reached and want to know who calls.
    let patience = if scenario.starts_with("auth/") { PATIENCE } else { LISTING };
    let _none = tokio::time::timeout(patience, holds(|card| !card.skills.is_empty())).await;
    Ok(())
}

/// What the scenario names, else every tool once.
fn calls(hub: &Arc<Hub>, scenario: &str, context: &Value) -> Vec<(String, Value)> {
    if scenario == "json-schema-2020-12-preservation" {
        // What was listed goes back to the server, which looks whether anything is missing.
        let catalogue = hub.registry().catalogue();
        let listed = catalogue.skill(&SkillId::new(PEER, "json_schema_2020_12_tool"), None);
        let schema = listed.map_or(Value::Null, |skill| schema(&skill.input));
        return vec![("json_schema_echo".to_owned(), json!({ "schema": schema }))];
    }
    if let Some(named) = context["toolCalls"].as_array() {
        let name = |call: &Value| call["name"].as_str().unwrap_or_default().to_owned();
        return named.iter().map(|call| (name(call), without_nulls(&call["arguments"]))).collect();
    }
    let catalogue = hub.registry().catalogue();
    let tools = catalogue.newest().filter(|skill| skill.id.peer.as_str() == PEER && skill.kind == SkillKind::Tool);
    tools.map(|skill| (skill.id.skill.to_string(), arguments(skill))).collect()
}

/// An argument that is null is one that is left out: a schema that names its type would refuse it.
fn without_nulls(arguments: &Value) -> Value {
    let given = arguments.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    Value::Object(given.map(|(name, value)| (name.clone(), value.clone())).collect())
}

/// Something of the right type for every required argument.
fn arguments(skill: &Skill) -> Value {
    filled(&schema(&skill.input))
}

fn schema(schema: &Schema) -> Value {
    serde_json::from_str(schema.0.as_str()).unwrap_or_default()
}

/// An object that fits: defaults where there are some, otherwise the first thing that comes to mind.
fn filled(schema: &Value) -> Value {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let fields = schema["properties"].as_object().into_iter().flatten();
    let chosen = fields.filter_map(|(name, field)| {
        let value = match (field.get("default"), field["type"].as_str()) {
            (Some(default), _) => default.clone(),
            (None, _) if !required.contains(&name.as_str()) => return None,
            (None, Some("integer" | "number")) => json!(5),
            (None, Some("boolean")) => json!(true),
            (None, Some("array")) => json!([]),
            (None, Some("object")) => json!({}),
            (None, _) => field["enum"].get(0).cloned().unwrap_or_else(|| json!("text")),
        };
        Some((name.clone(), value))
    });
    Value::Object(chosen.collect::<Map<String, Value>>())
}

/// One call to its end. Whether it ends well is the scenario's to judge.
async fn call(hub: &Arc<Hub>, name: &str, arguments: Value) -> Result<Value, Failure> {
    let target = Target::Skill(SkillId::new(PEER, name), None);
    let ask = Ask::Invoke { target, input: Input::args(arguments.into()) };
    let mut call = Call::new(format!("client-{name}"), interlingua_model::Origin::program(), ask);
    call.caller.can_answer = KindSet::INPUT.with(KindSet::VISIT).with(KindSet::MODEL).with(KindSet::ROOTS);
    let by = Principal::hub_owner(Proof::InProcess);
    let request = Request { by: by.clone(), connection: 0, call: Box::new(call) };
    let mut running = hub.open(request).await?;
    let mut transcript = Transcript::default();
    for _ in 0..ROUNDS {
        match running.settle(&mut transcript).await? {
            Settled::Finished(finished) => return Ok(json!(format!("{:?}", finished.outcome))),
            Settled::Asked(question) => hub.answer(by.clone(), question.id, answer(&question)).await?,
        }
    }
    Err("it was asked again and again".into())
}

fn answer(question: &Question) -> Answer {
    match &question.kind {
        QuestionKind::Input { form, .. } => Answer::Given(Input::args(filled(&schema(form)).into())),
        QuestionKind::Confirm(_) => Answer::Granted,
        QuestionKind::Visit { .. } => Answer::Visited,
        QuestionKind::Roots => Answer::Given(Input::args(json!({ "roots": [] }).into())),
        QuestionKind::Credential { .. } | QuestionKind::Model(_) | QuestionKind::Tool { .. } => Answer::Declined,
    }
}
