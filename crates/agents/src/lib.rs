//! Agents backed by a model. Each is a peer with the skill `chat`, so any caller can talk to one in any protocol, and every skill of the
//! hub can be one of its tools.
//!
//! The pure machine in `interlingua_machines::agent` decides what an agent does. This crate carries it out: it asks models
//! ([`configured_model`], remote ones by [`remote_model`], the hub's own by [`local_model`]), calls skills ([`tool_calls`], by way of
//! [`run_context`]), asks callers ([`outbox`]), and writes records ([`log`]). [`engine`] drives one run, [`run_duplex`] is its end towards
//! the hub. [`planner`] is an agent that makes plans, [`team`] several agents that work together, [`rounds`] their slots. [`topics`] starts
//! agents and teams by events.
//!
//! A call of an agent enters the hub like any other, in the name of the caller, through the agent: it has only the permissions that both
//! have. It is a child of the run, with an id that is the same after a restart, so a resumed run gets back the call it made and nothing is
//! done twice.
//!
//! [`models`] sends requests to language models within their rate limits, [`providers`] has the API of each provider, [`plans`] executes
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
mod planner;
pub mod plans;
pub mod providers;
mod remote_model;
mod rounds;
mod run_context;
mod run_duplex;
pub mod settings;
mod team;
mod tool_calls;
mod topics;

pub use configured::{ConfiguredAgents, Recruit, enlist, prepare};
pub use configured_model::{ConfiguredModel, Models};
pub use interlingua_hub::call_router::{CallRouter, Routed, RoutedCall};
pub use memory::forget;
pub use settings::plan;
pub use team::tidy;
pub use topics::{TopicStart, Topics, topic_starts};
