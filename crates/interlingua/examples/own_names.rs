//! Your own spelling of tool names, for callers of the routing envelope that already have one: a translator matches names, spells a skill,
//! and declares for which skills it is used.
//!
//! `cargo run -p interlingua --example own_names`

#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use std::sync::Arc;

use interlingua::config::{Overrides, without_file};
use interlingua::server::run::Server;
use interlingua_envelope::Plug;
use interlingua_envelope::translators::{Spellings, Translator};
use interlingua_model::SkillId;
use interlingua_testkit::{Connection, post};
use serde_json::json;

/// `house:echo` is `hub/echo`.
fn house() -> Plug {
    let spell = |skill: &SkillId| Spellings { own: vec![format!("house:{}", skill.skill)], short: Vec::new() };
    Plug {
        translator: Translator::new("house", |name| name.starts_with("house:"), spell),
        claims: Arc::new(|skill| skill.id.peer.as_str() == "hub"),
    }
}

/// A message of the envelope with one call.
fn asking() -> serde_json::Value {
    json!({
        "format": {"content_type": "application/json", "encoding": "utf-8", "schema_version": "1.0", "compression": null},
        "control": {"message_type": "request", "message_id": "own-names-1", "correlation_id": null,
            "timestamp": "2026-01-01T00:00:00.000000Z", "priority": 0, "timeout": null, "retry_count": 0},
        "token": {"session_id": null, "context_token": null, "state_token": null, "conversation_turn": 0},
        "content": {}, "tool_results": null, "metadata": {},
        "tool_calls": [{"tool_id": "t1", "tool_name": "house:echo", "parameters": {"text": "hello"},
            "require_confirmation": false}],
    })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = std::env::temp_dir().join(format!("interlingua-own-names-{}", std::process::id()));
    let overrides =
        Overrides { listen: Some("127.0.0.1:0".parse()?), data: Some(data.clone()), ..Overrides::default() };
    let server = Server::start(&without_file(&overrides).map_err(|rejected| rejected.render())?.config).await?;
    assert!(server.endpoints.envelope.0.own.plug(house()), "the name of a translator is given once");

    let token = std::fs::read_to_string(data.join("token"))?;
    let mut caller = Connection::http1(server.address).await.showing(Some(token));
    let answer = caller.send(post("/nlip/route", "application/json", asking().to_string())).await.json();
    let result = &answer[0]["tool_results"][0];
    println!("house:echo says: {}", result["result"]);
    assert_eq!((&result["status"], &result["metadata"]["protocol"]), (&json!("success"), &json!("house")));
    server.stop().await;
    std::fs::remove_dir_all(data)?;
    Ok(())
}
