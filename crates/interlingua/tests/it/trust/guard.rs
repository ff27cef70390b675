//! One guard before every path: whatever a page in a person's browser tries, no path is forgotten.

use bytes::Bytes;
use http::Method;
use http_body_util::Full;
use interlingua_testkit::raw::Raw;
use interlingua_testkit::{Answer, Hub, request};

use super::{echo, program};

/// Every path there is, with something in place of what varies; and one that is none.
async fn paths() -> Vec<String> {
    let concrete = |route: &String| {
        let steps = route.split('/').map(|step| if step.starts_with('{') { "x" } else { step });
        steps.collect::<Vec<_>>().join("/")
    };
    super::table::routed().await.iter().map(concrete).chain(["/no/such/path".to_owned()]).collect()
}

/// gRPC says it in words of its own, under 200.
fn is_refused(answer: &Answer) -> bool {
    answer.status == 403 || (answer.status == 200 && answer.header("grpc-status") == Some("7"))
}

#[tokio::test]
async fn a_foreign_page_is_refused_on_every_path_with_every_method() {
    let hub = Hub::builder(program()).start().await;
    let mut connection = hub.connect().await;
    for path in &paths().await {
        for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE] {
            for (name, value) in
                [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site"), ("host", "evil.example")]
            {
                let sent = request(method.clone(), path).header(name, value).body(Full::default()).expect("a request");
                let answer = connection.send(sent).await;
                assert!(is_refused(&answer), "{method} {path} {name}: {} {}", answer.status, answer.text());
            }
        }
    }
}

#[tokio::test]
async fn a_rebound_name_is_refused_over_http_2_too() {
    let hub = Hub::builder(program()).start().await;
    let mut connection = hub.connect_h2c().await;
    let sent = interlingua_testkit::post("/nlip", "application/json", echo().to_string());
    assert_eq!(connection.send(sent).await.status, 200, "by its own address");
    let foreign = request(Method::POST, "/nlip").header("origin", "https://evil.example");
    let foreign = foreign.header("content-type", "application/json").body(Full::new(Bytes::from(echo().to_string())));
    assert_eq!(connection.send(foreign.expect("a request")).await.status, 403);
}

#[tokio::test]
async fn a_foreign_page_opens_no_websocket_and_no_other_upgrade() {
    let hub = Hub::builder(program()).start().await;
    for path in &paths().await {
        let opened = hub.frames(path, &[("origin", "https://evil.example")]).await;
        let grpc = path.contains("A2AService");
        assert_eq!(opened.err(), Some(if grpc { 200 } else { 403 }), "{path}");
    }
}

/// A few bytes may stand for gigabytes: what is compressed is not unpacked, whatever it says it is.
#[tokio::test]
async fn a_compressed_body_is_refused_unread_on_every_path() {
    let hub = Hub::builder(program()).start().await;
    let mut connection = hub.connect().await;
    for path in &paths().await {
        for coding in ["gzip", "deflate", "br", "zstd", "gzip, identity", "x-unknown"] {
            let sent = request(Method::POST, path).header("content-type", "application/json");
            let sent = sent.header("content-encoding", coding).body(Full::new(Bytes::from_static(b"\x1f\x8b\x08")));
            let answer = connection.send(sent.expect("a request")).await;
            let said = format!("{}{}", answer.text(), answer.header("grpc-message").unwrap_or_default());
            assert!(said.contains("compressed"), "{path} {coding}: {} {said}", answer.status);
        }
    }
}

/// Nor is a frame: an extension that would unpack it is never agreed on.
#[tokio::test]
async fn no_socket_agrees_to_compressed_frames() {
    let hub = Hub::builder(program()).start().await;
    for path in ["/nlip/ws", "/nlip/ws/text", "/ws", "/aip/ws"] {
        let mut raw = Raw::connect(hub.address()).await;
        let head = format!(
            "GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\
             sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
             sec-websocket-extensions: permessage-deflate; client_max_window_bits\r\n{}\r\n",
            hub.address(),
            hub.bearer_line()
        );
        raw.write(head.as_bytes()).await;
        let (status, text) = raw.read_status().await.expect("an answer");
        assert_eq!(status, 101, "{path}: {text}");
        assert!(!text.to_ascii_lowercase().contains("sec-websocket-extensions"), "{path}: {text}");
    }
}

/// A proxy that checks one of two values, and a hub that believes the other, disagree about who asks and from where: neither is
/// taken, however harmless the first.
#[tokio::test]
async fn attack_a_header_is_sent_twice_so_that_two_readers_believe_different_ones() {
    let hub = Hub::builder(program()).start().await;
    let (body, address) = (echo().to_string(), hub.address().to_string());
    let (ours, owner) = (format!("http://{address}"), hub.bearer_line());
    let bearer = owner.trim().split_once(": ").expect("a header").1;
    let usual = [("host", address.as_str()), ("content-type", "application/json"), ("authorization", bearer)];
    for (name, harmless, harmful) in [
        ("host", address.as_str(), "evil.example"),
        ("origin", ours.as_str(), "http://evil.example"),
        ("sec-fetch-site", "same-origin", "cross-site"),
        ("content-type", "application/json", "text/plain"),
        ("content-encoding", "identity", "gzip"),
        ("authorization", bearer, "Bearer nobody"),
    ] {
        for (second, wanted) in [(None, 200), (Some(harmful), 400)] {
            let others = usual.iter().filter(|(other, _)| *other != name).copied();
            let lines = others.chain([(name, harmless)]).chain(second.map(|second| (name, second)));
            let lines: String = lines.map(|(name, value)| format!("{name}: {value}\r\n")).collect();
            let mut raw = Raw::connect(hub.address()).await;
            let length = body.len();
            raw.write(format!("POST /nlip HTTP/1.1\r\n{lines}content-length: {length}\r\n\r\n{body}").as_bytes()).await;
            let (status, text) = raw.read_status().await.expect("an answer");
            assert_eq!(status, wanted, "{name} {second:?}: {text}");
            assert!(second.is_none() || text.contains(&format!("a request has one {name} header")), "{name}: {text}");
        }
    }
}

/// A header that is not text cannot be compared with anything: it must not count as one that was not sent.
#[tokio::test]
async fn attack_a_header_that_cannot_be_read_passes_for_one_that_is_not_there() {
    let hub = Hub::builder(program()).start().await;
    let body = echo().to_string();
    let address = hub.address().to_string();
    let headers: [(&str, &[u8]); 4] = [
        ("host", b"\xff\xfeevil.example"),
        ("origin", b"http://evil.example\xff"),
        ("sec-fetch-site", b"cross-site\xff"),
        ("content-type", b"text/plain\xff"),
    ];
    for (name, value) in headers {
        let mut head = b"POST /nlip HTTP/1.1\r\n".to_vec();
        for (usual, plain) in [("host", address.as_str()), ("content-type", "application/json")] {
            if usual != name {
                head.extend(format!("{usual}: {plain}\r\n").into_bytes());
            }
        }
        head.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
        head.extend(format!("content-length: {}\r\n{}\r\n{body}", body.len(), hub.bearer_line()).into_bytes());
        let mut raw = Raw::connect(hub.address()).await;
        raw.write(&head).await;
        let (status, text) = raw.read_status().await.expect("an answer");
        assert_eq!(status, 400, "{name}: {text}");
    }
}
