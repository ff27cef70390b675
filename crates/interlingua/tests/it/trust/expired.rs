//! Whatever is open when a credential expires ends by the clock, without any message or change.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::Method;
use interlingua_testkit::raw::{Fin, Opcode};
use interlingua_testkit::{Connection, Events, Hub, within};
use serde_json::json;

use super::revoked::{ANN, WHY, last};
use crate::support::{builder, send, until};

const CONFIG: &str = "
tools: { directory: ./tools }
aip: { list_tools: 0s, heartbeat: 5m }
access: { tokens: file:./tokens.yaml }
";

async fn hub() -> Hub {
    builder().file("tokens.yaml", "[]").config(CONFIG).start().await
}

/// When the clock will have gone on so far, in milliseconds.
fn after(seconds: u64) -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    i64::try_from((now + Duration::from_secs(seconds)).as_millis()).expect("in time")
}

/// Gives ann a token that expires so soon; false when it has before anybody saw it.
async fn granted(hub: &Hub, seconds: u64) -> bool {
    let expires = after(seconds);
    let written = jiff::Timestamp::from_millisecond(expires).expect("a time");
    hub.write("tokens.yaml", format!("- {{ name: ann, token: ilg_ann, register: true, expires: \"{written}\" }}\n"));
    let mut in_time = true;
    until("the token", async || {
        in_time = after(0) < expires;
        !in_time || is_known(hub).await
    })
    .await;
    in_time
}

/// Opens with a token that expires soon, and with one that takes longer where that was too soon on a busy machine.
pub(super) async fn opened<T>(hub: &Hub, open: impl AsyncFn(&Hub) -> Option<T>) -> T {
    for seconds in [4, 8, 16, 32, 64] {
        if granted(hub, seconds).await
            && let Some(opened) = open(hub).await
        {
            return opened;
        }
    }
    panic!("a minute was too short");
}

pub(super) async fn is_known(hub: &Hub) -> bool {
    send(hub, Method::GET, "/api/tasks", &[ANN], None).await.status == 200
}

async fn watched(hub: &Hub) -> Option<(Connection, Events)> {
    let started = send(hub, Method::POST, "/api/tasks", &[ANN], Some(json!({"skill": "local/slow"}))).await;
    if started.status != 202 {
        return None;
    }
    let path = format!("/api/tasks/{}/events", started.json()["id"].as_str().expect("an id"));
    let is_there = send(hub, Method::GET, &path, &[ANN], None).await.status == 200;
    if !is_there {
        return None;
    }
    let mut connection = hub.connect().await;
    let sent = interlingua_testkit::request(Method::GET, &path).header("accept", "text/event-stream");
    let sent = sent.header(ANN.0, ANN.1).body(http_body_util::Full::default()).expect("a request");
    let events = connection.events(sent).await;
    (events.status == 200).then_some((connection, events))
}

#[tokio::test]
async fn a_stream_of_events_ends_when_its_credential_expires() {
    let hub = hub().await;
    let (_connection, mut events) = opened(&hub, watched).await;
    let told = last(&mut events).await.unwrap_or_default();
    assert!(told.contains(WHY), "{told}");
    assert!(!is_known(&hub).await, "and not before");
}

#[tokio::test]
async fn a_socket_is_closed_when_its_credential_expires_though_nobody_speaks() {
    let hub = hub().await;
    let mut socket = opened(&hub, async |hub| hub.frames("/nlip/ws/text", &[ANN]).await.ok()).await;
    assert_eq!(socket.read_close_code().await, Some(1008));
    assert!(!is_known(&hub).await, "and not before");
}

/// Every sign of life puts off the time at which the connection is looked at.
#[tokio::test]
async fn p_02_a_device_that_pings_past_the_expiry_of_its_token_is_closed() {
    let hub = hub().await;
    let mut socket = opened(&hub, async |hub| hub.frames("/ws", &[ANN]).await.ok()).await;
    let register = json!({"type": "register", "status": "ok", "client_type": "device", "client_id": "box",
        "metadata": {"platform": "linux", "system_info": {"device_id": "box", "platform": "linux"}}});
    socket.send(Fin::Last, Opcode::Text, register.to_string().as_bytes()).await;
    let closed = within("the end", async {
        loop {
            socket.send(Fin::Last, Opcode::Ping, b"there?").await;
            // Each ping is answered, so that the next comes when this one was heard.
            let (first, payload) = loop {
                match socket.read().await {
                    Some((first, payload)) if matches!(first & 0x0F, 0x8 | 0xA) => break (first, payload),
                    Some(_) => {}
                    None => return None,
                }
            };
            if first & 0x0F == 0x8 {
                return payload.first_chunk().map(|code| u16::from_be_bytes(*code));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    assert_eq!(closed.await, Some(1008));
    assert!(!is_known(&hub).await, "and not before");
}
