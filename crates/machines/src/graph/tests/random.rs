//! Random plans and random histories: calls end in any order and way, peers connect and disconnect, people edit and undo, the hub is
//! killed. In every case the plan ends, the journal folds to the same state, and no step runs twice that must not.

use proptest::prelude::*;

use super::*;

fn kind(choice: u8) -> Dependency {
    match choice % 4 {
        0 => Dependency::Unconditional,
        1 => Dependency::CompletionOnly,
        2 => Dependency::SuccessOnly,
        _ => Dependency::Conditional(Some(Condition { pointer: "/go".into(), equals: None })),
    }
}

/// Up to twelve steps; edges lead from an earlier to a later one.
fn any_plan() -> impl Strategy<Value = Plan> {
    let steps = prop::collection::vec((0..4u8, 0..3u32, any::<bool>(), 0..5u8), 1..12);
    let edges = prop::collection::vec((0..12usize, 0..12usize, any::<u8>()), 0..24);
    (steps, edges).prop_map(|(steps, edges)| {
        let mut made = plan(&[], vec![]);
        for (index, (want, retries, repeatable, priority)) in steps.iter().enumerate() {
            let want = match want {
                0 => Want::ANYONE,
                peer => Want::Peer(format!("p{peer}").into()),
            };
            let mut node = Node::new(format!("n{index}"), want);
            (node.retries, node.repeatable) = (*retries, *repeatable);
            node.priority = interlingua_model::call::Priority::new(*priority).expect("a level");
            node.timeout = (retries % 2 == 1).then_some(Duration::from_secs(30));
            made.nodes.push(node);
        }
        for (number, (from, to, choice)) in edges.into_iter().enumerate() {
            let (from, to) = (from % steps.len(), to % steps.len());
            if from < to {
                let (from, to) = (format!("n{from}"), format!("n{to}"));
                made.edges.push(Edge::new(format!("e{number}"), from, to, kind(choice)));
            }
        }
        made
    })
}

fn ending(choice: u8) -> Ending {
    match choice % 5 {
        0 | 1 => Ending::Completed(Some(json(if choice.is_multiple_of(2) { r#"{"go":true}"# } else { "{}" }))),
        2 => failed(),
        3 => busy(),
        _ => Ending::Failed(Fault::caller(FaultKind::OutcomeUnknown, "?")),
    }
}

/// One thing happens. What is refused changes nothing, and is refused rightly or the end will show it.
fn happen(run: &mut Run, what: u8, with: u8) {
    let some_node = || NodeId::from(format!("n{}", with % 14));
    match what % 10 {
        0..=3 => end_one(run, with),
        4 => run.pass(u64::from(with)),
        5 => run.restart(),
        6 => {
            let id = PeerId::from(format!("p{}", 1 + with % 3));
            if let Some(peer) = run.peers.get_mut(&id) {
                peer.available = !peer.available;
            }
            run.schedule();
        }
        7 => {
            let mut new = node(&format!("n{}", 12 + with % 3));
            new.repeatable = with.is_multiple_of(2);
            let link = Edge::new(format!("x{with}"), some_node(), new.id.clone(), kind(with));
            let _ = run.edit(vec![Edit::Add(Box::new(new)), Edit::Link(Box::new(link))]);
        }
        8 => {
            let edit = match with % 3 {
                0 => Edit::Remove(some_node()),
                1 => Edit::Retarget { node: some_node(), want: Want::Peer(format!("p{}", 1 + with % 3).into()) },
                _ => Edit::Link(Box::new(Edge::new(
                    format!("y{with}"),
                    some_node(),
                    format!("n{}", with % 7),
                    kind(with),
                ))),
            };
            let _ = run.edit(vec![edit]);
        }
        _ => drop(run.happen(Happening::Undo)),
    }
}

fn end_one(run: &mut Run, with: u8) {
    let Some((&number, node)) = run.calls.iter().nth(usize::from(with) % run.calls.len().max(1)) else { return };
    let node = node.clone();
    run.calls.remove(&number);
    run.happen(Happening::Ended { node, number, ending: ending(with) }).expect("under way");
}

/// Whatever is left ends well; peers that were away come back.
fn drain(run: &mut Run) {
    for peer in 1..=3 {
        run.peers.insert(format!("p{peer}"), Candidate { capacity: 2, ..Candidate::default() });
    }
    run.schedule();
    for _ in 0..500 {
        match run.calls.pop_first() {
            Some((number, node)) => {
                run.happen(Happening::Ended { node, number, ending: done() }).expect("under way");
            }
            None => match run.graph.next_timer(run.now) {
                Some(at) => {
                    run.now = at;
                    run.happen(Happening::Tick).expect("time passes");
                }
                None => return,
            },
        }
    }
}

/// A step is called again only after a fault that says nothing was begun, or when it is repeatable.
fn check_calls(run: &Run) {
    for entry in &run.journal {
        if let Record::Again { node, fault, .. } = &entry.record {
            let repeatable = run.called.iter().any(|(called, calling)| called == node && calling.repeatable);
            let nothing_begun = matches!(fault.retry, Retry::After(_));
            assert!(nothing_begun || repeatable, "{node} was tried again after {fault}");
        }
    }
    let sent = run.journal.iter().filter(|entry| matches!(entry.record, Record::Sent { .. })).count();
    assert_eq!(sent, run.called.len(), "every call is in the journal, and only once");
}

fn check_end(run: &Run) {
    assert!(run.graph.is_over(), "the plan did not end: {:?}", run.graph);
    for step in run.graph.steps() {
        let State::Ended(ending) = &step.state else { panic!("{:?} has not ended", step.node.id) };
        let (incoming, _) = run.graph.around(step);
        let blocked = incoming.into_iter().any(|edge| run.graph.verdict(edge) == Some(false));
        assert_eq!(*ending == skipped(), blocked, "{:?}: skipped if and only if an edge held it back", step.node.id);
        assert!(!blocked || step.attempts == 0 || step.node.retries > 0, "{:?} ran and was skipped", step.node.id);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn whatever_happens_a_plan_ends_and_its_journal_tells_the_same(
        plan in any_plan(),
        width in 1..6usize,
        planned in any::<bool>(),
        history in prop::collection::vec((any::<u8>(), any::<u8>()), 0..40),
    ) {
        let rules = Rules { width, planner: planned.then_some(Duration::from_secs(5)) };
        let peers = (1..=3).map(|n| (format!("p{n}").into(), Candidate::default())).collect();
        let mut run = Run::with(plan, rules, peers);
        for (what, with) in history {
            happen(&mut run, what, with);
            prop_assert_eq!(&run.folded(), &run.graph);
        }
        drain(&mut run);
        check_end(&run);
        check_calls(&run);
        run.restart();
        prop_assert!(run.calls.is_empty());
    }

    #[test]
    fn cancelled_at_any_point_a_plan_is_over_at_once(plan in any_plan(), ends in prop::collection::vec(any::<u8>(), 0..20)) {
        let peers = (1..=3).map(|n| (format!("p{n}").into(), Candidate::default())).collect();
        let mut run = Run::with(plan, Rules::default(), peers);
        ends.into_iter().for_each(|with| end_one(&mut run, with));
        let over = run.graph.is_over();
        prop_assert_eq!(run.happen(Happening::Cancel(CancelWhy::Asked)).is_err(), over);
        prop_assert!(run.graph.is_over() && run.calls.is_empty());
        prop_assert_eq!(&run.folded(), &run.graph);
    }
}
