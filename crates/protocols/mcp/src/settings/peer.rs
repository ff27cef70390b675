//! Settings of an MCP server: a child process, or a URL.

use std::path::PathBuf;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

use interlingua_endpoint::sections::{NamedBy, PeerSection};
use interlingua_net::client::oauth::{OAuth, OAuthGrant};
use interlingua_settings::check::{authorities, is_open, url};
use interlingua_settings::{Found, Secret, Span};

/// Exactly one of `command` and `url`.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct McpPeer {
    /// A program that the hub starts and speaks with through its pipes.
    pub command: Option<String>,
    pub args: Vec<String>,
    /// Variables that the program is given, besides a few that every program needs.
    pub env: IndexMap<String, Secret>,
    /// Variables of the hub's own environment that the program may see.
    pub pass: Vec<String>,
    /// Where the program is started; without it, where the hub was.
    pub directory: Option<PathBuf>,
    /// End the program when nobody has used it for so long; it starts again when it is needed. Default: never.
    pub idle: Option<Span>,
    /// Where the server is, such as `https://search.example/mcp`.
    pub url: Option<String>,
    /// Sent as the bearer token. A caller's own is never sent.
    pub token: Option<Secret>,
    /// Whose credentials the server is shown where it wants a token and none is configured.
    pub credentials: McpCredentials,
    /// How the hub comes by that token. Without it: as the server says, and somebody signs in with a browser.
    pub oauth: Option<OAuth>,
    /// More headers to send.
    pub headers: IndexMap<String, Secret>,
    /// A PEM file of authorities to trust instead of the machine's own.
    pub ca: Option<PathBuf>,
    /// What is done when the server changes a tool or prompt that was seen before.
    pub changes: McpChanges,
    /// Send token and headers even where they can be read on the way (neither TLS nor loopback).
    pub insecure: bool,
}

/// A server that wants a token says so; until then nobody is asked to sign in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum McpCredentials {
    /// One token, the hub's own, for all who may call.
    #[default]
    Hub,
    /// Each caller signs in for itself; the hub's own token only lists what there is.
    Caller,
}

/// A definition is remembered as it was first seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum McpChanges {
    /// It is taken as it is now.
    Accept,
    /// It is offered, and the owner of the hub is told what changed.
    #[default]
    Flag,
    /// It is not offered until it is accepted.
    Refuse,
}

/// Where a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpPlace<'a> {
    Program { command: &'a str, args: &'a [String] },
    Url(&'a str),
}

impl McpPeer {
    pub fn program(command: impl Into<String>) -> McpPeer {
        McpPeer { command: Some(command.into()), ..McpPeer::default() }
    }

    pub fn url(url: impl Into<String>) -> McpPeer {
        McpPeer { url: Some(url.into()), ..McpPeer::default() }
    }

    pub fn place(&self) -> McpPlace<'_> {
        match &self.url {
            Some(url) => McpPlace::Url(url),
            None => McpPlace::Program { command: self.command.as_deref().unwrap_or_default(), args: &self.args },
        }
    }
}

impl PeerSection for McpPeer {
    /// A URL, or a program with its arguments.
    fn of_words(text: &str) -> Result<McpPeer, &'static str> {
        let text = text.trim();
        if text.starts_with("http://") || text.starts_with("https://") {
            return Ok(McpPeer::url(text));
        }
        let mut words = words(text)?.into_iter();
        let command = words.next().ok_or("a command or a URL is needed")?;
        Ok(McpPeer { args: words.collect(), ..McpPeer::program(command) })
    }

    fn paths(&mut self) -> Vec<&mut PathBuf> {
        self.ca.iter_mut().chain(&mut self.directory).collect()
    }

    fn names_addresses(&self) -> bool {
        self.url.is_some()
    }

    fn signs_in_at(&self) -> Option<&str> {
        self.url.as_deref()
    }

    fn named_by(&self) -> NamedBy<'_> {
        match self.place() {
            McpPlace::Url(url) => NamedBy::Url(url, None),
            McpPlace::Program { command, args } => NamedBy::Program { command, args },
        }
    }

    fn check(&self, path: &str, found: &mut Found) {
        match (&self.command, &self.url) {
            (Some(command), None) => {
                found.require(!command.trim().is_empty(), &format!("{path}.command"), "expected a program");
                if command.trim().contains(char::is_whitespace) && !std::path::Path::new(command).exists() {
                    let text = "there is no program of this name: its arguments belong into `args`";
                    found.warn(format!("{path}.command"), text);
                }
                let signs_in = self.oauth.is_some() || self.credentials == McpCredentials::Caller;
                let http_only = self.token.is_some() || !self.headers.is_empty() || self.ca.is_some() || signs_in;
                found.require(
                    !http_only,
                    path,
                    "`token`, `headers`, `oauth`, `credentials` and `ca` are for a server with a `url`; give a program `env`",
                );
            }
            (None, Some(given)) => {
                let program_only =
                    !self.args.is_empty() || !self.env.is_empty() || !self.pass.is_empty() || self.idle.is_some();
                found.require(!program_only, path, "`args`, `env`, `pass` and `idle` are for a program: a `command`");
                self.check_url(path, given, found);
            }
            (None, None) | (Some(_), Some(_)) => {
                found.refuse(path, "expected either a `command` to start or the `url` of a server");
            }
        }
    }
}

impl McpPeer {
    fn check_url(&self, path: &str, given: &str, found: &mut Found) {
        let uri = match url(given, &["http", "https"]) {
            Ok(uri) => uri,
            Err(message) => return found.refuse(format!("{path}.url"), message),
        };
        let secret = self.token.is_some() || !self.headers.is_empty();
        if secret && !self.insecure && is_open(&uri) {
            found.refuse(path, "token and headers would travel unencrypted; use https, or set `insecure: true` here");
        }
        let given = self.token.is_some() || self.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
        let signs_in = self.oauth.is_some() || self.credentials == McpCredentials::Caller;
        found.require(
            !given || !signs_in,
            path,
            "a `token` is sent as it is: `oauth` and `credentials` are for a server without",
        );
        if let Some(given) = &self.oauth {
            let machine = given.grant == OAuthGrant::ClientCredentials;
            let callers = self.credentials == McpCredentials::Caller;
            found.require(!(machine && callers), path, "`client_credentials` are the hub's own: no caller has any");
            given.check(&format!("{path}.oauth"), found);
        }
        for name in self.headers.keys() {
            let known = http::HeaderName::try_from(name.as_str());
            found.require(known.is_ok(), &format!("{path}.headers"), &format!("`{name}` is not the name of a header"));
        }
        authorities(path, self.ca.as_deref(), found);
    }
}

/// Words as a shell separates them: by spaces, except between quotation marks and after a backslash. Nothing is expanded.
fn words(text: &str) -> Result<Vec<String>, &'static str> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => {
                word.get_or_insert_default().push(letters.next().ok_or("nothing follows the last backslash")?);
            }
            (None, space) if space.is_whitespace() => words.extend(word.take()),
            (Some(_) | None, letter) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    if quote.is_some() { Err("a quotation mark is not closed") } else { Ok(words) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_split_as_a_shell_would_and_nothing_is_expanded() {
        let peer = McpPeer::of_words(r#"npx -y 'a b' "c \"d\"" e\ f $HOME "" "#).expect("a command");
        assert_eq!(peer.command.as_deref(), Some("npx"));
        assert_eq!(peer.args, ["-y", "a b", "c \"d\"", "e f", "$HOME", ""]);
        assert_eq!(McpPeer::of_words("https://h/mcp").expect("a URL").place(), McpPlace::Url("https://h/mcp"));
        for bad in ["", "  ", "a 'b", "a \\"] {
            assert!(McpPeer::of_words(bad).is_err(), "{bad}");
        }
    }
}
