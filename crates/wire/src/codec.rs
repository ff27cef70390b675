//! The shape of every protocol's codec, server side.
//!
//! Each protocol crate has two functions: `decode(request, &Context) -> Result<Carried<Incoming>, Invalid>` in `decode`, and
//! `encode(&Entry, &mut Telling) -> Carried<Frames>` in `encode`. A request is a frame in the types of the crate's `wire`. A test
//! (`tidy/codecs.rs`) compares the signatures.
//!
//! Deliberately absent: who sent a message. Credentials are handed on as they came; the endpoint authenticates.

use interlingua_model::{Call, Secret, Signal, TaskId};

/// A message, understood. It proves nothing about its sender.
#[derive(Debug)]
pub struct Incoming<Own, Reply = ()> {
    pub meaning: Meaning<Own>,
    /// What the message itself brings to authenticate its sender.
    pub credentials: Vec<Secret>,
    /// What the answer repeats of the message: its id, its dialect, tokens to echo.
    pub reply: Reply,
}

/// What a message asks of the hub.
#[derive(Debug)]
pub enum Meaning<Own> {
    /// A new exchange.
    Call(Box<Call>),
    /// Something for a task that exists: an answer, more input, a cancel.
    Signal { to: TaskId, signal: Signal },
    /// What only this protocol has: lists, sessions, subscriptions, several calls in one message.
    Own(Own),
}

/// The frames that one journal entry becomes. Most entries become one frame or none, and those allocate no list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frames<F> {
    None,
    One(F),
    Several(Vec<F>),
}

impl<F> Frames<F> {
    pub fn is_empty(&self) -> bool {
        match self {
            Frames::None => true,
            Frames::One(_) => false,
            Frames::Several(frames) => frames.is_empty(),
        }
    }
}

impl<F> From<Option<F>> for Frames<F> {
    fn from(frame: Option<F>) -> Frames<F> {
        frame.map_or(Frames::None, Frames::One)
    }
}

impl<F> From<Vec<F>> for Frames<F> {
    fn from(frames: Vec<F>) -> Frames<F> {
        Frames::Several(frames)
    }
}

impl<F> IntoIterator for Frames<F> {
    type Item = F;
    type IntoIter = std::iter::Chain<std::option::IntoIter<F>, std::vec::IntoIter<F>>;

    fn into_iter(self) -> Self::IntoIter {
        let (one, several) = match self {
            Frames::None => (None, Vec::new()),
            Frames::One(frame) => (Some(frame), Vec::new()),
            Frames::Several(frames) => (None, frames),
        };
        one.into_iter().chain(several)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_out_in_order_whatever_their_number() {
        let all = |frames: Frames<u8>| frames.into_iter().collect::<Vec<u8>>();
        assert_eq!(all(Frames::None), [0; 0]);
        assert_eq!(all(Frames::from(Some(1))), [1]);
        assert_eq!(all(Frames::from(vec![1, 2])), [1, 2]);
        assert!(Frames::<u8>::from(None).is_empty() && Frames::<u8>::Several(Vec::new()).is_empty());
        assert!(!Frames::One(1).is_empty());
    }
}
