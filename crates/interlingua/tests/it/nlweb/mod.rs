//! NLWeb over the wire, both ways: the hub asked like a site, in every generation, and sites that the hub asks.

mod clauses;
mod doors;
mod leaving;
mod page;
mod relayed;
mod sites;
mod streams;

use http::Method;
use interlingua_testkit::{Answer, Hub, Peer, Say, Scripted};
use serde_json::{Value, json};

use crate::support::{builder, events, send, until};

/// A tool that answers with rows, one that asks for what it lacks, one that takes its time.
const RECIPES: &str = r#"
name: find_recipes
description: Finds recipes.
phrases: { en: ["recipes with {what} [for {people}]", "recipes"] }
input: { type: object, properties: { what: { type: string, description: "With what?" }, people: { type: integer } }, required: [what] }
effects: { reads: true, idempotent: true }
command: [sh, -c, 'echo "{\"recipes\":[{\"name\":\"Soup\",\"url\":\"https://r.example/1\",\"@type\":\"Recipe\"},{\"name\":\"Pie\",\"score\":10}]}"']
"#;
const LATE: &str = r#"
name: think
description: Thinks for a while.
phrases: { en: ["think about it"] }
effects: { reads: true, idempotent: true }
reply: lines
command: [sh, -c, 'echo "{\"progress\":{\"note\":\"thinking\"}}"; sleep 4; echo "{\"result\":{\"thoughts\":[{\"name\":\"deep\"}]}}"']
"#;
const QUICK: &str = r#"
name: quick
description: Thinks for half a second.
phrases: { en: ["think quickly"] }
effects: { reads: true, idempotent: true }
reply: lines
command: [sh, -c, 'sleep 0.5; echo "{\"result\":{\"thoughts\":[{\"name\":\"shallow\"}]}}"']
"#;
const PONDER: &str = r#"
name: ponder
description: Ponders something for a while.
phrases: { en: ["ponder {what}", "ponder"] }
input: { type: object, properties: { what: { type: string, description: "What?" } }, required: [what] }
effects: { reads: true, idempotent: true }
reply: lines
command: [sh, -c, 'sleep 4; echo "{\"result\":{\"thoughts\":[{\"name\":\"deep\"}]}}"']
"#;

async fn hub() -> Hub {
    hub_with("").await
}

async fn hub_with(yaml: &str) -> Hub {
    let builder = builder()
        .file("tools/recipes.yaml", RECIPES)
        .file("tools/late.yaml", LATE)
        .file("tools/ponder.yaml", PONDER)
        .file("tools/quick.yaml", QUICK);
    builder.config(&format!("tools: {{ directory: ./tools }}\n{yaml}\n")).start().await
}

async fn ask(hub: &Hub, body: Value) -> Answer {
    hub.post_json("/ask", &body).await
}

fn nested(text: &str, more: Value) -> Value {
    let mut body = json!({"query": {"text": text}, "prefer": {"streaming": false}});
    body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    body
}

#[tokio::test]
async fn q_01_q_05_q_07_q_60_flat_requests_are_answered_flat() {
    let hub = hub().await;
    let answer = hub.get("/ask?query=recipes%20with%20leek&streaming=false&query_id=q1").await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let said = answer.json();
    assert_eq!((&said["query_id"], &said["results"][0]["name"]), (&json!("q1"), &json!("Soup")), "{said}");
    assert_eq!(said["results"][0]["schema_object"]["@type"], "Recipe");

    let answer = hub.get("/ask?query=recipes%20with%20leek&site=local").await;
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    assert_eq!((answer.header("cache-control"), answer.header("x-accel-buffering")), (Some("no-cache"), Some("no")));
    let text = answer.text();
    let kinds: Vec<String> =
        messages(&text).iter().map(|message| message["message_type"].as_str().unwrap().to_owned()).collect();
    assert_eq!(kinds.first().map(String::as_str), Some("api_version"), "{text}");
    assert!(
        kinds.contains(&"result_batch".to_owned()) && kinds.last().is_some_and(|kind| kind == "complete"),
        "{text}"
    );
    let lines = text.lines().filter(|line| !line.is_empty());
    assert!(lines.clone().all(|line| line.starts_with("data: ") || line.starts_with(':')), "no other field: {text}");
}

#[tokio::test]
async fn q_04_an_answer_without_an_id_is_given_one_and_each_another() {
    let hub = hub().await;
    let mut seen = Vec::new();
    for _ in 0..2 {
        let answer = hub.get("/ask?query=recipes%20with%20leek&streaming=false").await.json();
        seen.push(answer["query_id"].as_str().expect("an id").to_owned());
        let stream = hub.get("/ask?query=recipes%20with%20leek").await.text();
        let ids: Vec<Value> = messages(&stream).iter().map(|message| message["query_id"].clone()).collect();
        assert!(ids.len() > 2 && ids.iter().all(|id| *id == ids[0]), "one id in all of a stream: {stream}");
        seen.push(ids[0].as_str().expect("an id").to_owned());
    }
    assert!(seen.iter().all(|id| !id.is_empty()), "{seen:?}");
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 4, "{seen:?}");
}

#[tokio::test]
async fn q_20_q_22_keys_that_are_unknown_numbers_out_of_range_and_ids_of_answers() {
    let hub = hub().await;
    let asked = async |more: Value| {
        let mut body = nested("", json!({"meta": {"api_version": "0.54"}}));
        body["query"] = json!({"text": "recipes with leek"});
        body["query"].as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        ask(&hub, body).await
    };
    let answer = asked(json!({"cuisine": "thai"})).await;
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!("INVALID_REQUEST")), "{}", answer.text());
    let (one, two) = (asked(json!({})).await.json(), asked(json!({})).await.json());
    let id = |answer: &Value| answer["_meta"]["request_id"].as_str().expect("an id").to_owned();
    assert!(!id(&one).is_empty() && id(&one) != id(&two), "{one}");
    let item = one["results"][0].as_object().expect("an item");
    for key in ["@type", "url", "name", "site", "score", "description", "grounding"] {
        assert!(item.contains_key(key), "no `{key}`: {one}");
    }
}

/// The data of every event, whatever its name.
fn messages(text: &str) -> Vec<Value> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("data: "));
    lines.map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[tokio::test]
async fn q_20_q_22_q_40_q_41_q_42_q_61_nested_requests_are_answered_in_their_version() {
    let hub = hub().await;
    let said = ask(&hub, nested("recipes with leek", json!({}))).await.json();
    assert_eq!(
        (&said["_meta"]["version"], &said["_meta"]["response_type"]),
        (&json!("0.55"), &json!("answer")),
        "{said}"
    );
    assert_eq!(said["results"][0]["name"], "Soup");
    let said = ask(&hub, nested("recipes with leek", json!({"meta": {"api_version": "0.54"}}))).await.json();
    assert_eq!(said["_meta"]["response_type"], "Answer", "{said}");
    let mut body = json!({"query": {"text": "recipes with leek", "min_score": 50}});
    let text = ask(&hub, body.clone()).await.text();
    let names: Vec<String> = events(&text).into_iter().map(|(name, ..)| name).collect();
    assert_eq!(names, ["start", "result", "complete"], "{text}");
    body["meta"] = json!({"api_version": "0.54"});
    let text = ask(&hub, body).await.text();
    assert!(!text.contains("event:") && messages(&text)[0].get("_meta").is_some(), "{text}");
    assert_eq!(messages(&text)[1]["results"].as_array().unwrap().len(), 1, "the other scores too little");
}

#[tokio::test]
async fn q_21_q_29_q_44_what_is_wrong_is_said_with_a_code() {
    let hub = hub().await;
    let answer = ask(&hub, json!({"query": {}})).await;
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!("INVALID_REQUEST")), "{}", answer.text());
    let answer = ask(&hub, nested("recipes", json!({"query": {"text": "x", "site": "nobody"}}))).await;
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (404, &json!("NOT_FOUND")), "{}", answer.text());
    let answer = send(&hub, Method::PUT, "/ask", &[], None).await;
    assert_eq!(answer.status, 405);
    let answer = hub.post_json("/await", &json!({"promise_token": "forged", "action": "checkin"})).await;
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (404, &json!("NOT_FOUND")), "{}", answer.text());
    let answer = hub.post_json("/await", &json!({"promise_token": "x"})).await;
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (400, &json!("MISSING_FIELD")));
}

#[tokio::test]
async fn q_24_q_64_a_missing_slot_is_an_elicitation_and_its_token_brings_the_answer() {
    let hub = hub().await;
    let said = ask(&hub, nested("recipes", json!({}))).await.json();
    assert_eq!(said["_meta"]["response_type"], "elicitation", "{said}");
    assert_eq!(said["elicitation"]["questions"][0]["id"], "what", "{said}");
    let session = said["_meta"]["session_context"].clone();
    let said = ask(&hub, nested("leek", json!({"meta": {"session_context": session}}))).await.json();
    assert_eq!(said["results"][0]["name"], "Soup", "{said}");
}

#[tokio::test]
async fn q_24_q_25_q_43_q_64_a_long_run_is_promised_looked_after_and_cancelled() {
    let hub = hub().await;
    let answer = ask(&hub, nested("think about it", json!({}))).await;
    assert_eq!(answer.status, 202, "{}", answer.text());
    let token = answer.json()["promise"]["token"].clone();
    let look = async |action: &str| hub.post_json("/await", &json!({"promise_token": token, "action": action})).await;
    until("the answer", async || look("checkin").await.json()["_meta"]["response_type"] == "answer").await;
    assert_eq!(look("checkin").await.json()["results"][0]["name"], "deep");
    // What takes less than two seconds is not promised.
    let answer = ask(&hub, nested("think quickly", json!({}))).await;
    assert_eq!((answer.status, &answer.json()["results"][0]["name"]), (200, &json!("shallow")), "{}", answer.text());

    let answer = ask(&hub, nested("think about it", json!({}))).await.json();
    let token = answer["promise"]["token"].clone();
    let cancelled = hub.post_json("/await", &json!({"promise_token": token, "action": "cancel"})).await.json();
    assert_eq!(cancelled["error"]["code"], "CANCELLED", "{cancelled}");
}

#[tokio::test]
async fn q_24_q_25_q_64_what_was_answered_is_not_asked_again_by_whoever_looks_after_the_promise() {
    let hub = hub().await;
    let promised = async || {
        let said = ask(&hub, nested("ponder", json!({}))).await.json();
        assert_eq!(said["elicitation"]["questions"][0]["id"], "what", "{said}");
        let session = said["_meta"]["session_context"].clone();
        let said = ask(&hub, nested("life", json!({"meta": {"session_context": session}}))).await.json();
        assert_eq!(said["_meta"]["response_type"], "promise", "{said}");
        said["promise"]["token"].clone()
    };
    let token = promised().await;
    let mut said = json!({"_meta": {"response_type": "promise"}});
    while said["_meta"]["response_type"] == "promise" {
        said = hub.post_json("/await", &json!({"promise_token": token, "action": "checkin"})).await.json();
    }
    assert_eq!(said["results"][0]["name"], "deep", "{said}");

    let token = promised().await;
    let said = hub.post_json("/await", &json!({"promise_token": token, "action": "cancel"})).await.json();
    assert_eq!(said["error"]["code"], "CANCELLED", "{said}");
}

#[tokio::test]
async fn q_11_q_63_sites_are_peers_and_who_fits_is_told() {
    let hub = hub().await;
    let sites = hub.get("/sites").await.json();
    assert_eq!(sites["message-type"], "sites");
    assert!(sites["sites"].as_array().unwrap().contains(&json!("local")), "{sites}");
    let who = hub.get("/who?query=recipes").await.json();
    assert_eq!(who["results"][0]["site"], "local", "{who}");
    let one = hub.post_json("/agents/local/ask", &nested("recipes with leek", json!({}))).await.json();
    assert_eq!(one["results"][0]["site"], "local", "{one}");
}

fn item() -> Value {
    json!({"url": "https://s.example/1", "name": "Snack", "site": "s", "score": 80, "description": "d"})
}

/// A hub that asks this site.
async fn asking(site: &Scripted) -> Hub {
    let yaml = format!("peers: {{ snacks: {{ nlweb: {{ url: \"http://{}/ask\" }} }} }}\n", site.address());
    builder().config(&yaml).start().await
}

async fn asked(hub: &Hub) -> Value {
    hub.post_json("/api/exchanges", &json!({"skill": "snacks/ask", "arguments": {"query": "spicy snacks"}}))
        .await
        .json()
}

#[tokio::test]
async fn q_50_q_52_a_site_of_the_last_version_is_asked_once() {
    let site = Scripted::http(move |heard, _| {
        let body = heard.json();
        assert_eq!((&body["query"]["text"], &body["meta"]["api_version"]), (&json!("spicy snacks"), &json!("0.55")));
        Say::Json(json!({"_meta": {"version": "0.55", "response_type": "answer"}, "results": [item(), {"@type": "SearchSummary", "text": "One."}]}))
    })
    .await;
    let hub = asking(&site).await;
    for _ in 0..2 {
        let answer = asked(&hub).await;
        assert_eq!(answer["finished"]["structured"]["results"], json!([item()]), "{answer}");
    }
    assert_eq!(site.heard().iter().filter(|heard| heard.method == Method::POST).count(), 2);
}

#[tokio::test]
async fn q_24_q_25_a_promise_of_a_site_is_looked_after() {
    let site = Scripted::http(move |heard, _| match heard.path.as_str() {
        "/await" => Say::Json(json!({"_meta": {"response_type": "answer"}, "results": [item()]})),
        _ => Say::Status(
            202,
            Vec::new(),
            json!({"_meta": {"response_type": "promise"}, "promise": {"token": "t", "estimated_time": 0}}),
        ),
    })
    .await;
    let hub = asking(&site).await;
    let answer = asked(&hub).await;
    assert_eq!(answer["finished"]["structured"]["results"], json!([item()]), "{answer}");
    assert!(site.heard().iter().any(|heard| heard.path == "/await" && heard.json()["promise_token"] == "t"));
}

#[tokio::test]
async fn q_23_q_44_failures_and_limits_of_a_site_are_told() {
    let site = Scripted::http(|_, _| {
        Say::Json(json!({"_meta": {"response_type": "failure"}, "error": {"code": "NO_INDEX", "message": "no index"}}))
    })
    .await;
    let answer = asked(&asking(&site).await).await;
    assert!(answer.to_string().contains("no index"), "{answer}");
    let site = Scripted::http(|_, _| Say::Status(429, vec![("retry-after", "7".into())], json!({}))).await;
    let answer = asked(&asking(&site).await).await;
    assert!(answer.to_string().contains("busy"), "{answer}");
}

#[tokio::test]
async fn q_22_q_23_q_28_the_reference_server_is_asked_through_the_hub() {
    let root = interlingua_testkit::root();
    let site = Peer::listening(|address| {
        let mut command = std::process::Command::new(root.join(".tools/python/nlweb/bin/python"));
        command.arg(root.join("conformance/nlweb/server.py")).arg(address.port().to_string());
        command
    })
    .await;
    let yaml = format!("peers: {{ recipes: {{ nlweb: {{ url: \"http://{}/ask\" }} }} }}\n", site.address());
    let hub = builder().config(&yaml).start().await;
    let call = json!({"skill": "recipes/ask", "arguments": {"query": "soup"}});
    let answer = hub.post_json("/api/exchanges", &call).await.json();
    let results = answer["finished"]["structured"]["results"].as_array().cloned().unwrap_or_default();
    let names: Vec<&str> = results.iter().filter_map(|item| item["name"].as_str()).collect();
    assert_eq!(names, ["Leek soup", "Spicy lentil soup"], "{answer}");
    // And asked like a site itself, in the words of the first generation.
    let said = hub.get("/ask?query=soup&site=recipes&streaming=false").await.json();
    assert_eq!(said["results"][0]["name"], "Leek soup", "{said}");
}
