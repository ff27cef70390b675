//! How much one owner may keep: counted as it comes and goes, in every way it goes, and through a restart.

use std::time::Duration;

use bytes::Bytes;
use interlingua_core::id::{TaskId, Text, Time};
use interlingua_core::journal::Log;
use interlingua_core::ports::*;
use rusqlite::Connection;

use super::super::schema::{self, MIGRATIONS};
use super::{accepted, append, open, row};

fn of(owner: &str, most: u64) -> Room {
    Room { of: "conversations", owner: owner.into(), most }
}

async fn begin(store: &Store, task: u128, owner: &str, state: TaskPhase, most: u64) -> Result<(), StoreFault> {
    let first = Append { most: Some(most), ..accepted(row(task, owner, state, task as u64)) };
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
    let more = Append { most: Some(1), row: Some(row(1, "ann", TaskPhase::Waiting, 1)), ..append_to(1) };
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
    ports.journal.append(Append { most: Some(1), ..accepted(child) }).await.unwrap();
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
    let rules = Retention { tasks: none, tasks_count: 0, audit: none, audit_count: 0, topics: none, topics_count: 0 };
    assert_eq!(ports.journal.retain(rules, Time(5000)).await.unwrap().tasks, 3);
    fill().await;
}

#[tokio::test]
async fn records_of_somebody_are_counted_until_they_are_taken_or_removed() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    let records = store.ports().records;
    let put = async |room: Room, key: &str, now: u64| {
        records.put_within(room, "talk", key, Bytes::from("x"), Some(Time(now + 10)), Time(now)).await
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
