//! Teams with members elsewhere: agents of another hub, A2A agents, NLIP agents, over real sockets. They are judged like members of this
//! hub, and trusted less.

use interlingua_testkit::{Hub, OWNER_TOKEN, Say, Scripted, port};
use serde_json::{Value, json};

use super::told;
use crate::support::{self, reaches, start, until};

/// Answers, votes for itself, and presents.
const ANN: &str = r#"
replies:
  - { when: "You received", again: true, say: "It is forty-two, said ann." }
  - { when: "(your own)", again: true, call: [{ name: vote, arguments: { agent_id: agent1, reason: mine } }] }
  - { when: "", again: true, call: [{ name: new_answer, arguments: { content: Forty-two. } }] }
"#;

fn text(text: &str) -> Value {
    json!({"format": "text", "subformat": "english", "content": text})
}

/// An NLIP agent that votes for the first label once there is an answer, and waits for one until then.
async fn voter(vote: &'static str) -> Scripted {
    Scripted::http(move |heard, _| {
        let shown = heard.json().to_string();
        Say::Json(text(if shown.contains("Answer agent1.") { vote } else { "I think it is forty." }))
    })
    .await
}

/// A hub with the agent `ann`, these peers and a team of these members.
async fn hub(peers: &str, members: &str, more: &str) -> Hub {
    let config = format!(
        "hub: {{ id: left }}\nmodels: {{ m: {{ provider: scripted, file: ./ann.yaml }} }}\nagents: {{ ann: {{ model: m }} }}\n\
         peers:\n{peers}teams: {{ panel: {{ agents: [{members}]{more} }} }}\n"
    );
    support::builder().file("ann.yaml", ANN).config(&config).start().await
}

fn nlip(scribe: &Scripted) -> String {
    format!("  scribe: {{ nlip: {{ url: \"http://{}/nlip\" }} }}\n", scribe.address())
}

/// The records of a team's run of this name.
async fn steps(hub: &Hub, task: &str, name: &str) -> Vec<Value> {
    let page = hub.get(&format!("/api/tasks/{task}/timeline?limit=500")).await.json();
    let items = page["items"].as_array().cloned().unwrap_or_default();
    items.into_iter().filter(|item| item["step"] == name).map(|item| item["data"].clone()).collect()
}

const QUESTION: &str = "What is the answer?";

/// One member here, one at another hub, one that speaks NLIP. The other hub dies while its agent thinks.
#[tokio::test]
async fn two_hubs_three_members_and_the_one_whose_hub_is_killed_is_out() {
    let at = port::free();
    let config =
        "hub: { id: right }\nmodels: { m: { provider: scripted, file: ./bob.yaml } }\nagents: { bob: { model: m } }\n";
    let mut right = support::builder()
        .known_owner()
        .file("bob.yaml", "replies: [{ events: [{ wait: 600000 }], again: true }]")
        .config(config)
        .listen(at)
        .start()
        .await;
    let scribe = voter("vote: agent1\nIt is right.").await;
    let peers = format!(
        "{}  right: {{ nlip: {{ url: \"http://{at}/nlip\", token: {OWNER_TOKEN} }}, hub: true }}\n",
        nlip(&scribe)
    );
    let left = hub(&peers, "ann, right/bob.chat, scribe", ", times: { reply: 15s }").await;
    until("the other hub's agent is known", async || {
        left.get("/api/skills?limit=1000").await.text().contains("right/bob.chat")
    })
    .await;
    let task = start(&left, json!({"skill": "panel/chat", "text": QUESTION})).await;
    until("it works there", async || right.get("/api/tasks").await.text().contains("bob/chat")).await;
    until("the others have voted", async || steps(&left, &task, "voted").await.len() >= 2).await;
    right.kill_9();
    reaches(&left, &task, "completed").await;
    assert_eq!(told(&left, &task).await, "It is forty-two, said ann.");
    let killed = steps(&left, &task, "killed").await;
    assert_eq!(killed.len(), 1, "{killed:?}");
    assert_eq!(killed[0]["seat"], 1, "the member at the hub that died: {killed:?}");
}

/// The agent at another hub answers, votes and wins like one of this hub.
#[tokio::test]
async fn a_member_at_another_hub_answers_votes_and_presents() {
    let at = port::free();
    let config =
        "hub: { id: right }\nmodels: { m: { provider: scripted, file: ./bob.yaml } }\nagents: { bob: { model: m } }\n";
    let bob = r#"
replies:
  - { when: "You received", again: true, say: "It is forty-three, said bob." }
  - { when: "(your own)", again: true, say: "vote: agent2" }
  - { when: "", again: true, say: "Forty-three, for these reasons." }
"#;
    let _right = support::builder().known_owner().file("bob.yaml", bob).config(config).listen(at).start().await;
    let peers = format!("  right: {{ nlip: {{ url: \"http://{at}/nlip\", token: {OWNER_TOKEN} }}, hub: true }}\n");
    let ann = r#"
replies:
  - { when: "Answer agent2.", again: true, call: [{ name: vote, arguments: { agent_id: agent2, reason: longer } }] }
  - { when: "(your own)", again: true, call: [{ name: vote, arguments: { agent_id: agent1, reason: mine } }] }
  - { when: "", again: true, call: [{ name: new_answer, arguments: { content: Forty-two. } }] }
"#;
    let left = hub(&peers, "ann, right/bob.chat", "").await;
    left.write("ann.yaml", ann);
    let mut left = left;
    left.restart().await;
    until("the other hub's agent is known", async || {
        left.get("/api/skills?limit=1000").await.text().contains("right/bob.chat")
    })
    .await;
    let task = start(&left, json!({"skill": "panel/chat", "text": QUESTION})).await;
    reaches(&left, &task, "completed").await;
    assert_eq!(steps(&left, &task, "killed").await, [] as [Value; 0]);
    assert_eq!(told(&left, &task).await, "It is forty-three, said bob.");
}

/// An A2A agent whose program reads the verbs and decides by them.
#[tokio::test]
async fn an_a2a_agent_is_given_the_verbs_as_a_structured_part_and_decides_by_them() {
    let card = json!({
        "name": "Scribe", "description": "Writes.", "version": "1.0",
        "supportedInterfaces": [{"url": "/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "capabilities": {"streaming": false},
        "defaultInputModes": ["text/plain", "application/json"], "defaultOutputModes": ["application/json"],
        "skills": [{"id": "write", "name": "Write", "description": "Anything.", "tags": []}],
    });
    let scribe = Scripted::web(move |heard, _| {
        if heard.path.starts_with("/.well-known") {
            return Say::Json(card.clone());
        }
        let asked = heard.json()["params"]["message"]["parts"].to_string();
        let decided = match asked.contains("Answer agent1.") {
            true => json!({"vote": {"agent_id": "agent1", "reason": "It is right."}}),
            false => json!({"new_answer": {"content": "I think it is forty."}}),
        };
        let parts = json!([{"data": decided}]);
        Say::Json(json!({"jsonrpc": "2.0", "id": 1, "result": {"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": parts}}}))
    })
    .await;
    let peers = format!("  scribe: {{ a2a: {{ url: \"http://{}\" }} }}\n", scribe.address());
    let hub = hub(&peers, "ann, scribe", ", verbs: structured").await;
    until("the agent is known", async || hub.get("/api/skills?limit=1000").await.text().contains("scribe/chat")).await;
    let task = start(&hub, json!({"skill": "panel/chat", "text": QUESTION})).await;
    reaches(&hub, &task, "completed").await;
    assert_eq!(steps(&hub, &task, "killed").await, [] as [Value; 0]);
    assert_eq!(told(&hub, &task).await, "It is forty-two, said ann.");
    let votes = steps(&hub, &task, "voted").await;
    let vote = votes.iter().find(|vote| vote["seat"] == 1).expect("the agent voted");
    assert_eq!((&vote["vote"]["choice"], &vote["vote"]["reason"]), (&json!(0), &json!("It is right.")));
    let rounds: Vec<Value> =
        scribe.heard().iter().filter(|heard| heard.path == "/rpc").map(|heard| heard.json()).collect();
    let parts = rounds.last().expect("a round")["params"]["message"]["parts"].clone();
    let data = parts.as_array().into_iter().flatten().find_map(|part| part["data"].get("interlingua/team").cloned());
    let data = data.unwrap_or_else(|| panic!("the verbs: {parts}"));
    let names: Vec<&str> =
        data["verbs"].as_array().into_iter().flatten().filter_map(|verb| verb["name"].as_str()).collect();
    assert_eq!((names, &data["labels"]), (vec!["new_answer", "vote"], &json!(["agent1", "agent2"])), "{data}");
}

#[tokio::test]
async fn votes_of_members_elsewhere_count_after_kill_9_and_they_are_not_asked_again() {
    let scribe = voter("vote: agent1\nIt is right.").await;
    let slow = ANN.replace(
        "  - { when: \"(your own)\", again: true, call:",
        "  - { when: \"(your own)\", events: [{ wait: 600000 }] }\n  - { when: \"(your own)\", again: true, call:",
    );
    let mut hub = hub(&nlip(&scribe), "ann, scribe", "").await;
    hub.write("ann.yaml", slow);
    hub.restart().await;
    let task = start(&hub, json!({"skill": "panel/chat", "text": QUESTION})).await;
    until("the vote", async || !steps(&hub, &task, "voted").await.is_empty()).await;
    let asked = scribe.heard().len();
    hub.write("ann.yaml", ANN);
    hub.restart().await;
    reaches(&hub, &task, "completed").await;
    assert_eq!(told(&hub, &task).await, "It is forty-two, said ann.");
    assert_eq!(scribe.heard().len(), asked, "what was decided stands in the journal");
}

#[tokio::test]
async fn attack_a_member_elsewhere_learns_no_name_and_votes_for_no_name() {
    // It claims a name it may have guessed, three times: then it is out.
    let scribe = voter(r#"{"vote": {"agent_id": "ann", "reason": "I know who you are"}}"#).await;
    let hub = hub(&nlip(&scribe), "ann, scribe", "").await;
    let task = start(&hub, json!({"skill": "panel/chat", "text": QUESTION})).await;
    reaches(&hub, &task, "completed").await;
    assert_eq!(told(&hub, &task).await, "It is forty-two, said ann.");
    assert_eq!(steps(&hub, &task, "killed").await.len(), 1);
    let votes = steps(&hub, &task, "voted").await;
    assert!(votes.iter().all(|vote| vote["seat"] == 0), "{votes:?}");
    for heard in scribe.heard() {
        let shown = String::from_utf8_lossy(&heard.body).to_lowercase();
        let names = ["\"ann\"", " ann", "ann:", "panel", "scribe"];
        assert!(!names.iter().any(|name| shown.contains(name)), "{shown}");
    }
}

#[tokio::test]
async fn attack_a_member_elsewhere_that_is_silent_is_out_when_its_time_is_over() {
    let scribe = Scripted::http(|_, _| {
        Say::Stream(vec![interlingua_testkit::Piece::Until(std::sync::Arc::new(tokio::sync::Notify::new()))])
    })
    .await;
    let hub = hub(&nlip(&scribe), "ann, scribe", ", times: { reply: 1s }").await;
    let task = start(&hub, json!({"skill": "panel/chat", "text": QUESTION})).await;
    reaches(&hub, &task, "completed").await;
    assert_eq!(told(&hub, &task).await, "It is forty-two, said ann.");
    assert_eq!(steps(&hub, &task, "killed").await[0]["seat"], 1);
}

/// Another hub tells what its agent used; what it tells does not empty the team's purse.
#[tokio::test]
async fn attack_what_a_member_elsewhere_says_of_its_costs_ends_nobodys_round() {
    let at = port::free();
    let config =
        "hub: { id: right }\nmodels: { m: { provider: scripted, file: ./bob.yaml } }\nagents: { bob: { model: m } }\n";
    let bob = "replies: [{ again: true, events: [{ text: \"Forty.\" }, { usage: { read: 900000000, written: 900000000 } }, { end: done }] }]";
    let _right = support::builder().known_owner().file("bob.yaml", bob).config(config).listen(at).start().await;
    let peers = format!("  right: {{ nlip: {{ url: \"http://{at}/nlip\", token: {OWNER_TOKEN} }}, hub: true }}\n");
    let hub = hub(&peers, "ann, right/bob.chat", ", skip_voting: true, budget: { tokens: 100000 }").await;
    until("the other hub's agent is known", async || {
        hub.get("/api/skills?limit=1000").await.text().contains("right/bob.chat")
    })
    .await;
    let task = start(&hub, json!({"skill": "panel/chat", "text": QUESTION})).await;
    reaches(&hub, &task, "completed").await;
    let chosen = steps(&hub, &task, "chosen").await;
    assert_eq!(chosen[0]["how"], "AllAnswered", "{chosen:?}");
}
