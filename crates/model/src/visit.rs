//! Links that a person is asked to open.

use std::ops::Deref;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::address::{Address, BadAddress, Origin};
use crate::id::{PeerId, Text, Uri};

/// A longer link is refused.
const LONGEST: usize = 8 * 1024;
/// Replaces a link of an old record that would be refused today. No such name exists (RFC 6761 section 6.4).
const REFUSED: &str = "https://refused.invalid/";

/// A link that may be shown to a person: `https`, or `http` on this machine, without a user or a password in it, in characters that cannot
/// be confused. Every link of a peer becomes one of these, or is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebLink {
    text: Uri,
    origin: Origin,
}

/// Why a link is not shown to a person.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadLink {
    /// It is not an address.
    #[error("{0}")]
    Address(#[from] BadAddress),
    /// It is plain `http` to another machine.
    #[error("plain http is for pages of this machine only")]
    Plain,
    /// It has characters that could be taken for others.
    #[error("it holds a character that is not plain ASCII")]
    Character,
    /// It is too long to be looked at.
    #[error("it is longer than {LONGEST} characters")]
    TooLong,
}

impl WebLink {
    /// Reads a link that somebody else supplied.
    pub fn parse(text: &str) -> Result<WebLink, BadLink> {
        let link = WebLink::of_hub(text)?;
        if link.origin.secure || link.origin.is_loopback() { Ok(link) } else { Err(BadLink::Plain) }
    }

    /// A page of the hub's own, which its operator may have put on plain `http`.
    pub fn of_hub(text: &str) -> Result<WebLink, BadLink> {
        if text.len() > LONGEST {
            return Err(BadLink::TooLong);
        }
        let origin = Address::parse(text)?.origin;
        // An address is ASCII (RFC 3986 section 2): others are escaped, and so cannot be taken for what they are not.
        if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(BadLink::Character);
        }
        Ok(WebLink { text: text.into(), origin })
    }

    /// The link as it was written.
    pub fn uri(&self) -> &Uri {
        &self.text
    }

    /// What a person reads: where the link leads by the hub's own word, and only then what the peer says of it.
    pub fn asked_by(&self, peer: &PeerId, words: &str) -> Text {
        let place = format!("{peer} asks you to open a page at {}.", self.origin);
        if words.is_empty() { place.into() } else { format!("{place} It says: {words}").into() }
    }
}

impl Deref for WebLink {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl Serialize for WebLink {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

/// Records are the hub's own, so a link in one may be any of the hub's; one of a time before links were judged keeps the
/// record readable and leads nowhere.
impl<'de> Deserialize<'de> for WebLink {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<WebLink, D::Error> {
        let text = String::deserialize(deserializer)?;
        WebLink::of_hub(&text).or_else(|_| WebLink::of_hub(REFUSED)).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_links_that_show_where_they_lead_are_passed_on() {
        for good in [
            "https://login.bank.example/x?y=1#z",
            "https://[2001:db8::1]:8443/",
            "http://127.0.0.1:8000/",
            "http://localhost/",
            "http://[::1]:1/",
            "HTTPS://xn--bcher-kva.example",
        ] {
            assert!(WebLink::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "javascript:alert(document.domain)",
            "JavaScript://x/%0aalert(1)",
            "data:text/html,<script>1</script>",
            "file:///etc/passwd",
            "vscode://x",
            "//evil.test/",
            "/relative",
            "",
            "https://login.bank.example@evil.test/",
            "https://user:word@evil.test/",
            "https://login.bank.example\\@evil.test/",
            "http://evil.test/",
            "http://127.0.0.1.evil.test/",
            "https://bank.example/\u{202e}gnp.exe",
            "https://b\u{0430}nk.example/",
            "https://bank.example/\n",
            "https://bank.example/a b",
            " https://bank.example/",
            "https://2130706433/",
            "https:///x",
        ] {
            assert!(WebLink::parse(bad).is_err(), "{bad:?}");
        }
        assert!(WebLink::parse(&format!("https://a.example/{}", "x".repeat(LONGEST))).is_err());
        assert!(WebLink::of_hub("http://hub.lan:8000/oauth/start").is_ok());
    }

    #[test]
    fn a_record_of_an_older_hub_reads_whatever_link_is_in_it() {
        let link: WebLink = serde_json::from_str(r#""javascript:alert(1)""#).expect("it reads");
        assert_eq!(&*link, REFUSED);
        let link: WebLink = serde_json::from_str(r#""https://a.example/""#).expect("it reads");
        assert_eq!(serde_json::to_string(&link).expect("it is written"), r#""https://a.example/""#);
    }

    #[test]
    fn the_hub_says_first_where_a_link_leads() {
        let link = WebLink::parse("https://evil.test/a").expect("a link");
        let text = link.asked_by(&"bank".into(), "Please open https://login.bank.example");
        assert_eq!(
            &*text,
            "bank asks you to open a page at https://evil.test. It says: Please open https://login.bank.example"
        );
    }
}
