//! A message in CBOR (RFC 8949): the WebSocket binding, one message for each binary frame (ECMA-432 clause 7.1).
//!
//! Byte strings stay slices of the frame. Lengths are compared with the rest of the frame before anything is read or allocated; tags,
//! trailing bytes, keys that are not text and keys that occur twice are refused. Content other than bytes is held as JSON. JSON has no byte
//! strings: one that is nested in an array or map is held, and sent to peers that speak JSON, as an object with the one member [`BYTES`] in
//! base64, which is a byte string again in CBOR.

mod decode;
mod encode;
mod items;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use interlingua_model::json::{BadJson, Kind, Reader, write_string};

pub use decode::decode;
pub use encode::encode;

/// The one member of an object that stands for a byte string.
pub const BYTES: &str = "interlingua-bytes";

/// A byte string in JSON.
fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'{');
    write_string(BYTES, out);
    out.push(b':');
    write_string(&STANDARD.encode(bytes), out);
    out.push(b'}');
}

/// The byte string that the next value stands for. The reader is then behind it, and where it was otherwise.
fn read_bytes(reader: &mut Reader<'_>) -> Option<Vec<u8>> {
    let mut ahead = reader.clone();
    let mut bytes = None;
    let alone = ahead.object(|key, reader| {
        if key != BYTES || reader.kind()? != Kind::String {
            return Err(Other);
        }
        bytes = Some(STANDARD.decode(reader.string()?.as_bytes()).map_err(|_| Other)?);
        Ok(())
    });
    let bytes = alone.ok().and(bytes)?;
    *reader = ahead;
    Some(bytes)
}

/// An object that is no byte string.
struct Other;

impl From<BadJson> for Other {
    fn from(_: BadJson) -> Other {
        Other
    }
}
