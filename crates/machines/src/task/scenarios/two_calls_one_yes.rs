//! 7. Two calls in one frame: one runs, the other is pending until it is approved; the approval is for exactly that call, once.

use super::*;

fn waiting() -> Walk {
    let mut walk = Walk::accept(call("local/write_file", OnDisconnect::Cancel));
    assert_eq!(walk.on(hub_asks_for_yes("local/write_file")), "asked 0 confirm");
    walk
}

#[test]
fn scenario_07_the_other_call_is_not_held_up() {
    let mut read = Walk::accept(call("local/read_file", OnDisconnect::Cancel));
    read.on(send("local/read_file", true));
    assert_eq!(read.on(completes()), "completed => stop");
    assert_eq!(waiting().task.phase(), TaskPhase::Waiting);
}

#[test]
fn scenario_07_anyone_who_may_approve_says_yes_through_any_door() {
    for standing in [OWNER, APPROVER] {
        let mut walk = waiting();
        assert_eq!(
            walk.on(answers(standing, 0, "yes", Answer::Granted)),
            "received granted to 0, settled 0 answered => proceed"
        );
        assert_eq!(walk.task.granted, Some(Digest::of(b"local/write_file")), "for exactly this call");
        assert_eq!(walk.on(send("local/write_file", false)), "sent 1 open, started => dispatch 1 as itself");
        assert_eq!(walk.task.granted, None, "and once");
        assert_eq!(walk.on(completes()), "completed => stop");
    }
}

#[test]
fn scenario_07_who_may_not_approve_cannot_and_nothing_is_sent_before_the_yes() {
    let walk = waiting();
    assert_eq!(walk.refuses(answers(USER, 0, "yes", Answer::Granted)), FaultKind::Denied);
    assert_eq!(walk.refuses(answers(OWNER, 0, "yes", Answer::Given(Input::text("yes")))), FaultKind::InvalidInput);
    assert_eq!(walk.refuses(send("local/write_file", false)), FaultKind::Internal);
}

#[test]
fn scenario_07_no_is_denied() {
    let mut walk = waiting();
    assert_eq!(
        walk.on(answers(OWNER, 0, "no", Answer::Declined)),
        "received declined to 0, settled 0 declined, failed denied => stop"
    );
    assert_eq!(walk.refuses(answers(OWNER, 0, "yes", Answer::Granted)), FaultKind::AlreadyFinished);
}

#[test]
fn scenario_07_killed_at_any_point() {
    let mut walk = Walk::accept(call("local/write_file", OnDisconnect::Detach));
    walk.on(hub_asks_for_yes("local/write_file"));
    walk.on(answers(OWNER, 0, "yes", Answer::Granted));
    walk.on(send("local/write_file", false));
    walk.on(completes());
    assert_eq!(
        walk.restarts(),
        [
            "accepted: => proceed",
            "waiting: nothing",
            "accepted: => proceed",
            "running: failed outcome_unknown => stop",
            "completed: already_finished",
        ]
    );
    assert_eq!(walk.folded(walk.appends[2]).granted, Some(Digest::of(b"local/write_file")), "the yes survives");
}
