//! Attacks that were carried out once, by what the attacker does.

mod data;
