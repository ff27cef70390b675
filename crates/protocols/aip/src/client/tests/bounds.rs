//! A device's stored commands and results are bounded in bytes.

use super::*;
use crate::wire::ServerKind;

/// Three of them are more than may wait, and more than is kept beside the newest.
const LARGE: usize = 30 * 1024 * 1024;

fn large() -> Json {
    Json::parse(format!("\"{}\"", "x".repeat(LARGE)).into()).expect("JSON")
}

/// A device of the wider profile.
struct Bench(Device);

impl Bench {
    fn new() -> Bench {
        let line = ClientConnection::new(Pulse::default(), Backoff::device(), NOW);
        let (info, tongue) = (Json::empty_object(), Tongue::Profile);
        let mut bench = Bench(Device::new("dev1".into(), "run-1".into(), tongue, line, info, "linux".into()));
        bench.connect();
        bench
    }

    fn connect(&mut self) -> Vec<device::Effect> {
        self.step(device::Happening::Tick);
        self.step(device::Happening::Connected);
        self.step(device::Happening::Frame(Box::new(ServerMessage::new(ServerKind::Heartbeat, Status::Ok))))
    }

    fn step(&mut self, what: device::Happening) -> Vec<device::Effect> {
        let mut mint = || 7;
        self.0.step(what, &mut Stamp { now: NOW, mint: &mut mint })
    }

    fn command(&mut self, name: &str, parameters: Json) -> Vec<device::Effect> {
        let mut frame = ServerMessage::new(ServerKind::Command, Status::Continue);
        frame.session_id = Some("s1".into());
        frame.response_id = Some(name.into());
        let action =
            Command { tool_name: "t".into(), parameters: Some(parameters), tool_type: ToolType::Action, call_id: None };
        frame.actions = Some(vec![action]);
        self.step(device::Happening::Frame(Box::new(frame)))
    }

    fn done(&mut self, name: &str, result: Json) -> Vec<device::Effect> {
        let (status, result) = (ResultStatus::Success, Some(result));
        let results = vec![CommandResult { status, error: None, result, namespace: None, call_id: None }];
        self.step(device::Happening::Done { response: name.into(), results, lines: Vec::new() })
    }
}

/// Of all results that are sent, the COMMAND and the error; none where the result is whole.
fn sent(effects: &[device::Effect]) -> Vec<(&str, Option<&str>)> {
    let results = effects.iter().filter_map(|effect| match effect {
        device::Effect::Send(message) => {
            let result = &message.action_results.as_ref()?[0];
            assert_eq!(result.result.is_some(), result.error.is_none());
            Some((message.prev_response_id.as_deref()?, result.error.as_deref()))
        }
        _ => None,
    });
    results.collect()
}

#[test]
fn attack_a_server_tells_a_device_more_than_it_can_hold_while_it_works() {
    let (mut bench, large) = (Bench::new(), large());
    assert!(matches!(bench.command("c1", large.clone())[..], [device::Effect::Run(_)]));
    for name in ["c2", "c3"] {
        assert_eq!(bench.command(name, large.clone()), [], "{name} waits");
    }
    let refused = bench.command("c4", large.clone());
    assert_eq!(sent(&refused), [("c4", Some("too much waits to be done here"))]);
    assert_eq!(bench.command("c5", Json::empty_object()), [], "a short one has room");
    let done = bench.done("c1", Json::null());
    assert!(matches!(&done[1], device::Effect::Run(next) if next.response_id.as_deref() == Some("c2")));
    assert_eq!(bench.command("c6", large), [], "there is room again");
}

#[test]
fn results_that_are_kept_have_a_bound_and_what_was_done_is_not_done_again() {
    const GONE: Option<&str> = Some("it was done, and its result was too large to be kept");
    let (mut bench, large) = (Bench::new(), large());
    let does = |bench: &mut Bench, name: &str| {
        bench.command(name, Json::empty_object());
        bench.done(name, large.clone())
    };
    for name in ["c1", "c2", "c3"] {
        assert_eq!(sent(&does(&mut bench, name)), [(name, None)]);
    }
    assert_eq!(sent(&bench.command("c1", Json::empty_object())), [("c1", None)], "all are kept so far");
    bench.step(device::Happening::Closed);
    assert_eq!(does(&mut bench, "c4"), [], "nobody is there");
    // The oldest that was told made room.
    let told = bench.connect();
    assert_eq!(sent(&told), [("c4", None)]);
    assert_eq!(sent(&bench.command("c1", Json::empty_object())), [("c1", GONE)]);
    bench.step(device::Happening::Closed);
    for name in ["c5", "c6", "c7", "c8"] {
        assert_eq!(does(&mut bench, name), []);
    }
    let told = bench.connect();
    assert_eq!(sent(&told), [("c5", GONE), ("c6", None), ("c7", None), ("c8", None)], "each is told how it went");
}
