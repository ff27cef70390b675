//! Valid messages, and what an answer repeats of them.

use serde_json::{Value, json};

use super::kit::{Route, call, list, message, one, refused, within};

#[tokio::test]
async fn r_01_the_four_message_types_are_known_and_no_other() {
    let route = Route::start("").await;
    for kind in ["Request", "REQUEST", "chat", ""] {
        let mut asked = call("m1", "say", json!({}));
        asked["control"]["message_type"] = kind.into();
        assert_eq!(refused(&route.send(&asked).await), (400, "malformed".into()), "{kind:?}");
    }
    assert_eq!(route.send(&call("m1", "say", json!({}))).await.status, 200);
    assert_eq!(route.send(&message("notification", "m2")).await.status, 202);
    assert_eq!(route.send(&message("response", "m3")).await.status, 400);
    assert_eq!(route.send(&message("error", "m4")).await.status, 400);
}

#[tokio::test]
async fn r_02_what_is_left_out_has_its_default() {
    let route = Route::start("").await;
    let asked = json!({
        "control": {"message_type": "request", "message_id": "m1"},
        "tool_calls": [{"tool_id": "t1", "tool_name": "mcp__bench__say", "parameters": {"n": 1}}],
    });
    let response = one(&route.send(&asked).await);
    let format =
        json!({"content_type": "application/json", "encoding": "utf-8", "schema_version": "1.0", "compression": null});
    assert_eq!(response["format"], format);
    assert_eq!((&response["control"]["priority"], &response["control"]["retry_count"]), (&json!(0), &json!(0)));
    assert_eq!(response["tool_results"][0]["status"], "success", "no confirmation was required");
}

#[tokio::test]
async fn r_03_negative_numbers_are_refused() {
    let route = Route::start("").await;
    for (section, field) in
        [("control", "timeout"), ("token", "conversation_turn"), ("control", "retry_count"), ("control", "priority")]
    {
        let mut asked = call("m1", "say", json!({}));
        asked[section][field] = json!(-5);
        assert_eq!(refused(&route.send(&asked).await).0, 400, "{field}");
    }
    let mut asked = call("m1", "say", json!({}));
    asked["control"]["priority"] = json!(11);
    assert_eq!(refused(&route.send(&asked).await).0, 400);
    assert_eq!(route.bench.count("say"), 0);
}

#[tokio::test]
async fn r_05_a_request_without_tool_calls_is_one_error() {
    let route = Route::start("").await;
    for calls in [Value::Null, json!([])] {
        let mut asked = message("request", "m1");
        asked["tool_calls"] = calls;
        let answer = route.send(&asked).await;
        assert_eq!(refused(&answer), (400, "malformed".into()));
        let error = one(&answer);
        assert_eq!(error["content"]["error"], "No tool calls found in request");
        assert_eq!(error["content"]["original_request"], "m1");
    }
}

#[tokio::test]
async fn r_11_a_response_is_new_and_says_what_it_answers() {
    let route = Route::start("").await;
    let mut asked = within(call("m1", "say", json!({})), "s1");
    asked["token"]["context_token"] = "ctx_456".into();
    let first = one(&route.send(&asked).await);
    asked["control"]["message_id"] = "m2".into();
    let second = one(&route.send(&asked).await);
    assert_ne!(first["control"]["message_id"], second["control"]["message_id"]);
    assert_eq!(first["control"]["message_type"], "response");
    assert_eq!(
        (&first["control"]["correlation_id"], &second["control"]["correlation_id"]),
        (&"m1".into(), &"m2".into())
    );
    let stamp = first["control"]["timestamp"].as_str().expect("a time");
    assert!(stamp.ends_with('Z') && stamp.contains('T'), "{stamp}");
    assert_eq!((&first["token"]["session_id"], &first["token"]["context_token"]), (&"s1".into(), &"ctx_456".into()));
    assert_eq!((&first["token"]["conversation_turn"], &second["token"]["conversation_turn"]), (&json!(1), &json!(2)));
}

#[tokio::test]
async fn r_12_the_state_token_is_copied_and_an_error_is_no_turn() {
    let route = Route::start("").await;
    let mut asked = within(call("m1", "say", json!({})), "s1");
    asked["token"]["state_token"] = "st_789".into();
    assert_eq!(one(&route.send(&asked).await)["token"]["state_token"], "st_789");
    let mut wrong = within(message("request", "m2"), "s1");
    wrong["token"]["state_token"] = "st_789".into();
    wrong["token"]["conversation_turn"] = json!(1);
    let error = one(&route.send(&wrong).await);
    assert_eq!((&error["token"]["state_token"], &error["token"]["conversation_turn"]), (&"st_789".into(), &json!(1)));
    asked["control"]["message_id"] = "m3".into();
    assert_eq!(one(&route.send(&asked).await)["token"]["conversation_turn"], 2, "the error was not counted");
}

#[tokio::test]
async fn r_13_an_error_repeats_the_format_of_its_request() {
    let route = Route::start("").await;
    let mut asked = call("m1", "say", json!({}));
    asked["format"]["schema_version"] = "9.9".into();
    let answer = route.send(&asked).await;
    assert_eq!(refused(&answer), (422, "unsupported".into()));
    assert_eq!(one(&answer)["format"], asked["format"]);
}

#[tokio::test]
async fn r_14_a_notification_has_no_answer_and_is_noted_in_its_session() {
    let route = Route::start("").await;
    let mut news = within(message("notification", "n1"), "s1");
    news["content"] = json!({"event": "moved"});
    let answer = route.send(&news).await;
    assert_eq!((answer.status, answer.body.len()), (202, 0));
    let now = route.hub().now();
    assert_eq!(route.hub().store().records.count("session", now).await.expect("counts"), 1, "the session was made");
    let noted = marks(&route).await;
    let again = within(message("notification", "n1b"), "s1");
    assert_eq!((noted > 0, route.send(&again).await.status), (true, 202));
    assert_eq!(marks(&route).await, 2 * noted, "each is appended to the messages of its session");
    let without = route.send(&message("notification", "n2")).await;
    assert_eq!((without.status, without.body.len()), (202, 0));
    assert_eq!(route.hub().store().records.count("session", now).await.expect("counts"), 1, "without one: no effect");
    let asked = within(call("m1", "say", json!({})), "s1");
    assert_eq!(one(&route.send(&asked).await)["token"]["conversation_turn"], 1, "a notification is no turn");
}

/// How many bytes the one session has of its messages.
async fn marks(route: &Route) -> usize {
    let items = route.hub().store().records.list("session", None, 10, route.hub().now()).await.expect("lists");
    let session: Value = serde_json::from_slice(&items[0].value).expect("JSON");
    let digits = session["recent"].as_str().expect("marks").trim_end_matches('=').len();
    digits * 3 / 4
}

#[tokio::test]
async fn r_15_a_response_given_to_the_router_is_an_error_and_leaves_no_trace() {
    let route = Route::start("").await;
    for kind in ["response", "error"] {
        assert_eq!(refused(&route.send(&within(message(kind, "m1"), "s1")).await), (400, "malformed".into()));
    }
    let now = route.hub().now();
    assert_eq!(route.hub().store().records.count("session", now).await.expect("counts"), 0);
    // Its id was not taken either: a request under it is a new one.
    assert_eq!(one(&route.send(&within(call("m1", "write", json!({})), "s1")).await)["content"]["status"], "success");
}

#[tokio::test]
async fn r_38_what_exceeds_a_limit_is_refused_and_nothing_runs() {
    let route = Route::start("limits: { body: 1MiB, depth: 16 }").await;
    let large = call("m1", "say", json!({"n": "x".repeat(2 << 20)}));
    assert_eq!(refused(&route.send(&large).await), (413, "too_large".into()));
    let deep = (0..40).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(refused(&route.send(&call("m1", "say", json!({ "n": deep }))).await).0, 400);
    let calls: Vec<Value> = (0..65)
        .map(|n| json!({"tool_id": format!("t{n}"), "tool_name": "mcp__bench__say", "parameters": {}}))
        .collect();
    let mut many = message("request", "m1");
    many["tool_calls"] = calls.into();
    assert_eq!(refused(&route.send(&many).await), (413, "too_large".into()));
    assert_eq!(route.bench.count("say"), 0);
    assert_eq!(route.hub().store().records.count("session", route.hub().now()).await.expect("counts"), 0);
}

#[tokio::test]
async fn r_38_parameters_content_metadata_and_contexts_have_limits_of_their_own() {
    let route = Route::start("").await;
    let megabytes = |count: usize| json!("x".repeat(count << 20));
    let parameters = call("m1", "say", json!({"n": megabytes(5)}));
    let mut content = call("m2", "say", json!({}));
    content["content"] = json!({"n": megabytes(17)});
    let mut metadata = call("m3", "say", json!({}));
    metadata["metadata"] = json!({"n": megabytes(17)});
    for asked in [parameters, content, metadata] {
        assert_eq!(refused(&route.send(&asked).await), (413, "too_large".into()));
    }
    assert_eq!(route.bench.count("say"), 0);
    let mut context = within(call("m4", "say", json!({})), "s1");
    context["metadata"]["context"] = json!({"n": "x".repeat(20_000)});
    assert_eq!(refused(&route.send(&context).await), (413, "too_large".into()));
    assert_eq!(route.bench.count("say"), 0, "nothing is executed");
    assert_eq!(tracked(&route).await, (0, 0, 0));
}

#[tokio::test]
async fn r_38_so_many_requests_are_pending_and_no_more() {
    let route = Route::start("limits: { in_flight: 1, queue: 1 }").await;
    let gate = |id: &str| call(id, "gate", json!({"n": id}));
    let (running, waiting, beyond) = (gate("m1"), gate("m2"), gate("m3"));
    let hub = route.hub();
    let (first, second, third) = tokio::join!(
        route.send(&running),
        async {
            route.bench.begun("gate", 1).await;
            route.send(&waiting).await
        },
        async {
            super::kit::until("one waits", || hub.admission().load().1 == 1).await;
            let answer = route.send(&beyond).await;
            route.bench.gate.add_permits(2);
            answer
        }
    );
    assert_eq!(refused(&third), (429, "busy".into()));
    assert_eq!((first.status, second.status), (200, 200));
    assert_eq!(route.bench.order(), [json!("m1"), json!("m2")], "what was refused did not run");
}

#[tokio::test]
async fn r_39_who_asks_is_proven_by_the_auth_token_or_the_header_and_decisions_are_written_down() {
    let route =
        Route::start("access: { tokens: [{ name: ada, token: ada-token-0123456789, skills: [bench/say] }] }").await;
    let mut asked = call("m1", "say", json!({"n": 1}));
    asked["control"]["auth_token"] = "ada-token-0123456789".into();
    let allowed = one(&route.send_anonymous(&asked).await);
    assert_eq!(allowed["tool_results"][0]["status"], "success", "{allowed}");
    let header =
        route.send_with(&call("m2", "say", json!({})), &[("authorization", "Bearer ada-token-0123456789")]).await;
    assert_eq!(one(&header)["tool_results"][0]["status"], "success");

    asked["tool_calls"][0]["tool_name"] = "mcp__bench__write".into();
    let denied = one(&route.send_anonymous(&asked).await);
    assert_eq!(denied["tool_results"][0]["status"], "error");
    assert_eq!(route.bench.count("write"), 0);

    asked["control"]["auth_token"] = "ilg_0000".into();
    let before = tracked(&route).await;
    let wrong = within(asked, "s9");
    for answer in [route.send(&wrong).await, route.send_anonymous(&wrong).await] {
        assert_eq!(refused(&answer), (401, "unauthenticated".into()));
    }
    let bearer = [("authorization", "Bearer ilg_0000")];
    let header = within(call("m3", "write", json!({})), "s9");
    assert_eq!(route.send_with(&header, &bearer).await.status, 401);
    assert_eq!(tracked(&route).await, before, "neither a session nor a request of theirs is kept");
    assert_eq!(route.bench.count("write"), 0);

    let lines = audit(&route).await;
    assert!(lines.contains("user:ada") && lines.contains("bench/say"), "{lines}");
    assert!(lines.contains("unauthenticated"), "{lines}");
    assert!(!lines.contains("ada-token") && !lines.contains("ilg_0000"), "{lines}");
}

/// How many sessions and requests are kept, and how many are under way.
pub(super) async fn tracked(route: &Route) -> (u64, usize, usize) {
    let hub = route.hub();
    let sessions = hub.store().records.count("session", hub.now()).await.expect("counts");
    let every = interlingua_model::ports::Changed { limit: 100, ..Default::default() };
    let requests = hub.journal().changed(every).await.expect("lists").len();
    (sessions, requests, hub.live_count())
}

/// The audit's lines, newest first.
async fn audit(route: &Route) -> String {
    let owner = interlingua_model::Principal::hub_owner(interlingua_model::Proof::InProcess);
    let lines = route.hub().audit_lines(&owner, None, 100).await.expect("the audit reads");
    lines.iter().map(|(_, line)| format!("{line:?}\n")).collect()
}

#[tokio::test]
async fn r_40_formats_that_are_not_understood_are_refused() {
    let route = Route::start("").await;
    for (field, value, status) in [
        ("schema_version", "2.0", 422),
        ("encoding", "utf-16", 415),
        ("compression", "gzip", 415),
        ("content_type", "text/xml", 415),
    ] {
        let mut asked = call("m1", "say", json!({}));
        asked["format"][field] = value.into();
        assert_eq!(refused(&route.send(&asked).await), (status, "unsupported".into()), "{field}");
    }
    assert_eq!(route.bench.count("say"), 0);
}

#[tokio::test]
async fn h_15_causes_stay_in_the_hub() {
    let route = Route::start("").await;
    let answer = route.send(&call("m1", "broken", json!({}))).await;
    assert!(!answer.text().contains("hunter2") && !answer.text().contains("/secret"), "{}", answer.text());
    let response = one(&answer);
    assert_eq!(response["tool_results"][0]["status"], "error");
    assert_eq!(response["tool_results"][0]["metadata"]["code"], "internal");
}

/// What is logged on this thread, where all of the hub runs.
#[derive(Clone, Default)]
struct Lines(std::sync::Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no test panicked").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn h_15_details_go_to_the_log() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).finish();
    let _here = tracing::subscriber::set_default(subscriber);
    let route = Route::start("").await;
    let answer = route.send(&call("m1", "broken", json!({}))).await;
    assert!(!answer.text().contains("/secret/path"), "{}", answer.text());
    let logged = String::from_utf8(lines.0.lock().expect("no test panicked").clone()).expect("text");
    assert!(logged.contains("/secret/path"), "{logged}");
}

#[tokio::test]
async fn h_24_each_path_speaks_its_own_message() {
    let route = Route::start("").await;
    let ecma = json!({"format": "text", "subformat": "english", "content": "hello"});
    assert_eq!(refused(&route.send(&ecma).await).0, 400);
    let sent = interlingua_testkit::post("/nlip", "application/json", ecma.to_string());
    assert_eq!(route.connect().await.send(sent).await.status, 200);
    let envelope = call("m1", "say", json!({})).to_string();
    let sent = interlingua_testkit::post("/nlip", "application/json", envelope);
    let answer = route.connect().await.send(sent).await;
    assert!((400..500).contains(&answer.status), "{}", answer.text());
}

#[tokio::test]
async fn a_chat_is_answered_in_words() {
    let route = Route::start("").await;
    let mut asked = message("request", "m1");
    asked["content"] = json!({"messages": [{"role": "user", "content": "echo good morning"}]});
    let response = one(&route.send(&asked).await);
    assert_eq!(response["content"]["content"], "good morning", "{response}");
    assert_eq!(response["content"]["complete"], true);
    assert_eq!(response["tool_results"], Value::Null);
}

#[tokio::test]
async fn a_body_that_is_no_message_is_answered_in_the_envelopes_form() {
    let route = Route::start("").await;
    for body in ["", "{", "[]", "\"text\"", "{\"control\":{}}", "{\"control\":null}"] {
        let sent = interlingua_testkit::post("/nlip/route", "application/json", body);
        let answer = route.connect().await.send(sent).await;
        assert_eq!(refused(&answer).0, 400, "{body}");
    }
    let sent = interlingua_testkit::request(http::Method::GET, "/nlip/route").body(http_body_util::Full::default());
    let answer = route.connect().await.send(sent.expect("a request")).await;
    assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")));
    assert_eq!(list(&answer).len(), 1);
}
