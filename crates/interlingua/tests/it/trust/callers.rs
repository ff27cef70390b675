//! The command that creates and revokes tokens.

use std::process::Command;

use http::Method;
use interlingua_testkit::Hub;
use serde_json::{Value, json};

use super::program;
use crate::support::{builder, send, until};

pub(super) fn token(folder: &std::path::Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(program()).current_dir(folder).arg("token").args(arguments).output().expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim().to_owned();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

pub(super) const CONFIG: &str =
    "tools: { directory: ./tools }\naccess: { tokens: file:./tokens.yaml, anonymous: refused }\n";

async fn hub() -> Hub {
    builder().file("tokens.yaml", "# callers\n").config(CONFIG).start().await
}

pub(super) async fn status(hub: &Hub, token: &str, path: &str) -> u16 {
    send(hub, Method::GET, path, &[("authorization", &format!("Bearer {token}"))], None).await.status
}

#[tokio::test]
async fn a_token_is_made_listed_and_revoked_while_the_hub_runs() {
    let hub = hub().await;
    let folder = hub.directory();
    let (code, made, said) =
        token(folder, &["create", "ann", "-c", "interlingua.yaml", "--expires", "1h", "--skill", "hub/*"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(made.starts_with("ilg_") && made.len() == 68, "{made}");
    let kept = std::fs::read_to_string(folder.join("tokens.yaml")).expect("the list");
    assert!(kept.starts_with("# callers\n") && !kept.contains(&made), "only its digest is kept: {kept}");
    until("the token to count", async || status(&hub, &made, "/api/skills").await == 200).await;

    let (code, _, said) = token(folder, &["create", "ann", "-c", "interlingua.yaml"]);
    assert_eq!(code, Some(2), "{said}");
    let (_, listed, _) = token(folder, &["list", "-c", "interlingua.yaml", "--json"]);
    let listed: Value = serde_json::from_str(&listed).expect("JSON");
    assert_eq!((&listed["items"][0]["name"], &listed["items"][0]["skills"]), (&json!("ann"), &json!(["hub/*"])));

    assert_eq!(token(folder, &["revoke", "ann", "-c", "interlingua.yaml"]).0, Some(0));
    until("the token to be refused", async || status(&hub, &made, "/api/skills").await == 401).await;
    assert_eq!(token(folder, &["revoke", "ann", "-c", "interlingua.yaml"]).0, Some(2), "there is none any more");
    let kept = std::fs::read_to_string(folder.join("tokens.yaml")).expect("the list");
    assert_eq!(kept, "# callers\n");
}
