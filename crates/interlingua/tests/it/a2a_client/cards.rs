//! Cards that change, contain false statements, or are invalid.

use super::*;

#[tokio::test]
async fn a_01_a_card_is_read_shown_and_kept_for_the_next_start() {
    let agent = Agent::start(card(), |_| Say::Json(result(message("ok")))).await;
    let mut hub = agent.hub().await;
    let shown = peer(&hub).await;
    assert_eq!(
        (&shown["title"], &shown["version"], &shown["class"]),
        (&json!("Hotels"), &json!("2.1"), &json!("agent"))
    );
    assert!(shown["score"].as_u64() > Some(90), "{shown}");
    let skills = hub.get("/api/skills?limit=200").await.json();
    let ids: Vec<&str> =
        skills["items"].as_array().expect("skills").iter().filter_map(|skill| skill["id"].as_str()).collect();
    assert!(ids.contains(&"agent/find") && ids.contains(&"agent/chat"), "{ids:?}");
    drop(agent);
    hub.restart().await;
    assert_eq!(peer(&hub).await["skills"], 2, "known from before, though nobody is there");
    until("an agent that is down", async || peer(&hub).await["health"] == "down").await;
    assert!(peer(&hub).await["score"].as_u64() < Some(50));
    assert_eq!(fault(&say(&hub, "x").await), "unreachable");
}

#[tokio::test]
async fn a_03_a_card_that_is_as_it_was_is_not_sent_again_and_one_that_changed_is_shown() {
    let agent = Agent::start(card(), |_| error(-32009, "VERSION_NOT_SUPPORTED")).await;
    let hub = agent.hub().await;
    let mut changed = card();
    changed["skills"] = json!([{"id": "book", "name": "Book", "description": "Books a room.", "tags": []}]);
    agent.shows(changed);
    // An agent that speaks otherwise than its card said has a new one.
    say(&hub, "x").await;
    until("the new skill", async || hub.get("/api/skills?limit=200").await.text().contains("agent/book")).await;
    assert!(!hub.get("/api/skills?limit=200").await.text().contains("agent/find"));
    let tags: Vec<bool> = (agent.scripted.heard().iter())
        .filter(|heard| heard.path.starts_with("/.well-known"))
        .map(|heard| heard.header("if-none-match").is_some())
        .collect();
    assert!(!tags[0] && tags[1..].iter().all(|tag| *tag), "{tags:?}");
}

#[tokio::test]
async fn a_card_that_becomes_unusable_leaves_the_one_before_and_the_owner_is_told() {
    let agent = Agent::start(card(), |_| error(-32009, "VERSION_NOT_SUPPORTED")).await;
    let hub = agent.hub().await;
    for (bad, told) in [(json!({"name": "x"}), "supportedInterfaces"), (json!("<html>"), "cannot be used")] {
        agent.shows(bad);
        say(&hub, "x").await;
        until("a problem that is told", async || peer(&hub).await["problems"].to_string().contains(told)).await;
        assert_eq!(peer(&hub).await["skills"], 2, "what was known stays");
    }
}

#[tokio::test]
async fn an_agent_that_insists_on_a_foreign_extension_or_lives_elsewhere_is_shown_and_not_called() {
    let mut insists = card();
    insists["capabilities"]["extensions"] = json!([{"uri": "urn:foreign:1", "required": true}]);
    let mut elsewhere = card();
    elsewhere["supportedInterfaces"][0]["url"] = "http://other.example/rpc".into();
    for (card, told) in [(insists, "urn:foreign:1"), (elsewhere, "`peers.agent.origins`")] {
        let agent = Agent::start(card, |_| Say::Json(result(message("never")))).await;
        let hub = agent.builder("").start().await;
        until("a problem that is told", async || peer(&hub).await["problems"].to_string().contains(told)).await;
        assert_eq!(peer(&hub).await["skills"], 0);
        assert_eq!(agent.heard().len(), 0);
    }
}

#[tokio::test]
async fn a_card_of_more_than_is_read_is_a_problem_and_nothing_else() {
    let mut huge = card();
    huge["description"] = "x".repeat(5 << 20).into();
    let agent = Agent::start(huge, |_| Say::Nothing).await;
    let hub = agent.builder("").start().await;
    until("a problem that is told", async || peer(&hub).await["problems"].to_string().contains("larger")).await;
    assert_eq!(hub.get("/healthz").await.status, 200);
}
