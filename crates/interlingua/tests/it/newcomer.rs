//! What the README types is done: its commands, by a shell, against a hub as it starts one, in a home of their own.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use interlingua_testkit::{Hub, Process, root};

use crate::support::until;

/// The commands of the block of the README that begins so.
fn block(beginning: &str) -> Vec<String> {
    let readme = fs::read_to_string(root().join("README.md")).expect("README.md");
    let blocks = readme.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
    let mut found = blocks.filter(|block| block.starts_with(beginning));
    let block = found.next().unwrap_or_else(|| panic!("no block of the README begins with {beginning}"));
    block.lines().map(str::to_owned).collect()
}

async fn hub() -> Hub {
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config("tools: { workspace: ./workspace }\n");
    builder.file("workspace/shopping.txt", "Two lemons\n").start().await
}

/// A line as a person types it, with everything of theirs in `home`.
fn shell(hub: &Hub, home: &Path, line: &str) -> Command {
    let line = line.replace("127.0.0.1:7447", &hub.address().to_string());
    let mut command = Command::new("sh");
    command.args(["-c", &format!("interlingua() {{ \"$PROGRAM\" \"$@\"; }}\n{line}")]).current_dir(hub.directory());
    command.env("PROGRAM", env!("CARGO_BIN_EXE_interlingua")).env("INTERLINGUA_HUB", hub.url("")).env("HOME", home);
    command.env_remove("XDG_CONFIG_HOME").env_remove("INTERLINGUA_TOKEN").env_remove("INTERLINGUA_DATA");
    command.stdin(Stdio::null());
    command
}

fn typed(hub: &Hub, home: &Path, line: &str) -> Output {
    shell(hub, home, line).output().expect("a shell")
}

#[tokio::test]
async fn the_commands_of_the_readme_end_well() {
    let (hub, home) = (hub().await, tempfile::tempdir().expect("a directory"));
    let lines = block("interlingua skills");
    assert!(lines.len() > 5, "{lines:?}");
    for line in &lines {
        let ended = typed(&hub, home.path(), line);
        assert!(ended.status.success(), "{line}\n{ended:?}");
        let listed = line.contains("call local/list_directory") || line.contains("ask ");
        assert!(!listed || String::from_utf8_lossy(&ended.stdout).contains("shopping.txt"), "{line}\n{ended:?}");
    }
}

#[tokio::test]
async fn a_machine_joins_as_the_readme_says() {
    let (hub, home) = (hub().await, tempfile::tempdir().expect("a directory"));
    let lines = block("interlingua device");
    let [join, call] = lines.as_slice() else { panic!("{lines:?}") };
    // The program in the place of the shell, so that it ends with this test.
    let device = Process::start(shell(&hub, home.path(), &join.replacen("interlingua ", "exec \"$PROGRAM\" ", 1)));
    until("the device is there", async || hub.get("/api/skills?limit=200").await.text().contains("box/list_directory"))
        .await;
    let ended = typed(&hub, home.path(), call);
    assert!(ended.status.success(), "{ended:?}\n{}", device.output());
}
