//! The codec against the specification, requirement by requirement. What needs a running hub is tested over the wire.

mod events;
mod faults;
mod grpc;
mod messages;
mod proto;
mod requests;
mod signatures;

use bytes::Bytes;
use serde_json::Value;

use super::json::Dialect;
use super::json::read::Source;

fn bytes(json: &Value) -> Bytes {
    json.to_string().into()
}

fn parsed(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).expect("JSON")
}

fn source(frame: &Bytes, dialect: Dialect) -> Source<'_> {
    Source { frame, dialect, depth: 64 }
}
