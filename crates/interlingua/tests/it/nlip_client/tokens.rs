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
            Say::Json(with(text(name), [token(&format!("conversation_{name}"), &format!("{name}-{before}"))]))
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
    let expected = [none.clone(), vec![token("conversation_north", "north-0")], none.clone()];
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
