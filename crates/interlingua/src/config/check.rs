//! What types cannot say: names, addresses, files, and values that contradict each other.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

use interlingua_core::SkillId;
use interlingua_core::json::MAX_DEPTH;
use interlingua_drivers::tools::Aide;
use interlingua_protocols::aip::wire::{ClientKind, ServerKind};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::problem::{nearest, unreadable};
use super::{Asks, Config, Problem, check_a2a, check_agents, check_limits, check_peers, issuers};

/// Names with a meaning of their own: in some spelling of a skill, or in a list of who may read.
const RESERVED: [&str; 7] = ["mcp", "local", "hub", "graph", "custom_tool", "owner", "anonymous"];

/// Is this the hub's own, in whatever case it is written?
pub fn is_reserved(name: &str) -> bool {
    RESERVED.iter().any(|reserved| reserved.eq_ignore_ascii_case(name))
}

/// No longer name of a peer fits into every spelling of its skills.
const NAME: usize = 50;

/// How many values a message may have: with fewer nothing works, more take more memory than there is.
const VALUES: std::ops::RangeInclusive<u32> = 1_000..=100_000_000;

#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) problems: Vec<Problem>,
    pub(super) warnings: Vec<Problem>,
}

impl Found {
    pub(super) fn refuse(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.problems.push(Problem::new(path, message));
    }

    pub(super) fn require(&mut self, holds: bool, path: &str, message: &str) {
        if !holds {
            self.refuse(path, message);
        }
    }

    pub(super) fn warn(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.warnings.push(Problem::new(path, message));
    }
}

pub(super) fn check(config: &Config) -> Found {
    let mut found = Found::default();
    listen(config, &mut found);
    numbers(config, &mut found);
    check_limits::audit(config, &mut found);
    check_limits::limits(config, &mut found);
    for (name, peer) in &config.peers {
        peer_name("peers", name, &mut found);
        check_peers::peer(name, peer, &mut found);
    }
    for name in config.scripts.keys() {
        peer_name("scripts", name, &mut found);
        let alone = !config.peers.contains_key(name);
        found.require(alone, &format!("scripts.{name}"), "there is a peer of this name, too");
    }
    check_agents::check(config, &mut found);
    twins(config, &mut found);
    front_door(config, &mut found);
    aip(config, &mut found);
    access(config, &mut found);
    check_a2a::hub(config, &mut found);
    tools(config, &mut found);
    hooks(config, &mut found);
    config.store.encryption.iter().for_each(|encryption| encryption.check(&mut found));
    telemetry(config, &mut found);
    found
}

fn listen(config: &Config, found: &mut Found) {
    if let Some(id) = &config.hub.id {
        let fits = (1..=64).contains(&id.len()) && id.bytes().all(is_name_byte);
        found.require(fits, "hub.id", "an id is 1 to 64 letters, digits, `-` or `_`");
    }
    if let Some(given) = &config.hub.url
        && let Err(message) = url(given, &["http", "https"])
    {
        found.refuse("hub.url", message);
    }
    let Some(tls) = &config.tls else {
        if !config.listen.0.ip().is_loopback() && !config.insecure {
            let address = config.listen;
            found.refuse(
                "listen",
                format!("{address} can be reached from other machines and there is no `tls`; add it, listen on 127.0.0.1, or set `insecure: true`"),
            );
        }
        return;
    };
    let certificates = CertificateDer::pem_file_iter(&tls.cert).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    match certificates {
        Ok(certificates) => found.require(!certificates.is_empty(), "tls.cert", "no certificate in this file"),
        Err(error) => found.refuse("tls.cert", pem(&tls.cert, &error)),
    }
    if let Err(error) = PrivateKeyDer::from_pem_file(&tls.key) {
        found.refuse("tls.key", pem(&tls.key, &error));
    }
}

fn pem(file: &Path, error: &rustls::pki_types::pem::Error) -> String {
    use rustls::pki_types::pem::Error;
    match error {
        Error::Io(error) => unreadable(file, error),
        Error::NoItemsFound => format!("{} has no such item in PEM form", file.display()),
        _ => format!("{} is not a PEM file", file.display()),
    }
}

fn numbers(config: &Config, found: &mut Found) {
    let (limits, router) = (&config.limits, &config.nlip.router);
    let deep = (1..=MAX_DEPTH).contains(&usize::from(limits.depth));
    found.require(deep, "limits.depth", "expected a whole number from 1 to 1024");
    let many = VALUES.contains(&limits.values);
    found.require(many, "limits.values", "expected a whole number from 1000 to 100000000");
    for (path, value) in [
        ("limits.body", limits.body.0),
        ("limits.bodies", limits.bodies.0),
        ("limits.answers", limits.answers.0),
        ("limits.exchanges", limits.exchanges.0),
        ("limits.inboxes", limits.inboxes.0),
        ("limits.sessions", limits.sessions.0),
        ("limits.in_flight", limits.in_flight.into()),
        ("limits.connections", limits.connections.into()),
        ("limits.connections_per_address", limits.from_one_address().into()),
        ("nlip.router.session_timeout_hours", router.session_timeout_hours.into()),
        ("nlip.router.max_parallel_calls", router.max_parallel_calls.into()),
        ("browser.contexts", config.browser.contexts.into()),
        ("browser.sessions", config.browser.sessions.into()),
        ("browser.page_memory", config.browser.page_memory.0),
        ("retention.tasks_count", config.retention.tasks_count),
        ("retention.tasks_per_caller", config.retention.tasks_per_caller),
        ("retention.conversations_per_caller", config.retention.conversations_per_caller),
        ("retention.bytes_per_caller", config.retention.bytes_per_caller.0),
        ("retention.anonymous_bytes", config.retention.anonymous_bytes.0),
        ("retention.audit_count", config.retention.audit_count),
        ("retention.audit_bytes", config.retention.audit_bytes.0),
        ("limits.task", limits.task.0),
    ] {
        found.require(value > 0, path, "must be more than 0");
    }
    let timeouts = config.peers.iter().map(|(name, peer)| (format!("peers.{name}.timeout"), peer.timeout));
    let spans = [
        ("limits.deadline".to_owned(), Some(limits.deadline)),
        ("limits.question".to_owned(), Some(limits.question)),
        ("nlip.router.default_timeout".to_owned(), router.default_timeout),
        ("retention.conversations".to_owned(), Some(config.retention.conversations)),
    ];
    for (path, span) in spans.into_iter().chain(timeouts) {
        found.require(span.is_none_or(|span| !span.0.is_zero()), &path, "must be longer than 0");
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

/// Two names that differ in case alone are one to whoever reads them.
fn twins(config: &Config, found: &mut Found) {
    let sections = [
        ("peers", config.peers.keys().collect::<Vec<_>>()),
        ("scripts", config.scripts.keys().collect()),
        ("agents", config.agents.keys().collect()),
        ("teams", config.teams.keys().collect()),
    ];
    let mut seen: HashMap<String, &str> = HashMap::new();
    for (section, names) in sections {
        for name in names {
            let first = *seen.entry(name.to_ascii_lowercase()).or_insert(name);
            if first != name {
                found.refuse(format!("{section}.{name}"), format!("`{first}` has the same name but for its case"));
            }
        }
    }
}

pub(super) fn peer_name(section: &str, name: &str, found: &mut Found) {
    if let Some(problem) = name_problem(name) {
        found.refuse(format!("{section}.{name}"), problem);
    }
}

/// Why this cannot be the name of a peer; `None` when it can.
pub fn name_problem(name: &str) -> Option<String> {
    if is_reserved(name) {
        return Some(format!("the name `{name}` is reserved; call this peer something else"));
    }
    if name.contains("__") {
        return Some("a peer's name has no `__`: it separates peer and skill in tool names".into());
    }
    let edges = name.starts_with(['-', '_']) || name.ends_with(['-', '_']);
    let unfit = name.is_empty() || name.len() > NAME || edges || !name.bytes().all(is_name_byte);
    let rule = "a peer's name is 1 to 50 letters, digits, `-` or `_`, with a letter or digit at both ends";
    unfit.then(|| rule.into())
}

fn aip(config: &Config, found: &mut Found) {
    found.require(!config.aip.heartbeat.0.is_zero(), "aip.heartbeat", "must be longer than 0");
    found.require(config.aip.clients_per_caller > 0, "aip.clients_per_caller", "must be more than 0");
    let keys: Vec<_> = config.aip.devices.values().filter_map(|device| device.key.as_ref()).collect();
    let shared = config.aip.key.as_ref();
    let distinct = keys.iter().enumerate().all(|(index, key)| !keys[..index].contains(key) && Some(*key) != shared);
    found.require(distinct, "aip.devices", "every device's key is its own, and not the key of all");
    for (kind, skill) in &config.aip.messages {
        let path = format!("aip.messages.{kind}");
        let own = ClientKind::parse(kind).is_some() || ServerKind::parse(kind).is_some();
        found.require(!own && !kind.is_empty(), &path, "the protocol has this kind of message itself");
        found.require(skill.parse::<SkillId>().is_ok(), &path, "expected a skill, as `peer/skill`");
    }
    for id in config.aip.devices.keys() {
        found.require(!id.is_empty() && id.len() <= 4096, "aip.devices", "an id has 1 to 4096 characters");
    }
}

pub(super) fn authorities(path: &str, ca: Option<&Path>, found: &mut Found) {
    if let Some(ca) = ca
        && let Err(error) = CertificateDer::pem_file_iter(ca).and_then(Iterator::collect::<Result<Vec<_>, _>>)
    {
        found.refuse(format!("{path}.ca"), pem(ca, &error));
    }
}

pub(super) fn url(text: &str, schemes: &[&str]) -> Result<http::Uri, String> {
    let uri: http::Uri = text.parse().map_err(|_| "this is not a URL".to_owned())?;
    match (uri.scheme_str(), uri.host()) {
        (Some(scheme), Some(host)) if schemes.contains(&scheme) && !host.is_empty() => Ok(uri),
        _ => Err(format!("expected a URL with {}", schemes.join(":// or ") + "://")),
    }
}

/// Can what is sent there be read on the way?
pub(super) fn is_open(uri: &http::Uri) -> bool {
    let host = uri.host().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    let loopback = host == "localhost" || address.is_ok_and(|address| address.is_loopback());
    matches!(uri.scheme_str(), Some("http" | "ws")) && !loopback
}

/// Peers that are inside every hub.
pub(super) const BUILT_IN: [&str; 2] = ["hub", "local"];

/// `peer` or `peer/skill`.
fn front_door(config: &Config, found: &mut Found) {
    let Some(door) = &config.front_door else { return };
    let name = door.split_once('/').map_or(door.as_str(), |(peer, _)| peer);
    if config.peer_names().any(|known| known == name) {
        return;
    }
    let meant = nearest(name, config.peer_names());
    let hint = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
    found.refuse("front_door", format!("there is no peer `{name}`{hint}"));
}

fn access(config: &Config, found: &mut Found) {
    // There may be a hundred thousand of them.
    let (mut names, mut shown) = (HashSet::new(), HashMap::new());
    for (index, token) in config.access.tokens.iter().enumerate() {
        let path = format!("access.tokens.{index}");
        let named = !token.name.is_empty() && token.name.len() <= 128 && !token.name.contains(char::is_control);
        found.require(named, &path, "a caller's name is 1 to 128 characters");
        if let Some((issuer, _)) = token.name.split_once('/')
            && config.access.issuers.contains_key(issuer)
        {
            let text = format!(
                "`{issuer}/…` are those whom the issuer `{issuer}` vouches for; call this caller something else"
            );
            found.refuse(&path, text);
        }
        if !names.insert(token.name.as_str()) {
            found.refuse(&path, format!("there are two callers named `{}`", token.name));
        }
        let first = *shown.entry((token.shows, token.digest)).or_insert(index);
        if first != index {
            let other = &config.access.tokens[first].name;
            found.refuse(&path, format!("`{other}` and `{}` have the same token", token.name));
        }
    }
    roles(config, found);
    issuers::check(config, found);
    issuers::check_certificates(config, found);
}

fn roles(config: &Config, found: &mut Found) {
    const KINDS: [&str; 6] = ["user:", "agent:", "device:", "orchestrator:", "hub:", "role:"];
    for (role, members) in &config.access.roles {
        let path = format!("access.roles.{role}");
        found.require(!role.is_empty() && role.len() <= 128, &path, "a role's name is 1 to 128 characters");
        let written =
            |member: &&String| !KINDS.iter().any(|kind| member.len() > kind.len() && member.starts_with(kind));
        for member in members.iter().filter(written) {
            let text = format!(
                "`{member}` is nobody: write `user:NAME`, `agent:NAME`, `device:ID`, `orchestrator:ID`, `hub:ID` or `role:NAME`"
            );
            found.refuse(&path, text);
        }
        let agents = members.iter().filter_map(|member| member.strip_prefix("agent:"));
        for name in agents.filter(|name| !config.is_agent(name)) {
            found.warn(&path, config.no_such_agent(name, &format!("orchestrator:{name}")));
        }
    }
    let used = !config.access.roles.is_empty() || config.access.tokens.iter().any(|token| !token.roles.is_empty());
    if used && config.access.policy.is_none() {
        found.warn("access", "roles mean nothing without the rules of a `policy`");
    }
}

fn tools(config: &Config, found: &mut Found) {
    let data = real(config.data());
    for (path, place) in [("tools.directory", &config.tools.directory), ("tools.workspace", &config.tools.workspace)] {
        let Some(place) = place else { continue };
        found.require(!place.is_file(), path, "this is a file, not a directory");
    }
    let workspace = config.tools.workspace.iter().map(|place| ("tools.workspace".to_owned(), place));
    let roots = config.tools.roots.iter().enumerate();
    let roots = roots.map(|(index, root)| (format!("tools.roots.{index}.path"), &root.path));
    for (path, place) in workspace.chain(roots) {
        if data.starts_with(real(place)) {
            found.refuse(path, "the file tools would reach the hub's data directory, which holds its keys");
        }
    }
    for (index, root) in config.tools.roots.iter().enumerate() {
        let path = format!("tools.roots.{index}");
        if !root.path.exists() {
            found.warn(format!("{path}.path"), format!("{} does not exist and is skipped", root.path.display()));
        }
        for outside in root.protected.iter().filter(|place| !real(place).starts_with(real(&root.path))) {
            found.warn(&path, format!("{} is not below its root and is skipped", outside.display()));
        }
    }
}

fn hooks(config: &Config, found: &mut Found) {
    for (name, hook) in &config.hooks {
        let path = format!("hooks.{name}");
        found.require(!hook.timeout.0.is_zero(), &format!("{path}.timeout"), "must be longer than 0");
        let (key, checked) = match &hook.asks {
            Asks::Program { command, environment } => {
                ("command", Aide::named(&hook.home, command, environment, hook.timeout.0).map(drop))
            }
            Asks::Address(address) => ("url", url(address, &["http", "https"]).map(drop)),
        };
        if let Err(message) = checked {
            found.refuse(format!("{path}.{key}"), message);
        }
    }
}

/// The path with its links followed as far as it exists, and without `..` beyond that.
pub(crate) fn real(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.into());
    let existing = absolute.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    let Some((above, mut followed)) = existing else { return absolute };
    for component in absolute.strip_prefix(above).unwrap_or(Path::new("")).components() {
        match component {
            Component::ParentDir => drop(followed.pop()),
            other => followed.push(other),
        }
    }
    followed
}

fn telemetry(config: &Config, found: &mut Found) {
    if let Some(otlp) = &config.telemetry.otlp
        && let Err(message) = url(otlp, &["http", "https"])
    {
        found.refuse("telemetry.otlp", message);
    }
    if tracing_subscriber::EnvFilter::try_new(&config.telemetry.log.level).is_err() {
        found.refuse("telemetry.log.level", "expected error, warn, info, debug or trace, or `info,MODULE=debug`");
    }
}
