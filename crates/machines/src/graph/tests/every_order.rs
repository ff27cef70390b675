//! Every plan of three steps with every kind of edge between them, and every plan of four with two kinds: every order in which
//! calls can end, every way they can end, with a restart at every point. No sampling: up to this bound nothing is left out.

use super::*;

/// What must be true of every plan once nothing runs: it is over, a step ran if and only if all its edges let it, and none
/// was called twice.
fn check_end(run: &Run) {
    assert!(run.graph.is_over(), "nothing runs, so nothing waits");
    assert!(!matches!(run.graph.standing(), Standing::Ready | Standing::Running));
    for step in run.graph.steps() {
        let State::Ended(ending) = &step.state else { panic!("{:?} has not ended", step.node.id) };
        let (incoming, _) = run.graph.around(step);
        let passes = incoming.into_iter().all(|edge| run.graph.verdict(edge) == Some(true));
        assert_eq!(*ending != skipped(), passes, "{:?}", step.node.id);
        let called = run.called.iter().filter(|(node, _)| *node == step.node.id).count();
        assert_eq!(called, usize::from(passes), "{:?}", step.node.id);
    }
}

fn explore(run: &Run, endings: &[Ending], ends: &mut usize) {
    if run.calls.is_empty() {
        check_end(run);
        *ends += 1;
        return;
    }
    for (number, node) in &run.calls {
        for ending in endings {
            let mut next = run.clone();
            next.calls.remove(number);
            let ended = Happening::Ended { node: node.clone(), number: *number, ending: ending.clone() };
            next.happen(ended).expect("it was under way");
            next.restart();
            explore(&next, endings, ends);
        }
    }
}

/// All plans of these steps; every pair may have an edge of any of these kinds, or none.
fn plans(names: &[&str], kinds: &[Dependency]) -> Vec<Plan> {
    let pairs: Vec<(usize, usize)> = (0..names.len()).flat_map(|to| (0..to).map(move |from| (from, to))).collect();
    let ways = (kinds.len() + 1).pow(u32::try_from(pairs.len()).expect("few"));
    (0..ways)
        .map(|mut way| {
            let mut edges = Vec::new();
            for (from, to) in &pairs {
                let choice = way % (kinds.len() + 1);
                way /= kinds.len() + 1;
                if choice > 0 {
                    edges.push(edge(names[*from], names[*to], kinds[choice - 1].clone()));
                }
            }
            plan(names, edges)
        })
        .collect()
}

#[test]
fn every_plan_of_three_steps_ends_as_its_edges_say() {
    let kinds = [
        Dependency::Unconditional,
        Dependency::CompletionOnly,
        Dependency::SuccessOnly,
        Dependency::Conditional(Some(Condition { pointer: "/go".into(), equals: None })),
    ];
    let endings = [Ending::Completed(Some(json(r#"{"go":true}"#))), done(), failed()];
    let mut ends = 0;
    let all = plans(&["a", "b", "c"], &kinds);
    assert_eq!(all.len(), 125);
    for plan in all {
        explore(&Run::new(plan), &endings, &mut ends);
    }
    assert!(ends > 3_000, "{ends}");
}

#[test]
fn every_plan_of_four_steps_that_need_success_or_only_order_ends() {
    let kinds = [Dependency::SuccessOnly, Dependency::CompletionOnly];
    let mut ends = 0;
    for plan in plans(&["a", "b", "c", "d"], &kinds) {
        explore(&Run::with(plan, Rules::default(), one_peer(2)), &[done(), failed()], &mut ends);
    }
    assert!(ends > 10_000, "{ends}");
}
