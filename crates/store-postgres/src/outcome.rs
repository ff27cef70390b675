//! What follows from the outcome of a commit: pure decisions, without I/O.
//!
//! Every write transaction takes the row of its lane from `n` to `n + 1`. So one look at that row says what became of a
//! transaction whose answer was lost, whether this hub may still write, and whether acknowledged commits are gone.
//!
//! | lane | row shows | then |
//! |---|---|---|
//! | nothing in doubt | `n` | write on |
//! | a batch in doubt | `n + 1` | it is in: step the row once more, answer |
//! | a batch in doubt | `n` | it is not in and never will be: step the row once more, send the batch again |
//! | any | below `n` | acknowledged commits are gone: nothing is written any more |
//! | any | no row | another hub took the place of this one: nothing is written any more |
//!
//! The row is stepped once more because a look proves nothing about a standby: the answer to that commit does.

/// How an attempt to commit ended, as the connection saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommitOutcome {
    /// The server said so, and no warning.
    Committed,
    /// The connection was lost, or the server warned that the commit may not be on its standby.
    Unknown,
    /// Rolled back because of somebody else's transaction: a deadlock or a serialization failure.
    Collided,
    /// One of several appends does not fit as it was expected; nothing was written.
    Unfit,
    /// The row of the lane is not what it was.
    NoLane,
    /// The server refused it; nothing was written.
    Refused,
}

/// What the lane does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Answer,
    /// Look at the row of the lane.
    Settle,
    /// The same again.
    Again,
    /// Each request for itself, in one transaction.
    OneByOne,
    Refuse,
}

/// A transaction that collides is run again so often.
pub(super) const COLLISIONS: u32 = 5;

pub(super) fn after(ended: CommitOutcome, collisions: u32) -> Next {
    match ended {
        CommitOutcome::Committed => Next::Answer,
        // No row, or another number: the look at it tells which.
        CommitOutcome::Unknown | CommitOutcome::NoLane => Next::Settle,
        CommitOutcome::Collided if collisions < COLLISIONS => Next::Again,
        CommitOutcome::Unfit => Next::OneByOne,
        CommitOutcome::Collided | CommitOutcome::Refused => Next::Refuse,
    }
}

/// What is in doubt when a lane looks at its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    Nothing,
    /// A batch was sent; its row was not seen since.
    Batch,
    /// The row showed that it is in; whether a standby has it is not known.
    In,
    /// The row showed that it is not in, which is final.
    Out,
}

/// What the row of a lane says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Stands(Doubt),
    /// So many acknowledged commits are gone.
    Lost(u64),
    /// The lane is not ours any more.
    Buried,
}

/// `acknowledged`: where the row stood after the last commit that was answered. `top`: the highest number that steps of ours
/// may have given it since.
pub(super) fn judge(acknowledged: u64, top: u64, doubt: Doubt, found: Option<u64>) -> Verdict {
    let Some(found) = found else { return Verdict::Buried };
    if found < acknowledged {
        return Verdict::Lost(acknowledged - found);
    }
    if found > top {
        return Verdict::Buried;
    }
    Verdict::Stands(match doubt {
        Doubt::Nothing => Doubt::Nothing,
        // A fail-over may have taken what was seen before.
        Doubt::Batch | Doubt::In if found == acknowledged => Doubt::Out,
        Doubt::Batch | Doubt::In => Doubt::In,
        Doubt::Out => Doubt::Out,
    })
}

/// Which database a connection leads to: the identifier of the system, and the timeline of its write-ahead log. Absent where the
/// engine has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Timeline {
    pub(super) system: i64,
    pub(super) timeline: u32,
}

/// May a hub that has seen one database go on with another? An old primary that comes back says that it can be written to.
pub(super) fn admits(seen: Option<Timeline>, found: Option<Timeline>) -> bool {
    match (seen, found) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(seen), Some(found)) => seen.system == found.system && seen.timeline <= found.timeline,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_answered_only_when_it_is_known() {
        assert_eq!(after(CommitOutcome::Committed, 0), Next::Answer);
        assert_eq!(after(CommitOutcome::Unknown, 0), Next::Settle);
        assert_eq!(after(CommitOutcome::NoLane, 0), Next::Settle);
        assert_eq!(after(CommitOutcome::Unfit, 0), Next::OneByOne);
        assert_eq!(after(CommitOutcome::Refused, 0), Next::Refuse);
        assert_eq!(after(CommitOutcome::Collided, COLLISIONS - 1), Next::Again);
        assert_eq!(after(CommitOutcome::Collided, COLLISIONS), Next::Refuse);
    }

    #[test]
    fn the_row_decides_what_became_of_a_batch() {
        assert_eq!(judge(7, 8, Doubt::Batch, Some(8)), Verdict::Stands(Doubt::In));
        assert_eq!(judge(7, 8, Doubt::Batch, Some(7)), Verdict::Stands(Doubt::Out));
        assert_eq!(judge(7, 7, Doubt::Nothing, Some(7)), Verdict::Stands(Doubt::Nothing));
    }

    #[test]
    fn a_settling_step_that_is_itself_in_doubt_changes_no_decision() {
        // In: seen at 8, the settling step may have made it 9.
        for found in [8, 9] {
            assert_eq!(judge(7, 9, Doubt::In, Some(found)), Verdict::Stands(Doubt::In));
        }
        // Out: seen at 7, the settling step may have made it 8, which is then not the batch.
        for found in [7, 8] {
            assert_eq!(judge(7, 8, Doubt::Out, Some(found)), Verdict::Stands(Doubt::Out));
        }
        assert_eq!(judge(7, 9, Doubt::In, Some(7)), Verdict::Stands(Doubt::Out), "a fail-over took it");
    }

    #[test]
    fn a_row_below_what_was_acknowledged_is_a_loss_and_no_row_a_burial() {
        for doubt in [Doubt::Nothing, Doubt::Batch, Doubt::In, Doubt::Out] {
            assert_eq!(judge(7, 8, doubt, Some(4)), Verdict::Lost(3));
            assert_eq!(judge(7, 8, doubt, None), Verdict::Buried);
            assert_eq!(judge(7, 8, doubt, Some(99)), Verdict::Buried, "somebody else steps it");
        }
    }

    #[test]
    fn a_lower_timeline_and_another_system_are_refused() {
        let line = |system, timeline| Some(Timeline { system, timeline });
        assert!(admits(None, line(1, 5)) && admits(None, None));
        assert!(admits(line(1, 5), line(1, 5)) && admits(line(1, 5), line(1, 6)));
        assert!(!admits(line(1, 5), line(1, 4)) && !admits(line(1, 5), line(2, 9)) && !admits(line(1, 5), None));
    }
}
