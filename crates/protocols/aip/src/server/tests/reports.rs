//! The wider profile's account of a running task: the TASK, log lines on the way, and the device's own word that it is over.

use super::*;
use crate::wire::ServerKind;

const TASKS: &str = r#"{"profile":"aip-1","tasks":true,"system_info":{"platform":"linux"}}"#;

/// A device that takes TASKs, one that does not, and an orchestrator of the first.
fn stage() -> Stage {
    let mut stage = Stage::new();
    stage.device('D', "dev1", TASKS);
    stage.device('E', "dev2", PROFILE);
    stage.constellation('K', "gal@dev1", "dev1", PROFILE);
    stage.take();
    stage
}

fn end(session: &str, status: &str, metadata: &str) -> String {
    format!(r#"{{"type":"task_end","status":"{status}","session_id":"{session}","metadata":{metadata}}}"#)
}

fn lines(session: &str, about: &str, lines: &str) -> String {
    format!(
        r#"{{"type":"heartbeat","status":"ok","session_id":"{session}","prev_response_id":"{about}","metadata":{{"messages":{lines}}}}}"#
    )
}

#[test]
fn a_device_that_takes_tasks_is_given_its_task_once_and_before_its_commands() {
    let mut stage = stage();
    stage.say('K', r#"{"type":"task","status":"continue","client_type":"constellation","target_id":"dev1","session_id":"s","task_name":"tidy up","request":"do it","metadata":{"process_name":"notepad.exe"}}"#);
    stage.step(Happening::Accepted { session: "s".into() });
    stage.take();
    stage.order("s", 1, None);
    let frames = stage.frames('D');
    assert_eq!(frames.iter().map(|frame| frame.kind).collect::<Vec<_>>(), [ServerKind::Task, ServerKind::Command]);
    let task = &frames[0];
    assert_eq!((task.session_id.as_deref(), task.user_request.as_deref()), (Some("s"), Some("do it")));
    assert_eq!((task.agent_name.as_deref(), task.process_name.as_deref()), (Some("A"), Some("notepad.exe")));
    assert_eq!((task.task_name.as_deref(), task.response_id.is_some()), (Some("tidy_up"), true));
    let command = response(&frames[1]);
    stage.results('D', "s", &command);
    stage.order("s", 2, None);
    assert_eq!(stage.frames('D').iter().map(|frame| frame.kind).collect::<Vec<_>>(), [ServerKind::Command]);
}

#[test]
fn a_device_that_does_not_ask_for_tasks_is_given_none() {
    for metadata in [PROFILE, "null", r#"{"tasks":true}"#] {
        let mut stage = Stage::new();
        stage.device('D', "dev1", metadata);
        stage.constellation('K', "gal@dev1", "dev1", PROFILE);
        stage.running('K', "s", "dev1");
        stage.take();
        stage.order("s", 1, None);
        let kinds: Vec<ServerKind> = stage.frames('D').iter().map(|frame| frame.kind).collect();
        assert_eq!(kinds, [ServerKind::Command], "{metadata}");
    }
}

#[test]
fn a_task_that_was_not_begun_is_given_again_to_a_device_that_comes_back() {
    for (begun, again) in [(false, 1), (true, 0)] {
        let mut stage = stage();
        stage.running('K', "s", "dev1");
        let to = Assignment { agent: "A".into(), request: "do it".into(), timeout: Some(Duration::from_secs(9)) };
        stage.step(Happening::Assign { session: "s".into(), to });
        let task = stage.frames('D').pop().expect("a task");
        assert_eq!(task.metadata.as_ref().map(Json::as_str), Some(r#"{"assigned":true,"timeout_ms":9000}"#));
        stage.gone('D');
        let list = if begun { format!("\"{}\"", response(&task)) } else { String::new() };
        let resume = format!(r#"{{"profile":"aip-1","tasks":true,"resume":{{"s":[{list}]}}}}"#);
        stage.device('D', "dev1", &resume);
        let tasks: Vec<ServerMessage> =
            stage.frames('D').into_iter().filter(|frame| frame.kind == ServerKind::Task).collect();
        assert_eq!(tasks.len(), again);
        assert!(tasks.iter().all(|frame| *frame == task), "the very same frame");
    }
}

#[test]
fn a_device_ends_its_task_and_every_order_of_it_once() {
    let mut stage = stage();
    stage.running('K', "s", "dev1");
    stage.order("s", 1, None);
    stage.order("s", 2, None);
    let command = stage.frames('D').pop().expect("a command");
    stage.say('D', &end("s", "completed", r#"{"result":{"path":"x"}}"#));
    assert_eq!(stage.hub(), [r#"reported s completed {"path":"x"}"#]);
    stage.results('D', "s", &response(&command));
    assert!(stage.take().is_empty(), "results that come after it are none");
    stage.order("s", 3, None);
    assert_eq!(stage.hub(), [r#"reported s completed {"path":"x"}"#], "whoever orders more hears that it is over");
    stage.step(Happening::Finished { session: "s".into(), end: finished() });
    let kinds = |frames: Vec<ServerMessage>| frames.iter().map(|frame| frame.kind).collect::<Vec<_>>();
    assert_eq!(kinds(stage.frames('D')), [ServerKind::TaskEnd], "it is answered like any device of a task that ends");
}

#[test]
fn attack_a_device_ends_no_task_but_its_own_and_none_twice() {
    let mut stage = stage();
    stage.running('K', "s", "dev1");
    stage.order("s", 1, None);
    stage.take();
    let refused = |stage: &mut Stage, who: char| {
        let taken = stage.take();
        let [Out::Sent(to, text)] = taken.as_slice() else { panic!("one frame: {taken:?}") };
        assert_eq!(*to, who);
        assert!(text.contains("you work on no task with this session_id"), "{text}");
        text.split("\"timestamp\"").next().unwrap_or_default().replace("\"s\"", "\"?\"").replace("\"none\"", "\"?\"")
    };
    stage.say('E', &end("s", "completed", "null"));
    let foreign = refused(&mut stage, 'E');
    stage.say('E', &end("none", "completed", "null"));
    assert_eq!(foreign, refused(&mut stage, 'E'), "a session of another looks like one that is not there");
    for status in ["continue", "ok"] {
        stage.say('D', &end("s", status, "null"));
        assert!(stage.frames('D')[0].error.as_deref().is_some_and(|text| text.contains("completed or failed")));
    }
    stage.say('D', &end("s", "failed", r#"{"messages":["late"]}"#));
    assert_eq!(stage.hub(), ["reported s failed "]);
    stage.say('D', &end("s", "completed", r#"{"result":1}"#));
    refused(&mut stage, 'D');
    stage.step(Happening::Finished { session: "s".into(), end: finished() });
    stage.take();
    stage.say('D', &end("s", "completed", r#"{"result":1}"#));
    refused(&mut stage, 'D');
}

#[test]
fn log_lines_of_a_command_that_runs_are_passed_on_and_answered() {
    let mut stage = stage();
    stage.running('K', "s", "dev1");
    stage.order("s", 7, None);
    let frames = stage.frames('D');
    let (task, command) = (response(&frames[0]), response(&frames[1]));
    for about in [&command, &task] {
        stage.say('D', &lines("s", about, r#"["one","two"]"#));
        let taken = stage.take();
        assert!(matches!(&taken[0], Out::Sent('D', text) if text.starts_with(r#"{"type":"heartbeat","status":"ok""#)));
        assert_eq!(taken[1..], [Out::Hub("lines s one,two dropped 0".to_owned())]);
    }
    stage.say('D', &lines("s", "another", r#"["late"]"#));
    stage.say('E', &lines("s", &command, r#"["forged"]"#));
    stage.say('D', &lines("none", &command, r#"["lost"]"#));
    assert!(stage.hub().is_empty(), "what is not of a command that runs, or not the device's, belongs to nothing");
}

#[test]
fn attack_a_flood_of_log_lines_is_limited_and_what_is_dropped_is_counted() {
    let mut stage = stage();
    stage.running('K', "s", "dev1");
    stage.order("s", 7, None);
    let command = response(&stage.frames('D')[1]);
    let many: Vec<String> = (0..300).map(|n| format!("\"{n}\"")).collect();
    stage.say('D', &lines("s", &command, &format!("[{}]", many.join(","))));
    let said = stage.hub().pop().expect("lines");
    assert!(said.ends_with("198,199 dropped 100"), "200 at once: {said}");
    stage.say('D', &lines("s", &command, r#"["more"]"#));
    assert_eq!(stage.hub(), ["lines s  dropped 1"]);
    stage.now = stage.now.after(Duration::from_secs(1));
    stage.say('D', &lines("s", &command, r#"["later"]"#));
    assert_eq!(stage.hub(), ["lines s later dropped 0"]);
}

#[test]
fn a_plain_client_has_none_of_it() {
    let mut stage = Stage::new();
    stage.device('D', "dev1", "null");
    stage.constellation('K', "gal@dev1", "dev1", "null");
    stage.running('K', "s", "dev1");
    stage.order("s", 1, None);
    stage.take();
    stage.say('D', &lines("s", "x", r#"["one"]"#));
    assert!(matches!(stage.take().as_slice(), [Out::Sent('D', _)]), "a heartbeat is a heartbeat");
    for (frame, name) in [("task_end", "TASK_END"), ("task_cancel", "TASK_CANCEL")] {
        stage.say('D', &format!(r#"{{"type":"{frame}","status":"completed","session_id":"s"}}"#));
        let error = stage.frames('D').pop().and_then(|frame| frame.error);
        assert_eq!(error.as_deref(), Some(format!("Unknown message type: ClientMessageType.{name}").as_str()));
    }
}
