//! Entry points of the fuzz targets into decoders that are private to this crate. Nothing else calls them.

use interlingua_model::Json;

use crate::memory::Kept;
use crate::plans::change;

/// Is this a change of a plan?
pub fn plan_change(args: &Json) -> bool {
    change::read(Some(args)).is_ok()
}

/// Is this what is stored of a conversation?
pub fn memory(bytes: &[u8]) -> bool {
    Kept::read(bytes).is_ok()
}
