//! Response hooks: passes a result to the hooks that are configured for its skill.

use interlingua_machines::task::Happening;
use interlingua_model::{Event, Loss, LossKind, Raw};

use super::super::hooks::{When, told};
use super::Driver;
use super::peer_state::{News, Side};

impl Driver {
    /// The peer's event, unless it is an outcome that hooks must see first: then the hooks are awaited. An outcome also carries what of the
    /// call the peer could not use.
    pub(super) fn through_hooks(&mut self, event: Event, mut losses: Vec<Loss>, raw: Option<Raw>) -> Option<Happening> {
        let (Event::Finished(finished), Some(ready)) = (&event, &self.ready) else {
            return Some(Happening::Peer { event, losses, raw });
        };
        losses.extend(ready.peer.loses(&self.task.call));
        if !self.task.call.caller.tools.is_empty() && !ready.peer.takes_tools() {
            losses.push(Loss::new("call.tools", LossKind::Dropped));
        }
        let asked = self.hub.hooks.load().of(When::After, &ready.skill.id);
        if asked.is_empty() {
            return Some(Happening::Peer { event, losses, raw });
        }
        let call = told(&self.task.by, &self.task.call, self.task.id, &ready.skill, ready.args.as_ref());
        let (hub, finished) = (self.hub.clone(), finished.clone());
        self.rest();
        self.side = Side::Checking(Box::pin(async move {
            let outcome = finished.outcome.clone();
            let checked = hub.after_dispatch(asked, call, finished).await;
            // Bytes that say what was withheld are withheld too.
            let raw = raw.filter(|_| checked.outcome == outcome);
            News::Checked(Box::new(checked), losses, raw)
        }));
        None
    }
}
