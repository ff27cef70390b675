//! Invariants of an MCP server's messages for any bytes: no panic, and an event stream is read alike however it is cut.

use bytes::Bytes;
use interlingua_mcp::client::Verb;
use interlingua_mcp::client::decode::ReplyContext;
use interlingua_mcp::client::list::{self, List, Server};
use interlingua_mcp::wire::headers;
use interlingua_mcp::{Version, discover};
use interlingua_model::Time;
use interlingua_model::peer::View;
use interlingua_wire::rpc::{self, Frame, Message};
use interlingua_wire::sse::{Event, Parser};

pub(crate) fn message(data: &[u8]) {
    let Ok(frame) = rpc::decode(&Bytes::copy_from_slice(data), 64) else { return };
    match frame {
        Frame::One(message) => take(message),
        Frame::Batch(messages) => messages.into_iter().flatten().for_each(take),
    }
}

fn take(message: Message) {
    for version in [Version::LATEST, Version::LATEST_LEGACY, Version::V2024_11_05] {
        for verb in [Verb::Call, Verb::Prompt, Verb::Read, Verb::Complete] {
            let leg =
                ReplyContext { peer: "p".into(), version, verb, is_hub: true, expires: Time(1), view: View::Head };
            match &message {
                Message::Response(response) => {
                    let _ = leg.response(response.outcome.clone());
                    let _ = leg.task(response.outcome.clone());
                    listed(&response.outcome, version);
                }
                Message::Notification(it) => {
                    let _ = leg.notification(&it.method, &it.params, &"k".into(), 0);
                }
                Message::Request(it) => {
                    let peer = "p".into();
                    let _ = interlingua_mcp::question::decode(&it.method, &it.params, &peer, Time(1), None);
                }
            }
        }
    }
}

fn listed(outcome: &Result<interlingua_wire::members::Members, rpc::Error>, version: Version) {
    let Ok(result) = outcome else { return };
    let _ = Server::decode(result);
    for all in List::ALL {
        for item in list::page(all, result).map(|(items, _)| items).unwrap_or_default() {
            if let Ok(tool) = discover::decode_tool(&"p".into(), &item, version) {
                let _ = headers::params(&tool.skill.input.0);
            }
            let _ = discover::decode_prompt(&"p".into(), &item, version);
            let _ = discover::decode_resource(&"p".into(), &item, version);
        }
    }
}

pub(crate) fn events(data: &[u8]) {
    let cut = data.first().map_or(0, |first| usize::from(*first) % data.len());
    let (head, tail) = data.split_at(cut);
    assert_eq!(read(&[data]), read(&[head, tail]));
}

fn read(pieces: &[&[u8]]) -> Option<Vec<Event>> {
    let mut parser = Parser::new(1 << 20);
    let mut events = Vec::new();
    for piece in pieces {
        parser.feed(piece);
        while let Some(event) = parser.take().ok()? {
            events.push(event);
        }
    }
    Some(events)
}
