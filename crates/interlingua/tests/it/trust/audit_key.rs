//! The signing key of the audit log: sealed in the store, and rotated while the hub runs without a break in the chain.

use rcgen::KeyPair;

use super::audit::{audit, echo, hub, verified};
use super::keys::{ENCRYPTED, ONE, holding, keys, run};
use crate::support::builder;

/// The names of the keys that ever signed, the one that signs now first.
async fn signers(hub: &interlingua_testkit::Hub) -> Vec<String> {
    let view = keys(hub).await;
    let list = view["audit"].as_array().cloned().unwrap_or_default();
    list.iter().filter_map(|key| key["id"].as_str().map(str::to_owned)).collect()
}

#[tokio::test]
async fn a_new_key_signs_the_audit_while_the_hub_runs_and_what_the_old_one_signed_still_verifies() {
    let mut hub = hub("").await;
    echo(&hub, "ann").await;
    let before = verified(&hub);
    let old = signers(&hub).await;
    let rotated = run(&hub, &["keys", "rotate", "--audit"]);
    let said = String::from_utf8_lossy(&rotated.stdout).into_owned();
    assert!(rotated.status.success() && said.contains("signs the audit") && said.contains(&old[0][..20]), "{said}");
    let new = signers(&hub).await;
    assert_eq!(new[1..], old[..]);
    echo(&hub, "bob").await;
    let after = verified(&hub);
    assert_eq!(after["keys"], serde_json::json!([old[0], new[0]]), "{after}");
    let known = before["checkpoint"].as_str().expect("a checkpoint");
    let (code, said) = audit(hub.directory(), &["verify", "--checkpoint", known]);
    assert_eq!(code, Some(0), "{said}");
    // The same from a file, without the hub, by whichever of the two keys somebody knows.
    let (_, exported) = audit(hub.directory(), &["export"]);
    hub.write("audit.jsonl", &exported);
    hub.kill_9();
    for key in [&old[0], &new[0]] {
        let (code, said) = audit(hub.directory(), &["verify", "audit.jsonl", "--key", key]);
        assert_eq!(code, Some(0), "{said}");
    }
    let (code, said) = audit(hub.directory(), &["verify", "audit.jsonl", "--key", &"0".repeat(64)]);
    assert!(code == Some(1) && said.contains("another key"), "{said}");
    // Who leaves the old key out of the file has a file that cannot be verified, not one that holds.
    let (first, rest) = exported.split_once('\n').expect("lines");
    let mut first: serde_json::Value = serde_json::from_str(first).expect("JSON");
    first["older"] = serde_json::json!([]);
    hub.write("audit.jsonl", format!("{first}\n{rest}"));
    let (code, said) = audit(hub.directory(), &["verify", "audit.jsonl"]);
    assert!(code == Some(1) && said.contains("a key that is not known"), "{said}");
    // And the new one is still the one after a kill.
    hub.restart().await;
    echo(&hub, "ann").await;
    assert_eq!(verified(&hub)["keys"], after["keys"]);
    assert_eq!(signers(&hub).await, new);
}

#[tokio::test]
async fn the_key_that_signs_the_audit_is_nowhere_on_the_disk_but_sealed() {
    let key = KeyPair::generate_for(&rcgen::PKCS_ED25519).expect("a key");
    let pem = key.serialize_pem();
    let secret = pem.lines().nth(1).expect("its bytes").to_owned();
    // As an earlier version left it.
    let mut hub = builder().file("outer.key", ONE).file("data/audit.pem", &pem).config(ENCRYPTED).start().await;
    assert!(!hub.data().join("audit.pem").exists());
    assert_eq!(holding(&hub.data(), &secret), Vec::<std::path::PathBuf>::new());
    let taken = signers(&hub).await;
    assert_eq!(taken, [interlingua_model::Digest::of(key.public_key_raw()).to_string()]);
    // A new key of the ring seals it too: whoever takes the old one out loses nothing.
    assert!(run(&hub, &["keys", "rotate"]).status.success());
    assert!(run(&hub, &["keys", "rotate", "--audit"]).status.success());
    hub.kill_9();
    assert_eq!(holding(&hub.data(), "PRIVATE KEY"), Vec::<std::path::PathBuf>::new());
    hub.restart().await;
    assert_eq!(signers(&hub).await[1..], taken[..]);
    assert_eq!(verified(&hub)["keys"].as_array().map(Vec::len), Some(2));
}
