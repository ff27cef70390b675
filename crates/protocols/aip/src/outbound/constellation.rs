//! A device behind another server: this hub is the orchestrator that sends tasks there.
//!
//! There is one connection for each device, as the protocol requires, held by one task that runs as long as the peer is registered. A task
//! that the server refused was never begun; one whose connection was lost may have run.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use crate::backoff::{Backoff, Growth};
use crate::client::connection::{ClientConnection, Pulse};
use crate::client::orchestrator::{self, Orchestrator};
use crate::discover::{self, Sources};
use crate::link::Tongue;
use crate::say::Stamp;
use crate::wire::{ClientMessage, Limits, ServerMessage};
use crate::{client_id, decode, encode, profile, session_id};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use interlingua_model::peer::{Calling, Dispatch, Peer, Reply};
use interlingua_model::percent::encoded;
use interlingua_model::{
    Ask, Call, Card, Event, Fault, FaultKind, Finished, Health, Input, Json, Loss, Outcome, Party, PeerId, Record,
    Retry, Text,
};
use tokio::sync::mpsc;

use crate::settings::AipPeer;
use interlingua_endpoint::sections;
use interlingua_hub::{Hub, entropy};
use interlingua_net::client::going::{FinalResult, Going, News};
use interlingua_net::client::health::refused;
use interlingua_net::client::live;
use interlingua_net::client::starting::Starting;
use interlingua_net::client::transport_error::{TransportError, Why};
use interlingua_net::client::websocket::{Carrier, Place, Turn};
use interlingua_net::large;

/// How much may wait to be said to the connection, and by it.
const QUEUE: usize = 256;
/// Bytes of notes that may wait for one task.
const NOTES: usize = 4 * 1024 * 1024;

/// What the connection is asked for.
#[derive(Debug)]
enum Said {
    Task(Box<ClientMessage>, mpsc::Sender<Told>),
    Cancel(Text),
}

/// What a task hears.
#[derive(Debug)]
enum Told {
    Accepted,
    Refused(Box<ServerMessage>),
    Ended(Box<ServerMessage>),
    Lost,
    Notes(Noted),
}

/// Log lines that wait for their task, and the bytes they count for until then.
#[derive(Debug)]
struct Noted {
    lines: Vec<Text>,
    bytes: usize,
    waiting: Arc<AtomicUsize>,
}

impl Noted {
    /// None where so much waits already that these would be too much.
    fn new(lines: Vec<Text>, waiting: &Arc<AtomicUsize>) -> Option<Noted> {
        let bytes: usize = lines.iter().map(|line| size_of::<Text>() + line.len()).sum();
        let fits = |now: usize| now.checked_add(bytes).filter(|then| *then <= NOTES);
        waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).ok()?;
        Some(Noted { lines, bytes, waiting: waiting.clone() })
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        self.waiting.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Who waits for news of a task.
#[derive(Debug)]
struct Watching {
    tell: mpsc::Sender<Told>,
    notes: Arc<AtomicUsize>,
}

#[derive(Debug)]
struct Constellation {
    name: PeerId,
    ours: Text,
    target: Text,
    /// Configuration says that the server is a hub: what it says of its faults and losses is believed.
    is_hub: bool,
    up: AtomicBool,
    said: mpsc::Sender<Said>,
}

/// A peer that is made and can be registered.
#[derive(Debug)]
pub struct Prepared {
    peer: Arc<Constellation>,
    config: interlingua_settings::Peer,
    keeper: Keeper,
}

pub fn prepare(
    hub: &Arc<Hub>,
    name: &str,
    config: &interlingua_settings::Peer,
    aip: &AipPeer,
) -> Result<Prepared, Fault> {
    let limits = Limits { bytes: hub.answers().message(), ..Limits::default() };
    let query = aip.key.as_ref().and_then(|key| key.expose().text()).map(|key| format!("token={}", encoded(key)));
    let place = Place::new(hub, &aip.url, query.as_deref(), aip.ca.as_deref())?;
    let ours: Text = aip.name.as_deref().unwrap_or(hub.id().as_str()).into();
    let target: Text = aip.target.as_str().into();
    // Every hub knows the wider profile, and only that has a place for the kind of a fault.
    let tongue = if aip.profile || config.hub { Tongue::Profile } else { Tongue::Plain };
    let mut pulse = Pulse::default();
    if let Some(heartbeat) = aip.heartbeat {
        (pulse.heartbeat, pulse.silence) = (heartbeat.0, heartbeat.0);
    }
    let backoff = Backoff { growth: Growth::Exponential, retries: None, jitter: 50, ..Backoff::default() };
    let line = ClientConnection::new(pulse, backoff, hub.now());
    let (said, asked) = mpsc::channel(QUEUE);
    let name = PeerId::from(name);
    let peer = Arc::new(Constellation {
        name,
        ours: ours.clone(),
        target: target.clone(),
        is_hub: config.hub,
        up: AtomicBool::new(false),
        said,
    });
    let keeper = Keeper {
        hub: Arc::downgrade(hub),
        peer: Arc::downgrade(&peer),
        config: config.clone(),
        machine: Orchestrator::new(ours, target, tongue, line),
        carrier: Carrier::new(place),
        asked,
        watching: HashMap::new(),
        limits,
        info: None,
    };
    Ok(Prepared { peer, config: config.clone(), keeper })
}

impl sections::Prepared for Prepared {
    /// The connection of the one before ends with it.
    fn register<'a>(self: Box<Self>, hub: &'a Arc<Hub>) -> BoxFuture<'a, Result<Option<Starting>, Fault>> {
        Box::pin(async move {
            let card = card(&self.peer.name, &self.config, None, Health::Starting, hub);
            hub.register(card, self.peer.clone()).await?;
            hub.spawn_until_stop(self.keeper.run());
            Ok(None)
        })
    }
}

fn card(name: &PeerId, config: &interlingua_settings::Peer, info: Option<&Json>, health: Health, hub: &Hub) -> Card {
    let sources = Sources { configuration: None, manifest: None, telemetry: info.cloned() };
    let mut card = discover::card(name.as_str(), &sources, Vec::new(), hub.now());
    if let Some(title) = &config.title {
        card.title = title.as_str().into();
    }
    if let Some(description) = &config.description {
        card.description = description.as_str().into();
    }
    card.health = health;
    card.skills.retain(|skill| config.offers(skill.id.skill.as_str()));
    for skill in &mut card.skills {
        skill.public = config.public;
        skill.effects = config.said_of(skill.id.skill.as_str()).unwrap_or(skill.effects);
        *skill = config.phrased(skill.id.skill.as_str(), skill.clone()).sealed();
    }
    card
}

impl Constellation {
    fn fault(&self, kind: FaultKind, text: &str) -> Fault {
        Fault::new(kind, Party::Peer(self.name.clone()), text)
    }

    fn lost(&self) -> Finished {
        let text = "the connection was lost; what the device was told may have happened";
        Finished::failed(self.fault(FaultKind::OutcomeUnknown, text))
    }

    /// It answered, so it may have begun whatever it says: no other peer is tried instead.
    fn refused(&self, frame: &ServerMessage) -> Fault {
        let fault = self.believed(frame, decode::refusal(frame, self.name.clone()));
        match fault.kind {
            FaultKind::Unreachable => fault.retry(Retry::IfIdempotent),
            _ => fault,
        }
    }

    /// How it ended, and what was lost: on the way there, and behind a server that is a hub.
    fn ended(&self, frame: &ServerMessage, mut losses: Vec<Loss>) -> FinalResult {
        if self.is_hub {
            losses.extend(profile::losses(frame));
        }
        let finished = decode::task_end(frame, &self.name).value;
        let finished = match finished.outcome {
            Outcome::Failed(fault) => Finished { outcome: Outcome::Failed(self.believed(frame, fault)), ..finished },
            Outcome::Completed | Outcome::Cancelled { .. } => finished,
        };
        (finished, losses)
    }

    /// The fault of the kind that a hub says it is.
    fn believed(&self, frame: &ServerMessage, fault: Fault) -> Fault {
        match profile::fault(frame).filter(|_| self.is_hub) {
            Some(kind) => Fault { kind, retry: kind.retry(), ..fault },
            None => fault,
        }
    }

    async fn dispatch(self: Arc<Self>, dispatch: Dispatch) -> Result<Reply, Fault> {
        let unreachable = || self.fault(FaultKind::Unreachable, "the device's server is not connected");
        if !self.up.load(Ordering::Relaxed) {
            return Err(unreachable());
        }
        let task = dispatch.task.to_string();
        let session = session_id(&self.ours, &task);
        let client = client_id(&self.ours, &self.target);
        let task_name = format!("{}/{task}", self.ours).into();
        let call = in_words(&dispatch.call);
        let frame = encode::task(&call, client, self.target.clone(), session.clone(), task_name);
        let (tell, mut told) = mpsc::channel(QUEUE);
        self.said.try_send(Said::Task(Box::new(frame.value), tell)).map_err(|_| unreachable())?;
        let asked = Held { session, said: self.said.clone(), over: false };
        match told.recv().await {
            // Whoever holds the connection is gone and does not say whether the task had left.
            None => Ok(Reply::Done(Box::new(asked.over(self.lost())), None)),
            Some(Told::Refused(frame)) => Err(asked.over(self.refused(&frame))),
            Some(Told::Ended(end)) => {
                let (finished, losses) = asked.over(self.ended(&end, frame.losses));
                Ok(live::told(vec![Record::Emitted { event: Event::Finished(finished), losses, raw: None }]))
            }
            Some(Told::Lost) => Ok(Reply::Done(Box::new(asked.over(self.lost())), None)),
            Some(Told::Accepted | Told::Notes(_)) => {
                let losses = frame.losses;
                let going = Going::new(|news| self.follow(dispatch, told, asked, losses, news));
                Ok(Reply::Live(Box::new(going)))
            }
        }
    }

    async fn follow(
        self: Arc<Self>,
        dispatch: Dispatch,
        mut told: mpsc::Receiver<Told>,
        asked: Held,
        losses: Vec<Loss>,
        news: News,
    ) -> FinalResult {
        let ended = loop {
            match told.recv().await {
                Some(Told::Accepted) => {}
                Some(Told::Notes(noted)) => {
                    decode::notes(&noted.lines, &dispatch.key, &self.name)
                        .into_iter()
                        .for_each(|event| news.tell(event));
                }
                Some(Told::Ended(frame)) => break self.ended(&frame, losses),
                Some(Told::Refused(frame)) => break (Finished::failed(self.refused(&frame)), losses),
                Some(Told::Lost) | None => break (self.lost(), losses),
            }
        };
        asked.over(ended)
    }
}

/// What `do` is told in its argument is what the device is told in words.
fn in_words(call: &Call) -> Call {
    let mut call = call.clone();
    if let Ask::Invoke { input, .. } = &mut call.ask
        && let Some(request) = input.args.as_ref().and_then(|args| args.get("request")?.as_str()).map(str::to_owned)
    {
        input.args = None;
        input.parts.extend(Input::text(&request).parts);
    }
    call
}

impl Peer for Constellation {
    fn speaks(&self) -> Option<&'static str> {
        Some(crate::PROTOCOL)
    }

    fn call(self: Arc<Self>, dispatch: Dispatch) -> Calling {
        Box::pin(self.dispatch(dispatch))
    }
}

/// A task at the server; let go of before its end, the server hears that it is not wanted.
struct Held {
    session: Text,
    said: mpsc::Sender<Said>,
    over: bool,
}

impl Held {
    fn over<T>(mut self, with: T) -> T {
        self.over = true;
        with
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if !self.over {
            let _ = self.said.try_send(Said::Cancel(self.session.clone()));
        }
    }
}

/// The one that holds the connection.
#[derive(Debug)]
struct Keeper {
    hub: Weak<Hub>,
    peer: Weak<Constellation>,
    config: interlingua_settings::Peer,
    machine: Orchestrator,
    carrier: Carrier,
    asked: mpsc::Receiver<Said>,
    watching: HashMap<Text, Watching>,
    limits: Limits,
    info: Option<Json>,
}

impl Keeper {
    /// Until the peer is registered no more.
    async fn run(mut self) {
        loop {
            let Some(hub) = self.hub.upgrade() else { break };
            let (clock, timer) = (hub.clock(), self.machine.line().next_timer());
            drop(hub);
            let timer = timer.map(|at| clock.instant(at));
            let happening = tokio::select! {
                said = self.asked.recv() => match said {
                    None => break,
                    Some(Said::Task(frame, tell)) => {
                        if let Some(session) = &frame.session_id {
                            self.watching.insert(session.clone(), Watching { tell, notes: Arc::default() });
                        }
                        orchestrator::Input::Task(frame)
                    }
                    Some(Said::Cancel(session)) => {
                        self.watching.remove(&session);
                        orchestrator::Input::Cancel { session }
                    }
                },
                turn = self.carrier.next(timer) => match turn {
                    Turn::Opened => orchestrator::Input::Connected,
                    Turn::Gone(why) => {
                        tracing::debug!(server = ?self.carrier, error = ?why, "no connection");
                        self.tell_refused(why);
                        orchestrator::Input::Closed
                    }
                    Turn::Text(frame) => match self.frame(&frame) {
                        Some(frame) => orchestrator::Input::Frame(Box::new(frame)),
                        None => continue,
                    },
                    Turn::Alive => continue,
                    Turn::Due => orchestrator::Input::Tick,
                },
            };
            self.happen(happening).await;
        }
        self.happen(orchestrator::Input::Stop).await;
    }

    /// An address that is not called is a matter of configuration: its owner is told.
    fn tell_refused(&self, why: Option<std::io::Error>) {
        let (Some(why), Some(hub), Some(peer)) = (why, self.hub.upgrade(), self.peer.upgrade()) else { return };
        let lost = TransportError::unconnected(why);
        if lost.why == Why::Refused {
            refused(&hub, &peer.name, &lost.to_string());
        }
    }

    /// A frame that cannot be read is passed over, as the Python client does.
    fn frame(&self, bytes: &Bytes) -> Option<ServerMessage> {
        large::beside(bytes.len(), || ServerMessage::decode(bytes, &self.limits))
            .inspect_err(|invalid| tracing::warn!(event = "frame_not_read", error = %invalid, "a frame of the server could not be read and is ignored"))
            .ok()
    }

    async fn happen(&mut self, happening: orchestrator::Input) {
        let mut next = Some(happening);
        while let Some(happening) = next.take() {
            let Some(hub) = self.hub.upgrade() else { return };
            let mut mint = entropy::bits;
            let effects = self.machine.step(happening, &mut Stamp { now: hub.now(), mint: &mut mint });
            for effect in effects {
                if self.perform(&hub, effect).await == Connected::No {
                    next = Some(orchestrator::Input::Closed);
                }
            }
        }
    }

    async fn perform(&mut self, hub: &Arc<Hub>, effect: orchestrator::Output) -> Connected {
        match effect {
            orchestrator::Output::Connect => self.carrier.connect(),
            orchestrator::Output::Close => {
                self.carrier.close().await;
                return Connected::No;
            }
            orchestrator::Output::Send(frame) => {
                if !self.carrier.send(frame.encode()).await {
                    self.carrier.close().await;
                    return Connected::No;
                }
            }
            orchestrator::Output::Up => {
                self.show(hub, Health::Up).await;
                let mut mint = entropy::bits;
                let request = Stamp { now: hub.now(), mint: &mut mint }.id();
                let asks = self
                    .machine
                    .step(orchestrator::Input::AskInfo { request }, &mut Stamp { now: hub.now(), mint: &mut mint });
                for effect in asks {
                    if let orchestrator::Output::Send(frame) = effect {
                        // A connection that breaks here is noticed when it is read.
                        let _ = self.carrier.send(frame.encode()).await;
                    }
                }
            }
            orchestrator::Output::Down => self.show(hub, Health::Down { since: hub.now(), quarantined: false }).await,
            orchestrator::Output::Info { info, .. } => {
                self.info = Some(info);
                self.show(hub, Health::Up).await;
            }
            orchestrator::Output::Accepted { session } => {
                if let Some(watching) = self.watching.get(&session) {
                    let _ = watching.tell.try_send(Told::Accepted);
                }
            }
            orchestrator::Output::Notes { session, lines } => self.notes(&session, lines),
            orchestrator::Output::Refused { session, frame } => self.last(&session, Told::Refused(frame)),
            orchestrator::Output::Ended { session, frame } => self.last(&session, Told::Ended(frame)),
            orchestrator::Output::Lost { session } => self.last(&session, Told::Lost),
        }
        Connected::AsBefore
    }

    /// A task that falls behind loses notes, not its end: that is a closed channel.
    fn notes(&self, session: &Text, lines: Vec<Text>) {
        if let Some(watching) = self.watching.get(session)
            && let Some(noted) = Noted::new(lines, &watching.notes)
        {
            let _ = watching.tell.try_send(Told::Notes(noted));
        }
    }

    fn last(&mut self, session: &Text, told: Told) {
        if let Some(watching) = self.watching.remove(session) {
            let _ = watching.tell.try_send(told);
        }
    }

    fn show(&self, hub: &Arc<Hub>, health: Health) -> impl Future<Output = ()> + Send + use<> {
        let shown = self.peer.upgrade().map(|peer| {
            peer.up.store(health == Health::Up, Ordering::Relaxed);
            (card(&peer.name, &self.config, self.info.as_ref(), health, hub), peer)
        });
        let hub = hub.clone();
        async move {
            let Some((card, peer)) = shown else { return };
            if let Err(fault) = hub.register(card, peer).await {
                tracing::error!(event = "peer_not_updated", error = %fault, "what the hub knows of a device could not be updated");
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Connected {
    AsBefore,
    No,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_that_wait_for_a_task_are_bounded_in_bytes() {
        let waiting = Arc::default();
        let lines = || vec![Text::from("x".repeat(NOTES / 4)), Text::from("y")];
        let mut taken: Vec<Noted> = std::iter::from_fn(|| Noted::new(lines(), &waiting)).collect();
        assert_eq!(taken.len(), 3, "a fourth would be more than may wait");
        assert!(
            Noted::new(vec!["x".repeat(2 * NOTES).into()], &Arc::default()).is_none(),
            "nor is one that is too long"
        );
        taken.pop();
        assert!(Noted::new(lines(), &waiting).is_some(), "one was read");
        drop(taken);
        assert_eq!(waiting.load(Ordering::Relaxed), 0);
    }
}
