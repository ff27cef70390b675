//! The hub is killed with -9 under a load of tasks, restarted, and queried.
//!
//! None missing: a task whose id was returned exists after the next start and reaches an end. None doubled: sent again under its key it is
//! the same task, and the tool, which is not declared repeatable, was started at most once for each. A task that is not completed says that
//! its outcome is unknown. Every conversation is at the turn that was acknowledged, or at one that was sent and not yet answered.
//! `SOAK_SECONDS` sets the duration.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use http::Method;
use http_body_util::Full;
use interlingua_testkit::{Connection, Hub, Random, postgres, request, skipped};
use serde_json::{Value, json};

use crate::once::{judge, with_note};

const ROUNDS: usize = 50;
/// Each start on a database makes ten connections to it.
const ROUNDS_ON_POSTGRESQL: usize = 12;
const TASKS_A_ROUND: usize = 20;
const CONVERSATIONS: usize = 4;

const CONFIG: &str = "limits: { rate: 100000/s }\ntools: { directory: tools }\n";

#[tokio::test]
async fn crash_rounds_lose_no_task_and_double_none() {
    let hub = with_note(Hub::builder(env!("CARGO_BIN_EXE_interlingua"))).config(CONFIG).start().await;
    crash_rounds(hub, ROUNDS).await;
}

/// The hub alone is killed; the database goes on.
#[tokio::test]
async fn crash_rounds_on_postgresql_lose_no_task_and_double_none() {
    let server = match postgres().await {
        Ok(server) => server,
        Err(missing) => return skipped(&missing),
    };
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).on_postgres(&server.url());
    crash_rounds(with_note(builder).config(CONFIG).start().await, ROUNDS_ON_POSTGRESQL).await;
}

async fn crash_rounds(mut hub: Hub, rounds: usize) {
    let mut known = Known::new(&hub).await;
    let mut random = Random(20_261_115);
    let until = Instant::now() + soak();
    let mut round = 0;
    while round < rounds || Instant::now() < until {
        crash_round(&mut hub, &mut known, round, &mut random).await;
        round += 1;
    }
    assert_eq!(known.ids.len(), round * TASKS_A_ROUND);
    let ends = judge(&hub, &known.ids).await;
    // A round is killed after a random number of its answers, so about half of all tasks were sent on before a kill; what a hub
    // had not sent by then is done by the next one. Far fewer done would mean that it gives up what nobody began.
    assert!(ends.completed > known.ids.len() / 4, "{ends:?}");
    assert!(ends.unknown_and_done > 0 && ends.unknown_and_not_done < known.ids.len() * 2 / 3, "{ends:?}");
    known.check_count(&hub).await;
}

/// Writes the key of its call, and goes on when it may.
const GATED: &str = r#"
name: gated
description: Waits until it may go on.
input: { type: object, properties: { key: { type: string } } }
effects: { writes: true }
parallel: 1
timeout: 1m
command: [sh, -c, 'cat >> "$0/ran"; echo >> "$0/ran"; until [ -e "$0/go" ]; do sleep 0.05; done; echo "{}"', DIRECTORY]
"#;

#[tokio::test]
async fn a_task_that_waits_for_its_place_when_the_hub_is_killed_is_done_by_the_next_one_and_once() {
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua"));
    let directory = builder.directory().to_owned();
    let gated = GATED.replace("DIRECTORY", &directory.display().to_string());
    let mut hub = builder.file("tools/gated.yaml", gated).config("tools: { directory: tools }\n").start().await;
    let ran = || std::fs::read_to_string(directory.join("ran")).unwrap_or_default();
    let times = |key: &str| ran().matches(&format!("\"{key}\"")).count();
    let begin = async |hub: &Hub, key: &str| {
        crate::support::start(hub, json!({"skill": "local/gated", "arguments": {"key": key}})).await
    };
    let first = begin(&hub, "first").await;
    crate::support::until("the first runs", async || times("first") == 1).await;
    let mut waiting = Vec::new();
    for key in ["second", "third", "fourth"] {
        waiting.push((key, begin(&hub, key).await));
    }
    let cancelled = waiting.pop().expect("the fourth").1;
    crate::support::send(&hub, Method::DELETE, &format!("/api/tasks/{cancelled}"), &[], None).await;
    crate::support::reaches(&hub, &cancelled, "cancelled").await;
    hub.kill_9();
    hub.restart().await;
    let lost = crate::support::reaches(&hub, &first, "failed").await;
    assert_eq!(lost["finished"]["fault"]["kind"], "outcome_unknown", "it had begun: {lost}");
    std::fs::write(directory.join("go"), "").expect("a file");
    for (key, id) in &waiting {
        crate::support::reaches(&hub, id, "completed").await;
        assert_eq!(times(key), 1, "{key}: {}", ran());
    }
    assert_eq!((times("first"), times("fourth")), (1, 0), "{}", ran());
}

/// Sends a round's tasks at once, kills the hub after a number of answers that differs from round to round, starts it again
/// and sends them all once more.
async fn crash_round(hub: &mut Hub, known: &mut Known, round: usize, random: &mut Random) {
    let fatal = random.below(TASKS_A_ROUND as u64 + 1);
    let answered = AtomicUsize::new(0);
    let (process, count) = (hub.id(), TASKS_A_ROUND);
    let sends = (0..count).map(|number| {
        let (hub, known, answered) = (&*hub, &*known, &answered);
        async move {
            let answer = known.send(hub, round, number).await;
            answered.fetch_add(usize::from(answer.is_some()), Ordering::SeqCst);
            (number, answer)
        }
    });
    let killed = async {
        while answered.load(Ordering::SeqCst) < fatal as usize {
            tokio::time::sleep(Duration::from_micros(100)).await;
        }
        tokio::time::sleep(Duration::from_micros(random.below(5_000))).await;
        interlingua_testkit::kill_by_id(process);
    };
    let (answers, ()) = tokio::join!(join_all(sends), killed);
    known.note(round, answers);
    hub.restart().await;
    known.check_turns(hub).await;
    let again = join_all((0..count).map(|number| {
        let (hub, known) = (&*hub, &*known);
        async move { (number, known.send(hub, round, number).await) }
    }));
    let again = again.await;
    assert!(again.iter().all(|(_, answer)| answer.is_some()), "round {round}: a running hub did not answer");
    known.note(round, again);
}

/// What the hub has said, and what it was asked.
struct Known {
    /// The id told for each key.
    ids: BTreeMap<String, String>,
    /// Tokens of conversations, and how many messages of each were sent and answered.
    conversations: Vec<(String, u64, u64)>,
}

impl Known {
    async fn new(hub: &Hub) -> Known {
        let mut conversations = Vec::new();
        for _ in 0..CONVERSATIONS {
            let answer = hub.post_json("/api/exchanges", &json!({"skill": "hub/echo", "text": "hello"})).await;
            let token = answer.header("interlingua-conversation").unwrap_or_else(|| panic!("{}", answer.text()));
            conversations.push((token.to_owned(), 0, 0));
        }
        Known { ids: BTreeMap::new(), conversations }
    }

    /// One of the conversations, or none.
    fn conversation(number: usize) -> Option<usize> {
        Some(number % (CONVERSATIONS + 1)).filter(|number| *number < CONVERSATIONS)
    }

    /// The id of the task; nothing when the hub died before it said one.
    async fn send(&self, hub: &Hub, round: usize, number: usize) -> Option<String> {
        let key = key(round, number);
        let token = Self::conversation(number).map(|number| &self.conversations[number].0);
        let body = json!({"skill": "local/note", "arguments": {"key": key}, "conversation": token});
        let sent = request(Method::POST, "/api/tasks").header("content-type", "application/json");
        let sent = sent.header("idempotency-key", &key).body(Full::new(body.to_string().into())).expect("a request");
        let mut connection = Connection::try_http1(hub.address()).await.ok()?.showing(hub.token());
        let answer = connection.try_send(sent).await.ok()?;
        assert_eq!(answer.status, 202, "{key}: {}", answer.text());
        Some(answer.json()["id"].as_str().expect("a task has an id").to_owned())
    }

    /// The same key is told the same id, always.
    fn note(&mut self, round: usize, answers: Vec<(usize, Option<String>)>) {
        for (number, answer) in answers {
            if let Some(conversation) = Self::conversation(number) {
                let (_, sent, answered) = &mut self.conversations[conversation];
                *sent += 1;
                *answered += u64::from(answer.is_some());
            }
            let Some(id) = answer else { continue };
            let first = self.ids.entry(key(round, number)).or_insert_with(|| id.clone());
            assert_eq!(*first, id, "{} was told two ids", key(round, number));
        }
    }

    async fn check_turns(&self, hub: &Hub) {
        let found = hub.get("/api/conversations").await.json();
        let turns: HashMap<&str, u64> = items(&found)
            .iter()
            .map(|item| (item["id"].as_str().expect("an id"), item["turn"].as_u64().expect("a turn")))
            .collect();
        for (token, sent, answered) in &self.conversations {
            let (id, _) = token.rsplit_once('.').expect("an id and its code");
            let turn = turns.get(id).copied().unwrap_or(0);
            assert!((*answered..=*sent).contains(&turn), "turn {turn} after {answered} of {sent} messages");
        }
    }

    /// There are as many tasks as keys: also what was never acknowledged is there once.
    async fn check_count(&self, hub: &Hub) {
        let (mut count, mut after) = (0, None);
        loop {
            let path =
                after.map_or("/api/tasks?limit=500".into(), |after| format!("/api/tasks?limit=500&after={after}"));
            let page = hub.get(&path).await.json();
            count += items(&page).len();
            match page["next"].as_str() {
                Some(next) => after = Some(next.to_owned()),
                None => break,
            }
        }
        assert_eq!(count, self.ids.len());
    }
}

fn key(round: usize, number: usize) -> String {
    format!("round-{round}-task-{number}")
}

fn items(page: &Value) -> &[Value] {
    page["items"].as_array().unwrap_or_else(|| panic!("a page: {page}"))
}

fn soak() -> Duration {
    let seconds = std::env::var("SOAK_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    Duration::from_secs(seconds)
}
