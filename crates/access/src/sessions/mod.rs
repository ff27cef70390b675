//! Browser sessions. A person signs a browser in with a ticket or a token, and the browser then shows two secrets with every
//! request: a cookie that no script can read, and a key that no other page has. Neither counts alone: a browser sends the cookies of
//! a host to every port there, and storage belongs to one port.
//!
//! What is stored of both is their SHA-256. A session has the rights of the credential it was made with, for as long as that
//! credential counts. Only `/api` looks for one.

mod attempts;
mod cookies;
mod tickets;

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use bytes::Bytes;
use http::HeaderMap;
use http::header::HeaderName;
use interlingua_hub::{Hub, entropy};
use interlingua_model::ports::Expect;
use interlingua_model::{Digest, Fault, FaultKind, Link, Principal, Proof, Subject, Time};
use serde::{Deserialize, Serialize};

use crate::{Access, KnownBy};
use attempts::Attempts;
pub(crate) use cookies::values as cookie_values;
pub use cookies::{Cookie, named};
pub use tickets::{Ticket, Tickets};

/// The key of a session, in the head of every request of the console.
pub const KEY_HEADER: HeaderName = HeaderName::from_static("interlingua-console");
/// Under which sessions are stored, each by the digest of its cookie.
const KIND: &str = "console_session";
const PAGE: usize = 200;
/// Of one subject.
const MOST_OF_ONE: usize = 32;
/// Of all subjects: what they take in memory is bounded.
const MOST: usize = 4096;
/// How often the time of the last request is stored, and what has expired ends.
pub const SWEEP: Duration = Duration::from_secs(15);

/// What configuration says of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionRules {
    pub enabled: bool,
    /// A session changes nothing but its own end.
    pub read_only: bool,
    /// A session ends when it had no request for so long.
    pub idle: Duration,
    /// A session ends after so long, whatever it did.
    pub longest: Duration,
}

impl Default for SessionRules {
    fn default() -> SessionRules {
        let (idle, longest) = (Duration::from_secs(30 * 60), Duration::from_secs(12 * 3600));
        SessionRules { enabled: true, read_only: false, idle, longest }
    }
}

/// What proves a session, taken from the head of a request. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionProof {
    cookies: Vec<Digest>,
    key: Digest,
}

impl SessionProof {
    /// `None` where a request has no key: then it is not from the console, whatever cookies a browser added.
    pub fn of(headers: &HeaderMap) -> Option<SessionProof> {
        let key = Digest::of(headers.get(KEY_HEADER)?.as_bytes());
        Some(SessionProof {
            cookies: cookies::values(headers).map(|value| Digest::of(value.as_bytes())).collect(),
            key,
        })
    }
}

impl std::fmt::Debug for SessionProof {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SessionProof")
    }
}

/// A session as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Session {
    key: Digest,
    known: KnownBy,
    /// Who the credential proved, in its own way.
    by: Principal,
    begun: Time,
    used: Time,
    /// When `used` was stored last.
    #[serde(skip)]
    stored: Option<Time>,
}

/// When a session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionEnds {
    pub until: Time,
    pub idle_until: Time,
}

/// What a browser gets once.
pub struct SignedIn {
    pub cookie: String,
    pub key: String,
}

impl std::fmt::Debug for SignedIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SignedIn")
    }
}

/// What a person signs in with.
#[derive(Clone, Copy)]
pub enum Credential<'a> {
    Ticket(&'a str),
    Token(&'a str),
}

impl std::fmt::Debug for Credential<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credential")
    }
}

/// What came of a sign-in.
#[derive(Debug)]
pub enum SignIn {
    Done(SignedIn, Principal),
    /// The credential is good, and not of who was named: a link must not sign a person in as somebody else.
    Confirm(Subject),
}

/// Sessions and open tickets.
#[derive(Debug, Default)]
pub struct Sessions {
    rules: ArcSwap<SessionRules>,
    all: Mutex<HashMap<Digest, Session>>,
    tickets: Mutex<Tickets>,
    attempts: Mutex<Attempts>,
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    fn ends(&self, rules: &SessionRules) -> SessionEnds {
        let own = self.by.links().iter().filter_map(|link| link.until).min();
        let until = self.begun.after(rules.longest);
        SessionEnds { until: own.map_or(until, |own| own.min(until)), idle_until: self.used.after(rules.idle) }
    }

    fn is_over(&self, rules: &SessionRules, now: Time) -> bool {
        let ends = self.ends(rules);
        now >= ends.until || now >= ends.idle_until
    }

    /// The principal that acts: the same subject and scopes, known by the console.
    fn principal(&self, rules: &SessionRules) -> Option<Principal> {
        let until = Some(self.ends(rules).until);
        let first = self.by.links().first()?;
        Some(Principal::new(Link { proof: Proof::Console, until, ..first.clone() }))
    }

    fn subject(&self) -> Option<&Subject> {
        self.by.links().first().map(|link| &link.subject)
    }
}

impl Access {
    pub fn session_rules(&self) -> SessionRules {
        **self.sessions.rules.load()
    }

    /// From now on these hold, for sessions under way too.
    pub fn set_session_rules(&self, rules: SessionRules) {
        self.sessions.rules.store(std::sync::Arc::new(rules));
        self.replaced.send_replace(());
    }

    /// A ticket for who shows a credential itself: a session makes no other.
    pub fn ticket(&self, known: KnownBy, by: &Principal, now: Time) -> Result<(String, Time), Fault> {
        if !self.session_rules().enabled {
            return Err(switched_off());
        }
        if by.is_anonymous() {
            return Err(Fault::caller(FaultKind::Unauthenticated, "only a caller with a credential gets a ticket"));
        }
        if is_session(by) {
            return Err(Fault::caller(FaultKind::Denied, "a session gets no ticket: show the credential itself"));
        }
        let (known, by) = self.durable(known, by);
        held(&self.sessions.tickets).make(Ticket { known, by }, now)
    }

    /// The Owner over the hub's socket shows nothing that could be revoked: its session lasts as long as the Owner's token.
    fn durable(&self, known: KnownBy, by: &Principal) -> (KnownBy, Principal) {
        let rules = self.rules();
        let mut owners = rules.grants.iter().filter(|(_, grant)| grant.subject == Subject::HubOwner);
        match (known, owners.next()) {
            (KnownBy::Connection, Some((digest, _))) if by.is_hub_owner() => {
                (KnownBy::Token(*digest), Principal::hub_owner(Proof::Token))
            }
            (KnownBy::Connection | KnownBy::Token(_) | KnownBy::Certificate(_), _) => (known, by.clone()),
        }
    }

    /// Makes a session of a credential. `named`: who the person at the browser was told it is; the Owner needs no telling, because
    /// nobody else can make a ticket of the Owner's.
    pub async fn sign_in(
        &self,
        hub: &Hub,
        credential: Credential<'_>,
        named: Option<&str>,
        from: Option<IpAddr>,
    ) -> Result<SignIn, Fault> {
        if !self.session_rules().enabled {
            return Err(switched_off());
        }
        let now = hub.now();
        held(&self.sessions.attempts).check(from, now)?;
        let judged = match credential {
            Credential::Ticket(ticket) => held(&self.sessions.tickets).find(ticket, now),
            Credential::Token(token) => self.by_token(token, now),
        };
        let Some(Ticket { known, by }) = judged.filter(|ticket| self.vouches(ticket.known, &ticket.by, now)) else {
            held(&self.sessions.attempts).failed(from, now);
            return Err(super::refused());
        };
        let subject = by.links().first().map_or(Subject::Anonymous, |link| link.subject.clone());
        if !by.is_hub_owner() && named != Some(subject.to_string().as_str()) {
            return Ok(SignIn::Confirm(subject));
        }
        // Taken once: of two that come together one finds it gone.
        if let Credential::Ticket(ticket) = credential
            && held(&self.sessions.tickets).take(ticket, now).is_none()
        {
            return Err(super::refused());
        }
        let signed = self.begin(hub, known, by.clone(), now).await?;
        Ok(SignIn::Done(signed, by))
    }

    fn by_token(&self, token: &str, now: Time) -> Option<Ticket> {
        match self.token(token.as_bytes(), now) {
            crate::Known::Yes(by) => Some(Ticket { known: KnownBy::Token(Digest::of(token.as_bytes())), by }),
            crate::Known::Refused | crate::Known::Foreign => None,
        }
    }

    async fn begin(&self, hub: &Hub, known: KnownBy, by: Principal, now: Time) -> Result<SignedIn, Fault> {
        let signed = SignedIn { cookie: secret(), key: secret() };
        let name = Digest::of(signed.cookie.as_bytes());
        let session =
            Session { key: Digest::of(signed.key.as_bytes()), known, by, begun: now, used: now, stored: Some(now) };
        {
            let rules = self.session_rules();
            let mut all = held(&self.sessions.all);
            all.retain(|_, session| !session.is_over(&rules, now));
            let of_one = all.values().filter(|other| other.subject() == session.subject()).count();
            if of_one >= MOST_OF_ONE || all.len() >= MOST {
                let text = format!("there are {of_one} sessions of this caller: sign out of one first");
                return Err(Fault::caller(FaultKind::Busy, text));
            }
            all.insert(name, session.clone());
        }
        if let Err(fault) = put(hub, &name, &session, self.session_rules().longest).await {
            held(&self.sessions.all).remove(&name);
            return Err(fault);
        }
        Ok(signed)
    }

    /// Who a session is, if it is one and what it was made with still counts.
    pub(crate) fn of_session(&self, proof: &SessionProof, now: Time) -> Option<Principal> {
        let rules = self.session_rules();
        if !rules.enabled {
            return None;
        }
        let session = self.session(proof)?.1;
        let good = !session.is_over(&rules, now) && self.vouches(session.known, &session.by, now);
        if good { session.principal(&rules) } else { None }
    }

    fn session(&self, proof: &SessionProof) -> Option<(Digest, Session)> {
        let all = held(&self.sessions.all);
        // A page of another port may have set the cookie of another session: the key says which one is meant.
        let mut found = proof.cookies.iter().filter_map(|cookie| Some((*cookie, all.get(cookie)?)));
        found.find(|(_, session)| session.key == proof.key).map(|(name, session)| (name, session.clone()))
    }

    /// A request of this session came: it is not idle.
    pub fn used(&self, proof: &SessionProof, now: Time) -> Option<SessionEnds> {
        let (name, session) = self.session(proof)?;
        let session = Session { used: now.max(session.used), ..session };
        let ends = session.ends(&self.session_rules());
        if let Some(kept) = held(&self.sessions.all).get_mut(&name) {
            kept.used = session.used;
        }
        Some(ends)
    }

    /// Ends a session, in all its tabs.
    pub async fn sign_out(&self, hub: &Hub, proof: &SessionProof) -> Result<(), Fault> {
        if let Some((name, _)) = self.session(proof) {
            self.end(hub, &[name]).await?;
        }
        Ok(())
    }

    async fn end(&self, hub: &Hub, names: &[Digest]) -> Result<(), Fault> {
        for name in names {
            held(&self.sessions.all).remove(name);
            hub.records(KIND).take(&name.to_string()).await?;
        }
        if !names.is_empty() {
            self.replaced.send_replace(());
        }
        Ok(())
    }

    /// Reads the sessions that were stored before a restart.
    pub async fn restore_sessions(&self, hub: &Hub) -> Result<(), Fault> {
        let (mut all, mut after) = (HashMap::new(), None::<String>);
        loop {
            let page = hub.records(KIND).list(after.as_deref(), PAGE).await?;
            for item in &page {
                // What cannot be read is no session; its cookie is then unknown.
                if let (Ok(name), Ok(session)) =
                    (item.key.parse::<Digest>(), serde_json::from_slice::<Session>(&item.value))
                {
                    all.insert(name, Session { stored: Some(session.used), ..session });
                }
            }
            after = page.last().map(|item| item.key.to_string());
            if page.len() < PAGE || all.len() >= MOST {
                break;
            }
        }
        *held(&self.sessions.all) = all;
        Ok(())
    }

    /// Ends what has expired or is not vouched for any more, and stores when the others were used.
    pub async fn sweep_sessions(&self, hub: &Hub) -> Result<(), Fault> {
        let (now, rules) = (hub.now(), self.session_rules());
        let all: Vec<(Digest, Session)> =
            held(&self.sessions.all).iter().map(|(name, session)| (*name, session.clone())).collect();
        let over = |session: &Session| session.is_over(&rules, now) || !self.vouches(session.known, &session.by, now);
        let gone: Vec<Digest> = all.iter().filter(|(_, session)| over(session)).map(|(name, _)| *name).collect();
        self.end(hub, &gone).await?;
        for (name, session) in
            all.iter().filter(|(name, session)| Some(session.used) > session.stored && !gone.contains(name))
        {
            put(hub, name, session, rules.longest).await?;
            // Signed out meanwhile: then it must not come back with the next start.
            let kept = held(&self.sessions.all).get_mut(name).map(|kept| kept.stored = Some(session.used));
            if kept.is_none() {
                hub.records(KIND).take(&name.to_string()).await?;
            }
        }
        Ok(())
    }
}

async fn put(hub: &Hub, name: &Digest, session: &Session, longest: Duration) -> Result<(), Fault> {
    let value = Bytes::from(serde_json::to_vec(session).map_err(Fault::internal)?);
    let expires = Some(session.begun.after(longest));
    hub.records(KIND).put(&name.to_string(), value, expires, Expect::Anything).await?;
    Ok(())
}

/// Does this principal act through the console?
pub fn is_session(by: &Principal) -> bool {
    by.links().iter().any(|link| link.proof == Proof::Console)
}

/// 256 bits.
fn secret() -> String {
    format!("{:032x}{:032x}", entropy::bits(), entropy::bits())
}

fn switched_off() -> Fault {
    Fault::caller(FaultKind::NotFound(interlingua_model::Noun::Resource), "the console of this hub is switched off")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_ends_without_use_after_its_longest_time_and_with_its_credential() {
        let minutes = |count: u64| Time(count * 60_000);
        let session = |used: Time, until: Option<Time>| {
            let first = Principal::hub_owner(Proof::Token).links()[0].clone();
            let (key, by) = (Digest::of(b"key"), Principal::new(Link { until, ..first }));
            Session { key, known: KnownBy::Connection, by, begun: Time(0), used, stored: None }
        };
        let rules = SessionRules::default();
        let over = |session: &Session, now| session.is_over(&rules, now);
        assert!(!over(&session(minutes(5), None), minutes(34)));
        assert!(over(&session(minutes(5), None), minutes(35)), "idle for half an hour");
        assert!(!over(&session(minutes(719), None), minutes(719)));
        assert!(over(&session(minutes(719), None), minutes(720)), "twelve hours in all");
        assert!(over(&session(minutes(9), Some(minutes(10))), minutes(10)), "the credential has expired");
        let by = session(minutes(5), None).principal(&rules).expect("a principal");
        assert!(is_session(&by) && by.is_hub_owner());
        assert_eq!(by.links()[0].until, Some(minutes(720)), "streams end with it");
    }
}
