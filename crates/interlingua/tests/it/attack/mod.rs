//! Attacks on the hub that once worked.

mod disk;
