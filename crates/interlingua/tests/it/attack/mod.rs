//! What attackers do, each over a real socket against the real program, as a test that fails where they succeed.

mod answers;
mod approver;
mod bounds;
mod data;
mod disk;
mod disk_kept;
mod effects;
mod failover;
mod federation;
mod forgotten;
mod hostile_hub;
mod identity;
mod inherit;
mod outgoing;
mod outside;
mod owner;
mod programs;
mod sealed;
mod tenants;
mod tokens;
mod ways;
