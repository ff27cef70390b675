//! Run loop of an agent: drives one run. Decisions of the machine are journaled, then carried out; the results are passed back to the
//! machine.
//!
//! A request to a model has no effects and is repeated after a crash, as is a call whose result was not written: the hub returns the
//! existing exchange. So a record that only leads to the model's next turn is written while the model works, together with the model's
//! output if that comes at once.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{AbortHandle, abortable};
use futures_util::stream::{FuturesUnordered, StreamExt};
use interlingua_machines::agent::{
    Calling, Effect, Handing, Happening, Phase, Record, Run, ToolResult, child, fold, history,
};
use interlingua_machines::audit::arguments::shown;
use interlingua_machines::llm::{Offered, Prompt};
use interlingua_model::{
    Addressee, Answer, Call, Caller, CancelWhy, ClientTool, Event, Fault, Finished, Json, KindSet, MessageId, Outcome,
    Output, Part, Party, Provenance, Question, QuestionId, QuestionKind, Schema, Signal, Step, StepId, StepKind,
    StepState, TaskId, Text, Time, Trust, Usage,
};
use interlingua_tools::files::run_workspaces::Loan;
use serde_json::json;
use tokio::sync::mpsc;

use super::log::RunLog;
use super::memory::Memory;
use super::rounds::{Order, Permission, Role, Sitting};
use super::tool_calls::ToolCalls;
use interlingua_hub::entropy;

/// Something under way.
type Doing = Pin<Box<dyn Future<Output = Option<Happening>> + Send>>;

pub(super) struct Engine {
    errands: Arc<ToolCalls>,
    log: RunLog,
    run: Run,
    doing: FuturesUnordered<Doing>,
    /// The team at whose table it sits, and what that says.
    sitting: Option<Arc<Sitting>>,
    orders: Option<mpsc::Receiver<Order>>,
    /// By the model's name for the call.
    calls: HashMap<Text, AbortHandle>,
    memory: Option<Memory>,
    /// What was said before this hub started again stands in the exchange already: what is said now has another name.
    life: Option<Life>,
    /// Its workspace, if it has one: given back when the run ends.
    #[expect(dead_code, reason = "held, not read")]
    loan: Option<Loan>,
}

/// A run that was taken up again.
struct Life {
    mark: String,
    /// The first turn that is said in it.
    from: u32,
}

impl Engine {
    /// Runs to the end. Only a store that fails keeps it from saying how it ended.
    pub(super) async fn work(errands: ToolCalls, signals: mpsc::Receiver<Signal>) {
        let (task, outbox) = (errands.line.task, errands.line.outbox.clone());
        let failed = match Engine::open(errands).await {
            Ok((mut engine, effects)) => engine.drive(effects, signals).await.err(),
            Err(fault) => Some(fault),
        };
        if let Some(fault) = failed {
            tracing::error!(event = "agent_run_failed", %task, error = %fault, cause = ?fault.source, "the run of an agent failed inside the hub");
            outbox.emit(Event::Finished(Finished::failed(fault)));
        }
    }

    /// A new run, or one that stands in the journal.
    async fn open(mut errands: ToolCalls) -> Result<(Engine, Vec<Effect>), Fault> {
        let hub = errands.line.hub.clone();
        let (log, entries) = RunLog::open::<Record>(hub.clone(), errands.line.task, errands.line.attempt).await?;
        let conversation = errands.line.call.remembered_by(&errands.line.by);
        let memory = conversation.map(|id| Memory::of(&errands.agent.name, &errands.line.by.owner(), id));
        let sitting = match errands.line.call.origin.is_seat() {
            true => Some(errands.agent.seats.claim(&errands.line.call).await?),
            false => None,
        };
        let orders = sitting.as_ref().and_then(|sitting| sitting.orders());
        let team = sitting.as_ref().and_then(|sitting| sitting.manner.routed);
        let files = sitting.as_ref().and_then(|sitting| sitting.manner.files.clone());
        let loan = files.map(|files| errands.agent.seats.lent.lend(errands.line.task, files));
        errands.at_own_files = loan.is_some();
        errands.routes = errands.agent.routes.wanted(asked_for_routes(&errands.line.call), team);
        let errands = Arc::new(errands);
        let (doing, calls) = Default::default();
        if !entries.is_empty() {
            let run = fold(entries).map_err(Fault::internal)?;
            let life = Some(Life { mark: format!("{:08x}", entropy::bits() >> 96), from: run.turn });
            let effects = run.resume();
            let engine = Engine { errands, log, run, doing, sitting, orders, calls, memory, life, loan };
            engine.tell(&effects);
            return Ok((engine, effects));
        }
        let earlier = match &memory {
            Some(memory) => memory.recall(&hub).await?,
            None => Vec::new(),
        };
        let asks = errands.line.call.caller.can_answer.has(KindSet::INPUT);
        let mut plan = errands.agent.plan(&hub, &errands.line.through, asks);
        plan.handed = offered(&errands.line.call.caller);
        let (plan, messages) = match &sitting {
            Some(sitting) => sitting.begin(&plan),
            None => {
                let messages = errands.line.call.input().map(|input| history(&earlier, input));
                (plan, messages.unwrap_or_default())
            }
        };
        let now = hub.now();
        let run = Run::begun(plan.clone(), messages.clone(), now);
        let mut engine = Engine { errands, log, run, doing, sitting, orders, calls, memory, life: None, loan };
        engine.log.take(&[Record::Begun { plan: Box::new(plan), messages }])?;
        let effects = engine.happen(Happening::Begin).await?;
        Ok((engine, effects))
    }

    async fn drive(&mut self, effects: Vec<Effect>, mut signals: mpsc::Receiver<Signal>) -> Result<(), Fault> {
        let mut happened = self.perform(effects);
        while self.run.finished().is_none() {
            let happening = match happened.pop_front() {
                Some(happening) => happening,
                None => self.next(&mut signals).await?,
            };
            let effects = self.happen(happening).await?;
            happened.extend(self.perform(effects));
        }
        self.finish().await;
        Ok(())
    }

    /// Waits for one thing to happen; before it waits, all is written.
    async fn next(&mut self, signals: &mut mpsc::Receiver<Signal>) -> Result<Happening, Fault> {
        if !self.log.is_written() {
            if let Some(Some(Some(happening))) = self.doing.next().now_or_never() {
                return Ok(happening);
            }
            self.log.write(self.now()).await?;
        }
        let clock = self.errands.line.hub.clock();
        loop {
            let timer = self.run.next_timer().map(|at| clock.instant(at));
            let happening = tokio::select! {
                biased;
                Some(signal) = signals.recv() => told(signal),
                Some(order) = ordered(&mut self.orders) => Some(self.ordered(order)),
                Some(done) = self.doing.next() => done,
                () = until(timer) => Some(Happening::Timer),
            };
            if let Some(happening) = happening {
                return Ok(happening);
            }
        }
    }

    /// Decides and writes down. What it leads to is done after that; a run that cannot be written ends, so that nobody sees
    /// what it would have been.
    async fn happen(&mut self, happening: Happening) -> Result<Vec<Effect>, Fault> {
        if let Happening::Returned { call, .. } = &happening {
            self.calls.remove(call);
        }
        let repeatable = matches!(happening, Happening::Begin | Happening::Returned { .. });
        let now = self.now();
        let decision = self.run.decide(happening, now)?;
        self.log.take(&decision.records)?;
        decision.records.iter().for_each(|record| self.run.apply(record));
        if !repeatable || !decision.effects.iter().all(only_asks_the_model) {
            self.tell(&decision.effects);
            self.log.write(now).await?;
        }
        Ok(decision.effects)
    }

    /// What whoever listens is told of these effects. The journal takes what it is given in order, so what is told here while
    /// the records behind it are being written is not seen before they are safe.
    fn tell(&self, effects: &[Effect]) {
        for effect in effects {
            match effect {
                Effect::Emit(event) => self.emit(event.clone()),
                // At a table it is the team that lets calls be made.
                Effect::Call(calling) if self.sitting.is_none() => self.errands.line.step(self.called(calling)),
                Effect::Hand(handing) => self.errands.line.step(self.handed(handing)),
                Effect::Call(_)
                | Effect::Think(_)
                | Effect::Summarise(_)
                | Effect::Ask { .. }
                | Effect::Drop { .. }
                | Effect::Check { .. }
                | Effect::Decided { .. }
                | Effect::Finish(_) => {}
            }
        }
    }

    /// A call as a step of the run. It has the id of the call, which is the same whenever the run comes to it.
    fn called(&self, calling: &Calling) -> Step {
        let tool = self.run.plan.tools.iter().find(|tool| tool.skill == calling.skill);
        let schema = tool.map_or_else(Json::empty_object, |tool| tool.input.0.clone());
        Step {
            id: self.step_id(calling.turn, calling.index),
            parent: None,
            skill: Some(calling.skill.clone()),
            title: calling.skill.to_string().into(),
            kind: tool.map_or(StepKind::Other, |tool| StepKind::of(tool.effects)),
            state: StepState::Pending,
            args: calling.input.args.as_ref().map(|args| shown(args, &schema)),
            parts: Vec::new(),
        }
    }

    /// A tool that the caller runs.
    fn handed(&self, handing: &Handing) -> Step {
        let tool = self.run.plan.handed.iter().find(|tool| tool.name == handing.name);
        let schema = tool.map_or_else(Json::empty_object, |tool| tool.input.0.clone());
        Step {
            id: self.step_id(handing.turn, handing.index),
            parent: None,
            skill: None,
            title: handing.name.clone(),
            kind: StepKind::Other,
            state: StepState::Pending,
            args: Some(shown(&handing.args, &schema)),
            parts: Vec::new(),
        }
    }

    fn step_id(&self, turn: u32, index: u32) -> StepId {
        StepId(child(self.errands.line.task, turn, index).0)
    }

    fn now(&self) -> Time {
        self.errands.line.hub.now()
    }

    /// Begins what is to be done; what is done at once has happened already.
    fn perform(&mut self, effects: Vec<Effect>) -> VecDeque<Happening> {
        let mut happened = VecDeque::new();
        for effect in effects {
            match effect {
                Effect::Think(prompt) => self.think(*prompt),
                Effect::Summarise(prompt) => self.summarise(*prompt),
                Effect::Call(calling) => {
                    let (call, errands, step) = (calling.call.clone(), self.errands.clone(), self.called(&calling));
                    match self.sitting.clone() {
                        None => self.begin(call, errands.run(*calling, step)),
                        Some(sitting) => self.begin(call, permitted(sitting, errands, *calling, step)),
                    }
                }
                Effect::Hand(handing) => {
                    let (call, step) = (handing.call.clone(), self.handed(&handing));
                    let work = self.errands.clone().hand(*handing, step);
                    self.begin(call, work);
                }
                Effect::Ask { call, question } => {
                    let asked = ask(self.errands.clone(), question);
                    self.begin(call, asked);
                }
                Effect::Drop { call } => {
                    if let Some(handle) = self.calls.remove(&call) {
                        handle.abort();
                    }
                }
                Effect::Check { schema, value } => {
                    let checked = self.errands.line.hub.fits(&schema, &value);
                    happened.push_back(Happening::Checked(checked.map_err(|fault| fault.public)));
                }
                Effect::Decided { calls, text, trust } => match self.sitting.clone() {
                    Some(sitting) => self.doing.push(Box::pin(async move {
                        sitting.decided(&calls, &text, trust).await;
                        matches!(sitting.role, Role::Evaluate(_)).then_some(Happening::Released)
                    })),
                    // Nobody judges a run that is not part of a team.
                    None => happened.push_back(Happening::Released),
                },
                // Said already: see `tell`.
                Effect::Emit(_) => {}
                // Said once all is written: see `finish`.
                Effect::Finish(_) => {}
            }
        }
        happened
    }

    /// What the team says to its member.
    fn ordered(&self, order: Order) -> Happening {
        match order {
            Order::Again { results, say } => Happening::SentBack { results, say },
            Order::Tell(parts) => Happening::Told(parts),
            Order::Stop if matches!(self.run.phase, Phase::Deciding { .. }) => Happening::Released,
            Order::Stop => Happening::Cancel(CancelWhy::Superseded),
        }
    }

    fn think(&mut self, prompt: Prompt) {
        let (voice, errands) = (self.errands.agent.voice.clone(), self.errands.clone());
        let (heard_by, mark) = (self.run.clone(), self.life.as_ref().map(|life| life.mark.clone()));
        self.doing.push(Box::pin(async move {
            let hear = |event: &interlingua_machines::llm::Event| {
                if let Some(event) = heard_by.hear(event) {
                    errands.line.outbox.emit(marked(event, mark.as_deref()));
                }
            };
            Some(match voice.ask(prompt, hear).await {
                Ok(reply) => Happening::Replied(Box::new(reply)),
                Err(broken) => Happening::Broke(broken),
            })
        }));
    }

    fn summarise(&mut self, prompt: Prompt) {
        let voice = self.errands.agent.voice.clone();
        self.doing.push(Box::pin(async move {
            Some(match voice.ask(prompt, |_| ()).await {
                Ok(reply) => Happening::Replied(Box::new(reply)),
                Err(broken) => Happening::Broke(broken),
            })
        }));
    }

    /// A call of the model, until its result is there or it is let go of.
    fn begin(&mut self, call: Text, work: impl Future<Output = ToolResult> + Send + 'static) {
        let (work, handle) = abortable(work);
        self.calls.insert(call.clone(), handle);
        self.doing.push(Box::pin(async move {
            let result = work.await.ok()?;
            Some(Happening::Returned { call, result })
        }));
    }

    fn emit(&self, event: Event) {
        self.errands.line.outbox.emit(marked(event, self.life.as_ref().map(|life| life.mark.as_str())));
    }

    /// Remembers the conversation, then says how it ended.
    async fn finish(&mut self) {
        let Some(finished) = self.run.finished().cloned() else { return };
        if finished.outcome == Outcome::Completed
            && let Err(fault) = self.remember().await
        {
            tracing::warn!(event = "conversation_not_stored", task = %self.errands.line.task, error = %fault, "the conversation of an agent could not be stored");
        }
        let output = self.renamed(finished.output);
        self.errands.line.outbox.emit(Event::Finished(Finished { output, ..finished }));
    }

    async fn remember(&mut self) -> Result<(), Fault> {
        let (Some(memory), Some(last)) = (&self.memory, &self.run.last_said) else { return Ok(()) };
        let asked = self.errands.line.call.input().map(|input| history(&[], input));
        let asked = asked.and_then(|mut messages| messages.pop()).map(|message| message.parts().to_vec());
        let answered = vec![Part::text(last.text.clone(), self.own())];
        memory.keep(&self.errands.line.hub, &asked.unwrap_or_default(), &answered).await
    }

    fn own(&self) -> Provenance {
        Provenance { by: Party::Peer(self.errands.agent.name.clone()), source: None, trust: self.run.trust }
    }

    /// In a run that was taken up again an answer has the name it was streamed under, or is given whole when that was
    /// before.
    fn renamed(&self, output: Output) -> Output {
        let (Some(life), Some(_), Some(last)) = (&self.life, &output.said, &self.run.last_said) else { return output };
        if last.turn >= life.from {
            let said = output.said.map(|id| marked_id(&id, Some(&life.mark)));
            return Output { said, ..output };
        }
        let mut parts = vec![Part::text(last.text.clone(), self.own())];
        parts.extend(output.parts);
        Output { said: None, parts, ..output }
    }
}

/// Asking has no effects: after a crash it is done again.
fn only_asks_the_model(effect: &Effect) -> bool {
    matches!(effect, Effect::Think(_) | Effect::Summarise(_))
}

/// Does the request itself say whether calls travel as routed messages?
fn asked_for_routes(call: &Call) -> Option<bool> {
    let meta = call.meta.0.as_ref()?;
    meta.get(ROUTES).or_else(|| meta.get("metadata")?.get(ROUTES))?.as_bool()
}

/// The caller's own tools, where it can be asked to run them.
fn offered(caller: &Caller) -> Vec<Offered> {
    let tools = caller.tools.iter().filter(|_| caller.can_answer.has(KindSet::TOOL));
    let offered = |tool: &ClientTool| {
        let ClientTool { name, description, input } = tool.clone();
        Offered { name, description, input }
    };
    tools.map(offered).collect()
}

fn told(signal: Signal) -> Option<Happening> {
    match signal {
        Signal::Said { input, .. } => Some(Happening::Told(input.parts)),
        Signal::Cancel(why) => Some(Happening::Cancel(why)),
        // Answers go to the outbox.
        Signal::Answered { .. } => None,
    }
}

async fn ordered(orders: &mut Option<mpsc::Receiver<Order>>) -> Option<Order> {
    match orders {
        Some(orders) => orders.recv().await,
        None => std::future::pending().await,
    }
}

/// A call of a member of a team: made once the team lets it, and heard of before its result is read.
async fn permitted(sitting: Arc<Sitting>, errands: Arc<ToolCalls>, calling: Calling, step: Step) -> ToolResult {
    match sitting.wants(&calling.call, &calling.skill.to_string().into()).await {
        Permission::Denied(text) => {
            ToolResult { parts: vec![Part::text(text, Provenance::hub())], failed: true, usage: Usage::default() }
        }
        Permission::Granted => {
            errands.line.step(step.clone());
            let result = errands.run(calling, step).await;
            sitting.returned().await;
            result
        }
    }
}

async fn until(timer: Option<tokio::time::Instant>) {
    match timer {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

fn marked_id(id: &MessageId, mark: Option<&str>) -> MessageId {
    match mark {
        None => id.clone(),
        Some(mark) => MessageId::from(format!("{id}.{mark}")),
    }
}

fn marked(event: Event, mark: Option<&str>) -> Event {
    match event {
        Event::Said { message, channel, piece, parts } => {
            Event::Said { message: marked_id(&message, mark), channel, piece, parts }
        }
        event @ (Event::Started(_)
        | Event::Progress { .. }
        | Event::Step(_)
        | Event::Artifact(_)
        | Event::Asked(_)
        | Event::Settled { .. }
        | Event::Finished(_)) => event,
    }
}

/// Asks whoever called the agent, in its model's words.
async fn ask(errands: Arc<ToolCalls>, question: Text) -> ToolResult {
    let form = json!({
        "type": "object",
        "properties": {ANSWER: {"type": "string"}},
        "required": [ANSWER],
    });
    let asked = errands.line.outbox.ask(Question {
        id: QuestionId(TaskId(0), 0),
        to: Addressee::Caller,
        kind: QuestionKind::Input { form: Schema(form.into()), choices: Vec::new() },
        text: question,
        asked_by: Party::Peer(errands.agent.name.clone()),
        expires: errands.line.hub.question_expires(),
        resume: None,
        name: None,
    });
    let answer = asked.answer.await.unwrap_or(Answer::Dismissed);
    let said = match answer {
        Answer::Given(input) => {
            let written = input.args.as_ref().and_then(|args: &Json| args.get(ANSWER)?.as_str());
            let text: Text = written.map_or_else(|| input.words().into_owned(), str::to_owned).into();
            Ok(Part::text(text, Provenance { trust: input.trust.min(Trust::Caller), ..Provenance::caller() }))
        }
        Answer::Granted | Answer::Token(_) | Answer::Visited | Answer::Declined | Answer::Dismissed => {
            Err(Part::text("There was no answer.", Provenance::hub()))
        }
    };
    let failed = said.is_err();
    let parts = vec![said.unwrap_or_else(|part| part)];
    ToolResult { parts, failed, usage: Usage::default() }
}

/// The key of a request's own metadata.
const ROUTES: &str = "interlingua/nlip";
/// The one field of the form an agent asks with.
const ANSWER: &str = "answer";
