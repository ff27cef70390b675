//! Limits by rule, on entry: their callers, what they count by, and the time to retry.

use interlingua_machines::limit::Pace;

use super::*;
use crate::limits::{LimitRule, Per, Role, When};

const HOUR: Duration = Duration::from_secs(3600);

fn rule(per: Per, when: When) -> LimitRule {
    LimitRule { when, per, calls: Some(Pace::new(2, HOUR, None)), bytes: None, in_flight: None }
}

fn user(name: &str, scopes: &[&str]) -> Principal {
    let scopes = ["*"].iter().chain(scopes).map(|scope| Text::from(*scope)).collect();
    Principal::new(Link { subject: Subject::User(name.into()), proof: Proof::Token, scopes, until: None })
}

async fn made(bench: &Bench, by: &Principal, skill: &str, n: u32) -> Result<(), Fault> {
    let mut call = call(skill, json!({"n": n}));
    call.origin = Wire("mcp/2026-07-28".into()).into();
    let mut running = bench.hub.open(Request { by: by.clone(), ..request(call) }).await?;
    outcome(&mut running).await;
    Ok(())
}

/// How many of four calls are let in, and what the last one was told.
async fn let_in(bench: &Bench, by: &Principal, skill: &str) -> usize {
    let mut count = 0;
    for n in 0..4 {
        match made(bench, by, skill, n).await {
            Ok(()) => count += 1,
            Err(fault) => {
                assert_eq!((fault.kind, &fault.origin), (FaultKind::Busy, &Party::Caller));
                assert!(matches!(fault.retry, Retry::After(Some(wait)) if wait <= HOUR), "{fault:?}");
            }
        }
    }
    count
}

#[tokio::test]
async fn a_rule_counts_for_each_caller_peer_or_skill_or_for_all_together() {
    let (ann, bob) = (user("ann", &[]), user("bob", &[]));
    for (per, expected) in [
        (Per::Principal, [2, 0, 2]),
        (Per::Skill, [2, 2, 0]),
        (Per::Peer, [2, 0, 0]),
        (Per::Rule, [2, 0, 0]),
        (Per::Call, [4, 4, 4]),
    ] {
        let bench = bench();
        bench.hub.limits.set(vec![rule(per, When::default())]);
        let counts = [
            let_in(&bench, &ann, "echo").await,
            let_in(&bench, &ann, "write").await,
            let_in(&bench, &bob, "echo").await,
        ];
        assert_eq!(counts, expected, "{per:?}");
    }
}

#[tokio::test]
async fn the_same_call_again_and_again_is_stopped_and_another_is_not() {
    let bench = bench();
    bench.hub.limits.set(vec![rule(Per::Call, When::default())]);
    let ann = user("ann", &[]);
    for _ in 0..2 {
        made(&bench, &ann, "echo", 1).await.expect("not too often yet");
    }
    let fault = made(&bench, &ann, "echo", 1).await.expect_err("too often");
    assert!(fault.public.contains("the same call"), "{fault:?}");
    made(&bench, &ann, "echo", 2).await.expect("another call");
    made(&bench, &user("bob", &[]), "echo", 1).await.expect("another caller");
    assert_eq!(bench.calls.load(Ordering::SeqCst), 4, "nothing was sent to the peer for it");
}

#[tokio::test]
async fn a_rule_speaks_of_the_calls_it_names() {
    let ann = user("ann", &["role:clerk"]);
    let through = ann.through(Link {
        subject: Subject::Agent("helper".into()),
        proof: Proof::InProcess,
        scopes: vec!["*".into()],
        until: None,
    });
    let text = |text: &str| Some(Text::from(text));
    let role = |name: &str, members: &[&str]| {
        Some(Role { name: name.into(), members: members.iter().map(|member| Text::from(*member)).collect() })
    };
    for (when, fits) in [
        (When::default(), true),
        (When { principal: text("user:*"), ..When::default() }, true),
        (When { principal: text("agent:helper"), ..When::default() }, true),
        (When { principal: text("user:bob"), ..When::default() }, false),
        (When { role: role("clerk", &[]), ..When::default() }, true),
        (When { role: role("guest", &["user:ann"]), ..When::default() }, true),
        (When { role: role("guest", &["user:bob"]), ..When::default() }, false),
        (When { protocol: text("mcp"), ..When::default() }, true),
        (When { protocol: text("a2a"), ..When::default() }, false),
        (When { peer: text("fa*"), ..When::default() }, true),
        (When { peer: text("other"), ..When::default() }, false),
        (When { skill: text("*/echo"), ..When::default() }, true),
        (When { skill: text("fake/write"), ..When::default() }, false),
        (When { protocol: text("mcp"), skill: text("fake/write"), ..When::default() }, false),
    ] {
        let bench = bench();
        bench.hub.limits.set(vec![rule(Per::Rule, when.clone())]);
        assert_eq!(let_in(&bench, &through, "echo").await, if fits { 2 } else { 4 }, "{when:?}");
    }
}

#[tokio::test]
async fn what_an_agent_does_for_somebody_counts_as_theirs() {
    let bench = bench();
    bench.hub.limits.set(vec![rule(Per::Principal, When::default())]);
    let ann = user("ann", &[]);
    let link = |name: &str| Link {
        subject: Subject::Agent(name.into()),
        proof: Proof::InProcess,
        scopes: vec!["*".into()],
        until: None,
    };
    made(&bench, &ann, "echo", 1).await.expect("her first");
    made(&bench, &ann.through(link("one")), "echo", 1).await.expect("her second");
    made(&bench, &ann.through(link("two")), "echo", 1).await.expect_err("whoever makes it");
}

#[tokio::test]
async fn calls_at_the_same_time_are_bounded_until_one_ends() {
    let bench = bench();
    let in_flight = LimitRule { calls: None, in_flight: Some(1), ..rule(Per::Principal, When::default()) };
    bench.hub.limits.set(vec![in_flight]);
    let (ann, bob) = (user("ann", &[]), user("bob", &[]));
    let mut hanging = call("hang", json!({}));
    hanging.limits.on_disconnect = OnDisconnect::Cancel;
    let hanging = bench.hub.open(Request { by: ann.clone(), ..request(hanging) }).await.expect("opens");
    let fault = made(&bench, &ann, "echo", 1).await.expect_err("one runs");
    assert_eq!(fault.retry, Retry::After(Some(Duration::from_secs(1))));
    made(&bench, &bob, "echo", 1).await.expect("another caller");
    drop(hanging);
    let ended = async {
        while made(&bench, &ann, "echo", 1).await.is_err() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), ended).await.expect("it has ended");
}

#[tokio::test]
async fn bytes_are_counted_and_a_reload_resets_nothing_that_stays() {
    let bench = bench();
    let bytes =
        LimitRule { calls: None, bytes: Some(Pace::new(10, HOUR, None)), ..rule(Per::Principal, When::default()) };
    bench.hub.limits.set(vec![bytes.clone()]);
    let ann = user("ann", &[]);
    made(&bench, &ann, "echo", 1).await.expect("seven bytes");
    made(&bench, &ann, "echo", 1).await.expect_err("seven more");
    bench.hub.limits.set(vec![rule(Per::Skill, When::default()), bytes]);
    made(&bench, &ann, "echo", 1).await.expect_err("it remembers");
    bench.hub.limits.set(Vec::new());
    made(&bench, &ann, "echo", 1).await.expect("no rule, no limit");
}
