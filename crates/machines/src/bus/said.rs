//! Metadata of the message between agents that caused a call: fields that a call does not have and that an inbox or a wire may want to send
//! on. It is trusted only on calls that such a message caused.

use super::{Kind, Message};
use interlingua_model::content::Meta;
use interlingua_model::json::{Json, Tree, object};
use interlingua_model::origin::Origin;
use interlingua_model::{Body, Call, Input, Part, Provenance, Wire};

/// What such a call came in by.
pub const WIRE: &str = "bus";
/// Where its metadata says so.
const KEY: &str = "message";

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Said<'c> {
    pub id: &'c str,
    pub kind: Kind,
    /// The agent that speaks; whether it may was looked at when the message came.
    pub from: &'c str,
    pub metadata: Option<&'c Tree>,
}

impl<'c> Said<'c> {
    pub fn of(call: &'c Call) -> Option<Said<'c>> {
        call.origin.wire().filter(|wire| wire.protocol() == WIRE)?;
        let said = call.meta.0.as_ref()?.get(KEY)?;
        let text = |key: &str| said.get(key).and_then(Tree::as_str);
        let metadata = said.get("metadata").filter(|metadata| !metadata.is_null());
        Some(Said { id: text("id")?, kind: Kind::parse(text("kind")?)?, from: text("from")?, metadata })
    }
}

/// What the call of such a message came from: it is a message, and came in by `wire`.
pub fn origin(wire: Wire) -> Origin {
    let mut origin = Origin::from(Wire(WIRE.into()));
    origin.goes_by(wire);
    origin
}

/// The text of a content that is only text; else the content itself, as data.
pub fn input(content: &Json) -> Input {
    match content.get("text").and_then(Tree::as_str) {
        Some(text) => Input::text(text),
        None => Input::parts(vec![Part::new(Body::Data(content.clone()), Provenance::caller())]),
    }
}

/// Makes it the call of this message.
pub fn mark(call: &mut Call, message: &Message) {
    let metadata = message.meta.0.as_ref().map_or(Tree::Null, |metadata| metadata.tree().clone());
    let said = object([
        ("id", message.id.as_str().into()),
        ("kind", message.kind.as_str().into()),
        ("from", message.from.as_str().into()),
        ("metadata", metadata),
    ]);
    call.meta = Meta(Some(object([(KEY, said)]).into()));
}
