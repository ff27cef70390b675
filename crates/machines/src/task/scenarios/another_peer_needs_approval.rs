//! 13. The first peer is unreachable, and the next one needs approval: exactly the call that was approved is dispatched.

use super::*;

fn asked_about_the_second() -> Walk {
    let mut walk = Walk::accept(call("first/pay", OnDisconnect::Detach));
    assert_eq!(walk.on(send("first/pay", false)), "sent 1 open, started => dispatch 1 as itself");
    let failover = [select("second/pay", &["third/pay"], Some(FaultKind::Unreachable)), hub_asks_for_yes("second/pay")];
    assert_eq!(walk.on_together(failover), "selected second/pay; asked 0 confirm");
    walk
}

#[test]
fn scenario_13_the_yes_is_for_the_selected_peer_and_survives_the_hub() {
    let mut walk = asked_about_the_second();
    assert_eq!((walk.task.phase(), &walk.task.route, &walk.task.sent), (TaskPhase::Waiting, &None, &None));
    assert_eq!(
        walk.on(answers(APPROVER, 0, "yes", Answer::Granted)),
        "received granted to 0, settled 0 answered => proceed"
    );
    let selected = walk.task.selected.clone().expect("a selection");
    assert_eq!((selected.skill.to_string().as_str(), selected.others.len()), ("second/pay", 1));
    assert_eq!(walk.task.granted, Some(Digest::of(b"second/pay")));
    assert_eq!(walk.on(send("second/pay", false)), "sent 2 open, started => dispatch 2 as itself");
    assert_eq!(
        walk.restarts(),
        [
            "accepted: => proceed",
            "running: failed outcome_unknown => stop",
            "waiting: nothing",
            "accepted: => proceed",
            "running: failed outcome_unknown => stop",
        ]
    );
    let restarted = walk.folded(walk.appends[3]);
    assert_eq!(restarted.selected.map(|selected| selected.skill.to_string()).as_deref(), Some("second/pay"));
}

#[test]
fn scenario_13_a_yes_does_not_go_along_to_the_next_peer() {
    let mut walk = asked_about_the_second();
    walk.on(answers(APPROVER, 0, "yes", Answer::Granted));
    assert_eq!(walk.on(select("third/pay", &[], Some(FaultKind::Unreachable))), "selected third/pay");
    assert_eq!(walk.task.granted, None);
}

#[test]
fn scenario_13_no_ends_it_and_so_does_a_cancel() {
    let mut walk = asked_about_the_second();
    assert_eq!(
        walk.on(answers(APPROVER, 0, "no", Answer::Declined)),
        "received declined to 0, settled 0 declined, failed denied => stop"
    );
    let mut walk = asked_about_the_second();
    assert_eq!(
        walk.on(cancels(CancelWhy::Asked)),
        "received cancel (asked), settled 0 withdrawn, cancelled (asked) => stop"
    );
}

#[test]
fn scenario_13_what_a_peer_may_have_begun_goes_to_no_other() {
    let unreachable = || select("second/pay", &[], Some(FaultKind::Unreachable));
    let mut told = Walk::accept(call("first/pay", OnDisconnect::Detach));
    told.on(send("first/pay", false));
    assert_eq!(told.refuses(select("second/pay", &[], None)), FaultKind::Internal, "for no reason");
    told.on(learnt(9, true));
    assert_eq!(told.refuses(unreachable()), FaultKind::Internal, "it told an id");
    let mut asked = Walk::accept(call("first/pay", OnDisconnect::Detach));
    asked.on(send("first/pay", false));
    asked.on_together([Happening::Learnt { remote: None, open: false }, peer_asks("How much?")]);
    assert_eq!(asked.refuses(unreachable()), FaultKind::Internal, "it waits for an answer");
    asked.on(answers(OWNER, 0, "a1", Answer::Given(Input::text("10"))));
    assert_eq!(asked.refuses(unreachable()), FaultKind::Internal, "it asked, and has the answer or not");
}
