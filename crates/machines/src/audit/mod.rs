//! Tamper-evident audit log (hash chain). Each page holds the digest of the previous page, and at intervals a page is a checkpoint, signed
//! over everything before it.
//!
//! The digest of a page covers the digests of its lines, and the digest of a line covers its text and random bytes. The text of a line can
//! therefore be redacted (right to erasure) while the chain still verifies, and the redacted text cannot be guessed from what is left.
//! [`Verifier`] detects a line that was changed, added, moved or dropped. An attacker who holds the store and the key can write another
//! chain; a checkpoint stored elsewhere ([`Verifier::expect`]) detects that too.
//!
//! A key is changed within the chain: the old key signs a last checkpoint that names its successor, and nothing after it.
//!
//! Deliberately absent: keys, the storage of pages, and the content of a line except for arguments of calls ([`arguments`]).

pub mod arguments;
mod draft;
#[cfg(test)]
mod tests;
mod verify;

use serde::{Deserialize, Serialize};

pub use draft::PageDraft;
pub use verify::{Broken, Verified, Verifier};

use interlingua_model::digest::Digest;
use interlingua_model::id::{Text, Time};
use interlingua_model::json::Json;

/// Whether the key with this public half signed this, with this signature.
pub type Verify<'a> = dyn Fn(&[u8], &[u8], &[u8]) -> bool + 'a;

/// What the first page ever goes on from.
pub const BEGINNING: Digest = Digest([0; 32]);

/// Lines that were written together, or a checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// The digest of the page before.
    pub before: Digest,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<PageLine>,
    /// That all pages up to the one before were as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed: Option<Checkpoint>,
    /// Of this page: it says which one was changed.
    pub digest: Digest,
}

/// One line, or what is left of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageLine {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kept: Option<Kept>,
    /// The digest of what was taken out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gone: Option<Digest>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    /// 128 random bits, in hexadecimal.
    salt: Text,
    said: Json,
}

/// That the pages up to this one were so, by the word of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// The number of the last page it speaks for.
    pub record: u64,
    /// That page's digest.
    pub head: Digest,
    pub at: Time,
    /// Which key: the digest of its public half.
    pub key: Text,
    /// The public half, in hexadecimal, of the key that signs from here on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Text>,
    /// In hexadecimal.
    pub signature: Text,
}

impl PageLine {
    pub fn new(said: Json, salt: u128) -> PageLine {
        PageLine { kept: Some(Kept { salt: format!("{salt:032x}").into(), said }), gone: None }
    }

    /// What it says; `None` once that was taken out.
    pub fn said(&self) -> Option<&Json> {
        self.kept.as_ref().map(|kept| &kept.said)
    }

    /// Takes out what it says. What it was is still part of the chain.
    pub fn forget(&mut self) {
        self.gone = self.digest();
        self.kept = None;
    }

    /// `None`: it is neither a line nor what is left of one.
    fn digest(&self) -> Option<Digest> {
        match (&self.kept, self.gone) {
            (Some(kept), None) => Some(Digest::of_fields([kept.salt.as_bytes(), kept.said.as_bytes()])),
            (None, Some(gone)) => Some(gone),
            (Some(_), Some(_)) | (None, None) => None,
        }
    }
}

impl Page {
    pub fn of_lines(before: Digest, lines: Vec<PageLine>) -> Page {
        Page::sealed(before, lines, None)
    }

    /// The page that follows the last one a checkpoint speaks for.
    pub fn of_checkpoint(checkpoint: Checkpoint) -> Page {
        Page::sealed(checkpoint.head, Vec::new(), Some(checkpoint))
    }

    fn sealed(before: Digest, lines: Vec<PageLine>, signed: Option<Checkpoint>) -> Page {
        let mut page = Page { before, lines, signed, digest: BEGINNING };
        page.digest = page.computed().unwrap_or(BEGINNING);
        page
    }

    /// The digest that belongs to what the page holds; `None` when it holds what is no line.
    fn computed(&self) -> Option<Digest> {
        let signed = match &self.signed {
            Some(signed) => [&signed.statement(), signed.key.as_bytes(), signed.signature.as_bytes()].concat(),
            None => Vec::new(),
        };
        let lines: Vec<Digest> = self.lines.iter().map(PageLine::digest).collect::<Option<_>>()?;
        let lines = lines.iter().map(|digest| digest.0.as_slice());
        Some(Digest::of_fields([self.before.0.as_slice(), &signed].into_iter().chain(lines)))
    }
}

impl Checkpoint {
    /// What is signed.
    pub fn statement_of(record: u64, head: Digest, at: Time, next: Option<&str>) -> Vec<u8> {
        let next = next.map(|next| format!("next {next}\n")).unwrap_or_default();
        format!("interlingua audit checkpoint\n{record}\n{head}\n{}\n{next}", at.0).into_bytes()
    }

    fn statement(&self) -> Vec<u8> {
        Checkpoint::statement_of(self.record, self.head, self.at, self.next.as_deref())
    }

    /// Whether the key with this public half signed it.
    pub fn is_good(&self, public: &[u8], verify: &Verify<'_>) -> bool {
        hex::decode(&*self.signature).is_ok_and(|signature| verify(public, &self.statement(), &signature))
    }

    /// The name of the key that signs what follows; `None` when its successor has no public half.
    pub fn signs_next(&self) -> Option<Text> {
        match &self.next {
            None => Some(self.key.clone()),
            Some(next) => hex::decode(&**next).ok().map(|public| key_name(&public)),
        }
    }
}

/// What a key is called: the digest of its public half.
pub fn key_name(public: &[u8]) -> Text {
    Digest::of(public).to_string().into()
}
