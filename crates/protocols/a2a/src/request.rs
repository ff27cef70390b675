//! Determines the operation of a request, in each binding: JSON-RPC parameters, gRPC messages, HTTP paths with their query and body.

use bytes::Bytes;
use interlingua_model::Text;

use crate::Version;
use crate::invalid::{Invalid, Problem};
use crate::json::Dialect;
use crate::json::read::{Source, check_page, state_named, time};
use crate::method::Method;
use crate::proto;
use crate::wire::{Asked, List, Operation};

/// The parameters of a JSON-RPC call; absent ones are an empty object.
pub fn read_params(method: Method, params: Option<&Bytes>, version: Version, depth: usize) -> Result<Asked, Invalid> {
    let none = Bytes::from_static(b"{}");
    read_request(method, &Source { frame: params.unwrap_or(&none), dialect: Dialect::of_rpc(version), depth })
}

/// The request of a gRPC call.
pub fn read_grpc(method: Method, message: &[u8], version: Version, depth: usize) -> Result<Asked, Invalid> {
    let frame = proto::request_to_json(method, version, message, depth)?;
    read_request(method, &Source { frame: &frame, dialect: Dialect::of_http(version), depth })
}

fn read_request(method: Method, source: &Source<'_>) -> Result<Asked, Invalid> {
    match method {
        Method::Send => source.send().map(|(send, tenant)| asked(Operation::Send(Box::new(send)), tenant)),
        Method::Stream => source.send().map(|(send, tenant)| asked(Operation::Stream(Box::new(send)), tenant)),
        Method::Get => source.get(),
        Method::List => source.list(),
        Method::Cancel => source.cancel(),
        Method::Subscribe => source.subscribe(),
        Method::PushCreate => {
            let (config, tenant) = source.push_create()?;
            if config.task.is_none() {
                return Err(Invalid::at("taskId", Problem::Missing));
            }
            Ok(asked(Operation::PushCreate(Box::new(config)), tenant))
        }
        Method::PushGet => source.push_get(),
        Method::PushList => source.push_list(),
        Method::PushDelete => source.push_delete(),
        Method::ExtendedCard => source.extended_card(),
    }
}

fn asked(operation: Operation, tenant: Option<Text>) -> Asked {
    Asked { operation, tenant }
}

/// An HTTP path below the agent's address, read as an operation on a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route<'p> {
    pub version: Version,
    pub method: Method,
    /// In the path; a body may name one, too.
    pub tenant: Option<&'p str>,
    pub task: Option<&'p str>,
    pub config: Option<&'p str>,
}

/// Why a path leads nowhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoRoute {
    NotFound,
    /// The path is one; this HTTP method is not.
    NotAllowed(&'static str),
}

/// `path` without a slash at its beginning or end. Every path of 1.0 exists below `{tenant}/` as well; those of 0.3 are below
/// `v1/`.
pub fn route<'p>(verb: &str, path: &'p str) -> Result<Route<'p>, NoRoute> {
    if let Some(rest) = path.strip_prefix("v1/")
        && let Some(found) = plain(verb, rest, Version::V03)?
    {
        return Ok(found);
    }
    if let Some(found) = plain(verb, path, Version::V1)? {
        return Ok(found);
    }
    let (tenant, rest) = path.split_once('/').ok_or(NoRoute::NotFound)?;
    let found = plain(verb, rest, Version::V1)?.ok_or(NoRoute::NotFound)?;
    Ok(Route { tenant: Some(tenant), ..found })
}

fn plain<'p>(verb: &str, path: &'p str, version: Version) -> Result<Option<Route<'p>>, NoRoute> {
    let route = |method| Route { version, method, tenant: None, task: None, config: None };
    let segments: Vec<&str> = path.split('/').collect();
    let (found, allowed): (Route<'p>, &'static str) = match (version, segments.as_slice()) {
        (_, ["message:send"]) => (route(Method::Send), "POST"),
        (_, ["message:stream"]) => (route(Method::Stream), "POST"),
        (Version::V1, ["extendedAgentCard"]) | (Version::V03, ["card"]) => (route(Method::ExtendedCard), "GET"),
        (_, ["tasks"]) => (route(Method::List), "GET"),
        (_, ["tasks", named]) => match named.rsplit_once(':') {
            Some((task, "cancel")) => (Route { task: Some(task), ..route(Method::Cancel) }, "POST"),
            // The proto says GET, the text POST: both are taken.
            Some((task, "subscribe")) => (Route { task: Some(task), ..route(Method::Subscribe) }, "GET, POST"),
            _ => (Route { task: Some(named), ..route(Method::Get) }, "GET"),
        },
        (_, ["tasks", task, "pushNotificationConfigs"]) => {
            let method = if verb == "POST" { Method::PushCreate } else { Method::PushList };
            (Route { task: Some(task), ..route(method) }, "GET, POST")
        }
        (_, ["tasks", task, "pushNotificationConfigs", config]) => {
            let method = if verb == "DELETE" { Method::PushDelete } else { Method::PushGet };
            (Route { task: Some(task), config: Some(config), ..route(method) }, "GET, DELETE")
        }
        _ => return Ok(None),
    };
    if found.task == Some("") || found.config == Some("") {
        return Err(NoRoute::NotFound);
    }
    if allowed.split(", ").any(|allowed| allowed == verb) { Ok(Some(found)) } else { Err(NoRoute::NotAllowed(allowed)) }
}

/// The operation of a request over HTTP with JSON. `query` has names and values as they are meant, without escapes.
pub fn read_http(route: &Route<'_>, query: &[(String, String)], body: &Bytes, depth: usize) -> Result<Asked, Invalid> {
    let task = || Text::from(route.task.unwrap_or_default());
    let source = Source { frame: body, dialect: Dialect::of_http(route.version), depth };
    let (operation, tenant) = match route.method {
        Method::Send => source.send().map(|(send, tenant)| (Operation::Send(Box::new(send)), tenant))?,
        Method::Stream => source.send().map(|(send, tenant)| (Operation::Stream(Box::new(send)), tenant))?,
        Method::Get => (Operation::Get { task: task(), history: number(query, "historyLength")? }, None),
        Method::List => (Operation::List(listed(query, source.dialect)?), None),
        Method::Cancel => (Operation::Cancel { task: task() }, None),
        Method::Subscribe => (Operation::Subscribe { task: task() }, None),
        Method::PushCreate => {
            let (mut config, tenant) = source.push_create()?;
            config.task = Some(task());
            (Operation::PushCreate(Box::new(config)), tenant)
        }
        Method::PushGet => (Operation::PushGet { task: task(), id: route.config.map(Text::from) }, None),
        Method::PushList => (Operation::PushList { task: task() }, None),
        Method::PushDelete => {
            (Operation::PushDelete { task: task(), id: route.config.unwrap_or_default().into() }, None)
        }
        Method::ExtendedCard => (Operation::ExtendedCard, None),
    };
    let asked_for = parameter(query, "tenant").filter(|tenant| !tenant.is_empty()).map(Text::from);
    Ok(Asked { operation, tenant: route.tenant.map(Text::from).or(tenant).or(asked_for) })
}

/// Readers take the proto's spelling of a member as well, in a query as in a body: `history_length` is `historyLength`.
fn parameter<'q>(query: &'q [(String, String)], name: &str) -> Option<&'q str> {
    let is = |given: &str| {
        given
            .chars()
            .filter(|c| *c != '_')
            .map(|c| c.to_ascii_lowercase())
            .eq(name.chars().map(|c| c.to_ascii_lowercase()))
    };
    let exact = query.iter().find(|(given, _)| given == name);
    exact.or_else(|| query.iter().find(|(given, _)| given.contains('_') && is(given))).map(|(_, value)| value.as_str())
}

fn number(query: &[(String, String)], name: &str) -> Result<Option<u32>, Invalid> {
    let given = parameter(query, name).filter(|text| !text.is_empty());
    given.map(|text| text.parse().map_err(|_| Invalid::at(name, Problem::NotANumber))).transpose()
}

fn listed(query: &[(String, String)], dialect: Dialect) -> Result<List, Invalid> {
    let text = |name| parameter(query, name).filter(|text| !text.is_empty());
    let state = text("status").filter(|name| *name != "TASK_STATE_UNSPECIFIED");
    let artifacts = match text("includeArtifacts") {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => return Err(Invalid::at("includeArtifacts", Problem::NotABool)),
    };
    let list = List {
        context: text("contextId").map(Text::from),
        state: state.map(|name| state_named(name, dialect)).transpose().map_err(|invalid| invalid.under("status"))?,
        size: number(query, "pageSize")?,
        cursor: text("pageToken").map(Text::from),
        history: number(query, "historyLength")?,
        after: text("statusTimestampAfter")
            .map(time)
            .transpose()
            .map_err(|invalid| invalid.under("statusTimestampAfter"))?,
        artifacts,
    };
    check_page(&list)?;
    Ok(list)
}
