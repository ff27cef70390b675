//! Tables and their versions. Steps only add: a hub of the version before goes on with what it knows.
//!
//! `logs` is written by every append, and no index has its `head` or `at`, so that the database writes one row and no index
//! (HOT). When a task was changed last is `logs.at` of its log; for a task that is done it is also `tasks.ended`, which is
//! indexed. Bytes are counted for each log; `held` sums them, and counts, for each owner. Nothing here is done by a trigger.

use super::columns::first_number;
use super::connection::{Session, Target};
use super::fault::{OpenFault, SqlError};

/// Each entry takes the schema from its index to the next version. Entries are never changed, only added.
const STEPS: &[&str] = &[FIRST, SECOND];

/// The oldest server that works.
const OLDEST: u32 = 15;

/// Hubs beat, so that a dead one is told from a living one; `lock_id` names the lock file of its directory. Blobs: `tag` stands for
/// the digest, `no` names the chunks. A part is a blob that is being written by a hub.
const SECOND: &str = r#"
ALTER TABLE hubs ADD COLUMN beat bigint NOT NULL DEFAULT 0, ADD COLUMN lock_id text COLLATE "C";
CREATE TABLE parts (no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, hub bigint NOT NULL);
CREATE TABLE blobs (
    tag bytea PRIMARY KEY, no bigint NOT NULL, len bigint NOT NULL, head bytea NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX blobs_by_age ON blobs (at, tag);
CREATE TABLE chunks (no bigint NOT NULL, n bigint NOT NULL, bytes bytea NOT NULL, PRIMARY KEY (no, n));
ALTER TABLE chunks ALTER COLUMN bytes SET STORAGE EXTERNAL;
"#;

const FIRST: &str = r#"
CREATE TABLE hubs (
    no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE "C" NOT NULL, build text NOT NULL,
    joined timestamptz NOT NULL DEFAULT now(), state smallint NOT NULL
);
CREATE UNIQUE INDEX hubs_living ON hubs (name) WHERE state < 3;
CREATE TABLE lanes (
    hub bigint NOT NULL, lane integer NOT NULL, n bigint NOT NULL, PRIMARY KEY (hub, lane)
) WITH (fillfactor = 50);

-- kind: 0 task, 1 run, 2 topic, 3 audit. id: 16 bytes, or a topic's name. floor: last sequence removed by retention.
CREATE TABLE logs (
    no bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, kind smallint NOT NULL, id bytea NOT NULL,
    head bigint NOT NULL, floor bigint NOT NULL DEFAULT 0, at bigint NOT NULL,
    bytes bigint NOT NULL DEFAULT 0, beside bigint NOT NULL DEFAULT 0, UNIQUE (kind, id)
) WITH (fillfactor = 70);
CREATE TABLE journal (
    log bigint NOT NULL, seq bigint NOT NULL, at bigint NOT NULL, bytes bytea NOT NULL, owner text COLLATE "C",
    PRIMARY KEY (log, seq)
);
ALTER TABLE journal ALTER COLUMN bytes SET STORAGE EXTERNAL;
CREATE TABLE snapshots (log bigint PRIMARY KEY, seq bigint NOT NULL, at bigint NOT NULL, bytes bytea NOT NULL);
ALTER TABLE snapshots ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- no: of the task's own log. state: 0 accepted, 1 running, 2 waiting, 3 completed, 4 failed, 5 cancelled.
CREATE TABLE tasks (
    no bigint PRIMARY KEY, task bytea NOT NULL UNIQUE, owner text COLLATE "C" NOT NULL, conversation text COLLATE "C",
    parent bytea, skill text COLLATE "C", state smallint NOT NULL, created bigint NOT NULL, ended bigint
);
CREATE INDEX tasks_by_time ON tasks (created, task);
CREATE INDEX tasks_by_owner ON tasks (owner, created, task);
CREATE INDEX tasks_by_conversation ON tasks (conversation, created, task) WHERE conversation IS NOT NULL;
CREATE INDEX tasks_by_parent ON tasks (parent) WHERE parent IS NOT NULL;
CREATE INDEX tasks_living ON tasks (created, task) WHERE state < 3;
CREATE INDEX tasks_unhappy ON tasks (state, created, task) WHERE state > 3;
CREATE INDEX tasks_done ON tasks (ended, task) WHERE state >= 3;

CREATE TABLE keys (key bytea PRIMARY KEY, task bytea NOT NULL, body bytea NOT NULL, until bigint NOT NULL);
CREATE INDEX keys_by_until ON keys (until);
CREATE INDEX keys_by_task ON keys (task);

CREATE TABLE held (
    of text COLLATE "C" NOT NULL, owner text COLLATE "C" NOT NULL, count bigint NOT NULL, PRIMARY KEY (of, owner)
) WITH (fillfactor = 50);

CREATE SEQUENCE revisions;
-- counted: as what a record counts, and whose it is; both absent for what is the hub's own.
CREATE TABLE records (
    kind text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, revision bigint NOT NULL, expires bigint,
    value bytea NOT NULL, counted text COLLATE "C", owner text COLLATE "C", beside bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, key)
);
CREATE INDEX records_by_expiry ON records (kind, expires);
"#;

/// Makes the schema, or brings it up to date; hubs that start at once do it one after the other, by the lock of a row.
pub(super) async fn migrate(session: &Session, target: &Target) -> Result<(), OpenFault> {
    let fail = || OpenFault::database("migrate");
    admit(session).await?;
    // Two that make the same schema or table at once collide; the second finds it made.
    let make = format!(
        "CREATE SCHEMA IF NOT EXISTS {};
         CREATE TABLE IF NOT EXISTS meta (name text PRIMARY KEY, value text NOT NULL)",
        target.schema()
    );
    if !is_made(session, target).await.map_err(fail())? && session.batch(&make).await.is_err() {
        session.batch(&make).await.map_err(fail())?;
    }
    session.batch("INSERT INTO meta VALUES ('schema', '0') ON CONFLICT DO NOTHING; BEGIN").await.map_err(fail())?;
    // Locked until this transaction ends.
    let found = version(session, "FOR UPDATE").await?;
    for step in STEPS.get(found..).unwrap_or_default() {
        session.batch(step).await.map_err(fail())?;
    }
    let set = format!("UPDATE meta SET value = '{}' WHERE name = 'schema'; COMMIT", STEPS.len());
    session.batch(&set).await.map_err(fail())
}

/// A user who may not make a schema can use one that was made for it.
async fn is_made(session: &Session, target: &Target) -> Result<bool, SqlError> {
    let sql = "SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'meta'";
    Ok(!session.query(sql, &[&target.schema()]).await?.is_empty())
}

/// Would a hub open the schema, if there is one?
pub(super) async fn check(session: &Session, target: &Target) -> Result<(), OpenFault> {
    if is_made(session, target).await.map_err(OpenFault::database("read the schema of"))? {
        version(session, "").await?;
    }
    Ok(())
}

/// The schema that is there.
async fn version(session: &Session, lock: &str) -> Result<usize, OpenFault> {
    let fail = || OpenFault::database("read the schema of");
    let sql = format!("SELECT value FROM meta WHERE name = 'schema' {lock}");
    let rows = session.query(&sql, &[]).await.map_err(fail())?;
    let written = rows.first().and_then(|row| row.try_get::<_, String>(0).ok());
    let found = written.and_then(|text| text.parse::<usize>().ok());
    let found =
        found.ok_or_else(|| OpenFault::Database { doing: "migrate", what: "its schema has no version".into() })?;
    if found > STEPS.len() {
        let number = |steps: usize| i64::try_from(steps).unwrap_or(i64::MAX);
        return Err(OpenFault::Newer { found: number(found), known: number(STEPS.len()) });
    }
    Ok(found)
}

/// Is the server new enough?
pub(super) async fn admit(session: &Session) -> Result<(), OpenFault> {
    let fail = || OpenFault::database("read the version of");
    let rows = session.query("SELECT current_setting('server_version_num')::int8", &[]).await.map_err(fail())?;
    let number = first_number(&rows)
        .map_err(|_| OpenFault::Database { doing: "read the version of", what: "no number".into() })?;
    admits(number)
}

/// `150004` is 15.4.
fn admits(number: i64) -> Result<(), OpenFault> {
    if number >= i64::from(OLDEST) * 10_000 {
        return Ok(());
    }
    Err(OpenFault::Version { found: format!("{}.{}", number / 10_000, number % 10_000), needed: OLDEST })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_too_old_is_refused_with_both_versions() {
        assert!(admits(150_000).is_ok() && admits(180_001).is_ok());
        let refused = admits(140_011).unwrap_err().to_string();
        assert_eq!(refused, "the database is PostgreSQL 14.11; the hub needs 15 or newer");
    }
}
