//! A person moves the MCP servers of a client to the hub: `import`, then `connect --write --replace`. The files are in the formats of the clients
//! (`fixtures/clients`), the client is the official SDK, started in another directory than the hub's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use interlingua_testkit::{mcp, root};
use serde_json::Value;

use super::{err, out, program};

/// Somebody's home, with a project in it.
struct Person {
    home: tempfile::TempDir,
}

impl Person {
    fn new() -> Person {
        let home = tempfile::tempdir().expect("a home");
        fs::create_dir(home.path().join("project")).expect("a project");
        fs::copy(mcp::interop("shop.py"), home.path().join("project/shop.py")).expect("a server of the project's own");
        Person { home }
    }

    fn project(&self) -> PathBuf {
        self.home.path().join("project")
    }

    /// The file of a client, where the client has it.
    fn has(&self, fixture: &str, place: &str) -> PathBuf {
        let text = fs::read_to_string(root().join("fixtures/clients").join(fixture)).expect("a fixture");
        let text = text.replace("PYTHON", &mcp::python(2).display().to_string());
        let text = text.replace("SHOP\"", &format!("{}\"", mcp::interop("shop.py").display()));
        let file = self.home.path().join(place);
        fs::create_dir_all(file.parent().expect("a folder")).expect("made");
        fs::write(&file, text).expect("written");
        file
    }

    fn types(&self, arguments: &[&str]) -> Output {
        let mut command: Command = program();
        command.args(arguments).current_dir(self.project()).env("HOME", self.home.path());
        command.env_remove("XDG_CONFIG_HOME").output().expect("it runs")
    }
}

fn read(file: &Path) -> Value {
    serde_json::from_slice(&fs::read(file).expect("there")).expect("JSON")
}

/// Imports the file, connects the client, and has the official SDK do what the client does.
async fn moves(client: &str, key: &str, fixture: &str, place: &str) -> (Person, PathBuf) {
    let person = Person::new();
    let file = person.has(fixture, place);
    let before = read(&file);
    let imported = person.types(&["import", file.to_str().expect("UTF-8"), "-o", "hub.yaml"]);
    assert_eq!(imported.status.code(), Some(0), "{}", err(&imported));
    assert!(err(&imported).contains("interlingua connect CLIENT -c hub.yaml --write"), "{}", err(&imported));
    let connected = person.types(&["connect", client, "--write", "--replace"]);
    assert_eq!(connected.status.code(), Some(0), "{}", err(&connected));
    assert!(
        out(&connected).contains("removed from its list, because the hub has them: orders, stock"),
        "{connected:?}"
    );
    assert!(!err(&connected).contains("is not valid"), "{}", err(&connected));
    let (mut rest, mut old) = (read(&file), before.clone());
    (rest[key], old[key]) = (Value::Null, Value::Null);
    assert_eq!(rest, old, "what else is in the file stays");
    let copy = file.with_file_name(format!("{}.before-interlingua", file.file_name().expect("a name").display()));
    assert_eq!(read(&copy), before);
    let elsewhere = tempfile::tempdir().expect("another directory");
    let mut desktop = Command::new(mcp::python(2));
    desktop.arg(mcp::interop("desktop_client.py")).arg(key).arg(&file).arg(elsewhere.path());
    desktop.env("PYTHONDONTWRITEBYTECODE", "1").env_remove("INTERLINGUA_DATA");
    let (success, said) = mcp::finished(desktop, "a client of the official SDK").await;
    assert!(success, "{client}:\n{said}");
    assert_eq!(
        fs::read_dir(elsewhere.path()).expect("there").count(),
        0,
        "nothing is left where the client was started"
    );
    assert!(person.project().join("data").is_dir(), "the hub's data is beside its configuration");
    (person, file)
}

#[tokio::test]
async fn the_servers_of_cursor_become_peers_and_cursor_shows_their_tools_and_nothing_else() {
    let (person, file) = moves("cursor", "mcpServers", "cursor.json", ".cursor/mcp.json").await;
    let yaml = fs::read_to_string(person.project().join("hub.yaml")).expect("written");
    assert!(!yaml.contains("tok_of"), "no credential is copied: {yaml}");
    let entry = &read(&file)["mcpServers"]["interlingua"];
    assert_eq!(entry["env"]["SHOP_TOKEN"], "tok_of_the_shop", "credentials stay in the file they are in: {entry}");
    assert_eq!(entry["env"]["STOCK_SHOP_TOKEN"], "tok_of_the_stock", "{entry}");
    assert_eq!(entry["env"]["LOG_LEVEL"], Value::Null, "what is no credential is in the configuration: {entry}");
    // A second time nothing changes: the entry keeps what it sets, though the servers it came from are gone.
    let again = person.types(&["connect", "cursor", "--write", "--replace"]);
    assert!(out(&again).contains("was there already"), "{again:?}");
    let shown = person.types(&["connect", "cursor"]);
    assert!(shown.status.success() && !out(&shown).contains("tok_of"), "no credential is printed: {shown:?}");
    assert!(err(&shown).contains("also sets SHOP_TOKEN, STOCK_SHOP_TOKEN"), "{}", err(&shown));
    let hub = person.types(&["import", file.to_str().expect("UTF-8")]);
    assert!(err(&hub).contains("mcpServers.interlingua: no counterpart: it is a hub of this program"), "{}", err(&hub));
}

#[tokio::test]
async fn the_servers_of_claude_desktop_become_peers_and_nothing_else_is_shown() {
    let place = if cfg!(target_os = "macos") { "Library/Application Support" } else { ".config" };
    let place = format!("{place}/Claude/claude_desktop_config.json");
    moves("claude-desktop", "mcpServers", "claude-desktop.json", &place).await;
}

#[tokio::test]
async fn the_servers_of_a_project_of_vscode_are_found_from_any_directory() {
    let (person, _) = moves("vscode", "servers", "vscode.json", "project/.vscode/mcp.json").await;
    let yaml = fs::read_to_string(person.project().join("hub.yaml")).expect("written");
    assert_eq!(yaml.matches("directory: \".\"").count(), 2, "{yaml}");
}

#[tokio::test]
async fn the_servers_of_gemini_become_peers_and_nothing_else_is_shown() {
    moves("gemini", "mcpServers", "gemini.json", ".gemini/settings.json").await;
}

#[test]
fn without_replace_the_client_keeps_its_servers_and_is_told_that_they_are_listed_twice() {
    let person = Person::new();
    let file = person.has("cursor.json", ".cursor/mcp.json");
    let before = read(&file);
    assert!(person.types(&["import", file.to_str().expect("UTF-8"), "-o", "hub.yaml"]).status.success());
    let connected = person.types(&["connect", "cursor", "--write"]);
    assert!(connected.status.success(), "{}", err(&connected));
    assert!(err(&connected).contains("lists their tools twice: orders, stock. With --replace"), "{}", err(&connected));
    let after = read(&file);
    for name in ["orders", "stock", "later"] {
        assert_eq!(after["mcpServers"][name], before["mcpServers"][name]);
    }
}

#[test]
fn a_file_that_is_there_is_not_written_over_by_an_import() {
    let person = Person::new();
    let file = person.has("cursor.json", ".cursor/mcp.json");
    fs::write(person.project().join("hub.yaml"), "hub: { name: mine }\n").expect("written");
    let refused = person.types(&["import", file.to_str().expect("UTF-8"), "-o", "hub.yaml"]);
    assert_eq!(refused.status.code(), Some(2), "{}", out(&refused));
    assert!(err(&refused).contains("hub.yaml is there already"), "{}", err(&refused));
    assert_eq!(fs::read_to_string(person.project().join("hub.yaml")).expect("there"), "hub: { name: mine }\n");
}

#[test]
fn variables_that_nobody_sets_are_named_when_a_client_is_connected() {
    let person = Person::new();
    fs::write(person.project().join("hub.yaml"), "hub: { name: \"${NOBODY_SETS_THIS}\" }\n").expect("written");
    let connected = person.types(&["connect", "cursor", "--write"]);
    assert!(connected.status.success(), "{}", err(&connected));
    let said = err(&connected);
    assert!(said.contains("as Cursor starts it,") && said.contains("NOBODY_SETS_THIS"), "{said}");
}

#[test]
fn the_doctor_says_which_clients_use_no_hub_and_what_would_make_it_better() {
    let person = Person::new();
    let file = person.has("cursor.json", ".cursor/mcp.json");
    let said = out(&person.types(&["doctor", "--listen", "127.0.0.1:0"]));
    let line = |words: &[&str]| {
        said.lines().any(|line| line.starts_with("better") && words.iter().all(|word| line.contains(word)))
    };
    assert!(line(&["Cursor uses no hub: `interlingua connect cursor --write`", "it has 3 of its own"]), "{said}");
    assert!(line(&["peers", "interlingua import FILE -o hub.yaml"]), "{said}");
    assert!(line(&["model", "`hub.model`"]), "{said}");
    assert!(line(&["encryption", "`store.encryption`"]), "{said}");
    assert!(person.types(&["connect", "cursor", "--write", "--data", "data"]).status.success());
    let said = out(&person.types(&["doctor", "--listen", "127.0.0.1:0"]));
    assert!(said.contains(&format!("Cursor uses a hub, by {}", file.display())), "{said}");
}
