//! The blobs port: bytes in chunks of the database.
//!
//! Chunks are written as they come, each committed under the number of a part. `finish` is one transaction: it makes the row, or,
//! where the same content is held, renews that one's time and drops the chunks. So under a digest there is a whole blob or nothing.
//! The parts of a hub that is gone are removed by the next one ([`super::members`]).
//!
//! In a sealed store each blob has a random key of its own. Chunks are sealed with it under their number, so any part can be read
//! without the rest. The head is that key, the length and the digest of the content, sealed by the ring: chunks do not open in the
//! place of others, nor when one is missing. The row is named by a keyed tag of the digest: who reads the database cannot test
//! whether it holds known content.

use std::sync::Arc;

use aws_lc_rs::digest::{Context, SHA256};
use bytes::Bytes;
use interlingua_keys::{Keyring, SealFault};
use interlingua_model::digest::Digest;
use interlingua_model::ports::{BlobInfo, BlobWriter, Blobs, Pending, StoreFault};

use super::blob_seal::{BlobSeal, Cipher, damaged};
use super::columns::{first_number, integer, number};
use super::connection::Session;
use super::fault::Refused;
use super::{Database, spread};

/// The bytes of a chunk; the last one of a blob has fewer.
pub(super) const CHUNK: usize = 256 * 1024;
/// Chunks that one statement reads.
const TOGETHER: u64 = 16;
/// Blobs removed by one request.
const STEP: i64 = 200;

#[derive(Debug, Clone)]
pub(super) struct BlobTable {
    database: Arc<Database>,
    /// Whose parts are written.
    hub: i64,
    seal: Option<Arc<BlobSeal>>,
}

/// The row of a blob.
struct Held {
    no: i64,
    len: u64,
    cipher: Option<Cipher>,
}

impl BlobTable {
    pub(super) fn new(database: Arc<Database>, hub: i64, ring: Option<&Keyring>) -> Result<BlobTable, SealFault> {
        let seal = ring.map(BlobSeal::new).transpose()?.map(Arc::new);
        Ok(BlobTable { database, hub, seal })
    }

    pub(super) fn seal(&self) -> Option<Arc<BlobSeal>> {
        self.seal.clone()
    }

    /// What stands for a digest, by every key.
    fn tags(&self, digest: Digest) -> Vec<Vec<u8>> {
        self.seal.as_ref().map_or_else(|| vec![digest.0.to_vec()], |seal| seal.tags(digest))
    }

    async fn held(&self, digest: Digest) -> Result<Option<Held>, StoreFault> {
        let tags = self.tags(digest);
        let read = self.database.readers.read(|session| {
            let tags = tags.clone();
            Box::pin(async move {
                let sql = "SELECT no, len, head FROM blobs WHERE tag = ANY($1) LIMIT 1";
                let rows = session.query(sql, &[&tags]).await?;
                let Some(row) = rows.first() else { return Ok(None) };
                Ok(Some((row.try_get::<_, i64>(0)?, number(row.try_get(1)?), row.try_get::<_, Vec<u8>>(2)?)))
            })
        });
        let Some((no, len, head)) = read.await? else { return Ok(None) };
        let Some(seal) = &self.seal else { return Ok(Some(Held { no, len, cipher: None })) };
        let opened = seal.open(head)?;
        if opened.digest != digest || opened.len != len {
            return Err(damaged());
        }
        Ok(Some(Held { no, len, cipher: Some(opened.cipher) }))
    }

    /// The chunks from one to another, opened; fewer when they are not there.
    async fn chunks(&self, held: &Held, first: u64, last: u64) -> Result<Vec<Vec<u8>>, StoreFault> {
        let (no, first_n, last_n) = (held.no, integer(first), integer(last));
        let read = self.database.readers.read(move |session| {
            Box::pin(async move {
                let sql = "SELECT bytes FROM chunks WHERE no = $1 AND n BETWEEN $2 AND $3 ORDER BY n";
                let rows = session.query(sql, &[&no, &first_n, &last_n]).await?;
                rows.iter().map(|row| Ok(row.try_get::<_, Vec<u8>>(0)?)).collect::<Result<Vec<_>, Refused>>()
            })
        });
        let stored = read.await?.into_iter().zip(first..);
        stored
            .map(|(bytes, n)| match &held.cipher {
                Some(cipher) => cipher.open(n, bytes),
                None => Ok(bytes),
            })
            .collect()
    }

    async fn read_from(&self, digest: Digest, offset: u64, limit: usize) -> Result<Bytes, StoreFault> {
        let missing = || StoreFault::Missing(format!("blob {digest}").into());
        let held = self.held(digest).await?.ok_or_else(missing)?;
        let left = held.len.saturating_sub(offset).min(limit as u64);
        let wanted = usize::try_from(left).unwrap_or(usize::MAX);
        // What the database says of the length is not believed before the bytes are there.
        let (chunk, mut read) = (CHUNK as u64, Vec::with_capacity(wanted.min(CHUNK)));
        let mut skipped = usize::try_from(offset % chunk).unwrap_or_default();
        let (mut next, end) = (offset / chunk, (offset.saturating_add(left)).div_ceil(chunk));
        while read.len() < wanted {
            // Chunks that are shorter than they should be are damage.
            if next >= end {
                return Err(damaged());
            }
            let last = (end - 1).min(next + TOGETHER - 1);
            let pieces = self.chunks(&held, next, last).await?;
            // Removed since its row was read, or damaged: a chunk in the middle has its full length.
            if pieces.len() as u64 != last - next + 1 {
                return Err(if self.held(digest).await?.is_none() { missing() } else { damaged() });
            }
            for piece in pieces {
                let part = piece.get(skipped..).ok_or_else(damaged)?;
                read.extend_from_slice(&part[..part.len().min(wanted - read.len())]);
                skipped = 0;
            }
            next = last + 1;
        }
        Ok(read.into())
    }

    /// The chunks of a part that was given up. If there is no room in the queue the next hub removes them.
    fn discard(&self, no: i64) {
        self.database.write_unheard(spread(&no), move |session| {
            Box::pin(async move {
                let sql = "WITH part AS (DELETE FROM parts WHERE no = $1 RETURNING no)
                     DELETE FROM chunks WHERE no IN (SELECT no FROM part)";
                session.execute(sql, &[&no]).await?;
                Ok(())
            })
        });
    }
}

impl Blobs for BlobTable {
    fn create(&self) -> Pending<'_, Box<dyn BlobWriter>> {
        Box::pin(async move {
            let cipher = self.seal.as_ref().map(|_| Cipher::random()).transpose()?;
            let hub = self.hub;
            let made = self.database.write(0, move |session| {
                Box::pin(async move {
                    first_number(&session.query("INSERT INTO parts (hub) VALUES ($1) RETURNING no", &[&hub]).await?)
                })
            });
            let no = made.await?;
            let context = Context::new(&SHA256);
            let part = Part { table: self.clone(), no, n: 0, cipher, context, len: 0, rest: Vec::new(), named: false };
            Ok(Box::new(Writer { part: Some(part) }) as Box<dyn BlobWriter>)
        })
    }

    fn info(&self, digest: Digest) -> Pending<'_, Option<BlobInfo>> {
        Box::pin(async move { Ok(self.held(digest).await?.map(|held| BlobInfo { digest, len: held.len })) })
    }

    fn read(&self, digest: Digest, offset: u64, limit: usize) -> Pending<'_, Bytes> {
        Box::pin(self.read_from(digest, offset, limit))
    }

    fn retain(&self, bytes: u64) -> Pending<'_, u64> {
        Box::pin(async move {
            let mut removed = 0;
            loop {
                let step = self.database.write(0, move |session| Box::pin(remove_oldest(session, bytes)));
                let (blobs, freed) = step.await?;
                removed += freed;
                if blobs == 0 {
                    return Ok(removed);
                }
            }
        })
    }
}

/// Those before the newest that fit. How many went, and their bytes.
async fn remove_oldest(session: &Session, keep: u64) -> Result<(u64, u64), Refused> {
    let sql = "WITH aged AS (SELECT tag, sum(len) OVER (ORDER BY at DESC, tag DESC) AS newer FROM blobs),
         old AS (SELECT tag FROM aged WHERE newer > $1::int8 ORDER BY newer DESC LIMIT $2),
         gone AS (DELETE FROM blobs WHERE tag IN (SELECT tag FROM old) RETURNING no, len),
         pieces AS (DELETE FROM chunks WHERE no IN (SELECT no FROM gone))
         SELECT count(*), coalesce(sum(len), 0)::int8 FROM gone";
    let rows = session.query(sql, &[&integer(keep), &STEP]).await?;
    let Some(row) = rows.first() else { return Ok((0, 0)) };
    Ok((number(row.try_get(0)?), number(row.try_get(1)?)))
}

/// A blob that is being written. Its chunks go when it is dropped before it got its name.
struct Part {
    table: BlobTable,
    no: i64,
    /// Chunks written.
    n: u64,
    cipher: Option<Cipher>,
    context: Context,
    len: u64,
    /// Less than a chunk.
    rest: Vec<u8>,
    named: bool,
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.named {
            self.table.discard(self.no);
        }
    }
}

impl Part {
    async fn add(&mut self, mut bytes: &[u8]) -> Result<(), StoreFault> {
        self.context.update(bytes);
        self.len += bytes.len() as u64;
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(CHUNK - self.rest.len()));
            self.rest.extend_from_slice(now);
            bytes = later;
            if self.rest.len() == CHUNK {
                self.write_rest().await?;
            }
        }
        Ok(())
    }

    async fn write_rest(&mut self) -> Result<(), StoreFault> {
        let plain = std::mem::take(&mut self.rest);
        let sealed = match &self.cipher {
            Some(cipher) => cipher.seal(self.n, plain)?,
            None => plain,
        };
        let (no, n, sealed) = (self.no, integer(self.n), Bytes::from(sealed));
        self.n += 1;
        let written = self.table.database.write(spread(&no), move |session| {
            let sealed = sealed.clone();
            Box::pin(async move {
                let bytes: &[u8] = &sealed;
                session.execute("INSERT INTO chunks (no, n, bytes) VALUES ($1, $2, $3)", &[&no, &n, &bytes]).await?;
                Ok(())
            })
        });
        written.await
    }

    async fn keep(mut self) -> Result<BlobInfo, StoreFault> {
        if !self.rest.is_empty() {
            self.write_rest().await?;
        }
        let mut digest = Digest([0; 32]);
        digest.0.copy_from_slice(self.context.clone().finish().as_ref());
        let (tag, head) = match (&self.table.seal, &self.cipher) {
            (Some(seal), Some(cipher)) => (seal.tag(digest), seal.head(cipher, self.len, digest)?),
            (Some(_), None) | (None, Some(_)) | (None, None) => (digest.0.to_vec(), Vec::new()),
        };
        let (no, len) = (self.no, integer(self.len));
        let named = self.table.database.write(spread(&no), move |session| {
            let (tag, head) = (tag.clone(), head.clone());
            Box::pin(async move { name(session, no, &tag, len, &head).await })
        });
        named.await?;
        self.named = true;
        Ok(BlobInfo { digest, len: self.len })
    }
}

async fn name(session: &Session, no: i64, tag: &[u8], len: i64, head: &[u8]) -> Result<(), Refused> {
    let sql = "WITH held AS (INSERT INTO blobs (tag, no, len, head) VALUES ($1, $2, $3, $4)
             ON CONFLICT (tag) DO UPDATE SET at = clock_timestamp() RETURNING no),
         part AS (DELETE FROM parts WHERE no = $2)
         DELETE FROM chunks WHERE no = $2 AND (SELECT no FROM held) <> $2";
    session.execute(sql, &[&tag, &no, &len, &head]).await?;
    Ok(())
}

struct Writer {
    /// Absent while a write is under way, and after one that failed or was given up.
    part: Option<Part>,
}

impl BlobWriter for Writer {
    fn write(&mut self, bytes: Bytes) -> Pending<'_, ()> {
        Box::pin(async move {
            let mut part = self.part.take().ok_or_else(given_up)?;
            part.add(&bytes).await?;
            self.part = Some(part);
            Ok(())
        })
    }

    fn finish(mut self: Box<Self>) -> Pending<'static, BlobInfo> {
        Box::pin(async move { self.part.take().ok_or_else(given_up)?.keep().await })
    }
}

fn given_up() -> StoreFault {
    StoreFault::Broken("an earlier write of this blob did not end".into())
}
