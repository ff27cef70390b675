//! The list of pending approvals: filled so that it hides something, and decided twice or too late.

use std::fs;

use futures_util::future::join_all;
use http::Method;
use interlingua_testkit::{Answer, Hub};
use serde_json::{Value, json};

use crate::support::{send, until};

const ROUNDS: usize = 40;

/// Its tool leaves a line for each time that it ran.
async fn hub(limits: &str) -> Hub {
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua"));
    let done = builder.directory().join("erase.done").display().to_string();
    let erase = format!(
        "name: erase\ndescription: Erases.\ninput: {{ type: object, properties: {{ what: {{ type: string }} }} }}\n\
         effects: {{ destroys: true }}\ncommand: [sh, -c, 'echo x >> {done}; echo \"{{}}\"']\n"
    );
    let asks = "name: asks\ndescription: Wants to know.\ninput: { type: object, properties: { what: { type: string } }, required: [what] }\n\
        effects: { reads: true }\ncommand: [sh, -c, 'echo \"{}\"']\n";
    let config = format!(
        "tools: {{ directory: ./tools }}\n{limits}access: {{ tokens: [{{ name: ann, token: token-of-ann }},\n\
         \x20 {{ name: bob, token: token-of-bob }}, {{ name: boss, token: token-of-boss, approve: true }},\n\
         \x20 {{ name: chief, token: token-of-chief, approve: true }}] }}\n"
    );
    builder.file("tools/erase.yaml", erase).file("tools/asks.yaml", asks).config(&config).start().await
}

fn erased(hub: &Hub) -> usize {
    fs::read_to_string(hub.directory().join("erase.done")).unwrap_or_default().lines().count()
}

async fn ask(hub: &Hub, who: &str, method: Method, path: &str, body: Option<Value>) -> Answer {
    let token = format!("Bearer token-of-{who}");
    send(hub, method, path, &[("authorization", &token)], body).await
}

async fn begin(hub: &Hub, who: &str) -> Answer {
    ask(hub, who, Method::POST, "/api/tasks", Some(json!({"skill": "local/erase", "arguments": {"what": "x"}}))).await
}

async fn listed(hub: &Hub, query: &str) -> Value {
    ask(hub, "boss", Method::GET, &format!("/api/confirmations{query}"), None).await.json()
}

/// The question of a task, once it is open.
async fn question(hub: &Hub, task: &str) -> String {
    let mut found = None;
    until("its question", async || {
        let task = ask(hub, "ann", Method::GET, &format!("/api/tasks/{task}"), None).await.json();
        found = task["questions"][0]["id"].as_str().map(str::to_owned);
        found.is_some()
    })
    .await;
    found.expect("just seen")
}

async fn ended(hub: &Hub, task: &str) -> Value {
    let mut last = Value::Null;
    until("its end", async || {
        last = ask(hub, "ann", Method::GET, &format!("/api/tasks/{task}"), None).await.json();
        last["finished"].is_object()
    })
    .await;
    last
}

#[tokio::test]
async fn attack_one_caller_fills_the_list_of_approvers_and_hides_anothers_call() {
    let hub = hub("limits: { waiting: 30 }\n").await;
    let begun = join_all((0..60).map(|_| begin(&hub, "ann"))).await;
    let taken = begun.iter().filter(|answer| answer.status < 300).count();
    let refused = begun.iter().filter(|answer| answer.status == 429).count();
    assert_eq!((taken, refused), (30, 30), "{:?}", begun.iter().map(Answer::text).collect::<Vec<_>>());
    // A question of another kind takes a place, too.
    let call = json!({"format": "structured", "subformat": "json", "label": "interlingua-call", "content": {"skill": "local/asks"}});
    let message = json!({"format": "text", "subformat": "english", "content": "", "submessages": [call]});
    let asks = ask(&hub, "ann", Method::POST, "/nlip", Some(message)).await;
    assert_eq!(asks.status, 429, "{}", asks.text());
    let bobs = begin(&hub, "bob").await;
    assert!(bobs.status < 300, "another has places of his own: {}", bobs.text());
    let page = listed(&hub, "?limit=2").await;
    let owners: Vec<&Value> = page["items"].as_array().expect("items").iter().map(|item| &item["owner"]).collect();
    assert!(owners.contains(&&json!("user:bob")), "he is not behind all of hers: {page}");
    // All are found, page by page, each once.
    let (mut after, mut seen) = (String::new(), Vec::new());
    loop {
        let page = listed(&hub, &format!("?limit=7{after}")).await;
        seen.extend(page["items"].as_array().expect("items").iter().map(|item| item["id"].to_string()));
        let Some(next) = page["next"].as_str() else { break };
        after = format!("&after={next}");
    }
    let distinct: std::collections::BTreeSet<&String> = seen.iter().collect();
    assert_eq!((seen.len(), distinct.len()), (31, 31));
    // What is decided makes room.
    let first = listed(&hub, "?limit=200").await["items"]
        .as_array()
        .expect("items")
        .iter()
        .find(|item| item["owner"] == "user:ann")
        .expect("one of hers")["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let denied =
        ask(&hub, "boss", Method::POST, &format!("/api/confirmations/{first}"), Some(json!({"approve": false}))).await;
    assert_eq!(denied.status, 200, "{}", denied.text());
    until("there is room for one more", async || begin(&hub, "ann").await.status < 300).await;
}

/// A restart opens no places that are taken.
#[tokio::test]
async fn attack_a_restart_makes_room_for_more_calls_that_wait() {
    let mut hub = hub("limits: { waiting: 5 }\n").await;
    for _ in 0..5 {
        assert!(begin(&hub, "ann").await.status < 300);
    }
    hub.kill_9();
    hub.restart().await;
    until("they wait again", async || listed(&hub, "").await["items"].as_array().is_some_and(|all| all.len() == 5))
        .await;
    assert_eq!(begin(&hub, "ann").await.status, 429);
}

#[tokio::test]
async fn attack_two_approvers_decide_the_opposite_at_once() {
    let hub = hub("").await;
    let mut approved = 0;
    for round in 0..ROUNDS {
        let task = begin(&hub, "ann").await.json()["id"].as_str().expect("an id").to_owned();
        let path = format!("/api/confirmations/{}", question(&hub, &task).await);
        let decide = async |who: &str, approve: bool| {
            ask(&hub, who, Method::POST, &path, Some(json!({"approve": approve}))).await
        };
        let (yes, no) = match round % 2 {
            0 => tokio::join!(decide("boss", true), decide("chief", false)),
            _ => {
                let (no, yes) = tokio::join!(decide("chief", false), decide("boss", true));
                (yes, no)
            }
        };
        let (counted, told) = if yes.status == 200 { (&yes, &no) } else { (&no, &yes) };
        assert_eq!((counted.status, told.status), (200, 409), "{} {}", yes.text(), no.text());
        assert!(told.text().contains("already decided"), "the other is told: {}", told.text());
        let end = ended(&hub, &task).await;
        approved += usize::from(yes.status == 200);
        let state = if yes.status == 200 { "completed" } else { "failed" };
        assert_eq!((&end["state"], erased(&hub)), (&json!(state), approved), "{end}");
    }
}

#[tokio::test]
async fn attack_a_call_is_approved_while_it_is_cancelled() {
    let hub = hub("").await;
    let mut most = 0;
    for round in 0..ROUNDS {
        let before = erased(&hub);
        let task = begin(&hub, "ann").await.json()["id"].as_str().expect("an id").to_owned();
        let question = format!("/api/confirmations/{}", question(&hub, &task).await);
        let place = format!("/api/tasks/{task}");
        let approve = ask(&hub, "boss", Method::POST, &question, Some(json!({"approve": true})));
        let cancel = ask(&hub, "ann", Method::DELETE, &place, None);
        let (approved, cancelled) = match round % 2 {
            0 => tokio::join!(approve, cancel),
            _ => {
                let (cancelled, approved) = tokio::join!(cancel, approve);
                (approved, cancelled)
            }
        };
        let end = ended(&hub, &task).await;
        assert!(["completed", "cancelled"].iter().any(|state| end["state"] == *state), "{end}");
        assert!(cancelled.status < 300 || cancelled.status == 409, "{}", cancelled.text());
        match approved.status {
            200 => most += 1,
            // It was cancelled first: the approver is told, and nothing runs.
            404 | 409 => assert_eq!((&end["state"], erased(&hub)), (&json!("cancelled"), before), "{end}"),
            _ => panic!("{}", approved.text()),
        }
        assert!(erased(&hub) <= most, "nothing runs that nobody approved");
    }
}

/// A message may ask how a task stands, or cancel it: its own caller's, by its id.
#[tokio::test]
async fn attack_a_message_asks_about_or_cancels_anothers_call_that_waits() {
    let hub = hub("").await;
    let task = begin(&hub, "ann").await.json()["id"].as_str().expect("an id").to_owned();
    question(&hub, &task).await;
    let say = async |who: &str, content: Value| {
        let about =
            json!({"format": "structured", "subformat": "json", "label": "interlingua-task", "content": content});
        let message = json!({"format": "text", "subformat": "english", "content": "", "submessages": [about]});
        ask(&hub, who, Method::POST, "/nlip", Some(message)).await
    };
    let nobodys = "0".repeat(task.len());
    for action in ["look", "cancel"] {
        let hers = say("bob", json!({"task": task, "action": action})).await;
        let none = say("bob", json!({"task": nobodys, "action": action})).await;
        let fault = |answer: &Answer| answer.json()["content"].clone();
        assert_eq!((hers.status, fault(&hers)), (none.status, fault(&none)), "{action}: like one that never was");
        assert_eq!(hers.status, 404, "{action}: {}", hers.text());
    }
    for bad in
        [json!({}), json!({"task": 7}), json!({"task": "x".repeat(5_000)}), json!({"task": task, "action": "approve"})]
    {
        let answer = say("ann", bad.clone()).await;
        assert!((400..500).contains(&answer.status), "{bad}: {}", answer.text());
    }
    let looked = say("ann", json!({"task": task})).await;
    assert!(looked.status == 200 && looked.text().contains("approvers"), "{}", looked.text());
    let cancelled = say("ann", json!({"task": task, "action": "cancel"})).await;
    assert_eq!(cancelled.status, 200, "{}", cancelled.text());
    assert_eq!((&ended(&hub, &task).await["state"], erased(&hub)), (&json!("cancelled"), 0));
}
