//! Reads the data model: messages of a client, of a server, and of a webhook's caller.

use bytes::Bytes;
use interlingua_model::json::{Kind, Reader};
use interlingua_model::{Json, Text};

use super::{Dialect, field, names, parts, push};
use crate::invalid::{Invalid, Problem};
use crate::wire::{
    Artifact, ArtifactUpdate, Asked, Configuration, List, Message, Operation, Part, PushConfig, Role, Send, Status,
    StatusUpdate, Task, TaskState, Update,
};

/// Reads values out of one frame.
#[derive(Debug, Clone, Copy)]
pub struct Source<'f> {
    pub frame: &'f Bytes,
    pub dialect: Dialect,
    pub depth: usize,
}

/// What names a task in the parameters of several operations.
#[derive(Default)]
struct Named {
    id: Option<Text>,
    task: Option<Text>,
    config: Option<Text>,
    tenant: Option<Text>,
    history: Option<u32>,
}

impl Source<'_> {
    /// Reads one value that is the whole frame.
    fn whole<T>(&self, read: impl FnOnce(&mut Reader<'_>) -> Result<T, Invalid>) -> Result<T, Invalid> {
        let mut reader = Reader::new(self.frame, self.depth)?;
        let value = read(&mut reader)?;
        reader.end()?;
        Ok(value)
    }

    /// The request of a send or a stream.
    pub fn send(&self) -> Result<(Send, Option<Text>), Invalid> {
        self.whole(|reader| self.read_send(reader))
    }

    /// The parameters that name a task: `{id, historyLength, tenant}`.
    pub fn get(&self) -> Result<Asked, Invalid> {
        let named = self.whole(|reader| self.read_named(reader))?;
        let history = named.history;
        named.about_task(|task| Operation::Get { task, history })
    }

    pub fn cancel(&self) -> Result<Asked, Invalid> {
        self.whole(|reader| self.read_named(reader))?.about_task(|task| Operation::Cancel { task })
    }

    pub fn subscribe(&self) -> Result<Asked, Invalid> {
        self.whole(|reader| self.read_named(reader))?.about_task(|task| Operation::Subscribe { task })
    }

    pub fn extended_card(&self) -> Result<Asked, Invalid> {
        let named = self.whole(|reader| self.read_named(reader))?;
        Ok(Asked { operation: Operation::ExtendedCard, tenant: named.tenant })
    }

    pub fn push_create(&self) -> Result<(PushConfig, Option<Text>), Invalid> {
        self.whole(|reader| {
            let mut found = push::Found::default();
            field::object(reader, |key, reader| match self.dialect {
                Dialect::V1 => found.v1(key, reader),
                Dialect::V03 | Dialect::V03Proto => found.v03(key, reader, self.dialect),
            })?;
            let tenant = found.tenant.take();
            Ok((found.finish()?, tenant))
        })
    }

    pub fn push_get(&self) -> Result<Asked, Invalid> {
        let named = self.whole(|reader| self.read_named(reader))?;
        named.about_config(self.dialect, |task, id| Ok(Operation::PushGet { task, id }))
    }

    pub fn push_list(&self) -> Result<Asked, Invalid> {
        let named = self.whole(|reader| self.read_named(reader))?;
        named.about_config(self.dialect, |task, _| Ok(Operation::PushList { task }))
    }

    pub fn push_delete(&self) -> Result<Asked, Invalid> {
        let named = self.whole(|reader| self.read_named(reader))?;
        named.about_config(self.dialect, |task, id| {
            let id = id.ok_or_else(|| Invalid::at("id", Problem::Missing))?;
            Ok(Operation::PushDelete { task, id })
        })
    }

    pub fn list(&self) -> Result<Asked, Invalid> {
        self.whole(|reader| {
            let (mut list, mut tenant) = (List::default(), None);
            field::object(reader, |key, reader| {
                match key {
                    "tenant" => tenant = field::non_empty(reader)?,
                    "contextId" | "context_id" => list.context = field::non_empty(reader)?,
                    "status" => list.state = self.optional_state(reader)?,
                    "pageSize" | "page_size" => list.size = field::count(reader)?,
                    "pageToken" | "page_token" => list.cursor = field::non_empty(reader)?,
                    "historyLength" | "history_length" => list.history = field::count(reader)?,
                    "statusTimestampAfter" | "status_timestamp_after" => {
                        list.after = field::non_empty(reader)?.map(|text| field::time(&text)).transpose()?;
                    }
                    "includeArtifacts" | "include_artifacts" => {
                        list.artifacts = field::bool(reader)?.unwrap_or_default();
                    }
                    _ => field::skip(reader)?,
                }
                Ok(())
            })?;
            check_page(&list)?;
            Ok(Asked { operation: Operation::List(list), tenant })
        })
    }

    fn read_named(&self, reader: &mut Reader<'_>) -> Result<Named, Invalid> {
        let mut named = Named::default();
        if !field::present(reader)? {
            return Ok(named);
        }
        field::object(reader, |key, reader| {
            match key {
                "id" => named.id = field::non_empty(reader)?,
                "taskId" | "task_id" => named.task = field::non_empty(reader)?,
                "pushNotificationConfigId" => named.config = field::non_empty(reader)?,
                // The older proto names what it means by a path.
                "name" | "parent" if self.dialect == Dialect::V03Proto => {
                    let path = field::non_empty(reader)?;
                    named.id = path.as_deref().and_then(push::task_of_name);
                    named.config = path.as_deref().and_then(push::config_of_name);
                }
                "tenant" => named.tenant = field::non_empty(reader)?,
                "historyLength" | "history_length" => named.history = field::count(reader)?,
                _ => field::skip(reader)?,
            }
            Ok(())
        })?;
        Ok(named)
    }

    fn read_send(&self, reader: &mut Reader<'_>) -> Result<(Send, Option<Text>), Invalid> {
        let (mut message, mut configuration) = (None, Configuration::default());
        let (mut metadata, mut tenant) = (None, None);
        field::object(reader, |key, reader| {
            match (self.dialect, key) {
                // The older proto calls it `request`, and `message` in JSON.
                (_, "message") | (Dialect::V03Proto, "request") => {
                    if field::present(reader)? {
                        message = Some(self.read_message(reader)?);
                    }
                }
                (_, "configuration") => {
                    if field::present(reader)? {
                        configuration = self.read_configuration(reader)?;
                    }
                }
                (_, "metadata") => metadata = field::metadata(reader, self.frame)?,
                (Dialect::V1, "tenant") => tenant = field::non_empty(reader)?,
                _ => field::skip(reader)?,
            }
            Ok(())
        })?;
        let message = message.ok_or_else(|| Invalid::at("message", Problem::Missing))?;
        Ok((Send { message, configuration, metadata }, tenant))
    }

    fn read_configuration(&self, reader: &mut Reader<'_>) -> Result<Configuration, Invalid> {
        let mut configuration = Configuration::default();
        field::object(reader, |key, reader| {
            match (self.dialect, key) {
                (_, "acceptedOutputModes" | "accepted_output_modes") => configuration.accepts = field::texts(reader)?,
                (_, "historyLength" | "history_length") => configuration.history = field::count(reader)?,
                (Dialect::V1, "returnImmediately" | "return_immediately") => {
                    configuration.immediate = field::bool(reader)?.unwrap_or_default();
                }
                (Dialect::V03 | Dialect::V03Proto, "blocking") => {
                    configuration.immediate = field::bool(reader)?.is_some_and(|blocking| !blocking);
                }
                (Dialect::V1, "taskPushNotificationConfig" | "task_push_notification_config")
                | (Dialect::V03, "pushNotificationConfig")
                | (Dialect::V03Proto, "pushNotification" | "push_notification" | "pushNotificationConfig") => {
                    configuration.push = push::read(reader, self.dialect)?;
                }
                _ => field::skip(reader)?,
            }
            Ok(())
        })?;
        Ok(configuration)
    }

    fn parts_key(&self, key: &str) -> bool {
        match self.dialect {
            Dialect::V1 | Dialect::V03 => key == "parts",
            Dialect::V03Proto => key == "content" || key == "parts",
        }
    }

    pub(crate) fn read_message(&self, reader: &mut Reader<'_>) -> Result<Message, Invalid> {
        let (mut id, mut role, mut parts) = (None, None, None);
        let mut message = Message::new("", Role::User, Vec::new());
        field::object(reader, |key, reader| {
            match key {
                "messageId" | "message_id" => id = field::non_empty(reader)?,
                "role" => role = self.role(reader)?,
                key if self.parts_key(key) => {
                    if field::present(reader)? {
                        parts = Some(self.read_parts(reader)?);
                    }
                }
                "contextId" | "context_id" => message.context = field::non_empty(reader)?,
                "taskId" | "task_id" => message.task = field::non_empty(reader)?,
                "metadata" => message.metadata = field::metadata(reader, self.frame)?,
                "extensions" => message.extensions = field::texts(reader)?,
                "referenceTaskIds" | "reference_task_ids" => message.references = field::texts(reader)?,
                _ => field::skip(reader)?,
            }
            Ok(())
        })?;
        message.id = id.ok_or_else(|| Invalid::at("messageId", Problem::Missing))?;
        message.role = role.ok_or_else(|| Invalid::at("role", Problem::Missing))?;
        message.parts = parts.ok_or_else(|| Invalid::at("parts", Problem::Missing))?;
        if message.parts.is_empty() {
            return Err(Invalid::at("parts", Problem::Empty));
        }
        Ok(message)
    }

    fn read_parts(&self, reader: &mut Reader<'_>) -> Result<Vec<Part>, Invalid> {
        let mut all = Vec::new();
        field::list(reader, |reader| {
            all.push(parts::read(reader, self.frame, self.dialect)?);
            Ok(())
        })?;
        Ok(all)
    }

    fn role(&self, reader: &mut Reader<'_>) -> Result<Option<Role>, Invalid> {
        if !field::present(reader)? {
            return Ok(None);
        }
        let role = match reader.kind()? {
            Kind::Number => reader.number()?.parse().ok().and_then(names::role_number),
            _ => field::text(reader)?.and_then(|name| names::role(&name, self.dialect)),
        };
        role.map(Some).ok_or_else(|| Invalid::whole(Problem::UnknownValue))
    }

    fn state(&self, reader: &mut Reader<'_>) -> Result<TaskState, Invalid> {
        let state = match reader.kind()? {
            Kind::Number => reader.number()?.parse().ok().and_then(names::state_number),
            _ => field::text(reader)?.and_then(|name| names::state(&name, self.dialect)),
        };
        state.ok_or_else(|| Invalid::whole(Problem::UnknownValue))
    }

    /// Unspecified is no filter.
    fn optional_state(&self, reader: &mut Reader<'_>) -> Result<Option<TaskState>, Invalid> {
        if !field::present(reader)? {
            return Ok(None);
        }
        if reader.kind()? == Kind::Number {
            return self.state(reader).map(Some);
        }
        match field::text(reader)?.as_deref() {
            None | Some("" | "TASK_STATE_UNSPECIFIED") => Ok(None),
            Some(name) => state_named(name, self.dialect).map(Some),
        }
    }
}

/// A state that a query parameter names.
pub fn state_named(name: &str, dialect: Dialect) -> Result<TaskState, Invalid> {
    names::state(name, dialect).ok_or_else(|| Invalid::whole(Problem::UnknownValue))
}

/// RFC 3339, as a query parameter has it.
pub fn time(text: &str) -> Result<interlingua_model::Time, Invalid> {
    field::time(text)
}

pub fn check_page(list: &List) -> Result<(), Invalid> {
    match list.size {
        Some(0) | Some(101..) => Err(Invalid::at("pageSize", Problem::PageSize)),
        Some(1..=100) | None => Ok(()),
    }
}

impl Named {
    fn about_task(self, operation: impl FnOnce(Text) -> Operation) -> Result<Asked, Invalid> {
        let task = self.id.ok_or_else(|| Invalid::at("id", Problem::Missing))?;
        Ok(Asked { operation: operation(task), tenant: self.tenant })
    }

    /// 1.0 says `{taskId, id}`; 0.3 `{id, pushNotificationConfigId}`, where `id` is the task's.
    fn about_config(
        self,
        dialect: Dialect,
        operation: impl FnOnce(Text, Option<Text>) -> Result<Operation, Invalid>,
    ) -> Result<Asked, Invalid> {
        let (task, id, name) = match dialect {
            Dialect::V1 => (self.task, self.id, "taskId"),
            Dialect::V03 | Dialect::V03Proto => (self.id, self.config, "id"),
        };
        let task = task.ok_or_else(|| Invalid::at(name, Problem::Missing))?;
        Ok(Asked { operation: operation(task, id)?, tenant: self.tenant })
    }
}

/// What a server answers with.
impl Source<'_> {
    /// The answer to a send, one event of a stream, or the body of a webhook.
    pub fn update(&self) -> Result<Update, Invalid> {
        match self.dialect {
            Dialect::V1 | Dialect::V03Proto => self.whole(|reader| self.read_member(reader)),
            Dialect::V03 => self.read_kind(),
        }
    }

    pub fn task(&self) -> Result<Task, Invalid> {
        self.whole(|reader| self.read_task(reader))
    }

    /// By the member that is there.
    fn read_member(&self, reader: &mut Reader<'_>) -> Result<Update, Invalid> {
        let mut found = Vec::new();
        field::object(reader, |key, reader| {
            match key {
                "task" => found.push(Update::Task(self.read_task(reader)?)),
                "message" | "msg" => found.push(Update::Message(self.read_message(reader)?)),
                "statusUpdate" | "status_update" => found.push(Update::Status(self.read_status_update(reader)?)),
                "artifactUpdate" | "artifact_update" => {
                    found.push(Update::Artifact(self.read_artifact_update(reader)?));
                }
                _ => field::skip(reader)?,
            }
            Ok(())
        })?;
        let count = found.len();
        found.pop().filter(|_| count == 1).ok_or_else(|| Invalid::whole(Problem::OneOf(count)))
    }

    /// By `kind`, which may stand anywhere: it is looked for first.
    fn read_kind(&self) -> Result<Update, Invalid> {
        let mut reader = Reader::new(self.frame, self.depth)?;
        let mut kind = None;
        field::object(&mut reader, |key, reader| {
            match key {
                "kind" => kind = field::text(reader)?,
                _ => field::skip(reader)?,
            }
            Ok(())
        })?;
        reader.end()?;
        let mut reader = Reader::new(self.frame, self.depth)?;
        match kind.as_deref() {
            Some("task") => self.read_task(&mut reader).map(Update::Task),
            Some("message") => self.read_message(&mut reader).map(Update::Message),
            Some("status-update") => self.read_status_update(&mut reader).map(Update::Status),
            Some("artifact-update") => self.read_artifact_update(&mut reader).map(Update::Artifact),
            Some(_) => Err(Invalid::at("kind", Problem::UnknownValue)),
            None => Err(Invalid::at("kind", Problem::Missing)),
        }
    }

    fn read_task(&self, reader: &mut Reader<'_>) -> Result<Task, Invalid> {
        let (mut id, mut status) = (None, None);
        let (mut context, mut metadata) = (None, None);
        let (mut artifacts, mut history) = (Vec::new(), Vec::new());
        field::object(reader, |key, reader| {
            match key {
                "id" => id = field::non_empty(reader)?,
                "contextId" | "context_id" => context = field::non_empty(reader)?,
                "status" => status = Some(self.read_status(reader)?),
                "artifacts" => field::list(reader, |reader| {
                    artifacts.push(self.read_artifact(reader)?);
                    Ok(())
                })?,
                "history" => field::list(reader, |reader| {
                    history.push(self.read_message(reader)?);
                    Ok(())
                })?,
                "metadata" => metadata = field::metadata(reader, self.frame)?,
                _ => field::skip(reader)?,
            }
            Ok(())
        })?;
        let id = id.ok_or_else(|| Invalid::at("id", Problem::Missing))?;
        let status = status.ok_or_else(|| Invalid::at("status", Problem::Missing))?;
        Ok(Task { id, context, status, artifacts, history, metadata })
    }

    fn read_status(&self, reader: &mut Reader<'_>) -> Result<Status, Invalid> {
        let (mut state, mut message, mut at) = (None, None, None);
        field::object(reader, |key, reader| {
            match key {
                "state" => state = Some(self.state(reader)?),
                "message" | "update" => {
                    if field::present(reader)? {
                        message = Some(self.read_message(reader)?);
                    }
                }
                // A time that cannot be read is no reason to lose the state.
                "timestamp" => at = field::text(reader)?.and_then(|text| field::time(&text).ok()),
                _ => field::skip(reader)?,
            }
            Ok(())
        })?;
        let state = state.ok_or_else(|| Invalid::at("state", Problem::Missing))?;
        Ok(Status { state, message, at })
    }

    fn read_artifact(&self, reader: &mut Reader<'_>) -> Result<Artifact, Invalid> {
        let mut id = None;
        let mut artifact = Artifact {
            id: "".into(),
            parts: Vec::new(),
            name: None,
            description: None,
            metadata: None,
            extensions: Vec::new(),
        };
        field::object(reader, |key, reader| {
            match key {
                "artifactId" | "artifact_id" => id = field::non_empty(reader)?,
                "parts" => artifact.parts = self.read_parts(reader)?,
                "name" => artifact.name = field::non_empty(reader)?,
                "description" => artifact.description = field::non_empty(reader)?,
                "metadata" => artifact.metadata = field::metadata(reader, self.frame)?,
                "extensions" => artifact.extensions = field::texts(reader)?,
                _ => field::skip(reader)?,
            }
            Ok(())
        })?;
        artifact.id = id.ok_or_else(|| Invalid::at("artifactId", Problem::Missing))?;
        Ok(artifact)
    }

    fn read_status_update(&self, reader: &mut Reader<'_>) -> Result<StatusUpdate, Invalid> {
        let (mut named, mut status) = (Updated::default(), None);
        field::object(reader, |key, reader| match key {
            "status" => {
                status = Some(self.read_status(reader)?);
                Ok(())
            }
            _ => named.member(key, reader, self.frame),
        })?;
        let status = status.ok_or_else(|| Invalid::at("status", Problem::Missing))?;
        let (task, context) = named.ids()?;
        Ok(StatusUpdate { task, context, status, metadata: named.metadata })
    }

    fn read_artifact_update(&self, reader: &mut Reader<'_>) -> Result<ArtifactUpdate, Invalid> {
        let (mut named, mut artifact) = (Updated::default(), None);
        let (mut append, mut last) = (false, false);
        field::object(reader, |key, reader| {
            match key {
                "artifact" => artifact = Some(self.read_artifact(reader)?),
                "append" => append = field::bool(reader)?.unwrap_or_default(),
                "lastChunk" | "last_chunk" => last = field::bool(reader)?.unwrap_or_default(),
                _ => named.member(key, reader, self.frame)?,
            }
            Ok(())
        })?;
        let artifact = artifact.ok_or_else(|| Invalid::at("artifact", Problem::Missing))?;
        let (task, context) = named.ids()?;
        Ok(ArtifactUpdate { task, context, artifact, append, last, metadata: named.metadata })
    }
}

/// What both updates begin with.
#[derive(Default)]
struct Updated {
    task: Option<Text>,
    context: Option<Text>,
    metadata: Option<Json>,
}

impl Updated {
    fn member(&mut self, key: &str, reader: &mut Reader<'_>, frame: &Bytes) -> Result<(), Invalid> {
        match key {
            "taskId" | "task_id" => self.task = field::non_empty(reader)?,
            "contextId" | "context_id" => self.context = field::non_empty(reader)?,
            "metadata" => self.metadata = field::metadata(reader, frame)?,
            _ => field::skip(reader)?,
        }
        Ok(())
    }

    /// Servers in the wild leave the context out: it is that of the task.
    fn ids(&mut self) -> Result<(Text, Text), Invalid> {
        let task = self.task.take().ok_or_else(|| Invalid::at("taskId", Problem::Missing))?;
        Ok((task, self.context.take().unwrap_or_else(|| "".into())))
    }
}
