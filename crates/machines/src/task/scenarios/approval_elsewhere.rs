//! 9. An agent on a budget calls a destructive skill: an approver other than the caller approves, or the call changed meanwhile.

use super::*;

fn child() -> Walk {
    let mut call = call("files/delete", OnDisconnect::Cancel);
    call.parent = Some(TaskId(1));
    let mut walk = Walk::accept(call);
    walk.on(hub_asks_for_yes("files/delete"));
    walk
}

#[test]
fn scenario_09_the_approver_is_not_the_caller() {
    let mut walk = child();
    assert_eq!(walk.refuses(answers(USER, 0, "yes", Answer::Granted)), FaultKind::Denied);
    assert_eq!(
        walk.on(answers(APPROVER, 0, "yes", Answer::Granted)),
        "received granted to 0, settled 0 answered => proceed"
    );
    walk.on(send("files/delete", false));
    assert_eq!(walk.on(completes()), "completed => stop");
}

#[test]
fn scenario_09_the_yes_names_the_call_it_was_given_for() {
    let mut walk = child();
    walk.on(answers(APPROVER, 0, "yes", Answer::Granted));
    let other = Digest::of(b"other arguments");
    assert_ne!(walk.task.granted, Some(other));
    let changed = Fault::caller(FaultKind::Denied, "the call is no longer the one that was approved");
    assert_eq!(walk.on(Happening::Refused(changed)), "failed denied => stop");
}

#[test]
fn scenario_09_an_approver_sees_the_question_and_may_not_cancel_the_task() {
    let walk = child();
    assert_eq!(walk.task.answerable(APPROVER).map(|question| question.id), Some(QuestionId(TASK, 0)));
    assert!(walk.task.answerable(USER).is_none());
    let cancel = Happening::Signal { by: owner(), standing: APPROVER, signal: Signal::Cancel(CancelWhy::Asked) };
    assert!(matches!(walk.refuses(cancel), FaultKind::NotFound(_)));
}

#[test]
fn scenario_09_a_spent_budget_ends_it_with_the_output_so_far() {
    let mut parent = Walk::accept(call("helper/chat", OnDisconnect::Detach));
    parent.on(send("helper/chat", false));
    parent.on(peer(Event::Progress { done: None, total: None, note: Some("waits for approval".into()) }));
    let mut spent = Finished::failed(Fault::hub(FaultKind::BudgetSpent, "the token budget is spent"));
    spent.output.parts = vec![Part::text("so far", Provenance::hub())];
    assert_eq!(parent.on(peer(Event::Finished(spent))), "failed budget_spent => stop");
    assert_eq!(parent.task.finished().map(|finished| finished.output.parts.len()), Some(1));
}

#[test]
fn scenario_09_a_child_waiting_for_approval_survives_the_hub() {
    assert_eq!(child().restarts(), ["accepted: => proceed", "waiting: nothing"]);
}

/// The caller was asked because it could approve; the right is looked at again when it answers.
#[test]
fn a_right_that_was_taken_back_approves_nothing_and_still_declines() {
    let mut walk = Walk::accept(call("files/write_file", OnDisconnect::Detach));
    let Happening::Ask(asking) = hub_asks_for_yes("files/write_file") else { panic!("a question") };
    walk.on(Happening::Ask(Asking { to: Addressee::Caller, ..asking }));
    assert_eq!(walk.refuses(answers(USER, 0, "yes", Answer::Granted)), FaultKind::Denied);
    assert_eq!(
        walk.on(answers(USER, 0, "no", Answer::Declined)),
        "received declined to 0, settled 0 declined, failed denied => stop"
    );
}
