//! How the model's scalars are spelt in columns. Integers of the database are signed: what is above `i64::MAX` is stored as
//! that, which no clock and no counter reaches.

use interlingua_model::id::{ConversationId, TaskId, Text, Time};
use interlingua_model::journal::Log;
use interlingua_model::ports::{StoreFault, TaskPhase, TaskRow};
use tokio_postgres::Row;

use super::fault::Refused;

pub(super) fn integer(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub(super) fn size(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub(super) fn number(value: i64) -> u64 {
    u64::try_from(value).unwrap_or_default()
}

pub(super) fn id(task: TaskId) -> Vec<u8> {
    task.0.to_be_bytes().to_vec()
}

pub(super) fn task_id(bytes: &[u8]) -> Result<TaskId, Refused> {
    let bytes = bytes.try_into().map_err(|_| damaged("the id of a task"))?;
    Ok(TaskId(u128::from_be_bytes(bytes)))
}

/// The number in the first column of the first row; 0 where there is no row.
pub(super) fn first_number(rows: &[Row]) -> Result<i64, Refused> {
    Ok(rows.first().map(|row| row.try_get(0)).transpose()?.unwrap_or_default())
}

/// The tasks whose ids are in the first column.
pub(super) fn task_ids(rows: &[Row]) -> Result<Vec<TaskId>, Refused> {
    rows.iter().map(|row| task_id(row.try_get(0)?)).collect()
}

pub(super) fn damaged(what: &str) -> Refused {
    StoreFault::Damaged(what.into()).into()
}

/// The kind and id columns of a log.
pub(super) fn log(log: &Log) -> (i16, Vec<u8>) {
    let (kind, id) = log.columns();
    (i16::try_from(kind).unwrap_or(i16::MAX), id)
}

pub(super) const TOPIC: i16 = 2;

/// The numbers the partial indexes rely on: below 3 is not done, above 3 did not end well.
pub(super) fn phase(phase: TaskPhase) -> i16 {
    match phase {
        TaskPhase::Accepted => 0,
        TaskPhase::Running => 1,
        TaskPhase::Waiting => 2,
        TaskPhase::Completed => 3,
        TaskPhase::Failed => 4,
        TaskPhase::Cancelled => 5,
    }
}

/// A row of `task, owner, conversation, parent, skill, state, created, updated`.
pub(super) fn task_row(row: &Row) -> Result<TaskRow, Refused> {
    let text = |at: usize| row.try_get::<_, Option<String>>(at).map(|text| text.map(Text::from));
    let state: i16 = row.try_get(5)?;
    let state = TaskPhase::ALL.into_iter().find(|one| phase(*one) == state).ok_or_else(|| damaged("a state"))?;
    Ok(TaskRow {
        task: task_id(row.try_get(0)?)?,
        owner: text(1)?.ok_or_else(|| damaged("an owner"))?,
        conversation: text(2)?.map(ConversationId),
        parent: row.try_get::<_, Option<Vec<u8>>>(3)?.map(|parent| task_id(&parent)).transpose()?,
        skill: text(4)?,
        state,
        created: Time(number(row.try_get(6)?)),
        updated: Time(number(row.try_get(7)?)),
    })
}
