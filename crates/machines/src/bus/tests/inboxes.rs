//! The pending messages of an agent, when they are shown, and that a replay of the records gives the same.

use std::collections::BTreeSet;

use super::message;
use crate::bus::inbox::{Fate, Gone, Inbox, Input, MAX_ANSWERED, MAX_ANSWERED_BYTES, MAX_BYTES, MAX_WAITING, Record};
use crate::bus::{Kind, Message};
use interlingua_model::call::Priority;
use interlingua_model::fault::{FaultKind, Noun};
use interlingua_model::id::Time;
use interlingua_model::json::Json;

const LATER: Time = Time(1_000_000);

/// An inbox with its log.
#[derive(Default)]
struct Kept {
    inbox: Inbox,
    log: Vec<Record>,
}

impl Kept {
    fn take(&mut self, input: Input) -> Result<usize, FaultKind> {
        let records = self.inbox.decide(input, Time(0)).map_err(|fault| fault.kind)?;
        for record in &records {
            self.log.push(record.clone());
            for (place, instead) in self.inbox.apply(self.log.len() as u64, record.clone()) {
                self.log[usize::try_from(place).expect("a place of the log") - 1] = instead;
            }
        }
        Ok(records.len())
    }

    fn put(&mut self, message: Message) -> Result<usize, FaultKind> {
        self.take(Input::Put { message: Box::new(message), until: LATER })
    }

    fn answer(&mut self, to: &str) -> Result<usize, FaultKind> {
        let answer = Message { correlation: Some(to.into()), ..message("r", Kind::Response) };
        self.take(Input::Answer(Box::new(answer)))
    }

    fn replayed(&self) -> Inbox {
        let mut inbox = Inbox::default();
        for (record, seq) in self.log.iter().zip(1..) {
            inbox.apply(seq, record.clone());
        }
        inbox
    }
}

fn ids(inbox: &Inbox, now: Time) -> Vec<String> {
    let (mut shown, mut ids) = (BTreeSet::new(), Vec::new());
    while let Some((seq, message)) = inbox.next(&shown, now) {
        ids.push(message.id.to_string());
        shown.insert(seq);
    }
    ids
}

#[test]
fn a_request_waits_until_it_is_answered_and_the_first_answer_counts() {
    let mut kept = Kept::default();
    assert_eq!(kept.put(message("a", Kind::Request)), Ok(1));
    assert_eq!(kept.put(message("a", Kind::Request)), Ok(0), "sent again, it waits once");
    assert_eq!(kept.answer("b"), Err(FaultKind::NotFound(Noun::Resource)));
    assert_eq!(kept.answer("a"), Ok(1));
    assert_eq!(kept.answer("a"), Err(FaultKind::AlreadyFinished));
    assert!(kept.inbox.is_empty());
    assert!(matches!(kept.inbox.fate(&"a".into()), Fate::Answered(answer) if answer.kind == Kind::Response));
    assert_eq!(kept.put(message("a", Kind::Request)), Ok(0), "what was answered does not wait again");
    assert_eq!(kept.replayed(), kept.inbox);
}

#[test]
fn a_request_is_not_put_aside_and_an_event_is() {
    let mut kept = Kept::default();
    kept.put(message("a", Kind::Request)).expect("room");
    kept.put(message("b", Kind::Event)).expect("room");
    assert_eq!(kept.take(Input::Read("a".into())), Err(FaultKind::InvalidInput));
    assert_eq!(kept.take(Input::Read("b".into())), Ok(1));
    assert_eq!(kept.take(Input::Read("b".into())), Err(FaultKind::NotFound(Noun::Resource)));
    assert_eq!(kept.take(Input::Withdraw("a".into())), Ok(1));
    assert_eq!(kept.take(Input::Withdraw("a".into())), Ok(0), "nobody minds twice");
    assert_eq!((kept.inbox.len(), kept.inbox.fate(&"a".into())), (0, Fate::Unknown));
}

#[test]
fn the_urgent_comes_first_then_the_older_and_nothing_starves() {
    let mut kept = Kept::default();
    let at = |id: &str, level: u8, at: u64| Message {
        priority: Priority::new(level).expect("a level"),
        at: Time(at),
        ..message(id, Kind::Request)
    };
    for message in [at("old and low", 1, 0), at("normal", 5, 16_000), at("urgent", 9, 16_000), at("also", 5, 16_000)] {
        kept.put(message).expect("room");
    }
    assert_eq!(ids(&kept.inbox, Time(0)), ["urgent", "normal", "also", "old and low"]);
    assert_eq!(ids(&kept.inbox, Time(16_000))[0], "old and low", "sixteen seconds are eight steps, and it came first");
}

#[test]
fn an_inbox_is_bounded_in_number_in_bytes_and_in_time() {
    let mut kept = Kept::default();
    for number in 0..MAX_WAITING {
        kept.put(message(&number.to_string(), Kind::Event)).expect("room");
    }
    assert_eq!(kept.put(message("one more", Kind::Event)), Err(FaultKind::Busy));
    let past = kept.inbox.decide(Input::Clock, LATER).expect("a clock is never refused");
    assert_eq!(past.len(), MAX_WAITING);
    assert!(past.iter().all(|record| matches!(record, Record::Gone { how: Gone::Expired, .. })));

    let mut kept = Kept::default();
    let long = Json::from_tree(serde_json::Value::String("x".repeat(1 << 20)));
    let sent = (0..100).take_while(|number: &i32| {
        kept.put(Message { content: long.clone(), ..message(&number.to_string(), Kind::Event) }).is_ok()
    });
    assert_eq!(sent.count(), MAX_BYTES / (1 << 20) - 1);
    kept.take(Input::Read("0".into())).expect("it waits");
    assert_eq!(kept.put(message("small", Kind::Event)), Ok(1), "what was read makes room");
}

#[test]
fn answers_are_remembered_up_to_a_bound_and_a_snapshot_holds_them() {
    let mut kept = Kept::default();
    for number in 0..=MAX_ANSWERED {
        kept.put(message(&number.to_string(), Kind::Query)).expect("room");
        kept.answer(&number.to_string()).expect("it waits");
    }
    assert_eq!(kept.inbox.fate(&"0".into()), Fate::Unknown);
    let snapshot = serde_json::to_vec(&kept.inbox).expect("JSON");
    assert_eq!(serde_json::from_slice::<Inbox>(&snapshot).expect("the same"), kept.inbox);
    assert_eq!(kept.replayed(), kept.inbox);
    assert!(kept.log.iter().all(|record| !matches!(record, Record::Put { .. })), "nothing waits");
}

#[test]
fn large_answers_are_forgotten_and_what_they_answered_does_not_wait_again() {
    let mut kept = Kept::default();
    for id in ["a", "b", "c"] {
        kept.put(message(id, Kind::Query)).expect("room");
    }
    let (mut fold, folded) = (kept.inbox.clone(), kept.log.len());
    for id in ["a", "b", "c"] {
        let content = Json::from_tree(serde_json::json!({"fill": "x".repeat(MAX_ANSWERED_BYTES * 2 / 3)}));
        let answer = Message { correlation: Some(id.into()), content, ..message("r", Kind::Response) };
        kept.take(Input::Answer(Box::new(answer))).expect("it waits");
    }
    assert_eq!(kept.inbox.fate(&"b".into()), Fate::Unknown);
    assert!(matches!(kept.inbox.fate(&"c".into()), Fate::Answered(_)), "the last one is remembered, however large");
    let bytes: usize = kept.log.iter().map(|record| serde_json::to_vec(record).expect("JSON").len()).sum();
    assert!(bytes < MAX_ANSWERED_BYTES, "{bytes} bytes of log");
    for (record, seq) in kept.log.iter().zip(1..).skip(folded) {
        fold.apply(seq, record.clone());
    }
    assert!(fold.is_empty(), "over an earlier fold the log says the same");
    assert_eq!(kept.replayed(), kept.inbox);
}

/// Where there is no room for answers, the oldest are forgotten before their time, and stay forgotten.
#[test]
fn answers_are_forgotten_when_their_room_is_wanted() {
    let mut kept = Kept::default();
    for id in ["a", "b", "c"] {
        kept.put(message(id, Kind::Request)).expect("waits");
        kept.answer(id).expect("is answered");
    }
    kept.put(message("d", Kind::Request)).expect("waits");
    assert_eq!(kept.inbox.held().map(|(place, _)| place).collect::<Vec<_>>(), [7, 2, 4, 6]);
    for (place, instead) in kept.inbox.forget_answers(1) {
        kept.log[usize::try_from(place).expect("a place of the log") - 1] = instead;
    }
    assert_eq!(kept.inbox.fate(&"a".into()), Fate::Unknown);
    assert!(matches!(kept.inbox.fate(&"b".into()), Fate::Answered(_)));
    assert_eq!(kept.replayed(), kept.inbox);
    for (place, instead) in kept.inbox.forget_answers(usize::MAX) {
        kept.log[usize::try_from(place).expect("a place of the log") - 1] = instead;
    }
    assert_eq!(kept.inbox.held().map(|(place, _)| place).collect::<Vec<_>>(), [7], "what waits is not forgotten");
    assert_eq!(kept.replayed(), kept.inbox);
}
