//! One call: its interface, headers, credentials, and outcome.

use super::*;

#[tokio::test]
async fn a_04_an_answer_that_is_a_message_is_the_whole_answer() {
    let agent = Agent::start(card(), |heard| Say::Json(result(message(&format!("{} heard", method(heard)))))).await;
    let hub = agent.hub().await;
    let answer = say(&hub, "hello").await;
    assert_eq!(texts(&answer), ["SendStreamingMessage heard"], "{answer}");
    let heard = &agent.heard()[0];
    assert_eq!((heard.path.as_str(), heard.header("a2a-version")), ("/rpc", Some("1.0")));
    let sent = heard.json();
    assert_eq!(sent["params"]["message"]["parts"], json!([{"text": "hello"}]));
    assert_eq!(sent["params"]["message"]["role"], "ROLE_USER");
}

#[tokio::test]
async fn a_14_a_stream_becomes_progress_artifacts_and_an_outcome() {
    let agent = Agent::start(card(), |_| {
        Say::Stream(stream(&[
            json!({"task": task("SUBMITTED")}),
            saying("WORKING", "w1", "looking"),
            artifact("one ", false, false),
            artifact("two", true, true),
            status("COMPLETED"),
        ]))
    })
    .await;
    let hub = agent.hub().await;
    let id = begin(&hub, "find").await;
    let done = reaches(&hub, &id, "completed").await;
    assert_eq!(done["finished"]["artifacts"], json!(["page"]), "{done}");
    let events = hub.get(&format!("/api/tasks/{id}/events")).await.text();
    assert!(events.contains("looking") && events.contains("one "), "{events}");
    let answer = say(&hub, "find").await;
    assert_eq!(texts(&answer), ["one ", "two"], "{answer}");
}

#[tokio::test]
async fn a_05_without_streams_the_task_is_had_at_once_and_asked_about_until_it_ends() {
    let asked = Arc::new(Mutex::new(0));
    let agent = Agent::start(plain_card(), move |heard| match method(heard).as_str() {
        "SendMessage" => Say::Json(result(json!({"task": task("WORKING")}))),
        _ => {
            let mut asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
            *asked += 1;
            let mut task = task(if *asked < 3 { "WORKING" } else { "COMPLETED" });
            task["artifacts"] = json!([{"artifactId": "a", "parts": [{"text": "found"}]}]);
            Say::Json(result(task))
        }
    })
    .await;
    let hub = agent.hub().await;
    let answer = say(&hub, "find").await;
    assert_eq!(texts(&answer), ["found"], "{answer}");
    assert_eq!(agent.methods(), ["SendMessage", "GetTask", "GetTask", "GetTask"]);
    assert_eq!(agent.heard()[0].json()["params"]["configuration"]["returnImmediately"], true);
}

#[tokio::test]
async fn a_43_the_first_interface_that_works_is_taken_and_remembered() {
    let mut card = card();
    card["supportedInterfaces"] = json!([
        {"url": "127.0.0.1:1", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
        {"url": "http://127.0.0.1:1/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
        {"url": "/gone", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
        {"url": "/rest", "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0", "tenant": "acme"},
    ]);
    let agent = Agent::start(card, |heard| match heard.path.as_str() {
        "/rest/acme/message:stream" => Say::Json(message("by rest")),
        _ => Say::Status(404, Vec::new(), Value::Null),
    })
    .await;
    let hub = agent.hub().await;
    for _ in 0..2 {
        let answer = say(&hub, "x").await;
        assert_eq!(texts(&answer), ["by rest"], "{answer}");
    }
    let paths: Vec<String> = agent.heard().into_iter().map(|heard| heard.path).collect();
    // A card that promises streams falsely is tried without.
    assert_eq!(paths, ["/gone", "/gone", "/rest/acme/message:stream", "/rest/acme/message:stream"]);
}

#[tokio::test]
async fn a_40_the_tenant_of_an_interface_goes_with_every_request() {
    let mut card = card();
    card["supportedInterfaces"][0]["tenant"] = "acme".into();
    let agent = Agent::start(card, |heard| match method(heard).as_str() {
        "SendStreamingMessage" => Say::Stream(stream(&[json!({"task": task("WORKING")})])),
        "SubscribeToTask" => error(-32004, "UNSUPPORTED_OPERATION"),
        _ => Say::Json(result(task("COMPLETED"))),
    })
    .await;
    let hub = agent.hub().await;
    say(&hub, "x").await;
    let tenants: Vec<Value> = agent.heard().iter().map(|heard| heard.json()["params"]["tenant"].clone()).collect();
    assert_eq!(tenants, vec![json!("acme"); 3], "{:?}", agent.methods());
}

#[tokio::test]
async fn a_39_configured_credentials_are_shown_as_the_card_wants_and_a_callers_own_never() {
    let mut card = card();
    card["securitySchemes"] = json!({"key": {"apiKeySecurityScheme": {"location": "header", "name": "X-Hotel-Key"}}});
    card["securityRequirements"] = json!([{"schemes": {"key": {"list": []}}}]);
    let agent = Agent::start(card, |_| Say::Json(result(message("ok")))).await;
    let wanted = [
        (", token: t0ken", "authorization", "Bearer t0ken"),
        (", basic: { user: ada, password: pass }", "authorization", "Basic YWRhOnBhc3M="),
        (", api_key: k3y", "x-hotel-key", "k3y"),
        (", headers: { x-more: m0re }", "x-more", "m0re"),
    ];
    for (more, header, value) in wanted {
        let hub = agent.builder(more).start().await;
        listed(&hub).await;
        let token = std::fs::read_to_string(hub.data().join("token")).unwrap_or_default();
        let bearer = format!("Bearer {}", token.trim());
        let headers = [("authorization", bearer.as_str()), ("cookie", "c=1"), ("x-api-key", "callers")];
        let body = Some(json!({"skill": "agent/chat", "text": "x"}));
        crate::support::send(&hub, http::Method::POST, "/api/exchanges", &headers, body).await;
        let heard = agent.heard().pop().expect("a request");
        assert_eq!(heard.header(header), Some(value), "{more}");
        assert_eq!((heard.header("cookie"), heard.header("x-api-key")), (None, None), "{more}");
        let shown = heard.header("authorization").unwrap_or_default();
        assert!(token.trim().is_empty() || !shown.contains(token.trim()), "the caller's own token went on");
        assert!(!hub.log().contains(value), "a secret in the log");
    }
    let hub = agent.hub().await;
    assert!(
        peer(&hub).await["problems"].to_string().contains("credentials"),
        "the owner is told that none are configured"
    );
}

#[tokio::test]
async fn a_conversation_goes_on_in_the_agents_own_context_and_in_no_others() {
    let agent = Agent::start(card(), |heard| {
        let mut answer = message("ok");
        let given = heard.json()["params"]["message"]["contextId"].clone();
        answer["message"]["contextId"] = if given.is_null() { json!("theirs-1") } else { given };
        Say::Json(result(answer))
    })
    .await;
    let hub = agent.hub().await;
    let first = hub.post_json("/api/exchanges", &json!({"skill": "agent/chat", "text": "x"})).await.json();
    let conversation = first["conversation"].as_str().expect("a conversation").to_owned();
    let again = json!({"skill": "agent/chat", "text": "y", "conversation": conversation});
    hub.post_json("/api/exchanges", &again).await;
    say(&hub, "another").await;
    let contexts: Vec<Value> =
        agent.heard().iter().map(|heard| heard.json()["params"]["message"]["contextId"].clone()).collect();
    assert_eq!(contexts, [Value::Null, json!("theirs-1"), Value::Null]);
}
