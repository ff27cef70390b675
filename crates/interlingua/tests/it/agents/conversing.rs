//! A team that is talked with as with a person: what was said before, pictures and data reach its members, in every protocol. Asserted
//! on what the members' models were shown.

use std::io::Write;
use std::process::{Command, Stdio};

use http::Method;
use interlingua_testkit::Hub;
use interlingua_testkit::provider::{Provider, Reply, Spelling, Turn};
use serde_json::{Value, json};

use super::words;
use crate::mcp::Modern;
use crate::support::{self, send};

const FIRST: &str = "My name is Bea.";
const SECOND: &str = "Who am I?";

/// A team of two members, each with a model of its own that answers as often as it is asked.
struct Pair {
    hub: Hub,
    models: [Provider; 2],
}

impl Pair {
    async fn start() -> Pair {
        let turns = |name: &str| -> Vec<Turn> {
            let answer = |n: usize| Reply::call("new_answer", json!({"content": format!("Answer {n} of {name}.")}));
            (0..40).map(|n| Turn::Says(answer(n), 64)).collect()
        };
        let models = [
            Provider::start(Spelling::Openai, turns("ann")).await,
            Provider::start(Spelling::Openai, turns("bob")).await,
        ];
        let config = format!(
            "models:\n  a: {{ provider: openai, model: m, base_url: \"{}\" }}\n  b: {{ provider: openai, model: m, base_url: \"{}\" }}\n\
             agents: {{ ann: {{ model: a }}, bob: {{ model: b }} }}\n\
             teams: {{ panel: {{ agents: [ann, bob], skip_voting: true, ending: reuse }} }}\n",
            models[0].base_url(),
            models[1].base_url(),
        );
        Pair { hub: support::builder().config(&config).start().await, models }
    }

    /// What both members were shown last.
    fn shown(&self) -> [String; 2] {
        self.models.each_ref().map(|model| model.asked().last().expect("it was asked").body["messages"].to_string())
    }

    /// After the first turn: neither was shown an earlier one, whatever others have said to the team.
    fn begins(&self, wire: &str) {
        for shown in self.shown() {
            assert!(shown.contains(FIRST) && !shown.contains("Answer "), "{wire}: {shown}");
        }
    }

    /// After the second: both were shown the first question and the team's answer to it.
    fn goes_on(&self, wire: &str) {
        for shown in self.shown() {
            let places = [FIRST, "Answer ", SECOND].map(|text| shown.find(text));
            assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{wire}: {shown}");
        }
    }
}

#[tokio::test]
async fn the_second_turn_uses_the_first_in_every_protocol() {
    let pair = Pair::start().await;
    let hub = &pair.hub;

    let body =
        |text: &str, conversation: &Value| json!({"skill": "panel/chat", "text": text, "conversation": conversation});
    let first = hub.post_json("/api/exchanges", &json!({"skill": "panel/chat", "text": FIRST})).await.json();
    pair.begins("api");
    let second = hub.post_json("/api/exchanges", &body(SECOND, &first["conversation"])).await.json();
    assert_eq!(words(&second), "Answer 1 of ann.", "{second}");
    pair.goes_on("api");

    let text = |text: &str| json!({"format": "text", "subformat": "english", "content": text});
    let first = hub.post_json("/agents/panel/nlip", &text(FIRST)).await.json();
    pair.begins("nlip");
    let parts = first["submessages"].as_array().cloned().unwrap_or_default();
    let tokens: Vec<Value> = parts.into_iter().filter(|part| part["format"] == "token").collect();
    let mut next = text(SECOND);
    next["submessages"] = tokens.into();
    hub.post_json("/agents/panel/nlip", &next).await;
    pair.goes_on("nlip");

    let message = |id: &str, text: &str| json!({"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]});
    let rpc = async |message: Value| {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
        send(hub, Method::POST, "/agents/panel/a2a", &[("a2a-version", "1.0")], Some(body)).await.json()
    };
    let first = rpc(message("m1", FIRST)).await;
    pair.begins("a2a");
    let mut next = message("m2", SECOND);
    next["contextId"] = first["result"]["task"]["contextId"].clone();
    assert!(next["contextId"].is_string(), "{first}");
    rpc(next).await;
    pair.goes_on("a2a");

    let modern = Modern::new(hub);
    let first = modern.call("panel__chat", json!({"message": FIRST})).await;
    pair.begins("mcp");
    let conversation = &first["structuredContent"]["conversation"];
    assert!(conversation.is_string(), "{first}");
    modern.call("panel__chat", json!({"message": SECOND, "conversation": conversation})).await;
    pair.goes_on("mcp");

    chat(hub, format!("{FIRST}\n{SECOND}\n")).await;
    pair.goes_on("command line");
}

/// Runs `interlingua chat panel` with these lines on its standard input.
async fn chat(hub: &Hub, lines: String) {
    let (address, token) = (hub.url(""), hub.token().expect("a token"));
    let ran = tokio::task::spawn_blocking(move || {
        let mut child = Command::new(env!("CARGO_BIN_EXE_interlingua"))
            .args(["chat", "panel", "--hub", &address])
            .env("INTERLINGUA_TOKEN", token)
            .env_remove("INTERLINGUA_HUB")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        child.stdin.take().expect("a pipe").write_all(lines.as_bytes()).expect("it reads");
        child.wait_with_output().expect("it ends")
    });
    let output = ran.await.expect("ran");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test]
async fn history_pictures_and_data_that_were_sent_along_reach_every_member_and_a_file_is_a_declared_loss() {
    let pair = Pair::start().await;
    let message = json!({
        "format": "text", "subformat": "english", "content": "What is this?",
        "submessages": [
            {"format": "binary", "subformat": "image/png", "content": "iVBORw0KGgo="},
            {"format": "structured", "subformat": "json", "content": {"taken": "in Oslo"}},
            {"format": "binary", "subformat": "generic/zip", "content": "UEsDBA=="},
            {"format": "text", "subformat": "english", "content": "It is a fjord.", "label": "user:1"},
        ],
    });
    let answer = pair.hub.post_json("/agents/panel/nlip", &message).await.json();
    for shown in pair.shown() {
        for text in ["What is this?", "iVBORw0KGgo=", "in Oslo", "an attachment", "It is a fjord."] {
            assert!(shown.contains(text), "{text}: {shown}");
        }
    }
    assert!(answer.to_string().contains("input.parts.blob"), "what no model is shown is told as lost: {answer}");
}

#[tokio::test]
async fn the_conversation_is_remembered_through_kill_9_and_forgotten_when_its_owner_says_so() {
    let mut pair = Pair::start().await;
    let say = async |hub: &Hub, text: &str, conversation: &Value| {
        let body = json!({"skill": "panel/chat", "text": text, "conversation": conversation});
        hub.post_json("/api/exchanges", &body).await.json()
    };
    let first = pair.hub.post_json("/api/exchanges", &json!({"skill": "panel/chat", "text": FIRST})).await.json();
    let conversation = first["conversation"].clone();
    pair.hub.restart().await;
    say(&pair.hub, SECOND, &conversation).await;
    pair.goes_on("after a restart");
    let path = format!("/api/conversations/{}", conversation.as_str().expect("a conversation"));
    let gone = send(&pair.hub, Method::DELETE, &path, &[], None).await;
    assert!(gone.status < 300, "{}", gone.text());
    say(&pair.hub, FIRST, &conversation).await;
    pair.begins("after it was forgotten");
}
