use std::sync::Arc;
use std::time::Duration;

use super::*;
use interlingua_model::fault::FaultKind;

const NOW: Time = Time(1_767_225_600_000);
const HOUR: Duration = Duration::from_secs(3600);

fn owner(name: &str) -> Owner {
    Owner(Arc::new([Subject::User(name.into())]))
}

fn anonymous() -> Owner {
    Owner(Arc::new([Subject::Anonymous]))
}

fn entropy(seed: u8) -> Entropy {
    Entropy { id: u128::from(seed), token: [seed; 32] }
}

fn nothing() -> Presented<'static> {
    Presented::default()
}

fn token(token: &Secret) -> Presented<'_> {
    Presented { id: None, token: Some(token) }
}

fn anonymous_session() -> (Session, Secret) {
    let held = open(anonymous(), nothing(), "chat", entropy(1), NOW);
    (held.session, held.tell.expect("a token"))
}

fn resumed(session: &Session, by: &Owner, presented: Presented<'_>, now: Time) -> Result<Held, Refused> {
    resume(session.clone(), by, presented, entropy(9), &Rules::default(), now)
}

#[test]
fn r_26_activity_keeps_a_session_and_silence_ends_it() {
    let rules = Rules::default();
    let mut session = open(owner("ada"), nothing(), "chat", entropy(1), NOW).session;
    assert_eq!(rules.max_age, 24 * HOUR);
    assert!(!session.is_expired(&rules, NOW.after(24 * HOUR)));
    assert!(session.is_expired(&rules, NOW.after(24 * HOUR + Duration::from_millis(1))));
    session.note(&"m1".into(), NOW.after(23 * HOUR));
    assert!(!session.is_expired(&rules, NOW.after(47 * HOUR)));
    assert_eq!(session.expires(&rules), NOW.after(47 * HOUR));
    assert_eq!((session.created(), session.active()), (NOW, NOW.after(23 * HOUR)));
}

#[test]
fn r_27_the_kept_context_is_sealed_and_goes_with_the_session() {
    let mut session = open(owner("ada"), nothing(), "chat", entropy(1), NOW).session;
    session.context = Some(Sealed(bytes::Bytes::from_static(&[1, 2, 255])));
    let written = serde_json::to_string(&session).expect("writable");
    let read: Session = serde_json::from_str(&written).expect("readable");
    assert_eq!(read.context, session.context);
}

#[test]
fn r_28_a_new_session_has_a_prefixed_id_a_token_and_turn_0() {
    let held = open(owner("ada"), nothing(), "chat", entropy(1), NOW);
    assert_eq!(&**held.session.id(), "chat_00000000-0000-4000-8000-000000000001");
    assert_eq!(held.session.turn(), 0);
    assert!(held.tell.is_some());
    let named = open(owner("ada"), nothing(), "researcher", entropy(1), NOW).session;
    assert!(named.id().starts_with("researcher_"));
}

#[test]
fn r_28_a_token_leads_back_to_its_session() {
    let secret = Secret::new("t");
    let key = Session::token_key(&owner("ada"), &secret);
    assert!(key.is_some());
    assert_eq!(key, Session::token_key(&owner("ada"), &Secret::new("t")));
    assert_ne!(key, Session::token_key(&owner("eve"), &secret));
    assert_ne!(key, Session::token_key(&owner("ada"), &Secret::new("u")));
}

#[test]
fn r_29_an_expired_session_is_not_resumed() {
    let session = open(owner("ada"), nothing(), "chat", entropy(1), NOW).session;
    let late = resumed(&session, &owner("ada"), nothing(), NOW.after(25 * HOUR));
    assert_eq!(late.expect_err("expired"), Refused::Expired);
    let fault = Refused::Expired.fault();
    assert_eq!((fault.kind, fault.kind.as_str()), (FaultKind::NotFound(Noun::Session), "session_expired"));
}

#[test]
fn h_06_a_session_is_bound_to_its_owner() {
    let session = open(owner("ada"), Presented { id: Some("s1"), token: None }, "chat", entropy(1), NOW).session;
    let token = super::token::mint([1; 32]);
    for presented in [nothing(), Presented { id: Some("s1"), token: Some(&token) }] {
        assert_eq!(resumed(&session, &owner("eve"), presented, NOW).expect_err("refused"), Refused::NotYours);
    }
    assert!(resumed(&session, &owner("ada"), nothing(), NOW).is_ok());
    assert_ne!(Session::key(&owner("ada"), "s1"), Session::key(&owner("eve"), "s1"));
    assert_eq!(Refused::NotYours.fault().public, Refused::Expired.fault().public);
}

#[test]
fn h_06_an_anonymous_caller_needs_the_token() {
    let (session, secret) = anonymous_session();
    assert!(resumed(&session, &anonymous(), token(&secret), NOW).is_ok());
    let wrong = Secret::new("x".repeat(43));
    for presented in [nothing(), token(&wrong), Presented { id: Some(session.id()), token: None }] {
        assert_eq!(resumed(&session, &anonymous(), presented, NOW).expect_err("refused"), Refused::NotYours);
    }
}

#[test]
fn h_06_an_anonymous_caller_cannot_choose_a_guessable_token() {
    let weak = Secret::new("1234");
    let held = open(anonymous(), Presented { id: Some("s1"), token: Some(&weak) }, "chat", entropy(1), NOW);
    let strong = held.tell.expect("a token");
    assert_eq!(strong.text().map(str::len), Some(43));
    assert!(resumed(&held.session, &anonymous(), token(&weak), NOW).is_err());
}

#[test]
fn h_06_a_wrong_token_is_refused_even_from_the_owner() {
    let own = Secret::new("c1");
    let session = open(owner("ada"), Presented { id: Some("s1"), token: Some(&own) }, "chat", entropy(1), NOW).session;
    assert!(resumed(&session, &owner("ada"), token(&own), NOW).is_ok());
    assert!(resumed(&session, &owner("ada"), token(&Secret::new("c2")), NOW).is_err());
}

#[test]
fn h_06_a_token_is_kept_only_as_its_hash_and_never_printed() {
    let (session, secret) = anonymous_session();
    let secret = secret.text().expect("text");
    assert!(!serde_json::to_string(&session).expect("writable").contains(secret));
    assert!(!format!("{session:?}").contains(secret));
    assert!(!format!("{:?}", entropy(1)).contains('1'));
}

#[test]
fn h_06_a_token_is_rotated_and_the_one_before_has_a_grace() {
    let rules = Rules::default();
    let (session, first) = anonymous_session();
    let due = NOW.after(rules.rotate_after);
    assert!(resumed(&session, &anonymous(), token(&first), NOW.after(HOUR / 2)).expect("young").tell.is_none());
    let rotated = resumed(&session, &anonymous(), token(&first), due).expect("good");
    let second = rotated.tell.expect("a new token");
    assert_ne!(second, first);
    let session = rotated.session;
    assert!(resumed(&session, &anonymous(), token(&second), due).expect("good").tell.is_none());
    assert!(resumed(&session, &anonymous(), token(&first), due.after(rules.grace)).is_ok());
    let late = due.after(rules.grace + Duration::from_millis(1));
    assert_eq!(resumed(&session, &anonymous(), token(&first), late).expect_err("too late"), Refused::NotYours);
}

#[test]
fn h_06_a_lost_response_locks_nobody_out() {
    let rules = Rules::default();
    let (session, first) = anonymous_session();
    let due = NOW.after(rules.rotate_after);
    // The response with the second token never arrives; the caller comes again with the first.
    let lost = resumed(&session, &anonymous(), token(&first), due).expect("good").session;
    let again = resume(lost, &anonymous(), token(&first), entropy(10), &rules, due).expect("good");
    let third = again.tell.expect("a new token");
    assert!(resumed(&again.session, &anonymous(), token(&third), due).is_ok());
    assert!(resumed(&again.session, &anonymous(), token(&first), due).is_ok());
}

#[test]
fn h_06_a_token_the_caller_brought_is_not_replaced() {
    let own = Secret::new("c1");
    let session = open(owner("ada"), Presented { id: Some("s1"), token: Some(&own) }, "chat", entropy(1), NOW).session;
    let later = NOW.after(5 * HOUR);
    assert!(resumed(&session, &owner("ada"), token(&own), later).expect("good").tell.is_none());
}

#[test]
fn h_08_messages_are_a_ring() {
    let mut session = open(owner("ada"), nothing(), "chat", entropy(1), NOW).session;
    for n in 0..RECENT + 5 {
        session.note(&format!("m{n}").into(), NOW);
    }
    assert_eq!(session.recent().len(), RECENT);
    assert!(!session.has_seen(&"m4".into()));
    assert!(session.has_seen(&"m5".into()) && session.has_seen(&format!("m{}", RECENT + 4).into()));
}

#[test]
fn h_09_the_hub_counts_and_the_callers_count_is_compared() {
    let mut session = open(owner("ada"), nothing(), "chat", entropy(1), NOW).session;
    assert_eq!(session.advance(0, None, NOW), Turn { number: 1, as_given: true });
    assert_eq!(session.advance(99, None, NOW), Turn { number: 2, as_given: false });
    assert_eq!(session.advance(2, None, NOW), Turn { number: 3, as_given: true });
    session.note(&"a notification".into(), NOW);
    assert_eq!(session.turn(), 3);
}

#[test]
fn h_18_a_clock_that_goes_back_neither_ends_nor_renews_a_session() {
    let rules = Rules::default();
    let mut session = open(owner("ada"), nothing(), "chat", entropy(1), NOW).session;
    session.note(&"m1".into(), Time(0));
    assert_eq!(session.active(), NOW);
    assert!(!session.is_expired(&rules, Time(0)));
    assert!(session.is_expired(&rules, NOW.after(25 * HOUR)));
}

#[test]
fn a_state_token_is_known_again_by_its_hash() {
    let mut session = open(owner("ada"), nothing(), "chat", entropy(1), NOW).session;
    let state = Secret::new("opaque");
    assert!(!session.is_state(&state));
    session.advance(0, Some(&state), NOW);
    session.advance(1, None, NOW);
    assert!(session.is_state(&state) && !session.is_state(&Secret::new("other")));
    assert!(!serde_json::to_string(&session).expect("writable").contains("opaque"));
}

#[test]
fn r_42_a_full_session_is_smaller_than_a_kilobyte() {
    let (mut session, _) = anonymous_session();
    session.before = Some(session.token.clone().until(NOW));
    for n in 0..2 * RECENT {
        session.advance(0, Some(&Secret::new("state")), NOW);
        session.note(&format!("m{n}").into(), NOW);
    }
    let written = serde_json::to_vec(&session).expect("writable");
    assert!(written.len() < 1024, "{} bytes written", written.len());
    let heap = session.id.len() + 4 * RECENT.next_power_of_two() + 64;
    assert!(size_of::<Session>() + heap < 1024, "{} bytes in memory", size_of::<Session>() + heap);
    assert_eq!(serde_json::from_slice::<Session>(&written).expect("readable"), session);
}

#[test]
fn a_damaged_record_is_no_session() {
    let (mut session, _) = anonymous_session();
    session.note(&"m1".into(), NOW);
    let good = serde_json::to_value(&session).expect("writable");
    for (member, bad) in [("recent", "AAA"), ("recent", "!"), ("id", "\u{0}")] {
        let mut damaged = good.clone();
        damaged[member] = bad.into();
        assert_eq!(serde_json::from_value::<Session>(damaged).is_ok(), member == "id");
    }
    let mut damaged = good;
    damaged["token"]["hash"] = "AAAA".into();
    assert!(serde_json::from_value::<Session>(damaged).is_err());
}

#[test]
fn the_conversation_of_a_stranger_is_not_called_by_a_name_that_others_know() {
    let held = open(anonymous(), Presented { id: Some("shop"), token: None }, "chat", entropy(1), NOW);
    let called = held.session.conversation();
    assert!(called.is_unguessable(), "{called}");
    let other = open(anonymous(), Presented { id: Some("shop"), token: None }, "chat", entropy(2), NOW).session;
    assert_ne!(other.conversation(), called, "another session of the same name is another conversation");
    let token = held.tell.expect("a token");
    let later = NOW.after(2 * HOUR);
    let again = resumed(&held.session, &anonymous(), token_of(&token), later).expect("it is resumed").session;
    assert_eq!(again.conversation(), called, "a new token changes nothing");
    let known = open(owner("ada"), Presented { id: Some("shop"), token: None }, "chat", entropy(1), NOW).session;
    assert_eq!(known.conversation().as_str(), "shop", "whoever is known by who it is may choose");
    let before = serde_json::to_string(&known).expect("writable");
    assert!(!before.contains("thread"), "{before}");
}

fn token_of(secret: &Secret) -> Presented<'_> {
    Presented { id: Some("shop"), token: Some(secret) }
}

#[test]
fn ids_that_can_be_guessed_are_told_from_those_of_random_bits() {
    let is = |text: &str| interlingua_model::id::ConversationId::from(text).is_unguessable();
    assert!(is("0f3a9c0f3a9c0f3a9c0f3a9c0f3a9c0f") && is(&uuid_v4(7)));
    for text in ["", "default", "nlip_1", "0f3a", "00000000-0000-1000-8000-000000000000", "----", "ｆ-4"] {
        assert!(!is(text), "{text}");
    }
}

#[test]
fn heads_of_the_last_messages_are_few_and_short() {
    let mut session = open(owner("ada"), nothing(), "chat", entropy(1), NOW).session;
    for n in 0..20_u64 {
        let id = MessageId::from(format!("{n}-{}", "x".repeat(100)).as_str());
        session.store_head(&id, HeadKind::Request, NOW.after(Duration::from_secs(n)));
    }
    session.store_head(&"n".into(), HeadKind::Notification, NOW.after(HOUR));
    let heads: Vec<&Head> = session.heads().iter().collect();
    assert_eq!(heads.len(), HEADS);
    assert_eq!((heads[0].message().len(), heads[0].kind()), (64, HeadKind::Request), "{heads:?}");
    assert!(heads[0].message().starts_with("13-"), "the oldest went first: {heads:?}");
    let last = heads[HEADS - 1];
    assert_eq!((last.message(), last.kind().as_str(), last.at(NOW)), ("n", "notification", NOW.after(HOUR)));
    let written = serde_json::to_value(&session).expect("writable");
    assert_eq!(serde_json::from_value::<Session>(written.clone()).expect("readable"), session);
    // A record of an earlier release has none.
    let mut earlier = written;
    earlier.as_object_mut().expect("an object").remove("heads");
    let read: Session = serde_json::from_value(earlier).expect("readable");
    assert!(read.heads().is_empty());
}
