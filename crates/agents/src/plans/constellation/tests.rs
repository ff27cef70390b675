//! Plans in the orchestrator's own format, both ways.

use bytes::Bytes;
use interlingua_machines::graph::{
    Candidate, Dependency, Ending, Graph, Happening, Peers, Rules, Standing, State, Want, World,
};
use interlingua_model::json::DEFAULT_DEPTH;
use interlingua_model::{Fault, FaultKind, Json, TaskId, Time};

use super::*;

const NOW: Time = Time(1_794_724_084_245);

fn plan(text: &str) -> Result<interlingua_machines::graph::Plan, Invalid> {
    read(&Bytes::copy_from_slice(text.as_bytes()), DEFAULT_DEPTH)
}

fn graph(text: &str) -> Graph {
    Graph::open(TaskId(1), plan(text).expect("a plan"), Rules::default(), NOW).expect("a good plan").1
}

fn fixture() -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/aip/constellation.json");
    std::fs::read_to_string(path).expect("the plan is there")
}

fn keys(json: &Json) -> Vec<String> {
    json.tree().as_object().expect("an object").keys().cloned().collect()
}

#[test]
fn p_54_a_plan_goes_there_and_back_with_every_name_the_format_has() {
    let before = Json::parse(fixture().into()).expect("JSON");
    let after = write(&graph(&fixture()));
    assert_eq!(keys(&after), keys(&before));
    for list in ["tasks", "dependencies"] {
        let (before, after) = (before.get(list).expect("there"), after.get(list).expect("there"));
        for (id, item) in before.as_object().expect("a map") {
            let written = after.get(id).unwrap_or_else(|| panic!("{list}.{id} is gone"));
            for (key, value) in item.as_object().expect("an object") {
                // When it was changed last, and what the graph works out itself, are not taken over.
                if !matches!(
                    key.as_str(),
                    "updated_at" | "execution_start_time" | "execution_end_time" | "execution_duration"
                ) {
                    assert_eq!(written.get(key), Some(value), "{list}.{id}.{key}");
                }
            }
        }
    }
    let again = write(&graph(after.as_str()));
    assert_eq!(again, after, "a second time changes nothing");
}

#[test]
fn p_55_what_was_read_back_is_enforced() {
    let mut graph = graph(write(&graph(&fixture())).as_str());
    let mut peers = Peers::default();
    peers.insert("dev1", Candidate { capacity: 9, platform: Some("linux".into()), ..Candidate::default() });
    let world = World { now: NOW, peers: &peers };
    let step = |graph: &mut Graph, what| {
        let decision = graph.decide(what, world).expect("it may");
        decision.records.iter().for_each(|record| drop(graph.apply(record, NOW)));
    };
    step(&mut graph, Happening::Schedule);
    let fetch = "fetch".into();
    let State::Running(calling) = &graph.step(&fetch).expect("it is there").state else { panic!("it runs") };
    let fault = Fault::hub(FaultKind::PeerFailed, "no");
    let ended = Happening::Ended { node: fetch, number: calling.number, ending: Ending::Failed(fault) };
    step(&mut graph, ended);
    step(&mut graph, Happening::Schedule);
    let state = |id: &str| status_word(&graph.step(&id.into()).expect("there").state);
    assert_eq!(state("sum"), "cancelled", "it needed success");
    assert_eq!(state("tell"), "running", "it needed only the end");
    assert_eq!(graph.standing(), Standing::Running);
}

#[test]
fn enumerations_are_read_whatever_their_case_and_lists_for_maps() {
    let read = plan(
        r#"{"tasks":[{"task_id":"a","priority":"CRITICAL","device_type":"LINUX","status":"COMPLETED","result":1},
        {"task_id":"b","priority":"strange","status":"PENDING","target_device_id":"d"}],
        "dependencies":[{"from_task_id":"a","to_task_id":"b","dependency_type":"SUCCESS_ONLY"},
        {"from_task_id":"a","to_task_id":"b","dependency_type":"what"}]}"#,
    )
    .expect("a plan");
    assert_eq!(read.nodes[0].priority.level(), 9);
    assert_eq!(read.nodes[0].want, Want::Any { capability: None, platform: Some("linux".into()), memory: None });
    assert_eq!(&*read.nodes[0].name, "task_a");
    assert_eq!(read.nodes[1].priority.level(), 5);
    assert_eq!(read.nodes[1].want, Want::Peer("d".into()));
    assert_eq!(read.ended.len(), 1);
    assert_eq!(read.edges[0].kind, Dependency::SuccessOnly);
    assert_eq!(read.edges[1].kind, Dependency::Unconditional);
    assert_ne!(read.edges[0].id, read.edges[1].id);
}

#[test]
fn a_task_may_call_a_skill_and_a_line_may_have_a_condition() {
    let read = plan(
        r#"{"tasks":{"a":{"task_data":{"skill":"search","arguments":{"q":"x"},"capability":"web","idempotent":true},"timeout":1.5,"retry_count":2}},
        "dependencies":{"l":{"from_task_id":"a","to_task_id":"a","dependency_type":"conditional","metadata":{"condition":{"pointer":"/ok","equals":true}}}}}"#,
    )
    .expect("a plan");
    let node = &read.nodes[0];
    assert_eq!(node.skill.as_ref().map(|skill| skill.as_str()), Some("search"));
    assert_eq!(node.args.as_ref().map(Json::as_str), Some(r#"{"q":"x"}"#));
    assert_eq!(node.want, Want::Any { capability: Some("web".into()), platform: None, memory: None });
    assert!(node.repeatable && node.retries == 2);
    assert_eq!(node.timeout, Some(std::time::Duration::from_millis(1500)));
    assert!(matches!(&read.edges[0].kind, Dependency::Conditional(Some(condition)) if &*condition.pointer == "/ok"));
}

#[test]
fn what_is_no_plan_is_refused_with_the_place() {
    for (text, path) in [
        ("[]", ""),
        ("{", ""),
        (r#"{"tasks":7}"#, "tasks"),
        (r#"{"tasks":[7]}"#, "tasks[0]."),
        (r#"{"tasks":{"a":{"name":7}}}"#, "tasks[a].name"),
        (r#"{"tasks":{"a":{"tips":[7]}}}"#, "tasks[a].tips"),
        (r#"{"dependencies":{"l":{"from_task_id":"a"}}}"#, "dependencies[l].to_task_id"),
    ] {
        assert_eq!(plan(text).expect_err(text).path, path, "{text}");
    }
}

#[test]
fn how_a_plan_stands_has_a_word_for_every_case() {
    let all = [
        Standing::Empty,
        Standing::Ready,
        Standing::Running,
        Standing::Completed,
        Standing::Failed,
        Standing::PartlyFailed,
        Standing::Cancelled,
    ];
    let words: Vec<&str> = all.into_iter().map(standing_word).collect();
    assert_eq!(words, ["created", "ready", "executing", "completed", "failed", "partially_failed", "cancelled"]);
    for (level, number) in [(0, 1), (3, 1), (5, 2), (7, 3), (9, 4)] {
        assert_eq!(priority_number(Priority::new(level).expect("a level")), number);
        assert_eq!(priority_number(priority(number)), number);
    }
}
