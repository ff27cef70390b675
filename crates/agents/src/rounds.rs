//! Rendezvous of a team and its members: one slot for each round of each member.
//!
//! A round of a member is an exchange like any other, a child of the team's. Its slot is found here by parent and id: it holds what the
//! member is sent and offered, and returns the member's decision to the team.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use interlingua_machines::agent::Plan;
use interlingua_machines::llm::{Message, ToolCall};
use interlingua_machines::team::{self, Brief, Evaluation, Presentation, Ready, Seat, Turn, What};
use interlingua_model::{Call, Fault, FaultKind, MessageId, Part, TaskId, Text, Trust};
use interlingua_tools::files::Workspace;
use interlingua_tools::files::run_workspaces::RunWorkspaces;
use tokio::sync::{Notify, mpsc, oneshot};

/// How long a member that was taken up after a restart waits for its team.
const TEAM_COMES: Duration = Duration::from_secs(60);
/// How many orders may wait for a member.
const MAX_ORDERS: usize = 64;

/// All sittings of a hub.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    table: Mutex<HashMap<(TaskId, MessageId), Arc<Sitting>>>,
    changed: Notify,
    /// Workspaces that members of a team work in.
    pub(super) lent: Arc<RunWorkspaces>,
}

impl Rounds {
    pub(super) fn new(lent: Arc<RunWorkspaces>) -> Rounds {
        Rounds { lent, ..Rounds::default() }
    }
}

/// One member in one round, or at the end.
#[derive(Debug)]
pub(super) struct Sitting {
    pub(super) seat: Seat,
    pub(super) round: u32,
    pub(super) role: Role,
    pub(super) manner: Manner,
    ready: mpsc::Sender<Ready>,
    orders: mpsc::Sender<Order>,
    taken: Mutex<Option<mpsc::Receiver<Order>>>,
    wanted: Mutex<HashMap<Text, oneshot::Sender<Permission>>>,
    told: Mutex<Vec<oneshot::Sender<()>>>,
    judged: Mutex<Option<oneshot::Sender<Evaluation>>>,
}

/// How a team has its member work.
#[derive(Debug, Default)]
pub(super) struct Manner {
    /// Do its calls travel as routed messages?
    pub(super) routed: Option<bool>,
    /// The member's own, for as long as it sits.
    pub(super) files: Option<Workspace>,
}

#[derive(Debug)]
pub(super) enum Role {
    Round(Box<Brief>),
    Present(Box<Presentation>),
    Evaluate(Box<Presentation>),
}

/// What a team says to a member at work.
#[derive(Debug)]
pub(super) enum Order {
    Again { results: Vec<(Text, Text)>, say: Option<Text> },
    Tell(Vec<Part>),
    Stop,
}

/// May a tool be called?
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Permission {
    Granted,
    /// With what the model is told instead.
    Denied(Text),
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Rounds {
    /// Prepares a sitting. It is there until what is returned is dropped.
    pub(super) fn prepare(self: &Arc<Self>, team: TaskId, call: MessageId, sitting: Arc<Sitting>) -> Prepared {
        let key = (team, call);
        locked(&self.table).insert(key.clone(), sitting);
        self.changed.notify_waiters();
        Prepared { seats: self.clone(), key }
    }

    /// The sitting of a call that is marked as a round.
    pub(super) async fn claim(&self, call: &Call) -> Result<Arc<Sitting>, Fault> {
        let gone = || Fault::hub(FaultKind::Internal, "the team of this round is gone");
        let key = (call.parent.ok_or_else(gone)?, call.id.clone());
        let found = async {
            loop {
                let changed = self.changed.notified();
                tokio::pin!(changed);
                changed.as_mut().enable();
                if let Some(sitting) = locked(&self.table).get(&key) {
                    return sitting.clone();
                }
                changed.await;
            }
        };
        tokio::time::timeout(TEAM_COMES, found).await.map_err(|_| gone())
    }
}

#[derive(Debug)]
pub(super) struct Prepared {
    seats: Arc<Rounds>,
    key: (TaskId, MessageId),
}

impl Drop for Prepared {
    fn drop(&mut self) {
        locked(&self.seats.table).remove(&self.key);
    }
}

impl Sitting {
    pub(super) fn new(
        (seat, round): (Seat, u32),
        role: Role,
        manner: Manner,
        ready: mpsc::Sender<Ready>,
    ) -> Arc<Sitting> {
        let (orders, taken) = mpsc::channel(MAX_ORDERS);
        Arc::new(Sitting {
            seat,
            round,
            role,
            manner,
            ready,
            orders,
            taken: Mutex::new(Some(taken)),
            wanted: Mutex::default(),
            told: Mutex::default(),
            judged: Mutex::default(),
        })
    }

    /// The agent with its own skills and budget, the rules and tools of this sitting, and what it is shown.
    pub(super) fn begin(&self, agent: &Plan) -> (Plan, Vec<Message>) {
        match &self.role {
            Role::Round(brief) => team::seated(agent, brief),
            Role::Present(presentation) => team::presenting(agent, presentation),
            Role::Evaluate(presentation) => team::evaluating(agent, presentation),
        }
    }

    /// The orders of this sitting, for the one who sits.
    pub(super) fn orders(&self) -> Option<mpsc::Receiver<Order>> {
        locked(&self.taken).take()
    }

    /// A member that does not take its orders is past hearing them.
    pub(super) fn order(&self, order: Order) {
        let _ = self.orders.try_send(order);
    }

    pub(super) async fn tell_team(&self, what: What) {
        // A team that is gone judges nothing any more.
        let _ = self.ready.send(Ready { seat: self.seat, round: self.round, what }).await;
    }

    /// The member decided. Where it only judges, its team is told what.
    pub(super) async fn decided(&self, calls: &[ToolCall], text: &Text, trust: Trust) {
        match &self.role {
            Role::Round(_) => self.tell_team(What::Ended(Turn::of(calls, text, trust))).await,
            Role::Evaluate(_) => {
                if let Some(judged) = locked(&self.judged).take() {
                    let _ = judged.send(Evaluation::of(calls));
                }
            }
            Role::Present(_) => {}
        }
    }

    /// What comes of an evaluation.
    pub(super) fn evaluation(&self) -> oneshot::Receiver<Evaluation> {
        let (sender, receiver) = oneshot::channel();
        *locked(&self.judged) = Some(sender);
        receiver
    }

    /// Asks the team whether a tool may be called.
    pub(super) async fn wants(&self, call: &Text, tool: &Text) -> Permission {
        if !matches!(self.role, Role::Round(_)) {
            return Permission::Granted;
        }
        let (sender, permission) = oneshot::channel();
        locked(&self.wanted).insert(call.clone(), sender);
        self.tell_team(What::Wants { call: call.clone(), tool: tool.clone() }).await;
        permission.await.unwrap_or_else(|_| Permission::Denied("the round is over".into()))
    }

    pub(super) fn permit(&self, call: &Text, permission: Permission) {
        if let Some(sender) = locked(&self.wanted).remove(call) {
            let _ = sender.send(permission);
        }
    }

    /// A tool has returned: the team may have news, which are read before the result.
    pub(super) async fn returned(&self) {
        if !matches!(self.role, Role::Round(_)) {
            return;
        }
        let (sender, heard) = oneshot::channel();
        locked(&self.told).push(sender);
        self.tell_team(What::Returned).await;
        let _ = heard.await;
    }

    /// The team has read that tools returned, and said what it had to say.
    pub(super) fn heard(&self) {
        for sender in std::mem::take(&mut *locked(&self.told)) {
            let _ = sender.send(());
        }
    }
}
