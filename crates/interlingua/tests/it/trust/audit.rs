//! The audit log: a hash chain that detects changes, also through a restart and `kill -9`, with redacted lines, and under manipulation.

use std::path::Path;
use std::process::Command;

use interlingua_testkit::Hub;
use serde_json::{Value, json};

use super::program;
use crate::support::{builder, send, until};

pub(crate) fn audit(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(program())
        .current_dir(folder)
        .env_remove("INTERLINGUA_HUB")
        .env_remove("INTERLINGUA_TOKEN")
        .env_remove("INTERLINGUA_DATA")
        .arg("audit")
        .args(arguments)
        .args(["--data", "data"])
        .output()
        .expect("the program runs");
    (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

const CALLERS: &str =
    "access: { tokens: [{ name: ann, token: ann-token, approve: true }, { name: bob, token: bob-token }] }\n";

pub(super) async fn hub(more: &str) -> Hub {
    builder().config(&format!("{CALLERS}tools: {{ directory: ./tools }}\n{more}")).start().await
}

async fn call(hub: &Hub, who: &str, body: Value) -> interlingua_testkit::Answer {
    let bearer = format!("Bearer {who}-token");
    send(hub, http::Method::POST, "/api/exchanges", &[("authorization", &bearer)], Some(body)).await
}

pub(super) async fn echo(hub: &Hub, who: &str) {
    let answer = call(hub, who, json!({"skill": "hub/echo", "arguments": {"text": "x"}})).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

/// What `interlingua audit verify` says of a chain that holds.
pub(crate) fn verified(hub: &Hub) -> Value {
    let (code, said) = audit(hub.directory(), &["verify", "--json"]);
    assert_eq!(code, Some(0), "{said}");
    serde_json::from_str(&said).expect("JSON")
}

/// Lines of the audit about one skill, oldest first: what happened, and how it went.
async fn story(hub: &Hub, skill: &str) -> Vec<(String, String)> {
    let page = hub.get("/api/audit?limit=200").await.json();
    let lines = page["items"].as_array().expect("a list").iter().filter(|line| line["on"] == skill);
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let mut story: Vec<_> = lines.map(|line| (text(&line["action"]), text(&line["outcome"]))).collect();
    story.reverse();
    story
}

#[tokio::test]
async fn the_chain_holds_through_a_restart_and_with_a_caller_forgotten() {
    let mut hub = hub("").await;
    for who in ["ann", "bob", "ann"] {
        echo(&hub, who).await;
    }
    let before = verified(&hub);
    assert!(before["lines"].as_u64() >= Some(3) && before["checkpoints"].as_u64() >= Some(1), "{before}");
    hub.restart().await;
    echo(&hub, "bob").await;
    let after = verified(&hub);
    assert!(after["records"].as_u64() > before["records"].as_u64(), "{after}");
    assert_eq!(after["keys"], before["keys"], "the key outlives a restart");

    let (code, said) = audit(hub.directory(), &["forget", "user:ann", "--json"]);
    assert_eq!(code, Some(0), "{said}");
    let told: Value = serde_json::from_str(&said).expect("JSON");
    assert!(told["forgotten"].as_u64() >= Some(4), "{told}");
    assert_eq!(verified(&hub)["forgotten"], told["forgotten"]);
    let known = before["checkpoint"].as_str().expect("a checkpoint");
    let (code, said) = audit(hub.directory(), &["verify", "--checkpoint", known]);
    assert_eq!(code, Some(0), "what was known before is still so: {said}");
    let page = hub.get("/api/audit?limit=200").await.text();
    assert!(!page.contains("user:ann") && page.contains("user:bob"), "{page}");
    let (_, exported) = audit(hub.directory(), &["export"]);
    assert!(!exported.contains("user:ann") && exported.contains("user:bob"));
}

#[tokio::test]
async fn the_chain_holds_after_every_kill() {
    let mut hub = hub("").await;
    let mut known: Option<String> = None;
    for _ in 0..3 {
        echo(&hub, "ann").await;
        let expected = known.as_deref().map_or_else(Vec::new, |known| vec!["--checkpoint", known]);
        let arguments: Vec<&str> = ["verify", "--json"].into_iter().chain(expected).collect();
        let (code, said) = audit(hub.directory(), &arguments);
        assert_eq!(code, Some(0), "{said}");
        let told: Value = serde_json::from_str(&said).expect("JSON");
        known = told["checkpoint"].as_str().map(str::to_owned);
        assert!(known.is_some());
        echo(&hub, "bob").await;
        hub.kill_9();
        hub.restart().await;
    }
}

/// What somebody may do to an exported file, and how that is told.
fn tampered(lines: &[&str]) -> Vec<(&'static str, Vec<String>, &'static str)> {
    let own = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    let at = lines.iter().position(|line| line.contains("user:ann")).expect("a line of hers");
    let signed = lines.iter().rposition(|line| line.contains("\"signed\"")).expect("a checkpoint");
    let mut changed = own(lines);
    changed[at] = changed[at].replace("user:ann", "user:eve");
    let mut removed = own(lines);
    removed.remove(at);
    let mut swapped = own(lines);
    swapped.swap(at, at + 1);
    let mut first = own(lines);
    let digit = |c: char| if c == '0' { '1' } else { '0' };
    let place = first[0].find("\"signature\":\"").expect("a signature") + "\"signature\":\"".len();
    let flipped = digit(first[0][place..].chars().next().expect("a digit"));
    first[0].replace_range(place..=place, &flipped.to_string());
    let mut within = own(lines);
    let place = within[signed].find("\"signature\":\"").expect("a signature") + "\"signature\":\"".len();
    let flipped = digit(within[signed][place..].chars().next().expect("a digit"));
    within[signed].replace_range(place..=place, &flipped.to_string());
    vec![
        ("a line is changed", changed, "was changed"),
        ("a record is removed", removed, "is missing"),
        ("two records are swapped", swapped, "is missing"),
        ("the end is cut off", own(&lines[..at + 1]), "the end was cut off"),
        ("the checkpoint is forged", first, "the newest checkpoint is not good"),
        ("a checkpoint within is forged", within, "was changed"),
        ("it is no longer lines of JSON", own(&["{}", "{\"record\": 1"]), "is no record"),
    ]
}

#[tokio::test]
async fn whatever_is_done_to_an_exported_file_is_found_and_named() {
    let hub = hub("").await;
    echo(&hub, "bob").await;
    // So that hers stand in a record of their own, between others.
    verified(&hub);
    echo(&hub, "ann").await;
    verified(&hub);
    echo(&hub, "bob").await;
    let folder = hub.directory();
    let (code, exported) = audit(folder, &["export"]);
    assert_eq!(code, Some(0), "{exported}");
    let check = |text: &str| {
        hub.write("audit.jsonl", text);
        audit(folder, &["verify", "audit.jsonl"])
    };
    let (code, said) = check(&exported);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with("the chain holds") && said.contains("signed up to record"), "{said}");
    let lines: Vec<&str> = exported.lines().collect();
    for (how, lines, told) in tampered(&lines) {
        let (code, said) = check(&lines.join("\n"));
        assert!(code == Some(1) && said.contains(told), "{how}: {code:?} {said}");
    }
    check(&exported);
    let (code, said) = audit(folder, &["verify", "audit.jsonl", "--key", &"0".repeat(64)]);
    assert!(code == Some(1) && said.contains("another key"), "{said}");
    let other = format!("2:{}", "0".repeat(64));
    let (code, said) = audit(folder, &["verify", "audit.jsonl", "--checkpoint", &other]);
    assert!(code == Some(1) && said.contains("record 2 is not the one that a checkpoint speaks of"), "{said}");
    let (code, _) = audit(folder, &["verify", "audit.jsonl", "--checkpoint", "no"]);
    assert_eq!(code, Some(2));
}

#[tokio::test]
async fn a_chain_goes_on_across_files() {
    let hub = hub("").await;
    echo(&hub, "ann").await;
    let (_, first) = audit(hub.directory(), &["export"]);
    let last: Value = serde_json::from_str(first.lines().last().expect("a record")).expect("JSON");
    let last = last["record"].as_u64().expect("its number").to_string();
    echo(&hub, "bob").await;
    let (_, second) = audit(hub.directory(), &["export", "--after", &last]);
    hub.write("1.jsonl", &first);
    hub.write("2.jsonl", &second);
    let (code, said) = audit(hub.directory(), &["verify", "1.jsonl", "2.jsonl"]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = audit(hub.directory(), &["verify", "2.jsonl", "1.jsonl"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(!second.contains("user:ann") && second.contains("user:bob"));
}

#[tokio::test]
async fn a_call_is_proposed_approved_executed_and_returned_in_the_audit() {
    let rules = "audit: { arguments: [{ skills: ['local/erase'], keep: full }, { skills: ['*'], keep: redacted }] }\n";
    let hub = hub(rules).await;
    let arguments = json!({"what": "everything", "password": "hunter2"});
    hub.post_json("/api/exchanges", &json!({"skill": "local/erase", "arguments": arguments})).await;
    let confirmations = hub.get("/api/confirmations").await.json();
    let asked = confirmations["items"][0]["id"].as_str().expect("it waits").to_owned();
    let granted = hub.post_json(&format!("/api/confirmations/{asked}"), &json!({"approve": true})).await;
    assert_eq!(granted.status, 200, "{}", granted.text());
    until("it returned", async || story(&hub, "local/erase").await.iter().any(|(what, _)| what == "return")).await;
    let told = story(&hub, "local/erase").await;
    let said: Vec<String> = told.iter().map(|(what, how)| format!("{what} {how}")).collect();
    assert_eq!(
        said,
        [
            "authorize allowed",
            "confirm asked",
            "confirm granted",
            "authorize allowed",
            "dispatch sent",
            "return completed"
        ]
    );
    let page = hub.get("/api/audit?limit=200").await.text();
    assert!(page.contains("everything") && page.contains("[secret]") && !page.contains("hunter2"), "{page}");
    echo(&hub, "bob").await;
    let page = hub.get("/api/audit?limit=200").await.text();
    assert!(page.contains("[text of 1]"), "{page}");
    let failed = call(&hub, "ann", json!({"skill": "local/fails", "arguments": {}})).await;
    assert!(!failed.text().is_empty());
    let told = story(&hub, "local/fails").await;
    assert_eq!(told.last().map(|(what, how)| (what.as_str(), how.as_str())), Some(("return", "peer_failed")));
}

/// Equal refusals are counted, and what was counted is told later: the line of it stands where it is written.
#[tokio::test]
async fn lines_are_in_the_order_of_their_times_whoever_was_refused_how_often() {
    let hub = hub("").await;
    for name in ["nobody/one", "nobody/two", "nobody/three"] {
        for _ in 0..3 {
            call(&hub, "bob", json!({"skill": name, "arguments": {}})).await;
        }
    }
    for _ in 0..5 {
        echo(&hub, "ann").await;
    }
    let (code, shown) = audit(hub.directory(), &["show", "--json"]);
    assert_eq!(code, Some(0), "{shown}");
    let page: Value = serde_json::from_str(&shown).expect("JSON");
    let items = page["items"].as_array().expect("a list");
    assert!(items.iter().any(|line| line["times"] == 2), "{shown}");
    let times: Vec<&str> = items.iter().filter_map(|line| line["at"].as_str()).collect();
    assert!(times.len() > 10 && times.is_sorted_by(|newer, older| newer >= older), "{times:#?}");
}

#[tokio::test]
async fn a_name_somebody_chose_makes_no_line() {
    let hub = hub("").await;
    let name = "x\r\n{\"record\":99}\n\u{1b}[2J/y\u{2028}z";
    let refused = call(&hub, "bob", json!({"skill": name, "arguments": {}})).await;
    assert!((400..500).contains(&refused.status), "{}", refused.text());
    let (code, exported) = audit(hub.directory(), &["export"]);
    assert_eq!(code, Some(0));
    assert!(exported.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()));
    assert!(!exported.replace('\n', "").chars().any(char::is_control));
    let (_, shown) = audit(hub.directory(), &["show"]);
    assert!(!shown.replace('\n', "").chars().any(char::is_control), "{shown:?}");
    let lines = hub.get("/api/audit?limit=200").await.json()["items"].as_array().expect("a list").len();
    assert_eq!(shown.lines().count(), lines + 1, "a line each, and the head: {shown}");
    verified(&hub);
}

#[tokio::test]
async fn the_audit_is_for_the_owner_alone() {
    let hub = hub("").await;
    for (method, path, body) in [
        (http::Method::GET, "/api/audit/pages", None),
        (http::Method::POST, "/api/audit/forget", Some(json!({"who": "user:bob"}))),
    ] {
        for bearer in ["Bearer ann-token", "Bearer bob-token"] {
            let answer = send(&hub, method.clone(), path, &[("authorization", bearer)], body.clone()).await;
            assert_eq!(answer.status, 403, "{path}");
        }
    }
}
