//! 3. Three commands in order; the second fails, the third is never begun. The parent ends with what there is so far.

use super::*;

#[test]
fn scenario_03_each_child_has_its_own_outcome() {
    let child = || {
        let mut child = call("dev1/click", OnDisconnect::Cancel);
        child.parent = Some(TaskId(1));
        child
    };
    let mut first = Walk::accept(child());
    first.on(send("dev1/click", false));
    assert_eq!(first.on(completes()), "completed => stop");

    let mut second = Walk::accept(child());
    second.on(send("dev1/click", false));
    assert_eq!(second.on(fails(FaultKind::PeerFailed)), "failed peer_failed => stop");

    let mut third = Walk::accept(child());
    assert_eq!(
        third.on(cancels(CancelWhy::EarlierFailed)),
        "received cancel (an earlier step failed), cancelled (an earlier step failed) => stop",
        "what was not sent ends at once"
    );
}

#[test]
fn scenario_03_the_parent_keeps_its_artifacts_when_it_fails() {
    let mut parent = Walk::accept(call("dev1/do", OnDisconnect::Detach));
    parent.on(send("dev1/do", false));
    assert_eq!(parent.on(progresses(1.0)), "progress");
    assert_eq!(parent.on(chunk("step-1", 0, true)), "step-1#0 last");
    let mut failed = Finished::failed(Fault::new(FaultKind::PeerFailed, Party::Peer("dev1".into()), "gave up"));
    failed.output.artifacts = vec!["step-1".into()];
    assert_eq!(parent.on(peer(Event::Finished(failed))), "failed peer_failed => stop");
    assert_eq!(parent.task.artifacts.len(), 1);
    assert_eq!(parent.task.finished().map(|finished| finished.output.artifacts.len()), Some(1));
}

#[test]
fn scenario_03_a_child_comes_back_with_its_parent_whatever_its_manners() {
    let mut child = call("dev1/click", OnDisconnect::Cancel);
    child.parent = Some(TaskId(1));
    let mut walk = Walk::accept(child);
    walk.on(send("dev1/click", true));
    assert_eq!(walk.restarts(), ["accepted: => proceed", "running: sent 2 open => dispatch 2 as itself"]);
}

#[test]
fn scenario_03_chunks_out_of_order_are_a_bad_reply() {
    let mut parent = Walk::accept(call("dev1/do", OnDisconnect::Detach));
    parent.on(send("dev1/do", false));
    parent.on(chunk("a", 0, false));
    assert_eq!(parent.refuses(chunk("a", 2, true)), FaultKind::BadReply);
    assert_eq!(parent.refuses(chunk("b", 1, true)), FaultKind::BadReply);
    let fault = Fault::new(FaultKind::BadReply, Party::Peer("dev1".into()), "out of order");
    assert_eq!(parent.on(Happening::Refused(fault)), "failed bad_reply => stop");
}
