//! Conversation tokens of each leg (ECMA-430 clause 6.2): what the agent gave in a conversation, and the credentials that are sent to it
//! there.
//!
//! They are sealed with the hub's keys, in records that expire with the conversation. The key of a leg names the agent and its address, the
//! owner and the conversation, so a token can reach neither another agent, nor another owner, nor a different agent that is configured
//! under the same name later.

use std::sync::Arc;
use std::time::Duration;

use crate::client::{Token, TokenJar};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use interlingua_keys::Keyring;
use interlingua_model::ports::{Expect, Records};
use interlingua_model::{Digest, Fault, Owner, PeerId, Secret, Text, Time};
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize, Zeroizing};

/// The kind of the records, and what they are sealed for.
pub(crate) const KIND: &str = "nlip-leg";

/// Names one leg.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct LegKey(String);

impl LegKey {
    /// `within`: the conversation, or the task of a call that belongs to none.
    pub(super) fn new(peer: &PeerId, address: &str, owner: &Owner, within: &str) -> LegKey {
        let owner = owner.to_string();
        let fields = [peer.as_str(), address, owner.as_str(), within];
        LegKey(Digest::of_fields(fields.map(str::as_bytes)).to_string())
    }
}

/// A jar as it was found.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) jar: TokenJar,
    expires: Option<Time>,
}

pub(super) struct Legs {
    pub(super) records: Arc<dyn Records>,
    pub(super) keys: Arc<Keyring>,
}

impl std::fmt::Debug for Legs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Legs")
    }
}

impl Legs {
    pub(super) async fn load(&self, leg: &LegKey, now: Time) -> Result<Kept, Fault> {
        let Some(item) = self.records.get(KIND, &leg.0, now).await? else {
            return Ok(Kept::default());
        };
        let plain = self.keys.open(KIND, leg.0.as_bytes(), &item.value).map_err(Fault::internal)?;
        let written: Vec<Written> = serde_json::from_slice(&plain).map_err(Fault::internal)?;
        let tokens: Vec<Token> = written.iter().filter_map(Written::token).collect();
        Ok(Kept { jar: TokenJar::from_tokens(&tokens), expires: item.expires })
    }

    /// Writes the jar down, unless it stands there already with enough time left: most agents never change a token.
    pub(super) async fn keep(
        &self,
        leg: &LegKey,
        before: &Kept,
        jar: &TokenJar,
        now: Time,
        span: Duration,
    ) -> Result<(), Fault> {
        let fresh = before.expires.is_some_and(|expires| expires > now.after(span / 2));
        let nothing = before.expires.is_none() && jar.all().next().is_none();
        if nothing || (fresh && before.jar == *jar) {
            return Ok(());
        }
        let written: Vec<Written> = jar.to_tokens().iter().filter_map(Written::of).collect();
        let plain = Zeroizing::new(serde_json::to_vec(&written).map_err(Fault::internal)?);
        let sealed = self.keys.seal(KIND, leg.0.as_bytes(), &plain).map_err(Fault::internal)?;
        let put = self.records.put(KIND, &leg.0, Bytes::from(sealed), Some(now.after(span)), Expect::Anything, now);
        put.await?;
        Ok(())
    }
}

/// A token inside the seal. A `Secret` refuses to be written anywhere else.
#[derive(Serialize, Deserialize)]
struct Written {
    name: Text,
    value: String,
    label: Option<Text>,
    mine: bool,
}

impl Drop for Written {
    fn drop(&mut self) {
        self.value.zeroize();
    }
}

impl Written {
    fn of(token: &Token) -> Option<Written> {
        let value = STANDARD.encode(token.value.value()?);
        Some(Written { name: token.name.clone(), value, label: token.label.clone(), mine: token.mine })
    }

    fn token(&self) -> Option<Token> {
        let value = Zeroizing::new(STANDARD.decode(self.value.as_bytes()).ok()?);
        Some(Token {
            name: self.name.clone(),
            value: Secret::new(value.as_slice()),
            label: self.label.clone(),
            mine: self.mine,
        })
    }
}
