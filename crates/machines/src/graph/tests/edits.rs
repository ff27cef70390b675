//! Changes while a plan runs.

use super::*;

fn add(id: &str) -> Edit {
    Edit::Add(Box::new(node(id)))
}

fn link(from: &str, to: &str) -> Edit {
    Edit::Link(Box::new(edge(from, to, Dependency::SuccessOnly)))
}

fn chain() -> Run {
    Run::new(plan(
        &["a", "b", "c"],
        vec![edge("a", "b", Dependency::SuccessOnly), edge("b", "c", Dependency::SuccessOnly)],
    ))
}

#[test]
fn steps_and_edges_come_and_go_while_others_run() {
    let mut run = chain();
    run.edit(vec![add("d"), link("a", "d"), Edit::Remove("b".into())]).expect("a good edit");
    assert_eq!(run.running(), ["a", "c"], "c waits for nothing any more");
    run.end("a", done());
    assert_eq!(run.running(), ["c", "d"]);
    assert!(run.graph.step(&"b".into()).is_none());
    run.restart();
}

#[test]
fn p_51_what_runs_or_has_ended_is_neither_removed_nor_changed() {
    let mut run = chain();
    let retarget = |node: &str| Edit::Retarget { node: node.into(), want: Want::Peer("x".into()) };
    for edit in [Edit::Remove("a".into()), retarget("a"), Edit::Replace(Box::new(node("a"))), link("c", "a")] {
        let fault = run.edit(vec![edit]).expect_err("a runs");
        assert_eq!(fault.kind, FaultKind::Conflict, "{fault}");
    }
    run.end("a", done());
    assert_eq!(run.edit(vec![Edit::Remove("a".into())]).expect_err("a has ended").kind, FaultKind::Conflict);
}

#[test]
fn p_51_an_edit_that_would_make_a_circle_or_names_a_stranger_is_refused() {
    let mut run = chain();
    for edits in [
        vec![link("c", "b")],
        vec![link("b", "b")],
        vec![link("ghost", "b")],
        vec![add("b")],
        vec![Edit::Unlink("x".into())],
    ] {
        assert_eq!(run.edit(edits).expect_err("a bad edit").kind, FaultKind::InvalidInput);
    }
}

#[test]
fn an_edit_is_made_whole_or_not_at_all() {
    let mut run = chain();
    let before = run.graph.clone();
    let fault =
        run.edit(vec![add("d"), Edit::Remove("c".into()), link("d", "ghost")]).expect_err("the last one is bad");
    assert_eq!(&*fault.fields[0].path, "edits[2]");
    assert_eq!(run.graph, before);
}

#[test]
fn a_step_can_be_given_to_another_peer_while_it_waits() {
    let mut run = chain();
    run.peers.insert("lab", Candidate::default());
    run.edit(vec![Edit::Retarget { node: "b".into(), want: Want::Peer("lab".into()) }]).expect("b waits");
    run.end("a", done());
    let (_, calling) = run.called.last().expect("b was called");
    assert_eq!(calling.peer.as_str(), "lab");
}

#[test]
fn the_last_edits_can_be_taken_back_one_by_one() {
    let mut run = chain();
    let shape = |run: &Run| {
        let nodes: Vec<Node> = run.graph.steps().map(|step| step.node.clone()).collect();
        (nodes, run.graph.edges().cloned().collect::<Vec<_>>())
    };
    run.peers.insert("x", Candidate { available: false, ..Candidate::default() });
    let first = shape(&run);
    run.edit(vec![add("d"), link("b", "d"), Edit::Retarget { node: "c".into(), want: Want::Peer("x".into()) }])
        .expect("good");
    let second = shape(&run);
    run.edit(vec![Edit::Remove("b".into()), Edit::Remove("d".into())]).expect("good");
    run.happen(Happening::Undo).expect("one to undo");
    assert_eq!(shape(&run), second);
    run.restart();
    run.happen(Happening::Undo).expect("another");
    assert_eq!(shape(&run), first);
    assert!(run.happen(Happening::Undo).is_err());
}

#[test]
fn an_undo_that_no_longer_fits_is_refused_and_changes_nothing() {
    let mut run = Run::new(plan(&["a"], vec![]));
    run.edit(vec![add("b")]).expect("good");
    assert_eq!(run.running(), ["a", "b"]);
    let before = run.graph.clone();
    assert_eq!(run.happen(Happening::Undo).expect_err("b runs").kind, FaultKind::Conflict);
    assert_eq!(run.graph, before);
}

#[test]
fn p_63_a_planner_may_change_what_follows_from_a_failure_before_it_follows() {
    let rules = Rules { planner: Some(Duration::from_secs(600)), ..Rules::default() };
    let mut run = Run::with(plan(&["a", "b"], vec![edge("a", "b", Dependency::SuccessOnly)]), rules, one_peer(10));
    run.end("a", failed());
    assert_eq!(run.plans, [NodeId::from("a")]);
    assert_eq!(run.ending("b"), None, "nothing follows yet");
    run.restart();
    assert_eq!(run.plans.len(), 2, "the planner is asked again after a crash");
    let edits = vec![Edit::Unlink("a>b".into()), add("a2"), link("a2", "b")];
    run.happen(Happening::Planned { node: "a".into(), edits }).expect("a good plan");
    assert_eq!(run.running(), ["a2"]);
    run.end("a2", done());
    run.happen(Happening::Planned { node: "a2".into(), edits: vec![] }).expect("no change");
    assert_eq!(run.running(), ["b"]);
    assert!(run.happen(Happening::Planned { node: "a".into(), edits: vec![] }).is_err(), "answered once");
}

#[test]
fn p_63_a_planner_that_does_not_answer_or_answers_badly_holds_nothing_up() {
    let rules = Rules { planner: Some(Duration::from_secs(600)), ..Rules::default() };
    let mut run = Run::with(plan(&["a", "b"], vec![edge("a", "b", Dependency::SuccessOnly)]), rules, one_peer(10));
    run.end("a", done());
    assert!(run.happen(Happening::Planned { node: "a".into(), edits: vec![link("b", "a")] }).is_err());
    assert!(run.running().is_empty() && !run.graph.is_over());
    assert_eq!(run.graph.next_timer(run.now), Some(NOW.after(Duration::from_secs(600))));
    run.pass(600);
    assert_eq!(run.running(), ["b"]);
}

#[test]
fn p_63_a_whole_new_plan_is_merged_shape_from_it_progress_from_here() {
    let mut run = chain();
    run.end("a", done());
    let mut new = plan(
        &["b", "c", "d"],
        vec![edge("d", "c", Dependency::SuccessOnly), edge("b", "d", Dependency::Unconditional)],
    );
    new.nodes[1].words = "said anew".into();
    let edits = towards(&run.graph, &new);
    run.edit(edits).expect("a merge");
    assert_eq!(run.running(), ["b"], "what runs goes on");
    assert_eq!(run.ending("a"), Some(&done()), "what has ended stays");
    assert_eq!(&*run.graph.step(&"c".into()).expect("c").node.words, "said anew");
    assert!(towards(&run.graph, &new).is_empty(), "merged once, merged");
    run.end("b", failed());
    assert_eq!(run.running(), ["d"]);
    run.end("d", done());
    assert_eq!(run.running(), ["c"]);
}
