//! One turn of a member: in a round, presenting, or judging a presented answer.

use std::sync::{Arc, Mutex, PoisonError};

use interlingua_machines::agent::child;
use interlingua_machines::team::{
    Brief, Evaluation, FINAL, Presentation, Ready, Seat, TeamPlan, What, read_reply, verbs,
};
use interlingua_model::{
    Ask, Body, Call, Channel, Deadline, DeadlineBy, Entry, Event, Fault, FaultKind, Finished, Input, Loss, MessageId,
    Outcome, Part, PeerId, Piece, Provenance, Record, Request, Step, StepId, StepKind, StepState, Target, Text, Time,
    Trust, Turn, Usage, gather_losses,
};
use tokio::sync::mpsc;

use super::Team;
use super::question::concerns;
use super::workspaces::Places;
use crate::rounds::{Manner, Order, Role, Rounds, Sitting};
use crate::run_context::{Reading, RunContext};
use crate::settings::Verbs;
use interlingua_hub::Running;

/// What all members of one run share.
pub(super) struct Table {
    pub(super) team: Arc<Team>,
    pub(super) plan: Arc<TeamPlan>,
    pub(super) line: Arc<RunContext>,
    pub(super) seats: Arc<Rounds>,
    /// When this hub took the run up: what a member had said before was passed on then.
    pub(super) since: Time,
    pub(super) places: Places,
    /// What did not reach members elsewhere.
    pub(super) lost: Mutex<Vec<Loss>>,
}

/// The place of a member's last word among the calls of a run: no round has such a number.
fn last_word(attempt: u32) -> u32 {
    u32::MAX - attempt
}

impl Table {
    fn is_agent(&self, seat: Seat) -> bool {
        !self.plan.members[seat.0].outside
    }

    /// What of the question did not reach members elsewhere.
    pub(super) fn lost(&self) -> Vec<Loss> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn loses(&self, losses: &[Loss]) {
        let ours = losses.iter().filter(|loss| concerns(&self.plan, loss));
        gather_losses(&mut self.lost.lock().unwrap_or_else(PoisonError::into_inner), ours);
    }

    /// A sitting as this team has it.
    pub(super) fn sitting(&self, at: (Seat, u32), role: Role, ready: mpsc::Sender<Ready>) -> Arc<Sitting> {
        let manner = Manner { routed: self.team.routed, files: self.places.of(at.0, &role) };
        Sitting::new(at, role, manner, ready)
    }

    fn member(&self, seat: Seat) -> &PeerId {
        self.plan.id(seat)
    }

    /// A call of a member, as a child of the run. Its id is the same whenever the run comes to it.
    fn call(&self, member: &PeerId, id: MessageId, history: Vec<Turn>, parts: Vec<Part>) -> Call {
        let earlier = history.iter().flat_map(|turn| &turn.parts);
        let trust = parts.iter().chain(earlier).map(|part| part.provenance.trust).min().unwrap_or(Trust::Caller);
        let input = Input { trust, history, ..Input::parts(parts) };
        let target =
            member.as_str().parse().map_or_else(|_| Target::Peer(member.clone()), |id| Target::Skill(id, None));
        let ask = Ask::Invoke { target, input };
        let mut call = self.line.child(id, ask);
        call.caller.can_answer = self.line.call.caller.can_answer;
        call
    }

    async fn open(&self, call: Call) -> Result<Running, Fault> {
        let by = self.line.through.clone();
        self.line.hub.open(Request { by, connection: 0, call: Box::new(call) }).await
    }

    /// The call of a member to its end, as a step of the run.
    async fn turn(
        &self,
        call: Call,
        member: &PeerId,
        heard: impl FnMut(&Entry) + Send,
    ) -> Result<(Finished, Vec<Part>), Fault> {
        let step = Step {
            id: StepId(call.id.0.clone()),
            parent: None,
            skill: None,
            title: member.0.clone(),
            kind: StepKind::Think,
            state: StepState::Pending,
            args: None,
            parts: Vec::new(),
        };
        let ended = match self.open(call).await {
            Ok(running) => Reading::new(&self.line, running, Some(step.clone())).hearing(self.since, heard).await,
            Err(fault) => Err(fault),
        };
        let (state, parts) = match &ended {
            Ok((finished, parts)) => (ending(&finished.outcome), with_output(finished, parts.clone())),
            Err(fault) => (StepState::Failed, vec![Part::text(fault.public.clone(), Provenance::hub())]),
        };
        self.line.ended(step, state, parts);
        ended
    }

    /// An agent of this hub in a sitting, to the end of its exchange.
    async fn seated(
        &self,
        sitting: &Arc<Sitting>,
        id: MessageId,
        parts: Vec<Part>,
        heard: impl FnMut(&Entry) + Send,
    ) -> Result<(Finished, Vec<Part>), Fault> {
        let member = self.member(sitting.seat);
        let mut call = self.call(member, id.clone(), Vec::new(), parts);
        call.origin.sits();
        let _sits = self.seats.prepare(self.line.task, id, sitting.clone());
        self.turn(call, member, heard).await
    }

    /// A peer elsewhere, to the end of its reply. It has its own time, and what it says of its costs is not believed.
    async fn spoken(
        &self,
        seat: Seat,
        id: MessageId,
        (history, parts): (Vec<Turn>, Vec<Part>),
        mut heard: impl FnMut(&Entry) + Send,
    ) -> Result<(Finished, Vec<Part>), Fault> {
        let member = self.member(seat);
        let sent = weight(history.iter().flat_map(|turn| &turn.parts)) + weight(&parts);
        let mut call = self.call(member, id, history, parts);
        call.conversation = Some(self.line.conversation_of_run(member.as_str()));
        let until = self.line.hub.now().after(self.team.reply);
        if call.limits.deadline.is_none_or(|deadline| deadline.at > until) {
            call.limits.deadline = Some(Deadline { at: until, set_by: DeadlineBy::Hub });
        }
        let hear = |entry: &Entry| {
            if let Record::Emitted { losses, .. } = &entry.record {
                self.loses(losses);
            }
            heard(entry);
        };
        let (finished, parts) = self.turn(call, member, hear).await?;
        let written = weight(&parts) + weight(&finished.output.parts);
        let usage = Usage { tokens_in: sent / 4, tokens_out: written / 4, calls: 1, micro_money: 0 };
        Ok((Finished { usage, ..finished }, parts))
    }
}

/// About how many bytes of text these are.
fn weight<'a>(parts: impl IntoIterator<Item = &'a Part>) -> u64 {
    parts.into_iter().map(|part| part.as_text().map_or_else(|| part.weight(), str::len) as u64).sum()
}

/// A round of a member, until it is over.
pub(super) async fn round(table: Arc<Table>, sitting: Arc<Sitting>, overheard: MessageId) {
    let Role::Round(brief) = &sitting.role else { return };
    let outbox = table.line.outbox.clone();
    let heard = |entry: &Entry| {
        if let Some(Event::Said { parts, .. }) = entry.record.event()
            && !parts.is_empty()
        {
            let (message, parts) = (overheard.clone(), parts.clone());
            outbox.emit(Event::Said { message, channel: Channel::Reasoning, piece: Piece::Delta, parts });
        }
    };
    if table.is_agent(sitting.seat) {
        let id = child(table.line.task, sitting.round, 0);
        let ended = table.seated(&sitting, id, brief.parts.clone(), heard).await;
        over(&sitting, ended).await;
    } else {
        in_words(&table, &sitting, brief, heard).await;
    }
}

/// What it used counts; that it failed does, if its round was not over.
async fn over(sitting: &Sitting, ended: Result<(Finished, Vec<Part>), Fault>) -> Option<Vec<Part>> {
    match ended {
        Err(fault) => {
            sitting.tell_team(What::Failed(fault)).await;
            None
        }
        Ok((finished, parts)) => {
            sitting.tell_team(What::Spent(finished.usage)).await;
            match finished.outcome {
                Outcome::Completed => return Some(with_data(&finished, with_output(&finished, parts))),
                Outcome::Failed(fault) => sitting.tell_team(What::Failed(fault)).await,
                Outcome::Cancelled { .. } => {
                    let fault = Fault::hub(FaultKind::PeerFailed, "the member was cancelled");
                    sitting.tell_team(What::Failed(fault)).await;
                }
            }
            None
        }
    }
}

/// How the step of a member's turn ends.
fn ending(outcome: &Outcome) -> StepState {
    match outcome {
        Outcome::Completed => StepState::Done,
        Outcome::Failed(_) => StepState::Failed,
        Outcome::Cancelled { .. } => StepState::Cancelled,
    }
}

fn with_output(finished: &Finished, mut parts: Vec<Part>) -> Vec<Part> {
    parts.extend(finished.output.parts.iter().cloned());
    parts
}

/// A reply that is data alone is a part of it, too.
fn with_data(finished: &Finished, mut parts: Vec<Part>) -> Vec<Part> {
    let data = finished.output.structured.as_ref().filter(|_| !parts.iter().any(|part| part.as_data().is_some()));
    let trust = parts.iter().map(|part| part.provenance.trust).min().unwrap_or(Trust::Peer);
    let provenance = Provenance { trust: trust.min(Trust::Peer), ..Provenance::hub() };
    parts.extend(data.map(|data| Part::new(Body::Data(data.clone()), provenance)));
    parts
}

/// A member elsewhere: asked again in the same conversation when its reply is sent back.
async fn in_words(table: &Table, sitting: &Sitting, brief: &Brief, mut heard: impl FnMut(&Entry) + Send) {
    let Some(mut orders) = sitting.orders() else { return };
    let mut say = vec![Part::text(plain_rules(brief), Provenance::hub())];
    say.extend(brief.parts.iter().cloned());
    say.extend((table.team.verbs == Verbs::Structured).then(|| verbs(brief)));
    let mut history = brief.history.clone();
    for attempt in brief.sent_back.. {
        let id = child(table.line.task, sitting.round, attempt);
        let mut news = Vec::new();
        let ended = tokio::select! {
            biased;
            () = stopped(&mut orders, &mut news) => return,
            ended = table.spoken(sitting.seat, id, (std::mem::take(&mut history), std::mem::take(&mut say)), &mut heard) => ended,
        };
        let Some(parts) = over(sitting, ended).await else { return };
        sitting.tell_team(What::Ended(read_reply(&parts, brief.offer, &brief.choices))).await;
        loop {
            match orders.recv().await {
                None | Some(Order::Stop) => return,
                Some(Order::Tell(parts)) => news.extend(parts),
                Some(Order::Again { results, say: word }) => {
                    let told = results.into_iter().map(|(_, text)| text).chain(word);
                    say = news.into_iter().chain(told.map(|text| Part::text(text, Provenance::hub()))).collect();
                    break;
                }
            }
        }
    }
}

/// Until the round is over; what else is said meanwhile is kept for later.
async fn stopped(orders: &mut mpsc::Receiver<Order>, news: &mut Vec<Part>) {
    loop {
        match orders.recv().await {
            None | Some(Order::Stop) => return,
            Some(Order::Tell(parts)) => news.extend(parts),
            Some(Order::Again { .. }) => {}
        }
    }
}

/// The rules for who has no tools to decide with.
fn plain_rules(brief: &Brief) -> String {
    let vote = if brief.choices.is_empty() {
        ""
    } else {
        " To vote, begin your answer with a line `vote: LABEL` and give your reason after it."
    };
    format!("{} You have no tools here: what you write is your new_answer.{vote}", brief.rules)
}

fn words(parts: &[Part]) -> String {
    parts.iter().filter_map(Part::as_text).collect::<Vec<_>>().join("\n")
}

/// The winner's last word, streamed to the caller as it comes. Says under which id.
pub(super) async fn present(table: Arc<Table>, presentation: Presentation) -> (Result<Text, Fault>, Option<MessageId>) {
    let (seat, attempt) = (presentation.seat, presentation.attempt);
    let id = child(table.line.task, last_word(attempt), 0);
    let outbox = table.line.outbox.clone();
    let heard = |entry: &Entry| {
        if let Some(Event::Said { message, channel: Channel::Answer, piece, parts }) = entry.record.event() {
            let (message, channel) = (final_id(message), Channel::Answer);
            outbox.emit(Event::Said { message, channel, piece: *piece, parts: parts.clone() });
        }
    };
    let ended = if table.is_agent(seat) {
        let parts = presentation.parts.clone();
        // Nobody judges it, so nothing is heard of it by this way.
        let role = Role::Present(Box::new(presentation));
        let sitting = table.sitting((seat, last_word(attempt)), role, mpsc::channel(1).0);
        table.seated(&sitting, id, parts, heard).await
    } else {
        let mut parts = vec![Part::text(presentation.rules, Provenance::hub())];
        parts.extend(presentation.parts);
        table.spoken(seat, id, (presentation.history, parts), heard).await
    };
    match ended {
        Err(fault) => (Err(fault), None),
        Ok((finished, parts)) => match &finished.outcome {
            Outcome::Completed => {
                let said = finished.output.said.as_ref().map(final_id);
                (Ok(words(&with_output(&finished, parts)).into()), said)
            }
            Outcome::Failed(fault) => (Err(fault.clone()), None),
            Outcome::Cancelled { .. } => (Err(Fault::hub(FaultKind::PeerFailed, "the winner was cancelled")), None),
        },
    }
}

fn final_id(message: &MessageId) -> MessageId {
    MessageId::from(format!("{FINAL}-{message}"))
}

/// Does the winner submit what was presented? Who cannot say so does.
pub(super) async fn evaluate(table: Arc<Table>, presentation: Presentation) -> Evaluation {
    let (seat, attempt) = (presentation.seat, presentation.attempt);
    if !table.is_agent(seat) {
        return Evaluation::Submit;
    }
    let parts = presentation.parts.clone();
    let role = Role::Evaluate(Box::new(presentation));
    let sitting = table.sitting((seat, last_word(attempt)), role, mpsc::channel(1).0);
    let judged = sitting.evaluation();
    let id = child(table.line.task, last_word(attempt), 1);
    let _ = table.seated(&sitting, id, parts, |_| ()).await;
    drop(sitting);
    judged.await.unwrap_or(Evaluation::Submit)
}
