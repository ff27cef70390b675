//! Answers control messages about the endpoint itself: its limits, policies, formats, languages and addresses (clause 5.1.1; the first draft
//! names policies and parameters). The answer is in words for people, and one `interlingua-terms` object for programs.
//!
//! Nothing here depends on who asks, and nothing is negotiated: these are the terms.

use std::time::Duration;

use interlingua_model::json::Tree;
use serde_json::json;

use super::encode::{self, ReplyTo};
use super::labels;
use super::wire::{Message, Submessage};

/// Something that a control message asks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Term {
    Limits,
    Policies,
    Formats,
    Languages,
    Endpoints,
}

impl Term {
    pub const ALL: [Term; 5] = [Term::Limits, Term::Policies, Term::Formats, Term::Languages, Term::Endpoints];

    pub fn as_str(self) -> &'static str {
        match self {
            Term::Limits => "limits",
            Term::Policies => "policies",
            Term::Formats => "formats",
            Term::Languages => "languages",
            Term::Endpoints => "endpoints",
        }
    }
}

/// What the answers are made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The hub's address, as the caller reaches it.
    pub base: String,
    pub message_bytes: u64,
    /// Of a caller without a credential.
    pub anonymous_bytes: u64,
    pub upload_bytes: u64,
    pub depth: usize,
    /// How long a conversation is stored after its last message.
    pub conversation: Duration,
}

/// One of them, or all.
pub fn answer(asked: Option<Term>, facts: &Facts, tokens: &[Submessage], to: ReplyTo) -> Message {
    let asked: Vec<Term> = asked.map_or_else(|| Term::ALL.to_vec(), |term| vec![term]);
    let words: Vec<String> = asked.iter().map(|term| facts.words(*term)).collect();
    let told: serde_json::Map<String, Tree> =
        asked.iter().map(|term| (term.as_str().to_owned(), facts.structured(*term))).collect();
    let told = Submessage::json(Tree::Object(told).into()).labelled(labels::TERMS);
    encode::with_parts(&words.join("\n"), vec![told], tokens, to)
}

impl Facts {
    fn words(&self, term: Term) -> String {
        match term {
            Term::Limits => format!(
                "A message has at most {} bytes, {} without a credential, and JSON in it at most {} levels; an upload has at most {} bytes.",
                self.message_bytes, self.anonymous_bytes, self.depth, self.upload_bytes
            ),
            Term::Policies => format!(
                "Show a credential as a bearer token or as a token of the subformat authorization. A call that destroys or spends something waits for an approval. Decisions are written to an audit log. A conversation is stored for {} seconds after its last message.",
                self.conversation.as_secs()
            ),
            Term::Formats => "I read text, token, structured (json, uri, xml, html, source code), binary (audio, image, sensor, generic), location, error and generic; I write all of them but error.".to_owned(),
            Term::Languages => "I understand English and Spanish of my own; the agents behind me may understand more.".to_owned(),
            Term::Endpoints => {
                format!("Send messages to {0}/nlip, to one agent at {0}/agents/NAME/nlip, or over a WebSocket at {1}/nlip/ws.", self.base, self.socket())
            }
        }
    }

    fn structured(&self, term: Term) -> Tree {
        match term {
            Term::Limits => json!({
                "message_bytes": self.message_bytes,
                "anonymous_message_bytes": self.anonymous_bytes,
                "upload_bytes": self.upload_bytes,
                "json_depth": self.depth,
            }),
            Term::Policies => json!({
                "credentials": ["bearer", "token/authorization"],
                "approval": ["destroys", "spends"],
                "audit": true,
                "conversation_seconds": self.conversation.as_secs(),
            }),
            Term::Formats => json!({
                "text": ["english", "spanish"],
                "token": ["authorization", "conversation"],
                "structured": ["json", "uri", "xml", "html"],
                "binary": ["audio", "image", "sensor", "generic"],
                "location": ["text", "gps"],
                "generic": [],
                "encodings": { "http": ["json"], "websocket": ["cbor", "json"] },
            }),
            Term::Languages => json!({ "understood": ["english", "spanish"], "default": "english" }),
            Term::Endpoints => json!({
                "http": format!("{}/nlip", self.base),
                "agent": format!("{}/agents/{{name}}/nlip", self.base),
                "websocket_cbor": format!("{}/nlip/ws", self.socket()),
                "websocket_json": format!("{}/nlip/ws/text", self.socket()),
            }),
        }
    }

    /// `ws` for `http`, `wss` for `https`.
    fn socket(&self) -> String {
        self.base.strip_prefix("http").map_or_else(|| self.base.clone(), |rest| format!("ws{rest}"))
    }
}
