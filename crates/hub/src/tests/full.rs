//! A full store: callers receive a clear error, and the hub continues to run.

use interlingua_model::ports::TaskPhase;
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
