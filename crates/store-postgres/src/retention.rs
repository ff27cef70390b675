//! Retention: what is removed, and when. Nothing here decides a rule: ages and counts are given.
//!
//! Removal goes in small steps, each a request of its own to a lane, so that appends get in between. A task that is not done is
//! never removed by age or count. The sequence of a trimmed log goes on from where it was.

use std::time::Duration;

use futures_util::future::BoxFuture;
use interlingua_model::id::{TaskId, Time, TopicId};
use interlingua_model::journal::Log;
use interlingua_model::ports::{Removed, Retention, StoreFault};

use super::Database;
use super::columns::{self, TOPIC, first_number, id, integer, number, task_ids};
use super::connection::Session;
use super::fault::Refused;

/// Tasks, keys, records or journal lines removed by one request.
const STEP: i64 = 500;

pub(super) async fn retain(database: &Database, rules: Retention, now: Time) -> Result<Removed, StoreFault> {
    let tasks = finished(database, rules, now).await?;
    let audit = trim(database, Log::Audit, before(now, rules.audit), rules.audit_count, rules.audit_bytes).await?;
    let mut topics = 0;
    for topic in topics_held(database).await? {
        topics += trim(database, Log::Topic(topic), before(now, rules.topics), rules.topics_count, u64::MAX).await?;
    }
    let keys = until_none(database, move |session| Box::pin(expired_keys(session, now))).await?;
    until_none(database, |session| Box::pin(empty_counts(session))).await?;
    Ok(Removed { tasks, audit, topics, keys })
}

fn before(now: Time, age: Duration) -> Time {
    Time(now.0.saturating_sub(u64::try_from(age.as_millis()).unwrap_or(u64::MAX)))
}

/// Repeats a step until it finds nothing.
async fn until_none<F>(database: &Database, step: F) -> Result<u64, StoreFault>
where
    F: for<'a> FnMut(&'a Session) -> BoxFuture<'a, Result<u64, Refused>> + Clone + Send + 'static,
{
    let mut removed = 0;
    loop {
        let taken = database.write(0, step.clone()).await?;
        removed += taken;
        if taken == 0 {
            return Ok(removed);
        }
    }
}

/// Those done before the cutoff, then the oldest above the count.
async fn finished(database: &Database, rules: Retention, now: Time) -> Result<u64, StoreFault> {
    let cutoff = before(now, rules.tasks);
    let by_age = until_none(database, move |session| Box::pin(oldest_finished(session, cutoff, STEP))).await?;
    let held = database
        .readers
        .read(|session| {
            Box::pin(async move {
                let rows = session.query("SELECT count(*) FROM tasks WHERE state >= 3", &[]).await?;
                first_number(&rows)
            })
        })
        .await?;
    let mut surplus = held.saturating_sub(integer(rules.tasks_count));
    let mut by_count = 0;
    while surplus > 0 {
        let step = surplus.min(STEP);
        let taken = database.write(0, move |session| Box::pin(oldest_finished(session, Time(u64::MAX), step))).await?;
        if taken == 0 {
            break;
        }
        by_count += taken;
        surplus -= step;
    }
    Ok(by_age + by_count)
}

async fn oldest_finished(session: &Session, cutoff: Time, step: i64) -> Result<u64, Refused> {
    let select = "SELECT task FROM tasks WHERE state >= 3 AND ended < $1 ORDER BY ended, task LIMIT $2
         FOR UPDATE SKIP LOCKED";
    let rows = session.query(select, &[&integer(cutoff.0), &step]).await?;
    let tasks = task_ids(&rows)?;
    remove(session, &tasks).await?;
    Ok(tasks.len() as u64)
}

/// The task and the tasks it started, and theirs.
pub(super) async fn forget(session: &Session, task: TaskId) -> Result<bool, Refused> {
    let held = "SELECT 1 FROM logs WHERE kind IN (0, 1) AND id = $1";
    let held = !session.query(held, &[&id(task)]).await?.is_empty();
    let select = "WITH RECURSIVE family (task) AS (
             SELECT $1::bytea UNION SELECT tasks.task FROM tasks JOIN family ON tasks.parent = family.task)
         SELECT task FROM family";
    let rows = session.query(select, &[&id(task)]).await?;
    let family = task_ids(&rows)?;
    remove(session, &family).await?;
    Ok(held)
}

pub(super) async fn forget_owner(database: &Database, owner: String) -> Result<u64, StoreFault> {
    until_none(database, move |session| {
        let owner = owner.clone();
        Box::pin(async move {
            let rows = session.query("SELECT task FROM tasks WHERE owner = $1 LIMIT $2", &[&owner, &STEP]).await?;
            let tasks = task_ids(&rows)?;
            remove(session, &tasks).await?;
            Ok(tasks.len() as u64)
        })
    })
    .await
}

/// The logs of these tasks, their folds, keys and rows, and what their owners are counted for them.
pub(super) async fn remove(session: &Session, tasks: &[TaskId]) -> Result<(), Refused> {
    let ids: Vec<Vec<u8>> = tasks.iter().map(|task| id(*task)).collect();
    let sql = "WITH gone AS (DELETE FROM logs WHERE kind IN (0, 1) AND id = ANY($1) RETURNING no, id, bytes + beside AS bytes),
         entries AS (DELETE FROM journal WHERE log IN (SELECT no FROM gone)),
         folds AS (DELETE FROM snapshots WHERE log IN (SELECT no FROM gone)),
         names AS (DELETE FROM keys WHERE task = ANY($1)),
         lines AS (DELETE FROM tasks WHERE task = ANY($1) RETURNING task, owner),
         sums AS (
             SELECT 'tasks' AS of, owner, count(*) AS less FROM lines GROUP BY owner UNION ALL
             SELECT 'bytes', lines.owner, sum(gone.bytes)::int8 FROM lines JOIN gone ON gone.id = lines.task
             GROUP BY lines.owner)
         UPDATE held SET count = greatest(0, held.count - sums.less) FROM sums
         WHERE held.of = sums.of AND held.owner = sums.owner";
    session.execute(sql, &[&ids]).await?;
    Ok(())
}

/// Removes the oldest records of a log: those from before the cutoff, those above the count, and those above the bytes.
async fn trim(database: &Database, log: Log, cutoff: Time, count: u64, bytes: u64) -> Result<u64, StoreFault> {
    until_none(database, move |session| {
        let log = log.clone();
        Box::pin(async move { trim_step(session, &log, cutoff, count, bytes).await })
    })
    .await
}

async fn trim_step(session: &Session, log: &Log, cutoff: Time, count: u64, bytes: u64) -> Result<u64, Refused> {
    let (kind, key) = columns::log(log);
    let find = "SELECT no, head, bytes FROM logs WHERE kind = $1 AND id = $2 FOR UPDATE";
    let rows = session.query(find, &[&kind, &key]).await?;
    let Some(row) = rows.first() else { return Ok(0) };
    let (no, head, held): (i64, i64, i64) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
    let above_count = number(head).saturating_sub(count);
    let above_bytes = held.saturating_sub(integer(bytes));
    let select = "SELECT seq, at, length(bytes)::int8 FROM journal WHERE log = $1 ORDER BY seq LIMIT $2";
    // The first record that stays ends the removal: a log has no holes.
    let (mut upto, mut freed) = (None, 0_i64);
    for row in session.query(select, &[&no, &STEP]).await? {
        let (seq, at, length): (i64, i64, i64) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        if number(seq) > above_count && number(at) >= cutoff.0 && freed >= above_bytes {
            break;
        }
        (upto, freed) = (Some(seq), freed.saturating_add(length));
    }
    let Some(upto) = upto else { return Ok(0) };
    cut(session, no, upto).await
}

/// Removes the entries of a log up to a sequence, with what their owners are counted for them.
async fn cut(session: &Session, no: i64, upto: i64) -> Result<u64, Refused> {
    let sql = "WITH gone AS (DELETE FROM journal WHERE log = $1 AND seq <= $2 RETURNING owner, length(bytes) AS len),
         less AS (UPDATE held SET count = greatest(0, held.count - sums.less)
             FROM (SELECT owner, sum(len)::int8 AS less FROM gone WHERE owner IS NOT NULL GROUP BY owner) sums
             WHERE held.of = 'bytes' AND held.owner = sums.owner),
         floor AS (UPDATE logs SET floor = greatest(floor, $2),
             bytes = greatest(0, bytes - (SELECT coalesce(sum(len), 0) FROM gone)::int8) WHERE no = $1)
         SELECT count(*) FROM gone";
    Ok(number(first_number(&session.query(sql, &[&no, &upto]).await?)?))
}

/// All records of a topic, and its fold.
pub(super) async fn clear(session: &Session, topic: &TopicId) -> Result<(), Refused> {
    let (kind, key) = columns::log(&Log::Topic(topic.clone()));
    let find = "SELECT no, head FROM logs WHERE kind = $1 AND id = $2 FOR UPDATE";
    let rows = session.query(find, &[&kind, &key]).await?;
    let Some(row) = rows.first() else { return Ok(()) };
    let no: i64 = row.try_get(0)?;
    cut(session, no, row.try_get(1)?).await?;
    session.execute("DELETE FROM snapshots WHERE log = $1", &[&no]).await?;
    session.execute("UPDATE logs SET beside = 0 WHERE no = $1", &[&no]).await?;
    Ok(())
}

async fn topics_held(database: &Database) -> Result<Vec<TopicId>, StoreFault> {
    database
        .readers
        .read(|session| {
            Box::pin(async move {
                let rows = session.query("SELECT id FROM logs WHERE kind = $1", &[&TOPIC]).await?;
                let names = rows.iter().filter_map(|row| String::from_utf8(row.try_get(0).ok()?).ok());
                Ok(names.map(TopicId::from).collect())
            })
        })
        .await
}

async fn expired_keys(session: &Session, now: Time) -> Result<u64, Refused> {
    let sql = "DELETE FROM keys WHERE key IN (SELECT key FROM keys WHERE until <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)";
    Ok(session.execute(sql, &[&integer(now.0), &STEP]).await?)
}

async fn empty_counts(session: &Session) -> Result<u64, Refused> {
    let sql = "DELETE FROM held WHERE (of, owner) IN (
         SELECT of, owner FROM held WHERE count < 1 LIMIT $1 FOR UPDATE SKIP LOCKED) AND count < 1";
    Ok(session.execute(sql, &[&STEP]).await?)
}

/// Records past their time, of every kind, and what their owners are counted for them.
pub(super) async fn expire(database: &Database, now: Time) -> Result<u64, StoreFault> {
    until_none(database, move |session| {
        Box::pin(async move {
            let sql = "WITH RECURSIVE kinds (kind) AS (
                     (SELECT min(kind) FROM records) UNION ALL
                     SELECT (SELECT min(kind) FROM records WHERE records.kind > kinds.kind)
                     FROM kinds WHERE kinds.kind IS NOT NULL),
                 old AS (SELECT r.kind, r.key FROM kinds JOIN records r ON r.kind = kinds.kind AND r.expires <= $1
                     LIMIT $2),
                 gone AS (DELETE FROM records r USING old WHERE r.kind = old.kind AND r.key = old.key
                     RETURNING r.counted, r.owner, octet_length(r.key) + length(r.value) + r.beside AS bytes),
                 sums AS (
                     SELECT counted AS of, owner, count(*) AS less FROM gone WHERE owner IS NOT NULL
                     GROUP BY counted, owner UNION ALL
                     SELECT 'bytes', owner, sum(bytes)::int8 FROM gone WHERE owner IS NOT NULL GROUP BY owner),
                 less AS (UPDATE held SET count = greatest(0, held.count - sums.less) FROM sums
                     WHERE held.of = sums.of AND held.owner = sums.owner)
                 SELECT count(*) FROM gone";
            let rows = session.query(sql, &[&integer(now.0), &STEP]).await?;
            Ok(number(first_number(&rows)?))
        })
    })
    .await
}
