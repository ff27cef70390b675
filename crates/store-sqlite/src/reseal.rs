//! Key rotation: seals again what older keys of the ring sealed, while the store is in use, so that those keys can be removed.
//!
//! A reader looks for the next value of an older key; the writer thread seals it and those after it, a few hundred at a time, as part of
//! one of its commits: a concurrent write waits for one step and is never lost. Blobs are copied under their new name before the old one is
//! removed. An interrupted rotation starts again and skips what is done.

use std::sync::Arc;

use interlingua_model::ports::{AtRest, Counts, Pending, StoreFault};
use rusqlite::{Connection, OptionalExtension, params};

use super::blobs::BlobFiles;
use super::convert::{Change, LOGS, Values, step_of_logs, step_of_records};
use super::fault::Refused;
use super::{Database, Embedded};

/// The values of a store as they are sealed. A store that is not encrypted has none.
#[derive(Debug, Clone)]
struct SealedValues {
    database: Arc<Database>,
    blobs: Arc<BlobFiles>,
}

impl Embedded {
    pub fn at_rest(&self) -> Arc<dyn AtRest> {
        Arc::new(SealedValues { database: self.database.clone(), blobs: self.blobs.clone() })
    }
}

impl AtRest for SealedValues {
    fn counts(&self) -> Pending<'_, Counts> {
        Box::pin(async move {
            if self.database.rest.newest().is_none() {
                return Ok(Counts::new());
            }
            let mut counts = self.database.readers.read(counted).await?;
            for (id, count) in self.blobs.sealed_by().await? {
                *counts.entry(id).or_default() += count;
            }
            Ok(counts)
        })
    }

    fn reseal(&self) -> Pending<'_, u64> {
        Box::pin(async move {
            let mut done = 0;
            for values in &LOGS {
                done += self.reseal_logs(values).await?;
            }
            done += self.reseal_records().await?;
            Ok(done + self.blobs.reseal().await?)
        })
    }

    /// Its file is in the same directory.
    fn keep_ring(&self, _wrapped: String) -> Pending<'_, ()> {
        Box::pin(async { Ok(()) })
    }
}

impl SealedValues {
    async fn reseal_logs(&self, values: &'static Values) -> Result<u64, StoreFault> {
        let (mut from, mut done) = ((0, 0), 0);
        while let Some(newest) = self.database.rest.newest() {
            let found = self.database.readers.read(move |db| older_in_logs(db, values.table, from, &newest)).await?;
            let Some(place) = found else { break };
            let rest = self.database.rest.clone();
            let step = move |db: &Connection| step_of_logs(db, &rest, values, place, Change::AGAIN);
            let Some((last, count)) = self.database.writer.submit(step).await? else { break };
            (from, done) = (last, done + count);
        }
        Ok(done)
    }

    async fn reseal_records(&self) -> Result<u64, StoreFault> {
        let (mut from, mut done) = ((String::new(), String::new()), 0);
        while let Some(newest) = self.database.rest.newest() {
            let found = self.database.readers.read(move |db| older_in_records(db, &from, &newest)).await?;
            let Some(place) = found else { break };
            let rest = self.database.rest.clone();
            let step = move |db: &Connection| step_of_records(db, &rest, &place, Change::AGAIN);
            let Some((last, count)) = self.database.writer.submit(step).await? else { break };
            (from, done) = (last, done + count);
        }
        Ok(done)
    }
}

/// The first value after a place that another key than the newest sealed.
fn older_in_logs(db: &Connection, table: &str, from: (i64, i64), newest: &[u8]) -> Result<Option<(i64, i64)>, Refused> {
    let mut select = db.prepare_cached(&format!(
        "SELECT log, seq FROM {table} WHERE (log, seq) > (?1, ?2) AND substr(bytes, 2, 8) <> ?3
         ORDER BY log, seq LIMIT 1"
    ))?;
    Ok(select.query_row(params![from.0, from.1, newest], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

fn older_in_records(
    db: &Connection,
    from: &(String, String),
    newest: &[u8],
) -> Result<Option<(String, String)>, Refused> {
    let mut select = db.prepare_cached(
        "SELECT kind, key FROM records WHERE (kind, key) > (?1, ?2) AND substr(value, 2, 8) <> ?3
         ORDER BY kind, key LIMIT 1",
    )?;
    Ok(select.query_row(params![from.0, from.1, newest], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

fn counted(db: &Connection) -> Result<Counts, Refused> {
    let mut counts = Counts::new();
    for (table, column) in [("journal", "bytes"), ("snapshots", "bytes"), ("records", "value")] {
        let mut select = db.prepare_cached(&format!(
            "SELECT lower(hex(substr({column}, 2, 8))) AS id, count(*) FROM {table} GROUP BY id"
        ))?;
        let rows = select.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)))?;
        for row in rows {
            let (id, count) = row?;
            *counts.entry(id).or_default() += count.unsigned_abs();
        }
    }
    Ok(counts)
}
