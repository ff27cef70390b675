//! The rules of file access (S-01 to S-11) as a caller sees them. Every case is tested with the driver.

use std::os::unix::fs::{MetadataExt, symlink};

use interlingua_testkit::{Hub, HubBuilder};
use serde_json::json;

use super::{Talk, builder, fault, seen};

#[tokio::test]
async fn s_01_the_workspace_is_written_and_read_by_name() {
    let hub = builder().start().await;
    let mut talk = Talk::with(&hub);
    talk.call("local/write_file", json!({"path": "deep/a.txt", "content": "one\ntwo\n"})).await;
    let edits = json!([{"oldText": "two", "newText": "three"}]);
    talk.call("local/edit_file", json!({"path": "deep/a.txt", "edits": edits})).await;
    let read = talk.call("local/read_file", json!({"path": "deep/a.txt"})).await;
    assert_eq!(read["content"], "one\nthree\n", "{read}");
    let listed = talk.call("local/list_directory", json!({"path": "deep"})).await;
    assert!(listed["content"].as_str().is_some_and(|text| text.contains("a.txt")), "{listed}");
    let mode = std::fs::metadata(hub.directory().join("workspace")).unwrap().mode();
    assert_eq!(mode & 0o777, 0o700, "a workspace that the hub makes is its owner's alone");
}

#[tokio::test]
async fn s_02_no_spelling_of_a_path_leads_outside() {
    let hub = builder().file("workspace/deep/in.txt", "in").file("out.txt", "secret").start().await;
    symlink(hub.directory().join("out.txt"), hub.directory().join("workspace/link.txt")).unwrap();
    let outside = hub.directory().join("out.txt");
    for path in ["../out.txt", "link.txt", "deep/../../out.txt", "~/out.txt", &outside.to_string_lossy()] {
        let reply = Talk::with(&hub).call("local/read_file", json!({"path": path})).await;
        assert_eq!(fault(&reply), "denied", "{path}: {reply}");
        assert!(!reply.to_string().contains("secret"), "{path}: {reply}");
    }
}

#[tokio::test]
async fn s_02_home_is_the_home_of_who_runs_the_hub() {
    let builder = with_contexts();
    let home = builder.directory().to_path_buf();
    let hub = builder.environment("HOME", &home.to_string_lossy()).start().await;
    let mut talk = Talk::with(&hub);
    let read = talk.call("local/read_file", json!({"path": "~/library/book.txt"})).await;
    assert_eq!(read["content"], "a book", "{read}");
    let denied = talk.call("local/read_file", json!({"path": "~/desk/diary.txt"})).await;
    assert_eq!(fault(&denied), "denied", "{denied}");
}

/// A hub with one context that is written but for a file in it, one that is read, and one that is a single file.
fn with_contexts() -> HubBuilder {
    let roots = "
tools:
  workspace: ./workspace
  roots:
    - { path: ./shared, permission: write, protected: [kept.txt] }
    - { path: ./library }
    - { path: ./desk/letter.txt }
";
    Hub::builder(env!("CARGO_BIN_EXE_interlingua"))
        .config(roots)
        .file("shared/kept.txt", "kept")
        .file("shared/.git/config", "git")
        .file("library/book.txt", "a book")
        .file("desk/letter.txt", "a letter")
        .file("desk/diary.txt", "a diary")
}

#[tokio::test]
async fn s_03_excluded_names_and_protected_paths_stay_read_only() {
    let hub = with_contexts().start().await;
    let path = |below: &str| hub.directory().join(below).to_string_lossy().into_owned();
    let mut talk = Talk::with(&hub);
    let made = talk.call("local/write_file", json!({"path": path("shared/new.txt"), "content": "new"})).await;
    assert!(hub.directory().join("shared/new.txt").exists(), "{made}");
    for below in ["shared/kept.txt", "shared/.git/hook", "library/new.txt"] {
        let reply = talk.call("local/write_file", json!({"path": path(below), "content": "new"})).await;
        assert_eq!(fault(&reply), "denied", "{below}: {reply}");
    }
    let read = talk.call("local/read_file", json!({"path": path("library/book.txt")})).await;
    assert_eq!(read["content"], "a book", "{read}");
}

#[tokio::test]
async fn s_03_who_may_write_files_may_not_install_programs() {
    let tools = "tools: { workspace: ./workspace, directory: ./workspace/tools }\n";
    let hub = Hub::start(env!("CARGO_BIN_EXE_interlingua"), tools).await;
    let mut talk = Talk::with(&hub);
    let manifest = json!({"path": "tools/mine.yaml", "content": "name: mine\ndescription: mine\ncommand: id\n"});
    let reply = talk.call("local/write_file", manifest).await;
    assert_eq!(fault(&reply), "denied", "{reply}");
    assert!(!hub.directory().join("workspace/tools/mine.yaml").exists());
}

#[tokio::test]
async fn s_05_a_file_context_allows_that_file_and_no_sibling() {
    let hub = with_contexts().start().await;
    let path = |below: &str| hub.directory().join(below).to_string_lossy().into_owned();
    let mut talk = Talk::with(&hub);
    let letter = talk.call("local/read_file", json!({"path": path("desk/letter.txt")})).await;
    assert_eq!(letter["content"], "a letter", "{letter}");
    let diary = talk.call("local/read_file", json!({"path": path("desk/diary.txt")})).await;
    assert!(!diary.to_string().contains("a diary"), "{diary}");
    assert_eq!(fault(&diary), "denied", "{diary}");
}

/// Of write tools any argument that leads outside, and a null byte, whatever the rest says.
#[tokio::test]
async fn s_06_an_argument_that_leads_outside_and_a_null_byte_are_denied() {
    let hub = builder().file("workspace/a.txt", "a").file("out.txt", "secret").start().await;
    symlink(hub.directory(), hub.directory().join("workspace/hole")).unwrap();
    let mut talk = Talk::with(&hub);
    for path in ["../out.txt", "/etc/passwd", "~/x", "hole/out.txt", "a\0.txt"] {
        let write = talk.call("local/write_file", json!({"path": path, "content": "x"})).await;
        assert_eq!(fault(&write), "denied", "{path:?}: {write}");
        let edits = json!([{"oldText": "secret", "newText": "x"}]);
        let edit = talk.call("local/edit_file", json!({"path": path, "edits": edits})).await;
        assert_eq!(fault(&edit), "denied", "{path:?}: {edit}");
        let search = json!({"path": ".", "pattern": "*", "excludePatterns": ["fine", path]});
        let search = talk.call("local/search_files", search).await;
        assert_eq!(fault(&search), "denied", "{path:?}: {search}");
    }
    assert_eq!(std::fs::read_to_string(hub.directory().join("out.txt")).unwrap(), "secret");
    // What is written is no path.
    let fine = talk.call("local/write_file", json!({"path": "b.txt", "content": "../out.txt"})).await;
    assert_eq!(std::fs::read_to_string(hub.directory().join("workspace/b.txt")).unwrap(), "../out.txt", "{fine}");
}

#[tokio::test]
async fn s_07_content_of_others_is_not_replaced() {
    let hub = builder().file("workspace/theirs.txt", "theirs").start().await;
    let reply = Talk::with(&hub).call("local/write_file", json!({"path": "theirs.txt", "content": "mine"})).await;
    assert_eq!(fault(&reply), "conflict", "{reply}");
    assert_eq!(std::fs::read_to_string(hub.directory().join("workspace/theirs.txt")).unwrap(), "theirs");
    let mut talk = Talk::with(&hub);
    let edits = json!([{"oldText": "theirs", "newText": "edited"}]);
    talk.call("local/edit_file", json!({"path": "theirs.txt", "edits": edits})).await;
    assert_eq!(std::fs::read_to_string(hub.directory().join("workspace/theirs.txt")).unwrap(), "edited");
    for content in ["one", "two"] {
        talk.call("local/write_file", json!({"path": "mine.txt", "content": content})).await;
    }
    assert_eq!(std::fs::read_to_string(hub.directory().join("workspace/mine.txt")).unwrap(), "two", "made in this run");
}

#[tokio::test]
async fn s_09_binary_content_is_not_read_as_text() {
    let hub = builder().file("workspace/photo.png", b"\x89PNG\r\n\x1a\n\0\0").start().await;
    let reply = Talk::with(&hub).call("local/read_file", json!({"path": "photo.png"})).await;
    assert_eq!(fault(&reply), "unsupported", "{reply}");
}

#[tokio::test]
async fn s_11_what_a_tool_changes_is_declared_and_shown() {
    let hub = builder().start().await;
    let skills = seen(&hub, "/api/skills?limit=200").await;
    let writes = |name: &str| {
        let skills = skills["items"].as_array().unwrap_or_else(|| panic!("no list: {skills}"));
        let skill = skills.iter().find(|skill| skill["id"] == name);
        skill.unwrap_or_else(|| panic!("no {name}: {skills:?}"))["effects"]["writes"].clone()
    };
    for (name, changes) in [("read_file", false), ("search_files", false), ("write_file", true), ("edit_file", true)] {
        assert_eq!(writes(&format!("local/{name}")), changes, "{name}");
    }
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_refused_with_the_place() {
    let hub = builder().start().await;
    let reply = Talk::with(&hub).call("local/read_file", json!({"path": "a.txt", "head": "three"})).await;
    assert_eq!(fault(&reply), "invalid_input", "{reply}");
    assert!(reply["content"].as_str().is_some_and(|text| text.contains("/head")), "{reply}");
}
