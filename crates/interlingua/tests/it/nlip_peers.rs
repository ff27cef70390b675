//! The hub between programs other people wrote: `nlip-sdk` in front of it, `nlip-server` behind it.

use interlingua_testkit::{Connection, Hub, Peer, request, run_script_as};
use serde_json::{Value, json};

async fn hub_before(peers: &[(&str, &Peer)]) -> Hub {
    let entries = peers.iter().map(|(name, peer)| {
        format!("  {name}: {{ nlip: {{ url: \"http://{}/nlip/\" }}, effects: reads }}\n", peer.address())
    });
    let yaml = format!("peers:\n{}", entries.collect::<String>());
    Hub::start(env!("CARGO_BIN_EXE_interlingua"), &yaml).await
}

fn saying(text: &str, tokens: &[(&str, &str)]) -> Value {
    let tokens: Vec<Value> = tokens.iter().map(|(kind, content)| token(kind, content)).collect();
    let mut message = json!({"format": "text", "subformat": "english", "content": text});
    if !tokens.is_empty() {
        message["submessages"] = tokens.into();
    }
    message
}

fn token(kind: &str, content: &str) -> Value {
    json!({"format": "token", "subformat": kind, "content": content})
}

/// The tokens of a message, as they could be sent back.
fn tokens(message: &Value) -> Vec<Value> {
    let parts = message["submessages"].as_array().cloned().unwrap_or_default();
    parts.into_iter().filter(|part| part["format"] == "token").collect()
}

async fn seen(peer: &Peer) -> Vec<Value> {
    let sent = request(http::Method::GET, "/seen").body(http_body_util::Full::default()).expect("a request");
    let answer = Connection::http1(peer.address()).await.send(sent).await;
    answer.json().as_array().cloned().expect("a list")
}

#[tokio::test]
async fn the_reference_client_holds_against_the_hub() {
    let hub = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).start().await;
    let said = run_script_as(hub.token(), "nlip/client.py", &[&hub.url("/nlip")]).await;
    assert!(said.contains("15 of 15 checks hold"), "{said}");
}

/// The block of the README, as it stands there, with this hub's address and token.
#[tokio::test]
async fn the_readmes_python_reads_what_the_hub_answers() {
    let hub = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).start().await;
    let readme = std::fs::read_to_string(interlingua_testkit::root().join("README.md")).expect("the README");
    let block =
        readme.split("```python\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block of Python");
    let directory = tempfile::tempdir().expect("a directory");
    let (script, token) = (directory.path().join("readme.py"), directory.path().join("token"));
    std::fs::write(&token, hub.token().expect("a token")).expect("it is written");
    let adapted = block
        .replace("\"data/token\"", &format!("{:?}", token.display().to_string()))
        .replace("http://127.0.0.1:7447", &hub.url(""));
    assert_ne!(adapted, block, "the block names the hub and the token");
    std::fs::write(&script, adapted).expect("it is written");
    let said = run_script_as(None, &script.display().to_string(), &[]).await;
    assert!(said.contains("I can do this:"), "{said}");
}

#[tokio::test]
async fn the_reference_server_answers_through_the_hub() {
    let concierge = Peer::nlip_server("concierge:app").await;
    let hub = hub_before(&[("concierge", &concierge)]).await;
    let answer = hub.post_json("/agents/concierge/nlip", &saying("a table for two", &[])).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(answer.text().contains("The concierge heard: a table for two"), "{}", answer.text());
}

#[tokio::test]
async fn n_34_the_peers_tokens_go_back_to_it_unmodified() {
    let concierge = Peer::nlip_server("concierge:app").await;
    let hub = hub_before(&[("concierge", &concierge)]).await;
    let first = hub.post_json("/agents/concierge/nlip", &saying("one", &[])).await.json();
    let mut second = saying("two", &[]);
    second["submessages"] = tokens(&first).into();
    hub.post_json("/agents/concierge/nlip", &second).await;

    let asked = seen(&concierge).await;
    let returned = tokens(&asked[1]);
    assert!(returned.contains(&token("conversation_concierge", "desk-1")), "{returned:?}");
    assert!(returned.contains(&token("authentication", "badge-of-the-concierge")), "{returned:?}");
}

#[tokio::test]
async fn n_69_tokens_stay_on_their_own_hop() {
    let concierge = Peer::nlip_server("concierge:app").await;
    let porter = Peer::nlip_server("concierge:app").await;
    let hub = hub_before(&[("concierge", &concierge), ("porter", &porter)]).await;
    let mine = [("authentication", "secret-of-the-caller"), ("conversation_me", "my-conversation")];
    let first = hub.post_json("/agents/concierge/nlip", &saying("one", &mine)).await;
    let body = first.text();
    assert!(
        !body.contains("badge-of-the-concierge") && !body.contains("desk-1"),
        "a peer's token reached the caller: {body}"
    );
    for (kind, content) in mine {
        assert!(tokens(&first.json()).contains(&token(kind, content)), "{kind} is not echoed: {body}");
    }

    let mut second = saying("two", &[]);
    second["submessages"] = tokens(&first.json()).into();
    hub.post_json("/agents/porter/nlip", &second).await;
    for (name, peer, said) in [("concierge", &concierge, "one"), ("porter", &porter, "two")] {
        let heard = seen(peer).await;
        assert!(heard.len() == 1 && heard[0]["content"] == said, "{name} was not asked once: {heard:?}");
        let heard = Value::from(heard).to_string();
        assert!(!heard.contains("secret-of-the-caller"), "{name} was told the caller's secret: {heard}");
        assert!(!heard.contains("my-conversation"), "{name} was told the caller's conversation: {heard}");
    }
    let heard = Value::from(seen(&porter).await).to_string();
    for token in ["badge-of-the-concierge", "desk-1"] {
        assert!(!heard.contains(token), "the porter was shown a token of the concierge: {heard}");
    }
}

#[tokio::test]
async fn n_49_what_fails_inside_a_peer_stays_there() {
    let concierge = Peer::nlip_server("concierge:app").await;
    let hub = hub_before(&[("concierge", &concierge)]).await;
    let answer = hub.post_json("/agents/concierge/nlip", &saying("please fail", &[])).await;
    assert_eq!(answer.json()["messagetype"], "error", "{}", answer.text());
    // It did get there, and it was the peer that failed: only then is there a detail to keep.
    let asked = seen(&concierge).await;
    assert!(asked.len() == 1 && asked[0]["content"] == "please fail", "{asked:?}");
    assert!(answer.text().contains("peer_failed"), "{}", answer.text());
    assert!(!answer.text().contains("secret detail"), "{}", answer.text());
}

#[tokio::test]
async fn a_peer_that_dies_is_a_fault_and_leaves_the_hub_ready() {
    let mut concierge = Peer::nlip_server("concierge:app").await;
    let hub = hub_before(&[("concierge", &concierge)]).await;
    concierge.process().kill_9();
    let answer = hub.post_json("/agents/concierge/nlip", &saying("anyone there?", &[])).await;
    assert_eq!(answer.json()["messagetype"], "error", "{}", answer.text());
    assert_eq!(hub.get("/readyz").await.status, 200);
}
