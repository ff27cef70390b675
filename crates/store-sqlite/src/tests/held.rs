//! Quota of an owner: counted as rows are inserted and removed, in every way they are removed, and through a restart.

use std::time::Duration;

use bytes::Bytes;
use interlingua_model::id::{TaskId, Text, Time, TopicId};
use interlingua_model::journal::Log;
use interlingua_model::ports::*;
use rusqlite::Connection;

use super::super::schema::{self, MIGRATIONS};
use super::{accepted, append, open, row};

fn of(owner: &str, most: u64) -> Room {
    Room { of: "conversations", owner: owner.into(), most, bytes: None, beside: 0 }
}

async fn begin(store: &Store, task: u128, owner: &str, state: TaskPhase, most: u64) -> Result<(), StoreFault> {
    let first = Append {
        most: Some(TaskRoom { tasks: Some(most), ..TaskRoom::default() }),
        ..accepted(row(task, owner, state, task as u64))
    };
    store.journal.append(first).await.map(drop)
}

async fn tasks(store: &Store, owner: &str) -> Vec<u128> {
    let filter = TaskFilter { owner: Some(owner.into()), limit: 100, ..TaskFilter::default() };
    let rows = store.journal.tasks(filter).await.unwrap();
    rows.iter().map(|row| row.task.0).rev().collect()
}

fn is_crowded<T>(taken: &Result<T, StoreFault>) -> bool {
    matches!(taken, Err(StoreFault::Crowded(_)))
}

#[tokio::test]
async fn one_task_more_than_an_owner_may_keep_is_refused_while_the_others_run() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let ports = store.ports();
    for task in 1..=3 {
        begin(&ports, task, "ann", TaskPhase::Running, 3).await.unwrap();
    }
    assert!(is_crowded(&begin(&ports, 4, "ann", TaskPhase::Running, 3).await));
    assert_eq!(ports.journal.last(Log::Task(TaskId(4))).await.unwrap(), 0, "nothing of it is left");
    begin(&ports, 5, "bob", TaskPhase::Running, 3).await.unwrap();
    begin(&ports, 6, "ann", TaskPhase::Running, 4).await.unwrap();
    let unbounded = accepted(row(7, "ann", TaskPhase::Running, 7));
    ports.journal.append(unbounded).await.unwrap();
    assert!(is_crowded(&begin(&ports, 8, "ann", TaskPhase::Running, 5).await), "what is unbounded counts too");
    // What goes on is not new.
    let more = Append {
        most: Some(TaskRoom { tasks: Some(1), ..TaskRoom::default() }),
        row: Some(row(1, "ann", TaskPhase::Waiting, 1)),
        ..append_to(1)
    };
    ports.journal.append(more).await.unwrap();
    store.close().await;
    let store = open(dir.path());
    assert!(is_crowded(&begin(&store.ports(), 9, "ann", TaskPhase::Running, 5).await), "after a restart too");
    assert!(store.ports().journal.forget(TaskId(7)).await.unwrap());
    begin(&store.ports(), 9, "ann", TaskPhase::Running, 5).await.unwrap();
}

fn append_to(task: u128) -> Append {
    append(Log::Task(TaskId(task)), 1, &["more"])
}

#[tokio::test]
async fn an_owners_oldest_finished_tasks_make_room_and_nobody_elses() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let ports = store.ports();
    begin(&ports, 1, "bob", TaskPhase::Completed, 3).await.unwrap();
    begin(&ports, 2, "ann", TaskPhase::Running, 3).await.unwrap();
    begin(&ports, 3, "ann", TaskPhase::Failed, 3).await.unwrap();
    begin(&ports, 4, "ann", TaskPhase::Completed, 3).await.unwrap();
    begin(&ports, 5, "ann", TaskPhase::Completed, 3).await.unwrap();
    assert_eq!((tasks(&ports, "ann").await, tasks(&ports, "bob").await), (vec![2, 4, 5], vec![1]));
    begin(&ports, 6, "ann", TaskPhase::Completed, 2).await.unwrap();
    assert_eq!(tasks(&ports, "ann").await, [2, 6], "a lower bound counts at once");
}

#[tokio::test]
async fn what_a_running_task_started_does_not_make_room() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let ports = store.ports();
    begin(&ports, 1, "ann", TaskPhase::Running, 9).await.unwrap();
    let child = TaskRow { parent: Some(TaskId(1)), ..row(2, "ann>agent", TaskPhase::Completed, 2) };
    ports
        .journal
        .append(Append { most: Some(TaskRoom { tasks: Some(1), ..TaskRoom::default() }), ..accepted(child) })
        .await
        .unwrap();
    assert!(is_crowded(&begin(&ports, 3, "ann>agent", TaskPhase::Running, 1).await));
    let over = Append { row: Some(row(1, "ann", TaskPhase::Completed, 1)), ..append_to(1) };
    ports.journal.append(over).await.unwrap();
    begin(&ports, 3, "ann>agent", TaskPhase::Running, 1).await.unwrap();
    assert_eq!(tasks(&ports, "ann>agent").await, [3]);
}

#[tokio::test]
async fn tasks_count_no_more_however_they_go() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let ports = store.ports();
    let fill = async || {
        for task in 1..=3 {
            begin(&ports, task, "ann", TaskPhase::Waiting, 3).await.unwrap();
        }
        assert!(is_crowded(&begin(&ports, 9, "ann", TaskPhase::Waiting, 3).await));
    };
    fill().await;
    assert_eq!(ports.journal.forget_owner("ann").await.unwrap(), 3);
    fill().await;
    for task in 1..=3 {
        let done = row(task, "ann", TaskPhase::Completed, 1);
        ports.journal.append(Append { row: Some(done), ..append_to(task) }).await.unwrap();
    }
    let none = Duration::ZERO;
    let rules = Retention {
        tasks: none,
        tasks_count: 0,
        audit: none,
        audit_count: 0,
        audit_bytes: u64::MAX,
        topics: none,
        topics_count: 0,
    };
    assert_eq!(ports.journal.retain(rules, Time(5000)).await.unwrap().tasks, 3);
    fill().await;
}

#[tokio::test]
async fn records_of_somebody_are_counted_until_they_are_taken_or_removed() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let records = store.ports().records;
    let put = async |room: Room, key: &str, now: u64| {
        let item = Item::new(key, Bytes::from("x"), Some(Time(now + 10)));
        records.put_within(room, "talk", item, Time(now)).await
    };
    for key in ["a", "b"] {
        put(of("ann", 2), key, 1).await.unwrap();
    }
    assert!(is_crowded(&put(of("ann", 2), "c", 1).await));
    put(of("bob", 2), "c", 1).await.unwrap();
    let again = put(of("ann", 9), "a", 1).await;
    assert!(matches!(again, Err(StoreFault::Moved { .. })), "it is there: {again:?}");
    // Another value in its place is the same thing.
    records.put("talk", "a", Bytes::from("y"), Some(Time(11)), Expect::Anything, Time(1)).await.unwrap();
    assert!(records.take("talk", "b", Time(1)).await.unwrap().is_some());
    put(of("ann", 2), "d", 1).await.unwrap();
    assert!(is_crowded(&put(of("ann", 2), "e", 1).await));
    assert_eq!(records.expire(Time(50)).await.unwrap(), 3);
    put(of("ann", 1), "a", 50).await.unwrap();
    // What has expired and was not removed is made anew, by whomever.
    put(of("bob", 1), "a", 90).await.unwrap();
    assert!(is_crowded(&put(of("bob", 1), "z", 90).await));
    put(of("ann", 1), "z", 90).await.unwrap();
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

fn bytes_of(owner: u64, of_task: u64) -> Option<TaskRoom> {
    Some(TaskRoom { tasks: None, bytes: Some(owner), of_task: Some(of_task) })
}

/// A task of this owner whose first record has so many bytes.
async fn weighty(store: &Store, task: u128, owner: &str, state: TaskPhase, bytes: usize) -> Result<(), StoreFault> {
    let records = vec![Bytes::from(vec![b'x'; bytes])];
    let first = Append { records, most: bytes_of(1_000, 600), ..accepted(row(task, owner, state, task as u64)) };
    store.journal.append(first).await.map(drop)
}

#[tokio::test]
async fn bytes_of_one_owner_are_bounded_and_finished_tasks_make_room() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let ports = store.ports();
    weighty(&ports, 1, "ann", TaskPhase::Completed, 400).await.unwrap();
    weighty(&ports, 2, "ann", TaskPhase::Running, 400).await.unwrap();
    weighty(&ports, 3, "ann", TaskPhase::Running, 400).await.unwrap();
    assert_eq!(tasks(&ports, "ann").await, [2, 3], "the finished one made room");
    assert!(is_crowded(&weighty(&ports, 4, "ann", TaskPhase::Running, 400).await), "nothing can make room");
    weighty(&ports, 5, "bob", TaskPhase::Running, 400).await.unwrap();
    assert!(is_crowded(&weighty(&ports, 6, "bob", TaskPhase::Running, 601).await), "more than one task may have");
    store.close().await;
    let store = open(dir.path());
    assert!(is_crowded(&weighty(&store.ports(), 4, "ann", TaskPhase::Running, 400).await), "after a restart too");
    assert!(store.ports().journal.forget(TaskId(2)).await.unwrap());
    weighty(&store.ports(), 4, "ann", TaskPhase::Running, 400).await.unwrap();
}

#[tokio::test]
async fn a_task_that_goes_on_is_bounded_too_with_the_journal_of_its_run() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let ports = store.ports();
    weighty(&ports, 1, "ann", TaskPhase::Running, 300).await.unwrap();
    let more = |bytes: usize, at: u64| Append {
        records: vec![Bytes::from(vec![b'y'; bytes])],
        expected: Expected::At(at),
        most: bytes_of(1_000, 600),
        ..accepted(row(1, "ann", TaskPhase::Running, 1))
    };
    assert!(is_crowded(&ports.journal.append(more(301, 1)).await));
    ports.journal.append(more(200, 1)).await.unwrap();
    ports.journal.append(append(Log::Run(TaskId(1)), 0, &["of its run"])).await.unwrap();
    assert!(is_crowded(&ports.journal.append(more(100, 2)).await), "the run counts");
    let unbounded = Append { most: None, ..more(5_000, 2) };
    ports.journal.append(unbounded).await.unwrap();
}

#[tokio::test]
async fn folds_records_and_what_is_stored_beside_a_task_count_in_its_owners_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let ports = store.ports();
    weighty(&ports, 1, "ann", TaskPhase::Running, 300).await.unwrap();
    ports.journal.snapshot(Log::Task(TaskId(1)), 1, Time(1), Bytes::from(vec![b'f'; 200])).await.unwrap();
    ports.journal.append(append(Log::Run(TaskId(1)), 0, &["of its run"])).await.unwrap();
    ports.journal.snapshot(Log::Run(TaskId(1)), 1, Time(1), Bytes::from(vec![b'f'; 200])).await.unwrap();
    let record = |key: &'static str, bytes: usize| {
        let room = Room { of: "webhooks", owner: "ann".into(), most: 9, bytes: Some(1_000), beside: 0 };
        ports.records.put_within(room, "w", Item::new(key, Bytes::from(vec![b'r'; bytes]), None), Time(1))
    };
    record("a", 200).await.unwrap();
    assert!(is_crowded(&weighty(&ports, 2, "ann", TaskPhase::Running, 200).await), "folds and records count");
    assert!(is_crowded(&record("b", 200).await));
    ports.records.put("w", "a", Bytes::from(vec![b'r'; 20]), None, Expect::Anything, Time(1)).await.unwrap();
    record("b", 180).await.unwrap();
    ports.records.take("w", "a", Time(1)).await.unwrap();
    ports.records.take("w", "b", Time(1)).await.unwrap();
    store.close().await;
    let store = open(dir.path());
    let ports = store.ports();
    let beside = |bytes: u64| Append {
        beside: bytes,
        most: bytes_of(1_000, 600),
        ..accepted(row(2, "ann", TaskPhase::Running, 2))
    };
    assert!(is_crowded(&ports.journal.append(beside(400)).await), "after a restart too, and so does what is beside");
    ports.journal.append(beside(200)).await.unwrap();
    assert!(is_crowded(&weighty(&ports, 3, "ann", TaskPhase::Running, 200).await));
    assert!(ports.journal.forget(TaskId(1)).await.unwrap());
    assert!(ports.journal.forget(TaskId(2)).await.unwrap());
    weighty(&ports, 4, "ann", TaskPhase::Running, 590).await.unwrap();
    weighty(&ports, 5, "ann", TaskPhase::Running, 400).await.unwrap();
}

#[tokio::test]
async fn entries_of_topics_and_what_is_stored_beside_records_count_in_their_owners_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let ports = store.ports();
    let (news, inbox) = (TopicId::from("news"), TopicId::from("inbox"));
    let say = |topic: &TopicId, owner: &str, bytes: usize| {
        let said = "n".repeat(bytes);
        let share = Some(Share { owner: owner.into(), bytes: 1_000 });
        ports.journal.append(Append {
            share,
            expected: Expected::Any,
            ..append(Log::Topic(topic.clone()), 0, &[said.as_str()])
        })
    };
    let keep = |revision: u64, beside: u64| {
        let room = Room { of: "uploads", owner: "ann".into(), most: 9, bytes: Some(1_000), beside };
        let item = Item { revision, ..Item::new("a", Bytes::from_static(b"a"), None) };
        ports.records.put_within(room, "u", item, Time(1))
    };
    say(&news, "ann", 300).await.unwrap();
    say(&inbox, "ann", 300).await.unwrap();
    let first = keep(0, 300).await.unwrap();
    assert!(is_crowded(&say(&news, "ann", 200).await));
    assert!(is_crowded(&keep(first, 500).await), "what it replaces does not count");
    say(&news, "bob", 900).await.unwrap();
    let second = keep(first, 100).await.unwrap();
    say(&news, "ann", 200).await.unwrap();
    assert!(is_crowded(&keep(second, 200).await));
    // Other bytes in place of an entry, and none at all.
    assert!(ports.journal.redact(Log::Topic(inbox.clone()), 1, Bytes::from_static(b"-")).await.unwrap());
    let third = keep(second, 390).await.unwrap();
    ports.journal.clear(news.clone()).await.unwrap();
    keep(third, 900).await.unwrap();
    say(&news, "bob", 900).await.unwrap();
    assert_eq!(ports.journal.last(Log::Topic(news)).await.unwrap(), 4, "numbers go on");
    ports.records.take("u", "a", Time(1)).await.unwrap();
    // Finished tasks make room.
    weighty(&ports, 1, "ann", TaskPhase::Completed, 500).await.unwrap();
    say(&inbox, "ann", 900).await.unwrap();
    assert!(ports.journal.task(TaskId(1)).await.unwrap().is_none());
}

#[tokio::test]
async fn the_audit_is_trimmed_by_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let ports = store.ports();
    for _ in 0..10 {
        let page = Append {
            records: vec![Bytes::from(vec![b'a'; 100])],
            expected: Expected::Any,
            ..append(Log::Audit, 0, &[])
        };
        ports.journal.append(page).await.unwrap();
    }
    let long = Duration::from_secs(1_000_000);
    let rules = Retention {
        tasks: long,
        tasks_count: 9,
        audit: long,
        audit_count: 99,
        audit_bytes: 350,
        topics: long,
        topics_count: 9,
    };
    assert_eq!(ports.journal.retain(rules, Time(1)).await.unwrap().audit, 7);
    assert_eq!(ports.journal.retain(rules, Time(1)).await.unwrap().audit, 0);
    assert_eq!(ports.journal.read(Log::Audit, 0, 99).await.unwrap().len(), 3);
    assert_eq!(ports.journal.last(Log::Audit).await.unwrap(), 10, "numbers go on");
}
