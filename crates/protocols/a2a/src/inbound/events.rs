//! Publish and subscribe: events that belong to no task. A2A has no publish and subscribe, so our extension marks a message as an event,
//! and the hub's event queue does the rest. The sender gets an acknowledgement; subscribers read `/api/messages`.

use crate::decode::{Announcement, ReplyTo, Wants};
use crate::encode;
use crate::wire::Update;
use interlingua_hub::entropy;
use interlingua_machines::bus::{Kind, Message, Sender, said, topic};
use interlingua_model::{Fault, FaultKind, Feature, PeerId};
use serde_json::json;

use super::Asking;

impl Asking<'_> {
    pub(super) async fn publish(&self, told: Announcement, reply: ReplyTo) -> Result<Update, Fault> {
        if reply.wants == Wants::Stream || reply.webhook.is_some() {
            let text = "nothing comes of an event that could be told: it is sent, and answered at once";
            return Err(Fault::caller(FaultKind::Unsupported(Feature::Operation), text));
        }
        let hub = &self.shared().hub;
        if self.by.is_anonymous() {
            let text = "events are taken from callers who say who they are";
            return Err(Fault::caller(FaultKind::Unauthenticated, text));
        }
        let from = told.from.map_or_else(|| PeerId::from(self.by.owner().to_string()), PeerId);
        hub.bus().check_speaker(&self.by, &from)?;
        let topic = topic::named(&told.topic)?;
        let message = Message {
            id: told.id,
            kind: Kind::Event,
            from,
            to: None,
            topic: Some(topic.clone()),
            skill: None,
            content: told.content,
            correlation: told.correlation,
            priority: told.priority,
            at: hub.now(),
            meta: told.meta,
            by: self.by.owner(),
            readers: told.readers,
            sender: None,
        };
        let sender = Sender::new(&self.by, said::origin(self.version.wire()), &told.hop.origins, told.hop.via);
        let seq = hub.publish(message, sender).await?;
        let content = json!({"status": "accepted", "topic": topic.as_str(), "seq": seq}).into();
        Ok(Update::Message(encode::acknowledged(entropy::message_id(), content)))
    }
}
