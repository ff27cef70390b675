//! Subscriptions at a server: changes of its lists, and the resources that callers here follow.
//!
//! However many callers follow a resource, the server gets one subscription, which ends with the last of them. A legacy server is sent
//! `resources/subscribe`; a modern one a stream (`subscriptions/listen`) whose filter names all resources, and which is reopened when they
//! change, while the old one is read until the new one is open. A lost session leaves a gap in which anything may have changed: followers
//! are notified of that once the next session is open.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use crate::client::encode::{self, ACKNOWLEDGED, LISTEN, Manner, SUBSCRIBE, UNSUBSCRIBE};
use crate::client::list::List;
use interlingua_model::Uri;
use interlingua_model::json::write_string;
use interlingua_model::peer::Following;
use interlingua_wire::rpc::Message;
use tokio::sync::watch;

use super::changes::Changes;
use super::link::Trouble;
use super::peer::McpPeer;
use super::request::InFlightRequest;
use super::session::{Session, Unanswered};

/// How many resources of one server are followed.
const MAX_FOLLOWED: usize = 1_000;
/// Who follows one resource often follows the next: so long is waited for more.
const MOMENT: Duration = Duration::from_millis(20);
/// Before what failed is tried again.
const AGAIN: Duration = Duration::from_secs(5);

/// The resources that somebody follows, and how many do.
#[derive(Debug, Default)]
pub(super) struct Follows {
    wanted: Mutex<BTreeMap<Uri, usize>>,
    changed: watch::Sender<()>,
}

/// One follower of one resource.
struct ResourceFollow {
    follows: Arc<Follows>,
    uri: Uri,
}

impl Drop for ResourceFollow {
    fn drop(&mut self) {
        let mut wanted = self.follows.lock();
        if let Some(count) = wanted.get_mut(&self.uri) {
            *count -= 1;
            if *count == 0 {
                wanted.remove(&self.uri);
                drop(wanted);
                self.follows.changed.send_replace(());
            }
        }
    }
}

impl Follows {
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<Uri, usize>> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `None` when as many are followed as can be.
    pub(super) fn follow(self: &Arc<Self>, uri: &Uri) -> Option<Following> {
        let mut wanted = self.lock();
        if let Some(count) = wanted.get_mut(uri) {
            *count += 1;
        } else if wanted.len() < MAX_FOLLOWED {
            wanted.insert(uri.clone(), 1);
            self.changed.send_replace(());
        } else {
            return None;
        }
        drop(wanted);
        Some(Following::new(ResourceFollow { follows: self.clone(), uri: uri.clone() }))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn wanted(&self) -> BTreeSet<Uri> {
        self.lock().keys().cloned().collect()
    }
}

/// Asks a server that was just greeted, and goes on asking as followers come and go, until this session is over.
pub(super) fn start(peer: &Arc<McpPeer>, session: Arc<Session>) {
    let asks = Asks {
        peer: Arc::downgrade(peer),
        follows: peer.upstream.follows.clone(),
        changes: peer.upstream.changes.clone(),
        session,
    };
    peer.upstream.supervisor.run_until_stop(async move {
        let closed = asks.session.link.closed().clone();
        tokio::select! {
            () = closed.cancelled() => {}
            () = asks.run() => {}
        }
    });
}

struct Asks {
    peer: Weak<McpPeer>,
    follows: Arc<Follows>,
    changes: Arc<Changes>,
    session: Arc<Session>,
}

impl Asks {
    async fn run(&self) {
        // What was followed when the session before this one was lost.
        self.changes.updated(self.resources());
        if self.session.version.is_modern() {
            self.listen().await;
        } else if self.session.server.resources.subscribe {
            self.subscribe().await;
        }
    }

    fn resources(&self) -> BTreeSet<Uri> {
        if self.session.server.resources.subscribe { self.follows.wanted() } else { BTreeSet::new() }
    }

    async fn subscribe(&self) {
        let mut changed = self.follows.changed.subscribe();
        let mut told: BTreeSet<Uri> = BTreeSet::new();
        loop {
            changed.mark_unchanged();
            let wanted = self.resources();
            let news = wanted.difference(&told).map(|uri| (SUBSCRIBE, uri));
            for (method, uri) in told.difference(&wanted).map(|uri| (UNSUBSCRIBE, uri)).chain(news) {
                match self.session.ask(method, |params| params.text("uri", uri)).await {
                    Ok(_) => {}
                    Err(Unanswered::Trouble(Trouble::SessionGone)) => return self.session_is_gone(),
                    Err(why) => {
                        tracing::warn!(event = "resource_not_subscribed", %uri, method, cause = %why, "a subscription to a resource could not be changed")
                    }
                }
            }
            told = wanted;
            if changed.changed().await.is_err() {
                return;
            }
            tokio::time::sleep(MOMENT).await;
        }
    }

    /// The next one asks for all of it again.
    fn session_is_gone(&self) {
        if let Some(peer) = self.peer.upgrade() {
            peer.upstream.forget(&self.session);
            peer.wake();
        }
    }

    /// Modern servers tell of changes only to who listens (2026-07-28, subscriptions).
    async fn listen(&self) {
        let mut changed = self.follows.changed.subscribe();
        let mut stream: Option<InFlightRequest> = None;
        loop {
            changed.mark_unchanged();
            let wanted = self.resources();
            if wanted.is_empty() && !self.session.server.tells_changes() {
                stream = None;
            } else {
                let opened = tokio::select! {
                    opened = self.open(&wanted) => opened,
                    never = hear(&mut stream) => match never {},
                };
                stream = match opened {
                    Ok(opened) => Some(opened),
                    Err(Unanswered::Error(error)) => {
                        return tracing::debug!(code = error.code, "it does not tell of changes by itself");
                    }
                    Err(Unanswered::Trouble(_) | Unanswered::Late) => {
                        self.missed().await;
                        continue;
                    }
                };
            }
            tokio::select! {
                () = ended(&mut stream) => self.missed().await,
                still = changed.changed() => match still {
                    Ok(()) => tokio::time::sleep(MOMENT).await,
                    Err(_) => return,
                },
            }
        }
    }

    /// Waits before the next try. What changes while nobody listens is not told again.
    async fn missed(&self) {
        tokio::time::sleep(AGAIN).await;
        self.changes.add(&List::ALL[..3]);
        self.changes.updated(self.resources());
    }

    /// A stream that the server has acknowledged.
    async fn open(&self, wanted: &BTreeSet<Uri>) -> Result<InFlightRequest, Unanswered> {
        let (server, id) = (&self.session.server, self.session.next_id());
        let outgoing = encode::request(id, LISTEN, &Manner::own(self.session.version), |params| {
            params.object("notifications", |filter| {
                filter.bool("toolsListChanged", server.tools.list_changed);
                filter.bool("promptsListChanged", server.prompts.list_changed);
                filter.bool("resourcesListChanged", server.resources.list_changed);
                if !wanted.is_empty() {
                    filter.array("resourceSubscriptions", wanted, |uri, out| write_string(uri, out));
                }
            });
        });
        let opening = async {
            let mut flight = InFlightRequest::open(self.session.clone(), id, &outgoing, None).await?;
            loop {
                match flight.next().await? {
                    Message::Notification(told) if &*told.method == ACKNOWLEDGED => return Ok(flight),
                    Message::Response(response) => {
                        response.outcome.map_err(Unanswered::Error)?;
                        return Err(Unanswered::Late);
                    }
                    Message::Notification(_) | Message::Request(_) => {}
                }
            }
        };
        tokio::time::timeout(AGAIN, opening).await.unwrap_or(Err(Unanswered::Late))
    }
}

enum Never {}

/// Keeps reading: what the server tells is heard on the way ([`Changes`]).
async fn hear(stream: &mut Option<InFlightRequest>) -> Never {
    ended(stream).await;
    std::future::pending().await
}

/// Reads to the end of the stream; without one there is none to come.
async fn ended(stream: &mut Option<InFlightRequest>) {
    let Some(flight) = stream else { return std::future::pending().await };
    while matches!(flight.next().await, Ok(Message::Notification(_) | Message::Request(_))) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(text: &str) -> Uri {
        text.into()
    }

    #[test]
    fn a_resource_is_wanted_until_the_last_has_let_go_and_no_more_than_can_be() {
        let follows = Arc::new(Follows::default());
        let (first, second) = (follows.follow(&uri("a:1")), follows.follow(&uri("a:1")));
        drop(first);
        assert_eq!(follows.wanted(), BTreeSet::from([uri("a:1")]));
        drop(second);
        assert!(follows.is_empty());
        let held: Vec<_> = (0..MAX_FOLLOWED).map(|n| follows.follow(&uri(&format!("a:{n}")))).collect();
        assert!(held.iter().all(Option::is_some));
        assert!(follows.follow(&uri("b:1")).is_none(), "one too many");
        assert!(follows.follow(&uri("a:1")).is_some(), "one that is followed already");
        drop(held);
        assert!(follows.is_empty());
    }

    #[tokio::test]
    async fn a_change_is_told_only_when_the_set_changes() {
        let follows = Arc::new(Follows::default());
        let mut changed = follows.changed.subscribe();
        let first = follows.follow(&uri("a:1"));
        assert!(changed.has_changed().is_ok_and(|changed| changed));
        changed.mark_unchanged();
        let second = follows.follow(&uri("a:1"));
        drop(first);
        assert!(changed.has_changed().is_ok_and(|changed| !changed));
        drop(second);
        assert!(changed.has_changed().is_ok_and(|changed| changed));
    }
}
