//! `interlingua device`: the program as a device, at a hub and at a server that speaks as the Python one does.

use std::process::Command;

use futures_util::{SinkExt, StreamExt};
use interlingua_testkit::{Hub, Process, within};
use serde_json::{Value, json};
use tokio_websockets::{Message, ServerBuilder};

use super::hub;
use crate::support::until;

struct Device {
    _directory: tempfile::TempDir,
    process: Process,
}

fn device(url: &str, id: &str, more: &[&str]) -> Device {
    let directory = tempfile::tempdir().expect("a directory");
    let tools = directory.path().join("device-data/tools");
    std::fs::create_dir_all(&tools).expect("a directory");
    let greet = "name: greet\ndescription: Greets.\ninput: { type: object, properties: { who: { type: string } } }\n\
                 effects: { reads: true, idempotent: true }\ncommand: [sh, -c, 'cat']\n";
    std::fs::write(tools.join("greet.yaml"), greet).expect("a file");
    let press = "name: press\ndescription: Presses the button.\ninput: { type: object, required: [times], properties: \
                 { times: { type: integer }, pace: { type: string, enum: [slow, fast] } } }\n\
                 effects: { reads: true, idempotent: true }\ncommand: [sh, -c, 'cat']\n";
    std::fs::write(tools.join("press.yaml"), press).expect("a file");
    for (name, script) in [
        ("slow", "sleep 0.5; cat"),
        ("broken", "echo out of paper >&2; exit 3"),
        ("killed", "kill -9 $$"),
        ("absent", "exec /nowhere/at/all"),
    ] {
        let tool = format!(
            "name: {name}\ndescription: A tool.\ninput: {{ type: object }}\neffects: {{ reads: true, idempotent: true }}\n\
             command: [sh, -c, '{script}']\n"
        );
        std::fs::write(tools.join(format!("{name}.yaml")), tool).expect("a file");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_interlingua"));
    command.current_dir(directory.path()).env_remove("INTERLINGUA_TOKEN").env_remove("INTERLINGUA_DATA");
    command.args(["device", "--hub", url, "--id", id]).args(more);
    Device { process: Process::start(command), _directory: directory }
}

async fn peer(hub: &Hub, name: &str) -> Option<Value> {
    let peers = hub.get("/api/peers").await.json();
    peers["items"].as_array().expect("peers").iter().find(|peer| peer["name"] == name).cloned()
}

async fn is_up(hub: &Hub, name: &str) {
    until("the device is up and has told its tools", async || {
        let up = peer(hub, name).await.is_some_and(|peer| peer["health"] == "up");
        up && hub.get("/api/skills").await.text().contains(&format!("{name}/greet"))
    })
    .await;
}

async fn greets(hub: &Hub, name: &str) {
    let call = json!({"skill": format!("{name}/greet"), "arguments": {"who": "you"}});
    let answer = hub.post_json("/api/exchanges", &call).await;
    assert_eq!(answer.json()["finished"]["structured"], json!({"who": "you"}), "{}", answer.text());
}

#[tokio::test]
async fn a_device_offers_its_tools_to_a_hub_and_comes_back_after_a_restart() {
    let mut hub = hub("key: s3cret").await;
    let url = format!("ws://{}", hub.address());
    let device = device(&url, "box", &["--key", "s3cret"]);
    is_up(&hub, "box").await;
    greets(&hub, "box").await;
    let wrong = json!({"skill": "box/read_file", "arguments": {"path": "not there"}});
    let answer = hub.post_json("/api/exchanges", &wrong).await;
    assert_eq!(answer.json()["finished"]["outcome"], "failed", "{}", answer.text());
    let shown = peer(&hub, "box").await.expect("a peer");
    assert_eq!(shown["description"], format!("a device ({})", std::env::consts::OS));
    hub.restart().await;
    is_up(&hub, "box").await;
    greets(&hub, "box").await;
    assert!(!device.process.output().contains("s3cret"));
}

#[tokio::test]
async fn p_45_p_46_at_a_plain_server_every_command_is_answered_and_the_connection_comes_back() {
    let mut hub = crate::support::hub("aip: { list_tools: 10ms }").await;
    let url = format!("ws://{}/ws", hub.address());
    let _device = device(&url, "box", &["--key", &hub.token().expect("a token")]);
    is_up(&hub, "box").await;
    greets(&hub, "box").await;
    let request =
        json!([{"tool_name": "greet", "parameters": {"who": "a"}}, {"tool_name": "nothing"}, {"tool_name": "greet"}]);
    let call = json!({"skill": "box/do", "arguments": {"request": request.to_string()}});
    let answer = hub.post_json("/api/exchanges", &call).await.json();
    assert_eq!(answer["finished"]["outcome"], "failed", "{answer}");
    assert_eq!(answer["finished"]["fault"]["message"], "there is no tool nothing here", "{answer}");
    assert_eq!(answer["finished"]["structured"], json!([{"who": "a"}, null, null]), "one result for each action");
    hub.restart().await;
    is_up(&hub, "box").await;
    greets(&hub, "box").await;
}

/// Chance takes at most half of a wait away, and a busy machine makes waits longer, never shorter: so each has a least length,
/// of which a fifth is left to how late the one before it was noticed.
#[tokio::test]
async fn p_48_p_49_a_device_that_is_turned_away_waits_twice_as_long_each_time() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("ws://{}/ws", listener.local_addr().expect("an address"));
    let _device = device(&url, "box", &[]);
    let come = async || {
        drop(listener.accept().await.expect("a connection"));
        tokio::time::Instant::now()
    };
    let mut last = come().await;
    for least in [1.0, 2.0] {
        let next = tokio::time::timeout(std::time::Duration::from_secs(60), come()).await.expect("it comes again");
        let waited = (next - last).as_secs_f64();
        assert!(waited >= least * 0.8, "it came again after {waited} s");
        last = next;
    }
}

/// The same as words to any other peer: what they say is used, what they lack is asked for, and the answer completes the call.
#[tokio::test]
async fn words_to_a_device_use_what_they_say_and_ask_for_what_they_lack() {
    let hub = hub("key: s3cret, devices: { box: { effects: reads } }").await;
    let _device = device(&format!("ws://{}", hub.address()), "box", &["--key", "s3cret"]);
    is_up(&hub, "box").await;
    let ask = |words: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_interlingua"));
        command.args(["ask", "--peer", "box", words, "--data"]).arg(hub.data()).stdin(std::process::Stdio::null());
        let done = command.output().expect("the program runs");
        (done.status.code(), String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned())
    };
    let (code, said) = ask("press the button 3 times, fast");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("\"times\":3") && said.contains("\"pace\":\"fast\""), "{said}");
    let (code, said) = ask("list files in .");
    assert_eq!(code, Some(5), "{said}");
    assert!(said.contains("path") && said.contains("interlingua answer"), "{said}");
    let asked = json!({"peer": "box", "text": "press the button"});
    let asked = hub.post_json("/api/exchanges", &asked).await.json();
    let question = &asked["questions"][0];
    assert!(question["text"].as_str().is_some_and(|text| text.contains("times")), "{asked}");
    let task = question["task"].as_str().expect("a task");
    let answer = json!({"answer": {"question": question["id"], "text": "4"}});
    hub.post_json(&format!("/api/tasks/{task}/signals"), &answer).await;
    let done = crate::support::reaches(&hub, task, "completed").await;
    assert!(done.to_string().contains("\"times\":4"), "{done}");
    // Told by the name of its skill, the words are led the same way; nobody is asked there.
    let told = json!({"skill": "box/do", "arguments": {"request": "press the button 5 times"}});
    let done = hub.post_json("/api/exchanges", &told).await.json();
    assert_eq!(done["finished"]["structured"]["times"], 5, "{done}");
    let (code, said) = ask("bake a cake");
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("press"), "it says what there is: {said}");
}

/// A server of ours that a device registers at.
struct Server {
    socket: tokio_websockets::WebSocketStream<tokio::net::TcpStream>,
    _device: Device,
}

impl Server {
    async fn with_device() -> Server {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("ws://{}/ws", listener.local_addr().expect("an address"));
        let device = device(&url, "box", &[]);
        let (stream, _) = within("the device comes", listener.accept()).await.expect("a connection");
        let (_, socket) = ServerBuilder::new().accept(stream).await.expect("an upgrade");
        let mut server = Server { socket, _device: device };
        assert_eq!(server.hear().await["type"], "register");
        server.say(json!({"type": "heartbeat", "status": "ok", "response_id": "r0"})).await;
        server
    }

    async fn say(&mut self, mut frame: Value) {
        frame["timestamp"] = json!("2026-11-15T06:28:04.245606+00:00");
        within("a frame to be taken", self.socket.send(Message::text(frame.to_string()))).await.expect("sent");
    }

    async fn hear(&mut self) -> Value {
        loop {
            let message = within("a frame", self.socket.next()).await.expect("no end").expect("a message");
            if let Some(text) = message.as_text() {
                return serde_json::from_str(text).expect("JSON");
            }
        }
    }

    /// Gives a COMMAND of these tools and returns what came of each.
    async fn command(&mut self, id: &str, actions: &[(&str, Value)]) -> Vec<Value> {
        let actions: Vec<Value> = actions
            .iter()
            .enumerate()
            .map(|(n, (tool, given))| json!({"tool_name": tool, "parameters": given, "tool_type": "action", "call_id": format!("{id}.{n}")}))
            .collect();
        self.say(
            json!({"type": "command", "status": "continue", "session_id": "s", "response_id": id, "actions": actions}),
        )
        .await;
        loop {
            let frame = self.hear().await;
            if frame["type"] == "command_results" {
                assert_eq!((&frame["prev_response_id"], &frame["session_id"]), (&json!(id), &json!("s")), "{frame}");
                return frame["action_results"].as_array().expect("results").clone();
            }
        }
    }
}

/// Of each result: which call it is of, and how that ended.
fn told(results: &[Value]) -> Vec<(&str, &str)> {
    results
        .iter()
        .map(|one| (one["call_id"].as_str().unwrap_or_default(), one["status"].as_str().unwrap_or_default()))
        .collect()
}

#[tokio::test]
async fn p_44_a_device_answers_every_action_in_order_and_skips_what_comes_after_a_failure() {
    let mut server = Server::with_device().await;
    let who = |n: u32| json!({ "who": n.to_string() });
    let results = server.command("r1", &[("slow", who(1)), ("greet", who(2)), ("slow", who(3))]).await;
    assert_eq!(told(&results), [("r1.0", "success"), ("r1.1", "success"), ("r1.2", "success")]);
    let said: Vec<&Value> = results.iter().map(|one| &one["result"]).collect();
    assert_eq!(said, [&who(1), &who(2), &who(3)], "in the order of the actions, however long each takes");
    let actions =
        [("greet", who(1)), ("slow", who(2)), ("broken", json!({})), ("greet", who(4)), ("press", json!({"times": 1}))];
    let results = server.command("r2", &actions).await;
    assert_eq!(
        told(&results),
        [("r2.0", "success"), ("r2.1", "success"), ("r2.2", "failure"), ("r2.3", "skipped"), ("r2.4", "skipped")]
    );
    assert_eq!((&results[3]["result"], &results[4]["result"]), (&Value::Null, &Value::Null), "they did not run");
    assert!(results[3]["error"].as_str().is_some_and(|text| text.contains("previous failure")), "{results:?}");
}

#[tokio::test]
async fn p_45_whatever_goes_wrong_inside_a_device_is_a_failure_and_no_silence() {
    let mut server = Server::with_device().await;
    for (n, (tool, given)) in [
        ("nothing", json!({})),
        ("broken", json!({})),
        ("killed", json!({})),
        ("absent", json!({})),
        ("press", json!({})),
        ("press", json!({"times": "many"})),
        ("", json!({})),
    ]
    .into_iter()
    .enumerate()
    {
        let results = server.command(&format!("r{n}"), &[(tool, given.clone())]).await;
        assert_eq!(told(&results), [(format!("r{n}.0").as_str(), "failure")], "{tool} {given}: {results:?}");
        assert!(results[0]["error"].as_str().is_some_and(|text| !text.is_empty()), "{tool}: {results:?}");
        let after = server.command(&format!("a{n}"), &[("greet", json!({"who": "you"}))]).await;
        assert_eq!(after[0]["result"], json!({"who": "you"}), "it goes on after {tool}");
    }
}
