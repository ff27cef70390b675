//! Attacks on a running hub, each named after what the attacker does.

mod identity;
mod sealed;
