//! Request correlation: the calls in progress on one connection, and which of them an unnumbered message belongs to.
//!
//! A response and progress carry the number of their request. A question of a legacy server does not: it belongs to the one call in
//! progress, or, when there are several, to the newest, but only if all of them have the same owner: nobody is ever asked a question of
//! another owner's call.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use interlingua_model::Owner;
use interlingua_wire::rpc::{Message, Notification, Request, Response};
use tokio::sync::{Notify, oneshot};

/// How many messages may wait for a call's reader. Progress and notes beyond that are dropped.
const WAITING: usize = 64;
/// How many bytes they may have together.
const WAITING_BYTES: usize = 4 * 1024 * 1024;
/// How many calls may be in flight on one connection.
const MAX_CALLS: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct Table(Mutex<HashMap<u64, Waiter>>);

#[derive(Debug)]
struct Waiter {
    owner: Option<Owner>,
    events: Arc<Inbox>,
    response: Option<oneshot::Sender<Response>>,
}

/// Messages that wait for a call's reader. Most calls never get one: nothing is made ahead for them.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    waiting: Mutex<Waiting>,
    told: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    messages: VecDeque<Message>,
    bytes: usize,
}

/// About how many bytes it holds.
fn weight(message: &Message) -> usize {
    let members = match message {
        Message::Request(Request { params, .. }) | Message::Notification(Notification { params, .. }) => params,
        Message::Response(Response { outcome: Ok(result), .. }) => result,
        Message::Response(Response { outcome: Err(_), .. }) => return 0,
    };
    members.json().map_or(0, |json| json.as_bytes().len())
}

impl Inbox {
    /// Given back when there is no room.
    fn put(&self, message: Message) -> Result<(), Message> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = waiting.bytes + weight(&message);
        // One that is alone may be as long as any message.
        if waiting.messages.len() >= WAITING || (bytes > WAITING_BYTES && !waiting.messages.is_empty()) {
            return Err(message);
        }
        waiting.bytes = bytes;
        waiting.messages.push_back(message);
        drop(waiting);
        self.told.notify_one();
        Ok(())
    }

    fn take(&self) -> Option<Message> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let message = waiting.messages.pop_front()?;
        waiting.bytes -= weight(&message);
        Some(message)
    }

    /// The next message; one reader at a time. Cancel safe.
    pub(super) async fn next(&self) -> Message {
        loop {
            match self.take() {
                Some(message) => return message,
                None => self.told.notified().await,
            }
        }
    }
}

/// One call's end of the table. Dropped, it is out of it.
#[derive(Debug)]
pub(super) struct PendingRequest {
    table: Arc<Table>,
    id: u64,
    pub(super) events: Arc<Inbox>,
    pub(super) response: oneshot::Receiver<Response>,
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        self.table.lock().remove(&self.id);
    }
}

impl Table {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Waiter>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `owner`: who may be asked; `None` for what the hub asks on its own account. `None` when there are too many.
    pub(super) fn enter(self: &Arc<Self>, id: u64, owner: Option<Owner>) -> Option<PendingRequest> {
        let events = Arc::new(Inbox::default());
        let (response, answered) = oneshot::channel();
        let mut calls = self.lock();
        if calls.len() >= MAX_CALLS {
            return None;
        }
        calls.insert(id, Waiter { owner, events: events.clone(), response: Some(response) });
        Some(PendingRequest { table: self.clone(), id, events, response: answered })
    }

    /// Those of callers.
    pub(super) fn count(&self) -> usize {
        self.lock().values().filter(|waiter| waiter.owner.is_some()).count()
    }

    /// Everyone who waits learns that nothing more comes.
    pub(super) fn clear(&self) {
        self.lock().clear();
    }

    /// An answer that nobody waits for is late, and dropped.
    pub(super) fn answer(&self, response: Response) {
        let waiter = response.id.as_number().and_then(|id| self.lock().get_mut(&id).and_then(|it| it.response.take()));
        if let Some(waiter) = waiter {
            let _ = waiter.send(response);
        }
    }

    /// Progress of this call.
    pub(super) fn progress(&self, id: u64, message: Message) {
        if let Some(waiter) = self.lock().get(&id) {
            let _ = waiter.events.put(message);
        }
    }

    /// Something without a name. Given back when it belongs to nobody for certain, or they do not read.
    pub(super) fn nameless(&self, message: Message) -> Result<(), Message> {
        let calls = self.lock();
        let mut owned = calls.iter().filter_map(|(id, waiter)| Some((id, waiter.owner.as_ref()?, waiter)));
        let Some(first) = owned.next() else { return Err(message) };
        let mut newest = first;
        for other in owned {
            if other.1 != first.1 {
                return Err(message);
            }
            if other.0 > newest.0 {
                newest = other;
            }
        }
        newest.2.events.put(message)
    }

    /// Something that may concern any of them.
    pub(super) fn everyone(&self, message: &Message) {
        for waiter in self.lock().values() {
            let _ = waiter.events.put(message.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use interlingua_model::Subject;
    use interlingua_wire::members::Members;

    use super::*;

    fn owner(name: &str) -> Option<Owner> {
        Some(Owner(Arc::new([Subject::User(name.into())])))
    }

    fn note() -> Message {
        Message::Notification(Notification { method: "n".into(), params: Members::absent() })
    }

    #[test]
    fn what_has_no_name_goes_to_the_newest_call_of_one_owner_and_never_to_one_of_several() {
        let table = Arc::new(Table::default());
        assert!(table.nameless(note()).is_err(), "nobody is there");
        let _own = table.enter(1, None).expect("a place");
        assert!(table.nameless(note()).is_err(), "the hub itself is not asked");
        let ann = table.enter(2, owner("ann")).expect("a place");
        let again = table.enter(3, owner("ann")).expect("a place");
        assert!(table.nameless(note()).is_ok());
        assert!(again.events.take().is_some() && ann.events.take().is_none());
        let bob = table.enter(4, owner("bob")).expect("a place");
        assert!(table.nameless(note()).is_err(), "whose is it?");
        drop(bob);
        assert!(table.nameless(note()).is_ok());
        assert_eq!(table.count(), 2);
    }

    #[test]
    fn long_messages_wait_up_to_a_bound_of_their_bytes() {
        let (inbox, long) = (Inbox::default(), || {
            let params = format!("{{\"data\":\"{}\"}}", "x".repeat(WAITING_BYTES / 2));
            let params = Members::of(&interlingua_model::Json::parse(params.into()).expect("JSON"));
            Message::Notification(Notification { method: "n".into(), params })
        });
        assert!(inbox.put(long()).is_ok());
        assert!(inbox.put(long()).is_err());
        assert!(inbox.put(note()).is_ok());
        assert!(inbox.take().is_some());
        assert!(inbox.put(long()).is_ok(), "its bytes are free again");
    }

    #[test]
    fn a_reader_that_does_not_read_holds_nobody_up() {
        let table = Arc::new(Table::default());
        let mut place = table.enter(1, owner("ann")).expect("a place");
        for _ in 0..1_000 {
            table.progress(1, note());
        }
        table.answer(Response { id: interlingua_wire::rpc::Id::number(1), outcome: Ok(Members::absent()) });
        assert!(place.response.try_recv().is_ok(), "the answer has a way of its own");
        let held = std::iter::from_fn(|| place.events.take()).count();
        assert_eq!(held, WAITING, "and no more is held than there is room for");
    }
}
