//! How long the scheduler of plans takes for one of so many steps, in layers of a hundred, each step behind two of the layer
//! before: every decision from the first call to the end, with nobody called and nothing written. Prints one line of JSON.

use std::time::{Duration, Instant};

use interlingua_bench::say;
use interlingua_machines::graph::{Candidate, Dependency, Edge, Effect, Ending, Graph, Happening, Node, Peers, Plan, Rules, Want, World};
use interlingua_model::{TaskId, Time};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const LAYER: usize = 100;

fn plan(steps: usize) -> Plan {
    let name = |step: usize| format!("s{step}");
    let mut plan = Plan { name: "bench".into(), ..Plan::default() };
    for step in 0..steps {
        plan.nodes.push(Node::new(name(step), Want::ANYONE));
        for (nth, before) in [step.checked_sub(LAYER), step.checked_sub(LAYER + 1)].into_iter().flatten().enumerate() {
            let id = format!("{step}-{nth}");
            plan.edges.push(Edge::new(id, name(before), name(step), Dependency::SuccessOnly));
        }
    }
    plan
}

fn main() {
    let steps: usize = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(10_000);
    let mut peers = Peers::default();
    for device in 0..64 {
        peers.insert(format!("dev{device}"), Candidate::default());
    }
    let plan = plan(steps);
    let world = World { now: Time(1), peers: &peers };
    let started = Instant::now();
    let (_, mut graph) = Graph::open(TaskId(1), plan, Rules::default(), Time(1)).expect("a plan");
    let opened = started.elapsed();
    let (mut under, mut longest, mut calls) = (Vec::new(), Duration::ZERO, 0_usize);
    let mut decide = |graph: &mut Graph, what: Happening, under: &mut Vec<_>| {
        let begun = Instant::now();
        let decision = graph.decide(what, world).expect("it can be done");
        decision.records.iter().for_each(|record| drop(graph.apply(record, world.now)));
        for effect in decision.effects {
            if let Effect::Run { node, calling, .. } = effect {
                under.push((node, calling.number));
                calls += 1;
            }
        }
        longest = longest.max(begun.elapsed());
    };
    decide(&mut graph, Happening::Schedule, &mut under);
    while let Some((node, number)) = under.pop() {
        decide(&mut graph, Happening::Ended { node, number, ending: Ending::Completed(None) }, &mut under);
        decide(&mut graph, Happening::Schedule, &mut under);
    }
    let all = started.elapsed();
    assert!(graph.is_over(), "the plan ends");
    assert_eq!(calls, steps, "every step is called once");
    say(&serde_json::json!({
        "steps": steps,
        "open_ms": opened.as_secs_f64() * 1e3,
        "total_ms": all.as_secs_f64() * 1e3,
        "longest_us": longest.as_secs_f64() * 1e6,
    })
    .to_string());
}
