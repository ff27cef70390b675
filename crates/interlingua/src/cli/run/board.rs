//! Live drawing of a plan: one line for each step, below the step it waits for, with its peer and state.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::cli::screen::plain;

/// A larger plan is only counted: nobody reads so many lines.
const DRAWN: usize = 500;
/// Characters of a result that are shown.
const RESULT: usize = 200;

#[derive(Debug, Default)]
pub(super) struct Board {
    steps: BTreeMap<String, Step>,
    /// From, to.
    lines: BTreeSet<(String, String)>,
    state: String,
}

#[derive(Debug, Default, Clone)]
struct Step {
    name: String,
    status: String,
    device: String,
    error: String,
    /// What came of it, on one line.
    result: String,
    /// Why it was given to its device.
    reason: String,
}

impl Step {
    /// Has it a name that says more than its id? The format gives every step one.
    fn is_named(&self, id: &str) -> bool {
        let given = self.name.strip_prefix("task_").is_some_and(|rest| id.starts_with(rest));
        !self.name.is_empty() && self.name != id && !given
    }
}

/// A text of a member, or nothing.
fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A result on one line, short enough to be read.
fn result(value: Option<&Value>) -> String {
    let written = match value {
        None | Some(Value::Null) => return String::new(),
        Some(Value::String(text)) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        Some(other) => other.to_string(),
    };
    match written.char_indices().nth(RESULT) {
        None => written,
        Some((end, _)) => format!("{}…", &written[..end]),
    }
}

impl Board {
    /// Takes an event; what a line of its own would say of it.
    pub(super) fn take(&mut self, event: &Value) -> Option<String> {
        if let Some(plan) = event.get("constellation") {
            self.become_plan(plan);
            return None;
        }
        let id = text(event, "task_id");
        if id.is_empty() {
            self.state = text(event, "constellation_state").to_owned();
            return (!self.state.is_empty()).then(|| format!("the plan is {}", self.state));
        }
        let step = self.steps.entry(id.to_owned()).or_default();
        text(event, "status").clone_into(&mut step.status);
        text(event, "error").clone_into(&mut step.error);
        let device = text(event, "device_id");
        if !device.is_empty() {
            device.clone_into(&mut step.device);
        }
        step.result = result(event.get("result"));
        text(event, "reason").clone_into(&mut step.reason);
        let who = if step.device.is_empty() { String::new() } else { format!(" ({})", step.device) };
        let said = [&step.error, &step.result, &step.reason].into_iter().find(|said| !said.is_empty());
        let said = said.map(|said| format!(": {said}")).unwrap_or_default();
        Some(format!("{id}{who} {}{said}", step.status))
    }

    /// The shape of this plan, and where its steps stand; who does them is known from before.
    pub(super) fn become_plan(&mut self, plan: &Value) {
        let old = std::mem::take(&mut self.steps);
        for (id, task) in plan.get("tasks").and_then(Value::as_object).into_iter().flatten() {
            let before = old.get(id).map(|step| step.device.clone()).filter(|device| !device.is_empty());
            let assigned = [text(task, "assigned_device_id"), text(task, "target_device_id")];
            let assigned = assigned.into_iter().find(|device| !device.is_empty()).unwrap_or_default();
            let device = before.unwrap_or_else(|| assigned.to_owned());
            let step = Step {
                name: text(task, "name").to_owned(),
                status: text(task, "status").to_owned(),
                device,
                error: text(task, "error").to_owned(),
                result: result(task.get("result")),
                reason: text(task, "assignment_reason").to_owned(),
            };
            self.steps.insert(id.clone(), step);
        }
        let lines = plan.get("dependencies").and_then(Value::as_object).into_iter().flatten();
        let ends = |line: &Value| (text(line, "from_task_id").to_owned(), text(line, "to_task_id").to_owned());
        self.lines = lines.map(|(_, line)| ends(line)).collect();
        text(plan, "state").clone_into(&mut self.state);
    }

    fn behind(&self, id: &str) -> impl Iterator<Item = &String> {
        self.lines.iter().filter(move |(from, _)| from == id).map(|(_, to)| to)
    }

    fn before(&self, id: &str) -> Vec<&str> {
        self.lines.iter().filter(|(_, to)| to == id).map(|(from, _)| from.as_str()).collect()
    }

    pub(super) fn draw(&self, width: usize) -> String {
        if self.steps.len() > DRAWN {
            return self.count();
        }
        let mut drawn = Drawing { board: self, lines: Vec::new(), done: BTreeSet::new() };
        for id in self.steps.keys().filter(|id| self.before(id).is_empty()) {
            drawn.step(id, None, "", "");
        }
        // What is left waits for something that is not here.
        for id in self.steps.keys() {
            drawn.step(id, None, "", "");
        }
        let cut = |line: &String| plain(line).chars().take(width).collect::<String>();
        drawn.lines.iter().map(cut).chain([self.count()]).collect::<Vec<_>>().join("\n")
    }
}

impl Board {
    fn count(&self) -> String {
        let ended = self.steps.values().filter(|step| matches!(&*step.status, "completed" | "failed" | "cancelled"));
        plain(&format!("{} of {} steps, {}", ended.count(), self.steps.len(), self.state))
    }
}

struct Drawing<'b> {
    board: &'b Board,
    lines: Vec<String>,
    done: BTreeSet<&'b str>,
}

impl<'b> Drawing<'b> {
    /// A step, and below it those whose last open line comes from it.
    fn step(&mut self, id: &'b str, from: Option<&str>, lead: &str, branch: &str) {
        let Some(step) = self.board.steps.get(id).filter(|_| !self.done.contains(id)) else { return };
        self.done.insert(id);
        let mark = match step.status.as_str() {
            "completed" => '✔',
            "failed" => '✘',
            "cancelled" => '–',
            "running" => '▶',
            _ => '·',
        };
        let others: Vec<&str> = self.board.before(id).into_iter().filter(|other| Some(*other) != from).collect();
        let name = if step.is_named(id) { format!("  {}", step.name) } else { String::new() };
        let who = if step.device.is_empty() { String::new() } else { format!("  [{}]", step.device) };
        let after = if others.is_empty() { String::new() } else { format!("  after {}", others.join(", ")) };
        let why = if step.error.is_empty() { String::new() } else { format!("  {}", step.error) };
        let gave = if step.result.is_empty() { String::new() } else { format!("  → {}", step.result) };
        self.lines.push(format!("{mark} {lead}{branch}{id}{name}{who}{after}{why}{gave}"));
        let children: Vec<&String> = self.board.behind(id).filter(|to| !self.done.contains(to.as_str())).collect();
        let below = match branch {
            "" => lead.to_owned(),
            "└─ " => format!("{lead}   "),
            _ => format!("{lead}│  "),
        };
        for (index, child) in children.iter().enumerate() {
            let last = index + 1 == children.len();
            self.step(child, Some(id), &below, if last { "└─ " } else { "├─ " });
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn board() -> Board {
        let mut board = Board::default();
        let line = |from: &str, to: &str| json!({"from_task_id": from, "to_task_id": to});
        let plan = json!({
            "state": "ready",
            "tasks": {
                "a": {"name": "Fetch", "status": "pending", "target_device_id": "lab"},
                "b": {"name": "b", "status": "pending"},
                "c": {"name": "", "status": "pending"},
                "d": {"status": "pending"},
            },
            "dependencies": {"1": line("a", "b"), "2": line("a", "c"), "3": line("b", "d"), "4": line("c", "d")},
        });
        assert_eq!(board.take(&json!({"event_type": "constellation_started", "constellation": plan})), None);
        board
    }

    #[test]
    fn a_plan_is_drawn_as_a_tree_with_what_else_a_step_waits_for() {
        let mut board = board();
        let started = json!({"event_type": "task_started", "task_id": "a", "status": "running", "device_id": "lab"});
        assert_eq!(board.take(&started).as_deref(), Some("a (lab) running"));
        let failed =
            json!({"event_type": "task_failed", "task_id": "a", "status": "failed", "error": "no\u{1b}[2J way"});
        assert_eq!(board.take(&failed).as_deref(), Some("a (lab) failed: no\u{1b}[2J way"));
        let drawn = board.draw(60);
        let expected = "✘ a  Fetch  [lab]  no\\u{1b}[2J way\n· ├─ b\n· │  └─ d  after c\n· └─ c\n1 of 4 steps, ready";
        assert_eq!(drawn, expected);
        assert!(board.draw(10).lines().all(|line| line.chars().count() <= 20));
    }

    #[test]
    fn what_came_of_a_step_is_shown_and_why_it_was_given_to_its_device() {
        let mut board = board();
        let reason = "chosen: lab, 3 % CPU; old has no GPU";
        let started = json!({"event_type": "task_started", "task_id": "b", "status": "running", "device_id": "lab", "reason": reason});
        assert_eq!(board.take(&started), Some(format!("b (lab) running: {reason}")));
        let done = json!({"event_type": "task_completed", "task_id": "b", "status": "completed", "result": {"n": 2}});
        assert_eq!(board.take(&done).as_deref(), Some("b (lab) completed: {\"n\":2}"));
        let long =
            json!({"event_type": "task_completed", "task_id": "c", "status": "completed", "result": "x\n".repeat(300)});
        let line = board.take(&long).expect("a line");
        assert!(line.starts_with("c completed: x x x") && line.ends_with('…') && line.chars().count() < 250, "{line}");
        assert!(board.draw(60).contains("✔ ├─ b  [lab]  → {\"n\":2}"), "{}", board.draw(60));
    }

    #[test]
    fn a_circle_and_an_unknown_event_do_no_harm() {
        let mut board = board();
        board.lines.insert(("d".to_owned(), "a".to_owned()));
        assert_eq!(board.draw(60).lines().count(), 5);
        assert_eq!(board.take(&json!({"event_type": "other"})), None);
        assert_eq!(board.take(&json!(7)), None);
    }
}
