//! Authentication (ECMA-430 clause 6.2.2; first draft, clause 6.5).

use interlingua_testkit::{Heard, Say, Scripted};

use super::*;

fn shown(heard: &Heard) -> Vec<Value> {
    tokens(&heard.json()).into_iter().filter(|token| token["subformat"] == "authentication").collect()
}

/// Asks who is speaking until a control message brings this token; then takes it, and answers.
async fn wants(secret: &'static str) -> Scripted {
    Scripted::http(move |heard, before| {
        let right = shown(heard) == [token("authentication", secret)];
        match (right, heard.json()["messagetype"] == "control") {
            (true, true) => Say::Json(control(text("thank you"))),
            (true, false) if before > 1 => says("come in"),
            (true | false, _) => Say::Json(control(text("Please authenticate yourself."))),
        }
    })
    .await
}

#[tokio::test]
async fn n_50_n_70_asked_by_a_control_message_the_configured_token_is_shown_then_and_on_every_later_message() {
    let scripted = wants("key-of-the-hub").await;
    let line = format!("{{ nlip: {{ url: \"http://{}/nlip\", token: key-of-the-hub }} }}", scripted.address());
    let hub = hub(&[("desk", line)]).await;
    let first = hub.post_json("/agents/desk/nlip", &text("open the door")).await.json();
    assert_eq!(first["content"], "come in", "{first}");
    let second = hub.post_json("/agents/desk/nlip", &then(&first, "thank you")).await.json();
    assert_eq!(second["content"], "come in", "{second}");

    let heard = scripted.heard();
    heard.iter().for_each(|heard| crate::nlip::assert_fits_annex_a(&heard.json()));
    let kinds: Vec<Value> = heard.iter().map(|heard| heard.json()["messagetype"].clone()).collect();
    let data = Value::Null;
    assert_eq!(kinds, [data.clone(), "control".into(), data.clone(), data], "asked, answered, said again, said more");
    assert_eq!(heard[2].json()["content"], "open the door");
    assert!(heard[1..].iter().all(|heard| shown(heard) == [token("authentication", "key-of-the-hub")]));
    assert!(!hub.log().contains("key-of-the-hub"), "a token is in the log");
}

#[tokio::test]
async fn n_70_without_a_configured_token_the_caller_is_asked_by_a_control_message() {
    let scripted = wants("key-of-the-caller").await;
    let other = Scripted::http(|_, _| says("hello")).await;
    let hub = hub(&[("desk", agent(scripted.address())), ("other", agent(other.address()))]).await;
    let asked = hub.post_json("/agents/desk/nlip", &text("open the door")).await.json();
    assert_eq!(asked["messagetype"], "control", "{asked}");

    let answer = with(control(then(&asked, "here")), [token("authentication", "key-of-the-caller")]);
    let answered = hub.post_json("/agents/desk/nlip", &answer).await.json();
    assert_eq!(answered["content"], "come in", "{answered}");
    hub.post_json("/agents/desk/nlip", &then(&asked, "and now?")).await;
    hub.post_json("/agents/other/nlip", &then(&asked, "hello")).await;

    let later: Vec<Vec<Value>> = scripted.heard()[1..].iter().map(shown).collect();
    assert!(later.len() >= 3, "{later:?}");
    assert!(later.iter().all(|shown| *shown == [token("authentication", "key-of-the-caller")]), "{later:?}");
    assert!(other.heard().iter().all(|heard| shown(heard).is_empty()), "another agent was shown the credential");
    assert!(!hub.log().contains("key-of-the-caller"), "a token is in the log");
}

#[tokio::test]
async fn n_70_a_status_401_asks_for_credentials_too() {
    let scripted = Scripted::http(|heard, _| match shown(heard).is_empty() {
        true => Say::Status(401, Vec::new(), text("who are you?")),
        false => says("come in"),
    })
    .await;
    let hub = hub(&[("desk", agent(scripted.address()))]).await;
    let asked = hub.post_json("/agents/desk/nlip", &text("open")).await;
    assert_eq!((asked.status, asked.json()["messagetype"].clone()), (200, "control".into()), "{}", asked.text());
    let answer = with(control(then(&asked.json(), "here")), [token("authentication", "key")]);
    let answered = hub.post_json("/agents/desk/nlip", &answer).await.json();
    assert_eq!(answered["content"], "come in", "{answered}");
}

#[tokio::test]
async fn n_69_the_hubs_own_token_answers_no_agents_question() {
    let scripted = wants("anything").await;
    let hub = hub(&[("desk", agent(scripted.address()))]).await;
    let asked = hub.post_json("/agents/desk/nlip", &text("open the door")).await.json();
    let own = std::fs::read_to_string(hub.data().join("token")).expect("the Owner's token");
    let own = token("authentication", own.trim());
    let id = labelled(&asked, "interlingua-question").expect("a question")["content"]["id"].clone();
    let named = serde_json::json!({"format": "structured", "subformat": "json", "label": "interlingua-answer",
        "content": {"id": id}});
    hub.post_json("/agents/desk/nlip", &with(control(then(&asked, "here")), [own.clone()])).await;
    hub.post_json("/agents/desk/nlip", &with(then(&asked, "here"), [own, named])).await;
    assert!(scripted.heard().iter().all(|heard| shown(heard).is_empty()), "an agent was shown the hub's own token");
}
