//! Entry points of the fuzz targets into decoders that are private to this crate. Nothing else calls them.

use crate::uploads::multipart::{self, Multipart};

/// The boundary that a content type names.
pub fn boundary(content_type: &str) -> Option<String> {
    multipart::boundary(content_type)
}

/// The file in a form whose body comes in these pieces, or `None`.
pub fn form_file(boundary: &str, pieces: &[&[u8]]) -> Option<Vec<u8>> {
    let (mut form, mut file) = (Multipart::new(boundary), Vec::new());
    for piece in pieces {
        file.extend(form.take(piece).ok()?);
    }
    form.end().ok().map(|()| file)
}
