//! Out-of-band upload of large content (clause 6.4): a control message asks for an address, the content is uploaded there, and a message
//! refers to it by this address. This module has the messages, for both sides; the endpoint moves the bytes.

use interlingua_model::Uri;
use interlingua_model::address::Written;

use super::encode::{self, ReplyTo};
use super::wire::{CONTROL, Content, Format, Message, Submessage};

/// Where the hub takes uploads.
pub const PATH: &str = "/nlip/uploads/";

/// As a client: the question.
pub fn ask(tokens: impl Iterator<Item = Submessage>) -> Message {
    let mut message = Message::text("Where can I upload large content?").typed(CONTROL);
    message.submessages.extend(tokens);
    message
}

/// As a client: the address in the reply. An agent that answers otherwise does not take uploads.
pub fn address(reply: &Message) -> Option<Uri> {
    if !reply.is_control() {
        return None;
    }
    reply.all().find(|submessage| submessage.is(Format::Structured, "uri")).and_then(|submessage| {
        match &submessage.content {
            Content::Text(uri) => Some(uri.clone()),
            Content::Bytes(_) | Content::Json(_) => None,
        }
    })
}

/// As a server: the answer to [`super::Own::Upload`].
pub fn offer(uri: &str, tokens: &[Submessage], to: ReplyTo) -> Message {
    encode::with_parts("Upload here.", vec![Submessage::uri(uri)], tokens, ReplyTo { control: true, ..to })
}

/// As a server: which upload an address refers to. Only the path counts; whether the upload is the caller's is for the
/// edge to check.
pub fn referred(uri: &str) -> Option<&str> {
    let path = Written::of(uri).map_or(uri, |written| written.rest);
    let id = path.strip_prefix(PATH)?;
    (!id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'))
        .then_some(id)
}
