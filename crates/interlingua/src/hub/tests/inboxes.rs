//! Inboxes while the store is full or slow: nothing spins, and an agent is up exactly while somebody reads for it.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use interlingua_core::bus::{Kind, Message};
use interlingua_core::*;
use serde_json::json;

use super::super::admission::AdmissionLimits;
use super::super::bus::{Handle, Reach, Registration};
use super::owner;
use super::work::{Bench, card, eventually};

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
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expiry_that_cannot_be_stored_is_tried_again_after_a_pause() {
    let bench = Bench::new(AdmissionLimits::default());
    let inbox = inbox(&bench).await;
    let until = bench.hub.now().after(Duration::from_millis(50));
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
