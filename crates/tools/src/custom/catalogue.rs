//! Catalogue of custom tools in a directory, and the problems of the manifests that are left out.
//!
//! Directly in the directory every `.yaml`, `.yml` and `.json` file is a manifest; in each folder of it, `tool.yaml`,
//! `tool.yml` or `tool.json` is one, so that a tool's own data beside it is not taken for a manifest. Several versions of
//! one tool may lie side by side.

use std::collections::HashSet;
use std::fs;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use interlingua_model::json::Tree;
use interlingua_model::{Digest, Json, PeerId, Skill};

use super::fields::ManifestProblem;
use super::manifest::{self, CustomTool};
use super::program::is_manifest;
use super::writable;

const MAX_MANIFESTS: usize = 500;
const MAX_MANIFEST_BYTES: u64 = 256 * 1024;
/// How many files are looked at to see whether something changed.
const MAX_FILES: usize = 10_000;

/// Sorted by file, so that the same directory always gives the same tools.
#[derive(Debug, Default)]
pub struct Catalogue {
    pub tools: Vec<CustomTool>,
    pub problems: Vec<ManifestProblem>,
}

impl Catalogue {
    /// A directory that does not exist has no tools, and that is no problem: it may appear.
    pub fn load(directory: &Path, peer: &PeerId) -> Catalogue {
        let mut catalogue = Catalogue::default();
        let mut taken = HashSet::new();
        if let Some(reason) = writable::problem(directory) {
            catalogue.problems.push(ManifestProblem { file: PathBuf::from("."), key: None, reason });
            return catalogue;
        }
        for path in manifests(directory, &mut catalogue.problems) {
            let file = path.strip_prefix(directory).unwrap_or(&path).to_path_buf();
            let problem = |(key, reason)| ManifestProblem { file: file.clone(), key, reason };
            match inside(&path, directory).and_then(|()| read(&path, peer)) {
                Ok((tool, notes)) => {
                    catalogue.problems.extend(notes.into_iter().map(problem));
                    // Some callers do not tell case apart.
                    let key = (tool.skill.id.skill.as_str().to_ascii_lowercase(), tool.skill.version.clone());
                    match taken.insert(key) {
                        true => catalogue.tools.push(tool),
                        false => catalogue.problems.push(problem((
                            Some("name".to_owned()),
                            format!("`{}` version {} is there already", tool.skill.id.skill, tool.skill.version),
                        ))),
                    }
                }
                Err(problems) => catalogue.problems.extend(problems.into_iter().map(problem)),
            }
        }
        catalogue
    }

    pub fn skills(&self) -> impl Iterator<Item = &Skill> {
        self.tools.iter().map(|tool| &tool.skill)
    }
}

/// One manifest, wherever it lies: the tool and what is odd about it, or all that is wrong.
pub fn read_manifest(path: &Path, peer: &PeerId) -> Result<(CustomTool, Vec<ManifestProblem>), Vec<ManifestProblem>> {
    let told = |problems: manifest::Problems| -> Vec<ManifestProblem> {
        let told = |(key, reason)| ManifestProblem { file: path.to_owned(), key, reason };
        problems.into_iter().map(told).collect()
    };
    match read(path, peer) {
        Ok((tool, notes)) => Ok((tool, told(notes))),
        Err(problems) => Err(told(problems)),
    }
}

/// Changes whenever a file of the directory or of its folders comes, goes or changes: reason to load again.
pub fn fingerprint(directory: &Path) -> Digest {
    let mut lines: Vec<String> = files(directory)
        .into_iter()
        .filter_map(|path| {
            let found = fs::metadata(&path).ok()?;
            let when = (found.mtime(), found.mtime_nsec());
            Some(format!("{} {} {:?} {:o} {}", path.display(), found.len(), when, found.mode(), found.ino()))
        })
        .collect();
    lines.extend(fs::metadata(directory).ok().map(|found| format!("{:o} {}", found.mode(), found.uid())));
    lines.sort();
    Digest::of_fields(lines.iter().map(String::as_bytes))
}

fn manifests(directory: &Path, problems: &mut Vec<ManifestProblem>) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = files(directory)
        .into_iter()
        .filter(|path| is_manifest(path))
        .filter(|path| path.parent() == Some(directory) || path.file_stem().is_some_and(|stem| stem == "tool"))
        .collect();
    found.sort();
    if found.len() > MAX_MANIFESTS {
        let reason = format!("{} manifests; only the first {MAX_MANIFESTS} are read", found.len());
        problems.push(ManifestProblem { file: PathBuf::from("."), key: None, reason });
        found.truncate(MAX_MANIFESTS);
    }
    found
}

/// The files of the directory and of its folders, but for hidden ones.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in entries(directory) {
        match path.is_dir() {
            true => files.extend(entries(&path).into_iter().filter(|path| path.is_file())),
            false => files.push(path),
        }
        if files.len() > MAX_FILES {
            break;
        }
    }
    files.truncate(MAX_FILES);
    files
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let hidden = |path: &PathBuf| path.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
    let mut paths: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| !hidden(path)).take(MAX_FILES).collect();
    paths.sort();
    paths
}

/// A manifest of this directory lies in it, whatever links lead there.
fn inside(path: &Path, directory: &Path) -> Result<(), manifest::Problems> {
    let (file, home) = (path.canonicalize(), directory.canonicalize());
    match (file, home) {
        (Ok(file), Ok(home)) if file.starts_with(&home) => Ok(()),
        (Ok(_), Ok(_)) => Err(vec![(None, "is a link that leads out of the tools directory".to_owned())]),
        (Err(error), _) | (_, Err(error)) => Err(vec![(None, error.to_string())]),
    }
}

fn read(path: &Path, peer: &PeerId) -> Result<(CustomTool, manifest::Problems), manifest::Problems> {
    let whole = |reason: String| vec![(None, reason)];
    let tree = parse(path).map_err(whole)?;
    // A relative directory would change its meaning with the hub's own.
    let path = std::path::absolute(path).map_err(|error| whole(error.to_string()))?;
    let home = path.parent().unwrap_or(&path);
    let (tool, notes) = manifest::read(tree, home, peer)?;
    let used = [home.to_owned(), path.clone()].into_iter().chain(tool.program.files());
    match used.filter_map(|used| writable::problem(&used)).next() {
        None => Ok((tool, notes)),
        Some(problem) => Err(whole(problem)),
    }
}

fn parse(path: &Path) -> Result<Tree, String> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    file.take(MAX_MANIFEST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_MANIFEST_BYTES {
        return Err(format!("is larger than {MAX_MANIFEST_BYTES} bytes"));
    }
    tree(bytes, path.extension().is_some_and(|ending| ending == "json"))
}

pub(crate) fn tree(bytes: Vec<u8>, json: bool) -> Result<Tree, String> {
    if json {
        let json = Json::parse(bytes.into()).map_err(|error| format!("is not JSON: {error}"))?;
        return Ok(json.tree().clone());
    }
    let text = String::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned())?;
    serde_saphyr::from_str(&text).map_err(|error| format!("is not YAML: {error}"))
}
