//! The endpoints of all protocols, generated from the table: how each is made from its section of the configuration and follows its
//! changes, its path rules, and all routes of the hub.

use std::sync::Arc;

use axum::Router;

use crate::config::Config;
use crate::console;
use crate::protocols::{own, table};
use crate::status::{self, Status};
use interlingua_net::client::oauth as tokens;

use interlingua_endpoint::paths::PathTable;
use interlingua_endpoint::ports::Ports;
use interlingua_endpoint::protocol::{Configured, Protocol, SettingsFault};
use interlingua_endpoint::{Endpoint, Shared, content, oauth};
use interlingua_hub::{Hub, audit, vault};
use interlingua_model::Fault;

/// What a line of the table reads of the configuration.
macro_rules! section {
    ($config:ident) => {
        &()
    };
    ($config:ident, $key:ident) => {
        &$config.$key
    };
}

macro_rules! endpoints {
    ($($name:ident: $krate:ident::$protocol:ident
        $(, extends $base:ident)? $(, section $section:ident)? $(, peer $peer:ident)?;)*) => {
        /// What each says about paths; the hub's own interface has the rest.
        pub static PATHS: PathTable = PathTable {
            protocols: &[
                $(<$krate::$protocol as Configured>::PATHS,)*
                own::PATHS,
            ],
            default: &own::ApiErrors,
        };

        /// Every protocol but the hub's own interface, which shows what these keep and is made after them.
        #[derive(Debug)]
        pub struct Endpoints {
            $(pub $name: Arc<$krate::$protocol>,)*
        }

        /// What a configuration says of each, before it takes effect.
        pub(crate) struct AllSettings {
            $($name: <$krate::$protocol as Configured>::Settings,)*
        }

        impl AllSettings {
            pub(crate) fn new(hub: &Hub, config: &Config) -> Result<AllSettings, SettingsFault> {
                let around = config.around_protocols();
                Ok(AllSettings {
                    $($name: {
                        let section = section!(config $(, $base)? $(, $section)?);
                        <$krate::$protocol as Configured>::settings(hub, section, &around)?
                    },)*
                })
            }
        }

        impl Endpoints {
            pub(crate) fn open(shared: &Arc<Shared>, settings: AllSettings) -> Result<Endpoints, Fault> {
                Ok(Endpoints { $($name: Arc::new(Configured::open(shared, settings.$name)?),)* })
            }

            /// From the next request on. `changed`: the keys of the configuration that differ.
            pub(crate) fn apply(&self, settings: AllSettings, changed: &[&str]) {
                $(self.$name.apply(settings.$name, changed);)*
            }

            pub(crate) fn list(&self) -> Vec<Arc<dyn Protocol>> {
                vec![$(self.$name.clone(),)*]
            }
        }
    };
}
table!(endpoints);

/// The hub's own interface.
pub(crate) fn own_interface(shared: &Arc<Shared>, ports: Ports) -> Arc<dyn Protocol> {
    Arc::new(own::Api(Endpoint::new(shared, ports)))
}

/// Every path of the hub.
pub(crate) fn routes(shared: &Arc<Shared>, protocols: &[Arc<dyn Protocol>], status: &Arc<Endpoint<Status>>) -> Router {
    let all = protocols.iter().fold(Router::new(), |all, protocol| all.merge(protocol.routes()));
    all.merge(oauth::routes(shared.clone()))
        .merge(content::routes(shared.clone()))
        .merge(console::routes(shared.clone()))
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
            ("/agents/a/nlip/route", "EnvelopeErrors"),
            ("/agents/nlip/route", "ApiErrors"),
            ("/agents/a/b/nlip/route", "ApiErrors"),
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
