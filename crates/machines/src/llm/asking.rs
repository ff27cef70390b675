//! One request to a model, from the first attempt to a reply or a failure: assembly, timeouts and retries. The driver opens streams and
//! watches the clock; this machine decides the next step.

use super::{Assembler, Backoff, Bounds, Broken, Event, Failure, Listening, Patience, Reply};
use interlingua_model::id::Time;

/// How a provider is treated.
#[derive(Debug, Clone, Copy, Default)]
pub struct Manners {
    pub backoff: Backoff,
    pub patience: Patience,
    pub bounds: Bounds,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Read on, but no longer than until then.
    Listen(Time),
    /// Close the stream, and open another one then.
    Again(Time),
    /// Close the stream: it is over.
    Done(Box<Result<Reply, Broken>>),
}

#[derive(Debug)]
pub struct Asking {
    manners: Manners,
    tried: u32,
    assembler: Assembler,
    listening: Listening,
}

impl Asking {
    /// The first stream is being opened.
    pub fn new(manners: Manners, now: Time) -> Asking {
        Asking {
            manners,
            tried: 1,
            assembler: Assembler::new(manners.bounds),
            listening: Listening::new(manners.patience, now),
        }
    }

    /// The next stream is being opened, after [`Next::Again`].
    pub fn reopened(&mut self, now: Time) -> Next {
        self.tried += 1;
        self.assembler = Assembler::new(self.manners.bounds);
        self.listening = Listening::new(self.manners.patience, now);
        Next::Listen(self.listening.until())
    }

    /// An event came. It may be passed on to whoever listens whatever is said here; `roll` is a random number.
    pub fn heard(&mut self, event: &Event, now: Time, roll: u32) -> Next {
        self.listening.heard(now);
        if self.assembler.push(event) { Next::Listen(self.listening.until()) } else { self.closed(now, roll) }
    }

    /// The stream ended.
    pub fn closed(&mut self, now: Time, roll: u32) -> Next {
        let has_spoken = self.assembler.has_spoken();
        let assembler = std::mem::replace(&mut self.assembler, Assembler::new(self.manners.bounds));
        match assembler.finish() {
            Ok(reply) => Next::Done(Box::new(Ok(reply))),
            Err(broken) => self.broke(broken, has_spoken, now, roll),
        }
    }

    /// The time came until which it was listened to.
    pub fn timer(&mut self, now: Time, roll: u32) -> Next {
        match self.listening.overdue(now) {
            None => Next::Listen(self.listening.until()),
            Some(failure) => self.heard_nothing(failure, now, roll),
        }
    }

    /// What had ended but for the closing of its connection is whole.
    fn heard_nothing(&mut self, failure: Failure, now: Time, roll: u32) -> Next {
        if !self.assembler.has_ended() {
            self.assembler.push(&Event::Error(failure));
        }
        self.closed(now, roll)
    }

    fn broke(&self, broken: Broken, has_spoken: bool, now: Time, roll: u32) -> Next {
        match self.manners.backoff.next(self.tried, &broken.failure, has_spoken, roll) {
            Some(pause) => Next::Again(now.after(pause)),
            None => Next::Done(Box::new(Err(broken))),
        }
    }
}
