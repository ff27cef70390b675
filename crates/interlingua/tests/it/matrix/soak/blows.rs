//! Faults during the soak: a process is killed or hangs, and comes back.

use std::time::{Duration, Instant};

use interlingua_testkit::{Peer, Random, kill_by_id};

use super::super::callees::Device;
use super::super::stage::Stage;
use super::vitals::browsers;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Blow {
    /// All goes well, and everything has to.
    Nothing,
    /// A peer is killed, and started again.
    Killed(usize),
    /// A peer says nothing for a while, and goes on.
    Hung(usize),
    /// The device leaves, and joins again.
    Left,
    /// The hub's browser is killed.
    Browser,
    /// The hub is killed. It is started again when all its callers have noticed.
    Hub,
}

impl Blow {
    pub(super) fn title(self) -> &'static str {
        match self {
            Blow::Nothing => "nothing",
            Blow::Killed(_) => "peer killed, restarted",
            Blow::Hung(_) => "peer hung, woken",
            Blow::Left => "device left, joined",
            Blow::Browser => "browser killed",
            Blow::Hub => "hub killed with -9, restarted",
        }
    }
}

/// Peers that are programs of their own.
const PEERS: usize = 4;

/// The rounds of `make test`.
const SMALL: [Blow; 12] = [
    Blow::Nothing,
    Blow::Killed(1),
    Blow::Hub,
    Blow::Hung(0),
    Blow::Hub,
    Blow::Nothing,
    Blow::Killed(2),
    Blow::Left,
    Blow::Hung(3),
    Blow::Browser,
    Blow::Killed(0),
    Blow::Nothing,
];

/// Which blow comes when.
pub(super) struct Plan {
    begun: Instant,
    /// How long it goes on; the small one is counted in rounds.
    whole: Duration,
    rounds: usize,
    hubs: u32,
}

impl Plan {
    pub(super) fn new(whole: Duration) -> Plan {
        Plan { begun: Instant::now(), whole, rounds: 0, hubs: 0 }
    }

    /// How many calls a round has: when there is time, enough that somebody is always under way.
    pub(super) fn calls(&self) -> usize {
        if self.whole.is_zero() { 12 } else { 32 }
    }

    /// For long, the hub dies after a tenth and after a fifth of the time, so that what it leaks has time to show; the last
    /// round is one in which all must go well.
    pub(super) fn next(&mut self, random: &mut Random) -> Option<Blow> {
        let round = self.rounds;
        self.rounds += 1;
        if self.whole.is_zero() {
            return SMALL.get(round).copied();
        }
        let passed = self.begun.elapsed();
        if passed > self.whole {
            // Once more, and that was it.
            self.whole = Duration::ZERO;
            self.rounds = SMALL.len();
            return Some(Blow::Nothing);
        }
        if self.hubs < 2 && passed > self.whole * (self.hubs + 1) / 10 {
            self.hubs += 1;
            return Some(Blow::Hub);
        }
        let peer = usize::try_from(random.below(PEERS as u64)).expect("a small number");
        Some(match random.below(10) {
            0..=2 => Blow::Nothing,
            3..=5 => Blow::Killed(peer),
            6..=7 => Blow::Hung(peer),
            8 => Blow::Left,
            _ => Blow::Browser,
        })
    }
}

/// Strikes, and mends it after a pause; the hub excepted, whose callers are still to notice.
pub(super) async fn strike(blow: Blow, stage: &Stage, peers: &mut [Peer], devices: &mut Vec<Device>, pause: Duration) {
    match blow {
        Blow::Nothing => {}
        Blow::Killed(peer) => {
            peers[peer].process().kill_9();
            tokio::time::sleep(pause).await;
            peers[peer].restart().await;
        }
        Blow::Hung(peer) => {
            peers[peer].process().hang();
            tokio::time::sleep(pause).await;
            peers[peer].process().wake();
        }
        Blow::Left => {
            devices.clear();
            tokio::time::sleep(pause).await;
            *devices = stage.devices_anew().await;
        }
        Blow::Browser => browsers(stage.hub.id()).into_iter().take(1).for_each(kill_by_id),
        Blow::Hub => kill_by_id(stage.hub.id()),
    }
}
