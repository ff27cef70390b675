//! Webhook delivery with retry: sends the events of one task to one webhook, each until it is accepted, then the next. A webhook that does
//! not answer delays no other.

use std::sync::Arc;
use std::time::Duration;

use crate::encode::{self, Frames, NoAddresses, Telling, View, encode};
use crate::json::{Dialect, write};
use crate::wire::Update;
use crate::{MEDIA, Version};
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Request};
use interlingua_machines::task::Task;
use interlingua_model::{Carried, Entry, Fault, FaultKind, TaskId, gather_losses};

use super::config::{Configs, Kept, Stands};
use super::guard::{self, Private};
use super::http::{NotTaken, Webhooks};
use interlingua_access::Access;
use interlingua_hub::Hub;
use interlingua_hub::audit::AuditLine;
use interlingua_hub::audit::losses::{LossContext, Named};
use interlingua_net::client::retry::jittered;

/// After so many failures in a row it is told no more.
const MAX_FAILURES: u32 = 10;
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Both spellings are in use.
const TOKEN_HEADERS: [&str; 2] = ["x-a2a-notification-token", "a2a-notification-token"];

pub(super) struct Delivery {
    pub(super) hub: Arc<Hub>,
    pub(super) access: Arc<Access>,
    pub(super) webhooks: Arc<Webhooks>,
    pub(super) private: Private,
    pub(super) task: TaskId,
    pub(super) kept: Kept,
    /// Of the configuration as it was last written: another one is another's to tell.
    pub(super) revision: u64,
}

/// Why telling stopped before the task's end.
enum Stop {
    /// The configuration was deleted or replaced: somebody else tells the new one.
    Gone,
    Disabled,
    /// Whoever asked for it may not hear of the task any more.
    Refused(FaultKind),
    /// The hub cannot read the task or store how far the webhook was told: that may pass.
    Delayed(Fault),
    /// It cannot be told, now or later.
    Broken(Fault),
}

impl Stop {
    fn of(fault: Fault) -> Stop {
        match fault.kind {
            FaultKind::Denied => Stop::Refused(fault.kind),
            FaultKind::Busy | FaultKind::Internal | FaultKind::Unreachable => Stop::Delayed(fault),
            _ => Stop::Broken(fault),
        }
    }
}

/// Longer and longer pauses; said in the log once.
struct Delay(Duration);

impl Default for Delay {
    fn default() -> Self {
        Delay(FIRST_PAUSE)
    }
}

impl Delay {
    async fn wait(&mut self, of: &Delivery, fault: &Fault) {
        if self.0 == FIRST_PAUSE {
            tracing::warn!(event = "webhook_delayed", task = %of.task, webhook = %of.kept.id, error = %fault, cause = ?fault.source, "the delivery to a webhook is delayed");
        }
        tokio::time::sleep(self.0 / 2 + jittered(self.0 / 2)).await;
        self.0 = (self.0 * 2).min(LONGEST_PAUSE);
    }
}

impl Delivery {
    pub(super) async fn run(mut self) {
        let stands = match self.tell_through_delays().await {
            Ok(()) => Stands::Over,
            Err(Stop::Disabled) => {
                tracing::warn!(event = "webhook_disabled", task = %self.task, webhook = %self.kept.id, "the webhook does not answer; it gets no further events of this task");
                Stands::Disabled
            }
            Err(Stop::Refused(why)) => {
                let line = AuditLine::new("push", self.kept.by.owner()).task(self.task);
                self.hub.write_audit(line.refused(why));
                tracing::info!(event = "webhook_refused", task = %self.task, webhook = %self.kept.id, "the owner of the webhook may no longer read the task; it gets no further events of it");
                Stands::Refused
            }
            Err(Stop::Gone) => return,
            Err(Stop::Broken(fault) | Stop::Delayed(fault)) => {
                return tracing::error!(event = "webhook_failed", task = %self.task, webhook = %self.kept.id, error = %fault, cause = ?fault.source, "the delivery to a webhook failed inside the hub");
            }
        };
        self.kept.stands = stands;
        let mut delay = Delay::default();
        while let Err(Stop::Delayed(fault)) = self.written().await {
            delay.wait(&self, &fault).await;
        }
    }

    /// A store that is full for a moment delays a delivery and does not end it. It goes on after the last event that was taken.
    async fn tell_through_delays(&mut self) -> Result<(), Stop> {
        let mut delay = Delay::default();
        loop {
            let before = self.kept.told;
            match self.tell_all().await {
                Err(Stop::Delayed(fault)) => {
                    if self.kept.told != before {
                        delay = Delay::default();
                    }
                    delay.wait(self, &fault).await;
                    // One that was deleted meanwhile is not tried for ever. What cannot be looked up counts as wanted.
                    if let Err(Stop::Gone) = self.still_wanted().await {
                        return Err(Stop::Gone);
                    }
                }
                ended => return ended,
            }
        }
    }

    async fn tell_all(&mut self) -> Result<(), Stop> {
        let by = self.kept.by.clone();
        let mut reader = self.hub.watch(&by, self.task, 0).await.map_err(Stop::of)?;
        let (mut told, mut lost): (Option<Task>, _) = (None, Vec::new());
        while let Some(entry) = reader.next().await.map_err(Stop::of)? {
            let updates = match &mut told {
                Some(task) => encode(&entry, &mut Telling { task, addresses: &NoAddresses }),
                None => {
                    let Some(task) = encode::begun(self.task, &entry) else { continue };
                    let Carried { value, losses } = encode::task(&task, View::WHOLE, &NoAddresses);
                    told = Some(task);
                    Carried { value: Frames::One(Update::Task(value)), losses }
                }
            };
            let Some(task) = &told else { continue };
            self.tell_entry(&entry, updates.value, task).await?;
            gather_losses(&mut lost, &updates.losses);
        }
        if let Some(task) = &told {
            let (of, wire) = (Named::of(task), self.kept.version().wire());
            self.hub
                .lost(&LossContext { by: &by, of, wire, skill: task.route.as_ref().map(|route| &route.skill) }, &lost);
        }
        Ok(())
    }

    async fn tell_entry(&mut self, entry: &Entry, updates: Frames, task: &Task) -> Result<(), Stop> {
        for (number, update) in (0_u32..).zip(updates) {
            let place = (entry.seq, number);
            if self.kept.told.is_some_and(|told| place <= told) {
                continue;
            }
            let body = match self.kept.version() {
                Version::V1 => write::update(&update, Dialect::V1),
                // A client of 0.3 is told the whole task, when its status changes.
                Version::V03 if matches!(update, Update::Artifact(_)) => continue,
                Version::V03 => write::task(&encode::task(task, View::WHOLE, &NoAddresses).value, Dialect::V03),
            };
            self.tell(&body).await?;
            self.kept.told = Some(place);
            self.written().await?;
        }
        Ok(())
    }

    /// Until it is taken, with longer and longer pauses.
    async fn tell(&self, body: &Bytes) -> Result<(), Stop> {
        let mut patience = Patience::default();
        loop {
            self.still_wanted().await?;
            self.still_allowed().await?;
            let request = self.request(body).map_err(Stop::Broken)?;
            match self.webhooks.post(request, self.private).await {
                Ok(()) => return Ok(()),
                Err(NotTaken::Answered(status)) => {
                    tracing::debug!(task = %self.task, %status, "a webhook refused an event")
                }
                Err(failure) => tracing::debug!(task = %self.task, %failure, "a webhook was not told"),
            }
            patience.wait().await?;
        }
    }

    async fn still_wanted(&self) -> Result<(), Stop> {
        let written = Configs::of(&self.hub).revision(self.task, &self.kept.id).await.map_err(Stop::of)?;
        if written == Some(self.revision) { Ok(()) } else { Err(Stop::Gone) }
    }

    /// By the credential it was asked for with, and by the rules.
    async fn still_allowed(&self) -> Result<(), Stop> {
        let Kept { known, by, .. } = &self.kept;
        if !self.access.vouches(*known, by, self.hub.now()) {
            return Err(Stop::Refused(FaultKind::Unauthenticated));
        }
        let task = self.hub.task(by, self.task).await.map_err(Stop::of)?;
        if self.hub.still_allows(by, &task) { Ok(()) } else { Err(Stop::Refused(FaultKind::Denied)) }
    }

    /// A configuration that was deleted meanwhile stays so.
    async fn written(&mut self) -> Result<(), Stop> {
        let written = Configs::of(&self.hub).advance(self.task, &self.kept, self.revision).await;
        self.revision = written.map_err(Stop::of)?.ok_or(Stop::Gone)?;
        Ok(())
    }

    fn request(&self, body: &Bytes) -> Result<Request<Bytes>, Fault> {
        let uri = guard::check_url(&self.kept.url, self.private)?;
        let mut request = Request::post(uri).body(body.clone()).map_err(Fault::internal)?;
        let headers = request.headers_mut();
        let media = match self.kept.version() {
            Version::V1 => MEDIA,
            Version::V03 => "application/json",
        };
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
        let mut secret = |name: http::HeaderName, text: &str| -> Result<(), Fault> {
            let mut value = HeaderValue::from_str(text).map_err(Fault::internal)?;
            value.set_sensitive(true);
            headers.insert(name, value);
            Ok(())
        };
        if let Some(authorization) = self.kept.authorization() {
            secret(AUTHORIZATION, &authorization)?;
        }
        if let Some(token) = self.kept.token() {
            for name in TOKEN_HEADERS {
                secret(http::HeaderName::from_static(name), token)?;
            }
        }
        Ok(request)
    }
}

/// How often an event is told, and how long is waited in between.
struct Patience {
    left: u32,
    pause: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Patience { left: MAX_FAILURES, pause: FIRST_PAUSE }
    }
}

impl Patience {
    /// After a failure: waits, twice as long as before, or gives up.
    async fn wait(&mut self) -> Result<(), Stop> {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            return Err(Stop::Disabled);
        }
        tokio::time::sleep(self.pause / 2 + jittered(self.pause / 2)).await;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_22_an_event_that_is_not_taken_is_told_ten_times_with_pauses_that_double_and_then_no_more() {
        let (mut patience, mut told, mut pauses) = (Patience::default(), 1, Vec::new());
        let given_up = loop {
            let failed = Instant::now();
            match patience.wait().await {
                Ok(()) => pauses.push(failed.elapsed()),
                Err(stop) => break stop,
            }
            told += 1;
        };
        assert!(matches!(given_up, Stop::Disabled));
        assert_eq!(told, 10);
        let longest = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000].map(Duration::from_millis);
        assert_eq!(pauses.len(), longest.len());
        for (pause, longest) in pauses.iter().zip(longest) {
            assert!((longest / 2..=longest).contains(pause), "{pauses:?}");
        }
    }
}
