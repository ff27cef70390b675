//! Bytes of task ends whose requesters are disconnected: of all requesters together, and of one.

use std::collections::BTreeMap;

use interlingua_model::Text;

use crate::say::{End, Stamp, task_end};
use crate::wire::ServerMessage;

/// Bytes of all ends that wait, and of those of one owner.
const MOST: usize = 64 * 1024 * 1024;
const MOST_OF_ONE: usize = MOST / 4;

#[derive(Debug, Clone, Default)]
pub(super) struct Away {
    all: usize,
    /// Of those who have something waiting.
    of: BTreeMap<Text, usize>,
}

impl Away {
    /// The end as it waits: without its result where that is more than there is room for.
    pub(super) fn keep(&mut self, of: &Text, frame: ServerMessage, stamp: &mut Stamp<'_>) -> ServerMessage {
        let theirs = self.of.get(of).copied().unwrap_or_default();
        let weight = frame.weight();
        let frame = if self.all + weight > MOST || theirs + weight > MOST_OF_ONE {
            let end = End::failed("it ended while you were away, and its result is too large to be kept for so long");
            task_end(frame.session_id.unwrap_or_default(), end, stamp)
        } else {
            frame
        };
        let weight = frame.weight();
        self.all += weight;
        self.of.insert(of.clone(), theirs + weight);
        frame
    }

    /// It waits no longer.
    pub(super) fn free(&mut self, of: &Text, frame: &ServerMessage) {
        let weight = frame.weight();
        self.all = self.all.saturating_sub(weight);
        let theirs = self.of.get(of).copied().unwrap_or_default().saturating_sub(weight);
        if theirs == 0 {
            self.of.remove(of);
        } else {
            self.of.insert(of.clone(), theirs);
        }
    }
}

#[cfg(test)]
mod tests {
    use interlingua_model::{Json, Time};

    use super::*;
    use crate::wire::{ServerKind, Status};

    fn end(bytes: usize) -> ServerMessage {
        let mut frame = ServerMessage::new(ServerKind::TaskEnd, Status::Completed);
        frame.session_id = Some("s1".into());
        frame.result = Some(Json::from_tree("x".repeat(bytes).into()));
        frame
    }

    fn has_no_result(frame: &ServerMessage) -> bool {
        frame.result.as_ref().is_none_or(|result| result.as_str() == "{}")
    }

    #[test]
    fn an_end_beyond_the_room_of_its_owner_or_of_all_waits_without_its_result() {
        let mut away = Away::default();
        let mut mint = || 7;
        let mut stamp = Stamp { now: Time(0), mint: &mut mint };
        let mut kept = Vec::new();
        for of in ["ann", "bob", "eve", "tom"].map(Text::from) {
            let whole = away.keep(&of, end(MOST_OF_ONE - 4_096), &mut stamp);
            assert!(!has_no_result(&whole), "a quarter is {of}'s");
            let cut = away.keep(&of, end(8_192), &mut stamp);
            assert_eq!(
                (has_no_result(&cut), cut.status, cut.session_id.as_deref()),
                (true, Status::Failed, Some("s1"))
            );
            kept.extend([(of.clone(), whole), (of, cut)]);
        }
        assert!(away.all <= MOST + 16_384, "{}", away.all);
        let cut = away.keep(&"zoe".into(), end(16_384), &mut stamp);
        assert!(has_no_result(&cut), "nor is there room of all");
        away.free(&"zoe".into(), &cut);
        kept.iter().for_each(|(of, frame)| away.free(of, frame));
        assert_eq!((away.all, away.of.len()), (0, 0));
    }
}
