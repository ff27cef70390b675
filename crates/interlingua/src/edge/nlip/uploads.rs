//! Out-of-band transfer (ECMA-430 clause 6.4): where large content goes.

use interlingua_core::{Fault, FaultKind, Feature, Principal};
use interlingua_protocols::nlip::encode::{self, ReplyTo};
use interlingua_protocols::nlip::fault;
use interlingua_protocols::nlip::wire::Submessage;

use super::inbound::{Exchange, Reply};

/// An address for one upload.
pub(super) async fn offer(_: &Exchange<'_>, _: &Principal, to: ReplyTo, tokens: &[Submessage]) -> Reply {
    let fault = Fault::caller(FaultKind::Unsupported(Feature::Operation), "uploads are not offered");
    Reply { status: fault::status(&fault), message: encode::refused(&fault, tokens, to), fault: Some(fault) }
}
