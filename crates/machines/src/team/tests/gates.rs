//! Limits, fairness, updates: which members may run, and what a running member is sent.

use super::*;

#[test]
fn the_limit_of_all_makes_everyone_vote_only() {
    let mut play = Play::ruled(&["ann", "bob"], |rules| rules.answers_all = Some(1));
    play.answers(A, "Paris");
    assert_eq!(play.running(A).map(|round| round.offer), Some(Offer::VoteOnly));
    // Bob's round was begun when answers were still taken.
    play.answers(B, "Lyon");
    assert_eq!(play.told(), "no more answers are taken; vote for one of those there are");
}

#[test]
fn c_01_deferred_voting_waits_for_those_who_can_still_answer() {
    let mut play = Play::ruled(&["ann", "bob"], |rules| {
        rules.answers_each = Some(1);
        rules.defer_voting = true;
    });
    play.answers(A, "Paris");
    assert_eq!(play.started(), [], "Bob has not answered yet");
    play.answers(B, "Lyon");
    assert_eq!(play.started(), [A, B]);
}

#[test]
fn deferred_voting_does_not_wait_for_who_cannot_answer() {
    let mut play = Play::ruled(&["ann", "bob", "cid"], |rules| {
        rules.answers_all = Some(1);
        rules.defer_voting = true;
    });
    play.answers(A, "Paris");
    assert_eq!(play.started(), [A], "nobody can answer any more");
    let mut play = Play::ruled(&["ann", "bob"], |rules| {
        rules.answers_each = Some(1);
        rules.defer_voting = true;
    });
    play.answers(A, "Paris");
    play.fails(B);
    assert_eq!(play.started(), [A], "the dead hold nobody up");
}

#[test]
fn c_01_who_is_too_far_ahead_is_refused_and_paused() {
    let mut play = Play::new(plan(&["ann", "bob"]));
    play.answers(A, "one");
    play.answers(A, "two");
    assert_eq!(play.started(), [], "a third answer would be three ahead of Bob, who has none");
    play.answers(B, "eins");
    assert_eq!(play.started(), [A, B]);
    play.answers(A, "three");
    assert_eq!(play.started(), [], "again three ahead");
}

#[test]
fn fairness_refuses_an_answer_of_a_round_begun_before() {
    let mut play = Play::ruled(&["ann", "bob", "cid"], |rules| rules.lead = Some(1));
    play.answers(A, "one");
    assert_eq!(play.started(), [], "one more would be two ahead");
    play.batch(vec![(B, answer("eins")), (C, answer("uno"))]);
    play.answers(A, "two");
    play.fails(C);
    assert_eq!(play.running(A), None, "Bob holds her up");
    play.votes(B, "agent1");
    play.votes(B, "agent1");
    assert!(play.running(A).is_some(), "who voted holds nobody up");
    play.answers(A, "three");
    assert_eq!(play.team.revision(A), 3);
}

#[test]
fn a_peer_past_its_hard_limit_holds_nobody_up() {
    let mut play = Play::ruled(&["ann", "bob"], |rules| rules.times.first_round = Some(Duration::from_secs(60)));
    play.answers(A, "one");
    play.answers(A, "two");
    assert_eq!(play.running(A), None);
    play.waits(60);
    assert_eq!(
        play.team.next_timer(play.now),
        Some(play.now.after(Duration::from_secs(120))),
        "the hard limit is a time"
    );
    play.waits(120);
    assert_eq!(play.started(), [A]);
}

#[test]
fn without_fairness_nobody_is_held_up() {
    let mut play = Play::ruled(&["ann", "bob"], |rules| rules.lead = None);
    for text in ["one", "two", "three", "four"] {
        play.answers(A, text);
    }
    assert_eq!(play.team.revision(A), 4);
}

#[test]
fn a_member_without_an_answer_is_not_disturbed() {
    let mut play = Play::new(plan(&["ann", "bob"]));
    play.answers(A, "Paris");
    assert_eq!(play.one(B, What::Returned), []);
    assert_eq!(play.effects, []);
}

#[test]
fn news_is_bounded_and_the_oldest_comes_first() {
    let mut play = Play::ruled(&["ann", "bob", "cid", "dan"], |rules| rules.lead = None);
    play.answers(A, "Paris");
    play.answers(C, "Nice");
    play.answers(Seat(3), "Metz");
    play.answers(B, "Lyon");
    assert_eq!(
        play.one(A, What::Returned),
        [Record::Informed { seat: A, news: vec![(C, 1), (Seat(3), 1)] }],
        "two of three"
    );
    assert_eq!(play.one(A, What::Returned), [], "no more in this round");
    let records = play.votes(A, "agent3");
    assert_eq!(records[0], Record::VoteIgnored { seat: A, why: Ignored::Unseen }, "Bob's is still unseen");
}

#[test]
fn news_comes_not_just_before_the_soft_limit() {
    let mut play = Play::ruled(&["ann", "bob"], |rules| rules.times.later_round = Some(Duration::from_secs(300)));
    play.answers(A, "Paris");
    play.answers(B, "Lyon");
    play.waits(181);
    assert_eq!(play.one(A, What::Returned), [], "less than the grace is left");
}

#[test]
fn updates_at_restart_begin_the_round_again() {
    let mut play = Play::ruled(&["ann", "bob"], |rules| rules.updates = Updates::AtRestart);
    play.answers(A, "Paris");
    play.answers(B, "Lyon");
    let before = play.round(A);
    let records = play.one(A, What::Returned);
    assert_eq!(records[0], Record::RoundRestarted { seat: A });
    assert!(play.effects.contains(&Effect::Stop { seat: A, round: before }));
    assert!(play.effects.contains(&Effect::Snapshot(A)), "what it had done is kept");
    assert_eq!(play.running(A).map(|round| round.seen.clone()), Some(vec![1, 1]));
}

#[test]
fn a_member_that_may_only_vote_is_begun_again_because_its_choices_changed() {
    let mut play = Play::ruled(&["ann", "bob"], |rules| rules.answers_each = Some(1));
    play.answers(A, "Paris");
    play.answers(B, "Lyon");
    assert_eq!(play.one(A, What::Returned)[0], Record::RoundRestarted { seat: A });
    let Some(Effect::Start(brief)) = play.effects.last() else { panic!("{:?}", play.effects) };
    assert_eq!(brief.choices, ["agent1".into(), "agent2".into()]);
}

#[test]
fn updates_can_be_switched_off() {
    let mut play = Play::ruled(&["ann", "bob"], |rules| rules.updates = Updates::Never);
    play.answers(A, "Paris");
    play.answers(B, "Lyon");
    assert_eq!(play.one(A, What::Returned), []);
}

#[test]
fn c_07_after_the_hard_limit_a_vote_counts_unless_its_choice_has_changed() {
    let late = |choice: &str| {
        let mut play = Play::ruled(&["ann", "bob", "cid"], |rules| {
            rules.times.later_round = Some(Duration::from_secs(60));
            rules.lead = None;
        });
        play.batch(vec![(A, answer("Paris")), (B, answer("Lyon"))]);
        play.waits(60);
        play.answers(B, "Lyon, after all");
        play.waits(120);
        let records = play.votes(A, choice);
        (records[0].clone(), play)
    };
    let (record, _) = late("agent1");
    assert!(matches!(record, Record::Voted { .. }), "{record:?}");
    let (record, play) = late("agent2");
    assert_eq!(record, Record::VoteIgnored { seat: A, why: Ignored::Unseen });
    assert!(play.running(A).is_some());
}

#[test]
fn an_impossible_team_is_refused() {
    let presenter = |rules: &mut Rules| rules.mode = Mode::Decomposition { presenter: Some("zoe".into()) };
    let mut foreign = plan(&["ann"]);
    presenter(&mut foreign.rules);
    let mut none = plan(&["ann"]);
    none.rules.answers_each = Some(0);
    let crowd: Vec<String> = (0..33).map(|number| format!("m{number}")).collect();
    let crowd: Vec<&str> = crowd.iter().map(String::as_str).collect();
    for wrong in [plan(&[]), plan(&["ann", "ann"]), plan(&crowd), foreign, none] {
        assert_eq!(wrong.check().expect_err("refused").kind, FaultKind::InvalidInput);
    }
}

#[test]
fn answers_reasons_and_summaries_are_bounded() {
    let mut play = Play::new(plan(&["ann", "bob"]));
    let long = "x".repeat(MAX_ANSWER + 1);
    assert_eq!(play.answers(A, &long), [Record::Refused { seat: A, why: Refusal::TooLong }]);
    assert_eq!(play.told(), "an answer has at most 256 KiB");
    play.answers(A, &long[1..]);
    let reason = "é".repeat(10_000).into();
    play.ends(A, vec![Workflow::Vote { choice: "agent1".into(), reason }]);
    let lengths: Vec<usize> = play.team.votes().map(|(_, vote)| vote.reason.chars().count()).collect();
    assert_eq!(lengths, [2_000]);
}
