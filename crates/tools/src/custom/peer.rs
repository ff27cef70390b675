//! Custom tools as a peer, and the reload of a changed directory.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;
use interlingua_model::peer::{Calling, Dispatch, Peer, Place, Placing, Reply};
use interlingua_model::{
    Call, Carried, Digest, Fault, FaultKind, Feature, Input, Loss, Noun, PeerId, Skill, SkillId, SkillName, Version,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use super::catalogue::{Catalogue, fingerprint};
use super::fields::ManifestProblem;
use super::manifest::CustomTool;
use super::run::{Voice, allowed, command, run};
use interlingua_process::child::group::Group;
use interlingua_process::child::redact::Redact;
use interlingua_process::exchange::{Running, WAITING_EVENTS};
use interlingua_process::waiting::InLine;

/// How many calls of one tool may wait for their turn.
const MAX_WAITING: usize = 256;

/// The tools of one directory. Calls that run keep the tool they began with when the directory changes.
#[derive(Debug)]
pub struct CustomTools {
    directory: PathBuf,
    peer: PeerId,
    shelf: RwLock<Arc<Shelf>>,
}

/// What a reload changed. A tool of which only another version came or went is `changed`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Change {
    pub appeared: Vec<SkillId>,
    pub changed: Vec<SkillId>,
    pub disappeared: Vec<SkillId>,
    pub problems: Vec<ManifestProblem>,
}

#[derive(Debug)]
struct Shelf {
    tools: HashMap<(SkillName, Version), Arc<Ready>>,
    problems: Vec<ManifestProblem>,
    fingerprint: Digest,
}

/// A tool and its turns.
#[derive(Debug)]
struct Ready {
    tool: CustomTool,
    turns: Arc<Semaphore>,
    waiting: AtomicUsize,
}

impl CustomTools {
    /// Loads what is there now.
    pub fn open(directory: impl Into<PathBuf>, peer: PeerId) -> CustomTools {
        let directory = directory.into();
        let shelf = RwLock::new(Arc::new(Shelf::load(&directory, &peer, &HashMap::new())));
        CustomTools { directory, peer, shelf }
    }

    /// Loads again when something in the directory changed. For a watcher, or a timer where nothing watches.
    pub fn reload(&self) -> Option<Change> {
        let before = self.shelf();
        if fingerprint(&self.directory) == before.fingerprint {
            return None;
        }
        let after = Arc::new(Shelf::load(&self.directory, &self.peer, &before.tools));
        *self.shelf.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&after);
        Some(Change::between(&before, &after))
    }

    /// By name and version, so that the order is always the same.
    pub fn skills(&self) -> Vec<Skill> {
        let mut skills: Vec<Skill> = self.shelf().tools.values().map(|ready| ready.tool.skill.clone()).collect();
        skills.sort_by(|a, b| (&a.id, &a.version).cmp(&(&b.id, &b.version)));
        skills
    }

    pub fn problems(&self) -> Vec<ManifestProblem> {
        self.shelf().problems.clone()
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn shelf(&self) -> Arc<Shelf> {
        Arc::clone(&self.shelf.read().unwrap_or_else(PoisonError::into_inner))
    }

    async fn begin(&self, dispatch: Dispatch) -> Result<Reply, Fault> {
        let key = (dispatch.skill.id.skill.clone(), dispatch.skill.version.clone());
        let ready = self.shelf().tools.get(&key).cloned();
        let ready = ready.ok_or_else(|| {
            Fault::hub(FaultKind::NotFound(Noun::Skill), format!("the tool {} is not there any more", key.0))
        })?;
        let input = arguments(&dispatch.call)?;
        let turn = match dispatch.place {
            Some(place) => place,
            None => Place::new(ready.turn().await?),
        };
        let environment = allowed(&ready.tool);
        let mut command = command(&ready.tool, &environment, &dispatch.key, dispatch.attempt);
        let group = Group::start(&mut command).await;
        // Dropped on an error, it takes the program with it.
        let group = group.and_then(|group| group.hold_to(ready.tool.limits.share).map(|()| group));
        let group = group.map_err(|error| {
            Fault::hub(FaultKind::Unreachable, format!("the program of {} cannot be started", key.0)).because(error)
        })?;
        let (events, heard) = mpsc::channel(WAITING_EVENTS);
        let (cancel, cancelled) = oneshot::channel();
        let voice = Voice::new(events, Redact::new(&environment), dispatch.key, &ready.tool);
        let work = Box::pin(async move {
            let _turn = turn;
            Carried::whole(run(group, &ready.tool, input, voice, cancelled).await)
        });
        Ok(Reply::Live(Box::new(Running::new(work, heard, cancel))))
    }
}

impl Peer for CustomTools {
    fn call(self: Arc<Self>, dispatch: Dispatch) -> Calling {
        Box::pin(async move { self.begin(dispatch).await })
    }

    fn place(&self, skill: &Skill) -> Option<Placing> {
        let ready = self.shelf().tools.get(&(skill.id.skill.clone(), skill.version.clone())).cloned()?;
        Some(match Arc::clone(&ready.turns).try_acquire_owned() {
            Ok(turn) => Placing::Now(Place::new(turn)),
            Err(_) => Placing::Later(Box::pin(async move { ready.turn().await.map(Place::new) })),
        })
    }

    /// Programs take arguments.
    fn loses(&self, call: &Call) -> Vec<Loss> {
        call.input().map(Input::lost_beside_arguments).unwrap_or_default()
    }
}

/// Programs take one object; no arguments are an empty one.
fn arguments(call: &Call) -> Result<Bytes, Fault> {
    let input = call.input().ok_or_else(|| {
        Fault::hub(FaultKind::Unsupported(Feature::Operation), "a custom tool can be called, and nothing else")
    })?;
    match &input.args {
        None => Ok(Bytes::from_static(b"{}")),
        Some(args) if args.is_object() => Ok(args.as_bytes().clone()),
        Some(_) => Err(Fault::caller(FaultKind::InvalidInput, "the arguments must be an object")),
    }
}

impl Shelf {
    /// Unchanged tools keep their turns, so that a reload does not double what runs at once.
    fn load(directory: &Path, peer: &PeerId, known: &HashMap<(SkillName, Version), Arc<Ready>>) -> Shelf {
        // Before reading: a change in between is then seen the next time.
        let fingerprint = fingerprint(directory);
        let catalogue = Catalogue::load(directory, peer);
        let ready = |tool: CustomTool| {
            let key = (tool.skill.id.skill.clone(), tool.skill.version.clone());
            match known.get(&key) {
                Some(same) if same.tool == tool => (key, Arc::clone(same)),
                Some(_) | None => (key, Arc::new(Ready::new(tool))),
            }
        };
        Shelf { tools: catalogue.tools.into_iter().map(ready).collect(), problems: catalogue.problems, fingerprint }
    }

    fn by_name(&self) -> HashMap<&SkillId, Vec<&Arc<Ready>>> {
        let mut names: HashMap<&SkillId, Vec<&Arc<Ready>>> = HashMap::new();
        self.tools.values().for_each(|ready| names.entry(&ready.tool.skill.id).or_default().push(ready));
        names
    }
}

impl Change {
    fn between(before: &Shelf, after: &Shelf) -> Change {
        let (old, new) = (before.by_name(), after.by_name());
        let same = |a: &[&Arc<Ready>], b: &[&Arc<Ready>]| {
            a.len() == b.len() && a.iter().all(|one| b.iter().any(|other| Arc::ptr_eq(one, other)))
        };
        let mut change = Change { problems: after.problems.clone(), ..Change::default() };
        for (id, tools) in &new {
            match old.get(id) {
                None => change.appeared.push((*id).clone()),
                Some(known) if !same(known, tools) => change.changed.push((*id).clone()),
                Some(_) => {}
            }
        }
        change.disappeared = old.keys().filter(|id| !new.contains_key(*id)).map(|id| (*id).clone()).collect();
        change.appeared.sort();
        change.changed.sort();
        change.disappeared.sort();
        change
    }
}

impl Ready {
    fn new(tool: CustomTool) -> Ready {
        let turns = Arc::new(Semaphore::new(tool.limits.parallel));
        Ready { tool, turns, waiting: AtomicUsize::new(0) }
    }

    async fn turn(&self) -> Result<OwnedSemaphorePermit, Fault> {
        if let Ok(turn) = Arc::clone(&self.turns).try_acquire_owned() {
            return Ok(turn);
        }
        let busy =
            || Fault::hub(FaultKind::Busy, format!("too many calls of {} are waiting", self.tool.skill.id.skill));
        let place = InLine::join(&self.waiting, MAX_WAITING).ok_or_else(busy)?;
        let turn = Arc::clone(&self.turns).acquire_owned().await;
        drop(place);
        // The semaphore is never closed.
        turn.map_err(|_| busy())
    }
}
