//! A hub without configuration on a shared machine: another user without the token reads nothing private and changes nothing. Tried as a
//! page of the hub's own address, whose connection proves nothing, and, where the tests can switch users, as another user of the system.

use http::Method;
use interlingua_testkit::{Hub, as_another_user, skipped};
use serde_json::{Value, json};

use super::program;
use crate::support::{send, until};

/// What the Owner has, and nobody else may come across.
const SECRET: &str = "the-owners-words";

struct Owned {
    hub: Hub,
    task: String,
    artifact: String,
    conversation: String,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("a text: {value}")).to_owned()
}

impl Owned {
    async fn make() -> Owned {
        let hub = Hub::builder(program()).start().await;
        let made = async |path: &str, body: Value| {
            let answer = hub.post_json(path, &body).await;
            assert!(answer.status < 300, "{path}: {} {}", answer.status, answer.text());
            answer.json()
        };
        let task = text(&made("/api/tasks", json!({"skill": "hub/echo", "arguments": {"text": SECRET}})).await["id"]);
        let artifact = made("/api/artifacts", json!({"name": "plan", "content": {"words": SECRET}})).await;
        let artifact = text(&artifact["artifact_id"]);
        let conversation =
            text(&made("/api/exchanges", json!({"words": format!("echo {SECRET}")})).await["conversation"]);
        made("/api/exchanges", json!({"words": "echo again", "conversation": conversation})).await;
        made("/api/agents", json!({"agent_id": "clerk", "name": SECRET, "capabilities": []})).await;
        let done = format!("/api/tasks/{task}");
        until("the task ends", async || hub.get(&done).await.json()["state"] == "completed").await;
        Owned { hub, task, artifact, conversation }
    }

    /// Every operation of the interface, with the names of what the Owner has.
    async fn operations(&self) -> Vec<(Method, String, Option<Value>)> {
        let described = self.hub.get("/api/openapi.json").await.json();
        let mut all = Vec::new();
        for (route, operations) in described["paths"].as_object().expect("paths") {
            for method in operations.as_object().expect("operations").keys() {
                let method: Method = method.to_ascii_uppercase().parse().expect("a method");
                let id: &str = match route.split('/').nth(2).unwrap_or_default() {
                    "artifacts" => &self.artifact,
                    "conversations" => &self.conversation,
                    "agents" => "clerk",
                    _ => &self.task,
                };
                let body = matches!(method, Method::POST | Method::PUT).then(|| body(route));
                all.push((method, route.replace("{id}", id), body));
            }
        }
        all.push((Method::GET, "/api/messages?topic=**".to_owned(), None));
        all.push((Method::GET, "/api/messages?agent=clerk".to_owned(), None));
        all.push((Method::GET, "/metrics".to_owned(), None));
        all.push((Method::GET, "/sites".to_owned(), None));
        all.push((Method::GET, format!("/a2a/tasks/{}", self.task), None));
        all
    }

    async fn is_as_it_was(&self) {
        assert_eq!(self.hub.get(&format!("/api/tasks/{}", self.task)).await.status, 200);
        let artifact = self.hub.get(&format!("/api/artifacts/{}", self.artifact)).await;
        assert!(artifact.text().contains(SECRET), "{}", artifact.text());
        assert_eq!(self.hub.get("/api/agents/clerk").await.json()["name"], SECRET);
        let conversations = self.hub.get("/api/conversations").await.json();
        assert_eq!(conversations["items"].as_array().map(Vec::len), Some(1), "{conversations}");
        let peers = self.hub.get("/api/agents?registered=true").await.json();
        assert_eq!(peers["items"].as_array().map(Vec::len), Some(1), "{peers}");
        let artifacts = self.hub.get("/api/artifacts").await.json();
        assert_eq!(artifacts["items"].as_array().map(Vec::len), Some(1), "{artifacts}");
    }
}

/// What would change something, had it been let in.
fn body(route: &str) -> Value {
    match route {
        "/api/agents" => json!({"agent_id": "spy", "name": "Spy", "capabilities": []}),
        "/api/artifacts" => json!({"name": "x", "content": 1}),
        "/api/exchanges" | "/api/tasks" => json!({"skill": "hub/echo", "arguments": {"text": "x"}}),
        "/api/messages" => json!({"message_id": "m", "message_type": "notification", "from_agent": "clerk",
            "to_agent": "clerk", "payload": {}}),
        "/api/explain" => json!({"principal": "owner", "action": "call", "resource": "hub/echo"}),
        "/api/confirmations/{id}" => json!({"approve": true}),
        "/api/artifacts/{id}/access" => json!({"access_control": ["spy"]}),
        "/api/tasks/{id}/signals" => json!({"cancel": true}),
        _ => json!({}),
    }
}

/// A list may be had that is empty, and a description of the interface; nothing may be changed.
fn is_harmless(method: &Method, path: &str, status: u16, text: &str) -> bool {
    let read = *method == Method::GET && status == 200;
    !text.contains(SECRET) && (read || (400..500).contains(&status)) && !(path.contains("audit") && status == 200)
}

#[tokio::test]
async fn whoever_proves_nothing_reads_nothing_private_and_changes_nothing() {
    let owned = Owned::make().await;
    for (method, path, body) in owned.operations().await {
        let page = [("sec-fetch-site", "same-origin")];
        let answer = send(&owned.hub, method.clone(), &path, &page, body).await;
        assert!(
            is_harmless(&method, &path, answer.status, &answer.text()),
            "{method} {path}: {} {}",
            answer.status,
            answer.text()
        );
    }
    owned.is_as_it_was().await;
}

#[tokio::test]
async fn another_user_of_this_machine_reads_nothing_private_and_changes_nothing() {
    if let Err(missing) = as_another_user("curl") {
        return skipped(&missing);
    }
    let owned = Owned::make().await;
    for (method, path, body) in owned.operations().await {
        let mut command = as_another_user("curl").expect("as before");
        command.args(["--silent", "--max-time", "60"]);
        command.args(["--request", method.as_str(), "--write-out", "\n%{http_code}"]);
        if let Some(body) = &body {
            command.args(["--header", "content-type: application/json", "--data", &body.to_string()]);
        }
        let output = command.arg(owned.hub.url(&path)).output().expect("setpriv runs");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let (text, status) = said.rsplit_once('\n').unwrap_or_else(|| panic!("curl says nothing: {output:?}"));
        let status: u16 = status.parse().expect("a status");
        assert!(is_harmless(&method, &path, status, text), "{method} {path}: {status} {text}");
    }
    owned.is_as_it_was().await;
    for private in ["token", "hub.sock", "."] {
        let path = owned.hub.data().join(private);
        let mut command = as_another_user("test").expect("as before");
        assert!(
            !command.arg("-r").arg(&path).status().expect("setpriv runs").success(),
            "{} can be read",
            path.display()
        );
    }
}
