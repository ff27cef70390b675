//! Reads tool calls in the formats of models and their libraries as calls of the envelope.
//!
//! | form | members |
//! |---|---|
//! | the envelope's own | `tool_id`, `tool_name`, `parameters`, `require_confirmation` |
//! | MCP, and providers that write `tool_use` | `type`, `id`, `name`, `input` or `parameters` |
//! | custom tools, and providers that write `function` | `id`, `type`, `function: {name, arguments}`, `parameters`, `options` |
//! | providers that write `function_call` | `type`, `call_id`, `name`, `arguments` |
//! | built-in tools | `tool_name`, `parameters`, `options: {require_confirmation}` |
//!
//! A name or arguments may be in two places of one call only if both are equal: which tool runs is never guessed. A native call without an
//! id is named after its position in the message, so that a repeated message means the same calls.

use interlingua_model::json::Reader;
use interlingua_model::{Json, Text};

use super::ToolCall;
use super::read::{SHORT, Source, bool, keep, members, required, text};
use crate::invalid::Invalid;

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
    is_native: bool,
}

impl Call {
    pub(super) fn member(
        &mut self,
        key: &str,
        reader: &mut Reader<'_>,
        source: &Source<'_>,
        unknown: Unknown<'_>,
    ) -> Result<(), Invalid> {
        self.is_native |=
            matches!(key, "type" | "id" | "call_id" | "name" | "input" | "arguments" | "function" | "options");
        match key {
            "tool_id" => self.tool_id = text(reader, key, SHORT)?,
            "call_id" => self.call_id = text(reader, key, SHORT)?,
            "id" => self.id = text(reader, key, SHORT)?,
            "tool_name" | "name" => once(&mut self.name, text(reader, key, SHORT)?, key)?,
            "parameters" | "input" | "arguments" => once(&mut self.parameters, source.parameters(reader)?, key)?,
            "require_confirmation" => keep(&mut self.confirm, bool(reader, key)?),
            "type" => {
                let kind = text(reader, key, SHORT)?;
                if !matches!(kind.as_deref(), None | Some("tool_use" | "function" | "function_call")) {
                    return Err(Invalid::field(key, "must be tool_use, function or function_call"));
                }
            }
            "function" => members(reader, key, |member, reader| match member {
                "name" => once(&mut self.name, text(reader, "function.name", SHORT)?, "function.name"),
                "arguments" => once(&mut self.parameters, source.parameters(reader)?, "function.arguments"),
                _ => unknown("tool_calls.function.", member, reader),
            })?,
            "options" => members(reader, key, |member, reader| match member {
                "require_confirmation" => {
                    keep(&mut self.confirm, bool(reader, "options.require_confirmation")?);
                    Ok(())
                }
                _ => unknown("tool_calls.options.", member, reader),
            })?,
            _ => unknown("tool_calls.", key, reader)?,
        }
        Ok(())
    }

    /// `index` is its place in the message.
    pub(super) fn into_call(self, index: usize) -> Result<ToolCall, Invalid> {
        let by_place = || self.is_native.then(|| format!("call_{index}").into());
        Ok(ToolCall {
            tool_id: required(self.tool_id.or(self.call_id).or(self.id).or_else(by_place), "tool_id")?,
            tool_name: required(self.name, "tool_name")?,
            parameters: self.parameters.unwrap_or_else(Json::empty_object),
            require_confirmation: self.confirm,
        })
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
