//! Outbound side of the peer: sends the call itself, and the signals that follow it.

use std::collections::VecDeque;
use std::time::Duration;

use interlingua_machines::task::{Effect, Happening};
use interlingua_model::peer::{Answering, Dispatch, View};
use interlingua_model::{Ask, Body, Call, Fault, OnDisconnect, Sent, Signal, SkillKind, Target, Via, Why};

use tokio::time::Instant;

use super::peer_state::{self, Side};
use super::{Driver, Ready};
use crate::hooks::When;

/// How long a peer may take to tell its skills after a start, and how often they are looked for.
const SKILLS: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(100);

impl Driver {
    /// Sends the call to its peer, at once with a permit at hand, else as soon as there is a place.
    pub(super) async fn dispatch(
        &mut self,
        sent: Sent,
        mut answering: Option<Box<Answering>>,
        reattach: bool,
    ) -> Result<(), Fault> {
        let ready = match self.ready.take() {
            Some(ready) => ready,
            None if reattach && self.looks_again() => {
                self.side = Side::Looking(Box::pin(tokio::time::sleep(LOOK)));
                return Ok(());
            }
            None => match self.hub.ready_again(&self.task) {
                Ok(ready) => ready,
                Err(fault) => return self.refuse(fault).await,
            },
        };
        let remote = match (reattach || answering.is_some(), sent.remote) {
            (true, Some(remote)) => Some(self.reveal(remote).await?),
            _ => None,
        };
        // After a restart the peer's own state is known by its name only.
        if let Some(answering) = &mut answering {
            let also = answering.also.iter_mut().map(|(question, _)| question);
            for resume in also.chain([&mut answering.question]).filter_map(|question| question.resume.as_mut()) {
                *resume = self.reveal(resume.clone()).await?;
            }
        }
        let dispatch = Dispatch {
            by: self.task.by.clone(),
            task: self.task.id,
            attempt: sent.attempt,
            key: sent.key,
            skill: ready.skill.clone(),
            call: self.outgoing(&ready),
            want: self.view(&ready),
            asked: self.task.asked,
            remote,
            answering,
            place: self.place.take(),
        };
        let peer = ready.peer.clone();
        self.meter.dispatched(&ready.skill.id);
        self.ready = Some(ready);
        self.side = if self.permit.is_some() {
            Side::Calling(peer_state::called(peer, dispatch))
        } else if self.task.call.parent.is_some() {
            self.permit = Some(self.hub.admission.enter_for_parent());
            Side::Calling(peer_state::called(peer, dispatch))
        } else {
            let (admission, priority) = (self.hub.admission.clone(), self.task.call.limits.priority);
            Side::Queued(Box::pin(async move {
                let permit = admission.enter(priority).await?;
                Ok((permit, peer_state::called(peer, dispatch)))
            }))
        };
        Ok(())
    }

    /// A peer that lists its skills again after a start may not have listed them yet: a running call with an id at the peer is not given up
    /// for that. Other events are processed meanwhile.
    fn looks_again(&mut self) -> bool {
        let now = Instant::now();
        self.is_to_be_told() && now < *self.looks.get_or_insert(now + SKILLS)
    }

    /// Its peer is here, and the skill is not.
    fn is_to_be_told(&self) -> bool {
        let peer = self.task.route.as_ref().map(|route| &route.skill.peer);
        let is_here = peer.is_some_and(|peer| self.hub.registry.catalogue().peers.contains_key(peer));
        is_here && self.hub.ready_again(&self.task).is_err()
    }

    /// How much of an answer must be read. The head is enough if only this caller will see it: it is not stored, no parent uses it, no hook
    /// sees it, and no output schema applies to it.
    fn view(&self, ready: &Ready) -> View {
        let limits = &self.task.call.limits;
        let passes = self.kept.is_none() && limits.on_disconnect == OnDisconnect::Cancel;
        let passes = passes && self.hub.hooks.load().of(When::After, &ready.skill.id).is_empty();
        if passes && self.task.call.parent.is_none() && ready.skill.output.is_none() { View::Head } else { View::Full }
    }

    /// The call as the peer gets it: arguments as resolved, this hub added to the way.
    fn outgoing(&self, ready: &Ready) -> Box<Call> {
        let mut call = self.task.call.clone();
        // What it says is worth no more than what led to it.
        let trust = call.trust();
        call.origin.lower(trust);
        if let Ask::Invoke { target, input } = &mut call.ask {
            input.trust = trust;
            *target = Target::Skill(ready.skill.id.clone(), None);
            input.args.clone_from(&ready.args);
            // What a phrase has taken out of the words stands for them: an agent is not told both.
            if ready.skill.kind == SkillKind::Agent && ready.route.why == Why::Phrase && ready.args.is_some() {
                input.parts.retain(|part| !matches!(part.body, Body::Text { .. }));
            }
        }
        // `prepare` stopped a loop before anything was begun, so there is always a way to write down.
        call.via = Via::through(call.via.as_ref(), &self.hub.id).ok();
        call
    }

    /// Passes a signal to the peer: into the running exchange, by a new request, or by dropping the call.
    pub(super) async fn forward(&mut self, signal: Signal) -> Result<VecDeque<Effect>, Fault> {
        let known = self.peer_knows_it();
        match (&mut self.side, signal) {
            (Side::Live(exchange), signal) => {
                let cancel = matches!(signal, Signal::Cancel(_));
                match peer_state::told(exchange, signal) {
                    Ok(()) => Ok(VecDeque::new()),
                    // A peer that cannot be told is let go of.
                    Err(_) if cancel => self.decided(Happening::CancelGraceOver).await,
                    Err(fault) => {
                        tracing::debug!(error = %fault, "the peer takes no more input");
                        Ok(VecDeque::new())
                    }
                }
            }
            (Side::Idle | Side::Looking(_) | Side::Calling(_) | Side::Queued(_), signal @ Signal::Cancel(_))
                if known =>
            {
                self.tell_when_reached(signal).await
            }
            (
                Side::Placing(_) | Side::Looking(_) | Side::Calling(_) | Side::Queued(_) | Side::Checking(_),
                Signal::Cancel(_),
            ) => {
                self.rest();
                self.decided(Happening::CancelGraceOver).await
            }
            (Side::Idle, Signal::Answered { message, answer, .. }) => {
                let (Some(question), Some(sent)) = (self.asked.take(), self.task.sent.clone()) else {
                    return Ok(VecDeque::new());
                };
                let given = self.task.given.iter().filter(|(earlier, _)| earlier.id != question.id);
                let also = given.cloned().collect();
                let answering = Box::new(Answering { question, message, answer, also });
                self.dispatch(sent, Some(answering), false).await?;
                Ok(VecDeque::new())
            }
            (Side::Idle, Signal::Cancel(_)) => self.decided(Happening::CancelGraceOver).await,
            (
                Side::Idle
                | Side::Placing(_)
                | Side::Looking(_)
                | Side::Calling(_)
                | Side::Queued(_)
                | Side::Checking(_),
                Signal::Said { .. } | Signal::Answered { .. },
            ) => Ok(VecDeque::new()),
        }
    }
}
