//! Entry points of the fuzz targets into decoders that are private to this crate. Nothing else calls them.

use interlingua_model::{Json, Schema};

use crate::validate::Schemas;

/// Does this value fit this schema? Compiles it first.
pub fn fits(schema: &Json, value: &Json) -> bool {
    let schema = Schema(schema.clone());
    Schemas::default().check(schema.0.digest(), &schema, value).is_ok()
}

/// Reads the stored minute of all devices, and writes what was read.
pub fn device_minute(bytes: &[u8]) {
    crate::devices::check_record(bytes);
}
