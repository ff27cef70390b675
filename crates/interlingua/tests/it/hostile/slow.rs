//! Senders that never finish: each takes one connection, and affects nobody else.

use std::time::Duration;

use interlingua_testkit::raw::Raw;

use super::{assert_well, hub, under_watch};

const SENDERS: usize = 200;

#[tokio::test]
async fn hostile_heads_sent_byte_by_byte_keep_nobody_waiting() {
    let hub = hub().await;
    let head = format!(
        "POST /nlip HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n{}",
        hub.address(),
        hub.bearer_line()
    );
    let senders = under_watch(&hub, trickle(&hub, head.as_bytes(), 20)).await;
    assert_well(&hub).await;
    drop(senders);
}

#[tokio::test]
async fn hostile_bodies_sent_byte_by_byte_keep_nobody_waiting() {
    let hub = hub().await;
    let head = format!(
        "POST /nlip HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n{}\r\n{{\"format\":",
        hub.address(),
        hub.bearer_line()
    );
    let senders = under_watch(&hub, trickle(&hub, head.as_bytes(), head.len())).await;
    assert_well(&hub).await;
    drop(senders);
}

#[tokio::test]
async fn hostile_readers_that_never_read_keep_nobody_waiting() {
    let hub = hub().await;
    let body = format!(
        r#"{{"format":"text","subformat":"english","content":"hello","submessages":[{{"format":"token","subformat":"conversation","content":"{}"}}]}}"#,
        "x".repeat(1 << 20)
    );
    let whole = format!(
        "POST /nlip HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{}\r\n{body}",
        hub.address(),
        body.len(),
        hub.bearer_line()
    );
    let attack = async {
        let mut readers = Vec::new();
        for _ in 0..20 {
            let mut raw = Raw::connect(hub.address()).await;
            raw.write(whole.as_bytes()).await;
            readers.push(raw);
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        readers
    };
    let readers = under_watch(&hub, attack).await;
    assert_well(&hub).await;
    drop(readers);
}

/// Many connections, each of which sends the first `whole` bytes at once and then one byte at a time.
async fn trickle(hub: &interlingua_testkit::Hub, bytes: &[u8], whole: usize) -> Vec<Raw> {
    let mut senders = Vec::new();
    for _ in 0..SENDERS {
        let mut raw = Raw::connect(hub.address()).await;
        raw.write(&bytes[..whole]).await;
        senders.push(raw);
    }
    for byte in bytes[whole..].iter().chain(b"       ").take(40) {
        for sender in &mut senders {
            sender.write(&[*byte]).await;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    senders
}
