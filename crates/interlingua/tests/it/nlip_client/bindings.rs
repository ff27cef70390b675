//! ECMA-431 and 432 as a client.

use interlingua_testkit::{Peer, Say, Scripted, scripted};
use std::sync::atomic::Ordering;
use tokio_websockets::Message;

use super::*;

fn socket(address: std::net::SocketAddr, binding: &str) -> String {
    let path = if binding == "ws" { "/nlip/ws" } else { "/nlip/ws/text" };
    format!("{{ hub: true, nlip: {{ url: \"ws://{address}{path}\", binding: {binding} }} }}")
}

#[tokio::test]
async fn n_42_http_1_1_is_spoken_and_a_connection_is_used_again() {
    let scripted = Scripted::http(|_, _| says("hello")).await;
    let hub = hub(&[("desk", agent(scripted.address()))]).await;
    hub.post_json("/agents/desk/nlip", &text("one")).await;
    hub.post_json("/agents/desk/nlip", &text("two")).await;
    let heard = scripted.heard();
    assert_eq!(heard[0].version, http::Version::HTTP_11);
    assert_eq!(heard[0].connection, heard[1].connection);
    assert_eq!(heard[0].header("content-type"), Some("application/json"));
}

#[tokio::test]
async fn the_way_the_deadline_and_the_trace_go_with_a_call() {
    let scripted = Scripted::http(|_, _| says("hello")).await;
    let hub = hub(&[("desk", agent(scripted.address()))]).await;
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let request = interlingua_testkit::request(http::Method::POST, "/agents/desk/nlip")
        .header("content-type", "application/json")
        .header("interlingua-via", "first-hub")
        .header("interlingua-priority", "7")
        .header("interlingua-deadline", "30s")
        .header("traceparent", trace)
        .body(text("one").to_string().into())
        .expect("a request");
    let answer = hub.connect().await.send(request).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let heard = &scripted.heard()[0];
    let own = std::fs::read_to_string(hub.data().join("hub.id")).expect("the hub's id");
    assert_eq!(heard.header("interlingua-via"), Some(&*format!("first-hub, {}", own.trim())));
    assert_eq!(heard.header("interlingua-priority"), Some("7"));
    assert!(heard.header("interlingua-deadline").is_some());
    let carried = heard.header("traceparent").expect("a trace");
    assert_eq!(carried.split('-').nth(1), trace.split('-').nth(1), "the trace goes on");
}

/// nlip-server answers 307 at `/nlip`; its door is `/nlip/`.
#[tokio::test]
async fn a_server_that_redirects_to_the_other_slash_is_spoken_to_there() {
    let concierge = Peer::nlip_server("concierge:app").await;
    let hub = hub(&[("concierge", agent(concierge.address()))]).await;
    let answer = hub.post_json("/agents/concierge/nlip", &text("hello")).await;
    assert!(answer.text().contains("The concierge heard: hello"), "{}", answer.text());
}

#[tokio::test]
async fn a_redirect_to_another_host_is_not_followed() {
    let (elsewhere, connections) = scripted::counting_listener().await;
    let location = format!("http://{elsewhere}/nlip");
    let scripted =
        Scripted::http(move |_, _| Say::Status(307, vec![("location", location.clone())], Value::Null)).await;
    let hub = hub(&[("desk", agent(scripted.address()))]).await;
    let answer = hub.post_json("/agents/desk/nlip", &text("one")).await;
    assert_eq!(answer.json()["messagetype"], "error", "{}", answer.text());
    assert_eq!(connections.load(Ordering::SeqCst), 0);
    assert_eq!(scripted.heard().len(), 2, "both spellings of its door, once");
}

#[tokio::test]
async fn n_34_n_55_a_text_socket_carries_json_and_one_conversation() {
    let scripted = Scripted::websocket(|_, before| {
        let reply = with(text("hello"), [token("conversation_srv", &format!("t{before}"))]);
        Some(Message::text(reply.to_string()))
    })
    .await;
    let hub = hub(&[("desk", socket(scripted.address(), "ws-text"))]).await;
    let first = hub.post_json("/agents/desk/nlip", &text("one")).await.json();
    hub.post_json("/agents/desk/nlip", &then(&first, "two")).await;
    hub.post_json("/agents/desk/nlip", &text("a stranger")).await;

    let heard = conversed(&scripted);
    let [(number, one), (_, two), (_, stranger)] = heard.as_slice() else { panic!("three messages: {heard:?}") };
    assert_eq!(one.path, "/nlip/ws/text");
    assert_eq!(one.connection, two.connection, "one socket for one conversation");
    assert_ne!(one.connection, stranger.connection, "another for another");
    assert_eq!(tokens(&two.json()), [token("conversation_srv", &format!("t{number}"))]);
    assert!(labelled(&one.json(), "interlingua-via").is_some(), "no header goes with a message here");
}

#[tokio::test]
async fn n_52_n_53_a_socket_carries_cbor_with_bytes_as_bytes() {
    let scripted = Scripted::websocket(|message, _| Some(Message::binary(message.as_payload().to_vec()))).await;
    let hub = hub(&[("desk", socket(scripted.address(), "ws"))]).await;
    let image = serde_json::json!({"format": "binary", "subformat": "image/png", "content": "iVBORw0KGgo="});
    let answer = hub.post_json("/agents/desk/nlip", &with(text("look"), [image.clone()])).await.json();
    assert_eq!(answer["content"], "look", "{answer}");
    assert!(submessages(&answer).contains(&image), "there and back: {answer}");
    let (_, heard) = &conversed(&scripted)[0];
    assert_eq!(heard.path, "/nlip/ws");
    let png = b"\x48\x89PNG\r\n\x1a\n";
    assert!(heard.body.windows(png.len()).any(|window| window == png), "a byte string of eight, no base64");
}

#[tokio::test]
async fn a_socket_that_was_closed_is_opened_anew() {
    let scripted = Scripted::websocket(|_, before| match before {
        0 => Some(Message::text(text("hello").to_string())),
        1 => None,
        _ => Some(Message::text(text("back").to_string())),
    })
    .await;
    let line = socket(scripted.address(), "ws-text").replace("hub: true", "effects: reads");
    let hub = hub(&[("desk", line)]).await;
    let first = hub.post_json("/agents/desk/nlip", &text("one")).await.json();
    let second = hub.post_json("/agents/desk/nlip", &then(&first, "two")).await.json();
    assert_eq!(second["content"], "back", "{second}");
    assert_eq!(scripted.heard().len(), 3, "closed on the second, said again on a new one");
}
