//! Validation beyond types: names, addresses, files, and values that contradict each other.

use std::collections::HashMap;

use interlingua_model::json::MAX_DEPTH;

use super::{Config, check_limits, check_peers};

use interlingua_hub::names::{is_name_byte, name_problem};
use interlingua_settings::check::url;
use interlingua_settings::{Found, nearest};

/// How many values a message may have: with fewer nothing works, more take more memory than there is.
const VALUES: std::ops::RangeInclusive<u32> = 1_000..=100_000_000;

pub(super) fn check(config: &Config) -> Found {
    let mut found = Found::default();
    listen(config, &mut found);
    numbers(config, &mut found);
    check_limits::audit(config, &mut found);
    check_limits::limits(config, &mut found);
    for (name, peer) in &config.peers {
        found.refuse_for(format!("peers.{name}"), name_problem(name));
        check_peers::peer(name, peer, &mut found);
    }
    for name in config.scripts.keys() {
        let path = format!("scripts.{name}");
        found.refuse_for(&path, name_problem(name));
        found.require(!config.peers.contains_key(name), &path, "there is a peer of this name, too");
    }
    interlingua_agents::settings::check_models(&config.models, &mut found);
    named_models(config, &mut found);
    config.agents_to_check().check(&mut found);
    twins(config, &mut found);
    front_door(config, &mut found);
    let around = config.around_protocols();
    config.sections().iter().for_each(|(_, section)| section.check(&around, &mut found));
    config.access.check(&config.around_access(), &mut found);
    config.tools.check(config.data(), &mut found);
    for (name, hook) in &config.hooks {
        hook.check(&format!("hooks.{name}"), &mut found);
    }
    config.store.check(&mut found);
    config.telemetry.check(&mut found);
    found
}

/// Models that are named outside the section of agents.
fn named_models(config: &Config, found: &mut Found) {
    for (path, named) in [("hub.model", &config.hub.model), ("browser.model", &config.browser.model)] {
        let known = named.as_ref().is_none_or(|name| config.models.contains_key(name));
        found.require(known, path, "there is no such model");
    }
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
    tls.check(found);
}

fn numbers(config: &Config, found: &mut Found) {
    let (limits, sections) = (&config.limits, config.sections());
    let deep = (1..=MAX_DEPTH).contains(&usize::from(limits.depth));
    found.require(deep, "limits.depth", "expected a whole number from 1 to 1024");
    let many = VALUES.contains(&limits.values);
    found.require(many, "limits.values", "expected a whole number from 1000 to 100000000");
    let own = [
        ("limits.body", limits.body.0),
        ("limits.bodies", limits.bodies.0),
        ("limits.answers", limits.answers.0),
        ("limits.exchanges", limits.exchanges.0),
        ("limits.inboxes", limits.inboxes.0),
        ("limits.sessions", limits.sessions.0),
        ("limits.in_flight", limits.in_flight.into()),
        ("limits.connections", limits.connections.into()),
        ("limits.connections_per_address", limits.from_one_address().into()),
    ];
    let kept = [
        ("retention.tasks_count", config.retention.tasks_count),
        ("retention.tasks_per_caller", config.retention.tasks_per_caller),
        ("retention.conversations_per_caller", config.retention.conversations_per_caller),
        ("retention.bytes_per_caller", config.retention.bytes_per_caller.0),
        ("retention.anonymous_bytes", config.retention.anonymous_bytes.0),
        ("retention.audit_count", config.retention.audit_count),
        ("retention.audit_bytes", config.retention.audit_bytes.0),
        ("limits.task", limits.task.0),
    ];
    let protocols = sections.iter().flat_map(|(_, section)| section.numbers());
    for (path, value) in own.into_iter().chain(protocols).chain(config.browser.numbers()).chain(kept) {
        found.require(value > 0, path, "must be more than 0");
    }
    let timeouts = config.peers.iter().map(|(name, peer)| (format!("peers.{name}.timeout"), peer.timeout));
    let own = [("limits.deadline", Some(limits.deadline)), ("limits.question", Some(limits.question))];
    let protocols = sections.iter().flat_map(|(_, section)| section.spans());
    let kept = [("retention.conversations", Some(config.retention.conversations))];
    let spans = own.into_iter().chain(protocols).chain(kept).map(|(path, span)| (path.to_owned(), span));
    for (path, span) in spans.chain(timeouts) {
        found.require(span.is_none_or(|span| !span.0.is_zero()), &path, "must be longer than 0");
    }
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
