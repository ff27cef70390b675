//! Rate limit for progress, steps and log lines of a peer: each is truncated, and their rate and sum are bounded. A peer that floods its
//! task with them fills neither memory nor disk. Omitted ones are counted and reported with the outcome as a loss.

use std::collections::HashSet;

use interlingua_model::{Body, Channel, Event, Loss, LossKind, Part, Raw, StepId, Text, Time};

/// Bytes of one note.
const LONGEST: usize = 64 * 1024;
/// Bytes of all notes of one task.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// Notes of one task at once, and how many more each second.
const AT_ONCE: u64 = 2_000;
const EACH_SECOND: u64 = 200;
/// Steps whose end passes whatever the limit says.
const UNDER_WAY: usize = 1_000;

#[derive(Debug, Default)]
pub(super) struct Notes {
    taken: u64,
    bytes: usize,
    left_out: u64,
    /// Steps that were passed on and are not over: the end of each is passed on, too, once. At most [`UNDER_WAY`].
    under_way: HashSet<StepId>,
    first: Option<Time>,
}

impl Notes {
    /// What is passed on of an event; nothing of a note too many.
    pub(super) fn pass(
        &mut self,
        mut event: Event,
        mut losses: Vec<Loss>,
        raw: Option<Raw>,
        now: Time,
    ) -> Option<(Event, Vec<Loss>, Option<Raw>)> {
        let size = match &mut event {
            Event::Progress { note, .. } => note.as_mut().map_or(0, |note| shorten(note, LONGEST)),
            Event::Said { channel: Channel::Note(_), parts, .. } => shorten_parts(parts),
            Event::Step(step) => {
                step.bounded();
                if step.state.is_over() && self.under_way.remove(&step.id) {
                    self.bytes = self.bytes.saturating_add(step.weight());
                    return Some((event, losses, bounded(raw)));
                }
                step.weight()
            }
            Event::Finished(_) => {
                losses.extend(self.left_out());
                return Some((event, losses, raw));
            }
            Event::Started(_)
            | Event::Said { channel: Channel::Answer | Channel::Reasoning, .. }
            | Event::Artifact(_)
            | Event::Asked(_)
            | Event::Settled { .. } => return Some((event, losses, raw)),
        };
        if !self.has_room(size, now) {
            self.left_out += 1;
            return None;
        }
        if let Event::Step(step) = &event
            && !step.state.is_over()
            && self.under_way.len() < UNDER_WAY
        {
            self.under_way.insert(step.id.clone());
        }
        Some((event, losses, bounded(raw)))
    }

    fn has_room(&mut self, size: usize, now: Time) -> bool {
        let first = *self.first.get_or_insert(now);
        let allowed = AT_ONCE.saturating_add(now.until(first).as_secs().saturating_mul(EACH_SECOND));
        let bytes = self.bytes.saturating_add(size);
        if self.taken >= allowed || bytes > MOST_BYTES {
            return false;
        }
        (self.taken, self.bytes) = (self.taken + 1, bytes);
        true
    }

    /// As a loss of the task.
    pub(super) fn left_out(&self) -> Vec<Loss> {
        let loss = || Loss::new(format!("{} notifications", self.left_out), LossKind::Dropped);
        (self.left_out > 0).then(loss).into_iter().collect()
    }
}

/// As it came an event may be longer than what was left of it.
fn bounded(raw: Option<Raw>) -> Option<Raw> {
    raw.filter(|raw| raw.json.as_bytes().len() <= LONGEST)
}

/// Cuts a text; how long it is then.
fn shorten(text: &mut Text, most: usize) -> usize {
    if text.len() > most {
        let end = (0..=most).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        *text = format!("{}…", text.get(..end).unwrap_or_default()).into();
    }
    text.len()
}

/// Cuts what is text, and leaves out the rest that does not fit.
fn shorten_parts(parts: &mut Vec<Part>) -> usize {
    let mut room = LONGEST;
    parts.retain_mut(|part| {
        let size = match &mut part.body {
            Body::Text { text, .. } if room > 0 => shorten(text, room),
            Body::Text { text, .. } => text.len().max(1),
            Body::Data(value) | Body::Other { value, .. } => value.as_bytes().len(),
            Body::Code { source, .. } => source.len(),
            Body::Place { text, .. } => text.as_ref().map_or(0, |text| text.len()),
            // Those above a small size are kept elsewhere, and bounded there.
            Body::Blob(_) | Body::Link => 0,
        };
        // A text that was cut ends with a sign that it was.
        let fits = size <= room.saturating_add('…'.len_utf8());
        room = room.saturating_sub(size);
        fits
    });
    LONGEST - room
}

#[cfg(test)]
mod tests {
    use interlingua_model::{Finished, Json, Level, MessageId, Output, Piece, Provenance, Step, StepKind, StepState};

    use super::*;

    fn note(text: &str) -> Event {
        let (message, channel) = (MessageId::from("m"), Channel::Note(Level::Info));
        Event::Said { message, channel, piece: Piece::Whole, parts: vec![Part::text(text, Provenance::caller())] }
    }

    fn text_of(event: &Event) -> usize {
        match event {
            Event::Said { parts, .. } => parts.iter().filter_map(Part::as_text).map(str::len).sum(),
            _ => 0,
        }
    }

    fn step(id: &str, state: StepState, args: &str) -> Event {
        let args = Some(Json::from_tree(serde_json::json!({"note": args})));
        let (title, kind) = ("look".into(), StepKind::Read);
        Event::Step(Box::new(Step {
            id: id.into(),
            parent: None,
            skill: None,
            title,
            kind,
            state,
            args,
            parts: Vec::new(),
        }))
    }

    /// How many of these pass.
    fn passed(notes: &mut Notes, events: impl IntoIterator<Item = Event>) -> usize {
        events.into_iter().filter_map(|event| notes.pass(event, Vec::new(), None, Time(0))).count()
    }

    #[test]
    fn attack_a_step_that_says_again_and_again_that_it_runs_does_not_fill_the_journal() {
        let mut notes = Notes::default();
        let again = |count: usize| step("s", StepState::Running, &count.to_string());
        assert_eq!(passed(&mut notes, (0..10_000).map(again)) as u64, AT_ONCE, "each counts against the limit");
        assert_eq!(passed(&mut notes, [step("s", StepState::Done, "")]), 1, "its end passes");
        let ends = || step("s", StepState::Done, "");
        assert_eq!(passed(&mut notes, (0..10_000).map(|_| ends())), 0, "once");
        let mut heavy = Notes::default();
        let long = "x".repeat(LONGEST);
        let weigh = |event: Event| match event {
            Event::Step(step) => step.weight(),
            _ => 0,
        };
        let runs = |_| heavy.pass(step("s", StepState::Running, &long), Vec::new(), None, Time(0));
        let bytes: usize = (0..AT_ONCE).filter_map(runs).map(|(event, ..)| weigh(event)).sum();
        assert!(bytes <= MOST_BYTES, "{bytes}");
    }

    #[test]
    fn attack_steps_that_never_end_are_not_remembered_without_bound() {
        let mut notes = Notes::default();
        for seconds in 0..100 {
            for count in 0..200 {
                let event = step(&format!("{seconds}-{count}"), StepState::Running, "");
                notes.pass(event, Vec::new(), None, Time(seconds * 1_000));
            }
        }
        assert_eq!(notes.under_way.len(), UNDER_WAY);
    }

    #[test]
    fn a_flood_of_notes_is_cut_and_counted() {
        let mut notes = Notes::default();
        let long = "é".repeat(LONGEST);
        let (event, ..) = notes.pass(note(&long), Vec::new(), None, Time(0)).expect("passes");
        assert!(text_of(&event) <= LONGEST + 3, "{}", text_of(&event));
        let passed = (0..10_000).filter(|_| notes.pass(note("x"), Vec::new(), None, Time(0)).is_some()).count();
        assert_eq!(passed as u64, AT_ONCE - 1);
        notes.pass(note("later"), Vec::new(), None, Time(1_000)).expect("there is room again");
        let end = Event::Finished(Finished::completed(Output::default()));
        let (_, losses, _) = notes.pass(end, Vec::new(), None, Time(0)).expect("the end passes");
        assert_eq!(losses.len(), 1);
        assert!(losses[0].what.contains("notifications"));
        let mut heavy = Notes::default();
        let passed = (0..1_000).filter(|_| heavy.pass(note(&long), Vec::new(), None, Time(0)).is_some()).count();
        assert!(passed <= MOST_BYTES / LONGEST, "{passed}");
    }
}
