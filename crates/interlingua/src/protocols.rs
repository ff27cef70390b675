//! The table of protocols: which there are, what each says about paths, what each holds.

use std::sync::Arc;

use axum::Router;

use crate::status::{self, Status};
use interlingua_net::client::oauth as tokens;

use interlingua_endpoint::paths::PathTable;
use interlingua_endpoint::protocol::Protocol;
use interlingua_endpoint::{Endpoint, Shared, content, oauth};
use interlingua_hub::{audit, vault};

/// What each says about paths; the first that knows a path decides.
pub static PATHS: PathTable = PathTable {
    protocols: &[
        interlingua_envelope::refusal::PATHS,
        interlingua_nlip::refusal::PATHS,
        interlingua_mcp::refusal::PATHS,
        interlingua_a2a::refusal::PATHS,
        interlingua_nlweb::refusal::PATHS,
        interlingua_api::refusal::PATHS,
    ],
    default: &interlingua_api::refusal::ApiErrors,
};

/// What protocols hold whose settings change while the hub runs.
#[derive(Debug)]
pub struct Endpoints {
    pub nlip: Arc<interlingua_nlip::Endpoint>,
    pub envelope: Arc<interlingua_envelope::Endpoint>,
    pub mcp: Arc<interlingua_mcp::Endpoint>,
    pub a2a: Arc<interlingua_a2a::Endpoint>,
    pub aip: Arc<interlingua_aip::Endpoint>,
}

impl Endpoints {
    /// Every protocol but the hub's own interface, which shows what these keep and is made after them.
    pub(crate) fn protocols(&self, shared: &Arc<Shared>) -> Vec<Arc<dyn Protocol>> {
        vec![
            Arc::new(interlingua_nlip::Nlip(self.nlip.clone())),
            Arc::new(interlingua_envelope::Envelope(self.envelope.clone())),
            Arc::new(interlingua_mcp::Mcp(self.mcp.clone())),
            Arc::new(interlingua_a2a::A2a(self.a2a.clone())),
            Arc::new(interlingua_aip::Aip(self.aip.clone())),
            Arc::new(interlingua_nlweb::Nlweb(shared.clone())),
        ]
    }
}

/// Every path of the hub.
pub(crate) fn routes(shared: &Arc<Shared>, protocols: &[Arc<dyn Protocol>], status: &Arc<Endpoint<Status>>) -> Router {
    let all = protocols.iter().fold(Router::new(), |all, protocol| all.merge(protocol.routes()));
    all.merge(oauth::routes(shared.clone()))
        .merge(content::routes(shared.clone()))
        .merge(status::routes(status.clone()))
}

/// Records whose values are sealed with the hub's keys for a purpose, under the key they are kept by: kind and purpose.
pub(crate) fn sealed_records(protocols: &[Arc<dyn Protocol>]) -> Vec<(&'static str, &'static str)> {
    let others = [
        (vault::KIND, vault::KIND),
        (audit::key::KIND, audit::key::KIND),
        (tokens::TOKENS, tokens::TOKENS),
        (tokens::CLIENTS, tokens::CLIENTS),
        (interlingua_sites::browser::SESSIONS, interlingua_sites::keeper::SEALED),
    ];
    let own = protocols.iter().flat_map(|protocol| protocol.sealed_records().iter().copied());
    others.into_iter().chain(own).collect()
}

#[cfg(test)]
mod tests {
    use axum::response::Response;
    use http_body_util::BodyExt;
    use serde_json::{Value, json};

    use super::PATHS;
    use interlingua_endpoint::catch_panic::answered;

    async fn broken(path: &str) -> (u16, Value) {
        let response = answered(|| PATHS.error_format(path), async { panic!("a secret of the handler's") }).await;
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
        let response = answered(|| PATHS.error_format("/mcp"), async { Response::new("whole".into()) }).await;
        assert_eq!(response.into_body().collect().await.expect("a body").to_bytes(), "whole");
    }

    #[test]
    fn every_path_has_the_error_format_of_its_protocol() {
        for (path, expected) in [
            ("/nlip", "NlipErrors"),
            ("/nlip/", "NlipErrors"),
            ("/nlip/route", "EnvelopeErrors"),
            ("/nlip/route/", "NlipErrors"),
            ("/nlip/uploads/1", "NlipErrors"),
            ("/agents/a/nlip", "NlipErrors"),
            ("/mcp", "McpErrors"),
            ("/mcp/view", "McpErrors"),
            ("/agents/a/mcp", "McpErrors"),
            ("/a2a", "Rpc"),
            ("/a2a/", "Rpc"),
            ("/a2a/message:send", "Http(V1)"),
            ("/a2a/v1/message:send", "Http(V03)"),
            ("/agents/a/a2a", "Rpc"),
            ("/agents/a/a2a/v1/tasks", "Http(V03)"),
            ("/.well-known/agent-card.json", "Http(V1)"),
            ("/lf.a2a.v1.A2AService/SendMessage", "Grpc(V1)"),
            ("/ask", "NlwebErrors"),
            ("/agents/a/ask", "NlwebErrors"),
            ("/await", "NlwebErrors"),
            ("/api/tasks", "ApiErrors"),
            ("/content/x", "ApiErrors"),
            ("/ws", "ApiErrors"),
            ("/elsewhere", "ApiErrors"),
        ] {
            assert_eq!(format!("{:?}", PATHS.error_format(path)), expected, "{path}");
        }
    }

    #[test]
    fn only_these_paths_take_more_than_json() {
        let form = interlingua_endpoint::guard::FORM;
        assert!(PATHS.takes("/ask", form) && PATHS.takes("/agents/a/ask", form));
        assert!(!PATHS.takes("/await", form) && !PATHS.takes("/nlip", form));
        assert!(PATHS.takes("/lf.a2a.v1.A2AService/SendMessage", "application/grpc"));
        assert!(!PATHS.takes("/a2a", "application/grpc"));
        assert!(PATHS.is_upload("/nlip/uploads/1") && PATHS.is_upload("/api/artifacts/1/content"));
        assert!(!PATHS.is_upload("/nlip") && !PATHS.is_upload("/api/artifacts/1"));
        assert!(PATHS.has_metadata("/agents/a/mcp") && !PATHS.has_metadata("/a2a"));
    }
}
