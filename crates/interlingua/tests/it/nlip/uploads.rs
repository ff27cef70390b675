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
        assert_eq!(answer.status, 201, "{}", answer.text());
        assert!(answer.text().to_lowercase().contains(DIGEST), "{}", answer.text());
    }
}

#[tokio::test]
async fn n_38_an_address_nobody_was_given_takes_nothing() {
    let answer = send(&hub().await, Method::PUT, "/nlip/uploads/0123456789abcdef0123456789abcdef", CONTENT).await;
    assert_eq!(answer.status, 404, "{}", answer.text());
    assert_eq!(answer.json()["messagetype"], json!("error"), "{}", answer.text());
}

#[tokio::test]
async fn n_38_an_address_is_good_for_one_upload_and_then_stands_for_it() {
    let hub = hub().await;
    let path = upload_path(&hub).await;
    assert_eq!(hub.get(&path).await.status, 404, "nothing is there yet");
    assert_eq!(send(&hub, Method::PUT, &path, CONTENT).await.status, 201);
    let again = send(&hub, Method::PUT, &path, "something else").await;
    assert_eq!((again.status, again.json()["messagetype"].clone()), (409, json!("error")), "{}", again.text());
    assert_eq!(hub.get(&path).await.text(), CONTENT);
    // In a message it stands for what was uploaded: what comes back is another address of the same bytes.
    let link = json!({"format": "structured", "subformat": "uri", "content": hub.url(&path)});
    let mut message = text("what is this");
    message["submessages"] = json!([link]);
    let answer = hub.post_json("/agents/hub/nlip", &message).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let reply = answer.json();
    let parts = reply["submessages"].as_array().cloned().unwrap_or_default();
    let back = parts.iter().find(|part| part["subformat"] == "uri").unwrap_or_else(|| panic!("no link: {reply}"));
    let back = back["content"].as_str().and_then(|link| link.strip_prefix(&hub.url(""))).unwrap_or_default();
    assert_ne!(back, path);
    assert_eq!(hub.get(back).await.text(), CONTENT);
}

#[tokio::test]
async fn n_38_a_form_is_taken_apart() {
    let hub = hub().await;
    let path = upload_path(&hub).await;
    let form = format!(
        "--B\r\nContent-Disposition: form-data; name=\"contents\"; filename=\"a\"\r\n\r\n{CONTENT}\r\n--B--\r\n"
    );
    let builder = request(Method::POST, &path).header("content-type", "multipart/form-data; boundary=B");
    let answer = hub.connect().await.send(builder.body(Full::new(Bytes::from(form))).expect("a request")).await;
    assert!(answer.status == 201 && answer.text().contains(DIGEST), "{} {}", answer.status, answer.text());
}

#[tokio::test]
async fn n_38_each_of_several_calls_may_refer_to_an_upload() {
    let hub = hub().await;
    let path = upload_path(&hub).await;
    assert_eq!(send(&hub, Method::PUT, &path, CONTENT).await.status, 201);
    let call = json!({"format": "structured", "subformat": "json", "label": "interlingua-call",
        "content": {"skill": "hub/echo"}});
    let link = json!({"format": "structured", "subformat": "uri", "content": hub.url(&path)});
    let reply = ask(&hub, &super::with(text("twice, please"), &[call.clone(), call, link])).await;
    let parts = reply["submessages"].as_array().cloned().unwrap_or_default();
    let links: Vec<&str> = parts
        .iter()
        .filter(|part| part["subformat"] == "uri")
        .filter_map(|part| part["content"].as_str()?.strip_prefix(&hub.url("")))
        .collect();
    assert_eq!(links.len(), 2, "{reply}");
    for link in links {
        assert_eq!(hub.get(link).await.text(), CONTENT, "{link}");
    }
}
