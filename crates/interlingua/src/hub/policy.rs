//! Who may do what: one decision function for every path. What cannot be called is not listed, and looks like it is not
//! there.

use interlingua_core::{Link, Principal, Skill, SkillId, Subject, Time};

/// What someone wants to do with a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// See it in lists and search.
    List,
    Call,
    /// Say yes to a call of it.
    Approve,
}

impl Action {
    pub fn as_str(self) -> &'static str {
        match self {
            Action::List => "list",
            Action::Call => "call",
            Action::Approve => "approve",
        }
    }
}

/// The scope that lets its holder say yes.
pub const APPROVE_SCOPE: &str = "approve";
/// The scope that lets its holder register agents: what they offer is then found by everybody who may call it.
pub const REGISTER_SCOPE: &str = "register";

/// The built-in policy: the hub's Owner may everything, an Anonymous caller what is public, everyone else what the scopes of
/// every link of the chain allow.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// Changes when the rules do: a yes is for one version.
    pub version: u64,
}

impl Policy {
    pub fn allows(&self, by: &Principal, action: Action, skill: &Skill, now: Time) -> bool {
        by.links().iter().all(|link| link_allows(link, action, skill, now))
    }

    /// May they answer questions that are for approvers?
    pub fn approves(&self, by: &Principal, now: Time) -> bool {
        self.holds(by, APPROVE_SCOPE, now)
    }

    /// Does every link of the chain hold this right?
    pub fn holds(&self, by: &Principal, right: &str, now: Time) -> bool {
        by.links().iter().all(|link| match link.subject {
            Subject::HubOwner => true,
            Subject::Anonymous => false,
            Subject::User(_) | Subject::Agent(_) | Subject::Device(_) | Subject::Hub(_) => {
                in_force(link, now) && link.scopes.iter().any(|scope| **scope == *right)
            }
        })
    }
}

fn in_force(link: &Link, now: Time) -> bool {
    link.until.is_none_or(|until| now < until)
}

fn link_allows(link: &Link, action: Action, skill: &Skill, now: Time) -> bool {
    match link.subject {
        Subject::HubOwner => true,
        Subject::Anonymous => skill.public && action != Action::Approve,
        Subject::User(_) | Subject::Agent(_) | Subject::Device(_) | Subject::Hub(_) => {
            let scoped = match action {
                Action::List | Action::Call => link.scopes.iter().any(|scope| matches(scope, &skill.id)),
                Action::Approve => link.scopes.iter().any(|scope| &**scope == APPROVE_SCOPE),
            };
            in_force(link, now) && (scoped || (skill.public && action != Action::Approve))
        }
    }
}

/// `peer/skill` where either side may hold `*` for any run of characters; a bare `*` is everything.
pub fn matches(pattern: &str, skill: &SkillId) -> bool {
    match pattern.split_once('/') {
        Some((peer, name)) => glob(peer, skill.peer.as_str()) && glob(name, skill.skill.as_str()),
        None => pattern == "*",
    }
}

/// `*` stands for any run of characters. Linear: each `*` remembers only where it began.
pub fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            star = Some((p, t));
            p += 1;
        } else if pattern.get(p) == Some(&text[t]) {
            p += 1;
            t += 1;
        } else if let Some((at, from)) = star {
            star = Some((at, from + 1));
            p = at + 1;
            t = from + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&byte| byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_cover_peer_and_skill() {
        let id = SkillId::new("local", "read_file");
        for (pattern, expected) in [
            ("*", true),
            ("local/*", true),
            ("*/read_*", true),
            ("local/read_file", true),
            ("local/*_file", true),
            ("loc/*", false),
            ("local/write_*", false),
            ("local", false),
            ("approve", false),
        ] {
            assert_eq!(matches(pattern, &id), expected, "{pattern}");
        }
    }
}
