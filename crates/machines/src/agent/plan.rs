//! Definition of an agent's run. Fixed when the run begins: nothing that is read later can change it.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::ASK;
use crate::llm::Offered;
use interlingua_model::Consents;
use interlingua_model::call::ClientTool;
use interlingua_model::card::{Effects, Schema, Skill};
use interlingua_model::digest::Digest;
use interlingua_model::fault::{Fault, FaultKind};
use interlingua_model::id::{PeerId, SkillId, Text};

/// Names of tools that providers take are no longer.
const NAME_LIMIT: usize = 64;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub name: PeerId,
    pub instructions: Text,
    pub tools: Vec<Tool>,
    /// May it ask whoever called it?
    pub may_ask: bool,
    /// Tools that are decisions: a call of one is not made but handed to whoever runs the agent. With any of these every
    /// answer is handed over, and the run goes on when it is sent back.
    pub decisions: Vec<Offered>,
    /// Names of decisions that are not offered this time. A call of one is handed over all the same, for whoever judges to say
    /// what is wrong with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<Text>,
    /// Tools that whoever called the agent offers and runs itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub handed: Vec<Offered>,
    pub budget: Budget,
    pub price: Price,
    pub consent: Consents,
    /// The answer is to be JSON of this form.
    pub output: Option<Schema>,
    /// How often an answer that does not fit may be repaired.
    pub repairs: u32,
    pub window: Window,
    /// How many calls run at the same time.
    pub parallel: usize,
}

impl Plan {
    pub fn new(name: impl Into<PeerId>, instructions: impl Into<Text>) -> Plan {
        Plan {
            name: name.into(),
            instructions: instructions.into(),
            tools: Vec::new(),
            may_ask: false,
            decisions: Vec::new(),
            withheld: Vec::new(),
            handed: Vec::new(),
            budget: Budget::default(),
            price: Price::default(),
            consent: Consents::default(),
            output: None,
            repairs: 2,
            window: Window::default(),
            parallel: 8,
        }
    }
}

impl Plan {
    /// May whoever called the agent offer these beside its own? One that has the name of another would be called in its place.
    pub fn takes(&self, offered: &[ClientTool]) -> Result<(), Fault> {
        let taken = |name: &Text| &**name == ASK || self.tools.iter().any(|tool| tool.name == *name);
        match offered.iter().find(|tool| taken(&tool.name)) {
            None => Ok(()),
            Some(tool) => {
                let text = format!("the tool '{}' has the name of a skill of the agent '{}'", tool.name, self.name);
                Err(Fault::caller(FaultKind::InvalidInput, text))
            }
        }
    }
}

/// A skill under the name its model knows it by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    pub name: Text,
    pub skill: SkillId,
    pub description: Text,
    pub input: Schema,
    pub effects: Effects,
}

/// The skills an agent is given, under names that a model may use and that differ from each other.
pub fn offer<'a>(skills: impl IntoIterator<Item = &'a Skill>, wanted: impl Fn(&SkillId) -> bool) -> Vec<Tool> {
    let mut taken = BTreeSet::new();
    let mut tools = Vec::new();
    for skill in skills.into_iter().filter(|skill| wanted(&skill.id)) {
        let mut name = tool_name(&skill.id);
        if !taken.insert(name.clone()) {
            name = marked(&name, &skill.id);
            taken.insert(name.clone());
        }
        tools.push(Tool {
            name: name.into(),
            skill: skill.id.clone(),
            description: skill.description.clone(),
            input: skill.input.clone(),
            effects: skill.effects,
        });
    }
    tools
}

/// `peer__skill`, in the letters that every provider takes.
fn tool_name(skill: &SkillId) -> String {
    let plain = |character: char| if character.is_ascii_alphanumeric() || character == '-' { character } else { '_' };
    let name: String = format!("{}__{}", skill.peer, skill.skill).chars().map(plain).collect();
    if name.len() > NAME_LIMIT { marked(&name, skill) } else { name }
}

/// Shortened, and told apart by eight digits of the digest of the skill's own name.
fn marked(name: &str, skill: &SkillId) -> String {
    let digest = Digest::of(skill.to_string().as_bytes()).to_string();
    let kept: String = name.chars().take(NAME_LIMIT - 9).collect();
    format!("{kept}_{}", &digest[..8])
}

/// What a run may use up. `None` is without limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    pub tokens: Option<u64>,
    pub micro_money: Option<u64>,
    pub time: Option<Duration>,
    /// Calls of tools.
    pub calls: Option<u32>,
    /// Calls of the model.
    pub turns: Option<u32>,
}

impl Default for Budget {
    /// Whatever else is free, a model that goes round in circles comes to an end.
    fn default() -> Budget {
        Budget { tokens: None, micro_money: None, time: None, calls: None, turns: Some(100) }
    }
}

/// In millionths of a unit of money for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Price {
    pub read: u64,
    pub written: u64,
}

/// How much of a conversation the model is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// As estimated: four bytes a token.
    pub tokens: u64,
    /// The last messages, which are never touched.
    pub keep: usize,
    pub fold: Fold,
}

impl Default for Window {
    fn default() -> Window {
        Window { tokens: 100_000, keep: 8, fold: Fold::LeaveOut }
    }
}

/// What becomes of old messages that no longer fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fold {
    LeaveOut,
    /// The model is asked for a summary of them.
    Summarise,
}
