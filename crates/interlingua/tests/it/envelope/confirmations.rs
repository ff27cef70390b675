//! A call that is pending approval.

use serde_json::{Value, json};

use super::kit::{Route, call, message, one, refused, within};

/// A call that asks for a human yes whatever its tool says of itself.
fn confirmed(id: &str) -> Value {
    let mut asked = call(id, "say", json!({"n": 1}));
    asked["tool_calls"][0]["require_confirmation"] = json!(true);
    asked
}

fn saying(id: &str, confirmation: &Value, approve: bool) -> Value {
    let mut answer = message("request", id);
    answer["metadata"]["confirmation"] = json!({"id": confirmation, "approve": approve});
    answer
}

async fn pending(route: &Route, asked: &Value) -> Value {
    let response = one(&route.send(asked).await);
    assert_eq!(response["tool_results"][0]["status"], "pending", "{response}");
    assert_eq!(response["content"], json!({"status": "pending", "result": null}));
    let confirmation = &response["metadata"]["confirmation"];
    assert_eq!(&response["tool_results"][0]["metadata"]["confirmation"], confirmation);
    confirmation.clone()
}

#[tokio::test]
async fn r_35_a_pending_call_runs_after_its_yes_and_only_then() {
    let route = Route::start("").await;
    let confirmation = pending(&route, &confirmed("m1")).await;
    assert_eq!(confirmation["parameters"], json!({"n": 1}));
    assert_eq!(confirmation["skill"], "bench/say");
    assert_eq!(route.bench.count("say"), 0);
    let response = one(&route.send(&saying("m2", &confirmation["id"], true)).await);
    let result = &response["tool_results"][0];
    assert_eq!((&result["tool_id"], &result["tool_name"]), (&"t1".into(), &"mcp__bench__say".into()));
    assert_eq!((&result["status"], &result["result"]), (&"success".into(), &json!({"n": 1})));
    assert_eq!(response["control"]["correlation_id"], "m2");
    assert_eq!(route.bench.count("say"), 1);
}

#[tokio::test]
async fn r_35_a_yes_is_used_once() {
    let route = Route::start("").await;
    let confirmation = pending(&route, &confirmed("m1")).await;
    let yes = saying("m2", &confirmation["id"], true);
    assert_eq!(one(&route.send(&yes).await)["tool_results"][0]["status"], "success");
    let second = route.send(&saying("m3", &confirmation["id"], true)).await;
    assert_eq!(refused_call(&second), (409, "already_finished".into()));
    let repeated = one(&route.send(&yes).await);
    assert_eq!(repeated["tool_results"][0]["status"], "success", "the same message is the same answer");
    assert_eq!(route.bench.count("say"), 1);
}

/// The status and code of the one response to an answer that was not taken.
fn refused_call(answer: &interlingua_testkit::Answer) -> (u16, String) {
    let response = one(answer);
    (answer.status, response["content"]["code"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn r_35_a_no_is_an_error_and_nothing_runs() {
    let route = Route::start("").await;
    let confirmation = pending(&route, &confirmed("m1")).await;
    let response = one(&route.send(&saying("m2", &confirmation["id"], false)).await);
    assert_eq!(response["tool_results"][0]["status"], "error", "{response}");
    assert_eq!(route.bench.count("say"), 0);
}

#[tokio::test]
async fn r_35_a_yes_is_for_one_call_and_needs_its_id() {
    let route = Route::start("").await;
    let first = pending(&route, &confirmed("m1")).await;
    let mut other = confirmed("m2");
    other["tool_calls"][0]["parameters"] = json!({"n": 2});
    let second = pending(&route, &other).await;
    assert_ne!(first["id"], second["id"]);
    assert!(first["digest"].is_string(), "{first}");
    assert_ne!(first["digest"], second["digest"], "other parameters are another call");
    let same = pending(&route, &confirmed("m6")).await;
    assert_eq!(same["digest"], first["digest"], "the same name and parameters");
    let mut named = confirmed("m7");
    named["tool_calls"][0]["tool_name"] = "mcp__bench__public".into();
    assert_ne!(pending(&route, &named).await["digest"], first["digest"], "another name is another call");
    for id in [json!("nothing"), json!("00000000000000000000000000000000-0"), json!("")] {
        assert_eq!(route.send(&saying("m3", &id, true)).await.status, 404, "{id}");
    }
    let mut vague = message("request", "m4");
    vague["metadata"]["confirmation"] = json!({"id": first["id"]});
    assert_eq!(refused(&route.send(&vague).await), (400, "malformed".into()));
    assert_eq!(route.bench.count("say"), 0);
    let response = one(&route.send(&saying("m5", &second["id"], true)).await);
    assert_eq!(response["tool_results"][0]["result"], json!({"n": 2}));
}

#[tokio::test]
async fn r_35_who_may_not_approve_cannot_and_does_not_learn_of_others_questions() {
    let yaml = "access: { tokens: [{ name: ada, token: ada-token-0123456789 }] }";
    let route = Route::start(yaml).await;
    let bearer = [("authorization", "Bearer ada-token-0123456789")];
    let own = one(&route.send_with(&confirmed("m1"), &bearer).await)["metadata"]["confirmation"].clone();
    assert_eq!(own["to"], "approvers");
    let denied = route.send_with(&saying("m2", &own["id"], true), &bearer).await;
    assert_eq!(one(&denied)["tool_results"][0]["metadata"]["code"], "denied");
    let others = pending(&route, &confirmed("m3")).await;
    assert_eq!(route.send_with(&saying("m4", &others["id"], true), &bearer).await.status, 404);
    assert_eq!(route.bench.count("say"), 0);
    let by_owner = one(&route.send(&saying("m5", &own["id"], true)).await);
    assert_eq!(by_owner["tool_results"][0]["status"], "success");
    assert_eq!(route.bench.count("say"), 1);
}

#[tokio::test]
async fn r_35_a_pending_call_waits_through_a_restart() {
    let route = Route::start("").await;
    let confirmation = pending(&route, &within(confirmed("m1"), "s1")).await;
    let route = route.restarted("").await;
    let response = one(&route.send(&saying("m2", &confirmation["id"], true)).await);
    assert_eq!(response["tool_results"][0]["status"], "success", "{response}");
    assert_eq!(route.bench.count("say"), 1);
}
