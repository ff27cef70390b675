//! What a sequence may do, and how it is done on a driver.

use bytes::Bytes;
use interlingua_model::digest::Digest;
use interlingua_model::id::{TaskId, Time, TopicId};
use interlingua_model::journal::Log;
use interlingua_model::ports::*;

use super::Random;
use super::expected::Model;
use crate::{append, row};

pub(super) const KIND: &str = "model";

/// What the operations of one sequence are about. Nobody else uses these names.
#[derive(Debug)]
pub(super) struct Names {
    owner: String,
    tasks: Vec<TaskId>,
    logs: Vec<Log>,
    keys: Vec<Digest>,
    records: Vec<String>,
}

impl Names {
    pub(super) fn of(seed: u64) -> Names {
        let tasks: Vec<TaskId> = (0..3).map(|no| TaskId(u128::from(seed) * 16 + no)).collect();
        let mut logs: Vec<Log> = tasks.iter().flat_map(|task| [Log::Task(*task), Log::Run(*task)]).collect();
        logs.push(Log::Topic(TopicId::from(format!("topic {seed}").as_str())));
        let keys = (0..2).map(|no| Digest::of(format!("key {seed} {no}").as_bytes())).collect();
        let records = ["a", "b", "c"].map(|name| format!("{seed:08}/{name}")).to_vec();
        Names { owner: format!("owner {seed}"), tasks, logs, keys, records }
    }
}

#[derive(Debug, Clone)]
pub(super) enum Operation {
    Append(Box<Append>),
    Read { log: Log, after: u64, limit: usize },
    Last(Log),
    Snapshot { log: Log, upto: u64, fold: Bytes },
    Latest(Log),
    Redact { log: Log, seq: u64, bytes: Bytes },
    Clear(TopicId),
    Task(TaskId),
    Tasks(TaskFilter),
    Changed(Changed),
    Count(Changed),
    Unique(Digest, Time),
    Forget(TaskId),
    ForgetOwner(String),
    Put { key: String, value: Bytes, expires: Option<Time>, expect: Expect, now: Time },
    PutWithin { room: Room, item: Item, now: Time },
    Rewrite { key: String, value: Bytes, revision: u64 },
    Get(String, Time),
    Take(String, Time),
    List { first: String, limit: usize, now: Time },
}

/// What a driver or the model answered, without the numbers that a driver may choose.
#[derive(Debug, PartialEq)]
pub(super) enum Answer {
    Appended(Appended),
    Moved { expected: u64, found: u64 },
    Missing,
    Crowded,
    Entries(Vec<(u64, Time, Bytes)>),
    Number(u64),
    Fold(Option<(u64, Bytes)>),
    Rows(Vec<TaskRow>),
    Holder(Option<(TaskId, Digest)>),
    Truth(bool),
    Items(Vec<(String, Bytes, Option<Time>)>),
    Done,
    Failed(String),
}

/// An answer, and the revision that a put was given.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) answer: Answer,
    pub(super) revision: u64,
}

impl Operation {
    pub(super) fn choose(random: &mut Random, names: &Names, model: &Model) -> Operation {
        let log = random.of(&names.logs).clone();
        let task = *random.of(&names.tasks);
        let bytes = Bytes::from(random.next().to_string().repeat(1 + random.below(3) as usize));
        let now = Time(1000 + random.below(6) * 100);
        let record = random.of(&names.records).clone();
        match random.below(26) {
            0..=7 => Operation::Append(Box::new(choose_append(random, names, model, log, now, bytes))),
            8 => Operation::Read { log, after: random.below(3), limit: 1 + random.below(4) as usize },
            9 => Operation::Last(log),
            10 => Operation::Snapshot { log, upto: random.below(4), fold: bytes },
            11 => Operation::Latest(log),
            12 => Operation::Redact { log, seq: random.below(4), bytes },
            13 => match log {
                Log::Topic(topic) => Operation::Clear(topic),
                Log::Task(_) | Log::Run(_) | Log::Audit => Operation::Last(log),
            },
            14 => Operation::Task(task),
            15 => Operation::Tasks(TaskFilter {
                owner: Some(names.owner.as_str().into()),
                live: random.below(2) == 0,
                state: [None, Some(*random.of(&TaskPhase::ALL))][random.below(2) as usize],
                limit: 1 + random.below(3) as usize,
                ..TaskFilter::default()
            }),
            16 => Operation::Changed(changed(random, names)),
            17 => Operation::Count(changed(random, names)),
            18 => Operation::Unique(*random.of(&names.keys), now),
            19 => match random.below(4) {
                0 => Operation::ForgetOwner(names.owner.clone()),
                _ => Operation::Forget(task),
            },
            20 | 21 => Operation::Put {
                expect: expect(random, model.revision(&record)),
                expires: expires(random),
                key: record,
                value: bytes,
                now,
            },
            22 => {
                let revision = if random.below(3) == 0 { 0 } else { model.revision(&record) };
                let owner = names.owner.as_str().into();
                let room = Room { of: "things", owner, most: 1 + random.below(2), bytes: None, beside: 0 };
                let item = Item { key: record.as_str().into(), revision, value: bytes, expires: expires(random) };
                Operation::PutWithin { room, item, now }
            }
            23 => Operation::Rewrite { revision: model.revision(&record), key: record, value: bytes },
            24 => match random.below(2) {
                0 => Operation::Get(record, now),
                _ => Operation::Take(record, now),
            },
            _ => Operation::List { first: names.records[0].clone(), limit: 2 + random.below(2) as usize, now },
        }
    }

    pub(super) async fn perform(&self, store: &Store) -> Found {
        let (journal, records) = (&store.journal, &store.records);
        let mut revision = 0;
        let answer = match self.clone() {
            Operation::Append(one) => journal.append(*one).await.map(Answer::Appended),
            Operation::Read { log, after, limit } => journal.read(log, after, limit).await.map(|page| {
                Answer::Entries(page.into_iter().map(|stored| (stored.seq, stored.at, stored.bytes)).collect())
            }),
            Operation::Last(log) => journal.last(log).await.map(Answer::Number),
            Operation::Snapshot { log, upto, fold } => {
                journal.snapshot(log, upto, Time(5), fold).await.map(|()| Answer::Done)
            }
            Operation::Latest(log) => {
                journal.latest(log).await.map(|fold| Answer::Fold(fold.map(|fold| (fold.seq, fold.bytes))))
            }
            Operation::Redact { log, seq, bytes } => journal.redact(log, seq, bytes).await.map(Answer::Truth),
            Operation::Clear(topic) => journal.clear(topic).await.map(|()| Answer::Done),
            Operation::Task(task) => journal.task(task).await.map(|row| Answer::Rows(row.into_iter().collect())),
            Operation::Tasks(filter) => journal.tasks(filter).await.map(Answer::Rows),
            Operation::Changed(filter) => journal.changed(filter).await.map(Answer::Rows),
            Operation::Count(filter) => journal.count(filter).await.map(Answer::Number),
            Operation::Unique(key, now) => journal.unique(key, now).await.map(Answer::Holder),
            Operation::Forget(task) => journal.forget(task).await.map(Answer::Truth),
            Operation::ForgetOwner(owner) => journal.forget_owner(&owner).await.map(Answer::Number),
            Operation::Put { key, value, expires, expect, now } => {
                records.put(KIND, &key, value, expires, expect, now).await.map(|given| {
                    revision = given;
                    Answer::Done
                })
            }
            Operation::PutWithin { room, item, now } => records.put_within(room, KIND, item, now).await.map(|given| {
                revision = given;
                Answer::Done
            }),
            Operation::Rewrite { key, value, revision } => {
                records.rewrite(KIND, &key, value, revision).await.map(Answer::Truth)
            }
            Operation::Get(key, now) => records.get(KIND, &key, now).await.map(|item| items(item.into_iter(), "")),
            Operation::Take(key, now) => records.take(KIND, &key, now).await.map(|item| items(item.into_iter(), "")),
            Operation::List { first, limit, now } => {
                let folder = first.trim_end_matches(|letter| letter != '/');
                let page = records.list(KIND, Some(folder), limit, now).await;
                page.map(|page| items(page.into_iter(), folder))
            }
        };
        Found { answer: answer.unwrap_or_else(refused), revision }
    }
}

fn items(items: impl Iterator<Item = Item>, folder: &str) -> Answer {
    let own = items.filter(|item| item.key.starts_with(folder));
    Answer::Items(own.map(|item| (item.key.to_string(), item.value, item.expires)).collect())
}

fn refused(fault: StoreFault) -> Answer {
    match fault {
        StoreFault::Moved { expected, found } => Answer::Moved { expected, found },
        StoreFault::Missing(_) => Answer::Missing,
        StoreFault::Crowded(_) => Answer::Crowded,
        other => Answer::Failed(other.to_string()),
    }
}

fn choose_append(random: &mut Random, names: &Names, model: &Model, log: Log, now: Time, bytes: Bytes) -> Append {
    let expected = match random.below(8) {
        0 => Expected::At(random.below(4)),
        1 => Expected::Any,
        _ => Expected::At(model.last(&log)),
    };
    let own = match &log {
        Log::Task(task) => Some(*task),
        Log::Run(_) | Log::Topic(_) | Log::Audit => None,
    };
    let line = own.filter(|_| random.below(4) > 0).map(|task| {
        let state = *random.of(&TaskPhase::ALL);
        let skill = [None, Some("p/s".into()), Some("q/s".into())][random.below(3) as usize].clone();
        let parent = [None, Some(*random.of(&names.tasks))][random.below(2) as usize].filter(|parent| *parent != task);
        let conversation = [None, Some("c".into())][random.below(2) as usize].clone();
        let created = 100 * random.below(3);
        TaskRow { skill, parent, conversation, updated: now, ..row(task.0, &names.owner, state, created) }
    });
    let unique = own.filter(|_| random.below(2) == 0).map(|_| Unique {
        key: *random.of(&names.keys),
        body: Digest::of(&bytes),
        until: Time(1000 + random.below(8) * 100),
    });
    let most = line
        .as_ref()
        .filter(|_| random.below(2) == 0)
        .map(|_| TaskRoom { tasks: Some(1 + random.below(2)), ..TaskRoom::default() });
    let records = (0..=random.below(2)).map(|_| bytes.clone()).collect();
    Append { expected, at: now, records, row: line, unique, most, ..append(log, 0, &[]) }
}

fn changed(random: &mut Random, names: &Names) -> Changed {
    Changed {
        owner: Some(names.owner.as_str().into()),
        conversation: [None, Some("c".into())][random.below(2) as usize].clone(),
        state: [None, Some(*random.of(&TaskPhase::ALL))][random.below(2) as usize],
        peer: [None, Some("p".into())][random.below(2) as usize].clone(),
        since: [None, Some(Time(1200))][random.below(2) as usize],
        before: None,
        limit: 1 + random.below(3) as usize,
    }
}

fn expect(random: &mut Random, revision: u64) -> Expect {
    match random.below(4) {
        0 => Expect::Anything,
        1 => Expect::Absent,
        2 => Expect::Revision(u64::from(u32::MAX) * 1000),
        _ => Expect::Revision(revision),
    }
}

fn expires(random: &mut Random) -> Option<Time> {
    [None, Some(Time(1000 + random.below(8) * 100))][random.below(2) as usize]
}
