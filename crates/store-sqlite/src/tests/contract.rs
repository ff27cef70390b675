//! The contract of the ports for every driver. The functions take the ports alone; `contract!` runs them on one driver.

use std::time::Duration;

use bytes::Bytes;
use interlingua_model::digest::Digest;
use interlingua_model::id::{TaskId, Time};
use interlingua_model::journal::Log;
use interlingua_model::ports::*;

use super::{accepted, append, row, unique};

/// One test for each function, on a new store each.
macro_rules! contract {
    ($open:expr; $($name:ident),* $(,)?) => {$(
        #[tokio::test(flavor = "multi_thread")]
        async fn $name() {
            let dir = tempfile::tempdir().unwrap();
            let store = $open(dir.path());
            super::$name(store.ports()).await;
        }
    )*};
}

/// Every test of the contract.
macro_rules! whole_contract {
    ($open:expr) => {
        contract! { $open;
            records_are_read_back_in_order,
            an_append_at_another_place_is_refused,
            any_place_gives_the_next_sequence,
            a_refused_append_leaves_nothing,
            a_key_is_held_by_its_first_task,
            a_key_is_free_when_its_window_has_passed,
            a_fold_is_kept_and_never_replaced_by_an_older_one,
            tasks_are_listed_newest_first_in_pages,
            tasks_are_listed_by_their_last_change_and_counted,
            tasks_are_listed_by_owner_conversation_and_state,
            a_task_row_follows_its_appends,
            finished_tasks_go_by_age_and_count_and_live_ones_stay,
            a_trimmed_log_keeps_counting,
            an_entry_that_is_redacted_says_what_it_is_told_and_the_others_stay,
            forgetting_a_task_takes_its_children,
            forgetting_an_owner_leaves_the_others,
            a_record_is_put_where_it_is_expected,
            a_revision_is_never_given_twice,
            a_record_that_is_rewritten_keeps_its_revision_and_its_expiry,
            an_expired_record_is_gone,
            a_record_is_taken_once,
            records_are_listed_in_key_order,
            a_blob_is_what_was_written,
            a_blob_given_up_leaves_nothing,
            the_oldest_blobs_go_first,
            skills_are_found_by_their_words,
            skills_are_found_in_spanish_without_accents,
            a_peer_s_skills_are_replaced,
            hostile_words_are_only_words,
        }
    };
}

mod embedded {
    whole_contract!(crate::tests::open);
}

mod encrypted {
    whole_contract!(crate::tests::open_sealed);
}

async fn texts(store: &Store, log: Log, after: u64) -> Vec<(u64, String)> {
    let stored = store.journal.read(log, after, 100).await.unwrap();
    stored.into_iter().map(|stored| (stored.seq, String::from_utf8(stored.bytes.to_vec()).unwrap())).collect()
}

async fn records_are_read_back_in_order(store: Store) {
    let log = Log::Task(TaskId(7));
    assert_eq!(store.journal.append(append(log.clone(), 0, &["a", "b"])).await.unwrap(), Appended::At(2));
    assert_eq!(store.journal.append(append(log.clone(), 2, &["c"])).await.unwrap(), Appended::At(3));
    // A run of the same task is another log.
    assert_eq!(store.journal.append(append(Log::Run(TaskId(7)), 0, &["r"])).await.unwrap(), Appended::At(1));
    assert_eq!(texts(&store, log.clone(), 0).await, [(1, "a".into()), (2, "b".into()), (3, "c".into())]);
    assert_eq!(texts(&store, log.clone(), 2).await, [(3, "c".into())]);
    assert_eq!(store.journal.read(log.clone(), 0, 1).await.unwrap().len(), 1);
    assert_eq!(store.journal.last(log).await.unwrap(), 3);
    assert_eq!(store.journal.last(Log::Task(TaskId(8))).await.unwrap(), 0);
}

async fn an_append_at_another_place_is_refused(store: Store) {
    let log = Log::Task(TaskId(7));
    store.journal.append(append(log.clone(), 0, &["a"])).await.unwrap();
    for expected in [0, 2, u64::MAX] {
        match store.journal.append(append(log.clone(), expected, &["x"])).await {
            Err(StoreFault::Moved { expected: said, found: 1 }) => assert_eq!(said, expected),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(texts(&store, log, 0).await, [(1, "a".into())]);
}

async fn an_entry_that_is_redacted_says_what_it_is_told_and_the_others_stay(store: Store) {
    let log = Log::Task(TaskId(7));
    store.journal.append(append(log.clone(), 0, &["a", "b", "c"])).await.unwrap();
    store.journal.append(append(Log::Audit, 0, &["x"])).await.unwrap();
    assert!(store.journal.redact(log.clone(), 2, Bytes::from("gone")).await.unwrap());
    // Once more, and longer than what was there.
    let long = "much longer than it was ".repeat(400);
    assert!(store.journal.redact(log.clone(), 3, Bytes::from(long.clone())).await.unwrap());
    assert_eq!(texts(&store, log.clone(), 0).await, [(1, "a".into()), (2, "gone".into()), (3, long)]);
    assert_eq!(texts(&store, Log::Audit, 0).await, [(1, "x".into())]);
    // What is not there is not made.
    for (log, seq) in [(log.clone(), 0), (log.clone(), 4), (Log::Task(TaskId(8)), 1)] {
        assert!(!store.journal.redact(log, seq, Bytes::from("new")).await.unwrap());
    }
    assert_eq!(store.journal.last(log.clone()).await.unwrap(), 3);
    assert_eq!(store.journal.append(append(log, 3, &["d"])).await.unwrap(), Appended::At(4));
}

async fn a_record_that_is_rewritten_keeps_its_revision_and_its_expiry(store: Store) {
    let put = |value: &'static str, expect| {
        store.records.put("kind", "key", Bytes::from(value), Some(Time(100)), expect, Time(1))
    };
    let first = put("one", Expect::Absent).await.unwrap();
    assert!(store.records.rewrite("kind", "key", Bytes::from("the same"), first).await.unwrap());
    let found = store.records.get("kind", "key", Time(1)).await.unwrap().unwrap();
    assert_eq!((&found.value[..], found.revision, found.expires), (&b"the same"[..], first, Some(Time(100))));
    // Who read it before writes on as if nothing had happened; who would rewrite what that one wrote does not.
    put("two", Expect::Revision(first)).await.unwrap();
    assert!(!store.records.rewrite("kind", "key", Bytes::from("old"), first).await.unwrap());
    assert!(!store.records.rewrite("kind", "other", Bytes::from("new"), first).await.unwrap());
    assert_eq!(store.records.get("kind", "key", Time(1)).await.unwrap().unwrap().value, "two");
    assert_eq!(store.records.get("kind", "other", Time(1)).await.unwrap(), None);
}

async fn any_place_gives_the_next_sequence(store: Store) {
    for seq in 1..=3 {
        let line = Append { expected: Expected::Any, ..append(Log::Audit, 0, &["line"]) };
        assert_eq!(store.journal.append(line).await.unwrap(), Appended::At(seq));
    }
}

async fn a_refused_append_leaves_nothing(store: Store) {
    let log = Log::Task(TaskId(7));
    store.journal.append(append(log.clone(), 0, &["a"])).await.unwrap();
    let refused = Append {
        unique: Some(unique("key", "body", 9000)),
        row: Some(row(7, "ann", TaskPhase::Running, 1)),
        ..append(log, 5, &["x"])
    };
    assert!(store.journal.append(refused).await.is_err());
    assert_eq!(store.journal.unique(Digest::of(b"key"), Time(0)).await.unwrap(), None);
    assert_eq!(store.journal.task(TaskId(7)).await.unwrap(), None);
}

async fn a_key_is_held_by_its_first_task(store: Store) {
    let first = Append { unique: Some(unique("key", "body", 9000)), ..append(Log::Task(TaskId(1)), 0, &["a"]) };
    let second = Append { unique: Some(unique("key", "other", 9000)), ..append(Log::Task(TaskId(2)), 0, &["b"]) };
    store.journal.append(first.clone()).await.unwrap();
    let exists = Appended::Exists { task: TaskId(1), body: Digest::of(b"body") };
    assert_eq!(store.journal.append(second).await.unwrap(), exists);
    assert_eq!(texts(&store, Log::Task(TaskId(2)), 0).await, []);
    let held = store.journal.unique(Digest::of(b"key"), Time(8999)).await.unwrap();
    assert_eq!(held, Some((TaskId(1), Digest::of(b"body"))));
    // The holder itself goes on under its key.
    let again = Append { expected: Expected::At(1), ..first };
    assert_eq!(store.journal.append(again).await.unwrap(), Appended::At(2));
}

async fn a_key_is_free_when_its_window_has_passed(store: Store) {
    let take = |task, at, until| Append {
        unique: Some(unique("key", "body", until)),
        at: Time(at),
        ..append(Log::Task(TaskId(task)), 0, &["a"])
    };
    store.journal.append(take(1, 1000, 2000)).await.unwrap();
    assert!(matches!(store.journal.append(take(2, 1999, 9000)).await.unwrap(), Appended::Exists { .. }));
    assert_eq!(store.journal.append(take(2, 2000, 3000)).await.unwrap(), Appended::At(1));
    assert_eq!(store.journal.unique(Digest::of(b"key"), Time(3000)).await.unwrap(), None);
    assert_eq!(store.journal.retain(all(), Time(3000)).await.unwrap().keys, 1);
}

async fn a_fold_is_kept_and_never_replaced_by_an_older_one(store: Store) {
    let log = Log::Task(TaskId(1));
    store.journal.append(append(log.clone(), 0, &["a", "b", "c"])).await.unwrap();
    assert_eq!(store.journal.latest(log.clone()).await.unwrap(), None);
    for (upto, fold) in [(2, "ab"), (1, "a")] {
        store.journal.snapshot(log.clone(), upto, Time(5), Bytes::from(fold)).await.unwrap();
    }
    let kept = store.journal.latest(log.clone()).await.unwrap().unwrap();
    assert_eq!((kept.seq, kept.bytes), (2, Bytes::from("ab")));
    assert!(store.journal.snapshot(log, 4, Time(5), Bytes::from("abcd")).await.is_err());
}

async fn tasks_are_listed_newest_first_in_pages(store: Store) {
    for task in 0..25 {
        // Pairs share a time: the id decides between them.
        store.journal.append(accepted(row(task, "ann", TaskPhase::Running, task as u64 / 2))).await.unwrap();
    }
    let (mut seen, mut before) = (Vec::new(), None);
    loop {
        let page = store.journal.tasks(TaskFilter { before, limit: 10, ..TaskFilter::default() }).await.unwrap();
        let Some(last) = page.last() else { break };
        before = Some((last.created, last.task));
        seen.extend(page.into_iter().map(|row| row.task.0));
    }
    assert_eq!(seen, (0..25).rev().collect::<Vec<_>>());
}

async fn tasks_are_listed_by_their_last_change_and_counted(store: Store) {
    for task in 0..6_u128 {
        let owner = if task % 2 == 0 { "ann" } else { "bob" };
        let line = row(task, owner, TaskPhase::Running, task as u64);
        let line = TaskRow { skill: Some(if task < 3 { "p/s" } else { "pp/s" }.into()), ..line };
        store.journal.append(accepted(line)).await.unwrap();
    }
    // The oldest changes last.
    let line = TaskRow {
        updated: Time(99),
        state: TaskPhase::Completed,
        skill: Some("p/s".into()),
        ..row(0, "ann", TaskPhase::Running, 0)
    };
    let step = Append { row: Some(line), ..append(Log::Task(TaskId(0)), 1, &["done"]) };
    store.journal.append(step).await.unwrap();
    let listed = async |filter: Changed| {
        let (mut seen, mut before) = (Vec::new(), None);
        loop {
            let page = store.journal.changed(Changed { before, limit: 2, ..filter.clone() }).await.unwrap();
            let Some(last) = page.last() else { break };
            before = Some((last.updated, last.task));
            seen.extend(page.into_iter().map(|row| row.task.0));
        }
        assert_eq!(store.journal.count(filter).await.unwrap(), seen.len() as u64);
        seen
    };
    assert_eq!(listed(Changed::default()).await, [0, 5, 4, 3, 2, 1]);
    assert_eq!(listed(Changed { owner: Some("ann".into()), ..Changed::default() }).await, [0, 4, 2]);
    assert_eq!(listed(Changed { peer: Some("p".into()), ..Changed::default() }).await, [0, 2, 1]);
    assert_eq!(listed(Changed { state: Some(TaskPhase::Completed), ..Changed::default() }).await, [0]);
    assert_eq!(listed(Changed { since: Some(Time(4)), ..Changed::default() }).await, [0, 5]);
}

async fn tasks_are_listed_by_owner_conversation_and_state(store: Store) {
    for (task, state) in TaskPhase::ALL.into_iter().enumerate() {
        for (base, owner, conversation) in [(0, "ann", Some("c1")), (10, "ann", None), (20, "bob", Some("c1"))] {
            let line = row(base + task as u128, owner, state, 1);
            let line = TaskRow { conversation: conversation.map(Into::into), ..line };
            store.journal.append(accepted(line)).await.unwrap();
        }
    }
    let count =
        async |filter: TaskFilter| store.journal.tasks(TaskFilter { limit: 100, ..filter }).await.unwrap().len();
    let none = TaskFilter::default;
    assert_eq!(count(none()).await, 18);
    assert_eq!(count(TaskFilter { live: true, ..none() }).await, 9);
    for owner in [None, Some("ann".into())] {
        for conversation in [None, Some("c1".into())] {
            let rows = if owner.is_some() { 2 } else { 3 } - usize::from(conversation.is_some());
            let filter = TaskFilter { owner: owner.clone(), conversation: conversation.clone(), ..none() };
            assert_eq!(count(filter.clone()).await, rows * 6);
            assert_eq!(count(TaskFilter { live: true, ..filter.clone() }).await, rows * 3);
            for state in TaskPhase::ALL {
                assert_eq!(
                    count(TaskFilter { state: Some(state), ..filter.clone() }).await,
                    rows,
                    "{filter:?} {state:?}"
                );
                let live = TaskFilter { state: Some(state), live: true, ..filter.clone() };
                assert_eq!(count(live).await, if state.is_done() { 0 } else { rows });
            }
        }
    }
    assert_eq!(count(TaskFilter { owner: Some("eve".into()), ..none() }).await, 0);
}

async fn a_task_row_follows_its_appends(store: Store) {
    let first = row(1, "ann", TaskPhase::Accepted, 10);
    store.journal.append(accepted(first.clone())).await.unwrap();
    let later = TaskRow { state: TaskPhase::Completed, updated: Time(99), skill: Some("p/s".into()), ..first.clone() };
    let step = Append { row: Some(later.clone()), ..append(Log::Task(TaskId(1)), 1, &["done"]) };
    store.journal.append(step).await.unwrap();
    assert_eq!(store.journal.task(TaskId(1)).await.unwrap(), Some(later.clone()));
    // A conversation found out later changes a column that lists go by.
    let named = TaskRow { conversation: Some("c".into()), ..later };
    let step = Append { row: Some(named.clone()), ..append(Log::Task(TaskId(1)), 2, &["named"]) };
    store.journal.append(step).await.unwrap();
    let filter = TaskFilter { conversation: Some("c".into()), limit: 9, ..TaskFilter::default() };
    assert_eq!(store.journal.tasks(filter).await.unwrap(), [named]);
    assert_eq!(store.journal.task(TaskId(2)).await.unwrap(), None);
}

/// Rules that keep everything.
fn all() -> Retention {
    Retention {
        tasks: Duration::MAX,
        tasks_count: u64::MAX,
        audit: Duration::MAX,
        audit_count: u64::MAX,
        audit_bytes: u64::MAX,
        topics: Duration::MAX,
        topics_count: u64::MAX,
    }
}

async fn finished_tasks_go_by_age_and_count_and_live_ones_stay(store: Store) {
    for task in 0..1200 {
        let state = if task % 3 == 0 { TaskPhase::Waiting } else { TaskPhase::Completed };
        let keyed = Append {
            unique: Some(unique(&task.to_string(), "", 1_000_000)),
            ..accepted(row(task, "ann", state, task as u64))
        };
        store.journal.append(keyed).await.unwrap();
    }
    assert_eq!(store.journal.retain(all(), Time(2000)).await.unwrap(), Removed::default());
    // Done before 900: 600 of them.
    let age = Retention { tasks: Duration::from_millis(1100), ..all() };
    assert_eq!(store.journal.retain(age, Time(2000)).await.unwrap().tasks, 600);
    let count = Retention { tasks_count: 50, ..all() };
    assert_eq!(store.journal.retain(count, Time(2000)).await.unwrap().tasks, 150);
    let left = store.journal.tasks(TaskFilter { limit: 5000, ..TaskFilter::default() }).await.unwrap();
    assert_eq!(left.iter().filter(|row| row.state.is_done()).count(), 50);
    assert_eq!(left.len(), 450);
    let oldest_done = left.iter().filter(|row| row.state.is_done()).map(|row| row.task.0).min();
    assert_eq!(oldest_done, Some(1126));
    assert_eq!(texts(&store, Log::Task(TaskId(1)), 0).await, []);
    assert_eq!(store.journal.unique(Digest::of(b"1"), Time(0)).await.unwrap(), None);
    assert!(store.journal.unique(Digest::of(b"0"), Time(0)).await.unwrap().is_some());
}

async fn a_trimmed_log_keeps_counting(store: Store) {
    let line = |log: &Log, at| Append { expected: Expected::Any, at: Time(at), ..append(log.clone(), 0, &["line"]) };
    for log in [Log::Audit, Log::Topic("t".into())] {
        for at in 1..=1000 {
            store.journal.append(line(&log, at)).await.unwrap();
        }
    }
    let rules = Retention { audit: Duration::from_millis(100), topics_count: 10, ..all() };
    let removed = store.journal.retain(rules, Time(1000)).await.unwrap();
    assert_eq!((removed.audit, removed.topics), (899, 990));
    assert_eq!(store.journal.read(Log::Audit, 0, 1).await.unwrap()[0].seq, 900);
    let rules = Retention { audit: Duration::ZERO, audit_count: 0, ..all() };
    assert_eq!(store.journal.retain(rules, Time(5000)).await.unwrap().audit, 101);
    assert_eq!(store.journal.last(Log::Audit).await.unwrap(), 1000);
    assert_eq!(store.journal.append(line(&Log::Audit, 6000)).await.unwrap(), Appended::At(1001));
}

async fn forgetting_a_task_takes_its_children(store: Store) {
    for (task, parent) in [(1, None), (2, Some(1)), (3, Some(2)), (4, None)] {
        let line = TaskRow { parent: parent.map(TaskId), ..row(task, "ann", TaskPhase::Running, 1) };
        store.journal.append(accepted(line)).await.unwrap();
        store.journal.append(append(Log::Run(TaskId(task)), 0, &["run"])).await.unwrap();
    }
    assert!(store.journal.forget(TaskId(1)).await.unwrap());
    assert!(!store.journal.forget(TaskId(1)).await.unwrap());
    for gone in 1..=3 {
        assert_eq!(store.journal.task(TaskId(gone)).await.unwrap(), None);
        assert_eq!(texts(&store, Log::Run(TaskId(gone)), 0).await, []);
    }
    assert_eq!(texts(&store, Log::Run(TaskId(4)), 0).await.len(), 1);
}

async fn forgetting_an_owner_leaves_the_others(store: Store) {
    for task in 0..20 {
        let owner = if task % 2 == 0 { "ann" } else { "bob" };
        store.journal.append(accepted(row(task, owner, TaskPhase::Completed, 1))).await.unwrap();
    }
    assert_eq!(store.journal.forget_owner("ann").await.unwrap(), 10);
    let left = store.journal.tasks(TaskFilter { limit: 100, ..TaskFilter::default() }).await.unwrap();
    assert!(left.len() == 10 && left.iter().all(|row| &*row.owner == "bob"));
}

async fn put(
    store: &Store,
    key: &str,
    value: &'static str,
    expires: Option<u64>,
    expect: Expect,
) -> Result<u64, StoreFault> {
    store.records.put("kind", key, Bytes::from(value), expires.map(Time), expect, Time(1000)).await
}

async fn a_record_is_put_where_it_is_expected(store: Store) {
    let first = put(&store, "k", "one", None, Expect::Absent).await.unwrap();
    assert!(
        matches!(put(&store, "k", "x", None, Expect::Absent).await, Err(StoreFault::Moved { expected: 0, found }) if found == first)
    );
    let second = put(&store, "k", "two", None, Expect::Revision(first)).await.unwrap();
    assert!(
        matches!(put(&store, "k", "x", None, Expect::Revision(first)).await, Err(StoreFault::Moved { found, .. }) if found == second)
    );
    assert!(matches!(
        put(&store, "new", "x", None, Expect::Revision(1)).await,
        Err(StoreFault::Moved { found: 0, .. })
    ));
    put(&store, "k", "three", None, Expect::Anything).await.unwrap();
    let found = store.records.get("kind", "k", Time(0)).await.unwrap().unwrap();
    assert_eq!((&*found.key, found.value), ("k", Bytes::from("three")));
    assert_eq!(store.records.get("other", "k", Time(0)).await.unwrap(), None);
}

async fn a_revision_is_never_given_twice(store: Store) {
    let first = put(&store, "k", "one", None, Expect::Absent).await.unwrap();
    store.records.take("kind", "k", Time(0)).await.unwrap();
    let second = put(&store, "k", "one", None, Expect::Absent).await.unwrap();
    assert!(second > first);
    assert!(put(&store, "k", "two", None, Expect::Revision(first)).await.is_err());
}

async fn an_expired_record_is_gone(store: Store) {
    put(&store, "short", "v", Some(2000), Expect::Anything).await.unwrap();
    put(&store, "long", "v", None, Expect::Anything).await.unwrap();
    assert!(store.records.get("kind", "short", Time(1999)).await.unwrap().is_some());
    assert!(store.records.get("kind", "short", Time(2000)).await.unwrap().is_none());
    assert!(store.records.take("kind", "short", Time(2000)).await.unwrap().is_none());
    for key in 0..1100 {
        put(&store, &format!("s{key}"), "v", Some(1500), Expect::Anything).await.unwrap();
    }
    store.records.put("zone", "z", Bytes::new(), Some(Time(1500)), Expect::Absent, Time(0)).await.unwrap();
    assert_eq!(store.records.count("kind", Time(1499)).await.unwrap(), 1101);
    assert_eq!(store.records.count("kind", Time(1500)).await.unwrap(), 1);
    assert_eq!(store.records.list("kind", None, 10, Time(1500)).await.unwrap().len(), 1);
    assert_eq!(store.records.expire(Time(1500)).await.unwrap(), 1101);
    assert_eq!(store.records.count("kind", Time(0)).await.unwrap(), 1);
}

async fn a_record_is_taken_once(store: Store) {
    put(&store, "secret", "v", None, Expect::Absent).await.unwrap();
    let takes = (0..16).map(|_| store.records.take("kind", "secret", Time(0)));
    let taken = futures_util::future::join_all(takes).await;
    assert_eq!(taken.into_iter().filter(|item| item.as_ref().unwrap().is_some()).count(), 1);
}

async fn records_are_listed_in_key_order(store: Store) {
    for key in ["b", "c", "a", ""] {
        put(&store, key, "v", None, Expect::Absent).await.unwrap();
    }
    let keys = async |after: Option<&'static str>, limit| {
        let page = store.records.list("kind", after, limit, Time(0)).await.unwrap();
        page.iter().map(|item| item.key.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(keys(None, 10).await, ["", "a", "b", "c"]);
    assert_eq!(keys(Some("a"), 1).await, ["b"]);
    assert_eq!(keys(Some("c"), 1).await, [""; 0]);
}

async fn write_blob(store: &Store, pieces: &[&[u8]]) -> BlobInfo {
    let mut writer = store.blobs.create().await.unwrap();
    for piece in pieces {
        writer.write(Bytes::copy_from_slice(piece)).await.unwrap();
    }
    writer.finish().await.unwrap()
}

async fn a_blob_is_what_was_written(store: Store) {
    let info = write_blob(&store, &[b"hello ", b"world"]).await;
    assert_eq!(info, BlobInfo { digest: Digest::of(b"hello world"), len: 11 });
    assert_eq!(store.blobs.info(info.digest).await.unwrap(), Some(info));
    assert_eq!(store.blobs.read(info.digest, 6, 3).await.unwrap(), "wor");
    assert_eq!(store.blobs.read(info.digest, 9, 100).await.unwrap(), "ld");
    assert_eq!(store.blobs.read(info.digest, 11, 100).await.unwrap(), "");
    assert_eq!(store.blobs.read(info.digest, u64::MAX, 100).await.unwrap(), "");
    assert_eq!(write_blob(&store, &[b"hello world"]).await, info);
    let empty = write_blob(&store, &[]).await;
    assert_eq!(store.blobs.read(empty.digest, 0, 1).await.unwrap(), "");
    assert!(matches!(store.blobs.read(Digest::of(b"?"), 0, 1).await, Err(StoreFault::Missing(_))));
}

async fn a_blob_given_up_leaves_nothing(store: Store) {
    let mut writer = store.blobs.create().await.unwrap();
    writer.write(Bytes::from("half")).await.unwrap();
    drop(writer);
    assert_eq!(store.blobs.info(Digest::of(b"half")).await.unwrap(), None);
    assert_eq!(store.blobs.retain(0).await.unwrap(), 0);
}

async fn the_oldest_blobs_go_first(store: Store) {
    let mut infos = Vec::new();
    for text in [b"first1", b"second", b"third3"] {
        infos.push(write_blob(&store, &[text]).await);
        // File times are as coarse as the kernel's tick.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // Stored again: young again.
    write_blob(&store, &[b"first1"]).await;
    assert_eq!(store.blobs.retain(18).await.unwrap(), 0);
    assert_eq!(store.blobs.retain(12).await.unwrap(), 6);
    assert_eq!(store.blobs.info(infos[1].digest).await.unwrap(), None);
    assert!(store.blobs.info(infos[0].digest).await.unwrap().is_some());
    assert!(store.blobs.info(infos[2].digest).await.unwrap().is_some());
}

fn skill(id: &str, title: &str, description: &str, keywords: &str) -> Indexed {
    Indexed { skill: id.into(), title: title.into(), description: description.into(), keywords: keywords.into() }
}

async fn with_skills(store: &Store) {
    let travel = vec![
        skill(
            "travel/search_flights",
            "Search flights",
            "Finds flights between two cities on a date.",
            "airplane trip",
        ),
        skill("travel/book_hotel", "Book a hotel", "Reserves a room in a city for some nights.", "lodging"),
    ];
    let files = vec![
        skill("files/read_file", "Read a file", "Returns the text of a file in the workspace.", "open cat"),
        skill("files/search_files", "Search files", "Finds files by name or content.", "grep find"),
    ];
    let spanish =
        vec![skill("es/clima", "Previsión del tiempo", "Dice el clima de las próximas horas en una ciudad.", "lluvia")];
    for (peer, skills) in [("travel", travel), ("files", files), ("es", spanish)] {
        store.index.replace(peer, skills).await.unwrap();
    }
}

async fn first(store: &Store, words: &str) -> Option<(String, f64)> {
    let hits = store.index.search(words, 5).await.unwrap();
    assert!(hits.iter().all(|hit| hit.score > 0.0 && hit.score <= 1.0), "{hits:?}");
    assert!(hits.is_sorted_by(|a, b| a.score >= b.score), "{hits:?}");
    hits.first().map(|hit| (hit.skill.to_string(), hit.score))
}

async fn skills_are_found_by_their_words(store: Store) {
    with_skills(&store).await;
    for (words, skill) in [
        ("find me a flight to Paris", "travel/search_flights"),
        ("search the files", "files/search_files"),
        ("what is in the file notes.txt? read it", "files/read_file"),
        ("I need a hotel room", "travel/book_hotel"),
        ("AIRPLANES", "travel/search_flights"),
    ] {
        assert_eq!(first(&store, words).await.unwrap().0, skill, "{words}");
    }
    assert_eq!(first(&store, "quantum chromodynamics").await, None);
    assert_eq!(first(&store, "what is the").await, None);
    assert_eq!(first(&store, "search flights").await.unwrap().1, 1.0);
    // A request that a skill knows only a part of does not look like a sure one.
    assert!(first(&store, "hotel airplane grep").await.unwrap().1 < 0.5);
}

async fn skills_are_found_in_spanish_without_accents(store: Store) {
    with_skills(&store).await;
    for words in ["¿Qué previsión hay para hoy?", "prevision", "el CLIMA en Bogotá", "lluvias", "ciudades con clima"]
    {
        assert_eq!(first(&store, words).await.unwrap().0, "es/clima", "{words}");
    }
}

async fn a_peer_s_skills_are_replaced(store: Store) {
    with_skills(&store).await;
    store.index.replace("files", vec![skill("files/delete", "Delete a file", "", "")]).await.unwrap();
    assert_eq!(first(&store, "grep").await, None);
    assert_eq!(first(&store, "file").await.unwrap().0, "files/delete");
    store.index.replace("files", Vec::new()).await.unwrap();
    assert_eq!(first(&store, "file").await, None);
    assert!(first(&store, "hotel").await.is_some());
}

async fn hostile_words_are_only_words(store: Store) {
    with_skills(&store).await;
    let long = "file ".repeat(100_000);
    for words in [
        "",
        "\"",
        "file\" OR \"",
        "NEAR(a b)",
        "title:file *",
        "file AND NOT hotel",
        "-file",
        "\0",
        &long,
        "'; DROP TABLE skills",
    ] {
        store.index.search(words, usize::MAX).await.unwrap();
    }
    assert_eq!(first(&store, "read file").await.unwrap().0, "files/read_file");
}
