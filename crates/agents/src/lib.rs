//! Agents backed by a model. Each is a peer with the skill `chat`, so that whoever can call a peer can talk to one, in
//! whatever protocol, and every skill of the hub can be one of its tools.
//!
//! What an agent does is decided by the pure machine in `interlingua_machines::agent`; here is what the machine asks for:
//! models are asked ([`configured_model`], those of others by [`remote_model`], one of the hub's own by [`local_model`]), skills called ([`tool_calls`], by way of [`run_context`]), callers asked
//! back ([`outbox`]), records written ([`log`]). [`engine`] drives one run, [`run_duplex`] is its end towards the hub. [`team`] are
//! several agents at one table, [`rounds`] their places.
//!
//! A call of an agent goes through the hub's one door like any other, under the name of whoever asked, through the agent:
//! its rights are what both may. It is a child of the run, with an id that is the same after a restart, so that a run which
//! is taken up again is handed the call it made and nothing is done twice.
//!
//! [`models`] asks language models at their pace, [`providers`] knows what each provider is asked and how it answers, [`plans`] works through
//! plans of many calls.

mod agent;
mod configured;
mod configured_model;
mod engine;
#[doc(hidden)]
pub mod fuzzing;
mod local_model;
mod log;
mod memory;
pub mod models;
mod outbox;
mod peer;
pub mod plans;
pub mod providers;
mod remote_model;
mod rounds;
mod run_context;
mod run_duplex;
pub mod settings;
mod team;
mod tool_calls;

pub use configured::{ConfiguredAgents, Recruit, enlist, prepare};
pub use configured_model::{ConfiguredModel, Models};
pub use interlingua_hub::call_router::{CallRouter, Routed, RoutedCall};
pub use memory::forget;
pub use settings::plan;
pub use team::tidy;
