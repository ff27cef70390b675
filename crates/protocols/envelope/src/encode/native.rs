//! Encodes the result of a call in the form of a model's API (O-34), to be put into the next request to that model unchanged. It stands
//! beside the envelope's own result and says the same.
//!
//! A pending call has no result yet: its form is written when the call has ended.

use interlingua_model::Json;

use super::Of;
use crate::wire::{NativeForm, Status, ToolResult};
use interlingua_wire::object::Object;

/// `None` where no such form is wanted, or there is no result.
pub(super) fn encode(of: &Of, result: Option<&ToolResult>) -> Option<Json> {
    let (Of::Tool(tool), Some(result)) = (of, result) else { return None };
    let form = tool.form?;
    let is_error = match result.status {
        Status::Success => false,
        Status::Error => true,
        Status::Pending => return None,
    };
    Some(Object::json(|out| match form {
        NativeForm::OpenAi => {
            out.text("role", "tool");
            out.text("tool_call_id", &result.tool_id);
            out.text("content", &words(result));
        }
        NativeForm::OpenAiResponses => {
            out.text("type", "function_call_output");
            out.text("call_id", &result.tool_id);
            out.text("output", &words(result));
        }
        NativeForm::Anthropic => {
            out.text("type", "tool_result");
            out.text("tool_use_id", &result.tool_id);
            out.text("content", &words(result));
            out.bool("is_error", is_error);
        }
        NativeForm::Gemini => out.object("functionResponse", |function| {
            function.text("id", &result.tool_id);
            function.text("name", &result.tool_name);
            function.object("response", |response| match (&result.result, is_error) {
                (_, true) => response.text("error", &words(result)),
                (Some(output), false) => response.value("output", output),
                (None, false) => response.null("output"),
            });
        }),
    }))
}

/// What a model reads: text as it is, anything else as JSON, of a failure what went wrong.
fn words(result: &ToolResult) -> String {
    match (&result.error, &result.result) {
        (Some(error), _) => error.to_string(),
        (None, Some(output)) => output.tree().as_str().map_or_else(|| output.as_str().to_owned(), str::to_owned),
        (None, None) => String::new(),
    }
}
