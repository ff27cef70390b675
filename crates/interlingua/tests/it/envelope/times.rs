//! Expiry of sessions and pending calls, over the wire. The hub runs in this process and its clock is the runtime's, so a test moves it:
//! hours pass at once, and a wall clock that jumps would change nothing (H-18).

use std::time::Duration;

use serde_json::{Value, json};

use super::kit::{Route, call, message, one, refused, until, within};

const HOUR: Duration = Duration::from_secs(3600);

/// So much time passes, for everything that runs here.
async fn passes(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

fn asked(number: u32) -> Value {
    within(call(&format!("m{number}"), "say", json!({})), "s1")
}

async fn turn(route: &Route, number: u32) -> Value {
    one(&route.send(&asked(number)).await)["token"]["conversation_turn"].clone()
}

#[tokio::test]
async fn h_18_expiry_follows_a_clock_that_is_injected_and_activity_puts_it_off() {
    let route = Route::start("").await;
    let before = route.hub().now();
    assert_eq!(turn(&route, 1).await, 1);
    passes(23 * HOUR).await;
    assert!(route.hub().now() >= before.after(23 * HOUR), "the hub's time is the clock's");
    assert_eq!(turn(&route, 2).await, 2, "a day has not passed");
    passes(23 * HOUR).await;
    assert_eq!(turn(&route, 3).await, 3, "it was used within a day");
    passes(25 * HOUR).await;
    assert_eq!(turn(&route, 4).await, 1, "a day without activity ends it");
}

#[tokio::test]
async fn r_29_r_26_a_request_on_an_expired_session_opens_one_or_is_refused_as_configured() {
    let strict = "nlip: { tokens: { auto_generate_sessions: false }, router: { session_timeout_hours: 2 } }";
    let route = Route::start(strict).await;
    assert_eq!(route.send(&within(message("notification", "n1"), "s1")).await.status, 202);
    assert_eq!(turn(&route, 1).await, 1);
    passes(HOUR).await;
    assert_eq!(turn(&route, 2).await, 2);
    passes(2 * HOUR).await;
    assert_eq!(refused(&route.send(&asked(3)).await), (404, "session_expired".into()));
    assert_eq!(route.bench.count("say"), 2, "what was refused did not run");
    let route = Route::start("nlip: { router: { session_timeout_hours: 2 } }").await;
    assert_eq!(turn(&route, 1).await, 1, "one that nobody knows is opened");
    passes(HOUR).await;
    assert_eq!(turn(&route, 2).await, 2);
    passes(2 * HOUR).await;
    let answer = route.send(&asked(3)).await;
    assert_eq!(
        (answer.status, &one(&answer)["token"]["conversation_turn"]),
        (200, &json!(1)),
        "and so is one that ended"
    );
    assert_eq!(route.bench.count("say"), 3, "and the call is made");
}

#[tokio::test]
async fn r_27_a_context_goes_with_its_session() {
    let route = Route::start("").await;
    let mut keep = asked(1);
    keep["metadata"]["context"] = json!({"city": "Lisbon"});
    one(&route.send(&keep).await);
    let mut bring = asked(2);
    bring["metadata"]["context"] = json!(true);
    assert_eq!(one(&route.send(&bring).await)["metadata"]["context"], json!({"city": "Lisbon"}));
    passes(25 * HOUR).await;
    bring["control"]["message_id"] = "m3".into();
    assert_eq!(one(&route.send(&bring).await)["metadata"]["context"], Value::Null);
}

/// Records of sessions that are still there, expired or not.
fn kept(route: &Route) -> i64 {
    let database = rusqlite::Connection::open(database(route)).expect("opens");
    database.query_row("SELECT count(*) FROM records WHERE kind = 'session'", [], |row| row.get(0)).expect("counts")
}

fn database(route: &Route) -> std::path::PathBuf {
    route.directory.path().join("data/hub.db")
}

#[tokio::test]
async fn h_19_r_26_expired_sessions_are_removed_by_themselves_and_a_failure_does_not_end_that() {
    let route = Route::start("").await;
    turn(&route, 1).await;
    assert_eq!(kept(&route), 1);
    // While its table is away the clean-up fails.
    let away = rusqlite::Connection::open(database(&route)).expect("opens");
    away.execute_batch("ALTER TABLE records RENAME TO away").expect("renames");
    passes(25 * HOUR).await;
    let failed = route.hub().store().records.count("session", route.hub().now()).await;
    assert!(failed.is_err(), "{failed:?}");
    away.execute_batch("ALTER TABLE away RENAME TO records").expect("renames");
    assert_eq!(kept(&route), 1);
    passes(HOUR).await;
    until("it is removed, and nobody has asked for it", || kept(&route) == 0).await;
}

#[tokio::test]
async fn h_11_a_result_is_kept_for_a_day_and_no_longer() {
    let route = Route::start("").await;
    let asked = call("m1", "write", json!({"n": 1}));
    assert_eq!(one(&route.send(&asked).await)["content"]["result"], json!({"count": 1}));
    passes(23 * HOUR).await;
    assert_eq!(one(&route.send(&asked).await)["content"]["result"], json!({"count": 1}));
    assert_eq!(route.bench.count("write"), 1, "within a day it is the result that was kept");
    passes(2 * HOUR).await;
    assert_eq!(one(&route.send(&asked).await)["content"]["result"], json!({"count": 2}));
    assert_eq!(route.bench.count("write"), 2, "later it is another request");
}

#[tokio::test]
async fn r_35_a_pending_confirmation_expires() {
    let route = Route::start("").await;
    let mut careful = call("m1", "say", json!({"n": 1}));
    careful["tool_calls"][0]["require_confirmation"] = json!(true);
    let pending = one(&route.send(&careful).await);
    assert_eq!(pending["tool_results"][0]["status"], "pending", "{pending}");
    passes(2 * HOUR).await;
    until("nothing waits any more", || route.hub().live_count() == 0).await;
    let mut yes = message("request", "m2");
    yes["metadata"]["confirmation"] = json!({"id": pending["metadata"]["confirmation"]["id"], "approve": true});
    let late = route.send(&yes).await;
    assert_eq!((late.status, &one(&late)["content"]["code"]), (409, &json!("already_finished")), "{}", late.text());
    assert_eq!(route.bench.count("say"), 0);
}
