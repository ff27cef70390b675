//! Writes the data model. Default values of members that are not required are omitted (ProtoJSON).

use bytes::Bytes;
use interlingua_model::Json;
use interlingua_model::Text;
use interlingua_model::json::write_string;

use super::{Dialect, names, parts, push};
use crate::wire::{
    Answer, Artifact, ArtifactUpdate, Message, Part, PushConfig, Send, Status, StatusUpdate, Task, TaskPage, TaskState,
    Update,
};
use interlingua_wire::object::Object;

/// The result of an operation, as its binding's body or its JSON-RPC `result`.
pub fn answer(answer: &Answer, dialect: Dialect) -> Bytes {
    let mut out = Vec::with_capacity(512);
    match answer {
        Answer::Sent(sent) => write_update(sent, dialect, &mut out),
        Answer::Task(task) => write_task(task, dialect, &mut out),
        Answer::Tasks(listed) => write_listed(listed, dialect, &mut out),
        Answer::Push(config) => push::write(config, dialect, &mut out),
        Answer::Pushes(configs) => write_pushes(configs, dialect, &mut out),
        Answer::Deleted => out.extend_from_slice(match dialect {
            Dialect::V1 | Dialect::V03Proto => b"{}",
            Dialect::V03 => b"null",
        }),
        Answer::Card(card) => out.extend_from_slice(card.as_bytes()),
    }
    out.into()
}

/// One event of a stream.
pub fn update(update: &Update, dialect: Dialect) -> Bytes {
    let mut out = Vec::with_capacity(512);
    write_update(update, dialect, &mut out);
    out.into()
}

pub fn task(task: &Task, dialect: Dialect) -> Bytes {
    let mut out = Vec::with_capacity(512);
    write_task(task, dialect, &mut out);
    out.into()
}

/// The request of a send or a stream.
pub fn send(send: &Send, tenant: Option<&str>, dialect: Dialect) -> Bytes {
    let mut out = Vec::with_capacity(512);
    let mut object = Object::open(&mut out);
    if let (Dialect::V1, Some(tenant)) = (dialect, tenant) {
        object.text("tenant", tenant);
    }
    write_message(&send.message, dialect, object.key("message"));
    let configuration = &send.configuration;
    object.object("configuration", |object| {
        if !configuration.accepts.is_empty() {
            texts(object, "acceptedOutputModes", &configuration.accepts);
        }
        if let Some(history) = configuration.history {
            object.number("historyLength", history.into());
        }
        match dialect {
            Dialect::V1 if configuration.immediate => object.bool("returnImmediately", true),
            Dialect::V1 => {}
            Dialect::V03 | Dialect::V03Proto => object.bool("blocking", !configuration.immediate),
        }
    });
    metadata(&mut object, send.metadata.as_ref());
    object.finish();
    out.into()
}

fn metadata(object: &mut Object<'_>, metadata: Option<&Json>) {
    if let Some(metadata) = metadata {
        object.value("metadata", metadata);
    }
}

fn texts(object: &mut Object<'_>, key: &str, texts: &[Text]) {
    object.array(key, texts, |text, out| write_string(text, out));
}

fn kind(object: &mut Object<'_>, dialect: Dialect, kind: &str) {
    match dialect {
        Dialect::V03 => object.text("kind", kind),
        Dialect::V1 | Dialect::V03Proto => {}
    }
}

fn write_update(update: &Update, dialect: Dialect, out: &mut Vec<u8>) {
    let key = match (dialect, update) {
        (Dialect::V03, _) => return write_content(update, dialect, out),
        (Dialect::V1 | Dialect::V03Proto, Update::Task(_)) => "task",
        (Dialect::V1 | Dialect::V03Proto, Update::Message(_)) => "message",
        (Dialect::V1 | Dialect::V03Proto, Update::Status(_)) => "statusUpdate",
        (Dialect::V1 | Dialect::V03Proto, Update::Artifact(_)) => "artifactUpdate",
    };
    let mut object = Object::open(out);
    write_content(update, dialect, object.key(key));
    object.finish();
}

fn write_content(update: &Update, dialect: Dialect, out: &mut Vec<u8>) {
    match update {
        Update::Task(task) => write_task(task, dialect, out),
        Update::Message(message) => write_message(message, dialect, out),
        Update::Status(update) => write_status_update(update, dialect, out),
        Update::Artifact(update) => write_artifact_update(update, dialect, out),
    }
}

pub(crate) fn write_message(message: &Message, dialect: Dialect, out: &mut Vec<u8>) {
    let mut object = Object::open(out);
    kind(&mut object, dialect, "message");
    object.text("messageId", &message.id);
    object.text("role", names::role_name(message.role, dialect));
    let key = match dialect {
        Dialect::V1 | Dialect::V03 => "parts",
        Dialect::V03Proto => "content",
    };
    write_parts(&mut object, key, &message.parts, dialect);
    if let Some(context) = &message.context {
        object.text("contextId", context);
    }
    if let Some(task) = &message.task {
        object.text("taskId", task);
    }
    metadata(&mut object, message.metadata.as_ref());
    if !message.extensions.is_empty() {
        texts(&mut object, "extensions", &message.extensions);
    }
    if !message.references.is_empty() && dialect != Dialect::V03Proto {
        texts(&mut object, "referenceTaskIds", &message.references);
    }
    object.finish();
}

fn write_parts(object: &mut Object<'_>, key: &str, all: &[Part], dialect: Dialect) {
    object.array(key, all, |part, out| parts::write(part, dialect, out));
}

fn write_task(task: &Task, dialect: Dialect, out: &mut Vec<u8>) {
    let mut object = Object::open(out);
    kind(&mut object, dialect, "task");
    object.text("id", &task.id);
    if let Some(context) = &task.context {
        object.text("contextId", context);
    }
    write_status(&task.status, dialect, object.key("status"));
    if !task.artifacts.is_empty() {
        object.array("artifacts", &task.artifacts, |artifact, out| write_artifact(artifact, dialect, out));
    }
    if !task.history.is_empty() {
        object.array("history", &task.history, |message, out| write_message(message, dialect, out));
    }
    metadata(&mut object, task.metadata.as_ref());
    object.finish();
}

fn write_status(status: &Status, dialect: Dialect, out: &mut Vec<u8>) {
    let mut object = Object::open(out);
    object.text("state", names::state_name(status.state, dialect));
    if let Some(message) = &status.message {
        write_message(message, dialect, object.key("message"));
    }
    if let Some(at) = status.at {
        object.text("timestamp", &at.to_string());
    }
    object.finish();
}

fn write_artifact(artifact: &Artifact, dialect: Dialect, out: &mut Vec<u8>) {
    let mut object = Object::open(out);
    object.text("artifactId", &artifact.id);
    if let Some(name) = &artifact.name {
        object.text("name", name);
    }
    if let Some(description) = &artifact.description {
        object.text("description", description);
    }
    write_parts(&mut object, "parts", &artifact.parts, dialect);
    metadata(&mut object, artifact.metadata.as_ref());
    if !artifact.extensions.is_empty() {
        texts(&mut object, "extensions", &artifact.extensions);
    }
    object.finish();
}

fn write_status_update(update: &StatusUpdate, dialect: Dialect, out: &mut Vec<u8>) {
    let mut object = Object::open(out);
    kind(&mut object, dialect, "status-update");
    object.text("taskId", &update.task);
    object.text("contextId", &update.context);
    write_status(&update.status, dialect, object.key("status"));
    match dialect {
        Dialect::V1 => {}
        Dialect::V03 | Dialect::V03Proto => object.bool("final", is_final(update.status.state)),
    }
    metadata(&mut object, update.metadata.as_ref());
    object.finish();
}

/// 0.3 marks the last event of a stream; 1.0 closes it.
fn is_final(state: TaskState) -> bool {
    state.is_terminal() || state == TaskState::InputRequired
}

fn write_artifact_update(update: &ArtifactUpdate, dialect: Dialect, out: &mut Vec<u8>) {
    let mut object = Object::open(out);
    kind(&mut object, dialect, "artifact-update");
    object.text("taskId", &update.task);
    object.text("contextId", &update.context);
    write_artifact(&update.artifact, dialect, object.key("artifact"));
    if update.append {
        object.bool("append", true);
    }
    if update.last {
        object.bool("lastChunk", true);
    }
    metadata(&mut object, update.metadata.as_ref());
    object.finish();
}

/// `nextPageToken` is there on the last page, too, and empty.
fn write_listed(listed: &TaskPage, dialect: Dialect, out: &mut Vec<u8>) {
    let mut object = Object::open(out);
    object.array("tasks", &listed.tasks, |task, out| write_task(task, dialect, out));
    object.text("nextPageToken", &listed.next);
    object.number("pageSize", listed.size.into());
    object.number("totalSize", listed.total);
    object.finish();
}

fn write_pushes(configs: &[PushConfig], dialect: Dialect, out: &mut Vec<u8>) {
    // JSON-RPC of 0.3 answers with the bare list.
    if dialect == Dialect::V03 {
        out.push(b'[');
        for (index, config) in configs.iter().enumerate() {
            if index > 0 {
                out.push(b',');
            }
            push::write(config, dialect, out);
        }
        return out.push(b']');
    }
    let mut object = Object::open(out);
    object.array("configs", configs, |config, out| push::write(config, dialect, out));
    object.finish();
}
