//! Key pinning for signed cards: keys that configuration pins, and key sets at addresses that it names. A card's own statement of its key's
//! address proves nothing, so no other address is used.

use std::time::Duration;

use crate::client::vouch::{self, Keys};
use crate::discover::signature::{Material, WebKey, key_set, keys};
use bytes::Bytes;
use http::header::ACCEPT;
use http::{Method, Request, Uri};
use interlingua_keys::jws::PublicKey;
use interlingua_model::peer::Vouched;
use interlingua_model::{Fault, FaultKind, Json, Text};
use serde::{Deserialize, Serialize};

use super::interface::DEPTH;
use crate::settings::{A2aPeer, A2aSignature};
use crate::signing::{material, public};
use interlingua_net::client::http::{Pool, read, whole};

/// What is read of a key set, and how long that may take.
const LIMIT: usize = 256 << 10;
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct Trust {
    policy: A2aSignature,
    pinned: Vec<WebKey>,
    /// Where key sets may be.
    places: Vec<Text>,
}

/// A key set as it was fetched; kept with the card it was fetched for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct KeySet {
    url: Text,
    keys: Json,
}

impl Trust {
    pub(super) fn of(a2a: &A2aPeer) -> Result<Trust, Fault> {
        let pinned = match &a2a.keys {
            None => Vec::new(),
            Some(file) => {
                let text = std::fs::read_to_string(file).unwrap_or_default();
                let found = pinned(&text);
                if found.is_empty() {
                    let text = format!("{} holds no public key that can be used", file.display());
                    return Err(Fault::hub(FaultKind::Internal, text));
                }
                found
            }
        };
        let places = a2a.key_urls.iter().map(|url| Text::from(url.as_str())).collect();
        Ok(Trust { policy: a2a.signature, pinned, places })
    }

    /// The key sets that the card's signatures name, as far as they are at places that are trusted. One that cannot be had is
    /// left out: what it would have verified is not.
    pub(super) async fn fetch(&self, card: &Json, pool: &Pool) -> Vec<KeySet> {
        let mut sets = Vec::new();
        if self.policy == A2aSignature::Off || self.places.is_empty() {
            return sets;
        }
        for url in vouch::places(card).into_iter().filter(|url| self.places.contains(url)) {
            match tokio::time::timeout(PATIENCE, fetch(&url, pool)).await {
                Ok(Some(keys)) => sets.push(KeySet { url, keys }),
                Ok(None) | Err(_) => {
                    tracing::warn!(event = "card_keys_not_fetched", %url, "a key set could not be read; signatures that need it are not verified")
                }
            }
        }
        sets
    }

    /// Who signed the card; `None` where nobody wants to know. The error says why it is not taken.
    pub(super) fn judge(&self, card: &Json, sets: &[KeySet]) -> Result<Option<Vouched>, Text> {
        let fetched: Vec<(Text, Vec<WebKey>)> = (sets.iter())
            .filter(|set| self.places.contains(&set.url))
            .map(|set| (set.url.clone(), key_set(&set.keys).unwrap_or_default()))
            .collect();
        let trusted = Keys { pinned: &self.pinned, fetched: &fetched };
        let judged = || vouch::judge(card, &trusted, verifies);
        match self.policy {
            A2aSignature::Off => Ok(None),
            A2aSignature::Check => Ok(Some(judged())),
            A2aSignature::Require => {
                let vouched = judged();
                match problem(&vouched) {
                    None => Ok(Some(vouched)),
                    Some(problem) => Err(format!("its card is refused: {problem}").into()),
                }
            }
        }
    }

    /// What its owner should know of a card that is taken.
    pub(super) fn problem(&self, vouched: Option<&Vouched>) -> Option<Text> {
        let expected = !self.pinned.is_empty() || !self.places.is_empty();
        match vouched {
            Some(Vouched::Altered) => problem(&Vouched::Altered).map(Text::from),
            Some(vouched) if expected => problem(vouched).map(Text::from),
            Some(_) | None => None,
        }
    }
}

fn problem(vouched: &Vouched) -> Option<&'static str> {
    match vouched {
        Vouched::Verified(_) => None,
        Vouched::Unsigned => Some("it is not signed"),
        Vouched::Unknown => Some("it is not signed by a key that is trusted here"),
        Vouched::Altered => Some("it was altered, or signed by another in the name of a key that is trusted"),
    }
}

/// Keys in PEM, or as the web writes them: a set, or one alone.
fn pinned(text: &str) -> Vec<WebKey> {
    match Json::parse_within(Bytes::copy_from_slice(text.as_bytes()), DEPTH) {
        Ok(json) => keys(&json),
        Err(_) => {
            PublicKey::all_from_pem(text).into_iter().map(|key| WebKey { id: None, material: material(key) }).collect()
        }
    }
}

fn verifies(key: &Material, input: &[u8], signature: &[u8]) -> bool {
    public(key).verifies(input, signature)
}

/// Nothing of the hub's own is shown there.
async fn fetch(url: &str, pool: &Pool) -> Option<Json> {
    let uri: Uri = url.parse().ok()?;
    let request = Request::builder().method(Method::GET).uri(uri).header(ACCEPT, "application/json");
    let response = pool.send(request.body(whole(Bytes::new())).ok()?).await.ok()?;
    if !response.status().is_success() {
        return None;
    }
    let json = Json::parse_within(read(response, LIMIT).await.ok()?, DEPTH).ok()?;
    key_set(&json).is_some().then_some(json)
}
