//! A task that a client requested: opened like any call, followed to its end, and reported.

use std::sync::Arc;

use crate::decode::{Context, Own, decode};
use crate::encode::{self, Report, Telling, encode};
use crate::say::End;
use crate::server::{Asked, Happening, Why};
use crate::wire::ClientMessage;
use crate::{WIRE, fault};
use interlingua_model::{
    Call, CancelWhy, Carried, Fault, FaultKind, Finished, Noun, PeerId, Principal, Request, Signal, Transcript, Wire,
};
use interlingua_wire::codec::Meaning;
use tokio::sync::oneshot;

use super::ServerRuntime;
use crate::visibility::sees;
use interlingua_hub::audit::losses::LossContext;
use interlingua_hub::{Hub, Running, entropy};

pub(crate) async fn follow(
    runtime: Arc<ServerRuntime>,
    hub: Arc<Hub>,
    asked: Asked,
    by: Principal,
    connection: u64,
    mut stop: oneshot::Receiver<Why>,
) {
    // The words may be for a tool of a device that has just come in; once it is listed, the hub's search waits for its index.
    runtime.registrar.settled().await;
    let Asked { session, target, .. } = &asked;
    let (id, peer) = (entropy::message_id(), runtime.registrar.name(target).unwrap_or_else(|| PeerId(target.clone())));
    let (tongue, grace, now) = (asked.tongue, runtime.settings().rules.grace, hub.now());
    let call = call(&asked.message, &Context { id: &id, target: &peer, tongue, grace, now });
    runtime.opening(id.clone(), session.clone());
    let opened = match call {
        Ok(call) => hub.open(Request { by: by.clone(), connection, call }).await,
        Err(fault) => Err(fault),
    };
    let mut running = match opened {
        Ok(running) => running,
        Err(refused) => {
            runtime.opened(&id);
            runtime.let_go(session);
            // UFO's words for a device that is not there are for one that this orchestrator may not know of, too.
            let is_there = hub.catalogue().peers.contains_key(&peer) && sees(&hub, &by, &peer);
            let fits_nothing = is_there && refused.kind == FaultKind::NotFound(Noun::Skill);
            let error = if fits_nothing { refused.public.clone() } else { fault::refusal(&refused, target, session) };
            runtime.remember(&asked, &by, &End::failed(error.clone()));
            return runtime.step(Happening::Refused { session: session.clone(), error, kind: refused.kind });
        }
    };
    runtime.step(Happening::Accepted { session: session.clone() });
    let mut transcript = Transcript::default();
    let end = tokio::select! {
        biased;
        why = &mut stop => {
            // Whoever asked is gone, or the device: the task is told to stop, or finds out by itself.
            if let Ok(Why::Unwanted) = why {
                cancel(&hub, by.clone(), &mut running).await;
            }
            running.told();
            runtime.opened(&id);
            runtime.let_go(session);
            return;
        }
        end = read(&runtime, &asked, &mut running, &mut transcript) => end,
    };
    runtime.opened(&id);
    runtime.let_go(session);
    let (of, wire) = (running.named(), Wire(WIRE.into()));
    hub.lost(
        &LossContext { by: &by, of, wire, skill: transcript.route.as_ref().map(|route| &route.skill) },
        &end.losses,
    );
    runtime.ended(&asked, &by, end.value);
}

/// The call that a TASK is.
fn call(message: &ClientMessage, context: &Context<'_>) -> Result<Box<Call>, Fault> {
    let malformed = |why: String| Fault::caller(FaultKind::Malformed, why);
    let incoming = decode(message, context).map_err(|invalid| malformed(invalid.to_string()))?.value;
    match incoming.meaning {
        Meaning::Call(call) => Ok(call),
        Meaning::Signal { .. } | Meaning::Own(Own::Rules(_)) => Err(malformed("this is no task".to_owned())),
    }
}

/// Cancels it, and waits until it has ended: until then it must not order anything in a session that is over. One that is about to
/// become a task becomes one first: a signal finds nothing else.
async fn cancel(hub: &Hub, by: Principal, running: &mut Running) {
    let Ok(task) = running.keep().await else { return };
    let _ = hub.signal(by, task, Signal::Cancel(CancelWhy::Disconnected)).await;
    while let Ok(Some(_)) = running.next().await {}
}

/// The end. What could not be read to its end has failed.
async fn read(
    runtime: &Arc<ServerRuntime>,
    asked: &Asked,
    running: &mut Running,
    transcript: &mut Transcript,
) -> Carried<End> {
    let heard = hear(runtime, asked, running, transcript).await;
    heard.unwrap_or_else(|fault| encode::end(&Finished::failed(fault), &transcript.losses, asked.tongue))
}

/// Reads to the end; what there is to tell on the way is told.
async fn hear(
    runtime: &Arc<ServerRuntime>,
    asked: &Asked,
    running: &mut Running,
    transcript: &mut Transcript,
) -> Result<Carried<End>, Fault> {
    while let Some(entry) = running.next().await? {
        transcript.push(&entry.record)?;
        let told = encode(&entry, &mut Telling { tongue: asked.tongue, transcript });
        for report in told.value {
            match report {
                Report::Lines(lines) => runtime.step(Happening::Notes { session: asked.session.clone(), lines }),
                Report::End(end) => return Ok(Carried { value: end, losses: told.losses }),
            }
        }
    }
    Err(Fault::shutting_down_kept())
}
