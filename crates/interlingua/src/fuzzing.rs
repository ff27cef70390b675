//! Doors of `fuzz` to decoders that are private to this crate. Nothing else calls them.

use bytes::Bytes;
use http::{HeaderMap, Method, Uri};
use interlingua_mcp::decode::List;
use interlingua_model::{FaultKind, Json, PeerId, Schema, TaskId, Time};
use interlingua_wire::jwk::WebKey;

use interlingua_a2a::inbound::links::Links;
use interlingua_a2a::outbound::address::Address;
use interlingua_access::issuers;
use interlingua_agents::plans::change;
use interlingua_api::page;
use interlingua_endpoint::guard::Guard;
use interlingua_hooks::message;
use interlingua_hub::hooks::{Verdict, When};
use interlingua_hub::validate::Schemas;
use interlingua_mcp::inbound::{listing, resume};
use interlingua_net::client::guard::{self, Private};
use interlingua_net::counted::Frames;
use interlingua_net::upgrade;
use interlingua_nlip::uploads::multipart::{self, Multipart};

/// The boundary that a content type names.
pub fn boundary(content_type: &str) -> Option<String> {
    multipart::boundary(content_type)
}

/// The file in a form whose body comes in these pieces, or `None`.
pub fn form_file(boundary: &str, pieces: &[&[u8]]) -> Option<Vec<u8>> {
    let (mut form, mut file) = (Multipart::new(boundary), Vec::new());
    for piece in pieces {
        file.extend(form.take(piece).ok()?);
    }
    form.end().ok().map(|()| file)
}

/// Why the guard of a loopback listener, also known as `host`, refuses a request.
pub fn judge(host: &str, method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<FaultKind> {
    let guard = Guard { hosts: vec![host.to_owned()], loopback_only: true };
    guard.judge(&crate::protocols::PATHS, method, uri.path(), uri.authority(), headers).err().map(|fault| fault.kind)
}

/// What a request to become a WebSocket is answered with.
pub fn websocket_accept(headers: &HeaderMap) -> Option<String> {
    let accept = upgrade::accept(&Method::GET, headers).ok()?;
    accept.to_str().ok().map(str::to_owned)
}

/// How many messages end in these bytes of a WebSocket, cut into these pieces.
pub fn websocket_messages(pieces: &[&[u8]]) -> usize {
    let (mut frames, mut messages) = (Frames::default(), 0);
    for piece in pieces {
        let mut rest = *piece;
        while !rest.is_empty() {
            let (taken, whole) = frames.feed(rest);
            rest = &rest[taken..];
            if whole {
                messages += 1;
                frames.next_message();
            }
        }
    }
    messages
}

/// A set of an issuer's keys.
pub fn issuer_keys(bytes: &[u8]) -> Option<Vec<WebKey>> {
    issuers::read_set(Bytes::copy_from_slice(bytes))
}

/// An address that a stranger chose and the hub may call.
pub fn outward(url: &str) -> Option<Uri> {
    guard::checked(url, Private::Refused).ok()
}

/// Where the cards of an agent at this address are, and what one of its interfaces becomes.
pub fn agent_address(url: &str, interface: &str) -> Option<(Vec<Uri>, Option<Uri>, Option<Uri>)> {
    let address = Address::of(&PeerId::from("p"), url, &[]).ok()?;
    let (plain, service) = (address.interface(interface).ok(), address.service(interface).ok());
    Some((address.cards, plain, service))
}

/// Does a hook's answer decide something, and what?
pub fn hook_verdict(answer: &[u8], when: When) -> Option<Verdict> {
    message::decode(Bytes::copy_from_slice(answer), when).ok()
}

/// Is this a change of a plan?
pub fn plan_change(args: &Json) -> bool {
    change::read(Some(args)).is_ok()
}

/// Where in a stream an event stands, written again.
pub fn event_place(text: &str) -> Option<String> {
    resume::ResumePoint::parse(text).map(|place| place.again())
}

/// What a cursor of a list follows, and the cursor of that.
pub fn list_cursor(list: List, cursor: &str) -> Option<(String, String)> {
    let after = listing::opened(list, cursor).ok()?;
    let again = listing::sealed(list, &after);
    Some((after, again))
}

/// A cursor of the list of tasks, written again.
pub fn task_cursor(text: &str) -> Option<String> {
    page::read_task_cursor(text).ok().map(|(at, task)| page::task_cursor(at, task))
}

/// The task that a path to stored content names, and the path written again.
pub fn content_path(path: &str) -> Option<(TaskId, String)> {
    use interlingua_a2a::encode::Addresses as _;
    let (task, digest) = Links::read(path)?;
    let again = Links::new("x".to_owned(), task).blob(&digest)?;
    Some((task, again.strip_prefix("x/")?.to_owned()))
}

/// Does this value fit this schema? Compiles it first.
pub fn fits(schema: &Json, value: &Json) -> bool {
    let schema = Schema(schema.clone());
    Schemas::default().check(schema.0.digest(), &schema, value).is_ok()
}

/// A deadline, a chain of hubs and what else hubs tell one another, from headers.
pub fn hop(headers: &HeaderMap, now: Time) -> Option<interlingua_wire::hub_headers::Hop> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    interlingua_wire::hub_headers::Headers::read(text).decode(now).ok()
}
