//! Power cuts under the whole program: everything that it acknowledged is there after each, every task reaches an end, and nothing is done
//! twice.

use std::collections::BTreeMap;

use interlingua_testkit::{Disk, Hub, Random};
use serde_json::{Value, json};

use crate::once::{judge, with_note};

const TASKS: usize = 12;

#[tokio::test]
async fn powercut_rounds_lose_nothing_that_was_told_and_do_nothing_twice() {
    let builder = with_note(Hub::builder(env!("CARGO_BIN_EXE_interlingua")))
        .config("limits: { rate: 100000/s }\ntools: { directory: ./tools }\n");
    let disk = Disk::below(builder.directory());
    let environment = disk.environment();
    let builder = environment
        .iter()
        .fold(builder, |builder, (name, value)| builder.environment(name, value.to_str().expect("a plain path")));
    let mut hub = builder.start().await;
    let (mut random, mut known) = (Random(20_261_115), Known::default());
    let rounds = if std::env::var_os("SOAK_SECONDS").is_some() { 60 } else { 8 };
    for round in 0..rounds {
        known.add(&hub, round).await;
        // Some are still on their way.
        let late = (0..TASKS).map(|number| start(&hub, format!("late-{round}-{number}")));
        let fatal = random.below(TASKS as u64);
        tokio::select! {
            _ = futures_util::future::join_all(late) => {}
            () = answered(&hub, fatal) => {}
        }
        hub.kill_9();
        disk.cut_power(if round % 2 == 0 { None } else { Some(&mut random) });
        hub.restart().await;
        known.check(&hub, round).await;
        // Lines that were not written yet are lost with the power; the chain of those that were holds.
        crate::trust::audit::verified(&hub);
        // Also those that were on their way are asked for under their key: the hub had them, or begins them now.
        for number in 0..TASKS {
            let key = format!("late-{round}-{number}");
            let id = start(&hub, key.clone()).await.expect("a running hub answers");
            known.tasks.insert(key, id);
        }
    }
    assert_eq!(known.tasks.len(), rounds * 2 * TASKS);
    let ends = judge(&hub, &known.tasks).await;
    let unknown = ends.unknown_and_done + ends.unknown_and_not_done;
    assert!(ends.completed > known.tasks.len() / 4 && unknown > 0, "{ends:?}");
}

/// Until so many requests were answered by somebody.
async fn answered(hub: &Hub, count: u64) {
    for _ in 0..=count {
        hub.get("/healthz").await;
    }
}

async fn start(hub: &Hub, key: String) -> Option<String> {
    let body = json!({"skill": "local/note", "arguments": {"key": key}}).to_string();
    let request = interlingua_testkit::request(http::Method::POST, "/api/tasks")
        .header("content-type", "application/json")
        .header("idempotency-key", key)
        .body(http_body_util::Full::new(body.into()))
        .expect("a request");
    let answer = hub.connect().await.try_send(request).await.ok()?;
    Some(answer.json()["id"].as_str()?.to_owned())
}

/// What the hub told.
#[derive(Default)]
struct Known {
    id: Option<Value>,
    /// By key.
    tasks: BTreeMap<String, String>,
    /// Tokens, and the turn that was answered.
    conversations: Vec<(String, u64)>,
    waiting: Vec<String>,
}

impl Known {
    async fn add(&mut self, hub: &Hub, round: usize) {
        self.id.get_or_insert(identity(hub).await);
        for number in 0..TASKS {
            let key = format!("told-{round}-{number}");
            let id = start(hub, key.clone()).await.expect("a running hub answers");
            self.tasks.insert(key, id);
        }
        let begun = hub.post_json("/api/exchanges", &json!({"words": "echo one"})).await.json();
        self.conversations.push((begun["conversation"].as_str().expect("a token").to_owned(), 0));
        for (token, turn) in &mut self.conversations {
            let said = json!({"words": "echo again", "conversation": token});
            assert_eq!(hub.post_json("/api/exchanges", &said).await.status, 200);
            *turn += 1;
        }
        let asks = json!({"skill": "local/note", "arguments": {}, "confirm": true});
        let question = hub.post_json("/api/exchanges", &asks).await.json();
        self.waiting.push(question["questions"][0]["id"].as_str().expect("a question").to_owned());
    }

    async fn check(&self, hub: &Hub, round: usize) {
        assert_eq!(Some(identity(hub).await), self.id, "round {round}: it is another hub");
        for (key, id) in &self.tasks {
            let task = hub.get(&format!("/api/tasks/{id}")).await;
            assert_eq!(task.status, 200, "round {round}: task {key} was told and is gone");
            assert_eq!(start(hub, key.clone()).await.as_ref(), Some(id), "round {round}: {key} was begun twice");
        }
        for (token, turn) in &self.conversations {
            let said = json!({"words": "echo once more", "conversation": token});
            let answer = hub.post_json("/api/exchanges", &said).await;
            assert_eq!(answer.status, 200, "round {round}: a conversation is gone: {}", answer.text());
            let id = token.rsplit_once('.').map_or(token.as_str(), |(id, _)| id);
            let all = hub.get("/api/conversations?limit=100").await.json();
            let found = all["items"].as_array().expect("items").iter().find(|item| item["id"] == id).cloned();
            let now = found.and_then(|item| item["turn"].as_u64()).expect("a turn");
            assert!(now > *turn, "round {round}: it stood at turn {turn}, now at {now}");
        }
        let open = hub.get("/api/confirmations?limit=100").await.text();
        for question in &self.waiting {
            assert!(open.contains(question.as_str()), "round {round}: question {question} is gone: {open}");
        }
    }
}

/// What other hubs know it by.
async fn identity(hub: &Hub) -> Value {
    std::fs::read_to_string(hub.data().join("hub.id")).expect("it has a name").trim().into()
}
