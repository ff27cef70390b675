//! Appends: many in one statement, and one with all its conditions.
//!
//! The statement for many writes all of them or nothing. It is for the common case, in which every log stands where it is
//! expected, every key is free and every owner has room. If one condition does not hold the statement fails by a division by
//! zero, which PostgreSQL has no shorter word for, and each append is written for itself, where it can be refused alone.

use std::collections::HashSet;

use interlingua_keys::{EncryptionAtRest, Place};
use interlingua_model::digest::Digest;
use interlingua_model::id::{ConversationId, Time};
use interlingua_model::journal::Log;
use interlingua_model::ports::{Append, Appended, Expected, StoreFault, TaskRow, Unique};
use tokio_postgres::Row;

use super::batch::{At, Batch};
use super::columns::{self, damaged, first_number, id, integer, number, phase, size, task_id};
use super::connection::Session;
use super::fault::Refused;
use super::quota;

/// What became of a statement or a transaction that was not refused by the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fit {
    Written,
    NoLane,
    Unfit,
}

pub(super) fn weight(append: &Append) -> usize {
    append.records.iter().map(|record| record.len()).sum()
}

/// Those that one statement can write, and the others. Two appends to one log, or under one key, are never in one statement: the
/// second would not be applied. Nor are a task's two logs: what a run brings is counted for the owner in the task's row.
pub(super) fn partition(batch: Batch) -> (Batch, Batch) {
    let (mut logs, mut keys) = (HashSet::new(), HashSet::new());
    batch.into_iter().partition(|job| {
        job.append().is_some_and(|append| {
            is_plain(append)
                && logs.insert(family(&append.log))
                && append.unique.is_none_or(|unique| keys.insert(unique.key.0))
        })
    })
}

/// The log, or of a run the log of its task.
fn family(log: &Log) -> Log {
    match log {
        Log::Run(task) => Log::Task(*task),
        Log::Task(_) | Log::Topic(_) | Log::Audit => log.clone(),
    }
}

fn is_plain(append: &Append) -> bool {
    let own = match &append.row {
        Some(row) => append.log == Log::Task(row.task),
        None => append.unique.is_none(),
    };
    let countable = matches!(append.expected, Expected::At(expected) if expected < u64::from(u32::MAX));
    own && countable && append.share.is_none() && !append.records.is_empty()
}

/// The sequence of the last record of each.
pub(super) fn ends(appends: &[&Append]) -> Vec<u64> {
    appends.iter().map(|append| expected(append) + append.records.len() as u64).collect()
}

fn expected(append: &Append) -> u64 {
    match append.expected {
        Expected::At(expected) => expected,
        Expected::Any => 0,
    }
}

const TOGETHER: &str = r#"
WITH lane AS (UPDATE lanes SET n = n + 1 WHERE hub = $1 AND lane = $2 AND n = $3 RETURNING n),
want AS (
    SELECT w.* FROM lane, unnest($4::int4[], $5::int2[], $6::bytea[], $7::int8[], $8::int8[], $9::int8[], $10::int8[],
        $11::int8[], $12::text[], $13::text[], $14::bytea[], $15::text[], $16::int2[], $17::int8[],
        $18::bytea[], $19::bytea[], $20::int8[], $21::int8[], $22::int8[], $23::int8[], $24::int8[])
    AS w (i, kind, id, expected, head, grown, beside, updated, owner, conversation, parent, skill, state, created,
        key, body, until, at, most_tasks, most_bytes, most_of_task)),
whose AS (
    SELECT w.i, coalesce(t.owner, w.owner) AS owner, t.no AS row FROM want w
    LEFT JOIN tasks t ON w.kind < 2 AND t.task = w.id),
keyed AS (
    INSERT INTO keys SELECT key, id, body, until FROM want WHERE key IS NOT NULL ORDER BY key
    ON CONFLICT (key) DO UPDATE SET task = excluded.task, body = excluded.body, until = excluded.until
    WHERE keys.task = excluded.task OR keys.until <= (SELECT w.at FROM want w WHERE w.key = excluded.key)
    RETURNING 1),
sums AS (
    SELECT 'bytes' AS of, o.owner, sum(w.grown + w.beside)::int8 AS more, min(w.most_bytes) AS most
    FROM want w JOIN whose o USING (i) WHERE o.owner IS NOT NULL GROUP BY o.owner
    UNION ALL
    SELECT 'tasks', w.owner, count(*), min(w.most_tasks) FROM want w WHERE w.expected = 0 AND w.state IS NOT NULL
    GROUP BY w.owner),
counted AS (
    INSERT INTO held SELECT of, owner, more FROM sums WHERE more <= coalesce(most, more) ORDER BY of, owner
    ON CONFLICT (of, owner) DO UPDATE SET count = held.count + excluded.count
    WHERE held.count + excluded.count <=
        coalesce((SELECT s.most FROM sums s WHERE s.of = excluded.of AND s.owner = excluded.owner),
            held.count + excluded.count)
    RETURNING 1),
made AS (
    INSERT INTO logs (kind, id, head, at, bytes, beside)
    SELECT kind, id, head, coalesce(updated, at), grown, beside FROM want WHERE expected = 0
    ON CONFLICT (kind, id) DO NOTHING RETURNING no, kind, id),
moved AS (
    UPDATE logs SET head = w.head, at = coalesce(w.updated, logs.at), bytes = logs.bytes + w.grown,
        beside = logs.beside + w.beside
    FROM want w WHERE w.expected > 0 AND logs.kind = w.kind AND logs.id = w.id AND logs.head = w.expected
    RETURNING logs.no, logs.kind, logs.id),
placed AS (
    SELECT w.i, p.no FROM (SELECT * FROM made UNION ALL SELECT * FROM moved) p JOIN want w ON w.kind = p.kind AND w.id = p.id),
rows AS (
    INSERT INTO tasks (no, task, owner, conversation, parent, skill, state, created, ended)
    SELECT p.no, w.id, w.owner, w.conversation, w.parent, w.skill, w.state, w.created,
        CASE WHEN w.state >= 3 THEN w.updated END
    FROM want w JOIN placed p USING (i) WHERE w.expected = 0 AND w.state IS NOT NULL),
changed AS (
    UPDATE tasks SET conversation = w.conversation, parent = w.parent, skill = w.skill, state = w.state,
        created = w.created, ended = CASE WHEN w.state >= 3 THEN w.updated END
    FROM want w JOIN placed p USING (i) WHERE w.expected > 0 AND w.state IS NOT NULL AND tasks.no = p.no
        AND (tasks.conversation, tasks.parent, tasks.skill, tasks.state, tasks.created, tasks.ended) IS DISTINCT FROM
            (w.conversation, w.parent, w.skill, w.state, w.created, CASE WHEN w.state >= 3 THEN w.updated END)),
put AS (
    INSERT INTO journal (log, seq, at, bytes)
    SELECT p.no, r.seq, w.at, r.bytes FROM unnest($25::int4[], $26::int8[], $27::bytea[]) AS r (i, seq, bytes)
    JOIN placed p USING (i) JOIN want w USING (i)),
unfit AS (
    SELECT 1 FROM want w JOIN whose o USING (i)
    WHERE (w.state IS NOT NULL AND (o.row IS NULL) <> (w.expected = 0))
        OR (w.expected = 0 AND w.state IS NOT NULL AND EXISTS (SELECT 1 FROM logs l WHERE l.kind = 1 AND l.id = w.id))
        OR w.most_of_task < w.grown + w.beside + coalesce((
            SELECT sum(l.bytes) FROM logs l WHERE l.kind IN (0, 1) AND l.id = w.id), 0))
SELECT (SELECT count(*) FROM lane), 1 / CASE WHEN NOT EXISTS (SELECT 1 FROM lane) OR (
    (SELECT count(*) FROM placed) = (SELECT count(*) FROM want)
    AND (SELECT count(*) FROM keyed) = (SELECT count(*) FROM want WHERE key IS NOT NULL)
    AND (SELECT count(*) FROM counted) = (SELECT count(*) FROM sums)
    AND NOT EXISTS (SELECT 1 FROM unfit)) THEN 1 ELSE 0 END
"#;

/// The columns of the statement's arrays.
#[derive(Default)]
struct Want<'a> {
    i: Vec<i32>,
    kind: Vec<i16>,
    id: Vec<Vec<u8>>,
    expected: Vec<i64>,
    head: Vec<i64>,
    grown: Vec<i64>,
    beside: Vec<i64>,
    updated: Vec<Option<i64>>,
    owner: Vec<Option<&'a str>>,
    conversation: Vec<Option<&'a str>>,
    parent: Vec<Option<Vec<u8>>>,
    skill: Vec<Option<&'a str>>,
    state: Vec<Option<i16>>,
    created: Vec<Option<i64>>,
    key: Vec<Option<Vec<u8>>>,
    body: Vec<Option<Vec<u8>>>,
    until: Vec<Option<i64>>,
    at: Vec<i64>,
    most_tasks: Vec<Option<i64>>,
    most_bytes: Vec<Option<i64>>,
    most_of_task: Vec<Option<i64>>,
    record_of: Vec<i32>,
    seq: Vec<i64>,
    bytes: Vec<Vec<u8>>,
}

impl<'a> Want<'a> {
    fn add(&mut self, rest: &EncryptionAtRest, append: &'a Append) -> Result<(), StoreFault> {
        let i = i32::try_from(self.i.len()).unwrap_or(i32::MAX);
        let (kind, id) = columns::log(&append.log);
        let mut seq = expected(append);
        let mut grown = 0;
        for record in &append.records {
            seq += 1;
            let bytes = rest.seal(Place::Entry { log: &append.log, seq }, record)?.into_owned();
            grown += bytes.len();
            self.record_of.push(i);
            self.seq.push(integer(seq));
            self.bytes.push(bytes);
        }
        self.i.push(i);
        self.kind.push(kind);
        self.id.push(id);
        self.expected.push(integer(expected(append)));
        self.head.push(integer(seq));
        self.grown.push(size(grown));
        // What is beside counts for a task, and only with its row.
        self.beside.push(if append.row.is_some() { integer(append.beside) } else { 0 });
        self.at.push(integer(append.at.0));
        let row = append.row.as_ref();
        self.updated.push(row.map(|row| integer(row.updated.0)));
        self.owner.push(row.map(|row| &*row.owner));
        self.conversation.push(row.and_then(|row| row.conversation.as_ref()).map(ConversationId::as_str));
        self.parent.push(row.and_then(|row| row.parent).map(columns::id));
        self.skill.push(row.and_then(|row| row.skill.as_deref()));
        self.state.push(row.map(|row| phase(row.state)));
        self.created.push(row.map(|row| integer(row.created.0)));
        self.key.push(append.unique.map(|unique| unique.key.0.to_vec()));
        self.body.push(append.unique.map(|unique| unique.body.0.to_vec()));
        self.until.push(append.unique.map(|unique| integer(unique.until.0)));
        let most = append.most.filter(|_| append.row.is_some());
        self.most_tasks.push(most.and_then(|most| most.tasks).map(integer));
        self.most_bytes.push(most.and_then(|most| most.bytes).map(integer));
        self.most_of_task.push(most.and_then(|most| most.of_task).map(integer));
        Ok(())
    }
}

pub(super) async fn together(
    session: &Session,
    rest: &EncryptionAtRest,
    (hub, lane, n): At,
    appends: &[&Append],
) -> Result<Fit, Refused> {
    let mut want = Want::default();
    for append in appends {
        want.add(rest, append)?;
    }
    let n = integer(n);
    let rows = session
        .query(
            TOGETHER,
            &[
                &hub,
                &lane,
                &n,
                &want.i,
                &want.kind,
                &want.id,
                &want.expected,
                &want.head,
                &want.grown,
                &want.beside,
                &want.updated,
                &want.owner,
                &want.conversation,
                &want.parent,
                &want.skill,
                &want.state,
                &want.created,
                &want.key,
                &want.body,
                &want.until,
                &want.at,
                &want.most_tasks,
                &want.most_bytes,
                &want.most_of_task,
                &want.record_of,
                &want.seq,
                &want.bytes,
            ],
        )
        .await?;
    Ok(if first_number(&rows)? == 1 { Fit::Written } else { Fit::NoLane })
}

/// One append with all its conditions, in a savepoint that takes back what a refused one wrote.
pub(super) async fn one(session: &Session, rest: &EncryptionAtRest, append: &Append) -> Result<Appended, Refused> {
    if let Some(unique) = append.unique
        && let Some(exists) = claim(session, &append.log, unique, append.at).await?
    {
        return Ok(exists);
    }
    let (kind, key) = columns::log(&append.log);
    let find = "SELECT no, head FROM logs WHERE kind = $1 AND id = $2 FOR UPDATE";
    let rows = session.query(find, &[&kind, &key]).await?;
    let place = rows.first().map(place).transpose()?;
    let brought = (weight(append) as u64).saturating_add(append.beside);
    quota::make_room(session, append, place.is_none(), brought).await?;
    let (no, last) = match place {
        Some(place) => place,
        None => make(session, &append.log, append.at).await?,
    };
    match append.expected {
        Expected::At(expected) if expected != last => {
            return Err(StoreFault::Moved { expected, found: last }.into());
        }
        Expected::At(_) | Expected::Any => {}
    }
    let (mut seqs, mut sealed, mut seq) = (Vec::new(), Vec::new(), last);
    for record in &append.records {
        seq += 1;
        seqs.push(integer(seq));
        sealed.push(rest.seal(Place::Entry { log: &append.log, seq }, record)?.into_owned());
    }
    let grown = size(sealed.iter().map(Vec::len).sum());
    let head = "UPDATE logs SET head = $2, bytes = bytes + $3 WHERE no = $1 AND head = $4";
    if session.execute(head, &[&no, &integer(seq), &grown, &integer(last)]).await? == 0 {
        return Err(damaged("the head of a log that was locked"));
    }
    let owner = append.share.as_ref().map(|share| &*share.owner);
    let put = "INSERT INTO journal (log, seq, at, bytes, owner)
         SELECT $1::int8, r.seq, $2::int8, r.bytes, $3::text FROM unnest($4::int8[], $5::bytea[]) AS r (seq, bytes)";
    session.execute(put, &[&no, &integer(append.at.0), &owner, &seqs, &sealed]).await?;
    if let Some(owner) = owner {
        quota::add(session, quota::BYTES, owner, grown).await?;
    }
    if let Some(row) = &append.row {
        put_row(session, &append.log, no, row, append.beside, grown).await?;
    } else if let Log::Task(task) | Log::Run(task) = &append.log {
        let owner = "SELECT owner FROM tasks WHERE task = $1";
        if let Some(found) = session.query(owner, &[&id(*task)]).await?.first() {
            quota::add(session, quota::BYTES, found.try_get(0)?, grown).await?;
        }
    }
    Ok(Appended::At(seq))
}

/// A new log; one that another lane made meanwhile is taken as it is.
async fn make(session: &Session, log: &Log, at: Time) -> Result<(i64, u64), Refused> {
    let (kind, id) = columns::log(log);
    let insert = "INSERT INTO logs (kind, id, head, at) VALUES ($1, $2, 0, $3)
         ON CONFLICT (kind, id) DO UPDATE SET head = logs.head RETURNING no, head";
    let rows = session.query(insert, &[&kind, &id, &integer(at.0)]).await?;
    rows.first().map(place).ok_or_else(|| damaged("a log"))?
}

/// A row of `no, head` of a log.
fn place(row: &Row) -> Result<(i64, u64), Refused> {
    Ok((row.try_get(0)?, number(row.try_get(1)?)))
}

/// The row of a task, what is stored beside it, and what its owner keeps of it.
async fn put_row(session: &Session, log: &Log, no: i64, row: &TaskRow, beside: u64, grown: i64) -> Result<(), Refused> {
    let own = Log::Task(row.task);
    let no = if *log == own { no } else { make(session, &own, row.updated).await?.0 };
    let at = "UPDATE logs SET at = $2, beside = beside + $3 WHERE no = $1";
    session.execute(at, &[&no, &integer(row.updated.0), &integer(beside)]).await?;
    let conversation = row.conversation.as_ref().map(ConversationId::as_str);
    let ended = row.state.is_done().then_some(integer(row.updated.0));
    let (task, parent) = (id(row.task), row.parent.map(id));
    let (state, created) = (phase(row.state), integer(row.created.0));
    let skill = row.skill.as_deref();
    let change = "UPDATE tasks SET conversation = $2, parent = $3, skill = $4, state = $5, created = $6, ended = $7
         WHERE no = $1 RETURNING owner";
    let changed = session.query(change, &[&no, &conversation, &parent, &skill, &state, &created, &ended]).await?;
    if let Some(found) = changed.first() {
        return quota::add(session, quota::BYTES, found.try_get(0)?, grown.saturating_add(integer(beside))).await;
    }
    let owner = &*row.owner;
    let insert = "INSERT INTO tasks (no, task, owner, conversation, parent, skill, state, created, ended)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    session.execute(insert, &[&no, &task, &owner, &conversation, &parent, &skill, &state, &created, &ended]).await?;
    quota::add(session, quota::TASKS, owner, 1).await?;
    // All that its logs have so far.
    let sum = "SELECT sum(bytes + beside)::int8 FROM logs WHERE kind IN (0, 1) AND id = $1";
    let bytes = first_number(&session.query(sum, &[&task]).await?)?;
    quota::add(session, quota::BYTES, owner, bytes).await
}

/// Takes the key for this log, unless another holds it.
async fn claim(session: &Session, log: &Log, unique: Unique, now: Time) -> Result<Option<Appended>, Refused> {
    let (Log::Task(own) | Log::Run(own)) = log else {
        return Err(StoreFault::Broken("a key is held by a task, not by a topic or the audit".into()).into());
    };
    let (key, now) = (unique.key.0.to_vec(), integer(now.0));
    let take = "INSERT INTO keys VALUES ($1, $2, $3, $4) ON CONFLICT (key) DO UPDATE SET
         task = excluded.task, body = excluded.body, until = excluded.until
         WHERE keys.task = excluded.task OR keys.until <= $5";
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 5] =
        [&key, &id(*own), &unique.body.0.to_vec(), &integer(unique.until.0), &now];
    if session.execute(take, &values).await? == 1 {
        return Ok(None);
    }
    let rows = session.query("SELECT task, body FROM keys WHERE key = $1", &[&key]).await?;
    let row = rows.first().ok_or_else(|| damaged("a key"))?;
    let body = row.try_get::<_, Vec<u8>>(1)?.try_into().map_err(|_| damaged("a digest"))?;
    Ok(Some(Appended::Exists { task: task_id(row.try_get(0)?)?, body: Digest(body) }))
}
