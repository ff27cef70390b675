//! The page in a real browser, with a real hub behind it.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use interlingua_testkit::{Hub, as_another_user, root, skipped};
use serde_json::Value;

use super::build::node;
use super::{owner, ticket};
use crate::support::{builder, hub};

/// Plays a script of `console/test/e2e` and returns what it saw. `None`: this machine has no browser or no Node.
pub(super) async fn play(hub: &Hub, script: &str, credential: &str) -> Option<Value> {
    play_at(&hub.url(""), script, credential).await
}

/// The same at an address that is not the hub's own.
pub(super) async fn play_at(address: &str, script: &str, credential: &str) -> Option<Value> {
    let node = node()?;
    if !Path::new("/usr/bin/chromium").exists() || !root().join("console/node_modules/playwright-core").exists() {
        return None;
    }
    let pictures = root().join("target/console");
    open_to_all(&pictures);
    let home = tempfile::tempdir().expect("a directory");
    open_to_all(home.path());
    let mut command = unprivileged(&node).unwrap_or_else(|| Command::new(&node));
    command.current_dir(root().join("console")).env("HOME", home.path());
    command.arg(format!("test/e2e/{script}.mjs")).args([address, credential]).arg(&pictures);
    let played = tokio::task::spawn_blocking(move || command.output().expect("node runs"));
    let output = played.await.expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    Some(
        serde_json::from_str(text.lines().last().unwrap_or_default()).unwrap_or_else(|error| panic!("{error}: {text}")),
    )
}

/// Node as a user without rights, where root runs the tests and that user can run it: Chromium has its sandbox only then.
fn unprivileged(node: &Path) -> Option<Command> {
    static WORKS: OnceLock<bool> = OnceLock::new();
    let node = node.to_str()?;
    let works = *WORKS.get_or_init(|| {
        let asked =
            "require('node:child_process').execFileSync('unshare', ['-U', 'true']); require.resolve('playwright-core')";
        let probe = as_another_user(node)
            .map(|mut command| command.current_dir(root().join("console")).args(["-e", asked]).output());
        matches!(probe, Ok(Ok(output)) if output.status.success())
    });
    works.then(|| as_another_user(node).ok()).flatten()
}

/// A directory that the browser's user can write to.
pub(super) fn open_to_all(directory: &Path) {
    std::fs::create_dir_all(directory).expect("a directory");
    std::fs::set_permissions(directory, PermissionsExt::from_mode(0o777)).expect("set");
}

pub(super) const MISSING: &str = "Chromium, or the npm packages of console/";

/// Signs in with a ticket, walks through the views by keyboard in both themes and languages and at three widths, with axe at
/// every stop, and signs out.
#[tokio::test]
async fn v_13_v_14_v_73_v_86_the_page_says_who_you_are_and_which_hub_this_is() {
    let hub = hub("hub: { name: Harbour }\n").await;
    let ticket = ticket(&hub, &owner(&hub)).await;
    let Some(seen) = play(&hub, "door", &ticket).await else { return skipped(MISSING) };
    assert_eq!(
        seen["problems"],
        serde_json::json!([]),
        "no violation, no foreign request, no finding of axe, no error"
    );
    assert_eq!(seen["subject"], "owner");
    assert_eq!(seen["hub"], "Harbour");
    assert_eq!((&seen["ticket_in_address"], &seen["ticket_in_history"]), (&false.into(), &false.into()));
    assert_eq!(seen["signed_out"], "signed-out");
}

/// A ticket of another caller's is never a sign-in by itself.
#[tokio::test]
async fn v_74_attack_the_page_asks_before_it_signs_in_as_somebody() {
    let tokens = "- { name: ann, token: ilg_ann }\n";
    let hub = builder().file("tokens.yaml", tokens).config("access: { tokens: file:./tokens.yaml }\n").start().await;
    let ticket = ticket(&hub, "ilg_ann").await;
    let Some(seen) = play(&hub, "confirm", &ticket).await else { return skipped(MISSING) };
    assert_eq!(seen["problems"], serde_json::json!([]));
    assert!(seen["asked"].as_str().expect("a question").contains("user:ann"), "{seen}");
    assert_eq!((&seen["before"], &seen["after"]), (&"signed-out".into(), &"user:ann".into()));
}

/// Two pages that are not the console's: one of another port, one inside a frame.
#[tokio::test]
async fn attack_a_page_on_another_port_gets_nothing_through_the_browser() {
    let hub = hub("").await;
    let ticket = ticket(&hub, &owner(&hub)).await;
    let Some(seen) = play(&hub, "foreign", &ticket).await else { return skipped(MISSING) };
    assert_eq!(seen["cookie_was_sent"], true, "a browser sends the cookie to every port of the host");
    assert_eq!(seen["read"], serde_json::json!([]), "{seen}");
    assert_eq!(seen["framed"], false);
    assert_eq!(seen["still_signed_in"], "signed-in");
}
