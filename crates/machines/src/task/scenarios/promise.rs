//! 6. Long work for a caller that was given a task id and comes back to poll; or to cancel.

use super::*;
use interlingua_model::event::{Channel, Piece};

fn delta(text: &str) -> Happening {
    let parts = vec![Part::text(text, Provenance::peer("panel".into()))];
    peer(Event::Said { message: "m7".into(), channel: Channel::Answer, piece: Piece::Delta, parts })
}

fn promised() -> Walk {
    let mut walk = Walk::accept(call("panel/ask", OnDisconnect::Detach));
    assert_eq!(walk.on(send("panel/ask", false)), "sent 1 open, started => dispatch 1 as itself");
    assert_eq!(walk.on(Happening::CallerGone), "nothing", "after the promise nobody need stay");
    walk
}

#[test]
fn scenario_06_the_answer_was_streamed_and_the_outcome_names_it() {
    let mut walk = promised();
    walk.on(progresses(0.3));
    walk.on(chunk("answer-1", 0, true));
    walk.on(delta("forty-"));
    walk.on(delta("two"));
    let output = Output { said: Some("m7".into()), artifacts: vec!["answer-1".into()], ..Output::default() };
    assert_eq!(walk.on(peer(Event::Finished(Finished::completed(output)))), "completed => stop");
    assert_eq!(walk.events_after(3), ["progress", "answer-1#0 last", "said", "said", "completed"]);
}

#[test]
fn scenario_06_cancel_reaches_the_members_and_ends_it() {
    let mut walk = promised();
    assert_eq!(walk.on(cancels(CancelWhy::Asked)), "received cancel (asked) => forward cancel (asked)");
    assert_eq!(walk.task.phase(), TaskPhase::Running, "until the peer has ended");
    let ended = Finished::cancelled(Party::Caller, CancelWhy::Asked);
    assert_eq!(walk.on(peer(Event::Finished(ended))), "cancelled (asked) => stop");
    assert_eq!(walk.refuses(cancels(CancelWhy::Asked)), FaultKind::AlreadyFinished);
}

#[test]
fn scenario_06_a_stranger_does_not_learn_that_it_exists() {
    let walk = promised();
    let nobody = Standing { owns: false, approves: false };
    let signal = Signal::Cancel(CancelWhy::Asked);
    let stranger = Happening::Signal { by: Principal::anonymous(), standing: nobody, signal };
    assert!(matches!(walk.refuses(stranger), FaultKind::NotFound(_)));
}
