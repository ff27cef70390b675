//! Extensions of a program that embeds the hub, for the connections of devices and orchestrators: middleware that sees every frame,
//! observers of frames by type, and message types of its own.

use crate::custom::Custom;
use crate::layers::{Chain, Handlers};
use crate::link::Identity;
use crate::wire::{ClientMessage, ServerMessage};
use interlingua_model::Json;

/// For every connection that is opened from then on.
#[derive(Debug, Default)]
pub struct Extensions {
    /// A frame that it stops is not sent; one that it stops on the way in is answered with an error.
    pub middleware: Chain<ServerMessage, ClientMessage>,
    /// Told of frames of the protocol's own kinds, after the middleware.
    pub observers: Handlers<ClientMessage>,
    /// What they return is the `result` of the answer, a frame of the same kind.
    pub kinds: Handlers<Foreign, Option<Json>>,
}

/// A frame of a kind that the protocol does not have, and who sent it.
#[derive(Debug, Clone)]
pub struct Foreign {
    pub from: Identity,
    pub frame: Custom,
}
