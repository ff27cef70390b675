//! AIP devices that are measured with: each registers and then beats, works off the commands of its own tasks, or only stays.
//!
//! `beat` and `command` print `START` when the warm-up is over and one line of JSON at the end, as the other load generator
//! does; a round trip is a heartbeat and its answer, or the results of a command and the next one. `hold` prints how many
//! devices there are and stays until its input ends; a process of its own, because descriptors are limited for each.

use std::error::Error;
use std::time::{Duration, Instant};

use bytes::Bytes;
use clap::{Parser, ValueEnum};
use futures_util::{SinkExt, StreamExt};
use interlingua_bench::{Seen, report, say};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_websockets::{ClientBuilder, MaybeTlsStream, Message, WebSocketStream};

type Failure = Box<dyn Error + Send + Sync>;
type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// An answer that takes longer is an error.
const PATIENCE: Duration = Duration::from_secs(60);
/// How many commands one task has.
const COMMANDS: usize = 50;
/// How many connections are opened at once.
const OPENING: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    Beat,
    Command,
    Hold,
}

/// Devices.
#[derive(Parser, Debug, Clone)]
struct Options {
    #[arg(value_enum)]
    what: What,
    /// The server, as ws://host:port/path.
    #[arg(long)]
    url: String,
    #[arg(long, default_value_t = 1)]
    connections: usize,
    /// What the ids of the devices begin with.
    #[arg(long, default_value = "device")]
    id: String,
    /// How long to measure.
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// How long to send before measuring.
    #[arg(long, default_value_t = 1.0)]
    warm: f64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let options = Options::parse();
    match options.what {
        What::Beat | What::Command => measured(options).await,
        What::Hold => held(options).await,
    }
}

async fn measured(options: Options) -> Result<(), Failure> {
    let mut devices = Vec::new();
    for number in 0..options.connections {
        devices.push(Device::open(&options, number).await?);
    }
    let begin = Instant::now() + Duration::from_secs_f64(options.warm);
    let end = begin + Duration::from_secs_f64(options.seconds);
    let mut running = JoinSet::new();
    for device in devices {
        running.spawn(device.until(options.what, begin, end));
    }
    running.spawn(async move {
        tokio::time::sleep_until(begin.into()).await;
        say("START");
        Seen::default()
    });
    let seen = running.join_all().await;
    say(&report(begin.elapsed(), seen, 0));
    Ok(())
}

/// Many devices that say nothing but answer pings.
async fn held(options: Options) -> Result<(), Failure> {
    let gate = std::sync::Arc::new(Semaphore::new(OPENING));
    let mut opening = JoinSet::new();
    for number in 0..options.connections {
        let (options, gate) = (options.clone(), gate.clone());
        opening.spawn(async move {
            let _place = gate.acquire().await?;
            Device::open(&options, number).await
        });
    }
    let mut staying = JoinSet::new();
    let mut count = 0;
    while let Some(opened) = opening.join_next().await {
        let mut device = opened??;
        count += 1;
        staying.spawn(async move { while let Some(Ok(_)) = device.socket.next().await {} });
    }
    say(&count.to_string());
    let mut rest = Vec::new();
    tokio::io::stdin().read_to_end(&mut rest).await?;
    Ok(())
}

struct Device {
    socket: Socket,
    beat: Bytes,
    task: Bytes,
}

impl Device {
    async fn open(options: &Options, number: usize) -> Result<Device, Failure> {
        let id = format!("{}-{number}", options.id);
        let (mut socket, _) = ClientBuilder::new().uri(&options.url)?.connect().await?;
        let text = |value: Value| Bytes::from(value.to_string());
        let register = json!({
            "type": "register", "status": "ok", "client_type": "device", "client_id": id,
            "metadata": {"platform": "linux", "system_info": {"device_id": id, "platform": "linux", "cpu_count": 2}},
        });
        let batches: Vec<Value> = (0..COMMANDS).map(|n| json!([{ "tool_name": "look", "parameters": {"n": n} }])).collect();
        socket.send(Message::text(text(register))).await?;
        let mut device = Device {
            socket,
            beat: text(json!({"type": "heartbeat", "status": "ok", "client_type": "device", "client_id": id})),
            task: text(json!({
                "type": "task", "status": "continue", "client_type": "device", "client_id": id, "task_name": "bench",
                "request": Value::Array(batches).to_string(),
            })),
        };
        device.hear().await?;
        Ok(device)
    }

    /// The next text frame.
    async fn hear(&mut self) -> Result<Bytes, Failure> {
        let next = async {
            while let Some(message) = self.socket.next().await {
                let message = message?;
                if message.is_text() {
                    return Ok(message.into_payload().into());
                }
            }
            Err("the connection was closed".into())
        };
        timeout(PATIENCE, next).await.unwrap_or_else(|_| Err("no answer in time".into()))
    }

    async fn until(mut self, what: What, begin: Instant, end: Instant) -> Seen {
        let mut seen = Seen::default();
        while Instant::now() < end {
            let outcome = match what {
                What::Command => self.work(begin, &mut seen).await,
                What::Beat | What::Hold => self.pulse(begin, &mut seen).await,
            };
            if let Err(error) = outcome {
                return Seen::failed(error);
            }
        }
        seen
    }

    async fn pulse(&mut self, begin: Instant, seen: &mut Seen) -> Result<(), Failure> {
        let started = Instant::now();
        self.socket.send(Message::text(self.beat.clone())).await?;
        let answer = self.hear().await?;
        // Not at its beginning: the floor gives back what was sent, whose members stand in another order than the hub's.
        let text = std::str::from_utf8(&answer)?;
        if !text.contains(r#""type":"heartbeat""#) {
            return Err(text.to_owned().into());
        }
        if started >= begin {
            seen.note(started, Ok::<(), Failure>(()));
        }
        Ok(())
    }

    /// One task, all its commands, and its end.
    async fn work(&mut self, begin: Instant, seen: &mut Seen) -> Result<(), Failure> {
        self.socket.send(Message::text(self.task.clone())).await?;
        let mut started = Instant::now();
        loop {
            let frame: Value = serde_json::from_slice(&self.hear().await?)?;
            match frame["type"].as_str() {
                Some("heartbeat") => {}
                Some("command") => {
                    if started >= begin {
                        seen.note(started, Ok::<(), Failure>(()));
                    }
                    let results: Vec<Value> = frame["actions"]
                        .as_array()
                        .into_iter()
                        .flatten()
                        .map(|action| json!({"status": "success", "result": {"seen": true}, "call_id": action["call_id"]}))
                        .collect();
                    let answer = json!({
                        "type": "command_results", "status": "continue", "session_id": frame["session_id"],
                        "prev_response_id": frame["response_id"], "action_results": results,
                    });
                    started = Instant::now();
                    self.socket.send(Message::text(answer.to_string())).await?;
                }
                Some("task_end") if frame["status"] == "completed" => return Ok(()),
                Some(_) | None => return Err(frame.to_string().into()),
            }
        }
    }
}
