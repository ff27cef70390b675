//! The sections `models`, `agents` and `teams`, and what types cannot say of them.

mod agents;
mod check;
mod models;
mod teams;

pub use agents::{Agent, AgentRouter, Budget, Confirm, Consent, Context, Fold};
pub use check::{Checked, check_models};
pub use models::{Model, Price, Provider};
pub use teams::{Ending, Novelty, Purse, Strategy, Team, Times, Updates, Workspaces};

use std::path::Path;

use indexmap::IndexMap;

use crate::edge::local::settings::Tools;

/// What agents and teams are made from.
#[derive(Debug, Clone, Copy)]
pub struct Sections<'a> {
    pub models: &'a IndexMap<String, Model>,
    pub agents: &'a IndexMap<String, Agent>,
    pub teams: &'a IndexMap<String, Team>,
    pub tools: &'a Tools,
    /// The hub's data directory.
    pub data: &'a Path,
    /// Calls travel as routed NLIP messages where neither agent nor team says otherwise.
    pub nlip: bool,
    /// What agents without a rule of their own may do with skills of unknown effects.
    pub unknown: Consent,
}
