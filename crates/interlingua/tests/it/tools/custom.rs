//! Custom tools: they are added and removed while the hub runs, and an error of a program ends its call and nothing else.

use serde_json::json;

use super::{Talk, builder, fault, hub_with_tool, install, install_example, labelled, seen, until};
use crate::support::logged;

const READS: &str = "effects: { reads: true, idempotent: true }";

#[tokio::test]
async fn a_tool_is_called_by_name_and_its_arguments_are_checked() {
    let builder = builder();
    install_example(builder.directory(), "word_count");
    let hub = builder.start().await;
    let mut talk = Talk::with(&hub);
    let counted = talk.call("local/word_count", json!({"text": "to be or not to be"})).await;
    assert!(counted.to_string().contains('6'), "{counted}");
    assert_eq!(labelled(&counted, "interlingua-route").unwrap_or_default()["skill"], "local/word_count");
    let refused = talk.call("local/word_count", json!({"text": 6})).await;
    assert_eq!(fault(&refused), "invalid_input", "{refused}");
}

#[tokio::test]
async fn tools_appear_change_and_disappear_while_the_hub_runs() {
    let hub = builder().start().await;
    let say = async || Talk::with(&hub).call("local/t", json!({})).await.to_string();
    assert!(say().await.contains("no skill 'local/t'"), "{}", say().await);
    install(hub.directory(), "t", "echo '\"first\"'", READS);
    until("the tool appears", async || say().await.contains("first")).await;
    install(hub.directory(), "t", "echo '\"second\"'", READS);
    until("the tool changes", async || say().await.contains("second")).await;
    std::fs::remove_dir_all(hub.directory().join("tools/t")).unwrap();
    until("the tool disappears", async || say().await.contains("no skill 'local/t'")).await;
}

#[tokio::test]
async fn a_manifest_with_a_mistake_is_told_to_the_owner_and_leaves_the_others_alone() {
    let builder = builder();
    install(builder.directory(), "read_file", "echo 1", READS);
    install(builder.directory(), "good", "echo '\"good\"'", READS);
    let hub = builder.file("tools/bad.yaml", "name: bad\nnonsense: true\n").start().await;
    let reply = Talk::with(&hub).call("local/good", json!({})).await;
    assert!(reply.to_string().contains("good"), "{reply}");
    let peers = seen(&hub, "/api/peers").await;
    let local = peers["items"].as_array().and_then(|peers| peers.iter().find(|peer| peer["name"] == "local"));
    let problems = local.unwrap_or_else(|| panic!("no local: {peers}"))["problems"].to_string();
    assert!(problems.contains("bad.yaml") && problems.contains("description"), "{problems}");
    assert!(problems.contains("is the name of a built-in tool"), "{problems}");
    logged(&hub, &["bad.yaml"]).await;
}

#[tokio::test]
async fn a_crash_is_a_failure_of_that_call() {
    let hub = hub_with_tool("echo '{\"error\": \"no ink\"}'; exit 3", READS).await;
    let mut talk = Talk::with(&hub);
    let reply = talk.call("local/t", json!({})).await;
    assert_eq!(fault(&reply), "peer_failed", "{reply}");
    assert!(reply["content"].as_str().is_some_and(|text| text.contains("no ink")), "{reply}");
    assert_eq!(hub.get("/readyz").await.status, 200);
}

#[tokio::test]
async fn a_hang_ends_when_its_time_is_up() {
    let hub = hub_with_tool("sleep 600", &format!("{READS}\ntimeout: 300ms")).await;
    let reply = Talk::with(&hub).call("local/t", json!({})).await;
    assert_eq!(fault(&reply), "deadline", "{reply}");
}

#[tokio::test]
async fn a_flood_ends_at_its_bound() {
    let hub = hub_with_tool("exec yes flood", &format!("{READS}\nstdout: 64KiB")).await;
    let reply = Talk::with(&hub).call("local/t", json!({})).await;
    assert!(["too_large", "bad_reply", "peer_failed"].contains(&&*fault(&reply)), "{reply}");
    assert!(reply.to_string().len() < 64 * 1024, "the flood is not passed on");
}

#[tokio::test]
async fn what_is_not_json_is_a_bad_reply() {
    let hub = hub_with_tool("echo 'certainly!'", READS).await;
    let reply = Talk::with(&hub).call("local/t", json!({})).await;
    assert_eq!(fault(&reply), "bad_reply", "{reply}");
}

#[tokio::test]
async fn a_result_that_breaks_the_promise_is_a_bad_reply_that_names_the_place() {
    let promise = "output: { type: object, properties: { price: { type: number } }, required: [price] }";
    let hub = hub_with_tool("echo '{\"price\": \"hidden\"}'", &format!("{READS}\n{promise}")).await;
    let reply = Talk::with(&hub).call("local/t", json!({})).await;
    assert_eq!(fault(&reply), "bad_reply", "{reply}");
    let text = reply["content"].as_str().unwrap_or_default();
    assert!(text.contains("/price") && !text.contains("hidden"), "{reply}");
}

#[tokio::test]
async fn a_caller_that_leaves_ends_the_program() {
    let hub = hub_with_tool("echo $$ > started; exec sleep 600", READS).await;
    let started = hub.directory().join("tools/t/started");
    let mut connection = hub.connect().await;
    let message = super::call("local/t", &json!({})).to_string();
    let waiting = connection.send(interlingua_testkit::post("/nlip", "application/json", message));
    let begun = async || std::fs::read_to_string(&started).is_ok_and(|id| !id.is_empty());
    tokio::select! {
        answer = waiting => panic!("answered too early: {}", answer.text()),
        () = until("the program starts", begun) => {}
    }
    drop(connection);
    let id = std::fs::read_to_string(&started).unwrap();
    let process = std::path::Path::new("/proc").join(id.trim());
    until("the program ends", async || !process.exists()).await;
}
