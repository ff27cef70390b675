//! Pagination: `after` is the cursor of the page before, `limit` how many items at most.

use axum::extract::Query;
use http::Uri;
use interlingua_model::{Fault, FaultKind, TaskId, Time};
use serde::Deserialize;
use serde::de::DeserializeOwned;

const MOST: usize = 200;
const USUAL: usize = 50;

/// What a list without filters takes.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Paged {
    pub(super) after: Option<String>,
    limit: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Searched {
    pub(super) query: Option<String>,
    pub(super) after: Option<String>,
    limit: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TasksPaged {
    pub(super) state: Option<String>,
    pub(super) conversation: Option<String>,
    pub(super) after: Option<String>,
    limit: Option<usize>,
}

/// What agents must have to be found.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentsPaged {
    #[serde(alias = "capability")]
    pub(super) skill: Option<String>,
    pub(super) tag: Option<String>,
    pub(super) provider: Option<String>,
    #[serde(alias = "query")]
    pub(super) q: Option<String>,
    pub(super) registered: Option<bool>,
    pub(super) after: Option<String>,
    limit: Option<usize>,
}

/// All that may be read, or what a task made.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ArtifactsPaged {
    pub(super) task: Option<String>,
    pub(super) after: Option<String>,
    limit: Option<usize>,
}

impl ArtifactsPaged {
    pub(super) fn limit(&self) -> usize {
        within(self.limit)
    }
}

/// Whose messages: those that wait for an agent, or events on topics.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MessagesPaged {
    pub(super) agent: Option<String>,
    pub(super) topic: Option<String>,
    pub(super) after: Option<String>,
    limit: Option<usize>,
}

impl AgentsPaged {
    pub(super) fn limit(&self) -> usize {
        within(self.limit)
    }
}

impl MessagesPaged {
    pub(super) fn limit(&self) -> usize {
        within(self.limit)
    }
}

impl Paged {
    pub(super) fn limit(&self) -> usize {
        within(self.limit)
    }
}

impl Searched {
    pub(super) fn limit(&self) -> usize {
        within(self.limit)
    }
}

impl TasksPaged {
    pub(super) fn limit(&self) -> usize {
        within(self.limit)
    }
}

fn within(limit: Option<usize>) -> usize {
    limit.unwrap_or(USUAL).clamp(1, MOST)
}

/// The part of the path after `?`.
pub(super) fn query<T: DeserializeOwned>(uri: &Uri) -> Result<T, Fault> {
    let unfit = |error: axum::extract::rejection::QueryRejection| {
        Fault::caller(FaultKind::InvalidInput, format!("the query does not fit: {}", error.body_text()))
    };
    Query::<T>::try_from_uri(uri).map(|Query(query)| query).map_err(unfit)
}

pub(super) fn bad_cursor() -> Fault {
    Fault::caller(FaultKind::InvalidInput, "'after' is not a cursor of this list").field("/after", "is not a cursor")
}

/// Cuts a list that is at hand: what comes after the cursor, and the cursor of what is left.
pub(super) fn cut<T>(
    items: impl Iterator<Item = T>,
    limit: usize,
    cursor: impl Fn(&T) -> String,
) -> (Vec<T>, Option<String>) {
    let mut page: Vec<T> = items.take(limit + 1).collect();
    let more = page.len() > limit;
    page.truncate(limit);
    let next = page.last().filter(|_| more).map(cursor);
    (page, next)
}

/// Where a list of tasks goes on.
pub(super) fn task_cursor(updated: Time, task: TaskId) -> String {
    format!("{}-{task}", updated.0)
}

pub(super) fn read_task_cursor(text: &str) -> Result<(Time, TaskId), Fault> {
    let (time, task) = text.split_once('-').ok_or_else(bad_cursor)?;
    let time = time.parse().map_err(|_| bad_cursor())?;
    Ok((Time(time), task.parse().map_err(|_| bad_cursor())?))
}
