//! A tool that writes a line each time it runs and is not declared repeatable; and the check of these lines after its hub was killed again
//! and again: every reported task reached an end, nothing was done twice, and an outcome that nobody can know is reported as unknown.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use std::time::Duration;

use interlingua_testkit::{Hub, HubBuilder};
use serde_json::Value;

/// Beside the data directory: what is done in the world is not undone when a disk forgets.
const NOTES: &str = "notes";

/// With the tool `local/note`, whose argument `key` names the task.
pub(crate) fn with_note(builder: HubBuilder) -> HubBuilder {
    let notes = builder.directory().join(NOTES);
    // One write, so that two at once do not mix.
    let command = format!("printf '%s\\n' \"$(cat)\" >> '{}'; echo '{{}}'", notes.display());
    let manifest = format!(
        "name: note\ndescription: Writes a line.\ninput: {{ type: object, properties: {{ key: {{ type: string }} }} }}\n\
         effects: {{ writes: true }}\ntimeout: 30s\ncommand: [sh, -c, {}]\n",
        Value::from(command)
    );
    builder.file("tools/note.yaml", manifest)
}

/// How many tasks ended how.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    pub(crate) completed: usize,
    /// Failed as `outcome_unknown`, and the tool had run.
    pub(crate) unknown_and_done: usize,
    /// Failed as `outcome_unknown`, and the tool had not run: the hub died after it had written down that it sends.
    pub(crate) unknown_and_not_done: usize,
    /// Runs of the tool whose hub died before it said what to do.
    pub(crate) told_nothing: usize,
}

/// Waits for the end of every task, by its key, and holds it against what the tool wrote.
pub(crate) async fn judge(hub: &Hub, tasks: &BTreeMap<String, String>) -> Ends {
    let mut ended = Vec::new();
    for (key, id) in tasks {
        ended.push((key, end(hub, id).await));
    }
    let (ran, told_nothing) = notes(&hub.directory().join(NOTES));
    let mut ends = Ends { told_nothing, ..Ends::default() };
    let mut wrong = Vec::new();
    for (key, end) in ended {
        let times = ran.get(key.as_str()).copied().unwrap_or(0);
        match (end.as_str(), times) {
            ("completed", 1) => ends.completed += 1,
            ("failed: outcome_unknown", 1) => ends.unknown_and_done += 1,
            ("failed: outcome_unknown", 0) => ends.unknown_and_not_done += 1,
            _ => wrong.push(format!("{key}: {end}, the tool ran {times} times")),
        }
    }
    #[expect(clippy::print_stdout, reason = "the counts are what a run is read for")]
    {
        println!("{} tasks: {ends:?}", tasks.len());
    }
    assert!(wrong.is_empty(), "{} of {} tasks:\n{}", wrong.len(), tasks.len(), wrong.join("\n"));
    let stranger = ran.keys().find(|key| !tasks.contains_key(key.as_str()));
    assert_eq!(stranger, None, "the tool ran for a task that nobody knows");
    // Each belongs to a task whose outcome is unknown and for which no line was written: no task was begun twice.
    assert!(ends.told_nothing <= ends.unknown_and_not_done, "the tool was started again: {ends:?}");
    ends
}

/// `completed`, `failed` with the kind of its fault, `cancelled`; or that it is missing, or has no end.
async fn end(hub: &Hub, id: &str) -> String {
    let path = format!("/api/tasks/{id}");
    for _ in 0..600 {
        let answer = hub.get(&path).await;
        if answer.status == 404 {
            return "missing".to_owned();
        }
        let task = answer.json();
        match task["state"].as_str().unwrap_or_default() {
            "failed" => return format!("failed: {}", task["finished"]["fault"]["kind"].as_str().unwrap_or("no fault")),
            state @ ("completed" | "cancelled") => return state.to_owned(),
            _ => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
    "without end".to_owned()
}

/// How often the tool ran for each key, and how often it was told nothing.
fn notes(path: &Path) -> (HashMap<String, usize>, usize) {
    let (mut counts, mut nothing) = (HashMap::new(), 0);
    for line in fs::read_to_string(path).expect("the tool ran").lines() {
        if line.is_empty() {
            nothing += 1;
            continue;
        }
        let arguments: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        *counts.entry(arguments["key"].as_str().expect("a key").to_owned()).or_default() += 1;
    }
    (counts, nothing)
}
