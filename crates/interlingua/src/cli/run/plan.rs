//! Plan files in YAML or JSON, and their errors.

use std::io::Read;
use std::path::Path;

use interlingua_agents::plans::constellation;
use interlingua_model::Json;
use interlingua_model::json::DEFAULT_DEPTH;
use serde_json::Value;

use crate::cli::{Exit, Failure};
use crate::config;

/// No plan is larger than the default body of a request.
const LARGEST: u64 = 64 << 20;

const SHAPE: &str = "a plan looks like this, and docs/devices.md says more:
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
    parsed(&text).map_err(|problem| bad(format!("{} is no plan: {problem}", path.display())))
}

/// What is wrong with a file that is meant to be a plan.
pub(crate) fn problem(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).map_err(|error| config::unreadable(path, &error));
    text.and_then(|text| parsed(&text).map_err(|problem| format!("{}: {problem}", path.display()))).err()
}

fn parsed(text: &str) -> Result<Value, String> {
    let plan: Value = serde_saphyr::from_str(text).map_err(|error| error.to_string())?;
    if plan.get("tasks").is_none() {
        return Err(format!("it has no `tasks`; {SHAPE}"));
    }
    let read = constellation::read(Json::from_tree(plan.clone()).as_bytes(), DEFAULT_DEPTH);
    read.map_err(|invalid| invalid.to_string())?.check().map_err(|fault| fault.public.to_string())?;
    Ok(plan)
}
