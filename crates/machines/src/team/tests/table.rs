//! The state table, row by row.

use super::*;

#[test]
fn c_01_a_round_begins_with_all_answers_and_a_fresh_attempt() {
    let mut play = Play::new(abc());
    assert_eq!(play.started(), [A, B, C], "in the order of registration");
    play.waits(5);
    play.answers(A, "Paris");
    assert_eq!(play.started(), [A], "the author looks again; the others are still running");
    let round = play.running(A).expect("running");
    let now = START.after(Duration::from_secs(5));
    assert_eq!((round.seen.as_slice(), round.attempt, round.began), (&[1, 0, 0][..], 1, now), "its time begins anew");
    assert_eq!(play.running(B).expect("running").began, START, "and that of nobody else");
    assert!(!play.team.place(A).restart, "it has just been shown everything");
    assert!(play.team.place(B).restart);
}

#[test]
fn c_02_text_and_reasoning_are_passed_on_with_their_source() {
    let mut play = Play::new(abc());
    for channel in [Channel::Answer, Channel::Reasoning] {
        let records = play.one(B, What::Said(channel, "Let me see".into()));
        assert_eq!(records, []);
        assert_eq!(play.effects, [Effect::Forward { seat: B, channel, text: "Let me see".into() }]);
    }
}

#[test]
fn c_03_another_tool_runs_and_its_result_is_the_moment_for_news() {
    let mut play = Play::new(plan(&["ann", "bob"]));
    play.answers(A, "Paris");
    play.answers(B, "Lyon");
    // Ann's second round began before Bob's answer.
    play.one(A, wants("t1"));
    assert_eq!(play.effects, [Effect::Permit { seat: A, round: play.round(A), call: "t1".into() }]);
    assert_eq!(play.one(A, What::Returned), [Record::Informed { seat: A, news: vec![(B, 1)] }]);
    let [Effect::Tell { seat: A, parts, .. }] = &play.effects[..] else { panic!("{:?}", play.effects) };
    assert!(parts[1].as_text().is_some_and(|text| text.contains("Lyon")));
    assert!(!play.team.place(A).restart, "nothing is unseen any more");
    assert_eq!(play.one(A, What::Returned), [], "nobody is told twice");
}

#[test]
fn c_04_an_answer_is_kept_as_a_revision_and_voids_every_vote() {
    let mut play = Play::new(abc());
    play.answers(A, "Paris");
    play.fails(B);
    play.votes(A, "agent1");
    let records = play.answers(C, "Lyon");
    let given = Record::Answered { seat: C, revision: 1, text: "Lyon".into(), trust: Trust::Caller };
    assert_eq!(records[0], given);
    assert_eq!(play.team.votes().count(), 0);
    assert_eq!(play.team.revisions(), [1, 0, 1]);
    assert!(play.effects.contains(&Effect::Snapshot(C)));
    assert_eq!(play.started(), [A, C], "all that live run again, the author included");
}

#[test]
fn c_05_an_invalid_answer_is_told_why_and_tried_again() {
    let mut play = Play::new(abc());
    let records = play.answers(A, "  ");
    assert_eq!(records, [Record::Refused { seat: A, why: Refusal::Empty }]);
    assert_eq!(play.running(A).map(|round| round.attempt), Some(2));
    assert_eq!(play.told(), "an answer needs content");
}

#[test]
fn c_06_a_valid_vote_is_recorded_with_the_revision_it_is_for() {
    let mut play = Play::new(plan(&["ann", "bob"]));
    play.answers(A, "Paris");
    let records = play.votes(A, "agent1");
    let cast = Vote { choice: A, revision: 1, reason: "it is right".into() };
    assert_eq!(records, [Record::Voted { seat: A, vote: cast }]);
    assert_eq!(play.voted(A), Some(A));
}

#[test]
fn c_06_what_comes_after_a_vote_in_its_batch_belongs_to_a_round_that_is_over() {
    let failure = || What::Failed(Fault::hub(FaultKind::Unreachable, "gone"));
    let mut play = Play::new(plan(&["ann", "bob"]));
    play.answers(A, "Paris");
    let batch = vec![play.ready(A, ended(vec![vote("agent1")])), play.ready(A, failure())];
    let records = play.happen(Happening::Ready(batch));
    assert!(matches!(records.as_slice(), [Record::Voted { .. }]), "{records:?}");
    assert!(!play.is_killed(A) && play.voted(A) == Some(A));
}

#[test]
fn c_10_a_failure_before_a_vote_in_its_batch_kills_and_the_vote_is_passed_over() {
    let failure = || What::Failed(Fault::hub(FaultKind::Unreachable, "gone"));
    let mut play = Play::new(plan(&["ann", "bob"]));
    play.answers(A, "Paris");
    let batch = vec![play.ready(A, failure()), play.ready(A, ended(vec![vote("agent1")]))];
    play.happen(Happening::Ready(batch));
    assert!(play.is_killed(A) && play.voted(A).is_none());
}

#[test]
fn c_07_a_vote_with_something_unseen_is_ignored_and_the_member_runs_again() {
    let mut play = Play::new(abc());
    play.answers(A, "Paris");
    play.answers(B, "Lyon");
    // Ann's round began between the two answers.
    let records = play.votes(A, "agent1");
    assert_eq!(records[0], Record::VoteIgnored { seat: A, why: Ignored::Unseen });
    assert_eq!(play.running(A).map(|round| round.seen.clone()), Some(vec![1, 1, 0]));
    assert_eq!(play.team.votes().count(), 0);
}

#[test]
fn c_08_an_invalid_vote_is_told_whom_it_may_choose() {
    let mut play = Play::new(abc());
    play.votes(A, "agent2");
    assert_eq!(play.told(), "there is no answer to vote for yet; call new_answer");
    play.answers(B, "Lyon");
    for choice in ["agent9", "agent1", ""] {
        let mut play = Play { team: play.team.clone(), journal: play.journal.clone(), effects: Vec::new(), ..play };
        let records = play.votes(B, choice);
        assert!(matches!(&records[..], [Record::Refused { why: Refusal::UnknownChoice(_), .. }]), "{records:?}");
        assert!(play.told().ends_with("vote for one of agent2"), "{}", play.told());
        assert_eq!(play.running(B).map(|round| round.attempt), Some(2));
    }
}

#[test]
fn c_09_a_response_without_a_decision_is_asked_for_one() {
    let mut play = Play::new(abc());
    let text: Text = format!("{}the end", "x".repeat(5_000)).into();
    let turn = Turn { calls: Vec::new(), text, trust: Trust::Caller };
    assert_eq!(play.one(A, What::Ended(turn)), [Record::Refused { seat: A, why: Refusal::NoDecision }]);
    assert!(play.told().contains("the end"), "the tail of what it wrote is shown");
    assert!(play.told().len() < 1_000, "but not all of it");
    play.ends(A, vec![Workflow::Other("search".into())]);
    assert_eq!(play.running(A).map(|round| round.attempt), Some(3));
}

#[test]
fn c_10_a_third_violation_or_a_failure_kills_and_the_others_go_on() {
    let mut play = Play::new(abc());
    play.ends(A, vec![]);
    play.ends(A, vec![]);
    assert!(!play.is_killed(A));
    play.ends(A, vec![]);
    assert!(play.is_killed(A));
    play.fails(B);
    assert!(play.is_killed(B));
    let recorded = |seat| play.team.place(seat).stand.clone();
    assert!(matches!(recorded(B), Stand::Killed(fault) if fault.kind == FaultKind::Unreachable), "its error is kept");
    let Stand::Killed(violation) = recorded(A) else { panic!("{:?}", recorded(A)) };
    assert!(violation.public.contains("3 attempts"), "and that of the third violation: {violation:?}");
    play.answers(C, "Paris");
    play.votes(C, "agent3");
    assert_eq!(play.choice().winner, C);
}

#[test]
fn c_11_the_soft_limit_is_told_once() {
    let mut play = Play::ruled(&["ann", "bob"], |rules| rules.times.first_round = Some(Duration::from_secs(60)));
    assert_eq!(play.team.next_timer(play.now), Some(START.after(Duration::from_secs(60))));
    assert_eq!(play.waits(59), []);
    assert_eq!(play.waits(1), [Record::Noticed { seat: A }, Record::Noticed { seat: B }]);
    assert!(matches!(&play.effects[..], [Effect::Tell { seat: A, .. }, Effect::Tell { seat: B, .. }]));
    assert_eq!(play.waits(1), [], "once");
    assert!(play.running(A).is_some(), "it goes on running");
}

#[test]
fn c_12_after_the_hard_limit_other_tools_are_denied_and_the_tenth_denial_kills() {
    let mut play = Play::ruled(&["ann", "bob"], |rules| rules.times.first_round = Some(Duration::from_secs(60)));
    play.waits(60);
    play.waits(119);
    play.one(A, wants("t0"));
    assert!(matches!(&play.effects[..], [Effect::Permit { .. }]), "the grace is not over");
    play.waits(1);
    for number in 1..=9 {
        assert_eq!(play.one(A, wants("t")), [Record::Denied { seat: A }], "denial {number}");
        assert!(matches!(&play.effects[..], [Effect::Deny { seat: A, .. }]));
    }
    play.one(A, wants("t10"));
    assert!(play.is_killed(A));
    play.answers(B, "still taken");
    assert_eq!(play.team.revisions(), [0, 1]);
}

#[test]
fn c_12_only_denials_one_after_another_kill() {
    let mut play = Play::ruled(&["ann", "bob"], |rules| rules.times.first_round = Some(Duration::from_secs(60)));
    play.waits(60);
    play.waits(120);
    for _ in 0..9 {
        assert_eq!(play.one(A, wants("t")), [Record::Denied { seat: A }]);
    }
    // She decides, though wrongly: that is no tool that is denied.
    assert!(matches!(&play.votes(A, "agent2")[..], [Record::Refused { seat: A, .. }]));
    for number in 1..=9 {
        assert_eq!(play.one(A, wants("t")), [Record::Denied { seat: A }], "denial {number} of the second row");
    }
    assert!(!play.is_killed(A), "nine and nine are not ten one after another");
    play.one(A, wants("t"));
    assert!(play.is_killed(A));
}

#[test]
fn c_13_a_peers_answer_takes_a_vote_back() {
    let mut play = Play::new(plan(&["ann", "bob"]));
    play.answers(A, "Paris");
    play.votes(A, "agent1");
    assert_eq!(play.voted(A), Some(A));
    play.answers(B, "Lyon");
    assert_eq!(play.voted(A), None);
    assert_eq!(play.started(), [A, B], "scheduled again");
}

#[test]
fn c_14_when_all_live_members_have_voted_the_winner_presents() {
    let mut play = Play::new(abc());
    play.answers(B, "Paris");
    play.fails(C);
    play.votes(B, "agent2");
    let late = play.votes(A, "agent2");
    assert_eq!(late[0], Record::VoteIgnored { seat: A, why: Ignored::Unseen }, "Ann began before the answer");
    play.votes(A, "agent2");
    assert_eq!(play.choice(), &Choice { winner: B, votes: 2, tied: false, how: How::AllVoted });
    assert!(matches!(&play.effects[..], [.., Effect::Present(presentation)] if presentation.seat == B));
    play.presents("It is Paris.");
    assert_eq!(play.final_answer(), (B, "It is Paris.", Source::Presented));
}

#[test]
fn c_15_when_time_is_over_the_votes_so_far_decide_and_the_answer_is_used_as_it_is() {
    let mut play = Play::new(abc());
    play.answers(A, "Lyon");
    play.answers(B, "Paris");
    play.votes(B, "agent2");
    play.waits(1_800);
    assert_eq!(play.final_answer(), (B, "Paris", Source::Stored));
    assert!(play.effects.contains(&Effect::Stop { seat: A, round: 3 }));
}

#[test]
fn c_16_when_time_is_over_without_an_answer_the_team_has_failed() {
    let mut play = Play::new(abc());
    play.waits(1_800);
    assert_eq!(play.failure(), FaultKind::Deadline);
}

#[test]
fn c_17_when_all_are_killed_an_answer_survives_its_author() {
    let mut play = Play::new(abc());
    play.answers(C, "Nice");
    play.answers(B, "Lyon");
    for seat in [A, B, C] {
        play.fails(seat);
    }
    assert_eq!(
        play.final_answer(),
        (B, "Lyon", Source::Stored),
        "the first registered with an answer, not asked again"
    );

    let mut play = Play::new(abc());
    for seat in [A, B, C] {
        play.fails(seat);
    }
    assert_eq!(play.failure(), FaultKind::PeerFailed);
}

#[test]
fn c_18_a_cancelled_team_keeps_what_there_is() {
    let mut play = Play::new(abc());
    play.answers(A, "Paris");
    play.happen(Happening::Cancel(CancelWhy::Asked));
    assert_eq!(play.team.verdict(), Some(&Verdict::Cancelled(CancelWhy::Asked)));
    assert_eq!(play.team.answer(A).map(|given| &*given.text), Some("Paris"));
    for seat in [A, B, C] {
        assert!(play.effects.contains(&Effect::Snapshot(seat)), "partial work is kept too");
    }
    let after = play.team.decide(Happening::Timer, play.now).expect_err("it is over");
    assert_eq!(after.kind, FaultKind::AlreadyFinished);
}
