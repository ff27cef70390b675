//! `POST /agents/{peer}/nlip/route`: the routing envelope of one agent, team or tool server.

use http::Method;
use serde_json::{Value, json};

use super::kit::{Route, calling, list, message, one, refused, within};
use crate::support::{self, send};

const BENCH: &str = "/agents/bench/nlip/route";

/// Two agents and a team of them; nobody is the front door.
const CONFIG: &str = r#"
models:
  of_ann: { provider: scripted, file: ./ann.yaml }
  of_bob: { provider: scripted, file: ./bob.yaml }
agents:
  ann: { model: of_ann }
  bob: { model: of_bob }
teams: { panel: { agents: [ann, bob], skip_voting: true, ending: reuse } }
access: { tokens: [{ name: ada, token: ada-token-0123456789, skills: [bob/*] }] }
"#;

fn lines(name: &str) -> String {
    format!(
        "replies:\n  - {{ when: There are no answers yet, again: true, call: [{{ name: new_answer, arguments: {{ content: The panel says so. }} }}] }}\n  \
         - {{ again: true, say: This is {name}. }}\n"
    )
}

async fn hub() -> interlingua_testkit::Hub {
    let builder = support::builder().file("ann.yaml", lines("ann")).file("bob.yaml", lines("bob"));
    builder.config(CONFIG).start().await
}

fn chat(id: &str) -> Value {
    let mut asked = message("request", id);
    asked["content"] = json!({"messages": [{"role": "user", "content": "Who is there?"}]});
    asked
}

#[tokio::test]
async fn a_chat_reaches_the_agent_or_the_team_whose_path_it_is_sent_to() {
    let hub = hub().await;
    for (name, says) in [("ann", "This is ann."), ("bob", "This is bob."), ("panel", "The panel says so.")] {
        let path = format!("/agents/{name}/nlip/route");
        let answer = hub.post_json(&path, &chat(&format!("m-{name}"))).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let response = answer.json()[0].clone();
        assert_eq!(response["content"]["content"], says, "{name}: {response}");
        assert_eq!(response["metadata"]["route"]["skill"], format!("{name}/chat"), "{response}");
        let (_connection, mut stream) =
            support::streaming(&hub, Method::POST, &path, &[], Some(chat(&format!("s-{name}")))).await;
        let mut last = Value::Null;
        while let Some(data) = stream.next().await {
            last = serde_json::from_str(&data).expect("JSON");
        }
        assert_eq!((&last["content"]["complete"], &last["content"]["content"]), (&json!(true), &json!(says)), "{last}");
    }
}

#[tokio::test]
async fn a_session_is_the_same_at_every_path() {
    let hub = hub().await;
    let first = hub.post_json("/agents/ann/nlip/route", &within(chat("m1"), "s1")).await.json()[0].clone();
    let second = hub.post_json("/agents/bob/nlip/route", &within(chat("m2"), "s1")).await.json()[0].clone();
    let third = hub.post_json("/agents/ann/nlip/route", &within(chat("m1"), "s1")).await.json()[0].clone();
    let turn = |response: &Value| response["token"]["conversation_turn"].clone();
    assert_eq!([turn(&first), turn(&second), turn(&third)], [1, 2, 2], "the last was counted before");
    assert_eq!(third["content"], first["content"], "and is the same answer again");
}

#[tokio::test]
async fn only_the_skills_of_the_peer_are_there() {
    let route = Route::start("").await;
    let names = ["say", "bench/say", "mcp__bench__say", "mcp__say", "hub/echo", "mcp__hub__echo", "echo"];
    let calls: Vec<(&str, &str, Value)> = names.iter().map(|name| (*name, *name, json!({"n": 1}))).collect();
    let responses = list(&route.send_to(BENCH, &calling("m1", &calls), &[]).await);
    let seen: Vec<&str> =
        responses.iter().map(|it| it["tool_results"][0]["status"].as_str().unwrap_or_default()).collect();
    assert_eq!(seen, ["success", "success", "success", "success", "error", "error", "error"], "{responses:?}");
    assert_eq!(route.bench.count("say"), 4);
    for other in &responses[4..] {
        assert_eq!(other["tool_results"][0]["metadata"]["code"], "not_found", "{other}");
    }
}

#[tokio::test]
async fn notifications_confirmations_and_refusals_are_as_at_the_front() {
    let route = Route::start("").await;
    assert_eq!(route.send_to(BENCH, &within(message("notification", "n1"), "s1"), &[]).await.status, 202);
    let mut careful = calling("m1", &[("t", "say", json!({"n": 2}))]);
    careful["tool_calls"][0]["require_confirmation"] = json!(true);
    let pending = one(&route.send_to(BENCH, &careful, &[]).await);
    let mut yes = message("request", "y1");
    yes["metadata"]["confirmation"] = json!({"id": pending["metadata"]["confirmation"]["id"], "approve": true});
    let done = one(&route.send_to(BENCH, &yes, &[]).await);
    assert_eq!(done["tool_results"][0]["result"], json!({"n": 2}), "{done}");
    assert_eq!(refused(&route.send_to(BENCH, &message("request", "m2"), &[]).await), (400, "malformed".into()));
    let off = Route::start("nlip: { router: { enabled: false } }").await;
    assert_eq!(refused(&off.send_to(BENCH, &message("request", "m3"), &[]).await).0, 422);
}

#[tokio::test]
async fn attack_the_path_of_an_agent_that_may_not_be_seen_is_that_of_one_that_is_not_there() {
    let hub = hub().await;
    let ada = [("authorization", "Bearer ada-token-0123456789")];
    let ask = async |name: &str| {
        let path = format!("/agents/{name}/nlip/route");
        let answer = send(&hub, Method::POST, &path, &ada, Some(chat("m1"))).await;
        let error = answer.json()[0].clone();
        (answer.status, error["content"]["error"].clone(), error["content"]["code"].clone())
    };
    assert_eq!(ask("bob").await.0, 200, "her own");
    let nobody = ask("nobody").await;
    assert_eq!((nobody.0, &nobody.2), (404, &json!("not_found")));
    assert_eq!(ask("ann").await, nobody);
    assert_eq!(ask("panel").await, nobody);
    // A notification to such a path leaves nothing, either.
    let path = "/agents/ann/nlip/route";
    let note = send(&hub, Method::POST, path, &ada, Some(within(message("notification", "n1"), "s9"))).await;
    assert_eq!(note.status, 404, "{}", note.text());
    // The agents of others cannot be named in a call at one's own path.
    let by_name = calling("m2", &[("t", "ann/chat", json!({"message": "hello"}))]);
    let answer = send(&hub, Method::POST, "/agents/bob/nlip/route", &ada, Some(by_name)).await.json();
    assert_eq!(answer[0]["tool_results"][0]["metadata"]["code"], "not_found", "{answer}");
}
