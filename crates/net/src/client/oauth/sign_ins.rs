//! Holds the pending OAuth sign-ins: those that were started in a browser and are not finished yet.
//!
//! A person opens a link to the hub's own page ([`SignIn`]), goes from there to the authorization server, and comes back to the hub with a
//! code. Three random values belong to a sign-in: the ticket in the link, the state that comes back, and a cookie that ties both to one
//! browser, so that nobody can finish a sign-in that another browser began. Each can be used once and expires after ten minutes. Sign-ins
//! are not stored: after a restart a new link is made.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use interlingua_model::{Digest, Owner, PeerId, Secret, WebLink};
use interlingua_wire::oauth::callback::Callback;
use interlingua_wire::oauth::client::Client;
use interlingua_wire::oauth::metadata::AuthorizationServer;
use interlingua_wire::oauth::request::{Authorization, Pkce};
use interlingua_wire::oauth::scope::Scopes;
use tokio::sync::watch;
use tokio::time::Instant;

use super::Problem;
use super::account::Account;
use interlingua_hub::entropy;

/// How long a link to sign in is good.
pub const SIGN_IN_EXPIRES: Duration = Duration::from_secs(600);
/// How many may be on their way at once.
const MOST: usize = 1_000;

const CALLBACK: &str = "/oauth/callback";
const DOCUMENT: &str = "/oauth/client.json";
const DOCUMENTS: &str = "/oauth/clients";
/// Letters of an authorization server's mark.
const MARK: usize = 32;

/// By which address people come back from an authorization server.
///
/// An authorization server that does not name itself in its answer (RFC 9207) could pass on the code of another one, and be
/// shown it. So each has an address of its own (RFC 9700 section 4.4.2.2), and a code is shown only to the one whose address it
/// came by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReturnAddress {
    /// Of all clients that an operator registered, who knows one address.
    Common,
    /// Of one authorization server, by its mark.
    Of(String),
}

impl ReturnAddress {
    pub(super) fn of_issuer(issuer: &str) -> ReturnAddress {
        ReturnAddress::Of(format!("{:.MARK$}", Digest::of(issuer.as_bytes()).to_string()))
    }

    /// From the last part of an address of the hub's own.
    pub fn parse(mark: &str) -> Option<ReturnAddress> {
        let is_mark = mark.len() == MARK && mark.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_mark.then(|| ReturnAddress::Of(mark.to_owned()))
    }

    fn callback(&self) -> String {
        match self {
            ReturnAddress::Common => CALLBACK.to_owned(),
            ReturnAddress::Of(mark) => format!("{CALLBACK}/{mark}"),
        }
    }

    fn document(&self) -> String {
        match self {
            ReturnAddress::Common => DOCUMENT.to_owned(),
            ReturnAddress::Of(mark) => format!("{DOCUMENTS}/{mark}"),
        }
    }
}

/// A link to be opened by a person: whoever opens it is told for what, before anything happens.
#[derive(Clone, PartialEq, Eq)]
pub struct SignIn {
    pub peer: PeerId,
    /// For whom; nobody: for the hub itself, and so for all who may call.
    pub owner: Option<Owner>,
    pub url: WebLink,
    pub(super) state: String,
    pub(super) scopes: Scopes,
    pub(super) until: Instant,
}

/// The link is for one person: it is not printed.
impl std::fmt::Debug for SignIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignIn").field("peer", &self.peer).field("owner", &self.owner).finish_non_exhaustive()
    }
}

/// What a person that came by a link is shown.
pub struct Start {
    pub sign_in: SignIn,
    /// Where to go on.
    pub authorize: String,
    /// For this browser.
    pub cookie: String,
}

impl std::fmt::Debug for Start {
    /// Without the address and the cookie: whoever has both can finish the sign-in.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Start").field("sign_in", &self.sign_in).finish_non_exhaustive()
    }
}

/// Somebody on the way.
pub(super) struct Pending {
    pub(super) account: Arc<Account>,
    pub(super) server: AuthorizationServer,
    pub(super) client: Client,
    pub(super) resource: String,
    pub(super) redirect: String,
    pub(super) returns_by: ReturnAddress,
    pub(super) verifier: Secret,
    sign_in: SignIn,
    ticket: String,
    authorize: String,
    cookie: Option<Digest>,
}

impl std::fmt::Debug for Pending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.sign_in.fmt(f)
    }
}

impl Pending {
    pub(super) fn scopes(&self) -> &Scopes {
        &self.sign_in.scopes
    }

    pub(super) fn peer(&self) -> &PeerId {
        &self.sign_in.peer
    }
}

#[derive(Debug)]
pub struct SignIns {
    base: watch::Sender<Option<String>>,
    /// The hub's own document is at an address that others can fetch.
    documented: std::sync::atomic::AtomicBool,
    open: Mutex<HashMap<String, Pending>>,
}

impl Default for SignIns {
    fn default() -> SignIns {
        SignIns { base: watch::Sender::new(None), documented: false.into(), open: Mutex::default() }
    }
}

impl SignIns {
    /// Where people reach the hub, once that is known. `configured`: and others.
    pub fn set_base(&self, base: &str, configured: bool) {
        let base = base.trim_end_matches('/').to_owned();
        let fetchable = configured && base.starts_with("https://");
        self.documented.store(fetchable, std::sync::atomic::Ordering::Relaxed);
        self.base.send_replace(Some(base));
    }

    /// Waits until the hub listens.
    async fn base(&self) -> Result<String, Problem> {
        let mut base = self.base.subscribe();
        let known = base.wait_for(Option::is_some).await.map_err(|_| Problem::Stopping)?;
        known.clone().ok_or(Problem::Stopping)
    }

    pub(super) async fn redirect(&self, by: &ReturnAddress) -> Result<String, Problem> {
        Ok(format!("{}{}", self.base().await?, by.callback()))
    }

    /// Where the hub is reached, once that is known.
    pub fn reached(&self) -> Option<String> {
        self.base.borrow().clone()
    }

    /// Where the document is that describes the hub as a client, and where people come back to.
    pub fn described(&self, by: &ReturnAddress) -> Option<(String, String)> {
        self.reached().map(|base| (format!("{base}{}", by.document()), format!("{base}{}", by.callback())))
    }

    /// The same, if an authorization server can fetch it.
    pub(super) fn document(&self, by: &ReturnAddress) -> Option<String> {
        let fetchable = self.documented.load(std::sync::atomic::Ordering::Relaxed);
        self.described(by).filter(|_| fetchable).map(|(document, _)| document)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Pending>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a way to walk. An account has one at a time: an older one is over.
    pub(super) async fn send(
        &self,
        account: &Arc<Account>,
        (server, client, resource): (AuthorizationServer, Client, String),
        scopes: Scopes,
    ) -> Result<SignIn, Problem> {
        let base = self.base().await?;
        let random = || format!("{:032x}{:032x}", entropy::bits(), entropy::bits());
        let mut seed = [0; 32];
        seed[..16].copy_from_slice(&entropy::bits().to_be_bytes());
        seed[16..].copy_from_slice(&entropy::bits().to_be_bytes());
        let pkce = Pkce::new(&seed);
        let returns_by = account.returns_by(&server.issuer);
        let (ticket, state, redirect) = (random(), random(), format!("{base}{}", returns_by.callback()));
        let authorize = Authorization {
            endpoint: server.sign_in()?,
            client: &client.id,
            redirect: &redirect,
            state: &state,
            challenge: &pkce.challenge,
            resource: &resource,
            scopes: &scopes,
        };
        let authorize = authorize.url();
        let sign_in = SignIn {
            peer: account.peer().clone(),
            owner: account.owner().cloned(),
            url: WebLink::of_hub(&format!("{base}/oauth/start/{ticket}"))?,
            state: state.clone(),
            scopes,
            until: Instant::now() + SIGN_IN_EXPIRES,
        };
        let mut open = self.lock();
        open.retain(|_, pending| pending.sign_in.until > Instant::now() && !Arc::ptr_eq(&pending.account, account));
        if open.len() >= MOST {
            return Err(Problem::Busy);
        }
        let (account, verifier) = (account.clone(), pkce.verifier);
        let (sent, cookie) = (sign_in.clone(), None);
        let pending = Pending {
            account,
            server,
            client,
            resource,
            redirect,
            returns_by,
            verifier,
            sign_in: sent,
            ticket,
            authorize,
            cookie,
        };
        open.insert(state, pending);
        Ok(sign_in)
    }

    /// Somebody opened the link. The browser that did so last is the one that may come back.
    pub fn start(&self, ticket: &str) -> Option<Start> {
        let mut open = self.lock();
        let now = Instant::now();
        let pending = open.values_mut().find(|it| it.ticket == ticket && it.sign_in.until > now)?;
        let cookie = format!("{:032x}{:032x}", entropy::bits(), entropy::bits());
        pending.cookie = Some(Digest::of(cookie.as_bytes()));
        Some(Start { sign_in: pending.sign_in.clone(), authorize: pending.authorize.clone(), cookie })
    }

    /// Somebody came back. Whatever comes of it, this way is over; `None` when there is none, or it is another browser's.
    pub async fn finish(
        &self,
        (callback, came_by): (Callback, ReturnAddress),
        cookie: Option<&str>,
    ) -> Option<Result<PeerId, Problem>> {
        let shown = cookie.map(|cookie| Digest::of(cookie.as_bytes()));
        let pending = {
            let mut open = self.lock();
            let pending = open.get(&callback.state)?;
            if shown.is_none() || pending.cookie != shown || pending.sign_in.until <= Instant::now() {
                return None;
            }
            open.remove(&callback.state)?
        };
        let (account, peer) = (pending.account.clone(), pending.peer().clone());
        Some(account.finish(pending, callback, came_by).await.map(|()| peer))
    }

    /// Is somebody still on this way?
    pub(super) fn is_open(&self, sign_in: &SignIn) -> bool {
        sign_in.until > Instant::now() && self.lock().contains_key(&sign_in.state)
    }

    /// All links that wait for somebody.
    pub fn waiting(&self) -> Vec<SignIn> {
        let now = Instant::now();
        self.lock().values().map(|pending| &pending.sign_in).filter(|it| it.until > now).cloned().collect()
    }
}
