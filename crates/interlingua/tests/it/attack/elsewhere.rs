//! A call of one hub is pending approval at another: who is asked, who may answer, and its state meanwhile.

use std::time::Duration;

use http::Method;
use interlingua_testkit::{Connection, Events, Hub};
use serde_json::json;

use super::two_hubs::{WAYS, Way, approve, asked, begin, ended, open, paid, pair};
use crate::support::{streaming, until};

/// The ways that have a place for the answer to a question.
const ANSWERING: [Way; 8] =
    [Way::Nlip, Way::NlipCbor, Way::NlipText, Way::Mcp, Way::A2aRpc, Way::A2aHttp, Way::A2aGrpc, Way::Nlweb];

#[tokio::test]
async fn attack_a_caller_approves_with_the_credential_of_its_hub() {
    for way in ANSWERING {
        let (left, right, _between) = pair(way, "trusted", "", "").await;
        let task = begin(&left, way, "api; trust=world").await;
        until(&format!("{way:?}: the request for approval"), async || !open(&left, "boss").await.is_empty()).await;
        let question = open(&left, "boss").await.remove(0);
        let text = question["text"].as_str().unwrap_or_default();
        assert!(text.starts_with("right asks for approval to run "), "{way:?}: {text}");
        assert_eq!(question["confirm"]["skill"], way.pay().0, "{way:?}: {question}");
        assert!(open(&left, "bob").await.is_empty(), "{way:?}: it is not bob's to approve");
        let refused = approve(&left, "bob", &question).await;
        assert!(refused.status == 403 || refused.status == 404, "{way:?}: {}", refused.text());
        let path = format!("/api/tasks/{task}/signals");
        let own = json!({"answer": {"question": question["id"], "approve": true}});
        let refused = asked(&left, "bob", Method::POST, &path, Some(own)).await;
        assert_ne!(refused.status, 200, "{way:?}: {}", refused.text());
        let words = json!({"say": {"text": "yes"}});
        asked(&left, "bob", Method::POST, &path, Some(words)).await;
        assert_eq!(paid(&right), 0, "{way:?}: bob approved his own call");
        assert_eq!(approve(&left, "boss", &question).await.status, 200, "{way:?}");
        let end = ended(&left, way, &task).await;
        assert_eq!((&end["state"], paid(&right)), (&json!("completed"), 1), "{way:?}: {end}");
        assert_ne!(approve(&left, "boss", &question).await.status, 200, "{way:?}: it is used once");
        assert_eq!(paid(&right), 1, "{way:?}");
    }
}

/// What the caller of a task is told of it, one event after another.
struct Story {
    _connection: Connection,
    events: Events,
    heard: Vec<String>,
}

impl Story {
    async fn of(hub: &Hub, task: &str) -> Story {
        let headers = [("authorization", "Bearer token-of-bob")];
        let path = format!("/api/tasks/{task}/events");
        let (connection, events) = streaming(hub, Method::GET, &path, &headers, None).await;
        Story { _connection: connection, events, heard: Vec::new() }
    }

    /// Reads on to what has all of these words.
    async fn tells(&mut self, way: Way, words: &[&str]) {
        let reading = async {
            while let Some(event) = self.events.next().await {
                let found = words.iter().all(|word| event.contains(word));
                self.heard.push(event);
                if found {
                    return true;
                }
            }
            false
        };
        let found = tokio::time::timeout(Duration::from_secs(60), reading).await;
        assert_eq!(found, Ok(true), "{way:?}: {words:?} in {:#?}", self.heard);
    }
}

#[tokio::test]
async fn attack_a_hub_approves_with_a_credential_that_may_not() {
    for way in WAYS {
        let (left, right, _between) = pair(way, "weak", "", "").await;
        let task = begin(&left, way, "api; trust=world").await;
        let mut story = Story::of(&left, &task).await;
        until(&format!("{way:?}: it waits over there"), async || !open(&right, "boss").await.is_empty()).await;
        let question = open(&right, "boss").await.remove(0);
        // Whoever called is told where it waits, and nobody here is asked what nobody here can answer.
        story.tells(way, &["approve", question["task"].as_str().expect("a task")]).await;
        assert!(open(&left, "boss").await.is_empty(), "{way:?}: approvers here cannot approve it");
        assert_eq!(paid(&right), 0, "{way:?}");
        assert_eq!(approve(&right, "boss", &question).await.status, 200, "{way:?}");
        let end = ended(&left, way, &task).await;
        assert_eq!((&end["state"], paid(&right)), (&json!("completed"), 1), "{way:?}: {end}");
        story.tells(way, &["completed"]).await;
        assert!(!story.heard.iter().any(|event| event.contains("asked_by")), "{way:?}: {:#?}", story.heard);
    }
}

#[tokio::test]
async fn attack_a_call_that_waits_at_another_hub_is_approved_after_its_caller_cancelled_it() {
    for way in WAYS {
        let (left, right, _between) = pair(way, "weak", "", "").await;
        let task = begin(&left, way, "api; trust=world").await;
        Story::of(&left, &task).await.tells(way, &["approve"]).await;
        let question = open(&right, "boss").await.remove(0);
        let cancelled = asked(&left, "bob", Method::DELETE, &format!("/api/tasks/{task}"), None).await;
        assert!(cancelled.status < 300, "{way:?}: {}", cancelled.text());
        until(&format!("{way:?}: it waits no more"), async || open(&right, "boss").await.is_empty()).await;
        assert_ne!(approve(&right, "boss", &question).await.status, 200, "{way:?}: an approval that came too late");
        assert_eq!(paid(&right), 0, "{way:?}");
    }
}

#[tokio::test]
async fn attack_a_hub_that_is_killed_forgets_a_call_that_waits_at_another() {
    // Over MCP whoever leaves cancels, and a hub that is killed leaves.
    for way in [Way::Nlip, Way::NlipCbor, Way::Nlweb, Way::A2aRpc] {
        let (mut left, right, _between) = pair(way, "weak", "", "").await;
        let task = begin(&left, way, "api; trust=world").await;
        Story::of(&left, &task).await.tells(way, &["approve"]).await;
        left.kill_9();
        left.restart().await;
        let waiting = open(&right, "boss").await;
        let question = waiting.first().unwrap_or_else(|| panic!("{way:?}: it waits no more at the other hub")).clone();
        assert_eq!(approve(&right, "boss", &question).await.status, 200, "{way:?}");
        let end = ended(&left, way, &task).await;
        assert_eq!((&end["state"], paid(&right)), (&json!("completed"), 1), "{way:?}: {end}");
    }
}
