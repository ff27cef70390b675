//! Clients of several people on one server: what a client may not see is treated as not found, and a name proves nothing.

use super::*;
use crate::wire::ServerKind;

const INFO: &str =
    r#"{"type":"device_info_request","status":"ok","client_type":"constellation","target_id":"dev1","request_id":"r"}"#;
const TASK: &str = r#"{"type":"task","status":"continue","client_type":"constellation","target_id":"dev1","session_id":"s","request":"x"}"#;

/// What is said to somebody who asks for this device, with what differs from one frame to the next taken out.
fn told(stage: &mut Stage, frame: &str) -> Vec<(ServerKind, Option<Text>, Option<String>)> {
    stage.say('K', frame);
    let frames = stage.frames('K');
    frames.into_iter().map(|frame| (frame.kind, frame.error, frame.result.map(|it| it.as_str().to_owned()))).collect()
}

#[test]
fn a_device_that_may_not_be_seen_is_answered_for_like_one_that_is_not_there() {
    let mut hidden = Stage::new();
    hidden.device('D', "dev1", PROFILE);
    hidden.hidden.push("dev1");
    let mut absent = Stage::new();
    for stage in [&mut hidden, &mut absent] {
        stage.others.push("files");
        stage.constellation('K', "gal@files", "files", PROFILE);
        stage.take();
    }
    for frame in [INFO, TASK] {
        assert_eq!(told(&mut hidden, frame), told(&mut absent, frame));
    }
    assert!(hidden.hub().is_empty(), "nothing is asked of it");
    for stage in [&mut hidden, &mut absent] {
        stage.constellation('L', "gal@dev1", "dev1", "null");
    }
    let refused = |stage: &mut Stage| stage.frames('L').pop().and_then(|frame| frame.error);
    assert_eq!(refused(&mut hidden), refused(&mut absent));
}

#[test]
fn an_orchestrators_place_is_nobody_elses_to_take() {
    let mut stage = Stage::new();
    stage.device('D', "dev1", PROFILE);
    stage.sender = "ann";
    stage.constellation('K', "gal@dev1", "dev1", PROFILE);
    stage.news.clear();
    stage.take();
    stage.sender = "bob";
    stage.constellation('L', "gal@dev1", "dev1", PROFILE);
    assert_eq!(stage.take().last(), Some(&Out::Closed('L', 1000)));
    assert!(stage.news.is_empty(), "its owner is not even asked for a sign of life: {:?}", stage.news);
}

#[test]
fn a_session_whose_asker_is_away_is_not_taken_up_by_another_under_its_name() {
    let mut stage = Stage::new();
    stage.device('D', "dev1", PROFILE);
    stage.sender = "ann";
    stage.constellation('K', "gal@dev1", "dev1", PROFILE);
    stage.running('K', "gal@t1", "dev1");
    stage.gone('K');
    stage.step(Happening::Finished { session: "gal@t1".into(), end: finished() });
    stage.take();
    let resume = r#"{"profile":"aip-1","resume":{"gal@t1":[],"gal@none":[]}}"#;
    stage.sender = "bob";
    stage.constellation('L', "gal@dev1", "dev1", resume);
    let frames = stage.frames('L');
    let ends: Vec<_> = frames.iter().filter(|frame| frame.kind == ServerKind::TaskEnd).collect();
    assert_eq!(ends.len(), 2, "{frames:?}");
    assert_eq!((ends[0].status, &ends[0].error), (ends[1].status, &ends[1].error), "not theirs is not there");
    assert_eq!(ends[0].status, Status::Failed);
    stage.gone('L');
    stage.sender = "ann";
    stage.constellation('M', "gal@dev1", "dev1", resume);
    let frames = stage.frames('M');
    assert!(frames.iter().any(|frame| (frame.kind, frame.status) == (ServerKind::TaskEnd, Status::Completed)));
}

#[test]
fn a_device_and_an_orchestrator_of_one_name_are_two() {
    let mut stage = Stage::new();
    stage.others.push("files");
    stage.sender = "carl";
    stage.constellation('K', "kitchen", "files", PROFILE);
    stage.sender = "device:kitchen";
    stage.device('D', "kitchen", PROFILE);
    assert!(!stage.take().contains(&Out::Closed('D', 1000)), "its place is free");
    assert!(stage.server.has_device("kitchen") && stage.server.clients().count() == 2);
    // What an orchestrator says of itself is not shown of the device.
    stage.news.clear();
    stage.sender = "carl";
    stage.say(
        'K',
        r#"{"type":"device_info_response","status":"ok","client_type":"constellation","metadata":{"system_info":{"platform":"evil"}}}"#,
    );
    assert!(!stage.news.iter().any(|news| matches!(news, Effect::Telemetry { .. })), "{:?}", stage.news);
    stage.gone('K');
    assert!(stage.server.has_device("kitchen"));
}

#[test]
fn a_device_that_left_is_nobody_elses_to_be() {
    let mut stage = Stage::new();
    stage.sender = "ann";
    stage.device('D', "lamp", PROFILE);
    stage.sender = "bob";
    stage.device('E', "lamp", PROFILE);
    assert_eq!(stage.take().last(), Some(&Out::Closed('E', 1000)), "while it is here");
    stage.sender = "ann";
    stage.gone('D');
    stage.take();
    stage.sender = "bob";
    stage.device('F', "lamp", PROFILE);
    assert_eq!(stage.take().last(), Some(&Out::Closed('F', 1000)), "and while it is remembered");
    stage.sender = "ann";
    stage.device('G', "lamp", PROFILE);
    assert!(stage.server.has_device("lamp"));
}

#[test]
fn one_caller_has_so_many_clients_and_no_more_here_or_just_gone() {
    let mut stage = Stage::new();
    (stage.sender, stage.room) = ("carl", Some(2));
    stage.device('A', "one", PROFILE);
    stage.device('B', "two", PROFILE);
    stage.device('C', "three", PROFILE);
    assert_eq!(stage.take().last(), Some(&Out::Closed('C', 1000)));
    stage.gone('A');
    stage.device('D', "four", PROFILE);
    assert_eq!(stage.take().last(), Some(&Out::Closed('D', 1000)), "one that left is remembered, and counts");
    stage.device('E', "one", PROFILE);
    assert!(stage.server.has_device("one"), "and may come back");
    (stage.sender, stage.room) = ("ann", Some(2));
    stage.device('F', "five", PROFILE);
    assert!(stage.server.has_device("five"), "others have room of their own");
}
