//! Which of the hub's own tools a client's model sees (`mcp.hub_tools`), and the instructions it gets.

use http::Method;
use http_body_util::Full;
use interlingua_testkit::{Hub, mcp, request};
use serde_json::{Value, json};

use super::{MODERN, Modern, Session, error, last_message};
use crate::support::{builder, streaming, until};

/// Another program's server, with some tools of its own.
fn desk() -> String {
    let program = mcp::fixture_program();
    format!("peers: {{ desk: {{ mcp: {{ command: {program:?}, args: [--era, both] }}, effects: reads }} }}\n")
}

/// A hub before that server, once its tools are known.
async fn before_desk(yaml: &str) -> Hub {
    let hub = builder().config(&format!("{}{yaml}\n", desk())).start().await;
    until("the peer's tools", async || hub.get("/api/skills?limit=200").await.text().contains("desk/echo")).await;
    hub
}

fn names(list: &Value) -> Vec<String> {
    let tools = list["tools"].as_array().unwrap_or_else(|| panic!("no tools in {list}"));
    tools.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
}

/// The names of the list, which is the same in both eras.
async fn listed(hub: &Hub) -> Vec<String> {
    let modern = names(&Modern::new(hub).result("tools/list", json!({})).await);
    let session = Session::begin(hub, "2025-11-25", json!({})).await;
    assert_eq!(names(&session.result("tools/list", json!({})).await), modern);
    modern
}

/// Those of the hub itself.
async fn own(hub: &Hub) -> Vec<String> {
    let is_own = |name: &String| ["hub__", "graph__", "local__"].iter().any(|peer| name.starts_with(peer));
    listed(hub).await.into_iter().filter(is_own).collect()
}

async fn instructions(client: &Modern<'_>) -> String {
    let told = client.result("server/discover", json!({})).await;
    told["instructions"].as_str().unwrap_or_else(|| panic!("no instructions in {told}")).to_owned()
}

const FILES: [&str; 5] =
    ["local__edit_file", "local__list_directory", "local__read_file", "local__search_files", "local__write_file"];

#[tokio::test]
async fn beside_the_tools_of_peers_the_list_has_none_of_the_hubs_own_unless_the_key_says_so() {
    for yaml in
        ["", "mcp: { hub_tools: search }", "mcp: { hub_tools: off }", "mcp: { hub_tools: off, search_above: 1 }"]
    {
        let hub = before_desk(yaml).await;
        assert_eq!(own(&hub).await, [""; 0], "{yaml}");
        assert!(listed(&hub).await.contains(&"desk__echo".to_owned()), "{yaml}");
    }
    let hub = before_desk("mcp: { hub_tools: all }").await;
    let own = own(&hub).await;
    for name in ["graph__run", "hub__await", "hub__echo", "hub__find_skills"].iter().chain(&FILES) {
        assert!(own.iter().any(|listed| listed == name), "{name} is not in {own:?}");
    }
}

#[tokio::test]
async fn above_the_bound_the_list_is_how_to_search_and_only_tools_that_would_be_listed_count() {
    for yaml in ["mcp: { search_above: 1 }", "mcp: { search_above: 1, hub_tools: all }"] {
        let hub = before_desk(yaml).await;
        assert_eq!(listed(&hub).await, ["hub__call_skill", "hub__find_skills"], "{yaml}");
    }
    let alone = builder().config("mcp: { search_above: 5 }\n").start().await;
    assert_eq!(listed(&alone).await, FILES, "five tools are not more than five, however many the hub has itself");
}

#[tokio::test]
async fn whoever_may_not_search_is_shown_what_they_may_see() {
    let token = "ilg_ann-token-of-some-length";
    let access =
        format!("access: {{ tokens: [{{ name: ann, token: {token}, skills: ['desk/echo', 'desk/test_*'] }}] }}");
    let hub = before_desk(&format!("mcp: {{ search_above: 1 }}\n{access}")).await;
    let bearer = format!("Bearer {token}");
    let ann = Modern { headers: vec![("authorization", &*bearer)], ..Modern::new(&hub) };
    let seen = names(&ann.result("tools/list", json!({})).await);
    assert!(seen.contains(&"desk__echo".to_owned()) && seen.len() > 1, "{seen:?}");
    let told = instructions(&ann).await;
    assert!(told.contains("Connected now: desk.") && !told.contains("find_skills"), "{told}");
}

#[tokio::test]
async fn file_tools_are_the_users_own_where_they_are_configured_or_alone_and_custom_tools_always() {
    let alone = builder().config("").start().await;
    assert_eq!(listed(&alone).await, FILES);
    let configured = before_desk("tools: { workspace: ./workspace }").await;
    assert_eq!(own(&configured).await, FILES);
    let hub = before_desk("").await;
    let late = "name: late\ndescription: Comes later.\neffects: { reads: true }\ncommand: [echo, '1']\n";
    hub.write("data/tools/late.yaml", late);
    let late = "local__late".to_owned();
    until("the custom tool is listed", async || {
        names(&Modern::new(&hub).result("tools/list", json!({})).await).contains(&late)
    })
    .await;
    assert_eq!(own(&hub).await, [late]);
}

#[tokio::test]
async fn what_is_not_listed_can_be_called_by_its_name_by_whoever_may() {
    let token = "ilg_ann-token-of-some-length";
    let access = format!("access: {{ tokens: [{{ name: ann, token: {token}, skills: ['desk/*'] }}] }}");
    for key in ["search", "off"] {
        let hub = before_desk(&format!("mcp: {{ hub_tools: {key} }}\n{access}")).await;
        let owner = Modern::new(&hub);
        let said = owner.call("hub__echo", json!({"message": "still here"})).await;
        assert!(said["content"][0]["text"] == "still here", "{said}");
        assert_ne!(owner.call("local__list_directory", json!({"path": "."})).await["isError"], true);
        for name in ["find_skills", "hub__find_skills"] {
            let found = owner.call(name, json!({"query": "echo"})).await;
            assert!(found.to_string().contains("desk/echo"), "{found}");
        }
        let called = owner.call("call_skill", json!({"skill": "desk/echo", "arguments": {"text": "hello"}})).await;
        assert_eq!(called["content"][0]["text"], "hello", "{called}");
        let session = Session::begin(&hub, "2025-06-18", json!({})).await;
        let waits = json!({"name": "hub__await", "arguments": {"task": "0"}});
        let told = session.ask("tools/call", waits).await;
        assert!(told.text().contains("task") && !told.text().contains("Unknown tool"), "{}", told.text());
        let bearer = format!("Bearer {token}");
        let ann = Modern { headers: vec![("authorization", &*bearer)], ..Modern::new(&hub) };
        let refused = ann.ask("tools/call", json!({"name": "hub__echo", "arguments": {"message": "x"}})).await;
        assert_eq!(error(&refused), (200, -32602), "{}", refused.text());
    }
}

/// The next message of a stream.
async fn heard(events: &mut interlingua_testkit::Events) -> Value {
    serde_json::from_str(&events.next().await.expect("an event")).expect("JSON")
}

#[tokio::test]
async fn clients_of_both_eras_are_told_when_a_first_peer_comes_and_when_the_key_changes() {
    let hub = builder().config("").start().await;
    let body = Modern::new(&hub).body("subscriptions/listen", json!({"notifications": {"toolsListChanged": true}}));
    let headers = [("mcp-protocol-version", MODERN), ("mcp-method", "subscriptions/listen")];
    let session = Session::begin(&hub, "2025-11-25", json!({})).await;
    // Nobody is there, so that it has no tools: it is a peer all the same.
    let peer = "peers: { desk: { mcp: { url: 'http://127.0.0.1:9/mcp' } } }\n";
    let seen = [
        (peer.to_owned(), Vec::new()),
        (format!("{peer}tools: {{ workspace: ./workspace }}\n"), FILES.to_vec()),
        (format!("{peer}mcp: {{ search_above: 50 }}\n"), Vec::new()),
        (String::new(), FILES.to_vec()),
        ("mcp: { search_above: 2 }\n".to_owned(), vec!["hub__call_skill", "hub__find_skills"]),
    ];
    for (yaml, expected) in seen {
        let (_one, mut events) = streaming(&hub, Method::POST, "/mcp", &headers, Some(body.clone())).await;
        assert_eq!(heard(&mut events).await["method"], "notifications/subscriptions/acknowledged");
        let (_other, mut stream) = streaming(&hub, Method::GET, "/mcp", &session.headers(), None).await;
        hub.write("interlingua.yaml", &yaml);
        for told in [heard(&mut events).await, heard(&mut stream).await] {
            assert_eq!(told["method"], "notifications/tools/list_changed", "{yaml}: {told}");
        }
        let modern = async || names(&Modern::new(&hub).result("tools/list", json!({})).await);
        until(&format!("the list after {yaml}"), async || modern().await == expected).await;
        assert_eq!(listed(&hub).await, expected, "{yaml}");
    }
}

#[tokio::test]
async fn instructions_name_the_peers_that_are_up_and_only_tools_that_are_there() {
    let views = "views: { small: { allow: ['desk/echo'] }, blind: { tools: { say: { skill: desk/echo } } } }";
    let hub = before_desk(&format!("mcp: {{ {views} }}")).await;
    let modern = Modern::new(&hub);
    let told = instructions(&modern).await;
    assert!(told.contains("PEER__TOOL") && told.ends_with("Connected now: desk."), "{told}");
    assert!(!told.contains("find_skills") && !told.contains("call_skill"), "{told}");
    let session = Session::begin(&hub, "2025-06-18", json!({})).await;
    assert_eq!(session.begun["instructions"], told.as_str());
    for (path, named) in [("/mcp/small", true), ("/mcp/blind", false), ("/agents/desk/mcp", false)] {
        let part = instructions(&Modern { path, ..Modern::new(&hub) }).await;
        assert_eq!(part.contains("desk"), named, "{path}: {part}");
        assert!(!part.contains("_skill") && !part.contains("PEER__TOOL"), "{path}: {part}");
    }
    // Who may not see a peer does not hear of it either.
    let body = modern.body("server/discover", json!({})).to_string();
    let asked = request(Method::POST, "/mcp").header("content-type", "application/json");
    let asked = asked.header("mcp-protocol-version", MODERN).header("mcp-method", "server/discover");
    let asked = asked.body(Full::new(body.into())).expect("a request");
    let stranger = last_message(&hub.connect_anonymous().await.send(asked).await);
    let told = stranger["result"]["instructions"].as_str().expect("instructions");
    assert!(!told.contains("desk"), "{told}");
    assert_eq!(modern.result("server/discover", json!({})).await["cacheScope"], "private");
}

#[tokio::test]
async fn instructions_say_how_to_search_by_the_names_that_are_listed() {
    for (names, find) in [("prefixed", "`hub__find_skills`"), ("bare", "`find_skills`")] {
        let hub = before_desk(&format!("mcp: {{ search_above: 1, names: {names} }}")).await;
        let told = instructions(&Modern::new(&hub)).await;
        assert!(told.contains(find) && told.contains(&find.replace("find_skills", "call_skill")), "{told}");
    }
}

#[tokio::test]
async fn the_hubs_own_tools_say_when_to_use_them_and_what_they_need() {
    let hub = before_desk("mcp: { hub_tools: all }").await;
    let list = Modern::new(&hub).result("tools/list", json!({})).await;
    let tools = list["tools"].as_array().expect("tools");
    let mut seen = 0;
    for tool in tools.iter().filter(|tool| tool["name"].as_str().is_some_and(|name| !name.starts_with("desk__"))) {
        let (name, text) = (&tool["name"], tool["description"].as_str().unwrap_or_default());
        assert!(text.len() > 40 && tool["title"] != tool["name"], "{tool}");
        let described = tool["inputSchema"]["properties"].as_object().into_iter().flatten();
        for (argument, schema) in described {
            let inner = schema["anyOf"][0]["description"].is_string();
            assert!(schema["description"].is_string() || inner, "{name}: {argument} is not described: {schema}");
        }
        seen += 1;
    }
    assert_eq!(seen, 17);
    let of = |name: &str| tools.iter().find(|tool| tool["name"] == name).expect("a tool");
    assert!(of("hub__find_skills")["description"].as_str().expect("a text").contains("Use this first"));
    assert_eq!(of("hub__find_skills")["annotations"]["readOnlyHint"], true);
    let call = &of("hub__call_skill")["annotations"];
    assert_eq!((&call["readOnlyHint"], &call["destructiveHint"]), (&json!(false), &json!(true)), "{call}");
}

#[tokio::test]
async fn a_client_that_has_not_introduced_itself_is_told_to() {
    let hub = builder().config("").start().await;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let answer = crate::support::send(&hub, Method::POST, "/mcp", &[], Some(list)).await;
    assert_eq!(error(&answer), (400, -32600), "{}", answer.text());
    let said = last_message(&answer)["error"]["message"].to_string();
    assert!(said.contains("send `initialize` first") && said.contains("Mcp-Session-Id"), "{said}");
}
