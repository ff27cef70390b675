//! The sections `models`, `agents` and `teams`, and their validation.

mod agents;
mod check;
mod models;
mod team_plan;
mod teams;
mod topics;

pub use agents::{Agent, AgentRouter, Budget, Confirm, Consent, Context, Fold, Kind, PlanLimits};
pub use check::{Checked, check_models};
pub(crate) use models::micro;
pub use models::{Model, Price, Provider};
pub use team_plan::plan;
pub use teams::{Ending, Novelty, Purse, Strategy, Team, Times, Updates, Verbs, Workspaces};
pub use topics::On;

use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use interlingua_tools::files::RootSpec;

/// What agents and teams are made from.
#[derive(Debug, Clone)]
pub struct Sections<'a> {
    pub models: &'a IndexMap<String, Model>,
    pub agents: &'a IndexMap<String, Agent>,
    pub teams: &'a IndexMap<String, Team>,
    /// The hub's data directory.
    pub data: &'a Path,
    /// Where the hub's own file tools work.
    pub workspace: PathBuf,
    /// What members of a team with a workspace each share: the hub's workspace, and the roots that are declared beside it.
    pub shared_roots: Vec<RootSpec>,
    /// Calls travel as routed messages where neither agent nor team says otherwise.
    pub routed: bool,
    /// What agents without a rule of their own may do with skills of unknown effects.
    pub unknown: Consent,
}
