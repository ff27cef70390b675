//! File watcher: triggers a reload when the content of a configuration file has changed.
//!
//! Folders are watched rather than files, because editors and orchestrators replace a file, or the link to it. A burst of
//! changes is waited out; then contents are compared, so touching a file is not a change.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use interlingua_model::Digest;
use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::mpsc;

/// How long a burst of changes may last.
const SETTLE: Duration = Duration::from_millis(250);

#[derive(Debug)]
pub struct Watcher {
    /// Stops when dropped.
    _folders: RecommendedWatcher,
    /// One place is enough: it only says "look again".
    stirred: mpsc::Receiver<()>,
    files: Vec<PathBuf>,
    seen: Vec<Option<Digest>>,
}

impl Watcher {
    /// Watches the folders of `files`, which have the content that was last loaded.
    pub fn start(files: Vec<PathBuf>) -> notify::Result<Watcher> {
        let (stir, stirred) = mpsc::channel(1);
        let mut folders = notify::recommended_watcher(on_change(stir))?;
        for folder in files.iter().map(|file| folder(file)).collect::<BTreeSet<_>>() {
            folders.watch(folder, RecursiveMode::NonRecursive)?;
        }
        let seen = contents(&files);
        Ok(Watcher { _folders: folders, stirred, files, seen })
    }

    /// Resolves when a file has changed; never, once the system stops watching.
    pub async fn changed(&mut self) {
        loop {
            if self.stirred.recv().await.is_none() {
                std::future::pending::<()>().await;
            }
            tokio::time::sleep(SETTLE).await;
            while self.stirred.try_recv().is_ok() {}
            let now = contents(&self.files);
            if now != self.seen {
                self.seen = now;
                return;
            }
        }
    }
}

/// What to do with what the system tells of a folder: say "look again" when something changed in it. A file that was only
/// opened is no change: whoever looks again opens it, and would look for ever.
pub fn on_change(stir: mpsc::Sender<()>) -> impl FnMut(notify::Result<Event>) {
    move |told| {
        if told.as_ref().map_or(true, |event| is_change(event.kind)) {
            // Full means a look is already due.
            let _ = stir.try_send(());
        }
    }
}

fn is_change(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(kind) => kind == AccessKind::Close(AccessMode::Write),
        EventKind::Create(_) | EventKind::Modify(_) | EventKind::Remove(_) | EventKind::Any | EventKind::Other => true,
    }
}

fn folder(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    }
}

/// A handful of small files: read at once, even from an asynchronous place.
fn contents(files: &[PathBuf]) -> Vec<Option<Digest>> {
    files.iter().map(|file| std::fs::read(file).ok().map(|bytes| Digest::of(&bytes))).collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use tempfile::TempDir;

    use super::Watcher;

    /// A configuration in a folder of its own, watched.
    fn watched() -> (TempDir, PathBuf, Watcher) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("interlingua.yaml");
        std::fs::write(&file, "insecure: false").unwrap();
        let watcher = Watcher::start(vec![file.clone()]).unwrap();
        (folder, file, watcher)
    }

    #[tokio::test]
    async fn a_file_replaced_by_another_is_a_change_and_a_neighbour_is_not() {
        let (folder, file, mut watcher) = watched();
        std::fs::write(folder.path().join("neighbour"), "x").unwrap();
        std::fs::write(folder.path().join("new"), "insecure: true").unwrap();
        std::fs::rename(folder.path().join("new"), &file).unwrap();
        watcher.changed().await;
        assert_eq!(watcher.seen, super::contents(&[file]));
        std::fs::write(folder.path().join("neighbour"), "y").unwrap();
        let nothing = tokio::time::timeout(super::SETTLE * 4, watcher.changed()).await;
        assert!(nothing.is_err(), "a neighbour's change is not ours");
    }

    #[tokio::test]
    async fn who_looks_again_is_not_told_of_it() {
        let (_folder, file, mut watcher) = watched();
        assert!(super::contents(std::slice::from_ref(&file))[0].is_some(), "it is read");
        let told = tokio::time::timeout(super::SETTLE * 2, watcher.stirred.recv()).await;
        assert!(told.is_err(), "reading changes nothing");
        std::fs::write(&file, "insecure: true").unwrap();
        watcher.changed().await;
    }
}
