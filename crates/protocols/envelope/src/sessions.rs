//! The table of sessions (H-07): records of the store, changed by compare-and-set, removed when they expire. The rules are in
//! [`crate::session`]; an idle session uses no memory, because it is in the store.
//!
//! A context token of the hub names its session and proves it: `KEY.SECRET`. So a token alone leads back to its session without a second
//! table. A token that was not requested is stored only when it comes back ([`super::self_proving_token`]). An authenticated caller may
//! bring a token of its own; its session is then named after the token. An unknown token of such a caller proves nothing and is repeated
//! unchanged.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::session::{self, HeadKind, Held, PREFIX, Presented, Refused, Sealed, Session};
use crate::wire::Token;
use bytes::Bytes;
use interlingua_model::ports::{Expect, Item, Records, Room, StoreFault};
use interlingua_model::{
    ConversationId, Digest, Fault, FaultKind, Json, Loss, LossKind, MessageId, Owner, Principal, Secret, Subject, Text,
    Time, uuid_v4,
};

use super::memory::Memory;
use super::notes::{self, Note, Place};
use super::self_proving_token::SelfProvingToken;
use super::settings::{Seals, Settings};
use interlingua_hub::shares::Shares;
use interlingua_hub::{CONVERSATIONS, entropy};

pub(super) const KIND: &str = "session";
/// More sessions than this are refused.
pub const MAX_SESSIONS: u64 = 1_000_000;
/// A larger context is refused.
pub(super) const MAX_CONTEXT: usize = 16 * 1024;
/// How many are looked at together when keys change.
const PAGE: usize = 500;
/// How often somebody else may have been quicker with the same session.
const MAX_TRIES: usize = 64;
/// How long a count that found the table full is believed, in milliseconds.
const RECOUNT_AFTER: u64 = 10_000;

#[derive(Debug)]
pub(super) struct Sessions {
    durable: Table,
    passing: Table,
}

/// Where sessions are, and about how many.
pub(super) struct Table {
    pub(super) records: Arc<dyn Records>,
    limit: u64,
    /// At least as many as there are; counted anew when it reaches the limit.
    about: AtomicU64,
    counted: AtomicU64,
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("limit", &self.limit).field("about", &self.about).finish_non_exhaustive()
    }
}

/// What a message says of its session.
#[derive(Debug, Clone, Copy)]
pub(super) struct Brought<'a> {
    pub(super) by: &'a Principal,
    pub(super) token: &'a Token,
    pub(super) message: &'a MessageId,
    pub(super) context: Option<&'a Context>,
    pub(super) kind: Kind,
    /// How many conversations one caller may keep.
    pub(super) most: u64,
    /// How many bytes of all that is theirs.
    pub(super) bytes: Option<u64>,
}

impl Brought<'_> {
    /// Nothing to be kept but that there was a request.
    fn leaves_nothing(&self) -> bool {
        self.context.is_none() && self.token.state_token.is_none() && self.kind == Kind::Turn
    }
}

/// A request is a turn; a notification is only noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Turn,
    Note,
}

impl Kind {
    fn head(self) -> HeadKind {
        match self {
            Kind::Turn => HeadKind::Request,
            Kind::Note => HeadKind::Notification,
        }
    }
}

/// For whom a notification is stored, and how much of theirs may be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Noting<'a> {
    pub(super) by: &'a Principal,
    pub(super) settings: &'a Settings,
    pub(super) most: u64,
    pub(super) bytes: Option<u64>,
    pub(super) now: Time,
}

/// The Owner's store is the Owner's to fill.
fn room(owner: &Owner, of: &'static str, most: u64, bytes: Option<u64>) -> Option<Room> {
    let bounded = owner.0.first() != Some(&Subject::HubOwner);
    bounded.then(|| Room { of, owner: owner.to_string().into(), most, bytes, beside: 0 })
}

/// `metadata.context`: an object is kept for the caller, `true` asks for it back.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Context {
    Keep(Json),
    Bring,
}

/// What the answer to a message says of its session.
#[derive(Debug, PartialEq)]
pub(super) struct TakenUp {
    pub(super) token: Token,
    /// The session, when the caller named it: part of its idempotency keys.
    pub(super) conversation: Option<ConversationId>,
    /// The record it is kept under; none without a session.
    pub(super) key: Option<Digest>,
    pub(super) context: Option<Json>,
    pub(super) losses: Vec<Loss>,
}

impl TakenUp {
    /// Without a session the request stands alone: tokens are repeated, and the turn is the caller's own, one on.
    fn alone(token: &Token, settings: &Settings) -> TakenUp {
        let mut token = token.clone();
        if settings.counts_turns {
            token.conversation_turn = token.conversation_turn.saturating_add(1);
        }
        TakenUp::of(token)
    }

    /// With a session that is not written before somebody comes back to it.
    fn promised(promise: &SelfProvingToken, token: &Token, settings: &Settings) -> TakenUp {
        let mut taken = TakenUp::of(token.clone());
        taken.token.session_id = Some(promise.id());
        taken.token.context_token = Some(promise.token());
        if settings.counts_turns {
            taken.tell_turn(1, token.conversation_turn == 0);
        }
        taken
    }

    fn of(token: Token) -> TakenUp {
        TakenUp { token, conversation: None, key: None, context: None, losses: Vec::new() }
    }

    /// The hub's count, and that the caller's was another.
    fn tell_turn(&mut self, turn: u64, as_given: bool) {
        // A caller that does not count says 0.
        if !as_given && self.token.conversation_turn != 0 {
            self.losses.push(Loss::new("token.conversation_turn", LossKind::AnsweredByHub));
        }
        self.token.conversation_turn = turn;
    }
}

impl Sessions {
    pub(super) fn new(records: Arc<dyn Records>, passing: Arc<Shares>, limit: u64) -> Sessions {
        Sessions { durable: Table::new(records, limit), passing: Table::new(Arc::new(Memory::new(passing)), limit) }
    }

    /// Where sessions are, as it is configured.
    pub(super) fn table(&self, settings: &Settings) -> &Table {
        if settings.persists_contexts { &self.durable } else { &self.passing }
    }

    /// Stores a notification of a session under the session's key, for the session's owner. False: it was there.
    pub(super) async fn note(&self, note: &Note, key: Digest, of: Noting<'_>) -> Result<bool, Fault> {
        let Noting { by, settings, most, bytes, now } = of;
        let place = Place { records: &*self.table(settings).records, seals: &settings.seals, key, now };
        let room = room(&by.owner(), notes::COUNTED, most, bytes);
        place.append(note, room.as_ref(), now.after(settings.rules.max_age)).await
    }

    /// Seals what older keys sealed by the newest; how much that was. What lives in memory alone goes with the hub.
    pub(super) async fn reseal(&self, seals: &Seals, now: Time) -> Result<u64, Fault> {
        let contexts = self.reseal_kind(KIND, |item| resealed(seals, item), now).await?;
        let notes = self.reseal_kind(notes::KIND, |item| notes::resealed(seals, item), now).await?;
        Ok(contexts + notes)
    }

    async fn reseal_kind(
        &self,
        kind: &'static str,
        resealed: impl Fn(&Item) -> Result<Option<Bytes>, Fault>,
        now: Time,
    ) -> Result<u64, Fault> {
        let (records, mut after, mut done) = (&self.durable.records, None::<String>, 0);
        loop {
            let page = records.list(kind, after.as_deref(), PAGE, now).await?;
            for item in &page {
                if let Some(value) = resealed(item)? {
                    done += u64::from(records.rewrite(kind, &item.key, value, item.revision).await?);
                }
            }
            after = page.last().map(|item| item.key.to_string());
            if page.len() < PAGE {
                return Ok(done);
            }
        }
    }

    /// Takes up the session of a message, or opens one, and writes it down.
    pub(super) async fn take_up(&self, brought: Brought<'_>, settings: &Settings, now: Time) -> Result<TakenUp, Fault> {
        let shown = Shown::of(brought.by, brought.token, settings);
        let nothing_to_open = shown.key.is_none() && !settings.opens_sessions;
        if !settings.keeps_sessions || nothing_to_open {
            return Ok(TakenUp::alone(brought.token, settings));
        }
        if shown.key.is_none() && brought.leaves_nothing() && settings.persists_contexts {
            let promise = SelfProvingToken::new(&brought.by.owner(), &settings.promises, entropy::bits(), now);
            return Ok(TakenUp::promised(&promise, brought.token, settings));
        }
        let table = self.table(settings);
        for _ in 0..MAX_TRIES {
            let step = Step { table, brought, shown: &shown, settings, now };
            if let Some(taken) = step.attempt().await? {
                return Ok(taken);
            }
        }
        Err(Fault::hub(FaultKind::Busy, "too many requests of this session arrive at once"))
    }
}

/// A session whose context an older key sealed, with that sealed by the newest.
fn resealed(seals: &Seals, item: &Item) -> Result<Option<Bytes>, Fault> {
    let (Ok(mut session), Ok(key)) = (serde_json::from_slice::<Session>(&item.value), item.key.parse::<Digest>())
    else {
        return Ok(None);
    };
    let Some(sealed) = session.context.as_ref().filter(|sealed| seals.is_stale(&sealed.0)) else { return Ok(None) };
    // One that nobody can open any more is told to its caller as lost.
    let Ok(plain) = seals.open(&key.0, &sealed.0) else { return Ok(None) };
    let sealed = seals.seal(&key.0, &plain).map_err(Fault::internal)?;
    session.context = Some(Sealed(sealed.into()));
    serde_json::to_vec(&session).map(|value| Some(value.into())).map_err(Fault::internal)
}

impl Table {
    fn new(records: Arc<dyn Records>, limit: u64) -> Table {
        // Nothing is known before the first count.
        Table { records, limit, about: AtomicU64::new(u64::MAX), counted: AtomicU64::new(0) }
    }

    async fn find(&self, key: Digest, now: Time) -> Result<Option<Item>, Fault> {
        Ok(self.records.get(KIND, &key.to_string(), now).await?)
    }

    /// Room for one more?
    async fn make_room(&self, now: Time) -> Result<(), Fault> {
        if self.about.load(Ordering::Relaxed) >= self.limit {
            let last = self.counted.load(Ordering::Relaxed);
            if last == 0 || now.0.saturating_sub(last) >= RECOUNT_AFTER {
                let count = self.records.count(KIND, now).await?;
                self.about.store(count, Ordering::Relaxed);
                self.counted.store(now.0, Ordering::Relaxed);
            }
        }
        if self.about.load(Ordering::Relaxed) >= self.limit {
            return Err(Fault::hub(FaultKind::Busy, "the hub keeps as many sessions as it can"));
        }
        self.about.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// What a caller shows to be let into a session.
struct Shown {
    id: Option<Text>,
    key: Option<Digest>,
    secret: Option<Secret>,
    /// What the token promises, when it is for the session that is meant.
    promise: Option<SelfProvingToken>,
    proven: bool,
}

impl Shown {
    fn of(by: &Principal, token: &Token, settings: &Settings) -> Shown {
        let (owner, proven) = (by.owner(), !by.is_anonymous());
        let shown = token.context_token.as_ref();
        let promise = shown.and_then(|token| SelfProvingToken::read(&owner, &settings.promises, token));
        let (named, secret) = shown.map_or((None, None), split);
        // A token of the caller's own names its session, so that it leads back there when it comes alone.
        let own = || secret.as_ref().filter(|_| proven && named.is_none()).and_then(|it| id_of(&owner, it));
        let id = token.session_id.clone().or_else(|| promise.as_ref().map(SelfProvingToken::id)).or_else(own);
        let key = id.as_ref().map(|id| Session::key(&owner, id)).or(named);
        let promise = promise.filter(|promise| Some(promise.id()) == id);
        Shown { id, key, secret, promise, proven }
    }

    fn presented(&self) -> Presented<'_> {
        Presented { id: self.id.as_deref(), token: self.secret.as_ref() }
    }

    /// What a new session may be called. The hub's own names are not for strangers to take: they may be promised.
    fn wanted(&self) -> Presented<'_> {
        let free = |id: &&str| self.proven || !id.starts_with(PREFIX);
        Presented { id: self.id.as_deref().filter(free), token: self.secret.as_ref() }
    }
}

/// A context token: the session's key if it is in there, and the secret.
fn split(token: &Secret) -> (Option<Digest>, Option<Secret>) {
    match token.text().and_then(|text| text.split_once('.')) {
        Some((name, secret)) if is_ours(name) => (name.parse().ok(), Some(Secret::new(secret))),
        Some(_) | None => (None, Some(token.clone())),
    }
}

/// The names in front of the hub's own secrets: keys and promises.
fn is_ours(name: &str) -> bool {
    matches!(name.len(), 44 | 64) && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn joined(key: &Digest, secret: &Secret) -> Secret {
    Secret::new(format!("{key}.{}", secret.text().unwrap_or_default()))
}

fn id_of(owner: &Owner, token: &Secret) -> Option<Text> {
    let digest = Session::token_key(owner, token)?;
    let (first, _) = digest.0.split_first_chunk::<16>()?;
    Some(format!("{PREFIX}_{}", uuid_v4(u128::from_be_bytes(*first))).into())
}

fn fresh_entropy() -> session::Entropy {
    let mut token = [0; 32];
    let (a, b) = token.split_at_mut(16);
    a.copy_from_slice(&entropy::bits().to_be_bytes());
    b.copy_from_slice(&entropy::bits().to_be_bytes());
    session::Entropy { id: entropy::bits(), token }
}

/// One try: read, apply the rules, write unless somebody was quicker.
struct Step<'a> {
    table: &'a Table,
    brought: Brought<'a>,
    shown: &'a Shown,
    settings: &'a Settings,
    now: Time,
}

/// A session about to be written.
struct Taken {
    held: Held,
    over: Over,
}

/// In the place of what.
enum Over {
    Nothing,
    Revision(u64),
}

impl Step<'_> {
    /// `None`: somebody was quicker.
    async fn attempt(&self) -> Result<Option<TakenUp>, Fault> {
        let found = match self.shown.key {
            Some(key) => self.table.find(key, self.now).await?,
            None => None,
        };
        let Taken { mut held, over } = self.taken(found).await?;
        let mut taken = TakenUp::of(self.brought.token.clone());
        self.count(&mut held.session, &mut taken);
        let key = Session::key(held.session.owner(), held.session.id());
        self.keep_context(&mut held.session, &key, &mut taken)?;
        let value = serde_json::to_vec(&held.session).map_err(Fault::internal)?;
        let expires = Some(held.session.expires(&self.settings.rules));
        let (records, name, value) = (&self.table.records, key.to_string(), Bytes::from(value));
        let room = room(held.session.owner(), CONVERSATIONS, self.brought.most, self.brought.bytes);
        let put = match (over, room) {
            (Over::Nothing, Some(room)) => records.put_within(room, KIND, Item::new(name, value, expires), self.now),
            (Over::Nothing, None) => records.put(KIND, &name, value, expires, Expect::Absent, self.now),
            (Over::Revision(seen), _) => records.put(KIND, &name, value, expires, Expect::Revision(seen), self.now),
        };
        match put.await {
            Ok(_) => {}
            Err(StoreFault::Moved { .. }) => return Ok(None),
            Err(StoreFault::Full(_)) => {
                return Err(Fault::hub(FaultKind::Busy, "the hub keeps as many sessions as it can"));
            }
            Err(fault) => return Err(fault.into()),
        }
        let id = held.session.id();
        let named = self.brought.token.session_id.as_ref() == Some(id);
        taken.conversation = named.then(|| held.session.conversation());
        taken.token.session_id = Some(id.clone());
        if let Some(secret) = &held.tell {
            taken.token.context_token = Some(joined(&key, secret));
        }
        taken.key = Some(key);
        Ok(Some(taken))
    }

    /// Resumes what was found; else opens one, where that is done.
    async fn taken(&self, found: Option<Item>) -> Result<Taken, Fault> {
        let Some(item) = found else {
            if let Some(promise) = &self.shown.promise
                && let Ok(held) = self.resumed(&promise.session(self.brought.by.owner()))
            {
                self.table.make_room(self.now).await?;
                return Ok(Taken { held, over: Over::Nothing });
            }
            let may_open = self.settings.opens_sessions || self.brought.kind == Kind::Note;
            return if may_open { self.opened(self.shown.wanted()).await } else { Err(Refused::Expired.fault()) };
        };
        let session: Session = serde_json::from_slice(&item.value).map_err(Fault::internal)?;
        match self.resumed(&session) {
            Ok(held) => Ok(Taken { held, over: Over::Revision(item.revision) }),
            Err(refused) if !self.settings.opens_sessions => Err(refused.fault()),
            Err(Refused::Expired) => {
                let taken = self.opened(self.shown.wanted()).await?;
                Ok(Taken { over: Over::Revision(item.revision), ..taken })
            }
            // The name is taken; this caller gets another.
            Err(Refused::NotYours) => {
                let token = self.shown.secret.as_ref();
                self.opened(Presented { id: None, token }).await
            }
        }
    }

    async fn opened(&self, presented: Presented<'_>) -> Result<Taken, Fault> {
        self.table.make_room(self.now).await?;
        let held = session::open(self.brought.by.owner(), presented, PREFIX, fresh_entropy(), self.now);
        Ok(Taken { held, over: Over::Nothing })
    }

    fn resumed(&self, session: &Session) -> Result<Held, Refused> {
        let owner = self.brought.by.owner();
        let again = |presented| {
            session::resume(session.clone(), &owner, presented, fresh_entropy(), &self.settings.rules, self.now)
        };
        match again(self.shown.presented()) {
            // Who is known by who it is needs no token.
            Err(Refused::NotYours) if self.shown.proven => again(Presented { token: None, ..self.shown.presented() }),
            resumed => resumed,
        }
    }

    /// The hub counts; a message that was counted before is no new turn (H-09, H-11).
    fn count(&self, session: &mut Session, taken: &mut TakenUp) {
        let Brought { message, token, kind, .. } = self.brought;
        let seen = self.settings.tracks_messages && session.has_seen(message);
        let mut as_given = true;
        if kind == Kind::Turn && !seen {
            as_given = session.advance(token.conversation_turn, token.state_token.as_ref(), self.now).as_given;
        }
        if self.settings.tracks_messages && !seen {
            session.note(message, self.now);
            session.store_head(message, kind.head(), self.now);
        }
        if self.settings.counts_turns {
            taken.tell_turn(session.turn(), as_given);
        }
    }

    /// Keeps what the caller wants kept, brings what it wants back, and seals anew what an older key sealed.
    fn keep_context(&self, session: &mut Session, key: &Digest, taken: &mut TakenUp) -> Result<(), Fault> {
        let seals = &self.settings.seals;
        let kept = session.context.as_ref();
        let plain = match (self.brought.context, kept) {
            (Some(Context::Keep(context)), _) if context.as_bytes().len() > MAX_CONTEXT => {
                let why = format!("a context has at most {MAX_CONTEXT} bytes");
                return Err(Fault::caller(FaultKind::TooLarge, why).field("metadata.context", "is too large"));
            }
            (Some(Context::Keep(context)), _) => {
                let sealed = seals.seal(&key.0, context.as_bytes()).map_err(Fault::internal)?;
                session.context = Some(Sealed(sealed.into()));
                return Ok(());
            }
            (Some(Context::Bring), Some(sealed)) => seals.open(&key.0, &sealed.0),
            (None, Some(sealed)) if seals.is_stale(&sealed.0) => seals.open(&key.0, &sealed.0),
            (Some(Context::Bring) | None, _) => return Ok(()),
        };
        let Ok(plain) = plain else {
            // Its key was taken out of the configuration: it cannot be read by anybody any more.
            session.context = None;
            taken.losses.push(Loss::new("metadata.context", LossKind::Dropped));
            return Ok(());
        };
        if session.context.as_ref().is_some_and(|sealed| seals.is_stale(&sealed.0)) {
            let sealed = seals.seal(&key.0, &plain).map_err(Fault::internal)?;
            session.context = Some(Sealed(sealed.into()));
        }
        if self.brought.context == Some(&Context::Bring) {
            taken.context = Json::parse(Bytes::copy_from_slice(&plain)).ok();
        }
        Ok(())
    }
}
