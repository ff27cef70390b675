//! What attackers do, each over a real socket against the real program, as a test that fails where they succeed.

mod bounds;
mod data;
mod disk;
mod effects;
mod identity;
mod inherit;
mod outgoing;
mod owner;
mod sealed;
mod tokens;
