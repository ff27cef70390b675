//! Change notifications: `subscriptions/listen` and the stream of a session.
//!
//! One change of a peer often causes several notices: those within a moment are sent once for each list (debounce).

use std::sync::Arc;
use std::time::Duration;

use crate::Version;
use crate::decode::Filter;
use crate::encode::notify::{self, Changed};
use crate::encode::{Encoder, Written};
use crate::wire::content::Addresses;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::unfold;
use interlingua_model::peer::Following;
use interlingua_model::{Fault, FaultKind, Kinds, Notice, Party, PeerId, Principal, Text, Uri};
use interlingua_wire::rpc::Id;
use tokio::time::Instant;

use super::ask::Asker;
use super::{SERVER, Scope, Spelling, frames};
use crate::Endpoint;
use interlingua_hub::news::{Heard, Listener};

/// How long more of the same is waited for.
const MOMENT: Duration = Duration::from_millis(50);
/// How many updates of resources are held within one moment.
const MAX_HELD: usize = 1_000;

/// `subscriptions/listen`: what changed, until somebody leaves. What nobody tells of is not acknowledged.
pub(super) fn stream(asker: &Asker, id: Id, mut filter: Filter) -> Response {
    let hub = &asker.shared.hub;
    let follow = |uri: &Text| followed(&asker.shared, &asker.by, &asker.scope, uri).ok();
    let held: Vec<(Text, Following)> =
        std::mem::take(&mut filter.updates).into_iter().filter_map(|uri| Some((uri.clone(), follow(&uri)?))).collect();
    filter.updates = held.iter().map(|(uri, _)| uri.clone()).collect();
    let mode = asker.shared.own.settings().mode(&asker.scope);
    let telling = Listening::new(&asker.shared, &asker.by, &asker.scope, Spelling(mode), Some(id.clone()));
    let first = frames::event(None, &notify::acknowledged(&filter, &id));
    let (stopping, version) = (hub.stopping().clone(), asker.said.version);
    let state = (Some((telling, held)), vec![first], filter, id, stopping);
    frames::response(unfold(state, move |(telling, mut ready, filter, id, stopping)| async move {
        if let Some(frame) = ready.pop() {
            return Some((frame, (telling, ready, filter, id, stopping)));
        }
        let (mut telling, held) = telling?;
        let told = tokio::select! {
            told = tokio::time::timeout(frames::KEEP_ALIVE, telling.next(|| filter.clone())) => told,
            () = stopping.cancelled() => Ok(None),
        };
        match told {
            Err(_) => Some((frames::COMMENT, (Some((telling, held)), ready, filter, id, stopping))),
            Ok(Some(told)) => {
                ready = told.iter().rev().map(|message| frames::event(None, message)).collect();
                let frame = ready.pop()?;
                Some((frame, (Some((telling, held)), ready, filter, id, stopping)))
            }
            Ok(None) => {
                let frame = frames::event(None, &listened(version, &id));
                Some((frame, (None, ready, filter, id, stopping)))
            }
        }
    }))
}

/// The result of a listen that the hub ends.
fn listened(version: Version, id: &Id) -> Bytes {
    let encoder = Encoder { version, server: SERVER, addresses: &crate::wire::content::Verbatim };
    Written::by(|out| encoder.listened(id, out)).message(id)
}

/// Has the peer whose resource this is tell of it, for as long as what is returned is held.
pub(super) fn followed(shared: &Endpoint, by: &Principal, scope: &Scope, uri: &str) -> Result<Following, Fault> {
    let (peer, own) = place(shared, scope, uri)?;
    let told = shared.hub.follow_resource(by, &peer, &own)?;
    told.ok_or_else(|| Fault::caller(FaultKind::InvalidInput, format!("{peer} does not tell when this changes")))
}

/// Whose resource this is, and what it is called there.
fn place(shared: &Endpoint, scope: &Scope, uri: &str) -> Result<(PeerId, Uri), Fault> {
    shared.own.listings.now(&shared.hub, scope, &shared.own.settings()).resource(uri)
}

/// Hears news and tells what its client wants to hear.
pub(super) struct Listening {
    shared: Arc<Endpoint>,
    by: Principal,
    news: Listener,
    scope: Scope,
    spelling: Spelling,
    subscription: Option<Id>,
    held: HeldNews,
    /// When what is held is told.
    due: Option<Instant>,
}

#[derive(Default)]
struct HeldNews {
    kinds: Kinds,
    updated: Vec<Text>,
}

impl Listening {
    pub(super) fn new(
        shared: &Arc<Endpoint>,
        by: &Principal,
        scope: &Scope,
        spelling: Spelling,
        subscription: Option<Id>,
    ) -> Listening {
        let (shared, by, scope, news) = (shared.clone(), by.clone(), scope.clone(), shared.hub.notices());
        Listening { shared, by, news, scope, spelling, subscription, held: HeldNews::default(), due: None }
    }

    /// The rules may have changed since it was asked for.
    fn may_read(&self, uri: &str) -> bool {
        place(&self.shared, &self.scope, uri).is_ok_and(|(peer, own)| self.shared.hub.may_follow(&self.by, &peer, &own))
    }

    /// The next notifications; `None` when there will be no more. Cancel safe. `filter` is asked for each time, since it may
    /// change.
    pub(super) async fn next(&mut self, filter: impl Fn() -> Filter) -> Option<Vec<Vec<u8>>> {
        loop {
            let told = match self.due {
                None => false,
                Some(due) => tokio::select! {
                    () = tokio::time::sleep_until(due) => true,
                    heard = self.news.next() => {
                        self.hold(heard)?;
                        false
                    }
                },
            };
            if told {
                self.due = None;
                let held = std::mem::take(&mut self.held);
                let told = self.told(&held, &filter());
                if !told.is_empty() {
                    return Some(told);
                }
            }
            if self.due.is_none() {
                let heard = self.news.next().await;
                self.hold(heard)?;
                self.due = Some(Instant::now() + MOMENT);
            }
        }
    }

    fn hold(&mut self, heard: Heard) -> Option<()> {
        let held = &mut self.held;
        let ours = |peer| match &self.scope {
            // What a view leaves out may have changed too: its client looks once in vain.
            Scope::All | Scope::View(_) => true,
            Scope::Peer(own) => own == peer,
        };
        match heard {
            Heard::Over => return None,
            // Anything may have changed.
            Heard::Missed => held.kinds = Kinds { tools: true, prompts: true, resources: true },
            Heard::Notice(Notice::Changed(peer, kinds)) if ours(&peer) => {
                held.kinds.tools |= kinds.tools;
                held.kinds.prompts |= kinds.prompts;
                held.kinds.resources |= kinds.resources;
            }
            Heard::Notice(Notice::Updated(peer, uri)) if ours(&peer) && held.updated.len() < MAX_HELD => {
                let uri = self.spelling.outward(&Party::Peer(peer), &uri);
                if !held.updated.contains(&uri) {
                    held.updated.push(uri);
                }
            }
            Heard::Notice(Notice::Changed(..) | Notice::Updated(..)) => {}
        }
        Some(())
    }

    fn told(&self, held: &HeldNews, filter: &Filter) -> Vec<Vec<u8>> {
        let lists = [
            (held.kinds.tools && filter.tools, Changed::Tools),
            (held.kinds.prompts && filter.prompts, Changed::Prompts),
            (held.kinds.resources && filter.resources, Changed::Resources),
        ];
        let id = self.subscription.as_ref();
        let changed = lists.into_iter().filter(|(is, _)| *is).map(|(_, what)| notify::changed(what, id));
        let wanted = held.updated.iter().filter(|uri| filter.updates.contains(uri) && self.may_read(uri));
        changed.chain(wanted.map(|uri| notify::updated(uri, id))).collect()
    }
}
