//! A driven site as a peer: each action is a skill, each step is reported as progress.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::definition::bind::Plan;
use crate::definition::proposal::{Level as Repaired, Mended, propose};
use crate::definition::session::ARGUMENT;
use crate::definition::{Numbers, Site, Trouble, skills};
use interlingua_model::json::Tree;
use interlingua_model::peer::{Calling, Dispatch, Peer, Reply};
use interlingua_model::{
    Blob, Body, Call, Carried, Digest, Fault, FaultKind, Feature, Finished, INLINE_LIMIT, Input, Json, Level, Loss,
    LossKind, Outcome, Output, Owner, Part, Party, PeerId, Principal, Provenance, Skill, Text, Trust, Usage,
};
use serde_json::Map;
use tokio::sync::{OnceCell, mpsc, oneshot};

use super::fingerprints::Memory;
use super::host::BrowserHost;
use super::lease::{Guest, Lease};
use super::play::{Beside, Played, Player, Stopped};
use super::pool::Browser;
use super::proxy::{Lookup, Proxy, Rules, System};
use super::questions::{Asking, CallerQuestions, WAITING};
use super::sessions::Key;
use super::watch::Use;
use interlingua_process::exchange::{Running, WAITING_EVENTS};

/// Results kept for actions that allow it.
const MAX_CACHED: usize = 256;
/// And bytes of them, for each site.
const MAX_CACHED_BYTES: usize = 16 * 1024 * 1024;

/// One site behind one browser.
pub struct SitePeer {
    id: PeerId,
    site: Site,
    browser: Arc<Browser>,
    proxy: OnceCell<Proxy>,
    lookup: Arc<dyn Lookup>,
    keeper: Arc<dyn BrowserHost>,
    memory: Memory,
    cached: Mutex<HashMap<Digest, (Instant, Duration, Output)>>,
}

impl std::fmt::Debug for SitePeer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SitePeer").field("id", &self.id).field("site", &self.site.id).finish_non_exhaustive()
    }
}

impl SitePeer {
    pub fn new(id: PeerId, site: Site, browser: Arc<Browser>, keeper: Arc<dyn BrowserHost>) -> SitePeer {
        let memory = Memory::new(id.clone(), &site, Arc::clone(&keeper));
        let (proxy, lookup) = (OnceCell::new(), System::lookup());
        SitePeer { id, site, browser, proxy, lookup, keeper, memory, cached: Mutex::default() }
    }

    /// The same, with addresses from elsewhere.
    pub fn looking_up(self, lookup: Arc<dyn Lookup>) -> SitePeer {
        SitePeer { lookup, ..self }
    }

    pub fn site(&self) -> &Site {
        &self.site
    }

    pub fn skills(&self) -> Vec<Skill> {
        skills(&self.site, &self.id)
    }

    fn begin(self: Arc<Self>, dispatch: Dispatch) -> Result<Reply, Fault> {
        let unsupported = || {
            Fault::hub(
                FaultKind::Unsupported(Feature::Operation),
                "an action of a site can be called, and nothing else",
            )
        };
        let args = dispatch.call.input().ok_or_else(unsupported)?.args.clone();
        let action = dispatch.skill.id.skill.as_str();
        let bound = self.site.bind(action, args.as_ref()).and_then(|plan| self.known_caller(plan, &dispatch.by));
        let plan = bound.map_err(|trouble| trouble.fault(&self.id, false))?;
        let owner = dispatch.by.owner();
        let key = self.key(&plan, args.as_ref());
        if let Some(known) = key.and_then(|key| self.known(&key)) {
            return Ok(Reply::Done(Box::new(Finished::completed(known)), None));
        }
        let (events, heard) = mpsc::channel(WAITING_EVENTS);
        let (cancel, cancelled) = oneshot::channel();
        let (answer, answers) = mpsc::channel(1);
        let asking = Asking::of(&dispatch, &self.hidden(&plan.action), &*self.keeper, answers);
        let voice = CallerQuestions {
            events,
            key: dispatch.key,
            of: plan.steps.len(),
            id: self.id.clone(),
            asking: Some(asking),
        };
        let work = Box::pin(async move {
            tokio::select! {
                finished = self.run(plan, voice, key, owner) => finished,
                // The page is dropped, and its context with it.
                Ok(why) = cancelled => Carried::whole(Finished::cancelled(Party::Caller, why)),
            }
        });
        Ok(Reply::Live(Box::new(Running::new(work, heard, cancel).answering(answer))))
    }

    /// Strangers are told apart by nothing, so none of them has a session; one that a definition takes for granted they do
    /// without.
    fn known_caller(&self, mut plan: Plan, by: &Principal) -> Result<Plan, Trouble> {
        if by.is_anonymous() && plan.session.is_some() {
            if plan.session != self.site.sessions.as_ref().and_then(|sessions| sessions.usual.clone()) {
                let problem = "is for callers who are known".to_owned();
                return Err(Trouble::InvalidParameter { name: ARGUMENT.into(), problem });
            }
            plan.session = None;
        }
        Ok(plan)
    }

    /// Parameters that nobody is shown.
    fn hidden(&self, action: &str) -> Vec<Text> {
        let parameters = self.site.actions.get(action).map(|action| action.parameters.as_slice()).unwrap_or_default();
        parameters.iter().filter(|one| one.secret).map(|one| one.name.clone()).collect()
    }

    /// One action from its arguments to its end, heard by nobody.
    #[cfg(test)]
    pub(super) async fn try_out(&self, action: &str, args: Tree) -> Result<Finished, Trouble> {
        self.try_out_by("somebody", action, args).await
    }

    /// The same for somebody of this name.
    #[cfg(test)]
    pub(super) async fn try_out_by(&self, who: &str, action: &str, args: Tree) -> Result<Finished, Trouble> {
        let args = Json::from_tree(args);
        let plan = self.site.bind(action, Some(&args))?;
        let (events, mut heard) = mpsc::channel(WAITING_EVENTS);
        let voice =
            CallerQuestions { events, key: "k".into(), of: plan.steps.len(), id: self.id.clone(), asking: None };
        let key = self.key(&plan, Some(&args));
        let deaf = async { while heard.recv().await.is_some() {} };
        let owner = Owner([interlingua_model::Subject::User(who.into())].into());
        Ok(tokio::join!(self.run(plan, voice, key, owner), deaf).0.value)
    }

    #[cfg(test)]
    pub(super) fn remembers(&self, action: &str, args: &Tree) -> bool {
        let args = Json::from_tree(args.clone());
        let plan = self.site.bind(action, Some(&args)).unwrap();
        self.key(&plan, Some(&args)).is_some_and(|key| self.known(&key).is_some())
    }

    async fn run(&self, plan: Plan, voice: CallerQuestions, key: Option<Digest>, owner: Owner) -> Carried<Finished> {
        for name in &plan.ignored {
            voice.note(Level::Warning, 0, &format!("the parameter {name} is used by no step")).await;
        }
        let limit = plan.limit + OVER + WAITING * u32::try_from(plan.steps.len()).unwrap_or(u32::MAX);
        let played = match tokio::time::timeout(limit, self.play(&plan, &voice, owner)).await {
            Ok(played) => played,
            Err(_) => Err(stopped(Trouble::Timeout { step: 0 })),
        };
        match played {
            Ok(played) => {
                self.remember(&plan, &played).await;
                for mended in &played.mended {
                    voice.note(Level::Warning, mended.step, &plan.shown(&warning(mended))).await;
                }
                let cut = played.cut;
                let output = self.output(&plan, played, true);
                if cut {
                    let lost = Loss::new("output.structured", LossKind::Dropped);
                    return Carried { value: Finished::completed(output), losses: vec![lost] };
                }
                self.keep(key, &plan.action, &output);
                Carried::whole(Finished::completed(output))
            }
            Err(stopped) => {
                let Stopped { trouble, committed, so_far } = *stopped;
                let mut fault = trouble.fault(&self.id, committed);
                fault.public = plan.shown(&fault.public).into();
                Carried::whole(Finished {
                    outcome: Outcome::Failed(fault),
                    output: self.output(&plan, so_far, false),
                    usage: Usage::default(),
                })
            }
        }
    }

    async fn play(&self, plan: &Plan, voice: &CallerQuestions, owner: Owner) -> Result<Played, Box<Stopped>> {
        let rules = || Rules::with(&self.site, Arc::clone(&self.lookup));
        let opened = self.proxy.get_or_try_init(|| Proxy::open(rules(), self.browser.background())).await;
        let proxy = opened.map_err(|error| stopped(Trouble::NoBrowser(error.to_string())))?;
        let (Some(name), Some(how)) = (&plan.session, &self.site.sessions) else {
            let mut lease = self.browser.lease(proxy.address()).await.map_err(stopped)?;
            return self.play_on(&mut lease, plan, proxy.rules(), voice, owner).await;
        };
        let key = Key { site: self.id.clone(), owner: owner.clone(), name: name.clone() };
        let guest = Guest { key: &key, how, origins: &self.site.origins, keeper: &*self.keeper };
        let mut lease = self.browser.lease_in(&guest, proxy.address()).await.map_err(stopped)?;
        if let Some(note) = lease.found().and_then(|found| found.note(name)) {
            voice.note(Level::Warning, plan.steps.len() + 1, &note).await;
        }
        let ending = lease.ending();
        let played = tokio::select! {
            played = self.play_on(&mut lease, plan, proxy.rules(), voice, owner) => played,
            () = ending => return Err(taken_back(plan)),
        };
        if played.as_ref().map_or_else(|stopped| !stopped.trouble.wears(), |_| true) {
            lease.settle();
            if how.persist {
                lease.keep(&guest).await;
            }
        }
        let session = lease.found().map(|found| (name.clone(), found.as_str()));
        match played {
            Ok(played) => Ok(Played { session, ..played }),
            Err(mut stopped) => {
                stopped.so_far.session = session;
                Err(stopped)
            }
        }
    }

    async fn play_on(
        &self,
        lease: &mut Lease,
        plan: &Plan,
        rules: &Rules,
        voice: &CallerQuestions,
        owner: Owner,
    ) -> Result<Played, Box<Stopped>> {
        let known = self.memory.of(&plan.action).await.map_err(stopped)?;
        let Some((page, seat)) = lease.parts() else { return Err(stopped(Trouble::BrowserCrashed { step: 0 })) };
        let used = Use {
            site: self.id.clone(),
            action: plan.action.clone(),
            owner,
            begun: self.keeper.now(),
            steps: plan.steps.len(),
        };
        let in_use = self.browser.watched.enter(page, used);
        let beside = Beside { known: &known, voice, keeper: &*self.keeper, seat, in_use: &in_use };
        Player::new(page, plan, rules, beside).play().await
    }

    /// What was only guessed, or has come to look otherwise, is not what the definition means.
    async fn remember(&self, plan: &Plan, played: &Played) {
        let mended = |step: usize| played.mended.iter().any(|mended| mended.step == step);
        let seen = played.seen.iter().filter(|(step, _)| !mended(*step)).cloned();
        self.memory.keep(&plan.action, seen).await;
    }

    /// `extracted_data` is what callers came for; the rest says how it was got. All of it is the page's word.
    fn output(&self, plan: &Plan, played: Played, whole: bool) -> Output {
        let mut structured = Map::new();
        let rows = played.rows.map_or(0, |rows| {
            let count = rows.len();
            structured.insert("extracted_data".into(), plan.shown_in(Tree::Array(rows), Numbers::OfPage));
            count
        });
        if !played.named.is_empty() {
            structured.insert("extracts".into(), plan.shown_in(Tree::Object(played.named), Numbers::OfPage));
        }
        let address = plan.shown(&played.address);
        if !address.is_empty() {
            structured.insert("source_url".into(), address.as_str().into());
        }
        if let Some(proposed) = propose(&self.site, &plan.action, &played.mended).filter(|_| whole) {
            structured.insert("proposed".into(), plan.shown_in(proposed, Numbers::OfHub));
        }
        if let Some((name, found)) = played.session {
            structured.insert("session".into(), serde_json::json!({"name": &*name, "found": found}));
        }
        structured.insert("trace".into(), plan.shown_in(Tree::Array(played.trace), Numbers::OfHub));
        let source = Some(Text::from(address)).filter(|address| !address.is_empty());
        let provenance = Provenance { by: Party::Peer(self.id.clone()), source, trust: Trust::World };
        let structured = Json::from_tree(Tree::Object(structured));
        let mut parts = Vec::new();
        if whole {
            let text = format!("{} of {}: {rows} rows", plan.action, self.site.name);
            parts.push(Part::text(text, Provenance::hub()));
            parts.push(Part::new(Body::Data(structured.clone()), provenance.clone()));
        }
        for (number, picture) in (1..).zip(played.pictures).filter(|(_, picture)| picture.len() <= INLINE_LIMIT) {
            let mut part = Part::new(Body::Blob(Blob::Inline(picture)), provenance.clone());
            part.media = Some("image/jpeg".into());
            part.name = Some(format!("page-{number}.jpg").into());
            parts.push(part);
        }
        Output { parts, structured: Some(structured), ..Output::default() }
    }

    /// Under which a result may be kept; `None` where the definition does not allow it, or it is one owner's alone.
    fn key(&self, plan: &Plan, args: Option<&Json>) -> Option<Digest> {
        if plan.session.is_some() {
            return None;
        }
        self.site.actions.get(&plan.action)?.cached?;
        let args = args.map_or(Digest([0; 32]), Json::digest);
        Some(Digest::of_fields([plan.action.as_bytes(), &args.0]))
    }

    fn known(&self, key: &Digest) -> Option<Output> {
        let cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        let (when, long, output) = cached.get(key)?;
        (when.elapsed() < *long).then(|| output.clone())
    }

    fn keep(&self, key: Option<Digest>, action: &Text, output: &Output) {
        let long = self.site.actions.get(action).and_then(|action| action.cached);
        let (Some(key), Some(long)) = (key, long) else { return };
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        cached.retain(|_, (when, long, _)| when.elapsed() < *long);
        let bytes: usize = cached.values().map(|(_, _, output)| weight(output)).sum();
        if cached.len() < MAX_CACHED && bytes + weight(output) <= MAX_CACHED_BYTES {
            cached.insert(key, (Instant::now(), long, output.clone()));
        }
    }
}

/// About how many bytes it takes to hold it.
fn weight(output: &Output) -> usize {
    let structured = output.structured.as_ref().map_or(0, |json| json.as_bytes().len());
    structured + output.parts.iter().map(Part::weight).sum::<usize>()
}

/// What is added to a sequence's own time for its page and its picture.
const OVER: Duration = Duration::from_secs(60);

fn warning(mended: &Mended) -> String {
    let Mended { step, from, to, level, score, .. } = mended;
    match level {
        Repaired::Drift => format!("step {step}: {from} finds another element than before (alike by {score:.2})"),
        level => format!("step {step}: {to} was used in place of {from} ({}, {score:.2})", level.as_str()),
    }
}

/// Its owner took the session back: a sequence that may have pressed what cannot be taken back has an end nobody knows.
fn taken_back(plan: &Plan) -> Box<Stopped> {
    let committed = plan.steps.iter().any(|step| step.commits);
    Box::new(Stopped { trouble: Trouble::SessionEnded, committed, so_far: Played::default() })
}

fn stopped(trouble: Trouble) -> Box<Stopped> {
    Box::new(Stopped { trouble, committed: false, so_far: Played::default() })
}

impl Peer for SitePeer {
    /// No protocol at all: what a person would see and press.
    fn speaks(&self) -> Option<&'static str> {
        Some("site")
    }

    fn call(self: Arc<Self>, dispatch: Dispatch) -> Calling {
        Box::pin(async move { self.begin(dispatch) })
    }

    /// An action takes arguments.
    fn loses(&self, call: &Call) -> Vec<Loss> {
        call.input().map(Input::lost_beside_arguments).unwrap_or_default()
    }
}
