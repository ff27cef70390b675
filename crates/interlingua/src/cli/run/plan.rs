//! Plan files in YAML or JSON, and their errors.

use std::io::Read;
use std::path::Path;

use interlingua_agents::plans::constellation;
use interlingua_model::Json;
use interlingua_model::json::DEFAULT_DEPTH;
use interlingua_settings::document::{self, Node, Value as Tree};
use interlingua_settings::{Problem, Sources};
use serde_json::Value;

use crate::cli::{Exit, Failure};
use crate::config::{self, Rejected};

/// No plan is larger than the default body of a request.
const LARGEST: u64 = 64 << 20;

const SHAPE: &str = "a plan looks like this, and docs/plans.md says more:
  tasks:
    look: { task_data: { skill: local/list_directory, arguments: { path: \".\" } } }
    tell: { target_device_id: hub, description: say that it is done }
  dependencies:
    - { from_task_id: look, to_task_id: tell }";

/// A plan that can be run, from a file or from standard input.
pub(super) fn read(path: &Path) -> Result<Value, Failure> {
    let bad = |message: String| Failure::new(Exit::Usage, message);
    let text = if path == Path::new("-") {
        let mut text = String::new();
        let read = std::io::stdin().lock().take(LARGEST).read_to_string(&mut text);
        read.map_err(|error| bad(format!("cannot read standard input: {}", error.kind())))?;
        text
    } else {
        std::fs::read_to_string(path).map_err(|error| bad(config::unreadable(path, &error)))?
    };
    parsed(&text).map_err(|wrong| bad(format!("{} is no plan: {}", path.display(), wrong.message)))
}

/// What is wrong with a file that is meant to be a plan, and where.
pub(crate) fn check(path: &Path) -> Result<(), Rejected> {
    let mut sources = Sources::default();
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            return Err(Rejected { problems: vec![Problem::new("", config::unreadable(path, &error))], sources });
        }
    };
    let Err(wrong) = parsed(&text) else { return Ok(()) };
    let source = sources.add(path, &text);
    // What is no YAML says itself where it is wrong.
    let at = document::parse(&text, source).ok().map(|tree| tree.locate(&keys(&wrong.path, &tree)));
    let problem = match at {
        Some(at) => sources.problem(at, wrong.path, wrong.message),
        None => Problem::new("", format!("{}: {}", path.display(), wrong.message)),
    };
    Err(Rejected { problems: vec![problem], sources })
}

/// Why a text is no plan.
struct Wrong {
    /// As `tasks[look].tips`; empty for the whole.
    path: String,
    message: String,
}

impl Wrong {
    fn whole(message: impl Into<String>) -> Wrong {
        Wrong { path: String::new(), message: message.into() }
    }
}

fn parsed(text: &str) -> Result<Value, Wrong> {
    let plan: Value = serde_saphyr::from_str(text).map_err(|error| Wrong::whole(error.to_string()))?;
    if plan.get("tasks").is_none() {
        return Err(Wrong::whole(format!("it has no `tasks`; {SHAPE}")));
    }
    let read = constellation::read(Json::from_tree(plan.clone()).as_bytes(), DEFAULT_DEPTH);
    let read = read.map_err(|invalid| Wrong { message: invalid.problem.to_string(), path: invalid.path })?;
    read.check().map_err(|fault| Wrong {
        path: fault.fields.first().map(|field| field.path.to_string()).unwrap_or_default(),
        message: fault.public.to_string(),
    })?;
    Ok(plan)
}

/// The keys of a path in the file: an item of a list is found by its id, or by its place, which its default id ends with.
fn keys(path: &str, tree: &Node) -> String {
    let Some((list, rest)) = path.split_once('[') else { return path.to_owned() };
    let Some((name, rest)) = rest.rsplit_once(']') else { return list.to_owned() };
    let place = in_list(tree, list, name).unwrap_or_else(|| name.to_owned());
    format!("{list}.{place}{rest}")
}

fn in_list(tree: &Node, list: &str, name: &str) -> Option<String> {
    let members = |node: &Node| match &node.value {
        Tree::Map(entries) => entries.iter().map(|(key, node)| (key.name.clone(), node.clone())).collect(),
        Tree::List(_) | Tree::Scalar { .. } => Vec::new(),
    };
    let (_, items) = members(tree).into_iter().find(|(key, _)| key == list)?;
    let Tree::List(items) = &items.value else { return None };
    let is_id = |(key, node): &(String, Node)| {
        let text = matches!(&node.value, Tree::Scalar { text, .. } if text == name);
        text && matches!(key.as_str(), "task_id" | "line_id")
    };
    let found = items.iter().find(|(_, item)| members(item).iter().any(is_id));
    let number = found.map(|(number, _)| number.to_string());
    number.or_else(|| name.rsplit_once(['#', '_']).map(|(_, number)| number.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("plan.yaml");
        std::fs::write(&file, text).expect("written");
        let rejected = check(&file).expect_err("no plan").to_string();
        rejected.replace(&format!("{}/", folder.path().display()), "")
    }

    #[test]
    fn what_is_wrong_with_a_plan_is_said_with_its_place() {
        let line = "{ from_task_id: a, to_task_id: b }";
        for (text, wanted) in [
            ("tasks:\n  a: { tips: [7] }\n", "plan.yaml:2:8: tasks[a].tips: must be text"),
            ("tasks: [{ task_id: a, name: 7 }]\n", "plan.yaml:1:23: tasks[0].name: must be text"),
            (
                "tasks: {a: {}}\ndependencies:\n  - { from_task_id: a }\n",
                "plan.yaml:3:5: dependencies[0].to_task_id: is required",
            ),
            (
                "tasks: {a: {}}\ndependencies:\n  l: LINE\n",
                "plan.yaml:3:3: dependencies[l]: edge l names b, and there is no such step",
            ),
            (
                "tasks: {a: {}}\ndependencies:\n  - LINE\n",
                "plan.yaml:3:5: dependencies[a->b#0]: edge a->b#0 names b, and there is no such step",
            ),
            (
                "tasks:\n  a: {}\n  b: { description: \"{{a}}\" }\n",
                "plan.yaml:3:3: tasks[b]: step b uses the result of a: add a dependency from a to it",
            ),
        ] {
            assert_eq!(said(&text.replace("LINE", line)), wanted, "{text}");
        }
        let circle = "tasks: {a: {}, b: {}}\ndependencies:\n  - LINE\n  - { from_task_id: b, to_task_id: a }\n";
        let circle = said(&circle.replace("LINE", line));
        assert_eq!(circle, "plan.yaml:1:9: tasks[a]: the steps around a wait for each other in a circle");
        assert!(said("tasks: [").starts_with("plan.yaml: "), "{}", said("tasks: ["));
    }
}
