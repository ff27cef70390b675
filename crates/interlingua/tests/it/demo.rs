//! `make demo`: the travel demo of `examples/travel`, run by the script itself, with peers on other people's SDKs; and the examples of
//! programs that embed a hub. The names of tests that start a browser begin with `site_`.

use std::collections::BTreeSet;
use std::process::Command;

use interlingua_testkit::{beside_the_tests, finished, port, run_script};

async fn told(more: &[&str]) -> String {
    // A port that nobody has taken yet may be found twice.
    let mut ports = BTreeSet::new();
    while ports.len() < 4 {
        ports.insert(port::free().port().to_string());
    }
    let mut arguments = vec!["--script", "--program", env!("CARGO_BIN_EXE_interlingua"), "--ports"];
    arguments.extend(ports.iter().map(String::as_str));
    arguments.extend(more);
    run_script("../examples/travel/story.py", &arguments).await
}

/// The line of the audit that says that a skill was called in a protocol.
fn called(story: &str, protocol: &str, skill: &str) -> bool {
    story.lines().any(|line| line.contains(&format!("-{protocol}-")) && line.ends_with(&format!("> {skill}")))
}

#[tokio::test]
async fn site_and_five_other_peers_plan_a_journey() {
    let story = told(&[]).await;
    for (protocol, skill) in [
        ("MCP", "flights/search_flights"),
        ("A2A", "hotels/find_room"),
        ("NLIP", "guide/chat"),
        ("browser", "airline/find_fares"),
        ("inside", "jury/chat"),
        ("AIP", "printer/print_itinerary"),
    ] {
        assert!(called(&story, protocol, skill), "{protocol} {skill}:\n{story}");
    }
    assert!(story.contains("> yes"), "what writes waits for a yes:\n{story}");
    assert!(story.contains("planned, agreed on and printed"), "{story}");
    assert!(story.contains("with Blue Sky Air, fare Light, 590"), "the printer printed it:\n{story}");
}

#[tokio::test]
async fn site_that_no_browser_can_reach_is_left_out_and_the_story_says_so() {
    let story = told(&["--browser", "/nowhere/chromium"]).await;
    assert!(story.contains("The airline's page is left out"), "{story}");
    assert!(story.contains("with Air France AF 7 at 19:10, 650"), "the printer printed it:\n{story}");
}

#[test]
fn without_its_script_the_demo_says_what_is_missing() {
    // The program itself lies in the checkout, so that it would find the script: somebody names one that is not there.
    let mut demo = Command::new(env!("CARGO_BIN_EXE_interlingua"));
    let ended = demo.args(["demo", "--script", "--story", "/nowhere/story.py"]).output().expect("it runs");
    assert!(!ended.status.success());
    assert!(String::from_utf8_lossy(&ended.stderr).contains("/nowhere/story.py"), "{ended:?}");
}

#[tokio::test]
async fn a_program_that_embeds_a_hub_and_one_for_each_extension_point() {
    let own = ["peer", "model", "hook", "policy", "advisor", "protocol", "middleware", "names", "store"];
    for name in ["embed".to_owned()].into_iter().chain(own.map(|point| format!("own_{point}"))) {
        let name = name.as_str();
        let (done, output) = finished(Command::new(beside_the_tests(&format!("examples/{name}"))), name).await;
        assert!(done, "{name}:\n{output}");
    }
}
