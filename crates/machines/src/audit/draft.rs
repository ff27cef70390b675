//! Page builder of the audit log. Each line is serialized once, directly into the page's journal record, and digested there. The output is
//! byte for byte the record of a [`super::Page`] with these lines.

use bytes::{Bytes, BytesMut};
use serde::Serialize;

use interlingua_model::digest::Digest;
use interlingua_model::journal::SCHEMA_VERSION;

/// The digits of a salt, and the length that stands before a field of a digest.
const SALT: usize = 32;
const LENGTH: usize = 8;
/// How a record begins, after the version of its schema.
const BEFORE: &[u8] = b"{\"before\":\"";
/// The digits of a digest, before they are filled in.
const ZEROS: [u8; 64] = [b'0'; 64];
/// How much of the memory of one page is kept for the next.
const SPARE: usize = 1 << 20;

/// The lines of the next page.
#[derive(Debug, Default)]
pub struct PageDraft {
    /// What was handed out of it is given back once the record is written, and used again.
    record: BytesMut,
    lines: Vec<Digest>,
    /// One line, as it is digested: its salt and what it says, each behind its length.
    line: Vec<u8>,
    /// The length of the last record.
    last: usize,
}

impl PageDraft {
    /// One line more, with 128 random bits.
    pub fn add(&mut self, said: &impl Serialize, salt: u128) -> Result<(), serde_json::Error> {
        self.line.clear();
        self.line.extend((SALT as u64).to_be_bytes());
        self.line.extend([b'0'; SALT]);
        spell(&salt.to_be_bytes(), &mut self.line[LENGTH..]);
        self.line.extend([0; LENGTH]);
        let start = self.line.len();
        serde_json::to_writer(&mut self.line, said)?;
        let length = (self.line.len() - start) as u64;
        self.line[start - LENGTH..start].copy_from_slice(&length.to_be_bytes());
        if self.lines.is_empty() {
            self.begin();
        } else {
            self.record.extend_from_slice(b",");
        }
        self.lines.push(Digest::of(&self.line));
        self.record.extend_from_slice(b"{\"kept\":{\"salt\":\"");
        self.record.extend_from_slice(&self.line[LENGTH..LENGTH + SALT]);
        self.record.extend_from_slice(b"\",\"said\":");
        self.record.extend_from_slice(&self.line[start..]);
        self.record.extend_from_slice(b"}}");
        Ok(())
    }

    pub fn len(&self) -> usize {
        self.lines.len()
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The record of the page that goes on from `before`, and that page's digest. The draft is empty afterwards.
    pub fn finish(&mut self, before: Digest) -> (Bytes, Digest) {
        if self.lines.is_empty() {
            self.begin();
        }
        let page = Digest::of_fields([&before.0[..], &[]].into_iter().chain(self.lines.iter().map(|line| &line.0[..])));
        self.record.extend_from_slice(b"],\"digest\":\"");
        let end = self.record.len();
        self.record.extend_from_slice(&ZEROS);
        spell(&page.0, &mut self.record[end..]);
        self.record.extend_from_slice(b"\"}");
        let begin = 1 + BEFORE.len();
        spell(&before.0, &mut self.record[begin..begin + ZEROS.len()]);
        self.lines.clear();
        self.last = self.record.len().min(SPARE);
        (self.record.split().freeze(), page)
    }

    /// The digest of the page before is filled in at the end.
    fn begin(&mut self) {
        self.record.reserve(self.last);
        self.record.extend_from_slice(&[SCHEMA_VERSION]);
        self.record.extend_from_slice(BEFORE);
        self.record.extend_from_slice(&ZEROS);
        self.record.extend_from_slice(b"\",\"lines\":[");
    }
}

/// `place` has room for exactly two digits for each byte.
fn spell(bytes: &[u8], place: &mut [u8]) {
    let spelled = hex::encode_to_slice(bytes, place);
    debug_assert!(spelled.is_ok(), "{spelled:?}");
}
