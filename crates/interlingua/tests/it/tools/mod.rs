//! The peer `local` over the wire: file tools and custom tools, called by name and in plain words.

mod custom;
mod files;
mod talk;
mod words;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use interlingua_testkit::{Hub, HubBuilder};
use serde_json::{Value, json};

use crate::support::until;
use talk::Talk;

/// A hub with a workspace and a tools directory, neither of which holds anything.
fn builder() -> HubBuilder {
    Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config("tools: { workspace: ./workspace, directory: ./tools }\n")
}

/// A tool of this name whose program is the shell script `body`; `keys` are further lines of its manifest.
fn install(directory: &Path, name: &str, body: &str, keys: &str) {
    let folder = directory.join("tools").join(name);
    fs::create_dir_all(&folder).expect("the test can prepare its files");
    let program = folder.join(name);
    fs::write(&program, format!("#!/bin/sh\n{body}\n")).expect("the test can prepare its files");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("the test can prepare its files");
    // The manifest last: a tool without its program would be a problem.
    fs::write(folder.join("tool.yaml"), format!("name: {name}\ndescription: a test\n{keys}\n"))
        .expect("the test can prepare its files");
}

/// A tool of the examples directory.
fn install_example(directory: &Path, name: &str) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/tools").join(name);
    let to = directory.join("tools").join(name);
    fs::create_dir_all(&to).expect("the test can prepare its files");
    for entry in fs::read_dir(from).expect("the example is there") {
        let entry = entry.expect("the test can prepare its files");
        fs::copy(entry.path(), to.join(entry.file_name())).expect("the test can prepare its files");
    }
}

/// A hub with one tool `t`.
async fn hub_with_tool(body: &str, keys: &str) -> Hub {
    let builder = builder();
    install(builder.directory(), "t", body, keys);
    builder.start().await
}

/// What the Owner sees at a path of the hub's interface.
async fn seen(hub: &Hub, path: &str) -> Value {
    hub.get(path).await.json()
}

/// The content of the submessage with this label.
fn labelled(reply: &Value, label: &str) -> Option<Value> {
    let parts = reply["submessages"].as_array()?;
    parts.iter().find(|part| part["label"] == label).map(|part| part["content"].clone())
}

/// The kind of the fault that the reply tells of.
fn fault(reply: &Value) -> String {
    let fault = labelled(reply, "interlingua-fault").unwrap_or_else(|| panic!("no fault: {reply}"));
    fault["kind"].as_str().unwrap_or_else(|| panic!("no kind: {fault}")).to_owned()
}

/// A message that calls a skill by its name.
fn call(skill: &str, arguments: &Value) -> Value {
    let call = json!({
        "format": "structured",
        "subformat": "json",
        "label": "interlingua-call",
        "content": {"skill": skill, "arguments": arguments},
    });
    json!({"format": "text", "subformat": "english", "content": "", "submessages": [call]})
}
