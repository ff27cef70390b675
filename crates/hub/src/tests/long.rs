//! Long tasks, long histories, slow readers: history is read on demand and costs nothing before.

use interlingua_machines::task::fold;
use interlingua_model::ports::{Append, Expected, Journal, Retention, TaskPhase, TaskRow};
use interlingua_model::*;
use serde_json::json;
use std::time::Duration;

use super::super::admission::AdmissionLimits;
use super::super::fold::SNAPSHOT_EVERY;
use super::super::live::{Reader, decoded};
use super::work::{Bench, eventually, kept};
use super::{outcome, owner};

/// A fold reads at most this much beyond the last snapshot: what two snapshots may lie apart, and one append.
const MOST_READ: usize = 2 * SNAPSHOT_EVERY as usize + 256;

fn bench() -> Bench {
    Bench::new(AdmissionLimits::default())
}

/// A kept task that said so much and goes on.
async fn talking(bench: &Bench, n: u64) -> TaskId {
    let id = bench.hub.open(kept("talk", json!({ "n": n }))).await.expect("opens").id();
    let seq = || bench.hub.live.get(id).map_or(0, |live| live.seq());
    eventually(|| seq() >= n, || format!("at {}", seq())).await;
    id
}

/// The rest of what there is, as far as it goes without waiting for the task to go on.
async fn read_to(reader: &mut Reader, seq: u64) -> Vec<Entry> {
    let mut read = Vec::new();
    while read.last().is_none_or(|entry: &Entry| entry.seq < seq) {
        let Some(entry) = reader.next().await.expect("reads") else { break };
        read.push((*entry).clone());
    }
    read
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_task_is_folded_from_its_snapshot_and_the_state_is_the_same() {
    let bench = bench();
    let id = talking(&bench, 5_000).await;
    bench.observed.records_read();
    let task = bench.hub.task(&owner(), id).await.expect("there");
    let read = bench.observed.records_read();
    assert!(task.seq > 5_000 && read <= MOST_READ, "{read} of {} records were read", task.seq);
    let stored = bench.store.ports().journal.read(Log::Task(id), 0, usize::MAX).await.expect("reads");
    let whole = fold(id, stored.into_iter().map(|stored| decoded(stored).expect("decodes"))).expect("folds");
    assert_eq!(task, whole);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_task_is_taken_up_after_a_restart_without_reading_all_of_it() {
    let bench = bench();
    let id = talking(&bench, 5_000).await;
    let bench = bench.restarted().await;
    assert_eq!(bench.hub.recover().await.expect("recovers"), 1);
    let read = bench.observed.records_read();
    assert!(read <= MOST_READ, "{read} records were read");
    bench.work.release();
    let mut running = bench.hub.follow(&owner(), id, 5_000).await.expect("follows");
    assert_eq!(outcome(&mut running).await.outcome, Outcome::Completed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_that_cannot_be_read_is_passed_over() {
    let bench = bench();
    let id = talking(&bench, 3_000).await;
    let task = bench.hub.task(&owner(), id).await.expect("there");
    let journal = bench.store.ports().journal;
    journal.snapshot(Log::Task(id), task.seq, task.updated, "from another version".into()).await.expect("kept");
    assert_eq!(bench.hub.task(&owner(), id).await.expect("there"), task);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_stalls_goes_on_from_the_journal_and_holds_up_nobody() {
    let bench = bench();
    let mut fast = bench.hub.open(kept("talk", json!({"n": 3_000}))).await.expect("opens");
    let mut slow = bench.hub.watch(&owner(), fast.id(), 0).await.expect("watches");
    let mut slowly = read_to(&mut slow, 1).await;
    bench.work.release();
    let mut quickly = Vec::new();
    while let Some(entry) = fast.next().await.expect("reads") {
        quickly.push((*entry).clone());
    }
    bench.idle().await;
    bench.observed.records_read();
    slowly.extend(read_to(&mut slow, u64::MAX).await);
    assert!(bench.observed.records_read() > 2_000, "most of it was no longer in memory");
    assert!(slowly == quickly, "{} and {} entries", slowly.len(), quickly.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_restart_a_reader_sees_what_was_before_and_what_comes() {
    let bench = bench();
    let id = talking(&bench, 10).await;
    let bench = bench.restarted().await;
    bench.hub.recover().await.expect("recovers");
    let mut reader = bench.hub.watch(&owner(), id, 0).await.expect("watches");
    let before = tokio::time::timeout(Duration::from_secs(10), read_to(&mut reader, 10)).await;
    assert_eq!(before.expect("what was is there at once").len(), 10);
    bench.work.release();
    let after = read_to(&mut reader, u64::MAX).await;
    assert!(matches!(after.last().and_then(|entry| entry.record.event()), Some(Event::Finished(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn retention_while_tasks_run_removes_only_what_is_done() {
    let bench = bench();
    let running = talking(&bench, 10).await;
    let mut reader = bench.hub.watch(&owner(), running, 0).await.expect("watches");
    read_to(&mut reader, 5).await;
    let done = bench.hub.open(kept("write", json!({}))).await.expect("opens").id();
    bench.hub.signal(owner(), done, Signal::Cancel(CancelWhy::Asked)).await.expect("cancelled");
    eventually(|| bench.hub.live.get(done).is_none(), || "still live".into()).await;
    let mut late = bench.hub.watch(&owner(), done, 0).await.expect("watches");
    let nothing = Duration::ZERO;
    let rules = Retention {
        tasks: nothing,
        tasks_count: 0,
        audit: nothing,
        audit_count: 0,
        audit_bytes: u64::MAX,
        topics: nothing,
        topics_count: 0,
    };
    let removed = bench.hub.store.journal.retain(rules, bench.hub.now().after(Duration::from_secs(1))).await;
    assert_eq!(removed.expect("applies").tasks, 1);
    assert_eq!(bench.hub.task(&owner(), done).await.expect_err("gone").kind, FaultKind::NotFound(Noun::Task));
    assert!(late.next().await.expect("a clean end").is_none());
    bench.work.release();
    let rest = read_to(&mut reader, u64::MAX).await;
    assert!(matches!(rest.last().and_then(|entry| entry.record.event()), Some(Event::Finished(_))));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_million_finished_tasks_add_nothing_to_a_start() {
    let many = if std::env::var_os("SOAK_SECONDS").is_some() { 1_000_000 } else { 20_000 };
    let bench = bench();
    for _ in 0..10 {
        bench.hub.open(kept("wait", json!({}))).await.expect("opens");
    }
    finished_tasks(&*bench.store.ports().journal, many).await;
    let bench = bench.restarted().await;
    assert_eq!(bench.hub.recover().await.expect("recovers"), 10);
    assert_eq!(bench.observed.rows_read(), 10);
    let read = bench.observed.records_read();
    assert!(read < 100, "{read} records were read");
    bench.work.release();
    bench.idle().await;
}

async fn finished_tasks(journal: &dyn Journal, many: u128) {
    let tasks: Vec<u128> = (1..=many).collect();
    for some in tasks.chunks(1_000) {
        let appends = some.iter().map(|&task| {
            let at = Time(u64::try_from(task).expect("small"));
            let task = TaskId(task.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835));
            let row = TaskRow {
                task,
                owner: "owner".into(),
                conversation: None,
                parent: None,
                skill: None,
                state: TaskPhase::Completed,
                created: at,
                updated: at,
            };
            let records = vec!["finished long ago".into()];
            let log = Log::Task(task);
            journal.append(Append {
                log,
                expected: Expected::At(0),
                at,
                records,
                unique: None,
                row: Some(row),
                most: None,
                beside: 0,
                share: None,
            })
        });
        futures_util::future::try_join_all(appends).await.expect("appends");
    }
}
