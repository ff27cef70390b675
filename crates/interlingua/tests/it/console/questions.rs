//! `/api/questions`: what is listed and to whom, and a decision that is bound to the call that was shown.

use http::Method;
use interlingua_testkit::{Answer, Hub};
use serde_json::{Value, json};

use super::{Browser, OWN, ask, owners, signed_in};
use crate::support::{self, reaches, until};

const TOKENS: &str = "
- { name: ann, token: ann-token }
- { name: bob, token: bob-token }
- { name: boss, token: boss-token, approve: true }
";

/// Words lead to it without what it needs.
const ERASE: &str = r#"
name: erase
description: Erases something.
phrases: { en: ["erase something"] }
input: { type: object, properties: { what: { type: string } }, required: [what] }
effects: { destroys: true }
command: [sh, -c, 'read -r line; echo "$line" >> DONE; echo "{\"erased\":true}"']
"#;

async fn hub(yaml: &str) -> Hub {
    let builder = support::builder();
    let erase = ERASE.replace("DONE", &builder.directory().join("erased").display().to_string());
    let builder = builder.file("tools/erase.yaml", erase).file("tokens.yaml", TOKENS);
    let yaml = format!("tools: {{ directory: ./tools }}\naccess: {{ tokens: file:./tokens.yaml }}\n{yaml}");
    builder.config(&yaml).start().await
}

fn erased(hub: &Hub) -> usize {
    std::fs::read_to_string(hub.directory().join("erased")).unwrap_or_default().lines().count()
}

async fn by(hub: &Hub, who: &str, method: Method, path: &str, body: Option<Value>) -> Answer {
    ask(hub, method, path, &[("authorization", &format!("Bearer {who}-token"))], body).await
}

/// A call of theirs that waits for an approval: the id of its question.
async fn waiting(hub: &Hub, who: &str, arguments: Value) -> String {
    let asked = json!({"skill": "local/erase", "arguments": arguments});
    let started = by(hub, who, Method::POST, "/api/tasks", Some(asked)).await;
    assert_eq!(started.status, 202, "{}", started.text());
    let task = started.json()["id"].as_str().expect("an id").to_owned();
    reaches(hub, &task, "waiting").await;
    format!("{task}.0")
}

async fn boss(hub: &Hub) -> Browser {
    signed_in(hub, json!({"token": "boss-token", "as": "user:boss"})).await
}

async fn listed(hub: &Hub, who: &str) -> Vec<Value> {
    by(hub, who, Method::GET, "/api/questions", None).await.json()["items"].as_array().expect("items").clone()
}

#[tokio::test]
async fn questions_of_every_kind_are_listed_without_content_and_read_one_by_one() {
    let hub = hub("").await;
    let long = "x".repeat(10_000);
    let approval = waiting(&hub, "ann", json!({"what": long})).await;
    let words = by(&hub, "bob", Method::POST, "/api/tasks", Some(json!({"words": "erase something"}))).await.json();
    let task = words["id"].as_str().expect("an id").to_owned();
    reaches(&hub, &task, "waiting").await;
    let open = listed(&hub, "boss").await;
    assert_eq!(open.iter().map(|item| &item["id"]).collect::<Vec<_>>(), [&json!(approval)], "approvals alone");
    assert_eq!(
        (&open[0]["kind"], &open[0]["owner"], &open[0]["confirm"]["skill"], &open[0]["confirm"]["effects"]["destroys"]),
        (&json!("confirm"), &json!("user:ann"), &json!("local/erase"), &json!(true))
    );
    assert_eq!(open[0]["chain"], json!([{"subject": "user:ann", "proof": "token"}]));
    assert!(open[0]["confirm"].get("arguments").is_none(), "a row has no arguments: {}", open[0]);
    assert!(open[0].to_string().len() < 2_000, "whatever the arguments are: {}", open[0]);
    let own = listed(&hub, "bob").await;
    assert_eq!((own.len(), &own[0]["kind"], own[0].get("form")), (1, &json!("input"), None), "{own:?}");
    assert!(listed(&hub, "ann").await.is_empty(), "she may not approve her own call");
    let all = hub.get("/api/questions").await.json();
    assert_eq!(all["items"].as_array().map(Vec::len), Some(2), "the Owner may answer both: {all}");
    let page = hub.get("/api/questions?limit=1").await.json();
    let next = format!("/api/questions?limit=1&after={}", page["next"].as_str().expect("a cursor"));
    assert_ne!(hub.get(&next).await.json()["items"][0]["id"], page["items"][0]["id"]);
    assert_eq!(hub.get("/api/questions?after=none").await.status, 422);
    let whole = by(&hub, "boss", Method::GET, &format!("/api/questions/{approval}"), None).await.json();
    assert_eq!(whole["confirm"]["arguments"]["what"], json!(long));
    let form = by(&hub, "bob", Method::GET, &format!("/api/questions/{task}.0"), None).await.json();
    assert_eq!(form["form"]["properties"]["what"]["type"], "string", "{form}");
}

#[tokio::test]
async fn a_question_that_is_over_says_how_and_by_whom_to_those_it_concerned() {
    let hub = hub("").await;
    let denied = waiting(&hub, "ann", json!({"what": "a"})).await;
    let path = format!("/api/questions/{denied}/settled");
    let still = by(&hub, "boss", Method::GET, &path, None).await;
    assert_eq!((still.status, &still.json()["error"]["kind"]), (409, &json!("conflict")), "{}", still.text());
    let no =
        by(&hub, "boss", Method::POST, &format!("/api/confirmations/{denied}"), Some(json!({"approve": false}))).await;
    assert_eq!(no.status, 200, "{}", no.text());
    for who in ["boss", "ann"] {
        let seen = by(&hub, who, Method::GET, &path, None).await.json();
        assert_eq!(
            (&seen["how"], &seen["decided_by"], &seen["granted"]),
            (&json!("declined"), &json!("user:boss"), &json!(false)),
            "{who}: {seen}"
        );
        assert!(seen["at"].as_str().is_some_and(|at| at.starts_with("20")), "{seen}");
        assert!(!seen.to_string().contains("what"), "what was asked is in the task, for its owner: {seen}");
    }
    let other = by(&hub, "bob", Method::GET, &path, None).await;
    let never = by(&hub, "bob", Method::GET, &format!("/api/questions/{}.0/settled", "0".repeat(32)), None).await;
    assert_eq!((other.status, other.text()), (404, never.text()), "as one that never was");
    let read = by(&hub, "boss", Method::GET, &format!("/api/questions/{denied}"), None).await;
    assert!(read.status == 409 && read.text().contains("user:boss denied it"), "{}", read.text());
}

#[tokio::test]
async fn v_25_a_session_approves_exactly_the_call_that_was_shown() {
    let hub = hub("").await;
    let browser = boss(&hub).await;
    let shown = waiting(&hub, "ann", json!({"what": "a note"})).await;
    let question = browser.ask(&hub, Method::GET, &format!("/api/questions/{shown}"), None).await.json();
    let path = format!("/api/confirmations/{shown}");
    let unbound = browser.ask(&hub, Method::POST, &path, Some(json!({"approve": true}))).await;
    assert_eq!(
        (unbound.status, &unbound.json()["error"]["fields"][0]["path"]),
        (422, &json!("/call")),
        "{}",
        unbound.text()
    );
    let other = json!({"approve": true, "call": "0".repeat(64)});
    let refused = browser.ask(&hub, Method::POST, &path, Some(other)).await;
    assert_eq!((refused.status, &refused.json()["error"]["kind"]), (409, &json!("conflict")), "{}", refused.text());
    assert_eq!(erased(&hub), 0);
    let yes = json!({"approve": true, "call": question["call"]});
    assert_eq!(browser.ask(&hub, Method::POST, &path, Some(yes.clone())).await.status, 200);
    reaches(&hub, question["task"].as_str().expect("a task"), "completed").await;
    let again = browser.ask(&hub, Method::POST, &path, Some(yes)).await;
    assert!(again.status == 409 && again.text().contains("already decided"), "{}", again.text());
    assert_eq!(erased(&hub), 1, "and it ran once");
}

/// The caller withdraws what was shown and asks for something else in its place.
#[tokio::test]
async fn attack_arguments_that_changed_after_they_were_shown_are_not_approved() {
    let hub = hub("").await;
    let browser = boss(&hub).await;
    let shown = waiting(&hub, "ann", json!({"what": "a note"})).await;
    let question = browser.ask(&hub, Method::GET, &format!("/api/questions/{shown}"), None).await.json();
    let task = question["task"].as_str().expect("a task").to_owned();
    assert_eq!(by(&hub, "ann", Method::DELETE, &format!("/api/tasks/{task}"), None).await.status, 204);
    reaches(&hub, &task, "cancelled").await;
    let swapped = waiting(&hub, "ann", json!({"what": "everything"})).await;
    let yes = json!({"approve": true, "call": question["call"]});
    let late = browser.ask(&hub, Method::POST, &format!("/api/confirmations/{shown}"), Some(yes.clone())).await;
    assert!([404, 409].contains(&late.status), "it is not open any more: {} {}", late.status, late.text());
    let other = browser.ask(&hub, Method::POST, &format!("/api/confirmations/{swapped}"), Some(yes)).await;
    assert_eq!((other.status, &other.json()["error"]["kind"]), (409, &json!("conflict")), "{}", other.text());
    // The way around it by a signal is closed to a browser, too.
    let (task, _) = swapped.split_once('.').expect("a task and a number");
    for said in [json!({"question": swapped, "approve": true}), json!({"question": swapped, "text": "yes"})] {
        let signal = json!({"answer": said});
        let around = browser.ask(&hub, Method::POST, &format!("/api/tasks/{task}/signals"), Some(signal)).await;
        assert_eq!(around.status, 422, "{}", around.text());
    }
    assert_eq!(erased(&hub), 0);
    let no = json!({"approve": false});
    assert_eq!(browser.ask(&hub, Method::POST, &format!("/api/confirmations/{swapped}"), Some(no)).await.status, 200);
}

#[tokio::test]
async fn attack_a_question_is_read_and_decided_by_nobody_else() {
    let hub = hub("").await;
    let shown = waiting(&hub, "ann", json!({"what": "secret-word"})).await;
    let browser = boss(&hub).await;
    let call = browser.ask(&hub, Method::GET, &format!("/api/questions/{shown}"), None).await.json()["call"].clone();
    let yes = json!({"approve": true, "call": call});
    let decide = format!("/api/confirmations/{shown}");
    let (cookie, key) = (("cookie", browser.cookie.as_str()), ("interlingua-console", browser.key.as_str()));
    let port = format!("http://127.0.0.1:{}", hub.address().port() ^ 1);
    let foreign: [(&str, Vec<(&str, &str)>); 6] = [
        ("nobody", vec![OWN]),
        ("the cookie alone", vec![cookie, OWN]),
        ("the key alone", vec![key, OWN]),
        (
            "a page of another site",
            vec![cookie, key, ("origin", "http://evil.example"), ("sec-fetch-site", "cross-site")],
        ),
        ("a page on another port", vec![cookie, key, ("origin", &port), ("sec-fetch-site", "same-site")]),
        ("what does not say where it is from", vec![cookie, key]),
    ];
    for (who, headers) in &foreign {
        let decided = ask(&hub, Method::POST, &decide, headers, Some(yes.clone())).await;
        assert!([401, 403, 404].contains(&decided.status), "{who}: {} {}", decided.status, decided.text());
        if *who != "what does not say where it is from" {
            for path in [
                "/api/questions".to_owned(),
                format!("/api/questions/{shown}"),
                format!("/api/questions/{shown}/settled"),
            ] {
                let read = ask(&hub, Method::GET, &path, headers, None).await.text();
                assert!(!read.contains("secret-word") && !read.contains("user:ann"), "{who} {path}: {read}");
            }
        }
    }
    // Another caller, and a session of another caller.
    let bobs = signed_in(&hub, json!({"token": "bob-token", "as": "user:bob"})).await;
    let answer = bobs.ask(&hub, Method::POST, &decide, Some(yes)).await;
    assert_eq!(answer.status, 404, "{}", answer.text());
    assert_eq!(bobs.ask(&hub, Method::GET, "/api/questions", None).await.json()["items"], json!([]));
    assert_eq!(erased(&hub), 0);
    let still = browser.ask(&hub, Method::GET, "/api/questions", None).await.json();
    assert_eq!(still["items"][0]["id"], json!(shown), "it is still open: {still}");
}

/// A rule can forbid approvals from browsers; then they do not see what they could not decide.
#[tokio::test]
async fn a_rule_forbids_approvals_from_a_browser() {
    let rules = "permit (principal, action in Action::\"use\", resource);\n\
        permit (principal == User::\"boss\", action == Action::\"approve\", resource);\n\
        forbid (principal, action == Action::\"approve\", resource) when { principal.proof == \"console\" };\n";
    let builder = support::builder().file("tokens.yaml", TOKENS).file("rules.cedar", rules);
    let yaml = "tools: { directory: ./tools }\naccess: { tokens: file:./tokens.yaml, policy: ./rules.cedar }\n";
    let hub = builder.config(yaml).start().await;
    let shown = waiting(&hub, "ann", json!({"what": "a"})).await;
    assert_eq!(listed(&hub, "boss").await.len(), 1, "by its token it sees the call");
    let browser = boss(&hub).await;
    let open = browser.ask(&hub, Method::GET, "/api/questions", None).await.json();
    assert_eq!(open["items"], json!([]));
    let yes = json!({"approve": true, "call": "0".repeat(64)});
    let refused = browser.ask(&hub, Method::POST, &format!("/api/confirmations/{shown}"), Some(yes)).await;
    assert_eq!(refused.status, 404, "{}", refused.text());
}

/// A task of an anonymous caller is found by its id alone: others are anonymous, too.
#[tokio::test]
async fn attack_an_anonymous_caller_lists_no_questions_of_others() {
    const LINES: &str = "replies:\n  - { when: look, again: true, say: 'I look. ', call: [{ name: look, arguments: { at: secret-desk } }] }\n";
    let config = "models: { canned: { provider: scripted, file: ./lines.yaml } }\n\
                  agents: { ann: { model: canned, public: true } }\n";
    let hub = support::builder().file("lines.yaml", LINES).config(config).start().await;
    let schema = json!({"type": "object", "properties": {"at": {"type": "string"}}});
    let tools = json!([{"name": "look", "description": "Looks.", "schema": schema}]);
    let body = json!({"skill": "ann/chat", "text": "look around", "tools": tools});
    let started = ask(&hub, Method::POST, "/api/tasks", &[OWN], Some(body)).await;
    assert_eq!(started.status, 202, "{}", started.text());
    let task = started.json()["id"].as_str().expect("an id").to_owned();
    until("the question", async || hub.get("/api/questions").await.text().contains("look")).await;
    for path in ["/api/questions", "/api/confirmations"] {
        let listed = ask(&hub, Method::GET, path, &[OWN], None).await;
        assert_eq!(listed.json()["items"], json!([]), "{path}: {}", listed.text());
    }
    let own = ask(&hub, Method::GET, &format!("/api/questions/{task}.0"), &[OWN], None).await;
    assert_eq!((own.status, &own.json()["tool"]), (200, &json!("look")), "by its id: {}", own.text());
}

#[tokio::test]
async fn attack_one_caller_cannot_hide_anothers_question_behind_many() {
    let hub = hub("limits: { waiting: 30 }\n").await;
    for place in 0..20 {
        waiting(&hub, "ann", json!({"what": format!("{place}")})).await;
    }
    let bobs = waiting(&hub, "bob", json!({"what": "mine"})).await;
    let page = by(&hub, "boss", Method::GET, "/api/questions?limit=2", None).await.json();
    let ids: Vec<&Value> = page["items"].as_array().expect("items").iter().map(|item| &item["id"]).collect();
    assert!(ids.contains(&&json!(bobs)), "the first of each caller comes first: {page}");
    let all = by(&hub, "boss", Method::GET, "/api/questions?limit=200", None).await;
    assert!(all.text().len() < 40_000, "twenty-one rows are small: {}", all.text().len());
    let browser = owners(&hub).await;
    assert_eq!(browser.ask(&hub, Method::GET, "/api/questions", None).await.header("cache-control"), Some("no-store"));
}
