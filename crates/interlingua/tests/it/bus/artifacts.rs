//! Artifacts of agents and tasks: stored once, read by the callers on the list.

use http::Method;
use http_body_util::Full;
use interlingua_testkit::{Answer, Hub, request};
use serde_json::{Value, json};

use super::{Working, as_user, hotel, post, register, wanted};
use crate::support::{hub, reaches, send, start};

const TOKENS: &str = "access: { tokens: [
  { name: ann, token: t-ann, register: true }, { name: bob, token: t-bob, register: true } ] }";

async fn share(hub: &Hub, token: &str, body: Value) -> Value {
    let answer = as_user(hub, token, Method::POST, "/api/artifacts", Some(body)).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()
}

async fn put(hub: &Hub, path: &str, media: &str, body: impl Into<bytes::Bytes>) -> Answer {
    let sent = request(Method::PUT, path).header("content-type", media).body(Full::new(body.into()));
    hub.connect().await.send(sent.expect("a request")).await
}

#[tokio::test]
async fn an_artifact_is_read_by_its_maker_and_by_those_on_its_list() {
    let hub = hub(TOKENS).await;
    let agent = json!({"agent_id": "bobs", "name": "Bob's", "capabilities": []});
    assert_eq!(as_user(&hub, "t-bob", Method::POST, "/api/agents", Some(agent)).await.status, 201);
    let own = json!({"type": "document", "name": "plan", "content": {"days": 3}, "metadata": {"v": 1}});
    let own = share(&hub, "t-ann", own).await;
    let path = format!("/api/artifacts/{}", own["artifact_id"].as_str().expect("an id"));
    assert_eq!(
        (&own["owner"], &own["access_control"], &own["type"]),
        (&json!("user:ann"), &json!([]), &json!("document"))
    );
    let reads = async |token: &str, path: &str| as_user(&hub, token, Method::GET, path, None).await.status;
    assert_eq!(as_user(&hub, "t-ann", Method::GET, &path, None).await.json()["content"], json!({"days": 3}));
    let content = format!("{path}/content");
    assert_eq!(
        (reads("t-bob", &path).await, reads("t-bob", &content).await),
        (404, 404),
        "nobody named is nobody else"
    );
    assert_eq!(hub.get(&path).await.status, 200, "the hub's own user may everything");

    let list = Some(json!({"access_control": ["bobs"]}));
    let relisted = as_user(&hub, "t-bob", Method::PUT, &format!("{path}/access"), list.clone()).await;
    assert_eq!(relisted.status, 404, "not theirs to change");
    assert_eq!(as_user(&hub, "t-ann", Method::PUT, &format!("{path}/access"), list).await.status, 200);
    assert_eq!((reads("t-bob", &path).await, reads("t-bob", &content).await), (200, 200));
    let seen = as_user(&hub, "t-bob", Method::GET, "/api/artifacts", None).await.json();
    assert_eq!(seen["items"][0]["artifact_id"], own["artifact_id"]);
    assert_eq!(as_user(&hub, "t-bob", Method::DELETE, &path, None).await.status, 404);
    for status in [204, 404] {
        assert_eq!(as_user(&hub, "t-ann", Method::DELETE, &path, None).await.status, status);
    }
    let origin = hub.url("");
    let nobody = [("origin", origin.as_str())];
    let stranger = send(&hub, Method::POST, "/api/artifacts", &nobody, Some(json!({"name": "x", "content": 1}))).await;
    assert_eq!(stranger.status, 401);
    let forged = json!({"name": "x", "content": 1, "created_by": "bobs"});
    assert_eq!(as_user(&hub, "t-ann", Method::POST, "/api/artifacts", Some(forged)).await.status, 403);
}

#[tokio::test]
async fn bytes_are_stored_once_and_read_whole_or_in_part() {
    let mut hub = hub("").await;
    let waits = hub.post_json("/api/artifacts", &json!({"name": "photo", "media": "image/png"})).await.json();
    let path = waits["content_path"].as_str().expect("a path");
    assert_eq!(hub.get(path).await.status, 404, "nothing has come");
    let bytes: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    let filled = put(&hub, path, "application/octet-stream", bytes.clone()).await;
    assert_eq!((filled.status, &filled.json()["size"]), (200, &json!(300_000)), "{}", filled.text());
    assert_eq!(put(&hub, path, "image/png", vec![1]).await.status, 409, "what was shared does not change");
    hub.restart().await;
    let whole = hub.get(path).await;
    assert_eq!((whole.status, whole.header("content-type")), (200, Some("application/octet-stream")));
    assert_eq!(whole.header("interlingua-media-type"), Some("image/png"));
    assert_eq!(whole.header("content-disposition"), Some("attachment"));
    assert!(whole.body == bytes, "the same bytes");
    let etag = whole.header("etag").expect("a tag").to_owned();
    assert_eq!(Some(etag.trim_matches('"')), filled.json()["sha256"].as_str());
    let part = send(&hub, Method::GET, path, &[("range", "bytes=10-19")], None).await;
    assert_eq!((part.status, part.header("content-range")), (206, Some("bytes 10-19/300000")));
    assert!(part.body == bytes[10..20], "ten bytes");
    let far = send(&hub, Method::GET, path, &[("range", "bytes=300000-")], None).await;
    assert_eq!((far.status, far.header("content-range")), (416, Some("bytes */300000")));
    assert_eq!(send(&hub, Method::GET, path, &[("if-none-match", &etag)], None).await.status, 304);
    let head = send(&hub, Method::HEAD, path, &[], None).await;
    assert_eq!((head.status, head.header("content-length"), head.body.len()), (200, Some("300000"), 0));

    let (one, two) = (json!({"name": "a", "content": "same"}), json!({"name": "b", "content": "same"}));
    let (one, two) =
        (hub.post_json("/api/artifacts", &one).await.json(), hub.post_json("/api/artifacts", &two).await.json());
    assert_eq!(one["sha256"], two["sha256"]);
    assert_ne!(one["artifact_id"], two["artifact_id"]);
    let list = hub.get("/api/artifacts?limit=2").await.json();
    assert_eq!(
        (&list["items"][0]["name"], &list["items"][1]["name"]),
        (&json!("b"), &json!("a")),
        "newest first: {list}"
    );
    let rest = hub.get(&format!("/api/artifacts?after={}", list["next"].as_str().expect("more"))).await.json();
    assert_eq!((&rest["items"][0]["name"], rest.get("next")), (&json!("photo"), None));
}

#[tokio::test]
async fn one_owner_does_not_fill_the_store() {
    let hub = hub("retention: { artifacts: 4KiB }").await;
    let shares = async |len: usize| {
        let body = json!({"name": "x", "content": "x".repeat(len)});
        hub.post_json("/api/artifacts", &body).await
    };
    let first = shares(1_000).await;
    assert_eq!(first.status, 201);
    assert_eq!(shares(100).await.status, 413, "a quarter of the store is full");
    let path = format!("/api/artifacts/{}", first.json()["artifact_id"].as_str().expect("an id"));
    assert_eq!(send(&hub, Method::DELETE, &path, &[], None).await.status, 204);
    assert_eq!(shares(100).await.status, 201, "what is forgotten makes room");
}

#[tokio::test]
async fn what_a_task_made_is_read_through_the_same_store() {
    let hub = hub("access: { tokens: [{ name: bob, token: t-bob }] }").await;
    register(&hub, hotel()).await;
    let mut agent = Working::begin(&hub, "agent_hotel").await;
    let task = start(&hub, json!({"skill": "agent_hotel/search_hotels", "arguments": wanted()})).await;
    let asked = agent.next().await;
    let made = json!({"from_agent": "agent_hotel", "message_type": "artifact", "correlation_id": asked["message_id"],
        "content": {"artifact_id": "list", "name": "hotels.json", "content": {"hotels": 1}}});
    assert_eq!(post(&hub, made).await.status, 202);
    agent.answer(&hub, &asked, json!({"hotels": []})).await;
    reaches(&hub, &task, "completed").await;
    let listed = hub.get(&format!("/api/artifacts?task={task}")).await.json();
    let one = &listed["items"][0];
    assert_eq!(
        (&one["artifact_id"], &one["name"]),
        (&json!(format!("{task}.list")), &json!("hotels.json")),
        "{listed}"
    );
    assert_eq!((&one["created_by"], &one["task"]), (&json!("agent_hotel"), &json!(task)));
    let path = format!("/api/artifacts/{task}.list");
    assert_eq!(hub.get(&path).await.json()["content"], json!({"hotels": 1}));
    assert_eq!(hub.get(&format!("{path}/content")).await.json(), json!({"hotels": 1}));
    assert_eq!(as_user(&hub, "t-bob", Method::GET, &path, None).await.status, 404, "not theirs is not there");
    assert_eq!(hub.get(&format!("/api/artifacts/{task}.other")).await.status, 404);
}

#[tokio::test]
async fn an_artifact_is_shared_by_a_message_and_its_receiver_reads_it() {
    let hub = hub(TOKENS).await;
    let agent = json!({"agent_id": "bobs", "name": "Bob's", "capabilities": [{"name": "look"}]});
    assert_eq!(as_user(&hub, "t-bob", Method::POST, "/api/agents", Some(agent)).await.status, 201);
    let message = |content: Value| {
        Some(json!({"message_type": "artifact", "from_agent": "planner", "to_agent": "bobs", "content": content}))
    };
    let inline = message(json!({"type": "document", "name": "plan", "content": "Day one: Paris"}));
    let sent = as_user(&hub, "t-ann", Method::POST, "/api/messages", inline).await;
    assert_eq!(sent.status, 202, "{}", sent.text());
    let waiting = as_user(&hub, "t-bob", Method::GET, "/api/messages?agent=bobs", None).await.json();
    let told = &waiting["items"][0]["content"];
    let id = told["artifact_id"].as_str().expect("an id");
    assert_eq!((&told["name"], told.get("content")), (&json!("plan"), None), "the message says where it is: {told}");
    let read = as_user(&hub, "t-bob", Method::GET, &format!("/api/artifacts/{id}"), None).await.json();
    assert_eq!((&read["content"], &read["owner"]), (&json!("Day one: Paris"), &json!("user:ann")));

    let later = share(&hub, "t-ann", json!({"name": "later", "content": "Day two"})).await;
    let path = format!("/api/artifacts/{}", later["artifact_id"].as_str().expect("an id"));
    assert_eq!(as_user(&hub, "t-bob", Method::GET, &path, None).await.status, 404);
    let by_id = message(json!({"artifact_id": later["artifact_id"]}));
    assert_eq!(as_user(&hub, "t-bob", Method::POST, "/api/messages", by_id.clone()).await.status, 404, "hers to share");
    assert_eq!(as_user(&hub, "t-ann", Method::POST, "/api/messages", by_id).await.status, 202);
    assert_eq!(as_user(&hub, "t-bob", Method::GET, &path, None).await.status, 200);
}
