//! ECMA-430, clause 6.4: large content travels out of band.

use ::http::Method;
use bytes::Bytes;
use http_body_util::Full;
use interlingua_testkit::{Answer, Hub, request};
use serde_json::json;

use super::{ask, hub, text};

/// `printf 'interlingua' | sha256sum`
const CONTENT: &str = "interlingua";
const DIGEST: &str = "662549d2ed33889163a9e6f9d65676142b20620984fca7ff2ec8f3d94f58c8f7";

/// Asks for an upload address and returns the path in it.
async fn upload_path(hub: &Hub) -> String {
    let mut message = text("Where can I upload a large file?");
    message["messagetype"] = "control".into();
    let reply = ask(hub, &message).await;
    assert_eq!(reply["messagetype"], "control", "{reply}");
    let parts = reply["submessages"].as_array().cloned().unwrap_or_default();
    let link = parts.iter().find(|part| part["format"] == "structured" && part["subformat"] == "uri");
    let link = link.and_then(|part| part["content"].as_str()).unwrap_or_else(|| panic!("no link: {reply}"));
    let path = link.strip_prefix(&hub.url("")).unwrap_or_else(|| panic!("not an address of this hub: {link}"));
    path.to_owned()
}

async fn send(hub: &Hub, method: Method, path: &str, content: &'static str) -> Answer {
    let builder = request(method, path).header("content-type", "application/octet-stream");
    hub.connect().await.send(builder.body(Full::new(Bytes::from_static(content.as_bytes()))).expect("a request")).await
}

#[tokio::test]
async fn n_37_a_question_for_uploads_is_answered_by_control_with_a_link() {
    let path = upload_path(&hub().await).await;
    assert!(path.starts_with("/nlip/uploads/"), "{path}");
}

#[tokio::test]
async fn n_38_the_link_takes_the_upload_and_says_what_was_stored() {
    let hub = hub().await;
    for method in [Method::PUT, Method::POST] {
        let path = upload_path(&hub).await;
        let answer = send(&hub, method, &path, CONTENT).await;
        assert!([200, 201].contains(&answer.status), "{} {}", answer.status, answer.text());
        assert!(answer.text().to_lowercase().contains(DIGEST), "{}", answer.text());
    }
}

#[tokio::test]
async fn n_38_an_address_nobody_was_given_takes_nothing() {
    let answer = send(&hub().await, Method::PUT, "/nlip/uploads/0123456789abcdef0123456789abcdef", CONTENT).await;
    assert!([403, 404].contains(&answer.status), "{} {}", answer.status, answer.text());
    assert_eq!(answer.json()["messagetype"], json!("error"), "{}", answer.text());
}
