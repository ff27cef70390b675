//! A store that is full or away: a clear word to whoever waits, and the hub goes on.

use std::sync::atomic::Ordering;
use std::time::Duration;

use interlingua_model::ports::{StoreFault, TaskPhase};
use interlingua_model::*;
use serde_json::json;

use super::super::admission::AdmissionLimits;
use super::outcome;
use super::owner;
use super::work::{Bench, kept, plain};

#[tokio::test(flavor = "multi_thread")]
async fn a_full_store_refuses_what_must_be_kept_and_nothing_else() {
    let bench = Bench::new(AdmissionLimits::default());
    bench.work.release();
    bench.observed.set_full(true);
    let fault = bench.hub.open(kept("wait", json!({}))).await.expect_err("cannot be kept");
    assert_eq!((fault.kind, fault.retry), (FaultKind::Busy, Retry::After(None)));
    assert!(fault.public.contains("store is full"), "{fault}");
    let mut running = bench.hub.open(plain("wait")).await.expect("needs no store");
    assert_eq!(outcome(&mut running).await.outcome, Outcome::Completed);
    bench.observed.set_full(false);
    let mut running = bench.hub.open(kept("wait", json!({}))).await.expect("there is room again");
    assert_eq!(outcome(&mut running).await.outcome, Outcome::Completed);
    bench.idle().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_stands_still_while_the_store_is_full_and_then_goes_on() {
    let bench = Bench::new(AdmissionLimits::default());
    let mut running = bench.hub.open(kept("write", json!({}))).await.expect("opens");
    let id = running.id();
    bench.observed.set_full(true);
    bench.work.release();
    let fault = loop {
        match running.next().await {
            Ok(entry) => assert!(entry.is_some(), "it has not ended"),
            Err(fault) => break fault,
        }
    };
    assert_eq!(fault.kind, FaultKind::Busy);
    assert_eq!(bench.hub.task(&owner(), id).await.expect("there").phase(), TaskPhase::Running);
    bench.observed.set_full(false);
    drop(running);
    bench.idle().await;
    assert_eq!(bench.hub.task(&owner(), id).await.expect("there").phase(), TaskPhase::Completed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_on_a_full_store_is_a_start() {
    let bench = Bench::new(AdmissionLimits::default());
    let id = bench.hub.open(kept("wait", json!({}))).await.expect("opens").id();
    let bench = bench.restarted().await;
    bench.observed.set_full(true);
    assert_eq!(bench.hub.recover().await.expect("starts"), 1);
    bench.observed.set_full(false);
    bench.work.release();
    bench.idle().await;
    assert_eq!(bench.hub.task(&owner(), id).await.expect("there").phase(), TaskPhase::Completed);
}

/// As [`Observed::set_full`], of a store that cannot be reached.
fn goes_away(bench: &Bench) {
    bench.observed.refuse(|_| true, StoreFault::Away("connection lost".into()));
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_store_is_away_what_must_be_kept_is_busy_and_nothing_else_is() {
    let bench = Bench::new(AdmissionLimits::default());
    bench.work.release();
    goes_away(&bench);
    let fault = bench.hub.open(kept("wait", json!({}))).await.expect_err("cannot be kept");
    assert_eq!((fault.kind, fault.retry), (FaultKind::Busy, Retry::After(Some(Duration::from_secs(1)))));
    assert!(!fault.public.contains("connection"), "nothing internal is told: {fault}");
    let mut running = bench.hub.open(plain("wait")).await.expect("needs no store");
    assert_eq!(outcome(&mut running).await.outcome, Outcome::Completed);
    bench.observed.accept();
    let mut running = bench.hub.open(kept("wait", json!({}))).await.expect("it is back");
    assert_eq!(outcome(&mut running).await.outcome, Outcome::Completed);
    bench.idle().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_stands_still_while_the_store_is_away_and_loses_nothing() {
    let bench = Bench::new(AdmissionLimits::default());
    let mut running = bench.hub.open(kept("write", json!({}))).await.expect("opens");
    let id = running.id();
    goes_away(&bench);
    bench.work.release();
    let fault = loop {
        match running.next().await {
            Ok(entry) => assert!(entry.is_some(), "it has not ended"),
            Err(fault) => break fault,
        }
    };
    assert_eq!(fault.kind, FaultKind::Busy, "{fault}");
    bench.observed.accept();
    drop(running);
    bench.idle().await;
    assert_eq!(bench.hub.task(&owner(), id).await.expect("there").phase(), TaskPhase::Completed);
    assert_eq!(bench.work.calls.load(Ordering::SeqCst), 1, "it ran once");
    let lines = bench.hub.audit_lines(&owner(), None, 100).await.expect("read");
    let actions: Vec<&str> = lines.iter().map(|(_, line)| &*line.action).collect();
    assert!(actions.contains(&"dispatch") && actions.contains(&"return"), "{actions:?}");
    assert!(!actions.contains(&"missing"), "lines wait for the store: {actions:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_while_the_store_goes_away_takes_up_every_task() {
    let bench = Bench::new(AdmissionLimits::default());
    let id = bench.hub.open(kept("wait", json!({}))).await.expect("opens").id();
    let bench = bench.restarted().await;
    goes_away(&bench);
    assert_eq!(bench.hub.recover().await.expect("starts"), 1);
    bench.observed.accept();
    bench.work.release();
    bench.idle().await;
    assert_eq!(bench.hub.task(&owner(), id).await.expect("there").phase(), TaskPhase::Completed);
}
