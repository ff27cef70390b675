//! Sessions that are not to outlive the process (`persist_context_tokens: false`): the same port, in memory, bounded.

use std::collections::{BTreeMap, HashMap};
use std::future::ready;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use interlingua_core::ports::{Expect, Item, Pending, Records, Room, StoreFault};
use interlingua_core::{Text, Time};

/// More than this are not held.
const MOST: usize = 200_000;

/// Whoever has too much makes the hub look for what has expired no more often than this.
const LOOK_AFTER: Duration = Duration::from_secs(10);

type Key = (&'static str, Box<str>);
/// As what something counts, and for whom.
type Counted = (&'static str, Text);

#[derive(Debug, Default)]
pub(super) struct Memory {
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    revision: u64,
    items: BTreeMap<Key, Item>,
    /// Of the items that are somebody's.
    whose: BTreeMap<Key, Counted>,
    counts: HashMap<Counted, u64>,
    /// When it was looked last for what has expired, because somebody had too much.
    looked: Option<Time>,
}

impl Memory {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn get(&self, key: &Key, now: Time) -> Option<&Item> {
        self.items.get(key).filter(|item| item.expires.is_none_or(|expires| expires > now))
    }

    fn put(&mut self, key: Key, value: Bytes, expires: Option<Time>, expect: Expect, now: Time) -> Stored {
        let found = self.get(&key, now).map_or(0, |item| item.revision);
        let expected = match expect {
            Expect::Anything => found,
            Expect::Absent => 0,
            Expect::Revision(revision) => revision,
        };
        if found != expected {
            return Err(StoreFault::Moved { expected, found });
        }
        if !self.items.contains_key(&key) && self.items.len() >= MOST {
            self.expire(now);
            if self.items.len() >= MOST {
                return Err(StoreFault::Full(format!("{MOST} items are held in memory").into()));
            }
        }
        self.revision += 1;
        let item = Item { key: (&*key.1).into(), revision: self.revision, value, expires };
        self.items.insert(key, item);
        Ok(self.revision)
    }

    fn put_within(&mut self, room: Room, kind: &'static str, item: Item, now: Time) -> Stored {
        let key: Key = (kind, (&*item.key).into());
        let counted = (room.of, room.owner);
        let crowded = |held: &Held| held.counts.get(&counted).copied().unwrap_or(0) >= room.most;
        if crowded(self) && self.looked.is_none_or(|looked| looked.after(LOOK_AFTER) <= now) {
            self.expire(now);
            self.looked = Some(now);
        }
        if crowded(self) {
            return Err(StoreFault::Crowded(room.of.into()));
        }
        let revision = self.put(key.clone(), item.value, item.expires, Expect::Revision(item.revision), now)?;
        self.uncount(&key);
        *self.counts.entry(counted.clone()).or_default() += 1;
        self.whose.insert(key, counted);
        Ok(revision)
    }

    fn remove(&mut self, key: &Key) {
        self.items.remove(key);
        self.uncount(key);
    }

    fn uncount(&mut self, key: &Key) {
        let Some(counted) = self.whose.remove(key) else { return };
        if let Some(count) = self.counts.get_mut(&counted) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&counted);
            }
        }
    }

    fn expire(&mut self, now: Time) -> u64 {
        let old = |item: &Item| item.expires.is_some_and(|expires| expires <= now);
        let gone: Vec<Key> = self.items.iter().filter(|(_, item)| old(item)).map(|(key, _)| key.clone()).collect();
        gone.iter().for_each(|key| self.remove(key));
        gone.len() as u64
    }
}

type Stored = Result<u64, StoreFault>;

impl Records for Memory {
    fn get(&self, kind: &'static str, key: &str, now: Time) -> Pending<'_, Option<Item>> {
        Box::pin(ready(Ok(self.held().get(&(kind, key.into()), now).cloned())))
    }

    fn put(
        &self,
        kind: &'static str,
        key: &str,
        value: Bytes,
        expires: Option<Time>,
        expect: Expect,
        now: Time,
    ) -> Pending<'_, u64> {
        Box::pin(ready(self.held().put((kind, key.into()), value, expires, expect, now)))
    }

    fn put_within(&self, room: Room, kind: &'static str, item: Item, now: Time) -> Pending<'_, u64> {
        Box::pin(ready(self.held().put_within(room, kind, item, now)))
    }

    fn rewrite(&self, kind: &'static str, key: &str, value: Bytes, revision: u64) -> Pending<'_, bool> {
        let mut held = self.held();
        let found = held.items.get_mut(&(kind, key.into())).filter(|item| item.revision == revision);
        let there = found.map(|item| item.value = value).is_some();
        Box::pin(ready(Ok(there)))
    }

    fn take(&self, kind: &'static str, key: &str, now: Time) -> Pending<'_, Option<Item>> {
        let mut held = self.held();
        let key = (kind, key.into());
        let found = held.get(&key, now).cloned();
        held.remove(&key);
        Box::pin(ready(Ok(found)))
    }

    fn list(&self, kind: &'static str, after: Option<&str>, limit: usize, now: Time) -> Pending<'_, Vec<Item>> {
        let held = self.held();
        let from: Key = (kind, after.unwrap_or_default().into());
        let later = held.items.range(from..).take_while(|((of, _), _)| *of == kind);
        let live = later.filter(|((_, key), _)| Some(&**key) != after);
        let live = live.filter(|(_, item)| item.expires.is_none_or(|expires| expires > now));
        Box::pin(ready(Ok(live.take(limit).map(|(_, item)| item.clone()).collect())))
    }

    fn count(&self, kind: &'static str, now: Time) -> Pending<'_, u64> {
        let held = self.held();
        let live = held.items.iter().filter(|((of, _), item)| *of == kind && item.expires.is_none_or(|at| at > now));
        Box::pin(ready(Ok(live.count() as u64)))
    }

    fn expire(&self, now: Time) -> Pending<'_, u64> {
        Box::pin(ready(Ok(self.held().expire(now))))
    }
}
