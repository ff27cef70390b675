//! Invariants of the model file reader for any bytes: no panic, no memory beyond what the file itself justifies, and an accepted model can
//! be used.

use std::sync::Arc;

use interlingua_local::{Model, Speaker, Turn};

/// Larger ones teach nothing and cost the fuzzer its speed.
const MOST: usize = 1 << 20;

pub(crate) fn file(data: &[u8]) {
    if data.len() > MOST {
        return;
    }
    let Ok(model) = Model::read(Arc::from(data)) else { return };
    let mut heard = String::new();
    let said = model.answer(&[Turn { by: Speaker::User, text: "ab" }], 2, |piece| {
        heard.push_str(piece);
        true
    });
    assert!(said.written <= 2, "no more than was asked for");
}
