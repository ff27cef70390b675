//! Publish and subscribe: any message can publish an event on a topic; subscribers receive events over a socket.

use std::sync::Arc;

use crate::decode::WIRE;
use crate::topic::Topic;
use interlingua_machines::bus::{Kind, Message, Pattern, Sender, said, topic};
use interlingua_model::{Fault, FaultKind, Meta, PeerId, Principal, Priority, Secret, Text};

use super::{Exchange, Owed, Reply};
use interlingua_access::Shown;
use interlingua_endpoint::revocation::Pass;
use interlingua_hub::bus::Subscription;
use interlingua_hub::entropy;

/// What changes in what a socket listens to.
#[derive(Debug)]
pub(crate) enum Ear {
    Opens(Box<Listening>),
    Closes(Text),
}

/// What a socket listens to, for as long as what was shown for it counts.
#[derive(Debug)]
pub(crate) struct Listening {
    pub(super) pattern: Text,
    pub(super) subscription: Subscription,
    pub(super) pass: Pass,
}

impl Exchange<'_> {
    pub(super) async fn topic(&self, by: Principal, shown: Vec<Secret>, wish: Topic, owed: Owed) -> Reply {
        match self.heard(by, shown, wish).await {
            Ok((text, ear)) => Reply { ear, ..owed.said(&text) },
            Err(fault) => owed.refused(fault),
        }
    }

    async fn heard(&self, by: Principal, shown: Vec<Secret>, wish: Topic) -> Result<(String, Option<Ear>), Fault> {
        let hub: &Arc<interlingua_hub::Hub> = &self.shared.hub;
        match wish {
            Topic::Subscribe { pattern, after } => {
                let subscription = hub.subscribe(by, Pattern::parse(&pattern)?, after).await?;
                let pass = Pass::of_request(&self.shared.shared, Shown::of(*self.connection, self.headers), shown);
                let taken_back = || Fault::caller(FaultKind::Unauthenticated, "the credential is not valid any more");
                let said = format!("Listening to {pattern}.");
                let listening = Listening { pattern, subscription, pass: pass.ok_or_else(taken_back)? };
                Ok((said, Some(Ear::Opens(Box::new(listening)))))
            }
            Topic::Unsubscribe { pattern } => {
                Ok((format!("No longer listening to {pattern}."), Some(Ear::Closes(pattern))))
            }
            Topic::Publish { topic: named, content, readers } => {
                if by.is_anonymous() {
                    let text = "events are taken from callers who say who they are";
                    return Err(Fault::caller(FaultKind::Unauthenticated, text));
                }
                let owner = by.owner();
                let event = Message {
                    id: entropy::message_id(),
                    kind: Kind::Event,
                    from: PeerId::from(owner.to_string()),
                    to: None,
                    topic: Some(topic::named(&named)?),
                    skill: None,
                    content,
                    correlation: None,
                    priority: Priority::NORMAL,
                    at: hub.now(),
                    meta: Meta::default(),
                    by: owner,
                    readers,
                    sender: None,
                };
                let hop = self.context().headers.decode(event.at);
                let hop = hop.map_err(|bad| Fault::caller(FaultKind::InvalidInput, bad.to_string()))?;
                let sender = Sender::new(&by, said::origin(WIRE), &hop.origins, hop.via);
                let seq = hub.publish(event, sender).await?;
                Ok((format!("Published on {named} as number {seq}."), None))
            }
        }
    }
}
