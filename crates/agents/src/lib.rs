//! Agents backed by a model. Each is a peer with the skill `chat`, so that whoever can call a peer can talk to one, in
//! whatever protocol, and every skill of the hub can be one of its tools.
//!
//! What an agent does is decided by the pure machine in `interlingua_machines::agent`; here is what the machine asks for:
//! models are asked ([`voice`], those of others by [`hosted`], one of the hub's own by [`resident`]), skills called ([`errand`], by way of [`mod@line`]), callers asked
//! back ([`desk`]), records written ([`log`]). [`engine`] drives one run, [`talk`] is its end towards the hub. [`team`] are
//! several agents at one table, [`seats`] their places.
//!
//! A call of an agent goes through the hub's one door like any other, under the name of whoever asked, through the agent:
//! its rights are what both may. It is a child of the run, with an id that is the same after a restart, so that a run which
//! is taken up again is handed the call it made and nothing is done twice.
//!
//! [`models`] asks language models at their pace, [`providers`] knows what each provider is asked and how it answers, [`plans`] works through
//! plans of many calls.

mod desk;
mod engine;
mod errand;
#[doc(hidden)]
pub mod fuzzing;
mod hosted;
mod line;
mod log;
mod memory;
pub mod models;
mod peer;
pub mod plans;
pub mod providers;
mod resident;
mod roster;
mod seats;
pub mod settings;
mod talk;
mod team;
mod voice;

pub use interlingua_hub::call_router::{CallRouter, Routed, RoutedCall};
pub use memory::forget;
pub use roster::{Recruit, Roster, enlist, prepare};
pub use team::{plan, tidy};
pub use voice::{Models, Voice};
