//! Loading: from a file to a checked configuration, or to the list of all problems in it.

use std::fmt;
use std::path::{Path, PathBuf};

use super::{Config, Kind, Overrides, Speaks, check, later, phrases};
use interlingua_access::settings::{Access, policy};
use interlingua_settings::Sources;
use interlingua_settings::document::{Environment, Node, Substitution, decode, parse};
use interlingua_settings::{Found, Problem, unreadable};

/// A configuration that may be applied.
#[derive(Debug, Clone)]
pub struct Loaded {
    pub config: Config,
    /// The files it was read from.
    pub sources: Sources,
    /// What will work, but perhaps not as meant.
    pub warnings: Vec<Problem>,
}

impl Loaded {
    /// Every file whose change may change the configuration or what it points to.
    pub fn files(&self) -> Vec<PathBuf> {
        let tls = self.config.tls.iter().flat_map(|tls| [&tls.cert, &tls.key].into_iter().chain(&tls.clients));
        let sites = self.config.peers.values().filter_map(|peer| match peer.speaks.kind() {
            Kind::Site(site) => Some(site.file.clone()),
            Kind::Protocol(..) => None,
        });
        // A folder of rules is watched too: a file may be added.
        let rules = self.config.access.policy.iter().map(|policy| policy.path.clone());
        self.sources.files().map(Path::to_path_buf).chain(tls.cloned()).chain(sites).chain(rules).collect()
    }
}

/// All that keeps a file from being a configuration.
#[derive(Debug, Clone)]
pub struct Rejected {
    pub problems: Vec<Problem>,
    pub sources: Sources,
}

impl Rejected {
    /// Each problem with the line it is in: for the person whose file it is, not for a log.
    pub fn render(&self) -> String {
        let rendered: Vec<String> = self.problems.iter().map(|problem| problem.render(&self.sources)).collect();
        rendered.join("\n\n")
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.problems.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for Rejected {}

/// Reads and checks the file; what the command line says wins over it.
pub fn load(file: &Path, overrides: &Overrides, environment: Environment<'_>) -> Result<Loaded, Rejected> {
    match std::fs::read_to_string(file) {
        Ok(text) => load_text(&text, file, overrides, environment),
        Err(error) => {
            let problem = Problem::new("", unreadable(file, &error));
            Err(Rejected { problems: vec![problem], sources: Sources::default() })
        }
    }
}

/// The hub without a file: defaults, and what the command line says.
pub fn without_file(overrides: &Overrides) -> Result<Loaded, Rejected> {
    finish(Config::default(), None, Sources::default(), overrides)
}

/// As [`load`], from a text that stands for the content of `file`.
pub fn load_text(
    text: &str,
    file: &Path,
    overrides: &Overrides,
    environment: Environment<'_>,
) -> Result<Loaded, Rejected> {
    let mut sources = Sources::default();
    let source = sources.add(file, text);
    let mut root = match parse(text, source) {
        Ok(root) => root,
        Err(bad) => {
            let problems = vec![sources.problem(bad.at, "", bad.message)];
            return Err(Rejected { problems, sources });
        }
    };
    let base = file.parent().unwrap_or(Path::new(""));
    let mut problems = Vec::new();
    let mut substitution = Substitution { environment, base, sources: &mut sources, problems: &mut problems };
    if let Some(tokens) = root.at_mut(&["access", "tokens"]) {
        substitution.document(tokens, "access.tokens");
    }
    substitution.fill(&mut root, "");
    match decode::<Config>(root.clone(), &sources, later) {
        Ok(mut config) if problems.is_empty() => {
            anchor(&mut config, base);
            finish(config, Some(&root), sources, overrides)
        }
        Ok(_) => Err(Rejected { problems, sources }),
        Err(more) => {
            // A value that could not be filled in is told once, not again for what its type makes of it.
            let untold = more.into_iter().filter(|new| problems.iter().all(|told| told.path != new.path));
            let untold: Vec<Problem> = untold.collect();
            problems.extend(untold);
            Err(Rejected { problems, sources })
        }
    }
}

fn finish(
    mut config: Config,
    root: Option<&Node>,
    mut sources: Sources,
    overrides: &Overrides,
) -> Result<Loaded, Rejected> {
    if let Err(problem) = overrides.apply(&mut config) {
        return Err(Rejected { problems: vec![problem], sources });
    }
    let rules = read_rules(&mut config, &mut sources);
    let placed = |problem: Problem| match root {
        Some(root) if problem.at.is_none() => {
            sources.problem(root.locate(&problem.path), problem.path, problem.message)
        }
        Some(_) | None => problem,
    };
    let found = check::check(&config);
    let warnings = found.warnings.into_iter().chain(rules.warnings).chain(phrases::claimed(&config));
    let warnings = warnings.map(placed).collect();
    let sites = read_sites(&mut config);
    let later = sites.into_iter().chain(phrases::check(&config));
    let problems: Vec<Problem> = found.problems.into_iter().chain(rules.problems).chain(later).map(placed).collect();
    if problems.is_empty() { Ok(Loaded { config, sources, warnings }) } else { Err(Rejected { problems, sources }) }
}

/// Rules are read with the configuration that names them, and checked against the names in it.
fn read_rules(config: &mut Config, sources: &mut Sources) -> Found {
    let mut access: Access = std::mem::take(&mut config.access);
    let found = policy::read(&mut access, &config.around_access(), sources);
    config.access = access;
    found
}

/// Definitions are read with the configuration that names them, so that one with a mistake is never applied.
fn read_sites(config: &mut Config) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (name, peer) in &mut config.peers {
        if let Speaks::Site(site) = &mut peer.speaks
            && let Err(found) = site.read()
        {
            problems.extend(found.into_iter().map(|problem| Problem::new(format!("peers.{name}.site"), problem)));
        }
    }
    problems
}

/// Relative paths start at the folder of the file.
fn anchor(config: &mut Config, base: &Path) {
    let Config { tls, store, tools, peers, scripts, hooks, models, agents, browser, access, .. } = config;
    store.anchor(base);
    let mut paths: Vec<&mut PathBuf> = Vec::new();
    paths.extend(tls.iter_mut().flat_map(|tls| [&mut tls.cert, &mut tls.key].into_iter().chain(&mut tls.clients)));
    paths.extend(tools.directory.iter_mut());
    paths.extend(access.policy.iter_mut().map(|policy| &mut policy.path));
    paths.extend(access.issuers.values_mut().filter_map(|issuer| issuer.ca.as_mut()));
    paths.extend(scripts.values_mut());
    paths.extend(models.values_mut().filter_map(|model| model.file.as_mut()));
    paths.extend(agents.values_mut().filter_map(|agent| agent.output.as_mut()));
    paths.extend(tools.workspace.iter_mut());
    paths.extend(tools.roots.iter_mut().map(|root| &mut root.path));
    for peer in peers.values_mut() {
        paths.extend(peer.speaks.paths());
    }
    if browser.program().is_some() {
        paths.push(&mut browser.path);
    }
    paths.extend(hooks.values_mut().map(|hook| &mut hook.home));
    for path in paths {
        *path = base.join(&path);
    }
    for root in &mut tools.roots {
        for protected in &mut root.protected {
            *protected = root.path.join(&protected);
        }
    }
}
