//! The console as it is deployed: behind a proxy, with TLS, and across an update of the hub.

use std::os::unix::fs::symlink;
use std::path::Path;

use interlingua_testkit::{Hub, port, skipped};
use rcgen::generate_simple_self_signed;
use serde_json::json;

use super::open::open;
use super::page::{MISSING, open_to_all, play_at};
use super::{owner, ticket};
use crate::support::{self, until};

#[tokio::test]
async fn v_02_v_85_it_works_behind_a_proxy_with_a_prefix_and_with_tls() {
    let made = generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let address = format!("https://{}/hub", port::free());
    let behind = support::hub(&format!("hub: {{ url: \"{address}\" }}\n")).await;
    let direct = Hub::builder(env!("CARGO_BIN_EXE_interlingua"))
        .config("tls: { cert: ./cert.pem, key: ./key.pem }\n")
        .file("cert.pem", made.cert.pem())
        .file("key.pem", made.signing_key.serialize_pem())
        .tls()
        .start()
        .await;
    let (code, printed) = open(&direct, &["--print"], "none").await;
    assert!(code == Some(0) && printed.starts_with("https://"), "{printed}");
    let credential = json!({
        "ticket": ticket(&behind, &owner(&behind)).await, "target": behind.address().to_string(), "prefix": "/hub",
        "cert": made.cert.pem(), "key": made.signing_key.serialize_pem(), "direct": printed,
    });
    let played = play_at(&address, "proxy", &credential.to_string()).await;
    let Some(seen) = played else { return skipped(MISSING) };
    let faces = &seen["faces"];
    assert_eq!((&faces["loading"], &faces["older"]), (&json!(3), &json!(1)), "{faces}");
    for (face, words) in [
        ("empty", vec!["No call needs your approval", "appears here within a few seconds"]),
        ("failed", vec!["denied", "Trace", "As of", "Retry"]),
        ("away", vec!["has not answered since", ":", "All actions are off"]),
        ("hidden", vec!["You are not signed in"]),
    ] {
        let said = faces[face].as_str().unwrap_or_default();
        assert!(words.iter().all(|word| said.contains(word)), "{face}: {said}");
    }
    assert_eq!((&seen["problems"], &seen["outside"]), (&json!([]), &json!([])), "nothing leaves the prefix");
    let cookie = json!([{"name": "__Secure-interlingua-ID", "path": "/hub/", "secure": true, "httpOnly": true, "sameSite": "Strict"}]);
    assert_eq!((&seen["cookie"], &seen["left"]), (&cookie, &json!(0)));
    assert_eq!(seen["host"], json!([{"name": "__Host-interlingua-ID", "path": "/", "secure": true}]));
}

/// Words lead to it without what it needs.
const ERASE: &str = r#"
name: erase
description: Erases something.
phrases: { en: ["erase something"] }
input: { type: object, properties: { what: { type: string } }, required: [what] }
effects: { destroys: true }
command: [sh, -c, 'echo "{}"']
"#;

/// The same program with another letter in its console's first page: another build.
fn rebuilt(to: &Path) {
    let (said, other) = (b"This console needs JavaScript.", b"This console needs Javascript.");
    let mut program = std::fs::read(env!("CARGO_BIN_EXE_interlingua")).expect("the program");
    let at = program.windows(said.len()).position(|window| window == said).expect("it has the page");
    program[at..at + said.len()].copy_from_slice(other);
    std::fs::write(to, program).expect("written");
    std::fs::set_permissions(to, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a program");
}

#[tokio::test]
async fn v_08_a_hub_of_another_build_is_said_and_nothing_is_reloaded_by_itself() {
    let folder = tempfile::tempdir().expect("a directory");
    open_to_all(folder.path());
    let (program, newer, typed) =
        (folder.path().join("interlingua"), folder.path().join("newer"), folder.path().join("typed"));
    symlink(env!("CARGO_BIN_EXE_interlingua"), &program).expect("a link");
    let builder = Hub::builder(&program).file("tools/erase.yaml", ERASE);
    let mut hub = builder.config("tools: { directory: ./tools }\n").start().await;
    let credential = json!({"ticket": ticket(&hub, &owner(&hub)).await, "owner": owner(&hub), "typed": typed});
    let (address, credential) = (hub.url(""), credential.to_string());
    #[expect(clippy::disallowed_methods, reason = "a test's own task, whose end the test waits for")]
    let playing = tokio::spawn(async move { play_at(&address, "updated", &credential).await });
    tokio::task::spawn_blocking({
        let newer = newer.clone();
        move || rebuilt(&newer)
    })
    .await
    .expect("another build");
    until("something is typed", async || typed.exists() || playing.is_finished()).await;
    std::fs::remove_file(&program).expect("the old link");
    symlink(&newer, &program).expect("a link");
    hub.restart().await;
    let Some(seen) = playing.await.expect("it ends") else { return skipped(MISSING) };
    assert_eq!((&seen["problems"], &seen["was"]), (&json!([]), &json!(0)));
    assert_eq!((&seen["kept"], &seen["reloads"]), (&json!("half a sentence"), &json!(0)));
    assert_eq!(seen["after"], 0, "once reloaded it is of the hub's build");
}
