//! Secrets: bytes that must not be shown. A secret cannot be printed and refuses to be serialized to the journal: records hold a
//! [`SecretRef`], and the value is an encrypted record with an expiry. Its memory is wiped on drop.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zeroize::Zeroizing;

/// A secret value, or where it is stored.
#[derive(Clone)]
pub enum Secret {
    /// The bytes. They are wiped when they are dropped.
    Value(Zeroizing<Box<[u8]>>),
    /// The record that holds them, encrypted.
    Ref(SecretRef),
}

/// The name of an encrypted record, made of random bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SecretRef(pub u128);

impl Secret {
    /// A secret of these bytes.
    pub fn new(value: impl AsRef<[u8]>) -> Secret {
        Secret::Value(Zeroizing::new(value.as_ref().into()))
    }

    /// The bytes, when they are at hand.
    pub fn value(&self) -> Option<&[u8]> {
        match self {
            Secret::Value(bytes) => Some(bytes),
            Secret::Ref(_) => None,
        }
    }

    /// The same as text, where it is UTF-8.
    pub fn text(&self) -> Option<&str> {
        self.value().and_then(|bytes| std::str::from_utf8(bytes).ok())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Secret::Value(_) => f.write_str("Secret(…)"),
            Secret::Ref(reference) => write!(f, "Secret({:032x})", reference.0),
        }
    }
}

/// Two secrets are equal when they are the same record, or hold the same bytes (compared in constant time).
impl PartialEq for Secret {
    fn eq(&self, other: &Secret) -> bool {
        match (self, other) {
            (Secret::Value(a), Secret::Value(b)) => aws_lc_rs::constant_time::verify_slices_are_equal(a, b).is_ok(),
            (Secret::Ref(a), Secret::Ref(b)) => a == b,
            (Secret::Value(_), Secret::Ref(_)) | (Secret::Ref(_), Secret::Value(_)) => false,
        }
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Secret::Value(_) => Err(serde::ser::Error::custom("a secret's value is never written to the journal")),
            Secret::Ref(reference) => s.collect_str(&format_args!("{:032x}", reference.0)),
        }
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        u128::from_str_radix(&text, 16).map(|id| Secret::Ref(SecretRef(id))).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use zeroize::{Zeroize, ZeroizeOnDrop};

    use super::*;

    /// Only what wipes itself when it goes is taken here.
    fn wipes_itself<T: ZeroizeOnDrop>(value: T) -> T {
        value
    }

    #[test]
    fn what_a_secret_holds_is_wiped_and_never_told() {
        let secret = Secret::new("hunter2");
        assert_eq!((secret.text(), format!("{secret:?}").as_str()), (Some("hunter2"), "Secret(…)"));
        assert!(serde_json::to_string(&secret).is_err());
        let Secret::Value(bytes) = secret else { panic!("it was given a value") };
        let mut bytes = wipes_itself(bytes);
        bytes.zeroize();
        assert_eq!(bytes[..], [0; 7]);
    }
}
