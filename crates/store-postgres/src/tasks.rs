//! The lists of tasks: by creation and by their last change, newest first.
//!
//! When a task that runs was changed last stands in its log, which no index knows: those are few and are sorted. Those that are done
//! are read off the index of their end.

use interlingua_model::id::ConversationId;
use interlingua_model::ports::{Changed, TaskFilter, TaskRow};
use tokio_postgres::types::ToSql;

use super::columns::{first_number, id, integer, number, phase, size, task_row};
use super::connection::Session;
use super::fault::Refused;

const COLUMNS: &str = "t.task, t.owner, t.conversation, t.parent, t.skill, t.state, t.created";
const FROM: &str = "FROM tasks t JOIN logs l ON l.no = t.no";

/// Conditions with their values, numbered as they come.
#[derive(Default)]
struct Conditions {
    wheres: Vec<String>,
    values: Vec<Box<dyn ToSql + Sync + Send>>,
}

impl Conditions {
    /// The number of a value.
    fn value(&mut self, value: impl ToSql + Sync + Send + 'static) -> usize {
        self.values.push(Box::new(value));
        self.values.len()
    }

    fn push(&mut self, condition: &str, value: impl ToSql + Sync + Send + 'static) {
        let number = self.value(value);
        self.wheres.push(condition.replace('?', &format!("${number}")));
    }

    fn sql(&self) -> String {
        if self.wheres.is_empty() { "TRUE".to_owned() } else { self.wheres.join(" AND ") }
    }

    fn values(&self) -> Vec<&(dyn ToSql + Sync)> {
        self.values.iter().map(|value| value.as_ref() as &(dyn ToSql + Sync)).collect()
    }
}

pub(super) async fn one(session: &Session, task: Vec<u8>) -> Result<Option<TaskRow>, Refused> {
    let rows = session.query(&format!("SELECT {COLUMNS}, l.at {FROM} WHERE t.task = $1"), &[&task]).await?;
    rows.first().map(task_row).transpose()
}

pub(super) async fn list(session: &Session, filter: &TaskFilter) -> Result<Vec<TaskRow>, Refused> {
    let mut of = Conditions::default();
    if filter.live {
        of.wheres.push("t.state < 3".to_owned());
    }
    if let Some(owner) = &filter.owner {
        of.push("t.owner = ?", owner.to_string());
    }
    if let Some(conversation) = &filter.conversation {
        of.push("t.conversation = ?", conversation.as_str().to_owned());
    }
    if let Some(state) = filter.state {
        of.push("t.state = ?", phase(state));
    }
    if let Some((created, task)) = filter.before {
        let (created, task) = (of.value(integer(created.0)), of.value(id(task)));
        of.wheres.push(format!("(t.created, t.task) < (${created}, ${task})"));
    }
    let limit = of.value(size(filter.limit));
    let sql =
        format!("SELECT {COLUMNS}, l.at {FROM} WHERE {} ORDER BY t.created DESC, t.task DESC LIMIT ${limit}", of.sql());
    session.query(&sql, &of.values()).await?.iter().map(task_row).collect()
}

fn conditions(filter: &Changed) -> Conditions {
    let mut of = Conditions::default();
    if let Some(owner) = &filter.owner {
        of.push("t.owner = ?", owner.to_string());
    }
    if let Some(conversation) = filter.conversation.as_ref().map(ConversationId::as_str) {
        of.push("t.conversation = ?", conversation.to_owned());
    }
    if let Some(state) = filter.state {
        of.push("t.state = ?", phase(state));
    }
    if let Some(peer) = &filter.peer {
        of.push("starts_with(t.skill, ?)", format!("{peer}/"));
    }
    of
}

/// What is common to both halves of a list by change, with the name of the column that says when.
fn half(filter: &Changed, of: &mut Conditions, at: &str, states: &str) -> String {
    let mut wheres = vec![of.sql(), states.to_owned()];
    if let Some(since) = filter.since {
        wheres.push(format!("{at} > ${}", of.value(integer(since.0))));
    }
    if let Some((updated, task)) = filter.before {
        let (updated, task) = (of.value(integer(updated.0)), of.value(id(task)));
        wheres.push(format!("({at}, t.task) < (${updated}, ${task})"));
    }
    wheres.join(" AND ")
}

pub(super) async fn changed(session: &Session, filter: &Changed) -> Result<Vec<TaskRow>, Refused> {
    let mut of = conditions(filter);
    let living = half(filter, &mut of, "l.at", "t.state < 3");
    let done = half(filter, &mut of, "t.ended", "t.state >= 3");
    let limit = of.value(size(filter.limit));
    let sql = format!(
        "(SELECT {COLUMNS}, l.at AS updated {FROM} WHERE {living} ORDER BY l.at DESC, t.task DESC LIMIT ${limit})
         UNION ALL
         (SELECT {COLUMNS}, t.ended FROM tasks t WHERE {done} ORDER BY t.ended DESC, t.task DESC LIMIT ${limit})
         ORDER BY updated DESC, task DESC LIMIT ${limit}"
    );
    session.query(&sql, &of.values()).await?.iter().map(task_row).collect()
}

pub(super) async fn count(session: &Session, filter: &Changed) -> Result<u64, Refused> {
    let mut of = conditions(filter);
    if let Some(since) = filter.since {
        of.push("coalesce(t.ended, l.at) > ?", integer(since.0));
    }
    let sql = format!("SELECT count(*) {FROM} WHERE {}", of.sql());
    Ok(number(first_number(&session.query(&sql, &of.values()).await?)?))
}
