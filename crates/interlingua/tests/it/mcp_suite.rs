//! The official MCP conformance suite, pinned, in front of the hub in front of a fixture server: `conformance/mcp.yaml`.
//!
//! The fixture is built on the official Rust SDK and passes everything directly. Each run is compared check by check with the run against
//! the fixture itself: whatever passes there passes through the hub.

use interlingua_testkit::mcp::{Era, Suite, Verdict, client_program, fixture, fixture_program};
use interlingua_testkit::{Hub, root};

/// What the suite only notes of a hub: it answers with JSON where nothing comes before the result.
const NOTED: &[&str] = &["server-server-sse-multiple-streams server-sse-streams-functional"];

/// The totals that the fixture reaches directly; fewer would mean that the comparison has become an easy one.
async fn directly(suite: Suite, total: usize) -> Verdict {
    let server = fixture(Era::Both).await;
    let verdict = suite.server(&format!("http://{}/mcp", server.address()), None).await;
    assert!(verdict.success, "{}", verdict.output);
    assert_eq!(verdict.passed(), total, "{:#?}", verdict.failed());
    verdict
}

/// The hub as anyone would start it for the suite, except for address and data directory.
async fn hub() -> Hub {
    assert!(fixture_program().exists());
    let config = root().join("conformance/mcp.yaml");
    let config = config.to_str().expect("the path is UTF-8");
    Hub::builder(env!("CARGO_BIN_EXE_interlingua")).arguments(&["-c", config]).start().await
}

async fn compare(suite: Suite, total: usize) {
    let (direct, hub) = tokio::join!(directly(suite, total), hub());
    let known = root().join("conformance/mcp/expected-failures.yaml");
    let through = suite.server(&hub.url("/mcp"), Some(&known)).await;
    let lost = through.lost_since(&direct, NOTED);
    assert!(lost.is_empty(), "{} checks pass directly and not through the hub:\n{}", lost.len(), lost.join("\n"));
    assert!(through.success, "{}", through.output);
}

#[tokio::test]
async fn active_through_the_hub() {
    compare(Suite::Active, 40).await;
}

#[tokio::test]
async fn m_01_legacy_through_the_hub() {
    compare(Suite::Legacy, 83).await;
}

#[tokio::test]
async fn m_01_modern_through_the_hub() {
    compare(Suite::Modern, 197).await;
}

/// The suite's own servers as peers of a hub. What is known to fail must fail, so that the list of it stays true.
async fn as_client(suite: Suite, least: usize) {
    let known = root().join("conformance/mcp/expected-failures.yaml");
    let program = client_program();
    let verdict = suite.client(program.to_str().expect("the path is UTF-8"), Some(&known)).await;
    assert!(verdict.success, "{}", verdict.output);
    // What the suite runs besides, and does not score: extensions that this hub does not have.
    let beyond = ["auth/dpop", "auth/wif-jwt-bearer", "auth/enterprise-managed"];
    let counts = |check: &String| !beyond.iter().any(|name| check.starts_with(name));
    let failed: Vec<String> = verdict.failed().into_iter().filter(counts).collect();
    assert!(failed.is_empty() && verdict.passed() >= least, "{} passed, {failed:#?}", verdict.passed());
}

#[tokio::test]
async fn m_39_the_hub_as_a_client_of_the_active_set() {
    as_client(Suite::Active, 200).await;
}

#[tokio::test]
async fn m_39_the_hub_as_a_client_of_the_legacy_era() {
    as_client(Suite::Legacy, 250).await;
}

#[tokio::test]
async fn m_39_the_hub_as_a_client_of_the_modern_era() {
    as_client(Suite::Modern, 400).await;
}
