//! Notifications that callers send to their sessions, passed on to hooks: a program of the operator's may react to them. A hook is informed and
//! decides nothing, and nobody waits for it.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::Hub;
use super::hooks::HookNote;

/// How many hooks are informed at the same time. A hook is not informed of what is beyond that; the log says so. Approvals have places of
/// their own: a flood of notifications takes none of those.
const MAX_TELLING: usize = 16;

#[derive(Debug)]
pub(super) struct Noting(Arc<Semaphore>);

impl Default for Noting {
    fn default() -> Self {
        Noting(Arc::new(Semaphore::new(MAX_TELLING)))
    }
}

impl Hub {
    /// Informs the hooks of a notification that was stored.
    pub fn tell_notification(&self, note: &HookNote) {
        for hook in self.hooks.load().of_notifications() {
            let Ok(place) = self.noting.0.clone().try_acquire_owned() else {
                tracing::warn!(event = "notification_hook_skipped", hook = %hook.name, "too many hooks are running; this one is not informed of the notification");
                continue;
            };
            let told = HookNote { hook: hook.name.clone(), ..note.clone() };
            self.supervisor.run_until_stop(async move {
                let _place = place;
                // Whatever it answers decides nothing; that it could not be informed is in the log.
                let _ = hook.informed(told).await;
            });
        }
    }
}
