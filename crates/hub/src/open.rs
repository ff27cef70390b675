//! Opens an exchange: a call from an authenticated principal is admitted, prepared and started.

use std::sync::Arc;
use std::time::Instant;

use interlingua_machines::task::Task;
use interlingua_model::ports::Unique;
use interlingua_model::{
    Ask, Call, Completes, Deadline, DeadlineBy, Digest, Fault, FaultKind, Json, Principal, Request, Target, TaskId,
    Time,
};
use tracing::Instrument;

use super::Hub;
use super::admission::Permit;
use super::audit::AuditLine;
use super::driver::{Driver, Launched};
use super::entropy;
use super::live::Reader;
use super::prepared::{Prepared, must_keep};
use super::reauthorize::Reauthorization;
use super::running::Running;
use interlingua_telemetry::meters::{Phase, WireMeters};
use interlingua_telemetry::trace;

impl Hub {
    /// Opens an exchange: refused with a fault, or running until it ends in exactly one outcome.
    pub async fn open(self: &Arc<Self>, mut request: Request) -> Result<Running, Fault> {
        let since = Instant::now();
        let (span, wire) = self.begin(&mut request);
        let trace = request.call.trace.clone();
        let opened = Box::pin(self.admit_and_start(request)).instrument(span).await;
        if let Err(fault) = &opened {
            wire.refused(fault.kind, since.elapsed());
            if fault.kind == FaultKind::Busy {
                self.meters.shed.increment(1);
            }
        }
        opened.map(|mut running| {
            running.trace = trace;
            running
        })
    }

    /// Starts the exchange's span, and the meters of its protocol. From here on the call carries the context of that span, and a deadline.
    fn begin(&self, request: &mut Request) -> (tracing::Span, Arc<WireMeters>) {
        let call = &mut request.call;
        let default = || Deadline { at: self.now().after(self.settings.load().deadline), set_by: DeadlineBy::Hub };
        call.limits.deadline.get_or_insert_with(default);
        let wire = call.origin.wire().map_or("local", |wire| &wire.0);
        let begun = trace::exchange(wire, call.trace.as_ref());
        call.trace = Some(begun.context);
        (begun.span, self.meters.of_call(call.origin.wire()))
    }

    async fn admit_and_start(self: &Arc<Self>, request: Request) -> Result<Running, Fault> {
        let permit = self.enter(&request).await?;
        self.start(request, permit).await
    }

    /// Rate, deadline in the queue, concurrency and load shedding, in that order.
    async fn enter(&self, Request { by, call, .. }: &Request) -> Result<Permit, Fault> {
        let deadline = call.limits.deadline;
        if deadline.is_some_and(|deadline| deadline.at <= self.clock.now()) {
            return Err(Fault::caller(FaultKind::Deadline, "the deadline had passed when the call arrived"));
        }
        self.admission.check_rate(by)?;
        if call.parent.is_some() {
            return Ok(self.admission.enter_for_parent());
        }
        let entering = self.admission.enter(call.limits.priority);
        let Some(deadline) = deadline else { return entering.await };
        let entered = tokio::time::timeout_at(self.clock.instant(deadline.at), entering).await;
        entered.unwrap_or_else(|_| Err(passed_in_the_queue(deadline)))
    }

    async fn start(self: &Arc<Self>, request: Request, permit: Permit) -> Result<Running, Fault> {
        let Request { by, connection, mut call } = request;
        self.audit.caught_up().await?;
        self.put_in_words(&by, &mut call)?;
        let claim = Reauthorization::new(self, &by);
        let now = self.now();
        let id = entropy::task_id(&by);
        let prepared = self.prepare(&by, &call, id, None).await;
        let prepared = prepared.inspect_err(|fault| {
            let line = AuditLine::new("call", by.owner()).call(&call).refused(fault.kind);
            self.audit.write(match asked(&call.ask) {
                Some(name) => line.on(name),
                None => line,
            });
        })?;
        wait_longer(&mut call, &prepared, now);
        let keep = must_keep(&call, &prepared);
        let mut laps = self.meters.laps();
        let unique = keep.then(|| self.replay_key(&by, connection, &call)).flatten();
        laps.done(Phase::Replay);
        let task = Task::accepted(id, by, call, now);
        let mut driver = Driver::new(self.clone(), task, Some(permit));
        driver.connection = connection;
        if let Prepared::Ask(..) = prepared {
            driver.take_place()?;
        }
        let effects = driver.begin(prepared)?;
        if !keep && !driver.asks() {
            driver.show();
            driver.perform(effects).await?;
            return Ok(Running::inline(self.clone(), driver, claim));
        }
        match driver.launch(effects, unique, 0).await? {
            Launched::Kept(reader) => Ok(Running::kept(self.clone(), reader.claimed(claim))),
            Launched::Exists(task) => {
                let reader = self.replay(task).claimed(claim);
                Ok(Running::kept(self.clone(), reader))
            }
        }
    }

    /// A stored exchange, from its beginning.
    pub(super) fn replay(&self, task: TaskId) -> Reader {
        Reader::new(task, 0, self.live.get(task), self.store.journal.clone())
    }

    /// The idempotency key of a call whose id was given.
    pub(super) fn replay_key(&self, by: &Principal, connection: u64, call: &Call) -> Option<Unique> {
        let window = call.limits.replay.unwrap_or(self.settings.load().replay);
        if !call.id_given || window.is_zero() {
            return None;
        }
        let owner = by.owner().to_string();
        let conversation = call.conversation.as_ref().map_or("", |conversation| conversation.as_str());
        let scope = self.key_scope(by, connection);
        let key = Digest::of_fields([owner.as_bytes(), conversation.as_bytes(), call.id.as_str().as_bytes(), &scope]);
        let body = serde_json::to_vec(&call.ask).ok().and_then(|ask| Json::parse(ask.into()).ok());
        Some(Unique { key, body: body.map_or(key, |body| body.digest()), until: self.now().after(window) })
    }

    /// Where a principal's keys count: everywhere, but an Anonymous caller's on its connection only. Connections are numbered
    /// anew at every start, and keys outlive it, so the start is part of their name.
    pub(super) fn key_scope(&self, by: &Principal, connection: u64) -> [u8; 24] {
        let mut scope = [0; 24];
        if by.is_anonymous() {
            scope[..16].copy_from_slice(&self.start.to_be_bytes());
            scope[16..].copy_from_slice(&connection.to_be_bytes());
        }
        scope
    }
}

/// A peer may need longer than the hub waits by default. What a caller says holds.
fn wait_longer(call: &mut Call, prepared: &Prepared, now: Time) {
    let Prepared::Ready(ready) = prepared else { return };
    if let Some(patience) = ready.peer.patience()
        && call.limits.deadline.is_none_or(|deadline| deadline.set_by == DeadlineBy::Hub)
    {
        call.limits.deadline = Some(Deadline { at: now.after(patience), set_by: DeadlineBy::Hub });
    }
}

/// What was called by name.
fn asked(ask: &Ask) -> Option<String> {
    match ask {
        Ask::Invoke { target, .. } => match target {
            Target::Skill(id, _) => Some(id.to_string()),
            Target::Capability(name) => Some(name.to_string()),
            Target::Peer(peer) => Some(peer.to_string()),
            Target::Words => None,
        },
        Ask::Complete { of: Completes::Skill(id), .. } => Some(id.to_string()),
        Ask::Read { peer, .. } | Ask::Complete { of: Completes::Template(peer, _), .. } => Some(peer.to_string()),
    }
}

fn passed_in_the_queue(deadline: Deadline) -> Fault {
    let text = "the deadline passed while the call waited for its turn";
    match deadline.set_by {
        DeadlineBy::Caller => Fault::caller(FaultKind::Deadline, text),
        DeadlineBy::Hub => Fault::hub(FaultKind::Deadline, text),
    }
}
