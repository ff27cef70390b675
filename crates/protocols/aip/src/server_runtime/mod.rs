//! Server runtime: holds the server's rules behind a short lock and carries out their effects on sockets, tasks and devices.
//!
//! Frames, closes and orders are queued under the lock, so that they are sent in the order of the rules; whatever may wait (opening a task,
//! describing a peer) is done after it. Nothing is awaited with the lock held.

mod orders;
mod own_session;
pub(crate) mod task;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::discover;
use crate::say::{self, End, Stamp};
use crate::server::{Asked, Connection, Effect, Happening, Server, Sight, Why};
use crate::wire::ClientType;
use arc_swap::ArcSwap;
use interlingua_model::json::object;
use interlingua_model::peer::Dispatch;
use interlingua_model::{Json, MessageId, PeerId, Principal, TaskId, Text, Time};
use tokio::sync::{Notify, oneshot};

use super::extensions::Extensions;
use super::queue::{self, Inbox, Out, Outbox};
use super::registrar::Registrar;
use super::results::Results;
use super::settings::Settings;
use super::visibility;
use interlingua_hub::shares::{self, NoRoom, Shares};
use interlingua_hub::{Hub, entropy};

use orders::Waiting;
pub(crate) use orders::{Given, Hearing, NoResult};
pub(crate) use own_session::OwnSession;

/// By role, since a device and an orchestrator may have the same id.
type Askers = HashMap<(ClientType, Text), (Connection, Principal)>;

#[derive(Debug)]
pub struct ServerRuntime {
    hub: Weak<Hub>,
    state: Mutex<State>,
    settings: ArcSwap<Settings>,
    extensions: ArcSwap<Extensions>,
    pub(super) registrar: Registrar,
    /// Something is due earlier than what is waited for.
    sooner: Notify,
}

#[derive(Debug)]
struct State {
    server: Server,
    sockets: HashMap<Connection, Socket>,
    /// Bytes of the frames that wait for all of them.
    frames: Arc<Shares>,
    /// Whose each client id is.
    askers: Askers,
    orders: HashMap<u64, Waiting>,
    /// Tasks of clients that are followed, and how to stop that.
    followed: HashMap<Text, oneshot::Sender<Why>>,
    /// Those of them that whoever asked has left, until their tasks have ended. A task may come to give its order after that, and
    /// before its cancel reaches it.
    unwanted: HashSet<Text>,
    /// Sessions whose call is on its way to a device, by the id of the call.
    openings: HashMap<MessageId, Text>,
    /// Sessions that tasks work in, so that what they call of the device belongs to the same.
    runs: HashMap<TaskId, Text>,
    results: Results,
    numbered: u64,
    /// What is waited for.
    timer: Option<Time>,
}

#[derive(Debug)]
struct Socket {
    out: Outbox,
    by: Option<Principal>,
    /// Whose share of the bytes its frames count in.
    whose: Text,
}

impl ServerRuntime {
    pub fn new(hub: &Arc<Hub>, settings: Settings) -> Arc<ServerRuntime> {
        let state = State {
            server: Server::new(settings.rules),
            sockets: HashMap::new(),
            frames: hub.holdings().frames.clone(),
            askers: HashMap::new(),
            orders: HashMap::new(),
            followed: HashMap::new(),
            unwanted: HashSet::new(),
            openings: HashMap::new(),
            runs: HashMap::new(),
            results: Results::default(),
            numbered: 0,
            timer: None,
        };
        Arc::new(ServerRuntime {
            hub: Arc::downgrade(hub),
            state: Mutex::new(state),
            settings: ArcSwap::from_pointee(settings),
            extensions: ArcSwap::default(),
            registrar: Registrar::default(),
            sooner: Notify::new(),
        })
    }

    /// Begins to keep time.
    pub fn start(self: &Arc<Self>) {
        if let Some(hub) = self.hub() {
            hub.keep_device_histories();
            hub.spawn_until_stop(self.clone().keep_time());
        }
    }

    /// Devices that are connected are shown as the new settings say when they next come in.
    pub fn apply(&self, settings: Settings) {
        self.state().server.set_rules(settings.rules);
        self.settings.store(Arc::new(settings));
    }

    /// In place of what was added before.
    pub fn extend(&self, extensions: Extensions) {
        self.extensions.store(Arc::new(extensions));
    }

    pub(super) fn extensions(&self) -> Arc<Extensions> {
        self.extensions.load_full()
    }

    pub(super) fn settings(&self) -> Arc<Settings> {
        self.settings.load_full()
    }

    pub(super) fn hub(&self) -> Option<Arc<Hub>> {
        self.hub.upgrade()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn keep_time(self: Arc<Self>) {
        while let Some(hub) = self.hub() {
            let clock = hub.clock();
            drop(hub);
            let next = {
                let mut state = self.state();
                state.timer = state.server.next_timer();
                state.timer
            };
            let due = async {
                match next {
                    Some(at) => tokio::time::sleep_until(clock.instant(at)).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = due => self.step(Happening::Tick),
                () = self.sooner.notified() => {}
            }
        }
    }

    /// Something happened: the rules decide what follows, and it is done.
    pub(super) fn step(self: &Arc<Self>, what: Happening) {
        let Some(hub) = self.hub() else { return };
        let catalogue = hub.catalogue();
        let mut mint = entropy::bits;
        let mut later = Vec::new();
        {
            let mut state = self.state();
            let state = &mut *state;
            let by = state.sender(&what);
            let others = |name: &str| {
                let peer = PeerId::from(name);
                let known = catalogue.peers.contains_key(&peer) && !self.registrar.is_device(name);
                known && visibility::sees(&hub, &by, &peer)
            };
            let (askers, sender) = (&state.askers, by.owner().to_string());
            let clients = |role, name: &str| self.sees_client(&hub, askers, &by, role, name);
            let room = self.settings().room_of(&by);
            let sight = Sight { sender: &sender, others: &others, clients: &clients, room };
            let effects = state.server.step(what, sight, &mut Stamp { now: hub.now(), mint: &mut mint });
            // Devices first: one that is let in is told so only once it can be found.
            effects.iter().for_each(|effect| self.note(&hub, effect));
            for effect in effects {
                later.extend(state.perform(effect));
            }
            hub.meters().devices().sessions.set(f64::from(u32::try_from(state.server.sessions()).unwrap_or(u32::MAX)));
            let next = state.server.next_timer();
            if next.is_some_and(|next| state.timer.is_none_or(|timer| next < timer)) {
                state.timer = next;
                self.sooner.notify_one();
            }
        }
        for effect in later {
            self.follow_up(&hub, effect);
        }
    }

    /// Every report of a device that has a name counts, also one that changes little.
    fn note(&self, hub: &Hub, effect: &Effect) {
        if let Effect::Telemetry { device, told, .. } = effect
            && let Some(peer) = self.registrar.name(device)
        {
            hub.devices().report(&peer, &told.report, hub.now(), hub.meters().devices());
        }
        if let Effect::Lines { dropped, .. } = effect {
            hub.meters().devices().lines_dropped.increment(*dropped as u64);
        }
        self.registrar.note(effect);
    }

    fn follow_up(self: &Arc<Self>, hub: &Arc<Hub>, later: Later) {
        match later {
            Later::Open(asked, by, connection, stop) => {
                let following = task::follow(self.clone(), hub.clone(), *asked, by, connection, stop);
                hub.spawn(following);
            }
            Later::Describe { to, request, target, by } => {
                let peer = PeerId(target.clone());
                let catalogue = hub.catalogue();
                let info = match catalogue.peers.get(&peer).filter(|_| visibility::sees(hub, &by, &peer)) {
                    Some(registered) => discover::system_info(&registered.card),
                    None => discover::unknown(&target),
                };
                let mut mint = entropy::bits;
                let frame = say::device_info(request, info, &mut Stamp { now: hub.now(), mint: &mut mint });
                self.state().push(to, Out::Frame(Box::new(frame)));
            }
            Later::ListTools(device) => self.list_tools_later(hub, device),
        }
    }

    /// A connection that is not known yet.
    pub(super) fn enter(&self) -> (Connection, Inbox) {
        let (out, told) = queue::queue();
        let mut state = self.state();
        state.numbered += 1;
        let connection = Connection(state.numbered);
        let whose = shares::whose(&Principal::anonymous().owner());
        state.sockets.insert(connection, Socket { out, by: None, whose });
        (connection, told)
    }

    /// Who stands behind a connection, now that it said its name.
    pub(super) fn proved(&self, connection: Connection, by: Principal) {
        if let Some(socket) = self.state().sockets.get_mut(&connection) {
            socket.whose = shares::whose(&by.owner());
            socket.by = Some(by);
        }
    }

    pub(super) fn left(self: &Arc<Self>, connection: Connection) {
        {
            let mut state = self.state();
            state.sockets.remove(&connection);
            state.askers.retain(|_, (of, _)| *of != connection);
        }
        self.step(Happening::Closed(connection));
    }

    /// Tells a connection something, if it is still there.
    pub(super) fn tell(&self, connection: Connection, out: Out) {
        self.state().push(connection, out);
    }

    pub(super) fn has_device(&self, device: &str) -> bool {
        self.state().server.has_device(device)
    }

    /// Does this device take TASKs and do them by itself?
    pub(super) fn takes_tasks(&self, device: &str) -> bool {
        self.state().server.takes_tasks(device)
    }

    /// Ids of whoever is connected and may be known to this principal.
    pub(super) fn clients(&self, hub: &Hub, by: &Principal) -> Vec<Text> {
        let state = self.state();
        let seen = |(id, role): &(&Text, ClientType)| self.sees_client(hub, &state.askers, by, *role, id);
        state.server.clients().filter(seen).map(|(id, _)| id.clone()).collect()
    }

    /// A device is seen by whoever may see what it offers, anybody else by those whose they are.
    fn sees_client(&self, hub: &Hub, askers: &Askers, by: &Principal, role: ClientType, name: &str) -> bool {
        let peer = self.registrar.name(name).filter(|_| role == ClientType::Device);
        match peer {
            Some(peer) => visibility::sees(hub, by, &peer),
            None => askers.get(&(role, name.into())).is_some_and(|(_, of)| visibility::shares(by, of)),
        }
    }

    /// The session that a call of a device belongs to: that of its caller's own task, if the task works on this hub.
    pub(super) async fn session_of(&self, hub: &Hub, dispatch: &Dispatch) -> Option<Text> {
        let parent = dispatch.call.parent?;
        if let Some(session) = self.state().runs.get(&parent) {
            return Some(session.clone());
        }
        let above = hub.journal().task(parent).await.ok().flatten()?.parent?;
        self.state().runs.get(&above).cloned()
    }

    /// The call with this id is for this session.
    pub(super) fn opening(&self, call: MessageId, session: Text) {
        self.state().openings.insert(call, session);
    }

    pub(super) fn opened(&self, call: &MessageId) -> Option<Text> {
        self.state().openings.remove(call)
    }

    /// From now on what this task calls of a device belongs to this session, until the guard is dropped.
    pub(super) fn works_in(self: &Arc<Self>, task: TaskId, session: Text) -> Running {
        self.state().runs.insert(task, session);
        Running { runtime: self.clone(), task }
    }

    /// A task that nobody wanted any more has ended.
    pub(super) fn let_go(&self, session: &Text) {
        self.state().unwanted.remove(session);
    }

    /// A task of a client ended.
    pub(super) fn ended(self: &Arc<Self>, asked: &Asked, by: &Principal, end: End) {
        self.remember(asked, by, &end);
        self.state().followed.remove(&asked.session);
        self.step(Happening::Finished { session: asked.session.clone(), end });
    }

    /// For whoever asks by the name of the task, and may.
    pub(super) fn remember(&self, asked: &Asked, by: &Principal, end: &End) {
        let result = end.result.clone().unwrap_or_else(Json::null);
        let result = match &end.error {
            Some(error) => object([("error", (&**error).into()), ("result", result.tree().clone())]).into(),
            None => result,
        };
        let device = Some(&*asked.asker).filter(|_| asked.asker_role == ClientType::Device);
        self.state().results.remember(device, &asked.task_name, by, result);
    }

    /// A device is told of a task that somebody has for it: what comes of it is theirs to read.
    pub(super) fn announce(
        self: &Arc<Self>,
        by: &Principal,
        device: Text,
        session: Text,
        task_name: Text,
        request: Text,
    ) {
        self.state().results.announced(device.clone(), task_name.clone(), by.clone());
        self.step(Happening::Announce { device, session, task_name, request });
    }

    pub(super) fn result(&self, by: &Principal, task_name: &str) -> Option<Json> {
        self.state().results.find(by, task_name)
    }
}

/// What is done once the lock is free.
enum Later {
    Open(Box<Asked>, Principal, u64, oneshot::Receiver<Why>),
    Describe { to: Connection, request: Option<Text>, target: Text, by: Principal },
    ListTools(Text),
}

impl State {
    /// Whoever something comes from; what comes from nobody is the hub's own.
    fn sender(&self, what: &Happening) -> Principal {
        let by = match what {
            Happening::Frame(from, _) => self.sockets.get(from).and_then(|socket| socket.by.clone()),
            Happening::Alive(_)
            | Happening::Closed(_)
            | Happening::Tick
            | Happening::Accepted { .. }
            | Happening::Refused { .. }
            | Happening::Begin { .. }
            | Happening::Command { .. }
            | Happening::Assign { .. }
            | Happening::Notes { .. }
            | Happening::Finished { .. }
            | Happening::Announce { .. } => None,
        };
        by.unwrap_or_else(Principal::anonymous)
    }

    fn perform(&mut self, effect: Effect) -> Option<Later> {
        match effect {
            Effect::Send(to, frame) => self.push(to, Out::Frame(frame)),
            Effect::Close(of, code) => self.push(of, Out::Close(code)),
            Effect::Probe(of) => self.push(of, Out::Probe),
            Effect::Admit(of, who) => {
                let by = self.sockets.get(&of).and_then(|socket| socket.by.clone());
                self.askers.insert((who.role, who.id.clone()), (of, by.unwrap_or_else(Principal::anonymous)));
                self.push(of, Out::Admit(who));
            }
            Effect::Results { key, results, lines, session: _ } => {
                if let Some(waiting) = self.orders.remove(&key) {
                    let _ = waiting.reply.send(Ok(Given { results, lines }));
                }
            }
            Effect::Lines { session, key, lines, dropped } => self.hear(&session, key, &lines, dropped),
            Effect::Reported { session, report } => self.reported(&session, &report),
            Effect::Cancel { session, why } => {
                // A task that is not wanted is cancelled and lets go of its orders itself; one whose device is gone hears it here.
                if why == Why::DeviceLost {
                    self.orders.retain(|_, waiting| waiting.session != session);
                }
                if let Some(stop) = self.followed.remove(&session)
                    && stop.send(why).is_ok()
                    && why == Why::Unwanted
                {
                    self.unwanted.insert(session);
                }
            }
            Effect::Open(asked) => {
                let (connection, by) = self.askers.get(&(asked.asker_role, asked.asker.clone()))?.clone();
                let (stop, stopped) = oneshot::channel();
                self.followed.insert(asked.session.clone(), stop);
                return Some(Later::Open(asked, by, connection.0, stopped));
            }
            Effect::Describe { to, request, target } => {
                let by = self.sockets.get(&to).and_then(|socket| socket.by.clone())?;
                return Some(Later::Describe { to, request, target, by });
            }
            Effect::Joined { device, tools: None, .. } => return Some(Later::ListTools(device)),
            // The registrar has noted these.
            Effect::Joined { .. } | Effect::Left { .. } | Effect::Removed { .. } | Effect::Telemetry { .. } => {}
        }
        None
    }

    /// One that does not read what it is sent is let go: its queue ends, and its connection with it. Where there is no room for
    /// more bytes it is the one for which most of them wait.
    fn push(&mut self, to: Connection, out: Out) {
        let Some(socket) = self.sockets.get(&to) else { return };
        let share = match socket.out.room(&self.frames, &socket.whose, &out) {
            Ok(share) => share,
            Err(why) => {
                let slowest = self.slowest(why, &socket.whose).unwrap_or(to);
                tracing::info!(event = "slow_client", connection = slowest.0, reason = %why, "a connection reads too slowly and is closed");
                let Some(cut) = self.sockets.get(&slowest) else { return };
                cut.out.cut();
                let share = socket.out.room_of_another(&self.frames, &socket.whose, &out);
                self.sockets.remove(&slowest);
                share
            }
        };
        let taken = self.sockets.get(&to).is_none_or(|socket| socket.out.push(out, share));
        if !taken {
            self.sockets.remove(&to);
        }
    }

    /// The connection for which most bytes wait, of one caller or of all.
    fn slowest(&self, why: NoRoom, whose: &Text) -> Option<Connection> {
        let theirs = self.sockets.iter().filter(|(_, socket)| why == NoRoom::OfAll || socket.whose == *whose);
        theirs.max_by_key(|(_, socket)| socket.out.bytes()).map(|(connection, _)| *connection)
    }
}

/// A task that works in a session.
#[derive(Debug)]
pub(super) struct Running {
    runtime: Arc<ServerRuntime>,
    task: TaskId,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.runtime.state().runs.remove(&self.task);
    }
}
