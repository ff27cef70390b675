//! Progress events of a plan for its readers: one event for every step that changed, in the format of the Python orchestrator, and the
//! overall progress.

use crate::plans::constellation;
use interlingua_machines::graph::{Change, Ending, Graph, Standing, State, Step};
use interlingua_model::{
    Body, CancelWhy, Channel, Event, Fault, FaultKind, Finished, Json, Level, MessageId, Outcome, Output, Part, Party,
    Piece, Provenance, Trust,
};
use interlingua_wire::object::Object;

/// Characters of one result in an account.
const LONGEST_RESULT: usize = 4_000;
/// Bytes of a whole account.
const LONGEST_ACCOUNT: usize = 128 * 1024;

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
                    State::Running(calling) => {
                        out.text("device_id", calling.peer.as_str());
                        calling.why.iter().for_each(|why| out.text("reason", why));
                    }
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
    Finished { outcome, output: Output { structured: Some(shown), parts, ..Output::default() }, usage: graph.spent() }
}

/// The end of a plan for whoever reads words: how each step ended, where, why there, and with what.
pub(super) fn accounted(graph: &Graph) -> Finished {
    let finished = finished(graph);
    let standing = constellation::standing_word(graph.standing());
    let mut text = format!("The plan is {standing}. Its task is {}.", graph.id);
    for step in graph.steps() {
        let line = account(step);
        if text.len() + line.len() > LONGEST_ACCOUNT {
            text.push_str("\n(more steps are left out here)");
            break;
        }
        text.push('\n');
        text.push_str(&line);
    }
    // It repeats what peers said.
    let provenance = Provenance { trust: Trust::Peer, ..Provenance::hub() };
    let parts = vec![Part::text(text, provenance)];
    Finished { output: Output { parts, ..finished.output }, ..finished }
}

fn account(step: &Step) -> String {
    let place = step.placed.as_ref().map(|(peer, why)| match why {
        Some(why) => format!(" by {peer} ({why})"),
        None => format!(" by {peer}"),
    });
    let place = place.unwrap_or_default();
    let how = match &step.state {
        State::Ended(Ending::Completed(None)) => format!("completed{place}"),
        State::Ended(Ending::Completed(Some(result))) => {
            format!("completed{place}: {}", short(result.tree().as_str().unwrap_or(result.as_str())))
        }
        State::Ended(Ending::Failed(fault)) => format!("failed{place}: {}", short(&fault.public)),
        State::Ended(Ending::Cancelled(why)) => format!("cancelled: {}", why.as_str()),
        State::Waiting | State::Ready | State::Later(_) | State::Running(_) => "not ended".to_owned(),
    };
    format!("- {}: {how}", step.node.id)
}

/// As much of a result as an account shows.
fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST_RESULT) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()),
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
