//! The journal port: append, read, and the folds stored beside the records.

use bytes::Bytes;
use interlingua_keys::{EncryptionAtRest, Place};
use interlingua_model::digest::Digest;
use interlingua_model::id::{TaskId, Time, TopicId};
use interlingua_model::journal::Log;
use interlingua_model::ports::{
    Append, Appended, Changed, Expected, Journal, Pending, READ_BYTES, Removed, Retention, StoreFault, Stored,
    TaskFilter, TaskRow, Unique,
};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::columns::{Col, limit};
use super::fault::Refused;
use super::logs::{find, last_of, make, place};
use super::{Database, changed, held, retention, tasks};

impl Journal for Database {
    fn append(&self, append: Append) -> Pending<'_, Appended> {
        let rest = self.rest.clone();
        Box::pin(self.writer.submit(move |db| append_to(db, &rest, &append)))
    }

    fn read(&self, log: Log, after: u64, count: usize) -> Pending<'_, Vec<Stored>> {
        let rest = self.rest.clone();
        Box::pin(self.readers.read(move |db| records_after(db, &rest, &log, after, count)))
    }

    fn last(&self, log: Log) -> Pending<'_, u64> {
        Box::pin(self.readers.read(move |db| match find(db, &log)? {
            None => Ok(0),
            Some(no) => Ok(last_of(db, no)?),
        }))
    }

    fn snapshot(&self, log: Log, upto: u64, at: Time, fold: Bytes) -> Pending<'_, ()> {
        let rest = self.rest.clone();
        Box::pin(self.writer.submit(move |db| {
            let fold = rest.seal(Place::Fold { log: &log, seq: upto }, &fold)?;
            keep_fold(db, &log, upto, at, &fold)
        }))
    }

    fn latest(&self, log: Log) -> Pending<'_, Option<Stored>> {
        let rest = self.rest.clone();
        Box::pin(self.readers.read(move |db| latest_fold(db, &rest, &log)))
    }

    fn task(&self, task: TaskId) -> Pending<'_, Option<TaskRow>> {
        Box::pin(self.readers.read(move |db| tasks::one(db, task)))
    }

    fn tasks(&self, filter: TaskFilter) -> Pending<'_, Vec<TaskRow>> {
        Box::pin(self.readers.read(move |db| tasks::list(db, &filter)))
    }

    fn changed(&self, filter: Changed) -> Pending<'_, Vec<TaskRow>> {
        Box::pin(self.readers.read(move |db| changed::list(db, &filter)))
    }

    fn count(&self, filter: Changed) -> Pending<'_, u64> {
        Box::pin(self.readers.read(move |db| changed::count(db, &filter)))
    }

    fn unique(&self, key: Digest, now: Time) -> Pending<'_, Option<(TaskId, Digest)>> {
        Box::pin(self.readers.read(move |db| holder(db, key, now)))
    }

    fn retain(&self, rules: Retention, now: Time) -> Pending<'_, Removed> {
        Box::pin(retention::retain(self, rules, now))
    }

    fn forget(&self, task: TaskId) -> Pending<'_, bool> {
        Box::pin(retention::forget(self, task))
    }

    fn clear(&self, topic: TopicId) -> Pending<'_, ()> {
        Box::pin(self.writer.submit(move |db| retention::clear(db, &Log::Topic(topic.clone()))))
    }

    fn redact(&self, log: Log, seq: u64, bytes: Bytes) -> Pending<'_, bool> {
        let rest = self.rest.clone();
        Box::pin(self.writer.submit(move |db| replace(db, &rest, &log, seq, &bytes)))
    }

    fn forget_owner(&self, owner: &str) -> Pending<'_, u64> {
        Box::pin(retention::forget_owner(self, owner.to_owned()))
    }
}

fn replace(db: &Connection, rest: &EncryptionAtRest, log: &Log, seq: u64, bytes: &[u8]) -> Result<bool, Refused> {
    let Some(no) = find(db, log)? else { return Ok(false) };
    let bytes = rest.seal(Place::Entry { log, seq }, bytes)?;
    let mut update = db.prepare_cached("UPDATE journal SET bytes = ?3 WHERE log = ?1 AND seq = ?2")?;
    Ok(update.execute(params![no, Col(seq), &bytes[..]])? > 0)
}

fn append_to(db: &Connection, rest: &EncryptionAtRest, append: &Append) -> Result<Appended, Refused> {
    if let Some(unique) = append.unique
        && let Some(exists) = claim(db, &append.log, unique, append.at)?
    {
        return Ok(exists);
    }
    let brought: usize = append.records.iter().map(Bytes::len).sum();
    let place = place(db, &append.log)?;
    held::make_room(db, append, place.map(|(no, _)| no), (brought as u64).saturating_add(append.beside))?;
    let (no, mut last) = match place {
        Some(place) => place,
        None => (make(db, &append.log)?, 0),
    };
    match append.expected {
        Expected::Any => {}
        Expected::At(expected) if expected == last => {}
        Expected::At(expected) => return Err(StoreFault::Moved { expected, found: last }.into()),
    }
    let owner = append.share.as_ref().map(|share| &share.owner);
    let mut insert =
        db.prepare_cached("INSERT INTO journal (log, seq, at, bytes, owner) VALUES (?1, ?2, ?3, ?4, ?5)")?;
    let mut grown = 0;
    for record in &append.records {
        last += 1;
        let bytes = rest.seal(Place::Entry { log: &append.log, seq: last }, record)?;
        insert.execute(params![no, Col(last), Col(append.at), &bytes[..], owner])?;
        grown += bytes.len();
    }
    count(db, no, append, i64::try_from(grown).unwrap_or(i64::MAX))?;
    if append.beside > 0
        && let Some(row) = &append.row
    {
        tasks::keeps_beside(db, row.task, append.beside)?;
    }
    Ok(Appended::At(last))
}

/// Writes the task's row, and what its journals or this log grew by.
fn count(db: &Connection, no: i64, append: &Append, grown: i64) -> Result<(), Refused> {
    match (&append.row, &append.log) {
        (Some(row), log) => {
            let own = *log == Log::Task(row.task);
            tasks::put(db, if own { no } else { find_or_make(db, &Log::Task(row.task))? }, row, grown)?;
        }
        (None, Log::Task(task) | Log::Run(task)) => tasks::grow(db, *task, grown)?,
        (None, Log::Topic(_) | Log::Audit) => {
            let mut update = db.prepare_cached("UPDATE logs SET bytes = bytes + ?2 WHERE no = ?1")?;
            update.execute([no, grown])?;
        }
    }
    Ok(())
}

/// Takes the key for this log, unless another holds it. The savepoint takes it back when the append is refused.
fn claim(db: &Connection, log: &Log, unique: Unique, now: Time) -> Result<Option<Appended>, Refused> {
    let (Log::Task(own) | Log::Run(own)) = log else {
        return Err(StoreFault::Broken("a key is held by a task, not by a topic or the audit".into()).into());
    };
    if let Some((task, body)) = holder(db, unique.key, now)?
        && task != *own
    {
        return Ok(Some(Appended::Exists { task, body }));
    }
    db.prepare_cached("INSERT OR REPLACE INTO keys (key, task, body, until) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![Col(unique.key), Col(*own), Col(unique.body), Col(unique.until)])?;
    Ok(None)
}

fn holder(db: &Connection, key: Digest, now: Time) -> Result<Option<(TaskId, Digest)>, Refused> {
    let found = db
        .prepare_cached("SELECT task, body FROM keys WHERE key = ?1 AND until > ?2")?
        .query_row(params![Col(key), Col(now)], |row| Ok((row.get::<_, Col<_>>(0)?.0, row.get::<_, Col<_>>(1)?.0)))
        .optional()?;
    Ok(found)
}

fn find_or_make(db: &Connection, log: &Log) -> rusqlite::Result<i64> {
    match find(db, log)? {
        Some(no) => Ok(no),
        None => make(db, log),
    }
}

fn records_after(
    db: &Connection,
    rest: &EncryptionAtRest,
    log: &Log,
    after: u64,
    count: usize,
) -> Result<Vec<Stored>, Refused> {
    let Some(no) = find(db, log)? else { return Ok(Vec::new()) };
    let mut select =
        db.prepare_cached("SELECT seq, at, bytes FROM journal WHERE log = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3")?;
    let rows = select.query_map(params![no, Col(after), limit(count)], written)?;
    let (mut page, mut bytes) = (Vec::new(), 0);
    for row in rows {
        let stored = opened(rest, |seq| Place::Entry { log, seq }, row?)?;
        bytes += stored.bytes.len();
        page.push(stored);
        if bytes >= READ_BYTES {
            break;
        }
    }
    Ok(page)
}

/// Sequence, time, and bytes that are perhaps sealed.
type Written = (u64, Time, Vec<u8>);

fn written(row: &Row<'_>) -> rusqlite::Result<Written> {
    Ok((row.get::<_, Col<u64>>(0)?.0, row.get::<_, Col<Time>>(1)?.0, row.get(2)?))
}

fn opened<'a>(
    rest: &EncryptionAtRest,
    place: impl Fn(u64) -> Place<'a>,
    (seq, at, bytes): Written,
) -> Result<Stored, Refused> {
    Ok(Stored { seq, at, bytes: rest.open(place(seq), bytes)? })
}

fn keep_fold(db: &Connection, log: &Log, upto: u64, at: Time, fold: &[u8]) -> Result<(), Refused> {
    let no = find(db, log)?.ok_or_else(|| StoreFault::Missing("the log of this fold".into()))?;
    let last = last_of(db, no)?;
    if upto > last {
        return Err(StoreFault::Moved { expected: upto, found: last }.into());
    }
    // A fold that took longer to make must not replace a newer one.
    db.prepare_cached(
        "INSERT INTO snapshots (log, seq, at, bytes) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (log) DO UPDATE
         SET seq = excluded.seq, at = excluded.at, bytes = excluded.bytes WHERE excluded.seq > snapshots.seq",
    )?
    .execute(params![no, Col(upto), Col(at), fold])?;
    Ok(())
}

fn latest_fold(db: &Connection, rest: &EncryptionAtRest, log: &Log) -> Result<Option<Stored>, Refused> {
    let Some(no) = find(db, log)? else { return Ok(None) };
    let mut select = db.prepare_cached("SELECT seq, at, bytes FROM snapshots WHERE log = ?1")?;
    let found = select.query_row([no], written).optional()?;
    found.map(|row| opened(rest, |seq| Place::Fold { log, seq }, row)).transpose()
}
