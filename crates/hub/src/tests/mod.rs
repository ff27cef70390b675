//! The hub behind its entry point, on the real embedded store, with small test peers.

mod audit;
mod failover;
mod full;
mod inboxes;
mod indexing;
mod leaving;
mod limits;
mod load;
mod long;
mod observed;
mod resources;
mod several_hubs;
mod strangers;
mod work;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use interlingua_keys::Keyring;
use interlingua_model::peer::{Calling, Dispatch, Duplex, Peer, Reply};
use interlingua_model::*;
use interlingua_store_sqlite::{Embedded, Options};
use serde_json::json;

use super::admission::AdmissionLimits;
use super::*;

struct Bench {
    hub: Arc<Hub>,
    calls: Arc<AtomicUsize>,
    store: Embedded,
    dir: tempfile::TempDir,
}

/// Answers with its arguments, or does what its skill's name says.
struct Fake {
    calls: Arc<AtomicUsize>,
}

impl Peer for Fake {
    fn call(self: Arc<Self>, dispatch: Dispatch) -> Calling {
        Box::pin(async move {
            self.calls.fetch_add(1, Ordering::SeqCst);
            match dispatch.skill.id.skill.as_str() {
                "hang" | "hang_writing" => std::future::pending().await,
                "down" => Err(Fault::hub(FaultKind::Unreachable, "nobody there")),
                "book" => Ok(Reply::Live(Box::new(Booking::new(&dispatch)))),
                "count" => Ok(Reply::Live(Box::new(Script(counting())))),
                _ => {
                    let args = dispatch.call.input().and_then(|input| input.args.clone());
                    let output = Output { structured: args, ..Output::default() };
                    Ok(Reply::Done(Box::new(Finished::completed(output)), None))
                }
            }
        })
    }
}

struct Script(VecDeque<Record>);

impl Duplex for Script {
    fn poll_next(&mut self, _: &mut Context<'_>) -> Poll<Option<Record>> {
        Poll::Ready(self.0.pop_front())
    }
    fn signal(&mut self, _: Signal) -> Result<(), Fault> {
        Ok(())
    }
}

fn counting() -> VecDeque<Record> {
    let delta = |n: u32| {
        let parts = vec![Part::text(format!("{n} "), Provenance::hub())];
        Record::emitted(Event::Said { message: "m".into(), channel: Channel::Answer, piece: Piece::Delta, parts })
    };
    let output = Output { said: Some("m".into()), ..Output::default() };
    (0..100).map(delta).chain([Record::emitted(Event::Finished(Finished::completed(output)))]).collect()
}

/// Ends its first request with a question, and goes on with the answer.
struct Booking(VecDeque<Record>);

impl Booking {
    fn new(dispatch: &Dispatch) -> Booking {
        let sent = |open| {
            let remote = Some(Secret::new("remote-7"));
            Record::Sent(Sent::learnt(dispatch.key.clone(), remote, open))
        };
        let question = Question {
            id: QuestionId(dispatch.task, 0),
            to: Addressee::Caller,
            kind: QuestionKind::Input { form: Schema(Json::empty_object()), choices: Vec::new() },
            text: "which dates?".into(),
            asked_by: Party::Peer("fake".into()),
            expires: Time(u64::MAX),
            resume: None,
            name: None,
        };
        let records = match &dispatch.answering {
            None => vec![sent(true), sent(false), Record::emitted(Event::Asked(question))],
            Some(answering) => {
                assert_eq!(dispatch.remote.as_ref().and_then(Secret::text), Some("remote-7"));
                let Answer::Given(input) = &answering.answer else { panic!("an answer") };
                let text = format!("booked for {}", input.words());
                let output = Output { parts: vec![Part::text(text, Provenance::hub())], ..Output::default() };
                vec![Record::emitted(Event::Finished(Finished::completed(output)))]
            }
        };
        Booking(records.into())
    }
}

impl Duplex for Booking {
    fn poll_next(&mut self, _: &mut Context<'_>) -> Poll<Option<Record>> {
        Poll::Ready(self.0.pop_front())
    }
    fn signal(&mut self, _: Signal) -> Result<(), Fault> {
        Ok(())
    }
}

fn skill(name: &str, effects: Effects) -> Skill {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    Skill::new(SkillId::new("fake", name), SkillKind::Tool, name, Schema(schema.into()), effects)
}

fn card() -> Card {
    let reads = Effects::reads_only(CardFrom::Configuration);
    let writes = Effects { writes: true, idempotent: false, ..reads };
    let destroys = Effects { destroys: true, ..writes };
    Card {
        peer: "fake".into(),
        title: "Fake".into(),
        description: "".into(),
        version: "1".into(),
        class: RouteClass::InProcess,
        provider: None,
        skills: vec![
            skill("echo", reads),
            skill("write", writes),
            skill("delete", destroys),
            skill("hang", reads),
            skill("hang_writing", writes),
            skill("down", reads),
            skill("book", writes),
            skill("count", reads),
        ],
        resources: Vec::new(),
        sources: Vec::new(),
        health: Health::Up,
        telemetry: None,
        seen: Time(0),
        raw: None,
    }
}

fn hub_on(store: &Embedded) -> (Arc<Hub>, Arc<AtomicUsize>) {
    let keys = Keyring::from_text(&"07".repeat(32)).expect("a key");
    let hub = Hub::new("test".into(), store.ports(), Arc::new(keys), AdmissionLimits::default(), Settings::default());
    let calls = Arc::new(AtomicUsize::new(0));
    hub.registry.register(card(), Arc::new(Fake { calls: calls.clone() })).expect("registers");
    (hub, calls)
}

fn bench() -> Bench {
    let dir = tempfile::tempdir().expect("a directory");
    let store = Embedded::open(dir.path(), Options::default()).expect("opens");
    let (hub, calls) = hub_on(&store);
    Bench { hub, calls, store, dir }
}

#[tokio::test]
async fn a_conversation_goes_on_after_a_rotation_and_not_without_the_key_that_made_its_token() {
    let bench = bench();
    let (hub, ann) = (&bench.hub, owner());
    let id = hub.new_conversation();
    let token = hub.conversation_token(&ann, &id).expect("a token");
    let (old, new) = ("07".repeat(32), "08".repeat(32));
    hub.keys.replace(&Keyring::from_text(&format!("{new} {old}")).expect("keys"));
    assert_eq!(hub.open_conversation(&ann, &token), Some(id.clone()));
    assert_ne!(hub.conversation_token(&ann, &id).expect("a token"), token, "the new key makes tokens");
    hub.keys.replace(&Keyring::from_text(&new).expect("a key"));
    assert_eq!(hub.open_conversation(&ann, &token), None);
}

fn owner() -> Principal {
    Principal::hub_owner(Proof::LocalSocket)
}

fn call(name: &str, args: serde_json::Value) -> Box<Call> {
    let target = Target::Skill(SkillId::new("fake", name), None);
    let mut call = Call::new(
        entropy::message_id(),
        interlingua_model::Origin::program(),
        Ask::Invoke { target, input: Input::args(args.into()) },
    );
    call.caller.can_answer = KindSet::INPUT.with(KindSet::CONFIRM);
    Box::new(call)
}

fn request(call: Box<Call>) -> Request {
    Request { by: owner(), connection: 1, call }
}

async fn outcome(running: &mut Running) -> Finished {
    match running.settle(&mut Transcript::default()).await.expect("settles") {
        Settled::Finished(finished) => *finished,
        Settled::Asked(question) => panic!("asked {question:?}"),
    }
}

async fn asked(running: &mut Running) -> Question {
    match running.settle(&mut Transcript::default()).await.expect("settles") {
        Settled::Asked(question) => *question,
        Settled::Finished(finished) => panic!("finished {finished:?}"),
    }
}

async fn rows(hub: &Hub) -> usize {
    let filter = interlingua_model::ports::TaskFilter { limit: 100, ..Default::default() };
    hub.rows(&owner(), filter).await.expect("lists").len()
}

#[tokio::test]
async fn a_plain_call_is_answered_and_leaves_no_task() {
    let bench = bench();
    let mut running = bench.hub.open(request(call("echo", json!({"n": 1})))).await.expect("opens");
    assert!(!running.is_kept());
    let finished = outcome(&mut running).await;
    assert_eq!(finished.output.structured.expect("output").tree(), &json!({"n": 1}));
    assert_eq!(rows(&bench.hub).await, 0);
    assert_eq!(bench.hub.admission.load(), (0, 0), "its place is free");
}

#[tokio::test]
async fn input_that_does_not_fit_the_schema_is_refused_before_anything_runs() {
    let bench = bench();
    let fault = bench.hub.open(request(call("echo", json!({"n": "x"})))).await.expect_err("refused");
    assert_eq!((fault.kind, &*fault.fields[0].path), (FaultKind::InvalidInput, "/n"));
    assert_eq!(bench.calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn what_someone_may_not_call_is_not_there() {
    let bench = bench();
    let by = Principal::anonymous();
    let hidden = Request { by, ..request(call("echo", json!({}))) };
    let fault = bench.hub.open(hidden).await.expect_err("hidden");
    assert_eq!(fault.kind, FaultKind::NotFound(Noun::Skill));
}

#[tokio::test]
async fn a_call_that_passed_this_hub_before_is_a_loop() {
    let bench = bench();
    let mut looped = call("echo", json!({}));
    looped.via = Some(Via { hubs: vec!["other".into(), "test".into()], limit: Via::LIMIT });
    assert_eq!(bench.hub.open(request(looped)).await.expect_err("loop").kind, FaultKind::Loop);
}

#[tokio::test]
async fn the_same_message_is_answered_once_and_another_under_its_id_is_a_conflict() {
    let bench = bench();
    let named = |n: u32| {
        let mut call = call("write", json!({"n": n}));
        (call.id, call.id_given) = ("m1".into(), true);
        request(call)
    };
    let mut first = bench.hub.open(named(1)).await.expect("opens");
    let one = outcome(&mut first).await;
    let mut again = bench.hub.open(named(1)).await.expect("replays");
    assert_eq!(first.id(), again.id());
    assert_eq!(outcome(&mut again).await, one);
    assert_eq!(bench.calls.load(Ordering::SeqCst), 1);
    assert_eq!(bench.hub.open(named(2)).await.expect_err("conflict").kind, FaultKind::Conflict);
}

#[tokio::test]
async fn a_destructive_call_waits_for_a_yes_and_a_yes_is_for_exactly_that_call() {
    let bench = bench();
    let mut running = bench.hub.open(request(call("delete", json!({"n": 1})))).await.expect("opens");
    let question = asked(&mut running).await;
    assert!(running.is_kept());
    assert_eq!(bench.calls.load(Ordering::SeqCst), 0);
    let stranger = bench.hub.answer(Principal::anonymous(), question.id, Answer::Granted).await;
    assert_eq!(stranger.expect_err("hidden").kind, FaultKind::NotFound(Noun::Task));
    bench.hub.answer(owner(), question.id, Answer::Granted).await.expect("approved");
    assert_eq!(outcome(&mut running).await.outcome, Outcome::Completed);
    assert_eq!(bench.calls.load(Ordering::SeqCst), 1);
    let twice = bench.hub.answer(owner(), question.id, Answer::Granted).await;
    assert_eq!(twice.expect_err("spent").kind, FaultKind::AlreadyFinished);
}

#[tokio::test]
async fn a_yes_is_refused_when_the_policy_changed_since() {
    let bench = bench();
    let mut running = bench.hub.open(request(call("delete", json!({"n": 1})))).await.expect("opens");
    let question = asked(&mut running).await;
    bench.hub.policy.store(Arc::new(crate::policy::Policy::new(Digest::of(b"other rules"), None)));
    bench.hub.answer(owner(), question.id, Answer::Granted).await.expect("taken");
    let Outcome::Failed(fault) = outcome(&mut running).await.outcome else { panic!("must fail") };
    assert_eq!(fault.kind, FaultKind::Denied);
    assert_eq!(bench.calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_peers_question_ends_its_request_and_the_answer_goes_on_with_it() {
    let bench = bench();
    let mut running = bench.hub.open(request(call("book", json!({})))).await.expect("opens");
    let question = asked(&mut running).await;
    bench.hub.answer(owner(), question.id, Answer::Given(Input::text("May 1"))).await.expect("answered");
    let finished = outcome(&mut running).await;
    assert_eq!(finished.output.parts[0].as_text(), Some("booked for May 1"));
    assert_eq!(bench.calls.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn deltas_of_a_kept_exchange_are_joined_and_every_reader_sees_the_same_sequence() {
    let bench = bench();
    let mut kept = call("count", json!({}));
    kept.limits.keep = true;
    let mut running = bench.hub.open(request(kept)).await.expect("opens");
    let mut live = Vec::new();
    while let Some(entry) = running.next().await.expect("reads") {
        live.push((*entry).clone());
    }
    let mut late = bench.hub.watch(&owner(), running.id(), 0).await.expect("watches");
    let mut read = Vec::new();
    while let Some(entry) = late.next().await.expect("reads") {
        read.push((*entry).clone());
    }
    assert_eq!(live, read);
    assert!(live.len() < 20, "100 deltas became {} records", live.len());
    let mut transcript = Transcript::default();
    live.iter().for_each(|entry| transcript.push(&entry.record).expect("it fits"));
    let Some(Event::Finished(finished)) = live.last().and_then(|entry| entry.record.event()) else {
        panic!("finished last")
    };
    let text: String = transcript.whole(finished).output.parts.iter().filter_map(Part::as_text).collect();
    assert!(text.starts_with("0 1 2 ") && text.ends_with("98 99 "), "{text}");
}

#[tokio::test]
async fn a_caller_that_leaves_cancels_or_detaches_as_its_manners_say() {
    let bench = bench();
    let running = bench.hub.open(request(call("hang", json!({})))).await.expect("opens");
    drop(running);
    let mut detached = call("hang", json!({}));
    detached.limits.on_disconnect = OnDisconnect::Detach;
    let running = bench.hub.open(request(detached)).await.expect("opens");
    let id = running.id();
    drop(running);
    tokio::time::timeout(Duration::from_secs(5), async {
        while bench.hub.live.get(id).is_none_or(|live| live.seq() == 0) {
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("it was kept when its caller left");
    assert_eq!(rows(&bench.hub).await, 1);
    bench.hub.signal(owner(), id, Signal::Cancel(CancelWhy::Asked)).await.expect("cancelled");
    let mut reader = bench.hub.watch(&owner(), id, 0).await.expect("watches");
    while reader.next().await.expect("reads").is_some() {}
    let task = bench.hub.task(&owner(), id).await.expect("there");
    assert_eq!(task.phase(), interlingua_model::ports::TaskPhase::Cancelled);
}

#[tokio::test]
async fn a_task_told_from_memory_is_the_one_in_the_journal() {
    let bench = bench();
    let mut hanging = call("hang", json!({}));
    hanging.limits.keep = true;
    let mut running = bench.hub.open(request(hanging)).await.expect("opens");
    let (id, told) = (running.id(), running.task().await.expect("stands somewhere"));
    assert!(told.seq >= 1, "what was committed is told");
    let journal = bench.hub.fold(id).await.expect("is in the journal");
    assert_eq!(serde_json::to_value(&told).expect("writes"), serde_json::to_value(&journal).expect("writes"));
    let asked = bench.hub.task(&owner(), id).await.expect("there");
    assert_eq!(asked.seq, journal.seq);
    let stranger = bench.hub.task(&Principal::anonymous(), id).await.expect_err("is not theirs");
    assert_eq!(stranger.kind, FaultKind::NotFound(Noun::Task));
}

#[tokio::test(start_paused = true)]
async fn a_deadline_ends_what_hangs() {
    let bench = bench();
    let mut hanging = call("hang", json!({}));
    let at = bench.hub.now().after(Duration::from_secs(2));
    hanging.limits.deadline = Some(Deadline { at, set_by: DeadlineBy::Caller });
    let mut running = bench.hub.open(request(hanging)).await.expect("opens");
    let Outcome::Failed(fault) = outcome(&mut running).await.outcome else { panic!("must fail") };
    assert_eq!((fault.kind, fault.origin), (FaultKind::Deadline, Party::Caller));
}

#[tokio::test]
async fn after_a_restart_tasks_go_on_by_the_crash_rule() {
    let bench = bench();
    let kept = |name: &str| {
        let mut call = call(name, json!({}));
        call.limits.keep = true;
        call.limits.on_disconnect = OnDisconnect::Detach;
        request(call)
    };
    let repeatable = bench.hub.open(kept("hang")).await.expect("opens").id();
    let unknown = bench.hub.open(kept("hang_writing")).await.expect("opens").id();
    let mut asking = bench.hub.open(kept("delete")).await.expect("opens");
    let question = asked(&mut asking).await;
    let mut running = bench.hub.open(kept("book")).await.expect("opens");
    let booking = asked(&mut running).await.id.0;
    // What a crash leaves is the journal: a second hub on the same store.
    let Bench { hub, store, dir, .. } = bench;
    hub.stop(Duration::from_secs(5)).await;
    drop((hub, asking, running));
    let (hub, calls) = hub_on(&store);
    assert_eq!(hub.recover().await.expect("recovers"), 4);
    let task = async |id| hub.task(&owner(), id).await.expect("there");
    assert_eq!(task(repeatable).await.sent.expect("sent").attempt, 2);
    let Some(Finished { outcome: Outcome::Failed(fault), .. }) = task(unknown).await.finished().cloned() else {
        panic!("must have failed")
    };
    assert_eq!(fault.kind, FaultKind::OutcomeUnknown);
    // Open questions stand, and their answers go on.
    assert_eq!(hub.open_questions(&owner()).len(), 2);
    hub.answer(owner(), question.id, Answer::Granted).await.expect("approved");
    hub.answer(owner(), QuestionId(booking, 0), Answer::Given(Input::text("June 2"))).await.expect("answered");
    let mut reader = hub.watch(&owner(), booking, 0).await.expect("watches");
    while reader.next().await.expect("reads").is_some() {}
    let finished = task(booking).await.finished().cloned().expect("done");
    assert_eq!(finished.output.parts[0].as_text(), Some("booked for June 2"));
    assert!(calls.load(Ordering::SeqCst) >= 3);
    drop(dir);
}

#[tokio::test]
async fn a_capability_fails_over_before_anything_was_begun() {
    let bench = bench();
    let target = Target::Capability("down".into());
    let alone = Call::new(
        "m",
        interlingua_model::Origin::program(),
        Ask::Invoke { target, input: Input::args(json!({}).into()) },
    );
    let mut running = bench.hub.open(request(Box::new(alone))).await.expect("opens");
    let Outcome::Failed(fault) = outcome(&mut running).await.outcome else { panic!("must fail") };
    assert_eq!(fault.kind, FaultKind::Unreachable);
}

#[tokio::test]
async fn call_skill_is_a_call_of_the_skill_it_names() {
    let bench = bench();
    let through = |args: serde_json::Value| {
        let target = Target::Skill(SkillId::new("hub", "call_skill"), None);
        let mut call = Call::new(
            entropy::message_id(),
            interlingua_model::Origin::program(),
            Ask::Invoke { target, input: Input::args(args.into()) },
        );
        call.caller.can_answer = KindSet::CONFIRM;
        request(Box::new(call))
    };
    let named = json!({"skill": "fake/echo", "arguments": {"n": 3}});
    let mut running = bench.hub.open(through(named)).await.expect("opens");
    assert_eq!(outcome(&mut running).await.output.structured.expect("output").tree(), &json!({"n": 3}));
    // Its schema, its effects and its policy are those of the skill named.
    let fault =
        bench.hub.open(through(json!({"skill": "fake/echo", "arguments": {"n": "x"}}))).await.expect_err("refused");
    assert_eq!(fault.kind, FaultKind::InvalidInput);
    let mut running = bench.hub.open(through(json!({"skill": "fake/delete"}))).await.expect("opens");
    assert!(matches!(asked(&mut running).await.kind, QuestionKind::Confirm(_)));
    let itself = bench.hub.open(through(json!({"skill": "hub/call_skill"}))).await.expect_err("refused");
    assert_eq!(itself.kind, FaultKind::InvalidInput);
}
