//! From a client of the hub to a server behind it: what each side sees on its own wire.

use http::Method;
use http_body_util::Full;
use interlingua_testkit::request;

use super::*;
use crate::mcp::{MODERN, Session, error, last_message, messages};
use crate::support::send;

/// A call whose client leaves when this is dropped.
struct Leaves(tokio::task::JoinHandle<()>);

impl Leaves {
    async fn call(hub: &Hub, headers: &[(&str, &str)], body: Value) -> Leaves {
        let mut sent = request(Method::POST, "/mcp").header("content-type", "application/json");
        for (name, value) in headers {
            sent = sent.header(*name, *value);
        }
        let sent = sent.body(Full::new(body.to_string().into())).expect("a request");
        let mut connection = hub.connect().await;
        Leaves(tokio::runtime::Handle::current().spawn(async move {
            // Nobody is there any more when it ends.
            let _ = connection.try_send(sent).await;
        }))
    }

    async fn of_modern(hub: &Hub, tool: &str, arguments: Value) -> Leaves {
        let body = Modern::new(hub).body("tools/call", json!({"name": tool, "arguments": arguments}));
        let headers = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/call"), ("mcp-name", tool)];
        Leaves::call(hub, &headers, body).await
    }

    async fn of_legacy(session: &Session<'_>, tool: &str, arguments: Value) -> Leaves {
        let params = json!({"name": tool, "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": params});
        Leaves::call(session.hub, &session.headers(), body).await
    }

    async fn now(self) {
        self.0.abort();
        let _ = self.0.await;
    }
}

#[tokio::test]
async fn m_12_a_modern_client_that_leaves_cancels_at_the_server_and_a_legacy_one_does_not() {
    let everywhere = Everywhere::start(&[
        ("modern-program", "stdio", "modern"),
        ("legacy-program", "stdio", "legacy"),
        ("modern-http", "http", "modern"),
        ("legacy-http", "http", "legacy"),
    ])
    .await;
    let hub = &everywhere.hub;
    for (name, log) in everywhere.names.iter().zip(&everywhere.logs) {
        let cancelled = || log.count("cancelled") + log.count("closed");
        let session = Session::begin(hub, "2025-11-25", json!({})).await;
        let leaves = Leaves::of_legacy(&session, &format!("{name}__slow"), json!({"seconds": 2})).await;
        until("the call of the legacy client", async || log.count("call slow") == 1).await;
        leaves.now().await;

        let leaves = Leaves::of_modern(hub, &format!("{name}__hang"), json!({})).await;
        until("the call of the modern client", async || log.count("call hang") == 1).await;
        leaves.now().await;
        until("the server to be told", async || cancelled() == 1).await;

        until("what the legacy client asked for to be done", async || log.count("done slow") == 1).await;
        assert_eq!((cancelled(), log.count("call slow")), (1, 1), "{name}: one call was cancelled, and one was not");
    }
}

#[tokio::test]
async fn m_13_every_result_for_a_modern_client_has_its_type_whatever_the_server_said() {
    let everywhere = Everywhere::all().await;
    let client = Modern::new(&everywhere.hub);
    let listed = client.result("resources/list", json!({})).await;
    for name in &everywhere.names {
        let of_peer = |resource: &&Value| resource["uri"].as_str().is_some_and(|uri| uri.contains(*name));
        let resource = listed["resources"].as_array().expect("resources").iter().find(of_peer).expect("one of it");
        let prompt = format!("{name}__greet");
        for (method, params) in [
            ("server/discover", json!({})),
            ("tools/list", json!({})),
            ("prompts/list", json!({})),
            ("resources/list", json!({})),
            ("resources/templates/list", json!({})),
            ("tools/call", json!({"name": format!("{name}__echo"), "arguments": {"text": "x"}})),
            ("tools/call", json!({"name": format!("{name}__large"), "arguments": {}})),
            ("tools/call", json!({"name": format!("{name}__fails"), "arguments": {}})),
            ("prompts/get", json!({"name": prompt, "arguments": {"who": "Ada"}})),
            ("resources/read", json!({"uri": resource["uri"]})),
        ] {
            let result = client.result(method, params.clone()).await;
            assert_eq!(result["resultType"], "complete", "{name} {method} {params}");
        }
        for (tool, arguments) in [
            ("find_skills", json!({"query": "echo"})),
            ("call_skill", json!({"skill": format!("{name}/reads"), "arguments": {}})),
        ] {
            let own = client.call(&format!("hub__{tool}"), arguments).await;
            assert_eq!(own["resultType"], "complete", "{tool}: {own}");
        }
        let of = json!({"ref": {"type": "ref/prompt", "name": prompt}, "argument": {"name": "who", "value": "p"}});
        assert_eq!(client.result("completion/complete", of).await["resultType"], "complete", "{name}");
    }
}

#[tokio::test]
async fn m_14_input_required_goes_from_a_modern_server_to_a_modern_client_and_the_answer_back_under_new_ids() {
    let everywhere = Everywhere::start(&[("m", "http", "modern"), ("p", "stdio", "modern")]).await;
    for (name, log) in everywhere.names.iter().zip(&everywhere.logs) {
        let tool = format!("{name}__ask");
        let client = Modern { capabilities: json!({"elicitation": {}}), ..Modern::new(&everywhere.hub) };
        let call = json!({"name": tool, "arguments": {}});
        let asked = client.result("tools/call", call.clone()).await;
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        let state = asked["requestState"].as_str().expect("a state");
        assert!(!state.contains("state \u{e9}"), "the server's state is wrapped: {state}");
        let (key, request) = asked["inputRequests"].as_object().expect("requests").iter().next().expect("one");
        assert_eq!(request["params"]["message"], "Which name?");
        let mut altered = call.clone();
        let other = if state.ends_with("AA") { "BB" } else { "AA" };
        altered["requestState"] = format!("{}{other}", &state[..state.len() - 2]).into();
        altered["inputResponses"] = json!({key: {"action": "accept", "content": {"name": "Eve"}}});
        assert_eq!(error(&client.ask("tools/call", altered).await), (200, -32602), "what it wraps is authenticated");
        assert_eq!(log.count("id ask "), 1, "{name}: the server heard nothing of it");
        let mut again = client.body("tools/call", call);
        again["id"] = json!("another");
        again["params"]["requestState"] = state.into();
        again["params"]["inputResponses"] = json!({key: {"action": "accept", "content": {"name": "Ada"}}});
        let headers = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/call"), ("mcp-name", tool.as_str())];
        let done = last_message(&send(&everywhere.hub, Method::POST, "/mcp", &headers, Some(again)).await);
        // The server itself refuses another state than its own.
        assert_eq!((&done["id"], &done["result"]["resultType"]), (&json!("another"), &json!("complete")), "{done}");
        assert!(done["result"]["content"][0]["text"].as_str().is_some_and(|text| text.contains("Ada")), "{done}");
        let ids = log.lines("id ask ");
        assert!(ids.len() == 2 && ids[0] != ids[1], "{name}: the retry has an id of its own: {ids:?}");
    }
}

#[tokio::test]
async fn m_18_a_client_is_sent_nothing_that_it_did_not_declare_and_is_told_what_it_lacks() {
    let everywhere = Everywhere::all().await;
    let hub = &everywhere.hub;
    for name in &everywhere.names {
        let nothing = Modern::new(hub);
        for tool in ["ask", "ask_twice"] {
            let answer = nothing.ask("tools/call", json!({"name": format!("{name}__{tool}"), "arguments": {}})).await;
            for message in messages(&answer) {
                assert_ne!(message["result"]["resultType"], "input_required", "{name} {tool}: {message}");
                assert!(message.get("method").is_none_or(|method| method == "notifications/progress"), "{message}");
            }
            // A modern server cannot go on; a legacy one is told that nobody answers.
            let result = &last_message(&answer)["result"];
            match name.starts_with("modern") {
                true => assert_eq!(result["isError"], true, "{name} {tool}: {result}"),
                false => assert!(result.to_string().contains("decline"), "{name} {tool}: {result}"),
            }
        }
        let session = Session::begin(hub, "2025-11-25", json!({})).await;
        let answer = session.ask("tools/call", json!({"name": format!("{name}__ask"), "arguments": {}})).await;
        assert!(!answer.text().contains("elicitation/create"), "{name}: {}", answer.text());
    }
    for name in ["modern-program", "modern-http"] {
        let nothing = Modern::new(hub);
        let task = nothing.call(&format!("{name}__task"), json!({})).await;
        assert_eq!(task["resultType"], "complete", "{name}: a task is followed to its end: {task}");
        // Longer than the hub waits before it hands a receipt to those who know tasks.
        let long = nothing.call(&format!("{name}__slow"), json!({"seconds": 3})).await;
        assert_eq!((&long["resultType"], &long["taskId"]), (&json!("complete"), &Value::Null), "{name}: {long}");
        let knows = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
        let knows = Modern { capabilities: knows, ..Modern::new(hub) };
        let receipt = knows.call(&format!("{name}__slow"), json!({"seconds": 3})).await;
        assert_eq!(receipt["resultType"], "task", "{name}: {receipt}");
        let about = json!({"taskId": receipt["taskId"]});
        for method in ["tasks/get", "tasks/cancel"] {
            assert_eq!(error(&nothing.ask(method, about.clone()).await), (400, -32021), "{name}: {method}");
            assert_eq!(knows.result(method, about.clone()).await["resultType"], "complete", "{name}: {method}");
        }
        let call = json!({"name": format!("{name}__ask_declared"), "arguments": {}});
        let answer = nothing.ask("tools/call", call.clone()).await;
        assert_eq!(error(&answer), (400, -32021), "{name}: {}", answer.text());
        let needs = last_message(&answer)["error"]["data"]["requiredCapabilities"].clone();
        assert_eq!(needs, json!({"elicitation": {}}), "{name}");
        let able = Modern { capabilities: json!({"elicitation": {}}), ..Modern::new(hub) };
        assert_eq!(able.result("tools/call", call).await["resultType"], "input_required", "{name}");
    }
}

/// A server that has one more tool of this name, or so many more.
fn with(line: &str, name: &str, value: &str) -> String {
    line.replace("mcp: {", &format!("mcp: {{ env: {{ {name}: \"{value}\" }},"))
}

#[tokio::test]
async fn m_21_a_bare_name_that_two_peers_have_is_refused_and_one_of_one_peer_is_called() {
    let (one, two) = (Log::new(), Log::new());
    let peers = [("one", with(&program("modern", &one), "ALSO", "mine")), ("two", program("modern", &two))];
    let hub = builder_with(&peers, "mcp: { names: bare }\n").start().await;
    listed(&hub, "one").await;
    listed(&hub, "two").await;
    let client = Modern::new(&hub);
    let refused = client.ask("tools/call", json!({"name": "echo", "arguments": {"text": "x"}})).await;
    assert_eq!(error(&refused), (200, -32602), "{}", refused.text());
    assert!(refused.text().contains("several peers have 'echo'"), "{}", refused.text());
    assert_eq!(client.call("mine", json!({})).await["content"][0]["text"], "also");
    for (name, log) in [("one", &one), ("two", &two)] {
        client.call(&format!("{name}__echo"), json!({"text": "x"})).await;
        assert_eq!(log.count("call echo"), 1, "{name}");
    }
}

#[tokio::test]
async fn m_22_underscores_in_names_of_peers_and_tools_mislead_nobody() {
    let (one, two) = (Log::new(), Log::new());
    let peers = [
        ("a", with(&program("modern", &one), "ALSO", "b__echo")),
        ("a_b", with(&program("modern", &two), "ALSO", "_echo")),
    ];
    let hub = hub(&peers).await;
    let client = Modern::new(&hub);
    let names = client.result("tools/list", json!({})).await;
    let names = names["tools"].as_array().expect("tools").iter().filter_map(|tool| tool["name"].as_str());
    let mut meant: Vec<String> = names.filter(|name| name.ends_with("echo")).map(str::to_owned).collect();
    meant.sort();
    assert_eq!(meant.len(), 4, "{meant:?}");
    for name in &meant {
        client.call(name, json!({"text": "x"})).await;
    }
    let calls = |log: &Log| (log.lines("call echo").len(), log.count("call b__echo") + log.count("call _echo"));
    assert_eq!((calls(&one), calls(&two)), ((1, 1), (1, 1)), "each of {meant:?} is one tool of one peer");

    let refused = builder(&[("a__b", program("modern", &one))]).refused().await;
    assert!(refused.1.contains("a peer's name has no `__`"), "{}", refused.1);
}

#[tokio::test]
async fn m_23_addresses_in_links_and_embedded_resources_lead_back_to_their_server() {
    let everywhere = Everywhere::all().await;
    let client = Modern::new(&everywhere.hub);
    for (name, log) in everywhere.names.iter().zip(&everywhere.logs) {
        let given = client.call(&format!("{name}__links"), json!({})).await;
        let (link, embedded) = (&given["content"][0]["uri"], &given["content"][1]["resource"]["uri"]);
        for (uri, own, text) in [(link, "test://one", "first"), (embedded, "urn:isbn:1", "a book")] {
            assert_ne!(*uri, json!(own), "{name}: {given}");
            let read = client.result("resources/read", json!({ "uri": uri })).await;
            assert_eq!(read["contents"][0]["text"], text, "{name}: {read}");
            assert_eq!(read["contents"][0]["uri"], *uri, "{name}: the same address as in the link");
            assert_eq!(log.count(&format!("read {own}")), 1, "{name}: under its own address there");
        }
    }
}

#[tokio::test]
async fn m_28_a_program_that_does_not_start_again_is_tried_after_longer_and_longer_waits() {
    let log = Log::new();
    let server = format!("{} {} stdio modern {}", python().display(), script().display(), log.path.display());
    let begins = format!("if [ -e broken ]; then echo started >> starts; exit 1; fi\nexec {server}\n");
    let line = "{ trust_hints: true, mcp: { command: sh, args: [begins.sh] } }".to_owned();
    let hub = builder(&[("mortal", line)]).file("begins.sh", begins).start().await;
    listed(&hub, "mortal").await;
    hub.write("broken", "");
    assert_eq!(fault(&call(&hub, "mortal/die", json!({})).await), "outcome_unknown");
    // The waits double: these calls take far less time than those after which it is tried a twelfth time, which are minutes.
    for _ in 0..200 {
        let refused = call(&hub, "mortal/echo", json!({"text": "x"})).await;
        let kind = if refused["error"].is_null() { fault(&refused) } else { &refused["error"]["kind"] };
        assert_eq!(kind, "unreachable", "{refused}");
    }
    let starts = std::fs::read_to_string(hub.directory().join("starts")).unwrap_or_default().lines().count();
    assert!((1..=12).contains(&starts), "it was started {starts} times");
}

#[tokio::test]
async fn m_32_a_progress_token_is_another_one_on_each_hop() {
    let everywhere = Everywhere::all().await;
    for (name, log) in everywhere.names.iter().zip(&everywhere.logs) {
        let tool = format!("{name}__progress");
        let mut body = Modern::new(&everywhere.hub).body("tools/call", json!({"name": tool, "arguments": {}}));
        body["params"]["_meta"]["progressToken"] = "of the client".into();
        let headers = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/call"), ("mcp-name", tool.as_str())];
        let told = messages(&send(&everywhere.hub, Method::POST, "/mcp", &headers, Some(body)).await);
        let steps: Vec<(Option<&str>, Option<f64>)> = told
            .iter()
            .filter(|message| message["method"] == "notifications/progress")
            .map(|message| (message["params"]["progressToken"].as_str(), message["params"]["progress"].as_f64()))
            .collect();
        let token = Some("of the client");
        assert_eq!(steps, [(token, Some(1.0)), (token, Some(2.0))], "{name}");
        let there = log.lines("token ");
        assert_eq!(there.len(), 1, "{name}");
        assert_ne!(there[0], "token of the client", "{name}: the hub has a token of its own there");
    }
}

#[tokio::test]
async fn m_32_progress_that_does_not_rise_is_not_passed_on() {
    let everywhere = Everywhere::start(&[("m", "http", "modern"), ("l", "stdio", "legacy")]).await;
    for name in &everywhere.names {
        let tool = format!("{name}__unsteady");
        let mut body = Modern::new(&everywhere.hub).body("tools/call", json!({"name": tool, "arguments": {}}));
        body["params"]["_meta"]["progressToken"] = "p".into();
        let headers = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/call"), ("mcp-name", tool.as_str())];
        let told = messages(&send(&everywhere.hub, Method::POST, "/mcp", &headers, Some(body)).await);
        let steps: Vec<f64> = told.iter().filter_map(|message| message["params"]["progress"].as_f64()).collect();
        assert_eq!(steps, [0.0, 2.0, 3.0], "{name}: of 0, 0, 2, 1, 2, 3");
    }
}

#[tokio::test]
async fn m_33_a_cursor_goes_across_peers_and_every_tool_is_listed_once() {
    let (one, two) = (Log::new(), Log::new());
    let peers = [("one", &one), ("two", &two)].map(|(name, log)| (name, with(&program("modern", log), "EXTRA", "700")));
    let hub = builder_with(&peers, "mcp: { search_above: 100000 }\n").start().await;
    for (name, _) in &peers {
        listed(&hub, name).await;
    }
    let client = Modern::new(&hub);
    let (mut names, mut params, mut pages) = (Vec::new(), json!({}), 0);
    loop {
        let page = client.result("tools/list", params).await;
        names.extend(page["tools"].as_array().expect("tools").iter().map(|tool| tool["name"].clone().to_string()));
        pages += 1;
        match page.get("nextCursor") {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => break,
        }
    }
    assert!(pages > 1, "all of it fits on a page");
    let listed = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), listed, "a tool is listed twice");
    for peer in ["one", "two"] {
        let of_peer = names.iter().filter(|name| name.starts_with(&format!("\"{peer}__extra_"))).count();
        assert_eq!(of_peer, 700, "{peer}");
    }
    assert_eq!(error(&client.ask("tools/list", json!({"cursor": "x"})).await), (200, -32602));
}

#[tokio::test]
async fn m_41_an_answer_over_the_limit_ends_its_call_cleanly_on_every_transport() {
    let logs: Vec<Log> = (0..4).map(|_| Log::new()).collect();
    let (modern, legacy) = (server("modern", &logs[0]).await, server("legacy", &logs[1]).await);
    let peers = [
        ("modern-http", url(&modern)),
        ("legacy-http", url(&legacy)),
        ("modern-program", program("modern", &logs[2])),
        ("legacy-program", program("legacy", &logs[3])),
    ];
    let hub = builder_with(&peers, "limits: { body: 256KiB }\n").start().await;
    for (name, _) in &peers {
        listed(&hub, name).await;
        let large = call(&hub, &format!("{name}/large"), json!({})).await;
        assert_eq!(large["finished"]["outcome"], "failed", "{name}: {large}");
        assert_eq!(fault(&large), "bad_reply", "{name}: {large}");
        assert!(large.to_string().contains("limits.body"), "{name}: {large}");
        let next = call(&hub, &format!("{name}/echo"), json!({"text": "on"})).await;
        assert_eq!(said(&next), "on", "{name}: the next call is answered");
    }
}

#[tokio::test]
async fn m_43_what_configuration_allows_is_all_that_is_offered_of_a_server() {
    let (one, two) = (Log::new(), Log::new());
    let few = program("modern", &one).replace("{ trust_hints", "{ allow: [echo, \"on*\"], trust_hints");
    let hub = hub(&[("few", few), ("all", program("modern", &two))]).await;
    let client = Modern::new(&hub);
    let tools = client.result("tools/list", json!({})).await;
    let names = tools["tools"].as_array().expect("tools").iter().filter_map(|tool| tool["name"].as_str());
    let of_few: Vec<&str> = names.filter(|name| name.starts_with("few__")).collect();
    assert_eq!(of_few, ["few__echo", "few__once"]);
    let hidden = client.ask("tools/call", json!({"name": "few__reads", "arguments": {}})).await;
    assert_eq!(error(&hidden), (200, -32602), "{}", hidden.text());
    assert_eq!(one.count("call reads"), 0);
    assert_eq!(client.call("all__reads", json!({})).await["content"][0]["text"], "done", "it counts for one server");
}

#[tokio::test]
async fn m_44_trace_keys_in_meta_of_a_client_reach_the_server_in_meta() {
    let everywhere = Everywhere::all().await;
    let trace = "0af7651916cd43dd8448eb211c80319c";
    for name in &everywhere.names {
        let tool = format!("{name}__meta");
        let mut body = Modern::new(&everywhere.hub).body("tools/call", json!({"name": tool, "arguments": {}}));
        body["params"]["_meta"]["traceparent"] = format!("00-{trace}-b7ad6b7169203331-01").into();
        body["params"]["_meta"]["tracestate"] = "a=b".into();
        body["params"]["_meta"]["baggage"] = "k=v".into();
        let headers = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/call"), ("mcp-name", tool.as_str())];
        let answer = last_message(&send(&everywhere.hub, Method::POST, "/mcp", &headers, Some(body)).await);
        let seen = answer["result"]["content"][0]["text"].as_str().expect("what the server saw");
        let seen: Value = serde_json::from_str(seen).expect("JSON");
        assert!(seen["traceparent"].as_str().is_some_and(|parent| parent.contains(trace)), "{name}: {seen}");
        assert_eq!((&seen["tracestate"], &seen["baggage"]), (&json!("a=b"), &json!("k=v")), "{name}: {seen}");
    }
}

/// A tool of a server is a skill of A2A: what the server says while it works, what it asks and what it gives are those of a task.
#[tokio::test]
async fn a_49_an_a2a_client_has_task_progress_artifacts_and_questions_of_a_tool() {
    let everywhere = Everywhere::all().await;
    for (name, log) in everywhere.names.iter().zip(&everywhere.logs) {
        let path = format!("/agents/{name}/a2a");
        let ask = async |method: &str, params: Value| {
            let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
            send(&everywhere.hub, Method::POST, &path, &[("a2a-version", "1.0")], Some(body)).await
        };
        let message = |id: &str, tool: &str| {
            json!({"messageId": format!("{id} {name}"), "role": "ROLE_USER", "parts": [{"data": {}}],
                "metadata": {"urn:interlingua:hub:1": {"skill": tool}}})
        };
        let told = messages(&ask("SendStreamingMessage", json!({"message": message("1", "progress")})).await);
        let first = &told[0]["result"]["task"];
        let updates: Vec<String> = told.iter().map(|event| event["result"]["statusUpdate"].to_string()).collect();
        assert!(first["id"].is_string(), "{name}: {told:?}");
        assert!(
            updates.iter().any(|update| update.contains("1") && update.contains("2")),
            "{name}: progress in {told:?}"
        );
        assert!(told.last().expect("an end").to_string().contains("TASK_STATE_COMPLETED"), "{name}: {told:?}");
        let kept = ask("GetTask", json!({"id": first["id"]})).await.json()["result"].clone();
        assert_eq!(kept["artifacts"][0]["parts"][0]["text"], "two", "{name}: {kept}");

        let asked = ask("SendMessage", json!({"message": message("2", "ask")})).await.json()["result"]["task"].clone();
        assert_eq!(asked["status"]["state"], "TASK_STATE_INPUT_REQUIRED", "{name}: {asked}");
        assert!(asked["status"]["message"].to_string().contains("Which name?"), "{name}: {asked}");
        let answer = json!({"messageId": format!("3 {name}"), "role": "ROLE_USER", "taskId": asked["id"],
            "parts": [{"data": {"name": "Ada"}}]});
        let done = ask("SendMessage", json!({ "message": answer })).await.json()["result"]["task"].clone();
        assert_eq!((&done["id"], &done["status"]["state"]), (&asked["id"], &json!("TASK_STATE_COMPLETED")), "{name}");
        assert!(done["artifacts"].to_string().contains("Ada"), "{name}: {done}");
        assert!(log.count("call ask") >= 1, "{name}");
    }
}
