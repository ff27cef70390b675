//! Heads of the last messages of a session, for its owner to read: id, kind and time of each, without content. They are few and short,
//! because they are part of every session's record.

use std::collections::VecDeque;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use interlingua_model::id::{MessageId, Text, Time};

/// So many are stored.
pub const HEADS: usize = 8;
/// A longer id is cut after so many characters.
const LONGEST_ID: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum HeadKind {
    #[serde(rename = "r")]
    Request,
    #[serde(rename = "n")]
    Notification,
}

impl HeadKind {
    pub fn as_str(self) -> &'static str {
        match self {
            HeadKind::Request => "request",
            HeadKind::Notification => "notification",
        }
    }
}

/// Id, kind, and seconds since the session began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head(Text, HeadKind, u64);

impl Head {
    pub fn message(&self) -> &str {
        &self.0
    }

    pub fn kind(&self) -> HeadKind {
        self.1
    }

    /// To the second. `created`: when its session began.
    pub fn at(&self, created: Time) -> Time {
        created.after(Duration::from_secs(self.2))
    }
}

/// The oldest first.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Heads(VecDeque<Head>);

impl Heads {
    pub(super) fn push(&mut self, message: &MessageId, kind: HeadKind, age: Duration) {
        while self.0.len() >= HEADS {
            self.0.pop_front();
        }
        let id: String = message.as_str().chars().take(LONGEST_ID).collect();
        self.0.push_back(Head(id.into(), kind, age.as_secs()));
    }

    pub fn iter(&self) -> impl Iterator<Item = &Head> {
        self.0.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
