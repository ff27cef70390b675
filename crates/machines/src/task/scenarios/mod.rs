//! The thirteen walked scenarios on the pure machine: scripted happenings, the records and effects they lead to, and what a
//! restart does at every point where the hub may be killed.
//!
//! A [`Walk`] keeps a journal as the store would (bytes) and checks after every append that folding it gives the live
//! state. Steps read `records => effects`, restarts `phase: records => effects`.

mod another_peer_needs_approval;
mod approval_elsewhere;
mod asks_then_delivers;
mod batch_fails_half_way;
mod caller_cannot_answer;
mod killed_between_dispatch_and_result;
mod late_reader;
mod loop_of_hubs;
mod missing_slot;
mod promise;
mod raw_lane;
mod stream_stays_open;
mod two_calls_one_yes;

use super::*;
use bytes::Bytes;
use interlingua_model::call::{Ask, OnDisconnect, Target};
use interlingua_model::card::{Effects, RouteClass, Schema};
use interlingua_model::content::{Input, Part, Party, Provenance};
use interlingua_model::digest::Digest;
use interlingua_model::event::{CancelWhy, Outcome, Output, Why};
use interlingua_model::fault::{Fault, FaultKind};
use interlingua_model::id::{MessageId, SkillId};
use interlingua_model::journal::{Entry, from_bytes, to_bytes};
use interlingua_model::json::Json;
use interlingua_model::principal::Proof;
use interlingua_model::question::Answer;
use interlingua_model::question::Confirm;
use interlingua_model::secret::SecretRef;

const TASK: TaskId = TaskId(7);
const START: Time = Time(1_000);
const EXPIRES: Time = Time(600_000);

/// Owns the task and may say yes.
const OWNER: Standing = Standing { owns: true, approves: true };
/// Owns the task, may not say yes.
const USER: Standing = Standing { owns: true, approves: false };
/// May say yes to what others ask for.
const APPROVER: Standing = Standing { owns: false, approves: true };

fn owner() -> Principal {
    Principal::hub_owner(Proof::LocalSocket)
}

fn call(skill: &str, on_disconnect: OnDisconnect) -> Call {
    let target = Target::Skill(skill.parse().expect("peer/skill"), None);
    let mut call = Call::new(
        "m1",
        interlingua_model::Origin::program(),
        Ask::Invoke { target, input: Input::args(Json::empty_object()) },
    );
    call.limits.on_disconnect = on_disconnect;
    call
}

fn route(skill: &str) -> Route {
    let skill: SkillId = skill.parse().expect("peer/skill");
    Route { skill, version: None, class: RouteClass::Tool, why: Why::Named, args: None }
}

fn send(skill: &str, repeatable: bool) -> Happening {
    Happening::Dispatch { route: route(skill), repeatable, args: None }
}

fn select(skill: &str, others: &[&str], fault: Option<FaultKind>) -> Happening {
    let skill_id = |name: &str| -> SkillId { name.parse().expect("peer/skill") };
    let fault = fault.map(|kind| Fault::new(kind, Party::Peer("peer".into()), "nobody there"));
    Happening::Select { skill: skill_id(skill), others: others.iter().copied().map(skill_id).collect(), fault }
}

fn peer(event: Event) -> Happening {
    Happening::Peer { event, losses: Vec::new(), raw: None }
}

fn learnt(remote: u128, open: bool) -> Happening {
    Happening::Learnt { remote: Some(Secret::Ref(SecretRef(remote))), open }
}

fn peer_asks(text: &str) -> Happening {
    let kind = QuestionKind::Input { form: Schema(Json::empty_object()), choices: Vec::new() };
    let asked_by = Party::Peer("peer".into());
    // The task numbers it: what stands here is the peer's own.
    let id = QuestionId(TaskId(0), 99);
    peer(Event::Asked(Question {
        id,
        to: Addressee::Caller,
        kind,
        text: text.into(),
        asked_by,
        expires: EXPIRES,
        resume: None,
        name: None,
    }))
}

fn hub_asks_for_yes(skill: &str) -> Happening {
    let confirm = Confirm {
        call: Digest::of(skill.as_bytes()),
        skill: skill.parse().expect("peer/skill"),
        args: None,
        parts: Box::default(),
        effects: Effects::unknown(),
        basis: None,
        relays: None,
    };
    let kind = QuestionKind::Confirm(confirm.into());
    Happening::Ask(Asking { to: Addressee::Approvers, kind, text: "Shall I?".into(), expires: EXPIRES })
}

fn answers(standing: Standing, question: u32, message: &str, answer: Answer) -> Happening {
    let signal = Signal::Answered { question: QuestionId(TASK, question), message: MessageId::from(message), answer };
    Happening::Signal { by: owner(), standing, signal }
}

fn cancels(why: CancelWhy) -> Happening {
    Happening::Signal { by: owner(), standing: OWNER, signal: Signal::Cancel(why) }
}

fn chunk(artifact: &str, index: u32, last: bool) -> Happening {
    let parts = vec![Part::text("piece", Provenance::peer("peer".into()))];
    peer(Event::Artifact(Chunk { artifact: artifact.into(), index, last, parts, header: None }))
}

fn completes() -> Happening {
    peer(Event::Finished(Finished::completed(Output::default())))
}

fn fails(kind: FaultKind) -> Happening {
    peer(Event::Finished(Finished::failed(Fault::new(kind, Party::Peer("peer".into()), "it failed"))))
}

fn progresses(done: f64) -> Happening {
    peer(Event::Progress { done: Some(done), total: None, note: None })
}

/// A task, its journal, and where each append ended.
struct Walk {
    task: Task,
    journal: Vec<(Time, Bytes)>,
    appends: Vec<usize>,
    now: Time,
}

impl Walk {
    /// The call is accepted: record 1.
    fn accept(call: Call) -> Walk {
        let call = Box::new(call);
        let task = Task::accepted(TASK, owner(), call.clone(), START);
        let first = to_bytes(&Record::Accepted { by: owner(), call }).expect("serialisable");
        Walk { task, journal: vec![(START, first)], appends: vec![1], now: START }
    }

    /// Decides, appends, applies; says what was decided.
    fn on(&mut self, what: Happening) -> String {
        let decision = self.task.decide(what, self.now).expect("allowed");
        self.append(&decision);
        spelt(&decision)
    }

    fn append(&mut self, decision: &Decision) {
        for record in &decision.records {
            self.journal.push((self.now, to_bytes(record).expect("serialisable")));
            self.task.apply(record, self.now);
            self.task.seq += 1;
        }
        if !decision.records.is_empty() {
            self.appends.push(self.journal.len());
        }
        let folded = self.folded(self.journal.len());
        assert_eq!(format!("{folded:?}"), format!("{:?}", self.task), "the fold is the live state");
    }

    /// Several happenings whose records go in one append.
    fn on_together(&mut self, happenings: impl IntoIterator<Item = Happening>) -> String {
        let boundary = self.appends.len();
        let spelt: Vec<String> = happenings.into_iter().map(|what| self.on(what)).collect();
        self.appends.truncate(boundary);
        self.appends.push(self.journal.len());
        spelt.join("; ")
    }

    fn refuses(&self, what: Happening) -> FaultKind {
        self.task.decide(what, self.now).expect_err("refused").kind
    }

    /// The state after the first `len` records, as a restarted hub reads them.
    fn folded(&self, len: usize) -> Task {
        let entry = |(seq, (at, bytes)): (u64, &(Time, Bytes))| Entry {
            seq,
            at: *at,
            record: from_bytes(bytes).expect("readable"),
        };
        fold(TASK, (1..).zip(&self.journal[..len]).map(entry)).expect("begins as a task")
    }

    /// What a restart leads to, had the hub been killed after each append.
    fn restarts(&self) -> Vec<String> {
        let restart = |&len: &usize| {
            let task = self.folded(len);
            let phase = task.phase().as_str();
            match task.decide(Happening::Restarted, self.now) {
                Ok(decision) => format!("{phase}: {}", spelt(&decision)),
                Err(fault) => format!("{phase}: {}", fault.kind.as_str()),
            }
        };
        self.appends.iter().map(restart).collect()
    }

    /// Killed now, started again: what that led to.
    fn restart(&mut self) -> String {
        self.task = self.folded(self.journal.len());
        self.on(Happening::Restarted)
    }

    /// What a reader sees after `after`.
    fn events_after(&self, after: usize) -> Vec<String> {
        let records = self.journal[after..].iter().map(|(_, bytes)| from_bytes::<Record>(bytes).expect("readable"));
        records.filter(|record| record.event().is_some()).map(|record| line(&record)).collect()
    }
}

fn spelt(decision: &Decision) -> String {
    let records: Vec<String> = decision.records.iter().map(line).collect();
    let effects: Vec<String> = decision.effects.iter().map(effect).collect();
    match (records.is_empty(), effects.is_empty()) {
        (true, true) => "nothing".to_owned(),
        (false, true) => records.join(", "),
        (_, false) => format!("{} => {}", records.join(", "), effects.join(", ")).trim_start().to_owned(),
    }
}

fn line(record: &Record) -> String {
    match record {
        Record::Accepted { .. } => "accepted".to_owned(),
        Record::Sent(sent) => {
            let open = if sent.open { "open" } else { "ended" };
            let remote = if sent.remote.is_some() { " known" } else { "" };
            format!("sent {} {open}{remote}", sent.attempt)
        }
        Record::Selected(selected) => format!("selected {}", selected.skill),
        Record::Received { signal, .. } => format!("received {}", signal_line(signal)),
        Record::Emitted { event, .. } => event_line(event),
    }
}

fn signal_line(signal: &Signal) -> String {
    match signal {
        Signal::Answered { question, answer, .. } => {
            let answer = match answer {
                Answer::Given(_) => "given",
                Answer::Granted => "granted",
                Answer::Token(_) => "token",
                Answer::Visited => "visited",
                Answer::Declined => "declined",
                Answer::Dismissed => "dismissed",
            };
            format!("{answer} to {}", question.1)
        }
        Signal::Said { .. } => "said".to_owned(),
        Signal::Cancel(why) => format!("cancel ({})", why.as_str()),
    }
}

fn event_line(event: &Event) -> String {
    match event {
        Event::Started(_) => "started".to_owned(),
        Event::Said { .. } => "said".to_owned(),
        Event::Progress { .. } => "progress".to_owned(),
        Event::Step(step) => format!("step {} {}", step.id, step.state.as_str()),
        Event::Artifact(chunk) => {
            format!("{}#{}{}", chunk.artifact, chunk.index, if chunk.last { " last" } else { "" })
        }
        Event::Asked(question) => format!("asked {} {}", question.id.1, question.kind.as_str()),
        Event::Settled { question, how, .. } => format!("settled {} {how:?}", question.1).to_lowercase(),
        Event::Finished(finished) => match &finished.outcome {
            Outcome::Completed => "completed".to_owned(),
            Outcome::Failed(fault) => format!("failed {}", fault.kind.as_str()),
            Outcome::Cancelled { why, .. } => format!("cancelled ({})", why.as_str()),
        },
    }
}

fn effect(effect: &Effect) -> String {
    match effect {
        Effect::Proceed => "proceed".to_owned(),
        Effect::Dispatch(sent) => format!("dispatch {} as {}", sent.attempt, key(sent)),
        Effect::Reattach(_) => "reattach".to_owned(),
        Effect::Forward(signal) => format!("forward {}", signal_line(signal)),
        Effect::AwaitCaller(patience) => format!("await caller {}s", patience.as_secs()),
        Effect::Stop => "stop".to_owned(),
    }
}

/// The task's own key, or the message that was sent on.
fn key(sent: &Sent) -> &str {
    if sent.key.as_str() == TASK.to_string() { "itself" } else { sent.key.as_str() }
}
