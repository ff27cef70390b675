//! What attackers did, and may not do again: each over a real socket against the real program.

mod owner;
mod tokens;
