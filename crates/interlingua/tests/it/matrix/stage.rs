//! One hub with everybody behind it, and the programs that call through it.

use std::process::Command;
use std::time::Duration;

use interlingua_testkit::pages::Pages;
use interlingua_testkit::{Driver, Hub, Peer, root};
use serde_json::{Value, json};

use super::behaviour::{Scene, bytes};
use super::callees::{self, Device};
use super::seen::Seen;
use crate::support::until;

pub(super) struct Stage {
    pub(super) hub: Hub,
    pub(super) nlip: Driver,
    pub(super) mcp: Driver,
    pub(super) typescript: Driver,
    pub(super) a2a: Driver,
    pub(super) device: Option<Device>,
    /// Programs of their own: desk, toolbox, scholar, almanac.
    pub(super) peers: Vec<Peer>,
    _model: Peer,
    _pages: Pages,
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

async fn peer(environment: &str, name: &str) -> Peer {
    Peer::listening(|address| {
        let mut command = script(environment, name);
        command.arg(address.to_string());
        command
    })
    .await
}

async fn nlip_agent() -> Peer {
    Peer::listening(|address| {
        let mut command = script(".venv", "-m");
        command.args(["uvicorn", "nlip_agent:app", "--log-level", "warning", "--no-access-log"]);
        command.args(["--host", &address.ip().to_string(), "--port", &address.port().to_string()]);
        command
    })
    .await
}

fn config([desk, toolbox, scholar, almanac, model]: [&Peer; 5]) -> String {
    let (desk, toolbox) = (desk.address(), toolbox.address());
    let (scholar, almanac, model) = (scholar.address(), almanac.address(), model.address());
    format!(
        r#"
peers:
  desk: {{ nlip: {{ url: "http://{desk}/nlip/" }}, effects: reads }}
  toolbox: {{ mcp: {{ url: "http://{toolbox}/mcp" }}, effects: reads }}
  scholar: {{ a2a: {{ url: "http://{scholar}" }}, effects: reads }}
  almanac: {{ nlweb: {{ url: "http://{almanac}/ask" }}, effects: reads }}
  shop: {{ site: ./shop.json }}
aip: {{ list_tools: 0s, devices: {{ printer: {{ effects: reads }} }} }}
tools: {{ directory: ./tools }}
models:
  of_ann: {{ provider: scripted, file: ./ann.yaml }}
  of_bob: {{ provider: scripted, file: ./bob.yaml }}
  of_eve: {{ provider: openai, model: m, base_url: "http://{model}/v1/" }}
agents:
  ann: {{ model: of_ann }}
  bob: {{ model: of_bob }}
  eve: {{ model: of_eve }}
teams:
  panel: {{ agents: [bob], ending: reuse }}
  choir: {{ agents: [eve], ending: reuse }}
"#
    )
}

async fn everybody_is_known(hub: &Hub) {
    let known = ["toolbox/answer", "scholar/act", "printer/answer", "desk/chat", "almanac/ask"];
    until("everybody is known", async || {
        let skills = hub.get("/api/skills?limit=1000").await.text();
        known.iter().all(|skill| skills.contains(&format!("\"{skill}\"")))
    })
    .await;
}

/// The programs that call: NLIP, MCP in Python and TypeScript, A2A.
async fn callers(hub: &Hub) -> [Driver; 4] {
    let driver = |mut command: Command| {
        command.arg(hub.url("")).env("INTERLINGUA_TOKEN", hub.token().expect("a token"));
        Driver::start(command)
    };
    let (nlip, mcp, typescript, a2a) = tokio::join!(
        driver(script(".venv", "nlip_caller.py")),
        driver(script(".tools/python/mcp-2", "mcp_caller.py")),
        driver(interlingua_testkit::mcp::node("matrix.mjs")),
        driver(script(".tools/python/a2a", "a2a_caller.py")),
    );
    [nlip, mcp, typescript, a2a]
}

impl Stage {
    pub(super) async fn set() -> Stage {
        Stage::with("").await
    }

    /// With further lines in the hub's configuration.
    pub(super) async fn with(more: &str) -> Stage {
        let (pages, desk, toolbox, scholar, almanac, model) = tokio::join!(
            Pages::start(callees::pages()),
            nlip_agent(),
            peer(".tools/python/mcp-2", "mcp_server.py"),
            peer(".tools/python/a2a", "a2a_agent.py"),
            peer(".tools/python/nlweb", "nlweb_site.py"),
            peer(".venv", "model.py"),
        );
        let mut builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua"));
        for (path, content) in callees::files() {
            builder = builder.file(path, content);
        }
        let config = config([&desk, &toolbox, &scholar, &almanac, &model]) + more;
        let hub = builder.file("shop.json", callees::definition(&pages.base())).config(&config).start().await;
        let device = Some(Device::join(&hub).await);
        everybody_is_known(&hub).await;
        let [nlip, mcp, typescript, a2a] = callers(&hub).await;
        let peers = vec![desk, toolbox, scholar, almanac];
        Stage { nlip, mcp, typescript, a2a, device, _pages: pages, peers, _model: model, hub }
    }

    /// The hub again, on what it kept; its device comes back, and the programs that call are started anew.
    pub(super) async fn restart(&mut self) {
        self.hub.restart().await;
        self.device = Some(Device::join(&self.hub).await);
        everybody_is_known(&self.hub).await;
        [self.nlip, self.mcp, self.typescript, self.a2a] = callers(&self.hub).await;
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

    /// Whether another call ends as given up, within the time such things may take.
    pub(super) async fn cancels_one_more_than(&self, before: f64) -> bool {
        for _ in 0..600 {
            if self.cancelled().await > before {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        false
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

    /// Fetches what an answer only names: addresses of the hub in its data.
    pub(super) async fn fetch(&self, seen: &mut Seen) {
        let mut addresses = Vec::new();
        for value in &seen.data {
            addresses_in(value, &self.hub.url("/"), &mut addresses);
        }
        for address in addresses {
            let path = address.strip_prefix(&self.hub.url("")).expect("an address of the hub").to_owned();
            seen.blobs.push(base64(&self.hub.get(&path).await.body));
        }
    }

    /// Content that is told by its digest: it is what it is to be, or not there.
    pub(super) async fn stored(&self, digest: &str, seen: &mut Seen) {
        let content = bytes();
        if interlingua_core::Digest::of(&content).to_string() == digest {
            seen.blobs.push(base64(&content));
        }
    }
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

fn addresses_in(value: &Value, hub: &str, found: &mut Vec<String>) {
    match value {
        Value::String(text) if text.starts_with(hub) => found.push(text.clone()),
        Value::Array(inner) => inner.iter().for_each(|value| addresses_in(value, hub, found)),
        Value::Object(inner) => inner.values().for_each(|value| addresses_in(value, hub, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
