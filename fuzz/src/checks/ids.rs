//! Invariants of ids, cursors, topics and owners for any text: each has one spelling, and survives a round trip.

use interlingua_hub::approvals::Turn;
use interlingua_machines::bus::{Kind, Pattern, topic};
use interlingua_model::policy::Action;
use interlingua_model::ports::TaskPhase;
use interlingua_model::{ConversationId, Digest, Owner, QuestionId, SkillId, Subject, TaskId, Trust};
use interlingua_telemetry::trace::TraceParent;

use interlingua_mcp::decode::List;
use interlingua_mcp::wire::headers;

pub(crate) fn text(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    same(text.parse::<TaskId>().ok());
    same(text.parse::<QuestionId>().ok());
    same(text.parse::<SkillId>().ok());
    same(text.parse::<Subject>().ok());
    if let Ok(owner) = text.parse::<Owner>() {
        assert_eq!(owner.to_string().parse::<Owner>(), Ok(owner), "an owner is taken for another");
    }
    if let Ok(digest) = text.parse::<Digest>() {
        assert_eq!(digest.to_string(), text.to_ascii_lowercase());
    }
    if let Ok(turn) = text.parse::<Turn>() {
        assert_eq!(turn.to_string().parse::<Turn>(), Ok(turn));
    }
    assert!(!ConversationId::from(text).is_unguessable() || text.len() >= 32);
    assert!(Kind::parse(text).is_none_or(|kind| kind.as_str() == text));
    assert!(Trust::parse(text).is_none_or(|trust| trust.as_str() == text));
    assert!(Action::parse(text).is_none_or(|action| action.as_str() == text));
    assert!(TaskPhase::parse(text).is_none_or(|phase| phase.as_str() == text));
    let _ = interlingua_a2a::Version::parse(Some(text));
    patterns(text);
    cursors(text);
    if let Some(trace) = TraceParent::parse(text) {
        assert_eq!(TraceParent::parse(&trace.text()), Some(trace));
    }
    assert_eq!(headers::decode(&headers::encode(text)).as_deref(), Some(text), "a header says something else");
    let _ = headers::decode(text);
}

fn same<T: ToString + std::str::FromStr + PartialEq + std::fmt::Debug>(read: Option<T>) {
    if let Some(read) = read {
        let written = read.to_string();
        assert_eq!(written.parse::<T>().ok(), Some(read), "{written}");
    }
}

fn patterns(text: &str) {
    let (pattern, name) = text.split_once('\n').unwrap_or((text, text));
    let named = topic::named(name);
    if let Ok(topic) = &named {
        let own = Pattern::parse(name).expect("a topic is a pattern");
        assert!(own.covers(topic), "a topic covers itself");
        assert!(Pattern::parse("**").expect("a pattern").covers(topic));
    }
    if let (Ok(pattern), Ok(topic)) = (Pattern::parse(pattern), named) {
        let _ = pattern.covers(&topic);
    }
}

fn cursors(text: &str) {
    if let Some(again) = interlingua_mcp::fuzzing::event_place(text) {
        assert_eq!(interlingua_mcp::fuzzing::event_place(&again).as_deref(), Some(&*again), "{text}");
    }
    for list in [List::Tools, List::Prompts, List::Resources, List::Templates] {
        if let Some((after, again)) = interlingua_mcp::fuzzing::list_cursor(list, text) {
            assert!(after.len() <= text.len());
            assert_eq!(interlingua_mcp::fuzzing::list_cursor(list, &again).map(|(after, _)| after), Some(after));
        }
    }
    if let Some(again) = interlingua_api::fuzzing::task_cursor(text) {
        assert_eq!(interlingua_api::fuzzing::task_cursor(&again).as_deref(), Some(&*again));
    }
    if let Some((task, again)) = interlingua_a2a::fuzzing::content_path(text) {
        assert_eq!(interlingua_a2a::fuzzing::content_path(&again).map(|(task, _)| task), Some(task));
    }
}
