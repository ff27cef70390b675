//! Agents with scripted models in a real hub, called in every protocol.

mod acting;
mod approvals;
mod chosen;
mod client_tools;
mod conversing;
mod crash;
mod elsewhere;
mod examples;
mod hostile;
mod journey;
mod program;
mod providers;
mod routed;
mod steps;
mod table;
mod talking;
mod teams;
mod topics;
mod trust;
mod workspaces;

use interlingua_testkit::{Answer, Hub, HubBuilder};
use serde_json::{Value, json};

use crate::support;

/// Five lines of YAML make an agent.
const CONFIG: &str = r#"
tools: { directory: ./tools }
models: { canned: { provider: scripted, file: ./lines.yaml } }
agents:
  ann:
    model: canned
    instructions: You keep things in order.
    skills: ["local/*"]
"#;

fn builder(lines: &str, more: &str) -> HubBuilder {
    support::builder().file("lines.yaml", lines).config(&format!("{CONFIG}{more}"))
}

/// A hub with the agent `ann`, whose model says these lines; `more` is more configuration.
async fn hub(lines: &str, more: &str) -> Hub {
    builder(lines, more).start().await
}

/// Says something to the agent and waits for what it answers.
async fn says(hub: &Hub, text: &str) -> Answer {
    hub.post_json("/api/exchanges", &json!({"skill": "ann/chat", "text": text})).await
}

/// The text of the answer of an exchange.
fn words(answer: &Value) -> String {
    let parts = answer["finished"]["parts"].as_array().cloned().unwrap_or_default();
    parts.iter().filter_map(|part| part["text"].as_str()).collect()
}

/// The answer of a task that has ended: what it streamed under the id of its answer, or gave whole.
async fn told(hub: &Hub, task: &str) -> String {
    let headers = [("accept", "text/event-stream")];
    let stream = support::send(hub, http::Method::GET, &format!("/api/tasks/{task}/events"), &headers, None).await;
    let events: Vec<Value> = support::events(&stream.text()).into_iter().map(|(_, _, data)| data).collect();
    let finished = events.iter().find(|event| event["outcome"].is_string()).cloned().unwrap_or_default();
    let text = |event: &Value| {
        let parts = event["parts"].as_array().cloned().unwrap_or_default();
        parts.iter().filter_map(|part| part["text"].as_str()).collect::<String>()
    };
    let is_answer = |event: &&Value| event["message"].is_string() && event["message"] == finished["said"];
    let streamed: String = events.iter().filter(is_answer).map(text).collect();
    format!("{streamed}{}", text(&finished))
}
