//! Quota of an owner: the bytes and rows it stores, and eviction for new ones. Triggers maintain the table `held` with every inserted and
//! deleted row (see the schema), so reading a quota is one lookup.
//!
//! A caller's own oldest tasks are evicted for its new ones, as the retention rules evict the oldest of all; so a caller with many tasks
//! never evicts those of others. Only the first few are considered: a caller whose oldest tasks all still run has too many.

use interlingua_model::id::TaskId;
use interlingua_model::ports::{Append, Room, Share, StoreFault, TaskRow};
use rusqlite::{Connection, OptionalExtension, params};

use super::columns::{Col, TASK};
use super::fault::Refused;
use super::{retention, tasks};

/// What tasks are counted as.
const TASKS: &str = "tasks";
/// What bytes are counted as: of the tasks with all that is kept for them, and of records and entries of topics that are the
/// owner's.
const BYTES: &str = "bytes";
/// What there is too much of, as its caller is told.
const STORED: &str = "stored bytes";
const BYTES_OF_TASK: &str = "bytes in one task";
/// So many of the oldest are looked at.
const OLDEST: i64 = 64;

fn count(db: &Connection, of: &str, owner: &str) -> Result<u64, Refused> {
    let mut select = db.prepare_cached("SELECT count FROM held WHERE of = ?1 AND owner = ?2")?;
    let found = select.query_row(params![of, owner], |row| row.get::<_, Col<u64>>(0)).optional()?;
    Ok(found.map_or(0, |count| count.0))
}

/// Room for one more, of so many bytes and what is stored beside it?
pub(super) fn check(db: &Connection, room: &Room, bytes: u64) -> Result<(), Refused> {
    if count(db, room.of, &room.owner)? >= room.most {
        return Err(StoreFault::Crowded(room.of.into()).into());
    }
    match room.bytes {
        Some(most) => make_room_for_bytes(db, &room.owner, None, bytes.saturating_add(room.beside), most),
        None => Ok(()),
    }
}

/// For an append that is bounded: `no` is the log it goes to, when there is one, and `grown` the bytes it brings.
pub(super) fn make_room(db: &Connection, append: &Append, no: Option<i64>, grown: u64) -> Result<(), Refused> {
    if let Some(Share { owner, bytes }) = &append.share {
        make_room_for_bytes(db, owner, None, grown, *bytes)?;
    }
    let (Some(room), Some(TaskRow { owner, task, .. })) = (append.most, &append.row) else { return Ok(()) };
    let held = match no {
        Some(no) if room.of_task.is_some() => tasks::bytes(db, no)?,
        Some(_) | None => 0,
    };
    if room.of_task.is_some_and(|most| held.saturating_add(grown) > most) {
        return Err(StoreFault::Crowded(BYTES_OF_TASK.into()).into());
    }
    if let (None, Some(most)) = (no, room.tasks) {
        make_room_for_task(db, owner, most)?;
    }
    match room.bytes {
        Some(most) => make_room_for_bytes(db, owner, Some(*task), grown, most),
        None => Ok(()),
    }
}

fn make_room_for_task(db: &Connection, owner: &str, most: u64) -> Result<(), Refused> {
    let surplus = (count(db, TASKS, owner)? + 1).saturating_sub(most);
    if surplus == 0 {
        return Ok(());
    }
    let finished = oldest_finished(db, owner)?;
    // More than one where the bound was lowered.
    if finished.is_empty() || most == 0 {
        return Err(StoreFault::Crowded(TASKS.into()).into());
    }
    let goes = usize::try_from(surplus).unwrap_or(usize::MAX);
    finished.iter().take(goes).try_for_each(|task| retention::remove(db, *task))
}

/// `task`: the one that grows, which stays.
fn make_room_for_bytes(
    db: &Connection,
    owner: &str,
    task: Option<TaskId>,
    grown: u64,
    most: u64,
) -> Result<(), Refused> {
    let fits = |db| Ok::<_, Refused>(count(db, BYTES, owner)?.saturating_add(grown) <= most);
    if fits(db)? {
        return Ok(());
    }
    for goes in oldest_finished(db, owner)?.into_iter().filter(|goes| Some(*goes) != task) {
        retention::remove(db, goes)?;
        if fits(db)? {
            return Ok(());
        }
    }
    Err(StoreFault::Crowded(STORED.into()).into())
}

/// What a task started may be asked for again for as long as that one runs.
fn oldest_finished(db: &Connection, owner: &str) -> Result<Vec<TaskId>, Refused> {
    let mut select = db.prepare_cached(
        "SELECT task FROM (SELECT task, state, parent FROM tasks INDEXED BY tasks_by_owner WHERE owner = ?1
         ORDER BY created, task LIMIT ?2) AS oldest
         WHERE state >= 3 AND NOT EXISTS (
             SELECT 1 FROM logs JOIN tasks ON tasks.no = logs.no
             WHERE logs.kind = ?3 AND logs.id = oldest.parent AND tasks.state < 3)",
    )?;
    Ok(retention::ids(&mut select, params![owner, OLDEST, TASK])?)
}
