//! 2. The same from a caller whose stream stays open while the peer asks on its own connection.

use super::*;

fn until_asked(repeatable: bool) -> Walk {
    let mut walk = Walk::accept(call("hotels/book", OnDisconnect::Detach));
    walk.on(send("hotels/book", repeatable));
    assert_eq!(walk.on(peer_asks("which dates?")), "asked 0 input");
    walk
}

#[test]
fn scenario_02_the_peers_request_stays_open_while_it_asks() {
    let mut walk = until_asked(false);
    assert_eq!(walk.task.phase(), TaskPhase::Waiting);
    assert_eq!(walk.on(progresses(0.5)), "progress", "a peer may go on while a question is open");
    assert_eq!(
        walk.on(answers(OWNER, 0, "m2", Answer::Given(Input::text("May")))),
        "received given to 0, settled 0 answered, sent 1 open => forward given to 0"
    );
    assert_eq!(walk.on(completes()), "completed => stop");
}

#[test]
fn scenario_02_a_cut_stream_is_no_signal_and_the_question_is_shown_again() {
    let mut walk = until_asked(false);
    assert_eq!(walk.on(Happening::CallerGone), "nothing");
    let seen_before = 1;
    assert_eq!(walk.events_after(seen_before), ["started", "asked 0 input"]);
    assert!(walk.task.open.contains_key(&QuestionId(TASK, 0)));
}

#[test]
fn scenario_02_a_question_whose_connection_died_with_the_hub_is_withdrawn() {
    assert_eq!(until_asked(false).restart(), "settled 0 withdrawn, failed outcome_unknown => stop");
    assert_eq!(until_asked(true).restart(), "settled 0 withdrawn, sent 2 open => dispatch 2 as itself");
}

#[test]
fn scenario_02_after_a_forwarded_answer_the_call_goes_again_under_its_own_key() {
    let mut walk = until_asked(true);
    walk.on(answers(OWNER, 0, "m2", Answer::Given(Input::text("May"))));
    assert_eq!(
        walk.restart(),
        "sent 2 open => dispatch 2 as itself",
        "the answer's key names the answer, not the call"
    );
}

#[test]
fn scenario_02_a_caller_that_cannot_answer_declines() {
    let mut walk = until_asked(false);
    walk.on(answers(OWNER, 0, "m2", Answer::Declined));
    assert_eq!(walk.on(fails(FaultKind::Unanswered)), "failed unanswered => stop");
}
