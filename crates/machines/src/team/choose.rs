//! Vote count: plurality of votes; a tie goes to the member that was registered first; self-votes count; there is no quorum.

use super::{Choice, How, Mode, Seat, Stand, Team};

impl Team {
    /// The winner when coordination ends like this; none when nobody has an answer.
    pub(super) fn choose(&self, how: How) -> Option<Choice> {
        match how {
            How::AllVoted | How::AllAnswered | How::AllKilled => {
                self.by_votes(how, |_| true).or_else(|| self.first(how))
            }
            How::AllStopped => self.presenter(how).or_else(|| self.first(how)),
            // An author that is gone cannot be asked again, so the living come first.
            How::TimeOver | How::PurseEmpty => self
                .by_votes(how, |seat| self.is_live(seat))
                .or_else(|| self.latest_of_living(how))
                .or_else(|| self.first(how)),
        }
    }

    pub(super) fn is_live(&self, seat: Seat) -> bool {
        !matches!(self.place(seat).stand, Stand::Killed(_))
    }

    /// Votes that stand: who gave them, and for whom.
    pub fn votes(&self) -> impl Iterator<Item = (Seat, &super::Vote)> {
        self.seats().filter_map(|seat| match &self.place(seat).stand {
            Stand::Voted(vote) => Some((seat, vote)),
            Stand::Idle | Stand::Running(_) | Stand::Answered | Stand::Stopped { .. } | Stand::Killed(_) => None,
        })
    }

    fn by_votes(&self, how: How, eligible: impl Fn(Seat) -> bool) -> Option<Choice> {
        let mut tally = vec![0_u32; self.places.len()];
        self.votes().for_each(|(_, vote)| tally[vote.choice.0] += 1);
        let candidates = || self.seats().filter(|seat| eligible(*seat) && self.answer(*seat).is_some());
        let most = candidates().map(|seat| tally[seat.0]).max().filter(|most| *most > 0)?;
        let mut best = candidates().filter(|seat| tally[seat.0] == most);
        let winner = best.next()?;
        Some(Choice { winner, votes: most, tied: best.next().is_some(), how })
    }

    fn first(&self, how: How) -> Option<Choice> {
        let winner = self.seats().find(|seat| self.answer(*seat).is_some())?;
        Some(Choice { winner, votes: 0, tied: false, how })
    }

    fn latest_of_living(&self, how: How) -> Option<Choice> {
        let given = self.answers.iter().rev().find(|given| self.is_live(given.seat))?;
        Some(Choice { winner: given.seat, votes: 0, tied: false, how })
    }

    /// Whoever is named, else the last one; if it is gone or said nothing, someone who did.
    fn presenter(&self, how: How) -> Option<Choice> {
        let named = match &self.plan.rules.mode {
            Mode::Voting => None,
            Mode::Decomposition { presenter } => presenter.as_ref(),
        };
        let seat = self.seats().find(|seat| Some(self.plan.id(*seat)) == named).or_else(|| self.seats().last())?;
        let anyone = !self.answers.is_empty();
        (anyone && self.is_live(seat)).then_some(Choice { winner: seat, votes: 0, tied: false, how })
    }
}
