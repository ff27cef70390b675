//! Quota of an owner: how much one owner keeps, and room for more. `held` is changed by the transaction that changes what it counts.
//!
//! A caller's own oldest tasks make room for its new ones; so whoever makes many pushes nobody else's out. Only the first few are
//! looked at: an owner whose oldest tasks all still run has too many. The row of `held` is locked while room is made.

use interlingua_model::id::TaskId;
use interlingua_model::ports::{Append, Room, Share, StoreFault};

use super::columns::{first_number, id, number, task_ids};
use super::connection::Session;
use super::fault::Refused;
use super::retention;

/// What tasks are counted as.
pub(super) const TASKS: &str = "tasks";
/// What bytes are counted as: of the tasks with all that is kept for them, and of records and entries of topics that are the
/// owner's.
pub(super) const BYTES: &str = "bytes";
/// What there is too much of, as its caller is told.
const STORED: &str = "stored bytes";
const BYTES_OF_TASK: &str = "bytes in one task";
/// So many of the oldest are looked at.
const OLDEST: i64 = 64;

pub(super) async fn add(session: &Session, of: &str, owner: &str, more: i64) -> Result<(), Refused> {
    if more != 0 {
        let put = "INSERT INTO held VALUES ($1, $2, $3)
             ON CONFLICT (of, owner) DO UPDATE SET count = greatest(0, held.count + excluded.count)";
        session.execute(put, &[&of, &owner, &more]).await?;
    }
    Ok(())
}

/// How many there are; they stay as many until this transaction ends.
async fn count(session: &Session, of: &str, owner: &str) -> Result<u64, Refused> {
    let lock =
        "INSERT INTO held VALUES ($1, $2, 0) ON CONFLICT (of, owner) DO UPDATE SET count = held.count RETURNING count";
    Ok(number(first_number(&session.query(lock, &[&of, &owner]).await?)?))
}

/// Room for one more record, of so many bytes and what is stored beside it?
pub(super) async fn check(session: &Session, room: &Room, bytes: u64) -> Result<(), Refused> {
    if count(session, room.of, &room.owner).await? >= room.most {
        return Err(StoreFault::Crowded(room.of.into()).into());
    }
    match room.bytes {
        Some(most) => make_room_for_bytes(session, &room.owner, None, bytes.saturating_add(room.beside), most).await,
        None => Ok(()),
    }
}

/// For an append that is bounded: `new` is whether its log is, and `grown` the bytes it brings.
pub(super) async fn make_room(session: &Session, append: &Append, new: bool, grown: u64) -> Result<(), Refused> {
    if let Some(Share { owner, bytes }) = &append.share {
        make_room_for_bytes(session, owner, None, grown, *bytes).await?;
    }
    let (Some(room), Some(row)) = (append.most, &append.row) else { return Ok(()) };
    if let Some(most) = room.of_task
        && (if new { 0 } else { bytes_of(session, row.task).await? }).saturating_add(grown) > most
    {
        return Err(StoreFault::Crowded(BYTES_OF_TASK.into()).into());
    }
    if let (true, Some(most)) = (new, room.tasks) {
        make_room_for_task(session, &row.owner, most).await?;
    }
    match room.bytes {
        Some(most) => make_room_for_bytes(session, &row.owner, Some(row.task), grown, most).await,
        None => Ok(()),
    }
}

/// Bytes in the journals of a task.
async fn bytes_of(session: &Session, task: TaskId) -> Result<u64, Refused> {
    let sum = "SELECT coalesce(sum(bytes), 0)::int8 FROM logs WHERE kind IN (0, 1) AND id = $1";
    Ok(number(first_number(&session.query(sum, &[&id(task)]).await?)?))
}

async fn make_room_for_task(session: &Session, owner: &str, most: u64) -> Result<(), Refused> {
    let surplus = (count(session, TASKS, owner).await? + 1).saturating_sub(most);
    if surplus == 0 {
        return Ok(());
    }
    let finished = oldest_finished(session, owner).await?;
    // More than one where the bound was lowered.
    if finished.is_empty() || most == 0 {
        return Err(StoreFault::Crowded(TASKS.into()).into());
    }
    let goes = usize::try_from(surplus).unwrap_or(usize::MAX).min(finished.len());
    retention::remove(session, &finished[..goes]).await.map(drop)
}

/// `task`: the one that grows, which stays.
async fn make_room_for_bytes(
    session: &Session,
    owner: &str,
    task: Option<TaskId>,
    grown: u64,
    most: u64,
) -> Result<(), Refused> {
    let fits = async || Ok::<_, Refused>(count(session, BYTES, owner).await?.saturating_add(grown) <= most);
    if fits().await? {
        return Ok(());
    }
    for goes in oldest_finished(session, owner).await?.into_iter().filter(|goes| Some(*goes) != task) {
        retention::remove(session, &[goes]).await?;
        if fits().await? {
            return Ok(());
        }
    }
    Err(StoreFault::Crowded(STORED.into()).into())
}

/// What a task started may be asked for again for as long as that one runs.
async fn oldest_finished(session: &Session, owner: &str) -> Result<Vec<TaskId>, Refused> {
    let select = "SELECT task FROM (SELECT task, state, parent, created FROM tasks WHERE owner = $1
         ORDER BY created, task LIMIT $2) AS oldest
         WHERE state >= 3 AND NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.task = oldest.parent AND tasks.state < 3)
         ORDER BY created, task";
    let rows = session.query(select, &[&owner, &OLDEST]).await?;
    task_ids(&rows)
}
