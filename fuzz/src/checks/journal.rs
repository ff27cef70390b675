//! Invariants of a store's records for any bytes: a record survives a round trip, and the fold of any journal ends and can be queried.

use interlingua_machines::task::{self, Happening, Task};
use interlingua_machines::{agent, bus, graph, team};
use interlingua_model::journal::{Entry, Record, from_bytes, to_bytes};
use interlingua_model::{TaskId, Time};
use serde::{Deserialize, Serialize};

/// One record a line, each with the version of its schema before it.
pub(crate) fn records(data: &[u8]) {
    let lines = || data.split(|byte| *byte == b'\n').take(64);
    let tasks: Vec<Entry> = entries(lines().filter_map(read::<Record>));
    if let Ok(task) = task::fold(TaskId(1), tasks) {
        asked(&task);
        let snapshot = serde_json::to_vec(&task).expect("a task can be written");
        let again: Task = serde_json::from_slice(&snapshot).expect("what was written can be read");
        assert_eq!(again, task);
    }
    let _ = agent::fold(entries(lines().filter_map(read::<agent::Record>)));
    let _ = team::fold(entries(lines().filter_map(read::<team::Record>)));
    let _ = graph::fold(TaskId(1), entries(lines().filter_map(read::<graph::Record>)));
    let mut inbox = bus::Inbox::default();
    for (seq, record) in (1..).zip(lines().filter_map(read::<bus::inbox::Record>)) {
        inbox.apply(seq, record);
    }
    assert!(inbox.len() <= bus::inbox::MAX_WAITING);
    let remembered = interlingua_agents::fuzzing::memory(data);
    assert!(!remembered || std::str::from_utf8(data).is_ok(), "what is remembered is JSON");
}

/// The stored minute of all devices.
pub(crate) fn device_minute(data: &[u8]) {
    interlingua_hub::fuzzing::device_minute(data);
}

fn read<R: Serialize + for<'de> Deserialize<'de> + PartialEq + std::fmt::Debug>(line: &[u8]) -> Option<R> {
    let record: R = from_bytes(line).ok()?;
    let written = to_bytes(&record).expect("a record can be written");
    let again: R = from_bytes(&written).expect("what was written can be read");
    assert_eq!(again, record);
    Some(record)
}

fn entries<R>(records: impl Iterator<Item = R>) -> Vec<Entry<R>> {
    (1..).zip(records).map(|(seq, record)| Entry { seq, at: Time(seq), record }).collect()
}

/// What a hub asks of every task that it finds when it starts.
fn asked(task: &Task) {
    let _ = (task.held(), task.phase(), task.next_timer(), task.is_only_dispatched());
    for what in [Happening::Restarted, Happening::DeadlineReached, Happening::CallerGone, Happening::PeerLost] {
        let Ok(decision) = task.decide(what, Time(u64::MAX)) else { continue };
        let mut after = task.clone();
        for record in &decision.records {
            after.apply(record, Time(u64::MAX));
        }
    }
}
