//! Runs the commands of the README and the documents in a shell, against a hub started as they start one, in a home of their own. The names
//! of tests that start a browser begin with `site_`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use interlingua_testkit::{Hub, Process, root};

use crate::support::until;

/// The blocks of a document: in which language each is, and what it says.
fn blocks(document: &str) -> Vec<(String, String)> {
    let text = fs::read_to_string(root().join(document)).expect("a document");
    let blocks = text.split("\n```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'));
    blocks.map(|(language, block)| (language.to_owned(), block.to_owned())).collect()
}

/// The commands of the block of a document that begins so, without the remarks beside them.
fn block(document: &str, beginning: &str) -> Vec<String> {
    let found = blocks(document).into_iter().find(|(_, block)| block.starts_with(beginning));
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
    command.env("PROGRAM", env!("CARGO_BIN_EXE_interlingua")).env("HOME", home).env_remove("INTERLINGUA_HUB");
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

/// What a document says that a block prints: the block of text right below it.
fn shown_below(document: &str, beginning: &str) -> Option<String> {
    let blocks = blocks(document);
    let place = blocks.iter().position(|(_, block)| block.starts_with(beginning))?;
    blocks.get(place + 1).filter(|(language, _)| language == "text").map(|(_, text)| text.clone())
}

/// Is this what was shown? Spaces and line ends aside, and `…` stands for anything.
fn is_as_shown(printed: &str, shown: &str) -> bool {
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    let (printed, shown) = (bare(printed), bare(shown));
    let pieces: Vec<&str> = shown.split('…').collect();
    let [first, between @ .., last] = pieces.as_slice() else { return printed == shown };
    let Some(rest) = printed.strip_prefix(first).and_then(|rest| rest.strip_suffix(last)) else { return false };
    between.iter().try_fold(rest, |rest, piece| rest.split_once(piece).map(|(_, rest)| rest)).is_some()
}

#[test]
fn what_is_shown_is_told_from_what_is_not() {
    assert!(is_as_shown("{\"id\": \"17\",\n \"a\": 1}", "{\"id\":\"…\",\"a\":1}"));
    assert!(is_as_shown("a\nb", "a b") && is_as_shown("xay", "…a…") && is_as_shown("a", "a"));
    assert!(!is_as_shown("a c", "a b") && !is_as_shown("ab", "a…c") && !is_as_shown("ab", "a"));
}

/// Blocks that stay connected or want a browser have a test of their own.
const OF_THEIR_OWN: [&str; 4] =
    ["export INTERLINGUA_DEVICE_KEY", "mkdir -p data/tools", "python3 -m http.server", "interlingua chat researcher"];

#[tokio::test]
async fn every_block_of_the_readme_prints_what_it_shows() {
    let (hub, home) = (Hub::builder(env!("CARGO_BIN_EXE_interlingua")).start().await, home());
    let mut seen = 0;
    for (_, commands) in blocks("README.md").into_iter().filter(|(language, _)| language == "sh") {
        if OF_THEIR_OWN.iter().any(|beginning| commands.starts_with(beginning)) {
            continue;
        }
        let shown = shown_below("README.md", &commands).unwrap_or_else(|| panic!("nothing is shown below\n{commands}"));
        let printed = printed(&hub, home.path(), &commands);
        assert!(is_as_shown(&printed, &shown), "{commands}\nprints\n{printed}\nand shows\n{shown}");
        seen += 1;
    }
    assert!(seen > 6, "{seen}");
}

#[tokio::test]
async fn a_machine_joins_as_the_readme_says() {
    let (hub, home) = (hub().await, home());
    let lines = block("README.md", "export INTERLINGUA_DEVICE_KEY");
    let [key, join, call] = lines.as_slice() else { panic!("{lines:?}") };
    let join = format!("{key}\n{join}");
    // The program in the place of the shell, so that it ends with this test.
    let device =
        Process::start(shell(&hub, home.path(), &join.replacen("interlingua device", "exec \"$PROGRAM\" device", 1)));
    until("the device is there", async || hub.get("/api/skills?limit=200").await.text().contains("box/list_directory"))
        .await;
    let ended = typed(&hub, home.path(), call);
    assert!(ended.status.success(), "{ended:?}\n{}", device.output());
    let shown = shown_below("README.md", "export INTERLINGUA_DEVICE_KEY").expect("what it prints");
    let printed = String::from_utf8_lossy(&ended.stdout);
    assert!(is_as_shown(&printed, &shown), "{printed}");
}

#[tokio::test]
async fn a_tool_is_added_as_the_readme_says() {
    let (hub, home) = (hub().await, home());
    let lines = block("README.md", "mkdir -p data/tools");
    let [copy, call, ask] = lines.as_slice() else { panic!("{lines:?}") };
    printed(&hub, home.path(), copy);
    until("the tool is there", async || hub.get("/api/skills?limit=200").await.text().contains("local/word_count"))
        .await;
    let both = [call, ask].map(|line| printed(&hub, home.path(), line)).concat();
    let shown = shown_below("README.md", "mkdir -p data/tools").expect("what it prints");
    assert!(is_as_shown(&both, &shown), "{both}");
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
    let both = [call, ask].map(|line| printed(&hub, home.path(), line)).concat();
    let shown = shown_below("README.md", "python3 -m http.server").expect("what it prints");
    assert!(is_as_shown(&both, &shown), "{both}");
}

#[tokio::test]
async fn the_commands_of_the_documents_end_well() {
    let (hub, home) = (hub().await, home());
    hub.write("hub.yaml", "access: { tokens: \"file:tokens.yaml\" }\n");
    for (document, beginning) in [
        ("docs/access.md", "interlingua token create"),
        ("docs/access.md", "interlingua audit show"),
        ("docs/devices.md", "interlingua run"),
        ("docs/plans.md", "interlingua run"),
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
    hub.write("circle.yaml", "tasks: { a: {} }\ndependencies: [{ from_task_id: a, to_task_id: a }]\n");
    hub.write("tool.yaml", "name: say\ndescription: Says it.\neffects: readz\ncommand: echo\n");
    for (line, code, told) in [
        ("interlingua sereve", 2, "'serve'"),
        ("interlingua check nowhere.yaml", 3, "there is no file nowhere.yaml"),
        ("interlingua check bad.yaml", 3, "did you mean `url`?"),
        ("interlingua call local/read_fil '{}'", 2, "did you mean local/read_file?"),
        ("interlingua call read_fil '{}'", 2, "did you mean local/read_file?"),
        ("interlingua call local/read_file '{path}'", 2, "not JSON"),
        ("interlingua call local/read_file @nowhere.json", 2, "there is no file nowhere.json"),
        ("interlingua call local/read_file '{\"pth\": 1}'", 2, "\n  \"path\" is a required property"),
        ("echo hello | interlingua chat nobody", 2, "no peer 'nobody'\n  `interlingua peers`"),
        ("interlingua chat nobody </dev/null", 2, "no peer 'nobody'\n  `interlingua peers`"),
        ("interlingua ask --peer loacl 'what is there?'", 2, "did you mean local?"),
        ("interlingua check tool.yaml", 3, "tool.yaml: `effects`"),
        ("interlingua run tool.yaml", 2, "tool.yaml is no plan: it has no `tasks`; a plan looks like this"),
        ("interlingua run circle.yaml", 2, "circle.yaml is no plan: "),
        ("echo '{\"tasks\": {}}' | interlingua run -", 2, "the plan has no steps"),
        ("interlingua call graph/run '{\"plan\": {}}'", 2, "the plan has no steps"),
        ("interlingua check circle.yaml", 3, "circle.yaml:2:16: dependencies[a->a#0]: step a cannot wait for itself"),
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

#[tokio::test]
async fn the_configurations_in_the_documents_are_valid() {
    let (hub, home) = (hub().await, home());
    let mut seen = 0;
    for document in ["README.md", "docs/access.md", "docs/devices.md", "docs/plans.md"] {
        for (_, yaml) in blocks(document).into_iter().filter(|(language, _)| language == "yaml") {
            hub.write("shown.yaml", yaml);
            printed(&hub, home.path(), "export OPENAI_API_KEY=none AIP_KEY=none; interlingua check shown.yaml");
            seen += 1;
        }
    }
    assert!(seen > 5, "{seen}");
}

#[tokio::test]
async fn an_agent_registers_as_the_documents_say() {
    let hub = hub().await;
    let shown = blocks("docs/agents.md").into_iter().find(|(language, _)| language == "json").expect("a card").1;
    let card: serde_json::Value = serde_json::from_str(&shown).expect("JSON");
    let answer = hub.post_json("/api/agents", &card).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    let found = hub.get("/api/agents?skill=search_hotels").await.text();
    assert!(found.contains("agent_hotel"), "{found}");
}

/// A hub with one of the configurations of `examples/agents`.
pub(crate) async fn with_agents(name: &str) -> Hub {
    let folder = root().join("examples/agents");
    let mut builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua"));
    for file in fs::read_dir(&folder).expect("the examples").filter_map(Result::ok) {
        builder = builder.file(&file.file_name().to_string_lossy(), fs::read(file.path()).expect("readable"));
    }
    builder.config(&fs::read_to_string(folder.join(name)).expect("an example")).start().await
}

#[tokio::test]
async fn a_first_agent_is_talked_to_and_a_mistyped_one_is_told_apart() {
    let (hub, home) = (with_agents("basic.yaml").await, home());
    let said = printed(&hub, home.path(), "echo 'what is there?' | interlingua chat helper");
    assert!(said.contains("That is what the workspace holds."), "{said}");
    let ended = typed(&hub, home.path(), "echo 'what is there?' | interlingua chat helpr");
    let told = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{told}");
    assert!(told.contains("did you mean helper?"), "{told}");
}

#[tokio::test]
async fn a_first_team_is_asked() {
    let (hub, home) = (with_agents("team.yaml").await, home());
    let said = printed(&hub, home.path(), "interlingua ask --peer panel 'Shall we do it?'");
    assert!(said.contains("Start small and start today."), "{said}");
}

#[tokio::test]
async fn a_first_hook_keeps_hidden_files_out_of_reach_and_nothing_else() {
    let guard = root().join("examples/hooks/guard.sh");
    let hook = format!("hooks: {{ guard: {{ before: dispatch, command: [\"{}\"] }} }}\n", guard.display());
    let hub = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config(&hook).file("data/workspace/shopping.txt", "");
    let (hub, home) = (hub.start().await, home());
    let listed = printed(&hub, home.path(), r#"interlingua call local/list_directory '{"path": "."}'"#);
    assert!(listed.contains("shopping.txt"), "{listed}");
    let ended = typed(&hub, home.path(), r#"interlingua call local/read_file '{"path": ".env"}'"#);
    let told = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(7), "{told}");
    assert!(told.contains("files with a dot in front are left alone"), "{told}");
}

#[tokio::test]
async fn what_newcomers_write_is_checked_before_a_hub_reads_it() {
    let (hub, home) = (hub().await, home());
    for (line, told) in [
        ("interlingua check examples/interlingua.yaml", "is valid"),
        ("interlingua check examples/airline.yaml", "is a valid definition of a website"),
        ("interlingua check examples/tools/word_count/tool.yaml", "is a valid manifest of a tool"),
        ("interlingua check examples/tools/search_flights/tool.yaml", "is a valid manifest of a tool"),
    ] {
        let said = printed(&hub, home.path(), line);
        assert!(said.contains(told), "{line}\n{said}");
    }
}

/// The doctor in a directory with this configuration, on a port of its own choice unless told.
fn examined(folder: &Path, config: &str, listen: &str) -> (Option<i32>, String) {
    fs::write(folder.join("hub.yaml"), config).expect("a configuration");
    let mut command = Command::new(env!("CARGO_BIN_EXE_interlingua"));
    command.args(["doctor", "-c", "hub.yaml", "--data", "data", "--listen", listen]).current_dir(folder);
    let ended = command.stdin(Stdio::null()).output().expect("it runs");
    let said = [ended.stdout, ended.stderr].concat();
    (ended.status.code(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn the_doctor_says_what_is_wrong_and_what_to_do_about_it() {
    let folder = home();
    let other = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = other.local_addr().expect("bound").to_string();
    let (free, site) = ("127.0.0.1:0", root().join("examples/airline.yaml"));
    let site = format!("browser: {{ path: ./nowhere }}\npeers: {{ shop: {{ site: \"{}\" }} }}\n", site.display());
    fs::create_dir_all(folder.path().join("tools")).expect("a directory");
    fs::write(folder.path().join("tools/odd.yaml"), "name: odd\ndescription: Odd.\ncommand: ./odd\n")
        .expect("a manifest");
    for (config, listen, code, mark, told) in [
        ("", taken.as_str(), 1, "BAD", "choose another port (`--listen`)"),
        ("access: { anonymous: refused }\n", free, 0, "warning", "`interlingua token create NAME -c FILE`"),
        ("lisen: 127.0.0.1:1\n", free, 3, "BAD", "did you mean `listen`?"),
        ("peers: { desk: { nlip: { url: \"http://127.0.0.1:1/nlip\" } } }\n", free, 0, "warning", "mend `peers.desk`"),
        (
            "peers: { files: { mcp: { command: no-such-program } } }\n",
            free,
            0,
            "warning",
            "no program `no-such-program`",
        ),
        (site.as_str(), free, 1, "BAD", "`browser.path` names"),
        ("tools: { directory: ./tools }\n", free, 0, "warning", "tools/odd.yaml"),
    ] {
        let (ended, said) = examined(folder.path(), config, listen);
        assert_eq!(ended, Some(code), "{config}\n{said}");
        assert!(said.lines().any(|line| line.starts_with(mark) && line.contains(told)), "{config}\n{said}");
    }
}

#[test]
fn a_shell_completes_what_is_begun() {
    for (typed, offered) in [
        ("interlingua comp", "completions"),
        ("interlingua call --pri", "--priority"),
        ("interlingua audit ver", "verify"),
    ] {
        let words: Vec<&str> = typed.split(' ').collect();
        let (last, before) = (words[words.len() - 1], words[words.len() - 2]);
        let line = format!(
            "eval \"$(\"$PROGRAM\" completions bash)\" && complete -p interlingua >/dev/null || exit 1\n\
             COMP_WORDS=({typed}) COMP_CWORD={} && _interlingua interlingua '{last}' '{before}' && echo \"${{COMPREPLY[@]}}\"",
            words.len() - 1
        );
        let mut shell = Command::new("bash");
        shell.args(["--norc", "-c", &line]).env("PROGRAM", env!("CARGO_BIN_EXE_interlingua")).stdin(Stdio::null());
        let ended = shell.output().expect("a shell");
        let said = String::from_utf8_lossy(&ended.stdout).into_owned();
        assert!(ended.status.success() && said.split_whitespace().any(|word| word == offered), "{typed}: {ended:?}");
    }
}
