//! Reads a frame in one pass over its bytes; `metadata`, `parameters` and results stay slices of it.

use bytes::Bytes;
use interlingua_model::json::{Kind, Reader};
use interlingua_model::{Json, Text};

use super::{
    CLIENT_KINDS, ClientKind, ClientMessage, ClientType, Command, CommandResult, Limits, ResultStatus, ServerKind,
    ServerMessage, Status, ToolType,
};
use crate::invalid::{Invalid, Problem};

impl ClientMessage {
    pub fn decode(frame: &Bytes, limits: &Limits) -> Result<ClientMessage, Invalid> {
        let source = Source { frame, limits };
        let (mut kind, mut status) = (None, None);
        let mut message = ClientMessage::new(ClientKind::Heartbeat, Status::Ok, ClientType::Device);
        source.whole(|key, reader| {
            match key {
                "type" => kind = word(reader, "type", ClientKind::parse, CLIENT_KINDS)?,
                "status" => status = word(reader, "status", Status::parse, Status::KNOWN)?,
                "client_type" => {
                    let given = word(reader, "client_type", ClientType::parse, ClientType::KNOWN)?;
                    message.client_type = given.ok_or_else(|| Invalid::at("client_type", Problem::NotText))?;
                }
                "session_id" => message.session_id = source.name(reader, "session_id")?,
                "task_name" => message.task_name = source.name(reader, "task_name")?,
                "client_id" => message.client_id = source.name(reader, "client_id")?,
                "target_id" => message.target_id = source.name(reader, "target_id")?,
                "request" => message.request = source.text(reader, "request")?,
                "action_results" => {
                    message.action_results = source.list(reader, "action_results", |reader| source.result(reader))?;
                }
                "timestamp" => message.timestamp = source.name(reader, "timestamp")?,
                "request_id" => message.request_id = source.name(reader, "request_id")?,
                "prev_response_id" => message.prev_response_id = source.name(reader, "prev_response_id")?,
                "error" => message.error = source.text(reader, "error")?,
                "metadata" => message.metadata = source.object(reader, "metadata")?,
                _ => drop(reader.skip()?),
            }
            Ok(())
        })?;
        message.kind = kind.ok_or_else(|| Invalid::at("type", Problem::Missing))?;
        message.status = status.ok_or_else(|| Invalid::at("status", Problem::Missing))?;
        Ok(message)
    }

    /// What a frame of this kind needs beyond its schema. The Python server checks none of it; whoever writes such a frame
    /// should.
    pub fn check(&self) -> Result<(), Invalid> {
        let needs = |path: &str, given: bool| if given { Ok(()) } else { Err(Invalid::at(path, Problem::Missing)) };
        let named = |text: &Option<Text>| text.as_deref().is_some_and(|text| !text.is_empty());
        match self.kind {
            ClientKind::Register => needs("client_id", named(&self.client_id)),
            ClientKind::Task => {
                needs("request", named(&self.request))?;
                needs("client_id", named(&self.client_id))
            }
            ClientKind::CommandResults => {
                needs("prev_response_id", named(&self.prev_response_id))?;
                needs("action_results", self.action_results.is_some())
            }
            ClientKind::TaskEnd | ClientKind::TaskCancel => needs("session_id", named(&self.session_id)),
            ClientKind::DeviceInfoRequest => needs("request_id", named(&self.request_id)),
            ClientKind::Heartbeat | ClientKind::Error | ClientKind::DeviceInfoResponse => Ok(()),
        }
    }
}

impl ServerMessage {
    pub fn decode(frame: &Bytes, limits: &Limits) -> Result<ServerMessage, Invalid> {
        let source = Source { frame, limits };
        let (mut kind, mut status) = (None, None);
        let mut message = ServerMessage::new(ServerKind::Heartbeat, Status::Ok);
        source.whole(|key, reader| {
            match key {
                "type" => kind = word(reader, "type", ServerKind::parse, ServerKind::KNOWN)?,
                "status" => status = word(reader, "status", Status::parse, Status::KNOWN)?,
                "user_request" => message.user_request = source.text(reader, "user_request")?,
                "agent_name" => message.agent_name = source.name(reader, "agent_name")?,
                "process_name" => message.process_name = source.name(reader, "process_name")?,
                "root_name" => message.root_name = source.name(reader, "root_name")?,
                "actions" => message.actions = source.list(reader, "actions", |reader| source.command(reader))?,
                "messages" => message.messages = source.list(reader, "messages", line)?,
                "error" => message.error = source.text(reader, "error")?,
                "session_id" => message.session_id = source.name(reader, "session_id")?,
                "task_name" => message.task_name = source.name(reader, "task_name")?,
                "timestamp" => message.timestamp = source.name(reader, "timestamp")?,
                "response_id" => message.response_id = source.name(reader, "response_id")?,
                "result" => message.result = source.value(reader)?,
                "metadata" => message.metadata = source.object(reader, "metadata")?,
                _ => drop(reader.skip()?),
            }
            Ok(())
        })?;
        message.kind = kind.ok_or_else(|| Invalid::at("type", Problem::Missing))?;
        message.status = status.ok_or_else(|| Invalid::at("status", Problem::Missing))?;
        Ok(message)
    }

    /// What a frame of this kind needs beyond its schema.
    pub fn check(&self) -> Result<(), Invalid> {
        let missing = |path: &str| Err(Invalid::at(path, Problem::Missing));
        match self.kind {
            ServerKind::Command if self.actions.as_ref().is_none_or(Vec::is_empty) => missing("actions"),
            ServerKind::Command if self.response_id.is_none() => missing("response_id"),
            ServerKind::TaskEnd if self.session_id.is_none() => missing("session_id"),
            ServerKind::Command
            | ServerKind::TaskEnd
            | ServerKind::Task
            | ServerKind::Heartbeat
            | ServerKind::Error
            | ServerKind::DeviceInfoRequest
            | ServerKind::DeviceInfoResponse => Ok(()),
        }
    }
}

/// The frame that is read, and what it may weigh.
struct Source<'f> {
    frame: &'f Bytes,
    limits: &'f Limits,
}

impl Source<'_> {
    fn whole<'f>(&'f self, mut each: impl FnMut(&str, &mut Reader<'f>) -> Result<(), Invalid>) -> Result<(), Invalid> {
        if self.frame.len() > self.limits.bytes {
            return Err(Invalid::at("", Problem::TooLarge { limit: self.limits.bytes }));
        }
        let mut reader = Reader::new(self.frame, self.limits.depth)?;
        if reader.kind()? != Kind::Object {
            return Err(Invalid::at("", Problem::NotAnObject));
        }
        reader.object(|key, reader| each(&key, reader))?;
        Ok(reader.end()?)
    }

    fn text(&self, reader: &mut Reader<'_>, path: &str) -> Result<Option<Text>, Invalid> {
        match reader.kind()? {
            Kind::Null => {
                reader.null()?;
                Ok(None)
            }
            Kind::String => Ok(Some((&*reader.string()?).into())),
            Kind::Bool | Kind::Number | Kind::Array | Kind::Object => Err(Invalid::at(path, Problem::NotText)),
        }
    }

    /// Text that is stored and repeated, so it is kept short.
    fn name(&self, reader: &mut Reader<'_>, path: &str) -> Result<Option<Text>, Invalid> {
        let name = self.text(reader, path)?;
        match &name {
            Some(text) if text.len() > self.limits.name => {
                Err(Invalid::at(path, Problem::TooLarge { limit: self.limits.name }))
            }
            Some(_) | None => Ok(name),
        }
    }

    /// Any value; null is the same as none.
    fn value(&self, reader: &mut Reader<'_>) -> Result<Option<Json>, Invalid> {
        let value = Json::slice(self.frame, reader.skip()?);
        Ok((!value.is_null()).then_some(value))
    }

    fn object(&self, reader: &mut Reader<'_>, path: &str) -> Result<Option<Json>, Invalid> {
        match reader.kind()? {
            Kind::Null | Kind::Object => self.value(reader),
            Kind::Bool | Kind::Number | Kind::String | Kind::Array => Err(Invalid::at(path, Problem::NotAnObject)),
        }
    }

    fn list<'r, T>(
        &self,
        reader: &mut Reader<'r>,
        path: &str,
        mut each: impl FnMut(&mut Reader<'r>) -> Result<T, Invalid>,
    ) -> Result<Option<Vec<T>>, Invalid> {
        match reader.kind()? {
            Kind::Null => {
                reader.null()?;
                return Ok(None);
            }
            Kind::Array => {}
            Kind::Bool | Kind::Number | Kind::String | Kind::Object => {
                return Err(Invalid::at(path, Problem::NotAList));
            }
        }
        let mut list = Vec::new();
        reader.array(|index, reader| {
            if index >= self.limits.list {
                return Err(Invalid::at(path, Problem::TooLarge { limit: self.limits.list }));
            }
            list.push(each(reader).map_err(|invalid| match invalid.problem {
                Problem::BadJson(_) => invalid,
                _ => invalid.within(path, index),
            })?);
            Ok(())
        })?;
        Ok(Some(list))
    }

    fn command(&self, reader: &mut Reader<'_>) -> Result<Command, Invalid> {
        let (mut tool_name, mut parameters, mut tool_type, mut call_id) = (None, None, None, None);
        element(reader, |key, reader| {
            match key {
                "tool_name" => tool_name = self.name(reader, "tool_name")?,
                "parameters" => parameters = self.object(reader, "parameters")?,
                "tool_type" => tool_type = word(reader, "tool_type", ToolType::parse, ToolType::KNOWN)?,
                "call_id" => call_id = self.name(reader, "call_id")?,
                _ => drop(reader.skip()?),
            }
            Ok(())
        })?;
        let tool_name = tool_name.ok_or_else(|| Invalid::at("tool_name", Problem::Missing))?;
        let tool_type = tool_type.ok_or_else(|| Invalid::at("tool_type", Problem::Missing))?;
        Ok(Command { tool_name, parameters, tool_type, call_id })
    }

    fn result(&self, reader: &mut Reader<'_>) -> Result<CommandResult, Invalid> {
        let mut status = None;
        let mut result =
            CommandResult { status: ResultStatus::None, error: None, result: None, namespace: None, call_id: None };
        element(reader, |key, reader| {
            match key {
                "status" => status = word(reader, "status", ResultStatus::parse, ResultStatus::KNOWN)?,
                "error" => result.error = self.text(reader, "error")?,
                "result" => result.result = self.value(reader)?,
                "namespace" => result.namespace = self.name(reader, "namespace")?,
                "call_id" => result.call_id = self.name(reader, "call_id")?,
                _ => drop(reader.skip()?),
            }
            Ok(())
        })?;
        result.status = status.ok_or_else(|| Invalid::at("status", Problem::Missing))?;
        Ok(result)
    }
}

fn element<'r>(
    reader: &mut Reader<'r>,
    mut each: impl FnMut(&str, &mut Reader<'r>) -> Result<(), Invalid>,
) -> Result<(), Invalid> {
    if reader.kind()? != Kind::Object {
        return Err(Invalid::at("", Problem::NotAnObject));
    }
    reader.object(|key, reader| each(&key, reader))
}

fn line(reader: &mut Reader<'_>) -> Result<Text, Invalid> {
    match reader.kind()? {
        Kind::String => Ok((&*reader.string()?).into()),
        Kind::Null | Kind::Bool | Kind::Number | Kind::Array | Kind::Object => Err(Invalid::at("", Problem::NotText)),
    }
}

/// A word of a closed list. Null counts as absent, which the caller refuses where the word is needed.
fn word<W>(
    reader: &mut Reader<'_>,
    path: &str,
    parse: fn(&str) -> Option<W>,
    known: &'static str,
) -> Result<Option<W>, Invalid> {
    match reader.kind()? {
        Kind::Null => {
            reader.null()?;
            Ok(None)
        }
        Kind::String => {
            let word = reader.string()?;
            parse(&word).map(Some).ok_or_else(|| Invalid::at(path, Problem::Unknown { known }))
        }
        Kind::Bool | Kind::Number | Kind::Array | Kind::Object => Err(Invalid::at(path, Problem::Unknown { known })),
    }
}
