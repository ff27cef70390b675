//! Replays the seeds of the fuzz targets, so that what was once found stays found.

#[path = "../../../fuzz/checks/a2a.rs"]
mod a2a;
#[path = "../../../fuzz/checks/a2a_client.rs"]
mod a2a_client;
#[path = "../../../fuzz/checks/aip.rs"]
mod aip;
#[path = "../../../fuzz/checks/core.rs"]
mod core;
#[path = "../../../fuzz/checks/mcp.rs"]
mod mcp;
#[path = "../../../fuzz/checks/mcp_client.rs"]
mod mcp_client;
#[path = "../../../fuzz/checks/nlip.rs"]
mod nlip;
#[path = "../../../fuzz/checks/nlweb.rs"]
mod nlweb;
#[path = "../../../fuzz/checks/oauth.rs"]
mod oauth;
#[path = "../../../fuzz/checks/providers.rs"]
mod providers;

fn replay(target: &str, check: fn(&[u8])) {
    let seeds = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/fuzz").join(target);
    let mut seen = 0;
    for entry in std::fs::read_dir(seeds).expect("the seeds are there") {
        let path = entry.expect("a seed").path();
        check(&std::fs::read(&path).expect("a seed can be read"));
        seen += 1;
    }
    assert!(seen > 0, "no seeds for {target}");
}

#[test]
fn a_34_a2a_json_seeds_hold() {
    replay("a2a_json", a2a::json);
}

#[test]
fn a_44_a2a_client_seeds_hold() {
    replay("a2a_client", a2a_client::said);
}

#[test]
fn a_34_a2a_proto_seeds_hold() {
    replay("a2a_proto", a2a::proto);
}

#[test]
fn core_json_seeds_hold() {
    replay("core_json", core::json);
}

#[test]
fn n_46_nlip_json_seeds_hold() {
    replay("nlip_json", nlip::json);
}

#[test]
fn n_46_nlip_cbor_seeds_hold() {
    replay("nlip_cbor", nlip::cbor);
}

#[test]
fn m_41_mcp_json_seeds_hold() {
    replay("mcp_json", mcp::json);
}

#[test]
fn q_51_nlweb_json_seeds_hold() {
    replay("nlweb_json", nlweb::json);
}

#[test]
fn p_38_aip_json_seeds_hold() {
    replay("aip_json", aip::json);
}

#[test]
fn m_41_messages_of_mcp_servers_hold() {
    replay("mcp_client", mcp_client::message);
}

#[test]
fn m_41_event_streams_hold() {
    replay("sse", mcp_client::events);
}

#[test]
fn m_39_what_is_said_for_a_token_holds() {
    replay("oauth", oauth::said);
}

#[test]
fn answers_of_providers_hold() {
    replay("providers", providers::stream);
}
