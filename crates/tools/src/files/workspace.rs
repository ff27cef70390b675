//! The workspace and its declared roots, opened once; every tool is a method of it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use interlingua_model::json::Tree;
use interlingua_model::{Fault, Json};

use super::claims::Claims;
use super::fault::{FileFault, Problem};
use super::rights::{Rights, Stage};
use super::root::{Permission, Root, RootKind, RootSpec, Skipped, make_workspace};
use super::tool::Tool;
use super::walk::{Missing, Place, walk};

/// How many strings one call's arguments may hold beside content: each is looked at as a path (S-06).
const MAX_TEXTS: usize = 1_100;

/// Bounds of one call.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The most text that one read returns.
    pub read_bytes: u64,
    /// The most that one write stores.
    pub write_bytes: u64,
    /// The largest file that is edited.
    pub edit_bytes: u64,
    pub directory_entries: usize,
    pub search_results: usize,
    /// How many entries one search looks at before it gives up.
    pub search_visits: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            read_bytes: 1024 * 1024,
            write_bytes: 8 * 1024 * 1024,
            edit_bytes: 1024 * 1024,
            directory_entries: 5_000,
            search_results: 1_000,
            search_visits: 100_000,
        }
    }
}

/// Cheap to clone; clones share who wrote what.
#[derive(Debug, Clone)]
pub struct Workspace {
    shared: Arc<Shared>,
    stage: Stage,
}

#[derive(Debug)]
struct Shared {
    /// The workspace comes first.
    roots: Vec<Root>,
    limits: Limits,
    home: Option<PathBuf>,
    /// Also the order of writes: whoever holds it is the only one of us who changes files.
    claims: Mutex<Claims>,
}

impl Workspace {
    /// Opens the workspace (made when absent) and the other roots. A root that cannot be opened is left out (S-04) and
    /// told; only the workspace itself is indispensable.
    pub fn open(
        workspace: RootSpec,
        others: &[RootSpec],
        limits: Limits,
    ) -> Result<(Workspace, Vec<Skipped>), FileFault> {
        let shown = workspace.path.to_string_lossy().into_owned();
        let mut skipped = Vec::new();
        let spec = RootSpec { kind: RootKind::Workspace, ..workspace };
        make_workspace(&spec.path).map_err(|problem| problem.at(&shown))?;
        let first = Root::open(&spec, &mut skipped).map_err(|error| Problem::from(error).at(&shown))?;
        let mut roots = vec![first];
        for spec in others {
            match Root::open(spec, &mut skipped) {
                Ok(root) => roots.push(root),
                Err(error) => skipped.push(Skipped { path: spec.path.clone(), reason: error.to_string() }),
            }
        }
        let shared = Shared { roots, limits, home: std::env::home_dir(), claims: Mutex::default() };
        Ok((Workspace { shared: Arc::new(shared), stage: Stage::Alone }, skipped))
    }

    /// The same workspace for callers who work side by side: contexts are read-only for all of them (S-04). The final
    /// presenter uses the original.
    pub fn coordinating(&self) -> Workspace {
        Workspace { shared: Arc::clone(&self.shared), stage: Stage::Coordinating }
    }

    /// S-06: refuses arguments of which any string, however deep, leads outside or holds a NUL byte. Values of the keys in
    /// `content` are text to be stored, not paths.
    pub fn check_arguments(&self, arguments: &Json, content: &[&str]) -> Result<(), Fault> {
        let mut texts = Vec::new();
        collect_texts(arguments.tree(), content, &mut texts);
        if texts.len() > MAX_TEXTS {
            return Err(Problem::argument("arguments", format!("hold more than {MAX_TEXTS} strings"))
                .at("the call")
                .into());
        }
        Ok(texts.into_iter().try_for_each(|text| self.check_text(text))?)
    }

    fn check_text(&self, text: &str) -> Result<(), FileFault> {
        match walk(self.rights(), self.shared.home.as_deref(), text, Missing::Refuse) {
            Err(problem @ (Problem::Outside | Problem::NulByte)) => Err(problem.at(text)),
            // Found, or not a path of ours at all: the tool will say.
            Ok(_) | Err(_) => Ok(()),
        }
    }

    pub(super) fn rights(&self) -> Rights<'_> {
        Rights { roots: &self.shared.roots, stage: self.stage }
    }

    pub(super) fn limits(&self) -> Limits {
        self.shared.limits
    }

    pub(super) fn claims(&self) -> MutexGuard<'_, Claims> {
        self.shared.claims.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where `path` leads, when `tool` may go there.
    pub(super) fn locate(&self, tool: Tool, path: &str, missing: Missing) -> Result<Place, Problem> {
        let place = walk(self.rights(), self.shared.home.as_deref(), path, missing)?;
        match self.rights().of(&place.real) {
            None => Err(Problem::Outside),
            Some(permission) if permission >= tool.needs() => Ok(place),
            Some(Permission::Read | Permission::Write) => Err(Problem::ReadOnly),
        }
    }
}

/// Every string of the tree that is not content; one more than allowed is enough to know.
fn collect_texts<'t>(tree: &'t Tree, content: &[&str], texts: &mut Vec<&'t str>) {
    if texts.len() > MAX_TEXTS {
        return;
    }
    match tree {
        Tree::String(text) => texts.push(text),
        Tree::Array(items) => items.iter().for_each(|item| collect_texts(item, content, texts)),
        Tree::Object(map) => map
            .iter()
            .filter(|(key, _)| !content.contains(&key.as_str()))
            .for_each(|(_, value)| collect_texts(value, content, texts)),
        Tree::Null | Tree::Bool(_) | Tree::Number(_) => {}
    }
}
