//! The answer to an event: what is published when its run has ended.

use interlingua_hub::Hub;
use interlingua_machines::bus::message::MAX_CONTENT;
use interlingua_machines::bus::{Kind, Message, Sender};
use interlingua_model::json::{Tree, object};
use interlingua_model::{Digest, Fault, Finished, Json, Meta, Outcome, Principal, TaskId, Text, TopicId, Trust};
use serde_json::json;

use super::TopicStart;
use crate::plans::step_result;

/// Publishes it. Sent again after a crash it has the same id.
pub(super) async fn publish(
    hub: &Hub,
    start: &TopicStart,
    reply: TopicId,
    event: (u64, &Message, &Sender),
    task: TaskId,
    finished: Finished,
) -> Result<u64, Fault> {
    let (seq, message, sender) = event;
    let trust = finished.output.parts.iter().map(|part| part.provenance.trust).min();
    let sender = sender.answered_by(start.link.clone(), trust.unwrap_or(Trust::Peer));
    let id = Digest::of_fields([start.peer.as_str().as_bytes(), &seq.to_be_bytes()]);
    let answer = Message {
        id: format!("{:.32}", id.to_string()).into(),
        kind: Kind::Event,
        from: start.peer.clone(),
        to: None,
        topic: Some(reply),
        skill: None,
        content: content(task, finished),
        correlation: Some(message.id.0.clone()),
        priority: message.priority,
        at: hub.now(),
        meta: Meta::default(),
        by: sender.by.owner(),
        readers: readers(message, &sender.by),
        sender: None,
    };
    hub.publish(answer, sender).await
}

fn content(task: TaskId, finished: Finished) -> Json {
    let task = task.to_string();
    let content: Json = match finished.outcome {
        Outcome::Completed => {
            let result = step_result(finished.output).map_or(Tree::Null, |result| result.tree().clone());
            object([("status", "success".into()), ("task", task.as_str().into()), ("result", result)])
        }
        Outcome::Failed(fault) => {
            json!({"status": "error", "task": task, "error": &*fault.public, "kind": fault.kind.as_str()})
        }
        Outcome::Cancelled { why, .. } => {
            json!({"status": "error", "task": task, "error": why.as_str(), "kind": "cancelled"})
        }
    }
    .into();
    if content.as_str().len() <= MAX_CONTENT {
        return content;
    }
    let text = "the answer is longer than an event may be; it is in the task";
    json!({"status": "error", "task": task, "error": text, "kind": "too_large"}).into()
}

/// Everybody, as with the event; of an event for some, its readers and those who sent it.
fn readers(message: &Message, by: &Principal) -> Vec<Text> {
    if message.readers.is_empty() {
        return Vec::new();
    }
    let senders = by.links().iter().map(|link| Text::from(link.subject.to_string()));
    message.readers.iter().cloned().chain(senders).collect()
}
