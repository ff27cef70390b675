//! 4. A caller whose protocol cannot carry questions: a confirmation goes to the approvers, nobody answers in time; its connection closes.

use super::*;

#[test]
fn scenario_04_a_yes_that_never_comes_is_denied() {
    let mut child = Walk::accept(call("files/write_file", OnDisconnect::Cancel));
    assert_eq!(child.on(hub_asks_for_yes("files/write_file")), "asked 0 confirm");
    assert_eq!(child.refuses(answers(USER, 0, "m2", Answer::Granted)), FaultKind::Denied);
    let (at, timer) = child.task.next_timer().expect("the question's expiry");
    child.now = at;
    assert_eq!(child.on(timer), "settled 0 expired, failed denied => stop");
    assert_eq!(child.task.sent, None, "nothing was ever sent");
}

#[test]
fn scenario_04_a_closed_connection_cancels_upstream() {
    let mut walk = Walk::accept(call("files/list_directory", OnDisconnect::Cancel));
    walk.on(send("files/list_directory", true));
    assert_eq!(walk.on(Happening::CallerGone), "received cancel (disconnected) => forward cancel (disconnected)");
    assert_eq!(walk.on(Happening::CallerGone), "nothing", "one cancel is enough");
    assert_eq!(
        walk.on(Happening::PeerLost),
        "cancelled (disconnected) => stop",
        "the peer let go of what was cancelled"
    );
}

#[test]
fn scenario_04_a_peer_that_does_not_stop_is_given_a_grace() {
    let mut walk = Walk::accept(call("files/list_directory", OnDisconnect::Cancel));
    walk.on(send("files/list_directory", true));
    walk.on(Happening::CallerGone);
    let (at, timer) = walk.task.next_timer().expect("the grace");
    assert_eq!(at, START.after(CANCEL_GRACE));
    assert_eq!(walk.on(timer), "cancelled (disconnected) => stop");
    assert_eq!(walk.refuses(completes()), FaultKind::AlreadyFinished, "a late outcome is dropped");
}

#[test]
fn scenario_04_killed_at_any_point() {
    let mut walk = Walk::accept(call("files/list_directory", OnDisconnect::Cancel));
    walk.on(hub_asks_for_yes("files/list_directory"));
    walk.on(answers(OWNER, 0, "m2", Answer::Granted));
    walk.on(send("files/list_directory", true));
    walk.on(learnt(9, true));
    assert_eq!(
        walk.restarts(),
        [
            "accepted: cancelled (disconnected) => stop",
            "waiting: nothing",
            "accepted: cancelled (disconnected) => stop",
            "running: cancelled (disconnected) => stop",
            "running: received cancel (disconnected) => reattach, forward cancel (disconnected)",
        ],
        "the caller is gone and its manners say cancel, unless a question is open"
    );
}
