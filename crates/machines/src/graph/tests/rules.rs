//! Dependencies, order, retries, time, and the end.

use super::*;

#[test]
fn p_51_a_plan_with_a_circle_a_loop_a_double_or_a_stranger_is_refused() {
    let success = || Dependency::SuccessOnly;
    let circle = vec![edge("a", "b", success()), edge("b", "c", success()), edge("c", "a", success())];
    let bad = [
        (plan(&["a", "b", "c"], circle), "circle"),
        (plan(&["a"], vec![edge("a", "a", success())]), "itself"),
        (plan(&["a", "a"], vec![]), "two steps are called a"),
        (plan(&["a", "b"], vec![edge("a", "b", success()), edge("a", "b", success())]), "two edges"),
        (plan(&["a"], vec![edge("a", "ghost", success())]), "ghost"),
        (plan(&[""], vec![]), "no id"),
    ];
    for (plan, says) in bad {
        let fault = Graph::open(TaskId(1), plan, Rules::default(), NOW).expect_err(says);
        assert!(fault.public.contains(says), "{fault}");
        assert_eq!(fault.kind, FaultKind::InvalidInput);
    }
}

#[test]
fn p_52_the_four_dependencies_against_every_ending() {
    let kinds = [
        ("unconditional", Dependency::Unconditional, [true, true, true]),
        ("completion only", Dependency::CompletionOnly, [true, true, false]),
        ("success only", Dependency::SuccessOnly, [true, false, false]),
        ("conditional", Dependency::Conditional(None), [true, false, false]),
    ];
    for (name, kind, runs) in kinds {
        // A null result counts as success; a failure does not, whatever it says.
        for (ending, runs) in [done(), failed(), skipped()].into_iter().zip(runs) {
            let mut plan = plan(&["a", "b"], vec![edge("a", "b", kind.clone())]);
            plan.ended.push(("a".into(), ending.clone()));
            let run = Run::new(plan);
            assert_eq!(run.running(), if runs { vec!["b"] } else { vec![] }, "{name} after {ending:?}");
            assert_eq!(run.ending("b").cloned(), (!runs).then(skipped), "{name} after {ending:?}");
        }
    }
}

#[test]
fn p_52_a_condition_is_a_test_of_the_result() {
    let condition = |pointer: &str, equals: Option<&str>| {
        Dependency::Conditional(Some(Condition { pointer: pointer.into(), equals: equals.map(json) }))
    };
    for (kind, result, runs) in [
        (condition("/ok", None), Some(r#"{"ok":true}"#), true),
        (condition("/ok", None), Some(r#"{"ok":false}"#), false),
        (condition("/ok", None), None, false),
        (condition("/n", Some("3")), Some(r#"{"n":3}"#), true),
        (condition("/n", Some("3")), Some(r#"{"n":4}"#), false),
        (condition("", Some("null")), None, true),
    ] {
        let mut run = Run::new(plan(&["a", "b"], vec![edge("a", "b", kind)]));
        run.end("a", Ending::Completed(result.map(json)));
        assert_eq!(!run.running().is_empty(), runs, "{result:?}");
    }
}

#[test]
fn p_53_what_waits_for_a_failed_step_is_cancelled_and_only_that_and_the_plan_ends() {
    let success = || Dependency::SuccessOnly;
    let edges = vec![
        edge("a", "b", success()),
        edge("b", "c", success()),
        edge("a", "d", Dependency::CompletionOnly),
        edge("c", "e", Dependency::Unconditional),
    ];
    let mut run = Run::new(plan(&["a", "b", "c", "d", "e", "f"], edges));
    assert_eq!(run.running(), ["a", "f"]);
    run.end("a", failed());
    assert_eq!(run.ending("b"), Some(&skipped()));
    assert_eq!(run.ending("c"), Some(&skipped()));
    assert_eq!(run.running(), ["d", "e", "f"]);
    for node in ["d", "e"] {
        run.end(node, done());
    }
    assert_eq!(run.graph.standing(), Standing::Running);
    run.end("f", done());
    assert!(run.graph.is_over());
    assert_eq!(run.graph.standing(), Standing::PartlyFailed);
}

#[test]
fn the_end_is_told_once_with_how_it_stands() {
    let mut run = Run::new(plan(&["a"], vec![]));
    let (number, node) = run.calls.pop_first().expect("called");
    let told = run.happen(Happening::Ended { node, number, ending: done() }).expect("it ends");
    assert_eq!(told.last(), Some(&Change::Over(Standing::Completed)));
    assert!(run.happen(Happening::Cancel(CancelWhy::Asked)).is_err());
}

#[test]
fn the_more_urgent_goes_first_then_what_was_planned_first() {
    let mut urgent = plan(&["low", "first", "second", "high"], vec![]);
    urgent.nodes[0].priority = interlingua_model::call::Priority::new(2).expect("a level");
    urgent.nodes[3].priority = interlingua_model::call::Priority::new(8).expect("a level");
    let mut run = Run::with(urgent, Rules::default(), one_peer(1));
    let mut order = Vec::new();
    while let Some(node) = run.running().first().map(|node| (*node).to_owned()) {
        run.end(&node, done());
        order.push(node);
    }
    assert_eq!(order, ["high", "first", "second", "low"]);
}

#[test]
fn no_more_than_the_width_run_at_once_and_no_more_than_a_peer_takes() {
    let names: Vec<String> = (0..10).map(|n| format!("n{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let run = Run::with(plan(&names, vec![]), Rules { width: 3, ..Rules::default() }, one_peer(100));
    assert_eq!(run.calls.len(), 3);
    let run = Run::with(plan(&names, vec![]), Rules::default(), one_peer(4));
    assert_eq!(run.calls.len(), 4);
}

#[test]
fn a_step_goes_to_who_can_do_it_and_has_the_least_to_do() {
    let candidate = |platform: &str, capabilities: &[&str]| Candidate {
        platform: Some(platform.into()),
        capabilities: capabilities.iter().map(|&name| name.into()).collect(),
        capacity: 4,
        ..Candidate::default()
    };
    let mut peers = Peers::default();
    peers.insert("office", candidate("windows", &["excel"]));
    peers.insert("lab", Candidate { strain: Some(90), ..candidate("linux", &["shell"]) });
    peers.insert("rack", Candidate { busy: 1, ..candidate("linux", &["shell"]) });
    peers.insert("old", Candidate { slow: true, ..candidate("linux", &["shell"]) });
    peers.insert("away", Candidate { available: false, ..candidate("linux", &["shell", "gpu"]) });
    let any = |capability: Option<&str>, platform: Option<&str>| Want::Any {
        capability: capability.map(Into::into),
        platform: platform.map(Into::into),
        memory: None,
    };
    let chosen = |want: &Want| peers.choose(want, |_| 0);
    assert_eq!(chosen(&any(Some("excel"), None)), Placed::With("office".into()));
    assert_eq!(
        chosen(&any(Some("shell"), Some("linux"))),
        Placed::With("rack".into()),
        "75 against 90; the slow one last"
    );
    assert_eq!(
        peers.choose(&any(Some("shell"), None), |peer| u32::from(peer.as_str() == "rack") * 3),
        Placed::With("lab".into())
    );
    assert_eq!(chosen(&any(Some("gpu"), None)), Placed::Later, "it is known, and away");
    assert_eq!(chosen(&any(Some("gpu"), Some("windows"))), Placed::Nobody);
    assert_eq!(chosen(&Want::Peer("away".into())), Placed::Later);
    assert_eq!(chosen(&Want::Peer("nobody".into())), Placed::Nobody);
}

#[test]
fn p_61_steps_of_a_quarantined_peer_wait_and_fail_once_it_is_gone() {
    let mut plan = plan(&["a", "b", "c"], vec![edge("a", "b", Dependency::SuccessOnly)]);
    plan.nodes[0].want = Want::Peer("lab".into());
    let mut peers = one_peer(10);
    peers.insert("lab", Candidate { available: false, ..Candidate::default() });
    let mut run = Run::with(plan, Rules::default(), peers);
    assert_eq!(run.running(), ["c"], "only what needs it waits");
    run.peers.remove(&"lab".into());
    run.schedule();
    assert!(matches!(run.ending("a"), Some(Ending::Failed(fault)) if fault.kind == FaultKind::Unreachable));
    assert_eq!(run.ending("b"), Some(&skipped()));
    run.end("c", done());
    assert!(run.graph.is_over());
}

#[test]
fn a_failed_step_is_tried_again_only_when_nothing_was_begun_or_it_is_repeatable() {
    for (repeatable, ending, again) in [
        (false, busy(), true),
        (false, failed(), false),
        (true, failed(), true),
        (true, Ending::Failed(Fault::caller(FaultKind::OutcomeUnknown, "?")), false),
    ] {
        let mut plan = plan(&["a"], vec![]);
        plan.nodes[0].retries = 2;
        plan.nodes[0].repeatable = repeatable;
        let mut run = Run::new(plan);
        run.end("a", ending.clone());
        assert_eq!(matches!(run.graph.step(&"a".into()).expect("a").state, State::Later(_)), again, "{ending:?}");
        assert!(run.running().is_empty());
        if again {
            assert_eq!(run.graph.next_timer(run.now), Some(NOW.after(Duration::from_secs(1))));
            run.pass(1);
            assert_eq!(run.running(), ["a"]);
            run.end("a", ending.clone());
            run.pass(60);
            run.end("a", ending);
            assert!(run.graph.is_over(), "two more attempts and no third");
            assert_eq!(run.called.len(), 3);
        }
        assert!(run.graph.is_over());
    }
}

#[test]
fn a_step_that_takes_too_long_is_stopped_and_a_late_answer_changes_nothing() {
    let mut plan = plan(&["a", "b"], vec![edge("a", "b", Dependency::SuccessOnly)]);
    plan.nodes[0].timeout = Some(Duration::from_secs(10));
    let mut run = Run::new(plan);
    let (number, node) = run.calls.first_key_value().map(|(number, node)| (*number, node.clone())).expect("called");
    assert_eq!(run.graph.next_timer(run.now), Some(NOW.after(Duration::from_secs(10))));
    run.pass(9);
    assert_eq!(run.running(), ["a"]);
    run.pass(1);
    assert!(run.calls.is_empty(), "the call was let go");
    assert!(matches!(run.ending("a"), Some(Ending::Failed(fault)) if fault.kind == FaultKind::Deadline));
    assert!(run.graph.is_over());
    let late = run.happen(Happening::Ended { node, number, ending: done() }).expect_err("too late");
    assert_eq!(late.kind, FaultKind::AlreadyFinished);
}

#[test]
fn p_58_cancel_ends_running_and_waiting_steps_and_the_plan_is_cancelled() {
    let mut run = Run::new(plan(&["a", "b", "c"], vec![edge("a", "b", Dependency::SuccessOnly)]));
    run.end("c", done());
    run.happen(Happening::Cancel(CancelWhy::Asked)).expect("it runs");
    assert!(run.calls.is_empty());
    for node in ["a", "b"] {
        assert_eq!(run.ending(node), Some(&Ending::Cancelled(CancelWhy::Asked)));
    }
    assert_eq!(run.ending("c"), Some(&done()));
    assert_eq!(run.graph.standing(), Standing::Cancelled);
    run.restart();
    assert!(run.calls.is_empty());
}

#[test]
fn a_plan_whose_time_is_over_fails_whatever_has_not_ended() {
    let mut plan = plan(&["a", "b"], vec![edge("a", "b", Dependency::Unconditional)]);
    plan.deadline = Some(NOW.after(Duration::from_secs(5)));
    let mut run = Run::new(plan);
    run.pass(5);
    assert!(run.calls.is_empty() && run.graph.is_over());
    assert_eq!(run.graph.standing(), Standing::Failed);
}

#[test]
fn after_a_crash_calls_go_on_under_the_same_keys() {
    let mut run = Run::new(plan(&["a", "b", "c"], vec![edge("a", "c", Dependency::SuccessOnly)]));
    run.end("a", done());
    let before: Vec<u64> = run.calls.keys().copied().collect();
    run.restart();
    assert_eq!(run.calls.keys().copied().collect::<Vec<_>>(), before);
    run.end("b", done());
    run.end("c", done());
    assert_eq!(run.graph.standing(), Standing::Completed);
    assert_eq!(run.called.len(), 3, "each was called once");
}

#[test]
fn a_journal_must_begin_with_the_plan() {
    assert!(fold(TaskId(1), []).is_err());
    let other = Entry { seq: 1, at: NOW, record: Record::Released { node: "a".into() } };
    assert!(fold(TaskId(1), [other]).is_err());
}

/// Ten thousand steps in a grid, four edges each, over a hundred peers. What is counted is work, not time: how often the
/// machine is asked.
#[test]
fn ten_thousand_steps_are_scheduled_once_each() {
    let name = |row: usize, column: usize| format!("n{row}_{column}");
    let mut big = plan(&[], vec![]);
    for row in 0..100 {
        for column in 0..100 {
            big.nodes.push(Node::new(name(row, column), Want::Peer(format!("p{column}").into())));
            for back in 1..=4 {
                if row > 0 && column >= back {
                    let (from, to) = (name(row - 1, column - back), name(row, column));
                    big.edges.push(edge(&from, &to, Dependency::SuccessOnly));
                }
            }
        }
    }
    let peers: Peers =
        (0..100).map(|n| (format!("p{n}").into(), Candidate { capacity: 2, ..Candidate::default() })).collect();
    let mut run = Run::with(big, Rules { width: 200, ..Rules::default() }, peers);
    let mut ended = 0;
    while let Some((number, node)) = run.calls.pop_first() {
        run.happen(Happening::Ended { node, number, ending: done() }).expect("under way");
        ended += 1;
    }
    assert_eq!((ended, run.graph.standing()), (10_000, Standing::Completed));
}

#[test]
fn what_the_models_of_its_steps_used_is_counted_through_a_restart() {
    let mut run = Run::new(plan(&["a", "b"], Vec::new()));
    let usage = Usage { tokens_in: 3, tokens_out: 4, calls: 9, micro_money: 5 };
    let before = run.journal.len();
    run.happen(Happening::Spent(Usage { calls: 9, ..Usage::default() })).expect("nothing to write");
    assert_eq!(run.journal.len(), before);
    for _ in 0..2 {
        run.happen(Happening::Spent(usage)).expect("counted");
    }
    run.restart();
    assert_eq!(run.graph.spent(), Usage { tokens_in: 6, tokens_out: 8, calls: 0, micro_money: 10 });
}
