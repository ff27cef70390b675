use super::*;
use interlingua_model::call::{Ask, Call, Deadline, OnDisconnect, Target};
use interlingua_model::card::{Effects, RouteClass, Schema};
use interlingua_model::content::{Input, Part, Party, Provenance};
use interlingua_model::digest::Digest;
use interlingua_model::event::*;
use interlingua_model::fault::FaultKind;
use interlingua_model::id::{MessageId, SkillId};
use interlingua_model::journal::Entry;
use interlingua_model::json::Json;
use interlingua_model::principal::{Principal, Proof};
use interlingua_model::question::{Addressee, Confirm, QuestionKind};
use interlingua_model::transcript::MAX_LOSSES;

const NOW: Time = Time(1_000);
const OWNER: Standing = Standing { owns: true, approves: true };
const STRANGER: Standing = Standing { owns: false, approves: false };

fn owner() -> Principal {
    Principal::hub_owner(Proof::LocalSocket)
}

fn skill() -> SkillId {
    SkillId::new("files", "write")
}

fn call() -> Box<Call> {
    let target = Target::Skill(skill(), None);
    let mut call = Call::new(
        "m1",
        interlingua_model::Origin::program(),
        Ask::Invoke { target, input: Input::args(serde_json::json!({"a": 1}).into()) },
    );
    call.limits.on_disconnect = OnDisconnect::Detach;
    Box::new(call)
}

fn route() -> Route {
    Route { skill: skill(), version: None, class: RouteClass::Tool, why: Why::Named, args: None }
}

fn task() -> Task {
    Task::accepted(TaskId(7), owner(), call(), NOW)
}

/// Decides, applies, returns the effects.
fn step(task: &mut Task, what: Happening) -> Vec<Effect> {
    let decision = task.decide(what, NOW).expect("allowed");
    for record in &decision.records {
        task.apply(record, NOW);
        task.seq += 1;
    }
    decision.effects
}

fn dispatched(repeatable: bool) -> Task {
    let mut task = task();
    step(&mut task, Happening::Dispatch { route: route(), repeatable, args: None });
    task
}

fn confirm() -> Happening {
    Happening::Ask(Asking {
        to: Addressee::Approvers,
        kind: QuestionKind::Confirm(Box::new(Confirm {
            call: Digest::of(b"call"),
            skill: skill(),
            args: None,
            parts: Box::default(),
            effects: Effects::unknown(),
            basis: None,
            relays: None,
        })),
        text: "Write the file?".into(),
        expires: Time(5_000),
    })
}

fn answer(number: u32, answer: Answer) -> Happening {
    let question = QuestionId(TaskId(7), number);
    let signal = Signal::Answered { question, message: MessageId::from("m2"), answer };
    Happening::Signal { by: owner(), standing: OWNER, signal }
}

fn peer(event: Event) -> Happening {
    Happening::Peer { event, losses: Vec::new(), raw: None }
}

fn peer_question() -> Question {
    Question {
        id: QuestionId(TaskId(0), 0),
        to: Addressee::Caller,
        kind: QuestionKind::Input { form: Schema(Json::empty_object()), choices: Vec::new() },
        text: "which dates?".into(),
        asked_by: Party::Peer("files".into()),
        expires: Time(5_000),
        resume: None,
        name: None,
    }
}

fn failed_kind(task: &Task) -> Option<FaultKind> {
    match &task.finished()?.outcome {
        Outcome::Failed(fault) => Some(fault.kind),
        Outcome::Completed | Outcome::Cancelled { .. } => None,
    }
}

#[test]
fn a_yes_frees_the_task_and_is_remembered_until_it_is_spent() {
    let mut task = task();
    assert_eq!(step(&mut task, confirm()), []);
    assert_eq!(task.state, State::Waiting);
    assert_eq!(step(&mut task, answer(0, Answer::Granted)), [Effect::Proceed]);
    assert_eq!((task.state.clone(), task.granted), (State::Accepted, Some(Digest::of(b"call"))));
    step(&mut task, Happening::Dispatch { route: route(), repeatable: false, args: None });
    assert_eq!((task.state.clone(), task.granted), (State::Running, None));
}

#[test]
fn a_no_and_a_timeout_are_denied() {
    for how in [answer(0, Answer::Declined), Happening::QuestionExpired(QuestionId(TaskId(7), 0))] {
        let mut task = task();
        step(&mut task, confirm());
        assert_eq!(step(&mut task, how), [Effect::Stop]);
        assert_eq!(failed_kind(&task), Some(FaultKind::Denied));
    }
}

#[test]
fn a_yes_that_comes_too_late_or_from_a_stranger_is_refused() {
    let mut task = task();
    step(&mut task, confirm());
    let late = task.decide(answer(0, Answer::Granted), Time(5_000)).expect_err("expired");
    assert_eq!(late.kind, FaultKind::Denied);
    let signal =
        Signal::Answered { question: QuestionId(TaskId(7), 0), message: MessageId::from("m"), answer: Answer::Granted };
    let stranger = Happening::Signal { by: Principal::anonymous(), standing: STRANGER, signal: signal.clone() };
    assert!(matches!(task.decide(stranger, NOW).expect_err("hidden").kind, FaultKind::NotFound(_)));
    let owns = Standing { owns: true, approves: false };
    let caller = Happening::Signal { by: Principal::anonymous(), standing: owns, signal };
    assert_eq!(task.decide(caller, NOW).expect_err("not an approver").kind, FaultKind::Denied);
}

#[test]
fn an_answer_to_the_hubs_own_question_is_merged_into_the_arguments() {
    let mut task = task();
    let kind = QuestionKind::Input { form: Schema(Json::empty_object()), choices: Vec::new() };
    let ask = Asking { to: Addressee::Caller, kind, text: "On which date?".into(), expires: Time(5_000) };
    step(&mut task, Happening::Ask(ask));
    let given = Input::args(serde_json::json!({"date": "2026-05-01"}).into());
    assert_eq!(step(&mut task, answer(0, Answer::Given(given))), [Effect::Proceed]);
    let args = task.call.input().and_then(|input| input.args.clone()).expect("args");
    assert_eq!(args.tree(), &serde_json::json!({"a": 1, "date": "2026-05-01"}));
}

#[test]
fn an_answer_to_a_peers_question_is_a_dispatch_of_its_own() {
    let mut task = dispatched(false);
    step(&mut task, Happening::Learnt { remote: Some(Secret::Ref(interlingua_model::SecretRef(9))), open: false });
    step(&mut task, peer(Event::Asked(peer_question())));
    assert_eq!(task.state, State::Waiting);
    let effects = step(&mut task, answer(0, Answer::Given(Input::text("May 1"))));
    assert!(matches!(&effects[..], [Effect::Forward(Signal::Answered { .. })]));
    let sent = task.sent.as_ref().expect("sent");
    assert_eq!((sent.key.as_str(), sent.open), ("m2", true));
    assert_eq!(task.state, State::Running);
}

#[test]
fn artifact_chunks_come_in_order_or_are_a_bad_reply() {
    let chunk = |index, last| {
        peer(Event::Artifact(Chunk { artifact: "a".into(), index, last, parts: Vec::new(), header: None }))
    };
    let mut task = dispatched(true);
    assert_eq!(task.decide(chunk(1, false), NOW).expect_err("not open").kind, FaultKind::BadReply);
    step(&mut task, chunk(0, false));
    step(&mut task, chunk(1, false));
    step(&mut task, chunk(0, false));
    assert_eq!(task.artifacts.values().map(Vec::len).collect::<Vec<_>>(), [1], "a peer begins anew");
    step(&mut task, chunk(1, true));
    assert_eq!(task.decide(chunk(2, false), NOW).expect_err("closed").kind, FaultKind::BadReply);
    step(&mut task, chunk(0, true));
    assert_eq!(task.artifacts.values().map(Vec::len).collect::<Vec<_>>(), [1], "index 0 after last replaces");
}

#[test]
fn what_a_task_holds_in_memory_is_bounded() {
    let mut held = dispatched(true);
    let chunk = |artifact: &str, index: u32, bytes: usize| {
        let parts = vec![Part::text("x".repeat(bytes), interlingua_model::content::Provenance::hub())];
        peer(Event::Artifact(Chunk { artifact: artifact.into(), index, last: true, parts, header: None }))
    };
    let half = MAX_ARTIFACTS_HELD / 2;
    step(&mut held, chunk("a", 0, half));
    // What is replaced does not count twice.
    for _ in 0..4 {
        step(&mut held, chunk("a", 0, half));
    }
    let fault = held.decide(chunk("b", 0, half), Time(5)).expect_err("too much");
    assert_eq!(fault.kind, FaultKind::TooLarge);
    step(&mut held, chunk("b", 0, 1_000));

    let losses = vec![Loss::new("call.priority", interlingua_model::loss::LossKind::Dropped); 300];
    for _ in 0..10 {
        let event = Event::Progress { done: None, total: None, note: None };
        step(&mut held, Happening::Peer { event, losses: losses.clone(), raw: None });
    }
    assert_eq!(held.losses.len(), MAX_LOSSES);

    let said = |bytes: usize| Event::Said {
        message: "m".into(),
        channel: interlingua_model::event::Channel::Answer,
        piece: interlingua_model::event::Piece::Whole,
        parts: vec![Part::text("y".repeat(bytes), interlingua_model::content::Provenance::hub())],
    };
    for _ in 0..1_200 {
        step(&mut held, peer(said(10)));
    }
    assert_eq!(held.messages.len(), 1_000);
    step(&mut held, peer(said(20 * 1024 * 1024)));
    assert_eq!(held.messages.len(), 1, "the newest stays, whatever its size");
}

#[test]
fn the_first_outcome_wins() {
    let mut task = dispatched(true);
    assert_eq!(step(&mut task, peer(Event::Finished(Finished::completed(Output::default())))), [Effect::Stop]);
    let late = task.decide(peer(Event::Finished(Finished::failed(broken_fault()))), NOW);
    assert_eq!(late.expect_err("done").kind, FaultKind::AlreadyFinished);
}

fn broken_fault() -> interlingua_model::fault::Fault {
    interlingua_model::fault::Fault::hub(FaultKind::Internal, "x")
}

#[test]
fn cancel_ends_what_was_not_sent_and_tells_the_peer_what_was() {
    let cancel = || Happening::Signal { by: owner(), standing: OWNER, signal: Signal::Cancel(CancelWhy::Asked) };
    let mut waiting = task();
    assert_eq!(step(&mut waiting, cancel()), [Effect::Stop]);
    assert_eq!(waiting.phase(), TaskPhase::Cancelled);

    let mut running = dispatched(false);
    assert_eq!(step(&mut running, cancel()), [Effect::Forward(Signal::Cancel(CancelWhy::Asked))]);
    assert_eq!(running.state, State::Running);
    let (at, timer) = running.next_timer().expect("the grace");
    assert_eq!(at, NOW.after(CANCEL_GRACE));
    assert_eq!(step(&mut running, timer), [Effect::Stop]);
    assert_eq!(running.phase(), TaskPhase::Cancelled);
}

#[test]
fn crash_rule() {
    let restarted = |task: &Task| task.decide(Happening::Restarted, NOW).expect("allowed");
    // Not yet dispatched: it is dispatched.
    assert_eq!(restarted(&task()).effects, [Effect::Proceed]);
    // Sent, idempotent: again, under the same key.
    let repeatable = dispatched(true);
    let again = restarted(&repeatable);
    let [Effect::Dispatch(sent)] = &again.effects[..] else { panic!("{again:?}") };
    assert_eq!((sent.attempt, &sent.key), (2, &repeatable.sent.as_ref().expect("sent").key));
    // Sent, not idempotent, nobody to ask: the outcome is unknown.
    let mut lost = dispatched(false);
    step(&mut lost, Happening::Restarted);
    assert_eq!(failed_kind(&lost), Some(FaultKind::OutcomeUnknown));
    // The peer knows it by an id: re-attach.
    let mut known = dispatched(false);
    step(&mut known, Happening::Learnt { remote: Some(Secret::Ref(interlingua_model::SecretRef(9))), open: true });
    assert!(matches!(&restarted(&known).effects[..], [Effect::Reattach(_)]));
    // The peer ended its request with a question: the answer is awaited.
    step(&mut known, Happening::Learnt { remote: None, open: false });
    step(&mut known, peer(Event::Asked(peer_question())));
    assert_eq!(restarted(&known), Decision::default());
    // A question carried by a connection that died with the hub is withdrawn.
    let mut carried = dispatched(true);
    step(&mut carried, peer(Event::Asked(peer_question())));
    let decision = restarted(&carried);
    assert!(matches!(decision.records[0].event(), Some(Event::Settled { how: How::Withdrawn, .. })));
    // The caller's wire says cancel, and nothing is open.
    let mut manners = dispatched(true);
    manners.call.limits.on_disconnect = OnDisconnect::Cancel;
    step(&mut manners, Happening::Restarted);
    assert!(matches!(
        manners.finished().map(|finished| &finished.outcome),
        Some(Outcome::Cancelled { why: CancelWhy::Disconnected, .. })
    ));
}

#[test]
fn the_hubs_deadline_stands_still_while_a_question_is_open_and_a_callers_does_not() {
    for (set_by, stands) in [(DeadlineBy::Hub, true), (DeadlineBy::Caller, false)] {
        let mut task = task();
        task.call.limits.deadline = Some(Deadline { at: Time(2_000), set_by });
        step(&mut task, confirm());
        let (at, _) = task.next_timer().expect("a timer");
        assert_eq!(at, if stands { Time(5_000) } else { Time(2_000) });
        let granted = task.decide(answer(0, Answer::Granted), Time(3_000)).expect("allowed");
        granted.records.iter().for_each(|record| task.apply(record, Time(3_000)));
        let (at, _) = task.next_timer().expect("a timer");
        assert_eq!(at, if stands { Time(4_000) } else { Time(2_000) });
    }
}

#[test]
fn folding_the_journal_gives_the_same_state_at_every_point() {
    let mut live = task();
    let mut journal = vec![Entry { seq: 1, at: NOW, record: Record::Accepted { by: owner(), call: call() } }];
    let happenings = [
        confirm(),
        answer(0, Answer::Granted),
        Happening::Dispatch { route: route(), repeatable: false, args: None },
        peer(Event::Said {
            message: "a".into(),
            channel: Channel::Answer,
            piece: Piece::Whole,
            parts: vec![Part::text("hello", Provenance::peer("files".into()))],
        }),
        peer(Event::Finished(Finished::completed(Output::default()))),
    ];
    for happening in happenings {
        let decision = live.decide(happening, NOW).expect("allowed");
        for record in decision.records {
            live.apply(&record, NOW);
            live.seq += 1;
            let bytes = interlingua_model::journal::to_bytes(&record).expect("serialisable");
            let record = interlingua_model::journal::from_bytes(&bytes).expect("readable");
            journal.push(Entry { seq: live.seq, at: NOW, record });
        }
        let folded = fold(TaskId(7), journal.clone()).expect("folds");
        assert_eq!(format!("{folded:?}"), format!("{live:?}"));
    }
}

#[test]
fn deltas_and_progress_join_before_they_are_numbered() {
    let delta = |text: &str| {
        Record::emitted(Event::Said {
            message: "a".into(),
            channel: Channel::Answer,
            piece: Piece::Delta,
            parts: vec![Part::text(text, Provenance::hub())],
        })
    };
    let progress = |done| Record::emitted(Event::Progress { done: Some(done), total: None, note: None });
    let mut batch = Vec::new();
    for record in [delta("one "), delta("two"), progress(1.0), progress(2.0), delta("three")] {
        join(&mut batch, record);
    }
    assert_eq!(batch, [delta("one two"), progress(2.0), delta("three")]);
}

#[test]
fn a_peer_that_ended_with_several_questions_is_called_again_once_with_all_answers() {
    let mut task = dispatched(false);
    step(&mut task, Happening::Learnt { remote: None, open: false });
    step(&mut task, peer(Event::Asked(peer_question())));
    step(&mut task, peer(Event::Asked(peer_question())));
    let given = |text: &str| Answer::Given(Input::text(text));
    assert_eq!(step(&mut task, answer(1, given("second"))), [], "it waits for the other one");
    assert!(task.sent.as_ref().is_some_and(|sent| !sent.open));
    let effects = step(&mut task, answer(0, given("first")));
    assert!(matches!(effects.as_slice(), [Effect::Forward(Signal::Answered { .. })]), "{effects:?}");
    let answers: Vec<_> = task.given.iter().map(|(question, answer)| (question.id.1, answer.clone())).collect();
    assert_eq!(answers, [(1, given("second")), (0, given("first"))]);
    step(&mut task, Happening::Learnt { remote: None, open: false });
    assert!(task.given.is_empty(), "the next round begins anew");
}
