//! The tools that come with the repository, and the peer that offers them beside the file tools.

use super::*;
use crate::files::{Limits, RootSpec, Workspace};
use crate::local::Local;

fn examples() -> CustomTools {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/tools");
    let tools = CustomTools::open(directory, PeerId::from("local"));
    assert_eq!(tools.problems(), []);
    tools
}

#[tokio::test]
async fn search_flights_finds_the_flights_of_the_example() {
    let args = json!({ "origin": "NYC", "destination": "Paris", "date": "2026-05-01" });
    let (events, finished) = run(&Arc::new(examples()), "search_flights", args).await;
    assert!(matches!(events[0], Event::Progress { .. }));
    let flights = finished.output.structured.unwrap();
    let brief = |flight: &Tree| (flight["airline"].clone(), flight["price"].clone(), flight["departure"].clone());
    let found: Vec<_> = flights.tree().as_array().unwrap().iter().map(brief).collect();
    assert_eq!(
        found,
        [(json!("Air France"), json!(650), json!("10:00")), (json!("United"), json!(720), json!("14:30")),]
    );
}

#[tokio::test]
async fn search_flights_says_what_is_wrong() {
    let args = json!({ "origin": "NYC", "destination": "Paris", "date": "May 1st" });
    let (_, finished) = run(&Arc::new(examples()), "search_flights", args).await;
    assert!(
        matches!(finished.outcome, Outcome::Failed(fault) if &*fault.public == "the date must be written YYYY-MM-DD")
    );
}

#[tokio::test]
async fn word_count_counts() {
    let (_, finished) = run(&Arc::new(examples()), "word_count", json!({ "text": "to be\nor not" })).await;
    assert_eq!(finished.output.structured.unwrap().tree(), &json!({ "lines": 2, "words": 4, "characters": 12 }));
}

#[tokio::test]
async fn the_local_peer_offers_files_and_programs() {
    let base = tempfile::tempdir().unwrap();
    let (files, _) = Workspace::open(RootSpec::workspace(base.path()), &[], Limits::default()).unwrap();
    let local = Arc::new(Local::new(files, Arc::default(), examples()));
    let card = local.card(interlingua_model::Time(0));
    let names: Vec<_> = card.skills.iter().map(|skill| skill.id.to_string()).collect();
    let expected =
        ["read_file", "write_file", "edit_file", "search_files", "list_directory", "search_flights", "word_count"];
    assert_eq!(names, expected.map(|name| format!("local/{name}")));

    let named = |name: &str| card.skills.iter().find(|skill| skill.id.skill.as_str() == name).unwrap().clone();
    let write = dispatch(named("write_file"), Some(json!({ "path": "a.txt", "content": "x" })));
    let Reply::Done(finished, _) = Arc::clone(&local).call(write).await.unwrap() else { panic!() };
    assert_eq!(finished.outcome, Outcome::Completed);
    assert_eq!(fs::read_to_string(base.path().join("a.txt")).unwrap(), "x");
    let outside = dispatch(named("read_file"), Some(json!({ "path": "/etc/passwd" })));
    let Reply::Done(finished, _) = Arc::clone(&local).call(outside).await.unwrap() else { panic!() };
    assert!(matches!(finished.outcome, Outcome::Failed(fault) if fault.kind == FaultKind::Denied));
    let count = dispatch(named("word_count"), Some(json!({ "text": "one" })));
    let Reply::Live(exchange) = Arc::clone(&local).call(count).await.unwrap() else { panic!() };
    assert_eq!(drain(exchange).await.1.outcome, Outcome::Completed);
}
