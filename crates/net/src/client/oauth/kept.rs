//! Stored OAuth tokens and client registrations. Each is sealed in a record of its own, under the name of its peer, and is removed with
//! that peer.

use std::time::Duration;

use bytes::Bytes;
use interlingua_model::ports::{Expect, Item, StoreFault};
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
/// How often it is tried to store something that others store at the same time.
const ATTEMPTS: usize = 8;
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

/// What is stored under this key, and its revision.
pub(super) async fn load<T: DeserializeOwned>(
    hub: &Hub,
    kind: &'static str,
    key: &str,
) -> Result<Option<(T, u64)>, Problem> {
    let item = hub.records(kind).get(key).await.map_err(|_| Problem::Store)?;
    Ok(item.and_then(|item| opened(hub, kind, &item)))
}

/// What another key sealed is as good as gone: it is fetched anew.
fn opened<T: DeserializeOwned>(hub: &Hub, kind: &'static str, item: &Item) -> Option<(T, u64)> {
    let plain = hub.keys().open(kind, item.key.as_bytes(), &item.value).ok()?;
    serde_json::from_slice(&plain).ok().map(|value| (value, item.revision))
}

/// In place of what something is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Replacing {
    /// Of whatever there is: a person has just signed in, or a grant was made.
    Present,
    /// Of the revision it was made from, if any.
    Read(Option<u64>),
}

/// What became of something that was to be stored.
pub(super) enum Put<T> {
    /// It has this revision.
    Stored(u64),
    /// Another writer was first: what it stored, and its revision.
    Overtaken(T, u64),
}

/// Stores a value in place of what it replaces. Of two hubs that renew one token, the second finds what the first one stored.
pub(super) async fn keep<T: Serialize + DeserializeOwned>(
    hub: &Hub,
    (kind, key): (&'static str, &str),
    value: &T,
    replacing: Replacing,
) -> Result<Put<T>, Problem> {
    let (records, now) = (hub.store_records(), hub.now());
    let plain = Zeroizing::new(serde_json::to_vec(value).map_err(|_| Problem::Store)?);
    let sealed = Bytes::from(hub.keys().seal(kind, key.as_bytes(), &plain).map_err(|_| Problem::Store)?);
    for _ in 0..ATTEMPTS {
        let there = records.get(kind, key, now).await.map_err(|_| Problem::Store)?;
        let expect = match &there {
            None if records.count(kind, now).await.map_err(|_| Problem::Store)? >= MOST => return Err(Problem::Busy),
            None => Expect::Absent,
            Some(item) => Expect::Revision(item.revision),
        };
        if let (Replacing::Read(read), Some(item)) = (replacing, &there)
            && read != Some(item.revision)
            && let Some((value, revision)) = opened(hub, kind, item)
        {
            return Ok(Put::Overtaken(value, revision));
        }
        match records.put(kind, key, sealed.clone(), Some(now.after(KEPT)), expect, now).await {
            Ok(revision) => return Ok(Put::Stored(revision)),
            Err(StoreFault::Moved { .. }) => {}
            Err(_) => return Err(Problem::Store),
        }
    }
    Err(Problem::Busy)
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use interlingua_hub::Settings;
    use interlingua_hub::admission::AdmissionLimits;
    use interlingua_keys::Keyring;
    use interlingua_store_sqlite::{Embedded, Options};

    use super::*;

    const AT: (&str, &str) = (TOKENS, "peer/hub");

    fn token(access: &str) -> Kept {
        let client = Client { id: "hub".into(), secret: None, method: Method::None };
        let mut kept = Kept::new("https://as", "https://as/token", "https://mcp", &client, &Scopes::parse("read"));
        kept.access = access.to_owned();
        kept
    }

    async fn stored(hub: &Hub, access: &str, replacing: Replacing) -> Result<u64, (String, u64)> {
        match keep(hub, AT, &token(access), replacing).await.expect("the store works") {
            Put::Stored(revision) => Ok(revision),
            Put::Overtaken(kept, revision) => Err((kept.access.clone(), revision)),
        }
    }

    #[tokio::test]
    async fn of_two_hubs_that_renew_one_token_one_wins_and_the_other_sees_the_winner() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = Embedded::open(dir.path(), Options::default()).expect("opens");
        let hub = || {
            let keys = Arc::new(Keyring::from_text(&"07".repeat(32)).expect("a key"));
            Hub::new("test".into(), store.ports(), keys, AdmissionLimits::default(), Settings::default())
        };
        let (here, there) = (hub(), hub());
        let read = stored(&here, "first", Replacing::Read(None)).await.expect("nothing was there");
        let both = tokio::join!(
            stored(&here, "of one", Replacing::Read(Some(read))),
            stored(&there, "of another", Replacing::Read(Some(read))),
        );
        let (winner, revision, seen) = match both {
            (Ok(revision), Err(seen)) => ("of one", revision, seen),
            (Err(seen), Ok(revision)) => ("of another", revision, seen),
            both => panic!("one of them stores it: {both:?}"),
        };
        assert_eq!(seen, (winner.to_owned(), revision));
        // A registration or token that was made without one stored does not replace what came meanwhile.
        assert_eq!(stored(&there, "late", Replacing::Read(None)).await, Err((winner.to_owned(), revision)));
        // Somebody who signed in does.
        let signed_in = stored(&there, "signed in", Replacing::Present).await.expect("it counts");
        let (kept, revision) = load::<Kept>(&here, AT.0, AT.1).await.expect("read").expect("there");
        assert_eq!((kept.access.as_str(), revision), ("signed in", signed_in));
    }
}
