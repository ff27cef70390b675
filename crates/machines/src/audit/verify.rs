//! Verification of the hash chain: reads the pages in order and names the first one that does not fit.

use super::{BEGINNING, Checkpoint, Page, Verify, key_name};
use interlingua_model::digest::Digest;
use interlingua_model::id::Text;

/// How many checkpoints may be expected, and how many keys are known and told.
const MOST: usize = 64;

/// Why a chain does not hold, and at which record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    #[error("record {0} was changed")]
    Changed(u64),
    #[error("record {0} does not go on from the one before it: something was changed, added or taken away there")]
    Chain(u64),
    #[error("record {0} is missing")]
    Missing(u64),
    #[error("record {0} cannot be read")]
    Unreadable(u64),
    #[error("the signature of record {0} is not good")]
    Signature(u64),
    #[error("record {0} is signed by a key that is not known, or that no key before it handed over to")]
    Key(u64),
    #[error("record {0} is not the one that a checkpoint speaks of")]
    Checkpoint(u64),
    #[error("a checkpoint speaks of record {expected}, and the last one is {last}: the end was cut off")]
    CutOff { expected: u64, last: u64 },
}

/// Goes through pages in their order.
#[derive(Debug, Clone, Default)]
pub struct Verifier {
    head: Option<(u64, Digest)>,
    expected: Vec<(u64, Digest)>,
    /// Keys that may sign: name and public half.
    keys: Vec<(Text, Vec<u8>)>,
    /// The one that signs now; `None` before the first checkpoint.
    signing: Option<Text>,
    found: Verified,
}

/// What was seen of a chain that holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verified {
    /// The first record there is; those before it were removed by their age.
    pub first: Option<u64>,
    pub records: u64,
    pub lines: u64,
    /// Lines whose text was taken out.
    pub forgotten: u64,
    /// The newest checkpoint in it.
    pub checkpoint: Option<Checkpoint>,
    pub checkpoints: u64,
    /// Keys that signed, and the one that the last of them handed over to.
    pub keys: Vec<Text>,
}

impl Verifier {
    /// The chain must hold this record with this digest, or have it removed by its age.
    pub fn expect(&mut self, record: u64, head: Digest) {
        if self.expected.len() < MOST {
            self.expected.push((record, head));
        }
    }

    /// A key that may have signed, by its public half. Those that are handed over to are learnt from the chain.
    pub fn know(&mut self, public: Vec<u8>) {
        let name = key_name(&public);
        if self.public(&name).is_none() {
            if self.keys.len() == MOST {
                self.keys.remove(0);
            }
            self.keys.push((name, public));
        }
    }

    /// The public half of a key that is known by this name.
    pub fn public(&self, name: &str) -> Option<&[u8]> {
        self.keys.iter().find(|(known, _)| &**known == name).map(|(_, public)| public.as_slice())
    }

    /// The next page.
    pub fn page(&mut self, number: u64, page: &Page, verify: &Verify<'_>) -> Result<(), Broken> {
        match self.head {
            Some((last, _)) if number <= last => return Err(Broken::Chain(number)),
            Some((last, _)) if number != last + 1 => return Err(Broken::Missing(last + 1)),
            Some((_, head)) if page.before != head => return Err(Broken::Chain(number)),
            None if number <= 1 && page.before != BEGINNING => return Err(Broken::Chain(number)),
            Some(_) => {}
            None => self.found.first = Some(number),
        }
        // A checkpoint says nothing else: what stood beside it would be signed by nobody.
        let mixed = page.signed.is_some() && !page.lines.is_empty();
        if mixed || page.computed() != Some(page.digest) {
            return Err(Broken::Changed(number));
        }
        if let Some(signed) = &page.signed {
            self.checkpoint(number, page, signed, verify)?;
        }
        if self.expected.iter().any(|(record, head)| *record == number && *head != page.digest) {
            return Err(Broken::Checkpoint(number));
        }
        self.found.records += 1;
        self.found.lines += page.lines.len() as u64;
        self.found.forgotten += page.lines.iter().filter(|line| line.said().is_none()).count() as u64;
        self.head = Some((number, page.digest));
        Ok(())
    }

    fn checkpoint(&mut self, number: u64, page: &Page, signed: &Checkpoint, verify: &Verify<'_>) -> Result<(), Broken> {
        let handed_over = self.signing.as_ref().is_none_or(|name| *name == signed.key);
        let public = self.public(&signed.key).filter(|_| handed_over).ok_or(Broken::Key(number))?;
        let fits = signed.record.checked_add(1) == Some(number) && signed.head == page.before;
        if !fits || !signed.is_good(public, verify) {
            return Err(Broken::Signature(number));
        }
        let next = signed.signs_next().ok_or(Broken::Signature(number))?;
        if let Some(Ok(public)) = signed.next.as_deref().map(hex::decode) {
            self.know(public);
        }
        self.found.checkpoints += 1;
        self.found.checkpoint = Some(signed.clone());
        for key in [&signed.key, &next] {
            if !self.found.keys.contains(key) && self.found.keys.len() < MOST {
                self.found.keys.push(key.clone());
            }
        }
        self.signing = Some(next);
        Ok(())
    }

    /// After the last page.
    pub fn finish(&self) -> Result<&Verified, Broken> {
        let last = self.head.map_or(0, |(last, _)| last);
        match self.expected.iter().map(|(record, _)| *record).max() {
            Some(expected) if expected > last => Err(Broken::CutOff { expected, last }),
            _ => Ok(&self.found),
        }
    }

    /// The last record and its digest, to be compared later with what is there then.
    pub fn head(&self) -> Option<(u64, Digest)> {
        self.head
    }
}
