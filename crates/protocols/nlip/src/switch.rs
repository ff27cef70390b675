//! Switches NLIP on or off (`nlip.enabled`).

use std::sync::atomic::{AtomicBool, Ordering};

#[derive(Debug)]
pub struct Switch(AtomicBool);

impl Switch {
    pub fn new(on: bool) -> Switch {
        Switch(AtomicBool::new(on))
    }

    pub fn is_on(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// From the next message on.
    pub fn set(&self, on: bool) {
        self.0.store(on, Ordering::Relaxed);
    }
}
