//! A stored login of a driven website, through the hub: its owner, its visibility, its revocation.

use std::path::Path;
use std::process::{Command, Output};

use http::Method;
use interlingua_testkit::Hub;
use interlingua_testkit::pages::{Pages, answer, html};
use serde_json::{Value, json};

use crate::support::send;

/// What only the browser should know.
const SECRET: &str = "s3cr3t-7731";
const ME: &str = "<p id='out'></p><script>out.textContent = localStorage.who ?? 'nobody'</script>";
const ANN: (&str, &str) = ("authorization", "Bearer token-of-ann");
const BOB: (&str, &str) = ("authorization", "Bearer token-of-bob");
const STRANGER: (&str, &str) = ("sec-fetch-site", "same-origin");

async fn pages() -> Pages {
    let cookie = format!("Set-Cookie: id={SECRET}; HttpOnly; Max-Age=3600\r\n");
    let log_in =
        answer("200 OK", "text/html", &cookie, "<p id='out'>welcome</p><script>localStorage.who = 'ann'</script>");
    Pages::start([("/in", log_in), ("/me", html(ME))]).await
}

async fn hub(pages: &Pages, session: Value) -> Hub {
    let read = json!({"action_type": "extract", "selector": "#out", "extract_schema": {"said": "."}});
    let open = |path: &str| json!([{"action_type": "navigate", "value": path}, read]);
    let shop = json!({"interface_id": "shop", "name": "Shop", "base_url": pages.base(), "description": "d",
        "session": session, "actions": {"look_in": open("/in"), "look": open("/me")}});
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("shop.json", shop.to_string());
    let access = "access: { tokens: [{ name: ann, token: token-of-ann }, { name: bob, token: token-of-bob }] }\n";
    builder.config(&format!("peers: {{ shop: {{ site: ./shop.json, public: true }} }}\n{access}")).start().await
}

async fn call(hub: &Hub, who: (&str, &str), skill: &str, args: Value) -> Value {
    let body = json!({"skill": format!("shop/{skill}"), "arguments": args});
    send(hub, Method::POST, "/api/exchanges", &[who], Some(body)).await.json()
}

/// What the page said, and how the session was found.
async fn told(hub: &Hub, who: (&str, &str), skill: &str, args: Value) -> (String, String) {
    let answer = call(hub, who, skill, args).await;
    let structured = &answer["finished"]["structured"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    assert!(structured["extracted_data"].is_array(), "{answer}");
    (text(&structured["extracted_data"][0]["said"]), text(&structured["session"]["found"]))
}

fn said(what: &str, found: &str) -> (String, String) {
    (what.to_owned(), found.to_owned())
}

fn mine() -> Value {
    json!({"session": "main"})
}

/// Did the last visit bring the cookie?
fn known_there(pages: &Pages) -> bool {
    pages.asked().iter().rfind(|line| line.starts_with("/me")).is_some_and(|line| line.contains(SECRET))
}

async fn sessions(hub: &Hub, who: (&str, &str)) -> Vec<Value> {
    let listed = send(hub, Method::GET, "/api/sites/sessions", &[who], None).await;
    assert_eq!(listed.status, 200, "{}", listed.text());
    listed.json()["items"].as_array().cloned().unwrap_or_default()
}

async fn program(hub: &Hub, arguments: &[&str]) -> Output {
    let url = hub.url("");
    let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
    let run = move || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_interlingua"));
        command.args(arguments).args(["--hub", &url, "--token", "token-of-ann"]).output()
    };
    tokio::task::spawn_blocking(run).await.expect("it ends").expect("the program runs")
}

#[tokio::test]
async fn w_51_site_session_is_its_callers_own_who_sees_it_and_takes_it_back() {
    let pages = pages().await;
    let hub = hub(&pages, json!({"keep": "30m"})).await;
    assert_eq!(told(&hub, ANN, "look_in", mine()).await, said("welcome", "begun"));
    assert_eq!(told(&hub, ANN, "look", mine()).await, said("ann", "continued"));
    assert!(known_there(&pages));
    assert_eq!(told(&hub, BOB, "look", mine()).await, said("nobody", "begun"));
    assert!(!known_there(&pages));
    // Strangers cannot be told apart, so none of them has one.
    let refused = call(&hub, STRANGER, "look", mine()).await.to_string();
    assert!(refused.contains("callers who are known"), "{refused}");
    assert_eq!(told(&hub, STRANGER, "look", json!({})).await, said("nobody", ""));

    let seen = sessions(&hub, ANN).await;
    assert_eq!(seen.len(), 1, "{seen:?}");
    let (id, state) = (seen[0]["id"].as_str().unwrap(), (&seen[0]["site"], &seen[0]["name"], &seen[0]["state"]));
    assert_eq!(state, (&json!("shop"), &json!("main"), &json!("idle")));
    assert_eq!(sessions(&hub, STRANGER).await.len(), 0);
    let owner = hub.get("/api/sites/sessions").await.json();
    assert_eq!(owner["items"].as_array().map(Vec::len), Some(2), "the hub's own user sees all: {owner}");
    let path = format!("/api/sites/sessions/{id}");
    assert_eq!(send(&hub, Method::DELETE, &path, &[BOB], None).await.status, 404, "another's is not there");

    let listed = program(&hub, &["sites", "sessions"]).await;
    assert!(String::from_utf8_lossy(&listed.stdout).contains("shop/main"), "{listed:?}");
    let ended = program(&hub, &["sites", "end", "shop/main"]).await;
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    assert_eq!(program(&hub, &["sites", "end", "shop/main"]).await.status.code(), Some(2), "it is gone");
    assert_eq!(send(&hub, Method::DELETE, &path, &[ANN], None).await.status, 404);
    assert_eq!(told(&hub, ANN, "look", mine()).await, said("nobody", "begun"));
    assert!(!known_there(&pages));
}

#[tokio::test]
async fn w_51_site_session_that_is_to_be_kept_outlives_a_restart_sealed_and_ends_for_good() {
    let pages = pages().await;
    let mut hub = hub(&pages, json!({"keep": "30m", "default": "main", "persist": true})).await;
    assert_eq!(told(&hub, ANN, "look_in", json!({})).await, said("welcome", "begun"));
    hub.restart().await;
    assert!(!holds(&hub.data(), SECRET.as_bytes()), "a cookie can be read on disk");
    let kept = sessions(&hub, ANN).await;
    assert_eq!((kept.len(), &kept[0]["state"]), (1, &json!("kept")), "{kept:?}");
    assert_eq!(told(&hub, ANN, "look", json!({})).await, said("ann", "restored"));
    assert!(known_there(&pages));
    assert_eq!(told(&hub, BOB, "look", json!({})).await, said("nobody", "begun"));

    hub.restart().await;
    let id = sessions(&hub, ANN).await[0]["id"].as_str().unwrap().to_owned();
    let ended = send(&hub, Method::DELETE, &format!("/api/sites/sessions/{id}"), &[ANN], None).await;
    assert_eq!(ended.status, 204, "{}", ended.text());
    assert_eq!(told(&hub, ANN, "look", json!({})).await, said("nobody", "begun"));
    assert!(!known_there(&pages));
}

#[tokio::test]
async fn w_51_site_session_that_is_not_to_be_kept_ends_with_the_hub() {
    let pages = pages().await;
    let mut hub = hub(&pages, json!({"keep": "30m"})).await;
    assert_eq!(told(&hub, ANN, "look_in", mine()).await, said("welcome", "begun"));
    hub.restart().await;
    assert_eq!(sessions(&hub, ANN).await.len(), 0);
    assert_eq!(told(&hub, ANN, "look", mine()).await, said("nobody", "begun"));
}

/// Is this anywhere in the hub's own files? What the browser has while it runs is its own affair.
fn holds(directory: &Path, wanted: &[u8]) -> bool {
    let files = std::fs::read_dir(directory).expect("the data directory").flatten();
    files.filter(|entry| entry.path().is_file()).any(|entry| {
        let bytes = std::fs::read(entry.path()).unwrap_or_default();
        bytes.windows(wanted.len()).any(|window| window == wanted)
    })
}
