//! The settings of the section `nlip`, as the running router uses them. Every key has a field here.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::encode::Delivery;
use crate::session::Rules;
use interlingua_endpoint::sections::AgentDelivery;
use interlingua_keys::{KeyFault, Keyring, SealFault, Tagger};
use interlingua_model::PeerId;
use interlingua_nlip::settings::{Nlip, SchemaVersion, Tokens, Translation};
use zeroize::Zeroizing;

use super::self_proving_token;
use interlingua_settings::Key;

/// What a context is sealed for.
const PURPOSE: &str = "session context";

#[derive(Debug, Clone)]
pub struct Settings {
    /// `nlip.enabled` and `router.enabled`.
    pub enabled: bool,
    /// The schema version messages must have; the one there is.
    pub schema_version: SchemaVersion,
    pub rules: Rules,
    pub default_timeout: Option<Duration>,
    pub tracks_messages: bool,
    pub keeps_sessions: bool,
    pub streams: bool,
    pub buffers: bool,
    pub parallel: usize,
    pub translation: Translation,
    pub opens_sessions: bool,
    pub counts_turns: bool,
    pub persists_contexts: bool,
    /// Of agents whose own settings differ.
    pub(super) agents: Arc<HashMap<PeerId, AgentDelivery>>,
    pub(super) seals: Seals,
    pub(super) promises: Arc<Tagger>,
}

impl Settings {
    /// `own`: the hub's keys, which seal where no key is configured.
    pub fn new(nlip: &Nlip, own: Arc<Keyring>) -> Result<Settings, KeyFault> {
        let (router, tokens) = (&nlip.router, &nlip.tokens);
        Ok(Settings {
            enabled: nlip.enabled && router.enabled,
            schema_version: nlip.schema_version,
            rules: Rules {
                max_age: Duration::from_secs(u64::from(router.session_timeout_hours) * 3600),
                ..Rules::default()
            },
            default_timeout: router.default_timeout.map(|span| span.0),
            tracks_messages: router.enable_message_tracking,
            keeps_sessions: router.enable_state_management,
            streams: router.enable_streaming,
            buffers: router.buffer_partial_responses,
            parallel: usize::from(router.max_parallel_calls.max(1)),
            translation: nlip.translation.clone(),
            opens_sessions: tokens.auto_generate_sessions,
            counts_turns: tokens.track_conversation_turns,
            persists_contexts: tokens.persist_context_tokens,
            agents: Arc::default(),
            promises: Arc::new(own.tagger(self_proving_token::PURPOSE)?),
            seals: Seals::new(tokens, own)?,
        })
    }

    /// With what agents say of their own answers.
    #[must_use]
    pub fn delivering(self, agents: &[(&str, AgentDelivery)]) -> Settings {
        let agents = agents.iter().map(|(name, delivery)| (PeerId::from(*name), *delivery)).collect();
        Settings { agents: Arc::new(agents), ..self }
    }

    /// May answers at this path be streamed? The nearest setting counts.
    pub(super) fn streams_of(&self, peer: Option<&PeerId>) -> bool {
        self.agent(peer).streams.unwrap_or(self.streams)
    }

    /// How the answer of a peer is delivered in a stream: an agent that is not to be streamed is whole there.
    pub(super) fn delivery_of(&self, peer: Option<&PeerId>) -> Delivery {
        let buffers = self.agent(peer).buffers.unwrap_or(self.buffers);
        if buffers || !self.streams_of(peer) { Delivery::Whole } else { Delivery::Stream }
    }

    /// The agents whose answers are delivered in a way of their own.
    pub(super) fn deliveries(&self) -> HashMap<PeerId, Delivery> {
        self.agents.keys().map(|agent| (agent.clone(), self.delivery_of(Some(agent)))).collect()
    }

    fn agent(&self, peer: Option<&PeerId>) -> AgentDelivery {
        peer.and_then(|peer| self.agents.get(peer)).copied().unwrap_or_default()
    }
}

/// The keys contexts are sealed with: the first ring seals, all of them open.
#[derive(Debug, Clone)]
pub(super) struct Seals(Vec<Arc<Keyring>>);

impl Seals {
    /// The configured keys before the hub's own, so that a key can be configured later without losing what there is.
    fn new(tokens: &Tokens, own: Arc<Keyring>) -> Result<Seals, KeyFault> {
        let ring = |keys: &mut dyn Iterator<Item = &Key>| {
            let words: Vec<String> = keys.map(|key| hex::encode(key.expose())).collect();
            let text = Zeroizing::new(words.join("\n"));
            (!text.is_empty()).then(|| Keyring::from_text(&text)).transpose()
        };
        let old = tokens.old_keys.iter();
        let rings = match &tokens.key {
            Some(key) => vec![ring(&mut [key].into_iter().chain(old))?.map(Arc::new), Some(own)],
            None => vec![Some(own), ring(&mut old.into_iter())?.map(Arc::new)],
        };
        Ok(Seals(rings.into_iter().flatten().collect()))
    }

    pub(super) fn seal(&self, of: &[u8], plain: &[u8]) -> Result<Vec<u8>, SealFault> {
        self.0.first().ok_or(SealFault::UnknownKey)?.seal(PURPOSE, of, plain)
    }

    pub(super) fn open(&self, of: &[u8], sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, SealFault> {
        let mut fault = SealFault::UnknownKey;
        for ring in &self.0 {
            match ring.open(PURPOSE, of, sealed) {
                Ok(plain) => return Ok(plain),
                Err(SealFault::UnknownKey) => {}
                Err(other) => fault = other,
            }
        }
        Err(fault)
    }

    /// Sealed by an older key: to be sealed anew when it is next written.
    pub(super) fn is_stale(&self, sealed: &[u8]) -> bool {
        self.0.first().is_none_or(|ring| ring.is_stale(sealed))
    }
}
