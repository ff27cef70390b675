//! Ids and scalars. Knowing an id grants no right, with one exception: the task of an Anonymous caller, which is why a [`TaskId`] has 118
//! random bits.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A short text that is shared instead of copied.
pub type Text = Arc<str>;
/// A URI as it was written; it is not checked. See [`crate::address`] for addresses that the hub opens.
pub type Uri = Arc<str>;
/// A media type (RFC 6838), such as `text/plain`, as it was written.
pub type Media = Arc<str>;
/// A version as its owner writes it. The hub compares versions for equality only.
pub type Version = Arc<str>;

macro_rules! id {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Text);

        impl $name {
            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.into())
            }
        }
        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({:?})"), &*self.0)
            }
        }
    )*};
}

id! {
    /// A hub, by the id of its own that it stores and shows to other hubs: how a loop of hubs is found.
    HubId,
    /// A peer, by its name in the configuration or the one under which it registered. It is unique in a hub.
    PeerId,
    /// A skill's name at its peer, as the peer spells it.
    SkillName,
    /// Shared context. Ours are minted; some wires let the caller choose.
    ConversationId,
    /// A message: given by its sender, or minted by the hub. A given one is an idempotency key.
    MessageId,
    /// An artifact. Of a task: chosen by the peer that makes it, and unique within the task. Of one that an agent shares: minted
    /// by the hub.
    ArtifactId,
    /// A log of records that belong to no task, such as the inbox of a registered agent.
    TopicId,
    /// A step of an exchange. A resumed run gives its steps the ids they had.
    StepId,
    /// A step of a plan.
    NodeId,
    /// What makes one step wait for another.
    EdgeId,
}

/// Every exchange has one; the caller receives it only if the exchange is stored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(pub u128);

/// How many bits of a task id are random.
const RANDOM_BITS: u32 = 118;

impl TaskId {
    /// A new one of this part, of which the lowest 10 bits count, with 118 bits of these random ones.
    pub fn new(part: u16, random: u128) -> TaskId {
        TaskId(u128::from(part) << RANDOM_BITS | random >> (u128::BITS - RANDOM_BITS))
    }

    /// Its first 10 bits: which part of all callers its own is in, and so which of several stores holds it. Ids of release 0.1.0 are random there too.
    pub fn part(self) -> u16 {
        (self.0 >> RANDOM_BITS) as u16
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TaskId({self})")
    }
}

impl FromStr for TaskId {
    type Err = BadId;
    fn from_str(text: &str) -> Result<Self, BadId> {
        if text.len() != 32 || !text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)) {
            return Err(BadId);
        }
        u128::from_str_radix(text, 16).map(TaskId).map_err(|_| BadId)
    }
}

impl Serialize for TaskId {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TaskId {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

impl ConversationId {
    /// Has it the form of an id that is made of random bits: 32 hexadecimal digits, as the hub's own have, or a UUID of version 4?
    pub fn is_unguessable(&self) -> bool {
        let hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let groups: Vec<&str> = self.0.split('-').collect();
        match groups[..] {
            [one] => one.len() == 32 && hex(one),
            [a, b, c, d, e] => {
                let lengths = [a.len(), b.len(), c.len(), d.len(), e.len()] == [8, 4, 4, 4, 12];
                lengths && c.starts_with('4') && groups.iter().all(|group| hex(group))
            }
            _ => false,
        }
    }
}

/// Random bits as a UUID of version 4, for wires that want their ids so.
pub fn uuid_v4(random: u128) -> String {
    let bits = random & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{bits:032x}");
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// A text that is not an id of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an id")]
pub struct BadId;

/// The n-th question of its task. Spelt `task.n`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuestionId(pub TaskId, pub u32);

impl fmt::Display for QuestionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

impl FromStr for QuestionId {
    type Err = BadId;
    fn from_str(text: &str) -> Result<Self, BadId> {
        let (task, number) = text.split_once('.').ok_or(BadId)?;
        let read: u32 = number.parse().map_err(|_| BadId)?;
        // `+3` and `03` are numbers too; a question has one id.
        if read.to_string() == number { Ok(QuestionId(task.parse()?, read)) } else { Err(BadId) }
    }
}

impl Serialize for QuestionId {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for QuestionId {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        String::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

/// `peer/skill`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SkillId {
    /// The peer that has the skill.
    pub peer: PeerId,
    /// The skill's name at that peer.
    pub skill: SkillName,
}

impl SkillId {
    /// Joins a peer and the name of one of its skills.
    pub fn new(peer: impl Into<PeerId>, skill: impl Into<SkillName>) -> Self {
        Self { peer: peer.into(), skill: skill.into() }
    }

    /// The skill through which a wire with few verbs reaches all others.
    pub fn is_call_skill(&self) -> bool {
        (self.peer.as_str(), self.skill.as_str()) == ("hub", "call_skill")
    }
}

impl fmt::Display for SkillId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.peer, self.skill)
    }
}

impl FromStr for SkillId {
    type Err = BadId;
    fn from_str(text: &str) -> Result<Self, BadId> {
        match text.split_once('/') {
            Some((peer, skill)) if !peer.is_empty() && !skill.is_empty() => Ok(SkillId::new(peer, skill)),
            _ => Err(BadId),
        }
    }
}

/// Unix milliseconds, always passed in. Timers use the monotonic clock at the edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(pub u64);

impl Time {
    /// This time plus `span`; the latest time there is where the sum would be later.
    pub fn after(self, span: std::time::Duration) -> Time {
        Time(self.0.saturating_add(u64::try_from(span.as_millis()).unwrap_or(u64::MAX)))
    }

    /// How long from `now` until this time; zero when it has passed.
    pub fn until(self, now: Time) -> std::time::Duration {
        std::time::Duration::from_millis(self.0.saturating_sub(now.0))
    }
}

impl fmt::Display for Time {
    /// RFC 3339 in UTC with milliseconds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = i64::try_from(self.0).unwrap_or(i64::MAX);
        match jiff::Timestamp::from_millisecond(millis) {
            Ok(stamp) => write!(f, "{stamp:.3}"),
            Err(_) => write!(f, "{}ms", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_has_one_id() {
        let task = TaskId(7).to_string();
        assert_eq!(format!("{task}.3").parse(), Ok(QuestionId(TaskId(7), 3)));
        for other in ["+3", "03", " 3", ""] {
            assert_eq!(format!("{task}.{other}").parse::<QuestionId>(), Err(BadId), "{other:?}");
        }
    }
}
