//! Signatures of cards (section 8.4): JWS (RFC 7515) without its payload, over the canonical form of the card. What signs and
//! verifies is given; here is only what is signed.
//!
//! A signature is over what a reader of the proto sees. Two readings of that rule are in use where a card holds something
//! empty: the specification keeps what is required or set, the official Python SDK keeps nothing empty at all. So a card is
//! signed once for each of its forms, mostly once; one valid signature is enough for any reader.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use interlingua_core::json::{BadJson, Reader};
use interlingua_core::{Digest, Json, Text};

use super::invalid::Invalid;
use super::{json, proto};
use crate::jcs;
use crate::object::Object;

/// The name of the member.
const SIGNATURES: &str = "signatures";
/// More of them are not looked at.
const MOST: usize = 16;
/// Nor are more keys of one set.
const MOST_KEYS: usize = 256;

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
    let mut reader = Reader::new(card.as_bytes(), usize::MAX).ok()?;
    let mut out = Vec::with_capacity(card.as_bytes().len());
    let mut object = Object::open(&mut out);
    reader
        .object::<BadJson>(|key, reader| {
            let span = reader.skip()?;
            if key != SIGNATURES {
                object.value(&key, &Json::slice(card.as_bytes(), span));
            }
            Ok(())
        })
        .ok()?;
    object.finish();
    Json::parse_within(out.into(), usize::MAX).ok()
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

/// A public key as the web writes it (RFC 7517, 7518, 8037).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebKey {
    pub id: Option<Text>,
    pub material: Material,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Material {
    P256 { x: Vec<u8>, y: Vec<u8> },
    Ed25519 { x: Vec<u8> },
    Rsa { n: Vec<u8>, e: Vec<u8> },
}

/// The keys of a set that are of a kind known here; `None` when it is no set.
pub fn key_set(json: &Json) -> Option<Vec<WebKey>> {
    let keys = json.get("keys")?.as_array()?;
    Some(keys.iter().take(MOST_KEYS).filter_map(web_key).collect())
}

/// A set, or one key alone.
pub fn keys(json: &Json) -> Vec<WebKey> {
    key_set(json).unwrap_or_else(|| web_key(json.tree()).into_iter().collect())
}

fn web_key(value: &serde_json::Value) -> Option<WebKey> {
    let text = |name: &str| value.get(name).and_then(serde_json::Value::as_str);
    let bytes = |name: &str| json::base64(text(name)?).ok().map(|bytes| bytes.to_vec());
    let material = match (text("kty")?, text("crv")) {
        ("EC", Some("P-256")) => Material::P256 { x: bytes("x")?, y: bytes("y")? },
        ("OKP", Some("Ed25519")) => Material::Ed25519 { x: bytes("x")? },
        ("RSA", _) => Material::Rsa { n: bytes("n")?, e: bytes("e")? },
        _ => return None,
    };
    Some(WebKey { id: text("kid").map(Text::from), material })
}

impl Material {
    /// What is signed with it.
    pub fn algorithm(&self) -> &'static str {
        match self {
            Material::P256 { .. } => "ES256",
            Material::Ed25519 { .. } => "EdDSA",
            Material::Rsa { .. } => "RS256",
        }
    }

    /// Its required members, in the order of their names.
    fn members(&self) -> Vec<(&'static str, String)> {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        match self {
            Material::P256 { x, y } => {
                vec![("crv", "P-256".into()), ("kty", "EC".into()), ("x", text(x)), ("y", text(y))]
            }
            Material::Ed25519 { x } => vec![("crv", "Ed25519".into()), ("kty", "OKP".into()), ("x", text(x))],
            Material::Rsa { n, e } => vec![("e", text(e)), ("kty", "RSA".into()), ("n", text(n))],
        }
    }

    /// Its name: the thumbprint of RFC 7638.
    pub fn thumbprint(&self) -> String {
        let required = Object::json(|object| {
            for (name, value) in self.members() {
                object.text(name, &value);
            }
        });
        URL_SAFE_NO_PAD.encode(Digest::of(required.as_bytes()).0)
    }
}

/// A set of keys under their names, as `jku` names it.
pub fn write_key_set(keys: &[WebKey]) -> Json {
    Object::json(|set| {
        set.array("keys", keys, |key, out| {
            let mut object = Object::open(out);
            for (name, value) in key.material.members() {
                object.text(name, &value);
            }
            object.text("alg", key.material.algorithm());
            if let Some(id) = &key.id {
                object.text("kid", id);
            }
            object.text("use", "sig");
            object.finish();
        });
    })
}
