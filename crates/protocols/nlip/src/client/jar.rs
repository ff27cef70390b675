//! Cookie jar for the tokens of one leg (clause 6.2). A token that the agent made is sent back to it with every message, unmodified, until
//! the agent sends another of that name; tokens that the hub made for it (credentials) are sent with every message too. A jar belongs to
//! one leg: no token ever reaches another agent.

use bytes::Bytes;
use interlingua_model::{Json, Secret, Text};

use crate::tokens;
use crate::wire::{Content, Format, Message, Submessage};

/// An agent that wants more kept than this is not answered with less: the reply that brings it is refused.
const TOKENS: usize = 1_000;
const BYTES: usize = 1 << 20;

/// One of them, as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    pub name: Text,
    pub value: Secret,
    pub label: Option<Text>,
    /// Made by this hub.
    pub mine: bool,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct TokenJar {
    theirs: Vec<Submessage>,
    mine: Vec<Submessage>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the agent's tokens are more than can be kept")]
pub struct JarFull;

impl TokenJar {
    /// Keeps the tokens of a reply. A name that is sent again replaces all tokens of that name; several tokens of one name
    /// in one reply are all kept. Our own, echoed, are not the agent's.
    pub fn absorb(&mut self, reply: &Message) -> Result<(), JarFull> {
        let given: Vec<&Submessage> = reply
            .all()
            .filter(|submessage| {
                submessage.format == Format::Token && !self.mine.iter().any(|mine| tokens::same(mine, submessage))
            })
            .collect();
        let names: std::collections::HashSet<String> =
            given.iter().map(|token| token.subformat.to_lowercase()).collect();
        let kept = self.theirs.iter().filter(|token| !names.contains(&token.subformat.to_lowercase()));
        let next: Vec<Submessage> = kept.chain(given).cloned().collect();
        if next.len() > TOKENS || next.iter().map(size).sum::<usize>() > BYTES {
            return Err(JarFull);
        }
        self.theirs = next;
        Ok(())
    }

    /// Our credential for this agent: from now on it goes with every message (first draft, clause 6.5).
    pub fn present(&mut self, credential: &str) {
        self.mine.retain(|token| !tokens::is_credential(token));
        self.mine.push(tokens::authentication(credential));
    }

    /// Is there a credential of ours that goes with every message?
    pub fn presents(&self) -> bool {
        self.mine.iter().any(tokens::is_credential)
    }

    /// What goes with the next message.
    pub fn all(&self) -> impl Iterator<Item = &Submessage> {
        self.theirs.iter().chain(&self.mine)
    }

    /// For keeping with the conversation.
    pub fn to_tokens(&self) -> Vec<Token> {
        let token = |mine: bool| {
            move |token: &Submessage| Token {
                name: token.subformat.clone(),
                value: Secret::new(value(&token.content)),
                label: token.label.clone(),
                mine,
            }
        };
        self.theirs.iter().map(token(false)).chain(self.mine.iter().map(token(true))).collect()
    }

    /// As kept; a token whose value is not at hand is left out.
    pub fn from_tokens(kept: &[Token]) -> TokenJar {
        let mut jar = TokenJar::default();
        for token in kept {
            let Some(content) = token.value.value().and_then(content) else { continue };
            let mut submessage = Submessage::new(Format::Token, token.name.clone(), content);
            submessage.label.clone_from(&token.label);
            if token.mine { jar.mine.push(submessage) } else { jar.theirs.push(submessage) }
        }
        jar
    }
}

fn size(token: &Submessage) -> usize {
    let content = match &token.content {
        Content::Text(text) => text.len(),
        Content::Bytes(bytes) => bytes.len(),
        Content::Json(json) => json.as_bytes().len(),
    };
    content + token.subformat.len() + token.label.as_deref().map_or(0, str::len)
}

/// Bytes, which a WebSocket peer may use, are told from JSON by a first byte no JSON begins with.
const RAW: u8 = 0;

/// In JSON, so that a text and a number that look alike stay apart.
fn value(content: &Content) -> Vec<u8> {
    match content {
        Content::Text(text) => Json::from_tree((&**text).into()).as_bytes().to_vec(),
        Content::Json(json) => json.as_bytes().to_vec(),
        Content::Bytes(bytes) => [&[RAW], bytes.as_ref()].concat(),
    }
}

fn content(value: &[u8]) -> Option<Content> {
    if let Some((&RAW, bytes)) = value.split_first() {
        return Some(Content::Bytes(Bytes::copy_from_slice(bytes)));
    }
    let json = Json::parse(Bytes::copy_from_slice(value)).ok()?;
    Some(match json.tree().as_str() {
        Some(text) if value.first() == Some(&b'"') => Content::Text(text.into()),
        _ => Content::Json(json),
    })
}
