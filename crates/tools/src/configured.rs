//! The peer `local`: the file tools of the workspace and the custom tools of a directory, registered and updated.
//!
//! The driver implements the tools; this module connects them to the configuration and the registry. The directory is watched; if watching
//! fails, polling still finds changes. An invalid manifest is logged and skipped.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::custom::{Change, CustomTools};
use crate::files::run_workspaces::RunWorkspaces;
use crate::files::{self, Limits, RootSpec, Workspace};
use crate::local::Local;
use interlingua_model::Fault;
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::mpsc;

use crate::settings::{Permission, Root, Tools, real};
use interlingua_hub::Hub;
use interlingua_settings::watch::on_change;

/// How long a burst of changes may last.
const SETTLE: Duration = Duration::from_millis(250);
/// How often the directory is looked at without having been told to.
const LOOK_EVERY: Duration = Duration::from_secs(3);

/// Opens the workspace, loads the tools, registers both as one peer and watches the directory.
pub(super) async fn register(
    hub: &Arc<Hub>,
    lent: Arc<RunWorkspaces>,
    tools: &Tools,
    data: &Path,
) -> Result<(), Fault> {
    let (tools, data) = (tools.clone(), data.to_path_buf());
    let opened = tokio::task::spawn_blocking(move || open(&tools, &data, lent)).await;
    let local = Arc::new(opened.map_err(Fault::internal)??);
    offer(hub, &local).await?;
    hub.spawn_until_stop(watch(hub.clone(), local));
    Ok(())
}

/// Registers what there is now, and tells what is left out and why.
async fn offer(hub: &Hub, local: &Arc<Local>) -> Result<(), Fault> {
    let problems = local.tools().problems();
    for problem in &problems {
        tracing::warn!(event = "tool_problem", %problem, "a custom tool cannot be used");
    }
    hub.register(local.card(hub.now()), local.clone()).await?;
    hub.set_problems(&Local::peer(), problems.iter().map(|problem| problem.to_string().into()))
}

fn open(tools: &Tools, data: &Path, lent: Arc<RunWorkspaces>) -> Result<Local, Fault> {
    let directory = tools.directory_in(data);
    if tools.directory.is_none() {
        make_directory(&directory);
    }
    let place = tools.workspace_in(data);
    // A workspace that somebody named, or that is there already, is theirs.
    let is_new = tools.workspace.is_none() && !place.exists();
    let workspace = guarding(RootSpec::workspace(place.clone()), &directory);
    let (files, skipped) = Workspace::open(workspace, &declared(tools, &directory), Limits::default())?;
    if is_new {
        welcome(&place);
    }
    for skipped in skipped {
        tracing::warn!(event = "file_root_skipped", path = %skipped.path.display(), reason = skipped.reason, "a root directory of the file tools is left out");
    }
    Ok(Local::new(files, lent, CustomTools::open(directory, Local::peer())))
}

/// The hub's own directory of tools is there from the first start, so that it is watched before the first tool is put into it.
fn make_directory(directory: &Path) {
    use std::os::unix::fs::DirBuilderExt as _;
    if let Err(error) = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory) {
        tracing::warn!(event = "tools_directory_not_made", directory = %directory.display(), %error, "the tools directory could not be created");
    }
}

/// Something to look at for whoever tries the file tools first.
const WELCOME: &str = "\
Welcome to Interlingua.

This is the workspace: the hub's file tools read and write here, and nowhere else. Delete this file when you like.

Try:  interlingua ask \"list files in .\"
      interlingua ask \"read welcome.txt\"
      interlingua ask \"what can you do\"

Next: interlingua connect cursor --write                    lets a client use the hub; `interlingua connect --help` lists the clients
      interlingua import FILE -o hub.yaml                   makes the servers of a client peers of the hub
      interlingua open                                      opens the console in your browser
      interlingua doctor                                    says what is wrong, and what would make the hub better
";

fn welcome(workspace: &Path) {
    use std::io::Write as _;
    let file = std::fs::File::create_new(workspace.join("welcome.txt"));
    if let Err(error) = file.and_then(|mut file| file.write_all(WELCOME.as_bytes())) {
        tracing::debug!(%error, "the workspace has no welcome.txt");
    }
}

fn declared(tools: &Tools, directory: &Path) -> Vec<RootSpec> {
    tools.roots.iter().map(|root| context(root, directory)).collect()
}

/// What those share who have a workspace each: the hub's own, and the roots that are declared beside it.
pub fn shared_roots(tools: &Tools, data: &Path) -> Vec<RootSpec> {
    let directory = tools.directory_in(data);
    let mut roots = declared(tools, &directory);
    roots.push(guarding(RootSpec::context(tools.workspace_in(data), files::Permission::Write), &directory));
    roots
}

fn context(root: &Root, directory: &Path) -> RootSpec {
    let permission = match root.permission {
        Permission::Read => files::Permission::Read,
        Permission::Write => files::Permission::Write,
    };
    // Configuration names them from where it lies itself, the driver from the root.
    let below = root.protected.iter().map(|path| path.strip_prefix(&root.path).unwrap_or(path));
    let spec = below.fold(RootSpec::context(&root.path, permission), RootSpec::protecting);
    guarding(spec, directory)
}

/// Who may write files may not thereby install programs: a tools directory below a root stays read-only.
fn guarding(spec: RootSpec, directory: &Path) -> RootSpec {
    match real(directory).strip_prefix(real(&spec.path)) {
        Ok(below) => spec.protecting(below),
        Err(_) => spec,
    }
}

/// Keeps the registered card what the directory says, until another configuration puts other tools in its place.
async fn watch(hub: Arc<Hub>, local: Arc<Local>) {
    let mut directory = Watched::start(local.tools().directory().to_path_buf());
    loop {
        directory.stirred().await;
        if !is_registered(&hub, &local) {
            return;
        }
        let looking = local.clone();
        let Ok(Some(change)) = tokio::task::spawn_blocking(move || looking.reload()).await else { continue };
        tell(&change);
        if let Err(fault) = offer(&hub, &local).await {
            tracing::error!(event = "tools_not_registered", error = %fault, cause = ?fault.source, "changed custom tools could not be registered");
        }
    }
}

fn is_registered(hub: &Hub, local: &Arc<Local>) -> bool {
    let catalogue = hub.catalogue();
    let registered = catalogue.peers.get(&Local::peer());
    registered.is_some_and(|registered| std::ptr::addr_eq(Arc::as_ptr(&registered.peer), Arc::as_ptr(local)))
}

fn tell(change: &Change) {
    let names = |skills: &[interlingua_model::SkillId]| {
        skills.iter().map(|skill| skill.skill.to_string()).collect::<Vec<_>>().join(" ")
    };
    tracing::info!(
        event = "custom_tools_changed",
        appeared = names(&change.appeared),
        changed = names(&change.changed),
        disappeared = names(&change.disappeared),
        "the custom tools changed"
    );
}

/// A directory that says when to look again.
struct Watched {
    directory: PathBuf,
    /// `None` while there is nothing that can be watched.
    watcher: Option<RecommendedWatcher>,
    /// One place is enough: it only says "look again".
    stir: mpsc::Sender<()>,
    stirs: mpsc::Receiver<()>,
}

impl Watched {
    fn start(directory: PathBuf) -> Watched {
        let (stir, stirs) = mpsc::channel(1);
        let mut watched = Watched { directory, watcher: None, stir, stirs };
        watched.watch();
        watched
    }

    /// Tried again while there is no directory: it may come.
    fn watch(&mut self) {
        self.watcher = notify::recommended_watcher(on_change(self.stir.clone())).ok().and_then(|mut watcher| {
            let watching = watcher.watch(&self.directory, RecursiveMode::Recursive);
            watching.is_ok().then_some(watcher)
        });
    }

    /// Resolves after something happened, or after a while.
    async fn stirred(&mut self) {
        match tokio::time::timeout(LOOK_EVERY, self.stirs.recv()).await {
            Ok(_) => {
                tokio::time::sleep(SETTLE).await;
                while self.stirs.try_recv().is_ok() {}
            }
            Err(_) if self.watcher.is_none() || !self.directory.exists() => self.watch(),
            Err(_) => {}
        }
    }
}
