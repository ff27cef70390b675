//! The peer `local`: the file tools of the hub's workspace and the custom tools of a directory.
//!
//! The list of skills is read from here, and read again after [`Local::reload`]; the hub decides which callers may call them.

use std::sync::Arc;

use interlingua_model::peer::{Calling, Dispatch, Peer, Place, Placing, Reply};
use interlingua_model::{
    Call, Card, CardFrom, CardSource, Digest, Fault, FaultKind, Feature, Finished, Health, Input, Json, Loss, PeerId,
    RouteClass, Skill, Time,
};

use tokio::sync::Semaphore;

use crate::custom::{Change, CustomTools};
use crate::files::run_workspaces::RunWorkspaces;
use crate::files::{Tool, Workspace};

/// The name of this peer, which no other may have.
pub const PEER: &str = interlingua_hub::names::LOCAL;

/// How many file tools run at once: more threads than this only take the processor from each other.
const FILES_AT_ONCE: usize = 8;

#[derive(Debug)]
pub struct Local {
    /// The hub's own.
    files: Workspace,
    /// Those of runs that have another.
    lent: Arc<RunWorkspaces>,
    places: Arc<Semaphore>,
    tools: Arc<CustomTools>,
}

impl Local {
    pub fn new(files: Workspace, lent: Arc<RunWorkspaces>, tools: CustomTools) -> Local {
        Local { files, lent, places: Arc::new(Semaphore::new(FILES_AT_ONCE)), tools: Arc::new(tools) }
    }

    pub fn peer() -> PeerId {
        PeerId::from(PEER)
    }

    pub fn tools(&self) -> &CustomTools {
        &self.tools
    }

    /// The file tools, then the custom ones.
    pub fn skills(&self) -> Vec<Skill> {
        let mut skills = Workspace::skills(&Local::peer());
        skills.extend(self.tools.skills());
        skills
    }

    pub fn card(&self, now: Time) -> Card {
        let skills = self.skills();
        let digest = Digest::of_fields(skills.iter().map(|skill| skill.digest.0.as_slice()));
        Card {
            peer: Local::peer(),
            title: "Local tools".into(),
            description: "Files of the workspace, and the programs of the tools directory".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            class: RouteClass::InProcess,
            provider: None,
            skills,
            resources: Vec::new(),
            sources: vec![CardSource { from: CardFrom::Configuration, digest }],
            health: Health::Up,
            telemetry: None,
            seen: now,
            raw: None,
        }
    }

    /// Looks at the tools directory again; `None` when nothing changed there.
    pub fn reload(&self) -> Option<Change> {
        self.tools.reload()
    }

    /// On a thread that may block. A call that is dropped still ends there, within the bounds of one call.
    async fn use_files(&self, dispatch: Dispatch) -> Result<Reply, Fault> {
        let unsupported =
            || Fault::hub(FaultKind::Unsupported(Feature::Operation), "a file tool can be called, and nothing else");
        let args = dispatch.call.input().ok_or_else(unsupported)?.args.clone().unwrap_or_else(Json::empty_object);
        let lent = self.lent.of(&dispatch.call).await?;
        let (files, owner) = (lent.unwrap_or_else(|| self.files.clone()), dispatch.by.owner());
        let name = dispatch.skill.id.skill.clone();
        let place = match dispatch.place {
            Some(place) => place,
            None => Place::new(self.places.clone().acquire_owned().await.map_err(Fault::internal)?),
        };
        let called = tokio::task::spawn_blocking(move || {
            let _place = place;
            files.call(&Local::peer(), name.as_str(), &args, &owner)
        });
        let called = called.await;
        let finished = match called.map_err(Fault::internal)? {
            Ok(output) => Finished::completed(output),
            Err(fault) => Finished::failed(fault),
        };
        Ok(Reply::Done(Box::new(finished), None))
    }
}

impl Peer for Local {
    fn call(self: Arc<Self>, dispatch: Dispatch) -> Calling {
        match Tool::from_name(dispatch.skill.id.skill.as_str()) {
            Some(_) => Box::pin(async move { self.use_files(dispatch).await }),
            None => Arc::clone(&self.tools).call(dispatch),
        }
    }

    fn place(&self, skill: &Skill) -> Option<Placing> {
        if Tool::from_name(skill.id.skill.as_str()).is_none() {
            return self.tools.place(skill);
        }
        let places = self.places.clone();
        Some(match places.clone().try_acquire_owned() {
            Ok(place) => Placing::Now(Place::new(place)),
            Err(_) => Placing::Later(Box::pin(async move {
                places.acquire_owned().await.map(Place::new).map_err(Fault::internal)
            })),
        })
    }

    /// Programs and file tools take arguments.
    fn loses(&self, call: &Call) -> Vec<Loss> {
        call.input().map(Input::lost_beside_arguments).unwrap_or_default()
    }
}
