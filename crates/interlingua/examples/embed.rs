//! A hub inside a program of your own: start it from a configuration, add a peer written in Rust, call it.
//!
//! `cargo run -p interlingua --example embed`

#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use std::sync::Arc;

use interlingua::config::{Config, Overrides, without_file};
use interlingua::server::run::Server;
use interlingua_hub::Settled;
use interlingua_model::peer::{Calling, Dispatch, Peer, Reply};
use interlingua_model::{
    Ask, Call, CardFrom, Effects, Finished, Input, Output, Part, Principal, Proof, Provenance, Request, Schema, Skill,
    SkillId, SkillKind, Target, Transcript,
};

/// Says a text backwards.
struct Mirror;

impl Peer for Mirror {
    fn call(self: Arc<Self>, dispatch: Dispatch) -> Calling {
        Box::pin(async move {
            let args = dispatch.call.input().and_then(|input| input.args.as_ref());
            let text = args.and_then(|args| args.get("text")?.as_str()).unwrap_or_default();
            let mirrored: String = text.chars().rev().collect();
            let output =
                Output { parts: vec![Part::text(mirrored, Provenance::peer("mirror".into()))], ..Output::default() };
            Ok(Reply::Done(Box::new(Finished::completed(output)), None))
        })
    }
}

fn mirror() -> interlingua_model::Card {
    let schema =
        serde_json::json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    let effects = Effects::reads_only(CardFrom::Configuration);
    let id = SkillId::new("mirror", "reverse");
    let skill = Skill::new(id, SkillKind::Tool, "Says a text backwards.", Schema(schema.into()), effects);
    let now = interlingua_hub::clock::Clock::start().now();
    interlingua_tools::card("mirror".into(), "Mirror", "An example.", vec![skill], now)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = std::env::temp_dir().join(format!("interlingua-embed-{}", std::process::id()));
    let overrides =
        Overrides { listen: Some("127.0.0.1:0".parse()?), data: Some(data.clone()), ..Overrides::default() };
    let config: Config = without_file(&overrides).map_err(|rejected| rejected.render())?.config;
    let server = Server::start(&config).await?;
    server.hub.register(mirror(), Arc::new(Mirror)).await?;

    let target = Target::Skill(SkillId::new("mirror", "reverse"), None);
    let input = Input::args(serde_json::json!({"text": "interlingua"}).into());
    let call = Box::new(Call::new("embed-1", interlingua_model::Origin::program(), Ask::Invoke { target, input }));
    let by = Principal::hub_owner(Proof::InProcess);
    let mut running = server.hub.open(Request { by, connection: 0, call }).await?;
    if let Settled::Finished(finished) = running.settle(&mut Transcript::default()).await? {
        let answer = finished.output.parts.iter().find_map(Part::as_text).unwrap_or_default();
        assert_eq!(answer, "augnilretni");
        println!("mirror/reverse says: {answer}");
    }
    drop(running);
    server.stop().await;
    std::fs::remove_dir_all(data)?;
    Ok(())
}
