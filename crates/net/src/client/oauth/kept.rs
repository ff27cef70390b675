//! Stored OAuth tokens and client registrations. Each is sealed in a record of its own, under the name of its peer, and is removed with
//! that peer.

use std::time::Duration;

use bytes::Bytes;
use interlingua_model::ports::Expect;
use interlingua_model::{Digest, Owner, PeerId, Secret, Time};
use interlingua_wire::oauth::client::Client;
use interlingua_wire::oauth::metadata::Method;
use interlingua_wire::oauth::scope::Scopes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, Zeroizing};

use super::Problem;
use interlingua_hub::Hub;

pub const TOKENS: &str = "oauth-token";
pub const CLIENTS: &str = "oauth-client";
/// What nobody used for so long is forgotten.
const KEPT: Duration = Duration::from_secs(180 * 24 * 3600);
/// How many there may be of each kind.
const MOST: u64 = 100_000;
/// How many are read at once.
const PAGE: usize = 500;

/// A client of one authorization server.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct KeptClient {
    id: String,
    secret: Option<String>,
    method: String,
}

impl KeptClient {
    pub(super) fn of(client: &Client) -> KeptClient {
        let secret = client.secret.as_ref().and_then(Secret::text).map(str::to_owned);
        KeptClient { id: client.id.clone(), secret, method: client.method.as_str().to_owned() }
    }

    pub(super) fn client(&self) -> Client {
        let method = Method::parse(&self.method).unwrap_or(Method::None);
        Client { id: self.id.clone(), secret: self.secret.as_ref().map(Secret::new), method }
    }
}

/// A token, and all that is needed to renew it.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) issuer: String,
    /// Where it is renewed.
    pub(super) endpoint: String,
    pub(super) resource: String,
    pub(super) client: KeptClient,
    pub(super) access: String,
    pub(super) refresh: Option<String>,
    pub(super) expires: Option<Time>,
    granted: String,
    requested: String,
}

impl Kept {
    pub(super) fn new(issuer: &str, endpoint: &str, resource: &str, client: &Client, requested: &Scopes) -> Kept {
        Kept {
            issuer: issuer.to_owned(),
            endpoint: endpoint.to_owned(),
            resource: resource.to_owned(),
            client: KeptClient::of(client),
            access: String::new(),
            refresh: None,
            expires: None,
            granted: requested.to_string(),
            requested: requested.to_string(),
        }
    }

    /// What was granted; servers that do not say granted what was asked for.
    pub(super) fn grant(&mut self, scopes: &Scopes) {
        self.granted = scopes.to_string();
    }

    pub(super) fn granted(&self) -> Scopes {
        Scopes::parse(&self.granted)
    }

    pub(super) fn requested(&self) -> Scopes {
        Scopes::parse(&self.requested)
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.access.zeroize();
        self.refresh.zeroize();
        self.client.secret.zeroize();
    }
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kept").field("issuer", &self.issuer).field("expires", &self.expires).finish_non_exhaustive()
    }
}

/// Everything of one server under one name.
pub(super) fn place(peer: &PeerId, server: &str) -> String {
    format!("{peer}/{}", Digest::of(server.as_bytes()))
}

pub(super) fn token_key(peer: &PeerId, server: &str, owner: Option<&Owner>) -> String {
    match owner {
        None => format!("{}/hub", place(peer, server)),
        Some(owner) => format!("{}/of-{}", place(peer, server), Digest::of(owner.to_string().as_bytes())),
    }
}

pub(super) fn client_key(peer: &PeerId, server: &str, issuer: &str, redirect: &str) -> String {
    format!("{}/{}", place(peer, server), Digest::of_fields([issuer.as_bytes(), redirect.as_bytes()]))
}

pub(super) fn issuer_key(peer: &PeerId, server: &str, identity: Digest) -> String {
    format!("{}/issuer-{identity}", place(peer, server))
}

/// The authorization server that a client belongs to: the one that is kept under this key, else this one from now on. It is not
/// forgotten with time: who waits long enough gains nothing.
pub(super) async fn pinned(hub: &Hub, key: &str, issuer: &str) -> Result<String, Problem> {
    let (records, now) = (hub.store_records(), hub.now());
    let sealed = hub.keys().seal(CLIENTS, key.as_bytes(), issuer.as_bytes()).map_err(|_| Problem::Store)?;
    // Whoever comes first counts; what was there before stays.
    let put = records.put(CLIENTS, key, Bytes::from(sealed), None, Expect::Absent, now).await;
    let item = records.get(CLIENTS, key, now).await.map_err(|_| Problem::Store)?;
    let (Some(item), _) = (item, put) else { return Err(Problem::Store) };
    let plain = hub.keys().open(CLIENTS, key.as_bytes(), &item.value).map_err(|_| Problem::Store)?;
    String::from_utf8(plain.to_vec()).map_err(|_| Problem::Store)
}

pub(super) async fn load<T: DeserializeOwned>(hub: &Hub, kind: &'static str, key: &str) -> Result<Option<T>, Problem> {
    let item = hub.records(kind).get(key).await.map_err(|_| Problem::Store)?;
    let Some(item) = item else { return Ok(None) };
    // What another key sealed is as good as gone: it is fetched anew.
    let Ok(plain) = hub.keys().open(kind, key.as_bytes(), &item.value) else { return Ok(None) };
    Ok(serde_json::from_slice(&plain).ok())
}

pub(super) async fn keep<T: Serialize>(hub: &Hub, kind: &'static str, key: &str, value: &T) -> Result<(), Problem> {
    let (records, now) = (hub.store_records(), hub.now());
    let known = records.get(kind, key, now).await.map_err(|_| Problem::Store)?.is_some();
    if !known && records.count(kind, now).await.map_err(|_| Problem::Store)? >= MOST {
        return Err(Problem::Busy);
    }
    let plain = Zeroizing::new(serde_json::to_vec(value).map_err(|_| Problem::Store)?);
    let sealed = hub.keys().seal(kind, key.as_bytes(), &plain).map_err(|_| Problem::Store)?;
    let put = records.put(kind, key, Bytes::from(sealed), Some(now.after(KEPT)), Expect::Anything, now);
    put.await.map(drop).map_err(|_| Problem::Store)
}

pub(super) async fn forget(hub: &Hub, kind: &'static str, key: &str) -> Result<(), Problem> {
    hub.records(kind).take(key).await.map(drop).map_err(|_| Problem::Store)
}

/// Removes all that belongs to no server at one of these places: a peer that is gone takes its credentials along.
pub async fn retain(hub: &Hub, places: &[String]) -> Result<(), interlingua_model::Fault> {
    let (records, now) = (hub.store_records(), hub.now());
    for kind in [TOKENS, CLIENTS] {
        let mut after: Option<String> = None;
        loop {
            let page = records.list(kind, after.as_deref(), PAGE, now).await?;
            for item in &page {
                let belongs =
                    |place: &String| item.key.strip_prefix(place.as_str()).is_some_and(|rest| rest.starts_with('/'));
                if !places.iter().any(belongs) {
                    records.take(kind, &item.key, now).await?;
                }
            }
            after = page.last().map(|item| item.key.to_string());
            if page.len() < PAGE {
                break;
            }
        }
    }
    Ok(())
}
