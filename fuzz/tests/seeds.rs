//! Every check on every seed of its target, so that a fixed bug stays fixed.

use std::path::PathBuf;

use interlingua_fuzz::{TARGETS, Target, target};

fn seeds(target: &Target) -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fixtures/fuzz").join(target.name);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|_| panic!("no seeds for {}", target.name));
    let mut seeds: Vec<PathBuf> = entries.map(|entry| entry.expect("a seed").path()).collect();
    seeds.sort();
    seeds
}

fn replay(name: &str) {
    let target = target(name).expect("a target");
    let seeds = seeds(target);
    assert!(!seeds.is_empty(), "no seeds for {name}");
    for path in seeds {
        let bytes = std::fs::read(&path).expect("a seed can be read");
        let held = std::panic::catch_unwind(|| (target.check)(&bytes));
        assert!(held.is_ok(), "{}", path.display());
    }
}

#[test]
fn every_check_holds_for_every_seed_of_its_target() {
    let failed: Vec<&str> = TARGETS
        .iter()
        .map(|target| target.name)
        .filter(|name| std::panic::catch_unwind(|| replay(name)).is_err())
        .collect();
    assert!(failed.is_empty(), "{failed:?}");
}

#[test]
fn a_34_a2a_json_seeds_hold() {
    replay("a2a_json");
}

#[test]
fn a_34_a2a_proto_seeds_hold() {
    replay("a2a_proto");
}

#[test]
fn a_44_a2a_client_seeds_hold() {
    replay("a2a_client");
}

#[test]
fn m_39_what_is_said_for_a_token_holds() {
    replay("oauth");
}

#[test]
fn m_41_mcp_json_seeds_hold() {
    replay("mcp_json");
}

#[test]
fn m_41_messages_of_mcp_servers_hold() {
    replay("mcp_client");
}

#[test]
fn m_41_event_streams_hold() {
    replay("sse");
}

#[test]
fn n_46_nlip_cbor_seeds_hold() {
    replay("nlip_cbor");
}

#[test]
fn n_46_nlip_json_seeds_hold() {
    replay("nlip_json");
}

#[test]
fn p_38_aip_json_seeds_hold() {
    replay("aip_json");
}

#[test]
fn p_50_file_transfer_seeds_hold() {
    replay("aip_binary");
}

#[test]
fn q_51_nlweb_json_seeds_hold() {
    replay("nlweb_json");
}

#[test]
#[should_panic(expected = "planted")]
fn the_fault_that_was_planted_is_one() {
    (target("planted").expect("a target").check)(b"hub!");
}
