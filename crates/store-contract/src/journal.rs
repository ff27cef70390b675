//! The journal port: appends, reads, folds, lists of tasks and retention.

use std::time::Duration;

use bytes::Bytes;
use interlingua_model::digest::Digest;
use interlingua_model::id::{TaskId, Time};
use interlingua_model::journal::Log;
use interlingua_model::ports::*;

use super::{accepted, all, append, row, texts, unique};

pub async fn records_are_read_back_in_order(store: Store) {
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

pub async fn an_append_at_another_place_is_refused(store: Store) {
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

pub async fn an_entry_that_is_redacted_says_what_it_is_told_and_the_others_stay(store: Store) {
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

pub async fn any_place_gives_the_next_sequence(store: Store) {
    for seq in 1..=3 {
        let line = Append { expected: Expected::Any, ..append(Log::Audit, 0, &["line"]) };
        assert_eq!(store.journal.append(line).await.unwrap(), Appended::At(seq));
    }
}

pub async fn a_refused_append_leaves_nothing(store: Store) {
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

pub async fn a_key_is_held_by_its_first_task(store: Store) {
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

pub async fn a_key_is_free_when_its_window_has_passed(store: Store) {
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

pub async fn a_fold_is_kept_and_never_replaced_by_an_older_one(store: Store) {
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

pub async fn tasks_are_listed_newest_first_in_pages(store: Store) {
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

pub async fn tasks_are_listed_by_their_last_change_and_counted(store: Store) {
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

pub async fn tasks_are_listed_by_owner_conversation_and_state(store: Store) {
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

pub async fn a_task_row_follows_its_appends(store: Store) {
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

pub async fn finished_tasks_go_by_age_and_count_and_live_ones_stay(store: Store) {
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

pub async fn a_trimmed_log_keeps_counting(store: Store) {
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

pub async fn forgetting_a_task_takes_its_children(store: Store) {
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

pub async fn forgetting_an_owner_leaves_the_others(store: Store) {
    for task in 0..20 {
        let owner = if task % 2 == 0 { "ann" } else { "bob" };
        store.journal.append(accepted(row(task, owner, TaskPhase::Completed, 1))).await.unwrap();
    }
    assert_eq!(store.journal.forget_owner("ann").await.unwrap(), 10);
    let left = store.journal.tasks(TaskFilter { limit: 100, ..TaskFilter::default() }).await.unwrap();
    assert!(left.len() == 10 && left.iter().all(|row| &*row.owner == "bob"));
}
