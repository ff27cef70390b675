//! What a caller sees of a team.

use super::*;
use interlingua_model::event::{Event, Outcome};
use interlingua_model::principal::{Principal, Proof};

fn seen(play: &Play, records: &[Record]) -> Vec<Event> {
    let owner = Principal::hub_owner(Proof::InProcess).owner();
    records.iter().filter_map(|record| play.team.seen_outside(record, &owner)).collect()
}

fn notes(events: &[Event]) -> Vec<(Option<f64>, Option<f64>, &str)> {
    let progress = events.iter().filter_map(|event| match event {
        Event::Progress { done, total, note } => Some((*done, *total, note.as_deref().unwrap_or_default())),
        _ => None,
    });
    progress.collect()
}

#[test]
fn every_answer_is_an_artifact_with_its_author_and_its_trust() {
    let mut play = Play::new(plan(&["ann", "bob"]));
    let records = play.answers(A, "Paris");
    let events = seen(&play, &records);
    let Event::Artifact(chunk) = &events[0] else { panic!("{events:?}") };
    assert_eq!((chunk.artifact.as_str(), chunk.index, chunk.last), ("ann-1.1", 0, true));
    assert_eq!(chunk.parts[0].as_text(), Some("Paris"));
    assert_eq!(chunk.parts[0].provenance.by, interlingua_model::content::Party::Peer("ann".into()));
}

#[test]
fn steps_are_progress_and_votes_tell_nobodys_choice() {
    let mut play = Play::new(plan(&["ann", "bob"]));
    play.answers(A, "Paris");
    let records = play.votes(A, "agent1");
    assert_eq!(notes(&seen(&play, &records)), [(Some(1.0), Some(2.0), "ann has voted")]);
    let records = play.fails(B);
    let events = seen(&play, &records);
    let expected = [(Some(1.0), Some(1.0), "bob is out: no model"), (Some(1.0), Some(1.0), "ann speaks for the team")];
    assert_eq!(notes(&events), expected);
}

#[test]
fn members_words_are_reasoning_under_their_own_name() {
    let play = Play::new(plan(&["ann", "bob"]));
    let Event::Said { channel, parts, .. } = play.team.overheard(B, "hm".into()) else { panic!() };
    assert_eq!(channel, Channel::Reasoning);
    assert_eq!(parts[0].provenance.by, interlingua_model::content::Party::Peer("bob".into()));
}

#[test]
fn the_end_names_what_was_streamed_or_gives_it_and_without_one_gives_every_answer() {
    let mut play = Play::new(plan(&["ann"]));
    play.answers(A, "Paris");
    play.votes(A, "agent1");
    play.presents("It is Paris.");
    let finished = play.team.finished(play.team.verdict().expect("ended"));
    assert_eq!((finished.output.said, finished.output.parts.len()), (Some("final".into()), 0));
    assert!(finished.output.artifacts.is_empty(), "the answer is what was presented");

    let mut play = Play::new(plan(&["ann", "bob"]));
    play.answers(A, "Paris");
    play.waits(1_800);
    let finished = play.team.finished(play.team.verdict().expect("ended"));
    assert_eq!(finished.output.parts[0].as_text(), Some("Paris"));

    let mut play = Play::new(plan(&["ann", "bob"]));
    play.answers(A, "Paris");
    play.happen(Happening::Cancel(CancelWhy::Asked));
    let finished = play.team.finished(play.team.verdict().expect("ended"));
    assert!(matches!(finished.outcome, Outcome::Cancelled { .. }));
    assert_eq!(finished.output.artifacts.len(), 1, "partial results are kept");
}
