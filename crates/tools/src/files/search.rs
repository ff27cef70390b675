//! `search_files`: paths below a directory that match a pattern. Links are neither followed nor searched, so there is no cycle; the entries
//! visited and the results are bounded.

use cap_std::fs::Dir;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::fault::{FileFault, Problem};
use super::glob::Glob;
use super::list::EntryKind;
use super::temp::is_temporary;
use super::tool::{Answer, Facts, Tool, object, path_schema};
use super::walk::{MAX_DEPTH, Missing, open_dir};
use super::workspace::Workspace;

const MAX_EXCLUDES: usize = 100;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SearchFiles {
    pub path: String,
    /// Over the path below `path`: `*.txt` is there, `**/*.txt` at any depth.
    pub pattern: String,
    #[serde(default)]
    pub exclude_patterns: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Found {
    /// Each begins with the path that was searched, so it can be given to the other tools.
    pub matches: Vec<String>,
    /// There may be more matches than are given here.
    pub truncated: bool,
}

pub(super) fn facts() -> Facts {
    let pattern = json!({ "type": "string", "minLength": 1, "maxLength": 1024 });
    let mut wanted = pattern.clone();
    wanted["description"] = json!("A glob over the path below `path`: `*.txt` matches there, `**/*.txt` at any depth.");
    Facts {
        title: "Search for files",
        description: "Finds files and directories below a directory of the workspace whose path matches a glob pattern.",
        input: object(
            json!({
                "path": path_schema("The directory to search, relative to the workspace or absolute within a declared root."),
                "pattern": wanted,
                "excludePatterns": {
                    "type": "array", "items": pattern, "maxItems": MAX_EXCLUDES, "default": [],
                    "description": "What matches one of these is left out, with all below it; a plain name does so at any depth.",
                },
            }),
            &["path", "pattern"],
        ),
        output: object(
            json!({
                "matches": { "type": "array", "items": { "type": "string" } },
                "truncated": { "type": "boolean", "description": "There may be more matches than are given here." },
            }),
            &["matches", "truncated"],
        ),
        examples: &["search for **/*.md in docs", "busca **/*.md en docs"],
        phrases: &[
            ("en", "(search|look) for {pattern:word} in {path:path}"),
            ("en", "find [files] {pattern:word} in {path:path}"),
            ("es", "busca [archivos] {pattern:word} en {path:path}"),
        ],
    }
}

impl Found {
    pub(super) fn answer(self) -> Answer {
        let mut lines = self.matches.clone();
        match (lines.is_empty(), self.truncated) {
            (true, false) => lines.push("no matches".to_owned()),
            (_, true) => lines.push("… and perhaps more".to_owned()),
            (false, false) => {}
        }
        Answer::text(lines.join("\n"), json!({ "matches": self.matches, "truncated": self.truncated }))
    }
}

impl Workspace {
    pub fn search_files(&self, args: &SearchFiles) -> Result<Found, FileFault> {
        self.search(args).map_err(|problem| problem.at(&args.path))
    }

    fn search(&self, args: &SearchFiles) -> Result<Found, Problem> {
        let wanted = Glob::compile(&args.pattern).map_err(|reason| Problem::argument("pattern", reason))?;
        if args.exclude_patterns.len() > MAX_EXCLUDES {
            return Err(Problem::argument("excludePatterns", "has more than 100 items"));
        }
        let excluded =
            args.exclude_patterns.iter().map(|pattern| Glob::compile(pattern)).collect::<Result<Vec<_>, _>>();
        let excluded = excluded.map_err(|reason| Problem::argument("excludePatterns", reason))?;
        let start = self.locate(Tool::SearchFiles, &args.path, Missing::Refuse)?.open_dir()?;
        let mut search = Search { workspace: self, wanted, excluded, visits: 0, matches: Vec::new(), truncated: false };
        search.run(start)?;
        search.matches.sort();
        let prefix = args.path.trim_end_matches('/');
        let matches = search.matches.into_iter().map(|found| below(prefix, &found)).collect();
        Ok(Found { matches, truncated: search.truncated })
    }
}

fn below(prefix: &str, found: &str) -> String {
    match prefix {
        "." => found.to_owned(),
        prefix => format!("{prefix}/{found}"),
    }
}

struct Search<'a> {
    workspace: &'a Workspace,
    wanted: Glob,
    excluded: Vec<Glob>,
    visits: usize,
    matches: Vec<String>,
    truncated: bool,
}

impl Search<'_> {
    /// Depth first; the handles held are those of one way down, so at most [`MAX_DEPTH`].
    fn run(&mut self, start: Dir) -> Result<(), Problem> {
        let mut path: Vec<String> = Vec::new();
        let mut open = vec![(start.entries()?, start)];
        while let Some((entries, dir)) = open.last_mut() {
            let Some(entry) = entries.next() else {
                open.pop();
                path.pop();
                continue;
            };
            let entry = entry?;
            let name = entry.file_name();
            if is_temporary(&name) {
                continue;
            }
            if self.full() {
                return Ok(());
            }
            path.push(name.to_string_lossy().into_owned());
            let descend = self.visit(&path) && EntryKind::of(entry.file_type()?) == EntryKind::Directory;
            // A directory that cannot be opened, or became a link, has nothing to show.
            let inside = if descend { open_dir(dir, &name).ok() } else { None };
            match inside {
                Some(inside) if path.len() < MAX_DEPTH => open.push((inside.entries()?, inside)),
                Some(_) => {
                    self.truncated = true;
                    path.pop();
                }
                None => {
                    path.pop();
                }
            }
        }
        Ok(())
    }

    fn full(&mut self) -> bool {
        let limits = self.workspace.limits();
        self.truncated |= self.matches.len() >= limits.search_results || self.visits >= limits.search_visits;
        self.truncated
    }

    /// False when the entry is excluded, and with it all that is below.
    fn visit(&mut self, path: &[String]) -> bool {
        self.visits += 1;
        if self.excluded.iter().any(|glob| glob.excludes(path)) {
            return false;
        }
        if self.wanted.matches(path) {
            self.matches.push(path.join("/"));
        }
        true
    }
}
