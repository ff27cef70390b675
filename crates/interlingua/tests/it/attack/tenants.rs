//! Tenant isolation: what one caller could read or change of another through agents, sessions, sites, hooks and push configurations.

use http::Method;
use http_body_util::Full;
use interlingua_testkit::provider::{Provider, Reply, Spelling, Turn};
use interlingua_testkit::{Answer, Hub, Say, Scripted, request};
use serde_json::{Value, json};

use crate::support::{self, send, until};

const ANN: (&str, &str) = ("authorization", "Bearer token-of-ann");
const BOB: (&str, &str) = ("authorization", "Bearer token-of-bob");
const TOKENS: &str = "{ tokens: [{ name: ann, token: token-of-ann }, { name: bob, token: token-of-bob }] }";
const SECRET: &str = "SWORDFISH";

/// A model that says the same always, and remembers what it was given.
async fn model() -> Provider {
    Provider::start(Spelling::Openai, vec![Turn::Says(Reply::text("Noted."), 4096); 64]).await
}

/// A hub with an agent that anybody may talk to.
async fn hub(model: &Provider, more: &str) -> Hub {
    let config = format!(
        "models: {{ m: {{ provider: openai, model: m-1, base_url: \"{}\", api_key: k, attempts: 1 }} }}\n\
         agents: {{ clerk: {{ model: m, public: true }} }}\nfront_door: clerk\naccess: {TOKENS}\n{more}",
        model.base_url()
    );
    Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config(&config).start().await
}

/// As whoever the headers prove; nobody without.
async fn post(hub: &Hub, path: &str, who: &[(&str, &str)], body: &Value) -> Answer {
    let mut sent = request(Method::POST, path).header("content-type", "application/json").header("a2a-version", "1.0");
    for (name, value) in who {
        sent = sent.header(*name, *value);
    }
    let sent = sent.body(Full::new(body.to_string().into())).expect("a request");
    hub.connect_anonymous().await.send(sent).await
}

fn rpc(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

/// Says something to the agent by A2A; the context that the answer belongs to.
async fn by_a2a(hub: &Hub, who: &[(&str, &str)], context: Option<&str>, text: &str) -> String {
    let id = format!("m-{text}-{}", context.unwrap_or_default());
    let mut message = json!({"messageId": id, "role": "ROLE_USER", "parts": [{ "text": text }]});
    if let Some(context) = context {
        message["contextId"] = context.into();
    }
    let answer = post(hub, "/agents/clerk/a2a", who, &rpc("SendMessage", json!({ "message": message }))).await.json();
    assert!(answer["result"].to_string().contains("Noted."), "{answer}");
    let result = answer["result"].as_object().and_then(|result| result.values().next()).cloned().unwrap_or_default();
    result["contextId"].as_str().unwrap_or_else(|| panic!("no context: {answer}")).to_owned()
}

/// Says something to the agent by the routing envelope; the token of the answer.
async fn by_envelope(hub: &Hub, who: &[(&str, &str)], token: Value, text: &str) -> Value {
    let request = json!({
        "control": {"message_type": "request", "message_id": format!("e-{text}")},
        "token": token,
        "content": {"messages": [{"role": "user", "content": text}]},
    });
    let answer = post(hub, "/nlip/route", who, &request).await;
    assert!(answer.text().contains("Noted."), "{}", answer.text());
    answer.json().as_array().and_then(|all| all.last().cloned()).expect("a response")["token"].clone()
}

async fn by_api(hub: &Hub, who: &[(&str, &str)], conversation: Option<&str>, text: &str) -> Answer {
    let mut body = json!({"skill": "clerk/chat", "text": text});
    if let Some(conversation) = conversation {
        body["conversation"] = conversation.into();
    }
    post(hub, "/api/exchanges", who, &body).await
}

/// Was the model shown the secret in the last thing it was asked?
fn was_shown(model: &Provider) -> bool {
    model.asked().last().expect("it was asked").body.to_string().contains(SECRET)
}

fn confides() -> String {
    format!("my word is {SECRET}")
}

#[tokio::test]
async fn attack_a_stranger_names_the_conversation_of_another_stranger() {
    let model = model().await;
    let mut hub = hub(&model, "").await;
    for name in ["shop", "1", "default", "a3-session", "00000000-0000-1000-8000-000000000000"] {
        by_a2a(&hub, &[], Some(name), &confides()).await;
        by_a2a(&hub, &[], Some(name), "what is my word?").await;
        assert!(!was_shown(&model), "two strangers who call it {name}");
    }
    // A session of the envelope has a name, and a token that proves it. Its name proves nothing elsewhere.
    let named = json!({"session_id": "basket-7", "conversation_turn": 0});
    let token = by_envelope(&hub, &[], named.clone(), &confides()).await;
    by_a2a(&hub, &[], Some("basket-7"), "what is my word?").await;
    assert!(!was_shown(&model), "by the name of a session");
    by_envelope(&hub, &[], named, "what was my word?").await;
    assert!(!was_shown(&model), "by the same name without its token");
    hub.restart().await;
    by_a2a(&hub, &[], Some("basket-7"), "what is my word now?").await;
    assert!(!was_shown(&model), "after a restart");
    // Whoever has what the hub gave it is remembered.
    by_envelope(&hub, &[], token, "and my word?").await;
    assert!(was_shown(&model), "by its token");
    let context = by_a2a(&hub, &[], None, &confides()).await;
    by_a2a(&hub, &[], Some(&context), "do you know my word?").await;
    assert!(was_shown(&model), "by the context that the hub made");
}

#[tokio::test]
async fn attack_another_caller_goes_on_with_a_conversation_of_an_agent() {
    let model = model().await;
    let mut hub = hub(&model, "").await;
    let context = by_a2a(&hub, &[ANN], Some("diary"), &confides()).await;
    let token = by_envelope(&hub, &[ANN], json!({"session_id": "diary-2", "conversation_turn": 0}), &confides()).await;
    let begun = by_api(&hub, &[ANN], None, &confides()).await.json();
    let conversation = begun["conversation"].as_str().expect("a conversation").to_owned();
    for turn in 0..2 {
        for who in [&[BOB][..], &[]] {
            for name in [context.as_str(), "Diary", "diary ", "ｄiary", "diary-2", conversation.as_str()] {
                by_a2a(&hub, who, Some(name), "what is my word?").await;
                assert!(!was_shown(&model), "{who:?} by the context {name}");
            }
            let id = conversation.rsplit_once('.').map_or(conversation.as_str(), |(id, _)| id);
            by_a2a(&hub, who, Some(id), "what is my word?").await;
            assert!(!was_shown(&model), "{who:?} by the id of a conversation");
            let fixed = json!({"session_id": "diary-2", "conversation_turn": 1});
            for token in [token.clone(), json!({"context_token": token["context_token"]}), fixed] {
                by_envelope(&hub, who, token.clone(), &format!("what is my word? {turn}")).await;
                assert!(!was_shown(&model), "{who:?} by {token}");
            }
            for name in [conversation.as_str(), id, context.as_str()] {
                let asked = model.asked().len();
                let answer = by_api(&hub, who, Some(name), "what is my word?").await;
                assert_eq!((answer.status, model.asked().len()), (404, asked), "{who:?} {name}: {}", answer.text());
            }
        }
        hub.restart().await;
    }
    by_api(&hub, &[ANN], Some(&conversation), "what is my word?").await;
    assert!(was_shown(&model), "its own caller is remembered");
    by_a2a(&hub, &[ANN], Some("diary"), "what is my word?").await;
    assert!(was_shown(&model), "by a name of her own, too");
}

/// `ann` deletes it, once; nobody else does.
async fn forgotten(hub: &Hub, conversation: &str) {
    let path = format!("/api/conversations/{conversation}");
    assert_eq!(send(hub, Method::DELETE, &path, &[BOB], None).await.status, 404, "it is not his: {conversation}");
    let deleted = send(hub, Method::DELETE, &path, &[ANN], None).await;
    assert_eq!(deleted.status, 204, "{conversation}: {}", deleted.text());
    assert_eq!(send(hub, Method::DELETE, &path, &[ANN], None).await.status, 404, "it is gone: {conversation}");
}

#[tokio::test]
async fn attack_an_agent_remembers_a_conversation_that_was_deleted() {
    let model = model().await;
    let hub = hub(&model, "").await;
    let begun = by_api(&hub, &[ANN], None, &confides()).await.json();
    let conversation = begun["conversation"].as_str().expect("a conversation").to_owned();
    by_api(&hub, &[ANN], Some(&conversation), "what is my word?").await;
    assert!(was_shown(&model));
    by_a2a(&hub, &[ANN], Some("diary"), &confides()).await;
    forgotten(&hub, &conversation).await;
    by_api(&hub, &[ANN], Some(&conversation), "what is my word?").await;
    assert!(!was_shown(&model), "by its token");
    forgotten(&hub, "diary").await;
    by_a2a(&hub, &[ANN], Some("diary"), "what is my word?").await;
    assert!(!was_shown(&model), "by its name");
}

#[tokio::test]
async fn attack_a_session_is_opened_in_anothers_name_before_it_is_used() {
    let model = model().await;
    let hub = hub(&model, "").await;
    let say = |id: &str, token: Value, context: Value| {
        json!({"control": {"message_type": "request", "message_id": id}, "token": token,
            "content": {"messages": [{"role": "user", "content": "hello"}]}, "metadata": {"context": context}})
    };
    let last = |answer: &Answer| answer.json().as_array().and_then(|all| all.last().cloned()).expect("a response");
    let mine = json!({"session_id": "s-1", "conversation_turn": 0});
    // Somebody is there first, and leaves something in it.
    for (who, id) in [(&[BOB][..], "f1"), (&[], "f2")] {
        post(&hub, "/nlip/route", who, &say(id, mine.clone(), json!({"planted": "by another"}))).await;
    }
    let first = last(&post(&hub, "/nlip/route", &[ANN], &say("a1", mine.clone(), json!(true))).await);
    assert_eq!(first["metadata"]["context"], Value::Null, "she is given what another left: {first}");
    let kept = post(&hub, "/nlip/route", &[ANN], &say("a2", mine.clone(), json!({ "pin": SECRET }))).await;
    let token = last(&kept)["token"].clone();
    let hers = last(&post(&hub, "/nlip/route", &[ANN], &say("a3", mine.clone(), json!(true))).await);
    assert_eq!(hers["metadata"]["context"]["pin"], SECRET, "{hers}");
    let mut tries = vec![token.clone(), json!({"context_token": token["context_token"]})];
    tries.extend(
        ["s-1", "S-1", "s-1 ", " s-1", "s-1\u{0}", "ｓ-1", "s-1/", "user:ann/s-1"].map(|id| json!({"session_id": id})),
    );
    for (number, token) in tries.into_iter().enumerate() {
        for who in [&[BOB][..], &[]] {
            let answer = post(&hub, "/nlip/route", who, &say(&format!("t{number}"), token.clone(), json!(true))).await;
            assert!(!answer.text().contains(SECRET), "{who:?} {token}: {}", answer.text());
        }
    }
}

/// A task of `ann` that takes its time and tells a webhook.
async fn told(hub: &Hub, webhook: &Scripted) -> String {
    let message = json!({"messageId": "slow", "role": "ROLE_USER", "parts": [{"data": {"skill": "local/slow"}}]});
    let push = json!({"id": "c1", "url": format!("http://{}/hook", webhook.address()), "token": SECRET,
        "authentication": {"scheme": "Bearer", "credentials": SECRET}});
    let configuration = json!({"returnImmediately": true, "taskPushNotificationConfig": push});
    let params = json!({"message": message, "configuration": configuration});
    let begun = post(hub, "/a2a", &[ANN], &rpc("SendMessage", params)).await.json();
    begun["result"]["task"]["id"].as_str().unwrap_or_else(|| panic!("no task: {begun}")).to_owned()
}

#[tokio::test]
async fn attack_anothers_webhook_is_read_replaced_or_removed() {
    let hers = Scripted::http(|_, _| Say::Json(json!({}))).await;
    let his = Scripted::http(|_, _| Say::Json(json!({}))).await;
    let config =
        format!("tools: {{ directory: ./tools }}\na2a: {{ push_private_addresses: true }}\naccess: {TOKENS}\n");
    let hub = support::builder().config(&config).start().await;
    let task = told(&hub, &hers).await;
    until("her webhook is told", async || !hers.heard().is_empty()).await;
    let url = format!("http://{}/hook", his.address());
    let (named, his_own) = (json!({"taskId": task, "id": "c1"}), json!({"taskId": task, "id": "c1", "url": url}));
    for who in [&[BOB][..], &[]] {
        for (method, params) in [
            ("GetTaskPushNotificationConfig", &named),
            ("ListTaskPushNotificationConfigs", &named),
            ("DeleteTaskPushNotificationConfig", &named),
            ("CreateTaskPushNotificationConfig", &his_own),
        ] {
            let answer = post(&hub, "/a2a", who, &rpc(method, params.clone())).await;
            assert!(answer.json()["error"].is_object(), "{who:?} {method}: {}", answer.text());
            assert!(!answer.text().contains(SECRET), "{}", answer.text());
        }
        let path = format!("/a2a/v1/tasks/{task}/pushNotificationConfigs");
        let rest = post(&hub, &path, who, &his_own).await;
        assert!(rest.status >= 400, "{who:?}: {}", rest.text());
        // A message to her task that brings a webhook along.
        let message = json!({"messageId": "x", "taskId": task, "role": "ROLE_USER", "parts": [{"text": "x"}]});
        let push = json!({"taskPushNotificationConfig": {"url": url}});
        let params = json!({"message": message, "configuration": push});
        let answer = post(&hub, "/a2a", who, &rpc("SendMessage", params)).await;
        assert!(answer.json()["error"].is_object(), "{who:?}: {}", answer.text());
    }
    let listed = post(&hub, "/a2a", &[ANN], &rpc("ListTaskPushNotificationConfigs", json!({"taskId": task}))).await;
    assert_eq!(listed.json()["result"]["configs"].as_array().map(Vec::len), Some(1), "{}", listed.text());
    let before = hers.heard().len();
    post(&hub, "/a2a", &[ANN], &rpc("CancelTask", json!({ "id": task }))).await;
    until("her webhook is told of the end", async || hers.heard().len() > before).await;
    assert_eq!(his.heard().len(), 0, "his webhook is told nothing");
}
