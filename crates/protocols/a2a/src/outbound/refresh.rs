//! Refreshes the card: reads it when the peer is registered, at intervals, and when a call shows that it is old. The previous card stays
//! while a new one cannot be read or used.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use crate::{VERSION_HEADER, Version};
use bytes::Bytes;
use http::header::{ACCEPT, ETAG, IF_NONE_MATCH};
use http::{Method, Request, Response, StatusCode, Uri};
use interlingua_model::{Fault, Health, Json, Text};
use tokio::time::Instant;

use super::interface::DEPTH;
use super::known::{Known, Reader, Shown, unknown, unusable};
use super::peer::{A2aPeer, Manifest, Named};
use interlingua_hub::Hub;
use interlingua_net::client::answers::Coming;
use interlingua_net::client::credentials::Credentials;
use interlingua_net::client::health::{self, Probed, Went, is_registered};
use interlingua_net::client::http::{read, whole};
use interlingua_net::client::retry::jittered;
use interlingua_net::client::transport_error::{TransportError, Why};

/// What is read of a card.
const LIMIT: usize = 4 << 20;
const PATIENCE: Duration = Duration::from_secs(10);
/// A card that was seen to be old is not read again sooner than this.
const SOONEST: Duration = Duration::from_millis(500);

/// Reads for as long as the peer is registered.
pub(super) fn watch(hub: &Arc<Hub>, peer: &Arc<A2aPeer>) {
    let (watched, known) = (Arc::downgrade(peer), Arc::downgrade(hub));
    hub.spawn_until_stop(async move {
        loop {
            let (Some(hub), Some(peer)) = (known.upgrade(), watched.upgrade()) else { return };
            if !is_registered(&hub, &peer) {
                return;
            }
            peer.look(&hub).await;
            let (pause, again) = (peer.breaker().pause(), peer.again.clone());
            drop((hub, peer));
            let _ = tokio::time::timeout(pause / 2 + jittered(pause / 2), again.notified()).await;
            tokio::time::sleep(SOONEST).await;
        }
    });
}

/// A card that was asked for.
enum Fetched {
    /// As it was.
    Same,
    New(Box<Known>),
}

/// What is found where cards are.
enum Page {
    Same,
    New { raw: Bytes, etag: Option<String> },
}

enum Unread {
    Lost(TransportError),
    /// Somebody is there, and this is what is wrong with the card.
    Unusable(Text),
}

fn unreached(lost: &TransportError) -> &'static str {
    match lost.why {
        Why::Certificate => "its certificate was refused",
        Why::Refused => "its address is one that this hub does not call",
        Why::TooLarge => "its card is larger than is read",
        Why::Slow => "its card was begun and did not end in time",
        Why::Busy => "the hub had no room for its card",
        Why::Connection => "it cannot be reached",
    }
}

impl A2aPeer {
    /// Reads the card, and shows what is new in it.
    pub(super) async fn look(self: &Arc<Self>, hub: &Arc<Hub>) {
        // It may have been unregistered while it was asked.
        if self.read(hub).await
            && is_registered(hub, self)
            && let Err(fault) = self.show(hub).await
        {
            tracing::error!(event = "peer_not_updated", peer = %self.name, error = %fault, cause = ?fault.source, "what the hub knows of a peer could not be updated");
        }
        self.listed.send_replace(true);
    }

    /// True when there is something new to show.
    pub(super) async fn read(&self, hub: &Hub) -> bool {
        let started = Instant::now();
        let asking = async {
            match self.manifest {
                Manifest::Shown => self.fetch().await,
                Manifest::Given => self.knock().await,
            }
        };
        let fetched = match tokio::time::timeout(PATIENCE, asking).await {
            Ok(fetched) => fetched,
            Err(late) => Err(Unread::Lost(TransportError::unconnected(late))),
        };
        let reached = Went::Reached { knock: Some(started.elapsed()) };
        let (went, unread, new) = match fetched {
            Ok(Fetched::Same) => (reached, None, None),
            Ok(Fetched::New(known)) => (reached, None, Some(known)),
            Err(Unread::Unusable(problem)) => (reached, Some(problem), None),
            Err(Unread::Lost(lost)) => {
                // Who registered an address also reads its problems: what answers at it is not theirs to find out.
                let text = match (lost.why, self.named) {
                    (Why::Connection, Named::ByConfiguration) => health::unreached(&self.address.origin, &lost),
                    (Why::Connection, Named::ByOthers(_))
                    | (Why::Certificate | Why::Refused | Why::TooLarge | Why::Slow | Why::Busy, _) => {
                        unreached(&lost).into()
                    }
                };
                (if lost.why == Why::TooLarge { reached } else { Went::Missed }, Some(text), None)
            }
        };
        self.note(hub, went);
        self.troubled(unread.clone().filter(|_| went == Went::Missed));
        let before =
            std::mem::replace(&mut *self.unread.lock().unwrap_or_else(PoisonError::into_inner), unread.clone());
        let Some(known) = new else { return before != unread };
        if self.known().is_some_and(|before| before.is_same(&known)) {
            return before != unread;
        }
        tracing::info!(peer = %self.name, interfaces = known.lines.len(), "its card was read");
        for problem in &known.problems {
            tracing::warn!(event = "peer_problem", peer = %self.name, %problem, "the card of the agent has a problem");
        }
        if let Err(fault) = known.keep(&self.kept, hub).await {
            tracing::error!(event = "peer_not_stored", peer = %self.name, error = %fault, cause = ?fault.source, "the card of the agent could not be stored");
        }
        self.knows(*known);
        true
    }

    /// The card by what is known of the agent now.
    pub(super) async fn show(self: &Arc<Self>, hub: &Arc<Hub>) -> Result<(), Fault> {
        let registered = hub.catalogue().peers.get(&self.name).map(|peer| peer.card.health);
        let health = registered.filter(|_| is_registered(hub, self)).unwrap_or(Health::Starting);
        let known = self.known();
        let card = match &known {
            Some(known) => known.card(&self.name, &self.config, health, hub.now()),
            None => unknown(&self.name, &self.config, health, hub.now()),
        };
        hub.register(card, self.clone()).await?;
        let unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let problems = known.iter().flat_map(|known| known.problems.iter().cloned());
        hub.set_problems(&self.name, unread.into_iter().chain(problems).collect::<Vec<_>>().into_iter())
    }

    /// Whatever it answers, it is there.
    async fn knock(&self) -> Result<Fetched, Unread> {
        let place = self.address.cards.first().unwrap_or(&self.address.origin);
        self.ask_for(place, None).await.map(|_| Fetched::Same)
    }

    /// The card of an agent that is not registered yet, and its tag.
    pub(super) async fn first_card(&self) -> Result<(Bytes, Option<String>), Text> {
        let page = tokio::time::timeout(PATIENCE, self.page())
            .await
            .unwrap_or(Err(Unread::Lost(TransportError::unconnected("late"))));
        match page {
            Ok(Page::New { raw, etag }) => Ok((raw, etag)),
            Ok(Page::Same) => Err("it has no card".into()),
            Err(Unread::Unusable(problem)) => Err(problem),
            Err(Unread::Lost(lost)) => {
                tracing::debug!(url = %self.address.origin, cause = %lost, "an agent's card could not be read");
                // Whoever registers it is not told what a name means inside.
                Err(if lost.why == Why::Refused { "it cannot be reached" } else { unreached(&lost) }.into())
            }
        }
    }

    async fn fetch(&self) -> Result<Fetched, Unread> {
        match self.page().await? {
            Page::Same => Ok(Fetched::Same),
            Page::New { raw, etag } => {
                let known = self.judged(raw, etag).await.map_err(Unread::Unusable)?;
                Ok(Fetched::New(Box::new(known)))
            }
        }
    }

    /// What a card says, and who signed it; the error says why it is not taken.
    pub(super) async fn judged(&self, raw: Bytes, etag: Option<String>) -> Result<Known, Text> {
        let card = Json::parse_within(raw, DEPTH).map_err(unusable)?;
        let sets = self.trust.fetch(&card, &self.ways.pool).await;
        let reader = Reader { peer: &self.name, address: &self.address, a2a: &self.a2a, trust: &self.trust };
        Known::read(Shown { card, etag, sets }, &reader)
    }

    /// At the place where it was found last, else wherever cards are.
    async fn page(&self) -> Result<Page, Unread> {
        let places = &self.address.cards;
        let first = self.found.load(Ordering::Relaxed);
        let mut missing = None;
        for offset in 0..places.len() {
            let at = (first + offset) % places.len();
            match self.fetch_at(&places[at]).await? {
                Ok(page) => {
                    self.found.store(at, Ordering::Relaxed);
                    return Ok(page);
                }
                Err(status) => missing = missing.or(Some(status)),
            }
        }
        let status = missing.map(|status| status.as_u16()).unwrap_or_default();
        Err(Unread::Unusable(format!("it shows no card: it answers with HTTP {status}").into()))
    }

    /// The inner error: there is no card at this place.
    async fn fetch_at(&self, uri: &Uri) -> Result<Result<Page, StatusCode>, Unread> {
        let known = self.known();
        let response = self.ask_for(uri, known.as_deref()).await?;
        match response.status() {
            StatusCode::NOT_MODIFIED if known.is_some() => return Ok(Ok(Page::Same)),
            status if !status.is_success() => return Ok(Err(status)),
            _ => {}
        }
        let etag = response.headers().get(ETAG).and_then(|etag| etag.to_str().ok()).map(str::to_owned);
        let raw = read(response, LIMIT).await.map_err(Unread::Lost)?;
        // It stays for as long as the agent is known; the answer it came in does not.
        Ok(Ok(Page::New { raw: Bytes::copy_from_slice(&raw), etag }))
    }

    async fn ask_for(&self, uri: &Uri, known: Option<&Known>) -> Result<Response<Coming>, Unread> {
        let mut request = Request::builder().method(Method::GET).uri(uri).header(ACCEPT, "application/json");
        request = request.header(VERSION_HEADER, Version::V1.as_str());
        if let Some(etag) = known.and_then(|known| known.etag.as_deref()) {
            request = request.header(IF_NONE_MATCH, etag);
        }
        let configured = Credentials::new(self.a2a.token.as_ref(), &self.a2a.headers).unwrap_or_default();
        if let Some(headers) = request.headers_mut() {
            known.map_or(&configured, |known| &known.credentials).apply(headers);
        }
        let request =
            request.body(whole(Bytes::new())).map_err(|error| Unread::Lost(TransportError::unconnected(error)))?;
        self.ways.pool.send(request).await.map_err(Unread::Lost)
    }
}
