//! What callers see of an answer that arrives in pieces. The site holds its second item back until the caller has the first one.

use std::process::Command;
use std::sync::Arc;

use interlingua_testkit::{Piece, Process, within};
use tokio::sync::Notify;

use super::streams::{dripping, named};
use super::*;
use crate::mcp::{MODERN, Modern};
use crate::support::streaming;

/// All that a caller is sent, where the site goes on once the caller has its first item.
async fn pieces(hub: &Hub, go_on: &Notify, path: &str, headers: &[(&str, &str)], body: Value) -> Vec<Value> {
    let (_connection, mut events) = streaming(hub, Method::POST, path, headers, Some(body)).await;
    let mut all = Vec::new();
    let mut told = false;
    while let Some(event) = within("an event, while the site has not gone on", events.next()).await {
        if event.contains("Second") && !told {
            told = true;
            go_on.notify_one();
        }
        all.push(serde_json::from_str(&event).expect("JSON"));
    }
    assert!(told, "the stream ended before the first item came: {all:?}");
    all
}

/// The items of these messages, whatever the generation: name and index.
fn items(all: &[Value]) -> Vec<(String, Value)> {
    let lists = all.iter().filter_map(|message| ["results", "content"].iter().find_map(|key| message[*key].as_array()));
    let item = |item: &Value| {
        let item = item.get("resource").unwrap_or(item).clone();
        Some((item["name"].as_str()?.to_owned(), item["index"].clone()))
    };
    lists.flatten().filter_map(item).collect()
}

#[tokio::test]
async fn q_21_q_23_q_42_q_60_an_nlweb_caller_of_every_generation_gets_items_as_they_come() {
    for version in ["0.55", "0.54", "0.5", "0.1"] {
        let go_on = Arc::new(Notify::new());
        let site = dripping(go_on.clone()).await;
        let hub = asking(&site).await;
        let body = match version {
            "0.1" => json!({"query": "spicy snacks", "site": "snacks", "mode": "summarize"}),
            _ => json!({
                "query": {"text": "spicy snacks", "site": "snacks"}, "meta": {"api_version": version},
                "prefer": {"mode": "summarize"},
            }),
        };
        let all = pieces(&hub, &go_on, "/ask", &[], body).await;
        let names: Vec<String> = items(&all).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["Second", "First"], "{version}: each once, as it came: {all:?}");
        let said = all.iter().filter(|message| message.to_string().contains("Two snacks.")).count();
        assert_eq!(said, 1, "{version}: the summary once: {all:?}");
        let alone = json!([{"@type": "Summary", "text": "Two snacks."}]);
        assert!(version != "0.54" || all.iter().any(|message| message["results"] == alone), "of its own: {all:?}");
        let (first, last) = (&all[0], all.last().expect("an end"));
        match version {
            "0.55" => {
                let indices: Vec<Value> = items(&all).into_iter().map(|(_, index)| index).collect();
                assert_eq!(indices, [json!(2), json!(1)], "they say their place: {all:?}");
                assert_eq!(last["_meta"]["response_type"], "answer", "{all:?}");
                assert!(last["_meta"]["session_context"]["conversation_id"].is_string(), "{all:?}");
            }
            "0.54" => {
                assert_eq!(first["_meta"]["response_type"], "Answer", "{all:?}");
                assert!(all[1..].iter().all(|message| message.get("results").is_some()), "{all:?}");
            }
            "0.5" => assert_eq!(first["_meta"]["response_type"], "Answer", "{all:?}"),
            _ => {
                let kinds: Vec<&str> = all.iter().filter_map(|message| message["message_type"].as_str()).collect();
                assert_eq!(kinds.iter().filter(|kind| **kind == "result_batch").count(), 2, "{all:?}");
                assert_eq!(kinds.last(), Some(&"complete"), "{all:?}");
                assert!(!kinds.contains(&"no_results"), "{all:?}");
            }
        }
    }
}

#[tokio::test]
async fn q_23_items_beyond_those_wanted_are_not_told_early_and_a_later_page_is_told_at_the_end() {
    for (query, meta, names) in [
        (json!({"max_results": 2}), json!({}), vec!["First"]),
        (json!({}), json!({"start_num": 1}), vec!["Second"]),
        (json!({"min_score": 70}), json!({}), vec![]),
    ] {
        let site = Scripted::http(|_, _| {
            let item =
                |name: &str, index: u32| json!({"results": [{"@type": "Thing", "name": name, "index": index, "score": 60}]});
            Say::Stream(vec![
                Piece::event(&json!({"_meta": {"version": "0.54", "response_type": "Answer"}})),
                Piece::event(&item("Second", 2)),
                Piece::event(&item("First", 1)),
            ])
        })
        .await;
        let hub = asking(&site).await;
        let mut body = json!({"query": {"text": "spicy snacks", "site": "snacks"}, "meta": {"api_version": "0.54"}});
        for (key, more) in [("query", &query), ("meta", &meta)] {
            body[key].as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        }
        let told = items(&messages(&ask(&hub, body).await.text()));
        let mut told: Vec<String> = told.into_iter().map(|(name, _)| name).collect();
        if query.get("max_results").is_some() {
            told.retain(|name| name == "First");
        }
        assert_eq!(told, names, "{query} {meta}");
    }
}

#[tokio::test]
async fn q_23_q_63_items_of_several_sites_come_as_each_of_them_says_them() {
    let go_on = Arc::new(Notify::new());
    let slow = dripping(go_on.clone()).await;
    let quick = Scripted::http(|_, _| {
        Say::Json(json!({"_meta": {"response_type": "answer"}, "results": [{"name": "Quick", "index": 1}]}))
    })
    .await;
    let yaml = format!(
        "peers:\n  slow: {{ nlweb: {{ url: \"http://{}/ask\" }} }}\n  quick: {{ nlweb: {{ url: \"http://{}/ask\" }} }}\n",
        slow.address(),
        quick.address()
    );
    let hub = builder().config(&yaml).start().await;
    for version in ["0.55", "0.54", "0.1"] {
        let sites = json!(["slow", "quick"]);
        let body = match version {
            "0.1" => json!({"query": "snacks", "site": sites}),
            _ => json!({"query": {"text": "snacks", "site": sites}, "meta": {"api_version": version}}),
        };
        let (_connection, mut events) = streaming(&hub, Method::POST, "/ask", &[], Some(body)).await;
        let mut all: Vec<Value> = Vec::new();
        let mut held = true;
        while let Some(event) = within("an event", events.next()).await {
            all.push(serde_json::from_str(&event).expect("JSON"));
            let names: Vec<String> = items(&all).into_iter().map(|(name, _)| name).collect();
            if held && names.contains(&"Second".to_owned()) && names.contains(&"Quick".to_owned()) {
                held = false;
                go_on.notify_one();
            }
        }
        assert!(!held, "{version}: the stream ended without them: {all:?}");
        let mut names: Vec<String> = items(&all).into_iter().map(|(name, _)| name).collect();
        names.sort();
        assert_eq!(names, ["First", "Quick", "Second"], "{version}: {all:?}");
        let mut indices: Vec<u64> = items(&all).iter().filter_map(|(_, index)| index.as_u64()).collect();
        indices.sort_unstable();
        assert!(version != "0.55" || indices == [0, 1, 2], "no two have one place: {all:?}");
    }
}

#[tokio::test]
async fn q_07_q_23_a_stream_that_fails_after_its_first_item_says_so_at_its_end() {
    let site = Scripted::http(|_, _| {
        Say::Stream(vec![
            Piece::event(&json!({"_meta": {"version": "0.54", "response_type": "Answer"}})),
            Piece::event(&named("Second", 2)),
            Piece::event(&json!({"_meta": {"response_type": "Failure"}})),
            Piece::event(&json!({"error": {"code": "NO_INDEX", "message": "no index"}})),
        ])
    })
    .await;
    let hub = asking(&site).await;
    for version in ["0.55", "0.54", "0.1"] {
        let body = match version {
            "0.1" => json!({"query": "snacks", "site": "snacks"}),
            _ => json!({"query": {"text": "snacks", "site": "snacks"}, "meta": {"api_version": version}}),
        };
        let answer = ask(&hub, body).await;
        let all = messages(&answer.text());
        assert_eq!((answer.status, items(&all).len()), (200, 1), "{version}: {all:?}");
        if version == "0.1" {
            let errors: Vec<&Value> = all.iter().filter(|message| message["message_type"] == "error").collect();
            let [error] = errors.as_slice() else { panic!("one error: {all:?}") };
            assert!(error["error"].is_string() && error["status"].is_u64(), "{error}");
            assert_eq!(all.last().expect("an end")["message_type"], "complete", "{all:?}");
        }
        let last = all.iter().rev().take(4).map(Value::to_string).collect::<String>();
        assert!(last.contains("no index"), "{version}: {all:?}");
        let kind = all.iter().filter_map(|message| message["_meta"]["response_type"].as_str()).next_back();
        let expected = match version {
            "0.55" => Some("failure"),
            "0.54" => Some("Failure"),
            _ => None,
        };
        assert_eq!(kind, expected, "{version}: {all:?}");
    }
}

#[tokio::test]
async fn an_mcp_caller_is_told_of_each_item_as_progress_and_has_all_of_them_at_the_end() {
    let go_on = Arc::new(Notify::new());
    let site = dripping(go_on.clone()).await;
    let hub = asking(&site).await;
    let params = json!({"name": "snacks__ask", "arguments": {"query": "spicy snacks"}});
    let mut body = Modern::new(&hub).body("tools/call", params);
    body["params"]["_meta"]["progressToken"] = json!("p");
    let headers = [("mcp-protocol-version", MODERN), ("mcp-method", "tools/call"), ("mcp-name", "snacks__ask")];
    let all = pieces(&hub, &go_on, "/mcp", &headers, body).await;
    let first = all.iter().find(|message| message.to_string().contains("Second")).expect("just seen");
    assert_eq!(first["method"], "notifications/progress", "{all:?}");
    assert_eq!(first["params"]["progress"].as_f64(), Some(1.0), "{all:?}");
    let last = &all.last().expect("a result")["result"];
    let results = last["structuredContent"]["results"].as_array().expect("results");
    let names: Vec<&Value> = results.iter().map(|item| &item["name"]).collect();
    assert_eq!(names, ["First", "Second"], "{last}");
}

#[tokio::test]
async fn an_a2a_caller_is_told_of_each_item_as_it_comes() {
    let go_on = Arc::new(Notify::new());
    let site = dripping(go_on.clone()).await;
    let hub = asking(&site).await;
    let message = json!({"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "spicy snacks"}]});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": {"message": message}});
    let all = pieces(&hub, &go_on, "/agents/snacks/a2a", &[("a2a-version", "1.0")], body).await;
    let with_data = all.iter().position(|event| {
        let parts = event["result"]["statusUpdate"]["status"]["message"]["parts"].as_array();
        parts.is_some_and(|parts| parts.iter().any(|part| part["data"]["name"] == "Second"))
    });
    let with_first = all.iter().position(|event| event.to_string().contains("First"));
    assert!(with_data.is_some() && with_data < with_first, "the item itself, before the next one: {all:?}");
}

#[tokio::test]
async fn the_command_line_shows_each_item_as_it_comes() {
    let go_on = Arc::new(Notify::new());
    let site = dripping(go_on.clone()).await;
    let hub = asking(&site).await;
    let mut command = Command::new(env!("CARGO_BIN_EXE_interlingua"));
    command.args(["ask", "--peer", "snacks", "spicy snacks", "--hub", &hub.url("")]);
    command.env("INTERLINGUA_TOKEN", hub.token().expect("a token")).stdin(std::process::Stdio::null());
    command.env_remove("INTERLINGUA_HUB").env_remove("INTERLINGUA_DATA");
    let mut process = Process::start(command);
    until("the first item is shown", async || process.output().contains("Second")).await;
    assert!(!process.output().contains("First"), "{}", process.output());
    go_on.notify_one();
    until("the program ends", async || process.ended().is_some()).await;
    assert!(process.output().contains("First"), "{}", process.output());
}

/// What the program writes to standard output for an answer of this site.
async fn printed(site: &Scripted) -> String {
    let hub = asking(site).await;
    let mut command = Command::new(env!("CARGO_BIN_EXE_interlingua"));
    command.args(["ask", "--peer", "snacks", "spicy snacks", "--hub", &hub.url("")]);
    command.env("INTERLINGUA_TOKEN", hub.token().expect("a token")).stdin(std::process::Stdio::null());
    command.env_remove("INTERLINGUA_HUB").env_remove("INTERLINGUA_DATA");
    let ended = tokio::task::spawn_blocking(move || command.output().expect("it runs")).await.expect("ran");
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    String::from_utf8_lossy(&ended.stdout).into_owned()
}

#[tokio::test]
async fn the_command_line_shows_what_a_site_streams_once_with_and_without_words_and_in_any_order() {
    let start = json!({"_meta": {"version": "0.54", "response_type": "Answer"}});
    let words = json!({"results": [{"@type": "Summary", "text": "Two snacks."}]});
    let (one, two) = (named("First", 1), named("Second", 2));
    for (case, pieces) in [
        ("no words", vec![&start, &two, &one]),
        ("words at the end", vec![&start, &two, &one, &words]),
        ("words first", vec![&start, &words, &two, &one]),
        ("words between", vec![&start, &two, &words, &one]),
    ] {
        let pieces: Vec<Value> = pieces.into_iter().cloned().collect();
        let site = Scripted::http(move |_, _| Say::Stream(pieces.iter().map(Piece::event).collect())).await;
        let out = printed(&site).await;
        for (word, times) in [("First", 1), ("Second", 1), ("Two snacks.", usize::from(case != "no words"))] {
            assert_eq!(out.matches(word).count(), times, "{case}: {word}:\n{out}");
        }
    }
}

#[tokio::test]
async fn the_command_line_shows_an_answer_that_comes_whole() {
    let site = Scripted::http(|_, _| {
        Say::Json(json!({"_meta": {"response_type": "answer"}, "results": [{"name": "Whole", "index": 1}]}))
    })
    .await;
    let out = printed(&site).await;
    assert_eq!(out.matches("Whole").count(), 1, "{out}");
}
