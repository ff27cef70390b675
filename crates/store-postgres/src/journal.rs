//! The journal port: append, read, and the folds kept beside the records.

use bytes::Bytes;
use interlingua_keys::{EncryptionAtRest, Place, Sealer};
use interlingua_model::digest::Digest;
use interlingua_model::id::{TaskId, Time, TopicId};
use interlingua_model::journal::Log;
use interlingua_model::ports::{
    Append, Appended, Changed, Journal, Pending, READ_BYTES, Removed, Retention, StoreFault, Stored, TaskFilter,
    TaskRow,
};
use tokio_postgres::Row;

use super::columns::{self, damaged, first_number, id, integer, number, size, task_id};
use super::connection::Session;
use super::fault::Refused;
use super::{Database, bounded, quota, retention, spread, tasks};

impl Journal for Database {
    fn append(&self, append: Append) -> Pending<'_, Appended> {
        Box::pin(self.write_append(append))
    }

    fn read(&self, log: Log, after: u64, count: usize) -> Pending<'_, Vec<Stored>> {
        let rest = self.rest.clone();
        Box::pin(async move {
            self.readers
                .read(|session| {
                    let (log, rest) = (log.clone(), rest.clone());
                    Box::pin(async move { records_after(session, &rest, &log, after, count).await })
                })
                .await
        })
    }

    fn last(&self, log: Log) -> Pending<'_, u64> {
        Box::pin(async move {
            self.readers
                .read(|session| {
                    let (kind, id) = columns::log(&log);
                    Box::pin(async move {
                        let sql = "SELECT head FROM logs WHERE kind = $1 AND id = $2";
                        Ok(number(first_number(&session.query(sql, &[&kind, &id]).await?)?))
                    })
                })
                .await
        })
    }

    fn snapshot(&self, log: Log, upto: u64, at: Time, fold: Bytes) -> Pending<'_, ()> {
        let rest = self.rest.clone();
        Box::pin(self.write(spread(&log), move |session| {
            let (log, rest, fold) = (log.clone(), rest.clone(), fold.clone());
            Box::pin(async move {
                bounded(fold.len())?;
                let fold = rest.seal(Place::Fold { log: &log, seq: upto }, &fold)?.into_owned();
                keep_fold(session, &log, upto, at, &fold).await
            })
        }))
    }

    fn latest(&self, log: Log) -> Pending<'_, Option<Stored>> {
        let rest = self.rest.clone();
        Box::pin(async move {
            self.readers
                .read(|session| {
                    let (log, rest) = (log.clone(), rest.clone());
                    Box::pin(async move {
                        let (kind, id) = columns::log(&log);
                        let sql = "SELECT s.seq, s.at, s.bytes FROM snapshots s JOIN logs ON logs.no = s.log
                             WHERE logs.kind = $1 AND logs.id = $2";
                        let rows = session.query(sql, &[&kind, &id]).await?;
                        rows.first().map(|row| opened(&rest, |seq| Place::Fold { log: &log, seq }, row)).transpose()
                    })
                })
                .await
        })
    }

    fn task(&self, task: TaskId) -> Pending<'_, Option<TaskRow>> {
        Box::pin(async move { self.readers.read(|session| Box::pin(tasks::one(session, id(task)))).await })
    }

    fn tasks(&self, filter: TaskFilter) -> Pending<'_, Vec<TaskRow>> {
        Box::pin(async move {
            self.readers
                .read(|session| {
                    let filter = filter.clone();
                    Box::pin(async move { tasks::list(session, &filter).await })
                })
                .await
        })
    }

    fn changed(&self, filter: Changed) -> Pending<'_, Vec<TaskRow>> {
        Box::pin(async move {
            self.readers
                .read(|session| {
                    let filter = filter.clone();
                    Box::pin(async move { tasks::changed(session, &filter).await })
                })
                .await
        })
    }

    fn count(&self, filter: Changed) -> Pending<'_, u64> {
        Box::pin(async move {
            self.readers
                .read(|session| {
                    let filter = filter.clone();
                    Box::pin(async move { tasks::count(session, &filter).await })
                })
                .await
        })
    }

    fn unique(&self, key: Digest, now: Time) -> Pending<'_, Option<(TaskId, Digest)>> {
        Box::pin(async move {
            self.readers
                .read(|session| {
                    Box::pin(async move {
                        let sql = "SELECT task, body FROM keys WHERE key = $1 AND until > $2";
                        let rows = session.query(sql, &[&key.0.to_vec(), &integer(now.0)]).await?;
                        let Some(row) = rows.first() else { return Ok(None) };
                        let body = row.try_get::<_, Vec<u8>>(1)?.try_into().map_err(|_| damaged("a digest"))?;
                        Ok(Some((task_id(row.try_get(0)?)?, Digest(body))))
                    })
                })
                .await
        })
    }

    fn retain(&self, rules: Retention, now: Time) -> Pending<'_, Removed> {
        Box::pin(retention::retain(self, rules, now))
    }

    fn forget(&self, task: TaskId) -> Pending<'_, bool> {
        Box::pin(self.write(spread(&Log::Task(task)), move |session| Box::pin(retention::forget(session, task))))
    }

    fn clear(&self, topic: TopicId) -> Pending<'_, ()> {
        Box::pin(self.write(spread(&Log::Topic(topic.clone())), move |session| {
            let topic = topic.clone();
            Box::pin(async move { retention::clear(session, &topic).await })
        }))
    }

    fn redact(&self, log: Log, seq: u64, bytes: Bytes) -> Pending<'_, bool> {
        let rest = self.rest.clone();
        Box::pin(self.write(spread(&log), move |session| {
            let (log, rest, bytes) = (log.clone(), rest.clone(), bytes.clone());
            Box::pin(async move {
                let bytes = rest.seal(Place::Entry { log: &log, seq }, &bytes)?.into_owned();
                replace(session, &log, seq, &bytes).await
            })
        }))
    }

    fn forget_owner(&self, owner: &str) -> Pending<'_, u64> {
        Box::pin(retention::forget_owner(self, owner.to_owned()))
    }
}

/// Other bytes in place of an entry. The log's own count stays as it is, as what was appended to it.
async fn replace(session: &Session, log: &Log, seq: u64, bytes: &[u8]) -> Result<bool, Refused> {
    let (kind, id) = columns::log(log);
    let sql = "WITH old AS (SELECT j.log, j.owner, length(j.bytes) AS len FROM journal j JOIN logs ON logs.no = j.log
             WHERE logs.kind = $1 AND logs.id = $2 AND j.seq = $3 FOR UPDATE OF j),
         counted AS (UPDATE held SET count = greatest(0, held.count + length($4::bytea) - old.len)
             FROM old WHERE held.of = 'bytes' AND held.owner = old.owner)
         UPDATE journal SET bytes = $4 FROM old WHERE journal.log = old.log AND journal.seq = $3";
    Ok(session.execute(sql, &[&kind, &id, &integer(seq), &bytes]).await? > 0)
}

/// A page ends with the record that makes it [`READ_BYTES`] long, as its reader counts them: without what sealing adds.
async fn records_after(
    session: &Session,
    rest: &EncryptionAtRest,
    log: &Log,
    after: u64,
    count: usize,
) -> Result<Vec<Stored>, Refused> {
    let (kind, id) = columns::log(log);
    let added = if rest.newest().is_some() { size(Sealer::OVERHEAD) } else { 0 };
    let sql = "SELECT seq, at, bytes FROM (
             SELECT seq, at, bytes, sum(length(bytes) - $5::int8) OVER (ORDER BY seq) - (length(bytes) - $5) AS before
             FROM (SELECT * FROM journal WHERE log = (SELECT no FROM logs WHERE kind = $1 AND id = $2) AND seq > $3
                 ORDER BY seq LIMIT $4) page) counted
         WHERE before < $6::int8 ORDER BY seq";
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 6] =
        [&kind, &id, &integer(after), &size(count), &added, &size(READ_BYTES)];
    let rows = session.query(sql, &values).await?;
    rows.iter().map(|row| opened(rest, |seq| Place::Entry { log, seq }, row)).collect()
}

fn opened<'a>(rest: &EncryptionAtRest, place: impl Fn(u64) -> Place<'a>, row: &Row) -> Result<Stored, Refused> {
    let seq = number(row.try_get(0)?);
    Ok(Stored { seq, at: Time(number(row.try_get(1)?)), bytes: rest.open(place(seq), row.try_get(2)?)? })
}

/// A fold that took longer to make does not replace a newer one.
async fn keep_fold(session: &Session, log: &Log, upto: u64, at: Time, fold: &[u8]) -> Result<(), Refused> {
    let (kind, id) = columns::log(log);
    let find = "SELECT no, head FROM logs WHERE kind = $1 AND id = $2 FOR UPDATE";
    let rows = session.query(find, &[&kind, &id]).await?;
    let row = rows.first().ok_or_else(|| StoreFault::Missing("the log of this fold".into()))?;
    let (no, head): (i64, u64) = (row.try_get(0)?, number(row.try_get(1)?));
    if upto > head {
        return Err(StoreFault::Moved { expected: upto, found: head }.into());
    }
    let old = session.query("SELECT length(bytes)::int8 FROM snapshots WHERE log = $1", &[&no]).await?;
    let old = first_number(&old)?;
    let put = "INSERT INTO snapshots (log, seq, at, bytes) VALUES ($1, $2, $3, $4) ON CONFLICT (log) DO UPDATE
         SET seq = excluded.seq, at = excluded.at, bytes = excluded.bytes WHERE excluded.seq > snapshots.seq";
    if session.execute(put, &[&no, &integer(upto), &integer(at.0), &fold]).await? == 0 {
        return Ok(());
    }
    let (Log::Task(task) | Log::Run(task)) = log else { return Ok(()) };
    let more = size(fold.len()).saturating_sub(old);
    session.execute("UPDATE logs SET beside = beside + $2 WHERE no = $1", &[&no, &more]).await?;
    let rows = session.query("SELECT owner FROM tasks WHERE task = $1", &[&columns::id(*task)]).await?;
    match rows.first() {
        Some(row) => quota::add(session, quota::BYTES, row.try_get(0)?, more).await,
        None => Ok(()),
    }
}
