//! `doctor`: checks whether a hub can run on this machine with this configuration. The checks leave nothing behind. Each problem is
//! reported with a fix. What works and could be better is reported with the command or the key that makes it so ([`advice`]).

mod advice;
mod database;
mod peers;

use std::io::ErrorKind;
use std::net::TcpListener;
use std::path::Path;

use interlingua_keys::{Wrapping, is_wrapped};
use interlingua_model::PeerId;
use interlingua_sites::browser::Sandbox;
use interlingua_store_sqlite::is_private;
use interlingua_tools::custom::Catalogue;
use serde::Serialize;

use super::arguments::DoctorArguments;
use super::screen::Screen;
use super::table::Table;
use super::{Exit, Failure};
use crate::config::{self, Anonymous, Config, Overrides, Speaks};
use interlingua_net::descriptors::{self, Share};

/// Below this much room the journal will soon be unable to grow.
const ROOM: u64 = 256 << 20;
/// A clock before this was never set: 2025-01-01.
const EARLIEST: u64 = 1_735_689_600;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Good,
    /// It works, and something would make it better.
    Better,
    Warning,
    Bad,
}

#[derive(Debug, Serialize)]
struct Finding {
    what: &'static str,
    verdict: Verdict,
    detail: String,
}

fn finding(what: &'static str, verdict: Verdict, detail: impl Into<String>) -> Finding {
    Finding { what, verdict, detail: detail.into() }
}

pub(super) fn examine(arguments: &DoctorArguments) -> Result<Exit, Failure> {
    let overrides = Overrides { listen: arguments.listen, data: arguments.data.clone(), ..Overrides::default() };
    let environment = |name: &str| std::env::var(name).ok();
    let loaded = match &arguments.config {
        Some(file) => config::load(file, &overrides, &environment),
        None => config::without_file(&overrides),
    };
    let findings = match loaded {
        Ok(loaded) => {
            let text = arguments.config.as_ref().map_or("defaults".into(), |file| file.display().to_string());
            let mut findings = vec![finding("configuration", Verdict::Good, text)];
            findings.extend(loaded.warnings.iter().map(|w| finding("configuration", Verdict::Warning, w.to_string())));
            findings.extend(machine(&loaded.config));
            findings
        }
        Err(rejected) => {
            let problems = rejected.problems.iter();
            problems.map(|problem| finding("configuration", Verdict::Bad, problem.to_string())).collect()
        }
    };
    show(Screen { json: arguments.json }, &findings)?;
    let bad = findings.iter().any(|finding| finding.verdict == Verdict::Bad);
    let configured = findings.iter().any(|finding| finding.what == "configuration" && finding.verdict == Verdict::Bad);
    Ok(match (configured, bad) {
        (true, _) => Exit::Configuration,
        (false, true) => Exit::Failed,
        (false, false) => Exit::Done,
    })
}

fn show(screen: Screen, findings: &[Finding]) -> Result<(), Failure> {
    if screen.json {
        return screen.value(&serde_json::json!({ "findings": findings }));
    }
    let mut table = Table::new(&["", "what", "found"]);
    for finding in findings {
        let mark = match finding.verdict {
            Verdict::Good => "ok",
            Verdict::Better => "better",
            Verdict::Warning => "warning",
            Verdict::Bad => "BAD",
        };
        table.row([mark, finding.what, &finding.detail]);
    }
    // What is wrong is told with what to do about it: none of that is cut.
    screen.say(&table.render(usize::MAX))
}

fn machine(config: &Config) -> Vec<Finding> {
    let running = std::os::unix::net::UnixStream::connect(config.socket()).is_ok();
    let mut findings = vec![
        data(config),
        encryption(config),
        hub(config, running),
        port(config, running),
        room(config),
        open_files(config),
        clock(),
        callers(config),
    ];
    findings.extend(database::database(config));
    findings.extend(tools(config));
    findings.push(browser(config));
    findings.extend(peers::peers(config));
    findings.extend(advice::advice(config));
    findings
}

/// Whom a hub would let in, beside its own user.
fn callers(config: &Config) -> Finding {
    let access = &config.access;
    let known = access.tokens.len();
    let nobody = known == 0 && access.issuers.is_empty();
    match (nobody, access.anonymous) {
        (true, Anonymous::Refused) => finding(
            "callers",
            Verdict::Warning,
            "anonymous callers are refused, and nobody has a token: only this machine's own user gets in. `interlingua token create NAME -c FILE` makes one, in the list that `access.tokens` names",
        ),
        (true, Anonymous::Public) => finding(
            "callers",
            Verdict::Good,
            "the Owner, by socket or token; anybody else reaches what is marked public",
        ),
        (false, Anonymous::Refused | Anonymous::Public) => {
            finding("callers", Verdict::Good, format!("{known} in the list, {} issuers", access.issuers.len()))
        }
    }
}

/// Needed only by a hub that drives websites.
fn browser(config: &Config) -> Finding {
    let driven = config.peers.values().any(|peer| matches!(peer.speaks, Speaks::Site(_)));
    let sandbox = config.browser.sandboxed();
    match (interlingua_sites::browser::find(config.browser.program()), driven) {
        (Ok(program), _) => {
            let program = program.display();
            let (bad, odd, only) = match driven {
                true => (Verdict::Bad, Verdict::Warning, ""),
                false => (Verdict::Good, Verdict::Good, "; only websites need it"),
            };
            match (sandbox.possible(), sandbox) {
                (Err(problem), _) => finding("browser", bad, format!("{program}: {problem}{only}")),
                (Ok(()), Sandbox::On) => finding("browser", Verdict::Good, program.to_string()),
                (Ok(()), Sandbox::Off) => {
                    let text = format!(
                        "{program}, without its sandbox: a page that breaks out of the browser has the rights of the hub{only}"
                    );
                    finding("browser", odd, text)
                }
            }
        }
        (Err(problem), true) => finding("browser", Verdict::Bad, problem.to_string()),
        (Err(problem), false) => finding("browser", Verdict::Better, format!("{problem}; only websites need it")),
    }
}

fn data(config: &Config) -> Finding {
    let place = config.data();
    if let Err(fault) = is_private(place) {
        return finding("data directory", Verdict::Bad, fault.to_string());
    }
    let existing = place.ancestors().find(|above| above.is_dir() || above.as_os_str().is_empty());
    let existing = existing.filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let probe = existing.join(format!(".interlingua-doctor-{}", std::process::id()));
    let written = std::fs::File::create_new(&probe).and_then(|file| file.sync_all());
    let _ = std::fs::remove_file(&probe);
    match written {
        Ok(()) if existing == place => {
            finding("data directory", Verdict::Good, format!("{} is writable", place.display()))
        }
        Ok(()) => finding("data directory", Verdict::Good, format!("{} can be made", place.display())),
        Err(error) => {
            let detail = format!("cannot write in {}: {}", existing.display(), error.kind());
            finding("data directory", Verdict::Bad, detail)
        }
    }
}

/// What is encrypted. Nothing is changed by looking, and no program is run.
fn encryption(config: &Config) -> Finding {
    const SEALED: &str = "tasks, conversations, records with credentials, uploads and artifacts are encrypted";
    let wrapped = match is_wrapped(config.data()) {
        Ok(wrapped) => wrapped,
        Err(fault) => return finding("encryption", Verdict::Bad, fault.to_string()),
    };
    let Some(encryption) = &config.store.encryption else {
        return match wrapped {
            true => finding("encryption", Verdict::Bad, "the data directory is encrypted: store.encryption is wanted"),
            false => finding(
                "encryption",
                Verdict::Better,
                "off: whoever reads the disk reads what the hub stores; `store.encryption` encrypts it",
            ),
        };
    };
    match &encryption.key {
        None => finding("encryption", Verdict::Good, "by a command, which is not run here"),
        Some(_) if !wrapped => finding("encryption", Verdict::Good, "what is there is encrypted at the next start"),
        Some(key) => match Wrapping::from_text(key.expose().text().unwrap_or_default())
            .and_then(|outer| outer.opens(config.data()))
        {
            Ok(true) => finding("encryption", Verdict::Good, SEALED),
            Ok(false) => finding("encryption", Verdict::Good, "what is left is encrypted at the next start"),
            Err(fault) => finding("encryption", Verdict::Bad, fault.to_string()),
        },
    }
}

fn hub(config: &Config, running: bool) -> Finding {
    let place = config.data().display();
    let detail = if running { format!("a hub holds {place}") } else { format!("no hub holds {place}") };
    finding("running hub", Verdict::Good, detail)
}

fn port(config: &Config, running: bool) -> Finding {
    let address = config.listen;
    match TcpListener::bind(address.0) {
        Ok(_) => finding("port", Verdict::Good, format!("{address} is free")),
        Err(_) if running => finding("port", Verdict::Good, format!("{address} is taken, perhaps by the running hub")),
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            let detail = format!("{address} is taken by another program: stop it, or choose another port (`--listen`)");
            finding("port", Verdict::Bad, detail)
        }
        Err(error) => finding("port", Verdict::Bad, format!("cannot listen on {address}: {}", error.kind())),
    }
}

fn room(config: &Config) -> Finding {
    let existing = config.data().ancestors().find(|above| above.is_dir()).unwrap_or(Path::new("."));
    match rustix::fs::statvfs(existing) {
        Ok(status) => {
            let free = status.f_bavail.saturating_mul(status.f_frsize);
            let verdict = if free < ROOM { Verdict::Warning } else { Verdict::Good };
            finding("disk", verdict, format!("{} MiB free", free >> 20))
        }
        Err(error) => finding("disk", Verdict::Warning, format!("free room is not known: {}", error.kind())),
    }
}

fn open_files(config: &Config) -> Finding {
    let wanted = u64::from(config.limits.connections) + descriptors::RESERVE;
    // The hub raises the soft limit itself.
    match rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum {
        Some(allowed) if allowed < wanted => {
            let taken =
                Share::of(Some(allowed), config.limits.connections, config.limits.from_one_address()).connections;
            let detail = format!(
                "{allowed} allowed, {wanted} wanted for limits.connections: {}; the hub takes {taken} connections until you raise it with ulimit -Hn",
                config.limits.connections
            );
            finding("open files", Verdict::Warning, detail)
        }
        Some(allowed) => finding("open files", Verdict::Good, format!("{allowed} allowed, {wanted} wanted")),
        None => finding("open files", Verdict::Good, "no limit"),
    }
}

fn clock() -> Finding {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map(|since| since.as_secs());
    match now {
        Ok(seconds) if seconds >= EARLIEST => {
            let shown = interlingua_model::Time(seconds.saturating_mul(1000));
            finding("clock", Verdict::Good, shown.to_string())
        }
        Ok(_) | Err(_) => finding(
            "clock",
            Verdict::Bad,
            "this machine's clock was never set; tokens and certificates will be refused",
        ),
    }
}

/// What a hub would make of the directory, and what it would leave out.
fn tools(config: &Config) -> Vec<Finding> {
    let place = config.tools_directory();
    match std::fs::read_dir(&place) {
        Ok(_) => {
            let found = Catalogue::load(&place, &PeerId::from("local"));
            let names: Vec<&str> = found.skills().map(|skill| skill.id.skill.as_str()).collect();
            let names = if names.is_empty() { "no tools".to_owned() } else { names.join(", ") };
            let mut findings = vec![finding("tools", Verdict::Good, format!("{}: {names}", place.display()))];
            findings.extend(
                found
                    .problems
                    .iter()
                    .map(|problem| finding("tools", Verdict::Warning, format!("{}/{problem}", place.display()))),
            );
            findings
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let verdict = if config.tools.directory.is_some() { Verdict::Warning } else { Verdict::Good };
            vec![finding("tools", verdict, format!("{} is not there: no custom tools", place.display()))]
        }
        Err(error) => {
            vec![finding("tools", Verdict::Bad, format!("cannot read {}: {}", place.display(), error.kind()))]
        }
    }
}
