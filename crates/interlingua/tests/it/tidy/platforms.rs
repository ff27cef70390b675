//! What only Unix has is used in known places. The hub runs on Unix systems; a port to another starts with this list, and it does not grow unseen.
//!
//! New code puts such calls into a module `unix`, declared with `#[cfg(unix)]`, beside one for other systems.

use super::rust::without_comments;
use super::{Tracked, tracked};

/// What the standard library, tokio and rustix offer on Unix alone.
const UNIX_ONLY: [&str; 8] = [
    "std::os::unix",
    "std::os::linux",
    "std::os::fd",
    "tokio::net::Unix",
    "signal::unix",
    "rustix::",
    "UnixStream",
    "UnixListener",
];

/// Where they are used without a `cfg`, and what for.
const KNOWN: [(&str, &str); 39] = [
    ("crates/access/src/owner_token.rs", "file modes"),
    ("crates/agents/src/team/workspaces.rs", "file modes"),
    ("crates/interlingua/src/cli/client/mod.rs", "the socket of the hub"),
    ("crates/interlingua/src/cli/client/transport.rs", "the socket of the hub"),
    ("crates/interlingua/src/cli/connect/file.rs", "file modes"),
    ("crates/interlingua/src/cli/demo.rs", "replaces its process"),
    ("crates/interlingua/src/cli/device.rs", "signals"),
    ("crates/interlingua/src/cli/doctor/advice.rs", "the user"),
    ("crates/interlingua/src/cli/doctor/mod.rs", "the socket of the hub, limits, room on the disk"),
    ("crates/interlingua/src/cli/mcp/mod.rs", "the socket of the hub"),
    ("crates/interlingua/src/cli/open.rs", "file modes"),
    ("crates/interlingua/src/cli/screen.rs", "the width of the terminal"),
    ("crates/interlingua/src/cli/serve.rs", "signals, the user"),
    ("crates/interlingua/src/cli/trust/token.rs", "file modes"),
    ("crates/interlingua/src/main.rs", "limits"),
    ("crates/interlingua/src/server/run.rs", "Unix sockets"),
    ("crates/interlingua/src/server/store.rs", "file modes"),
    ("crates/keys/src/load.rs", "file modes"),
    ("crates/net/src/accept.rs", "the socket of the hub, whose a connection is"),
    ("crates/net/src/descriptors.rs", "limits"),
    ("crates/process/src/child/group.rs", "process groups"),
    ("crates/process/src/child/strays.rs", "processes of others"),
    ("crates/process/src/machine.rs", "room on the disk"),
    ("crates/process/src/programs.rs", "file modes"),
    ("crates/sites/src/browser/chromium.rs", "pipes of the browser"),
    ("crates/sites/src/browser/pool.rs", "the user"),
    ("crates/sites/src/browser/weight.rs", "memory of processes"),
    ("crates/store-sqlite/src/blobs/mod.rs", "file modes"),
    ("crates/store-sqlite/src/blobs/sealed.rs", "reading at a place"),
    ("crates/store-sqlite/src/directory.rs", "file modes, locks, the user"),
    ("crates/tools/src/configured.rs", "file modes"),
    ("crates/tools/src/custom/catalogue.rs", "file modes"),
    ("crates/tools/src/custom/run.rs", "limits of a tool"),
    ("crates/tools/src/custom/writable.rs", "file modes, the user"),
    ("crates/tools/src/files/fault.rs", "errors of the system"),
    ("crates/tools/src/files/root.rs", "directory handles"),
    ("crates/tools/src/files/snapshot.rs", "directory handles"),
    ("crates/tools/src/files/temp.rs", "directory handles"),
    ("crates/tools/src/files/walk.rs", "directory handles"),
];

/// Code of the program: what tests use is no concern of its users.
fn is_program(path: &str) -> bool {
    let is_test = path.contains("/tests/") || path.ends_with("/tests.rs") || path.starts_with("crates/testkit/");
    path.starts_with("crates/") && path.contains("/src/") && !is_test
}

/// Does a file use what only Unix has, other than in a module for Unix?
fn uses_unix(file: &Tracked) -> bool {
    let is_unix = file.path.ends_with("/unix.rs") || file.path.contains("/unix/");
    let code = without_comments(&file.text);
    let code = code.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    !is_unix && UNIX_ONLY.iter().any(|call| code.contains(call))
}

#[test]
fn unix_only_calls_are_in_the_known_places() {
    let found: Vec<String> = tracked(".rs")
        .into_iter()
        .filter(|file| is_program(&file.path) && uses_unix(file))
        .map(|file| file.path)
        .collect();
    let known: Vec<&str> = KNOWN.iter().map(|(path, _)| *path).collect();
    let new: Vec<&String> = found.iter().filter(|path| !known.contains(&path.as_str())).collect();
    assert!(new.is_empty(), "put these calls into a module `unix` with `#[cfg(unix)]`: {new:#?}");
    let gone: Vec<&&str> = known.iter().filter(|path| !found.iter().any(|other| other == *path)).collect();
    assert!(gone.is_empty(), "these use nothing of Unix any more, take them out of the list: {gone:#?}");
}

#[test]
fn a_planted_call_is_found() {
    let file = |path: &str, text: &str| Tracked { path: path.to_owned(), text: text.to_owned() };
    assert!(uses_unix(&file("crates/x/src/a.rs", "use std::os::unix::fs::PermissionsExt;")));
    assert!(!uses_unix(&file("crates/x/src/a.rs", "// std::os::unix is not used\nfn a() {}")));
    assert!(!uses_unix(&file("crates/x/src/a/unix.rs", "use std::os::unix::fs::PermissionsExt;")));
    assert!(!uses_unix(&file("crates/x/src/a.rs", "fn a() {}\n#[cfg(test)]\nmod tests {\n use std::os::unix::net; }")));
}
