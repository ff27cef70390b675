//! Calls over gRPC: what is asked, as a server reads it, and what is answered.

use serde_json::json;

use crate::a2a::Version;
use crate::a2a::client::decode;
use crate::a2a::client::request::{self, Ask};
use crate::a2a::grpc::unframe;
use crate::a2a::method::{Method, decode_grpc};
use crate::a2a::wire::{self, Message, Operation, Role, Send};

#[test]
fn a_36_a_call_of_grpc_is_what_our_own_server_reads() {
    let mut message = Message::new(
        "m1",
        Role::User,
        vec![wire::Part::text("hi"), wire::Part::new(wire::Content::Raw(vec![0, 255].into()))],
    );
    message.metadata = Some(json!({"a": [1.5, null]}).into());
    let send = Send { message, configuration: wire::Configuration::default(), metadata: None };
    for version in [Version::V1, Version::V03] {
        for ask in [
            Ask::Send(&send),
            Ask::Stream(&send),
            Ask::Get { task: "t1" },
            Ask::Cancel { task: "t1" },
            Ask::Subscribe { task: "t1" },
        ] {
            let request = request::grpc(&ask, version, Some("agent")).expect("a request");
            let name = request.path.rsplit('/').next().expect("a name");
            let method = Method::of_grpc(name, version).expect("a method");
            let read = unframe(&request.body).expect("a frame");
            let asked = decode_grpc(method, &read, version, 64).expect("it is read");
            match (&ask, asked.operation) {
                (Ask::Send(given), Operation::Send(read)) | (Ask::Stream(given), Operation::Stream(read)) => {
                    assert_eq!(read.message, given.message);
                    assert!(!read.configuration.immediate);
                }
                (Ask::Get { .. }, Operation::Get { task, .. })
                | (Ask::Cancel { .. }, Operation::Cancel { task })
                | (Ask::Subscribe { .. }, Operation::Subscribe { task }) => assert_eq!(&*task, "t1"),
                other => panic!("{other:?}"),
            }
            assert_eq!(asked.tenant.is_some(), version == Version::V1, "0.3 has no tenants");
        }
    }
}

#[test]
fn a_36_an_answer_of_grpc_is_the_update_the_other_bindings_tell() {
    let told = json!({"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}});
    let message = crate::a2a::proto::answer_from_json(Method::Send, Version::V1, told.to_string().as_bytes());
    let heard = decode::grpc(&message.expect("it is written"), Method::Send, Version::V1, 64).expect("it is read");
    let Ok(Ok(same)) = decode::http(&told.to_string().into(), Method::Send, Version::V1, 64) else {
        panic!("no update")
    };
    assert_eq!(heard, same);
    assert!(decode::grpc(&[0xff], Method::Send, Version::V1, 64).is_err());
}
