//! A task that a client asked for: opened like any call, followed to its end, and told.

use std::sync::Arc;

use crate::link::Tongue;
use crate::say::End;
use crate::server::{Asked, Happening, Why};
use crate::{WIRE, decode, encode, fault};
use interlingua_model::{
    CancelWhy, Event, FaultKind, Finished, Noun, PeerId, Principal, Request, Signal, Transcript, Wire,
};
use tokio::sync::oneshot;

use super::Desk;
use crate::visibility::sees;
use interlingua_hub::audit::losses::Leg;
use interlingua_hub::{Hub, Running, entropy};

/// How many losses are told.
const LOSSES: usize = 256;

pub(crate) async fn follow(
    desk: Arc<Desk>,
    hub: Arc<Hub>,
    asked: Asked,
    by: Principal,
    connection: u64,
    mut stop: oneshot::Receiver<Why>,
) {
    // The words may be for a tool of a device that has just come in; once it is listed, the hub's search waits for its index.
    desk.registrar.settled().await;
    let Asked { session, target, .. } = &asked;
    let peer = desk.registrar.name(target).map_or_else(|| target.clone(), |name| name.0);
    let call = {
        let addressed = Asked { target: peer.clone(), ..asked.clone() };
        decode::task(&addressed, entropy::message_id(), desk.settings().rules.grace, hub.now())
    };
    let id = call.id.clone();
    let peer = PeerId(peer);
    desk.opening(id.clone(), session.clone());
    let opened = hub.open(Request { by: by.clone(), connection, call: Box::new(call) }).await;
    let mut running = match opened {
        Ok(running) => running,
        Err(refused) => {
            desk.opened(&id);
            desk.let_go(session);
            // UFO's words for a device that is not there are for one that this orchestrator may not know of, too.
            let is_there = hub.catalogue().peers.contains_key(&peer) && sees(&hub, &by, &peer);
            let fits_nothing = is_there && refused.kind == FaultKind::NotFound(Noun::Skill);
            let error = if fits_nothing { refused.public.clone() } else { fault::refusal(&refused, target, session) };
            desk.remember(&asked, &by, &End::failed(error.clone()));
            return desk.step(Happening::Refused { session: session.clone(), error, kind: refused.kind });
        }
    };
    desk.step(Happening::Accepted { session: session.clone() });
    let mut transcript = Transcript::default();
    let finished = tokio::select! {
        biased;
        why = &mut stop => {
            // Whoever asked is gone, or the device: the task is told to stop, or finds out by itself.
            if let Ok(Why::Unwanted) = why {
                cancel(&hub, by.clone(), &mut running).await;
            }
            running.told();
            desk.opened(&id);
            desk.let_go(session);
            return;
        }
        finished = read(&desk, &asked, &mut running, &mut transcript) => finished,
    };
    transcript.losses.truncate(LOSSES);
    desk.opened(&id);
    desk.let_go(session);
    let end = encode::end(&finished, &transcript.losses, asked.tongue);
    let (of, wire) = (running.named(), Wire(WIRE.into()));
    hub.lost(&Leg { by: &by, of, wire, skill: transcript.route.as_ref().map(|route| &route.skill) }, &end.losses);
    desk.ended(&asked, &by, end.value);
}

/// Cancels it, and waits until it has ended: until then it must not order anything in a session that is over. One that is about to
/// become a task becomes one first: a signal finds nothing else.
async fn cancel(hub: &Hub, by: Principal, running: &mut Running) {
    let Ok(task) = running.keep().await else { return };
    let _ = hub.signal(by, task, Signal::Cancel(CancelWhy::Disconnected)).await;
    while let Ok(Some(_)) = running.next().await {}
}

/// Reads to the end; what there is to tell on the way is told.
async fn read(desk: &Arc<Desk>, asked: &Asked, running: &mut Running, transcript: &mut Transcript) -> Finished {
    let tell = |event: &Event| {
        let lines = if asked.tongue == Tongue::Profile { encode::lines(event) } else { Vec::new() };
        if !lines.is_empty() {
            desk.step(Happening::Notes { session: asked.session.clone(), lines });
        }
    };
    running.finish(transcript, tell).await.unwrap_or_else(Finished::failed)
}
