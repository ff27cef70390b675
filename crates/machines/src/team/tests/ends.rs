//! The ends of a team: strategies, decomposition, cost limits, evaluation, and resuming after a crash.

use super::*;

fn agreed(rules: impl FnOnce(&mut Rules)) -> Play {
    let mut play = Play::ruled(&["ann", "bob"], rules);
    play.batch(vec![(A, answer("Paris")), (B, answer("Lyon"))]);
    play.batch(vec![(A, vote("agent1")), (B, vote("agent1"))]);
    play
}

#[test]
fn reuse_needs_no_further_model_call() {
    let play = agreed(|rules| rules.ending = Ending::Reuse);
    assert_eq!(play.final_answer(), (A, "Paris", Source::Stored));
    assert!(!play.effects.iter().any(|effect| matches!(effect, Effect::Present(_))));
}

#[test]
fn synthesize_asks_for_one_answer_of_all() {
    let play = agreed(|rules| rules.ending = Ending::Synthesize);
    let Some(Effect::Present(presentation)) = play.effects.last() else { panic!("{:?}", play.effects) };
    assert!(presentation.rules.contains("best of all answers"));
}

#[test]
fn skipped_voting_ends_when_everyone_has_answered() {
    let mut play = Play::ruled(&["ann", "bob", "cid"], |rules| {
        rules.skip_voting = true;
        rules.ending = Ending::Synthesize;
    });
    play.answers(B, "Lyon");
    assert_eq!(play.started(), [], "who has answered is done");
    play.fails(C);
    play.answers(A, "Paris");
    assert_eq!(play.choice(), &Choice { winner: A, votes: 0, tied: false, how: How::AllAnswered });
}

#[test]
fn skipped_voting_ends_when_no_more_answers_are_taken() {
    let mut play = Play::ruled(&["ann", "bob"], |rules| {
        rules.skip_voting = true;
        rules.answers_all = Some(1);
    });
    play.answers(B, "Lyon");
    assert_eq!(play.choice().winner, B);
}

#[test]
fn a_killed_winner_is_not_asked_to_present() {
    let mut play = Play::new(plan(&["ann", "bob"]));
    play.batch(vec![(A, answer("Paris")), (B, answer("Lyon"))]);
    play.fails(A);
    play.votes(B, "agent1");
    assert_eq!(play.final_answer(), (A, "Paris", Source::Stored));
}

fn decomposed(presenter: Option<&str>) -> Play {
    let mut plan = plan(&["ann", "bob", "cid"]);
    plan.rules.mode = Mode::Decomposition { presenter: presenter.map(Into::into) };
    plan.members[0].subtask = Some("look up the facts".into());
    Play::new(plan)
}

fn stop(status: Stopped) -> Workflow {
    Workflow::Stop { summary: "done".into(), status }
}

#[test]
fn decomposition_ends_when_all_have_stopped_and_the_last_registered_presents() {
    let mut play = decomposed(None);
    let Effect::Start(brief) = &play.effects[0] else { panic!("{:?}", play.effects) };
    assert!(brief.parts[0].as_text().is_some_and(|text| text.contains("look up the facts")));
    assert_eq!((brief.offer, brief.choices.len()), (Offer::AnswerOrStop, 0));
    play.answers(A, "the facts");
    play.ends(A, vec![stop(Stopped::Complete)]);
    play.answers(B, "the table");
    assert!(matches!(play.team.place(A).stand, Stand::Stopped { .. }), "a stop stands");
    play.ends(B, vec![stop(Stopped::Blocked)]);
    play.ends(C, vec![stop(Stopped::Complete)]);
    assert_eq!(play.choice(), &Choice { winner: C, votes: 0, tied: false, how: How::AllStopped });
    play.presents("");
    assert_eq!(play.final_answer().1, "ann:\nthe facts\n\nbob:\nthe table", "every share is kept");
}

#[test]
fn decomposition_can_name_who_presents_and_takes_no_vote() {
    let mut play = decomposed(Some("bob"));
    play.answers(A, "the facts");
    play.votes(A, "agent1");
    assert_eq!(play.told(), "vote cannot be called in this round; call new_answer or stop");
    for seat in [A, B, C] {
        play.ends(seat, vec![stop(Stopped::Complete)]);
    }
    assert_eq!(play.choice().winner, B);
}

#[test]
fn decomposition_without_any_answer_fails() {
    let mut play = decomposed(None);
    for seat in [A, B, C] {
        play.ends(seat, vec![stop(Stopped::Blocked)]);
    }
    assert_eq!(play.failure(), FaultKind::PeerFailed);
}

#[test]
fn an_empty_purse_ends_with_what_there_is() {
    let usage = |tokens_out| What::Spent(Usage { tokens_out, ..Usage::default() });
    let mut play = Play::ruled(&["ann", "bob"], |rules| rules.purse.tokens = Some(100));
    play.one(A, usage(60));
    play.answers(A, "Paris");
    play.one(B, usage(40));
    assert_eq!(play.final_answer(), (A, "Paris", Source::Stored));

    let mut play = Play::ruled(&["ann", "bob"], |rules| rules.purse.micro_money = Some(5));
    play.one(A, What::Spent(Usage { micro_money: 5, ..Usage::default() }));
    assert_eq!(play.failure(), FaultKind::BudgetSpent);
}

#[test]
fn what_a_stopped_round_or_the_presenter_spent_counts_too() {
    let usage = Usage { tokens_out: 7, ..Usage::default() };
    let mut play = Play::new(plan(&["ann"]));
    let old = play.ready(A, What::Spent(usage));
    play.answers(A, "Paris");
    play.happen(Happening::Ready(vec![old.clone()]));
    play.votes(A, "agent1");
    play.happen(Happening::Ready(vec![old]));
    assert_eq!(play.team.spent.tokens_out, 14);
    let stranger = Ready { seat: Seat(9), round: 0, what: What::Spent(usage) };
    assert_eq!(play.happen(Happening::Ready(vec![stranger])), []);
}

#[test]
fn an_evaluation_that_says_nothing_submits() {
    let mut play = agreed(|rules| rules.restarts = 2);
    play.presents("It is Paris.");
    assert_eq!(Evaluation::read("search", &interlingua_model::json::Json::empty_object()), Evaluation::Submit);
    play.happen(Happening::Evaluated(Evaluation::Submit));
    assert_eq!(play.final_answer(), (A, "It is Paris.", Source::Presented));
}

#[test]
fn time_that_is_over_ends_presentation_and_evaluation() {
    let mut presenting = agreed(|_| {});
    presenting.waits(1_800);
    assert_eq!(presenting.final_answer(), (A, "Paris", Source::Stored));

    let mut evaluating = agreed(|rules| rules.restarts = 1);
    evaluating.presents("It is Paris.");
    evaluating.waits(1_800);
    assert_eq!(evaluating.final_answer(), (A, "It is Paris.", Source::Presented));
}

#[test]
fn what_an_earlier_attempt_presented_is_not_lost() {
    let mut play = agreed(|rules| rules.restarts = 1);
    play.presents("It is Paris.");
    let again = Evaluation::Restart { reason: "too short".into(), instructions: "say more".into() };
    play.happen(Happening::Evaluated(again));
    play.waits(1_800);
    assert_eq!(play.final_answer(), (A, "It is Paris.", Source::Earlier));
}

#[test]
fn after_a_crash_what_was_under_way_is_taken_up_and_nothing_else() {
    let mut play = Play::new(plan(&["ann", "bob"]));
    play.answers(A, "Paris");
    play.votes(A, "agent1");
    let resumed = play.replayed().resume();
    assert!(matches!(&resumed[..], [Effect::Start(brief)] if brief.seat == B), "Ann's vote stands: {resumed:?}");

    let mut play = Play::ruled(&["ann"], |rules| rules.restarts = 1);
    play.answers(A, "Paris");
    assert_eq!(play.replayed().resume(), play.effects[2..], "the same round, with the same brief");
    play.votes(A, "agent1");
    assert_eq!(play.replayed().resume(), play.effects[2..], "the presentation");
    play.presents("Paris.");
    assert_eq!(play.replayed().resume(), play.effects, "the evaluation");
    play.happen(Happening::Evaluated(Evaluation::Submit));
    assert_eq!(play.replayed().resume(), play.effects, "the end");
}

#[test]
fn a_damaged_journal_is_refused() {
    let entry = |record| Entry { seq: 1, at: START, record };
    assert!(fold([]).is_err());
    assert!(fold([entry(Record::Noticed { seat: A })]).is_err());
    let begun = || entry(Record::Begun(Box::new(plan(&["ann"]))));
    assert!(fold([begun(), entry(Record::Noticed { seat: B })]).is_err());
    let round = Record::RoundBegun { seat: A, round: 0, seen: vec![], offer: Offer::AnswerOrVote };
    assert!(fold([begun(), entry(round)]).is_err());
}
