//! Decision rules of a team: the records and effects of a happening, given the state. They change nothing.

use super::{
    Choice, Decision, Effect, Ending, Evaluation, Happening, How, Mode, Offer, Phase, Record, Seat, Source, Stand,
    Team, Verdict,
};
use interlingua_model::event::CancelWhy;
use interlingua_model::fault::{Fault, FaultKind};
use interlingua_model::id::{Text, Time};

/// A decision in the making, on a copy of the state: each record is applied to it, so that the next rule sees it.
pub(super) struct Draft {
    pub(super) team: Team,
    pub(super) now: Time,
    decision: Decision,
}

impl Team {
    /// What this leads to: records to append as one, and effects once they are safe. The only place that refuses.
    pub fn decide(&self, what: Happening, now: Time) -> Result<Decision, Fault> {
        if self.verdict().is_some() {
            return Err(Fault::caller(FaultKind::AlreadyFinished, "this team has already finished"));
        }
        let mut draft = Draft { team: self.clone(), now, decision: Decision::default() };
        match what {
            Happening::Begin => {}
            Happening::Ready(batch) if self.phase == Phase::Coordinating => draft.ready(batch),
            // What comes after the choice belongs to rounds that were stopped, but for what was spent.
            Happening::Ready(batch) => drop(draft.spent(batch)),
            Happening::Timer => draft.notices(),
            Happening::Presented(result) => draft.presented(result),
            Happening::Evaluated(evaluation) => draft.evaluated(evaluation),
            Happening::Cancel(why) => draft.cancel(why),
        }
        draft.go_on();
        Ok(draft.decision)
    }

    /// After a replay: what was under way is taken up again. Nothing of it is new, so there is nothing to record.
    pub fn resume(&self) -> Vec<Effect> {
        match &self.phase {
            Phase::Coordinating => {
                self.running().map(|(seat, round)| Effect::Start(Box::new(self.brief(seat, round)))).collect()
            }
            Phase::Presenting(choice) => vec![Effect::Present(Box::new(self.presentation(choice)))],
            Phase::Evaluating { choice, text, .. } => {
                vec![Effect::Evaluate(Box::new(self.evaluation(choice, text)))]
            }
            Phase::Done(verdict) => vec![Effect::Finish(verdict.clone())],
        }
    }

    /// Has coordination come to its end, and how?
    fn ended(&self, now: Time) -> Option<How> {
        let live: Vec<Seat> = self.live().collect();
        let all = |is: &dyn Fn(Seat) -> bool| live.iter().all(|seat| is(*seat));
        let voted = |seat| matches!(self.place(seat).stand, Stand::Voted(_));
        let stopped = |seat| matches!(self.place(seat).stand, Stand::Stopped { .. });
        let answered = |seat| self.answer(seat).is_some() || !self.may_answer(seat);
        if live.is_empty() {
            return Some(How::AllKilled);
        }
        match &self.plan.rules.mode {
            Mode::Voting if self.plan.rules.skip_voting && all(&answered) => return Some(How::AllAnswered),
            Mode::Voting if all(&voted) => return Some(How::AllVoted),
            Mode::Decomposition { .. } if all(&stopped) => return Some(How::AllStopped),
            Mode::Voting | Mode::Decomposition { .. } => {}
        }
        if now >= self.over_at() {
            return Some(How::TimeOver);
        }
        self.is_purse_empty().then_some(How::PurseEmpty)
    }

    fn is_purse_empty(&self) -> bool {
        let (purse, spent) = (&self.plan.rules.purse, &self.spent);
        purse.tokens.is_some_and(|limit| spent.tokens_in.saturating_add(spent.tokens_out) >= limit)
            || purse.micro_money.is_some_and(|limit| spent.micro_money >= limit)
    }

    /// C-01's guard.
    fn is_gated(&self, seat: Seat, now: Time) -> bool {
        let rules = &self.plan.rules;
        match self.offer(seat) {
            Offer::AnswerOnly => self.answer(seat).is_some(),
            Offer::AnswerOrVote | Offer::AnswerOrStop => self.is_ahead(seat, now),
            Offer::VoteOnly if rules.skip_voting => true,
            Offer::VoteOnly => rules.defer_voting && self.someone_may_still_answer(),
            Offer::StopOnly => false,
        }
    }

    fn someone_may_still_answer(&self) -> bool {
        self.live().any(|seat| {
            let voted = matches!(self.place(seat).stand, Stand::Voted(_));
            !voted && self.answer(seat).is_none() && self.may_answer(seat)
        })
    }

    /// The answer as it was given: the winner's own, or every share of the work in the order of registration.
    pub(super) fn stored(&self, choice: &Choice) -> Text {
        let own = || self.answer(choice.winner).map(|given| given.text.clone()).unwrap_or_default();
        match &self.plan.rules.mode {
            Mode::Voting => own(),
            Mode::Decomposition { .. } => {
                let shares = self.seats().filter_map(|seat| self.answer(seat));
                let shares: Vec<String> =
                    shares.map(|given| format!("{}:\n{}", self.plan.id(given.seat), given.text)).collect();
                shares.join("\n\n").into()
            }
        }
    }
}

impl Draft {
    pub(super) fn record(&mut self, record: Record) {
        self.team.apply(&record, self.now);
        self.decision.records.push(record);
    }

    pub(super) fn effect(&mut self, effect: Effect) {
        self.decision.effects.push(effect);
    }

    /// Ends coordination if it has come to its end; otherwise starts whoever can be started.
    fn go_on(&mut self) {
        if self.team.phase != Phase::Coordinating {
            return;
        }
        match self.team.ended(self.now) {
            Some(how) => self.conclude(how),
            None => self.schedule(),
        }
    }

    /// C-01, in the order of registration.
    fn schedule(&mut self) {
        for seat in self.team.seats() {
            let waits = matches!(self.team.place(seat).stand, Stand::Idle | Stand::Answered);
            if !waits || self.team.is_gated(seat, self.now) {
                continue;
            }
            let record = Record::RoundBegun {
                seat,
                round: self.team.rounds,
                seen: self.team.revisions(),
                offer: self.team.offer(seat),
            };
            self.record(record);
            if let Stand::Running(round) = &self.team.place(seat).stand {
                let brief = self.team.brief(seat, round);
                self.effect(Effect::Start(Box::new(brief)));
            }
        }
    }

    /// C-11: each round past its soft limit is told once. In the other phases only the team's own time counts.
    fn notices(&mut self) {
        let due: Vec<(Seat, u32)> = self
            .team
            .running()
            .filter(|(seat, round)| self.team.soft_at(*seat, round).is_some_and(|at| at <= self.now))
            .map(|(seat, round)| (seat, round.number))
            .collect();
        for (seat, round) in due {
            self.record(Record::Noticed { seat });
            let parts = self.team.wrap_up(seat);
            self.effect(Effect::Tell { seat, round, parts });
        }
        if self.now < self.team.over_at() {
            return;
        }
        match self.team.phase.clone() {
            Phase::Presenting(choice) => self.finish_stored(&choice),
            Phase::Evaluating { choice, text, source } => self.finish(&choice, text, source),
            Phase::Coordinating | Phase::Done(_) => {}
        }
    }

    fn stop_rounds(&mut self) {
        let running: Vec<(Seat, u32)> = self.team.running().map(|(seat, round)| (seat, round.number)).collect();
        for (seat, round) in running {
            self.effect(Effect::Stop { seat, round });
            self.effect(Effect::Snapshot(seat));
        }
    }

    /// C-14 to C-17.
    fn conclude(&mut self, how: How) {
        self.stop_rounds();
        let Some(choice) = self.team.choose(how) else { return self.without_answer(how) };
        self.record(Record::Chosen(choice.clone()));
        let late = matches!(how, How::TimeOver | How::PurseEmpty);
        if late || !self.team.is_live(choice.winner) {
            return self.finish_stored(&choice);
        }
        match self.team.plan.rules.ending {
            Ending::Reuse => {
                let text = self.team.stored(&choice);
                self.evaluate(&choice, text, Source::Stored);
            }
            Ending::Present | Ending::Synthesize => {
                let presentation = self.team.presentation(&choice);
                self.effect(Effect::Present(Box::new(presentation)));
            }
        }
    }

    /// What an attempt before this one presented is better than nothing.
    fn without_answer(&mut self, how: How) {
        let verdict = match &self.team.earlier {
            Some(earlier) => {
                Verdict::Answer { winner: earlier.winner, text: earlier.answer.clone(), source: Source::Earlier, how }
            }
            None => Verdict::Failed(self.team.no_answer(how)),
        };
        self.end(verdict);
    }

    fn presented(&mut self, result: Result<Text, Fault>) {
        let Phase::Presenting(choice) = self.team.phase.clone() else { return };
        match result {
            Ok(text) if !text.trim().is_empty() => self.evaluate(&choice, text, Source::Presented),
            Ok(_) => {
                let text = self.team.stored(&choice);
                self.evaluate(&choice, text, Source::Stored);
            }
            Err(_) => self.finish_stored(&choice),
        }
    }

    /// Unless this is the last attempt, the winner may send everyone back.
    fn evaluate(&mut self, choice: &Choice, text: Text, source: Source) {
        self.record(Record::Presented { text: text.clone(), source });
        let last = self.team.attempt > self.team.plan.rules.restarts;
        if last || self.now >= self.team.over_at() {
            return self.finish(choice, text, source);
        }
        let evaluation = self.team.evaluation(choice, &text);
        self.effect(Effect::Evaluate(Box::new(evaluation)));
    }

    fn evaluated(&mut self, evaluation: Evaluation) {
        let Phase::Evaluating { choice, text, source } = self.team.phase.clone() else { return };
        match evaluation {
            Evaluation::Submit => self.finish(&choice, text, source),
            Evaluation::Restart { reason, instructions } => self.record(Record::Restarted { reason, instructions }),
        }
    }

    /// C-18.
    fn cancel(&mut self, why: CancelWhy) {
        self.stop_rounds();
        self.end(Verdict::Cancelled(why));
    }

    fn finish_stored(&mut self, choice: &Choice) {
        let text = self.team.stored(choice);
        self.record(Record::Presented { text: text.clone(), source: Source::Stored });
        self.finish(choice, text, Source::Stored);
    }

    fn finish(&mut self, choice: &Choice, text: Text, source: Source) {
        self.end(Verdict::Answer { winner: choice.winner, text, source, how: choice.how });
    }

    fn end(&mut self, verdict: Verdict) {
        self.record(Record::Finished(verdict.clone()));
        self.effect(Effect::Finish(verdict));
    }
}

impl Team {
    /// C-16, and C-17 without an answer.
    fn no_answer(&self, how: How) -> Fault {
        let (kind, text) = match how {
            How::TimeOver => (FaultKind::Deadline, "the team's time was over before any member had an answer"),
            How::PurseEmpty => (FaultKind::BudgetSpent, "the team's budget was spent before any member had an answer"),
            How::AllKilled => self.all_killed(),
            How::AllVoted | How::AllAnswered | How::AllStopped => {
                (FaultKind::PeerFailed, "the team ended without an answer")
            }
        };
        Fault::hub(kind, text)
    }

    /// A member that ran out of time might have had an answer: then that is what went wrong. A call that went in circles did so
    /// for every member alike.
    fn all_killed(&self) -> (FaultKind, &'static str) {
        let kinds = || self.seats().filter_map(|seat| self.place(seat).stand.killed_by());
        if kinds().any(|kind| kind == FaultKind::Deadline) {
            return (FaultKind::Deadline, "the members of the team ran out of time, and none had an answer");
        }
        if kinds().all(|kind| kind == FaultKind::Loop) {
            return (FaultKind::Loop, "what the team asked its members came back to this hub");
        }
        (FaultKind::PeerFailed, "every member of the team failed, and none had an answer")
    }
}
