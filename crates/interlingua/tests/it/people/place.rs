//! A command connects to the intended hub, and to no other.

use std::fs;

use interlingua_testkit::{Process, port};

use super::{err, hub, out, program, typed};
use crate::support::until;

#[tokio::test]
async fn a_command_beside_a_hub_that_does_not_run_says_so_and_asks_no_other() {
    let mut hub = hub("").await;
    let (data, folder) = (hub.data(), hub.directory().to_path_buf());
    assert!(data.starts_with(&folder));
    hub.kill_9();
    let alone = typed(&hub, &["peers"]);
    assert_eq!(alone.status.code(), Some(4), "{}", out(&alone));
    assert!(
        err(&alone).contains(&format!("no hub runs with the data directory {}", data.display())),
        "{}",
        err(&alone)
    );
    // The same for ./data, and for a directory that was never a hub's.
    let place = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink(&data, place.path().join("data")).expect("a link");
    let here = program().arg("tasks").current_dir(place.path()).output().expect("it runs");
    assert_eq!(here.status.code(), Some(4), "{}", out(&here));
    assert!(err(&here).contains("no hub runs with the data directory data"), "{}", err(&here));
    let nowhere = program().args(["tasks", "--data", "nowhere"]).current_dir(place.path()).output().expect("it runs");
    assert_eq!(nowhere.status.code(), Some(4), "{}", err(&nowhere));
    assert!(err(&nowhere).contains("data directory nowhere"), "{}", err(&nowhere));
}

#[test]
fn a_command_that_takes_the_usual_port_names_the_hub() {
    let place = tempfile::tempdir().expect("a folder");
    // A folder of this name that is not a hub's is nobody's.
    fs::create_dir(place.path().join("data")).expect("a folder");
    let asked = program().arg("peers").current_dir(place.path()).output().expect("it runs");
    assert_eq!(err(&asked).matches("hub http://127.0.0.1:7447").count(), 1, "{}", err(&asked));
}

/// A path of a socket has about a hundred letters at most.
#[tokio::test]
async fn where_there_is_no_socket_the_owner_uses_the_token() {
    let place = tempfile::tempdir().expect("a folder");
    let (data, address) = (place.path().join("x".repeat(120)), port::free().to_string());
    let mut serve = program();
    serve.args(["serve", "--listen", &address, "--data"]).arg(&data);
    let hub = Process::start(serve);
    until("it listens", async || hub.output().contains("listening on")).await;
    assert!(hub.output().contains("owner_socket_missing"), "{}", hub.output());
    let token = fs::read_to_string(data.join("token")).expect("the Owner's token");
    let url = format!("http://{address}");
    let asked = |more: &[&str]| program().args(["keys", "list", "--hub", &url]).args(more).output().expect("it runs");
    let owner = asked(&["--token", token.trim()]);
    assert!(owner.status.success(), "{}", err(&owner));
    let nobody = asked(&[]);
    assert_eq!(nobody.status.code(), Some(7), "{}{}", out(&nobody), err(&nobody));
}
