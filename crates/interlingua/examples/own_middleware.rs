//! Your own middleware, and your own kind of message, in the protocol that devices speak (AIP).
//!
//! `cargo run -p interlingua --example own_middleware`
//!
//! Middleware sees every frame and may change or stop it. A kind that the protocol does not have is answered by a function here;
//! `aip: { messages: { weather: peer/skill } }` in the configuration does it by a skill, without Rust. Calls of any protocol are
//! seen by hooks, which are programs or addresses: examples/hooks.

#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use interlingua::config::{Overrides, without_file};
use interlingua::server::run::Server;
use interlingua_aip::layers::{Chain, Handlers, Middleware};
use interlingua_aip::wire::{ClientMessage, ServerMessage};
use interlingua_aip::{Extensions, Foreign};
use interlingua_model::{Fault, FaultKind};
use interlingua_testkit::WebSocket;
use serde_json::json;

/// Counts what comes in, and stops tasks that nobody should ask for.
struct Gate(Arc<AtomicUsize>);

impl Middleware<ServerMessage, ClientMessage> for Gate {
    fn outgoing(&self, frame: ServerMessage) -> Result<ServerMessage, Fault> {
        Ok(frame)
    }

    fn incoming(&self, frame: ClientMessage) -> Result<ClientMessage, Fault> {
        self.0.fetch_add(1, Ordering::Relaxed);
        match frame.request.as_deref() {
            Some("shut down") => Err(Fault::caller(FaultKind::Denied, "not while I watch")),
            Some(_) | None => Ok(frame),
        }
    }
}

fn extensions(seen: &Arc<AtomicUsize>) -> Extensions {
    Extensions {
        middleware: Chain::default().with(Gate(seen.clone())),
        kinds: Handlers::default().on("weather", |foreign: &Foreign| {
            let city = foreign.frame.members().text("city").unwrap_or_default().into_owned();
            Ok(Some(json!({"city": city, "sunny": true}).into()))
        }),
        ..Extensions::default()
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = std::env::temp_dir().join(format!("interlingua-own-middleware-{}", std::process::id()));
    let overrides =
        Overrides { listen: Some("127.0.0.1:0".parse()?), data: Some(data.clone()), ..Overrides::default() };
    let server = Server::start(&without_file(&overrides).map_err(|rejected| rejected.render())?.config).await?;
    let seen = Arc::default();
    server.endpoints.aip.0.own.extend(extensions(&seen));

    // A device, frame by frame, that comes in as the Owner does: by the token in the data directory.
    let token = std::fs::read_to_string(data.join("token"))?;
    let mut device = WebSocket::open_with(server.address, "/ws", Some(&token)).await;
    let register = json!({"type": "register", "status": "ok", "client_id": "thermometer", "client_type": "device"});
    device.send_text(register.to_string()).await;
    println!("hub:    {}", device.next_json().await["type"]);
    let question = json!({"type": "weather", "status": "ok", "request_id": "w-1", "city": "Oslo"});
    device.send_text(question.to_string()).await;
    let mut answer = device.next_json().await;
    while answer["type"] != "weather" {
        answer = device.next_json().await;
    }
    println!("hub:    {}", answer["result"]);
    assert_eq!(answer["result"], json!({"city": "Oslo", "sunny": true}));
    assert!(seen.load(Ordering::Relaxed) > 0);
    drop(device);
    server.stop().await;
    std::fs::remove_dir_all(data)?;
    Ok(())
}
