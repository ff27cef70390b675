//! Every key of the section `nlip` changes what the running router does.

use interlingua::config::schema;
use serde_json::{Value, json};

use super::kit::{Route, all, call, calling, list, one, refused, within};
use super::messages::tracked;

async fn sessions(route: &Route) -> u64 {
    route.hub().store().records.count("session", route.hub().now()).await.expect("counts")
}

#[tokio::test]
async fn r_04_a_disabled_router_answers_once_and_does_nothing() {
    for yaml in ["nlip: { enabled: false }", "nlip: { router: { enabled: false } }"] {
        let route = Route::start(yaml).await;
        for kind in ["request", "notification", "response", "error"] {
            let mut asked = within(call("m1", "write", json!({})), "s1");
            asked["control"]["message_type"] = kind.into();
            let answer = route.send(&asked).await;
            assert_eq!(refused(&answer), (422, "disabled".into()), "{kind}");
            assert_eq!(one(&answer)["control"]["correlation_id"], "m1");
        }
        assert_eq!(route.bench.count("write"), 0);
        assert_eq!(tracked(&route).await, (0, 0, 0), "no session, no request, nothing that runs");
    }
}

#[tokio::test]
async fn h_02_disabled_is_said_and_not_pretended_to_be_an_answer() {
    let route = Route::start("nlip: { router: { enabled: false } }").await;
    let mut asked = call("m1", "say", json!({}));
    asked["content"] = json!({"secret": "plan"});
    let error = one(&route.send(&asked).await);
    assert_eq!(error["content"]["error"], "the router is disabled");
    assert!(!error.to_string().contains("plan"), "the content is not echoed as if something had been done");
}

#[tokio::test]
async fn r_32_a_translator_that_is_off_refuses_its_calls_alone() {
    for (key, disabled) in [
        ("mcp_enabled", "mcp__bench__say"),
        ("builtin_tools_enabled", "vote"),
        ("custom_tools_enabled", "custom_tool__x"),
    ] {
        let route = Route::start(&format!("nlip: {{ translation: {{ {key}: false }} }}")).await;
        let calls = [("a", disabled, json!({})), ("b", "mcp__hub__find_skills", json!({}))];
        let responses = list(&route.send(&calling("m1", &calls)).await);
        assert_eq!(responses[0]["content"]["code"], "disabled", "{key}: {}", responses[0]);
        assert_eq!(responses[0]["control"]["message_type"], "error", "{key}");
        let text = responses[0]["content"]["error"].as_str().expect("a text");
        assert!(text.starts_with("translator disabled"), "{text}");
        let other = &responses[1]["tool_results"][0]["status"];
        assert_eq!(*other == "success", key != "mcp_enabled", "{key}");
        assert_eq!(route.bench.count("say"), 0);
    }
}

#[tokio::test]
async fn r_33_enable_message_tracking() {
    let route = Route::start("nlip: { router: { enable_message_tracking: false } }").await;
    let asked = within(call("m1", "write", json!({})), "s1");
    let first = one(&route.send(&asked).await);
    let second = one(&route.send(&asked).await);
    assert_eq!((&first["content"]["result"]["count"], &second["content"]["result"]["count"]), (&json!(1), &json!(2)));
    assert_eq!(second["token"]["conversation_turn"], 2);
}

#[tokio::test]
async fn r_33_enable_state_management() {
    let route = Route::start("nlip: { router: { enable_state_management: false } }").await;
    let mut asked = within(call("m1", "say", json!({})), "s1");
    asked["token"]["conversation_turn"] = json!(6);
    let token = one(&route.send(&asked).await)["token"].clone();
    assert_eq!((&token["session_id"], &token["conversation_turn"]), (&"s1".into(), &json!(7)));
    let token = one(&route.send(&call("m2", "say", json!({}))).await)["token"].clone();
    assert_eq!((&token["session_id"], &token["context_token"]), (&Value::Null, &Value::Null));
    assert_eq!(sessions(&route).await, 0);
}

#[tokio::test]
async fn r_33_track_conversation_turns() {
    let route = Route::start("nlip: { tokens: { track_conversation_turns: false } }").await;
    for turn in [0, 5] {
        let mut asked = within(call(&format!("m{turn}"), "say", json!({})), "s1");
        asked["token"]["conversation_turn"] = json!(turn);
        assert_eq!(one(&route.send(&asked).await)["token"]["conversation_turn"], turn);
    }
}

#[tokio::test]
async fn r_33_persist_context_tokens() {
    let yaml = "nlip: { tokens: { persist_context_tokens: false } }";
    let route = Route::start(yaml).await;
    let first = one(&route.send_anonymous(&call("m1", "public", json!({}))).await)["token"].clone();
    let mut again = call("m2", "public", json!({}));
    again["token"] = first.clone();
    assert_eq!(one(&route.send_anonymous(&again).await)["token"]["conversation_turn"], 2);
    assert_eq!(sessions(&route).await, 0, "nothing was written");
    let route = route.restarted(yaml).await;
    again["control"]["message_id"] = "m3".into();
    assert_eq!(one(&route.send_anonymous(&again).await)["token"]["conversation_turn"], 1, "it lived in memory");
}

#[tokio::test]
async fn r_33_default_timeout() {
    let route = Route::start("nlip: { router: { default_timeout: 1s } }").await;
    let result = one(&route.send(&call("m1", "hang", json!({}))).await)["tool_results"][0].clone();
    assert_eq!(result["metadata"]["code"], "timeout");
}

#[tokio::test]
async fn r_33_enable_streaming() {
    let route = Route::start("nlip: { router: { enable_streaming: false } }").await;
    let answer = route.send_with(&call("m1", "stream", json!({})), &[("accept", "text/event-stream")]).await;
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(list(&answer).len(), 1);
}

#[tokio::test]
async fn r_33_buffer_partial_responses() {
    let route = Route::start("nlip: { router: { buffer_partial_responses: true } }").await;
    let messages = all(route.stream(&call("m1", "stream", json!({}))).await).await;
    assert_eq!(messages.len(), 1, "pieces were held back");
    assert_eq!(messages[0]["tool_results"][0]["result"], "one\ntwo");
}

const KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
const NEW: &str = "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100";

#[tokio::test]
async fn r_33_key_and_old_keys() {
    let old = format!("nlip: {{ tokens: {{ key: {KEY} }} }}");
    let route = Route::start(&old).await;
    let mut keep = within(call("m1", "say", json!({})), "s1");
    keep["metadata"]["context"] = json!({"city": "Lisbon"});
    route.send(&keep).await;
    let mut bring = within(call("m2", "say", json!({})), "s1");
    bring["metadata"]["context"] = json!(true);
    let route = route.restarted(&format!("nlip: {{ tokens: {{ key: {NEW}, old_keys: [{KEY}] }} }}")).await;
    let brought = one(&route.send(&bring).await);
    assert_eq!(brought["metadata"]["context"], json!({"city": "Lisbon"}), "an earlier key still opens");
    bring["control"]["message_id"] = "m3".into();
    let route = route.restarted(&format!("nlip: {{ tokens: {{ key: {NEW} }} }}")).await;
    let brought = one(&route.send(&bring).await);
    assert_eq!(brought["metadata"]["context"], json!({"city": "Lisbon"}), "it was sealed anew");
    bring["control"]["message_id"] = "m4".into();
    let route = route.restarted("").await;
    let lost = one(&route.send(&bring).await);
    assert_eq!(lost["metadata"]["context"], Value::Null, "without its key it cannot be read");
    assert_eq!(lost["metadata"]["losses"], json!([{"what": "metadata.context", "kind": "dropped"}]));
}

#[tokio::test]
async fn r_33_schema_version() {
    let route = Route::start("nlip: { schema_version: \"1.0\" }").await;
    assert_eq!(route.send(&call("m1", "say", json!({}))).await.status, 200);
    let directory = tempfile::tempdir().expect("a directory");
    let other = std::panic::catch_unwind(|| super::kit::config(directory.path(), "nlip: { schema_version: \"2.0\" }"));
    assert!(other.is_err(), "a version there is not is refused");
}

#[tokio::test]
async fn r_33_nlip_enabled_closes_the_other_doors_too() {
    let route = Route::start("nlip: { enabled: false }").await;
    let hello = json!({"format": "text", "subformat": "english", "content": "help"}).to_string();
    for path in ["/nlip", "/nlip/", "/agents/hub/nlip"] {
        let sent = interlingua_testkit::post(path, "application/json", hello.clone());
        let answer = route.connect().await.send(sent).await;
        assert!((400..500).contains(&answer.status), "{path}: {} {}", answer.status, answer.text());
    }
    let route = Route::start("nlip: { router: { enabled: false } }").await;
    let sent = interlingua_testkit::post("/nlip", "application/json", hello);
    assert_eq!(route.connect().await.send(sent).await.status, 200, "the router alone is off");
}

/// The tests above, by the key each is of. A key nobody tests fails here.
#[test]
fn r_44_every_key_of_the_block_is_tested() {
    let tested = [
        ("enabled", "r_04"),
        ("schema_version", "r_33_schema_version"),
        ("agents", "r_31_the_nearest_setting"),
        ("router.enabled", "r_04"),
        ("router.session_timeout_hours", "r_26"),
        ("router.default_timeout", "r_33_default_timeout"),
        ("router.enable_message_tracking", "r_33_enable_message_tracking"),
        ("router.enable_state_management", "r_33_enable_state_management"),
        ("router.enable_streaming", "r_33_enable_streaming"),
        ("router.buffer_partial_responses", "r_33_buffer_partial_responses"),
        ("router.max_parallel_calls", "r_36"),
        ("translation.mcp_enabled", "r_32"),
        ("translation.custom_tools_enabled", "r_32"),
        ("translation.builtin_tools_enabled", "r_32"),
        ("tokens.auto_generate_sessions", "r_29"),
        ("tokens.track_conversation_turns", "r_33_track_conversation_turns"),
        ("tokens.persist_context_tokens", "r_33_persist_context_tokens"),
        ("tokens.key", "r_33_key_and_old_keys"),
        ("tokens.old_keys", "r_33_key_and_old_keys"),
    ];
    let all: Vec<String> =
        schema::keys().into_iter().filter_map(|key| Some(key.strip_prefix("nlip.")?.to_owned())).collect();
    let is_block = |key: &String| all.iter().any(|other| other.starts_with(&format!("{key}.")));
    let mut keys: Vec<&str> = all.iter().filter(|key| !is_block(key)).map(String::as_str).collect();
    keys.sort_unstable();
    let mut known: Vec<&str> = tested.iter().map(|(key, _)| *key).collect();
    known.sort_unstable();
    assert_eq!(keys, known);
    let here = [
        include_str!("settings.rs"),
        include_str!("sessions.rs"),
        include_str!("parallel.rs"),
        include_str!("../agents/routed.rs"),
    ];
    let here = here.concat();
    for (key, test) in tested {
        assert!(here.contains(&format!("async fn {test}")), "{key}: there is no test {test}");
    }
}
