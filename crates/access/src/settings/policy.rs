//! Policy files: one file of rules, or a folder of them, read and checked with the configuration that names them.
//!
//! The program installs the rule language ([`install`]), so that a hub that is embedded or tested without rules does not link it.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use interlingua_model::policy::{Flaw, Judge, Legislator, Named, Noticed, Roles, Ruling, Source};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Access, Around};
use interlingua_settings::{At, Found, Problem, Sources, nearest, unreadable};

/// How long a file of rules may be.
const MAX_FILE: u64 = 16 * 1024 * 1024;
/// How many files a folder may hold.
const MAX_FILES: usize = 1_000;
const PATH: &str = "access.policy";

static LEGISLATOR: OnceLock<&'static dyn Legislator> = OnceLock::new();

/// Brings the language of rules along; the first one counts.
pub fn install(legislator: &'static dyn Legislator) {
    let _ = LEGISLATOR.set(legislator);
}

/// A file of rules, or a folder whose files end in `.cedar`.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "PathBuf")]
pub struct PolicyFile {
    pub path: PathBuf,
    /// What they say. Part of the configuration: changed rules are a changed configuration.
    pub judge: Option<Arc<dyn Judge>>,
}

impl From<PathBuf> for PolicyFile {
    fn from(path: PathBuf) -> PolicyFile {
        PolicyFile { path, judge: None }
    }
}

impl JsonSchema for PolicyFile {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        PathBuf::schema_name()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        PathBuf::json_schema(generator)
    }
}

impl PartialEq for PolicyFile {
    fn eq(&self, other: &PolicyFile) -> bool {
        let version = |file: &PolicyFile| file.judge.as_ref().map(|judge| judge.version());
        self.path == other.path && version(self) == version(other)
    }
}

/// Reads the rules that configuration names, into it.
pub fn read(access: &mut Access, around: &Around<'_>, sources: &mut Sources) -> Found {
    let Some(file) = &access.policy else { return Found::default() };
    match rules(&file.path, access, sources) {
        Ok((ruling, files)) => {
            let place = |flaw: &Flaw| files.problem(sources, flaw);
            let warnings = ruling.warnings.iter().map(place);
            let doubts = ruling.names.iter().filter_map(|named| doubt(access, around, named)).collect::<Vec<_>>();
            let warnings = warnings.chain(doubts.iter().map(place)).collect();
            if let Some(file) = &mut access.policy {
                file.judge = Some(ruling.judge);
            }
            Found { problems: Vec::new(), warnings }
        }
        Err(problems) => Found { problems, warnings: Vec::new() },
    }
}

fn rules(path: &Path, access: &Access, sources: &mut Sources) -> Result<(Ruling, Files), Vec<Problem>> {
    let one = |message: String| vec![Problem::new(PATH, message)];
    let legislator = LEGISLATOR.get().ok_or_else(|| one("this program does not know the language of rules".into()))?;
    let mut files = Files::default();
    for file in named(path).map_err(one)? {
        let text = text(&file).map_err(one)?;
        let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
        let index = sources.add(&file, &text);
        files.0.push((Source { name: name.into(), text: text.into() }, index));
    }
    let texts: Vec<Source> = files.0.iter().map(|(source, _)| source.clone()).collect();
    match legislator.read(&texts, &access.members()) {
        Ok(ruling) => Ok((ruling, files)),
        Err(flaws) => Err(flaws.iter().map(|flaw| files.problem(sources, flaw)).collect()),
    }
}

/// Files of rules, and the numbers under which problems know them.
#[derive(Debug, Default)]
struct Files(Vec<(Source, usize)>);

impl Files {
    fn problem(&self, sources: &Sources, flaw: &Flaw) -> Problem {
        let of = self.0.iter().find(|(source, _)| source.name == flaw.source);
        match (of, flaw.at) {
            (Some((_, source)), Some((line, column))) => {
                sources.problem(At { source: *source, line, column }, PATH, flaw.text.as_str())
            }
            _ => Problem::new(PATH, flaw.to_string()),
        }
    }
}

fn named(path: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error: std::io::Error| unreadable(path, &error);
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        if file.extension().is_some_and(|extension| extension == "cedar") {
            files.push(file);
        }
    }
    files.sort();
    match files.len() {
        0 => Err(format!("{} holds no file that ends in .cedar", path.display())),
        1..=MAX_FILES => Ok(files),
        _ => Err(format!("{} holds more than {MAX_FILES} files", path.display())),
    }
}

fn text(file: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| unreadable(file, &error);
    let length = std::fs::metadata(file).map_err(failed)?.len();
    if length > MAX_FILE {
        return Err(format!("{} is longer than 16 MiB", file.display()));
    }
    std::fs::read_to_string(file).map_err(failed)
}

/// A name that nothing has: of a peer or a role, which may come later, if it is nearly another's; of an agent always, for only
/// configuration makes agents.
fn doubt(access: &Access, around: &Around<'_>, named: &Named) -> Option<Flaw> {
    let name = &*named.name;
    let text = match named.what {
        Noticed::Peer => misspelt("peer", name, around.peers.clone()),
        Noticed::Role => misspelt("role", name, access.role_names().collect()),
        Noticed::Agent if around.is_agent(name) => None,
        Noticed::Agent => Some(around.no_such_agent(name, &format!("Orchestrator::\"{name}\""))),
    }?;
    Some(Flaw { source: named.source.clone(), at: Some((named.line, 1)), text })
}

fn misspelt(what: &str, name: &str, known: Vec<&str>) -> Option<String> {
    if known.contains(&name) {
        return None;
    }
    let meant = nearest(name, known)?;
    Some(format!("there is no {what} `{name}` in this configuration; did you mean `{meant}`?"))
}

impl Access {
    /// Who is in which role by configuration; a token brings its own along.
    fn members(&self) -> Roles {
        let members = |members: &Vec<String>| members.iter().map(|member| member.as_str().into()).collect();
        Roles(self.roles.iter().map(|(role, named)| (role.as_str().into(), members(named))).collect())
    }

    fn role_names(&self) -> impl Iterator<Item = &str> {
        let of_tokens = self.tokens.iter().flat_map(|token| &token.roles);
        self.roles.keys().chain(of_tokens).map(String::as_str)
    }
}
