//! Inboxes while the store is full or slow: nothing spins, an agent is up exactly while it has a reader, and pending messages and signals
//! are bounded.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;

use futures_util::future::join_all;
use interlingua_machines::bus::{Kind, Message};
use interlingua_model::*;
use serde_json::json;

use super::super::admission::AdmissionLimits;
use super::super::bus::{Handle, Reach, Registration};
use super::super::entropy;
use super::owner;
use super::work::{Bench, card, eventually, kept};

/// More than the driver of an inbox lets wait.
const MANY: usize = 400;

async fn inbox(bench: &Bench) -> Handle {
    let card = Card { peer: "reader".into(), skills: Vec::new(), health: Health::Starting, ..card() };
    let registration = Registration {
        owner: owner().owner(),
        card,
        reach: Reach::Inbox,
        contact: None,
        meta: Meta::default(),
        at: bench.hub.now(),
    };
    let agent = bench.hub.register_agent(&owner(), registration, None).await.expect("registered");
    agent.inbox.clone().expect("it fetches")
}

fn message(bench: &Bench, id: &str) -> Message {
    Message {
        id: id.into(),
        kind: Kind::Event,
        from: "sender".into(),
        to: Some("reader".into()),
        topic: None,
        skill: None,
        content: json!({}).into(),
        correlation: None,
        priority: Priority::NORMAL,
        at: bench.hub.now(),
        meta: Meta::default(),
        by: owner().owner(),
        readers: Vec::new(),
        sender: None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expiry_that_cannot_be_stored_is_tried_again_after_a_pause() {
    let bench = Bench::new(AdmissionLimits::default());
    let inbox = inbox(&bench).await;
    // Long enough to be kept before it expires, whatever else the machine does.
    let until = bench.hub.now().after(Duration::from_secs(3));
    inbox.put(message(&bench, "m1"), until).await.expect("kept");
    bench.observed.set_full(true);
    eventually(|| bench.observed.refused() > 0, || "nothing expired".into()).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let refused = bench.observed.refused();
    assert!(refused < 10, "{refused} attempts in half a second");
    assert_eq!(inbox.waiting(), 1, "what is not stored has not happened");
    bench.observed.set_full(false);
    eventually(|| inbox.waiting() == 0, || "it still waits".into()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_up_while_somebody_reads_however_much_is_said_to_it() {
    let bench = Bench::new(AdmissionLimits::default());
    let inbox = Arc::new(inbox(&bench).await);
    let health = || bench.hub.registry.catalogue().peers[&PeerId::from("reader")].card.health;
    bench.observed.hold(true);
    let until = bench.hub.now().after(Duration::from_secs(3600));
    let sent = (0..MANY).map(|n| inbox.put(message(&bench, &format!("m{n}")), until));
    let (mut sent, mut reading) = (Box::pin(join_all(sent)), None);
    let all = std::future::poll_fn(|cx| {
        // Each was sent by the first poll: no more fits now.
        let sent = sent.as_mut().poll(cx);
        if reading.is_none() {
            reading = Some(inbox.reading());
            bench.observed.hold(false);
        }
        sent
    });
    let refused = all.await.iter().filter(|sent| sent.is_err()).count();
    assert!(refused > 0, "the queue was full");
    eventually(|| health() == Health::Up, || format!("{:?}", health())).await;
}

/// The first poll of each: it is said, and what was refused at once is counted.
async fn refused_at_once<T>(
    said: impl Iterator<Item = impl Future<Output = Result<T, Fault>>>,
) -> (usize, Vec<FaultKind>) {
    let mut said: Vec<_> = said.map(Box::pin).collect();
    let refused: Vec<FaultKind> = std::future::poll_fn(|cx| {
        let polled = said.iter_mut().filter_map(|said| match said.as_mut().poll(cx) {
            Poll::Ready(Err(fault)) => Some(fault.kind),
            Poll::Ready(Ok(_)) | Poll::Pending => None,
        });
        Poll::Ready(polled.collect())
    })
    .await;
    (said.len(), refused)
}

#[tokio::test(flavor = "multi_thread")]
async fn attack_messages_that_wait_for_a_slow_inbox_hold_more_memory_than_inboxes_may() {
    const LARGE: usize = 100_000;
    let bench = Bench::new(AdmissionLimits::default());
    let inbox = inbox(&bench).await;
    bench.hub.holdings.inboxes.resize(10 * LARGE as u64 + 50_000);
    bench.observed.hold(true);
    let until = bench.hub.now().after(Duration::from_secs(3600));
    let large = |n: usize| Message { content: json!("x".repeat(LARGE)).into(), ..message(&bench, &format!("m{n}")) };
    let (said, refused) = refused_at_once((0..20).map(|n| inbox.put(large(n), until))).await;
    assert_eq!((said, refused), (20, vec![FaultKind::Busy; 10]), "before the driver has looked at any");
    bench.observed.hold(false);
    // Those who said them are gone; what was taken is kept.
    eventually(|| inbox.waiting() == 10, || format!("{} wait", inbox.waiting())).await;
    assert!(bench.hub.holdings.inboxes.taken() <= 10 * LARGE as u64 + 50_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn attack_signals_that_wait_for_a_slow_task_hold_more_memory_than_exchanges_may() {
    const LARGE: usize = 100_000;
    let bench = Bench::new(AdmissionLimits::default());
    let running = bench.hub.open(kept("talk", json!({"n": 1}))).await.expect("begun");
    let (task, shares) = (running.id(), &bench.hub.holdings.exchanges);
    eventually(|| bench.work.calls.load(Ordering::SeqCst) == 1, || "it does not run".into()).await;
    bench.observed.hold(true);
    let said = |bytes: usize| Signal::Said { message: entropy::message_id(), input: Input::text(&"x".repeat(bytes)) };
    let small = bench.hub.signal(owner(), task, said(10));
    let mut small = Box::pin(small);
    let waits = std::future::poll_fn(|cx| Poll::Ready(small.as_mut().poll(cx).is_pending())).await;
    assert!(waits, "its driver waits for the store with it");
    eventually(|| shares.taken() > 0, || "it holds nothing".into()).await;
    shares.resize(shares.taken() + 5 * LARGE as u64 + 50_000);
    let before = shares.taken();
    let (said_large, refused) = refused_at_once((0..10).map(|_| bench.hub.signal(owner(), task, said(LARGE)))).await;
    assert_eq!((said_large, refused), (10, vec![FaultKind::Busy; 5]), "a task takes what there is room for");
    assert!(shares.taken() > before, "those who said them are gone; what they said waits");
    let (_, refused) = refused_at_once((0..10).map(|_| bench.hub.signal(owner(), task, said(1_000)))).await;
    assert_eq!(refused, [], "a few words find their task however full it is");
    bench.observed.hold(false);
    small.await.expect("heard");
    bench.work.release();
    eventually(|| shares.taken() == 0, || format!("{} bytes are held", shares.taken())).await;
}
