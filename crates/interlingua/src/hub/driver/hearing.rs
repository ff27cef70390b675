//! What comes back from the peer, as happenings of the task.

use std::collections::VecDeque;

use interlingua_core::task::{Effect, Happening, Task};
use interlingua_core::{Event, Fault, FaultKind, Record, Retry};

use super::side::{News, Side};
use super::{Driver, Prepared, Ready};

/// How many records of a peer are taken into one append.
const MAX_BATCH: usize = 256;

impl Driver {
    /// What the peer said, and what else of it is ready right now.
    pub(super) fn heard(&mut self, news: News) -> Result<VecDeque<Effect>, Fault> {
        let mut effects = self.hear(news)?;
        for _ in 1..MAX_BATCH {
            if self.task.finished().is_some() || !effects.is_empty() || !matches!(self.side, Side::Live(_)) {
                break;
            }
            let Some(news) = self.side.ready_now() else { break };
            effects.extend(self.hear(news)?);
        }
        Ok(effects)
    }

    fn hear(&mut self, news: News) -> Result<VecDeque<Effect>, Fault> {
        let happening = match news {
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
                let (event, raw) = self.held_to_promise(event, raw);
                let Some(happening) = self.through_hooks(event, losses, raw) else { return Ok(VecDeque::new()) };
                happening
            }
            News::Checked(finished, losses, raw) => {
                self.rest();
                Happening::Peer { event: Event::Finished(*finished), losses, raw }
            }
            News::Record(Record::Sent(sent)) => Happening::Learnt { remote: sent.remote, open: sent.open },
            News::Record(Record::Accepted { .. } | Record::Received { .. }) => return Ok(VecDeque::new()),
            News::Ended => {
                self.rest();
                if self.waits_for_answer() {
                    return Ok(VecDeque::new());
                }
                Happening::PeerLost
            }
        };
        match self.decide(happening) {
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

    /// Is there another of the same capability, and is it certain that nothing was begun at this peer? One that answered,
    /// be it that it is busy, may have begun whatever it says.
    fn may_go_elsewhere(&self, fault: &Fault) -> bool {
        let unsent = fault.kind == FaultKind::Unreachable && matches!(fault.retry, Retry::After(_));
        let unsent = unsent && self.task.cancelling.is_none();
        unsent && self.ready.as_ref().is_some_and(|ready| !ready.others.is_empty())
    }

    /// The call goes to the next of the same capability that it may go to as it stands; where there is none, it ends by what
    /// became of it at the first peer.
    pub(super) async fn elsewhere(&mut self, fault: Fault) -> Result<VecDeque<Effect>, Fault> {
        let mut others = self.ready.take().map(|ready| ready.others).unwrap_or_default();
        while let Some(other) = others.pop() {
            let Task { by, call, id, .. } = &self.task;
            match self.hub.prepare_instead(by, call, *id, &other).await {
                Ok(ready) => return self.begin_again(Prepared::Ready(Ready { others, ..ready })).await,
                Err(fault) => tracing::info!(skill = %other, error = %fault, "not tried instead"),
            }
        }
        self.decided(Happening::Refused(fault)).await
    }
}
