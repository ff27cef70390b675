//! Recorded exchanges, replayed. `D>` is a frame from a client, `D<` a frame to it, the rest is the hub. `$name` is a value that is fresh
//! and then the same, `$` and `$T` any value; everything else must match byte for byte.

use super::*;
use crate::wire::ClientMessage;

/// Values that were bound so far.
type Bound = BTreeMap<String, String>;

/// Does `actual` look like `expected`? Binds names on the way.
fn fits(expected: &str, actual: &str, bound: &mut Bound) -> bool {
    let (mut expected, mut actual) = (expected, actual);
    loop {
        let Some((literal, rest)) = expected.split_once('$') else { return expected == actual };
        let Some(after) = actual.strip_prefix(literal) else { return false };
        let name: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
        let value: String = after.chars().take_while(|c| !matches!(c, '"' | ' ')).collect();
        let fresh = name.is_empty() || name == "T";
        if value.is_empty() || (!fresh && bound.get(&name).is_some_and(|known| *known != value)) {
            return false;
        }
        (expected, actual) = (&rest[name.len()..], &after[value.len()..]);
        if !fresh {
            bound.insert(name, value);
        }
    }
}

fn filled(text: &str, bound: &Bound) -> String {
    bound.iter().rev().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("${name}"), value))
}

fn commands(list: &str) -> Vec<Command> {
    let frame = format!(r#"{{"type":"command","status":"continue","actions":{list}}}"#);
    ServerMessage::decode(&Bytes::from(frame), &Limits::default()).expect("actions").actions.expect("some")
}

fn hub_says(stage: &mut Stage, line: &str) -> bool {
    let mut words = line.splitn(4, ' ');
    let (verb, first) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (second, rest) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let session = Text::from(first);
    match verb {
        "accept" => stage.step(Happening::Accepted { session }),
        "command" => {
            let key = second.parse().expect("a key");
            let order = Order { key, agent: "LinuxAgent".into(), actions: commands(rest), timeout: None };
            stage.step(Happening::Command { session, order });
        }
        "finish" => {
            let (error, result) = rest.split_once(' ').expect("error and result");
            let end = End {
                status: Status::parse(second).expect("a status"),
                error: (error != "null").then(|| error.trim_matches('"').into()),
                result: Some(Json::parse(result.to_owned().into()).expect("JSON")),
                messages: None,
                metadata: None,
            };
            stage.step(Happening::Finished { session, end });
        }
        "announce" => {
            let (task_name, request) = rest.split_once(' ').expect("a name and a request");
            stage.step(Happening::Announce {
                device: session,
                session: second.into(),
                task_name: task_name.into(),
                request: request.into(),
            });
        }
        _ => return false,
    }
    true
}

fn play(name: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/aip/traces").join(name);
    let trace = std::fs::read_to_string(path.with_extension("txt")).expect("the trace is there");
    let (mut stage, mut bound) = (Stage::new(), Bound::new());
    for line in trace.lines().filter(|line| !line.starts_with('#')) {
        let (who, text) = (line.chars().next().expect("a line"), line.get(3..).unwrap_or_default());
        if line.get(1..3) == Some("> ") {
            let frame = filled(text, &bound);
            check_bytes(&frame);
            stage.say(who, &frame);
        } else if line.get(1..2) == Some(" ") && matches!(&line[2..], "binary" | "gone" | "alive") {
            match &line[2..] {
                "binary" => stage.binary(who),
                "gone" => stage.gone(who),
                _ => stage.step(Happening::Alive(Stage::connection(who))),
            }
        } else if !hub_says(&mut stage, &filled(line, &bound)) {
            let out = stage.out.pop_front().unwrap_or_else(|| panic!("{name}: nothing came, expected {line}"));
            let actual = match &out {
                Out::Sent(to, text) => format!("{to}< {text}"),
                Out::Closed(of, code) => format!("{of} closed {code}"),
                Out::Hub(text) => text.clone(),
            };
            assert!(fits(line, &actual, &mut bound), "{name}:\n expected {line}\n came     {actual}");
        }
    }
    assert!(stage.out.is_empty(), "{name}: {:?}", stage.out);
}

/// A whole frame of a client is written by us as it was written there.
fn check_bytes(frame: &str) {
    if let Ok(message) = ClientMessage::decode(&Bytes::copy_from_slice(frame.as_bytes()), &Limits::default())
        && frame.contains(r#""metadata":"#)
    {
        assert_eq!(message.encode(), frame);
    }
}

#[test]
fn p_08_t01_the_first_frame_a_registered_device_gets_is_the_acknowledgement() {
    play("t01_register");
}

#[test]
fn p_09_t02_a_live_id_is_not_given_twice_and_its_owner_stays() {
    play("t02_duplicate");
}

#[test]
fn p_11_t03_a_target_must_be_a_connected_device() {
    play("t03_target");
}

#[test]
fn p_12_t03_a_constellation_may_name_no_target() {
    play("t03_target");
}

#[test]
fn p_10_t04_a_bad_first_frame_is_answered_and_closed() {
    play("t04_bad_first_frame");
}

#[test]
fn p_07_t04_the_first_frame_is_a_register_with_an_id() {
    play("t04_bad_first_frame");
}

#[test]
fn p_14_t05_a_heartbeat_is_acknowledged() {
    play("t05_heartbeat");
}

#[test]
fn p_15_t05_a_constellations_heartbeat_that_says_device_is_acknowledged() {
    play("t05_heartbeat");
}

#[test]
fn p_19_t06_device_info_is_what_the_device_said_under_the_askers_id() {
    play("t06_device_info");
}

#[test]
fn p_20_t06_an_unknown_device_is_told_in_the_result() {
    play("t06_device_info");
}

#[test]
fn p_21_t06_devices_and_strangers_may_not_ask() {
    play("t06_device_info");
}

#[test]
fn p_22_t06_an_answer_nobody_asked_for_is_ignored() {
    play("t06_device_info");
}

#[test]
fn p_23_t07_a_task_is_acknowledged_with_its_session_before_any_command() {
    play("t07_device_task");
}

#[test]
fn p_24_t07_names_of_tasks_are_made_safe() {
    play("t07_device_task");
}

#[test]
fn p_25_t07_a_command_has_ids_for_itself_and_every_action() {
    play("t07_device_task");
}

#[test]
fn p_28_t08_both_ends_of_a_constellations_task_get_the_same_end() {
    play("t08_constellation_task");
}

#[test]
fn t09_an_announced_task_is_asked_for_under_another_session() {
    play("t09_dispatch");
}

#[test]
fn p_30_t10_every_refusal_leaves_the_socket_open() {
    play("t10_refused_tasks");
}

#[test]
fn p_31_t10_a_refused_task_ends() {
    play("t10_refused_tasks");
}

#[test]
fn p_16_t10_who_says_to_be_another_is_refused() {
    play("t10_refused_tasks");
}

#[test]
fn p_17_t10_who_says_to_be_something_else_is_refused() {
    play("t10_refused_tasks");
}

#[test]
fn p_36_t11_a_clients_error_comes_back() {
    play("t11_client_error");
}

#[test]
fn p_37_t12_the_end_of_a_task_and_a_second_register_are_not_for_clients() {
    play("t12_unknown");
}

#[test]
fn p_26_t13_results_count_once_and_for_their_command_only() {
    play("t13_strange_results");
}

#[test]
fn p_27_t13_only_the_device_that_works_on_a_session_speaks_for_it() {
    play("t13_strange_results");
}

#[test]
fn p_29_t14_a_failed_session_says_so() {
    play("t14_failed");
}

#[test]
fn p_32_t15_a_lost_device_ends_its_tasks_at_once() {
    play("t15_device_lost");
}

#[test]
fn p_13_t15_an_id_is_free_when_its_connection_ends() {
    play("t15_device_lost");
}

#[test]
fn p_33_t16_a_lost_constellation_ends_its_tasks() {
    play("t16_constellation_lost");
}

#[test]
fn p_34_t16_the_device_of_a_lost_constellation_hears_of_it() {
    play("t16_constellation_lost");
}

#[test]
fn p_40_t17_a_binary_frame_does_no_harm() {
    play("t17_binary");
}

#[test]
fn p_38_t17_what_cannot_be_read_is_answered_and_the_socket_stays() {
    play("t17_binary");
}
