//! What the README and the documents type is done: their commands, by a shell, against a hub as they start one, in a home of
//! their own. The names of tests that start a browser begin with `site_`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use interlingua_testkit::{Hub, Process, root};

use crate::support::until;

/// The commands of the block of a document that begins so, without the remarks beside them.
fn block(document: &str, beginning: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(document)).expect("a document");
    let mut blocks = text.split("\n```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'));
    let found = blocks.find(|(_, block)| block.starts_with(beginning));
    let (_, block) = found.unwrap_or_else(|| panic!("no block of {document} begins with {beginning}"));
    block.lines().map(|line| line.split("   ").next().unwrap_or(line).trim().to_owned()).collect()
}

async fn hub() -> Hub {
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config("tools: { workspace: ./workspace }\n");
    builder.file("workspace/shopping.txt", "Two lemons\n").start().await
}

fn home() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

/// A line as a person types it in the checkout, with everything of theirs in `home`.
fn shell(hub: &Hub, home: &Path, line: &str) -> Command {
    let line = line.replace("127.0.0.1:7447", &hub.address().to_string());
    let line = line.replace("examples/", &format!("{}/examples/", root().display()));
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

/// What it printed, once it ended well.
fn printed(hub: &Hub, home: &Path, line: &str) -> String {
    let ended = typed(hub, home, line);
    assert!(ended.status.success(), "{line}\n{ended:?}");
    String::from_utf8_lossy(&ended.stdout).into_owned()
}

#[tokio::test]
async fn the_commands_of_the_readme_end_well() {
    let (hub, home) = (hub().await, home());
    let lines = block("README.md", "interlingua skills");
    assert!(lines.len() > 5, "{lines:?}");
    for line in &lines {
        let printed = printed(&hub, home.path(), line);
        let listed = line.contains("call local/list_directory") || line.contains("ask ");
        assert!(!listed || printed.contains("shopping.txt"), "{line}\n{printed}");
    }
}

#[tokio::test]
async fn a_machine_joins_as_the_readme_says() {
    let (hub, home) = (hub().await, home());
    let lines = block("README.md", "interlingua device");
    let [join, call] = lines.as_slice() else { panic!("{lines:?}") };
    // The program in the place of the shell, so that it ends with this test.
    let device = Process::start(shell(&hub, home.path(), &join.replacen("interlingua ", "exec \"$PROGRAM\" ", 1)));
    until("the device is there", async || hub.get("/api/skills?limit=200").await.text().contains("box/list_directory"))
        .await;
    let ended = typed(&hub, home.path(), call);
    assert!(ended.status.success(), "{ended:?}\n{}", device.output());
}

#[tokio::test]
async fn a_tool_is_added_as_the_readme_says() {
    let (hub, home) = (hub().await, home());
    let lines = block("README.md", "mkdir -p data/tools");
    let [copy, call, ask] = lines.as_slice() else { panic!("{lines:?}") };
    printed(&hub, home.path(), copy);
    until("the tool is there", async || hub.get("/api/skills?limit=200").await.text().contains("local/word_count"))
        .await;
    for line in [call, ask] {
        assert!(printed(&hub, home.path(), line).contains("\"words\": 6"), "{line}");
    }
}

#[tokio::test]
async fn site_is_called_as_the_readme_says() {
    let home = home();
    let lines = block("README.md", "python3 -m http.server");
    let [pages, serve, call, ask] = lines.as_slice() else { panic!("{lines:?}") };
    // Any free port instead of the one that the definition names.
    let airline = root().join("examples/travel");
    let mut served = Command::new("sh");
    let line = pages.replace("examples/travel/airline", "airline").replace("9104", "0");
    served.args(["-c", &format!("exec {line}")]).current_dir(&airline).env("PYTHONUNBUFFERED", "1");
    let served = Process::start(served);
    until("the page is served", async || served.output().contains(" port ")).await;
    let said = served.output();
    let port = said.split(" port ").nth(1).and_then(|rest| rest.split(' ').next()).expect("its port");
    assert_eq!(serve, "interlingua serve --site examples/travel/airline.yaml");
    let definition = fs::read_to_string(airline.join("airline.yaml")).expect("the definition").replace("9104", port);
    let hub = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("airline.yaml", definition);
    let hub = hub.arguments(&["--site", "airline.yaml"]).start().await;
    let checked = printed(&hub, home.path(), "interlingua check airline.yaml");
    assert!(checked.contains("is a valid definition of a website"), "{checked}");
    for line in [call, ask] {
        let printed = printed(&hub, home.path(), line);
        assert!(printed.contains("Classic") && printed.contains("680"), "{line}\n{printed}");
    }
}

#[tokio::test]
async fn the_commands_of_the_documents_end_well() {
    let (hub, home) = (hub().await, home());
    hub.write("hub.yaml", "access: { tokens: \"file:tokens.yaml\" }\n");
    for (document, beginning) in [
        ("docs/access.md", "interlingua token create"),
        ("docs/access.md", "interlingua audit show"),
        ("docs/devices.md", "interlingua run"),
    ] {
        for line in block(document, beginning) {
            printed(&hub, home.path(), &line);
        }
    }
    let told = printed(&hub, home.path(), "interlingua audit verify audit.jsonl --json");
    assert!(told.contains("true"), "{told}");
}

#[tokio::test]
async fn what_is_typed_wrong_is_answered_with_what_was_meant() {
    let (hub, home) = (hub().await, home());
    hub.write("bad.yaml", "peers: { desk: { nlip: { ulr: \"http://127.0.0.1:9/nlip\" } } }\n");
    for (line, code, told) in [
        ("interlingua sereve", 2, "'serve'"),
        ("interlingua check nowhere.yaml", 3, "there is no file nowhere.yaml"),
        ("interlingua check bad.yaml", 3, "did you mean `url`?"),
        ("interlingua call local/read_fil '{}'", 2, "interlingua skills"),
        ("interlingua call local/read_file '{path}'", 2, "not JSON"),
        ("interlingua call local/read_file @nowhere.json", 2, "there is no file nowhere.json"),
        ("interlingua skills --hub http://127.0.0.1:1", 4, "interlingua serve"),
        ("interlingua ask 'write hello to a.txt'", 5, "interlingua approve"),
        ("interlingua connect claude", 2, "claude-desktop"),
    ] {
        let ended = typed(&hub, home.path(), line);
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(code), "{line}\n{said}");
        assert!(said.contains(told), "{line}\n{said}");
    }
}
