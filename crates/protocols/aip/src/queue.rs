//! Bounded send queues (backpressure): a limit of frames for each connection, and a limit of bytes for all of them together.
//!
//! A frame counts until it is sent. A connection with too many queued frames is sent those and closed; when the limit of bytes is reached,
//! the connection with most queued bytes is cut at once, and its frames are dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use interlingua_model::Text;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::link::Identity;
use crate::wire::ServerMessage;
use interlingua_hub::shares::{NoRoom, Share, Shares};

/// How many frames may wait for one connection. A client that reads slower than this is gone.
const FRAMES: usize = 256;

/// What a connection is told to do.
#[derive(Debug)]
pub(crate) enum Out {
    Admit(Identity),
    Frame(Box<ServerMessage>),
    /// The answer to a frame of another kind.
    Foreign(Bytes),
    Probe,
    Close(u16),
}

/// What the server holds of a connection's queue.
#[derive(Debug)]
pub(super) struct Outbox {
    frames: mpsc::Sender<Waits>,
    bytes: Arc<AtomicU64>,
    cut: CancellationToken,
}

/// What the connection itself holds of it.
#[derive(Debug)]
pub(crate) struct Inbox {
    frames: mpsc::Receiver<Waits>,
    cut: CancellationToken,
}

/// A frame, and its weight until this is dropped.
#[derive(Debug)]
pub(crate) struct Waits {
    pub(crate) out: Out,
    pub(crate) weight: Weight,
}

/// Bytes that count until this is dropped.
#[derive(Debug)]
pub(crate) struct Weight {
    share: Share,
    bytes: Arc<AtomicU64>,
}

impl Drop for Weight {
    fn drop(&mut self) {
        self.bytes.fetch_sub(self.share.bytes(), Ordering::Relaxed);
    }
}

pub(super) fn queue() -> (Outbox, Inbox) {
    let (out, frames) = mpsc::channel(FRAMES);
    let cut = CancellationToken::new();
    (Outbox { frames: out, bytes: Arc::default(), cut: cut.clone() }, Inbox { frames, cut })
}

impl Outbox {
    /// Bytes that wait.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Its share of the table, or why there is none.
    pub(super) fn room(&self, table: &Arc<Shares>, whose: &Text, out: &Out) -> Result<Share, NoRoom> {
        table.take(whose, weight(out))
    }

    /// The same where another connection makes room.
    pub(super) fn room_of_another(&self, table: &Arc<Shares>, whose: &Text, out: &Out) -> Share {
        table.count_in(whose, weight(out))
    }

    /// False where too many frames wait, or nobody takes them any more.
    pub(super) fn push(&self, out: Out, share: Share) -> bool {
        self.bytes.fetch_add(share.bytes(), Ordering::Relaxed);
        let weight = Weight { share, bytes: self.bytes.clone() };
        self.frames.try_send(Waits { out, weight }).is_ok()
    }

    /// Ends the connection now, whatever waits.
    pub(super) fn cut(&self) {
        self.cut.cancel();
    }
}

impl Inbox {
    pub(crate) async fn next(&mut self) -> Option<Waits> {
        self.frames.recv().await
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Resolves when the connection is cut.
    pub(crate) fn cut(&self) -> CancellationToken {
        self.cut.clone()
    }

    /// Drops what waits.
    pub(crate) fn clear(&mut self) {
        self.frames.close();
        while self.frames.try_recv().is_ok() {}
    }
}

fn weight(out: &Out) -> u64 {
    let bytes = match out {
        Out::Frame(frame) => frame.weight(),
        Out::Foreign(bytes) => bytes.len(),
        Out::Admit(_) | Out::Probe | Out::Close(_) => 0,
    };
    (bytes + size_of::<Waits>()) as u64
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[tokio::test]
    async fn a_frame_counts_until_it_has_left() {
        let (table, whose, (outbox, mut inbox)) = (Shares::new(64 * 1024), Text::from("user:ann"), queue());
        let frame = || Out::Foreign(Bytes::from(vec![0; 10_000]));
        let share = outbox.room(&table, &whose, &frame()).expect("room");
        assert!(outbox.push(frame(), share));
        assert!(outbox.bytes() >= 10_000 && table.taken() == outbox.bytes());
        assert_eq!(outbox.room(&table, &whose, &frame()).map(drop), Err(NoRoom::OfOne));
        let leaving = inbox.next().await;
        assert!(inbox.is_empty() && outbox.bytes() >= 10_000, "it is on its way");
        drop(leaving);
        assert_eq!((outbox.bytes(), table.taken()), (0, 0));
    }

    #[tokio::test]
    async fn a_queue_that_is_dropped_gives_its_room_back() {
        let (table, whose, (outbox, mut inbox)) = (Shares::new(4 * 1024 * 1024), Text::from("user:ann"), queue());
        let mut taken = 0;
        loop {
            let share = outbox.room(&table, &whose, &Out::Probe).expect("little");
            if !outbox.push(Out::Probe, share) {
                break;
            }
            taken += 1;
        }
        assert_eq!(taken, FRAMES);
        outbox.cut();
        assert!(inbox.cut().is_cancelled());
        inbox.clear();
        assert_eq!((outbox.bytes(), table.taken()), (0, 0));
    }
}
