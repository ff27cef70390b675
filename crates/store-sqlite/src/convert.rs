//! Encryption of a store that was written unencrypted.
//!
//! It runs before the hub serves anything, in steps that are each a transaction. An interrupted conversion resumes at the next start and
//! skips what is sealed. At the end the database file is rewritten, because free pages still hold old content. Copies that the disk itself
//! retains cannot be erased.

use interlingua_keys::{EncryptionAtRest, Place};
use interlingua_model::journal::Log;
use interlingua_model::ports::StoreFault;
use rusqlite::{Connection, ErrorCode, OptionalExtension, params};

use super::fault::Refused;

/// Values sealed by one transaction.
const STEP: i64 = 500;

/// Whether the database was ever to be sealed. One whose pages are damaged says so to whoever reads a value.
pub(super) fn is_marked(db: &Connection) -> rusqlite::Result<bool> {
    let mark = db.query_row("SELECT value FROM counters WHERE name = 'sealed'", [], |row| row.get::<_, i64>(0));
    match mark.optional() {
        Ok(mark) => Ok(mark.is_some()),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => Ok(false),
        Err(error) => Err(error),
    }
}

/// From now on it opens only with its key.
pub(super) fn mark(db: &Connection) -> rusqlite::Result<()> {
    db.execute("INSERT OR IGNORE INTO counters VALUES ('sealed', 1)", []).map(|_| ())
}

/// Seals every value that is not; returns how many.
pub(super) fn seal_all(db: &mut Connection, rest: &EncryptionAtRest) -> Result<u64, Refused> {
    let mut sealed = 0;
    for table in &LOGS {
        let mut after = (0, 0);
        while let Some((last, count)) = first_time(db, |db| step_of_logs(db, rest, table, after, Change::FIRST))? {
            after = last;
            sealed += count;
        }
    }
    let mut after = (String::new(), String::new());
    while let Some((last, count)) = first_time(db, |db| step_of_records(db, rest, &after, Change::FIRST))? {
        after = last;
        sealed += count;
    }
    db.execute_batch("VACUUM")?;
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(sealed)
}

fn first_time<T>(db: &mut Connection, step: impl Fn(&Connection) -> Result<T, Refused>) -> Result<T, Refused> {
    let change = db.transaction()?;
    let done = step(&change)?;
    change.commit()?;
    Ok(done)
}

/// As far as a hub comes that is killed early.
#[cfg(test)]
pub(super) fn first_step(db: &mut Connection, rest: &EncryptionAtRest) -> Result<u64, Refused> {
    Ok(first_time(db, |db| step_of_logs(db, rest, &LOGS[0], (0, 0), Change::FIRST))?.map_or(0, |(_, sealed)| sealed))
}

/// A table whose values belong to logs.
pub(super) struct Values {
    pub(super) table: &'static str,
    place: for<'a> fn(&'a Log, u64) -> Place<'a>,
}

pub(super) static LOGS: [Values; 2] = [
    Values { table: "journal", place: |log, seq| Place::Entry { log, seq } },
    Values { table: "snapshots", place: |log, seq| Place::Fold { log, seq } },
];

/// What is to be written instead; nothing when a value stays as it is.
type Changed = Result<Option<Vec<u8>>, StoreFault>;

/// What a step does with each value, and whether it begins with the place it is given or after it.
#[derive(Clone, Copy)]
pub(crate) struct Change {
    value: fn(&EncryptionAtRest, Place<'_>, &[u8]) -> Changed,
    bound: &'static str,
}

impl Change {
    /// What was never sealed is.
    const FIRST: Change = Change { value: EncryptionAtRest::sealed_first, bound: ">" };
    /// What an older key sealed is sealed by the newest.
    pub(super) const AGAIN: Change = Change { value: EncryptionAtRest::resealed, bound: ">=" };
}

/// The last place of a step and how many it changed; nothing when there was nothing left to look at.
type Step<P> = Option<(P, u64)>;

/// Number of the log, sequence, kind and id of the log, value.
type LogValue = (i64, i64, i64, Vec<u8>, Vec<u8>);

pub(super) fn step_of_logs(
    db: &Connection,
    rest: &EncryptionAtRest,
    of: &Values,
    from: (i64, i64),
    change: Change,
) -> Result<Step<(i64, i64)>, Refused> {
    let (table, bound) = (of.table, change.bound);
    let mut select = db.prepare(&format!(
        "SELECT values_.log, values_.seq, logs.kind, logs.id, values_.bytes
         FROM {table} AS values_ JOIN logs ON logs.no = values_.log
         WHERE (values_.log, values_.seq) {bound} (?1, ?2) ORDER BY values_.log, values_.seq LIMIT ?3"
    ))?;
    let mut update = db.prepare(&format!("UPDATE {table} SET bytes = ?3 WHERE log = ?1 AND seq = ?2"))?;
    let mut rows = select.query(params![from.0, from.1, STEP])?;
    let mut found: Vec<LogValue> = Vec::new();
    while let Some(row) = rows.next()? {
        found.push((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?));
    }
    drop(rows);
    let mut changed = 0;
    for (no, seq, kind, id, bytes) in &found {
        let log = Log::of_columns(*kind, id).ok_or_else(|| StoreFault::Damaged("a log of no known kind".into()))?;
        if let Some(sealed) = (change.value)(rest, (of.place)(&log, seq.unsigned_abs()), bytes)? {
            update.execute(params![no, seq, sealed])?;
            changed += 1;
        }
    }
    Ok(found.last().map(|(no, seq, ..)| ((*no, *seq), changed)))
}

pub(super) fn step_of_records(
    db: &Connection,
    rest: &EncryptionAtRest,
    from: &(String, String),
    change: Change,
) -> Result<Step<(String, String)>, Refused> {
    let bound = change.bound;
    let mut select = db.prepare(&format!(
        "SELECT kind, key, value FROM records WHERE (kind, key) {bound} (?1, ?2) ORDER BY kind, key LIMIT ?3"
    ))?;
    let mut update = db.prepare("UPDATE records SET value = ?3 WHERE kind = ?1 AND key = ?2")?;
    let rows = select.query_map(params![from.0, from.1, STEP], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let found = rows.collect::<Result<Vec<(String, String, Vec<u8>)>, _>>()?;
    let mut changed = 0;
    for (kind, key, value) in &found {
        if let Some(sealed) = (change.value)(rest, Place::Record { kind, key }, value)? {
            update.execute(params![kind, key, sealed])?;
            changed += 1;
        }
    }
    Ok(found.into_iter().last().map(|(kind, key, _)| ((kind, key), changed)))
}
