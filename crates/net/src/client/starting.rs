//! A peer that is registered and has not yet listed its skills.

use std::time::Duration;

use tokio::sync::watch;

#[derive(Debug)]
pub struct Starting(watch::Receiver<bool>);

impl Starting {
    /// `heard` becomes true once the peer has been listed.
    pub fn new(heard: &watch::Sender<bool>) -> Starting {
        Starting(heard.subscribe())
    }

    /// Waits until it has been listed, at most so long.
    pub async fn listed(&self, patience: Duration) {
        let mut heard = self.0.clone();
        let _ = tokio::time::timeout(patience, heard.wait_for(|listed| *listed)).await;
    }
}
