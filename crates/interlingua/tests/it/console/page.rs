//! The page in a real browser, with a real hub behind it.

use std::path::Path;

use interlingua_testkit::{Hub, root, skipped};
use serde_json::Value;

use super::build::{node, run};
use super::{owner, ticket};
use crate::support::{builder, hub};

/// Plays a script of `console/test/e2e` and returns what it saw. `None`: this machine has no browser or no Node.
async fn play(hub: &Hub, script: &str, credential: &str) -> Option<Value> {
    let node = node()?;
    if !Path::new("/usr/bin/chromium").exists() || !root().join("console/node_modules/playwright-core").exists() {
        return None;
    }
    let (script, url, credential) = (format!("test/e2e/{script}.mjs"), hub.url(""), credential.to_owned());
    let pictures = root().join("target/console").display().to_string();
    let played = tokio::task::spawn_blocking(move || run(&node, &[&script, &url, &credential, &pictures]));
    let output = played.await.expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    Some(
        serde_json::from_str(text.lines().last().unwrap_or_default()).unwrap_or_else(|error| panic!("{error}: {text}")),
    )
}

const MISSING: &str = "Chromium, or the npm packages of console/";

/// Signs in with a ticket, walks through the views by keyboard in both themes and languages and at three widths, with axe at
/// every stop, and signs out.
#[tokio::test]
async fn the_page_says_who_you_are_and_which_hub_this_is() {
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
    assert_eq!(seen["ticket_in_address"], false);
    assert_eq!(seen["signed_out"], "signed-out");
}

/// A ticket of another caller's is never a sign-in by itself.
#[tokio::test]
async fn attack_the_page_asks_before_it_signs_in_as_somebody() {
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
