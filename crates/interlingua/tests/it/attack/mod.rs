//! What attackers did, done again: each is named after what it tries.

mod effects;
