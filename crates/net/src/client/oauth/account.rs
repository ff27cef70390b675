//! OAuth account: one owner's token for one server.
//!
//! The token is sent with every request. When the server refuses it, one request fetches another token, and all requests that were refused
//! with the same token wait for it. A refused request was not processed, so it is sent again whatever its effects.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, HeaderValue, StatusCode};
use interlingua_model::{Owner, PeerId, Secret, Time};
use interlingua_wire::oauth::Invalid;
use interlingua_wire::oauth::callback::{Callback, Outcome};
use interlingua_wire::oauth::challenge::Challenge;
use interlingua_wire::oauth::client::Client;
use interlingua_wire::oauth::metadata::AuthorizationServer;
use interlingua_wire::oauth::request::Grant;
use interlingua_wire::oauth::scope::{self, Scopes};
use interlingua_wire::oauth::token::Token;
use tokio::sync::{Semaphore, watch};

use super::OAuthGrant;
use super::Problem;
use super::authority::Authority;
use super::discover::Found;
use super::kept::{self, Kept, Put, Replacing};
use super::sign_ins::{Pending, ReturnAddress, SignIn};
use interlingua_hub::Hub;

/// A token that ends so soon is renewed before it is shown.
const MARGIN: Duration = Duration::from_secs(30);
/// How often more rights are asked for before a server took any.
const MAX_STEPS: u32 = 2;

#[derive(Debug)]
pub struct Account {
    authority: Arc<Authority>,
    /// Whose it is; nobody's: the hub's own.
    owner: Option<Owner>,
    key: String,
    held: Mutex<Held>,
    /// One fetches, the others wait.
    turn: Semaphore,
    /// Counts what came of sending somebody: a token, or none.
    news: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Held {
    loaded: bool,
    token: Option<Kept>,
    /// Of the token in the store.
    revision: Option<u64>,
    header: Option<HeaderValue>,
    /// Counts tokens.
    generation: u64,
    /// The server took it.
    proven: bool,
    /// How often more rights were asked for since.
    steps: u32,
    waiting: Option<SignIn>,
    trouble: Option<String>,
}

impl Held {
    fn hold(&mut self, kept: Kept, revision: u64) {
        self.header = bearer(&kept.access);
        (self.token, self.revision) = (Some(kept), Some(revision));
    }
}

/// What a request was sent with.
#[derive(Debug)]
pub struct Shown {
    pub header: Option<HeaderValue>,
    generation: u64,
}

/// What is to be done with a response.
#[derive(Debug)]
pub enum Judged {
    /// It is the server's answer.
    Answer,
    /// There is another token: send the request again.
    Again,
    /// Somebody must sign in first.
    SignIn(SignIn),
}

impl Account {
    pub fn new(authority: Arc<Authority>, owner: Option<Owner>) -> Account {
        let key = kept::token_key(&authority.peer, &authority.server, owner.as_ref());
        Account { authority, owner, key, held: Mutex::default(), turn: Semaphore::new(1), news: watch::Sender::new(0) }
    }

    pub(super) fn peer(&self) -> &PeerId {
        &self.authority.peer
    }

    pub fn owner(&self) -> Option<&Owner> {
        self.owner.as_ref()
    }

    pub(super) fn returns_by(&self, issuer: &str) -> ReturnAddress {
        self.authority.returns_by(issuer)
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What to tell the owner of the hub: who should sign in, or why there is no token.
    pub fn trouble(&self) -> Option<String> {
        let held = self.held();
        match &held.waiting {
            Some(sign_in) => Some(format!("somebody must sign in: open {}", &*sign_in.url)),
            None => held.trouble.as_ref().map(|why| format!("no token: {why}")),
        }
    }

    /// Tells when somebody signed in, or tried to.
    pub fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// Waits until nobody is on the way to sign in any more.
    pub async fn settled(&self) {
        let mut news = self.news();
        loop {
            let waiting = self.held().waiting.clone();
            let open = |sign_in: &SignIn| self.authority.sign_ins().is_ok_and(|sign_ins| sign_ins.is_open(sign_in));
            if !waiting.as_ref().is_some_and(open) || news.changed().await.is_err() {
                return;
            }
        }
    }

    /// The token to send. One that is about to end is renewed first, by one for all.
    pub async fn show(&self) -> Shown {
        if let Some(shown) = self.ready() {
            return shown;
        }
        let Ok(_turn) = self.turn.acquire().await else { return self.current() };
        if let Some(shown) = self.ready() {
            return shown;
        }
        if let Err(problem) = self.prepare().await {
            tracing::warn!(event = "oauth_token_not_renewed", peer = %self.peer(), error = %problem, "the access token for a peer could not be renewed");
        }
        self.current()
    }

    fn ready(&self) -> Option<Shown> {
        let now = self.now()?;
        let held = self.held();
        let renew = held.token.as_ref().is_some_and(|token| token.refresh.is_some() && ends(token, now.after(MARGIN)));
        (held.loaded && !renew).then(|| Shown { header: held.header.clone(), generation: held.generation })
    }

    fn current(&self) -> Shown {
        let held = self.held();
        Shown { header: held.header.clone(), generation: held.generation }
    }

    fn now(&self) -> Option<Time> {
        self.authority.hub.upgrade().map(|hub| hub.now())
    }

    /// The stored token and its revision. One of another authorization server than configuration names now is neither shown nor
    /// renewed.
    async fn stored(&self, hub: &Hub) -> Result<Option<(Kept, u64)>, Problem> {
        let kept = kept::load::<Kept>(hub, kept::TOKENS, &self.key).await?;
        Ok(kept.filter(|(kept, _)| self.authority.believes(&kept.issuer).is_ok()))
    }

    /// Takes the stored token if another hub has put one there since this one read it. False when there is no other.
    async fn take_newer(&self) -> Result<bool, Problem> {
        let newer = self.stored(&*self.authority.hub()?).await?;
        let mut held = self.held();
        let Some((kept, revision)) = newer.filter(|(_, revision)| Some(*revision) != held.revision) else {
            return Ok(false);
        };
        held.hold(kept, revision);
        held.generation += 1;
        (held.proven, held.trouble) = (false, None);
        Ok(true)
    }

    async fn prepare(&self) -> Result<(), Problem> {
        if !self.held().loaded {
            let hub = self.authority.hub()?;
            let kept = self.stored(&hub).await?;
            let mut held = self.held();
            held.loaded = true;
            if let Some((kept, revision)) = kept {
                held.hold(kept, revision);
                // It was good when it was kept.
                held.proven = true;
            }
        }
        if self.ready().is_some() { Ok(()) } else { self.renew().await }
    }

    /// What a response means. Told of every one, so that a token counts as good once a server took it.
    pub async fn judge(self: &Arc<Self>, shown: &Shown, status: StatusCode, headers: &HeaderMap) -> Judged {
        let challenges = headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
        let challenge = challenges.filter_map(Challenge::decode).next();
        let wanted = match (status, challenge) {
            (StatusCode::UNAUTHORIZED, challenge) => challenge.unwrap_or_default(),
            (StatusCode::FORBIDDEN, Some(challenge)) if challenge.wants_more_scopes() => challenge,
            (StatusCode::FORBIDDEN, _) => return Judged::Answer,
            (_, _) => {
                self.taken(shown);
                return Judged::Answer;
            }
        };
        let Ok(_turn) = self.turn.acquire().await else { return Judged::Answer };
        match self.challenged(shown, &wanted).await {
            Ok(judged) => judged,
            Err(problem) => {
                tracing::warn!(event = "oauth_token_missing", peer = %self.peer(), error = %problem, "the peer requires an access token, and the hub could not get one");
                self.held().trouble = Some(problem.to_string());
                Judged::Answer
            }
        }
    }

    fn taken(&self, shown: &Shown) {
        let mut held = self.held();
        if held.generation == shown.generation && !held.proven {
            (held.proven, held.steps, held.trouble) = (true, 0, None);
        }
    }

    async fn challenged(self: &Arc<Self>, shown: &Shown, challenge: &Challenge) -> Result<Judged, Problem> {
        if self.held().generation != shown.generation {
            return Ok(Judged::Again);
        }
        let (sign_ins, waiting) = (self.authority.sign_ins()?, self.held().waiting.clone());
        if let Some(sign_in) = waiting.filter(|it| sign_ins.is_open(it) && it.scopes.cover(&named(challenge))) {
            return Ok(Judged::SignIn(sign_in));
        }
        let found = self.authority.discover(challenge).await?;
        let before = self.before(&found, challenge)?;
        let renewable = !challenge.wants_more_scopes() && before.renewable;
        if renewable {
            match self.renew().await {
                Ok(()) => return Ok(Judged::Again),
                Err(problem @ (Problem::Lost { .. } | Problem::Stopping)) => return Err(problem),
                Err(problem) => {
                    tracing::info!(event = "oauth_token_not_refreshed", peer = %self.peer(), error = %problem, "the OAuth token could not be refreshed")
                }
            }
        }
        let scopes = scope::choose(&self.authority.scopes, &before.scopes, challenge, &found.resource);
        match self.authority.grant {
            OAuthGrant::ClientCredentials if before.refused => Err(Problem::NotTaken),
            OAuthGrant::ClientCredentials => self.go(found, scopes).await.map(|()| Judged::Again),
            OAuthGrant::AuthorizationCode => self.send(found, scopes).await.map(Judged::SignIn),
        }
    }

    /// What is there already, as far as it counts with this authorization server. A step up that cannot lead anywhere ends here.
    fn before(&self, found: &Found, challenge: &Challenge) -> Result<Before, Problem> {
        let mut held = self.held();
        let Held { token, proven, steps, .. } = &mut *held;
        let Some(token) = token.as_ref().filter(|token| token.issuer == found.server.issuer) else {
            return Ok(Before::default());
        };
        if challenge.wants_more_scopes() {
            let had = token.granted().cover(&named(challenge));
            if had || *steps >= MAX_STEPS {
                return Err(Problem::NoMore);
            }
            *steps += 1;
        }
        let refused = !*proven && !challenge.wants_more_scopes();
        Ok(Before { scopes: token.requested(), renewable: token.refresh.is_some() && *proven, refused })
    }

    /// The hub itself is the client that is let in.
    async fn go(&self, found: Found, scopes: Scopes) -> Result<(), Problem> {
        let client = self.authority.client(&found.server, "").await?;
        let at = (found.server.token.as_str(), found.server.issuer.as_str());
        let grant = Grant::Client { scopes: &scopes };
        let token = self.authority.token(&grant, &client, at, &found.resource.resource).await?;
        let kept = Kept::new(at.1, at.0, &found.resource.resource, &client, &scopes);
        self.take(kept, token, Replacing::Present).await
    }

    /// Somebody is sent to sign in.
    async fn send(self: &Arc<Self>, found: Found, scopes: Scopes) -> Result<SignIn, Problem> {
        let sign_ins = self.authority.sign_ins()?;
        let redirect = sign_ins.redirect(&self.returns_by(&found.server.issuer)).await?;
        self.authority.check_sign_in(&found.server).await?;
        let client = self.authority.client(&found.server, &redirect).await?;
        let scopes = scope::lasting(scopes, &found.server);
        let sign_in = sign_ins.send(self, (found.server, client, found.resource.resource), scopes).await?;
        self.held().waiting = Some(sign_in.clone());
        tracing::info!(event = "oauth_sign_in_required", peer = %self.peer(), owner = self.owner.as_ref().map(tracing::field::display), "a person must sign in at the peer");
        Ok(sign_in)
    }

    /// Somebody came back.
    pub(super) async fn finish(
        &self,
        pending: Pending,
        callback: Callback,
        came_by: ReturnAddress,
    ) -> Result<(), Problem> {
        let finished = match pending.returns_by == came_by {
            true => self.exchange(pending, callback).await,
            false => Err(Invalid::OtherIssuer.into()),
        };
        {
            let mut held = self.held();
            held.waiting = None;
            held.trouble = finished.as_ref().err().map(Problem::to_string);
        }
        if let Err(problem) = &finished {
            tracing::warn!(event = "oauth_sign_in_failed", peer = %self.peer(), error = %problem, "a sign-in for a peer failed");
        }
        self.news.send_modify(|count| *count += 1);
        finished
    }

    async fn exchange(&self, pending: Pending, callback: Callback) -> Result<(), Problem> {
        callback.check_issuer(&pending.server)?;
        let code = match &callback.outcome {
            Outcome::Code(code) => code.text().unwrap_or_default(),
            Outcome::Refused(why) => return Err(declined(why)),
        };
        let verifier = pending.verifier.text().unwrap_or_default();
        let grant = Grant::Code { code, redirect: &pending.redirect, verifier };
        let (server, client): (&AuthorizationServer, &Client) = (&pending.server, &pending.client);
        let at = (server.token.as_str(), server.issuer.as_str());
        let token = match self.authority.token(&grant, client, at, &pending.resource).await {
            Err(Problem::Refused(code)) if code == "invalid_client" => {
                self.authority.forget_client(server, &pending.redirect).await?;
                return Err(Problem::Refused(code));
            }
            token => token?,
        };
        self.take(Kept::new(at.1, at.0, &pending.resource, client, pending.scopes()), token, Replacing::Present).await
    }

    /// Gets a new token for the one there is. A server that refuses has ended it, unless another hub has renewed it: a refresh
    /// token is shown once.
    async fn renew(&self) -> Result<(), Problem> {
        if self.take_newer().await? && self.ready().is_some() {
            return Ok(());
        }
        let read = self.held().revision;
        let Some(kept) = self.held().token.clone() else { return Ok(()) };
        let Some(refresh) = kept.refresh.as_deref() else { return Err(Problem::NotTaken) };
        let grant = Grant::Refresh { token: refresh };
        let at = (kept.endpoint.as_str(), kept.issuer.as_str());
        match self.authority.token(&grant, &kept.client.client(), at, &kept.resource).await {
            Ok(token) => self.take(kept, token, Replacing::Read(read)).await,
            Err(Problem::Refused(_)) if self.take_newer().await? => Ok(()),
            Err(Problem::Refused(code)) => {
                {
                    let mut held = self.held();
                    held.header = None;
                    if let Some(token) = &mut held.token {
                        token.refresh = None;
                    }
                }
                kept::forget(&*self.authority.hub()?, kept::TOKENS, &self.key).await?;
                Err(Problem::Refused(code))
            }
            Err(other) => Err(other),
        }
    }

    /// A token that came is kept first, then shown. An old refresh token stays when there is no new one.
    async fn take(&self, mut kept: Kept, token: Token, replacing: Replacing) -> Result<(), Problem> {
        let hub = self.authority.hub()?;
        let text = |secret: &Secret| secret.text().unwrap_or_default().to_owned();
        kept.access = text(&token.access);
        kept.expires = token.expires_in.map(|seconds| hub.now().after(Duration::from_secs(seconds.min(YEAR))));
        if let Some(refresh) = &token.refresh {
            kept.refresh = Some(text(refresh));
        }
        if let Some(scopes) = &token.scopes {
            kept.grant(scopes);
        }
        let (kept, revision) = match kept::keep(&hub, (kept::TOKENS, &self.key), &kept, replacing).await? {
            Put::Stored(revision) => (kept, revision),
            Put::Overtaken(theirs, revision) => (theirs, revision),
        };
        let mut held = self.held();
        held.loaded = true;
        held.hold(kept, revision);
        held.generation += 1;
        (held.proven, held.trouble) = (false, None);
        Ok(())
    }
}

/// A longer life is not believed.
const YEAR: u64 = 365 * 24 * 3600;

/// What counts of an earlier token.
#[derive(Default)]
struct Before {
    scopes: Scopes,
    renewable: bool,
    /// It was never taken.
    refused: bool,
}

fn named(challenge: &Challenge) -> Scopes {
    challenge.scope.clone().unwrap_or_default()
}

fn ends(token: &Kept, by: Time) -> bool {
    token.expires.is_some_and(|expires| expires <= by)
}

/// The code of an error is shown to people: only if it is one.
fn declined(why: &str) -> Problem {
    let plain = why.len() <= 64 && why.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    Problem::Declined(if plain { why.to_owned() } else { "refused".to_owned() })
}

fn bearer(token: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::try_from(format!("Bearer {token}")).ok()?;
    value.set_sensitive(true);
    Some(value)
}
