//! Limits and budgets, used up by many calls at the same moment: what is allowed once is granted once.

use std::fs;

use futures_util::future::join_all;
use http::Method;
use interlingua_testkit::{Answer, Hub};
use serde_json::{Value, json};

use crate::support::{send, until};

const MANY: usize = 50;
const ANN: [(&str, &str); 1] = [("authorization", "Bearer token-of-ann")];

/// Leaves a line when it begins and one when it ends.
async fn hub(config: &str, files: &[(&str, &str)]) -> Hub {
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua"));
    let log = builder.directory().join("work.log").display().to_string();
    let work = format!(
        "name: work\ndescription: Works.\ninput: {{ type: object }}\neffects: {{ reads: true }}\n\
         command: [sh, -c, 'echo + >> {log}; sleep 0.2; echo - >> {log}; echo \"{{}}\"']\n"
    );
    let erase = "name: erase\ndescription: Erases.\ninput: { type: object }\neffects: { destroys: true }\n\
        command: [sh, -c, 'echo \"{}\"']\n";
    let builder = builder.file("tools/work.yaml", work).file("tools/erase.yaml", erase);
    let builder = files.iter().fold(builder, |builder, (name, content)| builder.file(name, content));
    let access = "tools: { directory: ./tools }\naccess: { tokens: [{ name: ann, token: token-of-ann }] }\n";
    builder.config(&format!("{access}{config}")).start().await
}

/// How often the tool began, and how many of it were at work at the same time.
fn worked(hub: &Hub) -> (usize, usize) {
    let log = fs::read_to_string(hub.directory().join("work.log")).unwrap_or_default();
    let (mut began, mut now, mut most) = (0, 0_usize, 0);
    for line in log.lines() {
        match line {
            "+" => (began, now) = (began + 1, now + 1),
            _ => now = now.saturating_sub(1),
        }
        most = most.max(now);
    }
    (began, most)
}

/// So many calls of Ann's at once, and how they were answered.
async fn at_once(hub: &Hub, path: &str, body: &Value) -> Vec<Answer> {
    join_all((0..MANY).map(|_| send(hub, Method::POST, path, &ANN, Some(body.clone())))).await
}

fn count(answers: &[Answer], fits: impl Fn(&Answer) -> bool) -> usize {
    answers.iter().filter(|answer| fits(answer)).count()
}

#[tokio::test]
async fn attack_a_rate_is_used_up_by_many_calls_at_once() {
    for limits in ["limits: { rate: 5/h }\n", "limits: { rules: [{ per: principal, rate: 1/h, burst: 5 }] }\n"] {
        let hub = hub(limits, &[]).await;
        let answers = at_once(&hub, "/api/exchanges", &json!({"skill": "local/work"})).await;
        let (done, refused) = (count(&answers, |it| it.status == 200), count(&answers, |it| it.status == 429));
        assert_eq!((done, refused, worked(&hub).0), (5, MANY - 5, 5), "{limits}");
    }
}

#[tokio::test]
async fn attack_more_calls_at_once_than_may_run_at_the_same_time() {
    for limits in ["limits: { in_flight: 3 }\n", "limits: { rules: [{ per: principal, in_flight: 3 }] }\n"] {
        let hub = hub(limits, &[]).await;
        let answers = at_once(&hub, "/api/exchanges", &json!({"skill": "local/work"})).await;
        let (began, most) = worked(&hub);
        assert!((1..=3).contains(&most), "{limits}: {most} at the same time");
        assert_eq!(began, count(&answers, |it| it.status == 200), "{limits}: each that was taken ran once");
    }
}

#[tokio::test]
async fn attack_a_callers_share_of_the_store_is_overdrawn_by_many_tasks_at_once() {
    const SIZE: usize = 100 * 1024;
    // They wait for an approval: none of them makes room for another.
    let body = json!({"skill": "local/erase", "arguments": {"what": "x".repeat(SIZE)}});
    let hub_ = hub("retention: { bytes_per_caller: 1MiB }\n", &[]).await;
    let answers = at_once(&hub_, "/api/tasks", &body).await;
    let taken = count(&answers, |it| it.status < 300);
    assert!(taken > 0 && taken * SIZE <= 1024 * 1024, "{taken} tasks of {SIZE} bytes are kept");
    let hub_ = hub("retention: { tasks_per_caller: 5 }\n", &[]).await;
    let answers = at_once(&hub_, "/api/tasks", &json!({"skill": "local/erase", "arguments": {}})).await;
    assert_eq!(count(&answers, |it| it.status < 300), 5, "{:?}", answers.iter().map(Answer::text).next_back());
}

/// Its model wants fifty calls in one breath.
fn greedy() -> String {
    let calls = vec!["{ name: local__work }"; MANY].join(", ");
    format!("replies:\n  - call: [{calls}]\n  - {{ again: true, say: done }}\n")
}

#[tokio::test]
async fn attack_a_model_asks_for_more_calls_at_once_than_its_budget_has() {
    let config = "models: { greedy: { provider: scripted, file: ./greedy.yaml } }\n\
        agents: { greedy: { model: greedy, skills: [\"local/work\"], parallel: 50, budget: { calls: 3 } } }\n";
    let hub = hub(config, &[("greedy.yaml", &greedy())]).await;
    let run = json!({"skill": "greedy/chat", "text": "work"});
    let ended = send(&hub, Method::POST, "/api/exchanges", &ANN, Some(run)).await;
    assert_eq!(worked(&hub).0, 3, "{}", ended.text());
}

/// A budget is of one run: many runs at once have one each, and none is lent another's.
#[tokio::test]
async fn attack_many_runs_of_an_agent_at_once_overdraw_their_budgets() {
    let config = "models: { greedy: { provider: scripted, file: ./greedy.yaml } }\n\
        agents: { greedy: { model: greedy, skills: [\"local/work\"], parallel: 50, budget: { calls: 2, turns: 3 } } }\n";
    let hub = hub(config, &[("greedy.yaml", &greedy())]).await;
    let run = json!({"skill": "greedy/chat", "text": "work"});
    let runs = 10;
    join_all((0..runs).map(|_| send(&hub, Method::POST, "/api/exchanges", &ANN, Some(run.clone())))).await;
    until("all that were begun ended", async || worked(&hub).0 > 0).await;
    assert!(worked(&hub).0 <= 2 * runs, "{} calls of {runs} runs", worked(&hub).0);
}
