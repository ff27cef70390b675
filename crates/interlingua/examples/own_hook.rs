//! A hook of your own: your program is asked before each call, in Rust instead of by a process or an address.
//!
//! `cargo run -p interlingua --example own_hook`
//!
//! Hooks of the configuration stay active beside it. A reload of the configuration replaces all of them: add yours again after it.

#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use std::sync::Arc;
use std::time::Duration;

use interlingua::config::{Overrides, without_file};
use interlingua::server::run::Server;
use interlingua_hub::hooks::{Attached, Hook, HookCall, Hooks, OnFailure, PendingVerdict, Verdict, When};
use interlingua_hub::{Hub, Settled};
use interlingua_model::{
    Ask, Call, Fault, Input, Origin, Part, Principal, Proof, Request, SkillId, Target, Transcript,
};

/// Lets no digit out, and no text that is marked as confidential.
struct Discreet;

impl Hook for Discreet {
    fn ask(&self, told: HookCall) -> PendingVerdict<'_> {
        Box::pin(async move {
            let args = told.arguments.as_ref();
            let Some(text) = args.and_then(|args| args.get("text")?.as_str()) else { return Ok(Verdict::Pass) };
            if text.contains("CONFIDENTIAL") {
                return Ok(Verdict::Refuse("it is marked as confidential".into()));
            }
            let masked: String = text.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect();
            // Other arguments must fit the skill's schema; the hub checks them again.
            Ok(Verdict::Arguments(serde_json::json!({ "text": masked }).into()))
        })
    }
}

/// Adds the hook behind those that are there.
fn attach(hub: &Hub) {
    let discreet = Arc::new(Attached {
        name: "discreet".into(),
        when: When::Before,
        skills: vec!["hub/echo".to_owned()],
        timeout: Duration::from_secs(1),
        on_failure: OnFailure::Refuse,
        hook: Arc::new(Discreet),
    });
    hub.hooks().rcu(|hooks| Hooks(hooks.0.iter().cloned().chain([discreet.clone()]).collect()));
}

async fn echo(hub: &Arc<Hub>, text: &str) -> Result<String, Fault> {
    let target = Target::Skill(SkillId::new("hub", "echo"), None);
    let input = Input::args(serde_json::json!({ "text": text }).into());
    let call = Call::new(interlingua_hub::entropy::message_id(), Origin::program(), Ask::Invoke { target, input });
    let by = Principal::hub_owner(Proof::InProcess);
    let mut running = hub.open(Request { by, connection: 0, call: Box::new(call) }).await?;
    match running.settle(&mut Transcript::default()).await? {
        Settled::Finished(finished) => Ok(finished.output.parts.iter().filter_map(Part::as_text).collect()),
        Settled::Asked(question) => Ok(question.text.to_string()),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = std::env::temp_dir().join(format!("interlingua-own-hook-{}", std::process::id()));
    let overrides =
        Overrides { listen: Some("127.0.0.1:0".parse()?), data: Some(data.clone()), ..Overrides::default() };
    let server = Server::start(&without_file(&overrides).map_err(|rejected| rejected.render())?.config).await?;
    attach(&server.hub);

    let answer = echo(&server.hub, "card 4242").await?;
    println!("hub/echo says: {answer}");
    assert_eq!(answer, "card ####");
    let refused = echo(&server.hub, "CONFIDENTIAL: 4242").await.expect_err("the hook refuses it");
    println!("the hub says:  {}", refused.public);
    assert_eq!(refused.kind, interlingua_model::FaultKind::Denied);
    server.stop().await;
    std::fs::remove_dir_all(data)?;
    Ok(())
}
