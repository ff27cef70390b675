//! An agent that is a hub itself asks back by `interlingua-question`; the answer goes back to it.

use interlingua_testkit::{Say, Scripted};
use serde_json::json;

use super::*;

const QUESTION: &str = "00000000000000000000000000000001-0";

async fn asking() -> Scripted {
    Scripted::http(|heard, _| match labelled(&heard.json(), "interlingua-answer") {
        None if asks_for_skills(&heard.body) => says("nothing"),
        None => {
            let form = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
            let question = json!({"format": "structured", "subformat": "json", "label": "interlingua-question",
                "content": {"id": QUESTION, "kind": "input", "text": "In whose name?", "form": form}});
            Say::Json(with(text("In whose name?"), [question, token("conversation_far", "c1")]))
        }
        Some(_) => says("booked"),
    })
    .await
}

async fn answered(restart: bool) -> (Value, Scripted) {
    let scripted = asking().await;
    let line = agent(scripted.address()).replace("{ nlip", "{ hub: true, nlip");
    let mut hub = hub(&[("far", line)]).await;
    let asked = hub.post_json("/agents/far/nlip", &text("a table")).await.json();
    assert!(labelled(&asked, "interlingua-question").is_some(), "{asked}");
    if restart {
        hub.kill_9();
        hub.restart().await;
    }
    (hub.post_json("/agents/far/nlip", &then(&asked, "Ada")).await.json(), scripted)
}

fn check(answer: &Value, scripted: &Scripted) {
    assert_eq!(answer["content"], "booked", "{answer}");
    let heard = conversed(scripted);
    assert_eq!(heard.len(), 2);
    let forwarded = heard[1].1.json();
    let named = labelled(&forwarded, "interlingua-answer").unwrap_or_else(|| panic!("names its question: {forwarded}"));
    assert_eq!(named["content"]["id"], QUESTION);
    assert_eq!(named["content"]["answer"], json!({"name": "Ada"}));
    assert_eq!(tokens(&forwarded), [token("conversation_far", "c1")]);
}

#[tokio::test]
async fn a_question_of_a_hub_reaches_the_caller_and_the_answer_reaches_that_hub() {
    let (answer, scripted) = answered(false).await;
    check(&answer, &scripted);
}

#[tokio::test]
async fn a_question_of_a_hub_stands_after_a_crash() {
    let (answer, scripted) = answered(true).await;
    check(&answer, &scripted);
}
