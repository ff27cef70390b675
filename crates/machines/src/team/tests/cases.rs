//! The scripted cases every implementation of this coordination is measured by, and the three-agent example.

use super::*;

#[test]
fn single_agent_answers_and_votes_for_itself() {
    let mut play = Play::new(plan(&["ann"]));
    play.answers(A, "Paris");
    play.votes(A, "agent1");
    play.presents("Paris.");
    assert_eq!(play.final_answer(), (A, "Paris.", Source::Presented));
}

#[test]
fn two_agents_agree() {
    let mut play = Play::new(plan(&["ann", "bob"]));
    play.answers(A, "Paris");
    play.answers(B, "Paris, on the Seine");
    play.votes(B, "agent2");
    play.votes(A, "agent2");
    assert_eq!(play.running(A).map(|round| round.seen.clone()), Some(vec![1, 1]), "the first vote came too early");
    play.votes(A, "agent2");
    assert_eq!(play.choice(), &Choice { winner: B, votes: 2, tied: false, how: How::AllVoted });
}

#[test]
fn an_answer_after_a_vote_invalidates_it() {
    let mut play = Play::new(plan(&["ann", "bob"]));
    play.answers(A, "Paris");
    play.votes(A, "agent1");
    play.answers(B, "Lyon");
    assert_eq!(play.team.votes().count(), 0);
    assert_eq!(play.team.phase, Phase::Coordinating);
}

#[test]
fn an_answer_and_a_vote_in_the_same_batch_leave_only_the_answer() {
    for vote_first in [true, false] {
        let mut play = Play::new(plan(&["ann", "bob"]));
        play.answers(A, "Paris");
        let mut batch = vec![(A, vote("agent1")), (B, answer("Lyon"))];
        if !vote_first {
            batch.reverse();
        }
        let records = play.batch(batch);
        let ignored = records.iter().find_map(|record| match record {
            Record::VoteIgnored { seat, why } => Some((*seat, *why)),
            _ => None,
        });
        // After the answer the vote is late; before it, the batch rule takes it back.
        let why = if vote_first { Ignored::SameBatch } else { Ignored::Unseen };
        assert_eq!(ignored, Some((A, why)));
        assert_eq!(play.team.votes().count(), 0);
        assert_eq!(play.team.revisions(), [1, 1]);
    }
}

#[test]
fn two_answers_in_the_same_batch_are_both_kept() {
    let mut play = Play::new(plan(&["ann", "bob"]));
    play.batch(vec![(A, answer("Paris")), (B, answer("Lyon"))]);
    assert_eq!(play.team.revisions(), [1, 1]);
}

#[test]
fn votes_in_the_same_batch_end_the_coordination() {
    let mut play = Play::new(plan(&["ann", "bob"]));
    play.batch(vec![(A, answer("Paris")), (B, answer("Lyon"))]);
    play.batch(vec![(A, vote("agent2")), (B, vote("agent2"))]);
    assert_eq!(play.choice().winner, B);
}

#[test]
fn a_late_vote_is_ignored() {
    let mut play = Play::new(plan(&["ann", "bob"]));
    play.answers(A, "Paris");
    let old = play.round(A);
    play.votes(A, "agent1");
    play.answers(B, "Lyon");
    let before = play.team.clone();
    let late = Ready { seat: A, round: old, what: ended(vec![vote("agent1")]) };
    assert_eq!(play.happen(Happening::Ready(vec![late])), [], "its round is over");
    assert_eq!(play.team, before);
}

#[test]
fn a_second_revision_is_seen() {
    let mut play = Play::new(plan(&["ann", "bob"]));
    play.batch(vec![(A, answer("Paris")), (B, answer("Lyon"))]);
    play.answers(A, "Paris, surely");
    // Bob has seen Ann's first answer, not her second: comparing only whose answers it knows would not notice.
    let records = play.votes(B, "agent1");
    assert_eq!(records[0], Record::VoteIgnored { seat: B, why: Ignored::Unseen });
    play.votes(B, "agent1");
    assert_eq!(play.team.votes().map(|(_, vote)| vote.revision).collect::<Vec<_>>(), [2]);
}

#[test]
fn a_tie_goes_to_the_first_registered() {
    // Registered against the alphabet: labels are by name, ties by registration.
    let mut play = Play::new(plan(&["zoe", "ann"]));
    play.batch(vec![(A, answer("Paris")), (B, answer("Lyon"))]);
    play.batch(vec![(A, vote("agent1")), (B, vote("agent2"))]);
    assert_eq!(play.voted(A), Some(B), "agent1 is Ann, who was registered second");
    assert_eq!(play.choice(), &Choice { winner: A, votes: 1, tied: true, how: How::AllVoted });
}

#[test]
fn a_self_vote_counts() {
    let mut play = Play::new(abc());
    play.batch(vec![(A, answer("Paris")), (B, answer("Lyon")), (C, answer("Nice"))]);
    play.batch(vec![(A, vote("agent3")), (B, vote("agent1")), (C, vote("agent3"))]);
    assert_eq!(play.choice(), &Choice { winner: C, votes: 2, tied: false, how: How::AllVoted });
}

#[test]
fn a_vote_for_the_unknown_is_refused() {
    let mut play = Play::new(plan(&["ann", "bob"]));
    play.answers(A, "Paris");
    play.votes(A, "agent7");
    assert_eq!(play.told(), "\"agent7\" has no answer; vote for one of agent1");
}

#[test]
fn a_real_name_is_understood_too() {
    let mut play = Play::new(plan(&["ann", "bob"]));
    play.answers(A, "Paris");
    play.votes(A, " ann ");
    assert_eq!(play.voted(A), Some(A));
}

#[test]
fn a_mixed_call_is_refused_with_a_result_for_every_call() {
    let mut play = Play::new(plan(&["ann", "bob"]));
    play.answers(A, "Paris");
    for calls in [vec![vote("agent1"), answer("Lyon")], vec![answer("Lyon"), answer("Nice")]] {
        let records = play.ends(A, calls);
        assert_eq!(records, [Record::Refused { seat: A, why: Refusal::Mixed }]);
        let [Effect::Again { results, say: None, .. }] = &play.effects[..] else { panic!("{:?}", play.effects) };
        assert_eq!(results.iter().map(|(id, _)| &**id).collect::<Vec<_>>(), ["call0", "call1"]);
        assert_ne!(results[0].1, results[1].1);
    }
    assert_eq!(play.team.revisions(), [1, 0], "nothing of it was taken");
}

#[test]
fn of_several_votes_the_last_one_counts() {
    let mut play = Play::new(plan(&["ann", "bob"]));
    play.batch(vec![(A, answer("Paris")), (B, answer("Lyon"))]);
    play.ends(A, vec![vote("agent1"), vote("agent2")]);
    assert_eq!(play.voted(A), Some(B));
}

#[test]
fn three_enforcement_failures_kill() {
    let mut play = Play::new(plan(&["ann", "bob"]));
    for expected in [2, 3] {
        play.ends(A, vec![]);
        assert_eq!(play.running(A).map(|round| round.attempt), Some(expected));
    }
    play.ends(A, vec![]);
    let Stand::Killed(fault) = &play.team.place(A).stand else { panic!("alive") };
    assert_eq!(fault.kind, FaultKind::PeerFailed);
    assert!(fault.public.contains("3 attempts"));
    assert_eq!(play.started(), [], "it is not started again for ever");
}

#[test]
fn all_killed() {
    let mut play = Play::new(plan(&["ann", "bob"]));
    play.fails(A);
    play.fails(B);
    assert_eq!(play.failure(), FaultKind::PeerFailed);
}

#[test]
fn c_16_a_team_whose_members_ran_out_of_time_says_so_and_so_does_one_whose_calls_came_back() {
    let fails = |kinds: [FaultKind; 2]| {
        let mut play = Play::new(plan(&["ann", "bob"]));
        for (seat, kind) in [A, B].into_iter().zip(kinds) {
            play.one(seat, What::Failed(Fault::hub(kind, "no answer")));
        }
        play.failure()
    };
    let (late, looped, other) = (FaultKind::Deadline, FaultKind::Loop, FaultKind::PeerFailed);
    assert_eq!(fails([late, late]), late);
    assert_eq!(fails([other, late]), late, "with more time there might have been an answer");
    assert_eq!(fails([looped, looped]), looped);
    assert_eq!(fails([looped, other]), other);
}

#[test]
fn timeout_with_votes_with_answers_and_with_nothing() {
    let mut voted = Play::new(abc());
    voted.batch(vec![(A, answer("Lyon")), (B, answer("Paris"))]);
    voted.votes(B, "agent2");
    voted.waits(1_800);
    assert_eq!(voted.final_answer(), (B, "Paris", Source::Stored));

    let mut answered = Play::new(abc());
    answered.batch(vec![(C, answer("Lyon")), (A, answer("Paris"))]);
    answered.waits(1_800);
    assert_eq!(answered.final_answer(), (A, "Paris", Source::Stored), "without votes the most recent");

    let mut nothing = Play::new(abc());
    nothing.waits(1_800);
    assert_eq!(nothing.failure(), FaultKind::Deadline);
}

#[test]
fn c_17_c_15_timeout_prefers_the_living_but_loses_no_answer() {
    let mut play = Play::new(plan(&["ann", "bob"]));
    play.batch(vec![(B, answer("Lyon")), (A, answer("Paris"))]);
    play.fails(A);
    play.waits(1_800);
    assert_eq!(play.final_answer(), (B, "Lyon", Source::Stored));

    let mut play = Play::new(plan(&["ann", "bob"]));
    play.answers(A, "Paris");
    play.fails(A);
    play.waits(1_800);
    assert_eq!(play.final_answer(), (A, "Paris", Source::Stored), "its author is dead, but it is all there is");
}

#[test]
fn vote_only_after_the_limit() {
    let mut play = Play::ruled(&["ann", "bob"], |rules| rules.answers_each = Some(1));
    play.answers(A, "Paris");
    assert_eq!(play.running(A).map(|round| round.offer), Some(Offer::VoteOnly));
    play.answers(A, "Lyon");
    assert_eq!(play.told(), "new_answer cannot be called in this round; call vote");
    play.votes(A, "agent1");
    assert_eq!(play.voted(A), Some(A));
}

#[test]
fn a_duplicate_is_refused_also_when_only_the_workspace_differs() {
    let mut plan = plan(&["ann", "bob"]);
    plan.members[0].workspace = Some("/w/ann".into());
    plan.members[1].workspace = Some("/w/bob".into());
    let mut play = Play::new(plan);
    play.answers(A, "See /w/ann/out.txt");
    let records = play.answers(B, " See /w/bob/out.txt\n");
    assert_eq!(records, [Record::Refused { seat: B, why: Refusal::Duplicate }]);
    assert!(!play.told().contains("ann"), "it does not say whose");
}

#[test]
fn novelty_is_measured_in_common_words() {
    let first = "one two three four five six seven";
    let close = "one two three four five six eight";
    for (novelty, taken) in [(Novelty::Lenient, true), (Novelty::Balanced, false), (Novelty::Strict, false)] {
        let mut play = Play::ruled(&["ann", "bob"], |rules| rules.novelty = novelty);
        play.answers(A, first);
        play.answers(B, close);
        assert_eq!(play.team.revision(B) == 1, taken, "{novelty:?}");
    }
}

#[test]
fn restart_loop_with_post_evaluation() {
    let mut play = Play::ruled(&["ann", "bob"], |rules| rules.restarts = 1);
    play.batch(vec![(A, answer("Lyon")), (B, answer("Nice"))]);
    play.batch(vec![(A, vote("agent1")), (B, vote("agent1"))]);
    play.presents("It is Lyon.");
    assert!(matches!(&play.effects[..], [Effect::Evaluate(evaluation)] if evaluation.seat == A));
    let again = Evaluation::Restart { reason: "Lyon is not the capital".into(), instructions: "look at a map".into() };
    play.happen(Happening::Evaluated(again));
    assert_eq!((play.team.attempt, play.started()), (2, vec![A, B]));
    assert_eq!(play.team.answers, []);
    let Effect::Start(brief) = &play.effects[0] else { panic!("{:?}", play.effects) };
    let shown: String = brief.parts.iter().filter_map(|part| part.as_text()).collect();
    for kept in ["Lyon is not the capital", "look at a map", "It is Lyon."] {
        assert!(shown.contains(kept), "{shown}");
    }
    play.batch(vec![(A, answer("Paris")), (B, answer("Nice"))]);
    play.batch(vec![(A, vote("agent1")), (B, vote("agent1"))]);
    play.presents("It is Paris.");
    assert_eq!(play.final_answer(), (A, "It is Paris.", Source::Presented), "the last attempt is not judged");
}

#[test]
fn an_empty_presentation_falls_back_to_the_stored_answer() {
    for presented in [Ok(Text::from(" \n")), Err(Fault::hub(FaultKind::Unreachable, "no model"))] {
        let mut play = Play::new(plan(&["ann"]));
        play.answers(A, "Paris");
        play.votes(A, "agent1");
        play.happen(Happening::Presented(presented));
        assert_eq!(play.final_answer(), (A, "Paris", Source::Stored));
    }
}

/// "Analyze this complex problem from multiple angles", with `nlip_agent_0` to `nlip_agent_2`.
#[test]
fn three_agent_example() {
    let ids = ["nlip_agent_0", "nlip_agent_1", "nlip_agent_2"];
    let members = ids.into_iter().map(Member::new);
    let mut play = Play::new(TeamPlan::new("Analyze this complex problem from multiple angles", members));
    assert_eq!(play.started(), [A, B, C]);
    play.batch(vec![(A, answer("From the side of cost")), (B, answer("From the side of risk"))]);
    play.answers(C, "From the side of time");
    // Two had begun before the third answered: they look again, and one makes one answer of all.
    play.votes(A, "agent3");
    play.answers(B, "Cost, risk and time together");
    play.votes(C, "agent2");
    play.batch(vec![(A, vote("agent2")), (B, vote("agent2")), (C, vote("agent2"))]);
    assert_eq!(play.team.phase, Phase::Coordinating, "Ann's view was older than the last answer");
    play.votes(A, "agent2");
    assert_eq!(play.choice(), &Choice { winner: B, votes: 3, tied: false, how: How::AllVoted });
    play.presents("Cost, risk and time, weighed together.");
    assert_eq!(play.final_answer(), (B, "Cost, risk and time, weighed together.", Source::Presented));
    assert_eq!(play.team.revisions(), [1, 2, 1], "no answer was lost");
}

#[test]
fn h_21_members_keep_the_order_they_were_registered_in() {
    let plan = plan(&["zoe", "max", "ann"]);
    let written = to_bytes(&Record::Begun(Box::new(plan.clone()))).expect("bytes");
    let Ok(Record::Begun(read)) = from_bytes::<Record>(&written) else { panic!("unreadable") };
    assert_eq!(read.members.iter().map(|member| member.id.as_str()).collect::<Vec<_>>(), ["zoe", "max", "ann"]);
    assert_eq!(plan.seats().map(|seat| plan.label(seat)).collect::<Vec<_>>(), ["agent3", "agent2", "agent1"]);
}
