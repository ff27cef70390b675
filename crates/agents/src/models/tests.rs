use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use interlingua_machines::llm::{
    Arguments, Backoff, Event, FailureKind, Manners, Message, Pace, Patience, Prompt, Stop, Tokens,
};
use interlingua_model::{Part, Provenance};

use super::{BadScript, Gate, Scripted, ask};

fn prompt(words: &str) -> Prompt {
    Prompt {
        system: "".into(),
        messages: vec![Arc::new(Message::User(vec![Part::text(words, Provenance::caller())]))],
        tools: Vec::new(),
        max_tokens: None,
        output: None,
    }
}

fn scripted(yaml: &str) -> Arc<Scripted> {
    Arc::new(Scripted::parse(yaml).expect("a script"))
}

/// Attempts follow each other at once.
fn hasty() -> Manners {
    let backoff = Backoff { base: Duration::from_millis(1), ..Backoff::default() };
    Manners { backoff, ..Manners::default() }
}

const WEATHER: &str = r#"
replies:
  - when: weather
    call: [{ name: weather__today, arguments: { city: Paris, days: [1, 2.5, true, null] } }]
  - say: It is raining in Paris.
  - events:
      - text: "Let me "
      - reasoning: hm
      - tool: { slot: 0, id: c1, name: search__web, piece: '{"q": ' }
      - tool: { slot: 0, piece: '"rain"}' }
      - wait: 5
      - usage: { read: 120, written: 14 }
      - end: tools
"#;

#[tokio::test]
async fn a_script_in_yaml_is_played_as_a_model() {
    let model = scripted(WEATHER);
    let mut heard = Vec::new();
    let reply = ask(model.clone(), prompt("hello"), hasty(), |event| heard.push(event.clone())).await.expect("whole");
    assert_eq!((&*reply.text, reply.stop), ("It is raining in Paris.", Stop::Done));
    assert_eq!(heard.first(), Some(&Event::Text("It ".into())), "in the pieces it was said in");

    let reply = ask(model.clone(), prompt("What weather?"), hasty(), |_| ()).await.expect("whole");
    let Arguments::Object(args) = &reply.calls[0].args else { panic!("{reply:?}") };
    assert_eq!(args.tree(), &serde_json::json!({"city": "Paris", "days": [1, 2.5, true, null]}));

    let reply = ask(model.clone(), prompt("go on"), hasty(), |_| ()).await.expect("whole");
    assert_eq!(reply.tokens, Some(Tokens { read: 120, written: 14 }));
    assert_eq!(reply.calls[0].args, Arguments::Object(serde_json::json!({"q": "rain"}).into()));

    let broken = ask(model, prompt("and then?"), hasty(), |_| ()).await.expect_err("used up");
    assert_eq!(broken.failure.kind, FailureKind::Refused);
}

#[tokio::test]
async fn what_passes_is_asked_again_and_what_was_heard_is_not() {
    let model = scripted(
        "replies: [{ events: [{ fail: { status: 503 } }] }, { events: [{ usage: { read: 1, written: 0 } }] }, { say: Hello }]",
    );
    let reply = ask(model, prompt("hi"), hasty(), |_| ()).await.expect("the third attempt");
    assert_eq!(&*reply.text, "Hello");

    let model = scripted("replies: [{ events: [{ text: 'It is ' }] }, { say: Hello }]");
    let broken = ask(model, prompt("hi"), hasty(), |_| ()).await.expect_err("cut");
    assert_eq!((broken.failure.kind, &*broken.text), (FailureKind::Cut, "It is "));
}

#[tokio::test]
async fn a_silent_model_is_given_up() {
    let patience =
        Patience { first: Duration::from_secs(60), gap: Duration::from_millis(10), whole: Duration::from_secs(60) };
    let model = scripted("replies: [{ events: [{ text: 'It is ' }, { wait: 600000 }, { end: done }] }]");
    let broken = ask(model, prompt("hi"), Manners { patience, ..hasty() }, |_| ()).await.expect_err("slow");
    assert_eq!((broken.failure.kind, &*broken.text), (FailureKind::Slow, "It is "));
}

#[test]
fn a_file_that_is_no_script_says_where() {
    let Err(BadScript::Malformed(why)) = Scripted::parse("replies:\n  - sya: Hello\n") else { panic!("taken") };
    assert!(why.contains("sya"), "{why}");
    let missing = Scripted::read(std::path::Path::new("no/such/script.yaml"));
    assert!(matches!(missing, Err(BadScript::Unreadable(_))));
}

#[test]
fn the_scripts_of_the_fixtures_are_scripts() {
    let nasty = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/models/nasty.json");
    Scripted::read(std::path::Path::new(nasty)).expect("JSON is YAML");
}

#[tokio::test]
async fn a_place_that_is_freed_is_taken_by_who_waits() {
    let gate = Gate::new(Pace { at_once: Some(1), per_minute: None });
    let first = gate.enter().await;
    let mut waiting = std::pin::pin!(gate.enter());
    let waits = poll_fn(|cx| Poll::Ready(waiting.as_mut().poll(cx).is_pending())).await;
    assert!(waits, "there is no place");
    drop(first);
    waiting.await;
    gate.enter().await;
}
