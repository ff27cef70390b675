//! Conversation mapping: an agent names its own conversations (`contextId`). The mapping to ours is stored in records that expire with the
//! conversation, by agent, address, owner and conversation, so no caller gets into another's conversation.

use bytes::Bytes;
use interlingua_model::ports::Expect;
use interlingua_model::{Digest, Fault, Text};

use interlingua_hub::Hub;

const KIND: &str = "a2a-leg";

#[derive(Debug, Clone)]
pub(super) struct LegKey(String);

impl LegKey {
    pub(super) fn new(fields: [&str; 4]) -> LegKey {
        LegKey(Digest::of_fields(fields.map(str::as_bytes)).to_string())
    }

    pub(super) async fn load(&self, hub: &Hub) -> Result<Option<Text>, Fault> {
        let item = hub.records(KIND).get(&self.0).await?;
        Ok(item.and_then(|item| std::str::from_utf8(&item.value).ok().map(Text::from)))
    }

    pub(super) async fn keep(&self, hub: &Hub, context: &str) -> Result<(), Fault> {
        let (now, span) = (hub.now(), hub.settings().conversations);
        let value = Bytes::copy_from_slice(context.as_bytes());
        hub.records(KIND).put(&self.0, value, Some(now.after(span)), Expect::Anything).await?;
        Ok(())
    }
}
