//! One conversation that uses a device, an MCP tool, an A2A agent, an NLIP agent and a website that a browser drives, with the hub killed
//! at every step of it: the conversation always completes, and nothing with effects is done twice.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use interlingua_testkit::pages::{Pages, html};
use interlingua_testkit::{Hub, OWNER_TOKEN, Process};
use serde_json::{Value, json};

use super::told;
use crate::support::{self, start, until};

const FLIGHTS: &str = include_str!("../../../../../fixtures/site/airline/flights.html");
const AIRLINE: &str = include_str!("../../../../../fixtures/site/airline_booking.json");

/// After each step the model reads either what came of it, or that nobody knows (then the skill is named), and goes on.
const LINES: &str = r#"
replies:
  - { when: Plan my trip, again: true, call: [{ name: lab__switch }] }
  - { when: it is switched, again: true, call: [{ name: shop__note }] }
  - { when: lab/switch, again: true, call: [{ name: shop__note }] }
  - { when: it is noted, again: true, call: [{ name: clerk__chat, arguments: { message: "A room, please." } }] }
  - { when: shop/note, again: true, call: [{ name: clerk__chat, arguments: { message: "A room, please." } }] }
  - { when: the room is booked, again: true, call: [{ name: porter__chat, arguments: { message: "My bags, please." } }] }
  - { when: clerk/chat, again: true, call: [{ name: porter__chat, arguments: { message: "My bags, please." } }] }
  - { when: the bags are carried, again: true, call: [{ name: airline__search_flights, arguments: { origin: NYC, destination: Paris, date: "2027-05-01" } }] }
  - { when: porter/chat, again: true, call: [{ name: airline__search_flights, arguments: { origin: NYC, destination: Paris, date: "2027-05-01" } }] }
  - { when: Air France, again: true, say: All is arranged. }
"#;

const FAR: &str = r#"
tools: { directory: ./tools }
mcp: { names: bare }
models:
  of_clerk: { provider: scripted, file: ./clerk.yaml }
  of_porter: { provider: scripted, file: ./porter.yaml }
agents:
  clerk: { model: of_clerk, skills: ["local/book"], confirm: { writes: allow } }
  porter: { model: of_porter, skills: ["local/carry"], confirm: { writes: allow } }
"#;

const CLERK: &str = r#"
replies:
  - { when: A room, again: true, call: [{ name: local__book }] }
  - { when: done, again: true, say: The room is booked. }
"#;

const PORTER: &str = r#"
replies:
  - { when: My bags, again: true, call: [{ name: local__carry }] }
  - { when: done, again: true, say: The bags are carried. }
"#;

/// A tool that leaves a line each time it runs, and waits until it may go on.
fn tool(counters: &Path, name: &str, says: &str) -> String {
    let (line, go) = (counters.join(name), counters.join(format!("{name}.go")));
    let script = format!(
        "echo ran >> {}; for i in $(seq 600); do [ -e {} ] && break; sleep 0.1; done; echo {{\\\"text\\\":\\\"{says}\\\"}}",
        line.display(),
        go.display()
    );
    let command = serde_json::to_string(&["sh", "-c", &script]).expect("JSON");
    format!("name: {name}\ndescription: Does {name}.\neffects: {{ writes: true }}\ntimeout: 90s\ncommand: {command}\n")
}

struct Journey {
    hub: Hub,
    _far: Hub,
    _device: Process,
    pages: Pages,
    counters: PathBuf,
    _directory: tempfile::TempDir,
    task: String,
}

/// What leaves a line when it is done.
const DEEDS: [&str; 4] = ["switch", "note", "book", "carry"];

impl Journey {
    /// Everybody is there, and the conversation begins. The deed that is `held` waits to be let go of.
    async fn begin(held: Option<&str>) -> Journey {
        let directory = tempfile::tempdir().expect("a directory");
        let counters = directory.path().join("counters");
        fs::create_dir_all(&counters).expect("a directory");
        let pages = Pages::start([("/flights", html(FLIGHTS))]).await;
        let far = support::builder()
            .known_owner()
            .file("tools/note.yaml", tool(&counters, "note", "it is noted"))
            .file("tools/book.yaml", tool(&counters, "book", "done"))
            .file("tools/carry.yaml", tool(&counters, "carry", "done"))
            .file("clerk.yaml", CLERK)
            .file("porter.yaml", PORTER)
            .config(FAR)
            .start()
            .await;
        let hub = support::builder()
            .file("lines.yaml", LINES)
            .file("airline.json", AIRLINE.replace("https://www.airline.com", &pages.base()))
            .config(&config(&far))
            .start()
            .await;
        let device = device(directory.path(), &hub, &tool(&counters, "switch", "it is switched"));
        let journey =
            Journey { hub, _far: far, _device: device, pages, counters, _directory: directory, task: String::new() };
        DEEDS.iter().filter(|deed| Some(**deed) != held).for_each(|deed| journey.let_go(deed));
        until("everybody is there", async || {
            let skills = journey.hub.get("/api/skills?limit=200").await.text();
            ["lab/switch", "shop/note", "clerk/chat", "porter/chat", "airline/search_flights"]
                .iter()
                .all(|skill| skills.contains(skill))
        })
        .await;
        let task = start(&journey.hub, json!({"skill": "ann/chat", "text": "Plan my trip"})).await;
        Journey { task, ..journey }
    }

    fn let_go(&self, deed: &str) {
        fs::write(self.counters.join(format!("{deed}.go")), "").expect("a file");
    }

    fn done(&self, deed: &str) -> usize {
        fs::read_to_string(self.counters.join(deed)).map(|text| text.lines().count()).unwrap_or(0)
    }

    /// Says yes to whatever waits for it: what an agent has read makes it ask.
    async fn approve(&self) {
        let waiting = self.hub.get("/api/confirmations").await.json();
        for question in waiting["items"].as_array().into_iter().flatten() {
            let path = format!("/api/confirmations/{}", question["id"].as_str().unwrap_or_default());
            self.hub.post_json(&path, &json!({"approve": true})).await;
        }
    }

    async fn goes_on_until(&self, what: &str, seen: impl Fn(&Journey) -> bool) {
        until(what, async || {
            self.approve().await;
            seen(self)
        })
        .await;
    }

    async fn ends(&self) {
        let path = format!("/api/tasks/{}", self.task);
        let mut last = Value::Null;
        until("the journey ends", async || {
            self.approve().await;
            last = self.hub.get(&path).await.json();
            last["finished"].is_object()
        })
        .await;
        assert_eq!(last["state"], "completed", "{last}");
        assert_eq!(told(&self.hub, &self.task).await, "All is arranged.");
        for deed in DEEDS {
            assert_eq!(self.done(deed), 1, "{deed} is done once");
        }
        assert!(!self.pages.asked().is_empty(), "the page was visited");
    }
}

fn config(far: &Hub) -> String {
    let url = |path: &str| far.url(path);
    format!(
        "aip: {{ list_tools: 10ms }}\n\
         peers:\n  shop: {{ mcp: {{ url: \"{}\", token: {OWNER_TOKEN} }}, allow: [note] }}\n  clerk: {{ a2a: {{ url: \"{}\", token: {OWNER_TOKEN} }} }}\n  \
         porter: {{ nlip: {{ url: \"{}\", token: {OWNER_TOKEN} }} }}\n  airline: {{ site: ./airline.json }}\n\
         models: {{ canned: {{ provider: scripted, file: ./lines.yaml }} }}\n\
         agents:\n  ann:\n    model: canned\n    skills: [\"lab/*\", \"shop/*\", \"clerk/*\", \"porter/*\", \"airline/*\"]\n",
        url("/mcp"),
        url("/agents/clerk"),
        url("/agents/porter/nlip"),
    )
}

fn device(directory: &Path, hub: &Hub, tool: &str) -> Process {
    let tools = directory.join("device-data/tools");
    fs::create_dir_all(&tools).expect("a directory");
    fs::write(tools.join("switch.yaml"), tool).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_interlingua"));
    command
        .current_dir(directory)
        .env("INTERLINGUA_DEVICE_KEY", hub.token().expect("a token"))
        .env_remove("INTERLINGUA_DATA");
    command.args(["device", "--hub", &format!("ws://{}", hub.address()), "--id", "lab"]);
    Process::start(command)
}

#[tokio::test]
async fn a_device_a_tool_two_agents_and_a_website_in_one_conversation() {
    let journey = Journey::begin(None).await;
    journey.ends().await;
    let steps = journey.hub.get(&format!("/api/tasks/{}/timeline?limit=200", journey.task)).await.json();
    let calls = steps["items"].as_array().into_iter().flatten().filter(|step| step["step"] == "called").count();
    assert_eq!(calls, 5, "{steps}");
}

/// The hub is killed while this deed is under way.
async fn killed_while(deed: &str) {
    let mut journey = Journey::begin(Some(deed)).await;
    journey.goes_on_until(deed, |journey| journey.done(deed) == 1).await;
    journey.hub.restart().await;
    journey.let_go(deed);
    journey.ends().await;
}

#[tokio::test]
async fn killed_while_a_device_works() {
    killed_while("switch").await;
}

#[tokio::test]
async fn killed_while_an_mcp_tool_works() {
    killed_while("note").await;
}

#[tokio::test]
async fn killed_while_an_a2a_agent_works() {
    killed_while("book").await;
}

#[tokio::test]
async fn killed_while_an_nlip_agent_works() {
    killed_while("carry").await;
}

#[tokio::test]
async fn killed_while_a_website_is_driven() {
    let mut journey = Journey::begin(None).await;
    journey.goes_on_until("the page is visited", |journey| !journey.pages.asked().is_empty()).await;
    journey.hub.restart().await;
    journey.ends().await;
}
