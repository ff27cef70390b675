//! Folds appended records into the state of a team (event sourcing). This cannot fail.

use super::{Earlier, Given, Phase, Place, Record, Round, Seat, Stand, Team, TeamPlan, Verdict};
use interlingua_model::event::Usage;
use interlingua_model::id::Time;
use interlingua_model::journal::Entry;

/// A journal that does not begin as a team's must, or names members it does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a team's journal must begin with its plan, and name no other members")]
pub struct Damaged;

/// The state after these entries.
pub fn fold(entries: impl IntoIterator<Item = Entry<Record>>) -> Result<Team, Damaged> {
    let mut entries = entries.into_iter();
    let first = entries.next().ok_or(Damaged)?;
    let Record::Begun(plan) = first.record else { return Err(Damaged) };
    let members = plan.members.len();
    let mut team = Team::begun(*plan, first.at);
    for entry in entries {
        if names_stranger(&entry.record, members) {
            return Err(Damaged);
        }
        team.apply(&entry.record, entry.at);
    }
    Ok(team)
}

fn names_stranger(record: &Record, members: usize) -> bool {
    let out = |seat: &Seat| seat.0 >= members;
    match record {
        Record::Begun(plan) => plan.members.len() != members,
        Record::RoundBegun { seat, seen, .. } => out(seat) || seen.len() != members,
        Record::Voted { seat, vote } => out(seat) || out(&vote.choice),
        Record::Informed { seat, news } => out(seat) || news.iter().any(|(source, _)| out(source)),
        Record::Answered { seat, .. }
        | Record::VoteIgnored { seat, .. }
        | Record::Refused { seat, .. }
        | Record::RoundRestarted { seat }
        | Record::Noticed { seat }
        | Record::Denied { seat }
        | Record::Stopped { seat, .. }
        | Record::Killed { seat, .. }
        | Record::Spent { seat, .. } => out(seat),
        Record::Chosen(choice) => out(&choice.winner),
        Record::Finished(Verdict::Answer { winner, .. }) => out(winner),
        Record::Finished(Verdict::Failed(_) | Verdict::Cancelled(_))
        | Record::Presented { .. }
        | Record::Restarted { .. } => false,
    }
}

impl Team {
    /// Takes a record that stands in the journal.
    pub fn apply(&mut self, record: &Record, at: Time) {
        match record {
            Record::Begun(plan) => *self = Team::begun(TeamPlan::clone(plan), at),
            Record::RoundBegun { seat, round, seen, offer } => {
                self.rounds = round + 1;
                self.places[seat.0].restart = false;
                self.stand(*seat, Stand::Running(Round::new(*round, at, seen.clone(), *offer)));
            }
            Record::Answered { seat, revision, text, trust } => {
                let given = Given { seat: *seat, revision: *revision, text: text.clone(), trust: *trust, at };
                self.answered(given);
            }
            Record::Voted { seat, vote } => self.stand(*seat, Stand::Voted(vote.clone())),
            Record::VoteIgnored { seat, .. } | Record::RoundRestarted { seat } => self.rest(*seat),
            Record::Refused { seat, .. } => self.in_round(*seat, |round| {
                round.attempt += 1;
                round.denials = 0;
            }),
            Record::Informed { seat, news } => self.informed(*seat, news),
            Record::Noticed { seat } => self.in_round(*seat, |round| round.noticed = Some(at)),
            Record::Denied { seat } => self.in_round(*seat, |round| round.denials += 1),
            Record::Stopped { seat, summary, status } => {
                self.stand(*seat, Stand::Stopped { summary: summary.clone(), status: *status });
            }
            Record::Killed { seat, why } => self.stand(*seat, Stand::Killed(why.clone())),
            Record::Spent { usage, .. } => self.spent = sum(self.spent, *usage),
            Record::Chosen(choice) => self.phase = Phase::Presenting(choice.clone()),
            Record::Presented { text, source } => {
                if let Phase::Presenting(choice) = &self.phase {
                    let choice = choice.clone();
                    self.phase = Phase::Evaluating { choice, text: text.clone(), source: *source };
                }
            }
            Record::Restarted { reason, instructions } => {
                if let Phase::Evaluating { choice, text, .. } = &self.phase {
                    self.earlier = Some(Earlier {
                        winner: choice.winner,
                        answer: text.clone(),
                        reason: reason.clone(),
                        instructions: instructions.clone(),
                    });
                }
                self.attempt += 1;
                self.answers.clear();
                self.places.iter_mut().for_each(|place| *place = Place::fresh());
                self.phase = Phase::Coordinating;
            }
            Record::Finished(verdict) => self.phase = Phase::Done(verdict.clone()),
        }
    }

    fn stand(&mut self, seat: Seat, stand: Stand) {
        self.places[seat.0].stand = stand;
    }

    /// Its round is over without a decision. Its answers stand, so it is Answered again if it has any.
    fn rest(&mut self, seat: Seat) {
        let stand = if self.answer(seat).is_some() { Stand::Answered } else { Stand::Idle };
        self.stand(seat, stand);
    }

    fn in_round(&mut self, seat: Seat, change: impl FnOnce(&mut Round)) {
        if let Stand::Running(round) = &mut self.places[seat.0].stand {
            change(round);
        }
    }

    /// C-04 and C-13: every vote is void, and everyone, the author too, is to look again.
    fn answered(&mut self, given: Given) {
        let author = given.seat;
        self.answers.push(given);
        for seat in self.seats() {
            self.places[seat.0].restart = true;
            if matches!(self.places[seat.0].stand, Stand::Voted(_)) {
                self.rest(seat);
            }
        }
        self.stand(author, Stand::Answered);
    }

    fn informed(&mut self, seat: Seat, news: &[(Seat, u32)]) {
        self.in_round(seat, |round| {
            for (source, revision) in news {
                round.seen[source.0] = round.seen[source.0].max(*revision);
                round.informed += 1;
            }
        });
        let Stand::Running(round) = &self.places[seat.0].stand else { return };
        let restart = self.unseen(round).next().is_some();
        self.places[seat.0].restart = restart;
    }
}

impl Round {
    fn new(number: u32, began: Time, seen: Vec<u32>, offer: super::Offer) -> Round {
        Round { number, began, seen, offer, attempt: 1, noticed: None, denials: 0, informed: 0 }
    }
}

fn sum(one: Usage, other: Usage) -> Usage {
    Usage {
        tokens_in: one.tokens_in.saturating_add(other.tokens_in),
        tokens_out: one.tokens_out.saturating_add(other.tokens_out),
        calls: one.calls.saturating_add(other.calls),
        micro_money: one.micro_money.saturating_add(other.micro_money),
    }
}
