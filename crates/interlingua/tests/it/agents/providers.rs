//! Agents with models of remote providers, in each provider's own format, over real connections that misbehave.

use std::time::Duration;

use interlingua_testkit::Hub;
use interlingua_testkit::provider::{Provider, Reply, Spelling, Turn};
use serde_json::{Value, json};

use super::{says, words};
use crate::support;

const ALL: [Spelling; 4] = [Spelling::Openai, Spelling::Anthropic, Spelling::Gemini, Spelling::Ollama];

fn named(spelling: Spelling) -> &'static str {
    match spelling {
        Spelling::Openai => "openai",
        Spelling::Anthropic => "anthropic",
        Spelling::Gemini => "gemini",
        Spelling::Ollama => "ollama",
    }
}

/// A hub with the agent `ann`, whose model this provider runs.
async fn hub(spelling: Spelling, provider: &Provider, more: &str) -> Hub {
    let config = format!(
        "tools: {{ directory: ./tools }}\n\
         models: {{ m: {{ provider: {}, model: m-1, base_url: \"{}\", api_key: \"${{MODEL_KEY}}\"{more} }} }}\n\
         agents: {{ ann: {{ model: m, skills: [\"local/*\"] }} }}\n",
        named(spelling),
        provider.base_url()
    );
    support::builder().environment("MODEL_KEY", "sk-secret").config(&config).start().await
}

#[tokio::test]
async fn every_provider_is_asked_with_its_key_uses_a_tool_and_answers() {
    for spelling in ALL {
        let turns = vec![
            Turn::Says(Reply::call("local__erase", json!({"what": "caf\u{e9}"})), 1),
            Turn::Says(Reply::text("It was not allowed."), 3),
        ];
        let provider = Provider::start(spelling, turns).await;
        let hub = hub(spelling, &provider, ", attempts: 1").await;
        let task = support::start(&hub, json!({"skill": "ann/chat", "text": "erase"})).await;
        let mut asked = Value::Null;
        support::until("the question", async || {
            asked = hub.get(&format!("/api/tasks/{task}")).await.json()["questions"][0].clone();
            !asked.is_null()
        })
        .await;
        assert!(asked.to_string().contains("caf\u{e9}"), "{spelling:?}: arguments came whole: {asked}");
        let no = json!({"answer": {"question": asked["id"], "approve": false}});
        hub.post_json(&format!("/api/tasks/{task}/signals"), &no).await;
        support::reaches(&hub, &task, "completed").await;
        assert_eq!(super::told(&hub, &task).await, "It was not allowed.", "{spelling:?}");
        let asked = provider.asked();
        assert_eq!(asked.len(), 2, "{spelling:?}");
        assert!(asked.iter().all(|asked| asked.headers.contains("sk-secret")), "{spelling:?}");
        assert!(asked[0].body.to_string().contains("local__erase"), "{spelling:?}: tools were offered");
        assert!(asked[1].body.to_string().contains("This was denied"), "{spelling:?}: {}", asked[1].body);
    }
}

#[tokio::test]
async fn what_passes_is_asked_again_and_the_caller_sees_one_answer() {
    for spelling in ALL {
        let hello = Reply::text("Hello there.");
        let turns = vec![
            Turn::Status(429, Some(0)),
            Turn::Status(500, None),
            Turn::Breaks(hello.clone(), 0),
            Turn::Says(hello, 7),
        ];
        let provider = Provider::start(spelling, turns).await;
        let hub = hub(spelling, &provider, "").await;
        let answer = says(&hub, "hello").await.json();
        assert_eq!(words(&answer), "Hello there.", "{spelling:?}: {answer}");
        assert_eq!(provider.asked().len(), 4);
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_a_failure_with_what_was_said_and_is_not_asked_again() {
    for spelling in ALL {
        let turns = vec![Turn::Breaks(Reply::text("It is a long way to tell you of this."), 60)];
        let provider = Provider::start(spelling, turns).await;
        let hub = hub(spelling, &provider, "").await;
        let answer = says(&hub, "what is it?").await.json();
        assert_eq!(answer["finished"]["fault"]["kind"], "bad_reply", "{spelling:?}: {answer}");
        assert!(words(&answer).starts_with("It is "), "{spelling:?}: {answer}");
        assert_eq!(provider.asked().len(), 1, "saying it twice would be worse");
    }
}

#[tokio::test]
async fn garbage_a_refused_key_and_a_slow_drip_are_failures_that_tell_no_secret() {
    let cases = [
        (Turn::Garbles(Reply::text("It is")), "", "bad_reply"),
        (Turn::Status(401, None), "", "peer_failed"),
        (
            Turn::Drips(Reply::text("It is a long way to tell you."), Duration::from_millis(200)),
            ", timeout: 1s",
            "deadline",
        ),
    ];
    for spelling in ALL {
        for (turn, more, kind) in &cases {
            let provider = Provider::start(spelling, vec![turn.clone()]).await;
            let hub = hub(spelling, &provider, &format!("{more}, attempts: 1")).await;
            let answer = says(&hub, "what is it?").await.json();
            assert_eq!(answer["finished"]["fault"]["kind"], *kind, "{spelling:?} {turn:?}: {answer}");
            assert!(!answer.to_string().contains("sk-secret"), "{answer}");
        }
    }
}
