//! What works and could be better: peers, a model, and the clients of this person. Their files are read; nothing is changed.

use super::{Finding, Verdict, finding};
use crate::cli::connect::{Present, present};
use crate::config::Config;

pub(super) fn advice(config: &Config) -> Vec<Finding> {
    let mut findings = vec![user()];
    findings.extend(without_peers(config));
    findings.push(model(config));
    findings.extend(present().iter().map(client));
    findings
}

fn user() -> Finding {
    match rustix::process::geteuid().is_root() {
        true => finding(
            "user",
            Verdict::Warning,
            "root: whoever takes over the hub has the machine; run it as a user of its own",
        ),
        false => finding("user", Verdict::Good, "not root"),
    }
}

fn without_peers(config: &Config) -> Option<Finding> {
    let none = config.peers.is_empty() && config.agents.is_empty() && config.teams.is_empty();
    none.then(|| {
        finding(
            "peers",
            Verdict::Better,
            "there are none, so the hub has its file tools only: name some under `peers`, or convert those of a client with `interlingua import FILE -o hub.yaml`",
        )
    })
}

fn model(config: &Config) -> Finding {
    match &config.hub.model {
        Some(name) => finding("model", Verdict::Good, format!("{name} is asked where plain words fit no phrase")),
        None => finding(
            "model",
            Verdict::Better,
            "none: plain words need a phrase or the name of a skill; with `hub.model` a model is asked for the rest, and `provider: local` needs no key",
        ),
    }
}

fn client(present: &Present) -> Finding {
    let (title, name, file) = (present.client.title(), present.client.caller(), present.file.display());
    let own = match present.servers {
        0 => String::new(),
        servers => format!(
            "; it has {servers} of its own, which `interlingua import {file} -o hub.yaml` makes peers of the hub"
        ),
    };
    match present.connected {
        true => finding("client", Verdict::Good, format!("{title} uses a hub, by {file}")),
        false => finding(
            "client",
            Verdict::Better,
            format!("{title} uses no hub: `interlingua connect {name} --write`{own}"),
        ),
    }
}
