//! Signatures of cards (section 8.4): JWS (RFC 7515) without its payload, over the canonical form of the card. This module makes the signed
//! bytes; signing and verifying are passed in.
//!
//! A signature is over what a reader of the proto sees. Two readings of that rule are in use where a card holds something empty: the
//! specification keeps what is required or set, the official Python SDK keeps nothing empty at all. So a card is signed once for each of
//! its forms, mostly once; one valid signature is enough for any reader.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use interlingua_model::json::{BadJson, Reader};
use interlingua_model::{Json, Text};

use crate::invalid::Invalid;
use crate::{json, proto};
use interlingua_wire::jcs;
use interlingua_wire::object::Object;

pub use interlingua_wire::jwk::{Material, WebKey, key_set, keys, write_key_set};

/// The name of the member.
const SIGNATURES: &str = "signatures";
/// More of them are not looked at.
const MOST: usize = 16;

/// What a key is called, and where it can be had.
#[derive(Debug, Clone, Copy)]
pub struct Key<'a> {
    /// `ES256`, `EdDSA`.
    pub algorithm: &'a str,
    pub id: &'a str,
    /// A JSON Web Key Set.
    pub url: Option<&'a str>,
}

/// The card with signatures of ours. Signatures it had are gone: they would be over another card.
/// `sign` is given what is to be signed; `None` from it, or a card that is none, leaves the card as it is.
pub fn signed(card: &Json, key: Key<'_>, mut sign: impl FnMut(&[u8]) -> Option<Vec<u8>>) -> Option<Json> {
    let protected = Object::json(|header| {
        header.text("alg", key.algorithm);
        header.text("typ", "JOSE");
        header.text("kid", key.id);
        if let Some(url) = key.url {
            header.text("jku", url);
        }
    });
    let protected = URL_SAFE_NO_PAD.encode(protected.as_bytes());
    let mut signatures = Vec::new();
    for payload in payloads(card).ok()? {
        signatures.push(URL_SAFE_NO_PAD.encode(sign(&input(&protected, &payload))?));
    }
    let card = without(card)?;
    Some(Object::json(|object| {
        object.splice(&card);
        object.array(SIGNATURES, &signatures, |signature, out| {
            let mut object = Object::open(out);
            object.text("protected", &protected);
            object.text("signature", signature);
            object.finish();
        });
    }))
}

fn input(protected: &str, payload: &[u8]) -> Vec<u8> {
    format!("{protected}.{}", URL_SAFE_NO_PAD.encode(payload)).into_bytes()
}

/// The card without its signatures.
fn without(card: &Json) -> Option<Json> {
    let mut out = Vec::with_capacity(card.as_bytes().len());
    let mut object = Object::open(&mut out);
    Reader::of(card)
        .object::<BadJson>(|key, reader| {
            let span = reader.skip()?;
            if key != SIGNATURES {
                object.value(&key, &Json::slice(card.as_bytes(), span));
            }
            Ok(())
        })
        .ok()?;
    object.finish();
    Some(Json::written(out))
}

/// What is signed of a card: the specification's form, and that of the official SDK where it is another.
fn payloads(card: &Json) -> Result<Vec<Vec<u8>>, Invalid> {
    let view = proto::card_view(card)?;
    let (whole, pruned) = (jcs::canonical(&view)?, jcs::canonical(&proto::pruned(&view)?)?);
    Ok(if whole == pruned { vec![whole] } else { vec![whole, pruned] })
}

/// One signature of a card, before it is believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    pub algorithm: Text,
    pub id: Option<Text>,
    /// Where its signer says the key is. Nobody should look there who does not know the place.
    pub url: Option<Text>,
    protected: Text,
    bytes: Vec<u8>,
}

/// The signatures of a card that can be read; others are as good as none.
pub fn signatures(card: &Json) -> Vec<Signature> {
    let all = card.get(SIGNATURES).and_then(serde_json::Value::as_array).map(Vec::as_slice).unwrap_or_default();
    all.iter().take(MOST).filter_map(signature).collect()
}

fn signature(value: &serde_json::Value) -> Option<Signature> {
    let protected = value.get("protected")?.as_str()?;
    let header = Json::parse(json::base64(protected).ok()?).ok()?;
    let text = |name: &str| header.get(name).and_then(serde_json::Value::as_str).map(Text::from);
    // What must be understood and is not known makes a signature unreadable (RFC 7515, section 4.1.11).
    if header.get("crit").is_some() {
        return None;
    }
    Some(Signature {
        algorithm: text("alg")?,
        id: text("kid"),
        url: text("jku"),
        protected: protected.into(),
        bytes: json::base64(value.get("signature")?.as_str()?).ok()?.to_vec(),
    })
}

/// All that a signature of a card may be over.
#[derive(Debug, Clone)]
pub struct Forms(Vec<Vec<u8>>);

impl Forms {
    /// The card just as it came is one of them.
    pub fn of(card: &Json) -> Forms {
        let mut forms = payloads(card).unwrap_or_default();
        forms.extend(without(card).and_then(|card| jcs::canonical(&card).ok()));
        forms.dedup();
        Forms(forms)
    }
}

impl Signature {
    /// Is this a signature of the card of these forms? `verify` is asked with what was signed and the signature, for each form.
    pub fn holds(&self, forms: &Forms, mut verify: impl FnMut(&[u8], &[u8]) -> bool) -> bool {
        forms.0.iter().any(|payload| verify(&input(&self.protected, payload), &self.bytes))
    }
}
