//! Authorization rules in Cedar. Rules on who may do what, written in Cedar: read and checked ([`load`]), sorted so that only
//! those that can matter are looked at ([`index`]), asked ([`judge`]).
//!
//! `world.cedarschema` is what rules can speak of; [`world`] makes Cedar's entities of the model. What a rule looks at is
//! found out when it is read ([`reads`]), so that arguments and the time of day are looked at only for rules that ask for
//! them, and everything else is decided once and [`kept`].
//!
//! Deliberately absent: files, the chain of principals and its intersection, and the hub's Owner, who is never asked about.
//! It is a crate of its own because Cedar is heavy, and because nothing but the program needs it.

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
