//! Tables, their versions, and how a connection is set up.
//!
//! A log has a small number of its own, given in the order logs are made, and everything else hangs on that number. A
//! task's id is random; the number is not, so the records of recent tasks lie on neighbouring pages and one commit of
//! many tasks writes few of them.
//!
//! `PRAGMA user_version` holds the number of migrations done. A step is one transaction; a version above ours is refused.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::Options;
use super::fault::OpenFault;

/// "ilng": says whose database this is.
const APPLICATION: i64 = 0x696c_6e67;

/// Each entry takes the schema from its index to the next version. Entries are never changed, only added.
pub(super) const MIGRATIONS: &[&str] = &[VERSION_1, VERSION_2, VERSION_3, VERSION_4, VERSION_5, VERSION_6, VERSION_7];

const VERSION_1: &str = "
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO counters VALUES ('revision', 0);

-- kind: 0 task, 1 run, 2 topic, 3 audit. id: 16 bytes, or a topic's name. floor: last sequence removed by retention.
CREATE TABLE logs (
    no INTEGER PRIMARY KEY, kind INTEGER NOT NULL, id BLOB NOT NULL, floor INTEGER NOT NULL DEFAULT 0,
    UNIQUE (kind, id)
) STRICT;
CREATE TABLE journal (
    log INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, bytes BLOB NOT NULL,
    PRIMARY KEY (log, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE snapshots (
    log INTEGER PRIMARY KEY, seq INTEGER NOT NULL, at INTEGER NOT NULL, bytes BLOB NOT NULL
) STRICT;

-- no: of the task's own log. state: 0 accepted, 1 running, 2 waiting, 3 completed, 4 failed, 5 cancelled.
CREATE TABLE tasks (
    no INTEGER PRIMARY KEY, task BLOB NOT NULL, owner TEXT NOT NULL, conversation TEXT, parent BLOB, skill TEXT,
    state INTEGER NOT NULL, created INTEGER NOT NULL, updated INTEGER NOT NULL
) STRICT;
CREATE INDEX tasks_by_time ON tasks (created, task);
CREATE INDEX tasks_by_owner ON tasks (owner, created, task);
CREATE INDEX tasks_by_conversation ON tasks (conversation, created, task) WHERE conversation IS NOT NULL;
CREATE INDEX tasks_by_parent ON tasks (parent) WHERE parent IS NOT NULL;
CREATE INDEX tasks_live ON tasks (created, task) WHERE state < 3;
CREATE INDEX tasks_unhappy ON tasks (state, created, task) WHERE state > 3;
CREATE INDEX tasks_done ON tasks (updated) WHERE state >= 3;

CREATE TABLE keys (
    key BLOB PRIMARY KEY, task BLOB NOT NULL, body BLOB NOT NULL, until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX keys_by_until ON keys (until);
CREATE INDEX keys_by_task ON keys (task);

CREATE TABLE records (
    kind TEXT NOT NULL, key TEXT NOT NULL, revision INTEGER NOT NULL, expires INTEGER, value BLOB NOT NULL,
    PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX records_by_expiry ON records (kind, expires);
";

/// Lists by last change. Every append moves its task to the end of the index, which is the page written last.
const VERSION_2: &str = "CREATE INDEX tasks_by_change ON tasks (updated, task);";

/// How much each owner keeps, counted with whatever changes it, so that nobody has to count.
const VERSION_3: &str = "
CREATE TABLE held (
    of TEXT NOT NULL, owner TEXT NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (of, owner)
) STRICT, WITHOUT ROWID;
INSERT INTO held SELECT 'tasks', owner, count(*) FROM tasks GROUP BY owner;
CREATE TRIGGER tasks_come AFTER INSERT ON tasks BEGIN
    INSERT INTO held VALUES ('tasks', new.owner, 1) ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER tasks_go AFTER DELETE ON tasks BEGIN
    UPDATE held SET count = count - 1 WHERE of = 'tasks' AND owner = old.owner;
    DELETE FROM held WHERE of = 'tasks' AND owner = old.owner AND count < 1;
END;

-- counted: as what a record counts, and whose it is; both absent for what is the hub's own.
ALTER TABLE records ADD COLUMN counted TEXT;
ALTER TABLE records ADD COLUMN owner TEXT;
CREATE TRIGGER records_come AFTER INSERT ON records WHEN new.owner IS NOT NULL BEGIN
    INSERT INTO held VALUES (new.counted, new.owner, 1) ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER records_go AFTER DELETE ON records WHEN old.owner IS NOT NULL BEGIN
    UPDATE held SET count = count - 1 WHERE of = old.counted AND owner = old.owner;
    DELETE FROM held WHERE of = old.counted AND owner = old.owner AND count < 1;
END;
";

/// Records in the order they came, found by an index. In a table that is its own index, whoever looks for a place compares whole
/// records, and reads those of a quarter of a megabyte (a page of the audit) from end to end for it.
const VERSION_4: &str = "
CREATE TABLE entries (
    log INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, bytes BLOB NOT NULL,
    UNIQUE (log, seq)
) STRICT;
INSERT INTO entries (log, seq, at, bytes) SELECT log, seq, at, bytes FROM journal;
DROP TABLE journal;
ALTER TABLE entries RENAME TO journal;
";

/// Bytes of each task's journals and of each owner's, counted like the tasks themselves. A log that is no task's counts its own.
const VERSION_5: &str = "
ALTER TABLE tasks ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE logs ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE logs SET bytes = coalesce((SELECT sum(length(journal.bytes)) FROM journal WHERE journal.log = logs.no), 0);
UPDATE tasks SET bytes = coalesce((SELECT sum(logs.bytes) FROM logs WHERE logs.id = tasks.task AND logs.kind < 2), 0);
UPDATE logs SET bytes = 0 WHERE kind < 2;
INSERT INTO held SELECT 'bytes', owner, sum(bytes) FROM tasks GROUP BY owner;
DROP TRIGGER tasks_come;
CREATE TRIGGER tasks_come AFTER INSERT ON tasks BEGIN
    INSERT INTO held VALUES ('tasks', new.owner, 1) ON CONFLICT DO UPDATE SET count = count + 1;
    INSERT INTO held VALUES ('bytes', new.owner, new.bytes) ON CONFLICT DO UPDATE SET count = count + new.bytes;
END;
CREATE TRIGGER tasks_grow AFTER UPDATE OF bytes ON tasks BEGIN
    UPDATE held SET count = count + new.bytes - old.bytes WHERE of = 'bytes' AND owner = new.owner;
END;
DROP TRIGGER tasks_go;
CREATE TRIGGER tasks_go AFTER DELETE ON tasks BEGIN
    UPDATE held SET count = count - 1 WHERE of = 'tasks' AND owner = old.owner;
    UPDATE held SET count = count - old.bytes WHERE of = 'bytes' AND owner = old.owner;
    DELETE FROM held WHERE of IN ('tasks', 'bytes') AND owner = old.owner AND count < 1;
END;
";

/// Folds of a task's journals, what is stored beside them, and records that are somebody's count in bytes too, with whatever
/// changes them. What a task keeps beside its journals goes with its row.
const VERSION_6: &str = "
ALTER TABLE tasks ADD COLUMN beside INTEGER NOT NULL DEFAULT 0;
UPDATE tasks SET beside = coalesce((SELECT sum(length(snapshots.bytes)) FROM snapshots JOIN logs ON logs.no = snapshots.log
    WHERE logs.kind < 2 AND logs.id = tasks.task), 0);
DELETE FROM held WHERE of = 'bytes';
INSERT INTO held SELECT 'bytes', owner, sum(bytes) FROM (
    SELECT owner, bytes + beside AS bytes FROM tasks UNION ALL
    SELECT owner, length(key) + length(value) FROM records WHERE owner IS NOT NULL) GROUP BY owner;

DROP TRIGGER tasks_come;
CREATE TRIGGER tasks_come AFTER INSERT ON tasks BEGIN
    INSERT INTO held VALUES ('tasks', new.owner, 1) ON CONFLICT DO UPDATE SET count = count + 1;
    INSERT INTO held VALUES ('bytes', new.owner, new.bytes + new.beside)
        ON CONFLICT DO UPDATE SET count = count + excluded.count;
END;
DROP TRIGGER tasks_grow;
CREATE TRIGGER tasks_grow AFTER UPDATE OF bytes, beside ON tasks BEGIN
    INSERT INTO held VALUES ('bytes', new.owner, new.bytes + new.beside - old.bytes - old.beside)
        ON CONFLICT DO UPDATE SET count = count + excluded.count;
END;
DROP TRIGGER tasks_go;
CREATE TRIGGER tasks_go AFTER DELETE ON tasks BEGIN
    UPDATE held SET count = count - 1 WHERE of = 'tasks' AND owner = old.owner;
    UPDATE held SET count = count - old.bytes - old.beside WHERE of = 'bytes' AND owner = old.owner;
    DELETE FROM held WHERE of IN ('tasks', 'bytes') AND owner = old.owner AND count < 1;
END;

CREATE TRIGGER snapshots_come AFTER INSERT ON snapshots BEGIN
    UPDATE tasks SET beside = beside + length(new.bytes) WHERE no = (SELECT own.no FROM logs JOIN logs AS own
        ON own.kind = 0 AND own.id = logs.id WHERE logs.no = new.log AND logs.kind < 2);
END;
CREATE TRIGGER snapshots_change AFTER UPDATE OF bytes ON snapshots BEGIN
    UPDATE tasks SET beside = beside + length(new.bytes) - length(old.bytes) WHERE no = (SELECT own.no FROM logs
        JOIN logs AS own ON own.kind = 0 AND own.id = logs.id WHERE logs.no = new.log AND logs.kind < 2);
END;
CREATE TRIGGER snapshots_go AFTER DELETE ON snapshots BEGIN
    UPDATE tasks SET beside = beside - length(old.bytes) WHERE no = (SELECT own.no FROM logs JOIN logs AS own
        ON own.kind = 0 AND own.id = logs.id WHERE logs.no = old.log AND logs.kind < 2);
END;

DROP TRIGGER records_come;
CREATE TRIGGER records_come AFTER INSERT ON records WHEN new.owner IS NOT NULL BEGIN
    INSERT INTO held VALUES (new.counted, new.owner, 1) ON CONFLICT DO UPDATE SET count = count + 1;
    INSERT INTO held VALUES ('bytes', new.owner, length(new.key) + length(new.value))
        ON CONFLICT DO UPDATE SET count = count + excluded.count;
END;
CREATE TRIGGER records_change AFTER UPDATE OF value ON records WHEN new.owner IS NOT NULL BEGIN
    INSERT INTO held VALUES ('bytes', new.owner, length(new.value) - length(old.value))
        ON CONFLICT DO UPDATE SET count = count + excluded.count;
END;
DROP TRIGGER records_go;
CREATE TRIGGER records_go AFTER DELETE ON records WHEN old.owner IS NOT NULL BEGIN
    UPDATE held SET count = count - 1 WHERE of = old.counted AND owner = old.owner;
    UPDATE held SET count = count - length(old.key) - length(old.value) WHERE of = 'bytes' AND owner = old.owner;
    DELETE FROM held WHERE of IN (old.counted, 'bytes') AND owner = old.owner AND count < 1;
END;
";

/// Entries of topics that are somebody's, and what is stored beside a record, count in bytes too.
const VERSION_7: &str = "
ALTER TABLE journal ADD COLUMN owner TEXT;
CREATE TRIGGER journal_come AFTER INSERT ON journal WHEN new.owner IS NOT NULL BEGIN
    INSERT INTO held VALUES ('bytes', new.owner, length(new.bytes))
        ON CONFLICT DO UPDATE SET count = count + excluded.count;
END;
CREATE TRIGGER journal_change AFTER UPDATE OF bytes ON journal WHEN new.owner IS NOT NULL BEGIN
    INSERT INTO held VALUES ('bytes', new.owner, length(new.bytes) - length(old.bytes))
        ON CONFLICT DO UPDATE SET count = count + excluded.count;
END;
CREATE TRIGGER journal_go AFTER DELETE ON journal WHEN old.owner IS NOT NULL BEGIN
    UPDATE held SET count = count - length(old.bytes) WHERE of = 'bytes' AND owner = old.owner;
    DELETE FROM held WHERE of = 'bytes' AND owner = old.owner AND count < 1;
END;

ALTER TABLE records ADD COLUMN beside INTEGER NOT NULL DEFAULT 0;
DROP TRIGGER records_come;
CREATE TRIGGER records_come AFTER INSERT ON records WHEN new.owner IS NOT NULL BEGIN
    INSERT INTO held VALUES (new.counted, new.owner, 1) ON CONFLICT DO UPDATE SET count = count + 1;
    INSERT INTO held VALUES ('bytes', new.owner, length(new.key) + length(new.value) + new.beside)
        ON CONFLICT DO UPDATE SET count = count + excluded.count;
END;
DROP TRIGGER records_go;
CREATE TRIGGER records_go AFTER DELETE ON records WHEN old.owner IS NOT NULL BEGIN
    UPDATE held SET count = count - 1 WHERE of = old.counted AND owner = old.owner;
    UPDATE held SET count = count - length(old.key) - length(old.value) - old.beside
        WHERE of = 'bytes' AND owner = old.owner;
    DELETE FROM held WHERE of IN (old.counted, 'bytes') AND owner = old.owner AND count < 1;
END;
";

/// Whether a commit waits for the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sync {
    Full,
    /// Only to show that the power-cut test can fail.
    #[cfg(test)]
    Off,
}

const PAGE: u32 = 4096;

/// The one connection that writes, on a schema of our version.
pub(super) fn writer(file: &Path, options: Options, sync: Sync) -> Result<Connection, OpenFault> {
    let mut db = connect(file, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    set_up_writer(&db, options, sync).map_err(OpenFault::database("set up", file))?;
    migrate(&mut db, file, MIGRATIONS)?;
    if let Some(bytes) = options.max_bytes {
        let pages = i64::try_from(bytes / u64::from(PAGE)).unwrap_or(i64::MAX);
        db.pragma_update(None, "max_page_count", pages).map_err(OpenFault::database("bound", file))?;
    }
    Ok(db)
}

/// A connection that cannot write.
pub(super) fn reader(file: &Path) -> Result<Connection, OpenFault> {
    let db = connect(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    db.pragma_update(None, "cache_size", -4096).map_err(OpenFault::database("set up", file))?;
    Ok(db)
}

fn connect(file: &Path, access: OpenFlags) -> Result<Connection, OpenFault> {
    let db = Connection::open_with_flags(file, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)
        .map_err(OpenFault::database("open", file))?;
    db.set_prepared_statement_cache_capacity(64);
    // Only a checkpoint or the recovery of the log makes one connection wait for another here.
    db.busy_timeout(Duration::from_secs(5)).map_err(OpenFault::database("set up", file))?;
    // Otherwise a cached statement is planned anew for other values, which costs more than running it.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(OpenFault::database("set up", file))?;
    // A mapped page that cannot be read is a signal, not an error value.
    db.pragma_update(None, "mmap_size", 0).map_err(OpenFault::database("set up", file))?;
    Ok(db)
}

fn set_up_writer(db: &Connection, options: Options, sync: Sync) -> rusqlite::Result<()> {
    db.pragma_update(None, "page_size", PAGE)?;
    // Has an effect only before the first table: pages that retention frees can be given back.
    db.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    match sync {
        Sync::Full => db.pragma_update(None, "synchronous", "FULL")?,
        #[cfg(test)]
        Sync::Off => db.pragma_update(None, "synchronous", "OFF")?,
    }
    db.pragma_update(None, "wal_autocheckpoint", options.checkpoint)?;
    // The log is cut back to this after a checkpoint that had to let it grow.
    db.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024)?;
    // What a savepoint would take back is kept in memory instead of a file: a few pages for each of a batch's requests.
    db.pragma_update(None, "temp_store", "MEMORY")?;
    db.pragma_update(None, "cache_size", -16384)
}

/// Brings the schema to the end of `steps`.
pub(super) fn migrate(db: &mut Connection, file: &Path, steps: &[&str]) -> Result<(), OpenFault> {
    let fail = || OpenFault::database("migrate", file);
    let known = i64::try_from(steps.len()).unwrap_or(i64::MAX);
    let found = version(db, file)?;
    if found > known {
        return Err(OpenFault::Newer { file: file.to_owned(), found, known });
    }
    for (from, step) in (0_i64..).zip(steps) {
        if from < found {
            continue;
        }
        let change = db.transaction().map_err(fail())?;
        change.execute_batch(step).map_err(fail())?;
        change.pragma_update(None, "user_version", from + 1).map_err(fail())?;
        change.pragma_update(None, "application_id", APPLICATION).map_err(fail())?;
        change.commit().map_err(fail())?;
    }
    // A new database had no schema to migrate.
    if (1..known).contains(&found) {
        tracing::info!(event = "schema_migrated", version = known, "the database schema was migrated");
    }
    Ok(())
}

/// The schema's version; 0 for a new file. Another program's database is refused.
pub(super) fn version(db: &Connection, file: &Path) -> Result<i64, OpenFault> {
    let read = |pragma| {
        db.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0)).map_err(OpenFault::database("read", file))
    };
    let tables: i64 = db
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(OpenFault::database("read", file))?;
    if tables > 0 && read("application_id")? != APPLICATION {
        return Err(OpenFault::Foreign { file: file.to_owned() });
    }
    read("user_version")
}
