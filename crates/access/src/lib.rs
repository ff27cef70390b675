//! Authentication, `authenticate`: turns the credentials of a connection and a message into an authenticated principal. Only this crate
//! makes principals.

#[doc(hidden)]
pub mod fuzzing;
pub mod issuers;
pub mod owner_token;
pub mod rights;
pub mod sessions;
pub mod settings;
pub mod tokens;

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use interlingua_model::{Digest, Fault, FaultKind, Link, Principal, Proof, Secret, Subject, Text, Time};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::issuers::{Issuers, Judged};
use crate::sessions::{SessionProof, Sessions};
use crate::settings::Anonymous;
use interlingua_net::connection::{Connection, From};

/// Every token this hub makes begins like this: one that does and is not known was altered, has expired or was revoked.
pub const TOKEN_PREFIX: &str = "ilg_";

/// What a token stands for. The token itself is not kept, only its digest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    pub subject: Subject,
    /// Patterns over skills, and `approve`.
    pub scopes: Vec<Text>,
    pub until: Option<Time>,
}

/// Known tokens, replaced whole when configuration changes.
#[derive(Debug, Default)]
pub struct Access {
    rules: ArcSwap<Rules>,
    /// Tokens that the hub itself keeps, by their digests.
    kept: ArcSwap<HashMap<Digest, Grant>>,
    sessions: Sessions,
    /// Told when any of them is replaced or ends.
    replaced: watch::Sender<()>,
}

/// Who comes in, and how.
#[derive(Debug, Default)]
pub struct Rules {
    /// By the digest of a token.
    pub grants: HashMap<Digest, Grant>,
    /// By the digest of a certificate.
    pub certificates: HashMap<Digest, Grant>,
    pub issuers: Arc<Issuers>,
    pub anonymous: Anonymous,
}

/// What a request showed of who it is from: enough to ask again whether that counts. It is never printed.
#[derive(Clone)]
pub struct Shown {
    connection: Connection,
    authorization: Option<HeaderValue>,
    session: Option<SessionProof>,
}

impl Shown {
    pub fn of(connection: Connection, headers: &HeaderMap) -> Shown {
        Shown { connection, authorization: headers.get(AUTHORIZATION).cloned(), session: None }
    }

    /// The same where sessions of browsers count too. A credential in the head comes before them.
    pub fn with_session(connection: Connection, headers: &HeaderMap) -> Shown {
        let shown = Shown::of(connection, headers);
        let session = if shown.has_credential() { None } else { SessionProof::of(headers) };
        Shown { session, ..shown }
    }

    /// The session that was shown, whatever it is worth.
    pub fn session(&self) -> Option<&SessionProof> {
        self.session.as_ref()
    }

    pub fn has_credential(&self) -> bool {
        self.authorization.is_some()
    }
}

/// By what somebody was known, for who asks later whether that still counts. No credential can be made of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum KnownBy {
    /// The connection itself, or nothing.
    Connection,
    /// A token of this hub's or of an issuer's, by its digest.
    Token(Digest),
    Certificate(Digest),
}

impl Shown {
    pub fn known_by(&self) -> KnownBy {
        let shown = self.authorization.as_ref().and_then(|value| bearer(value).ok());
        match (shown, self.connection.certificate) {
            (Some(token), _) => KnownBy::Token(Digest::of(token.as_bytes())),
            (None, Some(certificate)) => KnownBy::Certificate(certificate),
            (None, None) => KnownBy::Connection,
        }
    }
}

impl std::fmt::Debug for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Shown({:?})", self.connection)
    }
}

/// Whether a token is one of ours.
#[derive(Debug)]
pub enum Known {
    Yes(Principal),
    /// It looks like ours but is altered, expired or revoked.
    Refused,
    /// Somebody else's: to be echoed, not judged.
    Foreign,
}

impl Rules {
    /// Is somebody of this name listed?
    pub fn knows(&self, subject: &Subject) -> bool {
        self.grants.values().chain(self.certificates.values()).any(|grant| grant.subject == *subject)
    }
}

impl Grant {
    /// Whoever showed what this is for.
    fn known(&self, proof: Proof, now: Time) -> Known {
        if self.until.is_some_and(|until| now >= until) {
            return Known::Refused;
        }
        let Grant { subject, scopes, until } = self.clone();
        Known::Yes(Principal::new(Link { subject, proof, scopes, until }))
    }
}

impl Access {
    pub fn replace(&self, rules: Rules) {
        self.rules.store(Arc::new(rules));
        self.replaced.send_replace(());
    }

    /// These are the tokens that the hub keeps, from now on.
    pub fn replace_kept(&self, grants: HashMap<Digest, Grant>) {
        self.kept.store(Arc::new(grants));
        self.replaced.send_replace(());
    }

    /// What somebody was granted, by configuration or by a token that the hub keeps.
    pub fn granted(&self, subject: &Subject) -> Option<Grant> {
        let (rules, kept) = (self.rules.load(), self.kept.load());
        let mut all = rules.grants.values().chain(rules.certificates.values()).chain(kept.values());
        all.find(|grant| grant.subject == *subject).cloned()
    }

    /// For whoever changes what a credential is worth.
    pub fn changed(&self) -> watch::Sender<()> {
        self.replaced.clone()
    }

    /// Hears of every change from here on.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.replaced.subscribe()
    }

    /// Looks a token up by its digest: comparing digests leaks nothing of the token through time.
    pub fn token(&self, token: &[u8], now: Time) -> Known {
        let (rules, kept, digest) = (self.rules.load(), self.kept.load(), Digest::of(token));
        match rules.grants.get(&digest).or_else(|| kept.get(&digest)) {
            Some(grant) => grant.known(Proof::Token, now),
            None if token.starts_with(TOKEN_PREFIX.as_bytes()) => Known::Refused,
            None => match rules.issuers.judge(token, now) {
                Judged::Good(link) => Known::Yes(Principal::new(link)),
                Judged::Bad => Known::Refused,
                Judged::Foreign => Known::Foreign,
            },
        }
    }

    /// Would who was known by this still be let in, as the same?
    pub fn vouches(&self, known: KnownBy, by: &Principal, now: Time) -> bool {
        let (rules, kept) = (self.rules.load(), self.kept.load());
        let same = |grant: Option<&Grant>, proof| {
            grant.is_some_and(|grant| matches!(grant.known(proof, now), Known::Yes(known) if known == *by))
        };
        match known {
            KnownBy::Token(token) => match rules.grants.get(&token).or_else(|| kept.get(&token)) {
                None => rules.issuers.vouches(by, now),
                grant => same(grant, Proof::Token),
            },
            KnownBy::Certificate(certificate) => same(rules.certificates.get(&certificate), Proof::Certificate),
            KnownBy::Connection => !by.is_anonymous() || rules.anonymous == Anonymous::Public,
        }
    }

    /// The rules as they are now.
    pub fn rules(&self) -> Arc<Rules> {
        self.rules.load_full()
    }

    /// The transport's credential, then the connection itself. A credential that was shown and is wrong is never ignored.
    pub fn transport(&self, connection: &Connection, headers: &HeaderMap, now: Time) -> Result<Principal, Fault> {
        self.shown(&Shown::of(*connection, headers), now)
    }

    /// The same of what was shown before.
    pub fn shown(&self, shown: &Shown, now: Time) -> Result<Principal, Fault> {
        let Shown { connection, authorization, session } = shown;
        if let Some(bearer) = authorization.as_ref().map(bearer).transpose()? {
            return match self.token(bearer.as_bytes(), now) {
                Known::Yes(principal) => Ok(principal),
                Known::Refused | Known::Foreign => Err(refused()),
            };
        }
        if let Some(session) = session {
            return self.of_session(session, now).ok_or_else(refused);
        }
        if let Some(shown) = &connection.certificate {
            let rules = self.rules.load();
            let known = rules.certificates.get(shown).map(|grant| grant.known(Proof::Certificate, now));
            return match known {
                Some(Known::Yes(principal)) => Ok(principal),
                Some(Known::Refused | Known::Foreign) | None => Err(refused()),
            };
        }
        Ok(match connection.from {
            From::LocalSocket => Principal::hub_owner(Proof::LocalSocket),
            From::Elsewhere(_) => Principal::anonymous(),
        })
    }

    /// Tokens inside a message complete what the transport proved. The first that is ours counts; foreign ones are nothing.
    /// Who is still nobody then is refused where configuration says so.
    pub fn complete(&self, transport: Principal, credentials: &[Secret], now: Time) -> Result<Principal, Fault> {
        for credential in credentials.iter().filter_map(Secret::value) {
            match self.token(credential, now) {
                Known::Yes(principal) => return Ok(principal),
                Known::Refused => return Err(refused()),
                Known::Foreign => {}
            }
        }
        match self.rules.load().anonymous {
            Anonymous::Refused if transport.is_anonymous() => {
                Err(Fault::caller(FaultKind::Unauthenticated, "this hub takes no requests without a credential"))
            }
            Anonymous::Refused | Anonymous::Public => Ok(transport),
        }
    }
}

fn refused() -> Fault {
    Fault::caller(FaultKind::Unauthenticated, "the credential is not valid, or not any more")
}

fn bearer(value: &HeaderValue) -> Result<&str, Fault> {
    let unreadable = || Fault::caller(FaultKind::Unauthenticated, "the Authorization header must be 'Bearer TOKEN'");
    let text = value.to_str().map_err(|_| unreadable())?;
    match text.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => Ok(token.trim()),
        _ => Err(unreadable()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tokens are not compared at all, so no clock says how much of one was right: what is looked up is the digest of what was
    /// shown, and a digest one bit off leads anywhere.
    #[test]
    fn a_token_is_looked_up_by_its_digest_and_compared_with_none() {
        let token = format!("{TOKEN_PREFIX}{}", "5".repeat(64));
        let grant = Grant { subject: Subject::User("ann".into()), scopes: Vec::new(), until: None };
        let grants = HashMap::from([(Digest::of(token.as_bytes()), grant)]);
        let access = Access::default();
        access.replace(Rules { grants, ..Rules::default() });
        assert!(matches!(access.token(token.as_bytes(), Time(0)), Known::Yes(_)));
        for at in TOKEN_PREFIX.len()..token.len() {
            let (right, rest) = token.split_at(at);
            let wrong = format!("{right}6{}", &rest[1..]);
            assert!(matches!(access.token(wrong.as_bytes(), Time(0)), Known::Refused), "right up to {at}");
            assert!(matches!(access.token(right.as_bytes(), Time(0)), Known::Refused), "the first {at}");
        }
        assert!(!format!("{:?}", access.rules()).contains(&token), "and it is kept nowhere");
    }
}
