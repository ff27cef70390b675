//! Attacks on a running hub: each test is named after what an attacker does, and fails if it works.

mod inherit;
