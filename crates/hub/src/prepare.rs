//! Preparation of a call, the phases between entry and dispatch: `resolve`, `validate`, `authorize`, `confirm`. They run when a call
//! arrives, and again after every answer to a question of the hub's own, because policy and definitions may have changed meanwhile.

use std::borrow::Cow;
use std::sync::Arc;

use interlingua_machines::agent::permit;
use interlingua_machines::task::{Asking, Task};
use interlingua_machines::words;
use interlingua_machines::words::say;
use interlingua_model::Consent;
use interlingua_model::peer::Following;
use interlingua_model::{
    Addressee, Ask, Basis, Call, Chosen, Completes, Confirm, Digest, Fault, FaultKind, Feature, Health, Input, Json,
    KindSet, Link, Missing, Noun, Part, PeerId, Principal, Proof, QuestionKind, Reason, RouteClass, Skill, SkillId,
    SkillKind, Subject, Target, TaskId, Text, Uri, Version, Via, Why,
};

use super::asking::is_ask;
use super::audit::AuditLine;
use super::limits::Asked;
use super::policy::{APPROVE_SCOPE, Action, REGISTER_SCOPE};
use super::prepared::{Candidate, Prepared, Ready, leaves_words, no_such_skill, ready};
use super::registry::Catalogue;
use super::{FrontDoor, Hub, Unknown};
use interlingua_telemetry::meters::Phase;

impl Hub {
    /// Runs the phases. `granted`: the digest of an approved call.
    pub(super) async fn prepare(
        &self,
        by: &Principal,
        call: &Call,
        task: TaskId,
        granted: Option<Digest>,
    ) -> Result<Prepared, Fault> {
        if let Some(via) = &call.via {
            // This hub is on the way already, or the way is too long.
            Via::through(Some(via), &self.id)?;
            if via.hubs.iter().any(|hub| hub.as_str().len() > LONGEST_NAME) {
                return Err(Fault::caller(FaultKind::Malformed, "a hub on the way has too long a name"));
            }
        }
        if call.origin.is_overlong() {
            return Err(Fault::caller(FaultKind::Malformed, "the call went by more protocols than there are"));
        }
        let acting = &*acting(by, call);
        let mut laps = self.meters.laps();
        let resolved = self.resolve(acting, call).await;
        laps.done(Phase::Resolve);
        match resolved.map_err(|fault| fault.told_to(by))? {
            Prepared::Ready(ready) => self.admit(by, call, task, ready, granted).await,
            ask @ Prepared::Ask(..) => Ok(ask),
        }
    }

    /// One of the skills of the capability that was asked for, through the same phases. `granted`: as for [`Hub::prepare`], given
    /// for this one.
    pub(super) async fn prepare_candidate(
        &self,
        by: &Principal,
        call: &Call,
        task: TaskId,
        (candidate, why): (&Candidate, Why),
        granted: Option<Digest>,
    ) -> Result<Prepared, Fault> {
        let args = call.input().and_then(|input| input.args.clone());
        let found = self.by_name(&acting(by, call), &self.registry.catalogue(), &candidate.skill, None, args);
        let mut ready = found.map_err(|fault| fault.told_to(by))?;
        ready.route.why = why;
        ready.others.clone_from(&candidate.others);
        self.admit(by, call, task, ready, granted).await
    }

    /// The phases after `resolve`.
    async fn admit(
        &self,
        by: &Principal,
        call: &Call,
        task: TaskId,
        mut ready: Ready,
        granted: Option<Digest>,
    ) -> Result<Prepared, Fault> {
        let acting = &*acting(by, call);
        let mut laps = self.meters.laps();
        if call.limits.only_read {
            hold_to_reading(&ready)?;
        }
        let valid = self.validate(call, &mut ready);
        laps.done(Phase::Validate);
        if let Some(asking) = valid? {
            return Ok(Prepared::Ask(asking, None));
        }
        self.authorize(acting, call, task, &ready).map_err(|fault| fault.told_to(by))?;
        if !call.caller.tools.is_empty() {
            ready.peer.check_tools(acting, &call.caller.tools)?;
        }
        // Whoever says to have passed hubs is counted like before.
        let asked = Asked { by, call, skill: &ready.skill, arguments: ready.args.as_ref() };
        ready.held = self.limits.admit(asked, granted.is_none())?;
        laps.done(Phase::Authorize);
        if !self.hooks.load().0.is_empty() {
            let before = ready.args.clone();
            self.before_dispatch(acting, call, task, &mut ready).await?;
            // Rules may speak of arguments: what a hook made of them is judged like what came.
            if ready.args != before {
                self.authorize(acting, call, task, &ready).map_err(|fault| fault.told_to(by))?;
            }
        }
        let confirmed = self.confirm(acting, call, task, &ready, granted);
        laps.done(Phase::Confirm);
        Ok(match confirmed? {
            Some(asking) => {
                let candidate = Candidate { skill: ready.skill.id.clone(), others: ready.others };
                Prepared::Ask(asking, (!candidate.others.is_empty()).then_some(candidate))
            }
            None => Prepared::Ready(ready),
        })
    }

    /// Which skill of which peer. What this principal may not call is not there.
    async fn resolve(&self, by: &Principal, call: &Call) -> Result<Prepared, Fault> {
        let catalogue = self.registry.catalogue();
        let (target, input) = match &call.ask {
            Ask::Invoke { target, input } => (target, input),
            Ask::Read { peer, uri } => return self.by_resource(by, &catalogue, peer, uri).map(Prepared::Ready),
            Ask::Complete { of, .. } => return self.by_completion(by, &catalogue, of).map(Prepared::Ready),
        };
        match target {
            Target::Skill(id, _) if id.is_call_skill() => self.by_indirection(by, &catalogue, input),
            Target::Skill(id, version) => {
                self.by_name(by, &catalogue, id, version.as_ref(), input.args.clone()).map(Prepared::Ready)
            }
            Target::Capability(name) => {
                self.by_capability(by, &catalogue, name, input.args.as_ref()).map(Prepared::Ready)
            }
            Target::Peer(peer) => self.by_peer(by, call, &catalogue, peer).await,
            Target::Words => match self.front_door(by, &catalogue) {
                Some(skill) => {
                    let ready = ready(&catalogue, &skill, Why::FrontDoor, input.args.clone());
                    Ok(Prepared::Ready(ready.ok_or_else(|| no_such_skill(&skill.id))?))
                }
                None => self.by_words(by, call, &catalogue, None).await,
            },
        }
    }

    fn by_name(
        &self,
        by: &Principal,
        catalogue: &Catalogue,
        id: &SkillId,
        version: Option<&Version>,
        args: Option<Json>,
    ) -> Result<Ready, Fault> {
        let skill = catalogue.skill(id, version).filter(|skill| self.may_call(by, skill));
        skill.and_then(|skill| ready(catalogue, skill, Why::Named, args)).ok_or_else(|| self.absent(by, catalogue, id))
    }

    /// A resource of a peer. One that may not be read is not there.
    fn by_resource(&self, by: &Principal, catalogue: &Catalogue, peer: &PeerId, uri: &str) -> Result<Ready, Fault> {
        let reader = catalogue.peers.get(peer).and_then(|registered| registered.reader(uri));
        let found = reader.filter(|reader| self.policy.load().allows(by, Action::Read, reader, self.now()));
        found.and_then(|reader| ready(catalogue, reader, Why::Named, None)).ok_or_else(|| no_such_resource(uri))
    }

    /// May this caller read the resource, and so follow its changes?
    pub fn may_follow(&self, by: &Principal, peer: &PeerId, uri: &Uri) -> bool {
        self.by_resource(by, &self.registry.catalogue(), peer, uri).is_ok()
    }

    /// Subscribes to a resource that this principal may read, for as long as the returned value is held; `None` if the peer has no
    /// subscriptions.
    pub fn follow_resource(&self, by: &Principal, peer: &PeerId, uri: &Uri) -> Result<Option<Following>, Fault> {
        let ready = self.by_resource(by, &self.registry.catalogue(), peer, uri)?;
        Ok(ready.peer.follow(uri))
    }

    /// A caller that may call a skill or read a resource may request completions of its arguments.
    fn by_completion(&self, by: &Principal, catalogue: &Catalogue, of: &Completes) -> Result<Ready, Fault> {
        let ready = match of {
            Completes::Skill(id) => self.by_name(by, catalogue, id, None, None)?,
            Completes::Template(peer, uri) => self.by_resource(by, catalogue, peer, uri)?,
        };
        if !ready.peer.completes() {
            let text = format!("peer '{}' completes no arguments", ready.skill.id.peer);
            return Err(Fault::caller(FaultKind::Unsupported(Feature::Operation), text));
        }
        Ok(ready)
    }

    /// `hub/call_skill` names another skill in its arguments: from here on the call is one of that skill, with its schema, its
    /// effects and its policy.
    fn by_indirection(&self, by: &Principal, catalogue: &Catalogue, input: &Input) -> Result<Prepared, Fault> {
        let named = input.args.as_ref().and_then(|args| args.get("skill")?.as_str()).unwrap_or_default();
        let bad = || {
            Fault::caller(FaultKind::InvalidInput, "'skill' must be 'peer/skill'").field("/skill", "not a skill's id")
        };
        let id: SkillId = named.parse().map_err(|_| bad())?;
        if id.is_call_skill() || is_ask(&id) {
            return Err(bad());
        }
        let args = input.args.as_ref().and_then(|args| args.get("arguments")).cloned().map(Json::from_tree);
        self.by_name(by, catalogue, &id, None, args).map(Prepared::Ready)
    }

    pub(super) fn may_call(&self, by: &Principal, skill: &Skill) -> bool {
        self.policy.load().allows(by, Action::Call, skill, self.now())
    }

    /// The configured front door, if there is one and this principal may use it.
    fn front_door(&self, by: &Principal, catalogue: &Catalogue) -> Option<Arc<Skill>> {
        let settings = self.settings.load();
        let skill = match settings.front_door.as_ref()? {
            FrontDoor::Skill(id) => catalogue.skill(id, None).cloned(),
            FrontDoor::Peer(peer) => agent_of(catalogue, peer),
        };
        skill.filter(|skill| self.may_call(by, skill))
    }

    /// Among healthy peers whose skill declares it, or has this name: by class, then health.
    fn by_capability(
        &self,
        by: &Principal,
        catalogue: &Catalogue,
        name: &Text,
        args: Option<&Json>,
    ) -> Result<Ready, Fault> {
        let offers = |skill: &&Arc<Skill>| skill.capability.as_ref() == Some(name) || skill.id.skill.0 == *name;
        let mut found: Vec<(RouteClass, u8, Ready)> = (catalogue.newest())
            .filter(offers)
            .filter(|skill| self.may_call(by, skill))
            .filter_map(|skill| {
                let card = &catalogue.peers.get(&skill.id.peer)?.card;
                let health = match card.health {
                    Health::Up => 0,
                    Health::Slow => 1,
                    Health::Starting => 2,
                    Health::Down { .. } => return None,
                };
                Some((card.class, health, ready(catalogue, skill, Why::BestClass, args.cloned())?))
            })
            .collect();
        found.sort_by_key(|(class, health, _)| std::cmp::Reverse((*class, *health)));
        let only = found.len() == 1;
        let nothing = || Fault::caller(FaultKind::NotFound(Noun::Skill), format!("no peer offers '{name}'"));
        let (_, _, mut best) = found.pop().ok_or_else(nothing)?;
        if only {
            best.route.why = Why::OnlyOne;
        }
        best.others = found.into_iter().map(|(_, _, other)| other.skill.id.clone()).collect();
        Ok(best)
    }

    /// One peer, in words: its agent, or its tools by their phrases.
    async fn by_peer(
        &self,
        by: &Principal,
        call: &Call,
        catalogue: &Catalogue,
        peer: &PeerId,
    ) -> Result<Prepared, Fault> {
        let hidden = || Fault::caller(FaultKind::NotFound(Noun::Skill), format!("no peer '{peer}'"));
        let visible = catalogue.newest().any(|skill| skill.id.peer == *peer && self.may_call(by, skill));
        if !visible {
            return Err(hidden());
        }
        let agent = agent_of(catalogue, peer).filter(|skill| self.may_call(by, skill));
        let words_are_ours = call.input().is_some_and(|input| leaves_words(catalogue, peer, input));
        match agent.filter(|_| !words_are_ours) {
            Some(skill) => {
                let args = call.input().and_then(|input| input.args.clone());
                ready(catalogue, &skill, Why::Named, args).map(Prepared::Ready).ok_or_else(hidden)
            }
            None => self.by_words(by, call, catalogue, Some(peer)).await,
        }
    }

    /// Input against the skill's schema. A required argument that is absent is asked for where the caller's manners say so.
    fn validate(&self, call: &Call, ready: &mut Ready) -> Result<Option<Asking>, Fault> {
        let agent = ready.skill.kind == SkillKind::Agent && ready.args.is_none();
        if agent || call.input().is_none() {
            return Ok(None);
        }
        let args = ready.args.get_or_insert_with(Json::empty_object);
        if call.caller.missing == Missing::Question && call.caller.can_answer.has(KindSet::INPUT) {
            let missing = words::missing(&ready.skill.input, args);
            if !missing.is_empty() {
                return Ok(Some(self.ask_missing(&ready.skill, &missing, call)));
            }
        }
        self.schemas.check(ready.skill.input.0.digest(), &ready.skill.input, args)?;
        Ok(None)
    }

    /// Policy over the whole call, and the rules of the agents that led to it, written down whichever way it goes.
    pub(super) fn authorize(&self, by: &Principal, call: &Call, task: TaskId, ready: &Ready) -> Result<(), Fault> {
        let (policy, now) = (self.policy.load(), self.now());
        let rules = &self.settings.load().audit_arguments;
        let line = AuditLine::new("authorize", by.owner()).on(&ready.skill.id).task(task).call(call);
        let line = line.arguments(rules, &ready.skill, ready.args.as_ref());
        if !policy.judge(by, call, &ready.skill, ready.args.as_ref(), now).allows() {
            self.audit.write(line.refused(FaultKind::Denied));
            return Err(match &call.ask {
                Ask::Read { uri, .. } => no_such_resource(uri),
                Ask::Invoke { .. } | Ask::Complete { .. } => no_such_skill(&ready.skill.id),
            });
        }
        if led_to(call, ready) == Consent::Deny {
            self.audit.write(line.refused(FaultKind::Denied));
            let text = format!("an agent that led to this call may not do what '{}' does", ready.skill.id);
            return Err(Fault::caller(FaultKind::Denied, text));
        }
        self.audit.write(line);
        Ok(())
    }

    /// Asks for approval if effects, the route or the caller require it.
    fn confirm(
        &self,
        by: &Principal,
        call: &Call,
        task: TaskId,
        ready: &Ready,
        granted: Option<Digest>,
    ) -> Result<Option<Asking>, Fault> {
        let why = reasons_to_ask(call, ready, self.settings.load().unknown);
        if why.is_empty() {
            return Ok(None);
        }
        let parts: &[Part] = call.input().map(|input| &*input.parts).unwrap_or_default();
        let digest = self.call_digest(by, ready, parts)?;
        match granted {
            Some(yes) if yes == digest => return Ok(None),
            Some(_) => {
                let text =
                    "the call is not the one that was approved: its arguments, its definition or the policy changed";
                return Err(Fault::caller(FaultKind::Denied, text));
            }
            None => {}
        }
        let approves = self.policy.load().approves(by, Some(&ready.skill), self.now());
        let to = approval_of(approves, call);
        let language = super::words::language_of(call);
        let mut text = say::confirm(language, &by.owner(), &ready.skill.id, ready.args.as_ref(), parts);
        if to == Addressee::Approvers {
            text.push(' ');
            text.push_str(&self.where_to_approve(language, task, by, &ready.skill));
        }
        let basis = Basis { at: self.now(), why, policy: self.policy.load().version(), definition: ready.skill.digest };
        let confirm = Confirm {
            call: digest,
            skill: ready.skill.id.clone(),
            args: ready.args.clone(),
            parts: parts.into(),
            effects: ready.skill.effects,
            basis: Some(Box::new(basis)),
            relays: None,
        };
        Ok(Some(Asking {
            to,
            kind: QuestionKind::Confirm(confirm.into()),
            text: text.into(),
            expires: self.question_expires(),
        }))
    }

    /// The digest that an approval covers: exactly this call, by this owner, under this policy.
    fn call_digest(&self, by: &Principal, ready: &Ready, parts: &[Part]) -> Result<Digest, Fault> {
        let owner = by.owner().to_string();
        let args = ready.args.as_ref().map(|args| args.digest().0).unwrap_or_default();
        let parts = serde_json::to_vec(parts).map_err(Fault::internal)?;
        let policy = self.policy.load().version().0;
        let skill = ready.skill.id.to_string();
        Ok(Digest::of_fields([
            owner.as_bytes(),
            skill.as_bytes(),
            ready.skill.version.as_bytes(),
            &ready.skill.digest.0,
            &args,
            &parts,
            &policy,
        ]))
    }

    /// The route a task took before a restart, or before it asked.
    pub(super) fn ready_again(&self, task: &Task) -> Result<Ready, Fault> {
        let catalogue = self.registry.catalogue();
        let gone = || Fault::hub(FaultKind::Unreachable, "the skill this task was sent to is not here any more");
        let route = task.route.as_ref().ok_or_else(gone)?;
        let skill = match &task.call.ask {
            Ask::Read { peer, uri } | Ask::Complete { of: Completes::Template(peer, uri), .. } => {
                catalogue.peers.get(peer).and_then(|registered| registered.reader(uri))
            }
            Ask::Invoke { .. } | Ask::Complete { .. } => catalogue.skill(&route.skill, route.version.as_ref()),
        };
        let skill = skill.ok_or_else(gone)?;
        let args = task.sent.as_ref().and_then(|sent| match sent.as_called {
            true => task.call.input().and_then(|input| input.args.clone()),
            false => sent.args.clone(),
        });
        let mut ready = ready(&catalogue, skill, route.why, args).ok_or_else(gone)?;
        ready.route = route.clone();
        Ok(ready)
    }

    fn ask_missing(&self, skill: &Skill, missing: &[Text], call: &Call) -> Asking {
        let (text, form) = super::words::missing_question(&skill.input, missing, call);
        Asking {
            to: Addressee::Caller,
            kind: QuestionKind::Input { form, choices: Vec::new() },
            text,
            expires: self.question_expires(),
        }
    }
}

/// Who is asked for approval: the caller, if it may approve and its protocol can carry the question, else the approvers.
pub(super) fn approval_of(caller_approves: bool, call: &Call) -> Addressee {
    match caller_approves && call.caller.can_answer.has(KindSet::CONFIRM) {
        true => Addressee::Caller,
        false => Addressee::Approvers,
    }
}

/// Of a hub in bytes. Names are kept in what is remembered of decisions.
const LONGEST_NAME: usize = 256;

/// The principal whose rights a call has.
pub(super) fn acting<'a>(by: &'a Principal, call: &Call) -> Cow<'a, Principal> {
    match &call.via {
        None => Cow::Borrowed(by),
        Some(via) => Cow::Owned(passed_on(by, via)),
    }
}

/// The chain of the caller and the hubs that relayed the call. The hubs are their own claim; it is accepted because it can only remove
/// rights: without rules about it a hub may do what the link before it in the chain may do.
fn passed_on(by: &Principal, via: &Via) -> Principal {
    let last = by.links().last();
    let (scopes, until) = match last {
        // Neither has scopes of its own; what the first link may bounds the whole chain.
        Some(link) if matches!(link.subject, Subject::HubOwner | Subject::Anonymous) => {
            (["*", APPROVE_SCOPE, REGISTER_SCOPE].map(Text::from).to_vec(), link.until)
        }
        Some(link) => (link.scopes.clone(), link.until),
        None => (Vec::new(), None),
    };
    via.hubs.iter().fold(by.clone(), |by, hub| {
        by.through(Link { subject: Subject::Hub(hub.clone()), proof: Proof::None, scopes: scopes.clone(), until })
    })
}

/// What the agents that led to a call let it do, whatever it is wrapped in.
fn led_to(call: &Call, ready: &Ready) -> Consent {
    let rules = call.origin.consents().filter(|_| call.input().is_some());
    rules.map_or(Consent::Allow, |rules| permit(ready.skill.effects, rules, call.trust()))
}

/// Reasons for approval: effects that destroy or spend, a caller that requires it, an agent's rules, any write that plain words led to, and
/// undeclared effects if `unknown` says so.
fn reasons_to_ask(call: &Call, ready: &Ready, unknown: Unknown) -> Vec<Reason> {
    if call.input().is_none() {
        return Vec::new();
    }
    let effects = ready.skill.effects;
    let by_words = matches!(ready.route.why, Why::Phrase | Why::Ranked);
    let unknown = effects.unknown && asks_for_unknown(call.chosen_by(ready.route.why), unknown);
    let reasons = [
        (Reason::CallerAsked, call.limits.confirm),
        (Reason::AgentRule, led_to(call, ready) != Consent::Allow),
        (Reason::Destroys, effects.destroys),
        (Reason::Spends, effects.spends),
        (Reason::PlainWords, by_words && effects.change()),
        (Reason::UnknownEffects, unknown),
    ];
    reasons.into_iter().filter_map(|(reason, holds)| holds.then_some(reason)).collect()
}

/// A skill that a client calls by name was agreed to by its user there; one that words, a plan or an argument chose was seen by nobody yet.
/// The rules of an agent of this hub have decided about its own choice.
fn asks_for_unknown(chosen: Chosen, unknown: Unknown) -> bool {
    match (unknown, chosen) {
        (Unknown::Allow, _) | (_, Chosen::ByModel) | (Unknown::ByModel, Chosen::ByName) => false,
        (Unknown::Ask, Chosen::ByName)
        | (Unknown::Ask | Unknown::ByModel, Chosen::ByWords | Chosen::ByPlan | Chosen::ByArgument) => true,
    }
}

/// The wire of this call changes nothing: only what is known to read is run for it.
fn hold_to_reading(ready: &Ready) -> Result<(), Fault> {
    if ready.skill.effects.only_read() {
        return Ok(());
    }
    let text = format!("'{}' is not known to only read: ask for it by POST", ready.skill.id);
    Err(Fault::caller(FaultKind::Unsupported(Feature::Operation), text))
}

/// The first agent of a peer.
fn agent_of(catalogue: &Catalogue, peer: &PeerId) -> Option<Arc<Skill>> {
    let agents = catalogue.newest().filter(|skill| skill.id.peer == *peer && skill.kind == SkillKind::Agent);
    agents.min_by_key(|skill| skill.id.skill.as_str() != "chat").cloned()
}

fn no_such_resource(uri: &str) -> Fault {
    Fault::caller(FaultKind::NotFound(Noun::Resource), format!("no resource '{uri}'"))
}
