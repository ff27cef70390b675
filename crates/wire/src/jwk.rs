//! JSON Web Keys and key sets (RFC 7517, 7518, 8037): ECDSA over P-256, Ed25519 and RSA.
//!
//! Deliberately absent: any signature, and keys of kinds that nothing here can verify.

use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, URL_SAFE_NO_PAD};
use interlingua_model::{Digest, Json, Text};

use crate::object::Object;

/// More keys of one set are not looked at.
const MOST: usize = 256;

/// Either alphabet, padded or not: keys are copied by people.
fn decoded(text: &str) -> Option<Vec<u8>> {
    const LENIENT: GeneralPurposeConfig =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let alphabet = if text.contains(['-', '_']) { &URL_SAFE } else { &STANDARD };
    GeneralPurpose::new(alphabet, LENIENT).decode(text).ok()
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
    Some(keys.iter().take(MOST).filter_map(web_key).collect())
}

/// A set, or one key alone.
pub fn keys(json: &Json) -> Vec<WebKey> {
    key_set(json).unwrap_or_else(|| web_key(json.tree()).into_iter().collect())
}

fn web_key(value: &serde_json::Value) -> Option<WebKey> {
    let text = |name: &str| value.get(name).and_then(serde_json::Value::as_str);
    let bytes = |name: &str| decoded(text(name)?);
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
