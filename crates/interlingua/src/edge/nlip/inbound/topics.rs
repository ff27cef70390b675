//! Events on topics: published by any message, heard over a socket.

use std::sync::Arc;

use interlingua_core::bus::{Kind, Message, Pattern, topic};
use interlingua_core::{Fault, FaultKind, Meta, PeerId, Principal, Priority, Text};
use interlingua_protocols::nlip::topic::Topic;

use super::{Exchange, Owed, Reply};
use crate::hub::bus::Subscription;
use crate::hub::entropy;

/// What changes in what a socket listens to.
#[derive(Debug)]
pub(in crate::edge::nlip) enum Ear {
    Opens(Text, Box<Subscription>),
    Closes(Text),
}

impl Exchange<'_> {
    pub(super) async fn topic(&self, by: Principal, wish: Topic, owed: Owed) -> Reply {
        match self.heard(by, wish).await {
            Ok((text, ear)) => Reply { ear, ..owed.said(&text) },
            Err(fault) => owed.refused(fault),
        }
    }

    async fn heard(&self, by: Principal, wish: Topic) -> Result<(String, Option<Ear>), Fault> {
        let hub: &Arc<crate::hub::Hub> = &self.shared.hub;
        match wish {
            Topic::Subscribe { pattern, after } => {
                let subscription = hub.subscribe(by, Pattern::parse(&pattern)?, after).await?;
                Ok((format!("Listening to {pattern}."), Some(Ear::Opens(pattern, Box::new(subscription)))))
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
                };
                let seq = hub.publish(&event).await?;
                Ok((format!("Published on {named} as number {seq}."), None))
            }
        }
    }
}
