//! Lists and their names.

use http::Method;
use serde_json::{Value, json};

use super::{MODERN, Modern, Session, error};
use crate::support::{hub, send, streaming, until};

fn names(list: &Value) -> Vec<&str> {
    list["tools"].as_array().expect("tools").iter().filter_map(|tool| tool["name"].as_str()).collect()
}

#[tokio::test]
async fn m_19_lists_are_the_same_for_everyone_with_the_same_rights_and_what_is_not_listed_cannot_be_called() {
    let access = "access: { tokens: [{ name: ann, token: ilg_ann-token-of-some-length, skills: ['local/steps'] },
        { name: amy, token: ilg_amy-token-of-some-length, skills: ['local/steps'] }] }";
    let mut hub = hub(access).await;
    let owner = Modern::new(&hub);
    let (first, second) = (owner.result("tools/list", json!({})).await, owner.result("tools/list", json!({})).await);
    assert_eq!(first, second);
    assert!(names(&first).contains(&"local__fails") && names(&first).contains(&"local__steps"), "{first}");
    assert_eq!((first["cacheScope"].as_str(), first["ttlMs"].is_u64()), (Some("private"), true));
    let mut ann = Modern::new(&hub);
    ann.headers = vec![("authorization", "Bearer ilg_ann-token-of-some-length")];
    let listed = ann.result("tools/list", json!({})).await;
    assert!(names(&listed).contains(&"local__steps") && !names(&listed).contains(&"local__fails"), "{listed}");
    let hidden = ann.ask("tools/call", json!({"name": "local__fails"})).await;
    assert_eq!(error(&hidden), (200, -32602), "{}", hidden.text());
    let mut amy = Modern::new(&hub);
    amy.headers = vec![("authorization", "Bearer ilg_amy-token-of-some-length")];
    assert_eq!(amy.result("tools/list", json!({})).await, listed, "equal rights, equal lists");
    hub.restart().await;
    assert_eq!(Modern::new(&hub).result("tools/list", json!({})).await["tools"], first["tools"], "in the same order");
}

#[tokio::test]
async fn m_21_bare_names_are_the_tools_own_and_one_peer_alone_needs_no_prefix() {
    let hub = hub("mcp: { names: bare }").await;
    let modern = Modern::new(&hub);
    let listed = modern.result("tools/list", json!({})).await;
    assert!(names(&listed).contains(&"steps"), "{listed}");
    assert_eq!(modern.call("steps", json!({})).await["structuredContent"], json!({"counted": 2}));
    let mut peer = Modern::new(&hub);
    peer.path = "/agents/local/mcp";
    let listed = peer.result("tools/list", json!({})).await;
    assert!(names(&listed).contains(&"steps") && !names(&listed).contains(&"find_skills"), "{listed}");
}

#[tokio::test]
async fn m_20_other_spellings_of_a_name_mean_the_same() {
    let hub = hub("").await;
    let modern = Modern::new(&hub);
    for name in ["local__steps", "mcp__local__steps", "mcp__steps"] {
        assert_eq!(modern.call(name, json!({})).await["structuredContent"], json!({"counted": 2}), "{name}");
    }
}

#[tokio::test]
async fn m_43_with_too_many_tools_a_client_sees_how_to_search_and_can_call_all_the_same() {
    let hub = hub("mcp: { search_above: 3 }").await;
    let modern = Modern::new(&hub);
    let listed = modern.result("tools/list", json!({})).await;
    assert_eq!(names(&listed), ["hub__call_skill", "hub__find_skills"]);
    let found = modern.call("find_skills", json!({"query": "counts"})).await;
    assert!(found.to_string().contains("local/steps"), "{found}");
    let called = modern.call("call_skill", json!({"skill": "local/steps", "arguments": {}})).await;
    assert_eq!(called["structuredContent"], json!({"counted": 2}), "{called}");
    assert_eq!(modern.call("local__steps", json!({})).await["structuredContent"], json!({"counted": 2}));
}

#[tokio::test]
async fn m_33_a_cursor_nobody_gave_is_refused() {
    let hub = hub("").await;
    let answer = Modern::new(&hub).ask("tools/list", json!({"cursor": "nonsense"})).await;
    assert_eq!(error(&answer), (200, -32602), "{}", answer.text());
}

const LATE: &str = "name: late\ndescription: Comes later.\neffects: { reads: true }\ncommand: [echo, '1']\n";

#[tokio::test]
async fn m_31_a_changed_list_is_told_once_to_listeners_of_both_eras() {
    let hub = hub("").await;
    let modern = Modern::new(&hub);
    let body = modern.body("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    let headers = [("mcp-protocol-version", MODERN), ("mcp-method", "subscriptions/listen")];
    let (_connection, mut events) = streaming(&hub, Method::POST, "/mcp", &headers, Some(body)).await;
    let first: Value = serde_json::from_str(&events.next().await.expect("an event")).expect("JSON");
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(first["params"]["notifications"], json!({"toolsListChanged": true}));
    assert_eq!(first["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 7);
    let session = Session::begin(&hub, "2025-11-25", json!({})).await;
    let (_other, mut stream) = streaming(&hub, Method::GET, "/mcp", &session.headers(), None).await;
    hub.write("tools/late.yaml", LATE);
    let told: Value = serde_json::from_str(&events.next().await.expect("an event")).expect("JSON");
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert_eq!(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 7);
    let told: Value = serde_json::from_str(&stream.next().await.expect("an event")).expect("JSON");
    assert_eq!(told["method"], "notifications/tools/list_changed");
    until("the tool is listed", async || {
        names(&Modern::new(&hub).result("tools/list", json!({})).await).contains(&"local__late")
    })
    .await;
}

#[tokio::test]
async fn reading_and_completing_what_is_not_there_is_refused_as_each_era_says() {
    let hub = hub("").await;
    let modern = Modern::new(&hub);
    let missing = modern.ask("resources/read", json!({"uri": "interlingua://peers/local/file:///x"})).await;
    assert_eq!(error(&missing), (200, -32602), "{}", missing.text());
    assert_eq!(modern.result("resources/list", json!({})).await["resources"], json!([]));
    assert_eq!(modern.result("resources/templates/list", json!({})).await["resourceTemplates"], json!([]));
    assert_eq!(modern.result("prompts/list", json!({})).await["prompts"], json!([]));
    let prompt = modern.ask("prompts/get", json!({"name": "nobody"})).await;
    assert_eq!(error(&prompt), (200, -32602), "{}", prompt.text());
    let session = Session::begin(&hub, "2025-11-25", json!({})).await;
    let missing = session.ask("resources/read", json!({"uri": "file:///x"})).await;
    assert_eq!(error(&missing), (200, -32002), "{}", missing.text());
    let _ = send(&hub, Method::DELETE, "/mcp", &session.headers(), None).await;
}

const VIEWS: &str = "mcp: { views: { small: { allow: ['local/st*'], deny: ['local/steps'], tools: { count: { skill: local/steps, description: Counts. }, wipe: { skill: local/erase, arguments: { what: dust } } } } } }";

#[tokio::test]
async fn m_43_a_view_shows_what_it_chose_under_its_own_names_with_its_own_arguments() {
    let hub = hub(VIEWS).await;
    let mut view = Modern::new(&hub);
    view.path = "/mcp/small";
    view.capabilities = json!({"elicitation": {}});
    let listed = view.result("tools/list", json!({})).await;
    assert_eq!(names(&listed), ["count", "wipe"], "{listed}");
    assert_eq!(listed["tools"][0]["description"], "Counts.");
    assert_eq!(listed["tools"][1]["inputSchema"]["required"], json!([]), "what is fixed is not asked for: {listed}");
    assert_eq!(view.call("count", json!({})).await["structuredContent"], json!({"counted": 2}));
    let asked = view.call("wipe", json!({"what": "everything"})).await;
    let shown = asked["inputRequests"]["q0"]["params"]["message"].to_string();
    assert!(shown.contains("dust") && !shown.contains("everything"), "{asked}");
    let outside = view.ask("tools/call", json!({"name": "local__fails"})).await;
    assert_eq!(error(&outside), (200, -32602), "{}", outside.text());
    let mut nowhere = Modern::new(&hub);
    nowhere.path = "/mcp/other";
    assert_eq!(nowhere.ask("tools/list", json!({})).await.status, 404);
    for method in [Method::GET, Method::DELETE] {
        let other = send(&hub, method.clone(), "/mcp/other", &[], None).await;
        assert_eq!(error(&other), (404, -32600), "{method}: {}", other.text());
    }
}
