//! A plan that has ended is taken up.

use super::*;

/// `a` completed, `b` failed, `c` waited for `b`.
fn ended() -> Run {
    let edges = vec![edge("a", "b", Dependency::SuccessOnly), edge("b", "c", Dependency::SuccessOnly)];
    let mut run = Run::new(plan(&["a", "b", "c"], edges));
    run.end("a", Ending::Completed(Some(json("1"))));
    run.end("b", failed());
    assert!(run.graph.is_over());
    run
}

#[test]
fn what_completed_stays_done_and_the_rest_is_done_again_as_changed() {
    let before = ended();
    let elsewhere = Edit::Retarget { node: "b".into(), want: Want::Peer("dev".into()) };
    let plan = before.graph.taken_up(&[elsewhere]).expect("a plan");
    let mut run = Run::new(plan);
    assert_eq!(run.running(), ["b"]);
    assert_eq!(run.ending("a"), Some(&Ending::Completed(Some(json("1")))), "with its result");
    assert_eq!(run.called[0].1.why, None, "the plan names its peer");
    run.end("b", done());
    run.end("c", done());
    assert_eq!(run.graph.standing(), Standing::Completed);
    assert_eq!(before.graph.standing(), Standing::PartlyFailed, "the first one stays as it was");
}

#[test]
fn a_plan_that_is_complete_takes_more_steps() {
    let mut run = Run::new(plan(&["a"], Vec::new()));
    run.end("a", done());
    let more = [Edit::Add(Box::new(node("b"))), Edit::Link(Box::new(edge("a", "b", Dependency::SuccessOnly)))];
    let again = Run::new(run.graph.taken_up(&more).expect("a plan"));
    assert_eq!(again.running(), ["b"]);
}

#[test]
fn a_completed_step_cannot_be_changed_or_removed() {
    let run = ended();
    for edit in [Edit::Remove("a".into()), Edit::Replace(Box::new(node("a")))] {
        assert_eq!(run.graph.taken_up(&[edit]).expect_err("refused").kind, FaultKind::Conflict);
    }
    let circle = [Edit::Link(Box::new(edge("c", "b", Dependency::Unconditional)))];
    let plan = run.graph.taken_up(&circle).expect("looked at later");
    assert_eq!(plan.check().expect_err("a circle").kind, FaultKind::InvalidInput);
}
