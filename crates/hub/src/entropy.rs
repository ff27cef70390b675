//! Randomness for ids and tokens, from the one crypto library's generator.

use std::cell::RefCell;

use interlingua_model::{ConversationId, Digest, MessageId, Principal, Subject, TaskId};

/// How much is drawn from the generator at a time: a draw costs about the same whatever its size.
const DRAWN: usize = 512;

/// Random bytes that no id was made of yet. Used ones are wiped: what an id was is in its journal, not here.
struct Drawn {
    bytes: [u8; DRAWN],
    used: usize,
}

thread_local! {
    static DRAWN_HERE: RefCell<Drawn> = const { RefCell::new(Drawn { bytes: [0; DRAWN], used: DRAWN }) };
}

/// 128 random bits.
///
/// The generator does not fail after start-up on any platform the hub runs on; were it to, an id of zeroes would be refused
/// as a duplicate by the journal rather than reused.
pub fn bits() -> u128 {
    DRAWN_HERE.with_borrow_mut(Drawn::next)
}

impl Drawn {
    fn next(&mut self) -> u128 {
        if self.used == DRAWN {
            if aws_lc_rs::rand::fill(&mut self.bytes).is_err() {
                tracing::error!(event = "random_failed", "the system's random generator failed");
            }
            self.used = 0;
        }
        let mut taken = [0; 16];
        taken.copy_from_slice(&self.bytes[self.used..self.used + 16]);
        self.bytes[self.used..self.used + 16].fill(0);
        self.used += 16;
        u128::from_be_bytes(taken)
    }
}

/// A new task id: the part of its owner, and 118 random bits.
pub fn task_id(by: &Principal) -> TaskId {
    TaskId::new(part(by), bits())
}

/// 10 bits of a hash. Whoever acts for a caller is in that caller's part, so all tasks of a family are in one.
fn part(by: &Principal) -> u16 {
    let caller = by.links().first().map_or(&Subject::Anonymous, |link| &link.subject);
    let Digest([first, second, ..]) = Digest::of_text(caller);
    u16::from_be_bytes([first, second]) >> 6
}

/// A new message id of 128 random bits.
pub fn message_id() -> MessageId {
    MessageId::from(format!("{:032x}", bits()))
}

/// A new conversation id of 128 random bits.
pub fn conversation_id() -> ConversationId {
    ConversationId::from(format!("{:032x}", bits()))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_id_is_given_twice_by_any_thread() {
        let draw = || (0..1_000).map(|_| bits()).collect::<Vec<_>>();
        let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(draw)).collect();
        let all: Vec<u128> = threads.into_iter().flat_map(|thread| thread.join().expect("ends")).collect();
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), 4_000);
        assert!(!all.contains(&0));
    }
}
