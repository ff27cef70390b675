//! Tokens of the agent's leg (ECMA-430 clause 6.2).

use interlingua_testkit::{Say, Scripted};
use serde_json::json;

use super::*;

fn all_kinds() -> [Value; 4] {
    [
        token("conversation", "plain"),
        token("conversation_srv", "suffixed"),
        token("authentication", "badge"),
        json!({"format": "token", "subformat": "Group_7", "content": {"n": 1.10}, "label": "L1"}),
    ]
}

#[tokio::test]
async fn n_34_n_50_every_kind_of_token_goes_back_unmodified_also_after_a_crash() {
    let scripted = Scripted::http(|_, before| match before {
        0 => Say::Json(with(text("welcome"), all_kinds())),
        _ => says("again"),
    })
    .await;
    let mut hub = hub(&[("desk", agent(scripted.address()))]).await;
    let first = hub.post_json("/agents/desk/nlip", &text("one")).await.json();
    let second = hub.post_json("/agents/desk/nlip", &then(&first, "two")).await.json();
    hub.kill_9();
    hub.restart().await;
    hub.post_json("/agents/desk/nlip", &then(&second, "three")).await;

    let heard = scripted.heard();
    heard.iter().for_each(|heard| crate::nlip::assert_fits_annex_a(&heard.json()));
    assert!(tokens(&heard[0].json()).is_empty(), "a first message has no token to return");
    for later in &heard[1..] {
        assert_eq!(tokens(&later.json()), all_kinds(), "kept until replaced, in order, label and all");
    }
    assert_eq!(heard.len(), 3);
}

#[tokio::test]
async fn n_34_a_token_sent_again_replaces_the_one_before() {
    let scripted = Scripted::http(|_, before| {
        Say::Json(with(text("turn"), [token("conversation_srv", &format!("turn-{before}"))]))
    })
    .await;
    let hub = hub(&[("desk", agent(scripted.address()))]).await;
    let first = hub.post_json("/agents/desk/nlip", &text("one")).await.json();
    let second = hub.post_json("/agents/desk/nlip", &then(&first, "two")).await.json();
    hub.post_json("/agents/desk/nlip", &then(&second, "three")).await;
    assert_eq!(tokens(&scripted.heard()[2].json()), [token("conversation_srv", "turn-1")]);
}

#[tokio::test]
async fn n_69_each_side_of_the_proxy_has_its_own_conversation() {
    let gives = |name: &'static str| {
        move |_: &interlingua_testkit::Heard, before: usize| {
            let conversation = token(&format!("conversation_{name}"), &format!("{name}-{before}"));
            Say::Json(with(text(name), [conversation, token("authentication", &format!("{name}-badge"))]))
        }
    };
    let (north, south) = (Scripted::http(gives("north")).await, Scripted::http(gives("south")).await);
    let hub = hub(&[("north", agent(north.address())), ("south", agent(south.address()))]).await;
    let mine = [token("authentication", "secret-of-the-caller"), token("conversation_me", "mine")];
    let first = hub.post_json("/agents/north/nlip", &with(text("one"), mine.clone())).await.json();
    let second = hub.post_json("/agents/south/nlip", &then(&first, "two")).await.json();
    hub.post_json("/agents/north/nlip", &then(&second, "three")).await;
    let stranger = hub.post_json("/agents/north/nlip", &text("somebody else")).await.json();

    for answer in [&first, &second] {
        let shown = tokens(answer);
        assert!(mine.iter().all(|own| shown.contains(own)), "the caller's own come back to it: {shown:?}");
        for agents in ["north-", "south-"] {
            assert!(!format!("{shown:?}").contains(agents), "an agent's never reach the caller: {shown:?}");
        }
    }
    let seen = |peer: &Scripted| peer.heard().iter().map(|heard| tokens(&heard.json())).collect::<Vec<_>>();
    let none: Vec<Value> = Vec::new();
    let kept = vec![token("conversation_north", "north-0"), token("authentication", "north-badge")];
    let expected = [none.clone(), kept, none.clone()];
    assert_eq!(seen(&north), expected, "one conversation here is one there; another is another");
    assert_eq!(seen(&south), [none]);
    assert_eq!(stranger["content"], "north");
}

#[tokio::test]
async fn n_69_behind_the_front_door_too() {
    let north = Scripted::http(|_, before| {
        Say::Json(with(text("north"), [token("conversation_north", &format!("north-{before}"))]))
    })
    .await;
    let yaml = format!("peers:\n  north: {}\nfront_door: north\n", agent(north.address()));
    let hub = Hub::start(env!("CARGO_BIN_EXE_interlingua"), &yaml).await;
    let mine = [token("authentication", "secret-of-the-caller"), token("conversation_me", "mine")];
    let first = hub.post_json("/nlip", &with(text("one"), mine.clone())).await.json();
    let second = hub.post_json("/nlip", &then(&first, "two")).await.json();
    for answer in [&first, &second] {
        let shown = tokens(answer);
        assert_eq!(answer["content"], "north", "{answer}");
        assert!(mine.iter().all(|own| shown.contains(own)), "the caller's own come back to it: {shown:?}");
        assert!(!answer.to_string().contains("north-"), "an agent's never reach the caller: {answer}");
    }
    let seen: Vec<Vec<Value>> = north.heard().iter().map(|heard| tokens(&heard.json())).collect();
    assert_eq!(seen, [vec![], vec![token("conversation_north", "north-0")]]);
}

/// The hub in the middle: one message to it becomes messages to both agents, each of which gave tokens of its own.
#[tokio::test]
async fn n_69_an_agent_in_the_middle_shows_each_peer_its_own_tokens_alone() {
    let gives = |name: &'static str| {
        move |_: &interlingua_testkit::Heard, before: usize| {
            let own = ["authentication", "conversation", "Group_7"];
            let own = own.map(|kind| token(kind, &format!("{name}-{kind}-{before}")));
            Say::Json(with(text(name), own))
        }
    };
    let (north, south) = (Scripted::http(gives("north")).await, Scripted::http(gives("south")).await);
    let calls = |peer: &str| format!("call: [{{ name: {peer}__chat, arguments: {{ message: hello }} }}]");
    let both = format!("  - {{ {} }}\n  - {{ {} }}\n  - {{ say: asked both }}\n", calls("north"), calls("south"));
    let reads = |peer: &Scripted| agent(peer.address()).replacen("{ nlip", "{ effects: reads, nlip", 1);
    let (one, two) = (reads(&north), reads(&south));
    let yaml = format!(
        "peers:\n  north: {one}\n  south: {two}\nmodels: {{ lines: {{ provider: scripted, file: ./lines.yaml }} }}\n\
         agents: {{ middle: {{ model: lines, skills: [north/chat, south/chat] }} }}\n"
    );
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config(&yaml);
    let hub = builder.file("lines.yaml", format!("replies:\n{both}{both}")).start().await;
    let mine = [token("authentication", "secret-of-the-caller"), token("conversation_me", "mine-of-the-caller")];
    let first = hub.post_json("/agents/middle/nlip", &with(text("ask both"), mine.clone())).await.json();
    let second = hub.post_json("/agents/middle/nlip", &then(&first, "and again")).await.json();
    for answer in [&first, &second] {
        assert_eq!(answer["content"], "asked both", "{answer}");
        let shown = format!("{:?}", tokens(answer));
        assert!(mine.iter().all(|own| tokens(answer).contains(own)), "the caller's own come back to it: {shown}");
        assert!(!shown.contains("north-") && !shown.contains("south-"), "an agent's never reach the caller: {shown}");
    }
    for (own, others, peer) in [("north-", "south-", &north), ("south-", "north-", &south)] {
        let heard = conversed(peer);
        assert_eq!(heard.len(), 2, "{own}: asked once for each message: {heard:?}");
        for (_, heard) in heard {
            let shown = tokens(&heard.json());
            let foreign = |token: &&Value| !token["content"].as_str().is_some_and(|content| content.starts_with(own));
            assert!(shown.iter().find(foreign).is_none(), "{own}: shown a token that is not its own: {shown:?}");
            let all = format!("{:?} {}", heard.headers, String::from_utf8_lossy(&heard.body));
            assert!(!all.contains(others) && !all.contains("-of-the-caller"), "{own}: {all}");
        }
    }
}
