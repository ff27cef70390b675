//! What one inbox holds of the room that all inboxes have together, each message in the share of who sent it.
//!
//! A message that finds no room is refused. An answer never is: whoever asked waits for it, so older answers are forgotten for
//! it, and where that is not enough it is told and not remembered.

use std::collections::BTreeMap;
use std::sync::Arc;

use interlingua_core::bus::Message;
use interlingua_core::bus::inbox::{Fate, Inbox, Input, Record};
use interlingua_core::{Fault, FaultKind};

use crate::hub::shares::{NoRoom, Share, Shares, whose};

#[derive(Debug)]
pub(super) struct Held {
    shares: Arc<Shares>,
    /// By the places of the records that brought the messages.
    of: BTreeMap<u64, Share>,
}

/// Room for what an input brings, before it is written.
pub(super) enum Wanted {
    Nothing,
    Has(Share),
    /// There is no room for this answer yet: older answers are forgotten to make room.
    Lacks(Box<Message>),
}

impl Held {
    /// What was there before the hub started counts, whether there is room or not.
    pub(super) fn by(inbox: &Inbox, shares: &Arc<Shares>) -> Held {
        let counted =
            |(place, message): (u64, &Message)| (place, shares.count_in(&whose(&message.by), weight(message)));
        let known = inbox.held().filter(|(place, _)| *place > 0);
        Held { shares: shares.clone(), of: known.map(counted).collect() }
    }

    /// Room for what an agent tells of a request before it answers.
    pub(super) fn told(&self, message: &Message) -> Result<Share, Fault> {
        self.shares.take(&whose(&message.by), weight(message)).map_err(busy)
    }

    pub(super) fn room_for(&self, input: &Input, inbox: &Inbox) -> Result<Wanted, Fault> {
        match input {
            // The same message sent again waits once.
            Input::Put { message, .. } if inbox.fate(&message.id) != Fate::Unknown => Ok(Wanted::Nothing),
            Input::Put { message, .. } => self.told(message).map(Wanted::Has),
            Input::Answer(answer) => Ok(match self.told(answer) {
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
                match self.told(&answer) {
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
