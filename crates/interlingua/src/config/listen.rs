//! The address that the hub listens on.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};

/// An address and port, such as `127.0.0.1:7447`. A port alone means loopback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listen(pub SocketAddr);

impl Default for Listen {
    fn default() -> Self {
        Listen(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 7447))
    }
}

impl Listen {
    /// Whichever port is free, on loopback.
    pub fn any_port() -> Listen {
        Listen(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0))
    }
}

impl std::str::FromStr for Listen {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Listen, Self::Err> {
        let text = text.trim();
        let address = text.strip_prefix("localhost:").unwrap_or(text).trim_start_matches(':');
        if let Ok(port) = address.parse::<u16>() {
            return Ok(Listen(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)));
        }
        address.parse().map(Listen).map_err(|_| "expected an address and a port, such as `127.0.0.1:7447`")
    }
}

impl std::fmt::Display for Listen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for Listen {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        Cow::<'_, str>::deserialize(d)?.parse().map_err(serde::de::Error::custom)
    }
}

impl serde::Serialize for Listen {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl JsonSchema for Listen {
    fn schema_name() -> Cow<'static, str> {
        "Listen".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "integer"] })
    }
}
