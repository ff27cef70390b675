//! Reads tool calls in the formats of models and their libraries (R-25, O-30 to O-32) as calls of the envelope, and writes them again.
//!
//! | form | members |
//! |---|---|
//! | the envelope's own | `tool_id`, `tool_name`, `parameters`, `require_confirmation` |
//! | MCP, and Anthropic | `type: tool_use`, `id`, `name`, `input` or `parameters` |
//! | custom tools, and OpenAI (chat completions) | `id`, `type: function`, `function: {name, arguments}`, `parameters`, `options` |
//! | OpenAI (responses) | `type: function_call`, `call_id`, `name`, `arguments` |
//! | Gemini | `functionCall: {id, name, args}`, or `function_call` |
//! | built-in tools | `tool_name`, `parameters`, `options: {require_confirmation}` |
//!
//! A name or arguments may be in two places of one call only if both are equal: which tool runs is never guessed. Of ids, which may
//! differ, the envelope's own counts, then `call_id`. A native call without an id is named after its position in the message, so that a
//! repeated message means the same calls. A call with a `tool_id` or a `tool_name` is the envelope's own, whatever else it has.

use interlingua_model::json::Reader;
use interlingua_model::{Json, Text};

use super::read::{SHORT, Source, bool, keep, members, required, text};
use super::{NativeForm, ToolCall};
use crate::invalid::Invalid;
use interlingua_wire::object::Object;

/// Passes over a member nobody knows: parent and key.
pub(super) type Unknown<'a> = &'a mut dyn FnMut(&str, &str, &mut Reader<'_>) -> Result<(), Invalid>;

#[derive(Default)]
pub(super) struct Call {
    tool_id: Option<Text>,
    call_id: Option<Text>,
    id: Option<Text>,
    name: Option<Text>,
    parameters: Option<Json>,
    confirm: bool,
    is_own: bool,
    is_native: bool,
    /// By the object that holds the call; it says more than a `type`.
    holder: Option<NativeForm>,
    /// By `type`, or by a member that only one form has.
    hint: Option<NativeForm>,
}

impl Call {
    pub(super) fn member(
        &mut self,
        key: &str,
        reader: &mut Reader<'_>,
        source: &Source<'_>,
        unknown: Unknown<'_>,
    ) -> Result<(), Invalid> {
        match key {
            "tool_id" | "tool_name" => self.is_own = true,
            "parameters" | "require_confirmation" => {}
            "type" | "id" | "call_id" | "name" | "input" | "arguments" | "function" | "functionCall"
            | "function_call" | "options" => self.is_native = true,
            _ => return unknown("tool_calls.", key, reader),
        }
        match key {
            "tool_id" => self.tool_id = text(reader, key, SHORT)?,
            "call_id" => self.call_id = text(reader, key, SHORT)?,
            "id" => once(&mut self.id, text(reader, key, SHORT)?, key)?,
            "tool_name" | "name" => once(&mut self.name, text(reader, key, SHORT)?, key)?,
            "input" => {
                self.hint = self.hint.or(Some(NativeForm::Anthropic));
                once(&mut self.parameters, source.parameters(reader)?, key)?;
            }
            "parameters" | "arguments" => once(&mut self.parameters, source.parameters(reader)?, key)?,
            "require_confirmation" => keep(&mut self.confirm, bool(reader, key)?),
            "type" => {
                if let Some(kind) = text(reader, key, SHORT)? {
                    self.hint = Some(form_of(&kind)?);
                }
            }
            "options" => members(reader, key, |member, reader| match member {
                "require_confirmation" => {
                    keep(&mut self.confirm, bool(reader, "options.require_confirmation")?);
                    Ok(())
                }
                _ => unknown("tool_calls.options.", member, reader),
            })?,
            _ => self.held(key, reader, source, unknown)?,
        }
        Ok(())
    }

    /// A call in an object of its own: `function`, or Gemini's `functionCall`.
    fn held(
        &mut self,
        key: &str,
        reader: &mut Reader<'_>,
        source: &Source<'_>,
        unknown: Unknown<'_>,
    ) -> Result<(), Invalid> {
        let (form, arguments) = match key {
            "function" => (NativeForm::OpenAi, "arguments"),
            _ => (NativeForm::Gemini, "args"),
        };
        members(reader, key, |member, reader| {
            self.holder = Some(form);
            let path = format!("{key}.{member}");
            match member {
                "name" => once(&mut self.name, text(reader, &path, SHORT)?, &path),
                "id" if form == NativeForm::Gemini => once(&mut self.id, text(reader, &path, SHORT)?, &path),
                _ if member == arguments => once(&mut self.parameters, source.parameters(reader)?, &path),
                _ => unknown(&format!("tool_calls.{key}."), member, reader),
            }
        })
    }

    /// `index` is its place in the message.
    pub(super) fn into_call(self, index: usize) -> Result<ToolCall, Invalid> {
        let by_place = || self.is_native.then(|| format!("call_{index}").into());
        let by_call_id = self.call_id.as_ref().map(|_| NativeForm::OpenAiResponses);
        Ok(ToolCall {
            form: self.holder.or(self.hint).or(by_call_id).filter(|_| !self.is_own),
            tool_id: required(self.tool_id.or(self.call_id).or(self.id).or_else(by_place), "tool_id")?,
            tool_name: required(self.name, "tool_name")?,
            parameters: self.parameters.unwrap_or_else(Json::empty_object),
            require_confirmation: self.confirm,
        })
    }
}

fn form_of(kind: &str) -> Result<NativeForm, Invalid> {
    match kind {
        "tool_use" => Ok(NativeForm::Anthropic),
        "function" => Ok(NativeForm::OpenAi),
        "function_call" => Ok(NativeForm::OpenAiResponses),
        _ => Err(Invalid::field("type", "must be tool_use, function or function_call")),
    }
}

/// Writes a call in the form it was read in. Arguments stand beside the object that holds the name, where they are no deeper in the
/// message than any form had them: what was read can be read again.
pub(super) fn write(call: &ToolCall, form: NativeForm, out: &mut Object<'_>) {
    match form {
        NativeForm::OpenAi => {
            out.text("id", &call.tool_id);
            out.text("type", "function");
            out.object("function", |function| function.text("name", &call.tool_name));
            out.value("parameters", &call.parameters);
        }
        NativeForm::OpenAiResponses => {
            out.text("type", "function_call");
            out.text("call_id", &call.tool_id);
            out.text("name", &call.tool_name);
            out.value("arguments", &call.parameters);
        }
        NativeForm::Anthropic => {
            out.text("type", "tool_use");
            out.text("id", &call.tool_id);
            out.text("name", &call.tool_name);
            out.value("input", &call.parameters);
        }
        NativeForm::Gemini => {
            out.object("functionCall", |function| {
                function.text("id", &call.tool_id);
                function.text("name", &call.tool_name);
            });
            out.value("parameters", &call.parameters);
        }
    }
    if call.require_confirmation {
        out.bool("require_confirmation", true);
    }
}

/// Sets what is not set; what is given twice must be the same.
fn once<T: Same>(place: &mut Option<T>, value: Option<T>, key: &str) -> Result<(), Invalid> {
    match (&place, value) {
        (Some(there), Some(value)) if !there.same(&value) => Err(Invalid::field(key, "is given twice, and differs")),
        (Some(_), _) | (None, None) => Ok(()),
        (None, value) => {
            *place = value;
            Ok(())
        }
    }
}

trait Same {
    fn same(&self, other: &Self) -> bool;
}

impl Same for Text {
    fn same(&self, other: &Text) -> bool {
        self == other
    }
}

impl Same for Json {
    /// However they are written.
    fn same(&self, other: &Json) -> bool {
        self.tree() == other.tree()
    }
}
