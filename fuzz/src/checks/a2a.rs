//! Invariants of the A2A codec for any bytes: no panic, and what can be read in a dialect, or as a message of the proto, survives a round
//! trip.

use bytes::Bytes;
use interlingua_a2a::Version;
use interlingua_a2a::client::{self, Refusal};
use interlingua_a2a::decode::{Addressed, Context, decode};
use interlingua_a2a::grpc::{self, Frames};
use interlingua_a2a::json::read::Source;
use interlingua_a2a::json::{Dialect, write};
use interlingua_a2a::method::Method;
use interlingua_a2a::proto;
use interlingua_a2a::request::{read_grpc, read_params};
use interlingua_a2a::wire::Operation;
use interlingua_model::{Json, Time};
use interlingua_wire::hub_headers::Headers;

const DEPTH: usize = 64;

pub(crate) fn json(data: &[u8]) {
    let frame = Bytes::copy_from_slice(data);
    for dialect in [Dialect::V1, Dialect::V03, Dialect::V03Proto] {
        let source = Source { frame: &frame, dialect, depth: DEPTH };
        // What a webhook is asked for is not written in a send.
        if let Ok((mut send, tenant)) = source.send() {
            send.configuration.push = None;
            // Neither are tasks it refers to, in the older proto.
            if dialect == Dialect::V03Proto {
                send.message.references.clear();
            }
            let written = write::send(&send, tenant.as_deref(), dialect);
            let again =
                Source { frame: &written, dialect, depth: usize::MAX }.send().expect("what was written can be read");
            if !has_scalar_data(&send) {
                assert_eq!(again.0, send);
            }
            let _ = decode(Operation::Send(Box::new(send)), &context(dialect.version()));
        }
        if let Ok(update) = source.update() {
            let written = write::update(&update, dialect);
            Source { frame: &written, dialect, depth: usize::MAX }.update().expect("what was written can be read");
        }
    }
    for version in [Version::V1, Version::V03] {
        for method in Method::ALL {
            if let Ok(asked) = read_params(method, Some(&frame), version, DEPTH) {
                let _ = decode(asked.operation, &context(version));
            }
        }
    }
}

fn context(version: Version) -> Context<'static> {
    Context { version, door: &Addressed::Hub, now: Time(0), headers: Headers::default(), replay: None }
}

pub(crate) fn proto(data: &[u8]) {
    for version in [Version::V1, Version::V03] {
        for method in Method::ALL {
            let _ = (read_grpc(method, data, version, DEPTH), client::decode::grpc(data, method, version, DEPTH));
            if let Ok(json) = proto::request_to_json(method, version, data, DEPTH) {
                let written = proto::request_from_json(method, version, &json).expect("what was read can be written");
                let again = proto::request_to_json(method, version, &written, DEPTH);
                same(&json, &again.expect("what was written can be read"));
            }
            if let Ok(json) = proto::answer_to_json(method, version, data, DEPTH) {
                let written = proto::answer_from_json(method, version, &json).expect("what was read can be written");
                let again = proto::answer_to_json(method, version, &written, DEPTH);
                same(&json, &again.expect("what was written can be read"));
            }
        }
    }
    let mut frames = Frames::new(1 << 16);
    for piece in data.chunks(7) {
        frames.push(piece);
        while let Ok(Some(message)) = frames.take() {
            assert_eq!(grpc::unframe(&grpc::frame(&message)), Ok(message));
        }
    }
    let text = String::from_utf8_lossy(data);
    assert_eq!(grpc::unescape(&grpc::escape(&text)), text);
    let _ = (grpc::timeout(&text), Refusal::of_grpc(3, &text, Some(&text)));
}

fn same(json: &Bytes, again: &Bytes) {
    let parsed = |json: &Bytes| Json::parse_within(json.clone(), 2 * DEPTH).expect("it is JSON, and no deeper");
    assert_eq!(parsed(json), parsed(again));
}

/// 0.3 carries objects only: another value comes back inside one.
fn has_scalar_data(send: &interlingua_a2a::wire::Send) -> bool {
    use interlingua_a2a::wire::Content;
    send.message.parts.iter().any(|part| match &part.content {
        Content::Data(data) => !data.is_object(),
        Content::Text(_) | Content::Url(_) => part.media.is_some() || part.filename.is_some(),
        Content::Raw(_) => false,
    })
}
