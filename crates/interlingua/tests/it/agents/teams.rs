//! Teams of agents with scripted models: they answer, see each other, vote, and the winner presents.

use interlingua_testkit::{Hub, HubBuilder};
use serde_json::{Value, json};

use super::{told, words};
use crate::support::{self, reaches, start, until};

/// Votes for bob's answer once it is there; answers first where there is none to vote for.
const FOLLOWER: &str = r#"
replies:
  - { when: "Answer agent2.", again: true, call: [{ name: vote, arguments: { agent_id: agent2, reason: it is shorter } }] }
  - { when: "(your own)", again: true, call: [{ name: vote, arguments: { agent_id: NUMBER, reason: mine } }] }
  - { when: "", again: true, call: [{ name: new_answer, arguments: { content: "The answer of NUMBER, at some length." } }] }
"#;

/// Answers, votes for itself, and presents.
const LEADER: &str = r#"
replies:
  - { when: "You received", again: true, say: "It is forty-two, said bob." }
  - { when: "(your own)", again: true, call: [{ name: vote, arguments: { agent_id: agent2, reason: mine } }] }
  - { when: "", again: true, call: [{ name: new_answer, arguments: { content: Forty-two. } }] }
"#;

fn config(team: &str) -> String {
    let mut config = String::from("tools: { directory: ./tools }\nmodels:\n");
    for name in ["ann", "bob", "cid"] {
        config += &format!("  of_{name}: {{ provider: scripted, file: ./{name}.yaml }}\n");
    }
    config += "agents:\n";
    for name in ["ann", "bob", "cid"] {
        config += &format!("  {name}: {{ model: of_{name}, skills: [\"local/*\"] }}\n");
    }
    format!("{config}teams:\n  panel: {{ agents: [ann, bob, cid]{team} }}\n")
}

pub(super) fn builder(team: &str) -> HubBuilder {
    support::builder()
        .file("ann.yaml", FOLLOWER.replace("NUMBER", "agent1"))
        .file("bob.yaml", LEADER)
        .file("cid.yaml", FOLLOWER.replace("NUMBER", "agent3"))
        .config(&config(team))
}

async fn asked(hub: &Hub) -> Value {
    hub.post_json("/api/exchanges", &json!({"skill": "panel/chat", "text": "What is the answer?"})).await.json()
}

#[tokio::test]
async fn h_12_calls_of_a_team_s_own_tools_reach_its_coordinator_three_answer_vote_and_the_winner_presents() {
    let hub = builder("").start().await;
    let answer = asked(&hub).await;
    assert_eq!(answer["state"], "completed", "{answer}");
    assert_eq!(words(&answer), "It is forty-two, said bob.", "{answer}");
    let task = hub.get(&format!("/api/tasks/{}", answer["task"].as_str().expect("a task"))).await.json();
    assert!(task["artifacts"].to_string().contains("bob-1."), "what led there is kept: {task}");
}

#[tokio::test]
async fn tasks_lists_what_was_asked_for_and_with_all_what_that_led_to() {
    let hub = builder("").start().await;
    asked(&hub).await;
    let listed = |more: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_interlingua"));
        let done = command.arg("tasks").args(more).arg("--data").arg(hub.data()).output().expect("the program runs");
        assert!(done.status.success(), "{done:?}");
        (String::from_utf8_lossy(&done.stdout).into_owned(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let (tasks, told) = listed(&[]);
    assert_eq!(tasks.lines().count(), 2, "a head and the team: {tasks}");
    assert!(tasks.contains("panel/chat") && told.contains("--all"), "{tasks}{told}");
    let (all, _) = listed(&["--all"]);
    assert!(all.contains("panel/chat") && all.contains("bob/chat") && all.lines().count() > 4, "{all}");
    let (json, _) = listed(&["--json"]);
    let page: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(page["items"].as_array().map(Vec::len), Some(1), "{page}");
}

#[tokio::test]
async fn a_winners_answer_that_is_reused_needs_no_more_of_its_model() {
    let hub = builder(", ending: reuse").start().await;
    let answer = asked(&hub).await;
    assert_eq!(words(&answer), "Forty-two.", "{answer}");
}

#[tokio::test]
async fn c_10_one_that_fails_is_out_and_the_others_go_on() {
    let hub = builder("").file("cid.yaml", "replies: [{ events: [{ text: 'I ' }], again: true }]").start().await;
    let answer = asked(&hub).await;
    assert_eq!(words(&answer), "It is forty-two, said bob.", "{answer}");
}

#[tokio::test]
async fn c_17_when_all_fail_and_nobody_has_answered_the_team_fails_and_says_so() {
    let broken = "replies: [{ events: [{ text: 'I ' }], again: true }]";
    let hub = builder("").file("ann.yaml", broken).file("bob.yaml", broken).file("cid.yaml", broken).start().await;
    let answer = asked(&hub).await;
    assert_eq!(answer["state"], "failed");
    assert_eq!(answer["finished"]["fault"]["kind"], "peer_failed", "{answer}");
}

#[tokio::test]
async fn a_single_agent_answers_votes_for_itself_and_presents() {
    let lines = LEADER.replace("agent2", "agent1");
    let config = config("").replace("[ann, bob, cid]", "[bob]");
    let hub = support::builder()
        .file("ann.yaml", "replies: []")
        .file("cid.yaml", "replies: []")
        .file("bob.yaml", lines)
        .config(&config)
        .start()
        .await;
    assert_eq!(words(&asked(&hub).await), "It is forty-two, said bob.");
}

#[tokio::test]
async fn a_member_may_be_any_peer_that_can_be_talked_to() {
    let script = "scenes: [{ play: [{ answer: { text: \"vote: agent2\\nIt is right.\" } }] }]";
    let config = config("")
        .replace("[ann, bob, cid]", "[bob, scribe]")
        .replace("teams:", "scripts: { scribe: ./scribe.yaml }\nteams:");
    let hub = support::builder()
        .file("ann.yaml", "replies: []")
        .file("cid.yaml", "replies: []")
        .file("bob.yaml", LEADER.replace("agent2", "agent1"))
        .file("scribe.yaml", script.replace("agent2", "agent1"))
        .config(&config)
        .start()
        .await;
    assert_eq!(words(&asked(&hub).await), "It is forty-two, said bob.");
}

#[tokio::test]
async fn c_18_a_team_that_is_cancelled_keeps_the_answers_there_are() {
    let slow = "replies: [{ events: [{ wait: 600000 }], again: true }]";
    let hub = builder("").file("cid.yaml", slow).start().await;
    let task = start(&hub, json!({"skill": "panel/chat", "text": "What is the answer?"})).await;
    until("an answer", async || {
        let shown = hub.get(&format!("/api/tasks/{task}")).await.json();
        shown["artifacts"].as_array().is_some_and(|artifacts| !artifacts.is_empty())
    })
    .await;
    hub.post_json(&format!("/api/tasks/{task}/signals"), &json!({"cancel": true})).await;
    let done = reaches(&hub, &task, "cancelled").await;
    assert!(done["finished"]["artifacts"].as_array().is_some_and(|artifacts| !artifacts.is_empty()), "{done}");
}

#[tokio::test]
async fn a_team_goes_on_after_kill_9_with_the_answers_it_had() {
    let slow =
        FOLLOWER.replace("NUMBER", "agent3").replace("replies:\n", "replies:\n  - { events: [{ wait: 600000 }] }\n");
    let mut hub = builder("").file("cid.yaml", &slow).start().await;
    let task = start(&hub, json!({"skill": "panel/chat", "text": "What is the answer?"})).await;
    let answers = async |hub: &Hub| {
        let shown = hub.get(&format!("/api/tasks/{task}")).await.json();
        shown["artifacts"].as_array().map_or(0, Vec::len)
    };
    until("an answer", async || answers(&hub).await > 0).await;
    // The script of a hub that starts again begins anew: without its first, endless line.
    hub.write("cid.yaml", FOLLOWER.replace("NUMBER", "agent3"));
    hub.restart().await;
    reaches(&hub, &task, "completed").await;
    assert_eq!(told(&hub, &task).await, "It is forty-two, said bob.");
}

#[tokio::test]
async fn every_step_of_a_team_can_be_read_and_watched() {
    let hub = builder("").start().await;
    let answer = asked(&hub).await;
    let task = answer["task"].as_str().expect("a task");
    let page = hub.get(&format!("/api/tasks/{task}/timeline?limit=200")).await.json();
    let steps: Vec<&str> =
        page["items"].as_array().expect("steps").iter().filter_map(|step| step["step"].as_str()).collect();
    for step in ["begun", "round_begun", "answered", "voted", "chosen", "presented", "finished"] {
        assert!(steps.contains(&step), "no {step} in {steps:?}");
    }
    let begun = &page["items"][0]["data"];
    let members = json!({"members": ["ann", "bob", "cid"]});
    assert_eq!(begun, &members, "what the operator told its agents is not the caller's to read");
    let headers = [("accept", "text/event-stream")];
    let stream = support::send(&hub, http::Method::GET, &format!("/api/tasks/{task}/timeline"), &headers, None).await;
    let watched = support::events(&stream.text());
    assert_eq!(watched.iter().map(|(name, _, _)| name.as_str()).collect::<Vec<_>>(), steps);
}

/// Runs the program to ask the team.
async fn program(hub: &Hub, more: &'static [&'static str]) -> (String, String) {
    let (address, token) = (hub.url(""), hub.token().expect("a token"));
    let ran = tokio::task::spawn_blocking(move || {
        std::process::Command::new(env!("CARGO_BIN_EXE_interlingua"))
            .args(["ask", "--peer", "panel", "--hub", &address, "What is the answer?"])
            .args(more)
            .env("INTERLINGUA_TOKEN", token)
            .env_remove("INTERLINGUA_HUB")
            .output()
            .expect("it runs")
    });
    let output = ran.await.expect("ran");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    (out.into_owned(), err.into_owned())
}

#[tokio::test]
async fn whoever_asks_from_the_command_line_sees_answers_and_votes_beside_the_answer() {
    let hub = builder("").start().await;
    let (out, err) = program(&hub, &[]).await;
    assert_eq!(out.trim(), "It is forty-two, said bob.", "{err}");
    assert!(err.contains("bob answers (1): Forty-two."), "{err}");
    assert!(err.contains("ann votes for bob: it is shorter"), "{err}");
    assert!(err.contains("bob has 3 votes"), "{err}");
}

#[tokio::test]
async fn a_program_that_asks_is_given_every_step_as_a_line() {
    let hub = builder("").start().await;
    let (out, err) = program(&hub, &["--json", "--steps"]).await;
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    let steps: Vec<&str> = lines.iter().filter_map(|line| line["step"].as_str()).collect();
    for step in ["begun", "round_begun", "answered", "voted", "chosen", "presented", "finished"] {
        assert!(steps.contains(&step), "no {step} in {steps:?}");
    }
    let last = lines.last().expect("an outcome");
    assert_eq!((&last["step"], &last["data"]["outcome"]), (&json!("outcome"), &json!("completed")), "{last}");
    assert_eq!(err, "", "nothing is told beside it");
}
