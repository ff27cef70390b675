//! Your own protocol: lines of text over TCP. One decoder into the model, one encoder out of it, and the hub's entry point between them;
//! nothing here knows which peer answers, or how it is reached. The hub knows it as a `Protocol`, which one line of `main` adds. A protocol
//! that is part of the program has its line in `crates/interlingua/src/protocols.rs`, where it may have a section of the configuration and
//! peers, too.
//!
//! `cargo run -p interlingua --example own_protocol`
//!
//!     hub/echo {"text": "hello"}      a skill and its arguments
//!     ok hello                        or: error WORD TEXT; ask TEXT

#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use std::sync::Arc;

use axum::Router;
use interlingua::config::{Overrides, without_file};
use interlingua::server::run::Server;
use interlingua_endpoint::Shared;
use interlingua_endpoint::protocol::Protocol;
use interlingua_hub::{Hub, Settled, entropy};
use interlingua_model::{
    Ask, Call, Fault, FaultKind, Finished, Input, Json, Outcome, Part, Principal, Proof, Request, SkillId, Target,
    Transcript, Wire,
};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// No line is longer: what comes from outside has a bound.
const LONGEST: u64 = 64 * 1024;

/// `PEER/SKILL {…}`.
fn decode(line: &str) -> Result<Call, Fault> {
    let bad = |text: String| Fault::caller(FaultKind::Malformed, text);
    let (skill, args) = line.trim().split_once(' ').unwrap_or((line.trim(), "{}"));
    let skill: SkillId = skill.parse().map_err(|_| bad("a line begins with PEER/SKILL".into()))?;
    let args = Json::parse(args.to_owned().into()).map_err(|wrong| bad(wrong.to_string()))?;
    let ask = Ask::Invoke { target: Target::Skill(skill, None), input: Input::args(args) };
    // What it came by, for rules, counting and the audit.
    Ok(Call::new(entropy::message_id(), Wire("lines".into()), ask))
}

/// How an exchange ended, as a line. What has no word here would be a loss: this wire has none for artifacts.
fn encode(finished: &Finished) -> String {
    match &finished.outcome {
        Outcome::Completed => {
            let texts: Vec<&str> = finished.output.parts.iter().filter_map(Part::as_text).collect();
            format!("ok {}", texts.join(" "))
        }
        Outcome::Failed(fault) => refused(fault),
        Outcome::Cancelled { .. } => "error cancelled it was cancelled".into(),
    }
}

fn refused(fault: &Fault) -> String {
    format!("error {} {}", fault.kind.as_str(), fault.public)
}

/// One line, through the door. To drop `running` before its end is to leave: the call is cancelled then.
async fn answer(hub: &Arc<Hub>, by: &Principal, line: &str) -> Result<String, Fault> {
    let call = Box::new(decode(line)?);
    let mut running = hub.open(Request { by: by.clone(), connection: 0, call }).await?;
    Ok(match running.settle(&mut Transcript::default()).await? {
        Settled::Finished(finished) => encode(&finished),
        Settled::Asked(question) => format!("ask {}", question.text),
    })
}

async fn converse(hub: Arc<Hub>, stream: TcpStream) -> std::io::Result<()> {
    // A real protocol says how it knows who asks. Whoever reaches this machine's loopback is its owner here.
    let by = Principal::hub_owner(Proof::InProcess);
    let mut stream = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if (&mut stream).take(LONGEST).read_line(&mut line).await? == 0 {
            return Ok(());
        }
        let said = answer(&hub, &by, &line).await.unwrap_or_else(|fault| refused(&fault));
        stream.write_all(format!("{}\n", said.replace('\n', " ")).as_bytes()).await?;
    }
}

/// The protocol as the hub sees it.
#[derive(Debug)]
struct Lines {
    hub: Arc<Hub>,
    listener: Arc<TcpListener>,
}

impl Lines {
    fn open(shared: &Arc<Shared>, listener: TcpListener) -> Arc<dyn Protocol> {
        Arc::new(Lines { hub: shared.hub.clone(), listener: Arc::new(listener) })
    }
}

impl Protocol for Lines {
    fn name(&self) -> &'static str {
        "lines"
    }

    /// One over HTTP would say its paths here; the hub listens for it then.
    fn routes(&self) -> Router {
        Router::new()
    }

    fn start(&self) {
        self.hub.supervisor().run_until_stop(accept(self.hub.clone(), self.listener.clone()));
    }
}

async fn accept(hub: Arc<Hub>, listener: Arc<TcpListener>) {
    while let Ok((stream, _)) = listener.accept().await {
        let talking = hub.clone();
        hub.supervisor().run_until_stop(async move {
            let _ = converse(talking, stream).await;
        });
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = std::env::temp_dir().join(format!("interlingua-own-protocol-{}", std::process::id()));
    let overrides =
        Overrides { listen: Some("127.0.0.1:0".parse()?), data: Some(data.clone()), ..Overrides::default() };
    let config = without_file(&overrides).map_err(|rejected| rejected.render())?.config;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let server = Server::start_with(&config, |shared| vec![Lines::open(shared, listener)]).await?;

    let mut caller = BufReader::new(TcpStream::connect(address).await?);
    for (line, expected) in [
        ("hub/echo {\"text\": \"hello\"}", "ok hello"),
        ("nobody/knows", "error not_found"),
        ("what?", "error malformed a line begins with PEER/SKILL"),
    ] {
        caller.write_all(format!("{line}\n").as_bytes()).await?;
        let mut answer = String::new();
        caller.read_line(&mut answer).await?;
        println!("{line}\n    {}", answer.trim_end());
        assert!(answer.starts_with(expected), "{answer}");
    }
    drop(caller);
    server.stop().await;
    std::fs::remove_dir_all(data)?;
    Ok(())
}
