//! Invariants of the audit log for any bytes: a page survives a round trip, and the chain refuses a changed page.

use bytes::Bytes;
use interlingua_machines::audit::{BEGINNING, Page, PageDraft, Verifier};
use interlingua_model::Json;
use interlingua_model::journal;

pub(crate) fn pages(data: &[u8]) {
    let mut verifier = Verifier::default();
    let mut taken = 0;
    for (number, record) in (1..).zip(data.split(|byte| *byte == b'\n')) {
        let Ok(page) = journal::from_bytes::<Page>(record) else { continue };
        let written = journal::to_bytes(&page).expect("a page can be written");
        assert_eq!(journal::from_bytes::<Page>(&written).ok().as_ref(), Some(&page));
        let before = verifier.head();
        if verifier.page(number, &page, &|_, _, _| false).is_ok() {
            assert!(page.signed.is_none(), "nobody signed it");
            assert!(before.is_none_or(|(_, head)| head == page.before), "it does not go on from the one before");
            taken += 1;
        }
    }
    assert_eq!(verifier.finish().map(|found| found.records), Ok(taken));
    changed(data);
}

/// A page of these lines, with one byte of its record changed.
fn changed(data: &[u8]) {
    let [at, change, said @ ..] = data else { return };
    let mut draft = PageDraft::default();
    for (salt, line) in (0..).zip(said.split(|byte| *byte == b'\n').take(8)) {
        let line = Json::parse(Bytes::copy_from_slice(line)).unwrap_or_else(|_| Json::null());
        draft.add(&line, salt).expect("a line can be written");
    }
    let (record, digest) = draft.finish(BEGINNING);
    let page: Page = journal::from_bytes(&record).expect("what was written can be read");
    assert_eq!(page.digest, digest);
    let takes = |page: &Page| Verifier::default().page(1, page, &|_, _, _| false).is_ok();
    assert!(takes(&page), "a page of ours is taken");
    let mut other = record.to_vec();
    let at = usize::from(*at) * other.len() / 256;
    other[at] ^= change;
    if let Ok(other) = journal::from_bytes::<Page>(&other) {
        assert!(other == page || !takes(&other), "a change at {at} is not seen: {other:?}");
    }
}
