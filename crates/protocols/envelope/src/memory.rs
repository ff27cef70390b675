//! Sessions that do not outlive the process (`persist_context_tokens: false`): the same port, in memory. All of them share a limit in
//! bytes, and each caller has a share of it ([`interlingua_hub::shares`]). When a share is full its oldest session is evicted, or the
//! oldest of the largest share: a caller never loses sessions to one that has more.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use interlingua_model::ports::{Expect, Item, Pending, Records, Room, StoreFault};
use interlingua_model::{Text, Time};

use interlingua_hub::shares::{HUB_OWNER, NoRoom, Share, Shares, whose_text};

/// What one takes besides its value: its name, its places in three tables. 20,000 sessions of half a kilobyte were measured to take
/// 2.2 KiB each.
const OVERHEAD: usize = 1_536;

/// Whoever has too much makes the hub look for what has expired no more often than this.
const LOOK_AFTER: Duration = Duration::from_secs(10);

type Key = (&'static str, Text);
/// As what something counts, and for whom.
type Counted = (&'static str, Text);

#[derive(Debug)]
pub(super) struct Memory {
    held: Mutex<Held>,
}

#[derive(Debug)]
struct Held {
    shares: Arc<Shares>,
    revision: u64,
    items: BTreeMap<Key, Kept>,
    /// Of each share, by when they expire.
    ages: HashMap<Text, BTreeSet<(Time, Key)>>,
    counts: HashMap<Counted, u64>,
    /// When it was looked last for what has expired, because somebody had too much.
    looked: Option<Time>,
}

#[derive(Debug)]
struct Kept {
    item: Item,
    share: Share,
    /// What is somebody's.
    counted: Option<Counted>,
}

impl Kept {
    fn age(&self, key: &Key) -> (Time, Key) {
        (self.item.expires.unwrap_or(Time(u64::MAX)), key.clone())
    }
}

impl Memory {
    pub(super) fn new(shares: Arc<Shares>) -> Memory {
        let (items, ages, counts) = Default::default();
        Memory { held: Mutex::new(Held { shares, revision: 0, items, ages, counts, looked: None }) }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn get(&self, key: &Key, now: Time) -> Option<&Item> {
        let kept = self.items.get(key)?;
        Some(&kept.item).filter(|item| item.expires.is_none_or(|expires| expires > now))
    }

    /// `counted`: for whom, where that is not known from what is there.
    fn put(&mut self, key: Key, new: Item, expect: Expect, counted: Option<Counted>, now: Time) -> Stored {
        let found = self.get(&key, now).map_or(0, |item| item.revision);
        let expected = match expect {
            Expect::Anything => found,
            Expect::Absent => 0,
            Expect::Revision(revision) => revision,
        };
        if found != expected {
            return Err(StoreFault::Moved { expected, found });
        }
        let before = self.remove(&key);
        let counted = counted.or_else(|| before.and_then(|before| before.counted));
        let whose = counted.as_ref().map_or(HUB_OWNER.into(), |(_, owner)| whose_text(owner));
        let share = self.share(&whose, weight(&key, &new.value))?;
        self.revision += 1;
        let item = Item { key: key.1.clone(), revision: self.revision, ..new };
        self.insert(key, Kept { item, share, counted });
        Ok(self.revision)
    }

    fn share(&mut self, whose: &Text, bytes: u64) -> Result<Share, StoreFault> {
        loop {
            let from = match self.shares.take(whose, bytes) {
                Ok(share) => return Ok(share),
                Err(NoRoom::OfOne) => Some(whose.clone()),
                Err(NoRoom::OfAll) => self.shares.most_of(),
            };
            let oldest = from.and_then(|from| self.ages.get(&from)?.first().cloned());
            let Some((_, oldest)) = oldest else {
                return Err(StoreFault::Full("one session is more than may be held in memory".into()));
            };
            self.remove(&oldest);
        }
    }

    fn put_within(&mut self, room: Room, kind: &'static str, item: Item, now: Time) -> Stored {
        let counted = (room.of, room.owner);
        let crowded = |held: &Held| held.counts.get(&counted).copied().unwrap_or(0) >= room.most;
        if crowded(self) && self.looked.is_none_or(|looked| looked.after(LOOK_AFTER) <= now) {
            self.expire(now);
            self.looked = Some(now);
        }
        if crowded(self) {
            return Err(StoreFault::Crowded(room.of.into()));
        }
        let (key, expect) = ((kind, item.key.clone()), Expect::Revision(item.revision));
        self.put(key, item, expect, Some(counted), now)
    }

    fn insert(&mut self, key: Key, kept: Kept) {
        if let Some(counted) = &kept.counted {
            *self.counts.entry(counted.clone()).or_default() += 1;
        }
        self.ages.entry(kept.share.whose().clone()).or_default().insert(kept.age(&key));
        self.items.insert(key, kept);
    }

    fn remove(&mut self, key: &Key) -> Option<Kept> {
        let kept = self.items.remove(key)?;
        if let Some(ages) = self.ages.get_mut(kept.share.whose()) {
            ages.remove(&kept.age(key));
            if ages.is_empty() {
                self.ages.remove(kept.share.whose());
            }
        }
        if let Some(counted) = &kept.counted
            && let Some(count) = self.counts.get_mut(counted)
        {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(counted);
            }
        }
        Some(kept)
    }

    fn expire(&mut self, now: Time) -> u64 {
        let old = |kept: &Kept| kept.item.expires.is_some_and(|expires| expires <= now);
        let gone: Vec<Key> = self.items.iter().filter(|(_, kept)| old(kept)).map(|(key, _)| key.clone()).collect();
        gone.iter().for_each(|key| drop(self.remove(key)));
        gone.len() as u64
    }
}

fn weight(key: &Key, value: &Bytes) -> u64 {
    (OVERHEAD + key.1.len() + value.len()) as u64
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
        let item = Item::new(key, value, expires);
        Box::pin(ready(self.held().put((kind, item.key.clone()), item, expect, None, now)))
    }

    fn put_within(&self, room: Room, kind: &'static str, item: Item, now: Time) -> Pending<'_, u64> {
        Box::pin(ready(self.held().put_within(room, kind, item, now)))
    }

    fn rewrite(&self, kind: &'static str, key: &str, value: Bytes, revision: u64) -> Pending<'_, bool> {
        let (mut held, key) = (self.held(), (kind, key.into()));
        let there = match held.items.get_mut(&key) {
            Some(kept) if kept.item.revision == revision => {
                let fits = kept.share.resize(weight(&key, &value)).is_ok();
                if fits {
                    kept.item.value = value;
                }
                fits
            }
            Some(_) | None => false,
        };
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
        let live = later.filter(|((_, key), _)| Some(&**key) != after).map(|(_, kept)| &kept.item);
        let live = live.filter(|item| item.expires.is_none_or(|expires| expires > now));
        Box::pin(ready(Ok(live.take(limit).cloned().collect())))
    }

    fn count(&self, kind: &'static str, now: Time) -> Pending<'_, u64> {
        let held = self.held();
        let lives = |kept: &Kept| kept.item.expires.is_none_or(|at| at > now);
        let live = held.items.iter().filter(|((of, _), kept)| *of == kind && lives(kept));
        Box::pin(ready(Ok(live.count() as u64)))
    }

    fn expire(&self, now: Time) -> Pending<'_, u64> {
        Box::pin(ready(Ok(self.held().expire(now))))
    }
}
