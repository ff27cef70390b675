//! Shared upstream session: one session with a server for all callers, opened on demand by one of them, and again when it ended.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::Era;
use crate::client::list::List;
use interlingua_model::{Fault, FaultKind, Owner, Party, PeerId, Retry, Text};
use interlingua_process::child::{Program, Tail};
use tokio::sync::watch;
use tokio::time::Instant;

use super::changes::Changes;
use super::follow::Follows;
use super::link::streamable::Endpoint;
use super::session::Session;
use interlingua_hub::supervisor::Supervisor;
use interlingua_net::client::answers::Answers;
use interlingua_net::client::oauth::SignIn;
use interlingua_net::client::oauth::{Account, Authority};

/// Where a server is.
#[derive(Debug)]
pub(super) enum ServerAddress {
    Program(Program, Answers),
    Http(Box<Endpoint>),
}

#[derive(Debug)]
pub(super) struct Upstream {
    pub(super) name: PeerId,
    pub(super) place: ServerAddress,
    pub(super) supervisor: Supervisor,
    /// Of a program's standard error.
    pub(super) tail: Tail,
    pub(super) changes: Arc<Changes>,
    pub(super) follows: Arc<Follows>,
    /// Held while it is listed.
    pub(super) listing: Arc<()>,
    /// A program nobody has used for so long is ended.
    pub(super) idle: Option<Duration>,
    /// Why there is no session, for whoever runs the hub.
    trouble: Mutex<Option<Text>>,
    era: Mutex<Option<Era>>,
    state: Mutex<SessionState>,
}

type Opened = Option<Result<Arc<Session>, Unopened>>;

/// Why there is no session.
#[derive(Debug, Clone)]
pub(super) enum Unopened {
    Fault(Fault),
    /// Somebody must sign in first.
    SignIn(SignIn),
}

/// For whom it is nothing to be done about.
pub(super) fn waits(name: &PeerId) -> Fault {
    let text = format!("{name} wants credentials that the hub does not have: somebody must sign in");
    Fault::new(FaultKind::Unreachable, Party::Peer(name.clone()), text).retry(Retry::After(None))
}

#[derive(Debug)]
enum SessionState {
    None,
    Opening(watch::Receiver<Opened>),
    Open {
        session: Arc<Session>,
        used: Instant,
    },
    /// Ended because nobody used it: it is well, and starts when it is needed.
    Resting,
}

impl Upstream {
    pub(super) fn new(
        name: PeerId,
        place: ServerAddress,
        supervisor: Supervisor,
        idle: Option<Duration>,
        era: Option<Era>,
    ) -> Upstream {
        Upstream {
            name,
            place,
            supervisor,
            idle,
            tail: Tail::default(),
            changes: Arc::default(),
            follows: Arc::default(),
            listing: Arc::default(),
            trouble: Mutex::default(),
            era: Mutex::new(era),
            state: Mutex::new(SessionState::None),
        }
    }

    /// The same server, reached with a token of this caller's own.
    pub(super) fn of_caller(&self, authority: &Arc<Authority>, owner: Owner) -> Upstream {
        let place = match &self.place {
            ServerAddress::Http(endpoint) => {
                let credentials = Arc::new(endpoint.credentials.of_caller(authority, owner));
                ServerAddress::Http(Box::new(Endpoint { credentials, ..(**endpoint).clone() }))
            }
            ServerAddress::Program(program, answers) => ServerAddress::Program(program.clone(), answers.clone()),
        };
        Upstream::new(self.name.clone(), place, self.supervisor.clone(), self.idle, self.remembered())
    }

    /// Where its token comes from.
    pub(super) fn account(&self) -> Option<&Arc<Account>> {
        match &self.place {
            ServerAddress::Http(endpoint) => endpoint.credentials.account(),
            ServerAddress::Program(..) => None,
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, SessionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn trouble(&self) -> Option<Text> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_trouble(&self, why: Option<Text>) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }

    pub(super) fn remembered(&self) -> Option<Era> {
        *self.era.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn remember(&self, era: Era) {
        *self.era.lock().unwrap_or_else(PoisonError::into_inner) = Some(era);
    }

    /// The session, opened if there is none. However many wait, one opens it; whoever leaves takes nothing along.
    pub(super) async fn session(self: &Arc<Self>) -> Result<Arc<Session>, Unopened> {
        let mut opening = match self.enter() {
            Ok(session) => return Ok(session),
            Err(opening) => opening,
        };
        let opened = opening.wait_for(Option::is_some).await.ok().and_then(|opened| opened.clone());
        match opened {
            Some(opened) => opened,
            None => Err(Unopened::Fault(Fault::shutting_down())),
        }
    }

    fn enter(self: &Arc<Self>) -> Result<Arc<Session>, watch::Receiver<Opened>> {
        let mut state = self.state();
        match &mut *state {
            SessionState::Open { session, used } if !session.link.is_closed() => {
                *used = Instant::now();
                return Ok(session.clone());
            }
            SessionState::Opening(opening) => return Err(opening.clone()),
            SessionState::None | SessionState::Open { .. } | SessionState::Resting => {}
        }
        let (told, opening) = watch::channel(None);
        *state = SessionState::Opening(opening.clone());
        drop(state);
        let this = self.clone();
        self.supervisor.run_until_stop(async move { this.opens(told).await });
        Err(opening)
    }

    async fn opens(self: &Arc<Self>, told: watch::Sender<Opened>) {
        let opened = self.connect().await.map(Arc::new);
        *self.state() = match &opened {
            Ok(session) => SessionState::Open { session: session.clone(), used: Instant::now() },
            Err(_) => SessionState::None,
        };
        if opened.is_ok() {
            self.set_trouble(None);
            self.changes.add(&List::ALL);
            self.watch_idleness();
        }
        told.send_replace(Some(opened));
    }

    /// The session that is open, without opening one.
    pub(super) fn current(&self) -> Option<Arc<Session>> {
        match &*self.state() {
            SessionState::Open { session, .. } if !session.link.is_closed() => Some(session.clone()),
            SessionState::Open { .. } | SessionState::None | SessionState::Opening(_) | SessionState::Resting => None,
        }
    }

    pub(super) fn is_resting(&self) -> bool {
        matches!(*self.state(), SessionState::Resting)
    }

    /// Lets go of a session that the server does not know any more, unless another has been opened meanwhile.
    pub(super) fn forget(&self, gone: &Arc<Session>) {
        let mut state = self.state();
        if matches!(&*state, SessionState::Open { session, .. } if Arc::ptr_eq(session, gone)) {
            *state = SessionState::None;
        }
        drop(state);
        gone.link.close();
    }

    /// Ends a program when nobody has used it for as long as configuration allows.
    fn watch_idleness(self: &Arc<Self>) {
        let Some(idle) = self.idle else { return };
        let watched = Arc::downgrade(self);
        self.supervisor.run_until_stop(async move {
            loop {
                tokio::time::sleep(idle).await;
                let Some(upstream) = watched.upgrade() else { return };
                if upstream.rest(idle) {
                    return;
                }
            }
        });
    }

    /// True when there is nothing to watch any more.
    fn rest(&self, idle: Duration) -> bool {
        let mut state = self.state();
        let unused = |session: &Session, used: &Instant| {
            let listed = Arc::strong_count(&self.listing) == 1 && self.changes.are_seen();
            used.elapsed() >= idle && session.link.calls() == 0 && listed && self.follows.is_empty()
        };
        let session = match &*state {
            SessionState::Open { session, used } if unused(session, used) => session.clone(),
            SessionState::Open { session, .. } => return session.link.is_closed(),
            SessionState::None | SessionState::Opening(_) | SessionState::Resting => return true,
        };
        *state = SessionState::Resting;
        drop(state);
        tracing::info!(peer = %self.name, "nobody uses it; it is ended until somebody does");
        session.link.close();
        true
    }
}

/// What is not registered any more is closed.
impl Drop for Upstream {
    fn drop(&mut self) {
        if let Some(session) = self.current() {
            session.link.close();
        }
    }
}
