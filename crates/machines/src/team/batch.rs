//! Batch rule: events that were ready at the same time are read as one batch. An answer in it voids every vote, also those of the batch.

use super::decide::Draft;
use super::turn::Decided;
use super::{
    ATTEMPTS, DENIALS, Effect, Ignored, Offer, Ready, Record, Refusal, Round, Seat, Turn, Updates, Vote, What,
};
use interlingua_model::content::Party;
use interlingua_model::fault::{Fault, FaultKind};
use interlingua_model::id::Text;

impl Draft {
    pub(super) fn ready(&mut self, batch: Vec<Ready>) {
        let mut votes: Vec<(Seat, u32, Vote)> = Vec::new();
        let before = self.team.answers.len();
        for Ready { seat, round, what } in self.spent(batch) {
            // A vote ends its round (C-06), though it is counted with the rest of its batch: what comes after it, a failure
            // too, belongs to a round that is over.
            if votes.iter().any(|(voter, ..)| *voter == seat) {
                continue;
            }
            let Some(current) = self.team.round(seat, round).cloned() else { continue };
            match what {
                What::Said(channel, text) => self.effect(Effect::Forward { seat, channel, text }),
                What::Wants { call, .. } => self.wants(seat, &current, call),
                What::Returned => self.tell_news(seat, &current),
                What::Spent(_) => {}
                What::Failed(why) => self.kill(seat, round, why),
                What::Ended(turn) => {
                    if let Some(vote) = self.ended(seat, &current, &turn) {
                        votes.push((seat, round, vote));
                    }
                }
            }
        }
        let answered = self.team.answers.len() > before;
        for (seat, round, vote) in votes {
            if answered {
                self.ignore(seat, round, Ignored::SameBatch);
            } else {
                self.record(Record::Voted { seat, vote });
                self.close(seat, round);
            }
        }
    }

    /// What was spent was spent, also by a round that is over or by whoever presents. Returns the rest.
    pub(super) fn spent(&mut self, batch: Vec<Ready>) -> Vec<Ready> {
        let (spent, rest): (Vec<Ready>, Vec<Ready>) =
            batch.into_iter().partition(|ready| matches!(ready.what, What::Spent(_)));
        for Ready { seat, what, .. } in spent {
            if let What::Spent(usage) = what
                && seat.0 < self.team.places.len()
            {
                self.record(Record::Spent { seat, usage });
            }
        }
        rest
    }

    /// A vote waits for the rest of its batch; everything else is done at once.
    fn ended(&mut self, seat: Seat, round: &Round, turn: &Turn) -> Option<Vote> {
        match self.team.examine(seat, round, turn, self.now) {
            Decided::Vote(vote) => return Some(vote),
            Decided::Ignored(why) => self.ignore(seat, round.number, why),
            Decided::Answer(text) => {
                let revision = self.team.revision(seat) + 1;
                self.record(Record::Answered { seat, revision, text, trust: turn.trust });
                self.close(seat, round.number);
            }
            Decided::Stop(summary, status) => {
                self.record(Record::Stopped { seat, summary, status });
                self.close(seat, round.number);
            }
            Decided::Refused(why) => self.refuse(seat, round, turn, &why),
        }
        None
    }

    fn ignore(&mut self, seat: Seat, round: u32, why: Ignored) {
        self.record(Record::VoteIgnored { seat, why });
        self.effect(Effect::Stop { seat, round });
    }

    fn close(&mut self, seat: Seat, round: u32) {
        self.effect(Effect::Stop { seat, round });
        self.effect(Effect::Snapshot(seat));
    }

    /// C-10.
    pub(super) fn kill(&mut self, seat: Seat, round: u32, why: Fault) {
        self.record(Record::Killed { seat, why });
        self.close(seat, round);
    }

    /// C-05, C-08, C-09; at the third attempt C-10.
    fn refuse(&mut self, seat: Seat, round: &Round, turn: &Turn, why: &Refusal) {
        let reason = self.team.explain(round, why);
        if round.attempt >= ATTEMPTS {
            let text = format!("it did not come to a decision in {ATTEMPTS} attempts; the last one: {reason}");
            return self.kill(seat, round.number, self.failed(seat, text));
        }
        self.record(Record::refused(seat, why));
        // Every call must have a result, or the next request to the model would be refused.
        let results = turn.calls.iter().enumerate().map(|(index, call)| {
            let text: Text = match index {
                0 => reason.clone().into(),
                _ => "not carried out: another call of the same response was refused".into(),
            };
            (call.id.clone(), text)
        });
        let results: Vec<_> = results.collect();
        let say = results.is_empty().then(|| self.team.enforcement(round, &reason, &turn.text));
        self.effect(Effect::Again { seat, round: round.number, results, say });
    }

    fn failed(&self, seat: Seat, text: String) -> Fault {
        Fault::new(FaultKind::PeerFailed, Party::Peer(self.team.plan.id(seat).clone()), text)
    }

    /// C-03, C-12.
    fn wants(&mut self, seat: Seat, round: &Round, call: Text) {
        let number = round.number;
        if !self.team.is_hard(round, self.now) {
            return self.effect(Effect::Permit { seat, round: number, call });
        }
        self.record(Record::Denied { seat });
        let text = format!("your time is over: only {} can be called now", round.offer.names().join(" or "));
        self.effect(Effect::Deny { seat, round: number, call, text: text.into() });
        if round.denials + 1 >= DENIALS {
            let text = format!("it went on calling tools after its time was over; {DENIALS} calls were denied");
            self.kill(seat, number, self.failed(seat, text));
        }
    }

    /// After a tool's result: is there something to be told? A member without an answer is left to find its own first.
    fn tell_news(&mut self, seat: Seat, round: &Round) {
        let team = &self.team;
        let unseen: Vec<(Seat, u32)> = team.unseen(round).map(|given| (given.seat, given.revision)).collect();
        let protected = team.answer(seat).is_none() && round.offer != Offer::VoteOnly;
        if unseen.is_empty() || protected {
            return;
        }
        let sources = match team.plan.rules.updates {
            Updates::Never => return,
            // The list of whom it may vote for was made when its round began.
            Updates::AtRestart => return self.begin_again(seat, round.number),
            Updates::Midstream { .. } if round.offer == Offer::VoteOnly => {
                return self.begin_again(seat, round.number);
            }
            Updates::Midstream { sources } => sources,
        };
        if team.too_late_for_news(seat, round, self.now) {
            return;
        }
        // The oldest first; of each member the last revision, which makes the ones before it seen as well.
        let mut news: Vec<(Seat, u32)> = Vec::new();
        for (source, revision) in unseen {
            match news.iter_mut().find(|(known, _)| *known == source) {
                Some(entry) => entry.1 = entry.1.max(revision),
                None => news.push((source, revision)),
            }
        }
        news.truncate(usize::try_from(sources.saturating_sub(round.informed)).unwrap_or(usize::MAX));
        if news.is_empty() {
            return;
        }
        let parts = team.news(seat, &news);
        self.record(Record::Informed { seat, news });
        self.effect(Effect::Tell { seat, round: round.number, parts });
    }

    fn begin_again(&mut self, seat: Seat, round: u32) {
        self.record(Record::RoundRestarted { seat });
        self.close(seat, round);
    }
}
