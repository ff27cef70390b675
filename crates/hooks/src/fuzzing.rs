//! Entry points of the fuzz targets into decoders that are private to this crate. Nothing else calls them.

use bytes::Bytes;
use interlingua_hub::hooks::{Verdict, When};

use crate::message;

/// Does a hook's answer decide something, and what?
pub fn verdict(answer: &[u8], when: When) -> Option<Verdict> {
    message::decode(Bytes::copy_from_slice(answer), when).ok()
}
