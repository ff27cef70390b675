//! Lists of servers: read page by page, stored on disk, and refreshed on notification.

use super::*;

#[tokio::test]
async fn m_31_many_notices_of_a_change_are_one_look() {
    let everywhere = Everywhere::start(&[("near", "stdio", "legacy"), ("far", "http", "legacy")]).await;
    for (name, log) in everywhere.names.iter().zip(&everywhere.logs) {
        let before = log.count("list tools -");
        let skills = peer(&everywhere.hub, name).await["skills"].as_u64().expect("a number");
        call(&everywhere.hub, &format!("{name}/change"), json!({})).await;
        until("one more tool", async || peer(&everywhere.hub, name).await["skills"].as_u64() == Some(skills + 1)).await;
        let looks = log.count("list tools -") - before;
        assert!((1..=2).contains(&looks), "{name}: {looks} looks at 20 notices");
    }
}

#[tokio::test]
async fn m_25_what_was_listed_is_shown_while_the_server_starts() {
    let log = Log::new();
    let server = server("modern", &log).await;
    let mut hub = hub(&[("far", url(&server))]).await;
    let skills = peer(&hub, "far").await["skills"].clone();
    let tools = Modern::new(&hub).result("tools/list", json!({})).await["tools"].clone();
    assert!(tools.to_string().contains("far__echo"), "{tools}");
    hub.stop().await;
    drop(server);
    hub.restart().await;
    let listed = Modern::new(&hub).result("tools/list", json!({})).await["tools"].clone();
    assert_eq!(listed, tools, "every tool is listed though its server has not started");
    let shown = peer(&hub, "far").await;
    assert_eq!(shown["skills"], skills, "{shown}");
    assert_ne!(shown["health"], "up", "{shown}");
}

#[tokio::test]
async fn a_long_list_is_read_to_its_end() {
    let everywhere = Everywhere::start(&[("near", "stdio", "modern")]).await;
    let last = call(&everywhere.hub, "near/regional", json!({"region": "eu"})).await;
    assert_eq!(last["state"], "completed", "{last}");
    assert!(everywhere.logs[0].lines("list tools").iter().any(|line| line.ends_with(" 20")));
}

#[tokio::test]
async fn a_tool_that_is_not_what_it_was_is_told_or_refused() {
    let log = Log::new();
    let changed = |rule: &str| program("modern", &log).replace("mcp: {", &format!("mcp: {{ changes: {rule},"));
    let mut hub = hub(&[("near", changed("flag"))]).await;
    assert_eq!(peer(&hub, "near").await["problems"].to_string().matches("first seen").count(), 0);
    std::fs::write(log.path.with_extension("description"), "Says it back, and to somebody else.").expect("written");
    hub.stop().await;
    hub.restart().await;
    until("the change to be told", async || {
        let shown = peer(&hub, "near").await["problems"].to_string();
        shown.contains("`echo`") && shown.contains("somebody else")
    })
    .await;
    assert_eq!(said(&call(&hub, "near/echo", json!({"text": "a"})).await), "a", "told, and offered all the same");
    hub.write("interlingua.yaml", format!("peers:\n  near: {}\n", changed("refuse")));
    until("the tool to be refused", async || {
        call(&hub, "near/echo", json!({"text": "a"})).await["error"]["kind"] == "not_found"
    })
    .await;
    assert_eq!(said(&call(&hub, "near/once", json!({})).await), "done", "and no other");
}

#[tokio::test]
async fn m_43_what_configuration_denies_can_neither_be_seen_nor_called() {
    let log = Log::new();
    let line = program("modern", &log).replace("{ trust_hints", "{ deny: [\"e*\"], trust_hints");
    let hub = hub(&[("near", line)]).await;
    assert_eq!(call(&hub, "near/echo", json!({})).await["error"]["kind"], "not_found");
    assert_eq!(said(&call(&hub, "near/once", json!({})).await), "done");
    assert_eq!(log.count("call echo"), 0);
}
