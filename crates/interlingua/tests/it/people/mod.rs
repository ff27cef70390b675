//! What a person sees and can do: approvals, refusals, the hub of a command, the configuration of a desktop client, and terminal output.

mod approvals;
mod desktop;
mod imported;
mod place;
mod terminal;
mod told;

use std::process::{Command, Output, Stdio};

use interlingua_testkit::Hub;

use crate::support::builder;

/// Bob may call and not approve; boss may approve.
const TOKENS: &str = "
- { name: bob, token: bob-token, skills: ['*'] }
- { name: boss, token: boss-token, skills: ['*'], approve: true }
";

async fn hub(yaml: &str) -> Hub {
    let config = format!("tools: {{ directory: ./tools }}\naccess: {{ tokens: file:./tokens.yaml }}\n{yaml}");
    builder().file("tokens.yaml", TOKENS).config(&config).start().await
}

/// The program, with nothing of this machine's own in its environment.
fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_interlingua"));
    for name in ["INTERLINGUA_HUB", "INTERLINGUA_TOKEN", "INTERLINGUA_DATA", "COLUMNS"] {
        command.env_remove(name);
    }
    command.stdin(Stdio::null());
    command
}

/// A command of the Owner's, beside the hub's data directory.
fn typed(hub: &Hub, arguments: &[&str]) -> Output {
    program().args(arguments).arg("--data").arg(hub.data()).output().expect("the program runs")
}

/// A command of somebody with a token.
fn typed_by(hub: &Hub, who: &str, arguments: &[&str]) -> Output {
    let (url, token) = (hub.url(""), format!("{who}-token"));
    program().args(arguments).args(["--hub", &url, "--token", &token]).output().expect("the program runs")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
