//! Tool calls: names, results, failures, streams, repetition.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use interlingua_envelope::Plug;
use interlingua_envelope::translators::{Spellings, Translator};
use serde_json::{Value, json};

use super::kit::{Route, all, call, calling, list, one, refused, until, within};

#[tokio::test]
async fn r_06_a_known_name_is_looked_up_and_an_unknown_one_guessed_by_its_spelling() {
    let route = Route::start("").await;
    let names = ["mcp__bench__say", "mcp__say", "bench/say", "mcp__nobody__x", "vote", "something_else"];
    let calls: Vec<(&str, &str, Value)> = names.iter().map(|name| (*name, *name, json!({}))).collect();
    let responses = list(&route.send(&calling("m1", &calls)).await);
    let seen = |at: usize| {
        let result = &responses[at]["tool_results"][0];
        (result["status"].as_str().unwrap_or_default(), result["metadata"]["protocol"].as_str().unwrap_or_default())
    };
    assert_eq!([seen(0), seen(1), seen(2)], [("success", "mcp"); 3]);
    assert_eq!([seen(3), seen(4), seen(5)], [("error", "mcp"), ("error", "builtin"), ("error", "custom")]);
}

#[tokio::test]
async fn r_07_every_call_has_one_final_response_with_its_id_and_name() {
    let route = Route::start("").await;
    let calls = [("a", "mcp__bench__say", json!({"n": 1})), ("b", "mcp__bench__stream", json!({}))];
    let responses = list(&route.send(&calling("m1", &calls)).await);
    assert_eq!(responses.len(), 2);
    for (response, (id, name, _)) in responses.iter().zip(&calls) {
        let results = response["tool_results"].as_array().expect("results");
        assert_eq!(results.len(), 1);
        assert_eq!((&results[0]["tool_id"], &results[0]["tool_name"]), (&json!(id), &json!(name)));
    }
}

#[tokio::test]
async fn r_08_a_failing_call_stops_no_other_and_the_order_is_that_of_the_calls() {
    let route = Route::start("").await;
    let calls = [
        ("a", "mcp__bench__fail", json!({})),
        ("b", "mcp__bench__nothing", json!({})),
        ("c", "mcp__bench__gate", json!({"n": 3})),
        ("d", "mcp__bench__say", json!({"n": 4})),
    ];
    let asked = calling("m1", &calls);
    let (answer, ()) = tokio::join!(route.send(&asked), async {
        route.bench.begun("gate", 1).await;
        route.bench.begun("say", 1).await;
        // The last of them is done before the one called before it.
        until("only the gate is left", || route.bench.running.load(Ordering::SeqCst) == 1).await;
        route.bench.gate.add_permits(1);
    });
    let responses = list(&answer);
    let seen: Vec<_> = responses
        .iter()
        .map(|response| {
            let result = &response["tool_results"][0];
            (result["tool_id"].as_str().expect("an id"), result["status"].as_str().expect("a status"))
        })
        .collect();
    assert_eq!(seen, [("a", "error"), ("b", "error"), ("c", "success"), ("d", "success")]);
}

#[tokio::test]
async fn r_09_a_tools_failure_is_a_response_and_the_protocols_an_error() {
    let route = Route::start("").await;
    let answer = route.send(&call("m1", "fail", json!({}))).await;
    assert_eq!(answer.status, 200);
    let response = one(&answer);
    assert_eq!(response["control"]["message_type"], "response");
    let result = &response["tool_results"][0];
    assert_eq!((&result["status"], &result["result"]), (&"error".into(), &Value::Null));
    assert_eq!(result["error"], "peer_failed: the disk is full");
    let mut twice = calling("m2", &[("t", "mcp__bench__say", json!({})), ("t", "mcp__bench__say", json!({}))]);
    assert_eq!(refused(&route.send(&twice).await), (400, "malformed".into()));
    for none in [Value::Null, json!([])] {
        twice["tool_calls"] = none;
        assert_eq!(refused(&route.send(&twice).await), (400, "malformed".into()), "no calls");
    }
    let off = Route::start("nlip: { translation: { mcp_enabled: false } }").await;
    assert_eq!(refused(&off.send(&call("m3", "say", json!({}))).await), (422, "disabled".into()), "no translator");
}

#[tokio::test]
async fn r_10_the_content_of_a_tools_response_is_its_status_and_result() {
    let route = Route::start("").await;
    let response = one(&route.send(&call("m1", "say", json!({"n": 7}))).await);
    assert_eq!(response["content"], json!({"status": "success", "result": {"n": 7}}));
    assert_eq!(response["tool_results"][0]["result"], json!({"n": 7}));
}

#[tokio::test]
async fn r_18_the_same_message_again_is_the_kept_result_and_another_under_its_id_a_conflict() {
    let route = Route::start("").await;
    let asked = within(call("m1", "write", json!({"n": 1})), "s1");
    let first = one(&route.send(&asked).await);
    let again = one(&route.send(&asked).await);
    assert_eq!(first["content"], json!({"status": "success", "result": {"count": 1}}));
    assert_eq!(again["content"], first["content"]);
    assert_eq!(route.bench.count("write"), 1);
    let other = within(call("m1", "write", json!({"n": 2})), "s1");
    assert_eq!(refused(&route.send(&other).await), (409, "conflict".into()));
    assert_eq!(route.bench.count("write"), 1);
}

/// As `conformance/deviations.md` says of R-18.
#[tokio::test]
async fn the_same_message_of_a_call_that_only_reads_is_made_again() {
    let route = Route::start("").await;
    for n in [1, 1, 2] {
        let said = one(&route.send(&within(call("m1", "say", json!({"n": n})), "s1")).await);
        assert_eq!(said["content"], json!({"status": "success", "result": {"n": n}}));
    }
    assert_eq!(route.bench.count("say"), 3);
}

#[tokio::test]
async fn r_19_each_block_is_streamed_and_the_last_response_has_all_that_is_no_log() {
    let route = Route::start("").await;
    let messages = all(route.stream(&call("m1", "stream", json!({}))).await).await;
    let chunks: Vec<(&Value, &Value)> =
        messages.iter().map(|it| (&it["content"]["stream_chunk"], &it["content"]["is_log"])).collect();
    let (yes, no) = (&json!(true), &json!(false));
    let (one, log, two) = (json!("one"), json!("looking around"), json!("two"));
    assert_eq!(chunks[..3], [(&one, no), (&log, yes), (&two, no)]);
    assert_eq!(messages.len(), 4);
    assert_eq!(
        (&messages[0]["content"]["tool_id"], &messages[0]["content"]["tool_name"]),
        (&json!("t1"), &json!("mcp__bench__stream"))
    );
    assert_eq!(messages[3]["tool_results"][0]["result"], "one\ntwo");
}

#[tokio::test]
async fn r_22_arguments_in_a_string_reach_the_tool_as_an_object() {
    let route = Route::start("").await;
    let mut asked = call("m1", "say", json!({}));
    asked["tool_calls"][0]["parameters"] = json!("{\"n\": 5}");
    assert_eq!(one(&route.send(&asked).await)["tool_results"][0]["result"], json!({"n": 5}));
}

#[tokio::test]
async fn r_23_a_tool_servers_error_is_a_failure_with_what_it_said() {
    let route = Route::start("").await;
    let result = one(&route.send(&call("m1", "is_error", json!({}))).await)["tool_results"][0].clone();
    assert_eq!((&result["status"], &result["result"]), (&"error".into(), &Value::Null));
    assert_eq!(result["metadata"]["partial"], "no such city");
}

#[tokio::test]
async fn r_24_a_tool_nobody_has_is_no_success() {
    let route = Route::start("").await;
    for name in ["mcp__bench__nothing", "vote", "read_nothing"] {
        let result = one(&route.send(&calling("m1", &[("t1", name, json!({}))])).await)["tool_results"][0].clone();
        assert_eq!((&result["status"], &result["metadata"]["code"]), (&"error".into(), &"not_found".into()), "{name}");
    }
}

#[tokio::test]
async fn r_25_a_result_says_where_it_came_from() {
    let route = Route::start("").await;
    let response = one(&route.send(&call("m1", "say", json!({}))).await);
    let metadata = &response["tool_results"][0]["metadata"];
    assert_eq!((&metadata["protocol"], &metadata["original_format"]), (&"mcp".into(), &"mcp_tool_result".into()));
    assert_eq!(response["metadata"]["route"], json!({"skill": "bench/say", "why": "named"}));
}

#[tokio::test]
async fn r_25_r_22_calls_in_every_native_form_are_the_same_call() {
    let route = Route::start("").await;
    let (name, arguments) = ("mcp__bench__say", json!({"n": 5}));
    let written = arguments.to_string();
    let forms = [
        ("c1", json!({"type": "tool_use", "id": "c1", "name": name, "input": arguments})),
        ("c2", json!({"type": "tool_use", "id": "c2", "name": name, "input": arguments, "parameters": arguments})),
        ("c3", json!({"id": "c3", "type": "function", "function": {"name": name, "arguments": written}})),
        ("c4", json!({"type": "function_call", "id": "fc", "call_id": "c4", "name": name, "arguments": written})),
        ("call_0", json!({"function": {"name": name, "arguments": arguments}, "parameters": arguments, "options": {}})),
        ("call_0", json!({"tool_name": name, "parameters": arguments, "options": {"require_confirmation": false}})),
    ];
    for (at, (id, form)) in forms.iter().enumerate() {
        let mut asked = call(&format!("m{at}"), "say", json!({}));
        asked["tool_calls"] = json!([form]);
        let response = one(&route.send(&asked).await);
        let result = &response["tool_results"][0];
        assert_eq!((&result["tool_id"], &result["tool_name"]), (&json!(id), &json!(name)), "{form}: {response}");
        assert_eq!((&result["status"], &result["result"]), (&json!("success"), &arguments), "{form}: {response}");
        assert_eq!(response["metadata"]["losses"], Value::Null, "{form}: {response}");
    }
    assert_eq!(route.bench.count("say"), forms.len());
    let mut careful = call("m9", "say", json!({}));
    careful["tool_calls"] =
        json!([{"tool_name": name, "parameters": arguments, "options": {"require_confirmation": true}}]);
    assert_eq!(one(&route.send(&careful).await)["tool_results"][0]["status"], "pending");
}

#[tokio::test]
async fn r_25_a_native_call_that_says_two_things_is_refused() {
    let route = Route::start("").await;
    let name = "mcp__bench__say";
    for form in [
        json!({"id": "c", "name": name, "function": {"name": "mcp__bench__write"}}),
        json!({"id": "c", "name": name, "input": {"n": 1}, "parameters": {"n": 2}}),
        json!({"id": "c", "type": "web_search_call", "name": name}),
        json!({"id": "c", "type": "tool_use", "input": {}}),
        json!({"tool_name": name, "parameters": {}}),
    ] {
        let mut asked = call("m1", "say", json!({}));
        asked["tool_calls"] = json!([form]);
        assert_eq!(refused(&route.send(&asked).await), (400, "malformed".into()), "{form}");
    }
    assert_eq!((route.bench.count("say"), route.bench.count("write")), (0, 0));
}

#[tokio::test]
async fn r_34_a_request_that_takes_too_long_is_a_timeout_and_its_tool_is_stopped() {
    let route = Route::start("").await;
    let mut asked = call("m1", "hang", json!({}));
    asked["control"]["timeout"] = json!(1);
    let result = one(&route.send(&asked).await)["tool_results"][0].clone();
    assert_eq!((&result["status"], &result["metadata"]["code"]), (&"error".into(), &"timeout".into()), "{result}");
    until("the tool is dropped", || route.bench.dropped.load(Ordering::SeqCst) == 1).await;
}

#[tokio::test]
async fn r_41_a_caller_that_leaves_cancels_its_tools_and_nothing_is_left_pending() {
    let route = Route::start("").await;
    for (tool, streamed) in [("hang", false), ("hang", true), ("hang_writing", false), ("hang_writing", true)] {
        let before = (route.bench.count(tool), route.bench.dropped.load(Ordering::SeqCst));
        let asked = call(&format!("{tool}-{streamed}"), tool, json!({}));
        let sent = if streamed {
            let events = route.stream(&asked).await;
            route.bench.begun(tool, before.0 + 1).await;
            drop(events);
            true
        } else {
            let begun = route.bench.begun(tool, before.0 + 1);
            tokio::select! {
                _ = route.send(&asked) => false,
                () = begun => true,
            }
        };
        assert!(sent, "a tool that hangs does not answer");
        until("the tool is dropped", || route.bench.dropped.load(Ordering::SeqCst) == before.1 + 1).await;
        until("nothing is left", || route.hub().live_count() == 0).await;
    }
}

#[tokio::test]
async fn r_43_a_fourth_translator_can_be_registered() {
    let route = Route::start("").await;
    let spell =
        |skill: &interlingua_model::SkillId| Spellings { own: vec![format!("lab.{}", skill.skill)], short: Vec::new() };
    let plug = Plug {
        translator: Translator::new("lab", |name| name.starts_with("lab."), spell),
        claims: Arc::new(|skill| skill.id.skill.as_str() == "say"),
    };
    assert!(route.server.endpoints.envelope.0.own.plug(plug.clone()));
    assert!(!route.server.endpoints.envelope.0.own.plug(plug), "a name is given once");
    let result =
        one(&route.send(&calling("m1", &[("t", "lab.say", json!({"n": 1}))])).await)["tool_results"][0].clone();
    assert_eq!((&result["status"], &result["metadata"]["protocol"]), (&"success".into(), &"lab".into()));
    let unknown = one(&route.send(&calling("m2", &[("t", "lab.none", json!({}))])).await);
    assert_eq!(unknown["tool_results"][0]["metadata"]["protocol"], "lab");
}

#[tokio::test]
async fn h_05_a_call_that_must_not_run_twice_is_written_down_before_it_runs() {
    let route = Route::start("").await;
    route.send(&call("m1", "write", json!({}))).await;
    assert_eq!(*route.bench.kept.lock().expect("no test panicked"), [true]);
    let route = route.restarted("").await;
    let again = one(&route.send(&call("m1", "write", json!({}))).await);
    assert_eq!(again["content"]["result"], json!({"count": 1}), "the result outlived the process");
    assert_eq!(route.bench.count("write"), 0);
    // Sessions likewise, in the store or in memory as configured.
    for (yaml, stored) in [("", 1), ("nlip: { tokens: { persist_context_tokens: false } }", 0)] {
        let route = Route::start(yaml).await;
        for turn in 1..=2 {
            let asked = within(call(&format!("m{turn}"), "say", json!({})), "s1");
            assert_eq!(one(&route.send(&asked).await)["token"]["conversation_turn"], turn);
        }
        let now = route.hub().now();
        assert_eq!(route.hub().store().records.count("session", now).await.expect("counts"), stored, "{yaml}");
    }
}

#[tokio::test]
async fn h_10_responses_are_numbered_and_the_last_of_all_says_so() {
    let route = Route::start("").await;
    let calls = [("a", "mcp__bench__stream", json!({})), ("b", "mcp__bench__say", json!({}))];
    let messages = all(route.stream(&calling("m1", &calls)).await).await;
    let numbers: Vec<_> = messages.iter().map(|it| it["metadata"]["seq"].as_u64().expect("a number")).collect();
    assert_eq!(numbers, (0..messages.len() as u64).collect::<Vec<_>>());
    let marks: Vec<_> = messages.iter().filter(|it| it["metadata"]["final"] == true).collect();
    assert_eq!(marks, [messages.last().expect("messages")]);
    let turns: Vec<_> = messages.iter().map(|it| it["token"]["conversation_turn"].as_u64()).collect();
    assert!(turns.iter().all(|turn| *turn == Some(1)), "one request is one turn: {turns:?}");
}

#[tokio::test]
async fn h_11_a_retry_without_a_session_finds_the_result_of_the_first_attempt() {
    let route = Route::start("").await;
    let mut asked = call("m1", "write", json!({"n": 1}));
    let first = one(&route.send(&asked).await);
    asked["control"]["retry_count"] = json!(1);
    let retried = one(&route.send(&asked).await);
    assert_eq!(retried["content"], first["content"]);
    assert_eq!(route.bench.count("write"), 1);
    let other = calling("m1", &[("t2", "mcp__bench__write", json!({"n": 1}))]);
    one(&route.send(&other).await);
    assert_eq!(route.bench.count("write"), 2, "another call of the message is another call");
}

#[tokio::test]
async fn h_12_builtin_and_custom_tools_really_run() {
    let directory = tempfile::tempdir().expect("a directory");
    let write = |path: &str, content: &str| {
        let path = directory.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(path, content).expect("a file");
    };
    write("workspace/a.txt", "hello from the workspace\n");
    write(
        "tools/vote.json",
        &json!({"name": "vote", "description": "Says what it was given.", "command": ["cat"], "effects": {"reads": true},
            "input": {"type": "object", "properties": {"n": {"type": "integer"}}}})
        .to_string(),
    );
    let yaml = "tools: { workspace: ./workspace, directory: ./tools }";
    let route = Route::in_directory(directory, yaml).await;
    let calls = [
        ("a", "read_file", json!({"path": "a.txt"})),
        ("b", "list_directory", json!({"path": "."})),
        ("c", "custom_tool__vote", json!({"n": 3})),
        ("d", "new_answer", json!({})),
    ];
    let responses = list(&route.send(&calling("m1", &calls)).await);
    let result = |at: usize| &responses[at]["tool_results"][0];
    assert!(result(0)["result"].to_string().contains("hello from the workspace"), "{}", responses[0]);
    assert_eq!(result(0)["metadata"]["tool_category"], "massgen_builtin");
    assert!(result(1)["result"].to_string().contains("a.txt"), "{}", responses[1]);
    assert_eq!(
        (&result(2)["result"], &result(2)["metadata"]["tool_type"]),
        (&json!({"n": 3}), &"massgen_custom".into())
    );
    assert_eq!(result(3)["metadata"]["code"], "not_found", "nobody is there to be told of an answer");
    let edits = json!([{"oldText": "made", "newText": "changed"}]);
    for (id, name, parameters) in [
        ("m2", "search_files", json!({"path": ".", "pattern": "a.*"})),
        ("m3", "write_file", json!({"path": "b.txt", "content": "made here"})),
        ("m4", "edit_file", json!({"path": "b.txt", "edits": edits})),
    ] {
        let mut response = one(&route.send(&calling(id, &[("t", name, parameters)])).await);
        if response["tool_results"][0]["status"] == "pending" {
            let mut yes = super::kit::message("request", &format!("{id}-yes"));
            yes["metadata"]["confirmation"] =
                json!({"id": response["metadata"]["confirmation"]["id"], "approve": true});
            response = one(&route.send(&yes).await);
        }
        let result = &response["tool_results"][0];
        assert_eq!((&result["status"], &result["tool_name"]), (&json!("success"), &json!(name)), "{response}");
        assert_eq!(result["metadata"]["tool_category"], "massgen_builtin", "{response}");
        assert!(name != "search_files" || result["result"].to_string().contains("a.txt"), "{response}");
    }
    let written = std::fs::read_to_string(route.directory.path().join("workspace/b.txt")).expect("it was written");
    assert_eq!(written, "changed here", "and edited");
}

#[tokio::test]
async fn h_13_the_registry_says_whose_a_tool_is_and_not_its_name() {
    let route = Route::start("").await;
    let mut card = interlingua_model::Card::clone(&route.hub().registry().catalogue().peers[&"bench".into()].card);
    card.peer = "mcp__bench".into();
    for skill in &mut card.skills {
        skill.id.peer = "mcp__bench".into();
    }
    card.skills.retain(|skill| skill.id.skill.as_str() == "say");
    route.hub().register(card, route.bench.clone()).await.expect("registers");
    let full = calling("m1", &[("t", "mcp__mcp__bench__say", json!({})), ("u", "mcp__say", json!({}))]);
    let responses = list(&route.send(&full).await);
    assert_eq!(responses[0]["metadata"]["route"]["skill"], "mcp__bench/say");
    let several = &responses[1]["tool_results"][0];
    assert_eq!((&several["status"], &several["metadata"]["code"]), (&"error".into(), &"invalid_input".into()));
}

#[tokio::test]
async fn h_14_a_caller_reaches_the_tools_it_was_given_and_no_others() {
    let yaml = "access: { tokens: [{ name: ada, token: ada-token-0123456789, skills: [bench/s*] }] }";
    let route = Route::start(yaml).await;
    let calls = [("a", "mcp__bench__say", json!({})), ("b", "mcp__bench__write", json!({}))];
    let bearer = [("authorization", "Bearer ada-token-0123456789")];
    let responses = list(&route.send_with(&calling("m1", &calls), &bearer).await);
    assert_eq!(responses[0]["tool_results"][0]["status"], "success");
    let hidden = responses[1]["tool_results"][0]["error"].as_str().expect("an error").to_owned();
    let missing = calling("m2", &[("b", "mcp__bench__nothing", json!({}))]);
    let unknown = one(&route.send_with(&missing, &bearer).await)["tool_results"][0]["error"].clone();
    assert_eq!(hidden.replace("write", "nothing"), unknown, "what may not be called looks like it is not there");
    assert_eq!(route.bench.count("write"), 0);
    let public = one(&route.send_anonymous(&call("m3", "public", json!({}))).await);
    assert_eq!(public["tool_results"][0]["status"], "success");
    let private = one(&route.send_anonymous(&call("m4", "say", json!({}))).await);
    assert_eq!(private["tool_results"][0]["metadata"]["code"], "not_found");
}

#[tokio::test]
async fn h_16_parameters_reach_a_tool_once_and_as_they_were() {
    let route = Route::start("").await;
    let parameters = json!({"n": {"deep": [1, 2.5, "ü", null]}, "parameters": {"own": true}, "input": "mine"});
    let response = one(&route.send(&call("m1", "say", parameters.clone())).await);
    assert_eq!(response["tool_results"][0]["result"], parameters);
}

#[tokio::test]
async fn h_17_what_is_said_about_a_call_is_no_argument_of_its_tool() {
    let route = Route::start("").await;
    let mut asked = call("m1", "say", json!({"require_confirmation": "mine"}));
    asked["control"]["timeout"] = json!(60);
    let response = one(&route.send(&asked).await);
    assert_eq!(response["tool_results"][0]["result"], json!({"require_confirmation": "mine"}));
    let mut wrong = call("m2", "say", json!({}));
    wrong["tool_calls"][0]["require_confirmation"] = "yes".into();
    assert_eq!(refused(&route.send(&wrong).await), (400, "malformed".into()));
    let native = |options: Value| {
        let mut asked = call("m3", "say", json!({}));
        asked["tool_calls"] = json!([{"tool_name": "mcp__bench__say", "parameters": {"n": 1}, "options": options}]);
        asked
    };
    let wrong = native(json!({"require_confirmation": 1}));
    assert_eq!(refused(&route.send(&wrong).await), (400, "malformed".into()));
    assert_eq!(route.bench.count("say"), 1, "an option of another type is refused, and nothing runs");
    let unknown = one(&route.send(&native(json!({"colour": "red"}))).await);
    assert_eq!(unknown["tool_results"][0]["result"], json!({"n": 1}), "no argument of its tool");
    assert!(unknown["metadata"]["losses"].to_string().contains("options.colour"), "{unknown}");
}

#[tokio::test]
async fn h_22_what_failed_after_it_was_sent_is_not_sent_again() {
    let route = Route::start("").await;
    let result = one(&route.send(&call("m1", "fail", json!({}))).await)["tool_results"][0].clone();
    assert_eq!(result["status"], "error");
    assert_eq!(route.bench.count("fail"), 1);
}

#[tokio::test]
async fn a_loop_of_hubs_is_stopped() {
    let route = Route::start("hub: { id: here }").await;
    let mut asked = call("m1", "say", json!({}));
    asked["metadata"]["via"] = json!(["there", "here"]);
    assert_eq!(refused(&route.send(&asked).await), (400, "loop".into()));
    let by_header = route.send_with(&call("m2", "say", json!({})), &[("interlingua-via", "there, here")]).await;
    assert_eq!(refused(&by_header), (400, "loop".into()));
    assert_eq!(route.bench.count("say"), 0);
}
