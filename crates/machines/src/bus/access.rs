//! Access lists: names of agents, or subjects as the hub spells them.
//!
//! A bare name is an agent's. People, hubs, devices and orchestrators are named with their kind, `user:ann`, `hub:1f`, `device:lamp`,
//! `orchestrator:gal`, so that no caller can read another's messages by choosing the same name; `owner` is the hub's own user, `*` every
//! authenticated caller. A delegated caller can read only what every link in the chain can read.

use interlingua_model::principal::{Link, Principal, Subject};

/// Whoever the hub knows.
pub const EVERYBODY: &str = "*";

/// Is this principal on the list? `speaks_for` says whether an agent of that name is theirs.
pub fn listed<T: AsRef<str>>(list: &[T], by: &Principal, speaks_for: impl Fn(&str) -> bool) -> bool {
    by.links().iter().all(|link| list.iter().any(|entry| means(entry.as_ref(), link, &speaks_for)))
}

fn means(entry: &str, link: &Link, speaks_for: impl Fn(&str) -> bool) -> bool {
    if link.subject == Subject::Anonymous {
        return false;
    }
    if entry == EVERYBODY || entry == link.subject.to_string() {
        return true;
    }
    // What is written like a subject is that subject's alone, whatever agents are called.
    if entry.parse::<Subject>().is_ok() {
        return false;
    }
    let named = match &link.subject {
        Subject::Agent(peer) => peer.as_str() == entry,
        Subject::Anonymous
        | Subject::HubOwner
        | Subject::User(_)
        | Subject::Device(_)
        | Subject::Hub(_)
        | Subject::Orchestrator(_) => false,
    };
    named || (!entry.contains(':') && speaks_for(entry))
}
