//! What a ring opens, what it refuses, and the sources of its keys.

use std::os::unix::fs::PermissionsExt;

use super::{FILE, KeyFault, Keyring, SealFault, Wrapping, is_wrapped, put_new, put_wrapped, wrapped_text};

const ONE: &str = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
const TWO: &str = "0202020202020202020202020202020202020202020202020202020202020202";

#[test]
fn what_is_sealed_opens_for_the_same_purpose_and_data() {
    let ring = Keyring::from_text(ONE).unwrap();
    let sealed = ring.seal("session", b"ann", b"hello").unwrap();
    assert_eq!(ring.open("session", b"ann", &sealed).unwrap().as_slice(), b"hello");
    assert_eq!(ring.open("session", b"bob", &sealed).unwrap_err(), SealFault::Forged);
    assert_eq!(ring.open("state", b"ann", &sealed).unwrap_err(), SealFault::Forged);
    let again = ring.seal("session", b"ann", b"hello").unwrap();
    assert_ne!(sealed, again, "a nonce was used twice");
    assert!(!sealed.windows(5).any(|window| window == b"hello"));
}

#[test]
fn an_altered_or_cut_value_never_opens() {
    let ring = Keyring::from_text(ONE).unwrap();
    let sealed = ring.seal("session", b"", b"").unwrap();
    assert!(ring.open("session", b"", &sealed).unwrap().is_empty());
    for at in 0..sealed.len() {
        let mut altered = sealed.clone();
        altered[at] ^= 1;
        assert!(ring.open("session", b"", &altered).is_err(), "byte {at}");
        assert!(ring.open("session", b"", &sealed[..at]).is_err(), "cut at {at}");
    }
}

#[test]
fn after_a_rotation_old_values_open_and_new_ones_use_the_new_key() {
    let before = Keyring::from_text(ONE).unwrap();
    let after = Keyring::from_text(&format!("{TWO},{ONE}")).unwrap();
    let old = before.seal("p", b"", b"old").unwrap();
    assert_eq!(after.open("p", b"", &old).unwrap().as_slice(), b"old");
    assert!(after.is_stale(&old) && !before.is_stale(&old));
    let new = after.seal("p", b"", b"new").unwrap();
    assert_eq!(before.open("p", b"", &new).unwrap_err(), SealFault::UnknownKey);
    let tag = before.tagger("p").unwrap().tag(b"message");
    assert!(after.tagger("p").unwrap().verify(b"message", &tag));
    assert!(!Keyring::from_text(TWO).unwrap().tagger("p").unwrap().verify(b"message", &tag));
}

#[test]
fn a_tag_is_of_one_message_and_purpose() {
    let ring = Keyring::from_text(ONE).unwrap();
    let (p, q) = (ring.tagger("p").unwrap(), ring.tagger("q").unwrap());
    let tag = p.tag(b"message");
    assert!(p.verify(b"message", &tag));
    assert!(!q.verify(b"message", &tag));
    assert!(!p.verify(b"massage", &tag));
    assert!(p.verify(b"message", &tag[..16]), "a tag may be cut");
    assert!(!p.verify(b"message", &tag[..15]), "but not shorter than proves something");
    assert!(!p.verify(b"message", b""));
}

#[test]
fn a_ring_is_read_from_text_with_remarks_and_either_spelling() {
    let text = format!("# ours\n{ONE}\n\n  {TWO} # no remark inside a line");
    assert!(matches!(Keyring::from_text(&text), Err(KeyFault::Malformed(3))));
    let unpadded = ONE.trim_end_matches('=');
    let ring = Keyring::from_text(&format!("# ours\n{unpadded} {TWO}\n")).unwrap();
    assert_eq!(format!("{ring:?}"), "Keyring(2 keys)");
    let padded = Keyring::from_text(ONE).unwrap();
    assert!(ring.open("p", b"", &padded.seal("p", b"", b"x").unwrap()).is_ok());
    assert!(matches!(Keyring::from_text(" \n"), Err(KeyFault::None)));
    assert!(matches!(Keyring::from_text("c2hvcnQ="), Err(KeyFault::Malformed(1))));
    assert!(matches!(Keyring::from_text(&[ONE; 65].join(",")), Err(KeyFault::TooMany)));
}

#[test]
fn a_data_directory_gets_one_key_and_keeps_it() {
    let dir = tempfile::tempdir().unwrap();
    let first = Keyring::from_directory(dir.path()).unwrap();
    let mode = dir.path().join(FILE).metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let sealed = first.seal("p", b"", b"kept").unwrap();
    let second = Keyring::from_directory(dir.path()).unwrap();
    assert_eq!(second.open("p", b"", &sealed).unwrap().as_slice(), b"kept");
    let rotated = Keyring::rotate(dir.path()).unwrap();
    assert!(rotated.is_stale(&sealed) && rotated.open("p", b"", &sealed).is_ok());
    assert_eq!(format!("{:?}", Keyring::from_directory(dir.path()).unwrap()), "Keyring(2 keys)");
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn all_keys_but_the_newest_are_taken_out_of_a_ring_wrapped_or_not() {
    let (plain, sealed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let wrapping = Wrapping::from_text(ONE).unwrap();
    Keyring::from_directory(plain.path()).unwrap();
    wrapping.open(sealed.path()).unwrap();
    wrapping.settle(sealed.path()).unwrap();
    let rotated = [Keyring::rotate(plain.path()).unwrap(), wrapping.rotate(sealed.path()).unwrap()];
    let left = [Keyring::keep_newest(plain.path()).unwrap(), wrapping.keep_newest(sealed.path()).unwrap()];
    for (rotated, left) in rotated.iter().zip(&left) {
        assert_eq!((rotated.keys().len(), left.keys().as_slice()), (2, &rotated.keys()[..1]));
        assert!(left.keys()[0].made.is_some(), "and it is still told when it was made");
    }
    assert_eq!(Keyring::from_directory(plain.path()).unwrap().keys(), left[0].keys());
    let again = wrapping.open(sealed.path()).unwrap();
    assert!(again.sealed && again.ring.keys() == left[1].keys());
    assert!(Keyring::keep_newest(sealed.path()).is_err(), "a ring that is wrapped is changed by who can open it");
    // However the keys were written.
    let path = plain.path().join(FILE);
    std::fs::write(&path, format!("# ours\n\n{TWO}, {ONE}\n{ONE}\n")).unwrap();
    assert_eq!(Keyring::keep_newest(plain.path()).unwrap().keys(), Keyring::from_text(TWO).unwrap().keys());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("# ours\n{TWO}\n"));
}

#[test]
fn a_fault_names_the_file_and_never_the_key() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(FILE);
    std::fs::write(&path, "not-a-key-but-secret").unwrap();
    let fault = Keyring::from_directory(dir.path()).unwrap_err();
    let text = format!("{fault} {fault:?}");
    assert!(text.contains("keys") && text.contains("key 1") && !text.contains("secret"), "{text}");
}

#[test]
fn whoever_holds_a_ring_or_what_was_derived_from_it_follows_a_rotation() {
    let ring = Keyring::from_text(ONE).unwrap();
    let (tagger, sealer) = (ring.tagger("p").unwrap(), ring.sealer("p").unwrap());
    let (tag, value) = (tagger.tag(b"message"), sealer.seal(b"place", b"value").unwrap());
    ring.replace(&Keyring::from_text(&format!("{TWO},{ONE}")).unwrap());
    assert!(tagger.verify(b"message", &tag));
    assert_eq!(sealer.open(b"place", value.clone()).unwrap(), b"value");
    assert_ne!(tagger.tag(b"message"), tag, "the new key makes tags");
    assert_eq!(tagger.tags(b"message")[1], tag);
    // And once the old one is taken out, what it made is worth nothing.
    let new = sealer.seal(b"place", b"new").unwrap();
    ring.replace(&Keyring::from_text(TWO).unwrap());
    assert!(!tagger.verify(b"message", &tag));
    assert_eq!(sealer.open(b"place", value).unwrap_err(), SealFault::UnknownKey);
    assert_eq!(sealer.open(b"place", new).unwrap(), b"new");
}

#[test]
fn a_wrapped_ring_opens_with_its_outer_key_alone() {
    let dir = tempfile::tempdir().unwrap();
    let wrapping = Wrapping::from_text(ONE).unwrap();
    let made = wrapping.open(dir.path()).unwrap();
    assert!(!made.sealed && is_wrapped(dir.path()).unwrap());
    let sealed = made.ring.seal("p", b"", b"kept").unwrap();
    wrapping.settle(dir.path()).unwrap();
    let again = wrapping.open(dir.path()).unwrap();
    assert!(again.sealed);
    assert_eq!(again.ring.open("p", b"", &sealed).unwrap().as_slice(), b"kept");
    assert_eq!(again.ring.keys(), made.ring.keys());
    // Nobody else's key, no key at all, and no new key in front of it by who cannot open it.
    let inside = |fault: KeyFault| match fault {
        KeyFault::InFile { fault, .. } => *fault,
        other => panic!("{other}"),
    };
    let other = inside(Wrapping::from_text(TWO).unwrap().open(dir.path()).unwrap_err());
    assert!(matches!(other, KeyFault::NotOpened(id) if id == wrapping.keys()[0].id));
    assert!(matches!(inside(Keyring::from_directory(dir.path()).unwrap_err()), KeyFault::Wrapped));
    assert!(matches!(inside(put_new(&dir.path().join(FILE)).unwrap_err()), KeyFault::Wrapped));
    // An altered file does not open, whichever byte it is.
    let path = dir.path().join(FILE);
    let whole = std::fs::read(&path).unwrap();
    for at in 0..whole.len() - 1 {
        let mut altered = whole.clone();
        altered[at] = if altered[at] == b'A' { b'B' } else { b'A' };
        std::fs::write(&path, &altered).unwrap();
        assert!(wrapping.open(dir.path()).is_err(), "byte {at}");
    }
}

#[test]
fn a_new_outer_key_wraps_the_ring_anew() {
    let dir = tempfile::tempdir().unwrap();
    let made = Wrapping::from_text(ONE).unwrap().open(dir.path()).unwrap();
    Wrapping::from_text(&format!("{TWO} {ONE}")).unwrap().open(dir.path()).unwrap();
    assert!(Wrapping::from_text(ONE).unwrap().open(dir.path()).is_err());
    let again = Wrapping::from_text(TWO).unwrap().open(dir.path()).unwrap();
    assert_eq!(again.ring.keys(), made.ring.keys());
    assert!(again.ring.keys()[0].made.is_some());
}

#[test]
fn a_new_key_is_put_before_the_others_and_a_file_of_something_else_stays() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("outer");
    assert_eq!(put_new(&path).unwrap(), 1);
    let first = Keyring::from_file(&path).unwrap().keys();
    assert_eq!(put_new(&path).unwrap(), 2);
    assert_eq!(Keyring::from_file(&path).unwrap().keys()[1..], first);
    std::fs::write(&path, "a letter to somebody").unwrap();
    assert!(put_new(&path).is_err());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "a letter to somebody");
}

#[test]
fn attack_a_ring_that_comes_from_elsewhere_brings_no_key_of_its_own() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let outer = Wrapping::from_text(&"11".repeat(32)).unwrap();
    let made = outer.open(here.path()).unwrap();
    let wrapped = wrapped_text(here.path()).unwrap().unwrap();
    put_wrapped(there.path(), &wrapped).unwrap();
    assert_eq!(outer.open(there.path()).unwrap().ring.keys(), made.ring.keys());
    for planted in ["", &"22".repeat(32), &wrapped[1..]] {
        assert!(matches!(put_wrapped(there.path(), planted), Err(KeyFault::Altered)), "{planted}");
    }
    assert_eq!(outer.open(there.path()).unwrap().ring.keys(), made.ring.keys(), "as it was");
    let other = Wrapping::from_text(&"33".repeat(32)).unwrap();
    assert!(other.open(there.path()).is_err(), "another outer key does not open it");
}
