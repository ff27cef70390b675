//! Program and working directory of a manifest.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use interlingua_process::programs::{is_executable, on_path};

/// Endings of manifests: never the program itself.
pub(super) const MANIFESTS: [&str; 3] = ["yaml", "yml", "json"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Program {
    pub file: PathBuf,
    pub args: Vec<OsString>,
    pub directory: PathBuf,
}

impl Program {
    /// The files that are known to be run: the program, and what of its arguments is a file, such as a script.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let scripts = self.args.iter().filter(|word| !word.is_empty()).map(|word| self.directory.join(word));
        let scripts = scripts.filter(|path| path.is_file());
        let program = self.file.canonicalize().unwrap_or_else(|_| self.file.clone());
        let folder = program.parent().map(Path::to_owned);
        folder.into_iter().chain([program]).chain(scripts).collect()
    }
}

/// A name with a `/`, or of a file beside the manifest, is that file; any other is looked for in `PATH`.
pub(super) fn named(home: &Path, command: &str) -> Result<PathBuf, String> {
    let beside = home.join(command);
    if command.contains('/') || beside.is_file() {
        return executable(beside);
    }
    on_path(command).ok_or_else(|| format!("no program `{command}` beside the manifest or in PATH"))
}

/// Without a command: the executable of the tool's name beside the manifest, with any ending.
pub(super) fn of_name(home: &Path, name: &str) -> Result<PathBuf, String> {
    let plain = home.join(name);
    if plain.is_file() {
        return executable(plain);
    }
    let mut fitting: Vec<PathBuf> = std::fs::read_dir(home)
        .map_err(|error| error.to_string())?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.file_stem().is_some_and(|stem| stem == name) && !is_manifest(path) && is_executable(path))
        .collect();
    fitting.sort();
    match fitting.len() {
        0 => Err(format!("there is no command, and no executable `{name}` beside the manifest")),
        1 => Ok(fitting.remove(0)),
        _ => Err(format!("there is no command, and several executables are called `{name}`")),
    }
}

pub(super) fn is_manifest(path: &Path) -> bool {
    path.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| MANIFESTS.contains(&ending))
}

fn executable(path: PathBuf) -> Result<PathBuf, String> {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    match (path.is_file(), is_executable(&path)) {
        (true, true) => Ok(path),
        (true, false) => Err(format!("`{name}` is not executable")),
        (false, _) => Err(format!("there is no file `{name}`")),
    }
}
