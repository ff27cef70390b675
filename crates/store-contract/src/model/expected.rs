//! What a driver must answer: the ports on a few maps.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;
use interlingua_model::digest::Digest;
use interlingua_model::id::{TaskId, Time};
use interlingua_model::journal::Log;
use interlingua_model::ports::*;

use super::operation::{Answer, Found, Operation};

#[derive(Debug, Clone, Default)]
struct Entries {
    last: u64,
    entries: BTreeMap<u64, (Time, Bytes)>,
    fold: Option<(u64, Bytes)>,
}

#[derive(Debug, Clone)]
struct Kept {
    revision: u64,
    value: Bytes,
    expires: Option<Time>,
    counted: bool,
}

/// All that one sequence wrote.
#[derive(Debug, Clone, Default)]
pub(super) struct Model {
    logs: HashMap<Log, Entries>,
    rows: BTreeMap<TaskId, TaskRow>,
    keys: HashMap<Digest, (TaskId, Digest, Time)>,
    records: BTreeMap<String, Kept>,
}

impl Model {
    pub(super) fn last(&self, log: &Log) -> u64 {
        self.logs.get(log).map_or(0, |log| log.last)
    }

    /// The revision of what is stored, expired or not; 0 for nothing.
    pub(super) fn revision(&self, key: &str) -> u64 {
        self.records.get(key).map_or(0, |kept| kept.revision)
    }

    pub(super) fn perform(&mut self, operation: &Operation, found: &Found) -> Answer {
        match operation {
            Operation::Append(append) => {
                let before = self.clone();
                self.append(append).unwrap_or_else(|refused| {
                    *self = before;
                    refused
                })
            }
            Operation::Read { log, after, limit } => {
                let entries = self.logs.get(log).into_iter().flat_map(|log| log.entries.range(after + 1..));
                Answer::Entries(entries.take(*limit).map(|(seq, (at, bytes))| (*seq, *at, bytes.clone())).collect())
            }
            Operation::Last(log) => Answer::Number(self.last(log)),
            Operation::Snapshot { log, upto, fold } => self.snapshot(log, *upto, fold),
            Operation::Latest(log) => Answer::Fold(self.logs.get(log).and_then(|log| log.fold.clone())),
            Operation::Redact { log, seq, bytes } => {
                let entry = self.logs.get_mut(log).and_then(|log| log.entries.get_mut(seq));
                Answer::Truth(entry.map(|entry| entry.1 = bytes.clone()).is_some())
            }
            Operation::Clear(topic) => {
                if let Some(log) = self.logs.get_mut(&Log::Topic(topic.clone())) {
                    *log = Entries { last: log.last, ..Entries::default() };
                }
                Answer::Done
            }
            Operation::Task(task) => Answer::Rows(self.rows.get(task).cloned().into_iter().collect()),
            Operation::Tasks(filter) => {
                let rows = self.rows.values().filter(|row| listed(filter, row)).cloned();
                Answer::Rows(newest(rows, |row| row.created, filter.limit))
            }
            Operation::Changed(filter) => {
                let rows = self.rows.values().filter(|row| has_changed(filter, row)).cloned();
                Answer::Rows(newest(rows, |row| row.updated, filter.limit))
            }
            Operation::Count(filter) => {
                Answer::Number(self.rows.values().filter(|row| has_changed(filter, row)).count() as u64)
            }
            Operation::Unique(key, now) => {
                Answer::Holder(self.keys.get(key).filter(|held| held.2 > *now).map(|held| (held.0, held.1)))
            }
            Operation::Forget(task) => {
                let held = [Log::Task(*task), Log::Run(*task)].iter().any(|log| self.logs.contains_key(log));
                for task in self.family(*task) {
                    self.remove(task);
                }
                Answer::Truth(held)
            }
            Operation::ForgetOwner(_) => {
                let all: Vec<TaskId> = self.rows.keys().copied().collect();
                all.iter().for_each(|task| self.remove(*task));
                Answer::Number(all.len() as u64)
            }
            Operation::Put { .. }
            | Operation::PutWithin { .. }
            | Operation::Rewrite { .. }
            | Operation::Get(..)
            | Operation::Take(..)
            | Operation::List { .. } => self.of_records(operation, found.revision),
        }
    }

    fn append(&mut self, append: &Append) -> Result<Answer, Answer> {
        if let Some(unique) = append.unique
            && let Log::Task(own) = append.log
        {
            if let Some((task, body, until)) = self.keys.get(&unique.key).copied()
                && until > append.at
                && task != own
            {
                return Ok(Answer::Appended(Appended::Exists { task, body }));
            }
            self.keys.insert(unique.key, (own, unique.body, unique.until));
        }
        if let (Some(TaskRoom { tasks: Some(most), .. }), false) = (append.most, self.logs.contains_key(&append.log)) {
            self.make_room(most)?;
        }
        let log = self.logs.entry(append.log.clone()).or_default();
        match append.expected {
            Expected::At(expected) if expected != log.last => return Err(Answer::Moved { expected, found: log.last }),
            Expected::At(_) | Expected::Any => {}
        }
        for record in &append.records {
            log.last += 1;
            log.entries.insert(log.last, (append.at, record.clone()));
        }
        let last = log.last;
        if let Some(row) = &append.row {
            self.rows.insert(row.task, row.clone());
        }
        Ok(Answer::Appended(Appended::At(last)))
    }

    /// The oldest finished tasks whose parent does not run go; if there is none, nothing more comes.
    fn make_room(&mut self, most: u64) -> Result<(), Answer> {
        let surplus = (self.rows.len() as u64 + 1).saturating_sub(most);
        let runs = |task: TaskId| self.rows.get(&task).is_some_and(|row| !row.state.is_done());
        let mut oldest: Vec<&TaskRow> = self.rows.values().collect();
        oldest.sort_by_key(|row| (row.created, row.task));
        let finished = oldest.iter().filter(|row| row.state.is_done() && !row.parent.is_some_and(runs));
        let finished: Vec<TaskId> = finished.map(|row| row.task).collect();
        if surplus > 0 && finished.is_empty() {
            return Err(Answer::Crowded);
        }
        finished.iter().take(surplus as usize).for_each(|task| self.remove(*task));
        Ok(())
    }

    fn snapshot(&mut self, log: &Log, upto: u64, fold: &Bytes) -> Answer {
        let Some(log) = self.logs.get_mut(log) else { return Answer::Missing };
        if upto > log.last {
            return Answer::Moved { expected: upto, found: log.last };
        }
        if log.fold.as_ref().is_none_or(|(seq, _)| upto > *seq) {
            log.fold = Some((upto, fold.clone()));
        }
        Answer::Done
    }

    fn family(&self, task: TaskId) -> Vec<TaskId> {
        let mut family = vec![task];
        let mut next = 0;
        while let Some(parent) = family.get(next).copied() {
            let children = self.rows.values().filter(|row| row.parent == Some(parent)).map(|row| row.task);
            let new: Vec<TaskId> = children.filter(|child| !family.contains(child)).collect();
            family.extend(new);
            next += 1;
        }
        family
    }

    fn remove(&mut self, task: TaskId) {
        self.logs.remove(&Log::Task(task));
        self.logs.remove(&Log::Run(task));
        self.rows.remove(&task);
        self.keys.retain(|_, held| held.0 != task);
    }

    fn of_records(&mut self, operation: &Operation, given: u64) -> Answer {
        match operation {
            Operation::Put { key, value, expires, expect, now } => {
                if let Some(refused) = self.allow(key, *expect, *now) {
                    return refused;
                }
                let counted = self.records.get(key).is_some_and(|kept| kept.counted);
                self.keep(key, value, *expires, given, counted)
            }
            Operation::PutWithin { room, item, now } => {
                if let Some(refused) = self.allow(&item.key, Expect::Revision(item.revision), *now) {
                    return refused;
                }
                let others = self.records.iter().filter(|(key, kept)| kept.counted && **key != *item.key).count();
                if others as u64 >= room.most {
                    return Answer::Crowded;
                }
                self.keep(&item.key, &item.value, item.expires, given, true)
            }
            Operation::Rewrite { key, value, revision } => {
                let kept = self.records.get_mut(key).filter(|kept| kept.revision == *revision);
                Answer::Truth(kept.map(|kept| kept.value = value.clone()).is_some())
            }
            Operation::Get(key, now) => items(self.records.get_key_value(key).into_iter(), *now, 1),
            Operation::Take(key, now) => {
                let taken = self.records.remove_entry(key);
                items(taken.iter().map(|(key, kept)| (key, kept)), *now, 1)
            }
            Operation::List { limit, now, .. } => items(self.records.iter(), *now, *limit),
            other => unreachable!("{other:?} is not about records"),
        }
    }

    fn allow(&self, key: &str, expect: Expect, now: Time) -> Option<Answer> {
        let found = self.records.get(key).filter(|kept| is_there(kept, now)).map_or(0, |kept| kept.revision);
        match expect {
            Expect::Anything => None,
            Expect::Absent if found == 0 => None,
            Expect::Absent => Some(Answer::Moved { expected: 0, found }),
            Expect::Revision(revision) if revision == found => None,
            Expect::Revision(expected) => Some(Answer::Moved { expected, found }),
        }
    }

    /// Revisions only grow.
    fn keep(&mut self, key: &str, value: &Bytes, expires: Option<Time>, revision: u64, counted: bool) -> Answer {
        assert!(revision > self.revision(key), "revision {revision} was given before");
        self.records.insert(key.to_owned(), Kept { revision, value: value.clone(), expires, counted });
        Answer::Done
    }
}

fn is_there(kept: &Kept, now: Time) -> bool {
    kept.expires.is_none_or(|expires| expires > now)
}

fn items<'a>(kept: impl Iterator<Item = (&'a String, &'a Kept)>, now: Time, limit: usize) -> Answer {
    let there = kept.filter(|(_, kept)| is_there(kept, now)).take(limit);
    Answer::Items(there.map(|(key, kept)| (key.clone(), kept.value.clone(), kept.expires)).collect())
}

fn listed(filter: &TaskFilter, row: &TaskRow) -> bool {
    filter.state.is_none_or(|state| state == row.state) && !(filter.live && row.state.is_done())
}

fn has_changed(filter: &Changed, row: &TaskRow) -> bool {
    let at = |peer: &str| row.skill.as_ref().is_some_and(|skill| skill.starts_with(&format!("{peer}/")));
    filter.conversation.as_ref().is_none_or(|conversation| row.conversation.as_ref() == Some(conversation))
        && filter.state.is_none_or(|state| state == row.state)
        && filter.peer.as_ref().is_none_or(|peer| at(peer))
        && filter.since.is_none_or(|since| row.updated > since)
}

fn newest(rows: impl Iterator<Item = TaskRow>, by: fn(&TaskRow) -> Time, limit: usize) -> Vec<TaskRow> {
    let mut rows: Vec<TaskRow> = rows.collect();
    rows.sort_by_key(|row| std::cmp::Reverse((by(row), row.task)));
    rows.truncate(limit);
    rows
}
