//! Hooks of the configuration over the wire: programs and addresses, before and after a dispatch.

use interlingua_testkit::{Hub, HubBuilder, Say, Scripted};
use serde_json::{Value, json};

/// Refuses what is called `no`, rewrites what is called `old`, breaks on `break`.
const GUARD: &str = r#"#!/bin/sh
call=$(cat)
echo "$call" >> told
case $call in
  *'"text":"no"'*) echo '{"refuse": "that word is not said here"}' ;;
  *'"text":"old"'*) echo '{"arguments": {"text": "new"}}' ;;
  *'"text":"odd"'*) echo '{"arguments": {"text": 7}}' ;;
  *'"text":"break"'*) echo "broken" >&2; exit 3 ;;
esac
"#;

fn builder() -> HubBuilder {
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("guard.sh", GUARD);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(builder.directory().join("guard.sh"), mode).expect("it can be run");
    builder
}

async fn echo(hub: &Hub, text: &str) -> (u16, Value) {
    let answer = hub.post_json("/api/exchanges", &json!({"skill": "hub/echo", "arguments": {"text": text}})).await;
    (answer.status, answer.json())
}

const BEFORE: &str = "hooks:\n  guard: { before: dispatch, command: [./guard.sh], skills: [\"hub/*\"] }\n";

#[tokio::test]
async fn r_43_a_hook_before_is_told_the_call_and_may_refuse_it_or_change_its_arguments() {
    let hub = builder().config(BEFORE).start().await;
    assert_eq!(echo(&hub, "yes").await.0, 200);
    let told = std::fs::read_to_string(hub.directory().join("told")).expect("it was told");
    let told: Value = serde_json::from_str(told.lines().next().expect("once")).expect("JSON");
    assert_eq!(
        (&told["hook"], &told["before"], &told["skill"]),
        (&json!("guard"), &json!("dispatch"), &json!("hub/echo"))
    );
    assert_eq!(
        (&told["arguments"], &told["effects"]["writes"], &told["wire"]),
        (&json!({"text": "yes"}), &json!(false), &json!("api"))
    );
    assert!(told["by"].is_string() && told["task"].is_string(), "{told}");

    let (status, refused) = echo(&hub, "no").await;
    assert_eq!(status, 403, "{refused}");
    assert!(refused.to_string().contains("the hook 'guard' refused the call: that word is not said here"), "{refused}");
    let (_, changed) = echo(&hub, "old").await;
    assert!(changed["finished"].to_string().contains("new"), "{changed}");
    let (status, broken) = echo(&hub, "break").await;
    assert_eq!(status, 503, "who cannot be asked refuses: {broken}");
    assert!(!broken.to_string().contains("broken"), "its own words are for the log: {broken}");
    let audit = hub.get("/api/audit").await.text();
    assert!(audit.contains("hub/echo by guard"), "{audit}");
}

#[tokio::test]
async fn r_43_what_a_person_approves_is_what_the_hook_made_of_it() {
    let erase = "name: erase\ndescription: Erases something.\ninput: { type: object, properties: { text: { type: string } } }\neffects: { destroys: true }\ncommand: [cat]\n";
    let config = "tools: { directory: ./tools }\nhooks:\n  guard: { before: dispatch, command: [./guard.sh] }\n";
    let hub = builder().file("tools/erase.yaml", erase).config(config).start().await;
    let asked = hub.post_json("/api/exchanges", &json!({"skill": "local/erase", "arguments": {"text": "old"}})).await;
    let question = &asked.json()["questions"][0];
    assert_eq!(question["confirm"]["arguments"], json!({"text": "new"}), "{}", asked.text());
    let (id, task) = (question["id"].as_str().expect("an id"), question["task"].as_str().expect("a task"));
    hub.post_json(&format!("/api/confirmations/{id}"), &json!({"approve": true})).await;
    let done = crate::support::reaches(&hub, task, "completed").await;
    assert_eq!(done["finished"]["structured"], json!({"text": "new"}));
    let odd = hub.post_json("/api/exchanges", &json!({"skill": "local/erase", "arguments": {"text": "odd"}})).await;
    assert_eq!(odd.status, 422, "what a hook makes must fit: {}", odd.text());
}

#[tokio::test]
async fn r_43_a_hook_after_is_told_the_result_and_may_withhold_it() {
    let scripted = Scripted::http(|heard, _| {
        let told = heard.json();
        match told["result"]["text"].as_str().or(told["answer"].as_str()) {
            Some("secret") => Say::Json(json!({"refuse": "it was a secret"})),
            Some("break") => Say::Status(500, Vec::new(), json!({})),
            _ => Say::Json(json!({})),
        }
    })
    .await;
    let yaml = format!("hooks:\n  ledger: {{ after: dispatch, url: \"http://{}/called\" }}\n", scripted.address());
    let mut hub = builder().config(&yaml).start().await;
    let (_, whole) = echo(&hub, "open").await;
    assert_eq!(whole["state"], "completed", "{whole}");
    let (_, withheld) = echo(&hub, "secret").await;
    assert_eq!(withheld["state"], "failed", "{withheld}");
    assert!(withheld.to_string().contains("the hook 'ledger' refused the result: it was a secret"), "{withheld}");
    let (_, passed) = echo(&hub, "break").await;
    assert_eq!(passed["state"], "completed", "who only listens is not waited for: {passed}");
    let heard = scripted.heard();
    assert_eq!((heard.len(), &heard[0].json()["outcome"], heard[0].path.as_str()), (3, &json!("completed"), "/called"));

    // The same calls by another wire are the same calls.
    let told = json!({"format": "text", "subformat": "english", "content": "echo secret"});
    let answer = hub.post_json("/nlip", &told).await;
    assert!(answer.text().contains("refused the result"), "{}", answer.text());

    // And without it, after a reload, nobody is asked.
    hub.write("interlingua.yaml", "hooks: {}\n");
    hub.reload();
    crate::support::until("the hook is gone", async || echo(&hub, "secret").await.1["state"] == "completed").await;
}

#[tokio::test]
async fn a_hook_that_cannot_be_is_told_with_its_place() {
    let (_, said) = builder().config("hooks:\n  a: { before: dispatch, command: [./nothing] }\n  b: { before: dispatch, after: dispatch, url: \"http://127.0.0.1:1\" }\n").refused().await;
    assert!(said.contains("hooks.b: a hook needs one of `before`, `after` and `on`"), "{said}");
    let (_, said) = builder().config("hooks:\n  a: { before: dispatch, command: [./nothing] }\n").refused().await;
    assert!(said.contains("hooks.a.command: there is no file `nothing`"), "{said}");
}
