//! The records port: small values with a revision, compare-and-set and expiry.
//!
//! Revisions come from one counter of the whole store and are never given twice, so a value that was removed and made
//! again is not mistaken for the one that was read before.

use bytes::Bytes;
use interlingua_keys::{EncryptionAtRest, Place};
use interlingua_model::id::{Text, Time};
use interlingua_model::ports::{Expect, Item, Pending, Records, Room, StoreFault};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::columns::{Col, limit};
use super::fault::Refused;
use super::{Database, held, retention};

impl Records for Database {
    fn get(&self, kind: &'static str, key: &str, now: Time) -> Pending<'_, Option<Item>> {
        let (key, rest) = (key.to_owned(), self.rest.clone());
        Box::pin(self.readers.read(move |db| find(db, &rest, kind, &key, now)))
    }

    fn put(
        &self,
        kind: &'static str,
        key: &str,
        value: Bytes,
        expires: Option<Time>,
        expect: Expect,
        now: Time,
    ) -> Pending<'_, u64> {
        let (key, rest) = (key.to_owned(), self.rest.clone());
        Box::pin(self.writer.submit(move |db| {
            allow(db, kind, &key, expect, now)?;
            let value = rest.seal(Place::Record { kind, key: &key }, &value)?;
            write(db, kind, &key, &value, expires, None)
        }))
    }

    fn put_within(&self, room: Room, kind: &'static str, item: Item, now: Time) -> Pending<'_, u64> {
        let rest = self.rest.clone();
        Box::pin(self.writer.submit(move |db| {
            let Item { key, revision, value, expires } = &item;
            allow(db, kind, key, Expect::Revision(*revision), now)?;
            let value = rest.seal(Place::Record { kind, key }, value)?;
            // What it replaces counts no longer; the savepoint takes that back when this is refused.
            db.prepare_cached("DELETE FROM records WHERE kind = ?1 AND key = ?2")?.execute(params![kind, key])?;
            held::check(db, &room, (key.len() + value.len()) as u64)?;
            write(db, kind, key, &value, *expires, Some(&room))
        }))
    }

    fn rewrite(&self, kind: &'static str, key: &str, value: Bytes, revision: u64) -> Pending<'_, bool> {
        let (key, rest) = (key.to_owned(), self.rest.clone());
        Box::pin(self.writer.submit(move |db| {
            let value = rest.seal(Place::Record { kind, key: &key }, &value)?;
            let mut update =
                db.prepare_cached("UPDATE records SET value = ?3 WHERE kind = ?1 AND key = ?2 AND revision = ?4")?;
            Ok(update.execute(params![kind, key, &value[..], Col(revision)])? > 0)
        }))
    }

    fn take(&self, kind: &'static str, key: &str, now: Time) -> Pending<'_, Option<Item>> {
        let (key, rest) = (key.to_owned(), self.rest.clone());
        Box::pin(self.writer.submit(move |db| {
            let found = find(db, &rest, kind, &key, now)?;
            db.prepare_cached("DELETE FROM records WHERE kind = ?1 AND key = ?2")?.execute(params![kind, key])?;
            Ok(found)
        }))
    }

    fn list(&self, kind: &'static str, after: Option<&str>, count: usize, now: Time) -> Pending<'_, Vec<Item>> {
        let (after, rest) = (after.map(str::to_owned), self.rest.clone());
        Box::pin(self.readers.read(move |db| {
            let rows = in_order(db, kind, after.as_deref(), count, now)?;
            rows.into_iter().map(|row| row.open(&rest, kind)).collect()
        }))
    }

    fn count(&self, kind: &'static str, now: Time) -> Pending<'_, u64> {
        Box::pin(self.readers.read(move |db| {
            let mut select = db.prepare_cached(
                "SELECT count(*) FROM records INDEXED BY records_by_expiry
                 WHERE kind = ?1 AND (expires IS NULL OR expires > ?2)",
            )?;
            Ok(select.query_row(params![kind, Col(now)], |row| row.get::<_, Col<u64>>(0))?.0)
        }))
    }

    fn expire(&self, now: Time) -> Pending<'_, u64> {
        Box::pin(retention::expire(self, now))
    }
}

fn find(db: &Connection, rest: &EncryptionAtRest, kind: &str, key: &str, now: Time) -> Result<Option<Item>, Refused> {
    let mut select = db.prepare_cached(
        "SELECT key, revision, value, expires FROM records
         WHERE kind = ?1 AND key = ?2 AND (expires IS NULL OR expires > ?3)",
    )?;
    let found = select.query_row(params![kind, key, Col(now)], Written::read).optional()?;
    found.map(|row| row.open(rest, kind)).transpose()
}

fn in_order(
    db: &Connection,
    kind: &str,
    after: Option<&str>,
    count: usize,
    now: Time,
) -> Result<Vec<Written>, Refused> {
    let mut select = db.prepare_cached(
        "SELECT key, revision, value, expires FROM records
         WHERE kind = ?1 AND (?2 IS NULL OR key > ?2) AND key >= coalesce(?2, '') AND (expires IS NULL OR expires > ?3)
         ORDER BY key LIMIT ?4",
    )?;
    let rows = select.query_map(params![kind, after, Col(now), limit(count)], Written::read)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// A row as it is written, perhaps sealed.
struct Written {
    key: Text,
    revision: u64,
    value: Vec<u8>,
    expires: Option<Time>,
}

impl Written {
    fn read(row: &Row<'_>) -> rusqlite::Result<Written> {
        Ok(Written {
            key: row.get(0)?,
            revision: row.get::<_, Col<u64>>(1)?.0,
            value: row.get(2)?,
            expires: row.get::<_, Option<Col<Time>>>(3)?.map(|time| time.0),
        })
    }

    fn open(self, rest: &EncryptionAtRest, kind: &str) -> Result<Item, Refused> {
        let value = rest.open(Place::Record { kind, key: &self.key }, self.value)?;
        Ok(Item { key: self.key, revision: self.revision, value, expires: self.expires })
    }
}

/// An expired item counts as absent, and absent as revision 0.
fn allow(db: &Connection, kind: &str, key: &str, expect: Expect, now: Time) -> Result<(), Refused> {
    let expected = match expect {
        Expect::Anything => return Ok(()),
        Expect::Absent => 0,
        Expect::Revision(revision) => revision,
    };
    let mut select = db.prepare_cached(
        "SELECT revision FROM records WHERE kind = ?1 AND key = ?2 AND (expires IS NULL OR expires > ?3)",
    )?;
    let found = select.query_row(params![kind, key, Col(now)], |row| row.get::<_, Col<u64>>(0)).optional()?;
    let found = found.map_or(0, |revision| revision.0);
    if found == expected { Ok(()) } else { Err(StoreFault::Moved { expected, found }.into()) }
}

/// Whose a record is and what is stored beside it is said when it is put within somebody's room, and stays so until it is put
/// within one again.
fn write(
    db: &Connection,
    kind: &str,
    key: &str,
    value: &[u8],
    expires: Option<Time>,
    room: Option<&Room>,
) -> Result<u64, Refused> {
    let revision: i64 = db
        .prepare_cached("UPDATE counters SET value = value + 1 WHERE name = 'revision' RETURNING value")?
        .query_row([], |row| row.get(0))?;
    db.prepare_cached(
        "INSERT INTO records (kind, key, revision, expires, value, counted, owner, beside)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
         ON CONFLICT (kind, key) DO UPDATE SET
         revision = excluded.revision, expires = excluded.expires, value = excluded.value",
    )?
    .execute(params![
        kind,
        key,
        revision,
        expires.map(Col),
        value,
        room.map(|room| room.of),
        room.map(|room| &room.owner),
        Col(room.map_or(0, |room| room.beside)),
    ])?;
    Ok(revision.unsigned_abs())
}
