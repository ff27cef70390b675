//! One response of a member: its decision, or what was wrong with it.

use super::{
    Ignored, MAX_ANSWER, MAX_ANSWERS, MAX_REASON, Mode, Offer, Record, Refusal, Round, Seat, Stand, Stopped, Team, Vote,
};
use interlingua_model::content::Trust;
use interlingua_model::id::{Text, Time};
use interlingua_model::json::Json;

/// A whole response. Tools that are not the team's own have been run by then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    pub calls: Vec<Called>,
    pub text: Text,
    /// The lowest of all the member had in context.
    pub trust: Trust,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Called {
    pub id: Text,
    pub what: Workflow,
}

/// A call of one of the team's own tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Workflow {
    /// Without content the text of the response is the answer.
    NewAnswer {
        content: Option<Text>,
    },
    Vote {
        choice: Text,
        reason: Text,
    },
    Stop {
        summary: Text,
        status: Stopped,
    },
    Other(Text),
}

impl Workflow {
    /// What a model's call means. Arguments it does not have are empty: the rules then say what is wrong.
    pub fn read(name: &str, args: &Json) -> Workflow {
        let text = |key: &str| args.get(key).and_then(|value| value.as_str()).map(Text::from);
        match name {
            "new_answer" => Workflow::NewAnswer { content: text("content") },
            "vote" => Workflow::Vote {
                choice: text("agent_id").unwrap_or_default(),
                reason: text("reason").unwrap_or_default(),
            },
            "stop" => Workflow::Stop {
                summary: text("summary").unwrap_or_default(),
                status: if text("status").as_deref() == Some("blocked") { Stopped::Blocked } else { Stopped::Complete },
            },
            other => Workflow::Other(other.into()),
        }
    }

    fn name(&self) -> &str {
        match self {
            Workflow::NewAnswer { .. } => "new_answer",
            Workflow::Vote { .. } => "vote",
            Workflow::Stop { .. } => "stop",
            Workflow::Other(name) => name,
        }
    }
}

impl Offer {
    /// The team's own tools in a round of this kind.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Offer::AnswerOrVote => &["new_answer", "vote"],
            Offer::VoteOnly => &["vote"],
            Offer::AnswerOnly => &["new_answer"],
            Offer::AnswerOrStop => &["new_answer", "stop"],
            Offer::StopOnly => &["stop"],
        }
    }

    fn has(self, tool: &str) -> bool {
        self.names().contains(&tool)
    }
}

/// What a response comes to.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Decided {
    Answer(Text),
    Vote(Vote),
    Ignored(Ignored),
    Stop(Text, Stopped),
    Refused(Refusal),
}

impl Team {
    /// The rules of one round, in the order in which they are tried.
    pub(super) fn examine(&self, seat: Seat, round: &Round, turn: &Turn, now: Time) -> Decided {
        let ours = || turn.calls.iter().map(|call| &call.what).filter(|what| !matches!(what, Workflow::Other(_)));
        if let Some(foreign) = ours().find(|what| !round.offer.has(what.name())) {
            return Decided::Refused(Refusal::NotOffered(foreign.name().into()));
        }
        let votes = ours().filter(|what| matches!(what, Workflow::Vote { .. })).count();
        let others = ours().count() - votes;
        match ours().next_back() {
            None => Decided::Refused(Refusal::NoDecision),
            Some(_) if others > 1 || (others == 1 && votes > 0) => Decided::Refused(Refusal::Mixed),
            // Of several votes the last one counts.
            Some(Workflow::Vote { choice, reason }) => self.vote(round, choice, reason, now),
            Some(Workflow::NewAnswer { content }) => {
                let text = content.as_ref().filter(|content| !content.trim().is_empty()).unwrap_or(&turn.text);
                self.new_answer(seat, round, text, now)
            }
            Some(Workflow::Stop { summary, status }) => Decided::Stop(bounded(summary, MAX_REASON), *status),
            Some(Workflow::Other(_)) => Decided::Refused(Refusal::NoDecision),
        }
    }

    /// C-06, C-07, C-08.
    fn vote(&self, round: &Round, choice: &str, reason: &Text, now: Time) -> Decided {
        if self.answers.is_empty() {
            return Decided::Refused(Refusal::NothingToVoteFor);
        }
        let chosen = self.plan.named(choice).filter(|seat| self.answer(*seat).is_some());
        let Some(chosen) = chosen else { return Decided::Refused(Refusal::UnknownChoice(bounded(choice, 80))) };
        let revision = self.revision(chosen);
        let seen_all = self.unseen(round).next().is_none();
        let seen_chosen = round.seen[chosen.0] == revision;
        if seen_all || (seen_chosen && self.is_hard(round, now)) {
            Decided::Vote(Vote { choice: chosen, revision, reason: bounded(reason, MAX_REASON) })
        } else {
            Decided::Ignored(Ignored::Unseen)
        }
    }

    /// C-04, C-05. Whether its author was to look again does not matter: an answer is always taken.
    fn new_answer(&self, seat: Seat, round: &Round, text: &Text, now: Time) -> Decided {
        if text.trim().is_empty() {
            return Decided::Refused(Refusal::Empty);
        }
        if text.len() > MAX_ANSWER {
            return Decided::Refused(Refusal::TooLong);
        }
        if !self.may_answer(seat) {
            return Decided::Refused(Refusal::AnswerLimit);
        }
        if !self.is_hard(round, now) && self.is_ahead(seat, now) {
            return Decided::Refused(Refusal::TooFarAhead);
        }
        match self.stale(text) {
            Some(refusal) => Decided::Refused(refusal),
            None => Decided::Answer(text.clone()),
        }
    }

    /// Has it, and have all together, answers left?
    pub(super) fn may_answer(&self, seat: Seat) -> bool {
        let rules = &self.plan.rules;
        let all = u32::try_from(self.answers.len()).unwrap_or(u32::MAX);
        self.answers.len() < MAX_ANSWERS
            && rules.answers_each.is_none_or(|limit| self.revision(seat) < limit)
            && rules.answers_all.is_none_or(|limit| all < limit)
    }

    /// Would one more answer put it too far ahead of the slowest active peer? Who voted, stopped, died or is past its hard
    /// limit holds nobody up, and nobody is held up before its first answer.
    pub(super) fn is_ahead(&self, seat: Seat, now: Time) -> bool {
        let Some(cap) = self.plan.rules.lead else { return false };
        let revisions = self.revisions();
        let own = revisions[seat.0];
        let active = |peer: Seat| match &self.place(peer).stand {
            Stand::Idle | Stand::Answered => true,
            Stand::Running(round) => !self.is_hard(round, now),
            Stand::Voted(_) | Stand::Stopped { .. } | Stand::Killed(_) => false,
        };
        let slowest = self.seats().filter(|peer| *peer != seat && active(*peer)).map(|peer| revisions[peer.0]).min();
        own > 0 && slowest.is_some_and(|slowest| (own + 1).saturating_sub(slowest) > cap)
    }

    /// Which of the team's own tools its next round has.
    pub(super) fn offer(&self, seat: Seat) -> Offer {
        match (&self.plan.rules.mode, self.may_answer(seat)) {
            (Mode::Decomposition { .. }, true) => Offer::AnswerOrStop,
            (Mode::Decomposition { .. }, false) => Offer::StopOnly,
            (Mode::Voting, true) if self.plan.rules.skip_voting => Offer::AnswerOnly,
            (Mode::Voting, true) => Offer::AnswerOrVote,
            (Mode::Voting, false) => Offer::VoteOnly,
        }
    }
}

/// What a member wrote, short enough to be kept or repeated.
fn bounded(text: &str, characters: usize) -> Text {
    match text.char_indices().nth(characters) {
        None => text.into(),
        Some((end, _)) => text[..end].into(),
    }
}

impl Record {
    pub(super) fn refused(seat: Seat, why: &Refusal) -> Record {
        Record::Refused { seat, why: why.clone() }
    }
}
