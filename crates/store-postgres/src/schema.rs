//! Tables and their versions. Steps only add: a hub of the version before goes on with what it knows.
//!
//! `logs` is written by every append, and no index has its `head` or `at`, so that the database writes one row and no index
//! (HOT). When a task was changed last is `logs.at` of its log; for a task that is done it is also `tasks.ended`, which is
//! indexed. Bytes are counted for each log; `held` sums them, and counts, for each owner. Nothing here is done by a trigger.

use super::connection::Session;
use super::fault::OpenFault;

/// Each entry takes the schema from its index to the next version. Entries are never changed, only added.
const STEPS: &[&str] = &[FIRST];

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
pub(super) async fn migrate(session: &Session) -> Result<(), OpenFault> {
    let fail = || OpenFault::database("migrate");
    // Two that make the same table at once collide; the second finds it made.
    let make = "CREATE TABLE IF NOT EXISTS meta (name text PRIMARY KEY, value text NOT NULL)";
    if session.batch(make).await.is_err() {
        session.batch(make).await.map_err(fail())?;
    }
    session.batch("INSERT INTO meta VALUES ('schema', '0') ON CONFLICT DO NOTHING; BEGIN").await.map_err(fail())?;
    let rows = session.query("SELECT value FROM meta WHERE name = 'schema' FOR UPDATE", &[]).await.map_err(fail())?;
    let found = rows.first().and_then(|row| row.get::<_, String>(0).parse::<usize>().ok()).unwrap_or_default();
    if found > STEPS.len() {
        let number = |steps: usize| i64::try_from(steps).unwrap_or(i64::MAX);
        return Err(OpenFault::Newer { found: number(found), known: number(STEPS.len()) });
    }
    for step in &STEPS[found..] {
        session.batch(step).await.map_err(fail())?;
    }
    let set = format!("UPDATE meta SET value = '{}' WHERE name = 'schema'; COMMIT", STEPS.len());
    session.batch(&set).await.map_err(fail())
}

/// A new number for this hub, with so many lanes. Whoever had the name before is buried: its lanes are gone, so it cannot write.
pub(super) async fn join(session: &Session, name: &str, lanes: i32) -> Result<i64, OpenFault> {
    let fail = || OpenFault::database("join");
    session.batch("BEGIN; SELECT 1 FROM meta WHERE name = 'schema' FOR UPDATE").await.map_err(fail())?;
    let bury = "WITH buried AS (UPDATE hubs SET state = 4 WHERE name = $1 AND state < 3 RETURNING no)
         DELETE FROM lanes WHERE hub IN (SELECT no FROM buried)";
    session.execute(bury, &[&name]).await.map_err(fail())?;
    let insert = "INSERT INTO hubs (name, build, state) VALUES ($1, $2, 1) RETURNING no";
    let rows = session.query(insert, &[&name, &env!("CARGO_PKG_VERSION")]).await.map_err(fail())?;
    let hub: i64 = rows.first().map(|row| row.get(0)).unwrap_or_default();
    let make = "INSERT INTO lanes SELECT $1::int8, lane, 0 FROM generate_series(0, $2::int4 - 1) AS lane";
    session.execute(make, &[&hub, &lanes]).await.map_err(fail())?;
    session.batch("COMMIT").await.map_err(fail())?;
    Ok(hub)
}
