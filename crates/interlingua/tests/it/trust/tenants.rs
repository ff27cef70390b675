//! Tenant isolation: two callers that share a hub and have the same permissions. Neither sees, lists, guesses, follows, stops or reads what
//! is the other's, and neither learns that it exists: another's item is answered, byte for byte, like a missing one.
//!
//! Devices and orchestrators have tests of their own (`aip/strangers.rs`), and so have sessions of the envelope (`envelope/sessions.rs`)
//! and tasks of A2A (`a2a/access.rs`, `a2a/grpc_errors.rs`).

use http::Method;
use http_body_util::Full;
use interlingua_testkit::{Answer, Hub, request};
use serde_json::{Value, json};

use super::{LINGER, as_};
use crate::mcp::Modern;
use crate::support::{builder, send, until};

const CONFIG: &str = "
tools: { directory: ./tools }
access:
  tokens:
    - { name: ann, token: ann-token, register: true }
    - { name: bob, token: bob-token, register: true }
";

/// What nobody but `ann` may come across.
const SECRET: &str = "anns-own-words";
/// Shaped like an id, and nothing's.
const NONE: &str = "0123456789abcdef0123456789abcdef";

async fn hub() -> Hub {
    builder().file("tools/linger.yaml", LINGER).config(CONFIG).start().await
}

async fn made(hub: &Hub, path: &str, body: Value) -> Value {
    let answer = as_(hub, "ann", Method::POST, path, Some(body)).await;
    assert!(answer.status < 300, "{path}: {} {}", answer.status, answer.text());
    answer.json()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("a text: {value}")).to_owned()
}

/// What an answer tells, apart from the name that was asked for and from ids that are new in every answer.
fn told(answer: &Answer, name: &str) -> (u16, Option<String>, String) {
    let kind = answer.header("content-type").map(str::to_owned);
    let text = answer.text().replace(name, "…");
    // A UUID is one word.
    let is_end = |letter: char| !letter.is_ascii_alphanumeric() && letter != '-';
    let is_id = |word: &str| word.len() >= 16 && word.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let words = text.split_inclusive(is_end);
    let masked = words.map(|word| if is_id(word.trim_end_matches(is_end)) { "#" } else { word });
    (answer.status, kind, masked.collect())
}

/// The same with one character of its middle changed: as long, and nobody's.
fn altered(token: &str) -> String {
    let (at, old) = token.char_indices().nth(token.chars().count() / 2).expect("not empty");
    let new = if old == '0' { '1' } else { '0' };
    format!("{}{new}{}", &token[..at], &token[at + old.len_utf8()..])
}

/// Everything that `ann` has, by its name.
struct Hers {
    task: String,
    question: String,
    running: String,
    conversation: String,
    artifact: String,
}

impl Hers {
    async fn make(hub: &Hub) -> Hers {
        let asking = json!({"skill": "local/erase", "arguments": {"what": SECRET}});
        let task = text(&made(hub, "/api/tasks", asking).await["id"]);
        let open = async || hub.get("/api/confirmations").await.json()["items"].as_array().map_or(0, Vec::len);
        until("the question", async || open().await == 1).await;
        let question = text(&hub.get("/api/confirmations").await.json()["items"][0]["id"]);
        let running = text(&made(hub, "/api/tasks", json!({"skill": "local/slow"})).await["id"]);
        let begun = made(hub, "/api/exchanges", json!({"words": format!("echo {SECRET}")})).await;
        let conversation = text(&begun["conversation"]);
        made(hub, "/api/exchanges", json!({"words": "echo again", "conversation": conversation})).await;
        let kept = as_(hub, "ann", Method::GET, "/api/conversations", None).await.json();
        assert_eq!(kept["items"].as_array().map(Vec::len), Some(1), "{kept}");
        let artifact = json!({"name": "plan", "content": {"words": SECRET}});
        let artifact = text(&made(hub, "/api/artifacts", artifact).await["artifact_id"]);
        made(hub, "/api/agents", json!({"agent_id": "anns", "name": "Ann's", "capabilities": []})).await;
        let event = json!({"message_type": "event", "from_agent": "anns", "topic": "plans",
            "content": {"words": SECRET}, "access_control": ["anns"]});
        made(hub, "/api/messages", event).await;
        Hers { task, question, running, conversation, artifact }
    }

    /// Every operation of the hub's own interface that takes the name of something: the name, and how it is asked for.
    fn operations(&self) -> Vec<(Method, String, String, Option<Value>)> {
        let mut all = Vec::new();
        let mut add = |method: Method, name: &str, path: &str, body: Option<Value>| {
            all.push((method, name.to_owned(), path.to_owned(), body));
        };
        for task in [&self.task, &self.running] {
            add(Method::GET, task, "/api/tasks/NAME", None);
            add(Method::GET, task, "/api/tasks/NAME/events", None);
            add(Method::GET, task, "/api/tasks/NAME/timeline", None);
            add(Method::POST, task, "/api/tasks/NAME/signals", Some(json!({"cancel": true})));
            add(Method::POST, task, "/api/tasks/NAME/signals", Some(json!({"say": {"text": "hello"}})));
            add(Method::DELETE, task, "/api/tasks/NAME", None);
            add(Method::DELETE, task, "/api/exchanges/NAME", None);
            add(Method::GET, task, "/api/artifacts?task=NAME", None);
            add(Method::GET, task, "/a2a/tasks/NAME", None);
            add(Method::GET, task, "/a2a/tasks/NAME:subscribe", None);
            add(Method::POST, task, "/a2a/tasks/NAME:cancel", Some(json!({})));
            add(Method::GET, task, "/a2a/tasks/NAME/pushNotificationConfigs", None);
            add(Method::GET, task, "/a2a/v1/tasks/NAME", None);
            add(Method::POST, task, "/a2a/v1/tasks/NAME:cancel", Some(json!({})));
        }
        let yes = Some(json!({"answer": {"question": self.question, "approve": true}}));
        add(Method::POST, &self.task, "/api/tasks/NAME/signals", yes);
        add(Method::GET, &self.question, "/api/confirmations/NAME", None);
        add(Method::GET, &self.question, "/api/questions/NAME", None);
        add(Method::GET, &self.question, "/api/questions/NAME/settled", None);
        add(Method::POST, &self.question, "/api/confirmations/NAME", Some(json!({"approve": true})));
        add(Method::DELETE, &self.conversation, "/api/conversations/NAME", None);
        let words = json!({"words": "echo hi", "conversation": "NAME"});
        add(Method::POST, &self.conversation, "/api/exchanges", Some(words));
        add(Method::GET, &self.conversation, "/api/tasks?conversation=NAME", None);
        add(Method::GET, &self.artifact, "/api/artifacts/NAME", None);
        add(Method::GET, &self.artifact, "/api/artifacts/NAME/content", None);
        add(Method::PUT, &self.artifact, "/api/artifacts/NAME/content", Some(json!({"mine": "now"})));
        add(Method::PUT, &self.artifact, "/api/artifacts/NAME/access", Some(json!({"access_control": ["bobs"]})));
        add(Method::DELETE, &self.artifact, "/api/artifacts/NAME", None);
        add(Method::DELETE, "some-message", "/api/messages/NAME?agent=anns", None);
        all
    }
}

#[tokio::test]
async fn what_is_anothers_is_answered_like_what_never_was_by_every_operation() {
    let hub = hub().await;
    let hers = Hers::make(&hub).await;
    for (method, name, path, body) in hers.operations() {
        let ask = async |name: &str| {
            let body = body.as_ref().map(|body| serde_json::from_str(&body.to_string().replace("NAME", name)));
            let body = body.transpose().expect("JSON");
            as_(&hub, "bob", method.clone(), &path.replace("NAME", name), body).await
        };
        let never = if name.contains(&hers.task) { name.replace(&hers.task, NONE) } else { altered(&name) };
        let (anothers, none) = (told(&ask(&name).await, &name), told(&ask(&never).await, &never));
        assert_eq!(anothers, none, "{method} {path}");
        assert!(!anothers.2.contains(SECRET), "{method} {path}: {}", anothers.2);
    }
    // All of it is as it was.
    let state = async |task: &str| as_(&hub, "ann", Method::GET, &format!("/api/tasks/{task}"), None).await.json();
    assert_eq!(state(&hers.task).await["state"], "waiting");
    assert!(["accepted", "running"].contains(&text(&state(&hers.running).await["state"]).as_str()));
    let artifact = as_(&hub, "ann", Method::GET, &format!("/api/artifacts/{}", hers.artifact), None).await;
    assert!(artifact.text().contains(SECRET), "{}", artifact.text());
    let goes_on = json!({"words": "echo still", "conversation": hers.conversation});
    assert_eq!(as_(&hub, "ann", Method::POST, "/api/exchanges", Some(goes_on)).await.status, 200);
}

#[tokio::test]
async fn no_list_feed_or_count_shows_what_is_anothers() {
    let hub = hub().await;
    let hers = Hers::make(&hub).await;
    let v1 = ("a2a-version", "1.0");
    for path in [
        "/api/tasks",
        "/api/conversations",
        "/api/confirmations",
        "/api/questions",
        "/api/artifacts",
        "/api/messages?topic=**",
        "/api/messages?agent=anns",
        "/api/audit",
        "/a2a/tasks",
    ] {
        let bearer = [("authorization", "Bearer bob-token"), v1];
        let answer = send(&hub, Method::GET, path, &bearer, None).await.text();
        for name in [&hers.task, &hers.running, &hers.artifact, &hers.conversation, &hers.question] {
            assert!(!answer.contains(name.as_str()), "{path}: {answer}");
        }
        assert!(!answer.contains(SECRET), "{path}: {answer}");
    }
    for path in ["/api/tasks", "/api/conversations", "/api/confirmations", "/api/questions", "/api/artifacts"] {
        let page = as_(&hub, "bob", Method::GET, path, None).await.json();
        assert_eq!((&page["items"], page.get("next")), (&json!([]), None), "{path}: {page}");
    }
    let mut bob = Modern::new(&hub);
    bob.headers = vec![("authorization", "Bearer bob-token")];
    for method in ["resources/list", "resources/templates/list", "prompts/list"] {
        let listed = bob.result(method, json!({})).await.to_string();
        assert!(!listed.contains(&hers.artifact) && !listed.contains(SECRET), "{method}: {listed}");
    }
}

/// A key, an id of a message: whoever chooses the same one meets nobody.
#[tokio::test]
async fn the_same_key_of_two_callers_is_two_keys() {
    let hub = hub().await;
    let keyed = async |who: &str, what: &str| {
        let headers = [("authorization", format!("Bearer {who}-token")), ("idempotency-key", "k".to_owned())];
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let body = json!({"skill": "local/erase", "arguments": {"what": what}});
        send(&hub, Method::POST, "/api/tasks", &headers, Some(body)).await
    };
    let hers = keyed("ann", SECRET).await;
    assert_eq!(hers.status, 202, "{}", hers.text());
    let his = keyed("bob", "something").await;
    assert_eq!(his.status, 202, "it is no conflict: {}", his.text());
    assert_ne!(hers.json()["id"], his.json()["id"]);
    let again = keyed("bob", "something").await;
    assert_eq!((again.status, &again.json()["id"]), (202, &his.json()["id"]), "his own is known again");
}

#[tokio::test]
async fn a_receipt_of_mcp_is_worth_nothing_in_other_hands() {
    let hub = hub().await;
    let of = |who: &'static str| {
        let mut modern = Modern::new(&hub);
        modern.headers = vec![("authorization", who)];
        modern.capabilities = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
        modern
    };
    let (ann, bob) = (of("Bearer ann-token"), of("Bearer bob-token"));
    let receipt = text(&ann.call("local__slow", json!({})).await["taskId"]);
    let never = altered(&receipt);
    for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
        let params = |id: &str| json!({"taskId": id, "inputResponses": {}});
        let (anothers, none) = (bob.ask(method, params(&receipt)).await, bob.ask(method, params(&never)).await);
        assert_eq!(told(&anothers, &receipt), told(&none, &never), "{method}");
    }
    assert_eq!(ann.result("tasks/get", json!({"taskId": receipt})).await["status"], "working");
}

#[tokio::test]
async fn a_promise_of_nlweb_is_worth_nothing_in_other_hands() {
    let hub = hub().await;
    let body = json!({"query": {"text": "linger a while"}, "prefer": {"streaming": false}});
    let answer = as_(&hub, "ann", Method::POST, "/ask", Some(body)).await;
    assert_eq!(answer.status, 202, "{}", answer.text());
    let promise = text(&answer.json()["promise"]["token"]);
    let never = altered(&promise);
    for action in ["checkin", "cancel"] {
        let look = async |who: &str, token: &str| {
            let body = json!({"promise_token": token, "action": action});
            as_(&hub, who, Method::POST, "/await", Some(body)).await
        };
        assert_eq!(told(&look("bob", &promise).await, &promise), told(&look("bob", &never).await, &never), "{action}");
    }
    let body = json!({"promise_token": promise, "action": "checkin"});
    let hers = as_(&hub, "ann", Method::POST, "/await", Some(body)).await.json();
    assert_eq!(hers["_meta"]["response_type"], "promise", "it goes on: {hers}");
}

#[tokio::test]
async fn n_38_an_address_for_an_upload_is_worth_nothing_in_other_hands() {
    let hub = hub().await;
    let wish = json!({"messagetype": "control", "format": "text", "subformat": "english",
        "content": "Where can I upload a large file?"});
    let reply = as_(&hub, "ann", Method::POST, "/nlip", Some(wish)).await.text();
    let (_, rest) = reply.split_once("/nlip/uploads/").unwrap_or_else(|| panic!("no address: {reply}"));
    let id: String = rest.chars().take_while(|letter| *letter != '"').collect();
    let never = altered(&id);
    let upload = async |who: &str, method: Method, id: &str| {
        let sent = request(method, &format!("/nlip/uploads/{id}")).header("content-type", "text/plain");
        let sent = sent.header("authorization", format!("Bearer {who}-token"));
        hub.connect().await.send(sent.body(Full::new("his words".into())).expect("a request")).await
    };
    for method in [Method::PUT, Method::POST, Method::GET] {
        let (anothers, none) = (upload("bob", method.clone(), &id).await, upload("bob", method.clone(), &never).await);
        assert_eq!(told(&anothers, &id), told(&none, &never), "{method}");
    }
    assert_eq!(upload("ann", Method::PUT, &id).await.status, 201, "it was not used up");
}

/// A peer that its asker may use nothing of, and one that never was, wherever a peer can be named.
#[tokio::test]
async fn a_peer_that_may_not_be_used_is_answered_for_like_one_that_is_not_there() {
    let config = "access: { tokens: [{ name: small, token: small-token, skills: [hub/echo], register: true }] }\n";
    let hub = builder().config(config).start().await;
    let card = json!({"agent_id": "zorblax", "name": "Z", "capabilities": [{"name": "fly", "description": "Flies."}]});
    assert_eq!(hub.post_json("/api/agents", &card).await.status, 201);
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "fly"}]});
    let rpc = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
    let tenant = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage",
        "params": {"tenant": "NAME", "message": message}});
    let words = json!({"format": "text", "subformat": "english", "content": "fly"});
    let site = json!({"query": {"text": "fly", "site": "NAME"}, "query_id": "q", "prefer": {"streaming": false}});
    let request = json!({"message_id": "m1", "message_type": "request", "to_agent": "NAME", "capability": "fly",
        "content": {}});
    for (method, path, body) in [
        (Method::GET, "/agents/NAME/.well-known/agent-card.json", None),
        (Method::POST, "/agents/NAME/nlip", Some(words)),
        (Method::POST, "/agents/NAME/a2a", Some(rpc)),
        (Method::POST, "/a2a", Some(tenant)),
        (Method::GET, "/agents/NAME/a2a/tasks", None),
        (Method::POST, "/agents/NAME/a2a/message:send", Some(json!({ "message": message }))),
        (Method::POST, "/agents/NAME/ask", Some(json!({"query": "fly", "query_id": "q", "streaming": false}))),
        (Method::POST, "/ask", Some(site)),
        (Method::POST, "/api/exchanges", Some(json!({"skill": "NAME/fly"}))),
        (Method::POST, "/api/tasks", Some(json!({"skill": "NAME/fly"}))),
        (Method::GET, "/api/agents/NAME", None),
        (Method::DELETE, "/api/agents/NAME", None),
        (Method::GET, "/api/messages?agent=NAME", None),
        (Method::POST, "/api/messages", Some(request)),
        (Method::POST, "/api/dispatch", Some(json!({"client_id": "NAME", "request": "fly"}))),
    ] {
        let ask = async |name: &str| {
            let body = body.as_ref().map(|body| serde_json::from_str(&body.to_string().replace("NAME", name)));
            let headers = [("authorization", "Bearer small-token"), ("a2a-version", "1.0")];
            let body: Option<Value> = body.transpose().expect("JSON");
            let answer = send(&hub, method.clone(), &path.replace("NAME", name), &headers, body).await;
            told(&answer, name)
        };
        assert_eq!(ask("zorblax").await, ask("ghostly").await, "{method} {path}");
    }
    let mut modern = Modern::new(&hub);
    modern.headers = vec![("authorization", "Bearer small-token")];
    let mut listed = Vec::new();
    for (name, path) in [("zorblax", "/agents/zorblax/mcp"), ("ghostly", "/agents/ghostly/mcp")] {
        modern.path = path;
        listed.push(told(&modern.ask("tools/list", json!({})).await, name));
    }
    assert_eq!(listed[0], listed[1]);
}
