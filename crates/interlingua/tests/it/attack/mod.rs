//! Attacks, each over a real socket against the real program, named after what the attacker does.

mod bounds;
