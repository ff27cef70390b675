//! What several hubs on one store rely on, and one hub holds to already: the part in task ids, and `Sent` in the journal before
//! anything is sent.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use interlingua_model::peer::{Calling, Dispatch, Peer, Reply};
use interlingua_model::ports::Journal;
use interlingua_model::*;
use serde_json::json;

use super::super::admission::AdmissionLimits;
use super::super::bus::{Reach, Registration};
use super::super::{Hub, entropy};
use super::work::{Bench, call, kept, request};
use super::{outcome, owner};

fn link(subject: Subject) -> Link {
    Link { subject, proof: Proof::LocalSocket, scopes: vec!["*".into()], until: None }
}

fn user(name: &str) -> Principal {
    Principal::new(link(Subject::User(name.into())))
}

/// A peer that looks into the journal of the call it gets.
struct Looking {
    journal: Arc<dyn Journal>,
    /// Of every call: whether its journal said that it was sent.
    found: Mutex<Vec<(TaskId, bool)>>,
}

impl Peer for Looking {
    fn call(self: Arc<Self>, dispatch: Dispatch) -> Calling {
        Box::pin(async move {
            let stored = self.journal.read(Log::Task(dispatch.task), 0, 100).await?;
            let sent = stored.iter().any(|stored| match journal::from_bytes::<Record>(&stored.bytes) {
                Ok(Record::Sent(sent)) => sent.attempt == dispatch.attempt && sent.key == dispatch.key,
                Ok(_) => false,
                Err(error) => panic!("{error}"),
            });
            self.found.lock().expect("whole").push((dispatch.task, sent));
            Ok(Reply::Done(Box::new(Finished::completed(Output::default())), None))
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn k_27_sent_is_in_the_journal_before_bytes_leave_idempotent_or_not() {
    let bench = Bench::new(AdmissionLimits::default());
    let looking = Arc::new(Looking { journal: bench.hub.store.journal.clone(), found: Mutex::default() });
    bench.hub.registry.register(super::work::card(), looking.clone()).expect("in place of the other");
    // `wait` is idempotent, `write` is not.
    let mut sent = Vec::new();
    for skill in ["wait", "write"] {
        let mut running = bench.hub.open(kept(skill, json!({}))).await.expect("opens");
        assert_eq!(outcome(&mut running).await.outcome, Outcome::Completed);
        sent.push((running.id(), true));
    }
    let mut running = bench.hub.open(request(call("wait", json!({})))).await.expect("opens");
    let unkept = running.id();
    assert_eq!(outcome(&mut running).await.outcome, Outcome::Completed);
    assert_eq!(*looking.found.lock().expect("whole"), [sent, vec![(unkept, false)]].concat());
    let written = bench.hub.store.journal.last(Log::Task(unkept)).await.expect("read");
    assert_eq!(written, 0, "an exchange that is not kept writes nothing");
    bench.idle().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn k_55_a_task_id_has_a_part_of_its_owner_in_front_of_118_random_bits() {
    let ann = user("ann");
    let ids: Vec<TaskId> = (0..256).map(|_| entropy::task_id(&ann)).collect();
    let parts: BTreeSet<u16> = ids.iter().map(|id| id.part()).collect();
    assert_eq!(parts.len(), 1, "the part is a function of the owner");
    let part = ids[0].part();
    assert!(part < 1 << 10);
    let hash = Digest::of(b"user:ann").0;
    assert_eq!(part, u16::from(hash[0]) << 2 | u16::from(hash[1]) >> 6, "the same at every hub, ever");
    // Every bit after the part takes both values: none of 256 tosses of 118 coins is stuck, but for a chance of 2^-248.
    let (all, any) = ids.iter().fold((u128::MAX, 0), |(all, any), id| (all & id.0, any | id.0));
    let random = (1u128 << 118) - 1;
    assert_eq!((all & random, any & random), (0, random));
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
    for id in &ids {
        assert_eq!(id.to_string().len(), 32, "the form is the same");
        assert_eq!(id.to_string().parse(), Ok(*id));
    }
    let others: BTreeSet<u16> = (0..64).map(|n| entropy::task_id(&user(&format!("u{n}"))).part()).collect();
    assert!(others.len() > 32, "owners are spread over the parts: {}", others.len());
    // An agent works for its caller, in its caller's part.
    let agent = ann.through(link(Subject::Agent("researcher".into())));
    assert_eq!(entropy::task_id(&agent).part(), part);
    // Ids that were random throughout stay ids.
    let earlier: TaskId = "ffffffffffffffffffffffffffffffff".parse().expect("an id");
    assert_eq!(earlier.part(), 1023);
    // The hub gives such ids, whoever calls.
    let bench = Bench::new(AdmissionLimits::default());
    bench.work.release();
    let id = bench.hub.open(kept("wait", json!({}))).await.expect("opens").id();
    assert_eq!(id.part(), entropy::task_id(&owner()).part());
    bench.idle().await;
}

fn registration(by: &Principal, title: &str) -> Registration {
    let card = Card { peer: "reader".into(), title: title.into(), skills: Vec::new(), ..super::work::card() };
    let (owner, at) = (by.owner(), Time(0));
    Registration { owner, card, reach: Reach::Inbox, contact: None, meta: Meta::default(), at }
}

/// Who has the name, and under which title.
async fn registered(hub: &Hub) -> (Owner, Text) {
    let item = hub.store.records.get("agent", "reader", hub.now()).await.expect("read").expect("registered");
    let kept: Registration = serde_json::from_slice(&item.value).expect("a registration");
    (kept.owner, kept.card.title)
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_hubs_that_register_one_name_one_wins_and_the_other_sees_the_winner() {
    let bench = super::bench();
    let (there, _) = super::hub_on(&bench.store);
    let here = bench.hub.clone();
    let registrar = |name: &str| {
        let subject = Subject::User(name.into());
        Principal::new(Link { scopes: vec!["register".into(), "*".into()], ..link(subject) })
    };
    let (ann, ben) = (registrar("ann"), registrar("ben"));
    let both = tokio::join!(
        here.register_agent(&ann, registration(&ann, "ann's"), None),
        there.register_agent(&ben, registration(&ben, "ben's"), None),
    );
    let (winner, lost) = match both {
        (Ok(_), Err(fault)) => (&ann, fault),
        (Err(fault), Ok(_)) => (&ben, fault),
        both => panic!("one of them has it: {both:?}"),
    };
    assert_eq!(lost.kind, FaultKind::Conflict, "{lost}");
    assert_eq!(registered(&here).await.0, winner.owner());
    // The hub's Owner takes the name at the other hub. The first one has it in memory as the winner's, and asks the store.
    let (loser_s, winner_s) = if *winner == ann { (&there, &here) } else { (&here, &there) };
    loser_s.register_agent(&owner(), registration(&owner(), "the Owner's"), None).await.expect("may have it");
    let again = winner_s.register_agent(winner, registration(winner, "again"), None).await;
    assert_eq!(again.expect_err("it is the Owner's now").kind, FaultKind::Conflict);
    assert_eq!(registered(&here).await, (owner().owner(), "the Owner's".into()));
}
