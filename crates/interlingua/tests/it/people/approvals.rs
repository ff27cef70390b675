//! Pending approvals: what an approver sees, how they are named and decided, and why one cannot be decided.

use http::Method;
use interlingua_testkit::{Answer, Hub};
use serde_json::{Value, json};

use super::{err, hub, out, typed, typed_by};
use crate::support::{reaches, send, start, until};

async fn by(hub: &Hub, who: &str, method: Method, path: &str, body: Option<Value>) -> Answer {
    let bearer = format!("Bearer {who}-token");
    send(hub, method, path, &[("authorization", &bearer)], body).await
}

/// A call of bob's that waits for an approval: the id of its task.
async fn waiting(hub: &Hub, what: &str) -> String {
    let asked = json!({"skill": "local/erase", "arguments": {"what": what}});
    let task = by(hub, "bob", Method::POST, "/api/tasks", Some(asked)).await.json();
    let id = task["id"].as_str().expect("an id").to_owned();
    reaches(hub, &id, "waiting").await;
    id
}

fn code(output: &std::process::Output) -> Option<i32> {
    output.status.code()
}

#[tokio::test]
async fn an_approver_sees_who_asks_for_what_by_which_way_and_until_when() {
    let hub = hub("").await;
    let task = waiting(&hub, "everything").await;
    let open = by(&hub, "boss", Method::GET, "/api/confirmations", None).await.json();
    let question = &open["items"][0];
    assert_eq!(
        (&question["owner"], &question["led_by"], &question["trust"]),
        (&json!("user:bob"), &json!("caller"), &json!("caller")),
        "{open}"
    );
    assert_eq!(
        (&question["peer"], &question["protocol"], &question["why"]),
        (&json!("local"), &json!("local"), &json!(["destroys"])),
        "{open}"
    );
    assert_eq!(question["description"], "Erases something.", "{open}");
    for field in ["wire", "asked_at", "policy", "definition", "call", "title"] {
        assert!(question[field].as_str().is_some_and(|text| !text.is_empty()), "{field}: {open}");
    }
    assert_eq!(question["definition"].as_str().map(str::len), Some(64), "a digest");
    // Not a terminal: a table for people, JSON for programs.
    let table = out(&typed_by(&hub, "boss", &["approve"]));
    for word in ["user:bob", "local/erase", "destroys", "everything", &task[..12]] {
        assert!(table.contains(word), "{word}: {table}");
    }
    let listed: Value = serde_json::from_str(&out(&typed_by(&hub, "boss", &["approve", "--json"]))).expect("JSON");
    assert_eq!(listed["items"][0]["id"], question["id"]);
    assert!(err(&typed_by(&hub, "bob", &["approve"])).contains("no call waits for your approval"));
    // The caller sees in its list what its task waits for.
    let tasks = out(&typed_by(&hub, "bob", &["tasks"]));
    for word in [&task[..12], "waiting", "user:bob", "local/erase", "approval"] {
        assert!(tasks.contains(word), "{word}: {tasks}");
    }
}

#[tokio::test]
async fn an_approver_sees_the_last_call_of_this_skill_by_this_caller_that_was_approved() {
    let hub = hub("").await;
    let open = async || by(&hub, "boss", Method::GET, "/api/confirmations", None).await.json()["items"][0].clone();
    let decide = async |task: &str, approve: bool| {
        let path = format!("/api/confirmations/{task}.0");
        assert_eq!(by(&hub, "boss", Method::POST, &path, Some(json!({"approve": approve}))).await.status, 200);
    };
    let first = waiting(&hub, "first").await;
    let listed = open().await;
    assert!(listed["call"].is_string() && listed.get("last").is_none(), "nothing was approved before: {listed}");
    let described = err(&typed_by(&hub, "boss", &["approve", &first]));
    assert!(described.contains("last time  never approved for this caller"), "{described}");
    reaches(&hub, &first, "completed").await;
    // What was declined since is no approval, nor is one of another caller.
    let second = waiting(&hub, "second").await;
    decide(&second, false).await;
    reaches(&hub, &second, "failed").await;
    let others = start(&hub, json!({"skill": "local/erase", "arguments": {"what": "the owner's"}})).await;
    reaches(&hub, &others, "waiting").await;
    let theirs = hub.get(&format!("/api/confirmations/{others}.0")).await.json();
    assert!(theirs["call"].is_string() && theirs.get("last").is_none(), "the Owner had none approved: {theirs}");
    let yes = json!({"approve": true});
    assert_eq!(hub.post_json(&format!("/api/confirmations/{others}.0"), &yes).await.status, 200);
    reaches(&hub, &others, "completed").await;
    let third = waiting(&hub, "third").await;
    let (listed, one) = (open().await, format!("/api/confirmations/{third}.0"));
    let last = &listed["last"];
    assert_eq!(
        (&last["task"], &last["by"], &last["arguments"]),
        (&json!(first), &json!("user:boss"), &json!({"what": "first"})),
        "{listed}"
    );
    let events = hub.get(&format!("/api/tasks/{first}/events?limit=100")).await.json();
    let settled = events["items"].as_array().and_then(|all| all.iter().find(|event| event["event"] == "settled"));
    assert_eq!(settled.map(|event| &event["at"]), Some(&last["at"]), "{listed}\n{events}");
    assert_eq!(&by(&hub, "boss", Method::GET, &one, None).await.json()["last"], last);
    let described = err(&typed_by(&hub, "boss", &["approve", &third]));
    assert!(described.contains("by user:boss with {\"what\":\"first\"}"), "{described}");
    reaches(&hub, &third, "completed").await;
}

#[tokio::test]
async fn the_document_of_the_interface_names_every_field_of_a_confirmation() {
    let hub = hub("").await;
    let document = hub.get("/api/openapi.json").await.json();
    let fields = &document["components"]["schemas"]["QuestionView"]["properties"];
    for field in [
        "call",
        "owner",
        "wire",
        "trust",
        "led_by",
        "why",
        "asked_at",
        "policy",
        "twin",
        "title",
        "description",
        "definition",
        "peer",
        "protocol",
        "last",
    ] {
        assert!(fields.get(field).is_some(), "{field}: {fields}");
    }
    let last = document["components"]["schemas"]["GrantedView"]["properties"].as_object();
    let names: Vec<&str> = last.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["task", "at", "by", "arguments"], "{document}");
}

#[tokio::test]
async fn a_decision_about_another_call_than_the_one_shown_is_a_conflict() {
    let hub = hub("").await;
    let task = waiting(&hub, "this").await;
    let path = format!("/api/confirmations/{task}.0");
    let call = by(&hub, "boss", Method::GET, &path, None).await.json()["call"].clone();
    let other = json!({"approve": true, "call": "0".repeat(64)});
    let refused = by(&hub, "boss", Method::POST, &path, Some(other)).await;
    assert_eq!((refused.status, &refused.json()["error"]["kind"]), (409, &json!("conflict")), "{}", refused.text());
    assert_eq!(hub.get(&format!("/api/tasks/{task}")).await.json()["state"], "waiting");
    let this = by(&hub, "boss", Method::POST, &path, Some(json!({"approve": true, "call": call}))).await;
    assert_eq!(this.status, 200, "{}", this.text());
    reaches(&hub, &task, "completed").await;
    // Every reader of the task learns who decided, and what.
    let events = hub.get(&format!("/api/tasks/{task}/events?limit=100")).await.json();
    let events = events["items"].as_array().expect("events").clone();
    let settled = events.iter().find(|event| event["event"] == "settled").expect("it was settled");
    assert_eq!((&settled["data"]["decided_by"], &settled["data"]["granted"]), (&json!("user:boss"), &json!(true)));
}

#[tokio::test]
async fn ids_are_known_by_their_beginning_and_several_are_listed() {
    let hub = hub("").await;
    let (one, two) = (waiting(&hub, "one").await, waiting(&hub, "two").await);
    let common = one.chars().zip(two.chars()).take_while(|(a, b)| a == b).count();
    let unique = |id: &str| id[..(common + 1).max(4)].to_owned();
    let both = typed_by(&hub, "boss", &["approve", ""]);
    assert_eq!(code(&both), Some(2), "{}", err(&both));
    assert!(err(&both).contains(&one) && err(&both).contains(&two), "{}", err(&both));
    let nobody = typed(&hub, &["tasks", "zzz"]);
    assert!(
        code(&nobody) == Some(2) && err(&nobody).contains("no task of yours begins with 'zzz'"),
        "{}",
        err(&nobody)
    );
    let approved = typed_by(&hub, "boss", &["approve", &unique(&one)]);
    assert_eq!(code(&approved), Some(0), "{}", err(&approved));
    assert!(out(&approved).contains("user:bob gets the result"), "{}", out(&approved));
    reaches(&hub, &one, "completed").await;
    let shown = typed_by(&hub, "bob", &["tasks", &unique(&two)]);
    assert!(out(&shown).contains(&two) && out(&shown).contains("interlingua approve"), "{}", out(&shown));
    let denied = typed_by(&hub, "boss", &["reject", &unique(&two)]);
    assert_eq!(code(&denied), Some(0), "{}", err(&denied));
    reaches(&hub, &two, "failed").await;
    let third = waiting(&hub, "three").await;
    let cancelled = typed_by(&hub, "bob", &["tasks", &third[..12], "--cancel"]);
    assert!(out(&cancelled).contains("cancelled"), "{}", err(&cancelled));
}

#[tokio::test]
async fn each_refusal_says_why() {
    let hub = hub("limits: { question: 2s }\n").await;
    // Expired: nobody decided in time.
    let late = waiting(&hub, "late").await;
    reaches(&hub, &late, "failed").await;
    let expired = typed_by(&hub, "boss", &["approve", &format!("{late}.0")]);
    assert!(err(&expired).contains("this question expired at"), "{}", err(&expired));
    let expired = typed_by(&hub, "boss", &["approve", &late]);
    assert!(err(&expired).contains("this question expired at"), "by its task: {}", err(&expired));
    // Somebody who neither asked nor may approve learns nothing.
    let stranger = by(&hub, "bob", Method::GET, &format!("/api/confirmations/{}.0", "0".repeat(32)), None).await;
    assert_eq!(stranger.status, 404, "{}", stranger.text());
}

#[tokio::test]
async fn a_command_that_waits_for_somebody_elses_approval_names_no_command_that_is_refused() {
    let hub = hub("").await;
    let call = ["call", "local/erase", "{\"what\":\"all\"}"];
    let waits = typed_by(&hub, "bob", &call);
    let told = err(&waits);
    assert_eq!(code(&waits), Some(5), "{told}");
    assert!(!told.contains("interlingua approve") && !told.contains("interlingua deny"), "bob may not: {told}");
    assert!(told.contains("You may not approve it") && told.contains("\n  interlingua tasks "), "{told}");
    let owner = err(&typed(&hub, &call));
    assert!(owner.contains("\n  interlingua approve "), "whose hub it is may: {owner}");
}

#[tokio::test]
async fn a_caller_who_may_not_approve_and_whoever_comes_second_are_told_so() {
    let hub = hub("").await;
    let task = waiting(&hub, "it").await;
    let own = typed_by(&hub, "bob", &["approve", &task]);
    assert!(err(&own).contains("you may not approve this: an approver of this hub has to"), "{}", err(&own));
    assert_eq!(code(&own), Some(7), "{}", err(&own));
    let approved = typed_by(&hub, "boss", &["approve", &task]);
    assert_eq!(code(&approved), Some(0), "{}", err(&approved));
    reaches(&hub, &task, "completed").await;
    for who in ["boss", "bob"] {
        let again = typed_by(&hub, who, &["approve", &task]);
        assert!(err(&again).contains("already decided: user:boss approved it at 20"), "{who}: {}", err(&again));
    }
    let signal = json!({"answer": {"question": format!("{task}.0"), "approve": true}});
    let again = by(&hub, "bob", Method::POST, &format!("/api/tasks/{task}/signals"), Some(signal)).await;
    assert!(again.text().contains("already decided: user:boss approved it"), "{}", again.text());
}

#[tokio::test]
async fn after_an_approval_of_ones_own_call_its_result_is_told() {
    let hub = hub("").await;
    let task = start(&hub, json!({"skill": "local/erase", "arguments": {"what": "all"}})).await;
    reaches(&hub, &task, "waiting").await;
    let approved = typed(&hub, &["approve", &task[..12]]);
    assert_eq!(code(&approved), Some(0), "{}", err(&approved));
    assert!(out(&approved).contains("\"erased\": true"), "{}", out(&approved));
    let shown = err(&approved);
    for word in ["owner", "local/erase", "destroys", "{\"what\":\"all\"}", "until"] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
}

#[tokio::test]
async fn what_comes_beside_the_arguments_is_shown_before_it_is_approved() {
    let hub = hub("").await;
    let asked = json!({"skill": "local/erase", "arguments": {"what": "all"}, "text": "and the backups"});
    let task = start(&hub, asked).await;
    reaches(&hub, &task, "waiting").await;
    let approved = typed(&hub, &["approve", &task]);
    assert!(err(&approved).contains("and the backups"), "{}", err(&approved));
}

#[tokio::test]
async fn an_input_question_is_answered_by_a_command() {
    let hub = hub("").await;
    hub.write("tools/erase.yaml", ERASE);
    until("its phrase", async || hub.get("/api/skills?limit=200").await.text().contains("erase something")).await;
    let task = start(&hub, json!({"words": "erase something"})).await;
    reaches(&hub, &task, "waiting").await;
    let tasks = out(&typed(&hub, &["tasks", "--state", "waiting"]));
    assert!(tasks.contains("input: What is the what?"), "{tasks}");
    let open = out(&typed(&hub, &["answer"]));
    for word in [&task[..12], "hub", "input", "What is the what?"] {
        assert!(open.contains(word), "{word}: {open}");
    }
    let listed: Value = serde_json::from_str(&out(&typed(&hub, &["answer", "--json"]))).expect("JSON");
    assert_eq!(
        (&listed["items"][0]["id"], listed["items"].as_array().map(Vec::len)),
        (&json!(format!("{task}.0")), Some(1))
    );
    assert!(err(&typed_by(&hub, "bob", &["answer"])).contains("no question waits for your answer"));
    assert_eq!(code(&typed(&hub, &["answer", "--decline"])), Some(2), "of which one?");
    let approve = typed(&hub, &["approve", &task]);
    assert!(err(&approve).contains("this question wants an answer"), "{}", err(&approve));
    assert!(err(&approve).contains("interlingua answer"), "{}", err(&approve));
    let nothing = typed(&hub, &["answer", &task]);
    assert!(
        code(&nothing) == Some(5) && err(&nothing).contains(&format!("interlingua answer {task}.0 ANSWER")),
        "{}",
        err(&nothing)
    );
    let answered = typed(&hub, &["answer", &task[..12], "{\"what\": \"all\"}"]);
    // What it waits for next is an approval: that is told, with its command.
    assert!(err(&answered).contains(&format!("interlingua approve {task}.1")), "{}", err(&answered));
    let wrong = typed(&hub, &["answer", &task, "yes"]);
    assert!(err(&wrong).contains("this wants an approval, not an answer"), "{}", err(&wrong));
    let approved = typed(&hub, &["approve", &task]);
    assert!(out(&approved).contains("\"erased\": true"), "{}", err(&approved));
    let over = typed(&hub, &["answer", &task, "again"]);
    assert!(err(&over).contains("nothing is asked there: the task is completed"), "{}", err(&over));
}

#[tokio::test]
async fn approve_watch_tells_of_calls_as_they_come() {
    let hub = hub("").await;
    let mut command = super::program();
    command.args(["approve", "--watch", "--json", "--hub", &hub.url(""), "--token", "boss-token"]);
    let watch = interlingua_testkit::Process::start(command);
    let task = waiting(&hub, "soon").await;
    until("it is told", async || watch.output().contains(&task) && watch.output().contains("soon")).await;
}

/// Words lead to it without what it needs.
const ERASE: &str = r#"
name: erase
description: Erases something.
phrases: { en: ["erase something"] }
input: { type: object, properties: { what: { type: string } }, required: [what] }
effects: { destroys: true }
command: [sh, -c, 'echo "{\"erased\":true}"']
"#;
