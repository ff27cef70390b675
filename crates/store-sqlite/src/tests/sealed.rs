//! An encrypted store: what is on the disk, what is refused, and the conversion of an unencrypted store.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use interlingua_model::digest::Digest;
use interlingua_model::id::{TaskId, Time};
use interlingua_model::journal::Log;
use interlingua_model::ports::*;
use proptest::prelude::*;
use rusqlite::Connection;

use super::super::convert;
use super::super::{Embedded, OpenFault, Options, integrity};
use super::{OUTER, open, open_sealed};
use interlingua_keys::{EncryptionAtRest, FILE, KeyFault, Wrapping};
use interlingua_store_contract::append;

const CANARY: &str = "canary-3f9d1c";
const OTHER: &str = "0808080808080808080808080808080808080808080808080808080808080808";

fn outer(text: &str) -> Wrapping {
    Wrapping::from_text(text).unwrap()
}

/// The canary in every kind of place; `name` keeps them apart.
async fn fill(store: &Store, name: &str, task: u128) -> Digest {
    let text = format!("{CANARY} {name}");
    let log = Log::Task(TaskId(task));
    store.journal.append(append(log.clone(), 0, &[&text, &text])).await.unwrap();
    store.journal.snapshot(log, 2, Time(1), Bytes::from(text.clone())).await.unwrap();
    store.records.put("kind", name, Bytes::from(text.clone()), None, Expect::Absent, Time(0)).await.unwrap();
    let mut blob = store.blobs.create().await.unwrap();
    blob.write(Bytes::from(text)).await.unwrap();
    blob.finish().await.unwrap().digest
}

/// All of it is there.
async fn check(store: &Store, name: &str, task: u128) {
    let text = format!("{CANARY} {name}");
    let log = Log::Task(TaskId(task));
    let entries = store.journal.read(log.clone(), 0, 9).await.unwrap();
    assert_eq!(entries.iter().map(|entry| &entry.bytes[..]).collect::<Vec<_>>(), [text.as_bytes(); 2]);
    assert_eq!(store.journal.latest(log).await.unwrap().unwrap().bytes, text);
    assert_eq!(store.records.get("kind", name, Time(0)).await.unwrap().unwrap().value, text);
    assert_eq!(store.blobs.read(Digest::of(text.as_bytes()), 0, 999).await.unwrap(), text);
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

/// The files that hold these bytes, or are called by them.
fn holding(dir: &Path, bytes: &[u8]) -> Vec<PathBuf> {
    let holds = |file: &PathBuf| std::fs::read(file).unwrap().windows(bytes.len()).any(|window| window == bytes);
    let named = |file: &PathBuf| file.to_string_lossy().as_bytes().windows(bytes.len()).any(|window| window == bytes);
    files(dir).into_iter().filter(|file| holds(file) || named(file)).collect()
}

#[tokio::test]
async fn what_is_kept_is_on_the_disk_only_sealed() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_sealed(dir.path());
    let blob = fill(&store.ports(), "one", 1).await;
    check(&store.ports(), "one", 1).await;
    // The write-ahead log before, the database after.
    assert_eq!(holding(dir.path(), CANARY.as_bytes()), Vec::<PathBuf>::new());
    store.close().await;
    assert_eq!(holding(dir.path(), CANARY.as_bytes()), Vec::<PathBuf>::new());
    // Nor can the disk be asked for content that one knows.
    assert_eq!(holding(dir.path(), blob.to_string().as_bytes()), Vec::<PathBuf>::new());
    drop(store);
    check(&open_sealed(dir.path()).ports(), "one", 1).await;
    // The search finds what is there: the same in a store that is not encrypted.
    let plain = tempfile::tempdir().unwrap();
    fill(&open(plain.path()).ports(), "one", 1).await;
    assert!(holding(plain.path(), CANARY.as_bytes()).len() >= 2);
}

#[tokio::test]
async fn a_store_that_was_not_encrypted_becomes_one_and_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let ring = interlingua_keys::Keyring::from_directory(dir.path()).unwrap();
    let secret = ring.seal("p", b"", b"kept").unwrap();
    let ring_text = std::fs::read_to_string(dir.path().join(FILE)).unwrap();
    fill(&store.ports(), "before", 1).await;
    // Freed, but still in the file.
    fill(&store.ports(), "gone", 2).await;
    store.ports().journal.forget(TaskId(2)).await.unwrap();
    store.close().await;
    drop(store);
    let (store, ring) = Embedded::open_sealed(dir.path(), Options::default(), &outer(OUTER)).unwrap();
    check(&store.ports(), "before", 1).await;
    fill(&store.ports(), "after", 3).await;
    check(&store.ports(), "after", 3).await;
    assert_eq!(holding(dir.path(), CANARY.as_bytes()), Vec::<PathBuf>::new());
    // The ring that lay there opens what it sealed, seals nothing more, and is itself wrapped.
    assert_eq!(ring.open("p", b"", &secret).unwrap().as_slice(), b"kept");
    assert!(ring.is_stale(&secret));
    let key = ring_text.lines().last().unwrap();
    assert_eq!(holding(dir.path(), key.as_bytes()), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn sealing_that_was_stopped_goes_on_at_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let texts: Vec<String> = (0..1200).map(|number| format!("{CANARY} {number}")).collect();
    let records: Vec<&str> = texts.iter().map(String::as_str).collect();
    let log = Log::Task(TaskId(7));
    store.ports().journal.append(append(log.clone(), 0, &records)).await.unwrap();
    fill(&store.ports(), "one", 1).await;
    store.close().await;
    drop(store);
    // As far as a hub came that was killed: the mark, the keys, the first step.
    let unwrapped = outer(OUTER).open(dir.path()).unwrap();
    assert!(!unwrapped.sealed);
    let mut db = Connection::open(dir.path().join("hub.db")).unwrap();
    convert::mark(&db).unwrap();
    let sealed = convert::first_step(&mut db, &EncryptionAtRest::sealed(&unwrapped.ring).unwrap()).unwrap();
    assert_eq!(sealed, 500);
    drop(db);
    assert!(matches!(Embedded::open(dir.path(), Options::default()), Err(OpenFault::Sealed { .. })));
    let store = open_sealed(dir.path());
    check(&store.ports(), "one", 1).await;
    let read = store.ports().journal.read(log, 0, 2000).await.unwrap();
    assert!(read.iter().map(|entry| &entry.bytes[..]).eq(texts.iter().map(String::as_bytes)));
    assert_eq!(holding(dir.path(), CANARY.as_bytes()), Vec::<PathBuf>::new());
    assert!(outer(OUTER).open(dir.path()).unwrap().sealed);
}

#[tokio::test]
async fn without_its_key_or_with_another_an_encrypted_store_does_not_open() {
    let dir = tempfile::tempdir().unwrap();
    drop(open_sealed(dir.path()));
    let options = Options::default();
    let fault = Embedded::open(dir.path(), options).unwrap_err();
    assert!(matches!(fault, OpenFault::Sealed { .. }), "{fault}");
    let fault = Embedded::open_sealed(dir.path(), options, &outer(OTHER)).unwrap_err();
    let named = outer(OUTER).keys()[0].id.clone();
    assert!(matches!(fault, OpenFault::Keys(_)) && fault.to_string().contains(&named), "{fault}");
    assert!(!format!("{fault} {fault:?}").contains("0808"), "{fault:?}");
    let keys = dir.path().join(FILE);
    let wrapped = std::fs::read(&keys).unwrap();
    std::fs::remove_file(&keys).unwrap();
    let fault = Embedded::open_sealed(dir.path(), options, &outer(OUTER)).unwrap_err();
    assert!(matches!(fault, OpenFault::KeysGone { .. }), "{fault}");
    assert!(!keys.exists(), "a new ring in place of the one that is missing would make everything unreadable");
    std::fs::write(&keys, wrapped).unwrap();
    open_sealed(dir.path());
}

#[tokio::test]
async fn a_value_that_was_moved_altered_or_planted_is_damage() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_sealed(dir.path());
    let ports = store.ports();
    for key in ["a", "b", "c"] {
        ports.records.put("kind", key, Bytes::from(key), None, Expect::Absent, Time(0)).await.unwrap();
    }
    let log = Log::Task(TaskId(1));
    ports.journal.append(append(log.clone(), 0, &["first", "second", "third"])).await.unwrap();
    let db = Connection::open(dir.path().join("hub.db")).unwrap();
    db.execute_batch(
        "UPDATE records SET value = (SELECT value FROM records WHERE key = 'b') WHERE key = 'a';
         UPDATE records SET value = CAST('plain' AS BLOB) WHERE key = 'c';
         UPDATE journal SET bytes = (SELECT bytes FROM journal WHERE seq = 2) WHERE seq = 3;",
    )
    .unwrap();
    for key in ["a", "c"] {
        let found = ports.records.get("kind", key, Time(0)).await;
        assert!(matches!(found, Err(StoreFault::Damaged(_))), "{key}: {found:?}");
    }
    assert_eq!(ports.records.get("kind", "b", Time(0)).await.unwrap().unwrap().value, "b");
    assert_eq!(ports.journal.read(log.clone(), 0, 2).await.unwrap().len(), 2);
    assert!(matches!(ports.journal.read(log, 0, 3).await, Err(StoreFault::Damaged(_))));
    // What is damaged can still be written over.
    ports.records.put("kind", "a", Bytes::from("new"), None, Expect::Anything, Time(0)).await.unwrap();
    assert_eq!(ports.records.get("kind", "a", Time(0)).await.unwrap().unwrap().value, "new");
}

#[tokio::test]
async fn after_a_rotation_old_values_open_and_blobs_are_found_by_their_old_names() {
    let dir = tempfile::tempdir().unwrap();
    let (store, ring) = Embedded::open_sealed(dir.path(), Options::default(), &outer(OUTER)).unwrap();
    fill(&store.ports(), "before", 1).await;
    let first = ring.keys();
    ring.replace(&outer(OUTER).rotate(dir.path()).unwrap());
    assert_eq!(ring.keys()[1..], first);
    check(&store.ports(), "before", 1).await;
    fill(&store.ports(), "after", 2).await;
    check(&store.ports(), "after", 2).await;
    store.close().await;
    drop(store);
    // The outer key too, in the order that an administrator goes: new before old, wrapped anew, old out.
    open_with(dir.path(), &format!("{OTHER} {OUTER}"));
    let store = open_with(dir.path(), OTHER);
    check(&store.ports(), "before", 1).await;
    check(&store.ports(), "after", 2).await;
    drop(store);
    let old = Embedded::open_sealed(dir.path(), Options::default(), &outer(OUTER)).unwrap_err();
    assert!(matches!(old, OpenFault::Keys(KeyFault::InFile { .. })), "{old}");
}

fn open_with(dir: &Path, key: &str) -> Embedded {
    Embedded::open_sealed(dir, Options::default(), &outer(key)).unwrap().0
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_of_an_encrypted_store_opens_with_the_same_key_and_is_as_unreadable() {
    let home = tempfile::tempdir().unwrap();
    let (dir, copy) = (home.path().join("data"), home.path().join("copy"));
    let store = open_sealed(&dir);
    fill(&store.ports(), "one", 1).await;
    store.backup(&copy).await.unwrap();
    assert_eq!(holding(&copy, CANARY.as_bytes()), Vec::<PathBuf>::new());
    let found = integrity(&copy).unwrap();
    assert_eq!((found.blobs, found.blob_bytes), (1, 17));
    check(&open_sealed(&copy).ports(), "one", 1).await;
}

const PIECE: usize = 64 * 1024;

#[tokio::test]
async fn any_part_of_a_sealed_blob_can_be_read() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_sealed(dir.path()).ports();
    for len in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 7] {
        let content: Vec<u8> = (0..len).map(|at| u8::try_from(at % 251).unwrap()).collect();
        let mut blob = store.blobs.create().await.unwrap();
        for piece in content.chunks(50_000) {
            blob.write(Bytes::copy_from_slice(piece)).await.unwrap();
        }
        let info = blob.finish().await.unwrap();
        assert_eq!(info, BlobInfo { digest: Digest::of(&content), len: len as u64 });
        for (offset, limit) in [(0, usize::MAX), (0, 1), (len / 2, PIECE + 1), (PIECE - 1, 2), (len, 9), (len + 9, 9)] {
            let read = store.blobs.read(info.digest, offset as u64, limit).await.unwrap();
            let (from, upto) = (offset.min(len), offset.saturating_add(limit).min(len));
            assert_eq!(read, content[from..upto], "{offset} {limit} of {len}");
        }
    }
}

#[tokio::test]
async fn a_byte_of_a_blob_that_was_altered_is_found_and_so_is_one_that_is_missing() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_sealed(dir.path()).ports();
    let content = vec![7; 100];
    let mut blob = store.blobs.create().await.unwrap();
    blob.write(Bytes::from(content.clone())).await.unwrap();
    let digest = blob.finish().await.unwrap().digest;
    let sealed = |file: &PathBuf| file.extension().is_some_and(|end| end == "sealed");
    let file = files(&dir.path().join("blobs")).into_iter().find(sealed).unwrap();
    let whole = std::fs::read(&file).unwrap();
    for at in 0..whole.len() {
        let mut altered = whole.clone();
        altered[at] ^= 1;
        std::fs::write(&file, altered).unwrap();
        assert!(matches!(store.blobs.read(digest, 0, 999).await, Err(StoreFault::Damaged(_))), "byte {at}");
        std::fs::write(&file, &whole[..at]).unwrap();
        assert!(matches!(store.blobs.read(digest, 0, 999).await, Err(StoreFault::Damaged(_))), "cut at {at}");
    }
    std::fs::write(&file, &whole).unwrap();
    assert_eq!(store.blobs.read(digest, 0, 999).await.unwrap(), content);
}

proptest! {
    #[test]
    fn a_value_opens_as_it_was_and_never_when_a_byte_of_it_or_of_its_place_is_another(
        plain in proptest::collection::vec(any::<u8>(), 0..300),
        place in proptest::collection::vec(any::<u8>(), 0..40),
        at in any::<prop::sample::Index>(),
        bits in 1_u8..,
    ) {
        let ring = interlingua_keys::Keyring::from_text(OUTER).unwrap();
        let sealer = ring.sealer("p").unwrap();
        let sealed = sealer.seal(&place, &plain).unwrap();
        prop_assert_eq!(&sealer.open(&place, sealed.clone()).unwrap(), &plain);
        let mut altered = sealed.clone();
        altered[at.index(sealed.len())] ^= bits;
        prop_assert!(sealer.open(&place, altered).is_err());
        prop_assert!(sealer.open(&place, sealed[..at.index(sealed.len())].to_vec()).is_err());
        let elsewhere = [&place[..], &[bits]].concat();
        prop_assert!(sealer.open(&elsewhere, sealed.clone()).is_err());
        prop_assert!(ring.sealer("q").unwrap().open(&place, sealed).is_err());
    }
}

/// The ring of a directory with a new key before the others, in use.
fn rotated(dir: &Path, ring: &interlingua_keys::Keyring) -> String {
    ring.replace(&outer(OUTER).rotate(dir).unwrap());
    ring.keys()[0].id.clone()
}

#[tokio::test]
async fn what_older_keys_sealed_is_sealed_anew_and_opens_without_them() {
    let dir = tempfile::tempdir().unwrap();
    let (store, ring) = Embedded::open_sealed(dir.path(), Options::default(), &outer(OUTER)).unwrap();
    let log = Log::Task(TaskId(7));
    let texts: Vec<String> = (0..1200).map(|number| format!("{CANARY} {number}")).collect();
    store
        .ports()
        .journal
        .append(append(log.clone(), 0, &texts.iter().map(String::as_str).collect::<Vec<_>>()))
        .await
        .unwrap();
    let blob = fill(&store.ports(), "one", 1).await;
    let oldest = ring.keys()[0].id.clone();
    let newest = rotated(dir.path(), &ring);
    fill(&store.ports(), "two", 2).await;
    let before = store.at_rest().counts().await.unwrap();
    assert!(before[&oldest] > 1200 && before[&newest] > 0, "{before:?}");
    // While others write.
    let (at_rest, ports) = (store.at_rest(), store.ports());
    let (done, _) = tokio::join!(at_rest.reseal(), fill(&ports, "three", 3));
    let done = done.unwrap();
    assert!(done >= before[&oldest], "{done} {before:?}");
    let after = store.at_rest().counts().await.unwrap();
    assert_eq!(after.keys().collect::<Vec<_>>(), [&newest]);
    assert_eq!(store.at_rest().reseal().await.unwrap(), 0, "nothing is done twice");
    ring.replace(&outer(OUTER).keep_newest(dir.path()).unwrap());
    let check_all = async |store: &Embedded| {
        for (name, task) in [("one", 1), ("two", 2), ("three", 3)] {
            check(&store.ports(), name, task).await;
        }
        assert_eq!(store.ports().journal.read(log.clone(), 1199, 1).await.unwrap()[0].bytes, format!("{CANARY} 1199"));
        assert!(store.ports().blobs.info(blob).await.unwrap().is_some());
    };
    check_all(&store).await;
    store.close().await;
    drop(store);
    check_all(&open_sealed(dir.path())).await;
}

/// The sealed files of blobs.
fn sealed_blobs(dir: &Path) -> Vec<PathBuf> {
    files(dir).into_iter().filter(|file| file.extension().is_some_and(|ending| ending == "sealed")).collect()
}

#[tokio::test]
async fn a_key_made_between_the_head_and_the_name_of_a_blob_loses_nothing_when_the_old_one_goes() {
    let dir = tempfile::tempdir().unwrap();
    let (store, ring) = Embedded::open_sealed(dir.path(), Options::default(), &outer(OUTER)).unwrap();
    let again = async |store: &Embedded| {
        let mut blob = store.ports().blobs.create().await.unwrap();
        blob.write(Bytes::from_static(b"content")).await.unwrap();
        blob.finish().await.unwrap().digest
    };
    let digest = again(&store).await;
    let before = sealed_blobs(dir.path()).pop().unwrap();
    rotated(dir.path(), &ring);
    again(&store).await;
    let after = sealed_blobs(dir.path()).into_iter().find(|file| *file != before).unwrap();
    // Its head by the old key, its name by the new one.
    std::fs::rename(&before, &after).unwrap();
    assert_eq!(store.at_rest().reseal().await.unwrap(), 1);
    ring.replace(&outer(OUTER).keep_newest(dir.path()).unwrap());
    assert_eq!(store.ports().blobs.read(digest, 0, 99).await.unwrap(), "content");
}

#[tokio::test]
async fn what_does_not_open_keeps_nothing_else_under_its_old_key() {
    let dir = tempfile::tempdir().unwrap();
    let (store, ring) = Embedded::open_sealed(dir.path(), Options::default(), &outer(OUTER)).unwrap();
    fill(&store.ports(), "one", 1).await;
    fill(&store.ports(), "zwei", 2).await;
    let damaged = sealed_blobs(dir.path()).pop().unwrap();
    let mut bytes = std::fs::read(&damaged).unwrap();
    bytes[40] ^= 1;
    std::fs::write(&damaged, bytes).unwrap();
    let db = Connection::open(dir.path().join("hub.db")).unwrap();
    let altered = "UPDATE records SET value = CAST(substr(value, 1, 20) || x'00' AS BLOB) WHERE key = 'zwei'";
    assert_eq!(db.execute(altered, []).unwrap(), 1);
    drop(db);
    let newest = rotated(dir.path(), &ring);
    assert!(store.at_rest().reseal().await.unwrap() > 0);
    let counts = store.at_rest().counts().await.unwrap();
    assert_eq!(counts.iter().filter(|(id, _)| **id != newest).map(|(_, count)| count).sum::<u64>(), 2, "{counts:?}");
    assert_eq!(store.at_rest().reseal().await.unwrap(), 0, "it comes to an end");
}
