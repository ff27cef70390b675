//! The sandbox rules by their ids, attacks on them, and the contract of each tool.

mod attacks;
mod rules;
mod side_by_side;
mod texts;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use interlingua_model::Link;
use interlingua_model::json::Tree;
use interlingua_model::{Fault, FaultKind, Json, Output, Owner, PeerId, Principal, Proof, Subject};
use serde_json::json;

use super::*;

/// A temporary directory with a workspace, a place outside of it, and room for contexts.
struct Ground {
    base: tempfile::TempDir,
}

impl Ground {
    fn new() -> Ground {
        let base = tempfile::tempdir().unwrap();
        fs::create_dir(base.path().join("work")).unwrap();
        fs::create_dir(base.path().join("outside")).unwrap();
        fs::write(base.path().join("outside/secret.txt"), "secret").unwrap();
        Ground { base }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.base.path().join(below)
    }

    fn spelt(&self, below: &str) -> String {
        self.path(below).to_str().unwrap().to_owned()
    }

    fn put(&self, below: &str, content: impl AsRef<[u8]>) -> &Ground {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    fn text(&self, below: &str) -> String {
        fs::read_to_string(self.path(below)).unwrap()
    }

    fn link(&self, target: impl AsRef<Path>, below: &str) -> &Ground {
        std::os::unix::fs::symlink(target, self.path(below)).unwrap();
        self
    }

    fn open(&self, others: &[RootSpec]) -> Workspace {
        let (workspace, skipped) =
            Workspace::open(RootSpec::workspace(self.path("work")), others, Limits::default()).unwrap();
        assert_eq!(skipped, []);
        workspace
    }

    fn plain(&self) -> Workspace {
        self.open(&[])
    }
}

fn owner(name: &str) -> Owner {
    let link = Link { subject: Subject::User(name.into()), proof: Proof::Token, scopes: Vec::new(), until: None };
    Principal::new(link).owner()
}

fn call(workspace: &Workspace, tool: &str, arguments: Tree) -> Result<Output, Fault> {
    call_as(workspace, "ana", tool, arguments)
}

fn call_as(workspace: &Workspace, who: &str, tool: &str, arguments: Tree) -> Result<Output, Fault> {
    workspace.call(&PeerId::from("local"), tool, &Json::from_tree(arguments), &owner(who))
}

fn read(workspace: &Workspace, path: &str) -> Result<String, FaultKind> {
    let output = call(workspace, "read_file", json!({ "path": path })).map_err(|fault| fault.kind)?;
    Ok(output.parts[0].as_text().unwrap().to_owned())
}

fn write(workspace: &Workspace, path: &str, content: &str) -> Result<(), FaultKind> {
    let arguments = json!({ "path": path, "content": content });
    call(workspace, "write_file", arguments).map(drop).map_err(|fault| fault.kind)
}

fn structured(output: &Output) -> &Tree {
    output.structured.as_ref().unwrap().tree()
}
