//! Budget of a run: what it has used and what is left. When the budget is used up, the run ends with its partial result; a little before
//! that, the model is asked to finish.

use super::Run;
use super::plan::Price;
use crate::llm::{Reply, Tokens};
use interlingua_model::event::Usage;
use interlingua_model::id::Time;

/// From here on the model is asked for its answer, in percent of the tokens or the money.
const NEARLY: u64 = 90;

impl Price {
    pub(super) fn of(self, tokens: Tokens) -> u64 {
        let read = u128::from(self.read) * u128::from(tokens.read);
        let written = u128::from(self.written) * u128::from(tokens.written);
        u64::try_from((read + written) / 1_000_000).unwrap_or(u64::MAX)
    }
}

/// What the provider counted, or an estimate where it counts nothing.
pub(super) fn counted(reply: &Reply, prompt: u64) -> Tokens {
    let args = reply.calls.iter().map(super::context::call_size).sum::<u64>();
    let written = (reply.text.len() + reply.reasoning.len()) as u64 / 4 + args;
    reply.tokens.unwrap_or(Tokens { read: prompt, written })
}

impl Run {
    /// Which part of the budget is used up, in words.
    pub(super) fn overdrawn(&self, now: Time) -> Option<String> {
        let (budget, spent) = (&self.plan.budget, &self.spent);
        if let Some(limit) = budget.time.filter(|limit| self.began.after(*limit) <= now) {
            return Some(format!("the time of {} s is over", limit.as_secs()));
        }
        if let Some(limit) = budget.tokens.filter(|limit| tokens(spent) >= *limit) {
            return Some(format!("{limit} tokens are used"));
        }
        if let Some(limit) = budget.micro_money.filter(|limit| spent.micro_money >= *limit) {
            return Some(format!("{}.{:06} of money is spent", limit / 1_000_000, limit % 1_000_000));
        }
        let limit = budget.turns.filter(|limit| self.turn >= *limit)?;
        Some(format!("{limit} turns of the model are used"))
    }

    /// Is this the last turn there will be, or nearly?
    pub(super) fn is_nearly_over(&self) -> bool {
        let (budget, spent) = (&self.plan.budget, &self.spent);
        let near = |limit: Option<u64>, used: u64| {
            limit.is_some_and(|limit| u128::from(used) * 100 >= u128::from(limit) * u128::from(NEARLY))
        };
        near(budget.tokens, tokens(spent))
            || near(budget.micro_money, spent.micro_money)
            || budget.turns.is_some_and(|limit| self.turn + 1 >= limit)
            || !self.has_calls_left(0)
    }

    /// May another tool be called, with this many already on their way?
    pub(super) fn has_calls_left(&self, under_way: u32) -> bool {
        self.plan.budget.calls.is_none_or(|limit| self.spent.calls.saturating_add(under_way) < limit)
    }

    pub(super) fn tokens_left(&self) -> Option<u64> {
        self.plan.budget.tokens.map(|limit| limit.saturating_sub(tokens(&self.spent)))
    }
}

fn tokens(spent: &Usage) -> u64 {
    spent.tokens_in.saturating_add(spent.tokens_out)
}
