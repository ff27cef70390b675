//! Notifications of the server: progress, log lines, and changes. Each is one JSON-RPC message.

use interlingua_model::{Level, Part, Text};

use super::super::decode::{Filter, level_name};
use super::super::wire::meta;
use interlingua_wire::object::Object;
use interlingua_wire::rpc::{self, Id};

/// Which list changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changed {
    Tools,
    Prompts,
    Resources,
}

impl Changed {
    fn method(self) -> &'static str {
        match self {
            Changed::Tools => "notifications/tools/list_changed",
            Changed::Prompts => "notifications/prompts/list_changed",
            Changed::Resources => "notifications/resources/list_changed",
        }
    }
}

fn notification(method: &str, fill: impl FnOnce(&mut Object<'_>)) -> Vec<u8> {
    let params = Object::json(fill);
    let mut out = Vec::with_capacity(params.as_bytes().len() + 96);
    rpc::write_notification(method, Some(&params), &mut out);
    out
}

/// Marks what belongs to a subscription.
fn of_subscription(subscription: Option<&Id>, params: &mut Object<'_>) {
    if let Some(id) = subscription {
        params.object(meta::META, |object| object.value(meta::SUBSCRIPTION_ID, &id.json()));
    }
}

/// Progress under the token of this hop.
pub fn progress(token: &Id, done: f64, total: Option<f64>, note: Option<&str>) -> Vec<u8> {
    notification("notifications/progress", |params| {
        params.value("progressToken", &token.json());
        number("progress", done, params);
        if let Some(total) = total {
            number("total", total, params);
        }
        if let Some(note) = note {
            params.text("message", note);
        }
    })
}

fn number(key: &str, value: f64, params: &mut Object<'_>) {
    // A number that is none has no spelling in JSON.
    let value = if value.is_finite() { value } else { 0.0 };
    params.key(key).extend_from_slice(value.to_string().as_bytes());
}

/// A log line: data as it is when there is some, else its text.
pub fn message(at: Level, logger: Option<&str>, parts: &[Part]) -> Vec<u8> {
    notification("notifications/message", |params| {
        params.text("level", level_name(at));
        if let Some(logger) = logger {
            params.text("logger", logger);
        }
        match parts {
            [Part { body: interlingua_model::Body::Data(data), .. }] => params.value("data", data),
            _ => {
                let text: Vec<&str> = parts.iter().filter_map(Part::as_text).collect();
                params.text("data", &text.join("\n"));
            }
        }
    })
}

pub fn changed(what: Changed, subscription: Option<&Id>) -> Vec<u8> {
    notification(what.method(), |params| of_subscription(subscription, params))
}

pub fn updated(uri: &str, subscription: Option<&Id>) -> Vec<u8> {
    notification("notifications/resources/updated", |params| {
        params.text("uri", uri);
        of_subscription(subscription, params);
    })
}

/// The first thing a listener hears: what it will be told of.
pub fn acknowledged(filter: &Filter, subscription: &Id) -> Vec<u8> {
    notification("notifications/subscriptions/acknowledged", |params| {
        params.object("notifications", |wanted| {
            let flags = [
                ("toolsListChanged", filter.tools),
                ("promptsListChanged", filter.prompts),
                ("resourcesListChanged", filter.resources),
            ];
            for (key, _) in flags.iter().filter(|(_, wants)| *wants) {
                wanted.bool(key, true);
            }
            if !filter.updates.is_empty() {
                wanted.array("resourceSubscriptions", &filter.updates, |uri: &Text, out| {
                    interlingua_model::json::write_string(uri, out);
                });
            }
        });
        of_subscription(Some(subscription), params);
    })
}

/// What was asked of the client is not wanted any more.
pub fn cancelled(request: &Id, reason: &str) -> Vec<u8> {
    notification("notifications/cancelled", |params| {
        params.value("requestId", &request.json());
        params.text("reason", reason);
    })
}
