//! The official MCP conformance suite, pinned, in front of the hub in front of a fixture server: `conformance/mcp.yaml`.
//!
//! The fixture stands on the official Rust SDK and passes everything directly. Each run is compared check by check with
//! the run against the fixture itself: whatever passes there passes through the hub.

use interlingua_testkit::mcp::{Era, Suite, Verdict, fixture};

/// The totals that the fixture reaches directly; fewer would mean that the comparison has become an easy one.
async fn directly(suite: Suite, total: usize) -> Verdict {
    let server = fixture(Era::Both).await;
    let verdict = suite.server(&format!("http://{}/mcp", server.address()), None).await;
    assert!(verdict.success, "{}", verdict.output);
    assert_eq!(verdict.passed(), total, "{:#?}", verdict.failed());
    verdict
}

#[tokio::test]
async fn active_directly() {
    directly(Suite::Active, 40).await;
}

#[tokio::test]
async fn legacy_directly() {
    directly(Suite::Legacy, 83).await;
}

#[tokio::test]
async fn modern_directly() {
    directly(Suite::Modern, 197).await;
}
