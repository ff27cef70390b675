//! Scope selection.

use std::fmt;

use super::challenge::Challenge;
use super::metadata::{AuthorizationServer, Resource};

/// More are not asked for.
const MOST: usize = 64;
/// The scope that brings a refresh token where a server lists it.
const OFFLINE: &str = "offline_access";

/// In the order they were named, each once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scopes(Vec<String>);

impl Scopes {
    /// Separated by spaces (RFC 6749 section 3.3); what is no scope is passed over.
    pub fn parse(text: &str) -> Scopes {
        Scopes::of(text.split(' '))
    }

    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Scopes {
        let mut scopes = Scopes::default();
        names.into_iter().for_each(|name| scopes.add(name));
        scopes
    }

    fn add(&mut self, name: &str) {
        let fits =
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\');
        if fits && self.0.len() < MOST && !self.has(name) {
            self.0.push(name.to_owned());
        }
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|scope| scope == name)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Are all of `other` among these?
    pub fn cover(&self, other: &Scopes) -> bool {
        other.0.iter().all(|name| self.has(name))
    }

    #[must_use]
    pub fn and(mut self, other: &Scopes) -> Scopes {
        other.0.iter().for_each(|name| self.add(name));
        self
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

/// Which to ask for: those configured; else those the challenge names; else all that the resource lists; else none. Those that
/// were asked for before are never lost when more are wanted: a step up is the union.
pub fn choose(configured: &Scopes, before: &Scopes, challenge: &Challenge, resource: &Resource) -> Scopes {
    let named = challenge.scope.clone().filter(|scopes| !scopes.is_empty());
    let wanted = match (configured.is_empty(), named) {
        (false, named) => configured.clone().and(&named.unwrap_or_default()),
        (true, Some(named)) => named,
        (true, None) => resource.scopes.clone(),
    };
    before.clone().and(&wanted)
}

/// With the scope that keeps a person from being asked again, where the authorization server lists it.
pub fn lasting(scopes: Scopes, server: &AuthorizationServer) -> Scopes {
    if server.scopes.has(OFFLINE) { scopes.and(&Scopes::of([OFFLINE])) } else { scopes }
}
