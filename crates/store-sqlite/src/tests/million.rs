//! A long history must not slow down the present. `make soak` runs this with a million finished tasks, `make test` with fewer; the bounds
//! are the same, because they do not depend on the number.

use std::time::Duration;

use futures_util::future::join_all;
use interlingua_model::id::Time;
use interlingua_model::ports::*;
use rusqlite::Connection;

use super::super::{Options, schema, tasks};
use super::open;
use interlingua_store_contract::{accepted, row, unique};

fn how_many() -> u128 {
    if std::env::var_os("SOAK_SECONDS").is_some() { 1_000_000 } else { 20_000 }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_million_finished_tasks_leave_opening_and_memory_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    fill(&store.ports(), how_many()).await;
    store.close().await;
    drop(store);

    let (read, resident) = (read_by_this_thread(), resident());
    let store = open(dir.path());
    let journal = store.ports().journal;
    let live = journal.tasks(TaskFilter { live: true, limit: 100, ..TaskFilter::default() }).await.unwrap();
    assert_eq!(live.len(), 10);
    let read = read_by_this_thread() - read;
    assert!(read < 1 << 20, "opening read {read} bytes");

    let owner = TaskFilter { owner: Some("user:3".into()), limit: 50, ..TaskFilter::default() };
    let mut page = journal.tasks(owner.clone()).await.unwrap();
    for _ in 0..3 {
        let before = page.last().map(|row| (row.created, row.task));
        page = journal.tasks(TaskFilter { before, ..owner.clone() }).await.unwrap();
        assert_eq!(page.len(), 50);
    }
    let options = Options::default();
    // The caches of all connections at their fullest, and as much again for the rest.
    let bound = 2 * (16 + 4 * u64::from(options.readers)) * 1024 * 1024;
    let grown = self::resident().saturating_sub(resident);
    assert!(grown < bound, "{grown} bytes more");

    let held = u64::try_from(how_many()).unwrap();
    let rules = Retention {
        tasks: Duration::MAX,
        tasks_count: held - 2000,
        audit: Duration::MAX,
        audit_count: 0,
        audit_bytes: u64::MAX,
        topics: Duration::MAX,
        topics_count: 0,
    };
    let removed = journal.retain(rules, Time(held)).await.unwrap();
    assert_eq!((removed.tasks, removed.keys), (2000, held / 10 - 200));
}

/// Finished tasks of a hundred owners, every tenth with a key, and ten tasks that wait.
async fn fill(store: &Store, count: u128) {
    let tasks: Vec<u128> = (0..count + 10).collect();
    for some in tasks.chunks(1000) {
        let appends = some.iter().map(|&task| {
            let state = if task < count { TaskPhase::Completed } else { TaskPhase::Waiting };
            // Ids are random in life: an odd factor scatters them over all values.
            let id = task.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
            let row = row(id, &format!("user:{}", task % 100), state, task as u64);
            let key = (task % 10 == 0 && task < count).then(|| unique(&task.to_string(), "", 1));
            store.journal.append(Append { unique: key, ..accepted(row) })
        });
        assert!(join_all(appends).await.iter().all(Result::is_ok));
    }
}

/// Bytes this thread asked the kernel for; opening happens on the thread that asks for it.
fn read_by_this_thread() -> u64 {
    number_after("/proc/thread-self/io", "rchar:")
}

fn resident() -> u64 {
    number_after("/proc/self/status", "VmRSS:") * 1024
}

fn number_after(file: &str, name: &str) -> u64 {
    let text = std::fs::read_to_string(file).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn no_list_of_tasks_sorts_or_visits_all_of_them() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("hub.db");
    let mut db = Connection::open(&file).unwrap();
    schema::migrate(&mut db, &file, schema::MIGRATIONS).unwrap();
    for owner in [None, Some("user:3".into())] {
        for conversation in [None, Some("c".into())] {
            for state in TaskPhase::ALL.into_iter().map(Some).chain([None]) {
                for before in [None, Some((Time(1), interlingua_model::id::TaskId(1)))] {
                    let (owner, conversation) = (owner.clone(), conversation.clone());
                    let filter = TaskFilter { owner, conversation, state, live: false, before, limit: 1 };
                    check_plan(&db, &filter);
                    check_plan(&db, &TaskFilter { live: true, ..filter });
                }
            }
        }
    }
}

/// A sort shows as a temporary tree; a visit to all rows as a scan without an index.
fn check_plan(db: &Connection, filter: &TaskFilter) {
    let mut explain = db.prepare(&format!("EXPLAIN QUERY PLAN {}", tasks::select(filter))).unwrap();
    let mut rows = explain.raw_query();
    while let Some(step) = rows.next().unwrap() {
        let step: String = step.get("detail").unwrap();
        assert!(step.contains("USING INDEX tasks_") && !step.contains("TEMP"), "{filter:?}: {step}");
    }
}
