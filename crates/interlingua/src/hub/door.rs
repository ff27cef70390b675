//! The one door: `open` takes a call from a proven principal, and the admission layer stands around it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use interlingua_core::ports::Unique;
use interlingua_core::task::Task;
use interlingua_core::{
    Ask, Call, Completes, Deadline, DeadlineBy, Digest, Fault, FaultKind, Inbound, Json, Principal, Request, Target,
    TaskId, Time,
};
use tower::{Layer, Service};
use tracing::Instrument;

use super::Hub;
use super::admission::{Admission, Permit};
use super::audit::AuditLine;
use super::claim::Claim;
use super::clock::Clock;
use super::driver::{Driver, Launched};
use super::entropy;
use super::live::Reader;
use super::prepare::Prepared;
use super::running::Running;
use crate::telemetry::meters::{Phase, WireMeters};
use crate::telemetry::trace;

impl Hub {
    /// Opens an exchange: refused with a fault, or running until it ends in exactly one outcome.
    pub async fn open(self: &Arc<Self>, mut request: Request) -> Result<Running, Fault> {
        let since = Instant::now();
        let (span, wire) = self.begin(&mut request);
        let trace = if let Inbound::Call(call) = &request.inbound { call.trace.clone() } else { None };
        let layer = AdmissionLayer { admission: self.admission.clone(), clock: self.clock };
        let opened = layer.layer(Door(self.clone())).call(request).instrument(span).await;
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

    /// The exchange's span, and the meters of what it came in by. From here on the call carries the context of that span,
    /// and a deadline.
    fn begin(&self, request: &mut Request) -> (tracing::Span, Arc<WireMeters>) {
        let Inbound::Call(call) = &mut request.inbound else {
            return (tracing::Span::none(), self.meters.of_call(None));
        };
        let default = || Deadline { at: self.now().after(self.settings.load().deadline), set_by: DeadlineBy::Hub };
        call.limits.deadline.get_or_insert_with(default);
        let wire = call.origin.wire().map_or("local", |wire| &wire.0);
        let begun = trace::exchange(wire, call.trace.as_ref());
        call.trace = Some(begun.context);
        (begun.span, self.meters.of_call(call.origin.wire()))
    }

    /// Inside the admission layer.
    async fn opened(self: Arc<Self>, request: Request, permit: Option<Permit>) -> Result<Running, Fault> {
        let Request { by, connection, inbound } = request;
        let Inbound::Call(mut call) = inbound else {
            return Err(Fault::hub(FaultKind::Internal, "only calls come through this door"));
        };
        self.audit.caught_up().await?;
        self.put_in_words(&by, &mut call)?;
        let claim = Claim::new(&self, &by);
        let now = self.now();
        let id = entropy::task_id();
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
        let mut driver = Driver::new(self.clone(), task, permit);
        driver.connection = connection;
        if let Prepared::Ask(..) = prepared {
            driver.take_place()?;
        }
        let effects = driver.begin(prepared)?;
        if !keep && !driver.asks() {
            driver.show();
            driver.perform(effects).await?;
            return Ok(Running::inline(self, driver, claim));
        }
        match driver.launch(effects, unique, 0).await? {
            Launched::Kept(reader) => Ok(Running::kept(self, reader.claimed(claim))),
            Launched::Exists(task) => {
                let reader = self.replay(task).claimed(claim);
                Ok(Running::kept(self, reader))
            }
        }
    }

    /// An exchange that is kept, from its beginning.
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

/// Caller or skill asks for it, or the caller named it and running it twice would matter.
pub(super) fn must_keep(call: &Call, prepared: &Prepared) -> bool {
    let Prepared::Ready(ready) = prepared else { return true };
    let twice_matters = call.id_given && !ready.skill.effects.idempotent;
    call.limits.keep || ready.skill.always_kept || twice_matters
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

/// The hub as a service.
#[derive(Debug, Clone)]
pub struct Door(pub Arc<Hub>);

/// A request that was let in, with its place.
#[derive(Debug)]
pub struct Admitted {
    request: Request,
    permit: Permit,
}

type Opening = Pin<Box<dyn Future<Output = Result<Running, Fault>> + Send>>;

impl Service<Admitted> for Door {
    type Response = Running;
    type Error = Fault;
    type Future = Opening;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, admitted: Admitted) -> Opening {
        let hub = self.0.clone();
        Box::pin(hub.opened(admitted.request, Some(admitted.permit)))
    }
}

/// Rate, deadline in the queue, concurrency and shedding, in that order.
#[derive(Debug, Clone)]
pub(super) struct AdmissionLayer {
    admission: Arc<Admission>,
    clock: Clock,
}

impl<S> Layer<S> for AdmissionLayer {
    type Service = Gate<S>;

    fn layer(&self, inner: S) -> Gate<S> {
        Gate { layer: self.clone(), inner }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Gate<S> {
    layer: AdmissionLayer,
    inner: S,
}

impl<S> Service<Request> for Gate<S>
where
    S: Service<Admitted, Response = Running, Error = Fault, Future = Opening> + Clone + Send + 'static,
{
    type Response = Running;
    type Error = Fault;
    type Future = Opening;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Opening {
        let (AdmissionLayer { admission, clock }, mut inner) = (self.layer.clone(), self.inner.clone());
        Box::pin(async move {
            let Inbound::Call(call) = &request.inbound else {
                return Err(Fault::hub(FaultKind::Internal, "only calls come through this door"));
            };
            let (deadline, priority) = (call.limits.deadline, call.limits.priority);
            if deadline.is_some_and(|deadline| deadline.at <= clock.now()) {
                return Err(Fault::caller(FaultKind::Deadline, "the deadline had passed when the call arrived"));
            }
            admission.check_rate(&request.by)?;
            if call.parent.is_some() {
                let permit = admission.enter_for_parent();
                return inner.call(Admitted { request, permit }).await;
            }
            let entering = admission.enter(priority);
            let permit = match deadline {
                None => entering.await?,
                Some(deadline) => match tokio::time::timeout_at(clock.instant(deadline.at), entering).await {
                    Ok(permit) => permit?,
                    Err(_) => return Err(passed_in_the_queue(deadline)),
                },
            };
            inner.call(Admitted { request, permit }).await
        })
    }
}

fn passed_in_the_queue(deadline: Deadline) -> Fault {
    let text = "the deadline passed while the call waited for its turn";
    match deadline.set_by {
        DeadlineBy::Caller => Fault::caller(FaultKind::Deadline, text),
        DeadlineBy::Hub => Fault::hub(FaultKind::Deadline, text),
    }
}
