//! The configurations in `examples/agents` do what they say, without a key.

use interlingua_testkit::{Hub, HubBuilder, root};
use serde_json::{Value, json};

use super::words;

/// A hub with one of the examples, and the files beside it.
fn example(name: &str) -> HubBuilder {
    let folder = root().join("examples/agents");
    let mut builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua"));
    for file in std::fs::read_dir(&folder).expect("the examples").filter_map(Result::ok) {
        let content = std::fs::read(file.path()).expect("readable");
        builder = builder.file(&file.file_name().to_string_lossy(), content);
    }
    let config = std::fs::read_to_string(folder.join(name)).expect("an example");
    builder.config(&config)
}

async fn asks(hub: &Hub, request: Value) -> Value {
    hub.post_json("/api/exchanges", &request).await.json()
}

#[tokio::test]
async fn one_agent_behind_the_front_door() {
    let hub = example("basic.yaml").file("data/workspace/list.txt", "lemons").start().await;
    let answer = asks(&hub, json!({"words": "what is there?"})).await;
    assert_eq!(words(&answer), "That is what the workspace holds.", "{answer}");
}

#[tokio::test]
async fn three_agents_that_answer_and_vote() {
    let hub = example("team.yaml").start().await;
    for question in ["Shall we do it?", "And now?"] {
        let answer = asks(&hub, json!({"words": question})).await;
        assert_eq!(words(&answer), "Start small and start today.", "{answer}");
        let task = answer["task"].as_str().expect("a task");
        let steps = hub.get(&format!("/api/tasks/{task}/timeline?limit=200")).await.text();
        assert!(steps.contains("\"voted\"") && !steps.contains("\"killed\""), "nobody runs out of lines: {steps}");
    }
}

#[tokio::test]
async fn an_answer_with_a_form_and_work_in_shares() {
    let hub = example("advanced.yaml").start().await;
    let answer = asks(&hub, json!({"skill": "researcher/chat", "text": "how far is the moon?"})).await;
    assert_eq!(answer["finished"]["structured"]["finding"], "far", "{answer}");
    let answer = asks(&hub, json!({"skill": "authors/chat", "text": "Tell of the moon."})).await;
    assert_eq!(words(&answer), "There was a moon, and it was far.", "{answer}");
    let task = hub.get(&format!("/api/tasks/{}", answer["task"].as_str().expect("a task"))).await.json();
    assert_eq!(task["artifacts"].as_array().map(Vec::len), Some(2), "a share of each: {task}");
}
