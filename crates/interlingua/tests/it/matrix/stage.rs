//! One hub with all callees behind it, and the programs that call through it.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;

use base64::Engine;
use interlingua_testkit::pages::Pages;
use interlingua_testkit::{Driver, Hub, Peer, root};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::behaviour::{Content, Scene, bytes};
use super::callees::{self, Callee, Device};
use super::callers::Caller;
use super::notes::Notes;
use super::seen::Seen;
use crate::support::until;

pub(super) struct Stage {
    pub(super) hub: Hub,
    drivers: Drivers,
    pub(super) devices: Vec<Device>,
    /// Programs of their own: desk, toolbox, scholar, almanac.
    pub(super) peers: Vec<Peer>,
    _model: Peer,
    pages: Pages,
    notes: Notes,
    /// A picture of the site's page, as the hub's own interface gives it.
    picture: OnceCell<Vec<u8>>,
}

/// Programs that call, on other people's SDKs.
#[derive(Default)]
struct Drivers {
    nlip: Option<Driver>,
    mcp: Option<Driver>,
    typescript: Option<Driver>,
    a2a: Option<Driver>,
}

/// A program of `conformance/matrix` in the environment that has its SDK.
fn script(environment: &str, name: &str) -> Command {
    let program = root().join(environment).join("bin/python");
    assert!(program.exists(), "{environment} is not installed: run scripts/setup-python (make test does)");
    let mut command = Command::new(program);
    command.env("PYTHONUNBUFFERED", "1").env("PYTHONDONTWRITEBYTECODE", "1");
    command.current_dir(root().join("conformance/matrix")).arg(name);
    command
}

async fn peer(notes: &Notes, environment: &str, script_name: &str, peer: &str) -> Peer {
    Peer::listening(|address| {
        let mut command = script(environment, script_name);
        command.env("MATRIX_NOTES", notes.file(peer)).arg(address.to_string());
        command
    })
    .await
}

async fn nlip_agent(notes: &Notes) -> Peer {
    Peer::listening(|address| {
        let mut command = script(".venv", "-m");
        command.env("MATRIX_NOTES", notes.file("desk"));
        command.args(["uvicorn", "nlip_agent:app", "--log-level", "warning", "--no-access-log"]);
        command.args(["--host", &address.ip().to_string(), "--port", &address.port().to_string()]);
        command
    })
    .await
}

fn config([desk, toolbox, scholar, almanac, model]: [&Peer; 5]) -> String {
    let (desk, toolbox) = (desk.address(), toolbox.address());
    let (scholar, almanac, model) = (scholar.address(), almanac.address(), model.address());
    let models = ["ann", "bob", "carl", "dora", "eve", "fay", "gil"]
        .map(|name| format!("  of_{name}: {{ provider: openai, model: {name}, base_url: \"http://{model}/v1/\" }}\n"));
    format!(
        r#"
peers:
  desk: {{ nlip: {{ url: "http://{desk}/nlip/" }}, effects: reads }}
  toolbox: {{ mcp: {{ url: "http://{toolbox}/mcp" }}, effects: reads }}
  scholar: {{ a2a: {{ url: "http://{scholar}" }}, effects: reads }}
  almanac: {{ nlweb: {{ url: "http://{almanac}/ask" }}, effects: reads }}
  shop: {{ site: ./shop.json }}
aip: {{ list_tools: 50ms, devices: {{ printer: {{ effects: reads }}, scanner: {{ effects: reads }} }} }}
tools: {{ directory: ./tools }}
models:
{}agents:
  ann: {{ model: of_ann, skills: ["toolbox/large"] }}
  bob: {{ model: of_bob, skills: ["toolbox/large"] }}
  carl: {{ model: of_carl }}
  dora: {{ model: of_dora }}
  eve: {{ model: of_eve }}
  fay: {{ model: of_fay }}
  gil: {{ model: of_gil }}
teams:
  panel: {{ agents: [bob, carl, dora], ending: reuse }}
  choir: {{ agents: [eve, fay, gil], ending: reuse }}
"#,
        models.concat()
    )
}

async fn everybody_is_known(hub: &Hub) {
    let known = [
        "toolbox/answer",
        "scholar/act",
        "printer/answer",
        "scanner/artifact",
        "desk/chat",
        "almanac/ask",
        "panel/chat",
    ];
    until("everybody is known", async || {
        let skills = hub.get("/api/skills?limit=1000").await.text();
        known.iter().all(|skill| skills.contains(&format!("\"{skill}\"")))
    })
    .await;
}

impl Drivers {
    /// Those of these callers that are programs.
    async fn start(hub: &Hub, callers: &[Caller]) -> Drivers {
        let driver = async |of: Caller, command: fn() -> Command| {
            if !callers.contains(&of) {
                return None;
            }
            let mut command = command();
            command.arg(hub.url("")).env("INTERLINGUA_TOKEN", hub.token().expect("a token"));
            Some(Driver::start(command).await)
        };
        let (nlip, mcp, typescript, a2a) = tokio::join!(
            driver(Caller::Nlip, || script(".venv", "nlip_caller.py")),
            driver(Caller::Mcp, || script(".tools/python/mcp-2", "mcp_caller.py")),
            driver(Caller::McpTypeScript, || interlingua_testkit::mcp::node("matrix.mjs")),
            driver(Caller::A2a, || script(".tools/python/a2a", "a2a_caller.py")),
        );
        Drivers { nlip, mcp, typescript, a2a }
    }
}

impl Stage {
    /// For these callers, with further lines in the hub's configuration.
    pub(super) async fn set(callers: &[Caller], more: &str) -> Stage {
        let notes = Notes::new();
        let (pages, desk, toolbox, scholar, almanac, model) = tokio::join!(
            Pages::start(callees::site::pages()),
            nlip_agent(&notes),
            peer(&notes, ".tools/python/mcp-2", "mcp_server.py", "toolbox"),
            peer(&notes, ".tools/python/a2a", "a2a_agent.py", "scholar"),
            peer(&notes, ".tools/python/nlweb", "nlweb_site.py", "almanac"),
            peer(&notes, ".venv", "model.py", "model"),
        );
        let mut builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua"));
        for (path, content) in callees::local::files(&notes.file("local")) {
            builder = builder.file(path, content);
        }
        let config = config([&desk, &toolbox, &scholar, &almanac, &model]) + more;
        let hub = builder.file("shop.json", callees::site::definition(&pages.base())).config(&config).start().await;
        let devices = Device::both(&hub, &notes.device).await;
        everybody_is_known(&hub).await;
        let drivers = Drivers::start(&hub, callers).await;
        let (peers, picture) = (vec![desk, toolbox, scholar, almanac], OnceCell::new());
        Stage { drivers, devices, pages, peers, _model: model, notes, hub, picture }
    }

    /// The hub again, on what it kept; its devices come back, and the programs that call are started anew.
    pub(super) async fn restart(&mut self, callers: &[Caller]) {
        self.hub.restart().await;
        self.devices = self.devices_anew().await;
        everybody_is_known(&self.hub).await;
        self.drivers = Drivers::start(&self.hub, callers).await;
    }

    /// The devices, connected once more.
    pub(super) async fn devices_anew(&self) -> Vec<Device> {
        Device::both(&self.hub, &self.notes.device).await
    }

    /// The program of a caller that is one.
    pub(super) fn driver(&self, of: Caller) -> Option<&Driver> {
        match of {
            Caller::Nlip => self.drivers.nlip.as_ref(),
            Caller::Mcp => self.drivers.mcp.as_ref(),
            Caller::McpTypeScript => self.drivers.typescript.as_ref(),
            Caller::A2a => self.drivers.a2a.as_ref(),
            Caller::Aip | Caller::Nlweb | Caller::Cli | Caller::Envelope | Caller::Bus => None,
        }
    }

    /// How often a callee began what takes hours.
    pub(super) fn begun(&self, callee: Callee) -> usize {
        self.notes.begun(callee, &self.pages)
    }

    /// How often that was ended there before its time.
    pub(super) fn ended(&self, callee: Callee) -> usize {
        self.notes.ended(callee, &self.pages)
    }

    /// A value of the hub's metrics, summed over its labels.
    async fn metric(&self, name: &str, label: &str) -> f64 {
        let text = self.hub.get("/metrics").await.text();
        let lines = text.lines().filter(|line| line.starts_with(name) && line.contains(label));
        lines.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
    }

    /// Calls that ended because somebody gave them up.
    pub(super) async fn cancelled(&self) -> f64 {
        self.metric("interlingua_exchanges_total", "outcome=\"cancelled\"").await
    }

    pub(super) async fn in_flight(&self) -> f64 {
        self.metric("interlingua_exchanges_in_flight", "").await
    }

    pub(super) async fn at_work(&self) {
        until("the hub is at work", async || self.in_flight().await > 0.0).await;
    }

    pub(super) async fn idle(&self) {
        until("the hub has nothing more to do", async || self.in_flight().await == 0.0).await;
    }

    /// Says yes to the call of this scene, once it waits for that, and tells what was asked.
    pub(super) async fn approved(&self, scene: &Scene) -> String {
        let skill = format!("{}/{}", scene.peer, scene.skill);
        loop {
            let open = self.hub.get("/api/confirmations").await.json();
            let items = open["items"].as_array().cloned().unwrap_or_default();
            if let Some(waits) = items.iter().find(|item| item.to_string().contains(&skill)) {
                let id = waits["id"].as_str().expect("an id");
                self.hub.post_json(&format!("/api/confirmations/{id}"), &json!({"approve": true})).await;
                return waits["text"].as_str().unwrap_or_default().to_owned();
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Answers a question of a task at the task, where the caller's own wire has no way; what the task came to.
    pub(super) async fn answered(&self, task: &str, question: &Value, scene: &Scene) -> Value {
        let id = question["id"].as_str().expect("an id");
        let answer = if question["kind"] == "confirm" {
            self.hub.post_json(&format!("/api/confirmations/{id}"), &json!({"approve": true})).await
        } else {
            let answer = json!({"answer": {"question": id, "text": scene.answer}});
            self.hub.post_json(&format!("/api/tasks/{task}/signals"), &answer).await
        };
        assert!(answer.status < 300, "{}", answer.text());
        let mut shown = Value::Null;
        until("the task ends", async || {
            shown = self.hub.get(&format!("/api/tasks/{task}")).await.json();
            !shown["finished"].is_null()
        })
        .await;
        shown
    }

    /// Fetches what an answer only names: addresses of the hub in its data.
    pub(super) async fn fetch(&self, seen: &mut Seen) {
        let mut addresses = Vec::new();
        for value in &seen.data {
            addresses_in(value, &self.hub.url("/"), &mut addresses);
        }
        for address in addresses {
            seen.blobs.push(base64(&self.at(&address).await));
        }
    }

    /// What is at an address of the hub.
    pub(super) async fn at(&self, address: &str) -> Vec<u8> {
        let path = address.strip_prefix(&self.hub.url("")).unwrap_or(address).to_owned();
        self.hub.get(&path).await.body.to_vec()
    }

    /// Fetches the artifact whose id stands in a result.
    pub(super) async fn fetch_kept(&self, seen: &mut Seen) {
        let texts = seen.texts.iter().map(|text| Value::from(text.as_str()));
        let ids: BTreeSet<String> =
            seen.data.iter().cloned().chain(texts).filter_map(|said| artifact_in(&said)).collect();
        for id in ids {
            let content = self.at(&format!("/api/artifacts/{id}/content")).await;
            seen.texts.push(String::from_utf8_lossy(&content).into_owned());
        }
    }

    /// What is large in this scene.
    pub(super) async fn large(&self, scene: &Scene) -> Vec<u8> {
        match scene.content {
            Content::Bytes | Content::AsText | Content::Words => bytes(),
            Content::Picture => self.picture.get_or_init(|| self.pictured(scene)).await.clone(),
        }
    }

    async fn pictured(&self, scene: &Scene) -> Vec<u8> {
        let skill = format!("{}/{}", scene.peer, scene.skill);
        let said = self.hub.post_json("/api/exchanges", &json!({"skill": skill, "arguments": {}})).await.json();
        let parts = said["finished"]["parts"].as_array().cloned().unwrap_or_default();
        let picture = parts.iter().find(|part| part["media"] == "image/jpeg");
        let picture = picture.and_then(|part| part["base64"].as_str()).unwrap_or_else(|| panic!("no picture: {said}"));
        let picture = base64::engine::general_purpose::STANDARD.decode(picture).expect("base64");
        let is_jpeg = picture.starts_with(&[0xff, 0xd8]) && picture.ends_with(&[0xff, 0xd9]);
        assert!(is_jpeg && picture.len() > 100 * 1024, "{} bytes", picture.len());
        picture
    }
}

pub(super) fn base64(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

fn artifact_in(value: &Value) -> Option<String> {
    match value {
        Value::Object(inner) => {
            let own = inner.get("artifact").and_then(Value::as_str).map(str::to_owned);
            own.or_else(|| inner.values().find_map(artifact_in))
        }
        Value::Array(inner) => inner.iter().find_map(artifact_in),
        // Where there is only text, an object is written in it.
        Value::String(text) => artifact_in(&serde_json::from_str(text).ok().filter(Value::is_object)?),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn addresses_in(value: &Value, hub: &str, found: &mut Vec<String>) {
    match value {
        Value::String(text) if text.starts_with(hub) => found.push(text.clone()),
        Value::Array(inner) => inner.iter().for_each(|value| addresses_in(value, hub, found)),
        Value::Object(inner) => inner.values().for_each(|value| addresses_in(value, hub, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
