//! Unreachable peers: the operator is informed of the program or address, and of the system's error.

use http::Method;
use interlingua_testkit::Hub;
use serde_json::{Value, json};

use crate::support::{builder, logged, send, until};

/// A loopback port that nobody listens on.
fn nobody() -> String {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    format!("http://{}", taken.local_addr().expect("an address"))
}

async fn problems(hub: &Hub, peer: &str) -> String {
    let peers = hub.get("/api/peers").await.json();
    let found = peers["items"].as_array().and_then(|items| items.iter().find(|item| item["name"] == peer)).cloned();
    found.map(|peer| peer["problems"].to_string()).unwrap_or_default()
}

async fn called(hub: &Hub, token: Option<&str>, skill: &str) -> (u16, Value) {
    let bearer = token.map(|token| format!("Bearer {token}"));
    let headers: Vec<(&str, &str)> = bearer.iter().map(|bearer| ("authorization", bearer.as_str())).collect();
    let call = json!({"skill": skill, "arguments": {}});
    let answer = send(hub, Method::POST, "/api/exchanges", &headers, Some(call)).await;
    (answer.status, answer.json())
}

#[tokio::test]
async fn problems_of_a_peer_name_the_program_or_the_address_and_the_cause() {
    let (mcp, a2a, nlip, nlweb) = (nobody(), nobody(), nobody(), nobody());
    let config = format!(
        "access: {{ tokens: [ {{ name: eve, token: t-eve }} ] }}\npeers:\n  \
         missing: {{ mcp: {{ command: no-such-program-here, args: [--serve] }} }}\n  \
         refused: {{ mcp: {{ url: \"{mcp}/mcp?key=secret\" }} }}\n  \
         hotels: {{ a2a: {{ url: \"{a2a}/\" }} }}\n  \
         desk: {{ nlip: {{ url: \"{nlip}/nlip\" }} }}\n  \
         shop: {{ nlweb: {{ url: \"{nlweb}/\" }} }}\n"
    );
    let hub = builder().config(&config).start().await;
    for (peer, expected) in [
        ("missing", "program \\\"no-such-program-here\\\" was not found".to_owned()),
        ("refused", format!("{mcp}/mcp: connection refused")),
        ("hotels", format!("{a2a}/: connection refused")),
        ("desk", format!("{nlip}/nlip: connection refused")),
        ("shop", format!("{nlweb}/: connection refused")),
    ] {
        until(&format!("{peer}: {expected}"), async || problems(&hub, peer).await.contains(&expected)).await;
        logged(&hub, &["peer_unreachable", peer, "WARN"]).await;
    }
    // Retried again and again, said once; no dump of a value of the program.
    until("it is down", async || called(&hub, None, "missing/x").await.1.to_string().contains("missing is down")).await;
    let (status, down) = called(&hub, None, "missing/x").await;
    assert_eq!(status, 503, "{down}");
    assert!(down.to_string().contains("no-such-program-here"), "the Owner is told why: {down}");
    let log = hub.log();
    let said = |line: &&str| line.contains("peer_unreachable") && line.contains("missing");
    assert_eq!(log.lines().filter(said).count(), 1, "{log}");
    assert!(!log.contains("Down {"), "{log}");
    assert!(!log.contains("key=secret"), "{log}");
    let (status, unseen) = called(&hub, Some("t-eve"), "missing/x").await;
    assert_eq!((status, &unseen["error"]["kind"]), (404, &json!("not_found")), "{unseen}");
}

/// However often it was started: what the last start of it said.
#[tokio::test]
async fn a_program_that_dies_again_and_again_is_shown_with_what_it_said_last() {
    let dies = "echo started >> starts; echo 'Traceback (most recent call last):' >&2; echo 'KeyError: 7' >&2; exit 1";
    let config = format!("peers: {{ brittle: {{ mcp: {{ command: sh, args: [-c, {dies:?}] }} }} }}\n");
    let hub = builder().config(&config).start().await;
    let starts = hub.directory().join("starts");
    let count = || std::fs::read_to_string(&starts).map_or(0, |text| text.lines().count());
    until("it was started three times", async || count() >= 3).await;
    until("what it said is shown", async || problems(&hub, "brittle").await.contains("KeyError: 7")).await;
    let shown = problems(&hub, "brittle").await;
    assert_eq!(shown.matches("Traceback").count(), 1, "{shown}");
}

#[tokio::test]
async fn a_tool_put_into_the_hubs_own_directory_is_offered() {
    let hub = builder().config("").start().await;
    let directory = hub.data().join("tools");
    assert!(directory.is_dir(), "it is there from the first start");
    let tool = "name: count\ndescription: Counts.\neffects: { reads: true }\ncommand: [sh, -c, 'echo 1']\n";
    std::fs::write(directory.join("count.yaml"), tool).expect("written");
    until("it is offered", async || hub.get("/api/skills").await.text().contains("local/count")).await;
}
