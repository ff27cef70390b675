//! Secrets in the configuration. A secret is created after `${NAME}` and `file:` have been substituted; it cannot be printed.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use zeroize::Zeroizing;

/// A credential. Write `${NAME}` or `file:PATH` rather than the value itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Secret(interlingua_model::Secret);

impl Secret {
    /// The credential, for the one place that sends or compares it.
    pub fn expose(&self) -> &interlingua_model::Secret {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = Cow::<'_, str>::deserialize(d)?;
        if text.is_empty() {
            return Err(serde::de::Error::custom("a secret is not empty"));
        }
        Ok(Secret(interlingua_model::Secret::new(text.as_bytes())))
    }
}

/// A key of 256 bits, in hexadecimal or base64 (`openssl rand -hex 32`). Write `${NAME}` or `file:PATH`.
#[derive(Clone, PartialEq)]
pub struct Key(Zeroizing<[u8; 32]>);

impl Key {
    /// The key, for the one place that encrypts with it.
    pub fn expose(&self) -> &[u8; 32] {
        &self.0
    }

    fn parse(text: &str) -> Option<Key> {
        let text = text.trim();
        let bytes =
            Zeroizing::new(if text.len() == 64 { hex::decode(text).ok()? } else { STANDARD.decode(text).ok()? });
        bytes.as_slice().try_into().ok().map(Zeroizing::new).map(Key)
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(…)")
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = Cow::<'_, str>::deserialize(d)?;
        Key::parse(&text)
            .ok_or_else(|| serde::de::Error::custom("expected a key of 32 bytes, in hexadecimal or base64"))
    }
}

macro_rules! text_schema {
    ($name:ident) => {
        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "format": "password" })
            }
        }
    };
}

text_schema!(Secret);
text_schema!(Key);

#[cfg(test)]
mod tests {
    use super::{Key, Secret};

    #[test]
    fn a_key_is_32_bytes_in_either_spelling() {
        let hex = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
        let base64 = "ABEiM0RVZneImaq7zN3u/wARIjNEVWZ3iJmqu8zd7v8=";
        assert_eq!(Key::parse(hex), Key::parse(base64));
        assert!(Key::parse(hex).is_some());
        for bad in ["", "short", &hex[2..], "zz112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"] {
            assert!(Key::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn secrets_are_not_printed() {
        let secret = Secret(interlingua_model::Secret::new("hunter2"));
        let key = Key(zeroize::Zeroizing::new([7; 32]));
        assert_eq!(format!("{secret:?} {key:?}"), "Secret(Secret(…)) Key(…)");
    }
}
