//! A small, fast MCP server to put proxies in front of: one tool `say`, and as many more to list as one wants.
//!
//! It speaks 2026-07-28 without looking at a header, and knows enough of the revisions before to be initialized: it is there
//! to cost little and always the same, not to be right. It has no session and never streams.

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::post,
    serve::ListenerExt,
};
use clap::Parser;
use serde_json::{Value, json};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// An MCP server that echoes.
#[derive(Parser)]
struct Options {
    /// Where to listen.
    address: String,
    /// How many tools to list, `say` among them.
    #[arg(long, default_value_t = 1)]
    tools: usize,
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let options = Options::parse();
    let tools: Arc<Value> = Arc::new((0..options.tools).map(tool).collect());
    let listener = tokio::net::TcpListener::bind(&options.address).await?.tap_io(|stream| {
        // A socket that cannot be set up fails at its first use anyway.
        let _later = stream.set_nodelay(true);
    });
    axum::serve(listener, Router::new().route("/mcp", post(answer)).with_state(tools)).await
}

fn tool(number: usize) -> Value {
    let name = if number == 0 { "say".to_owned() } else { format!("tool_{number}") };
    let schema = json!({
        "type": "object",
        "properties": { "text": { "type": "string", "description": "what comes back" } },
        "required": ["text"],
    });
    json!({ "name": name, "description": format!("Tool {number}: says what it is told."), "inputSchema": schema })
}

async fn answer(State(tools): State<Arc<Value>>, Json(request): Json<Value>) -> Response {
    let Some(id) = request.get("id") else { return StatusCode::ACCEPTED.into_response() };
    let params = &request["params"];
    let listed = |key: &str, list: &Value| json!({ key: list, "resultType": "complete", "ttlMs": 60_000, "cacheScope": "public" });
    let result = match request["method"].as_str().unwrap_or_default() {
        "tools/call" => json!({
            "resultType": "complete",
            "content": [{ "type": "text", "text": params["arguments"]["text"] }],
        }),
        "tools/list" => listed("tools", &tools),
        "prompts/list" => listed("prompts", &json!([])),
        "resources/list" => listed("resources", &json!([])),
        "resources/templates/list" => listed("resourceTemplates", &json!([])),
        "ping" => json!({}),
        "server/discover" => json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} },
            "ttlMs": 60_000, "cacheScope": "public",
        }),
        "initialize" => json!({
            "protocolVersion": params["protocolVersion"], "capabilities": { "tools": {} },
            "serverInfo": { "name": "upstream", "version": "1" },
        }),
        _ => {
            let error = json!({ "code": -32601, "message": "no such method" });
            return (StatusCode::NOT_FOUND, Json(json!({ "jsonrpc": "2.0", "id": id, "error": error })))
                .into_response();
        }
    };
    Json(json!({ "jsonrpc": "2.0", "id": id, "result": result })).into_response()
}
