//! Keys of `_meta`: the protocol's (2026-07-28, basic, `_meta`), W3C trace context under its bare names, and ours under `interlingua/`.
//! Ours are never trusted from a peer that configuration does not call a hub, and never passed on.

use interlingua_model::{FaultKind, Json, Loss, Route, Trace};

use interlingua_wire::members::Members;
use interlingua_wire::object::Object;

pub const META: &str = "_meta";

pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
/// The extension for long exchanges.
pub const TASKS: &str = "io.modelcontextprotocol/tasks";
pub const PROGRESS_TOKEN: &str = "progressToken";

pub const TRACEPARENT: &str = "traceparent";
pub const TRACESTATE: &str = "tracestate";
pub const BAGGAGE: &str = "baggage";

/// What every key of ours begins with.
pub const OURS: &str = "interlingua/";
pub const VIA: &str = "interlingua/via";
pub const ORIGIN: &str = "interlingua/origin";
pub const DEADLINE: &str = "interlingua/deadline";
/// What a piece of content is called, where its block has no member for it.
pub const NAME: &str = "interlingua/name";
pub const PRIORITY: &str = "interlingua/priority";
pub const MESSAGE_ID: &str = "interlingua/messageId";
pub const LOSSES: &str = "interlingua/losses";
pub const ROUTE: &str = "interlingua/route";
pub const FAULT: &str = "interlingua/fault";
pub const TASK: &str = "interlingua/task";
/// A request for approval, and of what.
pub const CONFIRM: &str = "interlingua/confirm";
/// A tool that its hub has from another hub.
pub const IMPORTED: &str = "interlingua/imported";
/// A hub asks for a list: all of it, and not how to search it.
pub const WHOLE: &str = "interlingua/whole";
/// Annotations of a content block, for the way through the model.
pub const ANNOTATIONS: &str = "interlingua/annotations";

/// The W3C trace context of a message, verbatim.
pub fn trace(meta: &Members) -> Option<Trace> {
    let field = |key| meta.text(key).map(|text| (&*text).into());
    let trace = Trace { parent: field(TRACEPARENT), state: field(TRACESTATE), baggage: field(BAGGAGE) };
    (trace != Trace::default()).then_some(trace)
}

/// The hubs that a request passed, separated by commas: they stand in a list, or so.
pub fn via(meta: &Members) -> Option<String> {
    if let Some(text) = meta.text(VIA) {
        return Some(text.into_owned());
    }
    let hubs = meta.list(VIA)?;
    let hubs: Vec<&str> = hubs.iter().filter_map(|hub| hub.tree().as_str()).collect();
    Some(hubs.join(","))
}

/// The kind of a fault that a hub tells of beside its answer.
pub fn fault(told: &Members) -> Option<FaultKind> {
    told.text("kind").as_deref().and_then(FaultKind::named)
}

/// What a peer of the same protocol may know of it: what is neither the protocol's nor ours.
pub fn free(meta: &Members) -> Option<Json> {
    let is_free = |key: &str| {
        let bare = [PROGRESS_TOKEN, TRACEPARENT, TRACESTATE, BAGGAGE];
        !key.starts_with("io.modelcontextprotocol/") && !key.starts_with(OURS) && !bare.contains(&key)
    };
    meta.keys().any(is_free).then(|| {
        Object::json(|object| {
            for (key, value) in meta.iter().filter(|(key, _)| is_free(key)) {
                object.value(key, &value);
            }
        })
    })
}

pub fn write_trace(trace: &Trace, object: &mut Object<'_>) {
    let fields = [(TRACEPARENT, &trace.parent), (TRACESTATE, &trace.state), (BAGGAGE, &trace.baggage)];
    for (key, text) in fields {
        if let Some(text) = text {
            object.text(key, text);
        }
    }
}

pub fn write_route(route: &Route, object: &mut Object<'_>) {
    object.object(ROUTE, |object| {
        object.text("skill", &route.skill.to_string());
        object.text("class", route.class.as_str());
        object.text("why", route.why.as_str());
        if let Some(args) = &route.args {
            object.value("arguments", args);
        }
    });
}

pub fn write_losses(losses: &[Loss], object: &mut Object<'_>) {
    if losses.is_empty() {
        return;
    }
    object.array(LOSSES, losses, |loss, out| {
        let mut item = Object::open(out);
        item.text("what", &loss.what);
        item.text("kind", loss.kind.as_str());
        item.finish();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &'static str) -> Option<String> {
        let json = Json::parse(text.as_bytes().into()).expect("JSON");
        free(&Members::of(&json)).map(|free| free.as_str().to_owned())
    }

    #[test]
    fn the_way_is_read_as_hubs_write_it_and_as_one_text() {
        let of = |text: &'static str| via(&Members::of(&Json::parse(text.as_bytes().into()).expect("JSON")));
        assert_eq!(of(r#"{"interlingua/via":["left","right"]}"#).as_deref(), Some("left,right"));
        assert_eq!(of(r#"{"interlingua/via":"left, right"}"#).as_deref(), Some("left, right"));
        assert_eq!(of(r#"{"interlingua/via":7}"#), None);
        assert_eq!(of("{}"), None);
    }

    #[test]
    fn what_is_neither_the_protocols_nor_ours_is_passed_on_as_it_was_written() {
        let protocols = r#"{"io.modelcontextprotocol/logLevel":"info","progressToken":1,"traceparent":"00-ab-cd-01"}"#;
        assert_eq!(of(protocols), None);
        assert_eq!(of(r#"{"interlingua/via":"a"}"#), None);
        assert_eq!(of("{}"), None);
        let mixed = r#"{"com.example/a": [1, 2.50],"progressToken":"p","b":null}"#;
        assert_eq!(of(mixed).as_deref(), Some(r#"{"com.example/a":[1, 2.50],"b":null}"#));
    }
}
