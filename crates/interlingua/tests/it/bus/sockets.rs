//! The same events over the sockets of NLIP.

use http::Method;
use interlingua_testkit::WebSocket;
use serde_json::{Value, json};

use super::post;
use crate::support::{hub, streaming};

/// A message whose only word is about a topic.
fn about(content: Value) -> String {
    let topic = json!({"format": "structured", "subformat": "json", "label": "interlingua-topic", "content": content});
    json!({"format": "text", "subformat": "english", "content": "", "submessages": [topic]}).to_string()
}

async fn say(socket: &mut WebSocket, content: Value) -> Value {
    socket.send_text(about(content)).await;
    next(socket).await
}

async fn next(socket: &mut WebSocket) -> Value {
    socket.next_json().await
}

/// The event in a message of the hub.
fn event(message: &Value) -> &Value {
    let ours = message["submessages"].as_array().into_iter().flatten();
    let mut ours = ours.filter(|submessage| submessage["label"] == "interlingua-topic");
    ours.next().map(|submessage| &submessage["content"]).unwrap_or_else(|| panic!("no event: {message}"))
}

#[tokio::test]
async fn events_are_heard_and_published_over_a_socket_as_over_http() {
    let hub = hub("").await;
    let mut socket = hub.websocket("/nlip/ws/text").await;
    let begun = say(&mut socket, json!({"subscribe": "travel.**"})).await;
    assert_eq!(begun["content"], "Listening to travel.**.", "{begun}");
    let (_connection, mut stream) = streaming(&hub, Method::GET, "/api/messages?topic=travel.**", &[], None).await;

    let over_http =
        json!({"message_type": "event", "from_agent": "planner", "topic": "travel.flights", "content": {"n": 1}});
    assert_eq!(post(&hub, over_http).await.status, 202);
    let heard = next(&mut socket).await;
    assert_eq!(heard["content"], json!({"n": 1}), "{heard}");
    assert_eq!((&event(&heard)["topic"], &event(&heard)["from"]), (&json!("travel.flights"), &json!("planner")));
    assert!(stream.next().await.expect("an event").contains("planner"));

    let mut other = hub.websocket("/nlip/ws/text").await;
    let published = say(&mut other, json!({"publish": "travel.hotels", "content": {"n": 2}})).await;
    assert!(
        published["content"].as_str().is_some_and(|text| text.starts_with("Published on travel.hotels")),
        "{published}"
    );
    let heard = next(&mut socket).await;
    assert_eq!((&heard["content"], &event(&heard)["by"]), (&json!({"n": 2}), &json!("owner")));
    let told: Value = serde_json::from_str(&stream.next().await.expect("an event")).expect("JSON");
    assert_eq!(told["content"], json!({"n": 2}));

    // From after the first one, on a socket of its own.
    let seq = event(&heard)["seq"].as_u64().expect("a number");
    let mut late = hub.websocket("/nlip/ws/text").await;
    say(&mut late, json!({"subscribe": "**", "after": seq - 1})).await;
    assert_eq!(next(&mut late).await["content"], json!({"n": 2}));

    let ended = say(&mut socket, json!({"unsubscribe": "travel.**"})).await;
    assert_eq!(ended["content"], "No longer listening to travel.**.");
    say(&mut other, json!({"publish": "travel.hotels", "content": {"n": 3}})).await;
    let answer = say(&mut socket, json!({"publish": "elsewhere", "content": {}})).await;
    assert!(
        answer["content"].as_str().is_some_and(|text| text.starts_with("Published on elsewhere")),
        "nothing between: {answer}"
    );
}

#[tokio::test]
async fn a_wish_that_does_not_fit_is_refused_and_the_socket_goes_on() {
    let hub = hub("").await;
    let mut socket = hub.websocket("/nlip/ws/text").await;
    for wrong in [
        json!({}),
        json!({"subscribe": "a b"}),
        json!({"publish": "a", "content": 1}),
        json!({"publish": "*", "content": {}}),
    ] {
        let refused = say(&mut socket, wrong.clone()).await;
        assert_eq!(refused["messagetype"], "error", "{wrong}: {refused}");
    }
    let listening = hub.post("/nlip", "application/json", about(json!({"subscribe": "a"}))).await;
    assert_eq!((listening.status, &listening.json()["messagetype"]), (422, &json!("error")), "{}", listening.text());
    let published = hub.post("/nlip", "application/json", about(json!({"publish": "a", "content": {}}))).await;
    assert_eq!(published.status, 200, "{}", published.text());
}
