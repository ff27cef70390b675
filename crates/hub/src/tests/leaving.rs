//! Callers that disconnect and come back, peers that must be notified of it, and peers that panic.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use interlingua_model::peer::{Calling, Dispatch, Duplex, Peer, Reply};
use interlingua_model::ports::TaskPhase;
use interlingua_model::*;
use serde_json::json;

use super::super::Hub;
use super::super::admission::AdmissionLimits;
use super::super::running::Running;
use super::work::{Bench, call, eventually, kept, request};
use super::{asked, outcome, owner};

const DAY: Duration = Duration::from_secs(86_400);

/// Keeps what it is given under an id of its own, and forgets it only when it is told to.
#[derive(Default)]
struct Remote {
    calls: AtomicUsize,
    reattached: AtomicUsize,
    told: Arc<AtomicUsize>,
}

impl Peer for Remote {
    fn call(self: Arc<Self>, dispatch: Dispatch) -> Calling {
        assert!(dispatch.skill.id.skill.as_str() != "panic_at_once", "as asked");
        let (told, mut records) = (self.told.clone(), VecDeque::new());
        let panics = dispatch.skill.id.skill.as_str() == "panic_later";
        let sent = |open| Record::Sent(Sent::learnt(dispatch.key.clone(), Some(Secret::new("remote-7")), open));
        match &dispatch.remote {
            None => {
                self.calls.fetch_add(1, Ordering::SeqCst);
                records.push_back(sent(true));
                if dispatch.skill.id.skill.as_str().starts_with("ask") {
                    records.extend([sent(false), Record::emitted(Event::Asked(question(dispatch.task)))]);
                }
            }
            Some(id) => {
                assert_eq!(id.text(), Some("remote-7"));
                self.reattached.fetch_add(1, Ordering::SeqCst);
            }
        }
        let ends = !records.is_empty() && records.len() > 1;
        Box::pin(async move { Ok(Reply::Live(Box::new(Far { told, records, ends, panics }))) })
    }
}

fn question(task: TaskId) -> Question {
    Question {
        id: QuestionId(task, 0),
        to: Addressee::Caller,
        kind: QuestionKind::Input { form: Schema(Json::empty_object()), choices: Vec::new() },
        text: "which dates?".into(),
        asked_by: Party::Peer("remote".into()),
        expires: Time(u64::MAX),
        resume: None,
        name: None,
    }
}

struct Far {
    told: Arc<AtomicUsize>,
    records: VecDeque<Record>,
    /// After its records, instead of working on.
    ends: bool,
    panics: bool,
}

impl Duplex for Far {
    fn poll_next(&mut self, _: &mut Context<'_>) -> Poll<Option<Record>> {
        match self.records.pop_front() {
            Some(record) => Poll::Ready(Some(record)),
            None if self.panics => panic!("as asked"),
            None if self.ends => Poll::Ready(None),
            None => Poll::Pending,
        }
    }

    fn signal(&mut self, signal: Signal) -> Result<(), Fault> {
        if let Signal::Cancel(why) = signal {
            self.told.fetch_add(1, Ordering::SeqCst);
            self.records.push_back(Record::emitted(Event::Finished(Finished::cancelled(Party::Caller, why))));
        }
        Ok(())
    }
}

/// A hub with such a peer.
async fn with_remote(bench: &Bench) -> Arc<Remote> {
    let remote = Arc::new(Remote::default());
    let writes = Effects { writes: true, idempotent: false, ..Effects::reads_only(CardFrom::Configuration) };
    let skill = |name: &str| {
        let schema = Schema(Json::empty_object());
        Skill::new(SkillId::new("remote", name), SkillKind::Tool, name, schema, writes)
    };
    let mut skills = ["work", "ask", "ask_again", "panic_at_once", "panic_later"].map(skill).to_vec();
    skills[2].effects = Effects::reads_only(CardFrom::Configuration);
    let card = Card { peer: "remote".into(), skills, ..super::card() };
    bench.hub.register(card, remote.clone()).await.expect("registers");
    remote
}

fn remote_call(skill: &str, on_disconnect: OnDisconnect) -> Request {
    let target = Target::Skill(SkillId::new("remote", skill), None);
    let mut call = call("wait", json!({}));
    call.ask = Ask::Invoke { target, input: Input::args(Json::empty_object()) };
    call.limits.keep = true;
    call.limits.on_disconnect = on_disconnect;
    request(call)
}

/// The exchange is in the journal and runs, and its caller is dropped before it looks again.
#[tokio::test]
async fn a_caller_that_is_dropped_between_the_launch_and_its_next_poll_takes_the_exchange_along() {
    let bench = Bench::new(AdmissionLimits::default());
    let remote = with_remote(&bench).await;
    let mut opening = Box::pin(bench.hub.open(remote_call("work", OnDisconnect::Cancel)));
    assert!(std::future::poll_fn(|cx| Poll::Ready(opening.as_mut().poll(cx))).await.is_pending());
    // Whoever is called was launched before, and its caller told.
    eventually(|| remote.calls.load(Ordering::SeqCst) == 1, || "it is not called".into()).await;
    drop(opening);
    eventually(|| remote.told.load(Ordering::SeqCst) == 1, || "it is not told of a cancel".into()).await;
    eventually(|| bench.hub.live.count() == 0, || "the exchange goes on".into()).await;
}

/// What its driver was told before this, it has dealt with after this.
async fn heard_all(hub: &Hub, task: TaskId) -> Result<(), Fault> {
    let message = MessageId::from("go on");
    hub.signal(owner(), task, Signal::Said { message, input: Input::text("go on") }).await
}

async fn phase(hub: &Hub, task: TaskId) -> TaskPhase {
    hub.task(&owner(), task).await.expect("there").phase()
}

async fn begun(running: &mut Running) {
    while let Some(entry) = running.next().await.expect("reads") {
        if matches!(entry.record.event(), Some(Event::Started(_))) {
            return;
        }
    }
}

async fn ended(hub: &Arc<Hub>, task: TaskId) -> Outcome {
    let mut reader = hub.watch(&owner(), task, 0).await.expect("watches");
    while reader.next().await.expect("reads").is_some() {}
    hub.task(&owner(), task).await.expect("there").finished().expect("done").outcome.clone()
}

#[tokio::test]
async fn a_caller_that_may_come_back_is_waited_for_and_then_not() {
    let bench = Bench::new(AdmissionLimits::default());
    let patient = |after| {
        let mut request = kept("talk", json!({"n": 1}));
        let at = bench.hub.now().after(DAY);
        request.call.limits.on_disconnect = OnDisconnect::CancelAfter(after);
        request.call.limits.deadline = Some(Deadline { at, set_by: DeadlineBy::Caller });
        request
    };
    let mut running = bench.hub.open(patient(Duration::from_secs(3600))).await.expect("opens");
    let id = running.id();
    begun(&mut running).await;
    drop(running);
    heard_all(&bench.hub, id).await.expect("its caller left, and it goes on");
    assert_eq!(phase(&bench.hub, id).await, TaskPhase::Running);

    // Back in time: the hour passes and changes nothing.
    let back = bench.hub.follow(&owner(), id, 0).await.expect("follows");
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(7200)).await;
    tokio::time::resume();
    heard_all(&bench.hub, id).await.expect("it goes on");
    assert_eq!(phase(&bench.hub, id).await, TaskPhase::Running);

    // Gone again, for longer.
    drop(back);
    heard_all(&bench.hub, id).await.expect("it goes on");
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(7200)).await;
    tokio::time::resume();
    let cancelled = Outcome::Cancelled { by: Party::Caller, why: CancelWhy::Disconnected };
    assert_eq!(ended(&bench.hub, id).await, cancelled);

    // One that was not kept is, for as long.
    let mut unkept = patient(Duration::ZERO);
    unkept.call.limits.keep = false;
    let running = bench.hub.open(unkept).await.expect("opens");
    let id = running.id();
    drop(running);
    while bench.hub.row(&owner(), id).await.is_err() {
        tokio::task::yield_now().await;
    }
    assert_eq!(ended(&bench.hub, id).await, cancelled);
}

#[tokio::test]
async fn of_two_who_sent_the_same_message_the_last_to_leave_takes_the_exchange_along() {
    let bench = Bench::new(AdmissionLimits::default());
    let named = || {
        let mut call = call("talk", json!({"n": 1}));
        (call.id, call.id_given, call.limits.keep) = ("m1".into(), true, true);
        request(call)
    };
    let mut first = bench.hub.open(named()).await.expect("opens");
    let second = bench.hub.open(named()).await.expect("replays");
    let id = first.id();
    assert_eq!(second.id(), id);
    begun(&mut first).await;
    drop(first);
    heard_all(&bench.hub, id).await.expect("it goes on for the other");
    drop(second);
    assert!(matches!(ended(&bench.hub, id).await, Outcome::Cancelled { .. }));
}

#[tokio::test]
async fn a_cancel_that_a_restart_leads_to_reaches_the_peer() {
    let bench = Bench::new(AdmissionLimits::default());
    let remote = with_remote(&bench).await;
    let mut leaves = bench.hub.open(remote_call("work", OnDisconnect::Cancel)).await.expect("opens");
    let mut stays = bench.hub.open(remote_call("work", OnDisconnect::Detach)).await.expect("opens");
    begun(&mut leaves).await;
    begun(&mut stays).await;
    let (left, stayed) = (leaves.id(), stays.id());
    eventually(|| remote.calls.load(Ordering::SeqCst) == 2, || "not called".to_owned()).await;
    for id in [left, stayed] {
        heard_all(&bench.hub, id).await.expect("it has learnt the id");
    }
    let bench = bench.restarted().await;
    drop((leaves, stays));
    let remote = with_remote(&bench).await;
    assert_eq!(bench.hub.recover().await.expect("recovers"), 2);

    let disconnected = Outcome::Cancelled { by: Party::Caller, why: CancelWhy::Disconnected };
    assert_eq!(ended(&bench.hub, left).await, disconnected);
    assert_eq!((remote.told.load(Ordering::SeqCst), remote.calls.load(Ordering::SeqCst)), (1, 0));

    bench.hub.signal(owner(), stayed, Signal::Cancel(CancelWhy::Asked)).await.expect("cancels");
    assert!(matches!(ended(&bench.hub, stayed).await, Outcome::Cancelled { why: CancelWhy::Asked, .. }));
    assert_eq!((remote.told.load(Ordering::SeqCst), remote.reattached.load(Ordering::SeqCst)), (2, 2));
    bench.idle().await;
}

/// A peer that is known and has not told its skills.
async fn without_skills(bench: &Bench) {
    let card = Card { peer: "remote".into(), skills: Vec::new(), ..super::card() };
    bench.hub.register(card, Arc::new(Remote::default())).await.expect("registers");
}

#[tokio::test]
async fn a_cancel_is_heard_while_a_peer_is_waited_for_to_tell_its_skills() {
    let bench = Bench::new(AdmissionLimits::default());
    let remote = with_remote(&bench).await;
    let mut running = bench.hub.open(remote_call("work", OnDisconnect::Detach)).await.expect("opens");
    begun(&mut running).await;
    let id = running.id();
    eventually(|| remote.calls.load(Ordering::SeqCst) == 1, || "not called".to_owned()).await;
    heard_all(&bench.hub, id).await.expect("it has learnt the id");
    let bench = bench.restarted().await;
    drop(running);
    without_skills(&bench).await;
    assert_eq!(bench.hub.recover().await.expect("recovers"), 1);
    // The driver looks for the skill for half a minute; a cancel takes no time.
    let cancelled = bench.hub.signal(owner(), id, Signal::Cancel(CancelWhy::Asked));
    let cancelled = tokio::time::timeout(Duration::from_secs(5), cancelled).await;
    cancelled.expect("it is heard at once").expect("cancels");
    let standing = bench.hub.task(&owner(), id).await.expect("there");
    assert!(standing.cancelling.is_some() && standing.finished().is_none(), "the peer is told once it is reached");
    let remote = with_remote(&bench).await;
    assert!(matches!(ended(&bench.hub, id).await, Outcome::Cancelled { why: CancelWhy::Asked, .. }));
    assert_eq!((remote.told.load(Ordering::SeqCst), remote.calls.load(Ordering::SeqCst)), (1, 0));
    bench.idle().await;
}

#[tokio::test]
async fn a_cancel_ends_a_task_whose_peer_never_tells_its_skills() {
    let bench = Bench::new(AdmissionLimits::default());
    let remote = with_remote(&bench).await;
    let mut running = bench.hub.open(remote_call("work", OnDisconnect::Detach)).await.expect("opens");
    begun(&mut running).await;
    let id = running.id();
    eventually(|| remote.calls.load(Ordering::SeqCst) == 1, || "not called".to_owned()).await;
    heard_all(&bench.hub, id).await.expect("it has learnt the id");
    let bench = bench.restarted().await;
    drop(running);
    without_skills(&bench).await;
    assert_eq!(bench.hub.recover().await.expect("recovers"), 1);
    bench.hub.signal(owner(), id, Signal::Cancel(CancelWhy::Asked)).await.expect("cancels");
    tokio::time::pause();
    tokio::time::advance(interlingua_machines::task::CANCEL_GRACE).await;
    tokio::time::resume();
    assert!(matches!(ended(&bench.hub, id).await, Outcome::Cancelled { why: CancelWhy::Asked, .. }));
    bench.idle().await;
}

#[tokio::test]
async fn a_cancel_reaches_a_peer_that_ended_its_request_to_ask() {
    let bench = Bench::new(AdmissionLimits::default());
    let remote = with_remote(&bench).await;
    let mut running = bench.hub.open(remote_call("ask", OnDisconnect::Detach)).await.expect("opens");
    asked(&mut running).await;
    bench.hub.signal(owner(), running.id(), Signal::Cancel(CancelWhy::Asked)).await.expect("cancels");
    assert!(matches!(outcome(&mut running).await.outcome, Outcome::Cancelled { why: CancelWhy::Asked, .. }));
    assert_eq!((remote.told.load(Ordering::SeqCst), remote.reattached.load(Ordering::SeqCst)), (1, 1));
}

/// What runs twice without harm runs at once; that it was sent before is found out when it must be kept.
#[tokio::test]
async fn the_second_run_of_a_message_is_cancelled_at_a_peer_that_ended_its_request_to_ask() {
    let bench = Bench::new(AdmissionLimits::default());
    let remote = with_remote(&bench).await;
    let named = || {
        let mut request = remote_call("ask_again", OnDisconnect::Detach);
        (request.call.id, request.call.id_given, request.call.limits.keep) = ("m1".into(), true, false);
        request
    };
    let mut first = bench.hub.open(named()).await.expect("opens");
    asked(&mut first).await;
    let mut second = bench.hub.open(named()).await.expect("opens");
    asked(&mut second).await;
    assert_eq!(second.id(), first.id(), "it is the first one's caller now");
    let counts = || [&remote.calls, &remote.reattached, &remote.told].map(|count| count.load(Ordering::SeqCst));
    eventually(|| counts() == [2, 1, 1], || format!("{:?}", counts())).await;
    assert!(bench.hub.live.get(first.id()).is_some(), "the first waits for its answer");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_peer_that_panics_leaves_an_outcome_at_once_kept_or_not() {
    let bench = Bench::new(AdmissionLimits::default());
    let _remote = with_remote(&bench).await;
    let requests = || {
        let mut all = vec![kept("panic", json!({}))];
        all.extend(["panic_at_once", "panic_later"].map(|skill| remote_call(skill, OnDisconnect::Detach)));
        all
    };
    for (keep, mut request) in
        requests().into_iter().map(|r| (true, r)).chain(requests().into_iter().map(|r| (false, r)))
    {
        request.call.limits.keep = keep;
        let mut running = bench.hub.open(request).await.expect("opens");
        let Outcome::Failed(fault) = outcome(&mut running).await.outcome else { panic!("it must fail") };
        assert_eq!(fault.kind, FaultKind::OutcomeUnknown, "it writes, and may have written");
    }
    bench.idle().await;
}

#[tokio::test]
async fn an_anonymous_callers_key_counts_on_its_connection_and_until_the_hub_ends() {
    let bench = Bench::new(AdmissionLimits::default());
    bench.work.release();
    let mut card = super::work::card();
    card.skills.iter_mut().for_each(|skill| skill.public = true);
    bench.hub.register(card, bench.work.clone()).await.expect("registers");
    let anyone = Principal::anonymous();
    let named = |connection| {
        let mut call = call("write", json!({}));
        (call.id, call.id_given) = ("k".into(), true);
        Request { by: Principal::anonymous(), connection, call }
    };
    let open = async |hub: &Arc<Hub>, connection| {
        let mut running = hub.open(named(connection)).await.expect("opens");
        outcome(&mut running).await;
        running.id()
    };
    let first = open(&bench.hub, 1).await;
    assert_eq!(open(&bench.hub, 1).await, first, "sent again");
    assert_ne!(open(&bench.hub, 2).await, first, "somebody else");
    let begun = |hub: &Hub, connection| hub.conversation_begun_by(&anyone, connection, "k");
    let conversation = begun(&bench.hub, 1);
    assert_eq!(begun(&bench.hub, 1), conversation);
    assert_ne!(begun(&bench.hub, 2), conversation);

    let bench = bench.restarted().await;
    bench.work.release();
    let mut card = super::work::card();
    card.skills.iter_mut().for_each(|skill| skill.public = true);
    bench.hub.register(card, bench.work.clone()).await.expect("registers");
    assert_ne!(open(&bench.hub, 1).await, first, "connection 1 is somebody else now");
    assert_ne!(begun(&bench.hub, 1), conversation);
}
