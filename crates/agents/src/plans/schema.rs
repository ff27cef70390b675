//! JSON Schemas of the skills of plans. Every field has a description, so that a model can write a plan from the schema alone.
//!
//! They describe and do not guard: what a plan must be is decided by its reader, which also takes what the Python orchestrator writes
//! (nulls, words for numbers, lists for maps).

use serde_json::{Value, json};

/// Input of `run`.
pub(super) fn run() -> Value {
    json!({
        "type": "object",
        "properties": {
            "plan": plan(),
            "width": width(),
            "max_steps": max_steps(),
            "planner": {"type": "string", "description": "A peer that is asked after every step whether the plan should change."},
            "patience": {"type": "number", "exclusiveMinimum": 0, "description": "How many seconds it may think each time."},
        },
        "required": ["plan"],
    })
}

/// Input of `carry_out`: a plan, or the task of a plan that has ended with what is to change.
pub(super) fn carry_out() -> Value {
    let mut properties = changes();
    let more = json!({
        "plan": plan(),
        "continues": {"type": "string", "description":
            "The task of a plan that has ended, or `last` for the last plan that you had carried out, to continue it: steps that completed stay done and keep their results, all others run again, \
             as changed by the other fields. Without it, `plan` is required."},
        "width": width(),
        "max_steps": max_steps(),
    });
    extend(&mut properties, more);
    json!({"type": "object", "properties": properties})
}

/// Input of `edit`.
pub(super) fn edit() -> Value {
    let mut properties = changes();
    let more = json!({
        "task": task_id(),
        "plan": plan(),
        "undo": {"type": "boolean", "description": "Undo the last edit. All other fields are ignored."},
    });
    extend(&mut properties, more);
    json!({"type": "object", "properties": properties, "required": ["task"]})
}

/// Input of `do`.
pub(super) fn told() -> Value {
    json!({
        "type": "object",
        "properties": {"request": {"type": "string", "description": "The plan, in JSON: an object with `tasks` and `dependencies`, as graph/run takes it."}},
        "required": ["request"],
    })
}

/// Input of `show`.
pub(super) fn show() -> Value {
    json!({"type": "object", "properties": {"task": task_id()}, "required": ["task"]})
}

fn extend(properties: &mut Value, more: Value) {
    if let (Value::Object(properties), Value::Object(more)) = (properties, more) {
        properties.extend(more);
    }
}

fn task_id() -> Value {
    json!({"type": "string", "description": "The task of the plan that runs."})
}

fn width() -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": 1000, "description": "How many steps may run at once. Default: 64."})
}

fn max_steps() -> Value {
    json!({"type": "integer", "minimum": 1, "description": "Refuse a plan with more steps than this."})
}

fn changes() -> Value {
    json!({
        "tasks": items("Steps to add, or to replace if the id exists: an object from step id to step, or a list of steps.", step()),
        "dependencies": items("Dependencies to add.", dependency()),
        "remove": {"type": "array", "items": {"type": "string"}, "description": "Ids of steps to remove, with their dependencies."},
        "unlink": {"type": "array", "items": {"type": "string"}, "description": "Ids of dependencies to remove."},
        "retarget": {"type": "object", "additionalProperties": {"type": "string"}, "description":
            "From step id to the peer that is to do the step instead, such as {\"print\": \"printer-2\"}."},
    })
}

fn plan() -> Value {
    json!({
        "type": "object",
        "description":
            "Steps and what each of them waits for. Steps that wait for nothing run at the same time. The names are those of UFO's \
             TaskConstellation.",
        "properties": {
            "name": {"description": "A short name of the plan, for people."},
            "tasks": items("The steps: an object from step id to step, or a list of steps.", step()),
            "dependencies": items("Which step waits for which: a list, or an object from id to dependency.", dependency()),
        },
    })
}

/// A map or a list, as the format takes both.
fn items(description: &str, item: Value) -> Value {
    json!({
        "description": description,
        "anyOf": [{"type": "object", "additionalProperties": item}, {"type": "array", "items": item}, {"type": "null"}],
    })
}

fn step() -> Value {
    json!({
        "type": "object",
        "description": "One call: of a skill (`task_data.skill`), or of a peer in words (`target_device_id` and `description`).",
        "properties": {
            "task_id": {"description": "The id of the step. In an object of steps, the key is the id."},
            "name": {"description": "A short name, for people."},
            "description": {"description":
                "What is to be done, in words. A peer that is called without a skill gets this text. `{{STEP}}` or `{{STEP/field/0}}` in it \
                 is replaced by the result of that step, or by a part of it."},
            "tips": {"description": "A list of hints in words, added to the description."},
            "target_device_id": {"description":
                "The peer that does the step. Omit it to let the hub choose by `task_data.capability`, `device_type` and load."},
            "device_type": {"description": "The platform that the peer must have, such as linux, windows or macos."},
            "priority": {"description": "1 (low) to 4 (critical), default 2: of the steps that are ready, the most urgent starts first."},
            "timeout": {"description": "Seconds for each attempt."},
            "retry_count": {"description": "How often to retry a failure that allows a retry. Default: 0."},
            "task_data": {
                "description": "What is called.",
                "anyOf": [call(), {"type": "null"}],
            },
        },
    })
}

fn call() -> Value {
    json!({
        "type": "object",
        "properties": {
            "skill": {"description": "The skill to call, as `peer/skill`; or the skill's name alone, of the peer that does the step."},
            "arguments": {"description":
                "The arguments of the skill, an object. {\"$result\": \"STEP\", \"pointer\": \"/field/0\"} anywhere in it is replaced by that \
                 part of the result of STEP (without `pointer`, by the whole result), and `{{STEP/field/0}}` in a text likewise. The step \
                 needs a dependency on STEP. It fails if STEP did not complete or has no such field."},
            "capability": {"description":
                "What the peer must be able to do: the name of one of its skills, a tag or a capability that it reports. `gpu`: it has a \
                 graphics processor. Used if no peer is named."},
            "memory_gb": {"description": "Free memory in GiB that the device must report. Used if no peer is named."},
            "idempotent": {"description": "true if running the step twice does no harm: then every failure allows a retry."},
        },
    })
}

fn dependency() -> Value {
    json!({
        "type": "object",
        "description": "`to_task_id` waits for `from_task_id`.",
        "properties": {
            "line_id": {"description": "The id of the dependency. In an object of dependencies, the key is the id."},
            "from_task_id": {"type": "string", "description": "The id of the step that is waited for."},
            "to_task_id": {"type": "string", "description": "The id of the step that waits."},
            "dependency_type": {"description":
                "`unconditional`: once the first step has ended, however (default). `completion_only`: once it ran. `success_only`: once it \
                 completed. `conditional`: once it completed and its result meets `metadata.condition`. A step whose dependency can no \
                 longer be met is cancelled."},
            "condition_description": {"description": "The condition in words, for people."},
            "metadata": {"description":
                "Of a conditional dependency: {\"condition\": {\"pointer\": \"/field\", \"equals\": VALUE}}. `pointer` is a JSON Pointer \
                 into the result; without `equals` the value must exist and be neither null nor false."},
        },
        "required": ["from_task_id", "to_task_id"],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every property below, with its path.
    fn properties(schema: &Value, path: &str, found: &mut Vec<(String, bool)>) {
        if let Some(members) = schema["properties"].as_object() {
            for (name, property) in members {
                let path = format!("{path}/{name}");
                found.push((path.clone(), property["description"].as_str().is_some_and(|text| text.len() > 10)));
                properties(property, &path, found);
            }
        }
        for inner in ["additionalProperties", "items"].map(|key| &schema[key]).into_iter().filter(|one| one.is_object())
        {
            properties(inner, path, found);
        }
        for one in schema["anyOf"].as_array().into_iter().flatten() {
            properties(one, path, found);
        }
    }

    #[test]
    fn every_field_of_a_plan_is_described() {
        for schema in [run(), edit(), carry_out(), told(), show()] {
            let mut found = Vec::new();
            properties(&schema, "", &mut found);
            let silent: Vec<&String> = found.iter().filter(|(_, described)| !described).map(|(path, _)| path).collect();
            assert!(silent.is_empty(), "without a description: {silent:?}");
        }
        let mut found = Vec::new();
        properties(&run(), "", &mut found);
        let paths: std::collections::BTreeSet<&str> = found.iter().map(|(path, _)| path.as_str()).collect();
        for path in [
            "/plan/tasks/target_device_id",
            "/plan/tasks/task_data/skill",
            "/plan/tasks/task_data/arguments",
            "/plan/tasks/task_data/memory_gb",
            "/plan/dependencies/from_task_id",
            "/plan/dependencies/metadata",
        ] {
            assert!(paths.contains(path), "{path} is not in {paths:?}");
        }
    }
}
