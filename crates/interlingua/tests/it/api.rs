//! `/api` as a program sees it: calls, tasks, events, confirmations, pages, and visibility.

use http::Method;
use interlingua_testkit::Hub;
use serde_json::{Value, json};

use crate::support::{events, hub, reaches, send, start, streaming};

const SSE: (&str, &str) = ("accept", "text/event-stream");

/// A page of this hub in a browser: nobody's token, so nobody.
fn browser(hub: &Hub) -> [(&'static str, String); 1] {
    [("origin", hub.url(""))]
}

async fn as_browser(hub: &Hub, method: Method, path: &str, body: Option<Value>) -> interlingua_testkit::Answer {
    let headers = browser(hub);
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    send(hub, method, path, &headers, body).await
}

#[tokio::test]
async fn every_operation_that_is_described_is_served() {
    let hub = hub("").await;
    let description = hub.get("/api/openapi.json").await.json();
    assert_eq!(description["openapi"], "3.1.0");
    let mut operations = 0;
    for (path, methods) in description["paths"].as_object().expect("paths") {
        for method in methods.as_object().expect("methods").keys() {
            let path = path.replace("{id}", "0123456789abcdef0123456789abcdef");
            let method: Method = method.to_uppercase().parse().expect("a method");
            let body = (method == Method::POST || method == Method::PUT).then(|| json!({}));
            let answer = send(&hub, method.clone(), &path, &[], body).await;
            assert_ne!(answer.status, 405, "{method} {path}");
            assert!(!answer.text().contains("there is nothing at this path"), "{method} {path}");
            assert!(answer.status < 500, "{method} {path}: {}", answer.text());
            operations += 1;
        }
    }
    assert!(operations >= 15, "{operations}");
}

#[tokio::test]
async fn a_call_is_answered_whole_and_its_conversation_goes_on() {
    let hub = hub("").await;
    let first = hub.post_json("/api/exchanges", &json!({"skill": "local/steps"})).await;
    assert_eq!(first.status, 200, "{}", first.text());
    let view = first.json();
    assert_eq!(view["state"], "completed");
    assert_eq!(view["finished"]["structured"], json!({"counted": 2}));
    assert_eq!(view["route"]["skill"], "local/steps");
    assert_eq!(view.get("task"), None, "nothing is kept that need not be");
    let token = view["conversation"].as_str().expect("a conversation");
    assert_eq!(first.header("interlingua-conversation"), Some(token));

    assert_eq!(hub.get("/api/conversations").await.json()["items"], json!([]), "it costs nothing until it goes on");
    let again = hub.post_json("/api/exchanges", &json!({"words": "echo hi", "conversation": token})).await;
    assert_eq!(again.json()["finished"]["parts"][0]["text"], "hi", "{}", again.text());
    let kept = hub.get("/api/conversations").await.json();
    let id = kept["items"][0]["id"].as_str().expect("an id");
    assert_eq!(kept["items"][0]["turn"], 1);
    for (path, status) in [(id, 204), (id, 404), ("nonsense", 404)] {
        let answer = send(&hub, Method::DELETE, &format!("/api/conversations/{path}"), &[], None).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.text());
    }
    let forged = hub.post_json("/api/exchanges", &json!({"words": "echo hi", "conversation": "forged.00"})).await;
    assert_eq!(forged.status, 404);
}

#[tokio::test]
async fn events_come_in_order_and_are_resumed_after_the_last_one_seen() {
    let hub = hub("").await;
    let answer = send(&hub, Method::POST, "/api/exchanges", &[SSE], Some(json!({"skill": "local/steps"}))).await;
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    let names: Vec<String> = events(&answer.text()).into_iter().map(|(name, ..)| name).collect();
    assert_eq!(names, ["started", "progress", "progress", "finished"], "{}", answer.text());

    let task = start(&hub, json!({"skill": "local/steps"})).await;
    let finished = reaches(&hub, &task, "completed").await;
    let path = format!("/api/tasks/{task}/events");
    let all = events(&send(&hub, Method::GET, &path, &[SSE], None).await.text());
    // Progress that nobody waited for is told once, by its latest.
    let names: Vec<&str> = all.iter().map(|(name, ..)| name.as_str()).collect();
    assert!(
        ["started", "progress"].iter().zip(&names).all(|(a, b)| a == b) && names.last() == Some(&"finished"),
        "{names:?}"
    );
    assert_eq!(all.last().map(|(_, id, _)| id.as_str()), Some(finished["seq"].to_string().as_str()));
    let rest = send(&hub, Method::GET, &path, &[SSE, ("last-event-id", &all[0].1)], None).await;
    assert_eq!(events(&rest.text()), all[1..], "exactly what was not seen");
    // The same as pages.
    let first = hub.get(&format!("{path}?limit=3")).await.json();
    let next = first["next"].as_str().expect("there is more");
    let second = hub.get(&format!("{path}?after={next}")).await.json();
    let seen: Vec<&Value> = [&first, &second].iter().flat_map(|page| page["items"].as_array()).flatten().collect();
    assert_eq!(seen.iter().map(|event| event["event"].as_str().unwrap_or_default()).collect::<Vec<_>>(), names);
}

#[tokio::test]
async fn a_question_ends_the_callers_stream_and_the_task_waits_for_its_yes() {
    let hub = hub("").await;
    let call = json!({"skill": "local/erase", "arguments": {"what": "all"}});
    let answer = send(&hub, Method::POST, "/api/exchanges", &[SSE], Some(call.clone())).await;
    let seen = events(&answer.text());
    let (name, last, question) = seen.last().expect("events");
    assert_eq!(name, "asked", "{seen:?}");
    assert_eq!(question["confirm"]["arguments"], json!({"what": "all"}));
    let task = question["task"].as_str().expect("a task");
    assert_eq!(answer.header("location"), Some(format!("/api/tasks/{task}").as_str()));
    let id = question["id"].as_str().expect("an id");

    let path = format!("/api/tasks/{task}/events");
    let (_connection, mut watching) = streaming(&hub, Method::GET, &path, &[("last-event-id", last)], None).await;
    assert_eq!(hub.get("/api/confirmations").await.json()["items"][0]["id"], id);
    let decided = hub.post_json(&format!("/api/confirmations/{id}"), &json!({"approve": true})).await;
    assert_eq!(decided.status, 200, "{}", decided.text());
    let mut told = Vec::new();
    while let Some(data) = watching.next().await {
        told.push(serde_json::from_str::<Value>(&data).expect("JSON"));
    }
    assert_eq!(told[0]["how"], "answered", "{told:?}");
    assert_eq!(told.last().map(|event| &event["structured"]), Some(&json!({"erased": true})));
    assert_eq!(hub.get("/api/confirmations").await.json()["items"], json!([]));
    let twice = hub.post_json(&format!("/api/confirmations/{id}"), &json!({"approve": true})).await;
    assert_eq!(twice.status, 409, "an approval counts once: {}", twice.text());

    let waiting = hub.post_json("/api/exchanges", &call).await.json();
    assert_eq!(waiting["state"], "waiting");
    let question = waiting["questions"][0]["id"].as_str().expect("a question");
    let task = waiting["task"].as_str().expect("kept");
    let no = json!({"answer": {"question": question, "approve": false}});
    let denied = hub.post_json(&format!("/api/tasks/{task}/signals"), &no).await;
    assert_eq!(denied.status, 202, "{}", denied.text());
    reaches(&hub, task, "failed").await;
}

#[tokio::test]
async fn leaving_cancels_an_exchange_and_not_a_task() {
    let hub = hub("").await;
    let headers = [("idempotency-key", "one")];
    let call = Some(json!({"skill": "local/slow"}));
    let (connection, mut stream) = streaming(&hub, Method::POST, "/api/exchanges", &headers, call).await;
    while !stream.next().await.expect("it has begun").contains("begun") {}
    let listed = hub.get("/api/tasks?state=running").await.json();
    let left = listed["items"][0]["id"].as_str().expect("a key keeps it").to_owned();
    let detached = start(&hub, json!({"skill": "local/slow"})).await;
    drop((stream, connection));
    let gone = reaches(&hub, &left, "cancelled").await;
    assert_eq!(gone["finished"]["cancelled_why"], "disconnected");
    assert_eq!(reaches(&hub, &detached, "running").await["id"], detached.as_str());
    for status in [204, 409] {
        let answer = send(&hub, Method::DELETE, &format!("/api/tasks/{detached}"), &[], None).await;
        assert_eq!(answer.status, status, "{}", answer.text());
        reaches(&hub, &detached, "cancelled").await;
    }
}

#[tokio::test]
async fn an_idempotency_key_replays_the_same_body_and_refuses_another() {
    let hub = hub("").await;
    let key = [("idempotency-key", "order-7")];
    let body = json!({"skill": "local/steps", "arguments": {}});
    let first = send(&hub, Method::POST, "/api/tasks", &key, Some(body.clone())).await.json();
    let second = send(&hub, Method::POST, "/api/tasks", &key, Some(body.clone())).await.json();
    assert_eq!(first["id"], second["id"]);
    let other_key = [("idempotency-key", "order-8")];
    let third = send(&hub, Method::POST, "/api/tasks", &other_key, Some(body)).await.json();
    assert_ne!(first["id"], third["id"]);
    let other = Some(json!({"skill": "local/fails"}));
    let conflict = send(&hub, Method::POST, "/api/tasks", &key, other).await;
    assert_eq!((conflict.status, &conflict.json()["error"]["kind"]), (409, &json!("conflict")));
    assert_eq!(hub.get("/api/tasks").await.json()["items"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn lists_page_by_cursor_without_gap_or_repetition() {
    let hub = hub("").await;
    let mut started = Vec::new();
    for _ in 0..5 {
        started.push(start(&hub, json!({"skill": "local/steps"})).await);
    }
    let mut seen = Vec::new();
    let mut path = "/api/tasks?limit=2".to_owned();
    loop {
        let page = hub.get(&path).await.json();
        let items = page["items"].as_array().expect("items");
        assert!(items.len() <= 2);
        seen.extend(items.iter().map(|task| task["id"].as_str().expect("an id").to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/api/tasks?limit=2&after={next}");
    }
    started.sort();
    seen.sort();
    assert_eq!(seen, started);
    let skills = hub.get("/api/skills?limit=200").await.json();
    let one = hub.get("/api/skills?limit=1").await.json();
    let two = hub.get(&format!("/api/skills?limit=1&after={}", one["next"].as_str().expect("more"))).await.json();
    assert_eq!(
        [&one["items"][0]["id"], &two["items"][0]["id"]],
        [&skills["items"][0]["id"], &skills["items"][1]["id"]]
    );
    let found = hub.get("/api/skills?query=erases").await.json();
    assert_eq!(found["items"][0]["id"], "local/erase", "{found}");
    assert_eq!(hub.get("/api/tasks?after=nonsense").await.status, 422);
}

#[tokio::test]
async fn anonymous_callers_list_nothing_and_find_their_task_by_its_id_alone() {
    let hub = hub("").await;
    let owned = start(&hub, json!({"skill": "local/steps"})).await;
    reaches(&hub, &owned, "completed").await;
    for path in ["/api/tasks", "/api/conversations", "/api/confirmations"] {
        assert_eq!(as_browser(&hub, Method::GET, path, None).await.json()["items"], json!([]), "{path}");
    }
    assert_eq!(as_browser(&hub, Method::GET, "/api/audit", None).await.status, 403);
    let skills = as_browser(&hub, Method::GET, "/api/skills", None).await.json();
    assert!(skills["items"].as_array().is_some_and(|skills| skills.iter().all(|skill| skill["public"] == true)));
    let call = Some(json!({"skill": "local/steps"}));
    let hidden = as_browser(&hub, Method::POST, "/api/exchanges", call).await;
    assert_eq!((hidden.status, &hidden.json()["error"]["kind"]), (404, &json!("not_found")));
    assert_eq!(as_browser(&hub, Method::GET, &format!("/api/tasks/{owned}"), None).await.status, 404);
    let own = as_browser(&hub, Method::POST, "/api/tasks", Some(json!({"skill": "hub/help"}))).await.json();
    let own = own["id"].as_str().expect("an id");
    assert_eq!(as_browser(&hub, Method::GET, &format!("/api/tasks/{own}"), None).await.status, 200);
}

#[tokio::test]
async fn a_token_opens_what_its_scopes_say_and_only_an_approver_says_yes() {
    let yaml = "access:\n  tokens:\n    - { name: ana, token: ana-token, skills: [\"local/*\"] }\n    - { name: boss, token: boss-token, skills: [], approve: true }\n";
    let hub = hub(yaml).await;
    let (ana, boss) = ([("authorization", "Bearer ana-token")], [("authorization", "Bearer boss-token")]);
    let peers = send(&hub, Method::GET, "/api/peers", &ana, None).await.json();
    assert!(peers["items"].as_array().is_some_and(|peers| peers.iter().any(|peer| peer["name"] == "local")), "{peers}");
    let call = json!({"skill": "local/erase", "arguments": {"what": "x"}});
    let waiting = send(&hub, Method::POST, "/api/tasks", &ana, Some(call)).await.json();
    let (task, question) =
        (waiting["id"].as_str().expect("an id"), waiting["questions"][0]["id"].as_str().expect("asked"));
    assert_eq!(waiting["owner"], "user:ana");
    assert_eq!(waiting["questions"][0]["to"], "approvers");
    let path = format!("/api/confirmations/{question}");
    let yes = Some(json!({"approve": true}));
    assert_eq!(send(&hub, Method::POST, &path, &ana, yes.clone()).await.status, 403, "not hers to decide");
    let own = json!({"answer": {"question": question, "approve": true}});
    let forced = send(&hub, Method::POST, &format!("/api/tasks/{task}/signals"), &ana, Some(own)).await;
    assert_eq!(forced.status, 403, "{}", forced.text());
    assert_eq!(send(&hub, Method::GET, &format!("/api/tasks/{task}"), &boss, None).await.status, 404, "not his task");
    let decided = send(&hub, Method::POST, &path, &boss, yes).await;
    assert_eq!((decided.status, &decided.json()["id"]), (200, &json!(task)), "{}", decided.text());
    reaches(&hub, task, "completed").await;
    let audit = hub.get("/api/audit?limit=200").await.json();
    let who: Vec<&str> =
        audit["items"].as_array().expect("lines").iter().filter_map(|line| line["who"].as_str()).collect();
    assert!(who.contains(&"user:ana") && who.contains(&"user:boss"), "{who:?}");
    let wrong = send(&hub, Method::GET, "/api/peers", &[("authorization", "Bearer nonsense")], None).await;
    assert_eq!((wrong.status, wrong.header("www-authenticate")), (401, Some("Bearer")));
}

#[tokio::test]
async fn what_is_wrong_is_said_in_one_form() {
    let hub = hub("").await;
    let cases = [
        ("{", 400, "malformed"),
        ("{\"skill\":\"local/steps\",\"skill\":\"local/erase\"}", 400, "malformed"),
        ("{\"skil\":\"a/b\"}", 422, "invalid_input"),
        ("{}", 422, "invalid_input"),
        ("{\"skill\":\"a/b\",\"words\":\"c\"}", 422, "invalid_input"),
        ("{\"skill\":\"local/steps\",\"priority\":10}", 422, "invalid_input"),
        ("{\"skill\":\"local/none\"}", 404, "not_found"),
        ("{\"skill\":\"local/erase\",\"arguments\":{}}", 422, "invalid_input"),
        ("{\"skill\":\"local/erase\",\"arguments\":{\"what\":7}}", 422, "invalid_input"),
    ];
    for (body, status, kind) in cases {
        let answer = hub.post("/api/exchanges", "application/json", body).await;
        assert_eq!((answer.status, &answer.json()["error"]["kind"]), (status, &json!(kind)), "{body}");
    }
    let wrong = hub.post("/api/exchanges", "application/json", cases[8].0).await.json();
    assert_eq!(wrong["error"]["fields"][0]["path"], "/what", "{wrong}");
    let method = send(&hub, Method::PUT, "/api/tasks", &[], None).await;
    assert_eq!((method.status, method.header("allow")), (405, Some("GET,HEAD,POST")));
    let failed = hub.post_json("/api/exchanges", &json!({"skill": "local/fails"})).await;
    assert_eq!(failed.status, 200, "an exchange that ran and failed is an outcome");
    assert_eq!(failed.json()["finished"]["fault"]["kind"], "peer_failed", "{}", failed.text());
    let late = hub.post_json("/api/exchanges", &json!({"skill": "local/slow", "deadline": "300ms"})).await.json();
    assert_eq!(late["finished"]["fault"]["exit_code"], 6, "{late}");
}
