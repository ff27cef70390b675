//! ECMA-430, clause 6.2: tokens come back as they were sent.

use serde_json::json;

use super::{ask, echoed, hub, text, token, tokens, with};

#[tokio::test]
async fn n_25_a_conversation_token_comes_back_exactly() {
    let sent = token("conversation", "a b\u{00E9}\u{1F511}\"\\");
    let reply = ask(&hub().await, &with(text("hello"), std::slice::from_ref(&sent))).await;
    assert!(tokens(&reply).contains(&sent), "{reply}");
}

#[tokio::test]
async fn n_26_suffixed_conversation_token_is_echoed() {
    let sent = token("conversation_alice", "abc");
    let reply = ask(&hub().await, &with(text("hello"), std::slice::from_ref(&sent))).await;
    assert!(tokens(&reply).contains(&sent), "{reply}");
}

#[tokio::test]
async fn n_27_all_of_several_tokens_come_back_and_none_is_altered() {
    let sent = [token("conversation", "A"), token("conversation", "B"), token("conversation_bob", "C")];
    let reply = ask(&hub().await, &with(text("hello"), &sent)).await;
    for one in &sent {
        assert_eq!(tokens(&reply).iter().filter(|token| *token == one).count(), 1, "{one} in {reply}");
    }
}

#[tokio::test]
async fn n_28_an_authentication_token_of_somebody_else_comes_back() {
    let hub = hub().await;
    for kind in ["authentication", "authentication_partner"] {
        let sent = token(kind, "not-ours");
        let reply = ask(&hub, &with(text("hello"), std::slice::from_ref(&sent))).await;
        assert!(tokens(&reply).contains(&sent), "{reply}");
    }
}

#[tokio::test]
async fn n_29_tokens_of_any_other_kind_come_back() {
    let sent = token("group_7", "G");
    let reply = ask(&hub().await, &with(text("hello"), std::slice::from_ref(&sent))).await;
    assert!(tokens(&reply).contains(&sent), "{reply}");
}

#[tokio::test]
async fn n_30_a_token_as_the_message_itself_comes_back_as_a_submessage() {
    let sent = token("conversation", "first");
    let reply = ask(&hub().await, &sent).await;
    assert!(tokens(&reply).contains(&sent), "{reply}");
}

#[tokio::test]
async fn n_31_the_label_of_a_token_comes_back_with_it() {
    let sent = json!({"format": "token", "subformat": "conversation", "content": "abc", "label": "L1"});
    let reply = ask(&hub().await, &with(text("hello"), std::slice::from_ref(&sent))).await;
    assert!(tokens(&reply).contains(&sent), "{reply}");
}

#[tokio::test]
async fn n_32_what_only_looks_like_a_token_is_left_alone() {
    let hub = hub().await;
    for lookalike in [
        json!({"format": "text", "subformat": "conversational english", "content": "keep me"}),
        json!({"format": "generic", "subformat": "conversation", "content": "keep me"}),
        json!({"format": "structured", "subformat": "authentication_x", "content": "keep me"}),
    ] {
        let reply = ask(&hub, &with(text("hello"), &[lookalike.clone(), token("conversation", "T")])).await;
        assert_eq!(tokens(&reply).iter().filter(|one| one["content"] == "T").count(), 1, "{reply}");
        assert!(tokens(&reply).iter().all(|one| one["content"] != "keep me"), "{reply}");
        let kept = echoed(&hub, &[lookalike.clone(), token("conversation", "T")]).await;
        assert!(kept.contains(&lookalike), "{lookalike}, whole: {kept:?}");
    }
}

#[tokio::test]
async fn n_33_the_hubs_own_token_stands_beside_the_callers() {
    let hub = hub().await;
    let own = tokens(&ask(&hub, &text("hello")).await);
    assert_eq!(own.len(), 1, "a conversation token of the hub: {own:?}");
    let sent = token("conversation_me", "mine");
    let both = tokens(&ask(&hub, &with(text("hello"), &[own[0].clone(), sent.clone()])).await);
    assert!(both.contains(&sent) && both.contains(&own[0]), "{both:?}");
    // Also in the first message of a conversation, when the hub has none yet to be sent back.
    let first = tokens(&ask(&hub, &with(text("hello"), std::slice::from_ref(&sent))).await);
    let added: Vec<_> = first.iter().filter(|token| **token != sent).collect();
    assert_eq!((first.len(), added.len()), (2, 1), "the caller's and one of the hub's: {first:?}");
    assert_ne!(added[0]["subformat"], sent["subformat"], "{first:?}");
    assert_ne!(added[0]["content"], sent["content"], "{first:?}");
}
