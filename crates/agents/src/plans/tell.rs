//! Progress events of a plan for its readers: one event for every step that changed, in the format of the Python orchestrator, and the
//! overall progress.

use crate::plans::constellation;
use interlingua_machines::graph::{Change, Ending, Graph, Standing, State};
use interlingua_model::{
    Body, CancelWhy, Channel, Event, Fault, FaultKind, Finished, Json, Level, MessageId, Outcome, Output, Part, Party,
    Piece, Provenance, Usage,
};
use interlingua_wire::object::Object;

/// The beginning: all that is known of the plan.
pub(super) fn begun(graph: &Graph, message: &MessageId) -> Event {
    event("constellation_started", message, |out| {
        out.text("constellation_id", &graph.id.to_string());
        out.value("constellation", &constellation::write(graph));
    })
}

/// Nothing for what nobody can see.
pub(super) fn changed(graph: &Graph, change: &Change, message: &MessageId) -> Option<Event> {
    match change {
        Change::Shape => Some(event("constellation_modified", message, |out| {
            out.text("constellation_id", &graph.id.to_string());
            out.value("constellation", &constellation::write(graph));
        })),
        Change::Over(standing) => Some(event("constellation_completed", message, |out| {
            out.text("constellation_id", &graph.id.to_string());
            out.text("constellation_state", constellation::standing_word(*standing));
        })),
        Change::Step { node, state } => {
            let (kind, status) = match state {
                State::Running(_) => ("task_started", "running"),
                State::Ended(Ending::Completed(_)) => ("task_completed", "completed"),
                State::Ended(Ending::Failed(_)) => ("task_failed", "failed"),
                State::Ended(Ending::Cancelled(_)) => ("task_failed", "cancelled"),
                State::Later(_) => ("task_waiting", "pending"),
                State::Waiting | State::Ready => return None,
            };
            Some(event(kind, message, |out| {
                out.text("task_id", node.as_str());
                out.text("status", status);
                match state {
                    State::Running(calling) => out.text("device_id", calling.peer.as_str()),
                    State::Ended(Ending::Completed(Some(result))) => out.value("result", result),
                    State::Ended(Ending::Failed(fault)) => out.text("error", &fault.public),
                    State::Ended(Ending::Cancelled(why)) => out.text("error", why.as_str()),
                    State::Ended(Ending::Completed(None)) | State::Later(_) | State::Waiting | State::Ready => {}
                }
            }))
        }
    }
}

fn event(kind: &str, message: &MessageId, fill: impl FnOnce(&mut Object<'_>)) -> Event {
    let data = Object::json(|out| {
        out.text("event_type", kind);
        fill(out);
    });
    Event::Said {
        message: message.clone(),
        channel: Channel::Note(Level::Info),
        piece: Piece::Whole,
        parts: vec![Part::new(Body::Data(data), Provenance::hub())],
    }
}

/// How many steps have ended, of how many.
pub(super) fn progress(graph: &Graph) -> Event {
    let count = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    let ended = graph.steps().filter(|step| matches!(step.state, State::Ended(_))).count();
    Event::Progress { done: Some(count(ended)), total: Some(count(graph.steps().count())), note: None }
}

/// The end of the plan, with where every step stands.
pub(super) fn finished(graph: &Graph) -> Finished {
    let shown: Json = constellation::write(graph);
    let standing = graph.standing();
    let outcome = match standing {
        Standing::Completed | Standing::Empty => Outcome::Completed,
        Standing::Cancelled => Outcome::Cancelled { by: Party::Caller, why: CancelWhy::Asked },
        Standing::Failed | Standing::PartlyFailed | Standing::Ready | Standing::Running => {
            Outcome::Failed(Fault::hub(FaultKind::PeerFailed, failures(graph)))
        }
    };
    let parts = vec![Part::text(format!("the plan is {}", constellation::standing_word(standing)), Provenance::hub())];
    Finished {
        outcome,
        output: Output { structured: Some(shown), parts, ..Output::default() },
        usage: Usage::default(),
    }
}

fn failures(graph: &Graph) -> String {
    let failed: Vec<String> = graph
        .steps()
        .filter_map(|step| match &step.state {
            State::Ended(Ending::Failed(fault)) => Some(format!("{}: {}", step.node.id, fault.public)),
            State::Ended(_) | State::Waiting | State::Ready | State::Later(_) | State::Running(_) => None,
        })
        .collect();
    let shown: Vec<&str> = failed.iter().take(5).map(String::as_str).collect();
    format!("{} of {} steps failed ({})", failed.len(), graph.steps().count(), shown.join("; "))
}
