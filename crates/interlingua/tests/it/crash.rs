//! The hub is killed with -9 while tasks pour in. The peer it calls is a process of its own and outlives it: the witness.
//!
//! None missing: a task whose id was told is there after the next start and reaches an end. None doubled: the peer, whose
//! skill does not say it may be repeated, was asked at most once for each task. `SOAK_SECONDS` makes it go on for so long.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use interlingua_testkit::{Connection, Hub, Peer, post, request};
use serde_json::{Value, json};

const ROUNDS: usize = 50;
const TASKS_A_ROUND: usize = 20;

/// A task that was acknowledged: what it asked, and the id it was told.
struct Accepted {
    key: String,
    id: String,
}

#[tokio::test]
async fn crash_rounds_lose_no_task_and_double_none() {
    let witness = Peer::nlip_server("concierge:app").await;
    let address = witness.address();
    let yaml = format!(
        "limits: {{ rate: 100000/s }}\npeers:\n  concierge: {{ nlip: {{ url: \"http://{address}/nlip/\" }} }}\n"
    );
    let mut hub = Hub::start(env!("CARGO_BIN_EXE_interlingua"), &yaml).await;
    let until = Instant::now() + soak();
    let mut accepted = Vec::new();
    let mut round = 0;
    while round < ROUNDS || Instant::now() < until {
        accepted.extend(crash_round(&mut hub, round).await);
        round += 1;
    }
    assert!(accepted.len() > round, "hardly anything was accepted: {} in {round} rounds", accepted.len());

    let seen = count_seen(&witness).await;
    let mut wrong = Vec::new();
    for task in &accepted {
        let state = ended(&hub, &task.id).await;
        let asked = seen.get(&task.key).copied().unwrap_or(0);
        match (state.as_str(), asked) {
            ("completed", 1) | ("failed" | "cancelled", 0 | 1) => {}
            _ => wrong.push(format!("{}: {state}, the peer was asked {asked} times", task.key)),
        }
    }
    wrong.extend(
        seen.iter().filter(|(_, times)| **times > 1).map(|(key, times)| format!("{key} was asked {times} times")),
    );
    assert!(wrong.is_empty(), "{} of {} tasks:\n{}", wrong.len(), accepted.len(), wrong.join("\n"));
}

/// Sends a round's tasks at once and kills the hub at a moment that differs from round to round, then starts it again.
async fn crash_round(hub: &mut Hub, round: usize) -> Vec<Accepted> {
    let sends = (0..TASKS_A_ROUND).map(|number| start_task(hub, format!("round {round} task {number}")));
    // From before the first answer to well after the last, in steps no two neighbours share.
    let moment = Duration::from_micros(500 + (round as u64 * 7_919) % 60_000);
    let (answers, ()) = tokio::join!(join_all(sends), async {
        tokio::time::sleep(moment).await;
        interlingua_testkit::kill_by_id(hub.id());
    });
    hub.restart().await;
    answers.into_iter().flatten().collect()
}

/// Starts a task; nothing when the hub died before it said the id.
async fn start_task(hub: &Hub, key: String) -> Option<Accepted> {
    let body = json!({"peer": "concierge", "text": key}).to_string();
    let mut connection = Connection::try_http1(hub.address()).await.ok()?;
    let answer = connection.try_send(post("/api/tasks", "application/json", body)).await.ok()?;
    assert_eq!(answer.status, 202, "{}", answer.text());
    let id = answer.json()["id"].as_str().expect("a task has an id").to_owned();
    Some(Accepted { key, id })
}

/// How the task ended. A task that is not there ended as `missing`.
async fn ended(hub: &Hub, id: &str) -> String {
    let path = format!("/api/tasks/{id}");
    for _ in 0..600 {
        let answer = hub.get(&path).await;
        if answer.status == 404 {
            return "missing".to_owned();
        }
        let state = answer.json()["state"].as_str().unwrap_or_default().to_owned();
        if ["completed", "failed", "cancelled"].contains(&state.as_str()) {
            return state;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    "without end".to_owned()
}

/// How often the witness was asked for each task.
async fn count_seen(witness: &Peer) -> BTreeMap<String, usize> {
    let sent = request(http::Method::GET, "/seen").body(http_body_util::Full::default()).expect("a request");
    let seen = Connection::http1(witness.address()).await.send(sent).await.json();
    let mut counts = BTreeMap::new();
    for message in seen.as_array().expect("a list") {
        let text = message.get("content").and_then(Value::as_str).unwrap_or_default();
        *counts.entry(text.to_owned()).or_default() += 1;
    }
    counts
}

fn soak() -> Duration {
    let seconds = std::env::var("SOAK_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    Duration::from_secs(seconds)
}
