//! Tasks given as a list of commands in JSON, in place of words.
//!
//! `[{"tool_name": "ls", "parameters": {"path": "."}}, …]` is one COMMAND, of which the first failure skips the rest; a list of such lists
//! is one COMMAND after the other. The list may be under `commands` or `actions` of an object. `tool_type` defaults to the device's own
//! declaration of the tool. Anything else is words.

use interlingua_model::{Json, Text};

use super::wire::{Command, ToolType};
use interlingua_wire::members::{Members, elements};

/// How many commands one task may have.
const MOST: usize = 4096;

/// The COMMANDs of a task, if that is what it is.
pub fn commands(request: &str, tool_type: impl Fn(&str) -> ToolType) -> Option<Vec<Vec<Command>>> {
    let request = request.trim();
    if !request.starts_with(['[', '{']) {
        return None;
    }
    let whole = Json::parse(request.to_owned().into()).ok()?;
    let list = if whole.is_object() {
        let members = Members::of(&whole);
        members.list("commands").or_else(|| members.list("actions"))?
    } else {
        elements(&whole)?
    };
    let nested = list.iter().any(|one| !one.is_object());
    let batches: Vec<Vec<Json>> = if nested { list.iter().map(elements).collect::<Option<_>>()? } else { vec![list] };
    let count: usize = batches.iter().map(Vec::len).sum();
    if count == 0 || count > MOST || batches.iter().any(Vec::is_empty) {
        return None;
    }
    let batch = |batch: &Vec<Json>| batch.iter().map(|one| command(&Members::of(one), &tool_type)).collect();
    batches.iter().map(batch).collect()
}

fn command(said: &Members, tool_type: &impl Fn(&str) -> ToolType) -> Option<Command> {
    let tool_name = said.text("tool_name").or_else(|| said.text("tool")).filter(|name| !name.is_empty())?;
    let parameters = said.get("parameters").or_else(|| said.get("arguments"));
    let parameters = parameters.filter(|given| !given.is_null());
    if parameters.as_ref().is_some_and(|given| !given.is_object()) {
        return None;
    }
    let tool_type = match said.text("tool_type") {
        Some(word) => ToolType::parse(&word)?,
        None => tool_type(&tool_name),
    };
    let call_id = said.text("call_id").map(|id| Text::from(&*id));
    Some(Command { tool_name: (&*tool_name).into(), parameters, tool_type, call_id })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Vec<Vec<String>>> {
        let known = |tool: &str| if tool == "look" { ToolType::DataCollection } else { ToolType::Action };
        let written = |command: &Command| {
            let parameters = command.parameters.as_ref().map_or("-", Json::as_str);
            format!("{} {} {parameters}", command.tool_type.as_str(), command.tool_name)
        };
        Some(commands(text, known)?.iter().map(|batch| batch.iter().map(written).collect()).collect())
    }

    #[test]
    fn a_list_is_one_command_and_a_list_of_lists_several() {
        let one = r#" [{"tool_name":"look"},{"tool":"press","arguments":{"key":"x"},"tool_type":"data_collection"}]"#;
        assert_eq!(
            read(one),
            Some(vec![vec!["data_collection look -".to_owned(), r#"data_collection press {"key":"x"}"#.to_owned()]])
        );
        let two = r#"{"commands":[[{"tool_name":"a","parameters":null}],[{"tool_name":"b","parameters":{}}]]}"#;
        assert_eq!(read(two), Some(vec![vec!["action a -".to_owned()], vec!["action b {}".to_owned()]]));
    }

    #[test]
    fn anything_else_is_words() {
        for words in [
            "open the mail",
            "",
            "[1] is what I mean",
            "[]",
            "[[]]",
            r#"{"commands":[]}"#,
            r#"[{"parameters":{}}]"#,
            r#"[{"tool_name":""}]"#,
            r#"[{"tool_name":"a","parameters":3}]"#,
            r#"[{"tool_name":"a","tool_type":"other"}]"#,
            r#"[{"tool_name":"a"},[{"tool_name":"b"}]]"#,
            r#"{"request":"x"}"#,
        ] {
            assert_eq!(read(words), None, "{words}");
        }
        assert_eq!(read(&format!("[{}]", vec![r#"{"tool":"a"}"#; MOST + 1].join(","))), None);
    }
}
