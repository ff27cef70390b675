//! Authorization rules in Cedar: read and checked ([`load`]), indexed so that only relevant rules are evaluated ([`index`]), and evaluated
//! ([`judge`]).
//!
//! `world.cedarschema` defines what rules can refer to; [`world`] converts the model to Cedar's entities. Which inputs a rule reads is
//! determined when it is loaded ([`reads`]), so arguments and the time of day are passed only to rules that need them, and every other
//! decision is made once and [`kept`].
//!
//! Deliberately absent: files, the chain of principals and its intersection, and the hub's Owner, for whom no rule is evaluated. It is a
//! crate of its own because Cedar is heavy, and because nothing but the program needs it.

mod index;
mod judge;
mod kept;
mod load;
mod reads;
mod roles;
#[cfg(test)]
mod tests;
mod world;

use interlingua_model::policy::{Flaw, Legislator, Roles, Ruling, Source};

/// What rules can speak of, in Cedar's own language for that.
pub const SCHEMA: &str = include_str!("world.cedarschema");

/// Reads rules in Cedar.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cedar;

impl Legislator for Cedar {
    fn read(&self, sources: &[Source], roles: &Roles) -> Result<Ruling, Vec<Flaw>> {
        load::read(sources, roles)
    }
}
