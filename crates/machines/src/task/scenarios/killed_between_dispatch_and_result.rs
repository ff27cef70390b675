//! 10. The hub is killed between dispatch and result.

use super::*;

fn sent(repeatable: bool, on_disconnect: OnDisconnect) -> Walk {
    let mut walk = Walk::accept(call("mail/send", on_disconnect));
    walk.on(send("mail/send", repeatable));
    walk
}

#[test]
fn scenario_10_what_can_be_repeated_is_sent_again_under_the_same_key() {
    let mut walk = sent(true, OnDisconnect::Detach);
    assert_eq!(walk.restart(), "sent 2 open => dispatch 2 as itself");
    assert_eq!(walk.restart(), "sent 3 open => dispatch 3 as itself", "and once more");
    assert_eq!(walk.on(completes()), "completed => stop");
}

#[test]
fn scenario_10_what_cannot_may_have_happened_and_the_text_says_what_and_when() {
    let mut walk = sent(false, OnDisconnect::Detach);
    assert_eq!(walk.restart(), "failed outcome_unknown => stop");
    let Some(Outcome::Failed(fault)) = walk.task.finished().map(|finished| &finished.outcome) else { panic!("failed") };
    assert!(fault.public.contains("mail/send") && fault.public.contains(&START.to_string()), "{}", fault.public);
    assert_eq!(fault.retry, interlingua_model::fault::Retry::No);
}

#[test]
fn scenario_10_what_the_peer_knows_by_an_id_is_taken_up_again() {
    let mut walk = sent(false, OnDisconnect::Detach);
    walk.on(learnt(9, true));
    assert_eq!(walk.restart(), "=> reattach");
    assert_eq!(walk.on(completes()), "completed => stop");

    let mut forgotten = sent(false, OnDisconnect::Detach);
    forgotten.on(learnt(9, true));
    forgotten.restart();
    assert_eq!(forgotten.on(Happening::PeerLost), "failed outcome_unknown => stop", "the peer does not know it");
}

#[test]
fn scenario_10_manners_come_first() {
    assert_eq!(sent(true, OnDisconnect::Cancel).restart(), "cancelled (disconnected) => stop");

    let mut known = sent(true, OnDisconnect::Cancel);
    known.on(learnt(9, true));
    let told = "received cancel (disconnected) => reattach, forward cancel (disconnected)";
    assert_eq!(known.restart(), told, "the peer would work for nobody");
    assert_eq!(
        known.on(Happening::Refused(Fault::hub(FaultKind::Unreachable, "gone"))),
        "cancelled (disconnected) => stop"
    );
}

#[test]
fn scenario_10_a_caller_that_may_come_back_has_its_time_anew() {
    let patience = OnDisconnect::CancelAfter(Duration::from_secs(30));
    let mut walk = sent(true, patience);
    assert_eq!(walk.on(Happening::CallerGone), "=> await caller 30s");
    assert_eq!(walk.restart(), "sent 2 open => dispatch 2 as itself, await caller 30s");
    assert_eq!(walk.on(Happening::CallerStayedAway), "received cancel (disconnected) => forward cancel (disconnected)");

    let mut asked = sent(true, patience);
    asked.on(peer_asks("which dates?"));
    assert_eq!(asked.on(Happening::CallerStayedAway), "nothing", "the answer may come by another way");
}

#[test]
fn scenario_10_an_open_question_stands_and_its_answer_is_a_new_dispatch() {
    let mut walk = sent(false, OnDisconnect::Cancel);
    walk.on_together([learnt(9, false), peer_asks("to whom?")]);
    assert_eq!(walk.restart(), "nothing");
    assert_eq!(
        walk.on(answers(OWNER, 0, "m2", Answer::Given(Input::text("Ana")))),
        "received given to 0, settled 0 answered, sent 1 open known => forward given to 0"
    );
}

#[test]
fn scenario_10_a_question_of_the_hubs_own_stands_when_the_peers_is_withdrawn() {
    let mut walk = sent(true, OnDisconnect::Detach);
    walk.on(peer_asks("which dates?"));
    walk.on(hub_asks_for_yes("mail/send"));
    assert_eq!(walk.restart(), "settled 0 withdrawn, sent 2 open => dispatch 2 as itself");
    assert_eq!(walk.task.open.keys().copied().collect::<Vec<_>>(), [QuestionId(TASK, 1)]);
    assert_eq!(walk.task.phase(), TaskPhase::Waiting);
}

#[test]
fn scenario_10_a_cancel_that_was_under_way_is_not_forgotten() {
    let mut walk = sent(false, OnDisconnect::Detach);
    walk.on(learnt(9, true));
    walk.on(cancels(CancelWhy::Asked));
    assert_eq!(walk.restart(), "received cancel (asked) => reattach, forward cancel (asked)");
    walk.now = walk.now.after(CANCEL_GRACE * 2);
    walk.restart();
    let (at, _) = walk.task.next_timer().expect("the grace");
    assert_eq!(at, walk.now.after(CANCEL_GRACE), "the peer has its grace from when it can be told");

    let mut lost = sent(true, OnDisconnect::Detach);
    lost.on(cancels(CancelWhy::Asked));
    assert_eq!(lost.restart(), "cancelled (asked) => stop", "what was to be stopped is not begun again");
}

#[test]
fn scenario_10_a_journal_must_begin_as_a_tasks_does() {
    let entry =
        Entry { seq: 1, at: START, record: Record::emitted(Event::Finished(Finished::completed(Output::default()))) };
    assert!(fold(TASK, [entry]).is_err());
    assert!(fold(TASK, []).is_err());
}
