//! Faults in this protocol, and the reading of a server's errors.
//!
//! A refusal is an error response, with an HTTP status over HTTP; a failure of a tool is a result with `isError`. Codes are those of
//! JSON-RPC and of the specification alone: the hub defines none. The kind is also in `_meta`.

use interlingua_model::{Fault, FaultKind, Feature, Json, Noun, Party, PeerId, Retry, Text};

use super::wire::headers::HEADER_MISMATCH;
use super::wire::meta;
use super::{Era, Version};
use interlingua_wire::members::Members;
use interlingua_wire::object::Object;
use interlingua_wire::rpc;

/// Legacy servers, for a resource that is not there.
pub const RESOURCE_NOT_FOUND: i64 = -32002;
pub const URL_ELICITATION_REQUIRED: i64 = -32042;
pub const MISSING_CAPABILITY: i64 = -32021;
pub const UNSUPPORTED_VERSION: i64 = -32022;

/// How a fault's field names a capability that the caller did not declare.
pub const CAPABILITY: &str = "capabilities/";
const EXTENSIONS: &str = "extensions";
const MAX_CAPABILITIES: usize = 8;

/// An error response, and the status it has on HTTP.
#[derive(Debug, Clone, PartialEq)]
pub struct Refused {
    pub error: rpc::Error,
    pub status: u16,
}

impl Refused {
    pub fn params(text: impl Into<Text>) -> Refused {
        Refused { error: rpc::Error::new(rpc::INVALID_PARAMS, text), status: 200 }
    }

    /// A request that is wrong as such.
    pub fn malformed(text: impl Into<Text>) -> Refused {
        Refused { error: rpc::Error::new(rpc::INVALID_PARAMS, text), status: 400 }
    }

    pub fn no_such_method(method: &str, version: Version) -> Refused {
        let short: String = method.chars().take(64).collect();
        let error = rpc::Error::new(rpc::METHOD_NOT_FOUND, format!("Method not found: {short}"));
        Refused { error, status: if version.is_modern() { 404 } else { 200 } }
    }
}

/// What was asked: a failure is spelt after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verb {
    /// `tools/call`, which alone has a result that says that it failed.
    Call,
    /// `prompts/get`.
    Prompt,
    /// `resources/read`.
    Read,
    /// Everything else.
    #[default]
    Other,
}

/// How a fault is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// An error response; the status is for HTTP.
    Error { code: i64, status: u16 },
    /// A result with `isError`.
    Outcome,
}

pub fn spelling(fault: &Fault, version: Version, verb: Verb) -> Spelling {
    let error = |code, status| Spelling::Error { code, status };
    let outcome = match verb {
        Verb::Call => Spelling::Outcome,
        Verb::Prompt | Verb::Read | Verb::Other => error(rpc::INTERNAL_ERROR, 200),
    };
    match fault.kind {
        FaultKind::Malformed => error(rpc::INVALID_REQUEST, 400),
        FaultKind::Unsupported(Feature::Version) => match version.era() {
            Era::Modern => error(UNSUPPORTED_VERSION, 400),
            Era::Legacy => error(rpc::INVALID_REQUEST, 400),
        },
        FaultKind::Unsupported(Feature::Media) => error(rpc::INVALID_REQUEST, 415),
        FaultKind::Unsupported(
            Feature::Operation | Feature::Extension | Feature::Push | Feature::ExtendedCard | Feature::SwitchedOff,
        ) => match version.era() {
            Era::Modern => error(rpc::METHOD_NOT_FOUND, 404),
            Era::Legacy => error(rpc::METHOD_NOT_FOUND, 200),
        },
        FaultKind::Unauthenticated => error(rpc::INVALID_REQUEST, 401),
        FaultKind::NotFound(Noun::Skill | Noun::Task) | FaultKind::AlreadyFinished => error(rpc::INVALID_PARAMS, 200),
        FaultKind::NotFound(Noun::Resource) => match version.era() {
            Era::Modern => error(rpc::INVALID_PARAMS, 200),
            Era::Legacy => error(RESOURCE_NOT_FOUND, 200),
        },
        FaultKind::NotFound(Noun::Session) => error(rpc::INVALID_REQUEST, 404),
        FaultKind::InvalidInput if verb == Verb::Call && version.has_input_outcomes() => Spelling::Outcome,
        FaultKind::InvalidInput => error(rpc::INVALID_PARAMS, 200),
        FaultKind::TooLarge => error(rpc::INVALID_REQUEST, 413),
        FaultKind::Busy if fault.origin == Party::Caller => error(rpc::INTERNAL_ERROR, 429),
        FaultKind::Busy => error(rpc::INTERNAL_ERROR, 503),
        FaultKind::Internal => error(rpc::INTERNAL_ERROR, 200),
        // A server that answered with an error instead of a result meant the call, not its outcome.
        FaultKind::PeerFailed if is_rpc_error(fault) => error(rpc::INTERNAL_ERROR, 200),
        FaultKind::PeerFailed => outcome,
        FaultKind::Unanswered if version.is_modern() && missing_capabilities(fault).is_some() => {
            error(MISSING_CAPABILITY, 400)
        }
        FaultKind::Denied
        | FaultKind::Unanswered
        | FaultKind::Conflict
        | FaultKind::BudgetSpent
        | FaultKind::Loop
        | FaultKind::Unreachable
        | FaultKind::PeerDeclined
        | FaultKind::BadReply
        | FaultKind::OutcomeUnknown
        | FaultKind::Deadline => outcome,
    }
}

fn is_rpc_error(fault: &Fault) -> bool {
    fault.peer_code.as_deref().and_then(|code| code.parse::<i64>().ok()).is_some_and(|code| code < 0)
}

/// A request of the tasks extension from a client that did not declare it.
pub fn tasks_not_declared() -> rpc::Error {
    let data = Object::json(|data| {
        data.object("requiredCapabilities", |required| {
            required.object("extensions", |extensions| extensions.object(meta::TASKS, |_| {}));
        });
    });
    rpc::Error::new(MISSING_CAPABILITY, "The tasks extension was not declared").with(data)
}

/// A fault as an error response. `data` holds its kind, and the places that are wrong.
pub fn error(fault: &Fault, code: i64) -> rpc::Error {
    let missing = missing_capabilities(fault).filter(|_| code == MISSING_CAPABILITY);
    rpc::Error::new(code, fault.public.clone()).with(missing.unwrap_or_else(|| data(fault)))
}

/// As [`error`], for a resource that is not there: its address stands in `data` (2026-07-28, resources, errors).
pub fn not_found(fault: &Fault, code: i64, uri: &str) -> rpc::Error {
    let told = data(fault);
    let data = Object::json(|object| {
        object.text("uri", uri);
        for (key, value) in Members::of(&told).iter() {
            object.value(key, &value);
        }
    });
    rpc::Error::new(code, fault.public.clone()).with(data)
}

/// Writes an error response. An id that could not be read is left out (schema: `JSONRPCErrorResponse`).
pub fn write(id: Option<&rpc::Id>, error: &rpc::Error, out: &mut Vec<u8>) {
    if let Some(id) = id.filter(|id| !id.is_null()) {
        return rpc::write_error(Some(id), error, out);
    }
    let mut object = Object::open(out);
    object.text("jsonrpc", "2.0");
    object.object("error", |object| {
        object.key("code").extend_from_slice(error.code.to_string().as_bytes());
        object.text("message", &error.message);
        if let Some(data) = &error.data {
            object.value("data", data);
        }
    });
    object.finish();
}

/// What is told of a fault beyond its text.
pub fn data(fault: &Fault) -> Json {
    Object::json(|object| {
        object.text("kind", fault.kind.as_str());
        object.text(
            "retry",
            match fault.retry {
                Retry::No => "no",
                Retry::After(_) => "after",
                Retry::IfIdempotent => "if_idempotent",
            },
        );
        if let Retry::After(Some(wait)) = fault.retry {
            let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            object.key("retry_after_ms").extend_from_slice(millis.to_string().as_bytes());
        }
        if !fault.fields.is_empty() {
            object.array("fields", &fault.fields, |issue, out| {
                let mut item = Object::open(out);
                item.text("path", &issue.path);
                item.text("problem", &issue.problem);
                item.finish();
            });
        }
    })
}

/// A server's error response as a fault of that peer.
pub fn heard(error: &rpc::Error, verb: Verb, peer: &PeerId) -> Fault {
    let (kind, origin) = match error.code {
        rpc::METHOD_NOT_FOUND => (FaultKind::Unsupported(Feature::Operation), Party::Peer(peer.clone())),
        rpc::INVALID_PARAMS => match verb {
            // What fits the schema and is refused all the same is a tool that is not there any more.
            Verb::Call => (FaultKind::NotFound(Noun::Skill), Party::Peer(peer.clone())),
            Verb::Read => (FaultKind::NotFound(Noun::Resource), Party::Caller),
            Verb::Prompt | Verb::Other => (FaultKind::InvalidInput, Party::Caller),
        },
        RESOURCE_NOT_FOUND => (FaultKind::NotFound(Noun::Resource), Party::Caller),
        MISSING_CAPABILITY => (FaultKind::Unanswered, Party::Caller),
        UNSUPPORTED_VERSION | HEADER_MISMATCH | rpc::PARSE_ERROR | rpc::INVALID_REQUEST => {
            (FaultKind::BadReply, Party::Peer(peer.clone()))
        }
        _ => (FaultKind::PeerFailed, Party::Peer(peer.clone())),
    };
    let mut fault = Fault::new(kind, origin, error.message.clone());
    fault.peer_code = Some(error.code.to_string().into());
    if error.code == MISSING_CAPABILITY {
        let data = error.data.as_ref().map(Members::of).unwrap_or(Members::absent());
        let required = data.object("requiredCapabilities").unwrap_or(Members::absent());
        for (name, within) in required.iter().take(MAX_CAPABILITIES) {
            // An extension is known by its own name.
            let inner = Members::of(&within);
            let extension = inner.iter().next().filter(|_| name == EXTENSIONS).map(|(inner, _)| inner);
            let path = extension.map_or(name.to_owned(), |extension| format!("{EXTENSIONS}/{extension}"));
            fault = fault.field(format!("{CAPABILITY}{path}"), "not declared");
        }
    }
    fault
}

/// The capabilities without which a call could not go on, when that is what is wrong.
fn missing_capabilities(fault: &Fault) -> Option<Json> {
    let named: Vec<&str> = fault.fields.iter().filter_map(|field| field.path.strip_prefix(CAPABILITY)).collect();
    (fault.kind == FaultKind::Unanswered && !named.is_empty()).then(|| {
        Object::json(|data| {
            data.object("requiredCapabilities", |required| {
                for name in named {
                    match name.split_once('/') {
                        Some((EXTENSIONS, extension)) => {
                            required.object(EXTENSIONS, |extensions| extensions.object(extension, |_| {}));
                        }
                        Some(_) | None => required.object(name, |_| {}),
                    }
                }
            });
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelt(kind: FaultKind, version: Version, verb: Verb) -> Option<(i64, u16)> {
        match spelling(&Fault::caller(kind, "x"), version, verb) {
            Spelling::Error { code, status } => Some((code, status)),
            Spelling::Outcome => None,
        }
    }

    #[test]
    fn m_06_what_is_not_there_is_told_as_each_era_wants_it() {
        let (modern, legacy) = (Version::LATEST, Version::LATEST_LEGACY);
        let operation = FaultKind::Unsupported(Feature::Operation);
        assert_eq!(spelt(operation, modern, Verb::Other), Some((-32601, 404)));
        assert_eq!(spelt(operation, legacy, Verb::Other), Some((-32601, 200)));
        let resource = FaultKind::NotFound(Noun::Resource);
        assert_eq!(spelt(resource, modern, Verb::Read), Some((-32602, 200)));
        assert_eq!(spelt(resource, legacy, Verb::Read), Some((-32002, 200)));
        assert_eq!(spelt(FaultKind::NotFound(Noun::Skill), modern, Verb::Call), Some((-32602, 200)));
    }

    #[test]
    fn bad_arguments_are_an_outcome_of_the_tool_since_2025_11_25() {
        assert_eq!(spelt(FaultKind::InvalidInput, Version::V2025_11_25, Verb::Call), None);
        assert_eq!(spelt(FaultKind::InvalidInput, Version::V2025_06_18, Verb::Call), Some((-32602, 200)));
        assert_eq!(spelt(FaultKind::InvalidInput, Version::LATEST, Verb::Prompt), Some((-32602, 200)));
        assert_eq!(spelt(FaultKind::PeerFailed, Version::LATEST, Verb::Call), None);
        assert_eq!(spelt(FaultKind::PeerFailed, Version::LATEST, Verb::Read), Some((-32603, 200)));
    }

    #[test]
    fn m_18_a_capability_that_is_missing_is_named_on_both_legs() {
        let data =
            Json::parse(bytes::Bytes::from_static(br#"{"requiredCapabilities":{"sampling":{}}}"#)).expect("JSON");
        let heard = heard(&rpc::Error::new(MISSING_CAPABILITY, "no").with(data.clone()), Verb::Call, &"p".into());
        let spelt = spelling(&heard, Version::LATEST, Verb::Call);
        assert_eq!(spelt, Spelling::Error { code: MISSING_CAPABILITY, status: 400 });
        assert_eq!(error(&heard, MISSING_CAPABILITY).data, Some(data));
        assert_eq!(spelling(&heard, Version::LATEST_LEGACY, Verb::Call), Spelling::Outcome);
    }

    #[test]
    fn m_18_an_extension_that_is_missing_is_named_on_both_legs() {
        let error = tasks_not_declared();
        assert_eq!(error.code, MISSING_CAPABILITY);
        let data = error.data.clone().expect("data");
        let tasks = serde_json::json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
        assert_eq!(data.tree()["requiredCapabilities"], tasks);
        let heard = heard(&error, Verb::Call, &"p".into());
        assert_eq!(super::error(&heard, MISSING_CAPABILITY).data, Some(data));
    }

    #[test]
    fn a_servers_protocol_error_stays_one_and_a_tool_that_failed_is_an_outcome() {
        let heard = heard(&rpc::Error::new(-32603, "broken"), Verb::Call, &"p".into());
        assert_eq!(
            spelling(&heard, Version::LATEST, Verb::Call),
            Spelling::Error { code: rpc::INTERNAL_ERROR, status: 200 }
        );
        let failed = Fault { peer_code: None, ..heard };
        assert_eq!(spelling(&failed, Version::LATEST, Verb::Call), Spelling::Outcome);
    }

    #[test]
    fn the_address_of_a_resource_that_is_not_there_stands_in_the_error() {
        let fault = Fault::caller(FaultKind::NotFound(Noun::Resource), "Resource not found");
        let error = not_found(&fault, rpc::INVALID_PARAMS, "test://a");
        let data = error.data.expect("data");
        assert_eq!((&data.tree()["uri"], &data.tree()["kind"]), (&"test://a".into(), &"not_found".into()));
    }

    #[test]
    fn a_servers_error_keeps_its_code_and_text() {
        let fault = heard(&rpc::Error::new(-32602, "Unknown tool"), Verb::Call, &"p".into());
        assert_eq!((fault.kind, fault.peer_code.as_deref()), (FaultKind::NotFound(Noun::Skill), Some("-32602")));
        assert_eq!(heard(&rpc::Error::new(-1, "x"), Verb::Read, &"p".into()).kind, FaultKind::PeerFailed);
    }
}
