//! Every way a provider's stream is known to misbehave, as scripts that are played to the assembler.

use std::time::Duration;

use super::script::{Script, Step, Used};
use super::*;
use interlingua_model::content::Provenance;
use interlingua_model::fault::{FaultKind, Retry};
use interlingua_model::id::Time;

fn nasty() -> Script {
    serde_json::from_str(include_str!("../../../../fixtures/models/nasty.json")).expect("a script")
}

fn asked(words: &str) -> Prompt {
    Prompt {
        system: "".into(),
        messages: vec![Message::User(vec![Part::text(words, Provenance::caller())]).into()],
        tools: Vec::new(),
        max_tokens: None,
        output: None,
    }
}

/// Plays the reply that answers these words.
fn play(words: &str) -> Result<Reply, Broken> {
    let steps = nasty().next(&mut Used::default(), &asked(words)).expect("a reply");
    let mut assembler = Assembler::default();
    for step in steps {
        match step {
            Step::Event(event) if !assembler.push(&event) => break,
            Step::Event(_) | Step::Wait(_) => {}
        }
    }
    assembler.finish()
}

fn call(id: &str, name: &str, args: serde_json::Value) -> ToolCall {
    ToolCall { id: id.into(), name: name.into(), args: Arguments::Object(args.into()) }
}

fn broken(words: &str) -> (FailureKind, String) {
    let broken = play(words).expect_err("a failure");
    (broken.failure.kind, broken.text.to_string())
}

#[test]
fn split_arguments_of_parallel_calls_are_put_together() {
    let reply = play("split arguments").expect("whole");
    assert_eq!(&*reply.text, "Two at once.");
    let expected = [
        call("c1", "files__read", serde_json::json!({"path": "aä.txt"})),
        call("c2", "files__list", serde_json::json!({"path": "."})),
    ];
    assert_eq!(reply.calls, expected);
    assert_eq!(reply.tokens, Some(Tokens { read: 12, written: 34 }), "usage may follow the end");
}

#[test]
fn accumulated_and_whole_arguments_replace_what_came_before() {
    let reply = play("accumulated arguments").expect("whole");
    let expected = [
        call("call-0", "files__read", serde_json::json!({"path": "a"})),
        call("call-1", "files__read", serde_json::json!({"path": "b"})),
    ];
    assert_eq!(reply.calls, expected, "ids are made where a provider gives none");
}

#[test]
fn a_stream_without_an_end_mark_is_a_failure_that_keeps_what_was_said() {
    assert_eq!(broken("early close"), (FailureKind::Cut, "It is ".to_owned()));
    assert_eq!(broken("close inside a call").0, FailureKind::Cut, "though its arguments look complete");
}

#[test]
fn errors_of_the_provider_end_the_stream() {
    let failure = play("too many requests").expect_err("busy").failure;
    assert_eq!((failure.kind, failure.after), (FailureKind::Busy, Some(Duration::from_secs(2))));
    assert_eq!(broken("server error"), (FailureKind::Down, "It ".to_owned()));
}

#[test]
fn unreadable_arguments_are_the_calls_fault_not_the_streams() {
    let reply = play("truncated json").expect("whole");
    let why = "the arguments broke off at the limit of tokens".into();
    assert_eq!(reply.calls[0].args, Arguments::Unreadable { why });
}

#[test]
fn arguments_encoded_twice_or_left_out_are_understood() {
    let reply = play("encoded twice").expect("whole");
    assert_eq!(reply.calls, [call("c1", "files__read", serde_json::json!({"path": "a"}))]);
    assert_eq!(play("no arguments").expect("whole").calls, [call("c1", "clock__now", serde_json::json!({}))]);
}

#[test]
fn ids_are_unique_and_names_are_needed() {
    let ids: Vec<Text> = play("same id").expect("whole").calls.into_iter().map(|call| call.id).collect();
    assert_eq!(ids, ["c-2".into(), "c".into(), Text::from("c-2-2")]);
    assert_eq!(broken("nameless").0, FailureKind::Garbled);
}

#[test]
fn what_follows_the_end_mark_makes_it_a_lie() {
    assert_eq!(broken("after the end").0, FailureKind::Garbled);
}

#[test]
fn an_answer_is_bounded_in_bytes_and_calls() {
    let bounds = Bounds { bytes: 10, calls: 2 };
    let mut assembler = Assembler::new(bounds);
    assert!(assembler.push(&Event::Text("0123456789".into())));
    assert!(!assembler.push(&Event::Reasoning("x".into())));
    assert_eq!(assembler.finish().expect_err("too much").failure.kind, FailureKind::TooMuch);

    let piece = |slot, args| Event::Tool(Piece { slot, id: None, name: Some("t".into()), args });
    let mut assembler = Assembler::new(bounds);
    assert!(assembler.push(&piece(0, Args::None)) && assembler.push(&piece(1, Args::None)));
    assert!(!assembler.push(&piece(2, Args::None)));

    let mut assembler = Assembler::new(bounds);
    for _ in 0..5 {
        assert!(assembler.push(&piece(0, Args::SoFar("{}".into()))), "what replaces itself does not add up");
    }
    assert!(!assembler.push(&piece(0, Args::SoFar("{\"a\": 12345}".into()))), "but must fit");
}

#[test]
fn a_drip_ends_when_the_whole_takes_too_long() {
    let patience =
        Patience { first: Duration::from_secs(60), gap: Duration::from_secs(60), whole: Duration::from_secs(120) };
    let mut now = Time(0);
    let mut listening = Listening::new(patience, now);
    let mut overdue = None;
    for step in nasty().next(&mut Used::default(), &asked("slow drip")).expect("a reply") {
        match step {
            Step::Wait(span) => now = now.after(span),
            Step::Event(_) => match listening.overdue(now) {
                Some(failure) => overdue = overdue.or(Some(failure)),
                None => listening.heard(now),
            },
        }
    }
    assert_eq!(
        overdue.map(|failure| (failure.kind, failure.text)),
        Some((FailureKind::Slow, "the model took too long in all".into()))
    );
}

#[test]
fn silence_is_noticed_before_the_first_event_and_between_two() {
    let patience = Patience::default();
    let mut listening = Listening::new(patience, Time(0));
    assert_eq!(listening.until(), Time(120_000));
    assert_eq!(listening.overdue(Time(119_999)), None);
    assert_eq!(
        listening.overdue(Time(120_000)).map(|failure| failure.text),
        Some("the model did not begin in time".into())
    );
    listening.heard(Time(100_000));
    assert_eq!(listening.overdue(Time(160_000)).map(|failure| failure.text), Some("the model fell silent".into()));
}

#[test]
fn statuses_say_whether_to_ask_again() {
    let kinds = [
        (400, FailureKind::Refused, false),
        (401, FailureKind::Locked, false),
        (403, FailureKind::Locked, false),
        (404, FailureKind::Refused, false),
        (408, FailureKind::Slow, true),
        (413, FailureKind::TooLong, false),
        (429, FailureKind::Busy, true),
        (500, FailureKind::Down, true),
        (529, FailureKind::Down, true),
        (302, FailureKind::Garbled, true),
    ];
    for (status, kind, passing) in kinds {
        let failure = Failure::status(status, None);
        assert_eq!((failure.kind, failure.is_passing()), (kind, passing), "{status}");
    }
    assert_eq!(Failure::status(429, Some("soon")).after, None, "only seconds are understood");
}

#[test]
fn pauses_grow_are_spread_and_end() {
    let backoff = Backoff::default();
    let down = Failure::status(503, None);
    let pause = |tried, roll| backoff.next(tried, &down, false, roll).map(|pause| pause.as_millis());
    assert_eq!((pause(1, 0), pause(1, u32::MAX)), (Some(250), Some(500)));
    assert_eq!((pause(3, 0), pause(3, u32::MAX)), (Some(1_000), Some(2_000)));
    assert_eq!(pause(4, 0), None, "four attempts in all");
    let many = Backoff { attempts: 100, ..backoff };
    assert_eq!(many.next(90, &down, false, u32::MAX), Some(backoff.cap));
}

#[test]
fn nothing_is_asked_again_that_was_heard_refused_or_put_off_too_long() {
    let backoff = Backoff::default();
    assert_eq!(backoff.next(1, &Failure::status(503, None), true, 0), None, "it would be said twice");
    assert_eq!(backoff.next(1, &Failure::status(401, None), false, 0), None);
    let busy = |after| backoff.next(1, &Failure::status(429, Some(after)), false, 0);
    assert_eq!((busy("7"), busy("3600")), (Some(Duration::from_secs(7)), None));
}

#[test]
fn failures_are_faults_of_the_peer_and_repeat_nothing_the_provider_wrote() {
    let kinds = [
        (FailureKind::Cut, FaultKind::BadReply),
        (FailureKind::Garbled, FaultKind::BadReply),
        (FailureKind::Busy, FaultKind::Busy),
        (FailureKind::Down, FaultKind::Unreachable),
        (FailureKind::Slow, FaultKind::Deadline),
        (FailureKind::Refused, FaultKind::PeerFailed),
        (FailureKind::Locked, FaultKind::PeerFailed),
        (FailureKind::TooLong, FaultKind::TooLarge),
        (FailureKind::TooMuch, FaultKind::BadReply),
    ];
    for (kind, expected) in kinds {
        assert_eq!(Failure::new(kind, "").fault("ann".into()).kind, expected, "{kind:?}");
    }
    let fault = Failure::status(401, None).fault("ann".into());
    assert_eq!((&*fault.public, fault.retry), ("the model's provider answered 401", Retry::IfIdempotent));
}

#[test]
fn a_script_answers_in_order_or_by_words_and_each_reply_once() {
    let script = serde_json::json!({"replies": [
        {"when": "WEATHER", "call": [{"name": "weather__today", "arguments": {"city": "Paris"}}]},
        {"think": "hm", "say": "Hello there"},
        {"again": true, "say": "Goodbye"}
    ]});
    let script: Script = serde_json::from_value(script).expect("a script");
    let mut used = Used::default();
    let mut say = |words: &str| {
        let mut assembler = Assembler::default();
        for step in script.next(&mut used, &asked(words)).expect("a reply") {
            if let Step::Event(event) = step {
                assembler.push(&event);
            }
        }
        assembler.finish().expect("whole")
    };
    let first = say("hi");
    assert_eq!((&*first.reasoning, &*first.text, first.stop), ("hm", "Hello there", Stop::Done));
    let weather = say("what weather is it?");
    let expected = call("call-0", "weather__today", serde_json::json!({"city": "Paris"}));
    assert_eq!((weather.calls, weather.stop), (vec![expected], Stop::Tools));
    assert_eq!(&*say("weather again?").text, "Goodbye");
    assert_eq!(&*say("and again").text, "Goodbye");
}

#[test]
fn a_script_that_has_run_out_or_is_misspelt_says_so() {
    let script: Script = serde_json::from_value(serde_json::json!({"replies": []})).expect("a script");
    let failure = script.next(&mut Used::default(), &asked("hi")).expect_err("empty");
    assert_eq!(failure.kind, FailureKind::Refused);
    for wrong in [
        serde_json::json!({"replies": [{"sya": "Hello"}]}),
        serde_json::json!({"replies": [{"events": [{"txet": "a"}]}]}),
        serde_json::json!({"replies": [{"events": [{"tool": {"slot": 0, "peice": "a"}}]}]}),
    ] {
        assert!(serde_json::from_value::<Script>(wrong.clone()).is_err(), "{wrong}");
    }
}

#[test]
fn the_trust_of_a_prompt_is_the_lowest_of_its_parts() {
    let mut prompt = asked("hi");
    assert_eq!(prompt.trust(), Trust::Caller);
    let world = Provenance { trust: Trust::World, ..Provenance::caller() };
    let parts = vec![Part::text("a page", world)];
    prompt.messages.push(Message::Tool { call: "c".into(), name: "t".into(), parts, failed: false }.into());
    assert_eq!(prompt.trust(), Trust::World);
}

fn ask() -> Asking {
    Asking::new(Manners::default(), Time(0))
}

fn done(next: Next) -> Result<Reply, Broken> {
    match next {
        Next::Done(result) => *result,
        Next::Listen(_) | Next::Again(_) => panic!("it is not over: {next:?}"),
    }
}

#[test]
fn a_question_is_asked_again_while_nothing_was_heard() {
    let mut asking = ask();
    let busy = Event::Error(Failure::status(503, None));
    assert_eq!(asking.heard(&busy, Time(0), u32::MAX), Next::Again(Time(500)));
    assert_eq!(asking.reopened(Time(500)), Next::Listen(Time(120_500)));
    // This time the connection closes without a word.
    assert_eq!(asking.closed(Time(600), u32::MAX), Next::Again(Time(1_600)));
    asking.reopened(Time(1_600));
    assert_eq!(asking.heard(&Event::Text("Hello".into()), Time(1_700), 0), Next::Listen(Time(61_700)));
    assert_eq!(asking.heard(&Event::End(Stop::Done), Time(1_800), 0), Next::Listen(Time(61_800)), "usage may follow");
    let reply = done(asking.closed(Time(1_900), 0)).expect("whole");
    assert_eq!(&*reply.text, "Hello");
}

#[test]
fn attempts_end_and_what_was_heard_is_not_asked_for_again() {
    let mut asking = ask();
    for _ in 0..3 {
        assert!(matches!(asking.closed(Time(0), 0), Next::Again(_)));
        asking.reopened(Time(0));
    }
    assert_eq!(done(asking.closed(Time(0), 0)).expect_err("over").failure.kind, FailureKind::Cut);

    let mut asking = ask();
    asking.heard(&Event::Text("It is ".into()), Time(0), 0);
    let broken = done(asking.closed(Time(0), 0)).expect_err("cut");
    assert_eq!((broken.failure.kind, &*broken.text), (FailureKind::Cut, "It is "));
}

#[test]
fn silence_is_asked_again_or_ends_it_but_not_after_the_end_mark() {
    let mut asking = ask();
    assert_eq!(asking.timer(Time(1_000), 0), Next::Listen(Time(120_000)), "too early");
    assert!(matches!(asking.timer(Time(120_000), 0), Next::Again(_)));

    let mut asking = ask();
    asking.heard(&Event::Text("It is ".into()), Time(0), 0);
    assert_eq!(done(asking.timer(Time(60_000), 0)).expect_err("slow").failure.kind, FailureKind::Slow);

    let mut asking = ask();
    asking.heard(&Event::Text("Done.".into()), Time(0), 0);
    asking.heard(&Event::End(Stop::Done), Time(0), 0);
    assert!(done(asking.timer(Time(60_000), 0)).is_ok(), "only its connection was left open");
}

fn events() -> impl proptest::strategy::Strategy<Value = Vec<Event>> {
    use proptest::prelude::*;
    let text = || "[a-z{}\": ]{0,8}".prop_map(Text::from);
    let args = prop_oneof![
        Just(Args::None),
        text().prop_map(Args::Piece),
        text().prop_map(Args::SoFar),
        Just(Args::Whole(Json::null())),
        Just(Args::Whole(Json::empty_object())),
    ];
    let name = proptest::option::of(text());
    let piece = (0_u32..4, name.clone(), name, args)
        .prop_map(|(slot, id, name, args)| Event::Tool(Piece { slot, id, name, args }));
    let one = prop_oneof![
        4 => text().prop_map(Event::Text),
        2 => text().prop_map(Event::Reasoning),
        6 => piece,
        1 => Just(Event::Usage(Tokens { read: 1, written: 1 })),
        1 => Just(Event::End(Stop::Done)),
        1 => Just(Event::Error(Failure::status(500, None))),
    ];
    proptest::collection::vec(one, 0..12)
}

proptest::proptest! {
    /// Whatever comes in whatever order: a reply needs an end mark, is no larger than its bounds, and no two calls share
    /// an id.
    #[test]
    fn any_stream_is_a_whole_reply_or_a_failure(events in events()) {
        let bounds = Bounds { bytes: 40, calls: 3 };
        let mut assembler = Assembler::new(bounds);
        for event in &events {
            assembler.push(event);
        }
        let ended = events.iter().any(|event| matches!(event, Event::End(_)));
        if let Ok(reply) = assembler.finish() {
            proptest::prop_assert!(ended);
            proptest::prop_assert!(reply.text.len() + reply.reasoning.len() <= bounds.bytes);
            let ids: std::collections::BTreeSet<&Text> = reply.calls.iter().map(|call| &call.id).collect();
            proptest::prop_assert_eq!(ids.len(), reply.calls.len());
            proptest::prop_assert!(reply.calls.len() <= bounds.calls);
        }
    }
}
