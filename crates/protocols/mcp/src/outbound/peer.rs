//! An MCP server as a peer of the hub.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use crate::client::list::List;
use interlingua_model::peer::{Calling, Dispatch, Following, Peer, Standing};
use interlingua_model::{Call, Fault, FaultKind, Health, Input, Loss, PeerId, Principal, Text, Uri};
use interlingua_process::child::Program;
use tokio::sync::watch;
use tokio::time::Instant;

use super::call::OutboundCall;
use super::callers::Callers;
use super::credentials::Credentials;
use super::link::Trouble;
use super::link::streamable::Endpoint;
use super::listing::{Kept, Listing};
use super::pins::Pins;
use super::session::Unanswered;
use super::upstream::{ServerAddress, Unopened, Upstream, waits};
use crate::settings::{self, McpChanges, McpCredentials, McpPlace};
use interlingua_hub::Hub;
use interlingua_net::client::guard::Reach;
use interlingua_net::client::health::{Breaker, Probed, Went};
use interlingua_net::client::http::Pool;
use interlingua_net::client::oauth::{Authority, SignIns};
use interlingua_net::client::place::Own;
use interlingua_net::client::tls::{self, Trust};

/// Holds the hub weakly: the hub holds it.
#[derive(Debug)]
pub struct McpPeer {
    pub(super) name: PeerId,
    /// With the hub's own credentials.
    pub(super) upstream: Arc<Upstream>,
    /// Where each caller has its own.
    callers: Option<Callers>,
    pub(super) config: interlingua_settings::Peer,
    pub(super) is_hub: bool,
    pub(super) timeout: Option<Duration>,
    pub(super) kept: Kept,
    pub(super) listing: Mutex<Arc<Listing>>,
    /// Its definitions as they were first seen, or why they cannot be compared.
    pub(super) pins: Mutex<Result<Pins, Text>>,
    pub(super) changes: McpChanges,
    /// What of its definitions cannot be used.
    pub(super) problems: Mutex<Vec<Text>>,
    /// Has it been listed since the hub started?
    pub(super) listed: watch::Sender<bool>,
    completes: AtomicBool,
    breaker: Breaker,
    hub: Weak<Hub>,
}

impl McpPeer {
    pub(super) async fn new(
        (hub, sign_ins): (&Arc<Hub>, &Arc<SignIns>),
        name: PeerId,
        config: &interlingua_settings::Peer,
        mcp: &settings::McpPeer,
    ) -> Result<McpPeer, Fault> {
        let (place, spelt, callers) = place((hub, sign_ins), &name, config, mcp)?;
        let kept = Kept::of(name.as_str(), &spelt);
        let listing = kept.load(hub).await.unwrap_or_default();
        let idle = mcp.idle.map(|span| span.0);
        let upstream = Upstream::new(name.clone(), place, hub.supervisor().clone(), idle, listing.era());
        Ok(McpPeer {
            name,
            upstream: Arc::new(upstream),
            callers,
            config: config.clone(),
            is_hub: config.hub,
            timeout: config.timeout.map(|span| span.0),
            completes: AtomicBool::new(listing.completions),
            listing: Mutex::new(Arc::new(listing)),
            pins: Mutex::new(Pins::load(hub, &kept, mcp.changes).await),
            changes: mcp.changes,
            problems: Mutex::default(),
            listed: watch::Sender::new(false),
            breaker: Breaker::new(),
            hub: Arc::downgrade(hub),
            kept,
        })
    }

    pub(super) fn pinned(&self) -> Result<Pins, Text> {
        self.pins.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn listing(&self) -> Arc<Listing> {
        self.listing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn lists(&self, listing: Listing) {
        self.completes.store(listing.completions, Ordering::Relaxed);
        *self.listing.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(listing);
    }

    /// What the owner of the hub should look at: why it cannot be reached, bad definitions, and what a program said before it
    /// fell silent.
    pub(super) fn show_problems(&self, hub: &Hub) {
        let down = self.upstream.trouble();
        self.troubled(down.clone());
        let mut all: Vec<Text> = down.clone().into_iter().collect();
        if down.is_some() {
            all.extend(self.upstream.tail.lines().into_iter().map(|line| format!("standard error: {line}").into()));
        }
        all.extend(self.upstream.account().and_then(|account| account.trouble()).map(Text::from));
        all.extend(self.problems.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned());
        if let Err(fault) = hub.set_problems(&self.name, all.into_iter()) {
            tracing::error!(event = "peer_problems_not_shown", peer = %self.name, error = %fault, "the problems of a peer could not be updated");
        }
    }

    async fn converse(self: Arc<Self>, dispatch: Dispatch) -> Result<interlingua_model::peer::Reply, Fault> {
        let hub = self.hub.upgrade().ok_or_else(Fault::shutting_down)?;
        if let Err(wait) = self.breaker.admit(Instant::now()) {
            return Err(self.down(&dispatch.by, wait));
        }
        let upstream = self.reached_by(&dispatch.by)?;
        OutboundCall::new(self, hub, dispatch, upstream).run().await
    }

    /// The server as this principal reaches it. The hub's own token is for nobody where each caller has one.
    fn reached_by(&self, by: &Principal) -> Result<Arc<Upstream>, Fault> {
        match &self.callers {
            None => Ok(self.upstream.clone()),
            Some(_) if by.is_anonymous() => {
                let text = format!("{} is called with each caller's own account: show who you are", self.name);
                Err(Fault::caller(FaultKind::Denied, text))
            }
            Some(callers) => Ok(callers.upstream(&self.upstream, by.owner())),
        }
    }
}

/// Where it is, how that is spelt, and callers that have credentials of their own there.
fn place(
    (hub, sign_ins): (&Arc<Hub>, &Arc<SignIns>),
    name: &PeerId,
    config: &interlingua_settings::Peer,
    mcp: &settings::McpPeer,
) -> Result<(ServerAddress, String, Option<Callers>), Fault> {
    match mcp.place() {
        McpPlace::Program { command, args } => {
            let environment =
                mcp.env.iter().map(|(name, value)| (name.clone(), value.expose().text().unwrap_or_default().into()));
            let program = Program {
                command: command.to_owned(),
                args: args.to_vec(),
                directory: mcp.directory.clone(),
                environment: environment.collect(),
                allowed: mcp.pass.clone(),
            };
            Ok((
                ServerAddress::Program(program, hub.answers().clone()),
                format!("{command}\0{}", args.join("\0")),
                None,
            ))
        }
        McpPlace::Url(url) => {
            let bad = || Fault::hub(FaultKind::Internal, format!("{url} is not an address that can be called"));
            let uri: http::Uri = url.parse().map_err(|_| bad())?;
            let tls = tls::config(&Trust::of(mcp.ca.as_deref(), &uri))?;
            let oauth = mcp.oauth.clone().unwrap_or_default();
            let own = Arc::new(Own::new(name, &uri, &config.origins));
            let authority =
                Arc::new(Authority::new((hub, sign_ins), name, (&uri, own.clone()), mcp.ca.as_deref(), &oauth)?);
            let callers = match mcp.credentials {
                McpCredentials::Hub => None,
                McpCredentials::Caller => Some(Callers::new(authority.clone())),
            };
            let endpoint = Endpoint {
                pool: Pool::new(tls, hub.supervisor(), Reach::configured(hub, own.origins().to_vec()), hub.answers()),
                own,
                uri,
                credentials: Arc::new(Credentials::of(mcp, Some(authority))?),
                supervisor: hub.supervisor().clone(),
            };
            Ok((ServerAddress::Http(Box::new(endpoint)), url.to_owned(), callers))
        }
    }
}

impl Peer for McpPeer {
    fn speaks(&self) -> Option<&'static str> {
        Some(crate::PROTOCOL)
    }

    fn standing(&self) -> Option<Standing> {
        self.breaker.standing()
    }

    /// Tools and prompts take arguments.
    fn loses(&self, call: &Call) -> Vec<Loss> {
        call.input().map(Input::lost_beside_arguments).unwrap_or_default()
    }

    fn call(self: Arc<Self>, dispatch: Dispatch) -> Calling {
        Box::pin(self.converse(dispatch))
    }

    fn completes(&self) -> bool {
        self.completes.load(Ordering::Relaxed)
    }

    /// Whether it tells of resources at all is known once it has been greeted.
    fn follow(&self, uri: &Uri) -> Option<Following> {
        if self.upstream.current().is_some_and(|session| !session.server.resources.subscribe) {
            return None;
        }
        let following = self.upstream.follows.follow(uri);
        self.wake();
        following
    }
}

impl Probed for McpPeer {
    fn name(&self) -> &PeerId {
        &self.name
    }

    fn breaker(&self) -> &Breaker {
        &self.breaker
    }

    /// Opens a session where there is none, which also starts a program that ended; knocks where there is one.
    async fn probe(&self, hub: &Hub) {
        if self.upstream.is_resting() {
            return;
        }
        if self.pinned().is_err() {
            // Listing reads them again.
            self.upstream.changes.add(&List::ALL);
        }
        // Looking is not using: a program is not kept awake by it.
        let Some(session) = self.upstream.current() else {
            match self.upstream.session().await {
                Ok(_) => self.note(hub, Went::Reached { knock: None }),
                Err(unopened) => {
                    // It answered, and wants to know who calls.
                    let went = match unopened {
                        Unopened::SignIn(sign_in) => {
                            self.upstream.set_trouble(Some(waits(&sign_in.peer).public));
                            Went::Reached { knock: None }
                        }
                        Unopened::Fault(_) => Went::Missed,
                    };
                    self.note(hub, went);
                    self.show_problems(hub);
                }
            }
            return;
        };
        let started = Instant::now();
        match session.knock().await {
            Ok(()) => self.note(hub, Went::Reached { knock: Some(started.elapsed()) }),
            Err(why) => {
                // It says why in its trouble; nobody waits for this fault.
                let _ = self.upstream.unreachable(&why);
                self.upstream.forget(&session);
                let went = match why {
                    Unanswered::Trouble(Trouble::SignIn(_)) => Went::Reached { knock: None },
                    Unanswered::Trouble(_) | Unanswered::Error(_) | Unanswered::Late => Went::Missed,
                };
                self.note(hub, went);
                self.show_problems(hub);
            }
        }
    }
}

impl McpPeer {
    /// Opens a session if there is none, so that the server can tell what it is to tell.
    pub(super) fn wake(&self) {
        if self.upstream.current().is_some() || self.upstream.follows.is_empty() {
            return;
        }
        let upstream = self.upstream.clone();
        self.upstream.supervisor.run_until_stop(async move { drop(upstream.session().await) });
    }

    /// What is shown of it before it has been heard.
    pub(super) fn health(&self) -> Health {
        if self.upstream.current().is_some() { Health::Up } else { Health::Starting }
    }
}
