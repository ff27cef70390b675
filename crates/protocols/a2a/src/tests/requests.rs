//! Operations by method and by path; versions; what a message means.

use interlingua_model::{Ask, CancelWhy, OnDisconnect, PeerId, Priority, Signal, SkillId, Target, TaskId, Time};
use serde_json::{Value, json};

use super::bytes;
use crate::Version;
use crate::decode::{Addressed, Context, Incoming, Own, Wants, decode};
use crate::ext;
use crate::invalid::{Invalid, Problem};
use crate::json::Dialect;
use crate::method::Method;
use crate::request::{NoRoute, Route, read_http, read_params, route};
use crate::wire::{List, Operation, PushConfig, Send, TaskState};
use interlingua_wire::codec::Meaning;
use interlingua_wire::hub_headers::Headers;

const TASK: TaskId = TaskId(7);

#[test]
fn a_26_versions_go_by_major_and_minor_and_none_is_the_older_one() {
    for (text, version) in [
        (None, Version::V03),
        (Some(""), Version::V03),
        (Some("0.3"), Version::V03),
        (Some("0.3.0"), Version::V03),
        (Some("1.0"), Version::V1),
        (Some(" 1.0.1 "), Version::V1),
    ] {
        assert_eq!(Version::parse(text), Ok(version), "{text:?}");
    }
    for text in ["9.9", "1", "1.1", "2.0", "x"] {
        let invalid = Version::parse(Some(text)).expect_err(text);
        assert_eq!(invalid.problem, Problem::Version(text.to_owned()));
    }
}

#[test]
fn methods_of_the_two_generations_have_no_name_in_common() {
    for method in Method::ALL {
        for (version, other) in [(Version::V1, Version::V03), (Version::V03, Version::V1)] {
            let Some(name) = method.name(version) else { continue };
            assert_eq!(Method::named(name, version), Ok(method));
            let invalid = Method::named(name, other).expect_err(name);
            assert!(matches!(invalid.problem, Problem::OtherVersion(..)), "{name}: {invalid}");
        }
    }
    assert!(matches!(Method::named("tasks/list", Version::V03).expect_err("none").problem, Problem::Method(_)));
}

#[test]
fn a_17_paths_lead_to_operations_with_and_without_a_tenant() {
    let plain = |method| Route { version: Version::V1, method, tenant: None, task: None, config: None };
    let task = |method| Route { task: Some("t1"), ..plain(method) };
    for (verb, path, expected) in [
        ("POST", "message:send", plain(Method::Send)),
        ("POST", "message:stream", plain(Method::Stream)),
        ("GET", "tasks", plain(Method::List)),
        ("GET", "tasks/t1", task(Method::Get)),
        ("POST", "tasks/t1:cancel", task(Method::Cancel)),
        ("GET", "tasks/t1:subscribe", task(Method::Subscribe)),
        ("POST", "tasks/t1:subscribe", task(Method::Subscribe)),
        ("POST", "tasks/t1/pushNotificationConfigs", task(Method::PushCreate)),
        ("GET", "tasks/t1/pushNotificationConfigs", task(Method::PushList)),
        ("DELETE", "tasks/t1/pushNotificationConfigs/c", Route { config: Some("c"), ..task(Method::PushDelete) }),
        ("GET", "extendedAgentCard", plain(Method::ExtendedCard)),
        ("POST", "hotels/message:send", Route { tenant: Some("hotels"), ..plain(Method::Send) }),
        ("GET", "hotels/tasks/t1", Route { tenant: Some("hotels"), ..task(Method::Get) }),
        ("POST", "v1/message:send", Route { version: Version::V03, ..plain(Method::Send) }),
        ("GET", "v1/tasks/t1:subscribe", Route { version: Version::V03, ..task(Method::Subscribe) }),
        ("GET", "v1/card", Route { version: Version::V03, ..plain(Method::ExtendedCard) }),
    ] {
        assert_eq!(route(verb, path), Ok(expected), "{verb} {path}");
    }
    for path in ["", "x", "tasks/", "tasks/a/b", "a/b/message:send", "card", "tasks/t1/pushNotificationConfigs/"] {
        assert_eq!(route("GET", path), Err(NoRoute::NotFound), "{path}");
    }
    assert_eq!(route("GET", "message:send"), Err(NoRoute::NotAllowed("POST")));
    assert_eq!(route("DELETE", "tasks/t1"), Err(NoRoute::NotAllowed("GET")));
}

#[test]
fn a_12_a_page_has_one_to_a_hundred_tasks_by_either_binding() {
    let list = |size: &str| {
        let params = bytes(&json!({"pageSize": size.parse::<i64>().expect("a number")}));
        let rpc = read_params(Method::List, Some(&params), Version::V1, 8).map(|asked| asked.operation);
        let query = vec![("pageSize".to_owned(), size.to_owned())];
        let route = route("GET", "tasks").expect("a path");
        let http = read_http(&route, &query, &bytes::Bytes::new(), 8).map(|asked| asked.operation);
        assert_eq!(rpc.is_ok(), http.is_ok());
        rpc
    };
    for size in ["0", "101", "-1"] {
        assert!(list(size).is_err(), "{size}");
    }
    assert!(matches!(list("100"), Ok(Operation::List(list)) if list.size == Some(100)));
    let query = [
        ("status", "TASK_STATE_WORKING"),
        ("contextId", "c"),
        ("includeArtifacts", "true"),
        ("statusTimestampAfter", "1970-01-01T00:00:01Z"),
    ];
    let query: Vec<(String, String)> =
        query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let route = route("GET", "tasks").expect("a path");
    let asked = read_http(&route, &query, &bytes::Bytes::new(), 8).expect("a list");
    let Operation::List(list) = asked.operation else { panic!("a list") };
    assert_eq!((list.state, list.after, list.artifacts), (Some(TaskState::Working), Some(Time(1000)), true));
}

#[test]
fn a_33_a_query_may_spell_its_names_as_the_proto_does() {
    let route = route("GET", "v1/tasks/t1").expect("a path");
    for name in ["historyLength", "history_length"] {
        let query = [(name.to_owned(), "2".to_owned())];
        let asked = read_http(&route, &query, &bytes::Bytes::new(), 8).expect("a task");
        assert_eq!(asked.operation, Operation::Get { task: "t1".into(), history: Some(2) });
    }
    let other = [("history__size".to_owned(), "2".to_owned())];
    let asked = read_http(&route, &other, &bytes::Bytes::new(), 8).expect("a task");
    assert_eq!(asked.operation, Operation::Get { task: "t1".into(), history: None });
}

#[test]
fn push_configurations_are_named_as_each_generation_does() {
    let read = |method, params: Value, version| {
        read_params(method, Some(&bytes(&params)), version, 8).map(|asked| asked.operation)
    };
    let named = Operation::PushDelete { task: "t".into(), id: "c".into() };
    let new = read(Method::PushDelete, json!({"taskId": "t", "id": "c"}), Version::V1);
    assert_eq!(new.as_ref(), Ok(&named));
    let old = read(Method::PushDelete, json!({"id": "t", "pushNotificationConfigId": "c"}), Version::V03);
    assert_eq!(old, Ok(named));
    let set = json!({"taskId": "t", "pushNotificationConfig": {"id": "c", "url": "https://x/"}});
    let Ok(Operation::PushCreate(config)) = read(Method::PushCreate, set, Version::V03) else { panic!("a set") };
    assert_eq!((config.task.as_deref(), config.id.as_deref()), (Some("t"), Some("c")));
    assert!(read(Method::PushCreate, json!({"url": "https://x/"}), Version::V1).is_err());
}

fn decoded(operation: Operation, door: &Addressed) -> Result<Incoming, Invalid> {
    let context = Context { version: Version::V1, door, now: Time(1), headers: Headers::default(), replay: None };
    decode(operation, &context).map(|carried| carried.value)
}

fn sent(message: &Value) -> Box<Send> {
    let frame = bytes(&json!({ "message": message }));
    Box::new(super::source(&frame, Dialect::V1).send().expect("a send").0)
}

fn meaning(message: &Value, door: Addressed, operation: fn(Box<Send>) -> Operation) -> Meaning<Own> {
    decoded(operation(sent(message)), &door).expect("a meaning").meaning
}

fn message(metadata: Value, parts: Value) -> Value {
    json!({"messageId": "m", "role": "ROLE_USER", "contextId": "c", "parts": parts, "metadata": {ext::URI: metadata}})
}

#[test]
fn a_message_is_a_call_of_the_skill_the_extension_names_else_of_the_address() {
    let text = || json!([{"text": "hi"}]);
    let target = |metadata, door| match meaning(&message(metadata, text()), door, Operation::Send) {
        Meaning::Call(call) => match call.ask {
            Ask::Invoke { target, .. } => target,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    let hotels = || Addressed::Peer(PeerId::from("hotels"));
    assert_eq!(target(json!({}), Addressed::Hub), Target::Words);
    assert_eq!(target(json!({}), hotels()), Target::Peer("hotels".into()));
    let named = Target::Skill(SkillId::new("hotels", "search"), None);
    assert_eq!(target(json!({"skill": "hotels/search"}), Addressed::Hub), named);
    assert_eq!(target(json!({"skill": "search"}), hotels()), named);
    assert_eq!(target(json!({"skill": "search"}), Addressed::Hub), Target::Capability("search".into()));
}

#[test]
fn one_object_among_the_parts_is_the_arguments_and_the_manners_are_those_of_the_protocol() {
    let parts = json!([{"text": "please"}, {"data": {"city": "Paris"}}]);
    let Meaning::Call(call) = meaning(&message(json!({"priority": 10}), parts), Addressed::Hub, Operation::Stream)
    else {
        panic!("a call")
    };
    let input = call.input().expect("input");
    assert_eq!(input.args.as_ref().map(interlingua_model::Json::as_str), Some(r#"{"city":"Paris"}"#));
    assert_eq!(input.words(), "please");
    assert_eq!((call.limits.on_disconnect, call.limits.keep, call.id_given), (OnDisconnect::Detach, true, true));
    assert_eq!(call.limits.priority, Priority::new(9).expect("a priority"));
    assert_eq!(call.conversation.map(|context| context.0.to_string()).as_deref(), Some("c"));
    let two = json!([{"data": {"a": 1}}, {"data": {"b": 1}}]);
    let Meaning::Call(call) = meaning(&message(json!({}), two), Addressed::Hub, Operation::Send) else {
        panic!("a call")
    };
    assert!(call.input().expect("input").args.is_none() && !call.limits.keep);
}

#[test]
fn a_message_to_a_task_is_more_input_for_it() {
    let mut more = message(json!({}), json!([{"text": "Paris"}]));
    more["taskId"] = TASK.to_string().into();
    let Meaning::Own(Own::More(more)) = meaning(&more, Addressed::Hub, Operation::Send) else { panic!("more") };
    assert_eq!((more.task, more.context.as_deref(), more.message.as_str()), (TASK, Some("c"), "m"));
    assert_eq!(more.input.words(), "Paris");
}

#[test]
fn a_message_says_how_it_is_answered() {
    let send = |configure: fn(&mut Send)| {
        let mut send = sent(&message(json!({}), json!([{"text": "hi"}])));
        configure(&mut send);
        send
    };
    let push = || PushConfig { id: None, task: None, url: "https://x/".into(), token: None, authentication: None };
    let plain = || send(|_| {});
    let receipt = || send(|send| send.configuration.immediate = true);
    for (operation, wants, keep) in [
        (Operation::Send(plain()), Wants::Answer, false),
        (Operation::Send(receipt()), Wants::Receipt, true),
        (Operation::Stream(plain()), Wants::Stream, true),
        (Operation::Stream(receipt()), Wants::Stream, true),
    ] {
        let incoming = decoded(operation, &Addressed::Hub).expect("a call");
        let Meaning::Call(call) = incoming.meaning else { panic!("a call") };
        assert_eq!((incoming.reply.wants, call.limits.keep), (wants, keep));
    }
    let mut told = plain();
    (told.configuration.push, told.configuration.history) = (Some(push()), Some(3));
    let incoming = decoded(Operation::Send(told), &Addressed::Hub).expect("a call");
    assert_eq!((incoming.reply.webhook.as_deref(), incoming.reply.history), (Some(&push()), Some(3)));
    let Meaning::Call(call) = incoming.meaning else { panic!("a call") };
    assert!(call.limits.keep, "a webhook is told of a task");
}

#[test]
fn a_13_a_cancel_is_a_signal_to_its_task() {
    let incoming = decoded(Operation::Cancel { task: TASK.to_string().into() }, &Addressed::Hub).expect("a cancel");
    let Meaning::Signal { to, signal } = incoming.meaning else { panic!("a signal") };
    assert_eq!((to, signal), (TASK, Signal::Cancel(CancelWhy::Asked)));
}

/// Every operation that names a task.
fn about(task: &str) -> Vec<Operation> {
    let mut more = message(json!({}), json!([{"text": "Paris"}]));
    more["taskId"] = task.into();
    let task = || task.into();
    let url = "https://x/".into();
    vec![
        Operation::Send(sent(&more)),
        Operation::Stream(sent(&more)),
        Operation::Cancel { task: task() },
        Operation::Get { task: task(), history: None },
        Operation::Subscribe { task: task() },
        Operation::PushCreate(Box::new(PushConfig {
            id: None,
            task: Some(task()),
            url,
            token: None,
            authentication: None,
        })),
        Operation::PushGet { task: task(), id: None },
        Operation::PushList { task: task() },
        Operation::PushDelete { task: task(), id: "c".into() },
    ]
}

#[test]
fn an_id_that_is_none_of_the_hubs_is_a_task_that_is_not_there() {
    for operation in about("t") {
        let shown = format!("{operation:?}");
        let invalid = decoded(operation, &Addressed::Hub).expect_err(&shown);
        assert_eq!(invalid, Invalid::whole(Problem::NoSuchTask), "{shown}");
        assert_eq!(crate::fault::Error::invalid(&invalid).reason().0, "TASK_NOT_FOUND");
    }
}

#[test]
fn what_only_a2a_has_stays_what_it_is_and_names_its_task() {
    let named = |own: &Own| match own {
        Own::More(more) => Some(more.task),
        Own::Get { task, .. }
        | Own::Subscribe { task }
        | Own::PushCreate { task, .. }
        | Own::PushGet { task, .. }
        | Own::PushList { task }
        | Own::PushDelete { task, .. } => Some(*task),
        Own::Event(_) | Own::List(_) | Own::ExtendedCard => None,
    };
    for operation in about(&TASK.to_string()) {
        let streams = matches!(operation, Operation::Stream(_) | Operation::Subscribe { .. });
        let incoming = decoded(operation, &Addressed::Hub).expect("an operation");
        assert_eq!(incoming.reply.wants == Wants::Stream, streams);
        match incoming.meaning {
            Meaning::Own(own) => assert_eq!(named(&own), Some(TASK), "{own:?}"),
            Meaning::Signal { to, .. } => assert_eq!(to, TASK),
            Meaning::Call(call) => panic!("{call:?}"),
        }
    }
    let own = |operation| match decoded(operation, &Addressed::Hub).expect("an operation").meaning {
        Meaning::Own(own) => own,
        other => panic!("{other:?}"),
    };
    let list = List { size: Some(7), ..List::default() };
    assert!(matches!(own(Operation::List(list.clone())), Own::List(kept) if kept == list));
    assert!(matches!(own(Operation::ExtendedCard), Own::ExtendedCard));
}

#[test]
fn priorities_are_the_tables() {
    let heard: Vec<u8> = (1..=10).map(|level| ext::priority(level).expect("in range").level()).collect();
    assert_eq!(heard, [0, 1, 2, 3, 5, 6, 7, 8, 9, 9]);
    let told: Vec<u64> = (0..=9).map(|level| ext::level(Priority::new(level).expect("in range"))).collect();
    assert_eq!(told, [1, 2, 3, 4, 4, 5, 6, 7, 8, 10]);
    assert_eq!((ext::priority(0), ext::priority(11)), (None, None));
}
