//! A chain that nobody touched holds; whatever is done to it is seen.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn line(text: &str, salt: u128) -> Line {
    Line::new(Json::from_tree(json!({ "said": text })), salt)
}

/// A signature is the statement itself.
fn signed(record: u64, head: Digest) -> Checkpoint {
    let at = Time(7);
    let signature = hex(&Checkpoint::statement_of(record, head, at)).into();
    Checkpoint { record, head, at, key: "mine".into(), signature }
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

fn verify(pages: &[Page], from: u64, expected: Option<&Checkpoint>) -> Result<Found, Broken> {
    let mut verifier = Verifier::default();
    if let Some(checkpoint) = expected {
        verifier.expect(checkpoint.record, checkpoint.head);
    }
    for (number, page) in (from..).zip(pages) {
        verifier.page(number, page, &|key, statement, signature| key == "mine" && statement == signature)?;
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
        Checkpoint { key: "other".into(), ..honest.clone() },
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

#[test]
fn hexadecimal_is_read_as_it_was_written() {
    let bytes: Vec<u8> = (0..=255).collect();
    assert_eq!(from_hex(&hex(&bytes)), Some(bytes));
    for bad in ["0", "0g", "é", "+1"] {
        assert_eq!(from_hex(bad), None, "{bad}");
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
        let Ok(changed) = serde_json::from_slice::<Page>(&text) else { return Ok(()) };
        let mut forged = chain();
        // Letters of hexadecimal may be large or small, and white space is no part of a page.
        prop_assume!(changed != forged[page]);
        forged[page] = changed;
        prop_assert!(verify(&forged, 1, Some(&last_checkpoint())).is_err());
    }
}
