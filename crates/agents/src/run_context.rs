//! Context of a run: its caller and request, how it makes calls, and how it receives their results.
//!
//! If a call needs approval, the run's own caller is asked if it may approve and its protocol can carry the question; otherwise the call
//! waits for an approver, and the caller is informed. A plan of an agent tells the agent of it, which asks its own caller. Other questions of a callee go to the caller, or are declined.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use interlingua_machines::task::MAX_QUESTION;
use interlingua_model::peer::Dispatch;
use interlingua_model::{
    Addressee, Answer, ArtifactId, Ask, Body, Call, CancelWhy, Channel, Confirm, ConversationId, Digest, Entry, Event,
    Fault, Finished, Level, Link, Maker, MessageId, Part, Party, PeerId, Piece, Principal, Provenance, Question,
    QuestionId, QuestionKind, Signal, Step, StepState, TaskId, Time,
};
use interlingua_wire::object::Object;

use super::outbox::{OpenQuestion, RunOutbox};
use interlingua_hub::{Hub, Running};

/// How long the hub remembers that a run made a call: as long as a run may be interrupted.
const REMEMBERED: Duration = Duration::from_secs(7 * 24 * 3600);
/// The skill by which an agent has a plan carried out.
pub(super) const PLAN: (&str, &str) = ("graph", "carry_out");
/// What a plan says of an approval that a step of it needs.
const PENDING: &str = "approval_pending";
const SETTLED: &str = "approval_settled";
/// How much of what a callee says is kept.
const MAX_HEARD: usize = 1024 * 1024;

#[derive(Debug)]
pub(super) struct RunContext {
    pub(super) hub: Arc<Hub>,
    /// Whose run it is, and what it is.
    pub(super) name: PeerId,
    pub(super) maker: Maker,
    pub(super) outbox: Arc<RunOutbox>,
    pub(super) task: TaskId,
    /// Which attempt this dispatch of the task is: after the first one there may be something to resume.
    pub(super) attempt: u32,
    /// Who asked.
    pub(super) by: Principal,
    /// The same, through whoever was asked.
    pub(super) through: Principal,
    /// What was asked.
    pub(super) call: Box<Call>,
}

impl RunContext {
    /// The line of a run that this call begins, through whoever `link` names.
    pub(super) fn new(hub: Arc<Hub>, link: Link, (name, maker): (PeerId, Maker), dispatch: Dispatch) -> RunContext {
        RunContext {
            hub,
            name,
            maker,
            outbox: Arc::new(RunOutbox::new(dispatch.task, dispatch.asked)),
            task: dispatch.task,
            attempt: dispatch.attempt,
            through: dispatch.by.through(link),
            by: dispatch.by,
            call: dispatch.call,
        }
    }

    /// The line of a plan. It acts for its caller as that is, and adds nobody to the chain.
    pub(super) fn of_plan(hub: Arc<Hub>, name: PeerId, dispatch: Dispatch) -> RunContext {
        RunContext {
            hub,
            name,
            maker: Maker::Plan,
            outbox: Arc::new(RunOutbox::new(dispatch.task, dispatch.asked)),
            task: dispatch.task,
            attempt: dispatch.attempt,
            through: dispatch.by.clone(),
            by: dispatch.by,
            call: dispatch.call,
        }
    }

    /// A call of the run as it goes through the door. An id that is the same after a restart finds the same exchange.
    pub(super) fn child(&self, id: MessageId, ask: Ask) -> Call {
        let mut call = self.call.child(self.task, self.hub.id(), self.maker, id, ask);
        call.limits.replay = Some(REMEMBERED);
        call.caller.can_answer = self.call.caller.can_answer;
        call
    }

    /// With each peer it talks to, a run has a conversation of its own, for as long as it has one with its caller.
    pub(super) fn conversation_with(&self, peer: &str) -> ConversationId {
        match self.call.remembered_by(&self.by) {
            Some(conversation) => self.conversation_within(conversation.as_str(), peer),
            None => self.conversation_of_run(peer),
        }
    }

    /// A conversation for this run alone, with a peer that is given what was said before.
    pub(super) fn conversation_of_run(&self, peer: &str) -> ConversationId {
        self.conversation_within(&self.task.to_string(), peer)
    }

    fn conversation_within(&self, within: &str, peer: &str) -> ConversationId {
        let owner = self.by.owner().to_string();
        let fields = [owner.as_bytes(), within.as_bytes(), self.name.as_str().as_bytes(), peer.as_bytes()];
        ConversationId::from(format!("{:.32}", Digest::of_fields(fields).to_string()))
    }

    /// A word for whoever watches.
    pub(super) fn note(&self, text: String) {
        self.outbox.emit(Event::Progress { done: None, total: None, note: Some(text.into()) });
    }

    /// How a step of the run stands.
    pub(super) fn step(&self, step: Step) {
        self.outbox.emit(Event::Step(Box::new(step)));
    }

    /// How a step ended. What the hub keeps through a stop has not.
    pub(super) fn ended(&self, step: Step, state: StepState, parts: Vec<Part>) {
        if !self.hub.stopping().is_cancelled() {
            self.step(Step { state, parts, ..step });
        }
    }

    /// May the run's caller be asked this? A question that is too long for a task to pass on is asked where it was.
    fn can_be_asked(&self, question: &Question) -> bool {
        let asks = self.call.caller.can_answer.has(question.kind.set()) && question.weight() <= MAX_QUESTION;
        match question.kind {
            QuestionKind::Confirm(_) => asks && self.hub.approves_in(&self.by, &self.call, question),
            QuestionKind::Input { .. }
            | QuestionKind::Credential { .. }
            | QuestionKind::Visit { .. }
            | QuestionKind::Model(_)
            | QuestionKind::Roots
            | QuestionKind::Tool { .. } => asks,
        }
    }

    /// Is it a plan of an agent? The chain of both may not approve, but whoever called the agent may: the agent is told of the question.
    fn is_plan_of_agent(&self) -> bool {
        self.maker == Maker::Plan && self.call.origin.maker() == Maker::Agent
    }

    /// Tells whoever reads the plan that a step of it waits for an approval, or no longer does.
    fn tell_approval(&self, kind: &str, question: QuestionId) {
        let data = Object::json(|out| {
            out.text("event_type", kind);
            out.text("question", &question.to_string());
        });
        self.outbox.emit(Event::Said {
            message: MessageId::from(format!("{}-{kind}-{question}", self.task)),
            channel: Channel::Note(Level::Info),
            piece: Piece::Whole,
            parts: vec![Part::new(Body::Data(data), Provenance::hub())],
        });
    }

    /// Whose answer it is: a yes is its giver's, anything else is said by the run for its caller.
    async fn forward(&self, question: &Question, answer: Answer) {
        let by = match question.kind {
            QuestionKind::Confirm(_) => self.by.clone(),
            QuestionKind::Input { .. }
            | QuestionKind::Credential { .. }
            | QuestionKind::Visit { .. }
            | QuestionKind::Model(_)
            | QuestionKind::Roots
            | QuestionKind::Tool { .. } => self.through.clone(),
        };
        if let Err(fault) = self.hub.answer(by, question.id, answer).await {
            tracing::debug!(error = %fault, "an answer came too late for the call that wanted it");
        }
    }
}

/// A call under way, read to its end. Not with a [`interlingua_model::Transcript`]: a run reads on while the caller is asked, and what is
/// more than a language model can read of one answer is cut off here instead of being refused.
pub(super) struct Reading<'a> {
    line: &'a RunContext,
    running: Running,
    /// The call as a step of the run, where the run has steps.
    step: Option<Step>,
    said: Vec<(MessageId, Part)>,
    artifacts: Vec<(ArtifactId, Part)>,
    weight: usize,
    /// Asked by the callee, not yet by us.
    questions: VecDeque<Question>,
    waiting: Option<Waiting>,
    /// Approvals that the agent of this plan was told of.
    told: BTreeSet<QuestionId>,
    over: bool,
}

/// A question that was taken to the caller, or that nobody can be asked.
enum Waiting {
    Asked(Question, OpenQuestion),
    Nobody(Question),
}

enum Woken {
    Entry(Option<Arc<Entry>>),
    Answer(Answer),
    /// Another question may be passed on.
    Room,
}

impl<'a> Reading<'a> {
    pub(super) fn new(line: &'a RunContext, running: Running, step: Option<Step>) -> Reading<'a> {
        let (said, artifacts, questions, told) = Default::default();
        Reading { line, running, step, said, artifacts, weight: 0, questions, waiting: None, told, over: false }
    }

    /// To its end: how it ended, what it said under the id of its answer, and the artifacts that its answer names. `heard` is given what comes, but
    /// not what had come before `since`.
    pub(super) async fn hearing(
        mut self,
        since: Time,
        mut heard: impl FnMut(&Entry) + Send,
    ) -> Result<(Finished, Vec<Part>), Fault> {
        loop {
            self.put_next();
            let blocked = self.waiting.is_none() && !self.questions.is_empty();
            let woken = tokio::select! {
                biased;
                answer = answer(&mut self.waiting) => Woken::Answer(answer),
                () = self.line.outbox.room(), if blocked => Woken::Room,
                entry = self.running.next() => Woken::Entry(entry?),
            };
            match woken {
                Woken::Room => {}
                Woken::Answer(answer) => {
                    if let Some(Waiting::Asked(question, _) | Waiting::Nobody(question)) = self.waiting.take() {
                        self.line.forward(&question, answer).await;
                    }
                }
                Woken::Entry(None) => return Err(Fault::shutting_down_kept()),
                Woken::Entry(Some(entry)) => {
                    let Some(event) = entry.record.event() else { continue };
                    if entry.at >= since {
                        heard(&entry);
                    }
                    if let Some(finished) = self.take(event) {
                        self.over = true;
                        let parts = self.collected(&finished);
                        return Ok((finished, parts));
                    }
                }
            }
        }
    }

    fn collected(&mut self, finished: &Finished) -> Vec<Part> {
        let answer = finished.output.said.as_ref();
        let said = std::mem::take(&mut self.said);
        let said = said.into_iter().filter(|(message, _)| Some(message) == answer).map(|(_, part)| part);
        // Others were made on the way: they are not what was asked for.
        let is_named = |artifact: &ArtifactId| finished.output.artifacts.contains(artifact);
        let made = std::mem::take(&mut self.artifacts).into_iter();
        joined(said.chain(made.filter(|(artifact, _)| is_named(artifact)).map(|(_, part)| part)))
    }

    fn take(&mut self, event: &Event) -> Option<Finished> {
        match event {
            Event::Said { message, channel: Channel::Answer, parts, .. } => {
                let room = self.room(parts);
                self.said.extend(parts[..room].iter().map(|part| (message.clone(), part.clone())));
            }
            Event::Artifact(chunk) => {
                let room = self.room(&chunk.parts);
                self.artifacts.extend(chunk.parts[..room].iter().map(|part| (chunk.artifact.clone(), part.clone())));
            }
            Event::Asked(question) => self.questions.push_back(question.clone()),
            Event::Settled { question, .. } => self.settled(*question),
            Event::Finished(finished) => return Some(finished.clone()),
            Event::Started(_) => {
                let running = self.step.clone().map(|step| Step { state: StepState::Running, ..step });
                running.into_iter().for_each(|step| self.line.step(step));
            }
            Event::Step(step) => {
                let within = self.step.as_ref().map(|own| step.within(&own.id));
                within.into_iter().for_each(|step| self.line.step(step));
            }
            Event::Said { channel: Channel::Note(_), parts, .. } if self.reads_plan() => self.hear_plan(parts),
            Event::Said { .. } | Event::Progress { .. } => {}
        }
        None
    }

    /// Is the call a plan of this run? Nobody else's word about approvals is heard.
    fn reads_plan(&self) -> bool {
        let skill = self.step.as_ref().and_then(|step| step.skill.as_ref());
        skill.is_some_and(|skill| (skill.peer.as_str(), skill.skill.as_str()) == PLAN)
    }

    /// A step of the plan waits for an approval, or no longer does. The question itself is read where it is open.
    fn hear_plan(&mut self, parts: &[Part]) {
        let Some(data) = parts.first().and_then(Part::as_data) else { return };
        let text = |key: &str| data.get(key).and_then(|value| value.as_str());
        let Some(id) = text("question").and_then(|id| id.parse::<QuestionId>().ok()) else { return };
        match text("event_type") {
            // A plan that was taken up after a restart says it again.
            Some(PENDING) if self.has_question(id) => {}
            Some(PENDING) => {
                let open = self.line.hub.open_questions(&self.line.by);
                match open.into_iter().find(|question| question.id == id) {
                    Some(question) => self.questions.push_back(question),
                    None if self.line.hub.is_live(id.0) => {
                        self.line.note("a step of the plan waits for an approval".to_owned());
                    }
                    None => {}
                }
            }
            Some(SETTLED) => self.settled(id),
            Some(_) | None => {}
        }
    }

    /// Was it heard of, and not settled yet?
    fn has_question(&self, id: QuestionId) -> bool {
        let waits = self.waiting.as_ref().is_some_and(|waiting| match waiting {
            Waiting::Asked(question, _) | Waiting::Nobody(question) => question.id == id,
        });
        waits || self.questions.iter().any(|question| question.id == id)
    }

    /// How many of these parts there is room for.
    fn room(&mut self, parts: &[Part]) -> usize {
        let fits = parts.iter().take_while(|part| {
            self.weight += part.weight();
            self.weight <= MAX_HEARD
        });
        fits.count()
    }

    /// Takes the next question to whoever can answer it, one after another.
    fn put_next(&mut self) {
        while self.waiting.is_none() && self.line.outbox.has_room() {
            let Some(question) = self.questions.pop_front() else { return };
            if self.line.can_be_asked(&question) {
                let asked_by = Party::Peer(self.line.name.clone());
                let kind = passed_on(&question);
                let put = Question { to: Addressee::Caller, asked_by, resume: None, kind, ..question.clone() };
                self.waiting = Some(Waiting::Asked(question, self.line.outbox.ask(put)));
            } else if matches!(question.kind, QuestionKind::Confirm(_)) && self.line.is_plan_of_agent() {
                self.line.tell_approval(PENDING, question.id);
                self.told.insert(question.id);
            } else if matches!(question.kind, QuestionKind::Confirm(_)) {
                self.line.note(format!("waits for approval: {}", question.text));
            } else if question.kind.accepts(&Answer::Declined) {
                self.waiting = Some(Waiting::Nobody(question));
            }
        }
    }

    /// It was answered by another way, or needs no answer any more.
    fn settled(&mut self, id: QuestionId) {
        if self.told.remove(&id) {
            self.line.tell_approval(SETTLED, id);
        }
        self.questions.retain(|question| question.id != id);
        let is_it = |waiting: &mut Waiting| match waiting {
            Waiting::Asked(question, _) | Waiting::Nobody(question) => question.id == id,
        };
        if let Some(Waiting::Asked(_, asked)) = self.waiting.take_if(is_it) {
            self.line.outbox.withdraw(asked.number);
        }
    }
}

/// A run that lets go of a call takes it back, also one that waits for an answer. What the hub keeps through a stop goes on.
impl Drop for Reading<'_> {
    fn drop(&mut self) {
        let hub = &self.line.hub;
        if let Some(Waiting::Asked(_, asked)) = self.waiting.take_if(|_| !hub.stopping().is_cancelled()) {
            self.line.outbox.withdraw(asked.number);
        }
        if self.over || !self.running.is_kept() || hub.stopping().is_cancelled() {
            return;
        }
        if let Some(step) = self.step.take() {
            self.line.ended(step, StepState::Cancelled, Vec::new());
        }
        let (hub, by, id) = (hub.clone(), self.line.through.clone(), self.running.id());
        hub.clone().spawn(async move {
            // One that has ended by itself needs nothing more.
            let _ = hub.signal(by, id, Signal::Cancel(CancelWhy::Superseded)).await;
        });
    }
}

async fn answer(waiting: &mut Option<Waiting>) -> Answer {
    match waiting {
        None => std::future::pending().await,
        Some(Waiting::Nobody(_)) => Answer::Declined,
        // The outbox is gone with the caller: nobody will answer.
        Some(Waiting::Asked(_, asked)) => (&mut asked.answer).await.unwrap_or(Answer::Declined),
    }
}

/// A request for an approval names the question that it passes on.
fn passed_on(question: &Question) -> QuestionKind {
    match question.kind.clone() {
        QuestionKind::Confirm(confirm) => {
            QuestionKind::Confirm(Box::new(Confirm { relays: Some(question.id), ..*confirm }))
        }
        kind @ (QuestionKind::Input { .. }
        | QuestionKind::Credential { .. }
        | QuestionKind::Visit { .. }
        | QuestionKind::Model(_)
        | QuestionKind::Roots
        | QuestionKind::Tool { .. }) => kind,
    }
}

/// Neighbouring texts of one speaker as one.
fn joined(parts: impl Iterator<Item = Part>) -> Vec<Part> {
    let mut whole: Vec<Part> = Vec::new();
    let mut text = String::new();
    for part in parts {
        let goes_on = whole.last().is_some_and(|last| last.provenance == part.provenance && last.name == part.name);
        match (part.as_text(), whole.last_mut()) {
            (Some(more), Some(last)) if goes_on && last.as_text().is_some() => text.push_str(more),
            (more, _) => {
                close(&mut whole, &mut text);
                text.push_str(more.unwrap_or_default());
                whole.push(part);
            }
        }
    }
    close(&mut whole, &mut text);
    whole
}

/// Gives the last part all the text that was said of it.
fn close(whole: &mut [Part], text: &mut String) {
    if let Some(last) = whole.last_mut()
        && last.as_text().is_some()
    {
        last.body = Part::text(std::mem::take(text), last.provenance.clone()).body;
    }
    text.clear();
}

#[cfg(test)]
mod tests {
    use interlingua_model::{Json, Provenance};

    use super::*;

    #[test]
    fn what_one_says_in_pieces_is_one_text_and_what_another_says_is_not() {
        let by = |peer: &str, text: &str| Part::text(text, Provenance::peer(peer.into()));
        let data = Part::new(interlingua_model::Body::Data(Json::null()), Provenance::hub());
        let parts = [by("a", "one "), by("a", "two"), by("b", "three"), data, by("b", "four")];
        let texts: Vec<Option<String>> =
            joined(parts.into_iter()).iter().map(|part| part.as_text().map(Into::into)).collect();
        let wanted = [Some("one two"), Some("three"), None, Some("four")];
        assert_eq!(texts, wanted.map(|text| text.map(str::to_owned)));
    }
}
