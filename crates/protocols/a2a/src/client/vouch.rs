//! Signature verification of agent cards (section 8.4), by trusted keys, each within its scope. The source of keys and the verification
//! function are passed in.
//!
//! A pinned key is valid for any signature, by its name if it has one. A key set is valid only for signatures that name its address:
//! control of one address proves nothing about another.

use interlingua_model::peer::Vouched;
use interlingua_model::{Json, Text};

use crate::discover::signature::{Forms, Material, Signature, WebKey, signatures};

/// No card is worth more: each costs as much as the card is long.
const ATTEMPTS: usize = 16;

/// Keys that are trusted.
#[derive(Debug, Clone, Copy)]
pub struct Keys<'a> {
    pub pinned: &'a [WebKey],
    /// By the address of their set.
    pub fetched: &'a [(Text, Vec<WebKey>)],
}

impl<'a> Keys<'a> {
    /// Those that may have made a signature.
    fn of(&self, signature: &'a Signature) -> impl Iterator<Item = &'a WebKey> {
        let sets = self.fetched.iter().filter(|(url, _)| signature.url.as_ref() == Some(url));
        let all = self.pinned.iter().chain(sets.flat_map(|(_, keys)| keys));
        all.filter(|key| key.material.algorithm() == &*signature.algorithm)
            .filter(|key| key.id.is_none() || key.id == signature.id)
    }
}

/// Is the card signed by one of the keys? `verify` is given a key, what was signed, and the signature.
pub fn judge(card: &Json, keys: &Keys<'_>, verify: impl Fn(&Material, &[u8], &[u8]) -> bool) -> Vouched {
    if card.get("signatures").is_none() {
        return Vouched::Unsigned;
    }
    let (found, forms) = (signatures(card), Forms::of(card));
    let tried = found.iter().flat_map(|signature| keys.of(signature).map(move |key| (signature, key)));
    let mut named = false;
    for (signature, key) in tried.take(ATTEMPTS) {
        if signature.holds(&forms, |input, bytes| verify(&key.material, input, bytes)) {
            let name = key.id.clone().unwrap_or_else(|| key.material.thumbprint().into());
            return Vouched::Verified(name);
        }
        named |= key.id.is_some();
    }
    if named { Vouched::Altered } else { Vouched::Unknown }
}

/// The key sets that the card's signatures name.
pub fn places(card: &Json) -> Vec<Text> {
    let mut places: Vec<Text> = signatures(card).into_iter().filter_map(|signature| signature.url).collect();
    places.sort();
    places.dedup();
    places
}
