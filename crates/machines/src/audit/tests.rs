//! An untouched chain verifies; every manipulation of it is detected.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn line(text: &str, salt: u128) -> PageLine {
    PageLine::new(Json::from_tree(json!({ "said": text })), salt)
}

const MINE: &[u8] = b"mine";
const OTHER: &[u8] = b"other";

/// A signature is the key and the statement itself.
fn signed_by(key: &[u8], record: u64, head: Digest, next: Option<&[u8]>) -> Checkpoint {
    let (at, next) = (Time(7), next.map(|next| Text::from(hex::encode(next))));
    let statement = Checkpoint::statement_of(record, head, at, next.as_deref());
    Checkpoint { record, head, at, key: key_name(key), next, signature: hex::encode([key, &statement].concat()).into() }
}

fn signed(record: u64, head: Digest) -> Checkpoint {
    signed_by(MINE, record, head, None)
}

/// Two pages of three lines, a checkpoint, two more pages and a checkpoint.
fn chain() -> Vec<Page> {
    let mut head = BEGINNING;
    let mut pages = Vec::new();
    for number in 1..=6_u64 {
        let page = if number % 3 == 0 {
            Page::of_checkpoint(signed(number - 1, head))
        } else {
            let salt = |place: u64| u128::from(number * 3 + place);
            Page::of_lines(head, (0..3).map(|place| line(&format!("{number} {place}"), salt(place))).collect())
        };
        head = page.digest;
        pages.push(page);
    }
    pages
}

#[test]
fn a_draft_is_the_record_of_a_page_byte_for_byte() {
    let mut draft = PageDraft::default();
    let mut before = BEGINNING;
    for texts in [vec!["a"], vec!["quote \" and \u{1f6b2}", "", "x".repeat(3_000).as_str()], vec!["b", "c"]] {
        let lines: Vec<PageLine> = (7..).zip(&texts).map(|(salt, text)| line(text, salt)).collect();
        for (salt, text) in (7..).zip(&texts) {
            draft.add(&json!({ "said": text }), salt).expect("it can be spelled");
        }
        assert_eq!((draft.len(), draft.is_empty()), (texts.len(), false));
        let (record, digest) = draft.finish(before);
        let page = Page::of_lines(before, lines);
        assert_eq!(record, interlingua_model::journal::to_bytes(&page).expect("it can be spelled"));
        assert_eq!(digest, page.digest);
        assert!(draft.is_empty());
        before = digest;
    }
}

/// What has been handed out stays as it is when its memory is wanted again.
#[test]
fn a_record_that_is_still_held_is_not_written_over() {
    let mut draft = PageDraft::default();
    draft.add(&json!("first"), 1).expect("it can be spelled");
    let (first, digest) = draft.finish(BEGINNING);
    let copy = first.to_vec();
    draft.add(&json!("second"), 2).expect("it can be spelled");
    let (second, _) = draft.finish(digest);
    assert_eq!(first, copy);
    assert_ne!(first, second);
}

fn verify(pages: &[Page], from: u64, expected: Option<&Checkpoint>) -> Result<Verified, Broken> {
    let mut verifier = Verifier::default();
    verifier.know(MINE.to_vec());
    if let Some(checkpoint) = expected {
        verifier.expect(checkpoint.record, checkpoint.head);
    }
    for (number, page) in (from..).zip(pages) {
        verifier.page(number, page, &|key, statement, signature| [key, statement].concat() == signature)?;
    }
    verifier.finish().cloned()
}

fn last_checkpoint() -> Checkpoint {
    chain()[5].signed.clone().expect("the last is one")
}

#[test]
fn a_chain_that_nobody_touched_holds() {
    let found = verify(&chain(), 1, Some(&last_checkpoint())).expect("it holds");
    assert_eq!((found.records, found.lines, found.checkpoints, found.forgotten), (6, 12, 2, 0));
    assert_eq!((found.first, found.checkpoint.map(|checkpoint| checkpoint.record)), (Some(1), Some(5)));
}

#[test]
fn what_is_removed_by_age_leaves_the_rest_verifiable() {
    let found = verify(&chain()[2..], 3, Some(&last_checkpoint())).expect("it holds");
    assert_eq!((found.first, found.records), (Some(3), 4));
    assert_eq!(verify(&chain()[2..], 1, None), Err(Broken::Chain(1)), "a first page goes on from nothing");
}

#[test]
fn a_line_that_is_taken_out_leaves_no_trace_of_what_it_said_and_the_chain_holds() {
    let mut pages = chain();
    pages[1].lines[2].forget();
    pages[1].lines[2].forget();
    assert_eq!(verify(&pages, 1, Some(&last_checkpoint())).expect("it holds").forgotten, 1);
    let left = serde_json::to_string(&pages[1].lines[2]).expect("JSON");
    assert!(!left.contains("salt") && !left.contains("said"), "{left}");
}

#[test]
fn a_page_in_json_is_the_same_page() {
    for page in chain() {
        let text = serde_json::to_string(&page).expect("JSON");
        assert_eq!(serde_json::from_str::<Page>(&text).expect("a page"), page, "{text}");
        assert_eq!(text.lines().count(), 1);
    }
}

#[test]
fn what_a_line_says_cannot_make_a_line() {
    let said = "x\r\n{\"before\":\"0\"}\u{1b}[2J\u{2028}\0";
    let page = Page::of_lines(BEGINNING, vec![line(said, 1)]);
    let text = serde_json::to_string(&page).expect("JSON");
    assert!(!text.chars().any(char::is_control), "{text:?}");
    let read: Page = serde_json::from_str(&text).expect("a page");
    assert_eq!(read.lines[0].said().and_then(|json| json.get("said")?.as_str()), Some(said));
}

#[test]
fn an_end_that_was_cut_off_is_seen_by_a_checkpoint() {
    let kept = last_checkpoint();
    for left in 0..5 {
        let cut = verify(&chain()[..left], 1, Some(&kept));
        assert_eq!(cut, Err(Broken::CutOff { expected: 5, last: left as u64 }));
    }
    // The page that holds the checkpoint says nothing that the checkpoint does not.
    verify(&chain()[..5], 1, Some(&kept)).expect("all it speaks for is there");
}

#[test]
fn another_chain_is_not_the_one_a_checkpoint_speaks_of() {
    let mut other = vec![Page::of_lines(BEGINNING, vec![line("forged", 9)])];
    for _ in 0..5 {
        let before = other.last().expect("one").digest;
        other.push(Page::of_lines(before, vec![line("forged", 9)]));
    }
    verify(&other, 1, None).expect("by itself it holds");
    assert_eq!(verify(&other, 1, Some(&last_checkpoint())), Err(Broken::Checkpoint(5)));
}

#[test]
fn a_forged_checkpoint_is_seen() {
    let honest = chain()[2].signed.clone().expect("a checkpoint");
    let forged = [
        Checkpoint { at: Time(8), ..honest.clone() },
        Checkpoint { next: Some(hex::encode(OTHER).into()), ..honest.clone() },
        Checkpoint { signature: "00".into(), ..honest.clone() },
        Checkpoint { signature: "no hex".into(), ..honest.clone() },
        signed(1, honest.head),
        signed(2, Digest::of(b"another")),
    ];
    for checkpoint in forged {
        let mut pages = chain();
        let before = pages[1].digest;
        pages[2] = Page { before, ..Page::of_checkpoint(checkpoint.clone()) };
        pages[2].digest = pages[2].computed().expect("it has lines only");
        assert_eq!(verify(&pages, 1, None), Err(Broken::Signature(3)), "{checkpoint:?}");
    }
}

/// A page, a checkpoint by each of these keys that hands over to the next one where that is said, a page after each.
fn handed_over(by: &[(&[u8], Option<&[u8]>)]) -> Vec<Page> {
    let mut pages = vec![Page::of_lines(BEGINNING, vec![line("first", 1)])];
    for (key, next) in by {
        let head = pages.last().expect("one").digest;
        pages.push(Page::of_checkpoint(signed_by(key, pages.len() as u64, head, *next)));
        let head = pages.last().expect("one").digest;
        pages.push(Page::of_lines(head, vec![line("more", 2)]));
    }
    pages
}

#[test]
fn a_key_that_was_handed_over_to_signs_what_follows_and_no_other_does() {
    let third = b"third".as_slice();
    let found = verify(&handed_over(&[(MINE, Some(OTHER)), (OTHER, None), (OTHER, Some(third))]), 1, None);
    assert_eq!(found.expect("it holds").keys, [key_name(MINE), key_name(OTHER), key_name(third)]);
    // Nobody handed over, the one before signs on, or another takes what was meant for somebody else.
    assert_eq!(verify(&handed_over(&[(MINE, None), (OTHER, None)]), 1, None), Err(Broken::Key(4)));
    assert_eq!(verify(&handed_over(&[(MINE, Some(OTHER)), (MINE, None)]), 1, None), Err(Broken::Key(4)));
    assert_eq!(verify(&handed_over(&[(MINE, Some(OTHER)), (third, None)]), 1, None), Err(Broken::Key(4)));
    assert_eq!(verify(&handed_over(&[(OTHER, None)]), 1, None), Err(Broken::Key(2)));
    // Who is named cannot be changed afterwards.
    let mut pages = handed_over(&[(MINE, Some(OTHER))]);
    let forged = pages[1].signed.clone().map(|signed| Checkpoint { next: Some(hex::encode(third).into()), ..signed });
    pages[1] = Page::of_checkpoint(forged.expect("a checkpoint"));
    assert_eq!(verify(&pages, 1, None), Err(Broken::Signature(2)));
}

#[test]
fn hexadecimal_is_read_as_it_was_written() {
    let bytes: Vec<u8> = (0..=255).collect();
    assert_eq!(hex::decode(hex::encode(&bytes)), Ok(bytes));
    for bad in ["0", "0g", "é", "+1"] {
        assert!(hex::decode(bad).is_err(), "{bad}");
    }
}

/// One thing that may be done to a chain.
fn tamper(pages: &mut Vec<Page>, how: usize, page: usize, place: usize) {
    let count = pages.len();
    match how {
        0 if !pages[page].lines.is_empty() => pages[page].lines[place] = line("forged", 1),
        1 if !pages[page].lines.is_empty() => drop(pages[page].lines.remove(place)),
        2 => {
            let lines = &mut pages[page].lines;
            lines.insert(place.min(lines.len()), line("added", 2));
        }
        3 if !pages[page].lines.is_empty() => pages[page].lines.swap(place, (place + 1) % 3),
        4 => pages[page].before = Digest::of(b"forged"),
        5 => drop(pages.remove(page)),
        6 => pages.swap(page, (page + 1) % count),
        7 => pages[page].digest = Digest::of(b"forged"),
        _ => {
            pages[page].signed =
                if page.is_multiple_of(2) { Some(signed(1, BEGINNING)) } else { Some(signed(9, BEGINNING)) }
        }
    }
}

/// As somebody does it who knows how pages are made, and has no key.
fn sealed_again(pages: &mut [Page]) {
    for page in pages {
        if let Some(digest) = page.computed() {
            page.digest = digest;
        }
    }
}

proptest! {
    #[test]
    fn whatever_is_changed_is_seen(how in 0..9_usize, page in 0..6_usize, place in 0..3_usize, again: bool) {
        let mut pages = chain();
        tamper(&mut pages, how, page, place);
        if again {
            sealed_again(&mut pages);
        }
        prop_assume!(pages != chain());
        // Nothing stands after the last checkpoint, which says nothing itself.
        let cut = pages[..] == chain()[..5];
        let seen = verify(&pages, 1, Some(&last_checkpoint())).is_err();
        prop_assert!(seen || cut, "{} {} {} {}", how, page, place, again);
    }

    #[test]
    fn one_byte_that_is_changed_in_the_text_is_seen(page in 0..6_usize, at in any::<prop::sample::Index>(), byte in b' '..b'~') {
        let pages = chain();
        let mut text = serde_json::to_vec(&pages[page]).expect("JSON");
        let at = at.index(text.len());
        prop_assume!(text[at] != byte);
        text[at] = byte;
        // A text that is no page any more is seen by whoever reads it.
        if let Ok(changed) = serde_json::from_slice::<Page>(&text) {
            let mut forged = chain();
            // Letters of hexadecimal may be large or small, and white space is no part of a page.
            prop_assume!(changed != forged[page]);
            forged[page] = changed;
            prop_assert!(verify(&forged, 1, Some(&last_checkpoint())).is_err());
        }
    }
}
