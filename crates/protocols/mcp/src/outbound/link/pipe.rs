//! A connection with a single incoming channel: a program's pipes, or the event stream of a server of 2024.

use std::sync::{Arc, OnceLock};

use crate::client::encode::{self, Outgoing};
use crate::question;
use crate::wire::meta::{META, SUBSCRIPTION_ID};
use bytes::Bytes;
use interlingua_model::{Json, Owner};
use interlingua_wire::members::Members;
use interlingua_wire::rpc::{self, Frame, Message, Notification, Request};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use super::table::Table;
use super::{Calls, Source, Trouble};
use crate::outbound::changes::Changes;
use interlingua_net::client::transport_error::{Begun, TransportError, Why};
use interlingua_net::large;

/// How many messages may wait to be written, and how many bytes they may have together. A call that was given up may have left
/// its message here.
const TO_WRITE: usize = 256;
const BYTES_TO_WRITE: u32 = 64 * 1024 * 1024;
/// Deeper messages are not read.
pub(super) const DEPTH: usize = 128;

/// The writing end. When nobody holds it any more, the connection is closed.
#[derive(Debug)]
pub(in super::super) struct Pipe {
    out: mpsc::Sender<QueuedMessage>,
    pub(super) ears: Arc<Ears>,
}

/// The reading end, for whoever reads from the connection.
#[derive(Debug)]
pub(super) struct Ears {
    pub(super) table: Arc<Table>,
    out: mpsc::WeakSender<QueuedMessage>,
    room: Arc<Semaphore>,
    changes: Arc<Changes>,
    pub(super) closed: CancellationToken,
    /// What went wrong with the last thing that came.
    failed: OnceLock<Why>,
}

/// A message that waits to be written, and its room until this is dropped.
#[derive(Debug)]
pub(super) struct QueuedMessage {
    pub(super) bytes: Bytes,
    _room: OwnedSemaphorePermit,
}

/// How much room a message takes. The largest takes all of it.
fn size(bytes: &Bytes) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX).min(BYTES_TO_WRITE)
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.ears.close();
    }
}

impl Pipe {
    /// The pipe, and what is to be written to it.
    pub(super) fn new(changes: Arc<Changes>) -> (Arc<Pipe>, mpsc::Receiver<QueuedMessage>) {
        let (out, lines) = mpsc::channel(TO_WRITE);
        let closed = CancellationToken::new();
        let room = Arc::new(Semaphore::new(BYTES_TO_WRITE as usize));
        let (table, out_again, failed) = (Arc::default(), out.downgrade(), OnceLock::new());
        let ears = Arc::new(Ears { table, out: out_again, room, changes, closed, failed });
        (Arc::new(Pipe { out, ears }), lines)
    }

    pub(super) async fn open(&self, outgoing: &Outgoing, owner: Option<Owner>) -> Result<Calls, Trouble> {
        let id = outgoing.id.unwrap_or_default();
        let place = self.ears.table.enter(id, owner).ok_or(Trouble::TooMany)?;
        self.send(outgoing).await?;
        Ok(Calls { place, source: Source::Pipe(self.ears.clone()) })
    }

    /// A pipe that closes meanwhile may have been written to.
    pub(super) async fn send(&self, outgoing: &Outgoing) -> Result<(), TransportError> {
        if self.ears.closed.is_cancelled() {
            return Err(TransportError::unconnected("the connection is closed"));
        }
        let bytes = outgoing.body.clone();
        let sending = async {
            let room = self.ears.room.clone().acquire_many_owned(size(&bytes)).await.ok()?;
            self.out.send(QueuedMessage { bytes, _room: room }).await.ok()
        };
        tokio::select! {
            sent = sending => sent.ok_or_else(|| TransportError::unconnected("the connection is closed")),
            () = self.ears.closed.cancelled() => Err(TransportError::unconnected("the connection is closed")),
        }
    }

    /// Without waiting: what must be said from where nobody can wait.
    pub(super) fn mention(&self, outgoing: &Outgoing) {
        self.ears.put(&self.out, outgoing.body.clone());
    }
}

impl Ears {
    /// One message that came. False when it was none.
    pub(super) fn hear(&self, line: &Bytes) -> bool {
        match large::beside(line.len(), || rpc::decode(line, DEPTH)) {
            Ok(Frame::One(message)) => {
                self.take(message);
                true
            }
            Ok(Frame::Batch(messages)) => {
                messages.into_iter().flatten().for_each(|message| self.take(message));
                true
            }
            Err(_) => false,
        }
    }

    /// Where there is room.
    fn put(&self, out: &mpsc::Sender<QueuedMessage>, bytes: Bytes) {
        if let Ok(room) = self.room.clone().try_acquire_many_owned(size(&bytes)) {
            let _ = out.try_send(QueuedMessage { bytes, _room: room });
        }
    }

    fn take(&self, message: Message) {
        match message {
            Message::Response(response) => self.table.answer(response),
            Message::Notification(notification) => self.notified(notification),
            Message::Request(request) => {
                if let (Some(answer), Some(out)) = (asked(&self.table, request), self.out.upgrade()) {
                    self.put(&out, answer.body);
                }
            }
        }
    }

    fn notified(&self, notification: Notification) {
        if self.changes.heard(&notification.method, &notification.params) {
            return;
        }
        match &*notification.method {
            "notifications/progress" => {
                if let Some(id) = notification.params.number("progressToken") {
                    self.table.progress(id, Message::Notification(notification));
                }
            }
            encode::ACKNOWLEDGED => {
                let subscription = notification.params.object(META).and_then(|meta| meta.number(SUBSCRIPTION_ID));
                if let Some(id) = subscription {
                    self.table.progress(id, Message::Notification(notification));
                }
            }
            "notifications/cancelled" => self.table.everyone(&Message::Notification(notification)),
            _ => drop(self.table.nameless(Message::Notification(notification))),
        }
    }

    /// What comes cannot be read on. It is taken for the answer to the one call in flight; of several, nobody knows to which.
    pub(super) fn fails(&self, lost: &TransportError) {
        if self.table.count() == 1 {
            let _ = self.failed.set(lost.why);
        }
    }

    /// Why a call has no answer, once this is closed.
    pub(super) fn lost(&self) -> TransportError {
        let why = self.failed.get().copied().unwrap_or(Why::Connection);
        TransportError::new(Begun::Perhaps, why, "the connection was closed before there was an answer")
    }

    /// Nothing more is written or heard.
    pub(super) fn close(&self) {
        self.closed.cancel();
        self.table.clear();
    }
}

/// A server's request: to the call it belongs to, or answered here when it belongs to none.
pub(super) fn asked(table: &Table, request: Request) -> Option<Outgoing> {
    if &*request.method == encode::PING {
        return Some(encode::response(&request.id, Ok(&Json::empty_object())));
    }
    match table.nameless(Message::Request(request)) {
        Ok(()) => None,
        Err(Message::Request(request)) => Some(nobody_to_ask(&request)),
        Err(Message::Notification(_) | Message::Response(_)) => None,
    }
}

/// What a server is told that asks when nobody can be asked.
pub(in super::super) fn nobody_to_ask(request: &Request) -> Outgoing {
    let answer: Result<Json, rpc::Error> = match &*request.method {
        question::ROOTS => Ok(serde_json::json!({"roots": []}).into()),
        question::ELICIT => Ok(serde_json::json!({"action": "decline"}).into()),
        question::SAMPLE => Err(rpc::Error::new(-1, "no model can be asked for this")),
        _ => Err(rpc::Error::new(rpc::METHOD_NOT_FOUND, "unknown method")),
    };
    encode::response(&request.id, answer.as_ref())
}

/// The params of a message about which a request is.
pub(in super::super) fn cancelled_request(params: &Members) -> Option<rpc::Id> {
    params.get("requestId").as_ref().and_then(rpc::Id::of)
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Poll;

    use super::*;

    fn outgoing(bytes: usize) -> Outgoing {
        Outgoing { body: vec![b'x'; bytes].into(), ..encode::response(&rpc::Id::number(1), Ok(&Json::empty_object())) }
    }

    #[tokio::test]
    async fn what_waits_to_be_written_is_bounded_in_bytes() {
        let (pipe, mut lines) = Pipe::new(Arc::default());
        let half = BYTES_TO_WRITE as usize / 2 + 1;
        pipe.send(&outgoing(half)).await.expect("there is room");
        {
            let next = outgoing(half);
            let mut second = pin!(pipe.send(&next));
            let pends = std::future::poll_fn(|cx| Poll::Ready(second.as_mut().poll(cx).is_pending())).await;
            assert!(pends, "a program that does not read has no more sent to it");
        }
        // Its call was given up: nothing is left of it.
        pipe.mention(&outgoing(half));
        pipe.send(&outgoing(1_000)).await.expect("little has room");
        let written = lines.recv().await.expect("the first");
        assert_eq!((written.bytes.len(), lines.len()), (half, 1));
        drop(written);
        pipe.send(&outgoing(BYTES_TO_WRITE as usize - 1_000)).await.expect("it was written");
    }

    #[tokio::test]
    async fn a_message_larger_than_all_room_is_sent_when_nothing_else_waits() {
        let (pipe, mut lines) = Pipe::new(Arc::default());
        pipe.send(&outgoing(BYTES_TO_WRITE as usize + 1)).await.expect("alone");
        assert_eq!(lines.recv().await.map(|line| line.bytes.len()), Some(BYTES_TO_WRITE as usize + 1));
    }

    #[test]
    fn what_cannot_be_read_is_told_to_the_only_call_that_waits_and_to_none_of_several() {
        let lost = TransportError::new(Begun::Perhaps, Why::TooLarge, "a line without end");
        let (pipe, _lines) = Pipe::new(Arc::default());
        let enter = |id| pipe.ears.table.enter(id, Some(Owner(Arc::new([])))).expect("a place");
        let (first, second) = (enter(1), enter(2));
        pipe.ears.fails(&lost);
        assert_eq!(pipe.ears.lost().why, Why::Connection, "whose answer was it?");
        drop(second);
        pipe.ears.fails(&lost);
        assert_eq!(pipe.ears.lost().why, Why::TooLarge);
        drop(first);
    }
}
