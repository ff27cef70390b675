//! One guard before every path: whatever a page in somebody's browser tries, no path is the forgotten one.

use bytes::Bytes;
use http::Method;
use http_body_util::Full;
use interlingua_testkit::raw::{Raw, WebSocketFrames};
use interlingua_testkit::{Connection, Hub, request};

use super::{echo, program};

const PATHS: &[&str] = &[
    "/",
    "/healthz",
    "/readyz",
    "/metrics",
    "/nlip",
    "/nlip/",
    "/nlip/route",
    "/nlip/ws",
    "/nlip/ws/text",
    "/nlip/uploads/1",
    "/agents/hub/nlip",
    "/api/peers",
    "/api/skills",
    "/api/exchanges",
    "/api/tasks",
    "/api/conversations",
    "/api/confirmations",
    "/api/audit",
    "/api/openapi.json",
    "/no/such/path",
];

#[tokio::test]
async fn a_foreign_page_is_refused_on_every_path_with_every_method() {
    let hub = Hub::builder(program()).start().await;
    let mut connection = hub.connect().await;
    for path in PATHS {
        for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE] {
            for (name, value) in
                [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site"), ("host", "evil.example")]
            {
                let sent = request(method.clone(), path).header(name, value).body(Full::default()).expect("a request");
                let answer = connection.send(sent).await;
                assert_eq!(answer.status, 403, "{method} {path} {name}: {}", answer.text());
            }
        }
    }
}

#[tokio::test]
async fn a_rebound_name_is_refused_over_http_2_too() {
    let hub = Hub::builder(program()).start().await;
    let mut connection = Connection::h2c(hub.address()).await;
    let sent = interlingua_testkit::post("/nlip", "application/json", echo().to_string());
    assert_eq!(connection.send(sent).await.status, 200, "by its own address");
    let foreign = request(Method::POST, "/nlip").header("origin", "https://evil.example");
    let foreign = foreign.header("content-type", "application/json").body(Full::new(Bytes::from(echo().to_string())));
    assert_eq!(connection.send(foreign.expect("a request")).await.status, 403);
}

#[tokio::test]
async fn a_foreign_page_opens_no_websocket_and_no_other_upgrade() {
    let hub = Hub::builder(program()).start().await;
    for path in PATHS {
        let opened = WebSocketFrames::open(hub.address(), path, &[("origin", "https://evil.example")]).await;
        assert_eq!(opened.err(), Some(403), "{path}");
    }
}

/// Two names in one request: the guard must judge the one that counts, so none is taken.
#[tokio::test]
async fn a_request_with_two_hosts_is_refused() {
    let hub = Hub::builder(program()).start().await;
    let body = echo().to_string();
    let head = format!(
        "POST /nlip HTTP/1.1\r\nhost: {}\r\nhost: evil.example\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        hub.address(),
        body.len()
    );
    let mut raw = Raw::connect(hub.address()).await;
    raw.write(format!("{head}{body}").as_bytes()).await;
    let status = raw.read_status().await.map(|(status, _)| status);
    assert!(matches!(status, None | Some(400 | 403)), "{status:?}");
}
