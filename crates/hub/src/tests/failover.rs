//! Several peers of one capability: exactly the approved call is dispatched, and a call that may have begun is not begun elsewhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use interlingua_model::peer::{Calling, Dispatch, Peer, Reply};
use interlingua_model::*;
use serde_json::json;

use super::{Bench, Script, asked, bench, call, card, outcome, owner, request};

/// What one of the peers does when it is called.
#[derive(Clone, Copy, PartialEq)]
enum Does {
    Answers,
    CannotBeReached,
    /// It ends its request with a question, and is gone when the answer comes.
    AsksAndLeaves,
}

struct Line {
    does: Does,
    calls: AtomicUsize,
}

impl Peer for Line {
    fn call(self: Arc<Self>, dispatch: Dispatch) -> Calling {
        Box::pin(async move {
            let gone = || {
                let wait = Retry::After(Some(Duration::from_secs(1)));
                Err(Fault::hub(FaultKind::Unreachable, "nobody there").retry(wait))
            };
            match self.does {
                Does::CannotBeReached => gone(),
                Does::AsksAndLeaves if dispatch.answering.is_some() => gone(),
                Does::AsksAndLeaves => {
                    let ended = Record::Sent(Sent::learnt(dispatch.key.clone(), None, false));
                    let question = Record::emitted(Event::Asked(which(dispatch.task)));
                    Ok(Reply::Live(Box::new(Script([ended, question].into()))))
                }
                Does::Answers => {
                    self.calls.fetch_add(1, Ordering::SeqCst);
                    Ok(Reply::Done(Box::new(Finished::completed(Output::default())), None))
                }
            }
        })
    }
}

fn which(task: TaskId) -> Question {
    Question {
        id: QuestionId(task, 0),
        to: Addressee::Caller,
        kind: QuestionKind::Input { form: Schema(Json::empty_object()), choices: Vec::new() },
        text: "which one?".into(),
        asked_by: Party::Peer("zeta".into()),
        expires: Time(u64::MAX),
        resume: None,
        name: None,
    }
}

/// A peer with the skill `pay`. Among equals the last by name is the first choice.
fn peer(bench: &Bench, name: &str, does: Does, effects: Effects) -> Arc<Line> {
    let line = Arc::new(Line { does, calls: AtomicUsize::new(0) });
    let schema = Schema(json!({"type": "object"}).into());
    let skill = Skill::new(SkillId::new(name, "pay"), SkillKind::Tool, "pay", schema, effects);
    let card = Card { peer: name.into(), skills: vec![skill], ..card() };
    bench.hub.registry.register(card, line.clone()).expect("registers");
    line
}

fn reads() -> Effects {
    Effects::reads_only(CardFrom::Configuration)
}

fn destroys() -> Effects {
    Effects { destroys: true, writes: true, idempotent: false, ..reads() }
}

fn pay() -> Box<Call> {
    let mut call = call("echo", json!({}));
    call.ask = Ask::Invoke { target: Target::Capability("pay".into()), input: Input::args(Json::empty_object()) };
    call
}

fn calls(line: &Line) -> usize {
    line.calls.load(Ordering::SeqCst)
}

#[tokio::test]
async fn the_peer_that_was_asked_about_is_called_though_a_better_one_came_meanwhile() {
    let bench = bench();
    let alpha = peer(&bench, "alpha", Does::Answers, destroys());
    let beta = peer(&bench, "beta", Does::Answers, destroys());
    let mut running = bench.hub.open(request(pay())).await.expect("opens");
    let question = asked(&mut running).await;
    assert!(question.text.contains("beta/pay"), "{}", question.text);
    let gamma = peer(&bench, "gamma", Does::Answers, destroys());
    bench.hub.answer(owner(), question.id, Answer::Granted).await.expect("approved");
    assert_eq!(outcome(&mut running).await.outcome, Outcome::Completed);
    assert_eq!((calls(&alpha), calls(&beta), calls(&gamma)), (0, 1, 0));
}

#[tokio::test]
async fn what_a_peer_asked_about_and_left_is_begun_nowhere_else() {
    let bench = bench();
    let alpha = peer(&bench, "alpha", Does::Answers, reads());
    peer(&bench, "zeta", Does::AsksAndLeaves, reads());
    let mut running = bench.hub.open(request(pay())).await.expect("opens");
    let question = asked(&mut running).await;
    bench.hub.answer(owner(), question.id, Answer::Given(Input::text("the blue one"))).await.expect("answered");
    let Outcome::Failed(fault) = outcome(&mut running).await.outcome else { panic!("it has begun at zeta") };
    assert_eq!((fault.kind, calls(&alpha)), (FaultKind::Unreachable, 0));
}

#[tokio::test]
async fn another_peer_whose_skill_must_be_kept_is_called_once_it_is() {
    let bench = bench();
    let writes = Effects { writes: true, idempotent: false, ..reads() };
    let alpha = peer(&bench, "alpha", Does::Answers, writes);
    peer(&bench, "zeta", Does::CannotBeReached, reads());
    let again = || {
        let mut call = pay();
        (call.id, call.id_given) = ("m-1".into(), true);
        request(call)
    };
    for _ in 0..2 {
        let mut running = bench.hub.open(again()).await.expect("opens");
        assert_eq!(outcome(&mut running).await.outcome, Outcome::Completed);
        assert!(running.is_kept());
    }
    assert_eq!(calls(&alpha), 1, "sent again under its id it is the same call");
}

#[tokio::test]
async fn a_no_to_the_next_peer_is_a_no() {
    let bench = bench();
    let alpha = peer(&bench, "alpha", Does::Answers, reads());
    let beta = peer(&bench, "beta", Does::Answers, destroys());
    peer(&bench, "zeta", Does::CannotBeReached, reads());
    let mut running = bench.hub.open(request(pay())).await.expect("opens");
    let question = asked(&mut running).await;
    assert!(question.text.contains("beta/pay"), "{}", question.text);
    bench.hub.answer(owner(), question.id, Answer::Declined).await.expect("declined");
    let Outcome::Failed(fault) = outcome(&mut running).await.outcome else { panic!("a person said no") };
    assert_eq!((fault.kind, calls(&alpha), calls(&beta)), (FaultKind::Denied, 0, 0));
}
