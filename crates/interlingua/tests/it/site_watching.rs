//! Watching a driven website: callers see the pages that their own calls use, as pictures without secrets.

use http::Method;
use interlingua_testkit::pages::{Pages, html};
use interlingua_testkit::{Answer, Hub};
use serde_json::{Value, json};

use crate::support::{self, send, until};

const ANN: (&str, &str) = ("authorization", "Bearer token-of-ann");
const BOB: (&str, &str) = ("authorization", "Bearer token-of-bob");
const STRANGER: (&str, &str) = ("sec-fetch-site", "same-origin");

/// A shop that asks for a PIN and never answers.
async fn shop() -> (Hub, Pages) {
    let page = "<style>* { caret-color: transparent; font: 40px monospace }</style><input id='pin'>";
    let pages = Pages::start([("/", html(page))]).await;
    let steps = json!([
        {"action_type": "navigate", "value": "/"},
        {"action_type": "type", "selector": "#pin", "value": "{pin}"},
        {"action_type": "wait", "wait_condition": "#never", "timeout": 60_000},
    ]);
    let action = |secret: bool| json!({"effects": "reads", "parameters": {"pin": {"secret": secret}}, "steps": steps});
    let actions = json!({"enter": action(true), "show": action(false)});
    let shop = json!({"interface_id": "shop", "name": "Shop", "base_url": pages.base(), "description": "d",
        "actions": actions});
    let builder = support::builder().file("shop.json", shop.to_string());
    let access = "access: { tokens: [{ name: ann, token: token-of-ann, skills: [\"shop/*\"] }, \
                  { name: bob, token: token-of-bob, skills: [\"shop/*\"] }] }\n";
    (builder.config(&format!("peers: {{ shop: {{ site: ./shop.json }} }}\n{access}")).start().await, pages)
}

/// Starts a call of Ann's; its task.
async fn begin(hub: &Hub, skill: &str, pin: &str) -> String {
    let body = json!({"skill": format!("shop/{skill}"), "arguments": {"pin": pin}});
    let begun = send(hub, Method::POST, "/api/tasks", &[ANN], Some(body)).await;
    assert_eq!(begun.status, 202, "{}", begun.text());
    begun.json()["id"].as_str().expect("an id").to_owned()
}

async fn pages(hub: &Hub, who: (&str, &str)) -> Vec<Value> {
    let listed = send(hub, Method::GET, "/api/sites/pages", &[who], None).await;
    assert_eq!(listed.status, 200, "{}", listed.text());
    listed.json()["items"].as_array().cloned().unwrap_or_default()
}

/// The page of the call that runs, once the PIN is typed.
async fn waiting(hub: &Hub) -> Value {
    let mut page = Value::Null;
    until("the last step", async || {
        page = pages(hub, ANN).await.first().cloned().unwrap_or_default();
        page["step"] == 3
    })
    .await;
    page
}

async fn picture(hub: &Hub, who: (&str, &str), page: &Value) -> Answer {
    let id = page["id"].as_str().expect("an id");
    send(hub, Method::GET, &format!("/api/sites/pages/{id}"), &[who], None).await
}

async fn cancel(hub: &Hub, task: &str) {
    let cancelled = send(hub, Method::DELETE, &format!("/api/tasks/{task}"), &[ANN], None).await;
    assert!(cancelled.status < 300, "{}", cancelled.text());
    until("the page is closed", async || pages(hub, ANN).await.is_empty()).await;
}

#[tokio::test]
async fn attack_a_page_in_use_is_watched_by_its_caller_and_by_no_other() {
    let (hub, _pages) = shop().await;
    let task = begin(&hub, "show", "1234").await;
    let page = waiting(&hub).await;
    assert_eq!((&page["site"], &page["action"], &page["owner"]), (&json!("shop"), &json!("show"), &json!("user:ann")));
    assert_eq!(page["steps"], 3);
    let seen = picture(&hub, ANN, &page).await;
    assert_eq!((seen.status, seen.header("content-type")), (200, Some("image/jpeg")));
    assert_eq!(seen.header("cache-control"), Some("no-store"));
    assert!(seen.body.starts_with(&[0xff, 0xd8]) && seen.body.len() > 1_000, "a JPEG");
    for other in [BOB, STRANGER] {
        assert!(pages(&hub, other).await.is_empty(), "{other:?}");
        assert_eq!(picture(&hub, other, &page).await.status, 404, "{other:?}");
    }
    let id = page["id"].as_str().expect("an id");
    assert_eq!(hub.get(&format!("/api/sites/pages/{id}")).await.status, 200, "the Owner sees all");
    until("the audit says so", async || {
        let lines = hub.get("/api/audit?limit=100").await.json();
        let items = lines["items"].as_array().cloned().unwrap_or_default();
        items.iter().any(|line| line["action"] == "watch_site" && line["who"] == "owner")
    })
    .await;
    for wrong in ["0", "999999", "-1", "a", "1%2F1"] {
        assert_eq!(hub.get(&format!("/api/sites/pages/{wrong}")).await.status, 404, "{wrong}");
    }
    cancel(&hub, &task).await;
    assert_eq!(picture(&hub, ANN, &page).await.status, 404, "it is closed");
}

#[tokio::test]
async fn w_67_a_secret_is_masked_in_a_picture_of_a_page_in_use() {
    let (hub, _pages) = shop().await;
    let looks = async |skill: &str, pin: &str| {
        let task = begin(&hub, skill, pin).await;
        let page = waiting(&hub).await;
        let seen = picture(&hub, ANN, &page).await;
        assert_eq!(seen.status, 200);
        cancel(&hub, &task).await;
        seen.body.to_vec()
    };
    assert!(looks("enter", "hunter2").await == looks("enter", "x8kqwzj").await, "a picture tells two secrets apart");
    assert!(looks("show", "hunter2").await != looks("show", "x8kqwzj").await, "what is not secret is shown");
}

#[tokio::test]
async fn w_21_a_window_without_a_display_is_refused_when_the_site_is_called() {
    let pages = Pages::start([("/", html("<p id='out'>x</p>"))]).await;
    let read = json!({"action_type": "extract", "selector": "#out", "extract_schema": {"said": "."}});
    let shop = json!({"interface_id": "shop", "name": "Shop", "base_url": pages.base(), "description": "d",
        "actions": {"look": [{"action_type": "navigate", "value": "/"}, read]}});
    let builder = support::builder().file("shop.json", shop.to_string());
    let builder = builder.environment("DISPLAY", "").environment("WAYLAND_DISPLAY", "");
    let config = "peers: { shop: { site: ./shop.json } }\nbrowser: { headless: false }\n";
    let hub = builder.config(config).start().await;
    let answer = hub.post_json("/api/exchanges", &json!({"skill": "shop/look"})).await.text();
    assert!(answer.contains("needs a display"), "{answer}");
    assert!(pages.asked().is_empty(), "no page is opened");
}
