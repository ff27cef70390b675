//! Notifications of servers: a followed resource, a changed list; subscribed once, sent once.

use http::Method;
use interlingua_testkit::{Connection, Events};

use super::*;
use crate::mcp::{MODERN, Session};
use crate::support::{send, streaming};

const ONE: &str = "test://one";
const ANN: (&str, &str) = ("authorization", "Bearer ilg_ann-token-of-some-length");

fn outward(name: &str) -> String {
    format!("interlingua://peers/{name}/{ONE}")
}

/// A modern client that listens, once it has been told what it will hear.
async fn listening(hub: &Hub, wanted: Value) -> (Connection, Events) {
    let (connection, events, promised) = listening_as(hub, &[], &wanted).await;
    assert_eq!(promised, wanted);
    (connection, events)
}

/// With what it will hear.
async fn listening_as(hub: &Hub, who: &[(&str, &str)], wanted: &Value) -> (Connection, Events, Value) {
    let body = Modern::new(hub).body("subscriptions/listen", json!({"notifications": wanted}));
    let headers = [&[("mcp-protocol-version", MODERN), ("mcp-method", "subscriptions/listen")], who].concat();
    let (connection, mut events) = streaming(hub, Method::POST, "/mcp", &headers, Some(body)).await;
    let first = next(&mut events).await;
    (connection, events, first["params"]["notifications"].clone())
}

async fn next(events: &mut Events) -> Value {
    serde_json::from_str(&events.next().await.expect("an event")).expect("JSON")
}

/// How a server writes down that it is asked, and that it is asked no more.
fn lines(name: &str) -> (&'static str, &'static str) {
    if name.starts_with("modern") { ("listen test://one", "unlisten test://one") } else { ("subscribe", "unsubscribe") }
}

#[tokio::test]
async fn an_updated_resource_is_told_to_clients_of_both_eras_by_servers_of_both() {
    let everywhere = Everywhere::start(&[
        ("modern-program", "stdio", "modern"),
        ("legacy-program", "stdio", "legacy"),
        ("modern-http", "http", "modern"),
        ("legacy-http", "http", "legacy"),
    ])
    .await;
    let hub = &everywhere.hub;
    for (name, log) in everywhere.names.iter().zip(&everywhere.logs) {
        let (uri, (asked, asked_no_more)) = (outward(name), lines(name));
        let (connection, mut modern) = listening(hub, json!({"resourceSubscriptions": [uri]})).await;
        let session = Session::begin(hub, "2025-11-25", json!({})).await;
        let (_other, mut legacy) = streaming(hub, Method::GET, "/mcp", &session.headers(), None).await;
        assert_eq!(session.result("resources/subscribe", json!({"uri": uri})).await, json!({}));
        until("the server to be asked", async || log.count(asked) == 1).await;
        call(hub, &format!("{name}/touch"), json!({})).await;
        for (era, told) in [("modern", next(&mut modern).await), ("legacy", next(&mut legacy).await)] {
            assert_eq!(told["method"], "notifications/resources/updated", "{name}, {era}: {told}");
            assert_eq!(told["params"]["uri"], uri, "{name}, {era}: {told}");
        }
        drop((connection, modern));
        call(hub, &format!("{name}/touch"), json!({})).await;
        assert_eq!(next(&mut legacy).await["params"]["uri"], uri, "{name}: one of two has left");
        assert_eq!(log.count(asked_no_more), 0, "{name}");
        assert_eq!(session.result("resources/unsubscribe", json!({"uri": uri})).await, json!({}));
        until("the server to be asked no more", async || log.count(asked_no_more) == 1).await;
        assert_eq!(log.count(asked), 1, "{name}: once for both");
    }
}

#[tokio::test]
async fn a_session_that_ends_lets_go_of_what_it_followed() {
    let everywhere = Everywhere::start(&[("legacy-http", "http", "legacy")]).await;
    let (hub, log) = (&everywhere.hub, &everywhere.logs[0]);
    let session = Session::begin(hub, "2025-06-18", json!({})).await;
    session.result("resources/subscribe", json!({"uri": outward("legacy-http")})).await;
    until("the server to be asked", async || log.count("subscribe") == 1).await;
    assert_eq!(send(hub, Method::DELETE, "/mcp", &session.headers(), None).await.status, 204);
    until("the server to be asked no more", async || log.count("unsubscribe") == 1).await;
}

#[tokio::test]
async fn a_server_that_forgot_its_session_is_asked_again_and_followers_look_again() {
    let everywhere = Everywhere::start(&[("legacy-http", "http", "legacy")]).await;
    let (hub, log) = (&everywhere.hub, &everywhere.logs[0]);
    let uri = outward("legacy-http");
    let (_connection, mut events) = listening(hub, json!({"resourceSubscriptions": [uri]})).await;
    until("the server to be asked", async || log.count("subscribe") == 1).await;
    call(hub, "legacy-http/forget", json!({})).await;
    assert_eq!(said(&call(hub, "legacy-http/once", json!({})).await), "done");
    until("the server to be asked again", async || log.count("subscribe") == 2).await;
    assert_eq!(next(&mut events).await["params"]["uri"], uri, "it may have changed meanwhile");
}

#[tokio::test]
async fn what_may_not_be_read_or_is_not_there_cannot_be_followed() {
    let log = Log::new();
    let server = server("modern", &log).await;
    let access = "access: { tokens: [{ name: ann, token: ilg_ann-token-of-some-length, skills: ['other/*'] }] }\n";
    let hub = builder_with(&[("far", url(&server))], access).start().await;
    listed(&hub, "far").await;
    let wanted = json!({"toolsListChanged": true, "resourceSubscriptions": [outward("far")]});
    let (_connection, _events, promised) = listening_as(&hub, &[ANN], &wanted).await;
    assert_eq!(promised, json!({"toolsListChanged": true}));
    let session = Session::begin(&hub, "2025-11-25", json!({})).await;
    let refused = session.ask("resources/subscribe", json!({"uri": outward("nobody")})).await;
    assert_eq!(crate::mcp::error(&refused), (200, -32002), "{}", refused.text());
    assert_eq!(log.count("listen test://one"), 0);
}

#[tokio::test]
async fn an_update_is_told_as_long_as_its_resource_may_be_read() {
    const ALL_MAY: &str = r#"permit (principal, action in [Action::"use", Action::"read"], resource);"#;
    const ANN_MAY_NOT: &str =
        r#"forbid (principal == User::"ann", action == Action::"read", resource in Peer::"far");"#;
    let log = Log::new();
    let server = server("modern", &log).await;
    let access = "access: { tokens: [{ name: ann, token: ilg_ann-token-of-some-length }], policy: ./rules.cedar }\n";
    let hub = builder_with(&[("far", url(&server))], access).file("rules.cedar", ALL_MAY).start().await;
    listed(&hub, "far").await;
    let wanted =
        json!({"toolsListChanged": true, "promptsListChanged": true, "resourceSubscriptions": [outward("far")]});
    let (_hers, mut hers, promised) = listening_as(&hub, &[ANN], &wanted).await;
    assert_eq!(promised, wanted);
    let (_ours, mut ours) = listening(&hub, wanted).await;
    until("the server to be asked", async || log.count("listen test://one") == 1).await;
    call(&hub, "far/touch", json!({})).await;
    for events in [&mut hers, &mut ours] {
        assert_eq!(next(events).await["method"], "notifications/resources/updated");
    }
    hub.write("rules.cedar", format!("{ALL_MAY}\n{ANN_MAY_NOT}"));
    until("the rules", async || hub.get("/api/audit?limit=200").await.text().contains("\"reload\"")).await;
    call(&hub, "far/touch", json!({})).await;
    assert_eq!(next(&mut ours).await["method"], "notifications/resources/updated");
    // What she hears next is all there was: two kinds, one after the other, and no update before either.
    for (tool, told) in
        [("change", "notifications/tools/list_changed"), ("change_prompts", "notifications/prompts/list_changed")]
    {
        call(&hub, &format!("far/{tool}"), json!({})).await;
        assert_eq!(next(&mut ours).await["method"], told);
        assert_eq!(next(&mut hers).await["method"], told);
    }
}

#[tokio::test]
async fn m_31_many_notices_of_a_server_are_one_notice_for_each_kind_to_clients_of_both_eras() {
    let everywhere =
        Everywhere::start(&[("modern-http", "http", "modern"), ("legacy-program", "stdio", "legacy")]).await;
    let hub = &everywhere.hub;
    for (name, log) in everywhere.names.iter().zip(&everywhere.logs) {
        if name.starts_with("modern") {
            until("the hub to listen", async || log.count("listen") == 1).await;
        }
        let all = json!({"toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true});
        let (_connection, mut modern) = listening(hub, all).await;
        let session = Session::begin(hub, "2025-11-25", json!({})).await;
        let (_other, mut legacy) = streaming(hub, Method::GET, "/mcp", &session.headers(), None).await;
        // Twenty notices; what comes after the one that is told for them is of another kind.
        call(hub, &format!("{name}/change"), json!({})).await;
        assert_eq!(next(&mut modern).await["method"], "notifications/tools/list_changed", "{name}");
        assert_eq!(next(&mut legacy).await["method"], "notifications/tools/list_changed", "{name}");
        call(hub, &format!("{name}/change_prompts"), json!({})).await;
        assert_eq!(next(&mut modern).await["method"], "notifications/prompts/list_changed", "{name}");
        assert_eq!(next(&mut legacy).await["method"], "notifications/prompts/list_changed", "{name}");
        call(hub, &format!("{name}/change_resources"), json!({})).await;
        assert_eq!(next(&mut modern).await["method"], "notifications/resources/list_changed", "{name}");
        assert_eq!(next(&mut legacy).await["method"], "notifications/resources/list_changed", "{name}");
    }
}
