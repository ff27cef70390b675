//! What a program that embeds the hub adds to the connections of devices and orchestrators: middleware that sees every frame,
//! observers of frames by their kind, and kinds of its own.

use interlingua_core::Json;
use interlingua_protocols::aip::custom::Custom;
use interlingua_protocols::aip::layers::{Chain, Handlers};
use interlingua_protocols::aip::link::Identity;
use interlingua_protocols::aip::wire::{ClientMessage, ServerMessage};

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
