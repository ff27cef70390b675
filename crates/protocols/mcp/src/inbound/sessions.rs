//! Self-contained sessions of the legacy era. The id of a session contains its version, capabilities and owner, sealed, so that an unused
//! session costs nothing and any process with the hub's keys can serve it. What changes during a session (log level, subscriptions,
//! requests in progress) is in memory, bounded, and evicted when the session is idle.
//!
//! A session expires when it was not used for a while. The time of its last use is stored at intervals, with its log level and whether it
//! follows resources, for when memory has lost it: after a restart, or when there are too many sessions. A session that followed resources
//! then ends, so that its client begins a new one and does not silently lose its subscriptions.
//!
//! The memory of sessions counts in the share of their caller ([`interlingua_hub::shares`]). A caller without memory left is still served,
//! from the id and the records: its session is not cached between requests, and follows nothing.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use crate::Version;
use crate::decode::Filter;
use crate::wire::capabilities::Client;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use interlingua_model::peer::Following;
use interlingua_model::ports::{Expect, Item, Room, StoreFault};
use interlingua_model::{Digest, Fault, FaultKind, Level, Principal, TaskId, Text, Time};
use interlingua_wire::rpc::Id;
use moka::sync::Cache;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::Scope;
use interlingua_hub::shares::{Share, Shares, whose};
use interlingua_hub::{Hub, entropy};

const PURPOSE: &str = "mcp session";
/// A session that nothing was heard of for this long is over.
const IDLE: Duration = Duration::from_secs(30 * 60);
/// No session is older.
const MAX_AGE: Duration = Duration::from_secs(24 * 3600);
/// What a session takes of memory, with its places in two tables, and what a resource takes that it follows.
const TAKES: u64 = 1_024;
const FOLLOWS: u64 = 512;
/// How many ended ones are remembered in memory, a few hundred bytes each; the records know more.
const MAX_ENDED: u64 = 20_000;
/// How many sessions of one caller are written down, those that ended within a day included.
const MAX_WRITTEN: u64 = 20_000;
/// How many resources one session may follow, and how many requests it may have under way.
const MAX_SUBSCRIPTIONS: usize = 1_000;
const MAX_RUNNING: usize = 1_000;
/// Where it is written down when sessions were used.
const USED: &str = "mcp_session_used";
/// A use is written down when the one before it is so old: a session in use costs one small write in that time.
const STEP: Duration = Duration::from_secs(5 * 60);
/// How many sessions have that written down.
const MAX_USED: u64 = 100_000;
/// Where ended sessions are written down.
const ENDED: &str = "mcp_session_ended";
/// How long the end of a stream can be asked for again, and how much of it is kept.
const REPLAY: Duration = Duration::from_secs(300);
const MAX_REPLAY_BYTES: u64 = 32 * 1024 * 1024;

/// What a session's id says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Session {
    pub(super) id: u128,
    pub(super) version: Version,
    pub(super) client: Client,
    issued: Time,
}

/// What is written down of a session in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Used {
    at: Time,
    level: Option<Level>,
    follows: bool,
}

/// What is in memory of sessions, by their ids, for as long as anything holds it.
type LiveMemories = Mutex<HashMap<u128, Weak<Memory>>>;

#[derive(Debug)]
pub(super) struct Sessions {
    /// What those in `live` take; nothing else bounds their number.
    shares: Arc<Shares>,
    live: Cache<u128, Arc<Memory>>,
    /// One that is let go of while a request or a stream of it is under way is found here.
    held: Arc<LiveMemories>,
    ended: Cache<u128, ()>,
    /// The last message of streams, for clients that lost them.
    finals: Cache<TaskId, Bytes>,
}

impl Sessions {
    pub(super) fn new(shares: Arc<Shares>) -> Sessions {
        Sessions {
            shares,
            live: Cache::builder().time_to_idle(IDLE).build(),
            held: Arc::default(),
            ended: Cache::builder().max_capacity(MAX_ENDED).time_to_live(MAX_AGE).build(),
            finals: Cache::builder()
                .max_capacity(MAX_REPLAY_BYTES)
                .weigher(|_, message: &Bytes| u32::try_from(message.len()).unwrap_or(u32::MAX))
                .time_to_live(REPLAY)
                .build(),
        }
    }
}

/// What changes while a session lives.
#[derive(Debug)]
pub(super) struct Memory {
    id: u128,
    held: Arc<LiveMemories>,
    changing: Mutex<Changing>,
}

impl Drop for Memory {
    fn drop(&mut self) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.get(&self.id).is_some_and(|memory| memory.strong_count() == 0) {
            held.remove(&self.id);
        }
    }
}

#[derive(Debug)]
struct Changing {
    /// When a use was written down.
    written: Time,
    level: Option<Level>,
    /// Resources by the client's address, each held with its peer.
    subscriptions: BTreeMap<Text, Following>,
    running: HashMap<Id, CancellationToken>,
    /// Ends the stream that was opened last.
    stream: Option<CancellationToken>,
    /// Of one that is remembered between requests.
    share: Option<Share>,
}

impl Changing {
    /// Room for all it follows and these bytes more.
    fn has_room(&mut self, more: u64) -> bool {
        let followed: u64 = self.subscriptions.keys().map(|uri| FOLLOWS + uri.len() as u64).sum();
        self.share.as_mut().is_some_and(|share| share.resize(TAKES + followed + more).is_ok())
    }
}

impl Memory {
    fn new(id: u128, held: &Arc<LiveMemories>, written: Time, level: Option<Level>, share: Option<Share>) -> Memory {
        let (subscriptions, running) = Default::default();
        let changing = Changing { written, level, subscriptions, running, stream: None, share };
        Memory { id, held: held.clone(), changing: Mutex::new(changing) }
    }

    fn lock(&self) -> MutexGuard<'_, Changing> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What to write down of a use now; nothing when that was done not long ago.
    fn due(&self, now: Time) -> Option<Used> {
        let is_due = self.lock().written.after(STEP) <= now;
        is_due.then(|| self.used(now))
    }

    fn used(&self, now: Time) -> Used {
        let mut changing = self.lock();
        changing.written = now;
        Used { at: now, level: changing.level, follows: !changing.subscriptions.is_empty() }
    }

    /// Until the client says otherwise it hears what people would want to know.
    pub(super) fn level(&self) -> Level {
        self.lock().level.unwrap_or(Level::Info)
    }

    pub(super) fn set_level(&self, level: Level) {
        self.lock().level = Some(level);
    }

    fn is_remembered(&self) -> bool {
        self.lock().share.is_some()
    }

    /// False when there are too many.
    pub(super) fn subscribe(&self, uri: Text, following: Following) -> bool {
        let mut changing = self.lock();
        let takes = changing.subscriptions.contains_key(&uri)
            || (changing.subscriptions.len() < MAX_SUBSCRIPTIONS && changing.has_room(FOLLOWS + uri.len() as u64));
        if takes {
            changing.subscriptions.insert(uri, following);
        }
        takes
    }

    pub(super) fn unsubscribe(&self, uri: &str) {
        let mut changing = self.lock();
        let let_go = changing.subscriptions.remove(uri);
        changing.has_room(0);
        drop(changing);
        drop(let_go);
    }

    /// What its stream tells of.
    pub(super) fn filter(&self) -> Filter {
        let updates = self.lock().subscriptions.keys().cloned().collect();
        Filter { tools: true, prompts: true, resources: true, updates }
    }

    /// A message goes to one stream: the newest takes over from the one before it.
    pub(super) fn take_stream(&self) -> CancellationToken {
        let token = CancellationToken::new();
        if let Some(before) = self.lock().stream.replace(token.clone()) {
            before.cancel();
        }
        token
    }

    /// Notes a request, so that it can be cancelled by its id until the guard is dropped.
    pub(super) fn begin(self: &Arc<Self>, id: &Id) -> Running {
        let token = CancellationToken::new();
        let mut changing = self.lock();
        if changing.running.len() < MAX_RUNNING {
            changing.running.insert(id.clone(), token.clone());
        }
        drop(changing);
        Running { memory: self.clone(), id: id.clone(), token }
    }

    pub(super) fn cancel(&self, id: &Id) {
        if let Some(token) = self.lock().running.remove(id) {
            token.cancel();
        }
    }

    fn end(&self) {
        let mut changing = self.lock();
        changing.running.drain().for_each(|(_, token)| token.cancel());
        if let Some(stream) = changing.stream.take() {
            stream.cancel();
        }
        changing.subscriptions.clear();
    }
}

/// A request under way.
#[derive(Debug)]
pub(super) struct Running {
    memory: Arc<Memory>,
    id: Id,
    pub(super) token: CancellationToken,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.memory.lock().running.remove(&self.id);
    }
}

/// What a session's id is sealed to: with another hub, caller or door it does not open.
fn bound(hub: &Hub, by: &Principal, scope: &Scope) -> Vec<u8> {
    let (kind, name) = match scope {
        Scope::All => ("all", ""),
        Scope::Peer(peer) => ("peer", peer.as_str()),
        Scope::View(view) => ("view", &**view),
    };
    let owner = by.owner().to_string();
    Digest::of_fields([hub.id().as_str().as_bytes(), owner.as_bytes(), kind.as_bytes(), name.as_bytes()]).0.to_vec()
}

fn flags(client: Client) -> u8 {
    [client.form, client.url, client.sampling, client.roots]
        .into_iter()
        .enumerate()
        .fold(0, |all, (bit, is)| all | (u8::from(is) << bit))
}

fn client(flags: u8) -> Client {
    let has = |bit: u8| flags & (1 << bit) != 0;
    Client { form: has(0), url: has(1), sampling: has(2), roots: has(3), tasks: false }
}

impl Session {
    pub(super) fn new(hub: &Hub, version: Version, client: Client) -> Session {
        Session { id: entropy::bits(), version, client, issued: hub.now() }
    }

    /// The id that the client brings back.
    pub(super) fn seal(&self, hub: &Hub, by: &Principal, scope: &Scope) -> Result<String, Fault> {
        let mut plain = Vec::with_capacity(40);
        plain.extend_from_slice(&self.id.to_be_bytes());
        plain.extend_from_slice(&self.issued.0.to_be_bytes());
        plain.push(flags(self.client));
        plain.extend_from_slice(self.version.as_str().as_bytes());
        let sealed = hub.keys().seal(PURPOSE, &bound(hub, by, scope), &plain).map_err(Fault::internal)?;
        Ok(URL_SAFE_NO_PAD.encode(sealed))
    }

    fn open(hub: &Hub, by: &Principal, scope: &Scope, text: &str) -> Option<Session> {
        let sealed = URL_SAFE_NO_PAD.decode(text).ok()?;
        let plain = hub.keys().open(PURPOSE, &bound(hub, by, scope), &sealed).ok()?;
        let (id, rest) = plain.split_first_chunk::<16>()?;
        let (issued, rest) = rest.split_first_chunk::<8>()?;
        let (flags, version) = rest.split_first()?;
        Some(Session {
            id: u128::from_be_bytes(*id),
            version: Version::parse(std::str::from_utf8(version).ok()?)?,
            client: client(*flags),
            issued: Time(u64::from_be_bytes(*issued)),
        })
    }
}

impl Sessions {
    /// The session of this id, and what is remembered of it; `None` when it is over or never was.
    pub(super) async fn find(
        &self,
        hub: &Hub,
        by: &Principal,
        scope: &Scope,
        text: &str,
    ) -> Result<Option<(Session, Arc<Memory>)>, Fault> {
        let Some(session) = Session::open(hub, by, scope, text) else { return Ok(None) };
        let now = hub.now();
        if self.ended.contains_key(&session.id) || session.issued.after(MAX_AGE) <= now {
            return Ok(None);
        }
        let memory = match self.remembered(session.id) {
            Some(memory) => memory,
            None => match self.taken_up(hub, by, &session, now).await? {
                Some(memory) => memory,
                None => return Ok(None),
            },
        };
        if let Some(used) = memory.due(now)
            && let Err(fault) = write(hub, by, &session, used).await
        {
            tracing::warn!(event = "mcp_session_use_not_kept", error = %fault, "the use of a session could not be stored; the session may be over after a restart");
        }
        Ok(Some((session, memory)))
    }

    fn remembered(&self, id: u128) -> Option<Arc<Memory>> {
        self.live.get(&id).or_else(|| {
            let memory = self.held.lock().unwrap_or_else(PoisonError::into_inner).get(&id)?.upgrade()?;
            if memory.is_remembered() {
                self.live.insert(id, memory.clone());
            }
            Some(memory)
        })
    }

    /// A session that this process does not know: it may be new here, over, or idle for too long.
    async fn taken_up(
        &self,
        hub: &Hub,
        by: &Principal,
        session: &Session,
        now: Time,
    ) -> Result<Option<Arc<Memory>>, Fault> {
        let records = hub.store_records();
        if records.get(ENDED, &key(session.id), now).await?.is_some() {
            return Ok(None);
        }
        let used: Option<Used> = match records.get(USED, &key(session.id), now).await? {
            Some(item) => Some(serde_json::from_slice(&item.value).map_err(Fault::internal)?),
            None => None,
        };
        let last = used.map_or(session.issued, |used| used.at);
        // Uses of the last while may not have been written down.
        if last.after(IDLE + STEP) <= now || used.is_some_and(|used| used.follows) {
            return Ok(None);
        }
        let share = self.shares.take(&whose(&by.owner()), TAKES).ok();
        let remembered = share.is_some();
        let make = || {
            let level = used.and_then(|used| used.level);
            let memory = Arc::new(Memory::new(session.id, &self.held, last, level, share));
            let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            held.insert(session.id, Arc::downgrade(&memory));
            memory
        };
        Ok(Some(if remembered { self.live.get_with(session.id, make) } else { make() }))
    }

    /// Writes down what was changed of a session, so that it is known when memory has lost it.
    pub(super) async fn changed(
        &self,
        hub: &Hub,
        by: &Principal,
        session: &Session,
        memory: &Memory,
    ) -> Result<(), Fault> {
        write(hub, by, session, memory.used(hub.now())).await
    }

    /// It is over, here and after a restart. Of a caller who ended more than are written down, it is over here.
    pub(super) async fn end(&self, hub: &Hub, by: &Principal, session: &Session) -> Result<(), Fault> {
        self.ended.insert(session.id, ());
        if let Some(memory) = self.live.remove(&session.id) {
            memory.end();
        }
        let ended = Item::new(key(session.id), Bytes::new(), Some(session.issued.after(MAX_AGE)));
        match put(hub, by, ENDED, ended).await {
            Ok(_) | Err(StoreFault::Crowded(_)) => Ok(()),
            Err(fault) => Err(fault.into()),
        }
    }

    pub(super) fn keep_final(&self, task: TaskId, message: Bytes) {
        self.finals.insert(task, message);
    }

    pub(super) fn final_of(&self, task: TaskId) -> Option<Bytes> {
        self.finals.get(&task)
    }
}

async fn write(hub: &Hub, by: &Principal, session: &Session, used: Used) -> Result<(), Fault> {
    let (records, key, now) = (hub.store_records(), key(session.id), hub.now());
    if records.count(USED, now).await? >= MAX_USED && records.get(USED, &key, now).await?.is_none() {
        return Err(Fault::hub(FaultKind::Busy, "as many sessions as this hub keeps"));
    }
    let value = Bytes::from(serde_json::to_vec(&used).map_err(Fault::internal)?);
    put(hub, by, USED, Item::new(key, value, Some(used.at.after(IDLE + STEP)))).await?;
    Ok(())
}

/// In the place of what is there, in the bytes of whose session it is.
async fn put(hub: &Hub, by: &Principal, kind: &'static str, item: Item) -> Result<u64, StoreFault> {
    let (records, owner, now) = (hub.store_records(), by.owner(), hub.now());
    let Some(bytes) = hub.settings().bytes_of(&owner) else {
        return records.put(kind, &item.key, item.value, item.expires, Expect::Anything, now).await;
    };
    let revision = records.get(kind, &item.key, now).await?.map_or(0, |there| there.revision);
    let owner = owner.to_string().into();
    let room = Room { of: "sessions", owner, most: MAX_WRITTEN, bytes: Some(bytes), beside: 0 };
    records.put_within(room, kind, Item { revision, ..item }, now).await
}

fn key(id: u128) -> String {
    format!("{id:032x}")
}
