//! A request whose handler panics is answered like any other, in the form of its protocol, and takes nobody with it: over
//! HTTP/1 the connection would close without a word, and its other requests with it. The log says where it was.

use std::panic::AssertUnwindSafe;

use axum::response::Response;
use futures_util::FutureExt;
use interlingua_core::Fault;

use super::shape::Shape;

#[derive(Debug, thiserror::Error)]
#[error("a part of the hub panicked on the way")]
struct Broken;

/// What `handling` answers.
pub(super) async fn answered(path: &str, handling: impl Future<Output = Response>) -> Response {
    // What a handler leaves half done is its own: shared state is behind locks that are taken on when poisoned, or atomic.
    let answer = AssertUnwindSafe(handling).catch_unwind().await;
    answer.unwrap_or_else(|_| Shape::of(path).refuse(&Fault::internal(Broken)))
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;
    use serde_json::{Value, json};

    use super::*;

    async fn broken(path: &str) -> (u16, Value) {
        let response = answered(path, async { panic!("a secret of the handler's") }).await;
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        assert!(!String::from_utf8_lossy(&body).contains("secret"), "{path}");
        (status, serde_json::from_slice(&body).expect("JSON"))
    }

    #[tokio::test]
    async fn a_handler_that_panics_is_answered_in_the_form_of_its_protocol() {
        const TOLD: &str = "the hub failed to do this; its log has the cause";
        let (status, mcp) = broken("/mcp").await;
        assert_eq!((status, &mcp["error"]["code"], &mcp["error"]["message"]), (200, &json!(-32603), &json!(TOLD)));
        let (_, a2a) = broken("/a2a").await;
        assert_eq!((&a2a["error"]["code"], &a2a["error"]["message"]), (&json!(-32603), &json!(TOLD)));
        for path in ["/nlip", "/nlip/route", "/ask", "/api/tasks"] {
            let (status, told) = broken(path).await;
            assert_eq!(status, 500, "{path}: {told}");
            assert!(told.to_string().contains(TOLD), "{path}: {told}");
        }
    }

    #[tokio::test]
    async fn what_is_answered_is_left_as_it_is() {
        let response = answered("/mcp", async { Response::new("whole".into()) }).await;
        assert_eq!(response.into_body().collect().await.expect("a body").to_bytes(), "whole");
    }
}
