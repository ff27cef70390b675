//! Polls a promised job of a site until it has ended, and reports what it waits for.

use std::sync::Arc;
use std::time::Duration;

use crate::client::Promise;
use interlingua_model::peer::Reply as Told;
use interlingua_model::plain_text::clean;
use interlingua_model::{Fault, FaultKind, PeerId, Secret, Sent, Text};
use tokio::time::Instant;

use super::http::Received;
use super::stream::Going;
use interlingua_hub::Hub;
use interlingua_hub::supervisor::Supervisor;
use interlingua_net::client::call_failure;
use interlingua_net::client::follow::{Look, Remote, follow};

/// How long between two looks at a promise, at least and at most.
const LOOK: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(15));
/// Characters of what a site says of how far it is.
const LONGEST_NOTE: usize = 2_000;

/// What goes with every request of a call.
pub(super) type Headers = [(&'static str, String)];

/// Looks after what a site has just promised.
pub(super) fn live(
    hub: &Arc<Hub>,
    going: Going,
    headers: Vec<(&'static str, String)>,
    promise: Promise,
    until: Option<Instant>,
) -> Told {
    let token = Secret::new(&promise.token);
    begin(Job::new(hub, going, headers, token, until), promise)
}

/// Takes up what was promised before.
pub(super) fn taken_up(
    hub: &Arc<Hub>,
    going: Going,
    headers: Vec<(&'static str, String)>,
    token: Secret,
    until: Option<Instant>,
) -> Told {
    let promise = Promise { token: String::new(), seconds: Some(0), note: None };
    begin(Job::new(hub, going, headers, token, until), promise)
}

fn begin(mut job: Job, promise: Promise) -> Told {
    let until = job.until;
    let note = job.goes_on(promise);
    follow(job, note, until)
}

struct Job {
    hub: Arc<Hub>,
    peer: PeerId,
    sent: Sent,
    /// Gone once the answer has come.
    going: Option<Going>,
    headers: Vec<(&'static str, String)>,
    token: Secret,
    until: Option<Instant>,
    /// When the site wants to be asked again.
    seconds: Option<u64>,
}

impl Job {
    fn new(
        hub: &Arc<Hub>,
        going: Going,
        headers: Vec<(&'static str, String)>,
        token: Secret,
        until: Option<Instant>,
    ) -> Job {
        let sent = Sent::learnt(going.dispatch.key.clone(), Some(token.clone()), true);
        let peer = going.peer.id().clone();
        Job { hub: hub.clone(), peer, sent, going: Some(going), headers, token, until, seconds: None }
    }

    /// What a site says is data: cleaned, cut, and under its name.
    fn goes_on(&mut self, promise: Promise) -> Option<Text> {
        self.seconds = promise.seconds;
        let note: String = clean(&promise.note?).chars().take(LONGEST_NOTE).collect();
        Some(format!("{}: {note}", self.peer).into())
    }

    /// The answer that was promised, or what came instead of it.
    fn ended(&mut self, received: Received, until: Option<Instant>) -> Option<Told> {
        let going = self.going.take()?;
        let peer = going.peer.clone();
        Some(peer.arrived(&self.hub, going, received, until))
    }

    fn gone(&self) -> Fault {
        call_failure::fault(&self.peer, FaultKind::OutcomeUnknown, "has answered already")
    }
}

impl Remote for Job {
    fn sent(&self) -> Sent {
        self.sent.clone()
    }

    fn pause(&mut self) -> Duration {
        self.seconds.map_or(LOOK.0, Duration::from_secs).clamp(LOOK.0, LOOK.1)
    }

    async fn look(&mut self) -> Look {
        let Some(going) = &self.going else { return Look::Failed(self.gone()) };
        match going.peer.look(&self.token, &self.headers).await {
            Ok(mut received) => match received.reply.promise.take() {
                Some(again) => Look::On(self.goes_on(again)),
                None => self.ended(received, self.until).map_or_else(|| Look::Failed(self.gone()), Look::Ended),
            },
            Err(lost) => Look::Silent(going.peer.lost(&self.hub, &lost)),
        }
    }

    async fn cancel(&mut self) -> Option<Told> {
        let received = self.going.as_ref()?.peer.cancel(&self.token, &self.headers).await?;
        if received.reply.has_begun() { self.ended(received, None) } else { None }
    }

    async fn let_go(self) {
        if let Some(going) = &self.going {
            drop(going.peer.cancel(&self.token, &self.headers).await);
        }
    }

    fn too_late(&self) -> Fault {
        call_failure::too_late(&self.peer)
    }

    fn supervisor(&self) -> Supervisor {
        self.hub.supervisor().clone()
    }
}
