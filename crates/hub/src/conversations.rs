//! Conversations: their self-proving tokens, and their turn counters, which the hub owns.
//!
//! A token is an id and its authentication code for one owner. An unused token therefore costs no storage, and one that is altered, guessed
//! or another owner's opens nothing. The content of a conversation is written before the answer is sent.

use bytes::Bytes;
use hex::FromHex as _;
use interlingua_keys::Tagger;
use interlingua_model::policy::{Action, Object};
use interlingua_model::ports::{Expect, Item, Room, StoreFault};
use interlingua_model::{Conversation, ConversationId, Digest, Fault, Owner, Principal, Subject};

use super::{Hub, entropy};

const KIND: &str = "conversation";
/// The kind under which conversations count, whichever protocol stores them.
pub const CONVERSATIONS: &str = "conversations";
/// What the codes are made for: one never passes for the other.
const PURPOSE: &str = "conversation";
const IDENTITY: &str = "identity";
/// Bytes of the authentication code that a token carries.
const CODE: usize = 16;

/// A conversation whose record the hub has removed.
#[derive(Debug)]
pub struct Forgotten {
    pub owner: Owner,
    /// It had a stored record.
    pub was_kept: bool,
}

impl Hub {
    /// A new conversation of this principal.
    pub fn new_conversation(&self) -> ConversationId {
        entropy::conversation_id()
    }

    /// The conversation that a call under an idempotency key begins: the same one when it is sent again.
    pub fn conversation_begun_by(&self, by: &Principal, connection: u64, key: &str) -> ConversationId {
        let (owner, scope) = (by.owner().to_string(), self.key_scope(by, connection));
        let digest = Digest::of_fields([b"conversation".as_slice(), owner.as_bytes(), key.as_bytes(), &scope]);
        ConversationId::from(format!("{:.32}", digest.to_string()))
    }

    /// The token with which the other side continues the conversation.
    pub fn conversation_token(&self, by: &Principal, id: &ConversationId) -> Result<String, Fault> {
        Ok(with_code(id.as_str(), &self.conversation_tags()?.tag(&bound(by, id))))
    }

    /// The token by which the other side of one conversation recognises the hub. It proves nothing to the hub itself.
    pub fn identity_token(&self, by: &Principal, id: &ConversationId) -> Result<String, Fault> {
        let tags = self.keys.tagger(IDENTITY).map_err(Fault::internal)?;
        Ok(with_code(self.id.as_str(), &tags.tag(&bound(by, id))))
    }

    /// Derived on first use.
    fn conversation_tags(&self) -> Result<&Tagger, Fault> {
        if let Some(tags) = self.conversation_tags.get() {
            return Ok(tags);
        }
        let tags = self.keys.tagger(PURPOSE).map_err(Fault::internal)?;
        Ok(self.conversation_tags.get_or_init(|| tags))
    }

    /// The conversation of a token, if it belongs to this principal.
    pub fn open_conversation(&self, by: &Principal, token: &str) -> Option<ConversationId> {
        let (id, code) = token.rsplit_once('.')?;
        let id = ConversationId::from(id);
        let code = <[u8; CODE]>::from_hex(code).ok()?;
        self.conversation_tags().ok()?.verify(&bound(by, &id), &code).then_some(id)
    }

    /// Adds a turn, and stores it.
    pub async fn next_turn(&self, by: &Principal, id: &ConversationId) -> Result<Conversation, Fault> {
        self.change(by, id, |conversation| conversation.turn += 1).await
    }

    /// From now on every answer in this conversation includes the hub's identity.
    pub async fn identify_in(&self, by: &Principal, id: &ConversationId) -> Result<Conversation, Fault> {
        self.change(by, id, |conversation| conversation.identified = true).await
    }

    /// Reads, changes and writes, again if somebody else was faster.
    async fn change(
        &self,
        by: &Principal,
        id: &ConversationId,
        change: impl Fn(&mut Conversation),
    ) -> Result<Conversation, Fault> {
        let kept = self.settings.load().conversations;
        loop {
            let now = self.now();
            let found = self.store.records.get(KIND, id.as_str(), now).await?;
            let (mut conversation, seen) = match found {
                None => (self.fresh(by, id), None),
                Some(item) => (serde_json::from_slice(&item.value).map_err(Fault::internal)?, Some(item.revision)),
            };
            change(&mut conversation);
            conversation.expires = now.after(kept);
            let value = Bytes::from(serde_json::to_vec(&conversation).map_err(Fault::internal)?);
            let (records, key, expires) = (&self.store.records, id.as_str(), Some(conversation.expires));
            let put = match (seen, self.room(by)) {
                (None, Some(room)) => records.put_within(room, KIND, Item::new(key, value, expires), now),
                (None, None) => records.put(KIND, key, value, expires, Expect::Absent, now),
                (Some(seen), _) => records.put(KIND, key, value, expires, Expect::Revision(seen), now),
            };
            match put.await {
                Ok(_) => return Ok(conversation),
                Err(StoreFault::Moved { .. }) => {}
                Err(fault) => return Err(fault.into()),
            }
        }
    }

    /// The limit of conversations for this principal.
    fn room(&self, by: &Principal) -> Option<Room> {
        let settings = self.settings.load();
        let (most, bytes) = (settings.conversations_of_one, settings.bytes_of(&by.owner()));
        is_bounded(by).then(|| Room { of: CONVERSATIONS, owner: by.owner().to_string().into(), most, bytes, beside: 0 })
    }

    fn fresh(&self, by: &Principal, id: &ConversationId) -> Conversation {
        let expires = self.now().after(self.settings.load().conversations);
        Conversation { id: id.clone(), owner: by.owner(), turn: 0, identified: false, expires }
    }

    /// A page of conversations that this principal may see, after a key, and the key to continue after. An Anonymous caller has its tokens
    /// and no list.
    pub async fn conversations(
        &self,
        by: &Principal,
        after: Option<&str>,
        limit: usize,
    ) -> Result<(Vec<Conversation>, Option<String>), Fault> {
        if by.is_anonymous() {
            return Ok((Vec::new(), None));
        }
        self.page_of(KIND, after, limit, |conversation| self.opens(by, Action::Read, conversation)).await
    }

    /// Does this conversation exist, and may this principal name it by its id? An Anonymous caller needs its token.
    pub async fn has_conversation(&self, by: &Principal, id: &ConversationId) -> Result<bool, Fault> {
        if by.is_anonymous() {
            return Ok(false);
        }
        let found = self.store.records.get(KIND, id.as_str(), self.now()).await?;
        Ok(read(found)?.is_some_and(|conversation| is_theirs(by, &conversation)))
    }

    /// Removes the hub's own record of a conversation, if there is one. Returns its owner, for other data of the conversation; `None` if
    /// this principal may not remove it.
    pub async fn forget_conversation(&self, by: &Principal, id: &ConversationId) -> Result<Option<Forgotten>, Fault> {
        let found = self.store.records.get(KIND, id.as_str(), self.now()).await?;
        let was_kept = found.is_some();
        let conversation = read(found)?.unwrap_or_else(|| self.fresh(by, id));
        if !self.opens(by, Action::Write, &conversation) {
            return Ok(None);
        }
        if was_kept {
            self.store.records.take(KIND, id.as_str(), self.now()).await?;
        }
        Ok(Some(Forgotten { owner: conversation.owner, was_kept }))
    }

    /// Theirs, or others' by a rule.
    fn opens(&self, by: &Principal, action: Action, conversation: &Conversation) -> bool {
        let object = Object::Conversation { id: conversation.id.as_str(), owner: &conversation.owner };
        self.policy.load().opens(by, action, object, is_theirs(by, conversation), self.now())
    }
}

/// The hub's Owner has no limit, and neither have those that act for it.
pub(super) fn is_bounded(by: &Principal) -> bool {
    by.links().first().is_none_or(|link| link.subject != Subject::HubOwner)
}

/// One that cannot be read is not one that is not there.
fn read(found: Option<Item>) -> Result<Option<Conversation>, Fault> {
    found.map(|item| serde_json::from_slice(&item.value)).transpose().map_err(Fault::internal)
}

fn is_theirs(by: &Principal, conversation: &Conversation) -> bool {
    by.is_hub_owner() || conversation.owner == by.owner()
}

fn with_code(name: &str, tag: &[u8; 32]) -> String {
    format!("{name}.{}", hex::encode(&tag[..CODE]))
}

fn bound(by: &Principal, id: &ConversationId) -> Vec<u8> {
    format!("{}\u{0}{id}", by.owner()).into_bytes()
}
