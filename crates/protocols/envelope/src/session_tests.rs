//! Sessions over days, with time passed in.

use std::sync::Arc;
use std::time::Duration;

use crate::wire::Token;
use interlingua_keys::Keyring;
use interlingua_model::ports::{Expect, Item, Records, Room, StoreFault};
use interlingua_model::{FaultKind, Json, Link, MessageId, Principal, Proof, Secret, Subject, Time};

use crate::memory::Memory;
use crate::sessions::{Brought, Context, Kind, Sessions, TakenUp};
use crate::settings::Settings;
use interlingua_hub::shares::Shares;
use interlingua_nlip::settings::Nlip;

const NOW: Time = Time(1_767_225_600_000);
/// Conversations of one caller.
const MOST: u64 = 20;
const HOUR: Duration = Duration::from_secs(3600);

fn keys(digits: &str) -> Arc<Keyring> {
    Arc::new(Keyring::from_text(&digits.repeat(32)).expect("a key"))
}

fn settings() -> Settings {
    Settings::new(&Nlip::default(), keys("07")).expect("settings")
}

fn user(name: &str) -> Principal {
    Principal::new(Link { subject: Subject::User(name.into()), proof: Proof::Token, scopes: Vec::new(), until: None })
}

fn memory() -> Memory {
    Memory::new(Shares::new(1 << 20))
}

fn sessions(limit: u64) -> (Sessions, Arc<Memory>) {
    let records = Arc::new(memory());
    (Sessions::new(records.clone(), Shares::new(1 << 20), limit), records)
}

fn named(id: &str) -> Token {
    Token { session_id: Some(id.into()), ..Token::default() }
}

/// With a context to be kept or brought.
async fn take_with(sessions: &Sessions, message: &str, context: &Context, now: Time) -> Option<Json> {
    let (message, by, token) = (MessageId::from(message), user("ada"), named("s1"));
    let (kind, context) = (Kind::Turn, Some(context));
    let brought = Brought { by: &by, token: &token, message: &message, context, kind, most: MOST, bytes: None };
    sessions.take_up(brought, &settings(), now).await.expect("it is taken up").context
}

async fn take(
    sessions: &Sessions,
    by: &Principal,
    token: &Token,
    message: &str,
    now: Time,
) -> Result<TakenUp, FaultKind> {
    let message = MessageId::from(message);
    let brought = Brought { by, token, message: &message, context: None, kind: Kind::Turn, most: MOST, bytes: None };
    sessions.take_up(brought, &settings(), now).await.map_err(|fault| fault.kind)
}

#[tokio::test]
async fn h_19_an_expired_session_is_gone_before_anybody_cleans_up() {
    let (sessions, _) = sessions(10);
    let ada = user("ada");
    let first = take(&sessions, &ada, &named("s1"), "m1", NOW).await.expect("opens");
    let kept = take(&sessions, &ada, &first.token, "m2", NOW.after(23 * HOUR)).await.expect("resumes");
    assert_eq!(kept.token.conversation_turn, 2);
    let late = take(&sessions, &ada, &named("s1"), "m3", NOW.after(48 * HOUR)).await.expect("opens");
    assert_eq!(late.token.conversation_turn, 1, "a day without activity ends it");
}

#[tokio::test]
async fn r_38_h_08_so_many_sessions_and_no_more() {
    let (sessions, _) = sessions(2);
    let ada = user("ada");
    for id in ["s1", "s2"] {
        take(&sessions, &ada, &named(id), "m1", NOW).await.expect("opens");
    }
    assert_eq!(take(&sessions, &ada, &named("s3"), "m1", NOW).await.expect_err("full"), FaultKind::Busy);
    take(&sessions, &ada, &named("s1"), "m2", NOW).await.expect("those there are go on");
    let later = NOW.after(25 * HOUR);
    take(&sessions, &ada, &named("s3"), "m1", later).await.expect("the others have expired");
}

#[tokio::test]
async fn r_38_h_08_so_many_sessions_of_one_caller_and_no_more_and_others_have_room() {
    let (sessions, _) = sessions(1_000);
    let (ada, bob) = (user("ada"), user("bob"));
    for id in 0..MOST {
        take(&sessions, &ada, &named(&format!("s{id}")), "m1", NOW).await.expect("opens");
    }
    assert_eq!(take(&sessions, &ada, &named("more"), "m1", NOW).await.expect_err("crowded"), FaultKind::TooLarge);
    take(&sessions, &ada, &named("s1"), "m2", NOW).await.expect("those there are go on");
    take(&sessions, &bob, &named("more"), "m1", NOW).await.expect("others have room of their own");
    let owner = Principal::hub_owner(Proof::LocalSocket);
    for id in 0..=MOST {
        take(&sessions, &owner, &named(&format!("s{id}")), "m1", NOW).await.expect("the Owner has no such bound");
    }
    let later = NOW.after(25 * HOUR);
    take(&sessions, &ada, &named("more"), "m1", later).await.expect("the others have expired");
}

#[tokio::test]
async fn r_28_h_06_a_token_is_replaced_after_a_while_and_the_old_one_ends() {
    let (sessions, _) = sessions(10);
    let anyone = Principal::anonymous();
    let first = take(&sessions, &anyone, &named("s1"), "m1", NOW).await.expect("opens").token;
    let later = NOW.after(HOUR);
    let second = take(&sessions, &anyone, &first, "m2", later).await.expect("resumes").token;
    assert_ne!(second.context_token, first.context_token, "it was due");
    let lost = take(&sessions, &anyone, &first, "m3", later).await.expect("within the grace").token;
    assert_eq!(lost.session_id, first.session_id);
    let over = later.after(HOUR);
    let stranger = take(&sessions, &anyone, &first, "m4", over).await.expect("another session").token;
    assert_ne!(stranger.session_id, first.session_id);
}

#[tokio::test]
async fn r_28_a_session_nobody_comes_back_to_costs_nothing_and_its_token_leads_back() {
    let (sessions, records) = sessions(10);
    let anyone = Principal::anonymous();
    let first = take(&sessions, &anyone, &Token::default(), "m1", NOW).await.expect("opens").token;
    assert_eq!(first.conversation_turn, 1);
    assert_eq!(records.count("session", NOW).await.expect("counts"), 0);
    let alone = Token { context_token: first.context_token.clone(), ..Token::default() };
    let second = take(&sessions, &anyone, &alone, "m2", NOW.after(2 * HOUR)).await.expect("resumes").token;
    assert_eq!((&second.session_id, second.conversation_turn), (&first.session_id, 2));
    assert_eq!(records.count("session", NOW).await.expect("counts"), 1);
    assert_ne!(second.context_token, first.context_token, "like any other token it is replaced when it is due");
    let third = take(&sessions, &anyone, &second, "m3", NOW.after(2 * HOUR)).await.expect("resumes").token;
    assert_eq!(third.conversation_turn, 3);
}

#[tokio::test]
async fn r_28_h_06_a_promised_session_is_its_owners_and_ends_in_time() {
    let (sessions, _) = sessions(10);
    let anyone = Principal::anonymous();
    let first = take(&sessions, &anyone, &Token::default(), "m1", NOW).await.expect("opens").token;
    let text = first.context_token.as_ref().and_then(Secret::text).expect("a token").to_owned();
    let (name, secret) = text.split_once('.').expect("a name and a secret");
    let other = if name.ends_with('0') { '1' } else { '0' };
    let moved = format!("{}{other}.{secret}", &name[..name.len() - 1]);
    let forged = [format!("{name}.{}", "A".repeat(43)), moved, name.to_owned(), format!("{name}.")];
    for (at, token) in forged.into_iter().enumerate() {
        let token = Token { context_token: Some(Secret::new(token)), ..first.clone() };
        let got = take(&sessions, &anyone, &token, &format!("f{at}"), NOW).await.expect("another session").token;
        assert_ne!(got.session_id, first.session_id);
    }
    let own = take(&sessions, &anyone, &first, "m1b", NOW).await.expect("resumes").token;
    assert_eq!((&own.session_id, own.conversation_turn), (&first.session_id, 2), "its name was not taken either");
    let ada = take(&sessions, &user("ada"), &first, "m2", NOW).await.expect("her own").token;
    assert_eq!(ada.conversation_turn, 1);
    let fresh = Sessions::new(Arc::new(memory()), Shares::new(1 << 20), 10);
    let late = take(&fresh, &anyone, &first, "m3", NOW.after(25 * HOUR)).await.expect("another session").token;
    assert_ne!(late.session_id, first.session_id);
}

#[tokio::test]
async fn h_07_what_is_in_memory_is_changed_by_compare_and_set_like_the_rest() {
    let memory = memory();
    let put = |expect, expires| memory.put("session", "k", "v".into(), expires, expect, NOW);
    let first = put(Expect::Absent, Some(NOW.after(HOUR))).await.expect("puts");
    assert!(matches!(put(Expect::Absent, None).await, Err(StoreFault::Moved { .. })));
    let second = put(Expect::Revision(first), Some(NOW.after(HOUR))).await.expect("puts");
    assert!(matches!(put(Expect::Revision(first), None).await, Err(StoreFault::Moved { .. })));
    assert_eq!(memory.get("session", "k", NOW).await.expect("reads").expect("held").revision, second);
    assert!(memory.get("session", "k", NOW.after(HOUR)).await.expect("reads").is_none());
    assert_eq!(memory.list("session", None, 10, NOW).await.expect("lists").len(), 1);
    assert_eq!(memory.list("session", Some("k"), 10, NOW).await.expect("lists").len(), 0);
    assert_eq!(memory.expire(NOW.after(HOUR)).await.expect("expires"), 1);
    assert!(memory.take("session", "k", NOW).await.expect("takes").is_none());
}

/// Of those who hold too much, and of nobody else, the session that was used least lately makes room.
#[tokio::test]
async fn r_38_h_08_sessions_in_memory_have_bytes_for_all_and_a_quarter_for_each_caller() {
    let shares = Shares::new(80_000);
    let memory = Memory::new(shares.clone());
    let put = async |owner: &str, key: &str, length: usize, after: u64| {
        let room = Room { of: "conversations", owner: owner.into(), most: 1_000, bytes: None, beside: 0 };
        let item = Item::new(key, vec![b'x'; length].into(), Some(Time(NOW.0 + after)));
        memory.put_within(room, "session", item, NOW).await
    };
    let there = async |key: &str| memory.get("session", key, NOW).await.expect("reads").is_some();
    put("user:bob", "bob", 100, 1).await.expect("room");
    for at in 0..20 {
        put("user:ada", &format!("ada{at}"), 1_000, 100 + at).await.expect("her oldest make room");
    }
    assert!(there("bob").await && there("ada19").await && !there("ada0").await);
    assert!(shares.taken() <= 20_000 + 1_700, "{}", shares.taken());
    put("user:eve", "large", 22_000, 1).await.expect_err("more than one caller may have");
    for (owner, at) in ["user:c", "user:d", "user:e"].into_iter().zip(0..) {
        for more in 0..8 {
            put(owner, &format!("{owner}{more}"), 1_000, 200 + at).await.expect("room");
        }
    }
    put("user:f", "f0", 1_000, 300).await.expect("the oldest of the largest make room");
    assert!(there("bob").await && there("f0").await);
    assert!(shares.taken() <= 80_000, "{}", shares.taken());
    memory.expire(NOW.after(HOUR)).await.expect("expires");
    assert_eq!(shares.taken(), 0);
    let left = format!("{memory:?}");
    assert!(!left.contains("user:") && !left.contains("ada19"), "every table is empty: {left}");
}

#[tokio::test]
async fn h_08_a_context_expires_with_its_session() {
    let (sessions, records) = sessions(10);
    let context = Json::from(serde_json::json!({"city": "Lisbon"}));
    assert_eq!(take_with(&sessions, "m1", &Context::Keep(context.clone()), NOW).await, None);
    assert_eq!(take_with(&sessions, "m2", &Context::Bring, NOW.after(23 * HOUR)).await, Some(context));
    assert_eq!(take_with(&sessions, "m3", &Context::Bring, NOW.after(48 * HOUR)).await, None, "it is gone with it");
    let long_after = NOW.after(96 * HOUR);
    assert_eq!(records.expire(long_after).await.expect("expires"), 1);
    assert!(records.list("session", None, 10, Time(0)).await.expect("lists").is_empty());
}
