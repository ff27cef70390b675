//! The web console: its documents, its sessions, and the page in a real browser.

mod build;
mod deployed;
mod documents;
mod open;
mod page;
mod pending;
mod questions;
mod sessions;

use http::Method;
use http_body_util::Full;
use interlingua_testkit::{Answer, Hub, request};
use serde_json::{Value, json};

/// What a browser keeps of a session: the cookie, and the key.
#[derive(Clone)]
struct Browser {
    cookie: String,
    key: String,
}

/// What a page of the hub's own address makes a browser send along.
const OWN: (&str, &str) = ("sec-fetch-site", "same-origin");

impl Browser {
    /// Both halves, as a page of the console sends them.
    fn headers(&self) -> [(&str, &str); 3] {
        [("cookie", &self.cookie), ("interlingua-console", &self.key), OWN]
    }

    async fn ask(&self, hub: &Hub, method: Method, path: &str, body: Option<Value>) -> Answer {
        ask(hub, method, path, &self.headers(), body).await
    }
}

/// A request that shows nothing but these headers.
async fn ask(hub: &Hub, method: Method, path: &str, headers: &[(&str, &str)], body: Option<Value>) -> Answer {
    let mut sent = request(method, path);
    for (name, value) in headers {
        sent = sent.header(*name, *value);
    }
    let body = match body {
        None => Full::default(),
        Some(body) => {
            sent = sent.header("content-type", "application/json");
            Full::new(body.to_string().into())
        }
    };
    hub.connect_anonymous().await.send(sent.body(body).expect("a request")).await
}

/// A ticket for who shows this token.
async fn ticket(hub: &Hub, token: &str) -> String {
    let bearer = format!("Bearer {token}");
    let answer = ask(hub, Method::POST, "/api/session/tickets", &[("authorization", &bearer)], None).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()["ticket"].as_str().expect("a ticket").to_owned()
}

fn owner(hub: &Hub) -> String {
    hub.token().expect("the Owner's token")
}

async fn signed_in(hub: &Hub, body: Value) -> Browser {
    let answer = ask(hub, Method::POST, "/api/session", &[OWN], Some(body)).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    let set = answer.header("set-cookie").expect("a cookie").to_owned();
    let cookie = set.split(';').next().expect("a value").to_owned();
    Browser { cookie, key: answer.json()["key"].as_str().expect("a key").to_owned() }
}

/// A browser of the Owner's.
async fn owners(hub: &Hub) -> Browser {
    let ticket = ticket(hub, &owner(hub)).await;
    signed_in(hub, json!({ "ticket": ticket })).await
}
