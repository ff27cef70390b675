//! A task that a client asked for: opened like any call, followed to its end, and told.

use std::sync::Arc;

use interlingua_core::{
    CancelWhy, Event, Fault, FaultKind, Finished, Loss, Noun, Part, PeerId, Principal, Record, Request, Signal,
    SkillId, Wire,
};
use interlingua_protocols::aip::link::Tongue;
use interlingua_protocols::aip::server::say::End;
use interlingua_protocols::aip::server::{Asked, Happening, Why};
use interlingua_protocols::aip::{WIRE, decode, encode, fault};
use tokio::sync::oneshot;

use crate::edge::aip::desk::Desk;
use crate::edge::aip::sight::sees;
use crate::hub::audit::lost::Leg;
use crate::hub::{Hub, Running, entropy};

/// How much of an answer is put together, in bytes, and how many losses are told.
const SAID: usize = 16 * 1024 * 1024;
const LOSSES: usize = 256;

pub(in crate::edge::aip) async fn follow(
    desk: Arc<Desk>,
    hub: Arc<Hub>,
    asked: Asked,
    by: Principal,
    connection: u64,
    mut stop: oneshot::Receiver<Why>,
) {
    // The words may be for a tool of a device that has just come in.
    desk.registrar.found().await;
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
    let mut story = Story::default();
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
        finished = story.read(&desk, &asked, &mut running) => finished,
    };
    desk.opened(&id);
    desk.let_go(session);
    let end = encode::end(&finished, &story.losses, asked.tongue);
    let (of, wire) = (running.named(), Wire(WIRE.into()));
    hub.lost(&Leg { by: &by, of, wire, skill: story.skill.as_ref() }, &end.losses);
    desk.ended(&asked, &by, end.value);
}

/// Cancels it, and waits until it has ended: until then it must not order anything in a session that is over. One that is about to
/// become a task becomes one first: a signal finds nothing else.
async fn cancel(hub: &Hub, by: Principal, running: &mut Running) {
    let Ok(task) = running.keep().await else { return };
    let _ = hub.signal(by, task, Signal::Cancel(CancelWhy::Disconnected)).await;
    while let Ok(Some(_)) = running.next().await {}
}

/// What is put together on the way.
#[derive(Default)]
struct Story {
    said: Vec<Event>,
    weight: usize,
    losses: Vec<Loss>,
    skill: Option<SkillId>,
}

impl Story {
    /// Reads to the end; what there is to tell on the way is told.
    async fn read(&mut self, desk: &Arc<Desk>, asked: &Asked, running: &mut Running) -> Finished {
        loop {
            let entry = match running.next().await {
                Ok(Some(entry)) => entry,
                Ok(None) => return Finished::failed(Fault::shutting_down_kept()),
                Err(fault) => return Finished::failed(fault),
            };
            if let Record::Emitted { losses, .. } = &entry.record {
                let room = LOSSES.saturating_sub(self.losses.len());
                self.losses.extend(losses.iter().take(room).cloned());
            }
            let Some(event) = entry.record.event() else { continue };
            if let Event::Finished(finished) = event {
                let mut whole = finished.clone();
                whole.output.parts = interlingua_core::collect(finished, &self.said);
                return whole;
            }
            if let Event::Started(route) = event {
                self.skill = Some(route.skill.clone());
            }
            self.keep(event);
            let lines = if asked.tongue == Tongue::Profile { encode::lines(event) } else { Vec::new() };
            if !lines.is_empty() {
                desk.step(Happening::Notes { session: asked.session.clone(), lines });
            }
        }
    }

    fn keep(&mut self, event: &Event) {
        let parts = match event {
            Event::Said { parts, .. } => parts,
            Event::Artifact(chunk) => &chunk.parts,
            Event::Started(_)
            | Event::Progress { .. }
            | Event::Asked(_)
            | Event::Settled { .. }
            | Event::Finished(_) => return,
        };
        if self.weight < SAID {
            self.weight += parts.iter().map(Part::weight).sum::<usize>();
            self.said.push(event.clone());
        }
    }
}
