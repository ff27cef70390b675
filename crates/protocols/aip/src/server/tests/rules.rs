//! What the recorded exchanges leave out.

use super::*;
use crate::link::{Due, Identity};
use crate::wire::{ClientKind, ServerKind};

fn two() -> Stage {
    let mut stage = Stage::new();
    stage.device('D', "dev1", "null");
    stage.constellation('K', "gal@dev1", "dev1", "null");
    stage.take();
    stage
}

/// Device and constellation both of the wider profile.
fn wide() -> Stage {
    let mut stage = Stage::new();
    stage.device('D', "dev1", PROFILE);
    stage.constellation('K', "gal@dev1", "dev1", PROFILE);
    stage.take();
    stage
}

#[test]
fn p_10_whoever_does_not_register_in_time_is_closed() {
    let mut link = Link::open(Pulse::default(), NOW);
    assert_eq!(link.next_timer(), NOW.after(Duration::from_secs(10)));
    assert_eq!(link.tick(NOW.after(Duration::from_secs(9))), Due::Nothing);
    assert_eq!(link.tick(NOW.after(Duration::from_secs(10))), Due::Close(1008));
}

#[test]
fn p_41_silence_is_pinged_and_a_ping_without_an_answer_is_death() {
    let mut link = Link::open(Pulse::default(), NOW);
    link.admit(Identity { id: "d".into(), role: ClientType::Device, tongue: Tongue::Plain });
    let at = |seconds| NOW.after(Duration::from_secs(seconds));
    assert_eq!(link.next_timer(), at(20));
    assert_eq!(link.tick(at(20)), Due::Ping);
    assert_eq!(link.tick(at(30)), Due::Nothing, "one ping is enough");
    link.alive(at(31));
    assert_eq!(link.tick(at(40)), Due::Nothing);
    assert_eq!(link.tick(at(51)), Due::Ping);
    assert_eq!(link.next_timer(), at(71));
    assert_eq!(link.tick(at(71)), Due::Close(1000), "dead within interval and timeout");
}

#[test]
fn p_18_an_id_that_is_left_out_is_filled_in() {
    let mut link = Link::open(Pulse::default(), NOW);
    link.admit(Identity { id: "d".into(), role: ClientType::Device, tongue: Tongue::Plain });
    let task = ClientMessage::new(ClientKind::Task, Status::Continue, ClientType::Device);
    let Heard::Pass(passed) = link.hear(Ok(task), &mut Stamp { now: NOW, mint: &mut || 1 }) else {
        panic!("passed on")
    };
    assert_eq!(passed.client_id.as_deref(), Some("d"));
}

#[test]
fn p_42_a_half_open_device_is_taken_over_by_itself() {
    let mut stage = two();
    stage.running('K', "gal@t1", "dev1");
    stage.take();
    stage.device('E', "dev1", "null");
    assert_eq!(stage.news.pop(), Some(Effect::Probe(Stage::connection('D'))));
    assert!(stage.take().is_empty(), "the newcomer waits");
    stage.device('F', "dev1", "null");
    assert_eq!(stage.take().last(), Some(&Out::Closed('F', 1000)), "one rival at a time");
    stage.pass(Duration::from_millis(1500));
    let out = stage.take();
    assert_eq!(out[0], Out::Closed('D', 1000));
    assert_eq!(out[1], Out::Hub("cancel gal@t1 lost".to_owned()));
    assert!(matches!(&out[3], Out::Sent('E', text) if text.contains(r#""type":"heartbeat""#)), "{out:?}");
    stage.say('E', r#"{"type":"heartbeat","status":"ok"}"#);
    assert_eq!(stage.frames('E').len(), 1);
}

#[test]
fn p_42_a_rival_that_leaves_or_outlives_the_owner_is_not_forgotten() {
    let mut stage = two();
    stage.device('E', "dev1", "null");
    stage.gone('E');
    stage.pass(Duration::from_secs(2));
    assert_eq!(stage.server.clients().count(), 2, "the owner stays when its rival has gone");
    stage.device('F', "dev1", "null");
    stage.gone('D');
    assert!(stage.frames('F').iter().any(|frame| frame.kind == ServerKind::Heartbeat), "the owner left by itself");
}

#[test]
fn p_35_a_session_a_device_asked_for_dies_with_it() {
    let mut stage = two();
    stage.say('D', r#"{"type":"task","status":"continue","session_id":"mine","request":"x"}"#);
    stage.step(Happening::Accepted { session: "mine".into() });
    stage.take();
    stage.gone('D');
    assert_eq!(stage.hub(), ["cancel mine lost"]);
    assert_eq!(stage.server.sessions(), 0);
}

#[test]
fn p_43_commands_of_a_session_go_out_one_after_the_other() {
    let mut stage = two();
    stage.running('K', "gal@t1", "dev1");
    stage.take();
    stage.order("gal@t1", 1, None);
    stage.order("gal@t1", 2, None);
    let sent = stage.frames('D');
    assert_eq!(sent.len(), 1, "the second waits");
    stage.results('D', "gal@t1", &response(&sent[0]));
    let out = stage.take();
    assert_eq!(out[0], Out::Hub("results gal@t1 1 success".to_owned()));
    assert!(matches!(&out[1], Out::Sent('D', text) if text.contains(r#""type":"command""#)));
}

#[test]
fn a_command_nobody_answers_fails_and_the_next_goes_out() {
    let mut stage = two();
    stage.running('K', "gal@t1", "dev1");
    stage.order("gal@t1", 1, Some(Duration::from_secs(5)));
    stage.order("gal@t1", 2, None);
    let late = response(stage.frames('D').last().expect("a command"));
    stage.pass(Duration::from_secs(5));
    let out = stage.take();
    assert_eq!(out[0], Out::Hub("results gal@t1 1 failure".to_owned()));
    assert!(matches!(&out[1], Out::Sent('D', text) if text.contains(r#""type":"command""#)), "{out:?}");
    stage.results('D', "gal@t1", &late);
    assert!(stage.take().is_empty(), "late results have no effect");
}

#[test]
fn p_23_the_first_command_of_a_task_says_that_it_is_accepted_first() {
    let mut stage = two();
    stage.say('D', r#"{"type":"task","status":"continue","session_id":"s","request":"x"}"#);
    stage.take();
    stage.order("s", 1, None);
    let frames = stage.frames('D');
    assert_eq!(frames.iter().map(|frame| frame.kind).collect::<Vec<_>>(), [ServerKind::Heartbeat, ServerKind::Command]);
    stage.step(Happening::Accepted { session: "s".into() });
    assert!(stage.take().is_empty(), "it is told once");
}

#[test]
fn the_hub_commands_a_device_that_nobody_asked_for_a_task() {
    let mut stage = two();
    let begin = |device: &str| Happening::Begin { session: "h".into(), device: device.into(), task_name: "t".into() };
    stage.step(begin("dev1"));
    stage.order("h", 7, None);
    let command = stage.frames('D').pop().expect("a command");
    assert_eq!((command.kind, command.session_id.as_deref()), (ServerKind::Command, Some("h")));
    stage.results('D', "h", &command.response_id.expect("an id"));
    assert_eq!(stage.hub(), ["results h 7 success"]);
    stage.step(Happening::Finished { session: "h".into(), end: End::failed("enough") });
    assert_eq!(stage.frames('D').pop().map(|frame| frame.kind), Some(ServerKind::TaskEnd));
    stage.step(begin("nobody"));
    assert_eq!(stage.hub(), ["cancel h lost"]);
    stage.step(begin("dev1"));
    stage.step(Happening::Closed(Stage::connection('D')));
    assert_eq!(stage.hub(), ["cancel h lost"]);
    assert_eq!(stage.server.sessions(), 0);
}

#[test]
fn a_task_the_hub_refuses_ends_and_frees_its_session() {
    let mut stage = two();
    stage.say('D', r#"{"type":"task","status":"continue","session_id":"s","request":"x"}"#);
    stage.take();
    stage.step(Happening::Refused { session: "s".into(), error: "no".into(), kind: FaultKind::Denied });
    let frames = stage.frames('D');
    assert_eq!(frames.iter().map(|frame| frame.kind).collect::<Vec<_>>(), [ServerKind::Error, ServerKind::TaskEnd]);
    assert!(frames.iter().all(|frame| frame.session_id.as_deref() == Some("s")));
    assert_eq!(stage.server.sessions(), 0);
}

#[test]
fn p_61_a_device_that_left_is_quarantined_with_when_it_was_seen_and_then_removed() {
    let mut stage = two();
    stage.news.clear();
    stage.gone('D');
    let until = stage.now.after(Duration::from_secs(30));
    assert_eq!(stage.news, [Effect::Left { device: "dev1".into(), seen: stage.now, until }]);
    assert_eq!(stage.server.last_seen("dev1"), Some(NOW));
    stage.pass(Duration::from_secs(29));
    assert_eq!(stage.news.len(), 1);
    stage.pass(Duration::from_secs(1));
    assert_eq!(stage.news[1], Effect::Removed { device: "dev1".into() });
    assert_eq!(stage.server.last_seen("dev1"), None);
}

#[test]
fn p_61_a_device_that_comes_back_in_time_is_not_removed() {
    let mut stage = two();
    stage.gone('D');
    stage.news.clear();
    stage.pass(Duration::from_secs(10));
    stage.device('E', "dev1", "null");
    assert!(matches!(&stage.news[..], [Effect::Joined { device, back: true, .. }] if &**device == "dev1"));
    stage.pass(Duration::from_secs(60));
    assert_eq!(stage.news.len(), 1);
}

#[test]
fn any_peer_of_the_hub_is_a_target() {
    let mut stage = Stage::new();
    stage.others.push("files");
    stage.constellation('K', "gal@files", "files", "null");
    assert_eq!(stage.frames('K').len(), 1);
    stage.say('K', r#"{"type":"task","status":"continue","client_type":"constellation","target_id":"files","session_id":"s","request":"x"}"#);
    assert_eq!(stage.hub(), ["open s files "].map(|text| format!("{text}{}", "00000000-0000-4000-8000-000000000002")));
    stage.say('K', r#"{"type":"device_info_request","status":"ok","client_type":"constellation","target_id":"files","request_id":"r"}"#);
    assert_eq!(stage.hub(), ["describe files"]);
}

#[test]
fn p_62_device_info_is_pulled_fresh_and_news_are_heard() {
    let mut stage = wide();
    stage.say('K', r#"{"type":"device_info_request","status":"ok","client_type":"constellation","target_id":"dev1","request_id":"r"}"#);
    let asked = stage.frames('D');
    assert_eq!(asked[0].kind, ServerKind::DeviceInfoRequest);
    let answer = response(&asked[0]);
    stage.news.clear();
    stage.say('D', &format!(r#"{{"type":"device_info_response","status":"ok","prev_response_id":"{answer}","metadata":{{"system_info":{{"load":3}}}}}}"#));
    let told = stage.frames('K');
    assert_eq!(told[0].response_id.as_deref(), Some("r"));
    assert_eq!(told[0].result.as_ref().map(Json::as_str), Some(r#"{"load":3}"#));
    assert!(matches!(&stage.news[0], Effect::Telemetry { device, .. } if &**device == "dev1"));
    stage.say('D', r#"{"type":"device_info_response","status":"ok","metadata":{"system_info":{"load":9}}}"#);
    assert_eq!(stage.news.len(), 2, "pushed, not asked for");
}

#[test]
fn p_62_a_device_that_does_not_tell_is_described_by_what_it_said_last() {
    let mut stage = wide();
    stage.say('K', r#"{"type":"device_info_request","status":"ok","client_type":"constellation","target_id":"dev1","request_id":"r"}"#);
    stage.take();
    stage.pass(Duration::from_secs(5));
    assert_eq!(stage.frames('K')[0].result.as_ref().map(Json::as_str), Some(r#"{"platform":"linux"}"#));
}

#[test]
fn p_62_a_client_may_end_its_own_task_and_nobody_elses() {
    for kind in ["task_end", "task_cancel"] {
        let mut stage = wide();
        stage.running('K', "gal@t1", "dev1");
        stage.take();
        stage.say('D', r#"{"type":"task_cancel","status":"failed","session_id":"gal@t1"}"#);
        assert!(stage.take().is_empty(), "the device did not ask for it");
        stage.say(
            'K',
            &format!(r#"{{"type":"{kind}","status":"failed","client_type":"constellation","session_id":"gal@t1"}}"#),
        );
        let out = stage.take();
        assert_eq!(out[0], Out::Hub("cancel gal@t1 unwanted".to_owned()));
        assert!(matches!(&out[1], Out::Sent('D', text) if text.contains("task_end")));
        assert!(matches!(&out[2], Out::Sent('K', text) if text.contains("task_end")));
    }
}

#[test]
fn p_62_log_lines_reach_who_asked_and_only_in_the_profile() {
    for (mut stage, heard) in [(wide(), 1), (two(), 0)] {
        stage.running('K', "gal@t1", "dev1");
        stage.take();
        stage.step(Happening::Notes { session: "gal@t1".into(), lines: vec!["half way".into()] });
        let frames = stage.frames('K');
        assert_eq!(frames.len(), heard);
        assert!(frames.iter().all(|frame| frame.messages.as_deref() == Some(&["half way".into()])));
    }
}

#[test]
fn p_62_a_command_carries_its_deadline_and_is_cancelled_when_it_expires() {
    let mut stage = wide();
    stage.running('K', "gal@t1", "dev1");
    stage.take();
    stage.order("gal@t1", 1, Some(Duration::from_secs(5)));
    let command = stage.frames('D').remove(0);
    assert_eq!(profile_timeout(&command), Some(Duration::from_secs(5)));
    stage.pass(Duration::from_secs(5));
    let cancel = stage.frames('D').remove(0);
    assert_eq!(cancel.kind, ServerKind::TaskEnd);
    assert_eq!(crate::profile::cancelled(cancel.metadata.as_ref()), command.response_id);
    assert_eq!(stage.server.sessions(), 1, "the session goes on");
}

fn profile_timeout(frame: &ServerMessage) -> Option<Duration> {
    crate::profile::timeout(frame.metadata.as_ref())
}

#[test]
fn p_62_a_device_takes_its_sessions_up_again_and_nothing_is_done_twice() {
    for begun in [false, true] {
        let mut stage = wide();
        stage.running('K', "gal@t1", "dev1");
        stage.take();
        stage.order("gal@t1", 1, None);
        let command = response(&stage.frames('D')[0]);
        stage.gone('D');
        assert!(stage.hub().is_empty(), "the session waits");
        stage.pass(Duration::from_secs(20));
        let list = if begun { format!(r#"["{command}"]"#) } else { "[]".to_owned() };
        stage.device('E', "dev1", &format!(r#"{{"profile":"aip-1","resume":{{"gal@t1":{list},"other":[]}}}}"#));
        let again = stage.frames('E').iter().filter(|frame| frame.kind == ServerKind::Command).count();
        assert_eq!(again, usize::from(!begun), "sent again only when it was not begun");
        stage.results('E', "gal@t1", &command);
        assert_eq!(stage.hub(), ["results gal@t1 1 success"]);
    }
}

#[test]
fn p_62_a_device_that_comes_back_too_late_or_names_nothing_finds_its_tasks_failed() {
    let mut stage = wide();
    stage.running('K', "gal@t1", "dev1");
    stage.take();
    stage.gone('D');
    stage.device('E', "dev1", PROFILE);
    stage.take();
    stage.pass(Duration::from_secs(30));
    let out = stage.take();
    assert_eq!(out[0], Out::Hub("cancel gal@t1 lost".to_owned()), "it is here, and did not take it up: {out:?}");
    let mut stage = wide();
    stage.running('K', "gal@t1", "dev1");
    stage.take();
    stage.gone('D');
    stage.pass(Duration::from_secs(30));
    let out = stage.take();
    assert_eq!(out[0], Out::Hub("cancel gal@t1 lost".to_owned()));
    assert!(matches!(&out[1], Out::Sent('K', text) if text.contains("target device disconnected")));
}

#[test]
fn p_62_a_constellation_that_comes_back_hears_what_ended_meanwhile() {
    let mut stage = wide();
    stage.running('K', "gal@t1", "dev1");
    stage.take();
    stage.gone('K');
    assert!(stage.hub().is_empty(), "the task goes on for a while");
    stage.step(Happening::Finished { session: "gal@t1".into(), end: finished() });
    stage.take();
    stage.constellation('L', "gal@dev1", "dev1", r#"{"profile":"aip-1","resume":{"gal@t1":[]}}"#);
    let frames = stage.frames('L');
    assert_eq!(frames.last().map(|frame| (frame.kind, frame.status)), Some((ServerKind::TaskEnd, Status::Completed)));
    assert_eq!(stage.server.sessions(), 0);
}

#[test]
fn every_map_has_a_bound() {
    let mut stage = Stage::new();
    stage.server = Server::new(Rules { clients: 2, sessions: 1, queue: 1, ..Rules::default() });
    stage.device('A', "a", "null");
    stage.device('B', "b", "null");
    stage.take();
    stage.device('C', "c", "null");
    assert_eq!(stage.take().last(), Some(&Out::Closed('C', 1000)));
    let task =
        |session: &str| format!(r#"{{"type":"task","status":"continue","session_id":"{session}","request":"x"}}"#);
    stage.say('A', &task("s1"));
    stage.step(Happening::Accepted { session: "s1".into() });
    stage.take();
    stage.say('A', &task("s2"));
    assert_eq!(stage.frames('A').len(), 2, "an error and the end of it");
    (1..=3).for_each(|key| stage.order("s1", key, None));
    assert_eq!(stage.hub(), ["results s1 3 failure"]);
    stage.gone('A');
    stage.gone('B');
    stage.device('D', "d", "null");
    stage.gone('D');
    assert!(stage.news.iter().any(|news| matches!(news, Effect::Removed { .. })), "the oldest is forgotten first");
}
