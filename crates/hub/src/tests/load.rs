//! Load: calls beyond the limit are refused at once, admitted calls end, and nothing leaks.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use interlingua_model::*;
use proptest::prelude::*;
use serde_json::json;
use tokio::task::JoinSet;

use super::super::admission::{Admission, AdmissionLimits, Permit};
use super::work::{Bench, call, kept, plain, request};
use super::{outcome, owner};

fn limits(in_flight: usize, queue: usize) -> AdmissionLimits {
    AdmissionLimits { in_flight, queue, ..AdmissionLimits::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_exchanges_at_once_run_queue_or_are_shed_and_leave_nothing_behind() {
    let bench = Bench::new(limits(4_096, 4_096));
    let mut crowd = JoinSet::new();
    for _ in 0..10_000 {
        let hub = bench.hub.clone();
        crowd.spawn(async move {
            let mut running = hub.open(plain("wait")).await?;
            Ok::<Finished, Fault>(outcome(&mut running).await)
        });
    }
    // Only what was shed ends before the others may.
    for _ in 0..1_808 {
        let shed = crowd.join_next().await.expect("there are more").expect("no panic");
        assert_eq!(shed.expect_err("shed").kind, FaultKind::Busy);
    }
    assert_eq!(bench.hub.admission.load(), (4_096, 4_096));
    bench.work.release();
    while let Some(ended) = crowd.join_next().await {
        assert_eq!(ended.expect("no panic").expect("let in").outcome, Outcome::Completed);
    }
    assert_eq!(bench.work.calls.load(Ordering::SeqCst), 8_192);
    assert!(bench.work.most.load(Ordering::SeqCst) <= 4_096);
    bench.idle().await;
}

#[tokio::test]
async fn a_deadline_counts_in_the_queue_too() {
    let bench = Bench::new(limits(1, 1));
    let running = bench.hub.open(plain("wait")).await.expect("opens");
    let mut urgent = call("wait", json!({}));
    let at = bench.hub.now().after(Duration::from_millis(20));
    urgent.limits.deadline = Some(Deadline { at, set_by: DeadlineBy::Caller });
    let fault = bench.hub.open(request(urgent)).await.expect_err("never its turn");
    assert_eq!(fault.kind, FaultKind::Deadline);
    assert_eq!(bench.hub.admission.load(), (1, 0));
    drop(running);
    bench.idle().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_sent_a_hundred_times_at_once_is_one_task() {
    let bench = Bench::new(AdmissionLimits::default());
    bench.work.release();
    let mut crowd = JoinSet::new();
    for _ in 0..100 {
        let hub = bench.hub.clone();
        let mut call = call("write", json!({}));
        (call.id, call.id_given) = ("the same".into(), true);
        crowd.spawn(async move {
            let mut running = hub.open(request(call)).await.expect("opens or replays");
            assert_eq!(outcome(&mut running).await.outcome, Outcome::Completed);
            running.id()
        });
    }
    let mut ids = crowd.join_all().await;
    ids.dedup();
    assert_eq!((ids.len(), bench.work.calls.load(Ordering::SeqCst)), (1, 1));
    bench.idle().await;
}

/// Polls so often, letting others run between, then drops it.
async fn abandoned_after<F: Future>(polls: u32, future: F) {
    let mut future = Box::pin(future);
    for _ in 0..polls {
        if std::future::poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await.is_ready() {
            return;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_that_leave_at_any_moment_leave_nothing_behind() {
    let bench = Bench::new(limits(16, 64));
    let mut crowd = JoinSet::new();
    for n in 0..3_000_u32 {
        let hub = bench.hub.clone();
        // Kept and not, asking and not, bound to the caller or not, from before the door to well behind it.
        let mut request = match n % 5 {
            0 => plain("wait"),
            1 => plain("delete"),
            2 => kept("wait", json!({})),
            3 => kept("talk", json!({"n": 3})),
            _ => plain("talk"),
        };
        if n % 2 == 0 {
            request.call.limits.on_disconnect = OnDisconnect::Cancel;
        }
        crowd.spawn(async move {
            abandoned_after(n % 13, async {
                if let Ok(mut running) = hub.open(request).await {
                    while let Ok(Some(_)) = running.next().await {}
                }
            })
            .await;
        });
    }
    crowd.join_all().await;
    bench.work.release();
    // A question outlives whoever left; here it is answered with no.
    while bench.hub.live.count() > 0 {
        for question in bench.hub.open_questions(&owner()) {
            let _ = bench.hub.answer(owner(), question.id, Answer::Declined).await;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    bench.idle().await;
    let again: Result<Vec<_>, _> =
        futures_util::future::try_join_all((0..16).map(|_| bench.hub.admission.enter(Priority::NORMAL))).await;
    assert_eq!(again.expect("every place is free").len(), 16);
}

type Entering = Pin<Box<dyn Future<Output = Result<Permit, Fault>> + Send>>;

/// Someone at the door.
enum Guest {
    Waiting(Entering),
    In(#[expect(dead_code, reason = "held for its drop")] Permit),
}

#[derive(Debug, Clone)]
enum Step {
    Arrive(u8),
    Poll(usize),
    Leave(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (0..=9_u8).prop_map(Step::Arrive),
        any::<usize>().prop_map(Step::Poll),
        any::<usize>().prop_map(Step::Leave),
    ];
    proptest::collection::vec(step, 0..200)
}

/// Polls once; `None` when it was refused.
fn polled(guest: Guest) -> Option<Guest> {
    let Guest::Waiting(mut entering) = guest else { return Some(guest) };
    match entering.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Pending => Some(Guest::Waiting(entering)),
        Poll::Ready(Ok(permit)) => Some(Guest::In(permit)),
        Poll::Ready(Err(fault)) => {
            assert_eq!(fault.kind, FaultKind::Busy);
            None
        }
    }
}

fn entering(admission: &Arc<Admission>, level: u8) -> Guest {
    let (admission, priority) = (admission.clone(), Priority::new(level).expect("a level"));
    Guest::Waiting(Box::pin(async move { admission.enter(priority).await }))
}

proptest! {
    #[test]
    fn in_every_order_of_arriving_and_leaving_no_place_is_lost_or_given_twice(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let _within = runtime.enter();
        let (in_flight, queue) = (3, 5);
        let admission = Admission::new(limits(in_flight, queue));
        let mut guests: Vec<Guest> = Vec::new();
        for step in steps {
            match step {
                Step::Arrive(level) => guests.extend(polled(entering(&admission, level))),
                Step::Poll(which) if !guests.is_empty() => {
                    let which = which % guests.len();
                    let guest = guests.swap_remove(which);
                    guests.extend(polled(guest));
                }
                Step::Leave(which) if !guests.is_empty() => drop(guests.swap_remove(which % guests.len())),
                Step::Poll(_) | Step::Leave(_) => {}
            }
            let (running, waiting) = admission.load();
            // Everyone there is in, woken to go in, or waiting; nobody waits while there is room.
            prop_assert_eq!(running + waiting, guests.len());
            prop_assert!(running <= in_flight && waiting <= queue);
            prop_assert!(waiting == 0 || running == in_flight);
        }
        drop(guests);
        prop_assert_eq!(admission.load(), (0, 0));
    }
}
