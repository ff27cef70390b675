//! Sessions of legacy clients that follow resources of a server, when the hub has lost them from memory.

use http::Method;

use super::*;
use crate::mcp::Session;
use crate::support::send;

async fn comes_back(hub: &Hub, id: &str) -> u16 {
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"});
    let headers = [("mcp-session-id", id), ("mcp-protocol-version", "2025-11-25")];
    send(hub, Method::POST, "/mcp", &headers, Some(list)).await.status
}

#[tokio::test]
async fn m_11_a_session_whose_subscriptions_are_lost_is_over_so_that_its_client_begins_anew() {
    let log = Log::new();
    let server = server("legacy", &log).await;
    let mut hub = hub(&[("one", url(&server))]).await;
    let follows = Session::begin(&hub, "2025-11-25", json!({})).await;
    let listed = follows.result("resources/list", json!({})).await;
    let uri = listed["resources"][0]["uri"].as_str().expect("a resource").to_owned();
    let subscribe = async |session: &Session<'_>, method: &str| {
        assert_eq!(session.result(method, json!({"uri": uri})).await, json!({}));
    };
    subscribe(&follows, "resources/subscribe").await;
    let left = Session::begin(&hub, "2025-11-25", json!({})).await;
    subscribe(&left, "resources/subscribe").await;
    subscribe(&left, "resources/unsubscribe").await;
    let (follows, left) = (follows.id, left.id);
    assert_eq!((comes_back(&hub, &follows).await, comes_back(&hub, &left).await), (200, 200));
    hub.restart().await;
    assert_eq!(comes_back(&hub, &follows).await, 404, "its subscription is gone, and it is told");
    assert_eq!(comes_back(&hub, &left).await, 200, "it followed nothing any more");
}
