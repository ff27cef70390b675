//! Workspaces of team members: each member that uses the file tools has a directory of its own, and can read the files behind the answers
//! of others, under labels instead of names (S-01 to S-09 are the driver's, [`interlingua_tools::files`]).
//!
//! The directories of a run are in the hub's data directory, below the run's id, and are removed with its records. An answer is accepted,
//! then its author's files are copied, then the next round begins: a snapshot always holds the files of its answer. Everyone can read
//! shared directories (the hub's workspace, declared roots); the presenting member can write them (S-04).
//!
//! Deliberately absent: workspaces for members that are not agents of this hub, and for programs of the tools directory.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use interlingua_machines::team::{Seat, Team as State, TeamPlan, WorkspaceFolders};
use interlingua_model::{Fault, PeerId, SkillId, TaskId, Text};
use interlingua_tools::files::{Limits, Room, RootSpec, Tool, Workspace, snapshot};
use interlingua_tools::local::PEER;

use crate::rounds::Role;
use crate::settings::{Sections, Team, Workspaces};

use interlingua_hub::Hub;
use interlingua_hub::policy::matches;

/// What a member finds in its workspace.
const ANSWERS: &str = "answers";
const SHARED: &str = "shared";

/// What a team's configuration says of its members' files.
#[derive(Debug)]
pub(crate) struct Grounds {
    /// Where runs have their directories.
    directory: PathBuf,
    /// Members that can call a file tool.
    members: HashSet<PeerId>,
    shared: Vec<RootSpec>,
    /// Which of them is the hub's workspace.
    common: PathBuf,
}

impl Grounds {
    /// None where all work in one workspace, or nobody in any.
    pub(crate) fn of(team: &Team, sections: &Sections<'_>) -> Option<Grounds> {
        let uses_files = |name: &&String| {
            let patterns = sections.agents.get(*name).map(|agent| &agent.skills);
            let skill = |tool: Tool| SkillId::new(PEER, tool.name());
            patterns.into_iter().flatten().any(|pattern| Tool::ALL.iter().any(|tool| matches(pattern, &skill(*tool))))
        };
        let members: HashSet<PeerId> =
            team.agents.iter().filter(uses_files).map(|name| PeerId::from(name.as_str())).collect();
        match team.workspaces {
            Workspaces::Own if !members.is_empty() => {
                let directory = absolute(sections.data.join("teams"));
                let (shared, common) = (sections.shared_roots.clone(), absolute(sections.workspace.clone()));
                Some(Grounds { directory, members, shared, common })
            }
            Workspaces::Own | Workspaces::Shared => None,
        }
    }

    /// Says in the plan of a new run where its members work.
    pub(super) fn assign(&self, task: TaskId, plan: &mut TeamPlan) {
        for seat in plan.seats() {
            let own = self.run(task).join("members").join(plan.label(seat));
            let member = &mut plan.members[seat.0];
            member.workspace = self.members.contains(&member.id).then(|| own.to_string_lossy().into_owned().into());
        }
        plan.found = Some(WorkspaceFolders { answers: ANSWERS.into(), shared: SHARED.into() });
    }

    fn run(&self, task: TaskId) -> PathBuf {
        self.directory.join(task.to_string())
    }
}

/// A name that means the same wherever it is read.
fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

/// The opened workspaces of one run.
#[derive(Debug, Default)]
pub(super) struct Places {
    run: PathBuf,
    open: HashMap<Seat, Workspace>,
}

impl Places {
    /// Opens what the plan names, and makes what is not there yet.
    pub(super) async fn open(grounds: Option<&Grounds>, task: TaskId, plan: &TeamPlan) -> Result<Places, Fault> {
        let (Some(grounds), Some(_)) = (grounds, &plan.found) else { return Ok(Places::default()) };
        let run = grounds.run(task);
        let members = plan.seats().filter_map(|seat| Some((seat, plan.members[seat.0].workspace.clone()?)));
        let (members, mut others) = (members.collect::<Vec<_>>(), grounds.shared.clone());
        let links = [(ANSWERS, run.join(ANSWERS)), (SHARED, grounds.common.clone())];
        let opened = tokio::task::spawn_blocking(move || {
            make(&links[0].1)?;
            others.push(RootSpec::temporary(&links[0].1));
            let open = |(seat, place): (Seat, Text)| {
                let (workspace, _) = Workspace::open(RootSpec::workspace(&*place), &others, Limits::default())?;
                links.iter().try_for_each(|(name, target)| link(target, &Path::new(&*place).join(name)))?;
                Ok((seat, workspace))
            };
            members.into_iter().map(open).collect::<Result<_, Fault>>()
        });
        Ok(Places { run, open: opened.await.map_err(Fault::internal)?? })
    }

    /// The workspace of a member in this role: who presents may also write what is shared.
    pub(super) fn of(&self, seat: Seat, role: &Role) -> Option<Workspace> {
        let workspace = self.open.get(&seat)?;
        Some(match role {
            Role::Round(_) | Role::Evaluate(_) => workspace.coordinating(),
            Role::Present(_) => workspace.clone(),
        })
    }

    /// Keeps the files behind a member's last answer, if they are not kept yet.
    pub(super) async fn keep(&self, state: &State, seat: Seat) {
        let Some(given) = state.answer(seat).filter(|_| self.open.contains_key(&seat)) else { return };
        let (Some(from), Some(to)) = (state.workspace(seat).cloned(), state.snapshot(given)) else { return };
        let (shown, to) = (to.clone(), self.run.join(to));
        let copying = move || snapshot(Path::new(&*from), &to, Room::default());
        match tokio::task::spawn_blocking(copying).await {
            Ok(Ok(copied)) if copied.left_out > 0 => {
                tracing::warn!(
                    event = "team_files_incomplete",
                    snapshot = shown,
                    left_out = copied.left_out,
                    "some files of an answer could not be stored"
                );
            }
            Ok(Ok(_)) => {}
            // The answer stands without its files: nobody waits for a disk that is full.
            Ok(Err(error)) => {
                tracing::error!(event = "team_files_not_stored", snapshot = shown, %error, "the files of an answer could not be stored")
            }
            Err(error) => {
                tracing::error!(event = "team_files_not_stored", %error, "the files of an answer could not be stored")
            }
        }
    }
}

fn make(path: &Path) -> Result<(), Fault> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(Fault::internal)
}

/// A name in a workspace for a place outside of it. It is followed with that place's own rights (S-02).
fn link(target: &Path, name: &Path) -> Result<(), Fault> {
    match std::os::unix::fs::symlink(target, name) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(Fault::internal(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Removes the directories of runs whose records are gone.
pub async fn tidy(hub: &Hub, data: &Path) {
    let directory = data.join("teams");
    let Ok(found) = std::fs::read_dir(&directory) else { return };
    let runs = found.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<TaskId>().ok());
    for run in runs.collect::<Vec<_>>() {
        if let Ok(None) = hub.journal().task(run).await {
            let place = directory.join(run.to_string());
            let removed = tokio::task::spawn_blocking(move || std::fs::remove_dir_all(place)).await;
            if let Ok(Err(error)) = removed {
                tracing::warn!(event = "team_files_not_removed", %run, %error, "the files of an expired team run could not be removed");
            }
        }
    }
}
