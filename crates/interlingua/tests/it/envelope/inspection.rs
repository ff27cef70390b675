//! Sessions as their owner reads them: `/api/sessions`.

use std::time::Duration;

use http::Method;
use interlingua_testkit::{Answer, request};
use serde_json::{Value, json};

use super::kit::{Route, call, message, within};
use crate::support;

const TWO: &str =
    "access: { tokens: [{ name: ada, token: ada-token-0123456789 }, { name: eve, token: eve-token-0123456789 }] }";
const ADA: [(&str, &str); 1] = [("authorization", "Bearer ada-token-0123456789")];
const EVE: [(&str, &str); 1] = [("authorization", "Bearer eve-token-0123456789")];

async fn get(route: &Route, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut builder = request(Method::GET, path);
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    let sent = builder.body(http_body_util::Full::default()).expect("a request");
    route.connect().await.send(sent).await
}

fn note(id: &str, session: &str, content: Value) -> Value {
    let mut note = within(message("notification", id), session);
    note["content"] = content;
    note
}

#[tokio::test]
async fn a_session_shows_its_owner_messages_context_keys_turn_and_notifications() {
    let route = Route::start(TWO).await;
    assert_eq!(get(&route, "/api/sessions", &ADA).await.json()["items"], json!([]));
    let mut first = within(call("m1", "say", json!({})), "trip/1");
    first["metadata"]["context"] = json!({"city": "Lisbon", "seats": 2});
    assert_eq!(route.send_with(&first, &ADA).await.status, 200);
    assert_eq!(route.send_with(&within(call("m2", "say", json!({})), "trip/1"), &ADA).await.status, 200);
    let news = json!({"event": "moved", "to": {"gate": "B7"}});
    assert_eq!(route.send_with(&note("n1", "trip/1", news.clone()), &ADA).await.status, 202);
    let listed = get(&route, "/api/sessions", &ADA).await.json();
    let [session] = listed["items"].as_array().expect("sessions").as_slice() else { panic!("{listed}") };
    assert_eq!((&session["id"], &session["turn"]), (&json!("trip/1"), &json!(2)), "{session}");
    assert_eq!(session["notifications"], Value::Null, "a list has heads only");
    for time in ["created", "used", "expires"] {
        assert!(session[time].as_str().is_some_and(|text| text.ends_with('Z')), "{session}");
    }
    let one = get(&route, "/api/sessions/trip%2F1", &ADA).await.json();
    let heads: Vec<(Value, Value)> = one["messages"]
        .as_array()
        .expect("heads")
        .iter()
        .map(|head| (head["message"].clone(), head["kind"].clone()))
        .collect();
    let expected = [("m1", "request"), ("m2", "request"), ("n1", "notification")];
    assert_eq!(heads, expected.map(|(message, kind)| (json!(message), json!(kind))), "{one}");
    assert_eq!(one["context_keys"], json!(["city", "seats"]), "names, no values: {one}");
    assert!(!one.to_string().contains("Lisbon"), "{one}");
    let noted = &one["notifications"][0];
    assert_eq!((&noted["message"], &noted["content"]), (&json!("n1"), &news), "{one}");
    assert_eq!(noted["size"], news.to_string().len(), "{one}");
    // It outlives the process, as the session does.
    let route = route.restarted(TWO).await;
    assert_eq!(get(&route, "/api/sessions/trip%2F1", &ADA).await.json(), one);
}

#[tokio::test]
async fn attack_the_session_of_another_is_not_there() {
    let route = Route::start(TWO).await;
    assert_eq!(route.send_with(&note("n1", "s1", json!({"pin": 4711})), &ADA).await.status, 202);
    assert_eq!(get(&route, "/api/sessions/s1", &ADA).await.status, 200);
    let nobody = get(&route, "/api/sessions/none", &EVE).await;
    assert_eq!(nobody.status, 404, "{}", nobody.text());
    let eves = get(&route, "/api/sessions/s1", &EVE).await;
    assert_eq!((eves.status, eves.text()), (404, nobody.text()), "as if there were none");
    assert_eq!(get(&route, "/api/sessions", &EVE).await.json()["items"], json!([]));
    // Not even the hub's own Owner reads what callers store.
    assert_eq!(get(&route, "/api/sessions/s1", &[]).await.status, 404);
    assert_eq!(get(&route, "/api/sessions", &[]).await.json()["items"], json!([]));
    // Callers without a credential cannot be told apart: they have their tokens, and no list.
    let origin = format!("http://{}", route.server.address);
    let page = [("origin", origin.as_str())];
    assert_eq!(route.send_anonymous(&within(call("m1", "public", json!({})), "s2")).await.status, 200);
    assert_eq!(route.send_anonymous(&note("n2", "s2", json!({"x": 1}))).await.status, 202);
    let listed = get(&route, "/api/sessions", &page).await;
    assert_eq!(listed.json()["items"], json!([]), "{}", listed.text());
    assert_eq!(get(&route, "/api/sessions/s2", &page).await.status, 404);
}

#[tokio::test]
async fn attack_notifications_are_sealed_bounded_and_gone_with_the_session() {
    let route = Route::start(TWO).await;
    for n in 0..120 {
        let content = json!({"n": n, "fill": "x".repeat(1_000), "word": "abracadabra"});
        assert_eq!(route.send_with(&note(&format!("n{n}"), "s1", content), &ADA).await.status, 202);
    }
    let one = get(&route, "/api/sessions/s1", &ADA).await.json();
    let noted = one["notifications"].as_array().expect("notifications");
    let bytes: u64 = noted.iter().filter_map(|note| note["size"].as_u64()).sum();
    assert!(noted.len() > 20 && noted.len() < 100 && bytes <= 64 * 1024, "{}, {bytes}", noted.len());
    assert_eq!(noted.last().expect("one")["content"]["n"], 119, "the oldest went first");
    assert_eq!(one["messages"].as_array().expect("heads").len(), 8);
    // One that is too large is noted without its content; one that is sent again is noted once.
    for _ in 0..2 {
        let large = note("large", "s1", json!({"fill": "x".repeat(20_000)}));
        assert_eq!(route.send_with(&large, &ADA).await.status, 202);
    }
    let one = get(&route, "/api/sessions/s1", &ADA).await.json();
    let large: Vec<&Value> = one["notifications"]
        .as_array()
        .expect("notifications")
        .iter()
        .filter(|note| note["message"] == "large")
        .collect();
    assert_eq!((large.len(), &large[0]["content"], &large[0]["size"]), (1, &Value::Null, &json!(20_011)), "{large:?}");
    let records = &route.hub().store().records;
    let now = route.hub().now();
    let stored = records.list("session_notes", None, 10, now).await.expect("lists");
    assert_eq!(stored.len(), 1);
    assert!(!String::from_utf8_lossy(&stored[0].value).contains("abracadabra"), "sealed");
    let session = records.list("session", None, 10, now).await.expect("lists").remove(0);
    assert!(stored[0].expires <= session.expires && stored[0].expires.is_some(), "not longer than the session");
    let later = now.after(Duration::from_secs(24 * 3600 + 60));
    assert_eq!(records.expire(later).await.expect("expires"), 2, "both are gone");
}

#[tokio::test]
async fn sessions_are_listed_in_pages_and_sessions_in_memory_are_shown_as_well() {
    for yaml in [TWO.to_owned(), format!("{TWO}\nnlip: {{ tokens: {{ persist_context_tokens: false }} }}")] {
        let route = Route::start(&yaml).await;
        for n in 0..7 {
            let asked = within(call(&format!("m{n}"), "say", json!({})), &format!("s{n}"));
            assert_eq!(route.send_with(&asked, &ADA).await.status, 200);
            assert_eq!(route.send_with(&asked, &EVE).await.status, 200);
        }
        let (mut seen, mut after) = (Vec::new(), String::new());
        for _ in 0..10 {
            let page = get(&route, &format!("/api/sessions?limit=3{after}"), &ADA).await.json();
            let items = page["items"].as_array().expect("items").clone();
            assert!(items.len() <= 3, "{page}");
            seen.extend(items.iter().map(|session| session["id"].as_str().expect("an id").to_owned()));
            match page["next"].as_str() {
                Some(next) => after = format!("&after={next}"),
                None => break,
            }
        }
        seen.sort();
        assert_eq!(seen, ["s0", "s1", "s2", "s3", "s4", "s5", "s6"], "each once, and hers alone");
    }
}

#[tokio::test]
async fn without_tracking_no_heads_are_stored() {
    let route = Route::start("nlip: { router: { enable_message_tracking: false } }").await;
    assert_eq!(route.send(&within(call("m1", "say", json!({})), "s1")).await.status, 200);
    let one = get(&route, "/api/sessions/s1", &[]).await.json();
    assert_eq!((&one["turn"], &one["messages"]), (&json!(1), &json!([])), "{one}");
}

#[tokio::test]
async fn the_command_line_lists_sessions_and_shows_one() {
    let hub = support::builder().start().await;
    let mut asked = within(message("request", "m1"), "trip");
    asked["tool_calls"] = json!([{"tool_id": "t", "tool_name": "mcp__hub__echo", "parameters": {"text": "hello"}}]);
    asked["metadata"]["context"] = json!({"city": "Lisbon"});
    assert_eq!(hub.post_json("/nlip/route", &asked).await.status, 200);
    let news = note("n1", "trip", json!({"event": "\u{1b}[2Jmoved"}));
    assert_eq!(hub.post_json("/nlip/route", &news).await.status, 202);
    let run = async |arguments: &'static [&'static str]| {
        let (url, token) = (hub.url(""), hub.token().expect("the Owner's token").to_owned());
        let ran = tokio::task::spawn_blocking(move || {
            let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_interlingua"));
            command.args(arguments).arg("--hub").arg(url).env("INTERLINGUA_TOKEN", token);
            command.stdin(std::process::Stdio::null()).output().expect("the program runs")
        });
        let ran = ran.await.expect("it ends");
        (
            ran.status.code(),
            String::from_utf8_lossy(&ran.stdout).into_owned(),
            String::from_utf8_lossy(&ran.stderr).into_owned(),
        )
    };
    let (code, listed, complaint) = run(&["sessions"]).await;
    assert_eq!(code, Some(0), "{complaint}");
    assert!(listed.contains("trip") && listed.contains("n1"), "{listed}");
    let (_, shown, _) = run(&["sessions", "trip"]).await;
    for expected in ["turn      1", "context   city", "request m1", "notification n1", "moved"] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    assert!(!shown.contains('\u{1b}'), "what others wrote moves no cursor: {shown:?}");
    let (_, json, _) = run(&["sessions", "trip", "--json"]).await;
    assert_eq!(serde_json::from_str::<Value>(&json).expect("JSON")["turn"], 1);
    assert_ne!(run(&["sessions", "none"]).await.0, Some(0));
}
