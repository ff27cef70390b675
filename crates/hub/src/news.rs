//! Broadcast of notices: a list that changed, a resource that was updated, an event that was published.
//!
//! Notices are not stored: a listener that was away reads the state itself. A listener that falls behind is notified of that and does the
//! same.

use interlingua_model::{Kinds, Notice, PeerId};
use tokio::sync::broadcast;

/// How many notices a listener may be behind.
const BEHIND: usize = 1_024;

#[derive(Debug)]
pub(crate) struct News(broadcast::Sender<Notice>);

impl Default for News {
    fn default() -> News {
        News(broadcast::Sender::new(BEHIND))
    }
}

impl News {
    /// Without listeners this costs nothing.
    pub(crate) fn publish(&self, notice: Notice) {
        let _ = self.0.send(notice);
    }

    pub(super) fn changed(&self, peer: PeerId, kinds: Kinds) {
        if kinds != Kinds::default() {
            self.publish(Notice::Changed(peer, kinds));
        }
    }

    pub(crate) fn listen(&self) -> Listener {
        Listener(self.0.subscribe())
    }
}

/// Receives notices of peers.
#[derive(Debug)]
pub struct Listener(broadcast::Receiver<Notice>);

/// What a listener receives.
#[derive(Debug, Clone)]
pub enum Heard {
    /// Something happened at a peer.
    Notice(Notice),
    /// Some were missed: anything may have changed.
    Missed,
    /// The hub has stopped.
    Over,
}

impl Listener {
    /// The next notice. A listener that fell behind receives [`Heard::Missed`] once.
    pub async fn next(&mut self) -> Heard {
        match self.0.recv().await {
            Ok(notice) => Heard::Notice(notice),
            Err(broadcast::error::RecvError::Lagged(_)) => Heard::Missed,
            Err(broadcast::error::RecvError::Closed) => Heard::Over,
        }
    }
}
