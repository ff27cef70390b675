//! Plain words resolved by a program of your own: the hub asks it which skill is meant when no phrase and no full-text search decides it.
//! With a `models` entry in the configuration the hub asks that model instead.
//!
//! `cargo run -p interlingua --example own_advisor`

#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use std::sync::Arc;

use futures_util::future::BoxFuture;
use interlingua::config::{Overrides, without_file};
use interlingua::server::run::Server;
use interlingua_hub::advisor::Advisor;
use interlingua_hub::{Settings, Settled};
use interlingua_machines::llm::{Arguments, Broken, Prompt, Reply, Stop, ToolCall};
use interlingua_model::peer::{self, Calling, Dispatch, Peer};
use interlingua_model::{
    Ask, Call, CardFrom, Effects, Finished, Input, Origin, Output, Part, Principal, Proof, Provenance, Request, Schema,
    Skill, SkillId, SkillKind, Target, Transcript,
};

const NAME: &str = "rule-of-thumb";

/// Takes the last word for the text of a skill that does something backwards.
#[derive(Debug)]
struct RuleOfThumb;

impl Advisor for RuleOfThumb {
    fn has(&self, model: &str) -> bool {
        model == NAME
    }

    fn ask<'a>(&'a self, model: &'a str, prompt: Prompt) -> BoxFuture<'a, Option<Result<Reply, Broken>>> {
        Box::pin(async move {
            let said = prompt.messages.last()?.parts().iter().find_map(Part::as_text)?;
            let word = said.split_whitespace().next_back()?;
            let call = ToolCall {
                id: "1".into(),
                name: prompt.tools.iter().find(|tool| tool.description.contains("backwards"))?.name.clone(),
                args: Arguments::Object(serde_json::json!({ "text": word }).into()),
            };
            let reply =
                Reply { text: "".into(), reasoning: "".into(), calls: vec![call], stop: Stop::Tools, tokens: None };
            self.has(model).then_some(Ok(reply))
        })
    }
}

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
            Ok(peer::Reply::Done(Box::new(Finished::completed(output)), None))
        })
    }
}

fn mirror(now: interlingua_model::Time) -> interlingua_model::Card {
    let schema =
        serde_json::json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
    let id = SkillId::new("mirror", "reverse");
    let effects = Effects::reads_only(CardFrom::Configuration);
    let skill = Skill::new(id, SkillKind::Tool, "Says a text backwards.", Schema(schema.into()), effects);
    interlingua_tools::card("mirror".into(), "Mirror", "An example.", vec![skill], now)
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = std::env::temp_dir().join(format!("interlingua-own-advisor-{}", std::process::id()));
    let overrides =
        Overrides { listen: Some("127.0.0.1:0".parse()?), data: Some(data.clone()), ..Overrides::default() };
    let server = Server::start(&without_file(&overrides).map_err(|rejected| rejected.render())?.config).await?;
    server.hub.register(mirror(server.hub.now()), Arc::new(Mirror)).await?;
    server.hub.set_advisor(Arc::new(RuleOfThumb));
    let settings = Settings { model: Some(NAME.into()), ..Settings::clone(&server.hub.settings()) };
    server.hub.set_settings(settings);

    let ask = Ask::Invoke { target: Target::Words, input: Input::text("kindly flip stressed") };
    let call = Box::new(Call::new("own-advisor-1", Origin::program(), ask));
    let by = Principal::hub_owner(Proof::InProcess);
    let mut running = server.hub.open(Request { by, connection: 0, call }).await?;
    let settled = running.settle(&mut Transcript::default()).await?;
    let Settled::Finished(finished) = settled else { return Err("it asks something".into()) };
    let answer: String = finished.output.parts.iter().filter_map(Part::as_text).collect();
    println!("the hub says: {answer}");
    assert_eq!(answer, "desserts");
    drop(running);
    server.stop().await;
    std::fs::remove_dir_all(data)?;
    Ok(())
}
