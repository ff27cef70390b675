//! Mailbox actor: drives the inbox of one agent. It is the only owner of the state; it decides, appends, and only then shows.
//!
//! A sender or answerer waits until its record is written; readers wait for written records. A reader that disconnects loses nothing. An
//! agent is up while it has a reader, and down when it has had none for a while.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use interlingua_machines::bus::inbox::{Fate, Gone, Inbox, Input, Record};
use interlingua_machines::bus::{Kind, Message};
use interlingua_model::ports::{Append, Appended, Expected};
use interlingua_model::{Fault, FaultKind, Health, Log, MessageId, Owner, PeerId, Time, TopicId, journal};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use super::held::{HeldMessages, InboxRoom, Way};
use crate::Hub;
use crate::shares::Share;

/// How many wishes may wait for the driver of one inbox.
const MAX_COMMANDS: usize = 256;
/// How many messages one exchange may be behind.
pub(super) const MAX_TOLD: usize = 64;
/// A fold is kept after so many records.
const SNAPSHOT_EVERY: u64 = 256;
/// How many records are read at once.
const PAGE: usize = 500;
/// An agent for which nobody reads this long is down.
const AWAY: Duration = Duration::from_secs(10);
/// How long to wait before an expiry that could not be stored is tried again; doubles up to the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

type Answer<T> = oneshot::Sender<Result<T, Fault>>;

enum Command {
    Take {
        input: Input,
        /// Of what it brings.
        room: Option<InboxRoom>,
        done: Answer<()>,
    },
    /// A report of the agent about a request it works on, before it answers.
    Tell { message: Box<Message>, room: Share, done: Answer<()> },
    /// Puts a request, and receives its reports and answer.
    Ask { message: Box<Message>, room: InboxRoom, until: Time, told: mpsc::Sender<Heard>, done: Answer<()> },
    /// Hears of a request that waits already; false when it is unknown.
    Attach { id: MessageId, told: mpsc::Sender<Heard>, done: Answer<bool> },
}

/// The handle of one inbox. Cloning shares it.
#[derive(Debug, Clone)]
pub struct Handle {
    commands: mpsc::Sender<Command>,
    way: Way,
    shelf: Arc<Shelf>,
}

/// A report about a request, and its memory share until it is read. An answer uses that of the inbox.
#[derive(Debug)]
pub(super) struct Heard {
    pub(super) message: Message,
    _room: Option<Share>,
}

impl Heard {
    fn answer(message: Message) -> Heard {
        Heard { message, _room: None }
    }
}

impl std::fmt::Debug for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Command")
    }
}

/// What readers look at.
#[derive(Debug)]
struct Shelf {
    inbox: Mutex<Inbox>,
    changed: watch::Sender<u64>,
    /// How many read, counted by who reads: a [`Reading`] adds itself when it is made and takes itself away when it is dropped.
    readers: watch::Sender<usize>,
    closed: tokio_util::sync::CancellationToken,
}

impl Shelf {
    fn look<T>(&self, look: impl FnOnce(&mut Inbox) -> T) -> T {
        look(&mut self.inbox.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Handle {
    async fn send<T>(&self, command: impl FnOnce(Answer<T>) -> Command) -> Result<T, Fault> {
        let (done, answered) = oneshot::channel();
        let gone = || Fault::hub(FaultKind::Unreachable, "this agent is not registered any more");
        match self.commands.try_send(command(done)) {
            Ok(()) => answered.await.unwrap_or_else(|_| Err(gone())),
            Err(mpsc::error::TrySendError::Full(_)) => {
                Err(Fault::hub(FaultKind::Busy, "too much is said to this agent at once"))
            }
            Err(mpsc::error::TrySendError::Closed(_)) => Err(gone()),
        }
    }

    /// Adds a message that needs no answer.
    pub async fn put(&self, message: Message, until: Time) -> Result<(), Fault> {
        let room = Some(self.room(&message).await?);
        let input = Input::Put { message: Box::new(message), until };
        self.send(|done| Command::Take { input, room, done }).await
    }

    /// A message that is known already takes none for long: it waits once.
    async fn room(&self, message: &Message) -> Result<InboxRoom, Fault> {
        let known = self.shelf.look(|inbox| inbox.fate(&message.id) != Fate::Unknown);
        if known { self.way.enter(message).await } else { self.way.take(message).map(InboxRoom::from) }
    }

    /// A message from the agent: an answer, or a report about a request it works on.
    pub async fn said(&self, message: Message) -> Result<(), Fault> {
        match message.kind {
            Kind::Response => {
                let room = Some(self.way.enter(&message).await?);
                let input = Input::Answer(Box::new(message));
                self.send(|done| Command::Take { input, room, done }).await
            }
            Kind::Request | Kind::Event | Kind::Query | Kind::Artifact => {
                let room = self.way.take(&message)?;
                self.send(|done| Command::Tell { message: Box::new(message), room, done }).await
            }
        }
    }

    /// The agent has read this message: it is not shown again.
    pub async fn read(&self, id: MessageId) -> Result<(), Fault> {
        self.send(|done| Command::Take { input: Input::Read(id), room: None, done }).await
    }

    /// Is a request with this id pending?
    pub fn awaits(&self, id: &str) -> bool {
        self.shelf.look(|inbox| inbox.fate(&id.into()) == Fate::Waits)
    }

    /// What was answered to a request.
    pub(super) fn answer(&self, id: &MessageId) -> Option<Message> {
        self.shelf.look(|inbox| match inbox.fate(id) {
            Fate::Answered(answer) => Some(answer.clone()),
            Fate::Waits | Fate::Unknown => None,
        })
    }

    /// The number of pending messages.
    pub fn waiting(&self) -> usize {
        self.shelf.look(|inbox| inbox.len())
    }

    /// All pending messages, most urgent first, and new ones.
    pub fn reading(&self) -> Reading {
        self.shelf.readers.send_modify(|readers| *readers += 1);
        Reading { handle: self.clone(), changed: self.shelf.changed.subscribe(), shown: BTreeSet::new() }
    }

    pub(super) async fn ask(&self, message: Message, until: Time) -> Result<mpsc::Receiver<Heard>, Fault> {
        let room = self.room(&message).await?;
        let (told, hears) = mpsc::channel(MAX_TOLD);
        self.send(|done| Command::Ask { message: Box::new(message), room, until, told, done }).await?;
        Ok(hears)
    }

    /// `None`: nothing is known of it.
    pub(super) async fn attach(&self, id: MessageId) -> Result<Option<mpsc::Receiver<Heard>>, Fault> {
        let (told, hears) = mpsc::channel(MAX_TOLD);
        let known = self.send(|done| Command::Attach { id, told, done }).await?;
        Ok(known.then_some(hears))
    }

    /// Nobody waits for the answer any more. If this cannot be sent now, the message expires by itself.
    pub(super) fn withdraw(&self, id: MessageId) {
        let (done, _) = oneshot::channel();
        let _ = self.commands.try_send(Command::Take { input: Input::Withdraw(id), room: None, done });
    }

    /// Removes what was pending for the previous agent of this name: it is not for the current one.
    pub(super) async fn empty(&self, now: Time) -> Result<(), Fault> {
        let waiting = |inbox: &mut Inbox| {
            let (mut shown, mut ids) = (BTreeSet::new(), Vec::new());
            while let Some((seq, message)) = inbox.next(&shown, now) {
                ids.push(message.id.clone());
                shown.insert(seq);
            }
            ids
        };
        for id in self.shelf.look(waiting) {
            self.send(|done| Command::Take { input: Input::Withdraw(id), room: None, done }).await?;
        }
        Ok(())
    }

    pub(super) fn close(&self) {
        self.shelf.closed.cancel();
    }
}

/// A reader of an agent's inbox.
#[derive(Debug)]
pub struct Reading {
    handle: Handle,
    changed: watch::Receiver<u64>,
    shown: BTreeSet<u64>,
}

impl Reading {
    /// The next message not shown yet; `None` when the agent is removed. Cancel safe.
    pub async fn next(&mut self, now: impl Fn() -> Time) -> Option<(u64, Message)> {
        loop {
            self.changed.borrow_and_update();
            if let Some(found) = self.shown_now(now()) {
                return Some(found);
            }
            tokio::select! {
                changed = self.changed.changed() => changed.ok()?,
                () = self.handle.shelf.closed.cancelled() => return None,
            }
        }
    }

    /// The next message without waiting.
    pub fn shown_now(&mut self, now: Time) -> Option<(u64, Message)> {
        let shown = &mut self.shown;
        let found = self.handle.shelf.look(|inbox| {
            inbox.prune(shown);
            inbox.next(shown, now).map(|(seq, message)| (seq, message.clone()))
        })?;
        self.shown.insert(found.0);
        Some(found)
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.handle.shelf.readers.send_modify(|readers| *readers = readers.saturating_sub(1));
    }
}

fn log(name: &PeerId) -> Log {
    Log::Topic(topic(name))
}

/// The topic of an agent's messages.
pub(super) fn topic(name: &PeerId) -> TopicId {
    TopicId(format!("inbox/{name}").into())
}

/// The sender of a record's message: it counts in the sender's bytes.
fn sender(record: &Record) -> Option<&Owner> {
    match record {
        Record::Put { message, .. } | Record::Gone { how: Gone::Answered(message), .. } => Some(&message.by),
        Record::Gone { how: Gone::Read | Gone::Withdrawn | Gone::Expired | Gone::Forgotten, .. } | Record::Spent => {
            None
        }
    }
}

/// Folds the records of an inbox, and drives it for as long as the agent is registered.
pub(super) async fn open(hub: &Arc<Hub>, name: &PeerId) -> Result<Handle, Fault> {
    let (mut inbox, mut seq) = (Inbox::default(), 0);
    if let Some(kept) = hub.store.journal.latest(log(name)).await? {
        inbox = serde_json::from_slice(&kept.bytes).map_err(Fault::internal)?;
        seq = kept.seq;
    }
    loop {
        let page = hub.store.journal.read(log(name), seq, PAGE).await?;
        let Some(last) = page.last() else { break };
        seq = last.seq;
        for stored in page {
            inbox.apply(stored.seq, journal::from_bytes(&stored.bytes).map_err(Fault::internal)?);
        }
    }
    // Retention may have taken the last records; their numbers are not used again.
    seq = seq.max(hub.store.journal.last(log(name)).await?);
    let way = Way::new(&hub.holdings.inboxes);
    let held = HeldMessages::by(&inbox, way.clone());
    let shelf = Arc::new(Shelf {
        inbox: Mutex::new(inbox),
        changed: watch::Sender::new(seq),
        readers: watch::Sender::new(0),
        closed: tokio_util::sync::CancellationToken::new(),
    });
    let (commands, waiting) = mpsc::channel(MAX_COMMANDS);
    let driver = Driver {
        hub: Arc::downgrade(hub),
        name: name.clone(),
        shelf: shelf.clone(),
        seq,
        kept: seq,
        held,
        heard: HashMap::new(),
        quiet: None,
        stuck: None,
    };
    hub.supervisor.run_until_stop(driver.run(waiting, shelf.readers.subscribe()));
    Ok(Handle { commands, way, shelf })
}

struct Driver {
    hub: Weak<Hub>,
    name: PeerId,
    shelf: Arc<Shelf>,
    seq: u64,
    /// Up to where a fold was kept.
    kept: u64,
    held: HeldMessages,
    /// Who waits for what is said of a request. As many as there are requests.
    heard: HashMap<MessageId, mpsc::Sender<Heard>>,
    /// Since when nobody reads.
    quiet: Option<Instant>,
    /// Since what has expired cannot be stored as expired.
    stuck: Option<Stuck>,
}

/// Nothing is tried before `until`; the pause after that one.
struct Stuck {
    until: Instant,
    next: Duration,
}

impl Driver {
    async fn run(mut self, mut commands: mpsc::Receiver<Command>, mut readers: watch::Receiver<usize>) {
        let closed = self.shelf.closed.clone();
        loop {
            let (away, past) = (self.quiet.map(|since| since + AWAY), self.expiry());
            tokio::select! {
                () = closed.cancelled() => return,
                command = commands.recv() => match command {
                    None => return,
                    Some(command) => self.obey(command).await,
                },
                Ok(()) = readers.changed() => {
                    let count = *readers.borrow_and_update();
                    self.attended(count);
                }
                () = at(away) => self.show(false),
                () = at(past) => self.expire().await,
            }
        }
    }

    /// When the next message expires; later, where that could not be stored.
    fn expiry(&self) -> Option<Instant> {
        let until = self.shelf.look(|inbox| inbox.next_expiry())?;
        let due = self.hub.upgrade()?.clock.instant(until);
        Some(self.stuck.as_ref().map_or(due, |stuck| due.max(stuck.until)))
    }

    async fn expire(&mut self) {
        let Err(fault) = self.take(Input::Clock, None).await else {
            if self.stuck.take().is_some() {
                tracing::info!(event = "inbox_expiry_stored", agent = %self.name, "expired messages are being removed again");
            }
            return;
        };
        let pause = self.stuck.as_ref().map_or(FIRST_PAUSE, |stuck| stuck.next);
        if self.stuck.is_none() {
            tracing::error!(event = "inbox_expiry_not_stored", agent = %self.name, error = %fault, cause = ?fault.source, "the expiry of messages could not be stored; expired messages stay until it can");
        }
        self.stuck = Some(Stuck { until: Instant::now() + pause, next: (pause * 2).min(LONGEST_PAUSE) });
    }

    /// A reader connected or disconnected, perhaps both. A short visit counts.
    fn attended(&mut self, readers: usize) {
        self.show(true);
        self.quiet = (readers == 0).then(Instant::now);
    }

    async fn obey(&mut self, command: Command) {
        match command {
            Command::Take { input, room, done } => drop(done.send(self.take(input, room).await)),
            Command::Ask { message, room, until, told, done } => {
                let id = message.id.clone();
                let taken = self.take(Input::Put { message, until }, Some(room)).await;
                if taken.is_ok() {
                    self.listen(id, told);
                }
                drop(done.send(taken));
            }
            Command::Attach { id, told, done } => drop(done.send(Ok(self.listen(id, told)))),
            Command::Tell { message, room, done } => drop(done.send(self.tell(*message, room))),
        }
    }

    /// Passes on what is said of a request from now on; what was answered already, at once.
    fn listen(&mut self, id: MessageId, told: mpsc::Sender<Heard>) -> bool {
        let answer = self.shelf.look(|inbox| match inbox.fate(&id) {
            Fate::Waits => Some(None),
            Fate::Answered(answer) => Some(Some(answer.clone())),
            Fate::Unknown => None,
        });
        match answer {
            None => return false,
            Some(Some(answer)) => drop(told.try_send(Heard::answer(answer))),
            Some(None) => {
                self.heard.retain(|_, told| !told.is_closed());
                self.heard.insert(id, told);
            }
        }
        true
    }

    fn tell(&mut self, message: Message, room: Share) -> Result<(), Fault> {
        let nothing = || Fault::caller(FaultKind::NotFound(interlingua_model::Noun::Resource), "no such request waits");
        let id = MessageId(message.correlation.clone().ok_or_else(nothing)?);
        let told = self.heard.get(&id).ok_or_else(nothing)?;
        told.try_send(Heard { message, _room: Some(room) }).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => Fault::hub(FaultKind::Busy, "too much is said of this request"),
            mpsc::error::TrySendError::Closed(_) => nothing(),
        })
    }

    /// Decides, writes, and shows what was written.
    async fn take(&mut self, input: Input, room: Option<InboxRoom>) -> Result<(), Fault> {
        let hub = self.hub.upgrade().ok_or_else(Fault::shutting_down)?;
        let now = hub.now();
        let share = room.and_then(|room| room.share);
        let wanted = self.shelf.look(|inbox| self.held.room_for(&input, share, inbox))?;
        let records = self.shelf.look(|inbox| inbox.decide(input, now))?;
        if records.is_empty() {
            return Ok(());
        }
        let bytes = records.iter().map(journal::to_bytes).collect::<Result<_, _>>().map_err(Fault::internal)?;
        let append = Append {
            log: log(&self.name),
            expected: Expected::At(self.seq),
            at: now,
            records: bytes,
            unique: None,
            row: None,
            most: None,
            beside: 0,
            // Only messages that expire together are told by several records, and those keep nothing.
            share: records.iter().find_map(sender).and_then(|owner| hub.settings.load().share_of(owner)),
        };
        match hub.store.journal.append(append).await? {
            Appended::At(_) => {}
            Appended::Exists { .. } => return Err(Fault::shutting_down()),
        }
        let mut spent = Vec::new();
        for record in records {
            self.seq += 1;
            let seq = self.seq;
            self.pass_on(&record);
            spent.extend(self.shelf.look(|inbox| inbox.apply(seq, record)));
        }
        self.held.let_go(&spent);
        spent.extend(self.shelf.look(|inbox| self.held.hold(self.seq, wanted, inbox)));
        self.shelf.changed.send_replace(self.seq);
        self.give_back(&hub, spent).await;
        // What was asked for is stored. A fold only saves reading at the next start; the next record tries again.
        if let Err(fault) = self.snapshot(&hub, now).await {
            tracing::warn!(event = "inbox_snapshot_not_stored", agent = %self.name, error = %fault, cause = ?fault.source, "the snapshot of an inbox could not be stored; the next message tries again");
        }
        Ok(())
    }

    /// Gives back the bytes of records that are not needed whole any more. Where that fails they count until retention removes them.
    async fn give_back(&self, hub: &Hub, spent: Vec<(u64, Record)>) {
        for (seq, instead) in spent {
            let Ok(bytes) = journal::to_bytes(&instead) else { return };
            if let Err(fault) = hub.store.journal.redact(log(&self.name), seq, bytes).await {
                tracing::warn!(event = "inbox_bytes_not_released", agent = %self.name, seq, error = %fault, "a message that is no longer needed could not be redacted; it counts until retention removes it");
            }
        }
    }

    /// Sends an answer to its waiter, once it is written.
    fn pass_on(&mut self, record: &Record) {
        match record {
            Record::Put { .. } | Record::Spent => {}
            Record::Gone { id, how } => {
                let told = self.heard.remove(id);
                if let (Some(told), Gone::Answered(answer)) = (told, how) {
                    // One that is as far behind as it may be looks for the answer when it has caught up.
                    let _ = told.try_send(Heard::answer((**answer).clone()));
                }
            }
        }
    }

    async fn snapshot(&mut self, hub: &Hub, now: Time) -> Result<(), Fault> {
        if self.seq - self.kept < SNAPSHOT_EVERY {
            return Ok(());
        }
        let fold = self.shelf.look(|inbox| serde_json::to_vec(inbox)).map_err(Fault::internal)?;
        hub.store.journal.snapshot(log(&self.name), self.seq, now, fold.into()).await?;
        self.kept = self.seq;
        Ok(())
    }

    /// Publishes whether the agent has a reader.
    fn show(&mut self, here: bool) {
        self.quiet = None;
        let Some(hub) = self.hub.upgrade() else { return };
        let health = if here { Health::Up } else { Health::Down { since: hub.now(), quarantined: false } };
        let shown = hub.registry.catalogue().peers.get(&self.name).map(|registered| registered.card.health);
        if shown.is_some_and(|shown| std::mem::discriminant(&shown) != std::mem::discriminant(&health))
            && let Err(fault) = hub.registry.set_health(&self.name, health)
        {
            tracing::error!(event = "peer_health_not_shown", peer = %self.name, error = %fault, "the health of a peer could not be updated");
        }
    }
}

/// At that moment, or never.
async fn at(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
