//! Inbound side of the peer: converts what the peer sends to happenings of the task.

use std::collections::VecDeque;

use interlingua_machines::task::{Effect, Happening};
use interlingua_model::{Event, Fault, FaultKind, Record};

use super::Driver;
use super::peer_state::{News, Side};

/// How many records of a peer are taken into one append.
const MAX_BATCH: usize = 256;

impl Driver {
    /// What the peer said, and what else of it is ready right now. What it is known by at the peer is stored before it is asked on:
    /// by that name the exchange finds its request again after a crash.
    pub(super) fn heard(&mut self, news: News) -> Result<VecDeque<Effect>, Fault> {
        let mut learnt = is_name(&news);
        let mut effects = self.hear(news)?;
        for _ in 1..MAX_BATCH {
            if learnt || self.task.finished().is_some() || !effects.is_empty() || !matches!(self.side, Side::Live(_)) {
                break;
            }
            let Some(news) = self.side.ready_now() else { break };
            learnt = is_name(&news);
            effects.extend(self.hear(news)?);
        }
        Ok(effects)
    }

    fn hear(&mut self, news: News) -> Result<VecDeque<Effect>, Fault> {
        let happening = match news {
            News::Placed(place) => {
                self.side = Side::Idle;
                self.place = Some(place);
                let Some(ready) = self.ready.take() else { return Ok(VecDeque::new()) };
                // It may have waited for long.
                match self.hub.allows_now(&self.task, &ready) {
                    Ok(()) => self.dispatched(ready),
                    Err(fault) => Happening::Refused(fault),
                }
            }
            News::Looked => {
                self.side = Side::Idle;
                return Ok(self.task.sent.clone().map(Effect::Reattach).into_iter().collect());
            }
            News::Entered(permit, calling) => {
                self.permit = Some(permit);
                self.side = Side::Calling(calling);
                return Ok(VecDeque::new());
            }
            News::Began(exchange) => {
                self.side = Side::Live(exchange);
                return self.say_unsaid();
            }
            News::Refused(fault) => {
                self.rest();
                if self.may_go_elsewhere(&fault) {
                    self.refused = Some(fault);
                    return Ok(VecDeque::from([Effect::Proceed]));
                }
                Happening::Refused(fault)
            }
            News::Done(finished, raw) => {
                self.rest();
                let (event, raw) = self.held_to_promise(Event::Finished(*finished), raw);
                let Some(happening) = self.through_hooks(event, self.notes.left_out(), raw) else {
                    return Ok(VecDeque::new());
                };
                happening
            }
            News::Record(Record::Emitted { event, losses, raw }) => {
                let Some((event, losses, raw)) = self.notes.pass(event, losses, raw, self.hub.now()) else {
                    return Ok(VecDeque::new());
                };
                if matches!(event, Event::Asked(_))
                    && self.task.asked == 0
                    && let Err(fault) = self.take_place()
                {
                    self.rest();
                    return self.decide(Happening::Refused(fault));
                }
                let (event, raw) = self.held_to_promise(self.addressed(event), raw);
                let Some(happening) = self.through_hooks(event, losses, raw) else { return Ok(VecDeque::new()) };
                happening
            }
            News::Checked(finished, losses, raw) => {
                self.rest();
                Happening::Peer { event: Event::Finished(*finished), losses, raw }
            }
            News::Record(Record::Sent(sent)) => Happening::Learnt { remote: sent.remote, open: sent.open },
            News::Record(Record::Accepted { .. } | Record::Selected(_) | Record::Received { .. }) => {
                return Ok(VecDeque::new());
            }
            News::Ended => {
                self.rest();
                if self.waits_for_answer() {
                    return Ok(VecDeque::new());
                }
                Happening::PeerLost
            }
        };
        self.decide_heard(happening)
    }

    fn decide_heard(&mut self, happening: Happening) -> Result<VecDeque<Effect>, Fault> {
        let decided = self.decide(happening).and_then(|effects| {
            // What ends here is let go of at once.
            if self.task.finished().is_none() {
                self.hold()?;
            }
            Ok(effects)
        });
        match decided {
            Ok(effects) => Ok(effects),
            Err(fault) if fault.kind == FaultKind::AlreadyFinished => {
                self.hub.meters.late_outcomes.increment(1);
                Ok(VecDeque::new())
            }
            Err(fault) => {
                self.rest();
                self.decide(Happening::Refused(fault))
            }
        }
    }

    /// The peer ended its request to ask: nothing is lost.
    fn waits_for_answer(&self) -> bool {
        !self.task.open.is_empty() && self.task.sent.as_ref().is_some_and(|sent| !sent.open)
    }
}

fn is_name(news: &News) -> bool {
    matches!(news, News::Record(Record::Sent(_)))
}
