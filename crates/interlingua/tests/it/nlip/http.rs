//! ECMA-431: NLIP over HTTP.

use ::http::Method;
use bytes::Bytes;
use http_body_util::Full;
use interlingua_testkit::{Hub, post, request};

use super::{assert_fits_annex_a, hub, refused, text};

#[tokio::test]
async fn n_40_without_tls_nothing_but_loopback_is_listened_on() {
    let address = "0.0.0.0:0".parse().expect("an address");
    let (status, said) = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).listen(address).refused().await;
    assert_eq!(status.code(), Some(3), "{said}");
    assert!(said.contains("insecure") && said.contains("tls"), "{said}");
}

#[tokio::test]
async fn n_41_post_is_taken_with_and_without_the_slash() {
    let hub = hub().await;
    for path in ["/nlip", "/nlip/"] {
        let answer = hub.post_json(path, &text("hello")).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        assert_eq!(answer.header("content-type").map(|kind| kind.starts_with("application/json")), Some(true));
    }
}

#[tokio::test]
async fn n_42_both_http_1_1_and_http_2_are_spoken() {
    let hub = hub().await;
    for mut connection in [hub.connect().await, hub.connect_h2c().await] {
        let answer = connection.send(post("/nlip", "application/json", text("hello").to_string())).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
}

#[tokio::test]
async fn n_44_another_method_gets_405_and_allow() {
    let hub = hub().await;
    for method in [Method::GET, Method::PUT, Method::DELETE] {
        for path in ["/nlip", "/nlip/"] {
            let sent =
                request(method.clone(), path).header("content-type", "application/json").body(Full::<Bytes>::default());
            let answer = hub.connect().await.send(sent.expect("a request")).await;
            assert_eq!(answer.status, 405, "{method} {path}: {}", answer.text());
            assert!(answer.header("allow").is_some_and(|allowed| allowed.contains("POST")), "{:?}", answer.headers);
            assert_eq!(answer.json()["messagetype"], "error", "{}", answer.text());
        }
    }
}

#[tokio::test]
async fn n_49_a_refusal_names_what_and_where_and_nothing_internal() {
    let hub = hub().await;
    let answer = refused(&hub, &serde_json::json!({"format": "bogus", "subformat": "x", "content": "y"})).await.text();
    assert!(answer.contains("format"), "{answer}");
    for internal in ["serde", "Error {", "panicked", ".rs:", "src/", "Some(", "stack"] {
        assert!(!answer.contains(internal), "`{internal}` in {answer}");
    }
}

#[tokio::test]
async fn n_50_what_is_sent_fits_annex_a_refusals_included() {
    let hub = hub().await;
    for body in ["{", "[]", r#"{"format":"text","subformat":"english","content":"hello"}"#, r#"{"format":"text"}"#] {
        let answer = hub.post("/nlip", "application/json", body).await;
        assert_fits_annex_a(&answer.json());
    }
    let hello = || Full::<Bytes>::new(text("hello").to_string().into());
    let sent = |method: Method, path: &str, headers: &[(&str, &str)]| {
        let builder =
            headers.iter().fold(request(method, path), |builder, (name, value)| builder.header(*name, *value));
        builder.body(hello()).expect("a request")
    };
    let json = ("content-type", "application/json");
    for (status, sent) in [
        (401, sent(Method::POST, "/nlip", &[json, ("authorization", "Bearer wrong")])),
        (404, sent(Method::PUT, "/nlip/uploads/nowhere", &[("content-type", "application/octet-stream")])),
        (405, sent(Method::GET, "/nlip", &[])),
        (415, sent(Method::POST, "/nlip", &[("content-type", "text/plain")])),
    ] {
        let answer = hub.connect().await.send(sent).await;
        assert_eq!(answer.status, status, "{}", answer.text());
        assert_fits_annex_a(&answer.json());
        assert_eq!(answer.json()["messagetype"], "error", "{status}: {}", answer.text());
    }
}
