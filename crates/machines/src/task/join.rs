//! Coalesces neighbouring events before they are numbered: deltas of one message, progress, updates of a step, inner artifact chunks. Every
//! reader, live or late, then sees the same sequence.

use interlingua_model::content::{Body, Part};
use interlingua_model::event::{Event, Piece};
use interlingua_model::journal::Record;

/// Adds a record to a batch that has no numbers yet, joining it to the last one where nothing is lost by it.
pub fn join(batch: &mut Vec<Record>, next: Record) {
    if let (
        Some(Record::Emitted { event: last, losses, raw: None }),
        Record::Emitted { event, losses: more, raw: None },
    ) = (batch.last_mut(), &next)
        && joined(last, event)
    {
        losses.extend(more.iter().cloned());
        return;
    }
    batch.push(next);
}

/// True when `next` was taken up by `last`.
fn joined(last: &mut Event, next: &Event) -> bool {
    match (last, next) {
        (Event::Progress { done, total, note }, Event::Progress { done: d, total: t, note: n }) => {
            *done = d.or(*done);
            *total = t.or(*total);
            if n.is_some() {
                note.clone_from(n);
            }
            true
        }
        (
            Event::Said { message, channel, piece: Piece::Delta, parts },
            Event::Said { message: same, channel: way, piece: Piece::Delta, parts: more },
        ) if message == same && channel == way => {
            more.iter().for_each(|part| append(parts, part));
            true
        }
        // Both are before its end: nobody need know that it waited.
        (Event::Step(step), Event::Step(next))
            if step.id == next.id && !step.state.is_over() && !next.state.is_over() =>
        {
            step.clone_from(next);
            true
        }
        _ => false,
    }
}

/// Text that continues text becomes one part.
fn append(parts: &mut Vec<Part>, next: &Part) {
    if let Some(last) = parts.last_mut()
        && last.label == next.label
        && last.provenance == next.provenance
        && let (Body::Text { text, language }, Body::Text { text: more, language: same }) = (&mut last.body, &next.body)
        && language == same
    {
        *text = format!("{text}{more}").into();
        return;
    }
    parts.push(next.clone());
}
