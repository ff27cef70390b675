//! The section `a2a`: what this hub offers to A2A clients.

use schemars::JsonSchema;
use serde::Deserialize;

use interlingua_settings::{Secret, Span};

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct A2a {
    /// Off: the A2A doors and cards are closed.
    pub enabled: bool,
    /// Offer streams and subscriptions. Off: cards say so, and both are refused.
    pub streaming: bool,
    /// Tell webhooks of a task's events. Off: cards say so, and configurations are refused.
    pub push: bool,
    /// Tell webhooks on addresses that only this machine or its network can reach, too. For tests, and where they live there.
    pub push_private_addresses: bool,
    /// Show callers with a credential all that they may call. Off: cards say so, and it is refused.
    pub extended_card: bool,
    /// Put into cards what clients of 0.3 look for, too. Off: members of 1.0 only; clients of 0.3 are served all the same.
    pub old_clients: bool,
    /// Take messages only from clients that activate the hub's own extension, and so hear what a translation could not carry.
    pub extension_required: bool,
    /// How long a message id is remembered, so that sending it again is asking once; `0s` is not at all. Default:
    /// `limits.replay`.
    pub replay: Option<Span>,
    /// The address of this hub as others reach it, such as `https://hub.example`: what cards say. Default: `hub.url`,
    /// else the one a card is asked for at.
    pub url: Option<String>,
    /// Sign cards with this private key: PEM, P-256, Ed25519 or RSA. Write `file:PATH`. Where the hub listens for other machines it
    /// needs `url`, too: a card is signed for one address.
    pub sign_with: Option<Secret>,
}

impl Default for A2a {
    fn default() -> Self {
        A2a {
            enabled: true,
            streaming: true,
            push: true,
            push_private_addresses: false,
            extended_card: true,
            old_clients: true,
            extension_required: false,
            replay: None,
            url: None,
            sign_with: None,
        }
    }
}
