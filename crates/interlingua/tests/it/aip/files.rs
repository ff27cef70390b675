//! File transfer: a device sends a file to the hub, which stores it whole or not at all, and fetches one from it. The device's side is
//! written here by hand, with a checksum of another implementation.

use interlingua_testkit::Hub;
use serde_json::{Value, json};

use super::{Client, hub};

const CHUNK: usize = 10_000;
/// Of [`content`], as Python's hashlib says: `hashlib.md5(bytes(n % 251 for n in range(25000))).hexdigest()`.
const MD5: &str = "c43224f8f1ccd67c53a063c4231209fa";

async fn wide(hub: &Hub) -> Client {
    Client::registered(hub, "/aip/ws", super::device("dev1")).await
}

fn content() -> Vec<u8> {
    (0..25_000_u32).map(|n| u8::try_from(n % 251).expect("small")).collect()
}

/// Sends a file; `spoil` may change a chunk on its way.
async fn send(client: &mut Client, content: &[u8], spoil: impl Fn(usize, &mut Vec<u8>)) {
    let chunks = content.chunks(CHUNK).count();
    client
        .say(
            json!({"type": "file_transfer_start", "filename": "report.bin", "size": content.len(), "chunk_size": CHUNK,
            "total_chunks": chunks, "mime_type": "application/x-report"}),
        )
        .await;
    for (index, chunk) in content.chunks(CHUNK).enumerate() {
        client
            .say(json!({"chunk_num": index, "chunk_size": chunk.len(), "type": "binary_data", "size": chunk.len(),
                "timestamp": "2026-11-15T06:28:04.245606+00:00"}))
            .await;
        let mut bytes = chunk.to_vec();
        spoil(index, &mut bytes);
        client.socket.send_binary(bytes).await;
    }
    client
        .say(json!({"type": "file_transfer_complete", "filename": "report.bin", "total_chunks": chunks, "checksum": MD5}))
        .await;
}

async fn artifacts(hub: &Hub) -> usize {
    hub.get("/api/artifacts").await.json()["items"].as_array().expect("a list").len()
}

/// The file that a connection is sent, heading by heading as the format says.
async fn receive(client: &mut Client) -> Vec<u8> {
    let heading = async |client: &mut Client| -> Value {
        let message = client.socket.next_data().await;
        serde_json::from_str(message.as_text().expect("a heading")).expect("JSON")
    };
    let start = heading(client).await;
    assert_eq!((&start["type"], &start["filename"]), (&json!("file_transfer_start"), &json!("report.bin")), "{start}");
    assert_eq!((&start["size"], &start["mime_type"]), (&json!(25_000), &json!("application/x-report")), "{start}");
    let chunk_size = start["chunk_size"].as_u64().expect("a size");
    let chunks = 25_000_u64.div_ceil(chunk_size);
    assert_eq!(start["total_chunks"], chunks, "{start}");
    let mut content = Vec::new();
    for index in 0..chunks {
        let data = heading(client).await;
        assert_eq!((&data["type"], &data["chunk_num"]), (&json!("binary_data"), &json!(index)), "{data}");
        let bytes = client.socket.next_data().await.into_payload();
        assert_eq!((&data["size"], &data["chunk_size"]), (&json!(bytes.len()), &json!(bytes.len())), "{data}");
        content.extend_from_slice(&bytes);
    }
    let complete = heading(client).await;
    assert_eq!(complete["type"], "file_transfer_complete", "{complete}");
    assert_eq!((&complete["filename"], &complete["total_chunks"]), (&start["filename"], &json!(chunks)), "{complete}");
    assert_eq!(complete["checksum"], MD5, "the sum of the whole file");
    content
}

#[tokio::test]
async fn p_50_a_file_that_arrives_whole_is_an_artifact_and_can_be_fetched_back() {
    let hub = hub("").await;
    let mut device = wide(&hub).await;
    send(&mut device, &content(), |_, _| {}).await;
    let taken = device.hear_a("heartbeat").await;
    assert_eq!((&taken["status"], &taken["result"]["size"]), (&json!("ok"), &json!(25_000)));
    let id = taken["result"]["artifact"].as_str().expect("an artifact").to_owned();
    let shown = hub.get(&format!("/api/artifacts/{id}")).await.json();
    assert_eq!((&shown["name"], &shown["media"]), (&json!("report.bin"), &json!("application/x-report")), "{shown}");
    assert_eq!(hub.get(&format!("/api/artifacts/{id}/content")).await.body, content());
    device.say(json!({"type": "file_request", "status": "ok", "artifact": id})).await;
    assert_eq!(receive(&mut device).await, content());
    device.say(json!({"type": "file_request", "status": "ok", "artifact": "nothing"})).await;
    device.hear_a("error").await;
    device.say(json!({"type": "binary_data", "size": 5, "mine": true})).await;
    device.socket.send_binary(b"hello".to_vec()).await;
    let taken = device.hear_a("heartbeat").await;
    assert_eq!(taken["result"]["size"], 5, "bytes may come without a file around them");
    device.is_quiet("device").await;
}

#[tokio::test]
async fn p_50_a_file_that_breaks_a_rule_leaves_nothing_and_the_connection_stays() {
    let hub = hub("").await;
    let mut device = wide(&hub).await;
    let errors = |frames: &[Value]| {
        frames.iter().map(|frame| frame["error"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    send(&mut device, &content(), |index, bytes| {
        if index == 1 {
            bytes[7] ^= 1;
        }
    })
    .await;
    assert_eq!(device.hear_a("error").await["error"], "the checksum is not that of the bytes");
    send(&mut device, &content(), |index, bytes| bytes.truncate(if index == 2 { 10 } else { CHUNK })).await;
    let frames = [device.hear_a("error").await, device.hear_a("error").await];
    let size = "a binary frame has not the size it was announced with";
    assert_eq!(errors(&frames), [size, "a binary frame came that was not announced"], "what follows is nobody's");
    device.socket.send_binary(b"hello".to_vec()).await;
    assert_eq!(device.hear_a("error").await["error"], "a binary frame came that was not announced");
    let huge = json!({"type": "file_transfer_start", "filename": "x", "size": 1_u64 << 60, "chunk_size": 1_u64 << 59, "total_chunks": 2});
    device.say(huge).await;
    assert!(device.hear_a("error").await["error"].as_str().is_some_and(|text| text.contains("larger than")));
    assert_eq!(artifacts(&hub).await, 0);
    device.is_quiet("device").await;

    let mut plain = Client::device(&hub, "dev2").await;
    plain.say(json!({"type": "binary_data", "size": 5})).await;
    plain.hear_a("error").await;
    plain.socket.send_binary(b"hello".to_vec()).await;
    plain.hear_a("error").await;
    plain.is_quiet("device").await;
    assert_eq!(artifacts(&hub).await, 0, "nothing of it is spoken where it was not agreed on");
}
