//! A device and a constellation at the server: their connections, frames in transit, and connections that break at any point.
//!
//! All three ends are the real machines. A frame is delivered at any time, in the order of its connection; a connection may break for one
//! end before the other notices, which causes half-open connections, claims to an id and takeovers; timers fire at any moment. The device
//! may restart and forget everything.
//!
//! Invariants: a COMMAND is run at most once; an order is answered at most once; the hub is informed of a task once and, unless it ended it
//! itself, once of its end; the constellation receives exactly one outcome of every task; nothing is sent on a closed connection; a
//! registered connection has the id it claimed, and an id has one connection at a time; once no event is possible any more, no session,
//! claim or timer is left.

mod world;

use interlingua_aip::link::Tongue;

use super::explore::explore;
use world::{Bound, World};

const PLAIN: Tongue = Tongue::Plain;
const PROFILE: Tongue = Tongue::Profile;

/// One task of one COMMAND; each client may come twice.
const SMALL: Bound = Bound { tasks: 1, orders: 1, dials: 2, breaks: 0, reboots: 0, withdrawals: 0 };

/// All states are looked at, and there are at least so many: a model in which little can happen proves little.
fn holds(device: Tongue, constellation: Tongue, bound: Bound, least: usize) {
    let explored = explore(World::new(device, constellation, bound));
    assert!(explored.states >= least && explored.ends > 0, "{explored:?}");
}

#[test]
fn p_26_p_28_p_32_p_33_a_line_that_breaks_anywhere_loses_no_task_and_runs_none_twice() {
    holds(PLAIN, PLAIN, Bound { breaks: 1, ..SMALL }, 1_000);
}

#[test]
fn p_62_a_session_that_is_taken_up_again_loses_no_task_and_runs_none_twice() {
    holds(PROFILE, PROFILE, Bound { breaks: 1, ..SMALL }, 3_000);
}

#[test]
fn p_62_only_one_side_can_take_a_session_up_again() {
    holds(PROFILE, PLAIN, Bound { breaks: 1, ..SMALL }, 1_000);
    holds(PLAIN, PROFILE, Bound { breaks: 1, ..SMALL }, 1_000);
}

#[test]
fn p_42_p_62_a_device_that_starts_anew_repeats_nothing_of_what_it_has_forgotten() {
    holds(PROFILE, PROFILE, Bound { reboots: 1, ..SMALL }, 1_000);
    holds(PLAIN, PLAIN, Bound { reboots: 1, ..SMALL }, 500);
    holds(PROFILE, PLAIN, Bound { reboots: 1, breaks: 1, ..SMALL }, 20_000);
}

#[test]
fn p_62_a_task_that_is_no_longer_wanted_ends_whenever_that_is_said() {
    holds(PROFILE, PROFILE, Bound { orders: 0, breaks: 1, withdrawals: 1, ..SMALL }, 1_000);
}

#[test]
fn p_23_p_43_two_tasks_at_once_do_not_get_in_each_others_way() {
    holds(PLAIN, PLAIN, Bound { tasks: 2, dials: 1, ..SMALL }, 500);
}
