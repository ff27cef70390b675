//! A web page in the user's own browser has no permissions, whatever address it reaches the hub by.

use bytes::Bytes;
use http::Method;
use http_body_util::Full;
use interlingua_testkit::{
    Answer, Hub,
    hostile::{Shape, browser},
    request,
};

use super::{assert_well, hub, settle};

const GREETING: &str = r#"{"format":"text","subformat":"english","content":"hello"}"#;

#[tokio::test]
async fn hostile_pages_are_refused_on_every_path() {
    let hub = hub().await;
    let mut complaints = Vec::new();
    for case in browser::CROSS_SITE {
        for (method, path) in [
            (Method::POST, "/nlip"),
            (Method::POST, "/nlip/route"),
            (Method::GET, "/api/peers"),
            (Method::GET, "/api/tasks"),
        ] {
            let answer = send(&hub, method.clone(), path, case.headers).await;
            if !case.statuses.contains(&answer.status) {
                complaints.push(format!("{} on {path}: status {}", case.name, answer.status));
            } else if path == "/nlip" {
                complaints
                    .extend(Shape::Nlip.complaint(&answer).map(|what| format!("{} on {path}: {what}", case.name)));
            }
        }
    }
    settle(&complaints);
    assert_well(&hub).await;
}

#[tokio::test]
async fn hostile_pages_open_no_websocket() {
    let hub = hub().await;
    let mut complaints = Vec::new();
    for case in browser::CROSS_SITE {
        for path in ["/nlip/ws", "/nlip/ws/text"] {
            match hub.frames(path, case.headers).await {
                Err(status) if case.statuses.contains(&status) => {}
                Err(status) => complaints.push(format!("{} on {path}: status {status}", case.name)),
                Ok(_) => complaints.push(format!("{} on {path}: opened", case.name)),
            }
        }
    }
    settle(&complaints);
}

#[tokio::test]
async fn hostile_pages_get_no_leave_to_read_answers() {
    let hub = hub().await;
    for path in ["/nlip", "/nlip/route", "/api/peers"] {
        let answer = send(&hub, Method::OPTIONS, path, browser::PREFLIGHT).await;
        assert!(answer.header("access-control-allow-origin").is_none(), "{path}: {:?}", answer.headers);
        assert!(!(500..600).contains(&answer.status), "{path}: {}", answer.status);
    }
}

async fn send(hub: &Hub, method: Method, path: &str, headers: &[(&str, &str)]) -> Answer {
    let body = if method == Method::POST { GREETING } else { "" };
    let mut builder = request(method, path);
    if !body.is_empty() {
        builder = builder.header("content-type", "application/json");
    }
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    let sent = builder.body(Full::new(Bytes::from_static(body.as_bytes()))).expect("a request");
    hub.connect().await.send(sent).await
}
