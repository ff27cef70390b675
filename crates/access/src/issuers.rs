//! JWT verification of tokens from trusted issuers, with the issuer's keys. The keys are read again from time to time, and whenever a token
//! names an unknown key.
//!
//! A verified token is cached by its digest until it expires or its issuer changes its keys, so its signature is verified once. When the
//! keys change, everything that was opened with a token is checked again. Configuration decides which issuers, audiences and scopes are
//! accepted; nothing in a token chooses the address of a key.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use bytes::Bytes;
use http::header::ACCEPT;
use interlingua_keys::jws::PublicKey;
use interlingua_model::policy::ROLE_SCOPE;
use interlingua_model::{Digest, Fault, Json, Link, Principal, Proof, Subject, Text, Time};
use interlingua_wire::jwk::{Material, WebKey, key_set};
use interlingua_wire::oauth::jwt::{Claims, Expected, Jwt};
use moka::sync::Cache;
use tokio::sync::watch;

use crate::settings;
use interlingua_hub::Hub;
use interlingua_net::client::guard::Reach;
use interlingua_net::client::http::{Pool, read, whole};
pub use interlingua_net::client::tls::{self, Trust};

/// Bytes of tokens that are remembered.
const REMEMBERED: u64 = 32 * 1024 * 1024;
/// What one takes besides its scopes.
const ONE: usize = 512;
/// How often keys are read again.
const REFRESH: Duration = Duration::from_secs(300);
/// How often at most, when tokens name unknown keys.
const PAUSE: Duration = Duration::from_secs(2);
/// When they could not be read.
const AGAIN: Duration = Duration::from_secs(15);
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a set of keys may be.
const MAX_SET: usize = 1024 * 1024;
/// More keys than these are not looked at: each costs a verification.
const MAX_KEYS: usize = 64;

/// The issuers of one configuration.
pub struct Issuers {
    by_name: HashMap<String, Issuer>,
    remembered: Cache<Digest, Remembered>,
}

fn remembered() -> Cache<Digest, Remembered> {
    let weigher = |_: &Digest, remembered: &Remembered| {
        let scopes: usize = remembered.link.scopes.iter().map(|scope| size_of::<Text>() + scope.len()).sum();
        u32::try_from(ONE + scopes).unwrap_or(u32::MAX)
    };
    Cache::builder().max_capacity(REMEMBERED).weigher(weigher).build()
}

/// A token that was good. One that was not is looked at again: the keys may have changed.
#[derive(Debug, Clone)]
struct Remembered {
    link: Link,
    until: Time,
    issuer: String,
    /// The keys it was verified with. A key that was withdrawn vouches for nothing that it signed before.
    keys: Arc<Vec<WebKey>>,
}

struct Issuer {
    name: String,
    audiences: Vec<String>,
    config: settings::Issuer,
    keys: Arc<ArcSwap<Vec<WebKey>>>,
    /// Tells the one who reads the keys that some are missing; dropped, that one ends.
    missing: watch::Sender<u64>,
}

/// What came of a token.
#[derive(Debug)]
pub enum Judged {
    Good(Link),
    /// Of an issuer that is believed, and not good.
    Bad,
    /// Nobody's here.
    Foreign,
}

impl std::fmt::Debug for Issuers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.by_name.keys()).finish()
    }
}

impl Default for Issuers {
    fn default() -> Self {
        Issuers { by_name: HashMap::new(), remembered: remembered() }
    }
}

impl Issuers {
    /// Begins to read keys; those that were known `before` count until then. Must be called within a runtime.
    /// `changed` is told whenever keys change.
    pub fn start(
        hub: &Arc<Hub>,
        access: &settings::Access,
        hub_url: Option<&str>,
        before: &Issuers,
        changed: &watch::Sender<()>,
    ) -> Result<Issuers, Fault> {
        let mut issuers = Issuers::default();
        for (name, issuer) in &access.issuers {
            let known = before.by_name.get(&issuer.issuer).filter(|before| before.config.keys == issuer.keys);
            let first = issuer.key_set().map(written).or_else(|| known.map(|known| known.keys.load().to_vec()));
            let keys = Arc::new(ArcSwap::from_pointee(first.unwrap_or_default()));
            let (missing, told) = watch::channel(0);
            if issuer.key_set().is_none() {
                let reading = Reading::new(hub, name, issuer, keys.clone(), told, changed.clone())?;
                hub.spawn_until_stop(reading.run());
            }
            let audiences = issuer.audiences(hub_url);
            let made = Issuer { name: name.clone(), audiences, config: issuer.clone(), keys, missing };
            issuers.by_name.insert(issuer.issuer.clone(), made);
        }
        Ok(issuers)
    }

    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    pub fn judge(&self, token: &[u8], now: Time) -> Judged {
        if self.by_name.is_empty() {
            return Judged::Foreign;
        }
        let digest = Digest::of(token);
        if let Some(remembered) = self.remembered.get(&digest)
            && now < remembered.until
            && self.by_name.get(&remembered.issuer).is_some_and(|it| Arc::ptr_eq(&it.keys.load(), &remembered.keys))
        {
            return Judged::Good(remembered.link);
        }
        let read = std::str::from_utf8(token).ok().and_then(|text| Some((text, Jwt::decode(text)?)));
        let Some((text, jwt)) = read else { return Judged::Foreign };
        let Some(issuer) = jwt.issuer().and_then(|issuer| self.by_name.get(&issuer)) else { return Judged::Foreign };
        let keys = issuer.keys.load_full();
        match issuer.verified(text, &jwt, &keys, now) {
            Some(claims) => {
                let until = claims.until;
                let link = issuer.link(claims);
                let issuer = issuer.config.issuer.clone();
                self.remembered.insert(digest, Remembered { link: link.clone(), until, issuer, keys });
                Judged::Good(link)
            }
            None => Judged::Bad,
        }
    }

    /// Is the issuer of such a token still believed, and has the token not expired? A signature is not looked at: the token
    /// was good when it was shown, and it is not here any more.
    pub fn vouches(&self, by: &Principal, now: Time) -> bool {
        by.links().iter().all(|link| {
            let believed = |name: &str| self.by_name.values().any(|issuer| issuer.name == name);
            let issued = match &link.subject {
                Subject::User(user) => user.split_once('/').is_some_and(|(issuer, _)| believed(issuer)),
                Subject::HubOwner
                | Subject::Anonymous
                | Subject::Agent(_)
                | Subject::Device(_)
                | Subject::Hub(_)
                | Subject::Orchestrator(_) => false,
            };
            link.proof == Proof::Jwt && issued && link.until.is_none_or(|until| now < until)
        })
    }

    /// The scopes that somebody can ask an issuer for, and what each reaches.
    pub fn scopes(&self) -> impl Iterator<Item = (&str, &[String])> {
        let scopes = self.by_name.values().flat_map(|issuer| &issuer.config.scopes);
        scopes.map(|(scope, reaches)| (scope.as_str(), reaches.as_slice()))
    }

    /// Where tokens are to be had.
    pub fn servers(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }
}

impl Issuer {
    fn verified(&self, text: &str, jwt: &Jwt, keys: &[WebKey], now: Time) -> Option<Claims> {
        if !jwt.is_of(keys) {
            // Perhaps a new one: it is looked for, and the next try finds it.
            self.missing.send_modify(|times| *times += 1);
            return None;
        }
        if !jwt.is_signed(text, keys, verifies) {
            return None;
        }
        let skew = u64::try_from(self.config.skew.0.as_millis()).unwrap_or(u64::MAX);
        let expected = Expected { issuer: &self.config.issuer, audiences: &self.audiences, now, skew };
        match jwt.claims(&expected, self.config.roles.as_deref()) {
            Ok(claims) => Some(claims),
            Err(unfit) => {
                tracing::debug!(issuer = self.name, reason = %unfit, "a token does not count");
                None
            }
        }
    }

    fn link(&self, claims: Claims) -> Link {
        let subject = Subject::User(format!("{}/{}", self.name, claims.subject).into());
        let mut scopes: Vec<Text> = self.config.skills.iter().map(|skill| skill.as_str().into()).collect();
        if self.config.scopes.is_empty() {
            // A role is not had by asking for a scope of that name.
            let own = claims.scopes.iter().filter(|scope| !scope.starts_with(ROLE_SCOPE));
            scopes.extend(own.map(|scope| Text::from(scope.as_str())));
        } else {
            let known = claims.scopes.iter().filter_map(|scope| self.config.scopes.get(scope));
            scopes.extend(known.flatten().map(|reach| Text::from(reach.as_str())));
        }
        scopes.extend(claims.listed.iter().map(|role| format!("{ROLE_SCOPE}{role}").into()));
        Link { subject, proof: Proof::Jwt, scopes, until: Some(claims.until) }
    }
}

fn verifies(material: &Material, signed: &[u8], signature: &[u8]) -> bool {
    let key = match material.clone() {
        Material::P256 { x, y } => PublicKey::P256 { x, y },
        Material::Ed25519 { x } => PublicKey::Ed25519 { x },
        Material::Rsa { n, e } => PublicKey::Rsa { n, e },
    };
    key.verifies(signed, signature)
}

fn written(set: &str) -> Vec<WebKey> {
    read_set(Bytes::copy_from_slice(set.as_bytes())).unwrap_or_default()
}

pub(crate) fn read_set(bytes: Bytes) -> Option<Vec<WebKey>> {
    let mut keys = key_set(&Json::parse(bytes).ok()?)?;
    keys.truncate(MAX_KEYS);
    Some(keys)
}

/// Reads the keys of one issuer for as long as its configuration stands.
struct Reading {
    name: String,
    url: String,
    pool: Pool,
    keys: Arc<ArcSwap<Vec<WebKey>>>,
    told: watch::Receiver<u64>,
    changed: watch::Sender<()>,
}

impl Reading {
    fn new(
        hub: &Arc<Hub>,
        name: &str,
        issuer: &settings::Issuer,
        keys: Arc<ArcSwap<Vec<WebKey>>>,
        told: watch::Receiver<u64>,
        changed: watch::Sender<()>,
    ) -> Result<Reading, Fault> {
        let uri = issuer.keys.parse().unwrap_or_default();
        let pool = Pool::new(
            tls::config(&Trust::of(issuer.ca.as_deref(), &uri))?,
            hub.supervisor(),
            Reach::address(hub, &uri),
            hub.answers(),
        );
        Ok(Reading { name: name.to_owned(), url: issuer.keys.clone(), pool, keys, told, changed })
    }

    async fn run(mut self) {
        loop {
            let read = self.fetch().await;
            let mut wait = AGAIN;
            match read {
                Ok(keys) if keys.is_empty() => {
                    tracing::warn!(
                        event = "issuer_keys_missing",
                        issuer = self.name,
                        "the issuer publishes no key that the hub can use; the keys read before stay valid"
                    )
                }
                Ok(keys) => {
                    // The same keys read again change nothing for those who were known by them.
                    if **self.keys.load() != keys {
                        self.keys.store(Arc::new(keys));
                        self.changed.send_replace(());
                    }
                    wait = REFRESH;
                }
                Err(why) => {
                    tracing::warn!(
                        event = "issuer_keys_not_fetched",
                        issuer = self.name,
                        why,
                        "the keys of the issuer cannot be read; the keys read before stay valid"
                    )
                }
            }
            tokio::time::sleep(PAUSE).await;
            tokio::select! {
                () = tokio::time::sleep(wait.saturating_sub(PAUSE)) => {}
                told = self.told.changed() => if told.is_err() { return },
            }
            if self.told.has_changed().is_err() {
                return;
            }
        }
    }

    async fn fetch(&self) -> Result<Vec<WebKey>, &'static str> {
        let request = http::Request::get(&self.url).header(ACCEPT, "application/json").body(whole(Bytes::new()));
        let request = request.map_err(|_| "its address is none")?;
        let asked = async {
            let response = self.pool.send(request).await.map_err(|_| "it is not reached")?;
            if !response.status().is_success() {
                return Err("it answers with an error");
            }
            read(response, MAX_SET).await.map_err(|_| "its answer breaks off, or is too long")
        };
        let body = tokio::time::timeout(PATIENCE, asked).await.map_err(|_| "it does not answer in time")??;
        read_set(body).ok_or("it answers with something else than a set of keys")
    }
}
