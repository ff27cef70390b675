//! Runs the calls of one request in parallel up to a limit. Each is a lane with events of its own and one end, and lanes do not affect each
//! other.
//!
//! Dropping the answer drops its lanes, and with them the running calls.

use std::sync::Arc;

use crate::decode::WIRE;
use crate::encode::{Encoder, Frames, Stamp, Telling, encode};
use crate::wire::Message;
use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt};
use interlingua_model::{
    Call, Entry, Event, Fault, FaultKind, Finished, Loss, MessageId, Output, Principal, Record, Request, Secret,
    Signal, TaskId,
};

use interlingua_hub::audit::losses::{LossContext, Named};
use interlingua_hub::{Hub, Running, entropy};
use interlingua_nlip::uploads;

/// A request that is being answered.
pub(super) struct Answering {
    pub(super) hub: Arc<Hub>,
    pub(super) by: Principal,
    pub(super) connection: u64,
    /// The hub's address, as this caller can reach it.
    pub(super) base: String,
    pub(super) parallel: usize,
    pub(super) lanes: Vec<Lane>,
    pub(super) encoder: Encoder,
    /// The credentials of the message.
    pub(super) brought: Vec<Secret>,
}

/// Where one call stands.
pub(super) enum Lane {
    Refused(Fault),
    Waiting(Box<Call>),
    Running(Running),
    /// An answer that was taken, of somebody who may not see what comes of it.
    Taken,
    Over,
}

/// What happened in a lane.
enum Step {
    /// The last one says of which exchange it is, unless its speaker may not see that.
    Entry(Option<Over>, Box<Entry>),
    Refused(Fault),
}

/// An exchange that has ended.
struct Over {
    named: Named,
    /// What it made can be asked for later.
    is_kept: bool,
}

/// The responses to a request as one list.
pub(super) struct Whole {
    pub(super) status: u16,
    pub(super) messages: Vec<Message>,
    /// What the first refused lane was refused for.
    pub(super) fault: Option<Fault>,
}

/// What all lanes of a request share.
struct Way {
    hub: Arc<Hub>,
    by: Principal,
    connection: u64,
    base: String,
}

impl Answering {
    /// Every response, those that end a lane in the order of the calls.
    pub(super) async fn whole(self) -> Whole {
        let (mut steps, mut voice) = self.begin();
        let mut ends: Vec<Option<Step>> = Vec::new();
        ends.resize_with(voice.lanes, || None);
        let mut messages = Vec::with_capacity(voice.lanes);
        while let Some((lane, step)) = steps.next().await {
            match &step {
                Step::Entry(_, entry) if !is_end(entry) => messages.extend(voice.say(lane, &step)),
                Step::Entry(..) | Step::Refused(_) => ends[lane] = Some(step),
            }
        }
        let mut fault = None;
        for (lane, step) in ends.into_iter().enumerate() {
            let Some(step) = step else { continue };
            messages.extend(voice.say(lane, &step));
            if let Step::Refused(refused) = step {
                fault.get_or_insert(refused);
            }
        }
        Whole { status: voice.encoder.http_status(), messages, fault }
    }

    /// Responses as they come.
    pub(super) fn stream(self) -> impl Stream<Item = Message> + Send + 'static {
        let (steps, mut voice) = self.begin();
        steps.flat_map(move |(lane, step)| stream::iter(voice.say(lane, &step)))
    }

    fn begin(self) -> (BoxStream<'static, (usize, Step)>, Voice) {
        let way = Arc::new(Way { hub: self.hub, by: self.by, connection: self.connection, base: self.base });
        let count = self.lanes.len();
        let lanes = self.lanes.into_iter().enumerate();
        let lanes: Vec<_> = lanes.map(|(index, lane)| steps(way.clone(), index, lane).boxed()).collect();
        let steps = stream::iter(lanes).flatten_unordered(self.parallel).boxed();
        (steps, Voice { way, encoder: self.encoder, lanes: count })
    }
}

/// What speaks for all lanes.
struct Voice {
    way: Arc<Way>,
    encoder: Encoder,
    lanes: usize,
}

impl Voice {
    fn say(&mut self, lane: usize, step: &Step) -> Frames {
        let stamp = Stamp { random: entropy::bits(), now: self.way.hub.now() };
        match step {
            Step::Entry(over, entry) => {
                if let Some(Over { named, is_kept: true }) = over {
                    self.encoder.found_at(lane, &format!("{}/api/artifacts/{}.", self.way.base, named.task));
                }
                let told = encode(entry, &mut Telling { encoder: &mut self.encoder, lane, stamp });
                if let Some(Over { named, .. }) = over {
                    self.note(lane, named.clone(), &told.losses);
                }
                told.value
            }
            Step::Refused(fault) => {
                log(fault);
                self.encoder.refuse(lane, &fault.clone().told_to(&self.way.by), stamp).into()
            }
        }
    }

    /// Writes down what this wire could not carry of a lane that was answered.
    fn note(&self, lane: usize, of: Named, losses: &[Loss]) {
        let Way { hub, by, .. } = &*self.way;
        let skill = self.encoder.route(lane).map(|route| &route.skill);
        hub.lost(&LossContext { by, of, wire: WIRE, skill }, losses);
    }
}

/// The cause of an internal fault is for the log alone (H-15).
pub(super) fn log(fault: &Fault) {
    if fault.kind == FaultKind::Internal {
        tracing::error!(event = "request_failed", protocol = "envelope", error = %fault, cause = ?fault.source, "a request failed inside the hub");
    }
}

/// What ends a lane: the outcome, or a question, for which nobody waits on the line.
fn is_end(entry: &Entry) -> bool {
    matches!(entry.record.event(), Some(Event::Finished(_) | Event::Asked(_)))
}

fn steps(way: Arc<Way>, index: usize, lane: Lane) -> impl Stream<Item = (usize, Step)> + Send + 'static {
    stream::unfold((way, lane), move |(way, lane)| async move {
        let (step, lane) = way.advance(lane).await?;
        Some(((index, step), (way, lane)))
    })
}

impl Way {
    async fn advance(&self, lane: Lane) -> Option<(Step, Lane)> {
        match lane {
            Lane::Over => None,
            Lane::Refused(fault) => Some((Step::Refused(fault), Lane::Over)),
            Lane::Taken => {
                // Of the exchange its speaker sees nothing: this end is not in its journal.
                let record = Record::emitted(Event::Finished(Finished::completed(Output::default())));
                let end = Entry { seq: 0, at: self.hub.now(), record };
                Some((Step::Entry(None, Box::new(end)), Lane::Over))
            }
            Lane::Waiting(call) => {
                let (by, connection) = (self.by.clone(), self.connection);
                match self.hub.open(Request { by, connection, call }).await {
                    Ok(running) => Some(self.read(running).await),
                    Err(fault) => Some((Step::Refused(fault), Lane::Over)),
                }
            }
            Lane::Running(running) => Some(self.read(running).await),
        }
    }

    async fn read(&self, mut running: Running) -> (Step, Lane) {
        loop {
            let entry = match running.next().await {
                Ok(Some(entry)) => entry,
                Ok(None) => return (Step::Refused(Fault::shutting_down_kept()), Lane::Over),
                Err(fault) => return (Step::Refused(fault), Lane::Over),
            };
            match entry.record.event() {
                None => {}
                // Of an exchange that is read again: somebody has answered meanwhile.
                Some(Event::Asked(question)) if !running.awaits(question) => {}
                Some(_) => {
                    let mut entry = Box::new(Entry::clone(&entry));
                    if let Err(fault) = self.link(&mut entry.record).await {
                        return (Step::Refused(fault), Lane::Over);
                    }
                    let over = || Over { named: running.named(), is_kept: running.is_kept() };
                    return match is_end(&entry) {
                        true => (Step::Entry(Some(over()), entry), Lane::Over),
                        false => (Step::Entry(None, entry), Lane::Running(running)),
                    };
                }
            }
        }
    }
}

impl Way {
    /// What is stored is told by an address at which its caller can fetch it.
    async fn link(&self, record: &mut Record) -> Result<(), Fault> {
        let Record::Emitted { event, .. } = record else { return Ok(()) };
        let parts = match event {
            Event::Said { parts, .. } => parts,
            Event::Artifact(chunk) => &mut chunk.parts,
            Event::Finished(finished) => &mut finished.output.parts,
            Event::Started(_) | Event::Progress { .. } | Event::Step(_) | Event::Asked(_) | Event::Settled { .. } => {
                return Ok(());
            }
        };
        for part in parts {
            if let Some(uri) = uploads::link(&self.hub, &self.base, &self.by, part).await? {
                part.uri = Some(uri);
            }
        }
        Ok(())
    }
}

/// The exchange from where it took this very answer before, if it did.
pub(super) async fn received(hub: &Arc<Hub>, by: &Principal, task: TaskId, signal: &Signal) -> Option<Running> {
    let Signal::Answered { message, .. } = signal else { return None };
    let mut running = hub.follow(by, task, 0).await.ok()?;
    // What is not there yet is not waited for: the answer would be among what is committed.
    let last = hub.live(task).map(|live| live.seq());
    let mut seq = 0;
    while last.is_none_or(|last| seq < last) {
        let entry = running.next().await.ok()??;
        seq = entry.seq;
        if let Record::Received { signal, .. } = &entry.record
            && message_of(signal) == Some(message)
        {
            return Some(running);
        }
    }
    None
}

fn message_of(signal: &Signal) -> Option<&MessageId> {
    match signal {
        Signal::Answered { message, .. } | Signal::Said { message, .. } => Some(message),
        Signal::Cancel(_) => None,
    }
}
