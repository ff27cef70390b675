//! JWT validation (RFC 7519; access tokens of RFC 9068): reads a token that an issuer signed, and checks its claims.
//!
//! The order matters: a token is read, its signature is verified by the holder of the keys, and only then does [`Jwt::claims`] check that
//! it is meant for this hub, now, from that issuer. Algorithms are those of public keys; `none` and shared secrets are never accepted,
//! whatever a header says, because the key decides which algorithm it is.
//!
//! Deliberately absent: encrypted tokens, nested tokens, keys that a token carries or links to.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use interlingua_model::{Text, Time};

use super::{document, texts};
use crate::jwk::{Material, WebKey};
use crate::members::Members;

/// A longer token is nobody's.
const LONGEST: usize = 16_384;
/// Longer names are refused: they become part of what the hub keeps.
const LONGEST_NAME: usize = 256;

/// A token that can be read. It proves nothing yet.
#[derive(Debug, Clone)]
pub struct Jwt {
    algorithm: Text,
    key: Option<Text>,
    /// Of the text: what is signed.
    signed: usize,
    signature: Vec<u8>,
    claims: Members,
}

/// What is expected of a token.
#[derive(Debug, Clone, Copy)]
pub struct Expected<'a> {
    pub issuer: &'a str,
    /// One of these must be meant.
    pub audiences: &'a [String],
    pub now: Time,
    /// How far clocks may differ, in milliseconds.
    pub skew: u64,
}

/// What a token says that is believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claims {
    pub subject: String,
    pub scopes: Vec<String>,
    pub until: Time,
    /// The members of the claim that was asked for, such as roles.
    pub listed: Vec<String>,
}

/// Why a token is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    #[error("it was made by another issuer")]
    Issuer,
    #[error("it is meant for somebody else")]
    Audience,
    #[error("it has expired, or does not say when it will")]
    Expired,
    #[error("it is not valid yet")]
    Early,
    #[error("it names nobody")]
    Subject,
}

impl Jwt {
    /// `None`: this is no token of this kind.
    pub fn decode(text: &str) -> Option<Jwt> {
        if text.len() > LONGEST {
            return None;
        }
        let mut pieces = text.split('.');
        let (header, payload, signature) = (pieces.next()?, pieces.next()?, pieces.next()?);
        if pieces.next().is_some() {
            return None;
        }
        let bytes = |piece: &str| URL_SAFE_NO_PAD.decode(piece).ok();
        let header = document(&Bytes::from(bytes(header)?)).ok()?;
        // What must be understood and is not known makes it unreadable (RFC 7515, section 4.1.11).
        if header.has("crit") {
            return None;
        }
        Some(Jwt {
            algorithm: header.text("alg")?.as_ref().into(),
            key: header.text("kid").map(|id| id.as_ref().into()),
            signed: text.len() - signature.len() - 1,
            signature: bytes(signature)?,
            claims: document(&Bytes::from(bytes(payload)?)).ok()?,
        })
    }

    /// Whose it says it is, to look for keys.
    pub fn issuer(&self) -> Option<String> {
        self.claims.text("iss").map(std::borrow::Cow::into_owned)
    }

    /// Was it signed with one of these keys? `text` is what it was read from; `verify` is given a key, what was signed and the
    /// signature. A key counts when it has the name the token gives, or one of them has none, and its own algorithm.
    pub fn is_signed(&self, text: &str, keys: &[WebKey], verify: impl Fn(&Material, &[u8], &[u8]) -> bool) -> bool {
        let signed = text.as_bytes().get(..self.signed).unwrap_or_default();
        self.meant(keys).any(|key| verify(&key.material, signed, &self.signature))
    }

    /// Is there a key it could have been signed with?
    pub fn is_of(&self, keys: &[WebKey]) -> bool {
        self.meant(keys).next().is_some()
    }

    fn meant<'a>(&'a self, keys: &'a [WebKey]) -> impl Iterator<Item = &'a WebKey> {
        let named = |key: &WebKey| key.id.is_none() || self.key.is_none() || key.id == self.key;
        keys.iter().filter(move |key| named(key) && key.material.algorithm() == &*self.algorithm)
    }

    /// What it says, when it is meant for this hub and counts now. Ask only once its signature was verified.
    pub fn claims(&self, expected: &Expected<'_>, list: Option<&str>) -> Result<Claims, Unfit> {
        let text = |key: &str| self.claims.text(key).map(std::borrow::Cow::into_owned);
        if text("iss").as_deref() != Some(expected.issuer) {
            return Err(Unfit::Issuer);
        }
        let meant = texts(&self.claims, "aud").or_else(|| text("aud").map(|one| vec![one])).unwrap_or_default();
        if !meant.iter().any(|audience| expected.audiences.contains(audience)) {
            return Err(Unfit::Audience);
        }
        let until = self.time("exp").ok_or(Unfit::Expired)?;
        if expected.now.0 >= until.0.saturating_add(expected.skew) {
            return Err(Unfit::Expired);
        }
        let early =
            |key: &str| self.time(key).is_some_and(|from| from.0 > expected.now.0.saturating_add(expected.skew));
        if early("nbf") || early("iat") {
            return Err(Unfit::Early);
        }
        let subject = text("sub").filter(|name| is_name(name)).ok_or(Unfit::Subject)?;
        let spaced = |text: String| text.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let scopes = text("scope").map(spaced).or_else(|| texts(&self.claims, "scp")).unwrap_or_default();
        let listed = list.and_then(|claim| texts(&self.claims, claim).or_else(|| text(claim).map(|one| vec![one])));
        let until = Time(until.0.saturating_add(expected.skew));
        Ok(Claims { subject, scopes, until, listed: listed.unwrap_or_default() })
    }

    /// Seconds since 1970. A fraction of a second does not matter.
    fn time(&self, key: &str) -> Option<Time> {
        let written = self.claims.get(key)?;
        let (seconds, _) = written.as_str().split_once('.').unwrap_or((written.as_str(), ""));
        seconds.parse::<u64>().ok()?.checked_mul(1_000).map(Time)
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= LONGEST_NAME && !text.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const NOW: Time = Time(2_000_000_000_000);

    fn token(header: &Value, claims: &Value) -> String {
        let piece = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        format!("{}.{}.{}", piece(header), piece(claims), URL_SAFE_NO_PAD.encode(b"signature"))
    }

    fn claims(change: &Value) -> Value {
        let mut claims = json!({"iss": "https://login.example", "aud": "hub", "sub": "ann", "exp": 2_000_000_600_u64});
        for (name, value) in change.as_object().expect("an object") {
            claims[name] = value.clone();
        }
        claims
    }

    fn judged(change: &Value) -> Result<Claims, Unfit> {
        let jwt = Jwt::decode(&token(&json!({"alg": "ES256"}), &claims(change))).expect("a token");
        let audiences = ["hub".to_owned(), "https://hub.example".to_owned()];
        let expected = Expected { issuer: "https://login.example", audiences: &audiences, now: NOW, skew: 60_000 };
        jwt.claims(&expected, Some("groups"))
    }

    #[test]
    fn m_38_a_token_counts_for_its_audience_its_issuer_and_its_time() {
        for (change, expected) in [
            (json!({}), None),
            (json!({"aud": ["other", "https://hub.example"]}), None),
            (json!({"aud": "other"}), Some(Unfit::Audience)),
            (json!({"aud": null}), Some(Unfit::Audience)),
            (json!({"aud": ["hub2"]}), Some(Unfit::Audience)),
            (json!({"iss": "https://login.example/"}), Some(Unfit::Issuer)),
            (json!({"iss": null}), Some(Unfit::Issuer)),
            (json!({"exp": 1_999_999_950}), None),
            (json!({"exp": 1_999_999_940}), Some(Unfit::Expired)),
            (json!({"exp": null}), Some(Unfit::Expired)),
            (json!({"exp": "2100"}), Some(Unfit::Expired)),
            (json!({"exp": -5}), Some(Unfit::Expired)),
            (json!({"exp": 1e300}), Some(Unfit::Expired)),
            (json!({"exp": 2_000_000_600.5}), None),
            (json!({"nbf": 2_000_000_061}), Some(Unfit::Early)),
            (json!({"nbf": 2_000_000_059}), None),
            (json!({"iat": 2_000_000_061}), Some(Unfit::Early)),
            (json!({"sub": ""}), Some(Unfit::Subject)),
            (json!({"sub": "a\nb"}), Some(Unfit::Subject)),
            (json!({"sub": 7}), Some(Unfit::Subject)),
        ] {
            assert_eq!(judged(&change).err(), expected, "{change}");
        }
    }

    #[test]
    fn scopes_and_roles_are_read_in_the_forms_in_use() {
        let said = |change| judged(&change).expect("a token");
        assert_eq!(said(json!({"scope": "a  b/c"})).scopes, ["a", "b/c"]);
        assert_eq!(said(json!({"scp": ["a", 7, "b"]})).scopes, ["a", "b"]);
        assert_eq!(said(json!({"groups": ["clerk"]})).listed, ["clerk"]);
        assert_eq!(said(json!({"groups": "clerk"})).listed, ["clerk"]);
        assert_eq!(said(json!({})).until, Time(2_000_000_660_000), "with the patience for clocks");
    }

    #[test]
    fn the_key_decides_the_algorithm() {
        let keys = |id: Option<&str>| {
            let material = Material::Rsa { n: vec![1], e: vec![3] };
            vec![WebKey { id: id.map(Text::from), material }]
        };
        for (header, id, expected) in [
            (json!({"alg": "RS256", "kid": "one"}), Some("one"), true),
            (json!({"alg": "RS256", "kid": "one"}), None, true),
            (json!({"alg": "RS256"}), Some("one"), true),
            (json!({"alg": "RS256", "kid": "two"}), Some("one"), false),
            (json!({"alg": "none", "kid": "one"}), Some("one"), false),
            (json!({"alg": "HS256", "kid": "one"}), Some("one"), false),
            (json!({"alg": "ES256", "kid": "one"}), Some("one"), false),
        ] {
            let text = token(&header, &claims(&json!({})));
            let jwt = Jwt::decode(&text).expect("a token");
            let signed = jwt.is_signed(&text, &keys(id), |_, signed, signature| {
                text.as_bytes().starts_with(signed) && signature == b"signature" && signed.len() + 1 < text.len()
            });
            assert_eq!((signed, jwt.is_of(&keys(id))), (expected, expected), "{header}");
        }
    }

    #[test]
    fn what_is_no_token_is_none() {
        let good = token(&json!({"alg": "ES256"}), &claims(&json!({})));
        assert!(Jwt::decode(&good).is_some());
        let crit = token(&json!({"alg": "ES256", "crit": ["exp"]}), &claims(&json!({})));
        let twice = format!("{}.e30.e30", URL_SAFE_NO_PAD.encode(r#"{"alg":"ES256","alg":"none"}"#));
        let long = "a".repeat(LONGEST + 1);
        for bad in ["", "a.b", "a.b.c", "ilg_0123", "....", &format!("{good}.e30"), &crit, &twice, &long, "bm8.bm8.bm8"]
        {
            assert!(Jwt::decode(bad).is_none(), "{bad}");
        }
    }
}
