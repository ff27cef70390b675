//! The hub as an MCP server, over real sockets, in both eras.

mod hub_tools;
mod kept;
mod legacy;
mod lists;
mod modern;
mod questions;
mod stdio;

use http::Method;
use interlingua_testkit::{Answer, Hub};
use serde_json::{Value, json};

use crate::support::send;

pub(crate) const MODERN: &str = "2026-07-28";

/// `_meta` of a modern request.
pub(crate) fn meta(capabilities: Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    })
}

/// A modern request with its headers as they must be.
pub(crate) struct Modern<'a> {
    pub(crate) hub: &'a Hub,
    pub(crate) path: &'a str,
    pub(crate) capabilities: Value,
    pub(crate) headers: Vec<(&'a str, &'a str)>,
}

impl<'a> Modern<'a> {
    pub(crate) fn new(hub: &'a Hub) -> Modern<'a> {
        Modern { hub, path: "/mcp", capabilities: json!({}), headers: Vec::new() }
    }

    pub(crate) fn body(&self, method: &str, mut params: Value) -> Value {
        params["_meta"] = meta(self.capabilities.clone());
        json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
    }

    pub(crate) async fn ask(&self, method: &str, params: Value) -> Answer {
        let name = ["name", "uri", "taskId"].iter().find_map(|key| params[*key].as_str()).map(str::to_owned);
        let mut headers = vec![("mcp-protocol-version", MODERN), ("mcp-method", method)];
        if let Some(name) = &name {
            headers.push(("mcp-name", name));
        }
        headers.extend(&self.headers);
        send(self.hub, Method::POST, self.path, &headers, Some(self.body(method, params))).await
    }

    /// The result of a request that succeeds.
    pub(crate) async fn result(&self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let message = last_message(&answer);
        assert_eq!(message["id"], 7, "{message}");
        message["result"].clone()
    }

    pub(crate) async fn call(&self, name: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({"name": name, "arguments": arguments})).await
    }
}

/// The response itself, whether it came as JSON or at the end of a stream.
pub(crate) fn last_message(answer: &Answer) -> Value {
    messages(answer).pop().unwrap_or_else(|| panic!("no message: {}", answer.text()))
}

/// All messages of an answer.
pub(crate) fn messages(answer: &Answer) -> Vec<Value> {
    if answer.header("content-type") == Some("application/json") {
        return vec![answer.json()];
    }
    let data = |block: &str| {
        let lines: Vec<&str> = block.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim).collect();
        lines.join("\n")
    };
    let text = answer.text();
    let blocks = text.split("\n\n").map(data).filter(|data| !data.is_empty());
    blocks.map(|data| serde_json::from_str(&data).expect("JSON")).collect()
}

/// The code of an error response, and its status.
pub(crate) fn error(answer: &Answer) -> (u16, i64) {
    (answer.status, last_message(answer)["error"]["code"].as_i64().unwrap_or_default())
}

/// A session of the legacy era.
pub(crate) struct Session<'a> {
    pub(crate) hub: &'a Hub,
    pub(crate) id: String,
    pub(crate) version: String,
    pub(crate) begun: Value,
}

impl<'a> Session<'a> {
    pub(crate) async fn begin(hub: &'a Hub, version: &str, capabilities: Value) -> Session<'a> {
        let params = json!({"protocolVersion": version, "capabilities": capabilities, "clientInfo": {"name": "t", "version": "1"}});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
        let answer = send(hub, Method::POST, "/mcp", &[], Some(body)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let id = answer.header("mcp-session-id").expect("a session").to_owned();
        let begun = answer.json()["result"].clone();
        let version = begun["protocolVersion"].as_str().expect("a version").to_owned();
        let session = Session { hub, id, version, begun };
        let done = session.post(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        assert_eq!(done.status, 202, "{}", done.text());
        session
    }

    pub(crate) fn headers(&self) -> [(&str, &str); 2] {
        [("mcp-session-id", &self.id), ("mcp-protocol-version", &self.version)]
    }

    pub(crate) async fn post(&self, body: Value) -> Answer {
        send(self.hub, Method::POST, "/mcp", &self.headers(), Some(body)).await
    }

    pub(crate) async fn ask(&self, method: &str, params: Value) -> Answer {
        self.post(json!({"jsonrpc": "2.0", "id": 9, "method": method, "params": params})).await
    }

    pub(crate) async fn result(&self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        last_message(&answer)["result"].clone()
    }
}
