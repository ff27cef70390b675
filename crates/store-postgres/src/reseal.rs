//! Values as they are sealed: how many each key seals, and sealing with the newest what older keys sealed.
//!
//! A page of places is found by a reader, then each is locked, opened and sealed again by a lane. So a concurrent write is never
//! lost: whoever comes second finds the row locked. An interrupted pass starts again and skips what is done.

use std::sync::Arc;

use interlingua_keys::{EncryptionAtRest, Place};
use interlingua_model::journal::Log;
use interlingua_model::ports::{AtRest, Counts, Pending, StoreFault};

use super::Database;
use super::blob_seal::BlobSeal;
use super::blobs::BlobTable;
use super::columns::{damaged, number};
use super::connection::Session;
use super::fault::Refused;

/// Values that one request seals.
const PAGE: i64 = 200;

/// The tables whose values belong to a log.
#[derive(Debug, Clone, Copy)]
enum OfLogs {
    Entries,
    Folds,
}

impl OfLogs {
    fn table(self) -> &'static str {
        match self {
            OfLogs::Entries => "journal",
            OfLogs::Folds => "snapshots",
        }
    }

    fn place(self, log: &Log, seq: u64) -> Place<'_> {
        match self {
            OfLogs::Entries => Place::Entry { log, seq },
            OfLogs::Folds => Place::Fold { log, seq },
        }
    }
}

/// The values of a store as they are sealed. A store that is not encrypted has none.
#[derive(Debug)]
pub(super) struct SealedValues {
    pub(super) database: Arc<Database>,
    pub(super) blobs: Arc<BlobTable>,
}

impl AtRest for SealedValues {
    fn counts(&self) -> Pending<'_, Counts> {
        Box::pin(async move {
            if self.database.rest.newest().is_none() {
                return Ok(Counts::new());
            }
            self.database.readers.read(|session| Box::pin(counted(session))).await
        })
    }

    fn reseal(&self) -> Pending<'_, u64> {
        Box::pin(async move {
            let Some(newest) = self.database.rest.newest() else { return Ok(0) };
            let mut done = 0;
            for values in [OfLogs::Entries, OfLogs::Folds] {
                done += self.logs(values, &newest).await?;
            }
            done += self.records(&newest).await?;
            match self.blobs.seal() {
                Some(seal) => Ok(done + self.heads(seal).await?),
                None => Ok(done),
            }
        })
    }

    fn keep_ring(&self, wrapped: String) -> Pending<'_, ()> {
        Box::pin(self.database.write(0, move |session| {
            let wrapped = wrapped.clone();
            Box::pin(async move { super::kept::put(session, super::kept::RING, &wrapped).await.map_err(Refused::from) })
        }))
    }
}

impl SealedValues {
    async fn logs(&self, values: OfLogs, newest: &[u8]) -> Result<u64, StoreFault> {
        let (mut from, mut done) = ((0_i64, 0_i64), 0);
        loop {
            let newest = newest.to_vec();
            let found = self.database.readers.read(move |session| {
                let newest = newest.clone();
                Box::pin(async move {
                    let sql = format!(
                        "SELECT log, seq FROM {} WHERE (log, seq) > ($1, $2) AND substr(bytes, 2, 8) <> $3
                         ORDER BY log, seq LIMIT $4",
                        values.table()
                    );
                    let rows = session.query(&sql, &[&from.0, &from.1, &newest, &PAGE]).await?;
                    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect::<Result<Vec<_>, Refused>>()
                })
            });
            let page: Vec<(i64, i64)> = found.await?;
            let Some(last) = page.last() else { return Ok(done) };
            from = *last;
            let rest = self.database.rest.clone();
            done += self
                .database
                .write(0, move |session| {
                    let (rest, page) = (rest.clone(), page.clone());
                    Box::pin(async move { reseal_logs(session, &rest, values, &page).await })
                })
                .await?;
        }
    }

    async fn records(&self, newest: &[u8]) -> Result<u64, StoreFault> {
        let (mut from, mut done) = ((String::new(), String::new()), 0);
        loop {
            let (newest, after) = (newest.to_vec(), from.clone());
            let found = self.database.readers.read(move |session| {
                let (newest, after) = (newest.clone(), after.clone());
                Box::pin(async move {
                    let sql = "SELECT kind, key FROM records WHERE (kind, key) > ($1, $2) AND substr(value, 2, 8) <> $3
                         ORDER BY kind, key LIMIT $4";
                    let rows = session.query(sql, &[&after.0, &after.1, &newest, &PAGE]).await?;
                    rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect::<Result<Vec<_>, Refused>>()
                })
            });
            let page: Vec<(String, String)> = found.await?;
            let Some(last) = page.last() else { return Ok(done) };
            from = last.clone();
            let rest = self.database.rest.clone();
            done += self
                .database
                .write(0, move |session| {
                    let (rest, page) = (rest.clone(), page.clone());
                    Box::pin(async move { reseal_records(session, &rest, &page).await })
                })
                .await?;
        }
    }

    async fn heads(&self, seal: Arc<BlobSeal>) -> Result<u64, StoreFault> {
        let (mut from, mut done) = (Vec::new(), 0);
        loop {
            let (newest, after) = (seal.newest(), from.clone());
            let found = self.database.readers.read(move |session| {
                let (newest, after) = (newest.clone(), after.clone());
                Box::pin(async move {
                    let sql = "SELECT tag FROM blobs WHERE tag > $1 AND substr(head, 2, 8) <> $2 ORDER BY tag LIMIT $3";
                    let rows = session.query(sql, &[&after, &newest, &PAGE]).await?;
                    rows.iter().map(|row| Ok(row.try_get(0)?)).collect::<Result<Vec<_>, Refused>>()
                })
            });
            let page: Vec<Vec<u8>> = found.await?;
            let Some(last) = page.last() else { return Ok(done) };
            from.clone_from(last);
            let seal = seal.clone();
            done += self
                .database
                .write(0, move |session| {
                    let (seal, page) = (seal.clone(), page.clone());
                    Box::pin(async move { reseal_heads(session, &seal, &page).await })
                })
                .await?;
        }
    }
}

async fn reseal_logs(
    session: &Session,
    rest: &EncryptionAtRest,
    values: OfLogs,
    page: &[(i64, i64)],
) -> Result<u64, Refused> {
    let table = values.table();
    let find = format!(
        "SELECT l.kind, l.id, v.bytes FROM {table} v JOIN logs l ON l.no = v.log WHERE v.log = $1 AND v.seq = $2
         FOR UPDATE OF v"
    );
    let put = format!("UPDATE {table} SET bytes = $3 WHERE log = $1 AND seq = $2");
    let mut done = 0;
    for (log, seq) in page {
        let rows = session.query(&find, &[log, seq]).await?;
        let Some(row) = rows.first() else { continue };
        let (kind, id): (i16, Vec<u8>) = (row.try_get(0)?, row.try_get(1)?);
        let of = Log::of_columns(kind.into(), &id).ok_or_else(|| damaged("a log"))?;
        if let Some(sealed) = rest.resealed(values.place(&of, number(*seq)), row.try_get(2)?)? {
            done += session.execute(&put, &[log, seq, &sealed]).await?;
        }
    }
    Ok(done)
}

async fn reseal_records(session: &Session, rest: &EncryptionAtRest, page: &[(String, String)]) -> Result<u64, Refused> {
    let mut done = 0;
    for (kind, key) in page {
        let find = "SELECT value FROM records WHERE kind = $1 AND key = $2 FOR UPDATE";
        let rows = session.query(find, &[kind, key]).await?;
        let Some(row) = rows.first() else { continue };
        if let Some(sealed) = rest.resealed(Place::Record { kind, key }, row.try_get(0)?)? {
            let put = "UPDATE records SET value = $3 WHERE kind = $1 AND key = $2";
            done += session.execute(put, &[kind, key, &sealed]).await?;
        }
    }
    Ok(done)
}

/// A row gets a new head and a new name; its chunks do not change.
async fn reseal_heads(session: &Session, seal: &BlobSeal, page: &[Vec<u8>]) -> Result<u64, Refused> {
    let mut done = 0;
    for tag in page {
        let rows = session.query("SELECT head FROM blobs WHERE tag = $1 FOR UPDATE", &[tag]).await?;
        let Some(row) = rows.first() else { continue };
        // One that does not open is lost by whichever key, and must not keep the others from theirs.
        let Ok(head) = seal.open(row.try_get(0)?) else { continue };
        let (new, sealed) = (seal.tag(head.digest), seal.head(&head.cipher, head.len, head.digest)?);
        // The same content may have been stored again under the new key.
        let sql = "WITH twin AS (SELECT 1 FROM blobs WHERE tag = $2 AND tag <> $1),
             spare AS (DELETE FROM blobs WHERE tag = $1 AND EXISTS (SELECT 1 FROM twin) RETURNING no),
             pieces AS (DELETE FROM chunks WHERE no IN (SELECT no FROM spare))
             UPDATE blobs SET tag = $2, head = $3 WHERE tag = $1 AND NOT EXISTS (SELECT 1 FROM twin)";
        session.execute(sql, &[tag, &new, &sealed]).await?;
        done += 1;
    }
    Ok(done)
}

async fn counted(session: &Session) -> Result<Counts, Refused> {
    let mut counts = Counts::new();
    for (table, column) in [("journal", "bytes"), ("snapshots", "bytes"), ("records", "value"), ("blobs", "head")] {
        let sql = format!("SELECT encode(substr({column}, 2, 8), 'hex'), count(*) FROM {table} GROUP BY 1");
        for row in session.query(&sql, &[]).await? {
            *counts.entry(row.try_get(0)?).or_default() += number(row.try_get(1)?);
        }
    }
    Ok(counts)
}
