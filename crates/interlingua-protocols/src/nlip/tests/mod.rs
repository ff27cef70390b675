//! What the standard asks of a codec, requirement by requirement; the same ids are tested over real sockets elsewhere.

mod frames;
mod messages;
mod roundtrip;

use bytes::Bytes;

use super::*;

pub(super) fn read(text: &str) -> Result<Message, Invalid> {
    json::decode(&Bytes::copy_from_slice(text.as_bytes()), &Limits::default())
}

pub(super) fn message(text: &str) -> Message {
    read(text).expect("a message")
}

/// Where and why a text is refused.
pub(super) fn refusal(text: &str) -> (String, Problem) {
    let invalid = read(text).expect_err("must be refused");
    (invalid.path, invalid.problem)
}

pub(super) fn written(message: &Message) -> String {
    String::from_utf8(json::encode(message, Keys::Lower)).expect("JSON is UTF-8")
}
