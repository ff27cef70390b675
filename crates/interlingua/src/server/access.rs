//! `authenticate`: from what a connection and a message bring to a proven principal. Only this makes one.

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use interlingua_core::{Digest, Fault, FaultKind, Link, Principal, Proof, Secret, Subject, Text, Time};

use super::connection::{Connection, From};
use super::issuers::{Issuers, Judged};
use crate::config::Anonymous;

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

/// Whether a token is one of ours.
#[derive(Debug)]
pub enum Known {
    Yes(Principal),
    /// It looks like ours but is altered, expired or revoked.
    Refused,
    /// Somebody else's: to be echoed, not judged.
    Foreign,
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
    }

    /// Looks a token up by its digest: comparing digests leaks nothing of the token through time.
    pub fn token(&self, token: &[u8], now: Time) -> Known {
        let rules = self.rules.load();
        match rules.grants.get(&Digest::of(token)) {
            Some(grant) => grant.known(Proof::Token, now),
            None if token.starts_with(TOKEN_PREFIX.as_bytes()) => Known::Refused,
            None => match rules.issuers.judge(token, now) {
                Judged::Good(link) => Known::Yes(Principal::new(link)),
                Judged::Bad => Known::Refused,
                Judged::Foreign => Known::Foreign,
            },
        }
    }

    /// The rules as they are now.
    pub fn rules(&self) -> Arc<Rules> {
        self.rules.load_full()
    }

    /// The transport's credential, then the connection itself. A credential that was shown and is wrong is never ignored.
    pub fn transport(&self, connection: &Connection, headers: &HeaderMap, now: Time) -> Result<Principal, Fault> {
        if let Some(bearer) = bearer(headers)? {
            return match self.token(bearer.as_bytes(), now) {
                Known::Yes(principal) => Ok(principal),
                Known::Refused | Known::Foreign => Err(refused()),
            };
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
            From::SameUser if !is_browser(headers) => Principal::hub_owner(Proof::SameUid),
            From::SameUser | From::Elsewhere(_) => Principal::anonymous(),
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

fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Fault> {
    let Some(value) = headers.get(AUTHORIZATION) else { return Ok(None) };
    let unreadable = || Fault::caller(FaultKind::Unauthenticated, "the Authorization header must be 'Bearer TOKEN'");
    let text = value.to_str().map_err(|_| unreadable())?;
    match text.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => Ok(Some(token.trim())),
        _ => Err(unreadable()),
    }
}

/// A page runs on its visitor's machine but not by its will: it needs the token. Programs on Node send `Sec-Fetch-Mode`
/// too, and it alone; a browser never sends it without the others.
pub fn is_browser(headers: &HeaderMap) -> bool {
    let sign = |name: &str| name.starts_with("sec-fetch-") && name != "sec-fetch-mode";
    headers.contains_key("origin") || headers.keys().any(|name| sign(name.as_str()))
}
