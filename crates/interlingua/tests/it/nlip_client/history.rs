//! First draft, clause 5.2.1: labels carry who spoke, and in which order.

use interlingua_testkit::Scripted;

use super::*;

#[tokio::test]
async fn n_72_the_turns_of_a_history_reach_the_agent_under_their_labels() {
    let scripted = Scripted::http(|_, _| says("noted")).await;
    let hub = hub(&[("desk", agent(scripted.address()))]).await;
    let turn = |label: &str, words: &str| {
        let mut said = text(words);
        said["label"] = label.into();
        said
    };
    let history = [turn("2-assistant", "for when?"), turn("user:1", "a table"), turn("User:3", "for eight")];
    hub.post_json("/agents/desk/nlip", &with(text("and a cake"), history)).await;

    let message = scripted.heard()[0].json();
    assert_eq!(message["content"], "and a cake", "the present comes first: {message}");
    let turns = submessages(&message);
    let turns: Vec<_> = turns.iter().map(|turn| (turn["label"].as_str(), turn["content"].as_str())).collect();
    let expected = [
        (Some("user:1"), Some("a table")),
        (Some("assistant:2"), Some("for when?")),
        (Some("user:3"), Some("for eight")),
    ];
    assert_eq!(turns, expected);
}

#[tokio::test]
async fn n_72_a_label_of_the_agents_comes_back_to_the_caller() {
    let scripted = Scripted::http(|_, _| {
        let mut note = text("with a view");
        note["label"] = "assistant:4".into();
        interlingua_testkit::Say::Json(with(text("a table"), [note]))
    })
    .await;
    let hub = hub(&[("desk", agent(scripted.address()))]).await;
    let answer = hub.post_json("/agents/desk/nlip", &text("which?")).await.json();
    assert_eq!(labelled(&answer, "assistant:4").expect("the labelled part")["content"], "with a view", "{answer}");
}
