//! Who asks, proven.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::{HubId, PeerId, Text, Time};

/// A chain: user, through agent, through hub. Never empty; its rights are the intersection of its links'.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Principal {
    links: Arc<[Link]>,
}

impl Principal {
    pub fn new(first: Link) -> Principal {
        Principal { links: Arc::new([first]) }
    }

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

    pub fn links(&self) -> &[Link] {
        &self.links
    }

    pub fn is_hub_owner(&self) -> bool {
        self.links.iter().all(|link| link.subject == Subject::HubOwner)
    }

    pub fn is_anonymous(&self) -> bool {
        self.links.iter().any(|link| link.subject == Subject::Anonymous)
    }

    pub fn owner(&self) -> Owner {
        Owner(self.links.iter().map(|link| link.subject.clone()).collect())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    pub subject: Subject,
    pub proof: Proof,
    /// Patterns over skill ids and actions; empty means all that the subject may.
    pub scopes: Vec<Text>,
    pub until: Option<Time>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Subject {
    Anonymous,
    HubOwner,
    User(Text),
    Agent(PeerId),
    Device(PeerId),
    Hub(HubId),
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
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Proof {
    None,
    /// Stores of 0.1.0 know another proof of the Owner's: that a connection belonged to the hub's own user.
    #[serde(alias = "SameUid")]
    LocalSocket,
    Key,
    Token,
    Jwt,
    Certificate,
    InProcess,
    Vouched(HubId),
}

/// Whose a task, key, seal or artifact is: the subjects of the chain, without proofs, scopes or expiry, so a refreshed
/// token is the same owner.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Owner(pub Arc<[Subject]>);

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, subject) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(">")?;
            }
            write!(f, "{subject}")?;
        }
        Ok(())
    }
}
