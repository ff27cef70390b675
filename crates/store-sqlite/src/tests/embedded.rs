//! Guarantees of this driver alone: its directory, its commits, its files.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use bytes::Bytes;
use futures_util::future::join_all;
use interlingua_model::digest::Digest;
use interlingua_model::id::{TaskId, Text, Time};
use interlingua_model::journal::Log;
use interlingua_model::ports::*;
use rusqlite::Connection;

use super::super::schema::{self, MIGRATIONS};
use super::super::{Embedded, Integrity, OpenFault, Options, integrity};
use super::open;
use interlingua_store_contract::append;

#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_of_appenders_is_committed_in_order_and_once() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let journal = store.ports().journal;
    // 256 appenders on 64 logs: four race for each place, one wins, the others are told.
    let crowd = join_all((0..256_u128).map(async |appender| {
        let log = Log::Task(TaskId(appender % 64));
        let mut won = 0;
        for place in 0..8 {
            match journal.append(append(log.clone(), place, &[&format!("{appender}/{place}")])).await {
                Ok(Appended::At(seq)) if seq == place + 1 => won += 1,
                Err(StoreFault::Moved { .. }) => {}
                other => panic!("{other:?}"),
            }
        }
        won
    }));
    assert_eq!(crowd.await.into_iter().sum::<u32>(), 64 * 8);
    for log in 0..64 {
        let stored = journal.read(Log::Task(TaskId(log)), 0, 100).await.unwrap();
        assert_eq!(stored.iter().map(|record| record.seq).collect::<Vec<_>>(), (1..=8).collect::<Vec<_>>());
        for record in stored {
            let text = String::from_utf8(record.bytes.to_vec()).unwrap();
            assert!(text.ends_with(&format!("/{}", record.seq - 1)), "{text} at {}", record.seq);
        }
    }
}

#[tokio::test]
async fn many_waiting_appends_share_a_commit() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let journal = store.ports().journal;
    // On one thread all 256 are queued before the first is answered, so at most two commits are needed.
    let appends = (0..256).map(|task| journal.append(append(Log::Task(TaskId(task)), 0, &["x"])));
    let done = join_all(appends).await;
    assert!(done.iter().all(|appended| matches!(appended, Ok(Appended::At(1)))));
    let wal = Wal::read(&dir.path().join("hub.db-wal"));
    assert!(wal.commits <= 16, "{} commits for 256 appends", wal.commits);
}

/// The commits in a write-ahead log: frames whose header names the size of the database (file format, section 4.1).
struct Wal {
    commits: usize,
}

impl Wal {
    fn read(path: &Path) -> Wal {
        let bytes = std::fs::read(path).unwrap();
        let frames = bytes[32..].chunks(24 + 4096);
        Wal { commits: frames.filter(|frame| frame[4..8] != [0; 4]).count() }
    }
}

#[tokio::test]
async fn what_was_acknowledged_is_there_after_opening_again() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    store.ports().journal.append(append(Log::Audit, 0, &["line"])).await.unwrap();
    store.close().await;
    assert!(matches!(store.ports().journal.last(Log::Audit).await, Err(StoreFault::Closed)));
    let late = store.ports().journal.append(append(Log::Audit, 1, &["late"])).await;
    assert!(matches!(late, Err(StoreFault::Closed)));
    let again = open(dir.path());
    assert_eq!(again.ports().journal.last(Log::Audit).await.unwrap(), 1);
}

#[tokio::test]
async fn closing_finishes_what_was_asked_before() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let journal = store.ports().journal;
    // As many as one turn of the runtime lets through before the close has its own.
    let appends = join_all((0..100).map(|task| journal.append(append(Log::Task(TaskId(task)), 0, &["x"]))));
    let (done, ()) = tokio::join!(appends, store.close());
    assert!(done.iter().all(Result::is_ok), "{done:?}");
}

#[tokio::test]
async fn one_directory_has_one_hub() {
    let dir = tempfile::tempdir().unwrap();
    let first = open(dir.path());
    let fault = Embedded::open(dir.path(), Options::default()).unwrap_err();
    assert!(matches!(fault, OpenFault::InUse { .. }));
    assert!(fault.to_string().contains(dir.path().to_str().unwrap()), "{fault}");
    drop(first);
    open(dir.path());
}

#[tokio::test]
async fn directory_and_files_are_for_their_owner_alone() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("deep/data");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o755)).unwrap();
    let store = open(&dir);
    store.ports().journal.append(append(Log::Audit, 0, &["line"])).await.unwrap();
    let mut blob = store.ports().blobs.create().await.unwrap();
    blob.write(Bytes::from("x")).await.unwrap();
    blob.finish().await.unwrap();
    let mut found = Vec::new();
    walk(&dir, &mut found);
    assert!(found.len() >= 7, "{found:?}");
    for path in found {
        let mode = path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, if path.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
    }
}

fn walk(path: &Path, found: &mut Vec<std::path::PathBuf>) {
    found.push(path.to_owned());
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            walk(&entry.unwrap().path(), found);
        }
    }
}

#[tokio::test]
async fn a_full_store_says_so_and_harms_nobody_else() {
    let dir = tempfile::tempdir().unwrap();
    let store = Embedded::open(dir.path(), Options { max_bytes: Some(1024 * 1024), ..Options::default() }).unwrap();
    let journal = store.ports().journal;
    let huge = "x".repeat(2 * 1024 * 1024);
    let big = append(Log::Task(TaskId(1)), 0, &[&huge]);
    let small = |task| append(Log::Task(TaskId(task)), 0, &["small"]);
    // All in one commit: the one that has no room fails, its neighbours do not.
    let (before, full, after) =
        tokio::join!(journal.append(small(2)), journal.append(big.clone()), journal.append(small(3)));
    assert!(matches!(full, Err(StoreFault::Full(_))), "{full:?}");
    assert_eq!((before.unwrap(), after.unwrap()), (Appended::At(1), Appended::At(1)));
    assert!(journal.read(Log::Task(TaskId(1)), 0, 9).await.unwrap().is_empty());
    assert_eq!(journal.append(small(4)).await.unwrap(), Appended::At(1));
}

#[tokio::test]
async fn a_file_that_is_no_database_is_named() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("hub.db"), "This is not a database, it is a text. ".repeat(200)).unwrap();
    let fault = Embedded::open(dir.path(), Options::default()).unwrap_err();
    assert!(matches!(fault, OpenFault::Damaged { .. }), "{fault:?}");
    assert!(fault.to_string().contains("hub.db"), "{fault}");
}

#[tokio::test]
async fn damaged_pages_are_a_fault_and_not_an_answer() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    for task in 0..100 {
        store.ports().journal.append(append(Log::Task(TaskId(task)), 0, &[&"x".repeat(500)])).await.unwrap();
    }
    store.close().await;
    drop(store);
    let file = dir.path().join("hub.db");
    let mut bytes = std::fs::read(&file).unwrap();
    // Page 1 holds the schema; everything after it is overwritten.
    bytes[4096..].fill(0x5a);
    std::fs::write(&file, bytes).unwrap();
    let opened = Embedded::open(dir.path(), Options::default());
    assert!(matches!(opened, Err(OpenFault::Damaged { .. })), "what is kept is counted when it is opened: {opened:?}");
    assert!(matches!(integrity(dir.path()), Err(OpenFault::Damaged { .. })));
}

#[tokio::test]
async fn another_program_s_database_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("hub.db");
    Connection::open(&file).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
    let fault = Embedded::open(dir.path(), Options::default()).unwrap_err();
    assert!(matches!(fault, OpenFault::Foreign { .. }), "{fault:?}");
}

#[tokio::test]
async fn a_newer_schema_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()));
    let newer = MIGRATIONS.len() + 1;
    let db = Connection::open(dir.path().join("hub.db")).unwrap();
    db.pragma_update(None, "user_version", i64::try_from(newer).unwrap()).unwrap();
    drop(db);
    let fault = Embedded::open(dir.path(), Options::default()).unwrap_err();
    assert!(fault.to_string().contains(&format!("schema {newer}")), "{fault}");
}

#[test]
fn a_migration_keeps_what_was_there_and_a_failing_one_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("hub.db");
    let mut db = Connection::open(&file).unwrap();
    schema::migrate(&mut db, &file, MIGRATIONS).unwrap();
    db.execute("INSERT INTO records (kind, key, revision, value) VALUES ('kind', 'key', 1, x'00')", []).unwrap();
    let mut steps = MIGRATIONS.to_vec();
    steps.push("ALTER TABLE records ADD COLUMN note TEXT; UPDATE records SET note = 'kept';");
    schema::migrate(&mut db, &file, &steps).unwrap();
    let note = |db: &Connection| db.query_row("SELECT note FROM records", [], |row| row.get::<_, String>(0));
    assert_eq!(note(&db).unwrap(), "kept");
    let version = schema::version(&db, &file).unwrap();
    steps.push("UPDATE records SET note = 'half'; ALTER TABLE nothing ADD COLUMN x;");
    assert!(schema::migrate(&mut db, &file, &steps).is_err());
    assert_eq!(note(&db).unwrap(), "kept");
    assert_eq!(schema::version(&db, &file).unwrap(), version);
    // Once done, a step is not done again.
    schema::migrate(&mut db, &file, &steps[..steps.len() - 1]).unwrap();
}

#[tokio::test]
async fn records_of_a_store_from_before_are_where_they_were() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("hub.db");
    let mut db = Connection::open(&file).unwrap();
    schema::migrate(&mut db, &file, &MIGRATIONS[..3]).unwrap();
    db.execute("INSERT INTO logs (no, kind, id, floor) VALUES (7, 3, x'', 1)", []).unwrap();
    let (short, long) = (vec![1; 10], vec![2; 100_000]);
    for (seq, bytes) in [(2, &short), (3, &long)] {
        let values = rusqlite::params![seq, bytes];
        db.execute("INSERT INTO journal (log, seq, at, bytes) VALUES (7, ?1, 5, ?2)", values).unwrap();
    }
    drop(db);
    let journal = open(dir.path()).ports().journal;
    let found = journal.read(Log::Audit, 0, 9).await.unwrap();
    let found: Vec<_> = found.iter().map(|stored| (stored.seq, stored.at, stored.bytes.to_vec())).collect();
    assert_eq!(found, [(2, Time(5), short), (3, Time(5), long)]);
    assert_eq!(journal.append(append(Log::Audit, 3, &["next"])).await.unwrap(), Appended::At(4));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_is_one_moment_of_a_store_that_goes_on() {
    let home = tempfile::tempdir().unwrap();
    let (dir, copy) = (home.path().join("data"), home.path().join("copy"));
    let store = open(&dir);
    let ports = store.ports();
    let ring = interlingua_keys::Keyring::from_directory(&dir).unwrap();
    let sealed = ring.seal("p", b"", b"secret").unwrap();
    let mut blob = ports.blobs.create().await.unwrap();
    blob.write(Bytes::from("bytes")).await.unwrap();
    let blob = blob.finish().await.unwrap();
    let log = Log::Task(TaskId(1));
    for place in 0..50 {
        ports.journal.append(append(log.clone(), place, &["a"])).await.unwrap();
    }
    let writing = async {
        for place in 50..100 {
            ports.journal.append(append(log.clone(), place, &["a"])).await.unwrap();
        }
    };
    let (copied, ()) = tokio::join!(store.backup(&copy), writing);
    copied.unwrap();
    let found = integrity(&copy).unwrap();
    let schema = i64::try_from(schema::MIGRATIONS.len()).unwrap();
    assert_eq!(found, Integrity { schema, blobs: 1, blob_bytes: 5 });
    let restored = open(&copy);
    let last = restored.ports().journal.last(log.clone()).await.unwrap();
    assert!((50..=100).contains(&last));
    assert_eq!(restored.ports().journal.read(log, 0, 1000).await.unwrap().len() as u64, last);
    assert_eq!(restored.ports().blobs.read(blob.digest, 0, 9).await.unwrap(), "bytes");
    let ring = interlingua_keys::Keyring::from_directory(&copy).unwrap();
    assert_eq!(ring.open("p", b"", &sealed).unwrap().as_slice(), b"secret");
    assert!(matches!(store.backup(&copy).await, Err(OpenFault::Occupied { .. })));
}

#[tokio::test]
async fn integrity_names_an_altered_blob() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let mut blob = store.ports().blobs.create().await.unwrap();
    blob.write(Bytes::from("bytes")).await.unwrap();
    let name = blob.finish().await.unwrap().digest.to_string();
    store.close().await;
    assert_eq!(integrity(dir.path()).unwrap().blobs, 1);
    std::fs::write(dir.path().join("blobs").join(&name[..2]).join(&name), "bites").unwrap();
    assert!(integrity(dir.path()).unwrap_err().to_string().contains(&name));
}

#[tokio::test]
async fn unfinished_blobs_are_removed_at_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()));
    let orphan = dir.path().join("blobs/tmp/7");
    std::fs::write(&orphan, "half").unwrap();
    let store = open(dir.path());
    assert!(!orphan.exists());
    assert_eq!(store.ports().blobs.info(Digest::of(b"half")).await.unwrap(), None);
}

#[tokio::test]
async fn space_that_retention_frees_is_given_back() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let journal = store.ports().journal;
    let big = "x".repeat(100_000);
    for task in 0..20 {
        journal.append(append(Log::Task(TaskId(task)), 0, &[&big])).await.unwrap();
        journal.forget(TaskId(task / 2)).await.unwrap();
    }
    for task in 0..20 {
        journal.forget(TaskId(task)).await.unwrap();
    }
    let age = std::time::Duration::MAX;
    let rules = Retention {
        tasks: age,
        tasks_count: 0,
        audit: age,
        audit_count: 0,
        audit_bytes: u64::MAX,
        topics: age,
        topics_count: 0,
    };
    journal.retain(rules, Time(0)).await.unwrap();
    store.close().await;
    let left = dir.path().join("hub.db").metadata().unwrap().len();
    assert!(left < 200_000, "{left} bytes left");
}

#[test]
fn tasks_of_a_store_from_before_are_counted_when_it_is_opened() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("hub.db");
    let mut db = Connection::open(&file).unwrap();
    schema::migrate(&mut db, &file, &MIGRATIONS[..2]).unwrap();
    for (no, owner) in [(1, "ann"), (2, "bob"), (3, "ann")] {
        let insert = "INSERT INTO tasks (no, task, owner, state, created, updated) VALUES (?1, x'00', ?2, 1, 1, 1)";
        db.execute(insert, rusqlite::params![no, owner]).unwrap();
    }
    schema::migrate(&mut db, &file, MIGRATIONS).unwrap();
    let mut select = db.prepare("SELECT owner, count FROM held WHERE of = 'tasks' ORDER BY owner").unwrap();
    let counts = select.query_map([], |row| Ok((row.get::<_, Text>(0)?, row.get::<_, i64>(1)?))).unwrap();
    assert_eq!(counts.collect::<Result<Vec<_>, _>>().unwrap(), [("ann".into(), 2), ("bob".into(), 1)]);
}
