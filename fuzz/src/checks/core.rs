//! Invariants of the JSON scanner for any bytes.

use bytes::Bytes;
use interlingua_model::Json;
use interlingua_model::json::Count;

/// What it takes, another parser takes; the value survives its own spelling.
pub(crate) fn json(data: &[u8]) {
    let count = Count::of(data);
    let mut pieces = Count::default();
    data.chunks(3).for_each(|piece| pieces.feed(piece));
    assert_eq!(pieces.tree_bytes(), count.tree_bytes(), "counted otherwise in pieces");
    let Ok(json) = Json::parse(Bytes::copy_from_slice(data)) else { return };
    let read: Result<&serde_json::value::RawValue, _> = serde_json::from_slice(json.as_bytes());
    assert!(read.is_ok(), "another parser refuses it");
    let again = Json::from_tree(json.tree().clone());
    assert_eq!(again.tree(), json.tree());
    assert_eq!(Json::parse(json.as_bytes().clone()).map(|same| same.digest()), Ok(json.digest()));
}
