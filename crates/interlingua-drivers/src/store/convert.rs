//! Seals what a store holds that was written before it was to be encrypted.
//!
//! It happens before anything is served, in steps that are each a transaction; one that is stopped goes on at the next start,
//! where it passes over what is sealed. At the end the database is written anew, because pages that are free still hold what
//! was there. What the disk itself remembers is out of reach.

use interlingua_core::journal::Log;
use interlingua_core::ports::StoreFault;
use rusqlite::{Connection, ErrorCode, OptionalExtension, params};

use super::columns::log_of;
use super::fault::Refused;
use super::rest::{Place, Rest};

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
pub(super) fn seal_all(db: &mut Connection, rest: &Rest) -> Result<u64, Refused> {
    let mut sealed = 0;
    for (table, place) in [("journal", entry as PlaceOf), ("snapshots", fold as PlaceOf)] {
        let mut after = (0, 0);
        while let Some((last, count)) = step_of_logs(db, rest, table, place, after)? {
            after = last;
            sealed += count;
        }
    }
    let mut after = (String::new(), String::new());
    while let Some((last, count)) = step_of_records(db, rest, &after)? {
        after = last;
        sealed += count;
    }
    db.execute_batch("VACUUM")?;
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(sealed)
}

/// As far as a hub comes that is killed early.
#[cfg(test)]
pub(super) fn first_step(db: &mut Connection, rest: &Rest) -> Result<u64, Refused> {
    Ok(step_of_logs(db, rest, "journal", entry, (0, 0))?.map_or(0, |(_, sealed)| sealed))
}

type PlaceOf = for<'a> fn(&'a Log, u64) -> Place<'a>;

fn entry(log: &Log, seq: u64) -> Place<'_> {
    Place::Entry { log, seq }
}

fn fold(log: &Log, seq: u64) -> Place<'_> {
    Place::Fold { log, seq }
}

/// The last place of a step and how many it sealed; nothing when there was nothing left to look at.
type Step<P> = Option<(P, u64)>;

/// Number of the log, sequence, kind and id of the log, value.
type LogValue = (i64, i64, i64, Vec<u8>, Vec<u8>);

fn step_of_logs(
    db: &mut Connection,
    rest: &Rest,
    table: &str,
    place: PlaceOf,
    after: (i64, i64),
) -> Result<Step<(i64, i64)>, Refused> {
    let change = db.transaction()?;
    let mut select = change.prepare(&format!(
        "SELECT values_.log, values_.seq, logs.kind, logs.id, values_.bytes
         FROM {table} AS values_ JOIN logs ON logs.no = values_.log
         WHERE (values_.log, values_.seq) > (?1, ?2) ORDER BY values_.log, values_.seq LIMIT ?3"
    ))?;
    let mut update = change.prepare(&format!("UPDATE {table} SET bytes = ?3 WHERE log = ?1 AND seq = ?2"))?;
    let mut rows = select.query(params![after.0, after.1, STEP])?;
    let mut found: Vec<LogValue> = Vec::new();
    while let Some(row) = rows.next()? {
        found.push((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?));
    }
    drop(rows);
    let mut sealed = 0;
    for (no, seq, kind, id, bytes) in &found {
        let log = log_of(*kind, id).ok_or_else(|| StoreFault::Damaged("a log of no known kind".into()))?;
        let place = place(&log, seq.unsigned_abs());
        if !rest.is_sealed(place, bytes) {
            update.execute(params![no, seq, &rest.seal(place, bytes)?[..]])?;
            sealed += 1;
        }
    }
    drop((select, update));
    change.commit()?;
    Ok(found.last().map(|(no, seq, ..)| ((*no, *seq), sealed)))
}

fn step_of_records(
    db: &mut Connection,
    rest: &Rest,
    after: &(String, String),
) -> Result<Step<(String, String)>, Refused> {
    let change = db.transaction()?;
    let mut select = change
        .prepare("SELECT kind, key, value FROM records WHERE (kind, key) > (?1, ?2) ORDER BY kind, key LIMIT ?3")?;
    let mut update = change.prepare("UPDATE records SET value = ?3 WHERE kind = ?1 AND key = ?2")?;
    let rows = select.query_map(params![after.0, after.1, STEP], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let found = rows.collect::<Result<Vec<(String, String, Vec<u8>)>, _>>()?;
    let mut sealed = 0;
    for (kind, key, value) in &found {
        let place = Place::Record { kind, key };
        if !rest.is_sealed(place, value) {
            update.execute(params![kind, key, &rest.seal(place, value)?[..]])?;
            sealed += 1;
        }
    }
    drop((select, update));
    change.commit()?;
    Ok(found.into_iter().last().map(|(kind, key, _)| ((kind, key), sealed)))
}
