//! Health of the store, as its writer last observed it.

use interlingua_model::ports::Condition;
use tokio::sync::watch;

/// How one commit went, as far as the condition of the store goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Went {
    Changed,
    /// Nothing was written, or it was refused for a reason of its own: this says nothing of the disk.
    Idle,
    NoRoom,
    Failed,
}

/// The one who writes says how it went; `Failed` is final.
pub(super) fn note(shown: &watch::Sender<Condition>, went: Went) {
    let now = match went {
        Went::Changed => Condition::Writable,
        Went::NoRoom => Condition::Full,
        Went::Failed => Condition::Failed,
        Went::Idle => return,
    };
    shown.send_if_modified(|before| *before != Condition::Failed && std::mem::replace(before, now) != now);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_store_recovers_and_a_failed_one_does_not() {
        let shown = watch::Sender::new(Condition::Writable);
        let after = |went| {
            note(&shown, went);
            *shown.borrow()
        };
        assert_eq!(after(Went::NoRoom), Condition::Full);
        assert_eq!(after(Went::Idle), Condition::Full);
        assert_eq!(after(Went::Changed), Condition::Writable);
        assert_eq!(after(Went::Failed), Condition::Failed);
        assert_eq!(after(Went::Changed), Condition::Failed);
        assert_eq!(after(Went::NoRoom), Condition::Failed);
    }
}
