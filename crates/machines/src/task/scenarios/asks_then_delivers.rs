//! 1. A peer asks, its request ends with the question, the answer comes with a new request, then it delivers.

use super::*;

fn until_asked() -> Walk {
    let mut walk = Walk::accept(call("hotels/book", OnDisconnect::Detach));
    assert_eq!(walk.on(send("hotels/book", false)), "sent 1 open, started => dispatch 1 as itself");
    walk.on_together([learnt(9, false), peer_asks("which dates?")]);
    walk
}

#[test]
fn scenario_01_the_response_ends_with_the_question_and_the_exchange_goes_on() {
    let mut walk = until_asked();
    assert_eq!(walk.task.phase(), TaskPhase::Waiting);
    assert!(walk.task.sent.as_ref().is_some_and(|sent| !sent.open && sent.remote.is_some()));

    let given = Answer::Given(Input::text("1 to 4 May"));
    assert_eq!(
        walk.on(answers(OWNER, 0, "m2", given)),
        "received given to 0, settled 0 answered, sent 1 open known => forward given to 0",
        "an answer to a peer is a dispatch: one append, then bytes"
    );
    assert_eq!(walk.task.sent.as_ref().map(|sent| sent.key.as_str()), Some("m2"));
    assert_eq!(walk.task.phase(), TaskPhase::Running);

    assert_eq!(walk.on(chunk("a1", 0, false)), "a1#0");
    assert_eq!(walk.on(chunk("a1", 1, true)), "a1#1 last");
    assert_eq!(walk.on(completes()), "completed => stop");
    assert_eq!(walk.task.artifacts.values().map(Vec::len).collect::<Vec<_>>(), [2]);
}

#[test]
fn scenario_01_killed_at_any_point() {
    let mut walk = until_asked();
    walk.on(answers(OWNER, 0, "m2", Answer::Given(Input::text("May"))));
    walk.on(chunk("a1", 0, true));
    walk.on(completes());
    assert_eq!(
        walk.restarts(),
        [
            "accepted: => proceed",
            "running: failed outcome_unknown => stop",
            "waiting: nothing",
            "running: => reattach",
            "running: => reattach",
            "completed: already_finished",
        ]
    );
}

#[test]
fn scenario_01_the_question_and_the_end_of_its_request_may_be_two_appends() {
    let mut walk = Walk::accept(call("hotels/book", OnDisconnect::Detach));
    walk.on(send("hotels/book", false));
    walk.on(learnt(9, false));
    assert_eq!(
        walk.restarts().last().map(String::as_str),
        Some("running: => reattach"),
        "no question is open, so the peer must be asked what it waits for"
    );
}

#[test]
fn scenario_01_the_end_of_a_request_that_asked_is_no_loss_of_the_peer() {
    let mut walk = until_asked();
    assert_eq!(walk.on(Happening::PeerLost), "nothing");
    assert_eq!(walk.task.phase(), TaskPhase::Waiting);
}

#[test]
fn scenario_01_only_the_addressee_answers_with_a_fitting_answer_in_time() {
    let mut walk = until_asked();
    assert_eq!(walk.refuses(answers(OWNER, 0, "m2", Answer::Granted)), FaultKind::InvalidInput);
    assert_eq!(walk.refuses(answers(APPROVER, 0, "m2", Answer::Declined)), FaultKind::Denied);
    let unknown = walk.refuses(answers(OWNER, 5, "m2", Answer::Declined));
    assert!(matches!(unknown, FaultKind::NotFound(_)));
    walk.now = EXPIRES;
    assert_eq!(walk.refuses(answers(OWNER, 0, "m2", Answer::Declined)), FaultKind::Denied);
    assert_eq!(walk.task.phase(), TaskPhase::Waiting, "the question stays open");
}

#[test]
fn scenario_01_a_declined_or_expired_question_of_a_peer_is_handed_back_to_it() {
    let mut declined = until_asked();
    assert_eq!(
        declined.on(answers(OWNER, 0, "m2", Answer::Declined)),
        "received declined to 0, settled 0 declined, sent 1 open known => forward declined to 0"
    );
    assert_eq!(declined.on(fails(FaultKind::PeerDeclined)), "failed peer_declined => stop");

    let mut expired = until_asked();
    let (at, timer) = expired.task.next_timer().expect("the question's expiry");
    assert_eq!(at, EXPIRES);
    assert_eq!(expired.on(timer), "settled 0 expired, sent 1 open known => forward declined to 0");
}
