//! The table of logs: which number a log has, and how far it goes.

use interlingua_model::Log;
use rusqlite::{Connection, OptionalExtension, params};

use super::columns::Col;

/// The number of a log that exists.
pub(super) fn find(db: &Connection, log: &Log) -> rusqlite::Result<Option<i64>> {
    let (kind, id) = log.columns();
    db.prepare_cached("SELECT no FROM logs WHERE kind = ?1 AND id = ?2")?
        .query_row(params![kind, id], |row| row.get(0))
        .optional()
}

/// The number of a log that exists, and the last sequence ever given in it.
pub(super) fn place(db: &Connection, log: &Log) -> rusqlite::Result<Option<(i64, u64)>> {
    let (kind, id) = log.columns();
    db.prepare_cached(
        "SELECT no, max(floor, coalesce((SELECT max(seq) FROM journal WHERE log = no), 0)) FROM logs
         WHERE kind = ?1 AND id = ?2",
    )?
    .query_row(params![kind, id], |row| Ok((row.get(0)?, row.get::<_, Col<u64>>(1)?.0)))
    .optional()
}

pub(super) fn make(db: &Connection, log: &Log) -> rusqlite::Result<i64> {
    let (kind, id) = log.columns();
    db.prepare_cached("INSERT INTO logs (kind, id) VALUES (?1, ?2)")?.insert(params![kind, id])
}

/// The last sequence ever given: that of the newest record, or where retention stopped when it removed them all.
pub(super) fn last_of(db: &Connection, no: i64) -> rusqlite::Result<u64> {
    db.prepare_cached(
        "SELECT max(floor, coalesce((SELECT max(seq) FROM journal WHERE log = ?1), 0)) FROM logs WHERE no = ?1",
    )?
    .query_row([no], |row| row.get::<_, Col<u64>>(0))
    .map(|last| last.0)
}
