//! Folds appended records into the state of a run (event sourcing). This cannot fail.

use std::sync::Arc;

use super::record::{Record, ToolResult};
use super::say::LastSaid;
use super::{ASK, Doing, DoingState, Phase, Run};
use crate::llm::{Message, Reply, Tokens, lowest};
use interlingua_model::content::{Part, Party, Provenance, Trust};
use interlingua_model::event::Usage;
use interlingua_model::id::Text;
use interlingua_model::journal::Entry;

/// A journal that does not begin as a run's must.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an agent's journal must begin with its plan")]
pub struct Damaged;

/// The state after these entries.
pub fn fold(entries: impl IntoIterator<Item = Entry<Record>>) -> Result<Run, Damaged> {
    let mut entries = entries.into_iter();
    let first = entries.next().ok_or(Damaged)?;
    let Record::Begun { plan, messages } = first.record else { return Err(Damaged) };
    let mut run = Run::begun(*plan, messages, first.at);
    for entry in entries {
        run.apply(&entry.record);
    }
    Ok(run)
}

impl Run {
    /// Takes a record that stands in the journal.
    pub fn apply(&mut self, record: &Record) {
        match record {
            Record::Begun { .. } => {}
            Record::Thought { reply, tokens, micro_money } => {
                self.spend(*tokens, *micro_money);
                self.thought(reply);
            }
            Record::Broke { text, tokens, .. } => {
                let tokens = tokens.unwrap_or_default();
                self.spend(tokens, self.plan.price.of(tokens));
                self.remember_text(text);
            }
            Record::Called { call, skill, confirm } => {
                self.spent.calls = self.spent.calls.saturating_add(1);
                self.doing(call, DoingState::Called { skill: skill.clone(), confirm: *confirm });
            }
            Record::Asked { call, question } => {
                self.spent.calls = self.spent.calls.saturating_add(1);
                self.doing(call, DoingState::Asked { question: question.clone() });
            }
            Record::Handed { call } => {
                self.spent.calls = self.spent.calls.saturating_add(1);
                self.doing(call, DoingState::Handed);
            }
            Record::Refused { call, why } => self.doing(call, DoingState::Returned(refusal(why))),
            Record::Returned { call, result } => self.returned(call, result),
            Record::Told(parts) => {
                self.told.extend(parts.iter().cloned());
                self.read(parts);
            }
            Record::SentBack { results, say } => self.sent_back(results, say.as_ref()),
            Record::Proposed(value) => self.phase = Phase::Checking(value.clone()),
            Record::Misfit { problem } => {
                self.repairs += 1;
                let text =
                    format!("Your answer does not fit: {problem}. Answer again with JSON that does, and nothing else.");
                self.push(Message::User(vec![Part::text(text, Provenance::hub())]));
                self.think_on();
            }
            Record::WentOn => self.think_on(),
            Record::SummaryAsked { upto } => self.phase = Phase::Summarising { upto: *upto },
            Record::Folded(folded) => {
                self.make_room(folded);
                self.phase = Phase::Thinking;
            }
            Record::Finished(finished) => self.phase = Phase::Done(finished.clone()),
        }
    }

    pub(super) fn spend(&mut self, tokens: Tokens, micro_money: u64) {
        self.spent.tokens_in = self.spent.tokens_in.saturating_add(tokens.read);
        self.spent.tokens_out = self.spent.tokens_out.saturating_add(tokens.written);
        self.spent.micro_money = self.spent.micro_money.saturating_add(micro_money);
    }

    fn push(&mut self, message: Message) {
        self.messages.push(Arc::new(message));
        self.trust = self.trust.min(lowest(&self.messages[self.messages.len() - 1..]));
    }

    fn read(&mut self, parts: &[Part]) {
        let lowest = parts.iter().map(|part| part.provenance.trust).min();
        self.trust = self.trust.min(lowest.unwrap_or(Trust::Operator));
    }

    fn remember_text(&mut self, text: &Text) {
        if !text.is_empty() {
            self.last_said = Some(LastSaid { turn: self.turn, text: text.clone() });
        }
    }

    fn thought(&mut self, reply: &Reply) {
        self.remember_text(&reply.text);
        self.turn += 1;
        let text = Some(&reply.text).filter(|text| !text.is_empty());
        let parts = text.map(|text| Part::text(text.clone(), self.own())).into_iter().collect();
        self.push(Message::Agent { parts, calls: reply.calls.clone() });
        let plan = &self.plan;
        let decides =
            |name: &Text| plan.withheld.contains(name) || plan.decisions.iter().any(|tool| tool.name == *name);
        let judged = !self.plan.decisions.is_empty();
        if judged && (reply.calls.is_empty() || reply.calls.iter().any(|call| decides(&call.name))) {
            self.phase = Phase::Deciding { calls: reply.calls.clone(), text: reply.text.clone() };
        } else if reply.calls.is_empty() {
            self.phase = Phase::Answered(reply.stop);
        } else {
            let doing = reply.calls.iter().map(|call| Doing { call: call.clone(), state: DoingState::Waiting });
            self.phase = Phase::Acting(doing.collect());
        }
    }

    fn doing(&mut self, call: &Text, state: DoingState) {
        let Phase::Acting(all) = &mut self.phase else { return };
        if let Some(doing) = all.iter_mut().find(|doing| doing.call.id == *call) {
            doing.state = state;
        }
        self.read_results();
    }

    fn returned(&mut self, call: &Text, result: &ToolResult) {
        let usage = result.usage;
        self.spend(Tokens { read: usage.tokens_in, written: usage.tokens_out }, usage.micro_money);
        self.spent.calls = self.spent.calls.saturating_add(usage.calls);
        self.doing(call, DoingState::Returned(result.clone()));
    }

    /// When all have returned, their results are read in the order of the calls.
    fn read_results(&mut self) {
        let Phase::Acting(all) = &self.phase else { return };
        if !all.iter().all(|doing| matches!(doing.state, DoingState::Returned(_))) {
            return;
        }
        let Phase::Acting(all) = std::mem::replace(&mut self.phase, Phase::Thinking) else { return };
        for doing in all {
            let DoingState::Returned(result) = doing.state else { continue };
            let ToolResult { parts, failed, .. } = result;
            self.push(Message::Tool { call: doing.call.id, name: doing.call.name, parts, failed });
        }
        self.think_on();
    }

    fn sent_back(&mut self, results: &[(Text, Text)], say: Option<&Text>) {
        let Phase::Deciding { calls, .. } = std::mem::replace(&mut self.phase, Phase::Thinking) else { return };
        for call in calls {
            let text = results.iter().find(|(id, _)| *id == call.id).map(|(_, text)| text.clone());
            let text = text.unwrap_or_else(|| "not carried out".into());
            let parts = vec![Part::text(text, Provenance::hub())];
            self.push(Message::Tool { call: call.id, name: call.name, parts, failed: true });
        }
        if let Some(say) = say {
            self.push(Message::User(vec![Part::text(say.clone(), Provenance::hub())]));
        }
        self.think_on();
    }

    /// The model will be asked again: what was said meanwhile is read before.
    fn think_on(&mut self) {
        self.phase = Phase::Thinking;
        let told = std::mem::take(&mut self.told);
        if !told.is_empty() {
            self.push(Message::User(told));
        }
    }
}

fn refusal(why: &Text) -> ToolResult {
    let provenance = Provenance { by: Party::Hub, source: None, trust: Trust::Operator };
    ToolResult { parts: vec![Part::text(why.clone(), provenance)], failed: true, usage: Usage::default() }
}

impl Doing {
    /// Is it a question to the caller rather than a skill?
    pub(super) fn is_question(&self) -> bool {
        &*self.call.name == ASK
    }
}
