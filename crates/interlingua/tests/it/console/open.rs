//! `interlingua open`.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use http::Method;
use interlingua_testkit::Hub;
use serde_json::json;

use super::{owner, signed_in};
use crate::support::{hub, until};

pub(super) async fn open(hub: &Hub, arguments: &[&str], browser: &str) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_interlingua"));
    command
        .arg("open")
        .args(arguments)
        .arg("--data")
        .arg(hub.data())
        .env("BROWSER", browser)
        .env_remove("INTERLINGUA_TOKEN");
    let output =
        tokio::task::spawn_blocking(move || command.output().expect("the program runs")).await.expect("it ends");
    (output.status.code(), String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[tokio::test]
async fn v_73_v_74_open_prints_an_address_that_signs_in_once() {
    let hub = hub("").await;
    let (code, address) = open(&hub, &["--print"], "none").await;
    assert_eq!(code, Some(0));
    let (page, ticket) = address.split_once("#ticket=").expect("a ticket in the fragment");
    assert_eq!(page, hub.url("/console/"));
    let browser = signed_in(&hub, json!({ "ticket": ticket })).await;
    assert_eq!(browser.ask(&hub, Method::GET, "/api/session", None).await.json()["subject"], json!("owner"));
    // The same over the network, for who has a token.
    let mut command = Command::new(env!("CARGO_BIN_EXE_interlingua"));
    command.args(["open", "--print", "--hub", &hub.url(""), "--token", &owner(&hub)]);
    let printed = tokio::task::spawn_blocking(move || command.output().expect("it runs")).await.expect("it ends");
    let address = String::from_utf8_lossy(&printed.stdout).trim().to_owned();
    let (_, ticket) = address.split_once("/console/#ticket=").unwrap_or_else(|| panic!("{printed:?}"));
    assert_eq!(ticket.len(), 64, "256 bits");
    signed_in(&hub, json!({ "ticket": ticket })).await;
}

#[tokio::test]
async fn v_74_attack_the_ticket_is_on_no_command_line_and_in_a_file_for_its_owner_alone() {
    let hub = hub("").await;
    let browser = hub.directory().join("browser");
    std::fs::write(&browser, "#!/bin/sh\necho \"$@\" > \"$0.new\" && mv \"$0.new\" \"$0.said\"\n").expect("written");
    std::fs::set_permissions(&browser, PermissionsExt::from_mode(0o755)).expect("set");
    let (code, said) = open(&hub, &[], browser.to_str().expect("text")).await;
    assert_eq!((code, said.contains("ticket")), (Some(0), false), "{said}");
    let noted = browser.with_extension("said");
    until("the browser to start", async || noted.exists()).await;
    let line = std::fs::read_to_string(&noted).expect("its arguments");
    let file = std::path::Path::new(line.trim());
    assert_eq!(file, std::fs::canonicalize(hub.data()).expect("a folder").join("console.html"));
    assert_eq!(std::fs::metadata(file).expect("a file").permissions().mode() & 0o777, 0o600);
    let page = std::fs::read_to_string(file).expect("its text");
    let (_, ticket) = page.split_once("/console/#ticket=").expect("it leads on");
    assert_eq!(ticket.split('"').next().expect("a value").len(), 64);
}
