//! An A2A agent as a peer of the hub.

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use interlingua_model::peer::{Calling, Dispatch, Peer, Reply, Standing, Vouched};
use interlingua_model::{Digest, Fault, FaultKind, PeerId, Principal, Text};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use super::address::Address;
use super::call::OutboundCall;
use super::interface::Ways;
use super::known::{Known, Reader};
use super::trust::Trust;
use crate::settings;
use interlingua_hub::Hub;
use interlingua_net::client::call_failure;
use interlingua_net::client::guard::{Private, Reach};
use interlingua_net::client::h2_pool::H2Pool;
use interlingua_net::client::health::{Breaker, Probed};
use interlingua_net::client::http::Pool;
use interlingua_net::client::tls;

/// What is gone by when an agent is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manifest {
    /// The card that it shows, read again and again.
    Shown,
    /// The card that came with its registration. What it shows itself may be another agent's.
    Given,
}

/// Who says where an agent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    ByConfiguration,
    /// By whoever registered it.
    ByOthers(Private),
}

/// Holds the hub weakly: the hub holds it.
#[derive(Debug)]
pub struct A2aPeer {
    pub(super) name: PeerId,
    pub(super) address: Address,
    pub(super) ways: Ways,
    pub(super) config: interlingua_settings::Peer,
    pub(super) a2a: settings::A2aPeer,
    pub(super) manifest: Manifest,
    pub(super) named: Named,
    pub(super) trust: Trust,
    known: Mutex<Option<Arc<Known>>>,
    /// Why there is no card, or no newer one.
    pub(super) unread: Mutex<Option<Text>>,
    /// Where its card is kept: another agent under the same name is another place.
    pub(super) kept: String,
    /// Which place of its card answered last, and which of its interfaces.
    pub(super) found: AtomicUsize,
    pub(super) chosen: AtomicUsize,
    /// Has its card been looked for since the hub started?
    pub(super) listed: watch::Sender<bool>,
    /// Somebody saw that the card is old.
    pub(super) again: Arc<Notify>,
    breaker: Breaker,
    pub(super) timeout: Option<Duration>,
    hub: Weak<Hub>,
}

/// Where the card of an agent is kept: another agent under the same name is another place.
pub(super) fn place_of_card(name: &PeerId, url: &str) -> String {
    Digest::of_fields([name.as_str().as_bytes(), url.as_bytes()]).to_string()
}

impl A2aPeer {
    pub(super) async fn new(
        hub: &Arc<Hub>,
        name: PeerId,
        config: &interlingua_settings::Peer,
        a2a: &settings::A2aPeer,
        manifest: Manifest,
        named: Named,
    ) -> Result<A2aPeer, Fault> {
        let address = Address::of(&name, &a2a.url, &config.origins)?;
        let reach = match named {
            Named::ByConfiguration => Reach::configured(hub, address.own.origins().to_vec()),
            Named::ByOthers(private) => Reach::chosen(hub, private),
        };
        let tls = tls::config(&tls::Trust::of(a2a.ca.as_deref(), &address.origin))?;
        let kept = place_of_card(&name, &a2a.url);
        let trust = Trust::of(a2a)?;
        let known = Known::load(&kept, hub, &Reader { peer: &name, address: &address, a2a, trust: &trust }).await;
        Ok(A2aPeer {
            ways: Ways {
                pool: Pool::new(tls.clone(), hub.supervisor(), reach.clone(), hub.answers()),
                lanes: H2Pool::new(tls, hub.supervisor(), reach, hub.answers()),
            },
            known: Mutex::new(known.map(Arc::new)),
            unread: Mutex::default(),
            named,
            kept,
            found: AtomicUsize::new(0),
            chosen: AtomicUsize::new(0),
            listed: watch::Sender::new(false),
            again: Arc::default(),
            breaker: Breaker::new(),
            timeout: config.timeout.map(|span| span.0),
            hub: Arc::downgrade(hub),
            name,
            address,
            trust,
            config: config.clone(),
            a2a: a2a.clone(),
            manifest,
        })
    }

    /// Before it is registered: its name may be one that its card suggests.
    pub(super) fn call_it(&mut self, name: PeerId) {
        self.kept = place_of_card(&name, &self.a2a.url);
        self.address.own = self.address.own.clone().called(&name);
        self.name = name;
    }

    pub(super) fn known(&self) -> Option<Arc<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn knows(&self, known: Known) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(known));
    }

    pub(super) fn fault(&self, kind: FaultKind, what: &str) -> Fault {
        call_failure::fault(&self.name, kind, what)
    }

    /// Why is the Owner's to know, as its problems are.
    fn unusable(&self, by: &Principal) -> Fault {
        let unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let unread = unread.filter(|_| by.is_hub_owner());
        let why = unread.map_or_else(String::new, |unread| format!(": {unread}"));
        self.fault(FaultKind::Unreachable, &format!("has no card that can be used{why}"))
    }

    async fn converse(self: Arc<Self>, dispatch: Dispatch) -> Result<Reply, Fault> {
        let hub = self.hub.upgrade().ok_or_else(Fault::shutting_down)?;
        if let Err(wait) = self.breaker.admit(Instant::now()) {
            return Err(self.down(&dispatch.by, wait));
        }
        if self.known().is_none() {
            self.look(&hub).await;
        }
        let usable = self.known().filter(|known| !known.lines.is_empty());
        let known = usable.ok_or_else(|| self.unusable(&dispatch.by))?;
        OutboundCall::new(self, hub, known, dispatch).await?.run().await
    }
}

impl Peer for A2aPeer {
    fn speaks(&self) -> Option<&'static str> {
        Some(crate::PROTOCOL)
    }

    fn call(self: Arc<Self>, dispatch: Dispatch) -> Calling {
        Box::pin(self.converse(dispatch))
    }

    /// One that answers and cannot be used is of no use; one whose newest card cannot be read is half of it.
    fn standing(&self) -> Option<Standing> {
        let standing = self.breaker.standing()?;
        let usable = self.known().is_some_and(|known| !known.lines.is_empty());
        let unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        Some(Standing {
            score: match (usable, unread) {
                (true, false) => standing.score,
                (true, true) => standing.score / 2,
                (false, _) => 0,
            },
            ..standing
        })
    }

    fn vouched(&self) -> Option<Vouched> {
        self.known().and_then(|known| known.vouched.clone())
    }
}

impl Probed for A2aPeer {
    fn name(&self) -> &PeerId {
        &self.name
    }

    fn breaker(&self) -> &Breaker {
        &self.breaker
    }

    /// Reading the card is the knock: it costs the agent nothing.
    async fn probe(&self, hub: &Hub) {
        self.read(hub).await;
    }
}
