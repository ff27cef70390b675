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

/// What the example of a converter needs: a tool that says what it was given.
const OVEN: &str = "name: oven\ndescription: Heats the oven.\ninput: { type: object, properties: { degrees: { type: integer } } }\n\
    output: { type: object, properties: { degrees: { type: integer } }, required: [degrees] }\neffects: { reads: true }\ncommand: [cat]\n";

#[tokio::test]
async fn r_43_a_program_converts_calls_and_results_in_every_protocol() {
    let example = std::fs::read(interlingua_testkit::root().join("examples/hooks/fahrenheit.py")).expect("the example");
    let yaml = "tools: { directory: ./tools }\nhooks:\n  to_celsius: { before: dispatch, command: [./fahrenheit.py], skills: [local/oven], timeout: 60s }\n  \
                to_fahrenheit: { after: dispatch, command: [./fahrenheit.py], skills: [local/oven], timeout: 60s }\n  \
                ledger: { after: dispatch, command: [./guard.sh] }\n";
    let builder = builder().file("fahrenheit.py", example).file("tools/oven.yaml", OVEN).config(yaml);
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(builder.directory().join("fahrenheit.py"), mode).expect("it can be run");
    let hub = builder.start().await;
    let call = json!({"skill": "local/oven", "arguments": {"degrees": 350}});
    let answer = hub.post_json("/api/exchanges", &call).await.json();
    assert_eq!(answer["finished"]["structured"], json!({"degrees": 351}), "{answer}");
    let told = std::fs::read_to_string(hub.directory().join("told")).expect("the next hook was told");
    assert!(told.contains("\"arguments\":{\"degrees\":177}"), "the tool was given Celsius: {told}");
    assert!(told.contains("\"degrees\":351"), "and what comes after a converter is told what it made: {told}");
    let routed = json!({
        "control": {"message_type": "request", "message_id": "m1"},
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "oven", "arguments": "{\"degrees\": 350}"}}],
    });
    let response = hub.post_json("/nlip/route", &routed).await.json()[0].clone();
    assert_eq!(response["tool_results"][0]["result"], json!({"degrees": 351}), "{response}");
}

#[tokio::test]
async fn attack_a_converter_that_breaks_a_promise_or_talks_nonsense_gives_no_result() {
    let scripted = Scripted::http(|heard, _| match heard.json()["arguments"]["degrees"].as_i64() {
        Some(1) => Say::Json(json!({"result": {"degrees": "hot"}})),
        Some(2) => Say::Json(json!({"result": {}, "refuse": "and that"})),
        Some(3) => Say::Json(json!({"result": {"degrees": 3, "fill": "x".repeat(100)}})),
        _ => Say::Json(json!({})),
    })
    .await;
    let yaml = format!(
        "tools: {{ directory: ./tools }}\nhooks:\n  made: {{ after: dispatch, url: \"http://{}/made\", on_failure: refuse }}\n",
        scripted.address()
    );
    let hub = builder().file("tools/oven.yaml", OVEN).config(&yaml).start().await;
    let heat = async |degrees: i64| {
        let call = json!({"skill": "local/oven", "arguments": {"degrees": degrees}});
        hub.post_json("/api/exchanges", &call).await.json()["finished"].clone()
    };
    for (degrees, kind) in [(1, "bad_reply"), (2, "unreachable")] {
        let finished = heat(degrees).await;
        assert_eq!((&finished["outcome"], &finished["fault"]["kind"]), (&json!("failed"), &json!(kind)), "{finished}");
        assert_eq!(finished["structured"], Value::Null, "{finished}");
    }
    assert_eq!(heat(3).await["structured"]["degrees"], 3);
    assert_eq!(heat(4).await["structured"], json!({"degrees": 4}), "unchanged");
}

#[tokio::test]
async fn r_43_a_program_is_informed_of_notifications_and_decides_nothing() {
    let note = |id: &str, session: Option<&str>, content: Value| json!({"control": {"message_type": "notification", "message_id": id}, "token": {"session_id": session}, "content": content});
    let hub = builder().config("hooks:\n  inbox: { on: notification, command: [./guard.sh] }\n").start().await;
    // Without a session a notification has no effect, and one that a hook answers with a refusal is stored all the same.
    assert_eq!(hub.post_json("/nlip/route", &note("n0", None, json!({"text": "nobody"}))).await.status, 202);
    for (id, text) in [("n1", "moved"), ("n2", "no"), ("n3", "break")] {
        assert_eq!(hub.post_json("/nlip/route", &note(id, Some("s1"), json!({ "text": text }))).await.status, 202);
    }
    let told = || std::fs::read_to_string(hub.directory().join("told")).unwrap_or_default();
    crate::support::until("it was told three times", async || told().lines().count() == 3).await;
    let lines = told();
    let first = lines.lines().find(|line| line.contains("moved")).expect("the first");
    let first: Value = serde_json::from_str(first).expect("JSON");
    assert_eq!(
        (&first["hook"], &first["on"], &first["wire"]),
        (&json!("inbox"), &json!("notification"), &json!("envelope"))
    );
    assert_eq!((&first["session"], &first["message"]), (&json!("s1"), &json!("n1")));
    assert_eq!(first["content"], json!({"text": "moved"}));
    assert!(first["by"].is_string() && !lines.contains("nobody"), "{lines}");
    let stored = hub.get("/api/sessions/s1").await.json();
    assert_eq!(stored["notifications"].as_array().map(Vec::len), Some(3), "{stored}");
    crate::support::logged(&hub, &["hook_failed", "inbox"]).await;
    let (_, said) = builder()
        .config("hooks:\n  a: { on: notification, command: [./guard.sh], skills: [\"hub/*\"] }\n")
        .refused()
        .await;
    assert!(said.contains("a notification has none"), "{said}");
}
