//! The hub's own reports of its tasks, compared with its earlier reports and with what callers received.

use std::collections::{BTreeMap, HashMap};

use futures_util::{StreamExt, stream};
use interlingua_testkit::Hub;

use super::super::callers::Caller;
use super::super::seen::Seen;
use super::calls::Call;

const ENDS: [&str; 3] = ["completed", "failed", "cancelled"];
/// Tasks whose events are read at the same time.
const AT_ONCE: usize = 8;

/// A task that has not ended.
pub(super) struct Open {
    pub(super) id: String,
    pub(super) waits: bool,
}

/// A task that a caller was told of, and how it heard that it ended, if it did.
struct Told {
    task: String,
    call: Call,
    end: Option<String>,
}

impl Told {
    /// One protocol says of what was cancelled that it failed: it has no word for it.
    fn agrees(&self, state: &str) -> bool {
        self.end.as_deref().is_none_or(|end| {
            end == state || (self.call.caller == Caller::Mcp && (end, state) == ("failed", "cancelled"))
        })
    }
}

#[derive(Default)]
pub(super) struct Record {
    /// How each task stands that was ever seen.
    tasks: BTreeMap<String, String>,
    told: Vec<Told>,
    /// By the callers' own names.
    named: HashMap<String, String>,
}

impl Record {
    /// A caller was told a task, and perhaps its end. The same name is the same task, always.
    pub(super) fn told(&mut self, call: &Call, seen: &Seen) -> Option<String> {
        let task = seen.task.clone()?;
        let end = (!seen.unsure && ENDS.contains(&&*seen.outcome)).then(|| seen.outcome.clone());
        self.told.push(Told { task: task.clone(), call: call.clone(), end });
        let first = self.named.entry(call.key()?.to_owned()).or_insert_with(|| task.clone());
        (*first != task).then(|| format!("{}: asked again it is task {task}, at first it was {first}", call.title()))
    }

    /// Reads all tasks: those that have not ended, and what is wrong. A task that was there is there, and one that ended
    /// stays as it is.
    pub(super) async fn read(&mut self, hub: &Hub) -> (Vec<Open>, Vec<String>) {
        let found = all(hub).await;
        let mut wrong = Vec::new();
        for (id, before) in &self.tasks {
            match found.get(id) {
                None => wrong.push(format!("task {id}, {before}, is lost")),
                Some(now) if ENDS.contains(&&**before) && now != before => {
                    wrong.push(format!("task {id} was {before} and is {now}"));
                }
                Some(_) => {}
            }
        }
        self.tasks = found;
        let open = self.tasks.iter().filter(|(_, state)| !ENDS.contains(&&***state));
        (open.map(|(id, state)| Open { id: id.clone(), waits: state == "waiting" }).collect(), wrong)
    }

    /// In the end: each task has one outcome in its journal, which is the one it is listed with and the one that was told.
    pub(super) async fn judge(&self, hub: &Hub) -> Vec<String> {
        let judged = self.tasks.iter().map(async |(id, state)| {
            let ends = outcomes(hub, id).await;
            (ends != [state.clone()]).then(|| format!("task {id} is {state}, its journal says {ends:?}"))
        });
        let mut wrong: Vec<String> =
            stream::iter(judged).buffer_unordered(AT_ONCE).filter_map(async |one| one).collect().await;
        for told in &self.told {
            let (who, task) = (told.call.title(), &told.task);
            match self.tasks.get(task) {
                None => wrong.push(format!("{who}: task {task} is not in the record")),
                Some(state) if !told.agrees(state) => {
                    wrong.push(format!("{who}: was told that task {task} is {:?}; the record says {state}", told.end));
                }
                Some(_) => {}
            }
        }
        wrong
    }

    /// How many there are of each end; how many were told of, and how many with their end.
    pub(super) fn counts(&self) -> (BTreeMap<&str, usize>, usize, usize) {
        let mut ends = BTreeMap::new();
        for state in self.tasks.values() {
            *ends.entry(state.as_str()).or_default() += 1;
        }
        (ends, self.told.len(), self.told.iter().filter(|told| told.end.is_some()).count())
    }
}

/// Every outcome in a task's journal, from its first event to its last.
async fn outcomes(hub: &Hub, id: &str) -> Vec<String> {
    let (mut found, mut path) = (Vec::new(), format!("/api/tasks/{id}/events?limit=500"));
    loop {
        let page = hub.get(&path).await.json();
        let items = page["items"].as_array().unwrap_or_else(|| panic!("a page: {page}"));
        let ends = items.iter().filter(|item| item["event"] == "finished");
        found.extend(ends.map(|item| item["data"]["outcome"].as_str().unwrap_or_default().to_owned()));
        match page["next"].as_str() {
            Some(next) => path = format!("/api/tasks/{id}/events?limit=500&after={next}"),
            None => return found,
        }
    }
}

async fn all(hub: &Hub) -> BTreeMap<String, String> {
    let (mut found, mut path) = (BTreeMap::new(), "/api/tasks?limit=500".to_owned());
    loop {
        let page = hub.get(&path).await.json();
        for item in page["items"].as_array().unwrap_or_else(|| panic!("a page: {page}")) {
            let text = |key: &str| item[key].as_str().expect("a text").to_owned();
            found.insert(text("id"), text("state"));
        }
        match page["next"].as_str() {
            Some(next) => path = format!("/api/tasks?limit=500&after={next}"),
            None => return found,
        }
    }
}
