//! ECMA-430, clause 6.3: control messages.

use super::{ask, hub, text, token, tokens, with};

#[tokio::test]
async fn n_35_a_control_message_is_answered_by_a_control_message() {
    let mut message = text("hello");
    message["messagetype"] = "control".into();
    let reply = ask(&hub().await, &message).await;
    assert_eq!(reply["messagetype"], "control", "{reply}");
}

#[tokio::test]
async fn n_36_the_boolean_of_the_first_draft_is_understood() {
    let mut message = text("hello");
    message["control"] = true.into();
    let reply = ask(&hub().await, &message).await;
    assert_eq!(reply["messagetype"], "control", "{reply}");
}

/// A control message, with these tokens.
fn control(content: &str, tokens: &[serde_json::Value]) -> serde_json::Value {
    let mut message = with(text(content), tokens);
    message["messagetype"] = "control".into();
    message
}

/// The part of an answer that has this label.
fn part(reply: &serde_json::Value, label: &str) -> serde_json::Value {
    let parts = reply["submessages"].as_array().cloned().unwrap_or_default();
    parts.into_iter().find(|part| part["label"] == label).unwrap_or_else(|| panic!("no {label}: {reply}"))
}

#[tokio::test]
async fn questions_about_the_endpoint_are_answered_in_words_and_as_a_structured_part() {
    let hub = hub().await;
    for (question, about, member, words) in [
        ("What are your limits?", "limits", "message_bytes", "at most 67108864 bytes"),
        ("¿Cuál es el tamaño máximo?", "limits", "upload_bytes", "at most 67108864 bytes"),
        ("what are your policies?", "policies", "conversation_seconds", "approval"),
        ("Which authorization policies do you have?", "policies", "credentials", "credential"),
        ("Which formats do you read?", "formats", "structured", "structured"),
        ("Which languages do you speak?", "languages", "understood", "English"),
        ("Tell me your end-points.", "endpoints", "http", "/nlip"),
    ] {
        let reply = ask(&hub, &control(question, &[])).await;
        assert_eq!(reply["messagetype"], "control", "{question}: {reply}");
        assert!(reply["content"].as_str().is_some_and(|said| said.contains(words)), "{question}: {reply}");
        let told = part(&reply, "interlingua-terms");
        assert_eq!((&told["format"], &told["subformat"]), (&"structured".into(), &"json".into()), "{reply}");
        let members: Vec<&String> = told["content"].as_object().expect("an object").keys().collect();
        assert_eq!(members, [about], "{question}: {reply}");
        assert!(!told["content"][about][member].is_null(), "{question}: {reply}");
    }
    for question in ["Tell me your limits and your languages", "What are your parameters?"] {
        let reply = ask(&hub, &control(question, &[])).await;
        let told = part(&reply, "interlingua-terms");
        assert_eq!(told["content"].as_object().map(serde_json::Map::len), Some(5), "{question}: {reply}");
        assert_eq!(reply["content"].as_str().map(|said| said.lines().count()), Some(5), "{question}: {reply}");
    }
}

#[tokio::test]
async fn what_the_endpoint_says_of_itself_is_true() {
    let builder = interlingua_testkit::Hub::builder(env!("CARGO_BIN_EXE_interlingua"));
    let hub = builder.config("limits: { body: 20KiB, anonymous_body: 20KiB, depth: 40 }\n").start().await;
    let told = part(&ask(&hub, &control("What are your limits?", &[])).await, "interlingua-terms")["content"].clone();
    assert_eq!(
        (&told["limits"]["message_bytes"], &told["limits"]["json_depth"]),
        (&20_480.into(), &40.into()),
        "{told}"
    );
    let large = hub.post_json("/nlip", &text(&"x".repeat(20_481))).await;
    assert_eq!(large.status, 413, "one byte more is refused: {}", large.text());
    let reply = ask(&hub, &control("Where are your endpoints?", &[])).await;
    let endpoints = part(&reply, "interlingua-terms")["content"]["endpoints"].clone();
    let path = |address: &serde_json::Value| {
        address.as_str().and_then(|address| address.strip_prefix(&hub.url(""))).unwrap_or_default().to_owned()
    };
    assert_eq!(hub.post_json(&path(&endpoints["http"]), &text("hello")).await.status, 200, "{reply}");
    let agent = path(&endpoints["agent"]).replace("{name}", "hub");
    assert_eq!(hub.post_json(&agent, &text("echo: hello")).await.status, 200, "{reply}");
}

#[tokio::test]
async fn data_messages_about_limits_and_languages_are_for_whoever_is_behind_the_hub() {
    let hub = hub().await;
    for question in ["What are your limits?", "Which languages do you speak?", "what are your policies?"] {
        let reply = ask(&hub, &text(question)).await;
        assert!(!reply.to_string().contains("interlingua-terms"), "{question}: {reply}");
    }
}

fn authentication(reply: &serde_json::Value) -> Vec<serde_json::Value> {
    tokens(reply).into_iter().filter(|token| token["subformat"] == "authentication").collect()
}

#[tokio::test]
async fn n_70_asked_to_authenticate_the_hub_does_so_now_and_in_every_later_answer() {
    let hub = hub().await;
    let first = ask(&hub, &text("hello")).await;
    assert_eq!(authentication(&first), [] as [serde_json::Value; 0], "nobody asked yet: {first}");
    let asked = ask(&hub, &control("Please authenticate yourself.", &tokens(&first))).await;
    assert_eq!(asked["messagetype"], "control", "{asked}");
    let identity = authentication(&asked);
    assert_eq!(identity.len(), 1, "{asked}");
    // Whether the other side brings back all tokens of the hub or only that of the conversation, the answers bear it once.
    let later = ask(&hub, &with(text("hello"), &tokens(&asked))).await;
    assert_eq!(authentication(&later), identity, "{later}");
    let later = ask(&hub, &with(text("echo: hi"), &tokens(&first))).await;
    assert_eq!(authentication(&later), identity, "{later}");
    // The hub's token is of one conversation, and beside the other side's own.
    let other = ask(&hub, &control("Identify yourself", &[token("authentication", "mine")])).await;
    assert_eq!(authentication(&other).len(), 2, "{other}");
    assert!(!authentication(&other).contains(&identity[0]), "{other}");
}

#[tokio::test]
async fn n_70_an_identity_of_the_hub_is_no_credential() {
    let hub = hub().await;
    let identity = authentication(&ask(&hub, &control("Who are you? Please authenticate.", &[])).await).remove(0);
    let bearer = format!("Bearer {}", identity["content"].as_str().expect("a text"));
    let sent = interlingua_testkit::request(::http::Method::GET, "/api/tasks").header("authorization", bearer);
    let answer = hub.connect().await.send(sent.body(Default::default()).expect("a request")).await;
    assert_eq!(answer.status, 401, "{}", answer.text());
}
