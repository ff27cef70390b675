//! Memory budget of inboxes: what one inbox uses of the budget of all inboxes, with each message in the share of its sender.
//!
//! A message beyond the budget is refused. An answer is never refused, because the asker waits for it: older answers are evicted for it,
//! and if that is not enough it is sent and not stored.
//!
//! A message takes its share before it waits for the driver of the inbox, so waiting messages count too. Answers that find no budget go to
//! the driver one after another; meanwhile their senders wait.

use std::collections::BTreeMap;
use std::sync::Arc;

use interlingua_machines::bus::Message;
use interlingua_machines::bus::inbox::{Fate, Inbox, Input, Record};
use interlingua_model::{Fault, FaultKind};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::shares::{NoRoom, Share, Shares, whose};

/// What a message takes on its way to the driver.
#[derive(Debug)]
pub(super) struct InboxRoom {
    pub(super) share: Option<Share>,
    /// Where there was no room.
    _turn: Option<OwnedSemaphorePermit>,
}

impl From<Share> for InboxRoom {
    fn from(share: Share) -> InboxRoom {
        InboxRoom { share: Some(share), _turn: None }
    }
}

/// The way to the driver of one inbox. Cloning shares it.
#[derive(Debug, Clone)]
pub(super) struct Way {
    shares: Arc<Shares>,
    turn: Arc<Semaphore>,
}

impl Way {
    pub(super) fn new(shares: &Arc<Shares>) -> Way {
        Way { shares: shares.clone(), turn: Arc::new(Semaphore::new(1)) }
    }

    /// For a message that is refused without budget.
    pub(super) fn take(&self, message: &Message) -> Result<Share, Fault> {
        self.shares.take(&whose(&message.by), weight(message)).map_err(busy)
    }

    /// For one that is not.
    pub(super) async fn enter(&self, message: &Message) -> Result<InboxRoom, Fault> {
        if let Ok(share) = self.take(message) {
            return Ok(share.into());
        }
        let turn = self.turn.clone().acquire_owned().await.map_err(Fault::internal)?;
        Ok(InboxRoom { share: None, _turn: Some(turn) })
    }
}

#[derive(Debug)]
pub(super) struct HeldMessages {
    way: Way,
    /// By the places of the records that brought the messages.
    of: BTreeMap<u64, Share>,
}

/// Room for what an input brings, before it is written.
pub(super) enum Wanted {
    Nothing,
    Has(Share),
    /// There is no budget for this answer yet: older answers are evicted for it.
    Lacks(Box<Message>),
}

impl HeldMessages {
    /// What was stored before the hub started counts, even beyond the budget.
    pub(super) fn by(inbox: &Inbox, way: Way) -> HeldMessages {
        let count = |message: &Message| way.shares.count_in(&whose(&message.by), weight(message));
        let known = inbox.held().filter(|(place, _)| *place > 0);
        let of = known.map(|(place, message)| (place, count(message))).collect();
        HeldMessages { way, of }
    }

    /// `share`: what it took on its way here.
    pub(super) fn room_for(&self, input: &Input, share: Option<Share>, inbox: &Inbox) -> Result<Wanted, Fault> {
        let room = |message: &Message| share.map_or_else(|| self.way.take(message), Ok);
        match input {
            // The same message sent again waits once.
            Input::Put { message, .. } if inbox.fate(&message.id) != Fate::Unknown => Ok(Wanted::Nothing),
            Input::Put { message, .. } => room(message).map(Wanted::Has),
            Input::Answer(answer) => Ok(match room(answer) {
                Ok(share) => Wanted::Has(share),
                Err(_) => Wanted::Lacks(answer.clone()),
            }),
            Input::Read(_) | Input::Withdraw(_) | Input::Clock => Ok(Wanted::Nothing),
        }
    }

    /// What an input brought is held from now on, in this place. Returns the places that are given up for it.
    pub(super) fn hold(&mut self, place: u64, wanted: Wanted, inbox: &mut Inbox) -> Vec<(u64, Record)> {
        match wanted {
            Wanted::Nothing => Vec::new(),
            Wanted::Has(share) => {
                self.of.insert(place, share);
                Vec::new()
            }
            Wanted::Lacks(answer) => {
                let mut spent = inbox.forget_answers(answer.weight());
                self.let_go(&spent);
                match self.way.take(&answer) {
                    Ok(share) if spent.iter().all(|(spent, _)| *spent != place) => {
                        self.of.insert(place, share);
                    }
                    Ok(_) | Err(_) => spent.extend(inbox.forget_answers(usize::MAX)),
                }
                self.let_go(&spent);
                spent
            }
        }
    }

    pub(super) fn let_go(&mut self, spent: &[(u64, Record)]) {
        for (place, _) in spent {
            self.of.remove(place);
        }
    }
}

fn weight(message: &Message) -> u64 {
    message.weight() as u64
}

fn busy(no_room: NoRoom) -> Fault {
    Fault::hub(
        FaultKind::Busy,
        match no_room {
            NoRoom::OfOne => "you have as many messages waiting for agents here as one caller may",
            NoRoom::OfAll => "as many messages wait for agents here as the hub can hold",
        },
    )
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::Poll;

    use interlingua_machines::bus::Kind;
    use interlingua_model::{Meta, Owner, Priority, Subject, Time};

    use super::*;

    fn message(bytes: usize) -> Message {
        Message {
            id: "m".into(),
            kind: Kind::Response,
            from: "a".into(),
            to: None,
            topic: None,
            skill: None,
            content: serde_json::json!("x".repeat(bytes)).into(),
            correlation: None,
            priority: Priority::NORMAL,
            at: Time(0),
            meta: Meta::default(),
            by: Owner(Arc::new([Subject::User("ann".into())])),
            readers: Vec::new(),
            sender: None,
        }
    }

    #[tokio::test]
    async fn answers_without_room_go_one_after_another() {
        let way = Way::new(&Shares::new(40_000));
        let held = way.enter(&message(8_000)).await.expect("room");
        assert!(held.share.is_some());
        way.take(&message(8_000)).expect_err("a quarter of all is hers");
        let first = way.enter(&message(8_000)).await.expect("its turn");
        assert!(first.share.is_none());
        let large = message(8_000);
        let mut second = pin!(way.enter(&large));
        let waits = std::future::poll_fn(|cx| Poll::Ready(second.as_mut().poll(cx).is_pending())).await;
        assert!(waits, "one at a time");
        drop(first);
        assert!(second.await.is_ok_and(|room| room.share.is_none()));
        drop(held);
        assert!(way.enter(&large).await.is_ok_and(|room| room.share.is_some()), "there is room again");
    }
}
