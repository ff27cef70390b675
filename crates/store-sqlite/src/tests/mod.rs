//! The embedded store against the ports' contract, and under load, on full and damaged disks, and after power cuts.

mod contract;
mod embedded;
mod held;
mod million;
mod powercut;
mod sealed;

use std::path::Path;

use bytes::Bytes;
use interlingua_model::digest::Digest;
use interlingua_model::id::{TaskId, Time};
use interlingua_model::journal::Log;
use interlingua_model::ports::{Append, Expected, TaskPhase, TaskRow, Unique};

use super::{Embedded, Options};
use interlingua_keys::Wrapping;

fn open(dir: &Path) -> Embedded {
    Embedded::open(dir, Options::default()).unwrap()
}

/// The outer key of the encrypted stores here.
const OUTER: &str = "0909090909090909090909090909090909090909090909090909090909090909";

fn open_sealed(dir: &Path) -> Embedded {
    Embedded::open_sealed(dir, Options::default(), &Wrapping::from_text(OUTER).unwrap()).unwrap().0
}

/// An append of these records at `expected`, at time 1000.
fn append(log: Log, expected: u64, records: &[&str]) -> Append {
    let records = records.iter().map(|text| Bytes::copy_from_slice(text.as_bytes())).collect();
    Append {
        log,
        expected: Expected::At(expected),
        at: Time(1000),
        records,
        unique: None,
        row: None,
        most: None,
        beside: 0,
        share: None,
    }
}

fn unique(key: &str, body: &str, until: u64) -> Unique {
    Unique { key: Digest::of(key.as_bytes()), body: Digest::of(body.as_bytes()), until: Time(until) }
}

fn row(task: u128, owner: &str, state: TaskPhase, created: u64) -> TaskRow {
    TaskRow {
        task: TaskId(task),
        owner: owner.into(),
        conversation: None,
        parent: None,
        skill: None,
        state,
        created: Time(created),
        updated: Time(created),
    }
}

/// The first append of a task, with its row.
fn accepted(row: TaskRow) -> Append {
    Append { at: row.created, row: Some(row.clone()), ..append(Log::Task(row.task), 0, &["accepted"]) }
}
