//! Parallel calls: how many at once, and which first.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::kit::{Route, all, call, calling, list, until};

fn gates(count: usize) -> Vec<(String, Value)> {
    (0..count).map(|n| (format!("t{n}"), json!({ "n": n }))).collect()
}

fn asking(id: &str, gates: &[(String, Value)]) -> Value {
    let calls: Vec<(&str, &str, Value)> =
        gates.iter().map(|(tool, parameters)| (tool.as_str(), "mcp__bench__gate", parameters.clone())).collect();
    calling(id, &calls)
}

#[tokio::test]
async fn r_36_calls_run_together_up_to_the_limit_and_each_has_its_result() {
    let route = Route::start("nlip: { router: { max_parallel_calls: 3 } }").await;
    let gates = gates(10);
    let asked = asking("m1", &gates);
    let (answer, ()) = tokio::join!(route.send(&asked), async {
        route.bench.begun("gate", 3).await;
        route.bench.gate.add_permits(10);
    });
    let responses = list(&answer);
    assert_eq!(route.bench.most.load(Ordering::SeqCst), 3);
    let results: Vec<&Value> = responses.iter().map(|it| &it["tool_results"][0]["result"]["n"]).collect();
    assert_eq!(results, (0..10).map(|n| json!(n)).collect::<Vec<_>>().iter().collect::<Vec<_>>());
}

#[tokio::test]
async fn r_36_r_08_a_stream_tells_what_is_done_first_and_loses_nothing() {
    let route = Route::start("").await;
    let calls = [
        ("slow", "mcp__bench__gate", json!({"n": 0})),
        ("failed", "mcp__bench__fail", json!({})),
        ("quick", "mcp__bench__say", json!({"n": 2})),
    ];
    let mut events = route.stream(&calling("m1", &calls)).await;
    let mut seen = Vec::new();
    for _ in 0..2 {
        let message: Value = serde_json::from_str(&events.next().await.expect("a response")).expect("JSON");
        seen.push(message["tool_results"][0]["tool_id"].as_str().expect("an id").to_owned());
    }
    seen.sort();
    assert_eq!(seen, ["failed", "quick"]);
    route.bench.gate.add_permits(1);
    let rest = all(events).await;
    assert_eq!(rest.len(), 1);
    assert_eq!(rest[0]["tool_results"][0]["tool_id"], "slow");
}

#[tokio::test]
async fn r_37_the_more_urgent_of_two_that_wait_goes_first() {
    let route = Route::start("limits: { in_flight: 1, queue: 16 }").await;
    let with = |id: &str, n: i32, priority: i32| {
        let mut asked = call(id, "gate", json!({ "n": n }));
        asked["control"]["priority"] = json!(priority);
        asked
    };
    let (first, normal, urgent) = (with("m0", 0, 0), with("m1", 1, 0), with("m2", 2, 10));
    let hub = route.hub();
    let waiting = |count: usize| until("so many wait", move || hub.admission().load().1 == count);
    tokio::join!(
        route.send(&first),
        async {
            route.bench.begun("gate", 1).await;
            route.send(&normal).await
        },
        async {
            waiting(1).await;
            route.send(&urgent).await
        },
        async {
            waiting(2).await;
            route.bench.gate.add_permits(3);
        }
    );
    assert_eq!(route.bench.order(), [json!(0), json!(2), json!(1)], "it came last and went second");
}
