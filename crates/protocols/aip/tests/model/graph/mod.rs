//! A plan that is executed by a hub which may be killed: calls end in any order and way, peers disconnect and come back, people edit, undo
//! and cancel, a planner answers or not, timers fire.
//!
//! The hub is killed after an append and before its effects were carried out, which is the worst moment; running calls continue outside,
//! and those that were not made yet are made under the same key.
//!
//! Invariants: the journal folds to the state in memory; a key is used for one step; a step is called again only when its failure allows
//! it, and not more often than its limit; an ended step does not change; the concurrency limit holds; a step runs if and only if its edges
//! allow it; once no event is possible any more, the plan has ended.

mod world;

use std::time::Duration;

use interlingua_machines::graph::{Dependency, Edge, Node, Plan, Rules, Want};

use super::explore::explore;
use world::{Bound, World};

fn node(id: &str, retries: u32) -> Node {
    Node { retries, ..Node::new(id, Want::ANYONE) }
}

fn edge(from: &str, to: &str, kind: Dependency) -> Edge {
    Edge::new(format!("{from}>{to}"), from, to, kind)
}

fn plan(nodes: Vec<Node>, edges: Vec<Edge>) -> Plan {
    Plan { name: "p".into(), nodes, edges, ..Plan::default() }
}

/// All states are looked at, and there are at least so many: a model in which little can happen proves little.
fn holds(plan: Plan, rules: Rules, bound: Bound, least: usize) {
    let explored = explore(World::new(plan, rules, bound));
    assert!(explored.states >= least && explored.ends > 0, "{explored:?}");
}

#[test]
fn p_51_p_53_a_plan_ends_whatever_happens_to_its_calls_its_peers_and_its_hub() {
    let plan = plan(
        vec![node("a", 1), node("b", 0), node("c", 0)],
        vec![edge("a", "b", Dependency::SuccessOnly), edge("a", "c", Dependency::CompletionOnly)],
    );
    let bound = Bound { deaths: 2, absences: 1, edits: 0, cancels: 1 };
    holds(plan, Rules { width: 2, planner: None }, bound, 500);
}

#[test]
fn p_52_what_waits_for_two_others_runs_once_if_both_let_it() {
    let edges = vec![
        edge("a", "b", Dependency::SuccessOnly),
        edge("a", "c", Dependency::Unconditional),
        edge("b", "d", Dependency::SuccessOnly),
        edge("c", "d", Dependency::CompletionOnly),
    ];
    let plan = plan(vec![node("a", 0), node("b", 1), node("c", 0), node("d", 0)], edges);
    let bound = Bound { deaths: 2, absences: 2, edits: 0, cancels: 1 };
    holds(plan, Rules { width: 2, planner: None }, bound, 800);
}

#[test]
fn p_51_edits_of_a_running_plan_are_whole_or_nothing_and_it_ends_all_the_same() {
    let plan = plan(vec![node("a", 0), node("b", 0)], vec![edge("a", "b", Dependency::SuccessOnly)]);
    let bound = Bound { deaths: 1, absences: 0, edits: 2, cancels: 0 };
    holds(plan, Rules { width: 2, planner: None }, bound, 500);
}

#[test]
fn p_63_a_planner_that_answers_late_twice_or_never_holds_nothing_up_for_ever() {
    let plan = plan(vec![node("a", 0), node("b", 0)], vec![edge("a", "b", Dependency::SuccessOnly)]);
    let bound = Bound { deaths: 1, absences: 0, edits: 1, cancels: 1 };
    holds(plan, Rules { width: 2, planner: Some(Duration::from_secs(5)) }, bound, 2_000);
}
