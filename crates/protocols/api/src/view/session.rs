//! JSON of sessions of the console.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use zeroize::Zeroize;

/// A ticket, which begins one session within a minute.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TicketView {
    pub ticket: String,
    pub expires: String,
    /// Address of the console.
    pub url: String,
}

/// What a browser signs in with: a ticket, or an access token.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignInRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The caller that the person agreed to act as. Needed for every caller but the hub's Owner.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "as")]
    pub subject: Option<String>,
}

/// Either the key of the new session, which is shown only once, or the caller to confirm first.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SignInView {
    /// Send this key as the header `Interlingua-Console` together with the cookie.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Send the request again with this as `as` if the person agrees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirm: Option<String>,
}

impl Drop for TicketView {
    fn drop(&mut self) {
        self.ticket.zeroize();
    }
}

impl Drop for SignInView {
    fn drop(&mut self) {
        self.key.zeroize();
    }
}

impl Drop for SignInRequest {
    fn drop(&mut self) {
        self.ticket.zeroize();
        self.token.zeroize();
    }
}

impl std::fmt::Debug for TicketView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TicketView(until {})", self.expires)
    }
}

impl std::fmt::Debug for SignInRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SignInRequest")
    }
}

impl std::fmt::Debug for SignInView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SignInView({:?})", self.confirm)
    }
}

/// You, your rights, and the hub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionView {
    /// Your name in tasks and in the audit log.
    pub subject: String,
    /// You, then those that act for you.
    pub chain: Vec<String>,
    /// `console` in a session, else `credential`.
    pub proof: String,
    /// When the session ends at the latest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// When the session ends if it has no request until then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_until: Option<String>,
    pub may: RightsView,
    /// Sessions of this hub change nothing.
    pub read_only: bool,
    pub hub: HubView,
}

/// What you may do besides calling skills.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RightsView {
    /// Everything.
    pub owner: bool,
    /// Approve calls.
    pub approve: bool,
    /// Register agents.
    pub register: bool,
    /// See the tasks of others.
    pub observe: bool,
    /// Operate peers.
    pub operate: bool,
}

/// The hub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HubView {
    pub id: String,
    pub name: String,
    pub url: String,
    pub version: String,
    /// Differs between builds whose consoles differ.
    pub build: String,
    pub started: String,
    /// The hub's clock.
    pub now: String,
}
