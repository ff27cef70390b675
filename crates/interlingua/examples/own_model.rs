//! Your own model: anything that turns a prompt into events can drive an agent, which is then a peer like any other.
//!
//! `cargo run -p interlingua --example own_model`
//!
//! A model that is a program of its own needs no Rust: let it speak as OpenAI's does, and name its address (`base_url`).

#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use std::sync::Arc;
use std::task::{Context, Poll};

use interlingua::config::{Overrides, without_file};
use interlingua::server::run::Server;
use interlingua_agents::{Recruit, enlist};
use interlingua_hub::Settled;
use interlingua_machines::llm::{Event, Model, Prompt, Speaking, Speech, Stop};
use interlingua_model::{Ask, Call, Input, Part, Principal, Proof, Request, SkillId, Target, Transcript};

/// Counts the words it was told.
struct Counter;

impl Model for Counter {
    fn speak(self: Arc<Self>, prompt: Prompt) -> Speech {
        let last = prompt.messages.last().map(|message| message.parts()).unwrap_or_default();
        let words: usize = last.iter().filter_map(Part::as_text).map(|text| text.split_whitespace().count()).sum();
        // Pieces of the answer as they come, then the mark that it is whole.
        let events = vec![Event::Text(format!("Those were {words} ").into()), Event::Text("words.".into())];
        Box::new(Answer(events.into_iter().chain([Event::End(Stop::Done)]).collect::<Vec<_>>().into_iter()))
    }
}

struct Answer(std::vec::IntoIter<Event>);

impl Speaking for Answer {
    fn poll_next(&mut self, _: &mut Context<'_>) -> Poll<Option<Event>> {
        Poll::Ready(self.0.next())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = std::env::temp_dir().join(format!("interlingua-own-model-{}", std::process::id()));
    let overrides =
        Overrides { listen: Some("127.0.0.1:0".parse()?), data: Some(data.clone()), ..Overrides::default() };
    let config = without_file(&overrides).map_err(|rejected| rejected.render())?.config;
    let server = Server::start(&config).await?;
    let recruit = Recruit { name: "counter".to_owned(), instructions: "Count.".to_owned(), skills: Vec::new() };
    enlist(&server.hub, server.call_router(), recruit, Arc::new(Counter)).await?;

    let target = Target::Skill(SkillId::new("counter", "chat"), None);
    let call = Box::new(Call::new(
        "own-model-1",
        interlingua_model::Origin::program(),
        Ask::Invoke { target, input: Input::text("to be or not to be") },
    ));
    let by = Principal::hub_owner(Proof::InProcess);
    let mut running = server.hub.open(Request { by, connection: 0, call }).await?;
    let settled = running.settle(&mut Transcript::default()).await?;
    let Settled::Finished(finished) = settled else { return Err("it asks something".into()) };
    let answer: String = finished.output.parts.iter().filter_map(Part::as_text).collect();
    assert_eq!(answer, "Those were 6 words.");
    println!("counter/chat says: {answer}");
    drop(running);
    server.stop().await;
    std::fs::remove_dir_all(data)?;
    Ok(())
}
