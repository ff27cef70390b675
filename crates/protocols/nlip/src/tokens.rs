//! Tokens (clause 6.2). Every token of a peer is sent back to it unchanged, unless the hub made it; only the maker of a token reads it.
//! Tokens are split off before anything else reads a message: a token is never content.

use interlingua_model::{ConversationId, HubId, Secret};

use super::wire::{Content, Format, Message, Submessage};

/// The reserved prefixes of clause 5.3, and the word SDK peers use instead of the first.
const AUTHENTICATION: &str = "authentication";
const AUTHORIZATION: &str = "authorization";
const CONVERSATION: &str = "conversation";

/// What a message brought besides its content.
#[derive(Debug, Default, PartialEq)]
pub struct Tokens {
    /// Contents of `authentication*` and `authorization*`. What they prove is for the edge to find out.
    pub credentials: Vec<Secret>,
    /// Ours, by its name. Whose conversation it is must still be checked.
    pub conversation: Option<ConversationId>,
    /// What goes back.
    pub echo: Vec<Submessage>,
}

/// Splits the tokens off. What is left keeps its order; nothing may be left.
pub fn split(message: Message, hub: &HubId) -> (Vec<Submessage>, Tokens) {
    let mut tokens = Tokens::default();
    let mut rest = Vec::with_capacity(1 + message.submessages.len());
    for submessage in std::iter::once(message.first).chain(message.submessages) {
        if submessage.format == Format::Token {
            tokens.take(submessage, hub);
        } else {
            rest.push(submessage);
        }
    }
    (rest, tokens)
}

impl Tokens {
    /// An authentication token is read as a credential and echoed as well: the receiver need not return one of its own
    /// making but may, and a peer that keeps only what it saw last would otherwise lose it.
    fn take(&mut self, token: Submessage, hub: &HubId) {
        let (prefix, suffix) = name(&token.subformat);
        if prefix.eq_ignore_ascii_case(CONVERSATION) && suffix.is_some_and(|it| it.eq_ignore_ascii_case(hub.as_str())) {
            if let Content::Text(text) = &token.content {
                self.conversation = Some(ConversationId(text.clone()));
            }
            return;
        }
        if is_credential(&token)
            && let Some(text) = token.content.as_text()
        {
            self.credentials.push(Secret::new(text.as_bytes()));
        }
        self.echo.push(token);
    }
}

/// The prefix is reserved; the suffix after `_` may name whoever made the token.
fn name(subformat: &str) -> (&str, Option<&str>) {
    match subformat.split_once('_') {
        Some((prefix, suffix)) => (prefix, Some(suffix)),
        None => (subformat, None),
    }
}

/// Does this token say who is speaking?
pub(super) fn is_credential(token: &Submessage) -> bool {
    let (prefix, _) = name(&token.subformat);
    token.format == Format::Token
        && (prefix.eq_ignore_ascii_case(AUTHENTICATION) || prefix.eq_ignore_ascii_case(AUTHORIZATION))
}

/// Two tokens of one name and content. A label is no part of what a token is.
pub fn same(a: &Submessage, b: &Submessage) -> bool {
    a.subformat.eq_ignore_ascii_case(&b.subformat) && a.content == b.content
}

/// Our conversation token: the suffix tells a peer with several hubs whose it is.
pub fn conversation(hub: &HubId, id: &ConversationId) -> Submessage {
    Submessage::token(format!("{CONVERSATION}_{hub}"), id.0.clone())
}

/// A token by which its holder is known to whoever made it.
pub fn authentication(value: &str) -> Submessage {
    Submessage::token(AUTHENTICATION, value)
}
