//! The list of tasks by their last change, newest first, and their number.
//!
//! Reading a page of all tasks costs a page. One owner's page is found by walking the same index: it costs more as other owners were busy
//! meanwhile.

use interlingua_model::id::{ConversationId, Time};
use interlingua_model::ports::{Changed, TaskPhase, TaskRow};
use rusqlite::{Connection, ToSql};

use super::columns::{Col, limit};
use super::fault::Refused;
use super::tasks::{COLUMNS, decode};

pub(super) fn list(db: &Connection, filter: &Changed) -> Result<Vec<TaskRow>, Refused> {
    let count = limit(filter.limit);
    let before = filter.before.map(|(updated, task)| (Col(updated), Col(task)));
    let mut wheres = wheres(filter);
    wheres.extend(before.as_ref().map(|_| "(updated, task) < (:updated, :task)"));
    // One conversation has few tasks: they are found first and ordered then.
    let index = if filter.conversation.is_some() { "" } else { "INDEXED BY tasks_by_change" };
    let sql = format!(
        "SELECT {COLUMNS} FROM tasks {index} WHERE {} ORDER BY updated DESC, task DESC LIMIT :limit",
        wheres.join(" AND ")
    );
    let held = Held::of(filter);
    let mut values = held.values();
    values.push((":limit", &count));
    values.extend(before.as_ref().map(|(updated, _)| (":updated", updated as &dyn ToSql)));
    values.extend(before.as_ref().map(|(_, task)| (":task", task as &dyn ToSql)));
    let mut select = db.prepare_cached(&sql)?;
    let rows = select.query_map(values.as_slice(), decode)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(super) fn count(db: &Connection, filter: &Changed) -> Result<u64, Refused> {
    let sql = format!("SELECT count(*) FROM tasks WHERE {}", wheres(filter).join(" AND "));
    let held = Held::of(filter);
    let count: i64 = db.prepare_cached(&sql)?.query_row(held.values().as_slice(), |row| row.get(0))?;
    Ok(u64::try_from(count).unwrap_or_default())
}

fn wheres(filter: &Changed) -> Vec<&'static str> {
    let mut wheres = vec!["TRUE"];
    wheres.extend(filter.owner.as_ref().map(|_| "owner = :owner"));
    wheres.extend(filter.conversation.as_ref().map(|_| "conversation = :conversation"));
    wheres.extend(filter.state.map(|_| "state = :state"));
    wheres.extend(filter.peer.as_ref().map(|_| "substr(skill, 1, length(:peer)) = :peer"));
    wheres.extend(filter.since.map(|_| "updated > :since"));
    wheres
}

/// The values of a filter as columns.
struct Held<'a> {
    owner: Option<&'a str>,
    conversation: Option<&'a str>,
    state: Option<Col<TaskPhase>>,
    peer: Option<String>,
    since: Option<Col<Time>>,
}

impl<'a> Held<'a> {
    fn of(filter: &'a Changed) -> Held<'a> {
        Held {
            owner: filter.owner.as_deref(),
            conversation: filter.conversation.as_ref().map(ConversationId::as_str),
            state: filter.state.map(Col),
            peer: filter.peer.as_ref().map(|peer| format!("{peer}/")),
            since: filter.since.map(Col),
        }
    }

    /// One for each name in the conditions.
    fn values(&self) -> Vec<(&str, &dyn ToSql)> {
        let mut values: Vec<(&str, &dyn ToSql)> = Vec::new();
        values.extend(self.owner.as_ref().map(|owner| (":owner", owner as &dyn ToSql)));
        values.extend(self.conversation.as_ref().map(|conversation| (":conversation", conversation as &dyn ToSql)));
        values.extend(self.state.as_ref().map(|state| (":state", state as &dyn ToSql)));
        values.extend(self.peer.as_ref().map(|peer| (":peer", peer as &dyn ToSql)));
        values.extend(self.since.as_ref().map(|since| (":since", since as &dyn ToSql)));
        values
    }
}
