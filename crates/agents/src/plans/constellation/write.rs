//! Encoder of the plan format: the plan and its progress, with every field that the format has.

use std::collections::BTreeSet;

use interlingua_machines::graph::{Dependency, Edge, Ending, Graph, State, Step, Want};
use interlingua_model::json::write_string;
use interlingua_model::{Json, Meta, NodeId, Time};

use super::{dependency_word, priority_number, standing_word, status_word};
use interlingua_wire::members::Members;
use interlingua_wire::object::Object;
use interlingua_wire::time::stamp;

/// The whole plan.
pub fn write(graph: &Graph) -> Json {
    let kept = kept(&graph.meta);
    let (mut started, mut ended): (Option<Time>, Option<Time>) = (None, None);
    for step in graph.steps() {
        started = [started, step.started].into_iter().flatten().min();
        ended = ended.max(step.ended);
    }
    let ended = ended.filter(|_| graph.is_over());
    Object::json(|out| {
        match kept.get("constellation_id") {
            Some(id) => out.value("constellation_id", &id),
            None => out.text("constellation_id", &format!("constellation_{}", graph.id)),
        }
        out.text("name", &graph.name);
        out.text("state", standing_word(graph.standing()));
        out.object("tasks", |out| {
            for step in graph.steps() {
                out.object(step.node.id.as_str(), |out| task(out, graph, step));
            }
        });
        out.object("dependencies", |out| {
            for edge in graph.edges() {
                out.object(edge.id.as_str(), |out| line(out, graph, edge));
            }
        });
        kept_or(out, &kept, "metadata", |out| out.object("metadata", |_| ()));
        times(out, &kept, graph.created, graph.updated);
        span(out, started, ended);
        let known = ["constellation_id", "name", "state", "metadata"];
        rest(out, &kept, &known);
    })
}

fn kept(meta: &Meta) -> Members {
    meta.0.as_ref().map_or_else(Members::absent, Members::of)
}

fn kept_or(out: &mut Object<'_>, kept: &Members, key: &str, otherwise: impl FnOnce(&mut Object<'_>)) {
    match kept.get(key) {
        Some(value) => out.value(key, &value),
        None => otherwise(out),
    }
}

fn times(out: &mut Object<'_>, kept: &Members, created: Time, updated: Time) {
    kept_or(out, kept, "created_at", |out| out.text("created_at", &stamp(created)));
    out.text("updated_at", &stamp(updated));
}

fn span(out: &mut Object<'_>, started: Option<Time>, ended: Option<Time>) {
    out.text_or_null("execution_start_time", started.map(stamp).as_deref());
    out.text_or_null("execution_end_time", ended.map(stamp).as_deref());
    match (started, ended) {
        (Some(started), Some(ended)) => {
            let millis = ended.0.saturating_sub(started.0);
            let seconds = format!("{}.{:03}", millis / 1000, millis % 1000);
            out.key("execution_duration").extend_from_slice(seconds.as_bytes());
        }
        (None, _) | (_, None) => out.null("execution_duration"),
    }
}

/// What came in and has no place of its own goes out again.
fn rest(out: &mut Object<'_>, kept: &Members, written: &[&str]) {
    const ALWAYS: [&str; 7] = [
        "tasks",
        "dependencies",
        "created_at",
        "updated_at",
        "execution_start_time",
        "execution_end_time",
        "execution_duration",
    ];
    for (key, value) in kept.iter().filter(|(key, _)| !written.contains(key) && !ALWAYS.contains(key)) {
        out.value(key, &value);
    }
}

fn task(out: &mut Object<'_>, graph: &Graph, step: &Step) {
    let (node, kept) = (&step.node, kept(&step.node.meta));
    out.text("task_id", node.id.as_str());
    out.text("name", &node.name);
    out.text("description", &node.words);
    out.array("tips", &node.hints, |tip, out| write_string(tip, out));
    out.text("task_description", &node.words);
    let (device, platform) = match &node.want {
        Want::Peer(peer) => (Some(peer.as_str()), None),
        Want::Any { platform, .. } => (None, platform.as_deref()),
    };
    out.text_or_null("target_device_id", device);
    match platform {
        Some(platform) => out.text("device_type", platform),
        None => kept_or(out, &kept, "device_type", |out| out.null("device_type")),
    }
    out.number("priority", priority_number(node.priority));
    out.text("status", status_word(&step.state));
    let (result, error) = match &step.state {
        State::Ended(Ending::Completed(result)) => (result.clone(), None),
        State::Ended(Ending::Failed(fault)) => (None, Some(fault.public.to_string())),
        State::Ended(Ending::Cancelled(why)) => (None, Some(format!("cancelled: {}", why.as_str()))),
        State::Waiting | State::Ready | State::Later(_) | State::Running(_) => (None, None),
    };
    match result {
        Some(result) => out.value("result", &result),
        None => out.null("result"),
    }
    out.text_or_null("error", error.as_deref());
    if let Some((peer, why)) = &step.placed {
        out.text("assigned_device_id", peer.as_str());
        if let Some(why) = why {
            out.text("assignment_reason", why);
        }
    }
    match node.timeout {
        Some(timeout) => out.key("timeout").extend_from_slice(timeout.as_secs_f64().to_string().as_bytes()),
        None => out.null("timeout"),
    }
    out.number("retry_count", node.retries.into());
    out.number("current_retry", step.attempts.saturating_sub(1).into());
    kept_or(out, &kept, "task_data", |out| task_data(out, step));
    kept_or(out, &kept, "expected_output_type", |out| out.null("expected_output_type"));
    times(out, &kept, graph.created, step.ended.or(step.started).unwrap_or(graph.created));
    span(out, step.started, step.ended);
    let (front, behind) = graph.around(step);
    let names = |ids: BTreeSet<&NodeId>, key: &str, out: &mut Object<'_>| {
        out.array(key, ids, |id, out| write_string(id.as_str(), out));
    };
    names(front.map(|edge| &edge.from).collect(), "dependencies", out);
    names(behind.map(|edge| &edge.to).collect(), "dependents", out);
    rest(out, &kept, &WRITTEN);
}

const WRITTEN: [&str; 19] = [
    "task_id",
    "name",
    "description",
    "tips",
    "task_description",
    "target_device_id",
    "device_type",
    "priority",
    "status",
    "result",
    "error",
    "assigned_device_id",
    "assignment_reason",
    "timeout",
    "retry_count",
    "current_retry",
    "task_data",
    "expected_output_type",
    "dependents",
];

fn task_data(out: &mut Object<'_>, step: &Step) {
    let node = &step.node;
    out.object("task_data", |out| {
        if let Some(skill) = &node.skill {
            out.text("skill", skill.as_str());
        }
        if let Some(args) = &node.args {
            out.value("arguments", args);
        }
        if let Want::Any { capability, memory, .. } = &node.want {
            capability.iter().for_each(|capability| out.text("capability", capability));
            if let Some(mebibytes) = memory {
                let hundredths = mebibytes.saturating_mul(100) / 1024;
                let gibibytes = format!("{}.{:02}", hundredths / 100, hundredths % 100);
                out.key("memory_gb").extend_from_slice(gibibytes.as_bytes());
            }
        }
        if node.repeatable {
            out.bool("idempotent", true);
        }
    });
}

fn line(out: &mut Object<'_>, graph: &Graph, edge: &Edge) {
    let kept = kept(&edge.meta);
    out.text("line_id", edge.id.as_str());
    out.text("from_task_id", edge.from.as_str());
    out.text("to_task_id", edge.to.as_str());
    out.text("dependency_type", dependency_word(&edge.kind));
    out.text("condition_description", &edge.note);
    kept_or(out, &kept, "metadata", |out| out.object("metadata", |out| condition(out, &edge.kind)));
    let verdict = graph.verdict(edge);
    out.bool("is_satisfied", verdict == Some(true));
    match verdict {
        Some(passed) => out.bool("last_evaluation_result", passed),
        None => out.null("last_evaluation_result"),
    }
    let front = graph.step(&edge.from).and_then(|step| step.ended).filter(|_| verdict.is_some());
    out.text_or_null("last_evaluation_time", front.map(stamp).as_deref());
    times(out, &kept, graph.created, front.unwrap_or(graph.created));
    let written = [
        "line_id",
        "from_task_id",
        "to_task_id",
        "dependency_type",
        "condition_description",
        "metadata",
        "is_satisfied",
        "last_evaluation_result",
        "last_evaluation_time",
    ];
    rest(out, &kept, &written);
}

fn condition(out: &mut Object<'_>, kind: &Dependency) {
    if let Dependency::Conditional(Some(condition)) = kind {
        out.object("condition", |out| {
            out.text("pointer", &condition.pointer);
            if let Some(equals) = &condition.equals {
                out.value("equals", equals);
            }
        });
    }
}
