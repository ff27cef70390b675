//! Retention: what is removed, and when. Nothing here decides a rule: ages and counts are given.
//!
//! Removal runs in small steps, each a request of its own to the writer, so that appends run in between. A task that is not done is never
//! removed by age or count. The sequence of a trimmed log continues where it was: a cursor held by a reader stays valid.

use std::time::Duration;

use interlingua_model::id::{TaskId, Time, TopicId};
use interlingua_model::journal::Log;
use interlingua_model::ports::{Removed, Retention, StoreFault};
use rusqlite::{Connection, params};

use super::Database;
use super::columns::{Col, TOPIC, integer};
use super::fault::Refused;
use super::logs::{find, last_of};

/// Tasks, keys, records or journal lines removed by one request to the writer.
const STEP: i64 = 500;
/// Free pages given back to the file system by one retention run.
const PAGES: u32 = 4096;

pub(super) async fn retain(database: &Database, rules: Retention, now: Time) -> Result<Removed, StoreFault> {
    let tasks = finished(database, rules, now).await?;
    let audit = trim(database, Log::Audit, before(now, rules.audit), rules.audit_count, rules.audit_bytes).await?;
    let mut topics = 0;
    for topic in database.readers.read(topics_held).await? {
        topics += trim(database, Log::Topic(topic), before(now, rules.topics), rules.topics_count, u64::MAX).await?;
    }
    let keys = until_none(database, move |db| expired_keys(db, now)).await?;
    database.writer.submit(give_back).await?;
    Ok(Removed { tasks, audit, topics, keys })
}

fn before(now: Time, age: Duration) -> Time {
    Time(now.0.saturating_sub(u64::try_from(age.as_millis()).unwrap_or(u64::MAX)))
}

/// Repeats a step until it finds less than it could have taken.
pub(super) async fn until_none<F>(database: &Database, step: F) -> Result<u64, StoreFault>
where
    F: FnMut(&Connection) -> Result<u64, Refused> + Clone + Send + 'static,
{
    let mut removed = 0;
    loop {
        let taken = database.writer.submit(step.clone()).await?;
        removed += taken;
        if taken == 0 {
            return Ok(removed);
        }
    }
}

/// Those done before the cutoff, then the oldest above the count.
async fn finished(database: &Database, rules: Retention, now: Time) -> Result<u64, StoreFault> {
    let cutoff = before(now, rules.tasks);
    let by_age = until_none(database, move |db| oldest_finished(db, cutoff, STEP)).await?;
    let held = database.readers.read(count_finished).await?;
    let mut surplus = held.saturating_sub(integer(rules.tasks_count));
    let mut by_count = 0;
    while surplus > 0 {
        let step = surplus.min(STEP);
        let taken = database.writer.submit(move |db| oldest_finished(db, Time(u64::MAX), step)).await?;
        if taken == 0 {
            break;
        }
        by_count += taken;
        surplus -= step;
    }
    Ok(by_age + by_count)
}

fn count_finished(db: &Connection) -> Result<i64, Refused> {
    let sql = "SELECT count(*) FROM tasks INDEXED BY tasks_done WHERE state >= 3";
    Ok(db.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
}

fn oldest_finished(db: &Connection, cutoff: Time, step: i64) -> Result<u64, Refused> {
    let mut select = db.prepare_cached(
        "SELECT task FROM tasks INDEXED BY tasks_done WHERE state >= 3 AND updated < ?1 ORDER BY updated LIMIT ?2",
    )?;
    let tasks = ids(&mut select, params![Col(cutoff), step])?;
    tasks.iter().try_for_each(|task| remove(db, *task))?;
    Ok(tasks.len() as u64)
}

pub(super) async fn forget(database: &Database, task: TaskId) -> Result<bool, StoreFault> {
    database.writer.submit(move |db| forget_family(db, task)).await
}

/// The task and the tasks it started, and theirs.
fn forget_family(db: &Connection, task: TaskId) -> Result<bool, Refused> {
    let held = find(db, &Log::Task(task))?.is_some() || find(db, &Log::Run(task))?.is_some();
    let mut select = db.prepare_cached(
        "WITH RECURSIVE family (task) AS (
             VALUES (?1) UNION SELECT tasks.task FROM tasks JOIN family ON tasks.parent = family.task)
         SELECT task FROM family",
    )?;
    let family = ids(&mut select, [Col(task)])?;
    family.iter().try_for_each(|task| remove(db, *task))?;
    Ok(held)
}

pub(super) async fn forget_owner(database: &Database, owner: String) -> Result<u64, StoreFault> {
    until_none(database, move |db| {
        let mut select =
            db.prepare_cached("SELECT task FROM tasks INDEXED BY tasks_by_owner WHERE owner = ?1 LIMIT ?2")?;
        let tasks = ids(&mut select, params![owner, STEP])?;
        tasks.iter().try_for_each(|task| remove(db, *task))?;
        Ok(tasks.len() as u64)
    })
    .await
}

pub(super) fn ids(
    select: &mut rusqlite::Statement<'_>,
    values: impl rusqlite::Params,
) -> rusqlite::Result<Vec<TaskId>> {
    select.query_map(values, |row| row.get::<_, Col<TaskId>>(0).map(|task| task.0))?.collect()
}

/// A task's two logs, their folds, its keys and its row.
pub(super) fn remove(db: &Connection, task: TaskId) -> Result<(), Refused> {
    for log in [Log::Task(task), Log::Run(task)] {
        let Some(no) = find(db, &log)? else { continue };
        db.prepare_cached("DELETE FROM journal WHERE log = ?1")?.execute([no])?;
        db.prepare_cached("DELETE FROM snapshots WHERE log = ?1")?.execute([no])?;
        db.prepare_cached("DELETE FROM tasks WHERE no = ?1")?.execute([no])?;
        db.prepare_cached("DELETE FROM logs WHERE no = ?1")?.execute([no])?;
    }
    db.prepare_cached("DELETE FROM keys WHERE task = ?1")?.execute([Col(task)])?;
    Ok(())
}

/// Removes the oldest records of a log: those from before the cutoff, those above the count, and those above the bytes.
async fn trim(database: &Database, log: Log, cutoff: Time, count: u64, bytes: u64) -> Result<u64, StoreFault> {
    until_none(database, move |db| trim_step(db, &log, cutoff, count, bytes)).await
}

fn trim_step(db: &Connection, log: &Log, cutoff: Time, count: u64, bytes: u64) -> Result<u64, Refused> {
    let Some(no) = find(db, log)? else { return Ok(0) };
    let above_count = last_of(db, no)?.saturating_sub(count);
    let held: i64 = db.prepare_cached("SELECT bytes FROM logs WHERE no = ?1")?.query_row([no], |row| row.get(0))?;
    let above_bytes = held.saturating_sub(integer(bytes));
    let mut select =
        db.prepare_cached("SELECT seq, at, length(bytes) FROM journal WHERE log = ?1 ORDER BY seq LIMIT ?2")?;
    let oldest = select
        .query_map([no, STEP], |row| {
            Ok((row.get::<_, Col<u64>>(0)?.0, row.get::<_, Col<Time>>(1)?.0, row.get::<_, i64>(2)?))
        })?
        .collect::<Result<Vec<_>, _>>()?;
    // The first record that stays ends the removal: a log has no holes.
    let (mut upto, mut freed) = (None, 0_i64);
    for (seq, at, length) in oldest {
        if seq > above_count && at >= cutoff && freed >= above_bytes {
            break;
        }
        (upto, freed) = (Some(integer(seq)), freed.saturating_add(length));
    }
    let Some(upto) = upto else { return Ok(0) };
    let removed = db.prepare_cached("DELETE FROM journal WHERE log = ?1 AND seq <= ?2")?.execute([no, upto])?;
    let mut update = db.prepare_cached("UPDATE logs SET floor = ?2, bytes = max(0, bytes - ?3) WHERE no = ?1")?;
    update.execute([no, upto, freed])?;
    Ok(removed as u64)
}

/// All records of a log, and its fold.
pub(super) fn clear(db: &Connection, log: &Log) -> Result<(), Refused> {
    let Some(no) = find(db, log)? else { return Ok(()) };
    let last = integer(last_of(db, no)?);
    db.prepare_cached("DELETE FROM journal WHERE log = ?1")?.execute([no])?;
    db.prepare_cached("DELETE FROM snapshots WHERE log = ?1")?.execute([no])?;
    db.prepare_cached("UPDATE logs SET floor = ?2, bytes = 0 WHERE no = ?1")?.execute([no, last])?;
    Ok(())
}

fn topics_held(db: &Connection) -> Result<Vec<TopicId>, Refused> {
    let mut select = db.prepare_cached("SELECT id FROM logs WHERE kind = ?1")?;
    let names = select.query_map([TOPIC], |row| row.get::<_, Vec<u8>>(0))?.collect::<Result<Vec<_>, _>>()?;
    Ok(names.into_iter().filter_map(|name| String::from_utf8(name).ok()).map(Into::into).collect())
}

fn expired_keys(db: &Connection, now: Time) -> Result<u64, Refused> {
    let removed = db
        .prepare_cached(
            "DELETE FROM keys WHERE key IN
                 (SELECT key FROM keys INDEXED BY keys_by_until WHERE until <= ?1 LIMIT ?2)",
        )?
        .execute(params![Col(now), STEP])?;
    Ok(removed as u64)
}

fn give_back(db: &Connection) -> Result<(), Refused> {
    let mut vacuum = db.prepare(&format!("PRAGMA incremental_vacuum({PAGES})"))?;
    let mut rows = vacuum.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}

/// Records past their time, of every kind; an index on (kind, expires) serves each kind in turn.
pub(super) async fn expire(database: &Database, now: Time) -> Result<u64, StoreFault> {
    until_none(database, move |db| {
        let removed = db
            .prepare_cached(
                "WITH RECURSIVE kinds (kind) AS (
                     SELECT min(kind) FROM records UNION ALL
                     SELECT (SELECT min(kind) FROM records WHERE records.kind > kinds.kind)
                     FROM kinds WHERE kinds.kind IS NOT NULL)
                 DELETE FROM records WHERE (kind, key) IN (
                     SELECT records.kind, records.key FROM kinds JOIN records INDEXED BY records_by_expiry
                     ON records.kind = kinds.kind AND records.expires <= ?1 LIMIT ?2)",
            )?
            .execute(params![Col(now), STEP])?;
        Ok(removed as u64)
    })
    .await
}
