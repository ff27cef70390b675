//! The list of tasks: one row each, written with the append that changed it.
//!
//! Every list is newest first by (created, task), read off an index that is named, so that a list of a page costs a page
//! however many tasks there are. Two partial indexes hold the tasks that are not done and those that did not end well; a
//! task that completed leaves them.

use interlingua_model::id::{ConversationId, TaskId, Text};
use interlingua_model::ports::{TaskFilter, TaskPhase, TaskRow};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, params};

use super::columns::{Col, TASK, limit};
use super::fault::Refused;

pub(super) const COLUMNS: &str = "task, owner, conversation, parent, skill, state, created, updated";

/// Writes the row. Most appends change only when it was changed last, which is in one index; a change of state is in those of
/// states too; anything else replaces the row whole, but for whose it is.
pub(super) fn put(db: &Connection, no: i64, row: &TaskRow, grown: i64) -> rusqlite::Result<()> {
    const SAME: &str = "UPDATE tasks SET updated = ?4, bytes = bytes + ?9
         WHERE no = ?1 AND skill IS ?2 AND state = ?3 AND owner = ?5 AND conversation IS ?6 AND parent IS ?7 AND created = ?8";
    const MOVED: &str = "UPDATE tasks SET skill = ?2, state = ?3, updated = ?4, bytes = bytes + ?9
         WHERE no = ?1 AND owner = ?5 AND conversation IS ?6 AND parent IS ?7 AND created = ?8";
    let conversation = row.conversation.as_ref().map(ConversationId::as_str);
    let parent = row.parent.map(Col);
    for update in [SAME, MOVED] {
        let values = params![
            no,
            row.skill,
            Col(row.state),
            Col(row.updated),
            row.owner,
            conversation,
            parent,
            Col(row.created),
            grown
        ];
        if db.prepare_cached(update)?.execute(values)? > 0 {
            return Ok(());
        }
    }
    db.prepare_cached(
        "INSERT INTO tasks (no, task, owner, conversation, parent, skill, state, created, updated, bytes)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT (no) DO UPDATE SET
         conversation = excluded.conversation, parent = excluded.parent, skill = excluded.skill, state = excluded.state,
         created = excluded.created, updated = excluded.updated, bytes = bytes + excluded.bytes",
    )?
    .execute(params![
        no,
        Col(row.task),
        row.owner,
        conversation,
        parent,
        row.skill,
        Col(row.state),
        Col(row.created),
        Col(row.updated),
        grown
    ])?;
    Ok(())
}

/// What another log of a task grew by.
pub(super) fn grow(db: &Connection, task: TaskId, grown: i64) -> rusqlite::Result<()> {
    let sql = "UPDATE tasks SET bytes = bytes + ?3 WHERE no = (SELECT no FROM logs WHERE kind = ?1 AND id = ?2)";
    db.prepare_cached(sql)?.execute(params![TASK, Col(task), grown]).map(drop)
}

/// What is stored beside a task's journals.
pub(super) fn keeps_beside(db: &Connection, task: TaskId, more: u64) -> rusqlite::Result<()> {
    let sql = "UPDATE tasks SET beside = beside + ?3 WHERE no = (SELECT no FROM logs WHERE kind = ?1 AND id = ?2)";
    let more = i64::try_from(more).unwrap_or(i64::MAX);
    db.prepare_cached(sql)?.execute(params![TASK, Col(task), more]).map(drop)
}

/// Bytes in the journals of the task with this log.
pub(super) fn bytes(db: &Connection, no: i64) -> rusqlite::Result<u64> {
    let mut select = db.prepare_cached("SELECT bytes FROM tasks WHERE no = ?1")?;
    let found = select.query_row([no], |row| row.get::<_, i64>(0)).optional()?;
    Ok(found.map_or(0, |bytes| u64::try_from(bytes).unwrap_or(0)))
}

pub(super) fn one(db: &Connection, task: TaskId) -> Result<Option<TaskRow>, Refused> {
    let sql = format!("SELECT {COLUMNS} FROM tasks WHERE no = (SELECT no FROM logs WHERE kind = {TASK} AND id = ?1)");
    Ok(db.prepare_cached(&sql)?.query_row([Col(task)], decode).optional()?)
}

pub(super) fn list(db: &Connection, filter: &TaskFilter) -> Result<Vec<TaskRow>, Refused> {
    let count = limit(filter.limit);
    let state = filter.state.map(Col);
    let conversation = filter.conversation.as_ref().map(ConversationId::as_str);
    let before = filter.before.map(|(created, task)| (Col(created), Col(task)));
    let mut values: Vec<(&str, &dyn ToSql)> = vec![(":limit", &count)];
    values.extend(filter.owner.as_ref().map(|owner| (":owner", owner as &dyn ToSql)));
    values.extend(conversation.as_ref().map(|conversation| (":conversation", conversation as &dyn ToSql)));
    values.extend(state.as_ref().map(|state| (":state", state as &dyn ToSql)));
    values.extend(before.as_ref().map(|(created, _)| (":created", created as &dyn ToSql)));
    values.extend(before.as_ref().map(|(_, task)| (":task", task as &dyn ToSql)));
    let mut select = db.prepare_cached(&select(filter))?;
    let rows = select.query_map(values.as_slice(), decode)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The statement for a filter; it names a value for each field that is set.
pub(super) fn select(filter: &TaskFilter) -> String {
    let mut wheres = vec![where_of_state(filter)];
    wheres.extend(filter.owner.as_ref().map(|_| "owner = :owner"));
    wheres.extend(filter.conversation.as_ref().map(|_| "conversation = :conversation"));
    wheres.extend(filter.state.map(|_| "state = :state"));
    wheres.extend(filter.before.map(|_| "(created, task) < (:created, :task)"));
    let (index, wheres) = (index_for(filter), wheres.join(" AND "));
    format!(
        "SELECT {COLUMNS} FROM tasks INDEXED BY {index} WHERE {wheres} ORDER BY created DESC, task DESC LIMIT :limit"
    )
}

/// The condition of a partial index must stand in the query word for word.
fn where_of_state(filter: &TaskFilter) -> &'static str {
    match filter.state {
        _ if filter.live => "state < 3",
        None => "TRUE",
        Some(TaskPhase::Accepted | TaskPhase::Running | TaskPhase::Waiting) => "state < 3",
        Some(TaskPhase::Completed) => "state >= 3",
        Some(TaskPhase::Failed | TaskPhase::Cancelled) => "state > 3",
    }
}

fn index_for(filter: &TaskFilter) -> &'static str {
    if filter.conversation.is_some() {
        return "tasks_by_conversation";
    }
    match where_of_state(filter) {
        "state < 3" => "tasks_live",
        "state > 3" => "tasks_unhappy",
        _ if filter.owner.is_some() => "tasks_by_owner",
        _ => "tasks_by_time",
    }
}

pub(super) fn decode(row: &Row<'_>) -> rusqlite::Result<TaskRow> {
    Ok(TaskRow {
        task: row.get::<_, Col<_>>(0)?.0,
        owner: row.get::<_, Text>(1)?,
        conversation: row.get::<_, Option<Text>>(2)?.map(ConversationId),
        parent: row.get::<_, Option<Col<_>>>(3)?.map(|parent| parent.0),
        skill: row.get(4)?,
        state: row.get::<_, Col<_>>(5)?.0,
        created: row.get::<_, Col<_>>(6)?.0,
        updated: row.get::<_, Col<_>>(7)?.0,
    })
}
