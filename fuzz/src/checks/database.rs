//! What must hold of what a database server sends, for any bytes: messages are counted alike wherever the stream is cut, and never
//! above the bound; a certificate is read or not, and nothing breaks.

use interlingua_store_postgres::fuzzing::{answer, binds};

const BOUND: u64 = 320 * 1024 * 1024;

/// Messages of the protocol, or a certificate.
pub(crate) fn messages(data: &[u8]) {
    let whole = answer(&[data]);
    let single: Vec<&[u8]> = data.chunks(1).collect();
    assert_eq!(whole, answer(&single));
    if let Some((&at, _)) = data.split_first() {
        let (one, other) = data.split_at(usize::from(at).min(data.len()));
        assert_eq!(whole, answer(&[one, other]));
    }
    assert!(whole.is_none_or(|counted| counted <= BOUND));
    binds(data);
}
