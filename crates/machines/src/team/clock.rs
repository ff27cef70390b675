//! Time limits: of the team, of a round (soft), and a hard limit a grace period after the notice.

use super::{Phase, Round, Seat, Stand, Team};
use interlingua_model::id::Time;

impl Team {
    /// When something will happen by itself.
    pub fn next_timer(&self, now: Time) -> Option<Time> {
        if self.verdict().is_some() {
            return None;
        }
        let rounds = self.running().flat_map(|(seat, round)| {
            let hard = self.hard_at(round).filter(|at| *at > now);
            [self.soft_at(seat, round), hard]
        });
        rounds.flatten().chain([self.over_at()]).min()
    }

    pub(super) fn over_at(&self) -> Time {
        self.began.after(self.plan.rules.times.whole)
    }

    pub(super) fn running(&self) -> impl Iterator<Item = (Seat, &Round)> {
        self.seats().filter_map(|seat| match &self.place(seat).stand {
            Stand::Running(round) if self.phase == Phase::Coordinating => Some((seat, round)),
            Stand::Running(_)
            | Stand::Idle
            | Stand::Answered
            | Stand::Voted(_)
            | Stand::Stopped { .. }
            | Stand::Killed(_) => None,
        })
    }

    /// When its soft limit is due; none when it has none or was told.
    pub(super) fn soft_at(&self, seat: Seat, round: &Round) -> Option<Time> {
        let times = &self.plan.rules.times;
        let limit = if self.answer(seat).is_none() { times.first_round } else { times.later_round };
        match round.noticed {
            None => limit.map(|limit| round.began.after(limit)),
            Some(_) => None,
        }
    }

    fn hard_at(&self, round: &Round) -> Option<Time> {
        round.noticed.map(|at| at.after(self.plan.rules.times.grace))
    }

    /// Is this round past its hard limit?
    pub(super) fn is_hard(&self, round: &Round, now: Time) -> bool {
        self.hard_at(round).is_some_and(|at| at <= now)
    }

    /// Too close to the soft limit for news to be of use.
    pub(super) fn too_late_for_news(&self, seat: Seat, round: &Round, now: Time) -> bool {
        round.noticed.is_some()
            || self.soft_at(seat, round).is_some_and(|at| at.until(now) < self.plan.rules.times.grace)
    }
}
