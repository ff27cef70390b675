//! A peer that takes its time: it asks its caller something, sends its answer in pieces and can be cancelled. A peer that
//! answers at once is in `embed.rs`.
//!
//! `cargo run -p interlingua --example own_peer`

#![allow(clippy::print_stdout, reason = "an example talks to its reader")]

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use interlingua::config::{Overrides, without_file};
use interlingua::server::run::Server;
use interlingua_hub::clock::Clock;
use interlingua_hub::{Settled, entropy};
use interlingua_model::peer::{Calling, Dispatch, Duplex, Peer, Reply};
use interlingua_model::{
    Addressee, Answer, Ask, Call, CardFrom, Channel, Effects, Event, Fault, FaultKind, Feature, Finished, Input, Json,
    KindSet, MessageId, Origin, Output, Part, Party, Piece, Principal, Proof, Provenance, Question, QuestionId,
    QuestionKind, Record, Request, Schema, Signal, Skill, SkillId, SkillKind, Target, Transcript,
};

/// Makes tea, once it knows which.
struct Kettle(Clock);

impl Peer for Kettle {
    fn call(self: Arc<Self>, dispatch: Dispatch) -> Calling {
        let form =
            serde_json::json!({"type": "object", "properties": {"tea": {"type": "string"}}, "required": ["tea"]});
        let question = Question {
            // The hub says how many questions this task has had: the next one has that number.
            id: QuestionId(dispatch.task, dispatch.asked),
            to: Addressee::Caller,
            kind: QuestionKind::Input { form: Schema(form.into()), choices: Vec::new() },
            text: "Which tea?".into(),
            asked_by: Party::Peer("kettle".into()),
            expires: self.0.now().after(std::time::Duration::from_secs(60)),
            resume: None,
            name: None,
        };
        let next = VecDeque::from([Event::Asked(question)]);
        Box::pin(async move { Ok(Reply::Live(Box::new(Brewing { next, over: false, reader: None }))) })
    }
}

/// One cup in the making. To drop it is to stop.
struct Brewing {
    next: VecDeque<Event>,
    over: bool,
    reader: Option<Waker>,
}

impl Brewing {
    fn tell(&mut self, events: impl IntoIterator<Item = Event>) {
        self.next.extend(events);
        self.over = true;
        self.reader.take().into_iter().for_each(Waker::wake);
    }
}

impl Duplex for Brewing {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Record>> {
        match self.next.pop_front() {
            Some(event) => Poll::Ready(Some(Record::emitted(event))),
            None if self.over => Poll::Ready(None),
            None => {
                self.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    fn signal(&mut self, signal: Signal) -> Result<(), Fault> {
        match signal {
            Signal::Answered { answer: Answer::Given(input), .. } => {
                let tea = input.args.as_ref().and_then(|args| args.get("tea")?.as_str()).unwrap_or("tea").to_owned();
                let message = MessageId::from("cup-1");
                let said = |piece, text: &str| Event::Said {
                    message: message.clone(),
                    channel: Channel::Answer,
                    piece,
                    parts: vec![Part::text(text, Provenance::peer("kettle".into()))],
                };
                // The outcome names the message that was the answer, so that nobody sends it twice.
                let output = Output { said: Some(message.clone()), ..Output::default() };
                let finished = Event::Finished(Finished::completed(output));
                self.tell([said(Piece::Delta, "A cup of "), said(Piece::End, &tea), finished]);
                Ok(())
            }
            Signal::Answered { .. } => {
                let none = Fault::caller(FaultKind::Unanswered, "no tea without knowing which");
                self.tell([Event::Finished(Finished::failed(none))]);
                Ok(())
            }
            Signal::Cancel(why) => {
                self.tell([Event::Finished(Finished::cancelled(Party::Caller, why))]);
                Ok(())
            }
            Signal::Said { .. } => {
                Err(Fault::caller(FaultKind::Unsupported(Feature::Operation), "a kettle takes no more input"))
            }
        }
    }
}

fn card(clock: Clock) -> interlingua_model::Card {
    let effects = Effects::reads_only(CardFrom::Configuration);
    let id = SkillId::new("kettle", "brew");
    let input = Schema(serde_json::json!({"type": "object"}).into());
    let skill = Skill::new(id, SkillKind::Tool, "Makes a cup of tea.", input, effects);
    interlingua_tools::card("kettle".into(), "Kettle", "An example.", vec![skill], clock.now())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = std::env::temp_dir().join(format!("interlingua-own-peer-{}", std::process::id()));
    let overrides =
        Overrides { listen: Some("127.0.0.1:0".parse()?), data: Some(data.clone()), ..Overrides::default() };
    let server = Server::start(&without_file(&overrides).map_err(|rejected| rejected.render())?.config).await?;
    let clock = server.hub.clock();
    server.hub.register(card(clock), Arc::new(Kettle(clock))).await?;

    let target = Target::Skill(SkillId::new("kettle", "brew"), None);
    let input = Input::args(Json::empty_object());
    let mut call = Box::new(Call::new("own-peer-1", Origin::program(), Ask::Invoke { target, input }));
    // Without this the call would be refused as soon as the peer asks: nobody could answer.
    call.caller.can_answer = KindSet::INPUT;
    let by = Principal::hub_owner(Proof::InProcess);
    let mut running = server.hub.open(Request { by: by.clone(), connection: 0, call }).await?;
    let mut transcript = Transcript::default();
    let Settled::Asked(question) = running.settle(&mut transcript).await? else { return Err("it asks first".into()) };
    println!("kettle/brew asks: {}", question.text);
    let answer = Answer::Given(Input::args(serde_json::json!({"tea": "Darjeeling"}).into()));
    let signal = Signal::Answered { question: question.id, message: entropy::message_id(), answer };
    server.hub.signal(by, running.id(), signal).await?;
    let Settled::Finished(finished) = running.settle(&mut transcript).await? else { return Err("it ends then".into()) };
    let answer: String = finished.output.parts.iter().filter_map(Part::as_text).collect();
    println!("kettle/brew says: {answer}");
    assert_eq!(answer, "A cup of Darjeeling");
    drop(running);
    server.stop().await;
    std::fs::remove_dir_all(data)?;
    Ok(())
}
