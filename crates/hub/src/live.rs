//! Live tasks: stored exchanges that are not done, with a channel for signals and a feed of committed entries for readers.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use interlingua_machines::task::{Standing, Task, fold};
use interlingua_model::ports::Journal;
use interlingua_model::{
    ConversationId, Entry, Event, Fault, FaultKind, Log, Noun, Owner, Party, Principal, Question, Signal, TaskId,
    journal,
};
use metrics::Counter;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};

use super::reauthorize::{self, Reauthorization};
use super::shares::{NoRoom, Share, Shares, whose};

/// How many committed entries are kept in memory for readers that keep up; the others read the journal.
const RECENT: usize = 256;
/// And how many bytes of them, besides the last one.
const RECENT_BYTES: u64 = 1 << 20;
/// How many signals may wait for one task.
const MAX_SIGNALS: usize = 64;
/// How many bytes of them without a share of the room that exchanges have: a short answer finds its task however full that is.
const FREE_SIGNALS: usize = 16 * 1024;
/// How many stored exchanges may be live at once.
pub(crate) const MAX_LIVE: usize = 100_000;
/// How many entries a reader fetches from the journal at once.
const READ_AHEAD: usize = 256;

/// What a reader hears when a task's driver is gone.
const GOES_ON_LATER: &str = "this task stopped here; it goes on after the hub's next start";

/// What a reader hears while a task cannot be written.
const STANDS_STILL: &str = "the hub's store takes nothing at the moment; this task stands still until it does";

/// Something for the driver of a kept exchange.
#[derive(Debug)]
pub(crate) enum Incoming {
    Signal {
        by: Principal,
        standing: Standing,
        signal: Signal,
        reply: oneshot::Sender<Result<(), Fault>>,
        room: Box<SignalRoom>,
    },
    CallerGone,
}

/// The memory share of a signal until its task has read it.
#[derive(Debug)]
pub(crate) enum SignalRoom {
    Free(#[expect(dead_code, reason = "held until it is dropped")] OwnedSemaphorePermit),
    Share(#[expect(dead_code, reason = "held until it is dropped")] Share),
}

/// How far a task's journal is committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) seq: u64,
    pub(crate) state: Liveness,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Liveness {
    Running,
    Done,
    /// The store is full or away; it goes on when it can be written.
    Stalled,
    /// It has no driver any more: the store failed or the hub stops. The journal stays valid, and the task continues after the next start.
    Broken,
}

/// A task that runs in this process: its newest entries, its open questions, and the channel to its driver.
#[derive(Debug)]
pub struct Live {
    pub(crate) id: TaskId,
    pub(crate) owner: Owner,
    pub(crate) conversation: Option<ConversationId>,
    slow_readers: Counter,
    signals: mpsc::Sender<Incoming>,
    free: Arc<Semaphore>,
    shares: Arc<Shares>,
    head: watch::Sender<Head>,
    recent: Mutex<Recent>,
    questions: Mutex<Vec<Question>>,
    /// How many callers hold it: one, or more when the same message was sent again.
    callers: AtomicUsize,
}

/// The newest entries.
#[derive(Debug, Default)]
struct Recent {
    entries: VecDeque<Arc<Entry>>,
    bytes: u64,
}

impl Recent {
    fn add(&mut self, entries: &[Arc<Entry>]) {
        self.bytes += entries.iter().map(weight).sum::<u64>();
        self.entries.extend(entries.iter().cloned());
        while self.entries.len() > RECENT || (self.bytes > RECENT_BYTES && self.entries.len() > 1) {
            let Some(oldest) = self.entries.pop_front() else { break };
            self.bytes -= weight(&oldest);
        }
    }
}

fn weight(entry: &Arc<Entry>) -> u64 {
    match entry.record.event() {
        // The hub asks about what the task holds anyway.
        Some(Event::Asked(question)) if question.asked_by == Party::Hub => 0,
        Some(_) | None => entry.record.weight() as u64,
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Live {
    /// `seq`: how far its journal is committed already. `shares`: where long signals count that wait for it.
    pub(crate) fn new(
        id: TaskId,
        owner: Owner,
        conversation: Option<ConversationId>,
        seq: u64,
        slow_readers: Counter,
        shares: Arc<Shares>,
    ) -> (Arc<Live>, mpsc::Receiver<Incoming>) {
        let (signals, incoming) = mpsc::channel(MAX_SIGNALS);
        let head = watch::Sender::new(Head { seq, state: Liveness::Running });
        let free = Arc::new(Semaphore::new(FREE_SIGNALS));
        let (recent, questions, callers) = Default::default();
        let live =
            Live { id, owner, conversation, slow_readers, signals, free, shares, head, recent, questions, callers };
        (Arc::new(live), incoming)
    }

    /// Shows entries that are committed, and the questions open after them.
    pub(crate) fn publish(&self, entries: &[Arc<Entry>], open: Vec<Question>, state: Liveness) {
        locked(&self.recent).add(entries);
        *locked(&self.questions) = open;
        self.head.send_modify(|head| {
            head.seq = entries.last().map_or(head.seq, |entry| entry.seq);
            head.state = state;
        });
    }

    /// What the entries in memory take.
    pub(crate) fn recent_bytes(&self) -> u64 {
        locked(&self.recent).bytes
    }

    /// Tells readers that nothing can be written.
    pub(crate) fn stalled(&self) {
        self.head.send_modify(|head| head.state = Liveness::Stalled);
    }

    /// The store takes writes again.
    pub(crate) fn goes_on(&self) {
        self.head.send_if_modified(|head| match head.state {
            Liveness::Stalled => {
                head.state = Liveness::Running;
                true
            }
            Liveness::Running | Liveness::Done | Liveness::Broken => false,
        });
    }

    /// Its driver is gone, for whatever reason: nobody waits for what will not come.
    pub(crate) fn let_go(&self) {
        self.head.send_if_modified(|head| match head.state {
            Liveness::Done | Liveness::Broken => false,
            Liveness::Running | Liveness::Stalled => {
                head.state = Liveness::Broken;
                true
            }
        });
    }

    /// The sequence of the last committed entry.
    pub fn seq(&self) -> u64 {
        self.head.borrow().seq
    }

    pub(crate) fn awaits(&self, question: &Question) -> bool {
        locked(&self.questions).iter().any(|open| open.id == question.id)
    }

    pub(crate) fn each_question(&self, look: impl FnMut(&Question)) {
        locked(&self.questions).iter().for_each(look);
    }

    /// The questions that are open.
    pub fn questions(&self) -> Vec<Question> {
        locked(&self.questions).clone()
    }

    /// The current state, from memory alone; `None` if some of its entries are not in memory any more. Entries are as in the journal: every
    /// secret is replaced by its reference before it is shown.
    pub(crate) fn folded(&self) -> Option<Task> {
        let recent = &locked(&self.recent).entries;
        (recent.front()?.seq == 1).then(|| fold(self.id, recent.iter().map(|entry| Entry::clone(entry))).ok()).flatten()
    }

    /// Entries after `after` that are still in memory; `None` when some of them are not.
    fn recent_after(&self, after: u64) -> Option<Vec<Arc<Entry>>> {
        let recent = &locked(&self.recent).entries;
        let first = recent.front()?.seq;
        (first <= after + 1).then(|| recent.iter().filter(|entry| entry.seq > after).cloned().collect())
    }

    pub(crate) async fn signal(&self, by: Principal, standing: Standing, signal: Signal) -> Result<(), Fault> {
        let room = Box::new(self.room(&by, &signal)?);
        let (reply, answered) = oneshot::channel();
        let full = |_| Fault::hub(FaultKind::Busy, "too many signals wait for this task");
        self.signals.try_send(Incoming::Signal { by, standing, signal, reply, room }).map_err(full)?;
        answered
            .await
            .unwrap_or_else(|_| Err(Fault::caller(FaultKind::AlreadyFinished, "this task has already finished")))
    }

    /// A signal above the free size takes a share of its sender.
    fn room(&self, by: &Principal, signal: &Signal) -> Result<SignalRoom, Fault> {
        let bytes = signal.weight();
        let few = u32::try_from(bytes).ok();
        match few.and_then(|bytes| self.free.clone().try_acquire_many_owned(bytes).ok()) {
            Some(free) => Ok(SignalRoom::Free(free)),
            None => self
                .shares
                .take(&whose(&by.owner()), bytes as u64)
                .map(SignalRoom::Share)
                .map_err(NoRoom::for_exchanges),
        }
    }

    /// A caller holds it, until it lets go or leaves.
    pub(crate) fn caller_came(&self) {
        self.callers.fetch_add(1, Ordering::SeqCst);
    }

    /// A caller has received what it waited for.
    pub(crate) fn caller_let_go(&self) {
        self.callers.fetch_sub(1, Ordering::SeqCst);
    }

    /// A caller was dropped early; the last one takes the exchange with it, as its manners say.
    pub(crate) fn caller_left(&self) {
        if self.callers.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.caller_gone();
        }
    }

    pub(crate) fn has_caller(&self) -> bool {
        self.callers.load(Ordering::SeqCst) > 0
    }

    /// The last caller has dropped it.
    pub(crate) fn caller_gone(&self) {
        // A full channel means the driver is busy with signals that end the exchange sooner than this would.
        let _ = self.signals.try_send(Incoming::CallerGone);
    }
}

/// All live stored exchanges.
#[derive(Debug, Default)]
pub(crate) struct LiveTable {
    tasks: Mutex<Tables>,
}

#[derive(Debug, Default)]
struct Tables {
    by_id: HashMap<TaskId, Arc<Live>>,
    by_conversation: HashMap<ConversationId, Vec<TaskId>>,
}

impl LiveTable {
    pub(crate) fn insert(&self, live: &Arc<Live>) -> Result<(), Fault> {
        let mut tables = locked(&self.tasks);
        if tables.by_id.len() >= MAX_LIVE {
            return Err(Fault::hub(FaultKind::Busy, "the hub keeps as many running tasks as it can"));
        }
        tables.by_id.insert(live.id, live.clone());
        if let Some(conversation) = &live.conversation {
            tables.by_conversation.entry(conversation.clone()).or_default().push(live.id);
        }
        Ok(())
    }

    pub(crate) fn remove(&self, live: &Live) {
        let mut tables = locked(&self.tasks);
        tables.by_id.remove(&live.id);
        if let Some(conversation) = &live.conversation
            && let Some(tasks) = tables.by_conversation.get_mut(conversation)
        {
            tasks.retain(|task| *task != live.id);
            if tasks.is_empty() {
                tables.by_conversation.remove(conversation);
            }
        }
    }

    pub(crate) fn get(&self, task: TaskId) -> Option<Arc<Live>> {
        locked(&self.tasks).by_id.get(&task).cloned()
    }

    pub(crate) fn count(&self) -> usize {
        locked(&self.tasks).by_id.len()
    }

    pub(crate) fn all(&self) -> Vec<Arc<Live>> {
        locked(&self.tasks).by_id.values().cloned().collect()
    }

    /// The oldest task of this conversation that waits for an answer.
    pub(crate) fn waiting_in(&self, conversation: &ConversationId, owner: &Owner) -> Option<Arc<Live>> {
        let tables = locked(&self.tasks);
        let tasks = tables.by_conversation.get(conversation)?;
        tasks
            .iter()
            .filter_map(|task| tables.by_id.get(task))
            .find(|live| live.owner == *owner && !locked(&live.questions).is_empty())
            .cloned()
    }
}

/// Reads a stored exchange from any point: first committed entries, then new ones. A slow reader falls back to the journal and blocks
/// nobody.
pub struct Reader {
    task: TaskId,
    after: u64,
    live: Option<(Arc<Live>, watch::Receiver<Head>)>,
    journal: Arc<dyn Journal>,
    ready: VecDeque<Arc<Entry>>,
    /// Of whoever reads, where the rules have a say in it.
    claim: Option<Reauthorization>,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("task", &self.task).field("after", &self.after).finish_non_exhaustive()
    }
}

impl Reader {
    pub(crate) fn new(task: TaskId, after: u64, live: Option<Arc<Live>>, journal: Arc<dyn Journal>) -> Reader {
        let live = live.map(|live| {
            let head = live.head.subscribe();
            (live, head)
        });
        Reader { task, after, live, journal, ready: VecDeque::new(), claim: None }
    }

    /// For a reader that may read only as long as the rules allow it.
    pub(super) fn claimed(self, claim: Reauthorization) -> Reader {
        Reader { claim: Some(claim), ..self }
    }

    /// The task that is read.
    pub fn task(&self) -> TaskId {
        self.task
    }

    pub(crate) fn live(&self) -> Option<&Arc<Live>> {
        self.live.as_ref().map(|(live, _)| live)
    }

    /// Has all that was committed been read?
    pub fn is_at_head(&self) -> bool {
        self.ready.is_empty() && self.live.as_ref().is_none_or(|(_, head)| head.borrow().seq <= self.after)
    }

    /// The next committed entry; `None` when the exchange is done and all of it was read. Cancel safe.
    pub async fn next(&mut self) -> Result<Option<Arc<Entry>>, Fault> {
        loop {
            if let Some(claim) = self.claim.as_mut().filter(|claim| claim.is_due()) {
                let folded = self.live.as_ref().and_then(|(live, _)| live.folded());
                claim.settle_kept(self.task, folded).await?;
            }
            if let Some(entry) = self.ready.pop_front() {
                self.after = entry.seq;
                return Ok(Some(entry));
            }
            let Some((live, head)) = &mut self.live else {
                if !self.read_journal().await? {
                    return Ok(None);
                }
                continue;
            };
            let after = self.after;
            let heard = async {
                let seen = head.wait_for(|head| head.seq > after || head.state != Liveness::Running).await;
                seen.map(|head| *head).ok()
            };
            let seen = tokio::select! {
                biased;
                seen = heard => seen,
                () = reauthorize::due(&mut self.claim) => continue,
            };
            let Some(seen) = seen else {
                self.live = None;
                continue;
            };
            if seen.seq <= after {
                return match seen.state {
                    Liveness::Broken => Err(Fault::hub(FaultKind::Internal, GOES_ON_LATER)),
                    Liveness::Stalled => Err(Fault::hub(FaultKind::Busy, STANDS_STILL)),
                    Liveness::Done | Liveness::Running => Ok(None),
                };
            }
            match live.recent_after(after) {
                Some(entries) => self.ready.extend(entries),
                None => {
                    live.slow_readers.increment(1);
                    self.read_journal().await?;
                }
            }
        }
    }

    /// True when there was something to read.
    async fn read_journal(&mut self) -> Result<bool, Fault> {
        let stored = self.journal.read(Log::Task(self.task), self.after, READ_AHEAD).await?;
        for record in stored {
            self.ready.push_back(Arc::new(decoded(record)?));
        }
        Ok(!self.ready.is_empty())
    }
}

/// A stored record as an entry.
pub fn decoded(stored: interlingua_model::ports::Stored) -> Result<Entry, Fault> {
    let record = journal::from_bytes(&stored.bytes).map_err(Fault::internal)?;
    Ok(Entry { seq: stored.seq, at: stored.at, record })
}

/// The fault for a task that does not exist, or belongs to another caller.
pub fn no_such_task() -> Fault {
    Fault::caller(FaultKind::NotFound(Noun::Task), "task not found")
}
