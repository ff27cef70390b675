//! The records port: small values with a revision, compare-and-set and expiry. A put is one statement whose condition is what
//! the caller expects. Revisions come from a sequence and are never given twice.

use bytes::Bytes;
use interlingua_keys::{EncryptionAtRest, Place};
use interlingua_model::id::{Text, Time};
use interlingua_model::ports::{Expect, Item, Pending, Records, Room, StoreFault};
use tokio_postgres::Row;

use super::columns::{damaged, first_number, integer, number, size};
use super::connection::Session;
use super::fault::Refused;
use super::{Database, bounded, quota, retention};

impl Records for Database {
    fn get(&self, kind: &'static str, key: &str, now: Time) -> Pending<'_, Option<Item>> {
        let (key, rest) = (key.to_owned(), self.rest.clone());
        Box::pin(async move {
            self.readers
                .read(|session| {
                    let (key, rest) = (key.clone(), rest.clone());
                    Box::pin(async move {
                        let sql = "SELECT key, revision, value, expires FROM records
                             WHERE kind = $1 AND key = $2 AND (expires IS NULL OR expires > $3)";
                        let rows = session.query(sql, &[&kind, &key, &integer(now.0)]).await?;
                        rows.first().map(|row| open(&rest, kind, row)).transpose()
                    })
                })
                .await
        })
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
        let route = route(kind, &key);
        Box::pin(self.write(route, move |session| {
            let (key, rest, value) = (key.clone(), rest.clone(), value.clone());
            Box::pin(async move {
                bounded(value.len())?;
                let value = rest.seal(Place::Record { kind, key: &key }, &value)?.into_owned();
                put(session, (kind, &key), &value, expires, expect, now).await
            })
        }))
    }

    fn put_within(&self, room: Room, kind: &'static str, item: Item, now: Time) -> Pending<'_, u64> {
        let (route, rest) = (route(kind, &item.key), self.rest.clone());
        Box::pin(self.write(route, move |session| {
            let (room, item, rest) = (room.clone(), item.clone(), rest.clone());
            Box::pin(async move {
                bounded(item.value.len())?;
                let value = rest.seal(Place::Record { kind, key: &item.key }, &item.value)?.into_owned();
                put_within(session, &room, kind, &item, &value, now).await
            })
        }))
    }

    fn rewrite(&self, kind: &'static str, key: &str, value: Bytes, revision: u64) -> Pending<'_, bool> {
        let (key, rest) = (key.to_owned(), self.rest.clone());
        Box::pin(self.write(route(kind, &key), move |session| {
            let (key, rest, value) = (key.clone(), rest.clone(), value.clone());
            Box::pin(async move {
                bounded(value.len())?;
                let value = rest.seal(Place::Record { kind, key: &key }, &value)?.into_owned();
                let sql = "WITH old AS (SELECT owner, length(value) AS len FROM records
                         WHERE kind = $1 AND key = $2 AND revision = $4 FOR UPDATE),
                     counted AS (UPDATE held SET count = greatest(0, held.count + length($3::bytea) - old.len)
                         FROM old WHERE held.of = 'bytes' AND held.owner = old.owner)
                     UPDATE records SET value = $3 FROM old WHERE kind = $1 AND key = $2 AND revision = $4";
                Ok(session.execute(sql, &[&kind, &key, &value, &integer(revision)]).await? > 0)
            })
        }))
    }

    fn take(&self, kind: &'static str, key: &str, now: Time) -> Pending<'_, Option<Item>> {
        let (key, rest) = (key.to_owned(), self.rest.clone());
        Box::pin(self.write(route(kind, &key), move |session| {
            let (key, rest) = (key.clone(), rest.clone());
            Box::pin(async move {
                let taken = remove(session, kind, &key).await?;
                let item = taken.map(|row| open(&rest, kind, &row)).transpose()?;
                Ok(item.filter(|item| item.expires.is_none_or(|expires| expires > now)))
            })
        }))
    }

    fn list(&self, kind: &'static str, after: Option<&str>, count: usize, now: Time) -> Pending<'_, Vec<Item>> {
        let (after, rest) = (after.map(str::to_owned), self.rest.clone());
        Box::pin(async move {
            self.readers
                .read(|session| {
                    let (after, rest) = (after.clone(), rest.clone());
                    Box::pin(async move {
                        // Every key is after nothing, and the empty one too.
                        let bound = if after.is_some() { "key > $2" } else { "key >= coalesce($2, '')" };
                        let sql = format!(
                            "SELECT key, revision, value, expires FROM records WHERE kind = $1 AND {bound}
                             AND (expires IS NULL OR expires > $3) ORDER BY key LIMIT $4"
                        );
                        let rows = session.query(&sql, &[&kind, &after, &integer(now.0), &size(count)]).await?;
                        rows.iter().map(|row| open(&rest, kind, row)).collect()
                    })
                })
                .await
        })
    }

    fn count(&self, kind: &'static str, now: Time) -> Pending<'_, u64> {
        Box::pin(async move {
            self.readers
                .read(|session| {
                    Box::pin(async move {
                        let sql = "SELECT count(*) FROM records WHERE kind = $1 AND (expires IS NULL OR expires > $2)";
                        let rows = session.query(sql, &[&kind, &integer(now.0)]).await?;
                        Ok(number(first_number(&rows)?))
                    })
                })
                .await
        })
    }

    fn expire(&self, now: Time) -> Pending<'_, u64> {
        Box::pin(retention::expire(self, now))
    }
}

/// Requests for one record go to one lane.
fn route(kind: &str, key: &str) -> usize {
    super::spread(&(kind, key))
}

fn open(rest: &EncryptionAtRest, kind: &str, row: &Row) -> Result<Item, Refused> {
    let key = Text::from(row.try_get::<_, String>(0)?);
    let value = rest.open(Place::Record { kind, key: &key }, row.try_get(2)?)?;
    let expires = row.try_get::<_, Option<i64>>(3)?.map(|time| Time(number(time)));
    Ok(Item { key, revision: number(row.try_get(1)?), value, expires })
}

/// Whose a record is and what is stored beside it stays as it is: a put says nothing of that.
async fn put(
    session: &Session,
    (kind, key): (&str, &str),
    value: &[u8],
    expires: Option<Time>,
    expect: Expect,
    now: Time,
) -> Result<u64, Refused> {
    let (there, made) = match expect {
        Expect::Anything => ("TRUE OR $5::int8 = $6::int8", true),
        Expect::Absent => ("records.expires <= $5 OR $5::int8 < $6::int8", true),
        // Nothing is revision 0.
        Expect::Revision(0) => ("records.expires <= $5 OR $5::int8 < $6::int8", true),
        Expect::Revision(_) => {
            ("records.revision = $6::int8 AND (records.expires IS NULL OR records.expires > $5::int8)", false)
        }
    };
    let revision = match expect {
        Expect::Revision(revision) if revision > 0 => integer(revision),
        Expect::Anything | Expect::Absent | Expect::Revision(_) => i64::MIN,
    };
    // The old row is looked at first: one that this statement has changed cannot be locked any more.
    let write = if made {
        format!(
            "INSERT INTO records (kind, key, revision, expires, value) 
             SELECT $1::text, $2::text, nextval('revisions'), $3::int8, $4::bytea FROM (SELECT count(*) FROM old) AS seen
             ON CONFLICT (kind, key) DO UPDATE SET revision = excluded.revision, expires = excluded.expires,
             value = excluded.value WHERE {there} RETURNING revision"
        )
    } else {
        format!(
            "UPDATE records SET revision = nextval('revisions'), expires = $3, value = $4
             WHERE kind = $1 AND key = $2 AND {there} AND (SELECT count(*) FROM old) >= 0 RETURNING revision"
        )
    };
    let sql = format!(
        "WITH old AS (SELECT owner, length(value) AS len FROM records WHERE kind = $1 AND key = $2 FOR UPDATE),
         put AS ({write}),
         counted AS (UPDATE held SET count = greatest(0, held.count + length($4::bytea) - old.len)
             FROM old, put WHERE held.of = 'bytes' AND held.owner = old.owner)
         SELECT revision FROM put"
    );
    let (expires, now) = (expires.map(|time| integer(time.0)), integer(now.0));
    let rows = session.query(&sql, &[&kind, &key, &expires, &value, &now, &revision]).await?;
    if let Some(row) = rows.first() {
        return Ok(number(row.try_get(0)?));
    }
    let expected = match expect {
        Expect::Revision(revision) => revision,
        Expect::Anything | Expect::Absent => 0,
    };
    Err(StoreFault::Moved { expected, found: revision_of(session, kind, key, now).await? }.into())
}

/// An expired item counts as absent, and absent as revision 0.
async fn revision_of(session: &Session, kind: &str, key: &str, now: i64) -> Result<u64, Refused> {
    let sql =
        "SELECT revision FROM records WHERE kind = $1 AND key = $2 AND (expires IS NULL OR expires > $3) FOR UPDATE";
    Ok(number(first_number(&session.query(sql, &[&kind, &key, &now]).await?)?))
}

/// Removes a record, and what its owner is counted for it.
async fn remove(session: &Session, kind: &str, key: &str) -> Result<Option<Row>, Refused> {
    let sql = "WITH gone AS (DELETE FROM records WHERE kind = $1 AND key = $2
             RETURNING key, revision, value, expires, counted, owner, beside),
         less AS (UPDATE held SET count = greatest(0, held.count - CASE WHEN held.of = 'bytes'
                 THEN octet_length(gone.key) + length(gone.value) + gone.beside ELSE 1 END)
             FROM gone WHERE held.owner = gone.owner AND held.of IN (gone.counted, 'bytes'))
         SELECT key, revision, value, expires FROM gone";
    Ok(session.query(sql, &[&kind, &key]).await?.pop())
}

/// What it replaces counts no longer; the savepoint takes that back when this is refused.
async fn put_within(
    session: &Session,
    room: &Room,
    kind: &str,
    item: &Item,
    value: &[u8],
    now: Time,
) -> Result<u64, Refused> {
    let found = revision_of(session, kind, &item.key, integer(now.0)).await?;
    if found != item.revision {
        return Err(StoreFault::Moved { expected: item.revision, found }.into());
    }
    remove(session, kind, &item.key).await?;
    let bytes = item.key.len() + value.len();
    quota::check(session, room, bytes as u64).await?;
    let sql = "INSERT INTO records (kind, key, revision, expires, value, counted, owner, beside)
         VALUES ($1, $2, nextval('revisions'), $3, $4, $5, $6, $7) ON CONFLICT (kind, key) DO NOTHING RETURNING revision";
    let (key, owner) = (&*item.key, &*room.owner);
    let expires = item.expires.map(|time| integer(time.0));
    let rows = session.query(sql, &[&kind, &key, &expires, &value, &room.of, &owner, &integer(room.beside)]).await?;
    let Some(row) = rows.first() else {
        // Another lane made it since.
        let found = revision_of(session, kind, key, integer(now.0)).await?;
        return Err(StoreFault::Moved { expected: item.revision, found }.into());
    };
    quota::add(session, room.of, owner, 1).await?;
    quota::add(session, quota::BYTES, owner, size(bytes).saturating_add(integer(room.beside))).await?;
    let revision: i64 = row.try_get(0)?;
    if revision < 1 { Err(damaged("a revision")) } else { Ok(number(revision)) }
}
