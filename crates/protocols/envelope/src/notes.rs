//! Notifications of sessions, stored for the session's owner: one sealed record beside the session's own. It expires after
//! `session_timeout_hours` without another notification, so it never outlives its session. It is bounded in number and bytes, and the
//! oldest notifications are evicted (ring buffer).

use std::collections::VecDeque;

use bytes::Bytes;
use interlingua_model::ports::{Expect, Item, Records, Room, StoreFault};
use interlingua_model::{Digest, Fault, FaultKind, Json, MessageId, Text, Time};
use serde::{Deserialize, Serialize};

use super::settings::Seals;

pub(super) const KIND: &str = "session_notes";
/// The kind under which they count for their owner.
pub(super) const COUNTED: &str = "sessions with notifications";
/// So many are stored for a session, in so many bytes.
pub(super) const MOST: usize = 100;
pub(super) const MOST_BYTES: usize = 64 * 1024;
/// Larger content is not stored; how large it was is.
pub(super) const MOST_CONTENT: usize = 16 * 1024;
/// What each takes besides its id and content, about.
const OVERHEAD: usize = 64;
const MAX_TRIES: usize = 64;

/// One notification.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Note {
    pub(super) message: Text,
    pub(super) at: Time,
    /// Bytes of its content.
    pub(super) size: u64,
    /// `None`: it was too large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<Json>,
}

impl Note {
    pub(super) fn new(message: &MessageId, content: &Json, at: Time) -> Note {
        let size = content.as_bytes().len();
        let content = (size <= MOST_CONTENT).then(|| content.alone());
        Note { message: message.as_str().into(), at, size: size as u64, content }
    }

    fn weight(&self) -> usize {
        let content = self.content.as_ref().map_or(0, |content| content.as_bytes().len());
        OVERHEAD + self.message.len() + content
    }
}

/// Where the notifications of one session are, and who seals them.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) records: &'a dyn Records,
    pub(super) seals: &'a Seals,
    /// Of the session.
    pub(super) key: Digest,
    pub(super) now: Time,
}

impl Place<'_> {
    /// The oldest first. What nobody can open any more, because its key is gone, is not there.
    pub(super) async fn read(&self) -> Result<Vec<Note>, Fault> {
        let found = self.records.get(KIND, &self.key.to_string(), self.now).await?;
        Ok(found.map(|item| self.opened(&item)).unwrap_or_default().into())
    }

    /// Appends a notification. False: it was there already, and is not stored twice.
    pub(super) async fn append(&self, note: &Note, room: Option<&Room>, expires: Time) -> Result<bool, Fault> {
        let name = self.key.to_string();
        for _ in 0..MAX_TRIES {
            let found = self.records.get(KIND, &name, self.now).await?;
            let revision = found.as_ref().map_or(0, |item| item.revision);
            let mut notes = found.map(|item| self.opened(&item)).unwrap_or_default();
            if notes.iter().any(|there| there.message == note.message) {
                return Ok(false);
            }
            push(&mut notes, note.clone());
            let plain = serde_json::to_vec(&notes).map_err(Fault::internal)?;
            let value = Bytes::from(self.seals.seal(&bound(&self.key), &plain).map_err(Fault::internal)?);
            let put = match room {
                Some(room) => {
                    let item = Item { revision, ..Item::new(name.as_str(), value, Some(expires)) };
                    self.records.put_within(room.clone(), KIND, item, self.now)
                }
                None => {
                    let expect = Expect::Revision(revision);
                    self.records.put(KIND, &name, value, Some(expires), expect, self.now)
                }
            };
            match put.await {
                Ok(_) => return Ok(true),
                Err(StoreFault::Moved { .. }) => {}
                Err(fault) => return Err(fault.into()),
            }
        }
        Err(Fault::hub(FaultKind::Busy, "too many notifications of this session arrive at once"))
    }

    fn opened(&self, item: &Item) -> VecDeque<Note> {
        let plain = self.seals.open(&bound(&self.key), &item.value);
        plain.ok().and_then(|plain| serde_json::from_slice(&plain).ok()).unwrap_or_default()
    }
}

fn push(notes: &mut VecDeque<Note>, note: Note) {
    notes.push_back(note);
    let mut bytes: usize = notes.iter().map(Note::weight).sum();
    while notes.len() > MOST || bytes > MOST_BYTES {
        bytes -= notes.pop_front().map_or(bytes, |oldest| oldest.weight());
    }
}

/// What the seal is bound to: notifications of one session never open as those of another, or as a context.
fn bound(key: &Digest) -> Vec<u8> {
    [b"notes".as_slice(), &key.0].concat()
}

/// The value sealed by the newest key, if an older one sealed it.
pub(super) fn resealed(seals: &Seals, item: &Item) -> Result<Option<Bytes>, Fault> {
    let Ok(key) = item.key.parse::<Digest>() else { return Ok(None) };
    if !seals.is_stale(&item.value) {
        return Ok(None);
    }
    let Ok(plain) = seals.open(&bound(&key), &item.value) else { return Ok(None) };
    seals.seal(&bound(&key), &plain).map(|sealed| Some(sealed.into())).map_err(Fault::internal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn note(n: usize, content: usize) -> Note {
        Note::new(&format!("n{n}").as_str().into(), &json!({"x": "x".repeat(content)}).into(), Time(0))
    }

    #[test]
    fn notifications_are_bounded_in_number_and_bytes_and_the_oldest_go_first() {
        let mut notes = VecDeque::new();
        (0..250).for_each(|n| push(&mut notes, note(n, 10)));
        assert_eq!((notes.len(), &*notes[0].message), (MOST, "n150"));
        (0..20).for_each(|n| push(&mut notes, note(n, 15_000)));
        let bytes: usize = notes.iter().map(Note::weight).sum();
        assert!(bytes <= MOST_BYTES && notes.len() == 4, "{bytes}, {}", notes.len());
        let large = note(7, MOST_CONTENT);
        assert_eq!((large.content.clone(), large.size), (None, MOST_CONTENT as u64 + 8));
        push(&mut notes, large);
        assert_eq!(notes.len(), 5, "what is not stored takes no room");
    }
}
