//! Sessions and their tokens.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::kit::{Route, call, message, one, refused, within};

const TWO: &str =
    "access: { tokens: [{ name: ada, token: ada-token-0123456789 }, { name: eve, token: eve-token-0123456789 }] }";
const ADA: [(&str, &str); 1] = [("authorization", "Bearer ada-token-0123456789")];
const EVE: [(&str, &str); 1] = [("authorization", "Bearer eve-token-0123456789")];

/// Every session's record, as it stands in the store.
async fn stored(route: &Route) -> Vec<String> {
    let records = &route.hub().store().records;
    let items = records.list("session", None, 100, route.hub().now()).await.expect("lists");
    items.iter().map(|item| String::from_utf8_lossy(&item.value).into_owned()).collect()
}

fn next(id: &str, token: &Value) -> Value {
    let mut asked = call(id, "public", json!({}));
    asked["token"] = token.clone();
    asked
}

#[tokio::test]
async fn r_16_a_message_of_the_session_is_known_again() {
    let route = Route::start("").await;
    let asked = within(call("m1", "say", json!({})), "s1");
    assert_eq!(one(&route.send(&asked).await)["token"]["conversation_turn"], 1);
    assert_eq!(one(&route.send(&asked).await)["token"]["conversation_turn"], 1, "it was counted before");
    let other = within(call("m2", "say", json!({})), "s1");
    assert_eq!(one(&route.send(&other).await)["token"]["conversation_turn"], 2);
    let elsewhere = within(call("m1", "say", json!({})), "s2");
    assert_eq!(one(&route.send(&elsewhere).await)["token"]["conversation_turn"], 1, "messages are those of a session");
}

#[tokio::test]
async fn r_16_a_request_is_found_by_its_id_while_it_is_under_way_and_when_it_is_done() {
    let route = Route::start("").await;
    let asked = within(call("m1", "gate_writing", json!({"n": 1})), "s1");
    let hub = route.hub();
    let (first, second) = tokio::join!(route.send(&asked), async {
        route.bench.begun("gate_writing", 1).await;
        let again = route.send(&asked);
        let release = async {
            // Both are in the door by then; a second run would wait for a permit that nobody gives.
            super::kit::until("one task of both", || hub.live_count() == 1).await;
            route.bench.gate.add_permits(1);
        };
        tokio::join!(again, release).0
    });
    assert_eq!(one(&first)["content"], one(&second)["content"]);
    assert_eq!(one(&route.send(&asked).await)["content"], one(&first)["content"]);
    assert_eq!(route.bench.count("gate_writing"), 1);
}

#[tokio::test]
async fn r_17_h_08_a_request_that_is_answered_is_not_pending_any_more() {
    let route = Route::start("").await;
    // However it was answered: with a result, a failure, a stream, or that there is no such tool.
    let tools = ["write", "say", "fail", "is_error", "broken", "nothing", "stream", "say"];
    for n in 0..120 {
        let asked = within(call(&format!("m{n}"), tools[n % tools.len()], json!({})), "s1");
        assert_eq!(route.send(&asked).await.status, 200);
    }
    super::kit::until("nothing runs", || route.hub().live_count() == 0).await;
    let session: Value = serde_json::from_str(&stored(&route).await[0]).expect("JSON");
    let marks = session["recent"].as_str().expect("marks").len();
    assert!(marks <= 100 * 4 * 4 / 3 + 4, "at most a hundred messages are remembered: {marks}");
    let turn = async |id: &str| {
        one(&route.send(&within(call(id, "say", json!({})), "s1")).await)["token"]["conversation_turn"].clone()
    };
    assert_eq!(turn("m20").await, 120, "the hundredth before is known");
    assert_eq!(turn("m19").await, 121, "the one before it is not");
}

#[tokio::test]
async fn r_26_activity_keeps_a_session_and_is_written_down() {
    let route = Route::start("nlip: { router: { session_timeout_hours: 2 } }").await;
    route.send(&within(call("m1", "say", json!({})), "s1")).await;
    let records = &route.hub().store().records;
    let now = route.hub().now();
    let item = records.list("session", None, 1, now).await.expect("lists").remove(0);
    let left = item.expires.expect("it expires").0 - now.0;
    let two_hours = 2 * 3_600_000;
    assert!(left <= two_hours && left > two_hours - 600_000, "{left}");
    let later = now.after(std::time::Duration::from_secs(2 * 3600 + 1));
    assert_eq!(records.count("session", later).await.expect("counts"), 0);
    assert_eq!(records.expire(later).await.expect("expires"), 1, "how many were removed");
}

#[tokio::test]
async fn r_26_a_session_is_created_with_metadata_and_state() {
    let route = Route::start("").await;
    let mut first = within(call("m1", "say", json!({})), "s1");
    first["metadata"]["context"] = json!({"city": "Lisbon"});
    first["token"]["state_token"] = "state-of-the-caller".into();
    assert_eq!(route.send(&first).await.status, 200);
    let kept = stored(&route).await;
    assert_eq!(kept.len(), 1);
    let session: interlingua_envelope::session::Session = serde_json::from_str(&kept[0]).expect("a session");
    assert!(session.is_state(&interlingua_model::Secret::new("state-of-the-caller")));
    assert!(!session.is_state(&interlingua_model::Secret::new("another")));
    assert!(!kept[0].contains("state-of-the-caller"), "only its hash is kept");
    let mut next = within(call("m2", "say", json!({})), "s1");
    next["metadata"]["context"] = json!(true);
    assert_eq!(one(&route.send(&next).await)["metadata"]["context"], json!({"city": "Lisbon"}));
}

#[tokio::test]
async fn r_27_a_context_is_kept_sealed_and_comes_back_to_its_caller_alone() {
    let route = Route::start(TWO).await;
    let mut keep = within(call("m1", "say", json!({})), "s1");
    keep["metadata"]["context"] = json!({"city": "Lisbon"});
    let kept = one(&route.send_with(&keep, &ADA).await);
    assert_eq!(kept["metadata"]["context"], Value::Null);
    assert!(!stored(&route).await.concat().contains("Lisbon"), "it is encrypted at rest");
    let mut bring = within(call("m2", "say", json!({})), "s1");
    bring["metadata"]["context"] = json!(true);
    assert_eq!(one(&route.send_with(&bring, &ADA).await)["metadata"]["context"], json!({"city": "Lisbon"}));
    assert_eq!(one(&route.send_with(&bring, &EVE).await)["metadata"]["context"], Value::Null, "another's is none");
    let route = route.restarted(TWO).await;
    bring["control"]["message_id"] = "m3".into();
    assert_eq!(one(&route.send_with(&bring, &ADA).await)["metadata"]["context"], json!({"city": "Lisbon"}));
    let mut large = within(call("m4", "say", json!({})), "s1");
    large["metadata"]["context"] = json!({"x": "x".repeat(20_000)});
    assert_eq!(refused(&route.send_with(&large, &ADA).await), (413, "too_large".into()));
    bring["control"]["message_id"] = "m5".into();
    let still = one(&route.send_with(&bring, &ADA).await);
    assert_eq!(still["metadata"]["context"], json!({"city": "Lisbon"}), "the one before is still there");
}

#[tokio::test]
async fn r_28_a_new_session_has_an_id_a_token_and_its_first_turn_and_the_token_leads_back() {
    let route = Route::start("").await;
    let first = one(&route.send(&call("m1", "say", json!({}))).await)["token"].clone();
    let id = first["session_id"].as_str().expect("an id").to_owned();
    assert!(id.starts_with("nlip_"), "{id}");
    assert_eq!(first["conversation_turn"], 1);
    let mut alone = call("m2", "say", json!({}));
    alone["token"]["context_token"] = first["context_token"].clone();
    let second = one(&route.send(&alone).await)["token"].clone();
    assert_eq!((&second["session_id"], &second["conversation_turn"]), (&json!(id), &json!(2)));
    let mut own = call("m3", "say", json!({}));
    own["token"]["context_token"] = "a token of my own".into();
    let third = one(&route.send(&own).await)["token"].clone();
    own["control"]["message_id"] = "m4".into();
    let fourth = one(&route.send(&own).await)["token"].clone();
    assert_eq!(third["session_id"], fourth["session_id"]);
    assert_eq!((&fourth["context_token"], &fourth["conversation_turn"]), (&"a token of my own".into(), &json!(2)));
}

#[tokio::test]
async fn r_29_an_unknown_session_is_opened_or_refused_as_configured() {
    let route = Route::start("nlip: { tokens: { auto_generate_sessions: false } }").await;
    let asked = within(call("m1", "say", json!({})), "s1");
    assert_eq!(refused(&route.send(&asked).await), (404, "session_expired".into()));
    assert_eq!(route.bench.count("say"), 0);
    let alone = one(&route.send(&call("m2", "say", json!({}))).await);
    assert_eq!(alone["token"]["session_id"], Value::Null, "no session is made for a request that brings none");
    assert_eq!(route.send(&within(message("notification", "n1"), "s1")).await.status, 202);
    assert_eq!(route.send(&asked).await.status, 200, "a notification makes the session it names");
}

#[tokio::test]
async fn h_06_an_id_opens_nothing() {
    let route = Route::start(TWO).await;
    let adas = within(call("m1", "say", json!({})), "s1");
    assert_eq!(one(&route.send_with(&adas, &ADA).await)["token"]["conversation_turn"], 1);
    let eves = within(call("m2", "say", json!({})), "s1");
    assert_eq!(
        one(&route.send_with(&eves, &EVE).await)["token"]["conversation_turn"],
        1,
        "her own session of that name"
    );
    assert_eq!(stored(&route).await.len(), 2);
}

#[tokio::test]
async fn h_06_without_a_proof_of_who_asks_the_token_is_the_proof() {
    let route = Route::start("").await;
    let first = one(&route.send_anonymous(&within(call("m1", "public", json!({})), "s1")).await)["token"].clone();
    let secret = first["context_token"].as_str().expect("a token");
    assert!(secret.len() > 43, "256 bits: {secret}");
    assert!(!stored(&route).await.concat().contains(&secret[secret.len() - 40..]), "only its hash is kept");
    let other = one(&route.send_anonymous(&within(call("m9", "public", json!({})), "s9")).await)["token"].clone();
    let other = other["context_token"].as_str().expect("a token");
    let random = |token: &str| token.rsplit('.').next().unwrap_or_default().to_owned();
    let (mut ones, mut zeros) = ([0_u8; 32], [0_u8; 32]);
    for n in 0..64 {
        let asked = within(call(&format!("r{n}"), "public", json!({})), &format!("random{n}"));
        let token = one(&route.send_anonymous(&asked).await)["token"]["context_token"].clone();
        let bits = URL_SAFE_NO_PAD.decode(random(token.as_str().expect("a token"))).expect("base64");
        assert_eq!(bits.len(), 32);
        for (at, byte) in bits.iter().enumerate() {
            ones[at] |= byte;
            zeros[at] |= !byte;
        }
    }
    assert_eq!((ones, zeros), ([255; 32], [255; 32]), "each of 256 bits is one in some tokens and zero in others");
    assert_eq!((random(secret).len(), random(other).len()), (43, 43), "256 bits of each: {secret}, {other}");
    assert_ne!(random(secret), random(other));
    let second = one(&route.send_anonymous(&next("m2", &first)).await)["token"].clone();
    assert_eq!((&second["session_id"], &second["conversation_turn"]), (&"s1".into(), &json!(2)));
    for (id, token) in [("m3", Value::Null), ("m4", "1234".into()), ("m5", secret.replace(&secret[70..], "x").into())] {
        let mut stranger = second.clone();
        stranger["context_token"] = token;
        let got = one(&route.send_anonymous(&next(id, &stranger)).await)["token"].clone();
        assert_ne!(got["session_id"], "s1", "a guess is given another session");
        assert_eq!(got["conversation_turn"], 1);
    }
}

#[tokio::test]
async fn h_07_there_is_one_table_of_sessions_and_it_outlives_the_process() {
    let route = Route::start("").await;
    let asked = |n: u32| within(call(&format!("m{n}"), "say", json!({})), "s1");
    let both = (asked(1), asked(2));
    let (a, b) = tokio::join!(route.send(&both.0), route.send(&both.1));
    let mut turns = [&a, &b].map(|answer| one(answer)["token"]["conversation_turn"].as_u64().expect("a turn"));
    turns.sort_unstable();
    assert_eq!(turns, [1, 2], "no turn is counted twice");
    let route = route.restarted("").await;
    assert_eq!(one(&route.send(&asked(3)).await)["token"]["conversation_turn"], 3);
    assert_eq!(stored(&route).await.len(), 1);
}

#[tokio::test]
async fn h_08_a_session_stays_small_however_much_is_said_in_it() {
    let route = Route::start("").await;
    let mut asked = within(message("notification", "m"), "s1");
    asked["content"] = json!({"text": "x".repeat(10_000)});
    let mut connection = route.connect().await;
    for n in 0..300 {
        asked["control"]["message_id"] = format!("m{n}").into();
        let sent = interlingua_testkit::post("/nlip/route", "application/json", asked.to_string());
        assert_eq!(connection.send(sent).await.status, 202);
    }
    let size = stored(&route).await[0].len();
    assert!(size < 1024, "{size} bytes");
}

#[tokio::test]
async fn h_09_the_hub_counts_turns_and_says_when_the_caller_counts_otherwise() {
    let route = Route::start("").await;
    let mut asked = within(call("m1", "say", json!({})), "s1");
    asked["token"]["conversation_turn"] = json!(41);
    let response = one(&route.send(&asked).await);
    assert_eq!(response["token"]["conversation_turn"], 1);
    assert_eq!(response["metadata"]["losses"], json!([{"what": "token.conversation_turn", "kind": "answered_by_hub"}]));
    asked["control"]["message_id"] = "m2".into();
    asked["token"]["conversation_turn"] = json!(1);
    let response = one(&route.send(&asked).await);
    assert_eq!((&response["token"]["conversation_turn"], &response["metadata"]["losses"]), (&json!(2), &Value::Null));
}
