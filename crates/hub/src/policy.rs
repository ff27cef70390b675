//! Authorization: one decision function for every path. A skill that a caller may not call is not listed, and is treated as not found.
//!
//! Without operator rules the scopes of credentials decide. With rules ([`Judge`]) the rules decide, and scopes only narrow which skills a
//! credential reaches. In both cases a chain may do only what every link may do, and the hub's Owner may do everything, because the Owner
//! writes the rules.

use std::sync::{Arc, LazyLock};

use interlingua_model::policy::{Asked, Could, Decision, Effect, Judge, Object};
use interlingua_model::{
    Call, Digest, Json, Link, PeerId, Principal, Skill, SkillId, Subject, Text, Time, Trust, glob,
};

pub use interlingua_model::policy::Action;

/// The scope that lets its holder approve.
pub const APPROVE_SCOPE: &str = "approve";
/// The scope that lets its holder register agents, whose skills are then visible to every caller that may call them.
pub const REGISTER_SCOPE: &str = "register";

/// The rules in force.
#[derive(Debug, Clone)]
pub struct Policy {
    version: Digest,
    judge: Option<Arc<dyn Judge>>,
}

impl Default for Policy {
    /// The built-in rules: the hub's Owner may everything, an Anonymous caller what is public, everyone else what the scopes
    /// of every link of the chain allow.
    fn default() -> Policy {
        Policy::new(Digest::of(b""), None)
    }
}

impl Policy {
    /// `access` is the digest of what configuration says of access.
    pub fn new(access: Digest, judge: Option<Arc<dyn Judge>>) -> Policy {
        let rules = judge.as_ref().map(|judge| judge.version().0);
        let version = Digest::of_fields([&access.0[..], rules.as_ref().map_or(&[], |rules| &rules[..])]);
        Policy { version, judge }
    }

    /// The digest of the content of the rules, not of when they were read: an approval is for one version, also through a restart.
    pub fn version(&self) -> Digest {
        self.version
    }

    /// The digest of the operator's rules, if there are any.
    pub(crate) fn rules(&self) -> Option<Digest> {
        self.judge.as_ref().map(|judge| judge.version())
    }

    /// The decision before anything is known of a call, for lists and searches. A skill is listed if it could be called.
    pub fn allows(&self, by: &Principal, action: Action, skill: &Skill, now: Time) -> bool {
        let asking = Asking { wire: None, trust: None, now };
        let listed = action != Action::List || self.could(by, Action::Call, skill, asking);
        listed && self.could(by, action, skill, asking)
    }

    /// The whole call. The decision of the link that refuses; of all links together when none does.
    pub(crate) fn judge(&self, by: &Principal, call: &Call, skill: &Skill, args: Option<&Json>, now: Time) -> Decision {
        let (action, trust) = (wish(call), Some(call.trust()));
        let mut protocols = call.origin.protocols();
        let by_way_of = |wire| {
            let asking = Asking { wire, trust, now };
            Self::every(by, |link| self.of_link(link, action, skill, asking, args))
        };
        let mut decision = by_way_of(protocols.next());
        // Whatever led to it must have been let by: a call is not more than the one it was made for.
        for wire in protocols {
            if !decision.allows() {
                break;
            }
            decision = by_way_of(Some(wire));
        }
        decision
    }

    fn could(&self, by: &Principal, action: Action, skill: &Skill, asking: Asking<'_>) -> bool {
        by.links().iter().all(|link| match (&link.subject, &self.judge) {
            (Subject::HubOwner, _) => true,
            (_, None) => scopes_allow(link, action, skill, asking.now),
            (_, Some(judge)) => {
                reaches(link, action, skill, asking.now)
                    && judge.could(&asking.of_link(link, action, Object::Skill(skill))) != Could::No
            }
        })
    }

    fn of_link(&self, link: &Link, action: Action, skill: &Skill, asking: Asking<'_>, args: Option<&Json>) -> Decision {
        match (&link.subject, &self.judge) {
            (Subject::HubOwner, _) => built_in(true, &OWNER),
            (_, None) => built_in(scopes_allow(link, action, skill, asking.now), &SCOPES),
            (_, Some(_)) if !reaches(link, action, skill, asking.now) => built_in(false, &SCOPES),
            (_, Some(judge)) => judge.decide(&asking.of_link(link, action, Object::Skill(skill)), args),
        }
    }

    /// Every link must be allowed; what the first one that is not says counts.
    fn every(by: &Principal, decide: impl Fn(&Link) -> Decision) -> Decision {
        let mut so_far: Option<Decision> = None;
        for link in by.links() {
            let decision = decide(link);
            if !decision.allows() {
                return decision;
            }
            so_far = Some(match so_far {
                None => decision,
                Some(before) => Decision { because: joined(before.because, &decision.because), ..decision },
            });
        }
        so_far.unwrap_or_else(|| Decision { effect: Effect::Allowed, because: [].into() })
    }

    /// May this principal approve calls of this skill? `None`: for a skill that is not registered any more, or for no skill. An agent never
    /// may, whatever rules permit it: only a person approves, also what an agent's call asks.
    pub(crate) fn approves(&self, by: &Principal, skill: Option<&Skill>, now: Time) -> bool {
        if by.links().iter().any(|link| matches!(link.subject, Subject::Agent(_))) {
            return false;
        }
        match (&self.judge, skill) {
            (None, _) => holds(by, APPROVE_SCOPE, now),
            (Some(_), None) => by.is_hub_owner(),
            (Some(_), Some(skill)) => {
                let asking = Asking { wire: None, trust: None, now };
                Self::every(by, |link| self.of_link(link, Action::Approve, skill, asking, None)).allows()
            }
        }
    }

    /// May they bring an agent of this name that others then find? The credential must say so, and the rules too. `None`: of a
    /// name that is not known yet, so rules are asked once it is.
    pub(crate) fn registers(&self, by: &Principal, peer: Option<&PeerId>, now: Time) -> bool {
        holds(by, REGISTER_SCOPE, now)
            && peer.is_none_or(|peer| self.register(by, peer, now).is_none_or(|it| it.allows()))
    }

    /// May this principal connect as the device of this name? It may use everything that `NAME/*` reaches, so it may as well offer it.
    pub(crate) fn enters(&self, by: &Principal, device: &PeerId, now: Time) -> bool {
        let named = by.links().iter().all(|link| link.subject == Subject::HubOwner || is_named(link, device, now));
        (named || holds(by, REGISTER_SCOPE, now)) && self.register(by, device, now).is_none_or(|it| it.allows())
    }

    /// Do the rules forbid a device that is authenticated by a configured key to connect? They need not permit it.
    pub(crate) fn bars(&self, by: &Principal, device: &PeerId, now: Time) -> bool {
        self.register(by, device, now).is_some_and(|decision| decision.effect == Effect::Forbidden)
    }

    /// The decision of the rules about registering a peer; `None` without rules.
    fn register(&self, by: &Principal, peer: &PeerId, now: Time) -> Option<Decision> {
        let judge = self.judge.as_ref()?;
        let asking = Asking { wire: None, trust: None, now };
        Some(Self::every(by, |link| match link.subject {
            Subject::HubOwner => built_in(true, &OWNER),
            _ if !in_force(link, now) => built_in(false, &EXPIRED),
            _ => judge.decide(&asking.of_link(link, Action::Register, Object::Peer(peer)), None),
        }))
    }

    /// Access to data with an owner: to one's own (`own`) without a rule, to another's by a rule, and to none against a rule.
    pub(crate) fn opens(&self, by: &Principal, action: Action, object: Object<'_>, own: bool, now: Time) -> bool {
        let Some(judge) = &self.judge else { return own };
        let asking = Asking { wire: None, trust: None, now };
        by.links().iter().all(|link| match link.subject {
            Subject::HubOwner => true,
            _ => match judge.decide(&asking.of_link(link, action, object), None).effect {
                Effect::Allowed => in_force(link, now),
                Effect::Silent => own,
                Effect::Forbidden => false,
            },
        })
    }

    /// The decision with its reasons.
    pub fn explain(
        &self,
        by: &Principal,
        action: Action,
        skill: &Skill,
        wire: Option<&str>,
        args: Option<&Json>,
        now: Time,
    ) -> Decision {
        let asking = Asking { wire, trust: Some(Trust::Caller), now };
        Self::every(by, |link| self.of_link(link, action, skill, asking, args))
    }
}

/// What a call is, to the rules.
fn wish(call: &Call) -> Action {
    match &call.ask {
        interlingua_model::Ask::Read { .. } => Action::Read,
        interlingua_model::Ask::Invoke { .. } | interlingua_model::Ask::Complete { .. } => Action::Call,
    }
}

/// What is the same for all links of a chain.
#[derive(Debug, Clone, Copy)]
struct Asking<'a> {
    wire: Option<&'a str>,
    trust: Option<Trust>,
    now: Time,
}

impl<'a> Asking<'a> {
    fn of_link(self, by: &'a Link, action: Action, on: Object<'a>) -> Asked<'a> {
        Asked { by, action, on, wire: self.wire, trust: self.trust, now: self.now }
    }
}

type Because = Arc<[Text]>;

/// Why the built-in rules decide: made once, since every call of every caller is decided by one of them.
static OWNER: LazyLock<Because> = LazyLock::new(|| ["owner".into()].into());
static SCOPES: LazyLock<Because> = LazyLock::new(|| ["scopes".into()].into());
static EXPIRED: LazyLock<Because> = LazyLock::new(|| ["expired".into()].into());

fn built_in(allowed: bool, why: &Because) -> Decision {
    let effect = if allowed { Effect::Allowed } else { Effect::Silent };
    Decision { effect, because: why.clone() }
}

/// What two links rest on; the same reason twice in a row is one.
fn joined(before: Because, then: &[Text]) -> Because {
    if *before == *then && then.len() == 1 {
        return before;
    }
    let mut both: Vec<Text> = before.iter().chain(then).cloned().collect();
    both.dedup();
    both.into()
}

/// Does every link of the chain hold this right?
fn holds(by: &Principal, right: &str, now: Time) -> bool {
    by.links().iter().all(|link| match link.subject {
        Subject::HubOwner => true,
        Subject::Anonymous => false,
        Subject::User(_) | Subject::Agent(_) | Subject::Device(_) | Subject::Hub(_) | Subject::Orchestrator(_) => {
            in_force(link, now) && link.scopes.iter().any(|scope| **scope == *right)
        }
    })
}

/// Does a scope name all of this peer? `*` and `*/*` name no peer: they belong to callers that may use everything.
fn is_named(link: &Link, peer: &PeerId, now: Time) -> bool {
    let names = |scope: &Text| match scope.split_once('/') {
        Some((pattern, "*")) => pattern.bytes().any(|byte| byte != b'*') && glob::matches(pattern, peer.as_str()),
        Some(_) | None => false,
    };
    in_force(link, now) && link.scopes.iter().any(names)
}

fn in_force(link: &Link, now: Time) -> bool {
    link.until.is_none_or(|until| now < until)
}

/// The reach of a credential under operator rules.
fn reaches(link: &Link, action: Action, skill: &Skill, now: Time) -> bool {
    let within = match action {
        Action::List | Action::Call | Action::Read => {
            skill.public
                || link.subject == Subject::Anonymous
                || link.scopes.iter().any(|scope| matches(scope, &skill.id))
        }
        Action::Approve | Action::Register | Action::Write => true,
    };
    in_force(link, now) && within
}

fn scopes_allow(link: &Link, action: Action, skill: &Skill, now: Time) -> bool {
    let shown = skill.public && action != Action::Approve;
    match link.subject {
        Subject::HubOwner => true,
        Subject::Anonymous => shown,
        Subject::User(_) | Subject::Agent(_) | Subject::Device(_) | Subject::Hub(_) | Subject::Orchestrator(_) => {
            let scoped = match action {
                Action::List | Action::Call | Action::Read | Action::Write => {
                    link.scopes.iter().any(|scope| matches(scope, &skill.id))
                }
                Action::Approve => link.scopes.iter().any(|scope| &**scope == APPROVE_SCOPE),
                Action::Register => link.scopes.iter().any(|scope| &**scope == REGISTER_SCOPE),
            };
            in_force(link, now) && (scoped || shown)
        }
    }
}

/// Does the pattern `peer/skill` match? Either side may hold `*` for any run of characters; a bare `*` is everything.
pub fn matches(pattern: &str, skill: &SkillId) -> bool {
    match pattern.split_once('/') {
        Some((peer, name)) => glob::matches(peer, skill.peer.as_str()) && glob::matches(name, skill.skill.as_str()),
        None => pattern == "*",
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use interlingua_model::{Ask, CardFrom, Effects, Input, Origin, Proof, Schema, SkillKind, Target, Via};

    use super::*;

    fn skill() -> Skill {
        let input = Schema(serde_json::json!({"type": "object"}).into());
        Skill::new(
            SkillId::new("local", "read_file"),
            SkillKind::Tool,
            "Reads.",
            input,
            Effects::reads_only(CardFrom::Configuration),
        )
    }

    fn link(subject: Subject, scopes: &[&str]) -> Link {
        Link {
            subject,
            proof: Proof::InProcess,
            scopes: scopes.iter().map(|scope| (*scope).into()).collect(),
            until: None,
        }
    }

    #[test]
    fn the_built_in_rules_say_which_of_them_decided_once_for_links_that_agree() {
        let (skill, policy) = (skill(), Policy::default());
        let reasons = |by: &Principal| {
            let decision = policy.explain(by, Action::Call, &skill, None, None, Time(0));
            (decision.effect, decision.because.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
        };
        let user = Principal::new(link(Subject::User("ann".into()), &["local/*"]));
        assert_eq!(reasons(&user), (Effect::Allowed, "scopes".to_owned()));
        let agent = |scope| link(Subject::Agent("bob".into()), &[scope]);
        assert_eq!(reasons(&user.through(agent("*"))), (Effect::Allowed, "scopes".to_owned()), "both by their scopes");
        assert_eq!(reasons(&user.through(agent("web/*"))), (Effect::Silent, "scopes".to_owned()));
        let owner = Principal::new(link(Subject::HubOwner, &[]));
        assert_eq!(reasons(&owner), (Effect::Allowed, "owner".to_owned()));
        assert_eq!(reasons(&owner.through(agent("*"))), (Effect::Allowed, "owner scopes".to_owned()));
        assert!(policy.approves(&owner, Some(&skill), Time(0)));
        assert!(!policy.approves(&owner.through(agent(APPROVE_SCOPE)), Some(&skill), Time(0)), "a yes is a human's");
    }

    /// Allows everything, and counts.
    #[derive(Debug, Default)]
    struct Counting(AtomicUsize);

    impl Judge for Counting {
        fn version(&self) -> Digest {
            Digest::of(b"")
        }

        fn could(&self, _: &Asked<'_>) -> Could {
            Could::Yes
        }

        fn decide(&self, _: &Asked<'_>, _: Option<&Json>) -> Decision {
            self.0.fetch_add(1, Ordering::Relaxed);
            Decision { effect: Effect::Allowed, because: [].into() }
        }
    }

    #[test]
    fn what_others_say_of_the_way_costs_a_bounded_number_of_decisions() {
        let (skill, counting) = (skill(), Arc::new(Counting::default()));
        let policy = Policy::new(Digest::of(b""), Some(counting.clone()));
        let user = Principal::new(link(Subject::User("ann".into()), &["*"]));
        let hubs = usize::from(Via::LIMIT) - 1;
        let by = (0..hubs).fold(user, |by, hub| by.through(link(Subject::Hub(format!("h{hub}").into()), &["*"])));
        let target = Target::Skill(skill.id.clone(), None);
        let mut call = Call::new("m", Origin::program(), Ask::Invoke { target, input: Input::text("") });
        call.told(&(0..15).map(|number| format!("p{number},")).collect::<String>());
        assert!(!call.origin.is_overlong());
        assert!(policy.judge(&by, &call, &skill, None, Time(0)).allows());
        assert_eq!(counting.0.load(Ordering::Relaxed), 16 * (1 + hubs), "the most that is judged");
        call.told("one-more");
        assert!(call.origin.is_overlong(), "which is refused before anything is decided");
    }

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
