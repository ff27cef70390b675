//! One turn of a member: in a round, presenting, or judging a presented answer.

use std::sync::Arc;

use interlingua_machines::agent::child;
use interlingua_machines::team::{Brief, Evaluation, FINAL, Presentation, Ready, Seat, What, read_plain};
use interlingua_model::{
    Ask, Call, Channel, Entry, Event, Fault, FaultKind, Finished, Input, MessageId, Outcome, Part, PeerId, Piece,
    Provenance, Request, Step, StepId, StepKind, StepState, Target, Text, Time, Trust,
};
use tokio::sync::mpsc;

use super::Team;
use super::workspaces::Places;
use crate::rounds::{Manner, Order, Role, Rounds, Sitting};
use crate::run_context::{Reading, RunContext};
use interlingua_hub::Running;

/// What all members of one run share.
pub(super) struct Table {
    pub(super) team: Arc<Team>,
    pub(super) line: Arc<RunContext>,
    pub(super) seats: Arc<Rounds>,
    /// When this hub took the run up: what a member had said before was passed on then.
    pub(super) since: Time,
    pub(super) places: Places,
}

/// The place of a member's last word among the calls of a run: no round has such a number.
fn last_word(attempt: u32) -> u32 {
    u32::MAX - attempt
}

impl Table {
    pub(super) fn is_agent(&self, member: &PeerId) -> bool {
        self.team.agents.contains(member)
    }

    /// A sitting as this team has it.
    pub(super) fn sitting(&self, at: (Seat, u32), role: Role, ready: mpsc::Sender<Ready>) -> Arc<Sitting> {
        let manner = Manner { routed: self.team.routed, files: self.places.of(at.0, &role) };
        Sitting::new(at, role, manner, ready)
    }

    fn member(&self, seat: Seat) -> &PeerId {
        self.team.plan.id(seat)
    }

    /// A call of a member, as a child of the run. Its id is the same whenever the run comes to it.
    fn call(&self, member: &PeerId, id: MessageId, parts: Vec<Part>) -> Call {
        let trust = parts.iter().map(|part| part.provenance.trust).min().unwrap_or(Trust::Caller);
        let input = Input { trust, ..Input::parts(parts) };
        let ask = Ask::Invoke { target: Target::Peer(member.clone()), input };
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
            Ok(running) => Reading::new(&self.line, running, step.clone()).hearing(self.since, heard).await,
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
        let mut call = self.call(member, id.clone(), parts);
        call.origin.sits();
        let _sits = self.seats.prepare(self.line.task, id, sitting.clone());
        self.turn(call, member, heard).await
    }

    /// A peer that only speaks, to the end of its answer.
    async fn spoken(
        &self,
        seat: Seat,
        id: MessageId,
        parts: Vec<Part>,
        heard: impl FnMut(&Entry) + Send,
    ) -> Result<(Finished, Vec<Part>), Fault> {
        let member = self.member(seat);
        let mut call = self.call(member, id, parts);
        call.conversation = Some(self.line.conversation_with(member.as_str()));
        self.turn(call, member, heard).await
    }
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
    if table.is_agent(table.member(sitting.seat)) {
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
                Outcome::Completed => return Some(with_output(&finished, parts)),
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

/// A member that answers in words: asked again in the same conversation when its answer is sent back.
async fn in_words(table: &Table, sitting: &Sitting, brief: &Brief, mut heard: impl FnMut(&Entry) + Send) {
    let Some(mut orders) = sitting.orders() else { return };
    let mut say = vec![Part::text(plain_rules(brief), Provenance::hub())];
    say.extend(brief.parts.iter().cloned());
    for attempt in 0.. {
        let id = child(table.line.task, sitting.round, attempt);
        let mut news = Vec::new();
        let ended = tokio::select! {
            biased;
            () = stopped(&mut orders, &mut news) => return,
            ended = table.spoken(sitting.seat, id, std::mem::take(&mut say), &mut heard) => ended,
        };
        let Some(parts) = over(sitting, ended).await else { return };
        let trust = parts.iter().map(|part| part.provenance.trust).min().unwrap_or(Trust::Peer).min(Trust::Peer);
        let text = words(&parts);
        sitting.tell_team(What::Ended(read_plain(&text, brief.offer, &brief.choices, trust))).await;
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
    let ended = if table.is_agent(table.member(seat)) {
        let parts = presentation.parts.clone();
        // Nobody judges it, so nothing is heard of it by this way.
        let role = Role::Present(Box::new(presentation));
        let sitting = table.sitting((seat, last_word(attempt)), role, mpsc::channel(1).0);
        table.seated(&sitting, id, parts, heard).await
    } else {
        let mut parts = vec![Part::text(presentation.rules, Provenance::hub())];
        parts.extend(presentation.parts);
        table.spoken(seat, id, parts, heard).await
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
    if !table.is_agent(table.member(seat)) {
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
