//! Principals: authenticated callers.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::{HubId, PeerId, Text, Time};

/// A chain: user, through agent, through hub. Never empty; its rights are the intersection of its links'.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Principal {
    links: Arc<[Link]>,
}

impl Principal {
    /// A chain of one link.
    pub fn new(first: Link) -> Principal {
        Principal { links: Arc::new([first]) }
    }

    /// A caller that proved nothing.
    pub fn anonymous() -> Principal {
        Principal::new(Link { subject: Subject::Anonymous, proof: Proof::None, scopes: Vec::new(), until: None })
    }

    /// The hub's own owner.
    pub fn hub_owner(proof: Proof) -> Principal {
        Principal::new(Link { subject: Subject::HubOwner, proof, scopes: Vec::new(), until: None })
    }

    /// The same chain, one link longer.
    pub fn through(&self, link: Link) -> Principal {
        Principal { links: self.links.iter().cloned().chain([link]).collect() }
    }

    /// The links, the first caller first.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Is every link the hub's own user? Then it may do everything.
    pub fn is_hub_owner(&self) -> bool {
        self.links.iter().all(|link| link.subject == Subject::HubOwner)
    }

    /// Is any link a caller that proved nothing? Then the whole chain is treated so.
    pub fn is_anonymous(&self) -> bool {
        self.links.iter().any(|link| link.subject == Subject::Anonymous)
    }

    /// The same caller without its proofs, as it is stored beside its data.
    pub fn owner(&self) -> Owner {
        Owner(self.links.iter().map(|link| link.subject.clone()).collect())
    }
}

/// One party of a chain, how it is known and what it was lent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The subject.
    pub subject: Subject,
    /// How that is known.
    pub proof: Proof,
    /// The scopes of its credential: patterns over `peer/skill` (`*` is everything), and the words `approve`, `register` and `role:NAME`.
    /// Without scopes it reaches public skills only. The hub's owner and anonymous callers need none.
    pub scopes: Vec<Text>,
    /// When its proof expires; `None` is never.
    pub until: Option<Time>,
}

/// The kinds of principals.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Subject {
    /// A caller that proved nothing. All of them are one subject.
    Anonymous,
    /// The user that the hub runs as.
    HubOwner,
    /// A person, by the name in the configuration, or issuer and subject of a token.
    User(Text),
    /// An agent: one of this hub, or one that registered.
    Agent(PeerId),
    /// A device.
    Device(PeerId),
    /// Another hub.
    Hub(HubId),
    /// An orchestrator of devices, authenticated by their shared key. It chooses its own name, so the name is a namespace of its own: it is
    /// neither an agent of this hub nor a device.
    Orchestrator(Text),
}

impl std::fmt::Display for Subject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Subject::Anonymous => f.write_str("anonymous"),
            Subject::HubOwner => f.write_str("owner"),
            Subject::User(name) => write!(f, "user:{name}"),
            Subject::Agent(peer) => write!(f, "agent:{peer}"),
            Subject::Device(peer) => write!(f, "device:{peer}"),
            Subject::Hub(hub) => write!(f, "hub:{hub}"),
            Subject::Orchestrator(name) => write!(f, "orchestrator:{name}"),
        }
    }
}

/// How a subject is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Proof {
    /// It is not.
    None,
    /// The connection came over the hub's own socket, which only its user can open. Stores of 0.1.0 know another proof of the
    /// Owner's: that a connection belonged to the hub's own user.
    #[serde(alias = "SameUid")]
    LocalSocket,
    /// A key of a device or an orchestrator.
    Key,
    /// A token that this hub issued or its configuration names.
    Token,
    /// A signed token of an issuer that the configuration trusts (RFC 7519).
    Jwt,
    /// A client certificate.
    Certificate,
    /// A session of the web console, made with one of the others.
    Console,
    /// The hub made the link itself, for an agent or a team that it runs.
    InProcess,
}

impl Proof {
    /// The word in rules and in the API.
    pub fn as_str(&self) -> &'static str {
        match self {
            Proof::None => "none",
            Proof::LocalSocket => "local_socket",
            Proof::Key => "key",
            Proof::Token => "token",
            Proof::Jwt => "jwt",
            Proof::Certificate => "certificate",
            Proof::Console => "console",
            Proof::InProcess => "in_process",
        }
    }
}

/// The owner of a task, key, seal or artifact: the subjects of the chain, without proofs, scopes or expiry, so a refreshed token is the
/// same owner.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Owner(pub Arc<[Subject]>);

/// The subjects with `>` between them. No two owners have the same text, whatever their names hold: a `>` of a name is doubled, and NUL,
/// which separates an owner from its data in keys, is `>0`. No subject begins with either, so a text is read in one way only, and names
/// without them are spelt as they are.
impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        use std::fmt::Write;
        for (index, subject) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(">")?;
            }
            write!(Spelt(f), "{subject}")?;
        }
        Ok(())
    }
}

/// Writes a name with its separators escaped.
struct Spelt<'a, 'f>(&'a mut std::fmt::Formatter<'f>);

impl std::fmt::Write for Spelt<'_, '_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let mut rest = text;
        while let Some(at) = rest.find(['>', '\0']) {
            self.0.write_str(&rest[..at])?;
            self.0.write_str(if rest.as_bytes()[at] == 0 { ">0" } else { ">>" })?;
            rest = &rest[at + 1..];
        }
        self.0.write_str(rest)
    }
}

impl std::str::FromStr for Owner {
    type Err = UnknownSubject;

    fn from_str(text: &str) -> Result<Owner, UnknownSubject> {
        let mut pieces = vec![String::new()];
        let mut rest = text.chars().peekable();
        while let Some(c) = rest.next() {
            let last = pieces.last_mut().ok_or(UnknownSubject)?;
            match (c, rest.peek()) {
                ('>', Some('>')) => last.push('>'),
                ('>', Some('0')) => last.push('\0'),
                ('>', Some(_) | None) => {
                    pieces.push(String::new());
                    continue;
                }
                (other, _) => {
                    last.push(other);
                    continue;
                }
            }
            rest.next();
        }
        pieces.iter().map(|piece| piece.parse()).collect::<Result<_, _>>().map(Owner)
    }
}

/// A text that is not a subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownSubject;

impl std::str::FromStr for Subject {
    type Err = UnknownSubject;

    fn from_str(text: &str) -> Result<Subject, UnknownSubject> {
        Ok(match text.split_once(':') {
            None if text == "anonymous" => Subject::Anonymous,
            None if text == "owner" => Subject::HubOwner,
            Some((_, "")) => return Err(UnknownSubject),
            Some(("user", name)) => Subject::User(name.into()),
            Some(("agent", name)) => Subject::Agent(name.into()),
            Some(("device", name)) => Subject::Device(name.into()),
            Some(("hub", name)) => Subject::Hub(name.into()),
            Some(("orchestrator", name)) => Subject::Orchestrator(name.into()),
            None | Some(_) => return Err(UnknownSubject),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn subject() -> impl Strategy<Value = Subject> {
        let name = "[a>:0/\u{0}é-]{1,6}";
        prop_oneof![
            Just(Subject::Anonymous),
            Just(Subject::HubOwner),
            name.prop_map(|name| Subject::User(name.as_str().into())),
            name.prop_map(|name| Subject::Agent(name.as_str().into())),
            name.prop_map(|name| Subject::Device(name.as_str().into())),
            name.prop_map(|name| Subject::Hub(name.as_str().into())),
            name.prop_map(|name| Subject::Orchestrator(name.as_str().into())),
        ]
    }

    proptest! {
        #[test]
        fn the_text_of_an_owner_is_nobody_elses(
            one in proptest::collection::vec(subject(), 1..4), other in proptest::collection::vec(subject(), 1..4),
        ) {
            let (one, other) = (Owner(one.into()), Owner(other.into()));
            prop_assert_eq!(one == other, one.to_string() == other.to_string());
            prop_assert!(!one.to_string().contains('\0'));
            prop_assert_eq!(one.to_string().parse::<Owner>(), Ok(one));
        }
    }

    #[test]
    fn owners_of_plain_names_are_spelt_as_ever() {
        let owner = Owner([Subject::User("corp/ann".into()), Subject::Agent("researcher".into())].into());
        assert_eq!(owner.to_string(), "user:corp/ann>agent:researcher");
        let other = Owner([Subject::User("corp/ann>agent:researcher".into())].into());
        assert_eq!(other.to_string(), "user:corp/ann>>agent:researcher");
    }
}
