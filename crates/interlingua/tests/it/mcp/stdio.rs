//! `interlingua mcp`: the same server on a pipe.

use std::process::Stdio;

use interlingua_testkit::within;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::meta;
use crate::support::hub;

/// The program, and what it says.
struct Piped {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Piped {
    fn start(directory: &std::path::Path) -> Piped {
        Piped::start_with(directory, &["mcp", "--data", "data"])
    }

    fn start_with(directory: &std::path::Path, arguments: &[&str]) -> Piped {
        let mut child = Command::new(env!("CARGO_BIN_EXE_interlingua"))
            .args(arguments)
            .current_dir(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("the program starts");
        let (input, output) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
        Piped { child, input, output: BufReader::new(output).lines() }
    }

    async fn say(&mut self, message: Value) {
        self.line(&message.to_string()).await;
    }

    async fn line(&mut self, text: &str) {
        self.input.write_all(format!("{text}\n").as_bytes()).await.expect("the program reads");
    }

    /// The next line, which must be a message.
    async fn hear(&mut self) -> Value {
        let line = within("a line", self.output.next_line()).await.expect("a pipe").expect("a line");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("not a message ({error}): {line}"))
    }

    /// The answer to a request, past notifications.
    async fn answer(&mut self, id: Value) -> Value {
        loop {
            let message = self.hear().await;
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    /// Closes its input; it must end by itself, having said nothing more.
    async fn end(mut self) {
        drop(self.input);
        let status = within("the end of the program", self.child.wait()).await.expect("it ended");
        assert!(status.success(), "{status}");
    }
}

fn modern(id: u64, method: &str, mut params: Value) -> Value {
    params["_meta"] = meta(json!({"elicitation": {}}));
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

#[tokio::test]
async fn m_42_both_eras_on_a_pipe_that_carries_only_messages_and_ends_with_its_input() {
    let hub = hub("").await;
    let mut piped = Piped::start(hub.directory());
    piped.say(modern(1, "server/discover", json!({}))).await;
    assert!(piped.answer(json!(1)).await["result"]["supportedVersions"].is_array());
    let params = json!({"name": "local__steps", "arguments": {}});
    let mut call = modern(2, "tools/call", params);
    call["params"]["_meta"]["progressToken"] = "p".into();
    piped.say(call).await;
    let progress = piped.hear().await;
    assert_eq!(progress["params"]["progressToken"], "p", "{progress}");
    assert_eq!(piped.answer(json!(2)).await["result"]["structuredContent"], json!({"counted": 2}));
    let begin =
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
    piped.say(json!({"jsonrpc": "2.0", "id": "i", "method": "initialize", "params": begin})).await;
    assert_eq!(piped.answer(json!("i")).await["result"]["protocolVersion"], "2025-06-18");
    piped.say(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    piped.say(json!({"jsonrpc": "2.0", "id": 3, "method": "ping"})).await;
    assert_eq!(piped.answer(json!(3)).await["result"], json!({}));
    let params = json!({"name": "local__steps", "arguments": {}});
    piped.say(json!({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": params})).await;
    assert_eq!(piped.answer(json!(4)).await["result"]["structuredContent"], json!({"counted": 2}));
    piped.end().await;
}

#[tokio::test]
async fn m_42_where_there_is_no_hub_it_is_one_and_bad_lines_are_answered_cleanly() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut piped = Piped::start(directory.path());
    piped.line("{").await;
    assert_eq!(piped.hear().await["error"]["code"], -32700);
    piped.say(json!({"jsonrpc": "2.0", "id": 8, "method": "tools/list"})).await;
    let early = piped.answer(json!(8)).await;
    assert_eq!(early["error"]["code"], -32600, "no session yet: {early}");
    piped.say(modern(9, "tools/list", json!({}))).await;
    let listed = piped.answer(json!(9)).await;
    assert!(listed["result"]["tools"].to_string().contains("local__read_file"), "{listed}");
    piped.end().await;
}

#[tokio::test]
async fn what_writes_is_asked_for_in_the_client_of_a_pipe_and_a_cancelled_call_ends() {
    let hub = hub("").await;
    let mut piped = Piped::start(hub.directory());
    let write = json!({"name": "local__write_file", "arguments": {"path": "a.txt", "content": "x"}});
    piped.say(modern(1, "tools/call", write)).await;
    let asked = piped.answer(json!(1)).await;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    // This one is confirmed first, then runs for a minute.
    let slow = json!({"name": "local__slow", "arguments": {}});
    piped.say(modern(2, "tools/call", slow.clone())).await;
    let asked = piped.answer(json!(2)).await;
    let mut again = slow;
    again["requestState"] = asked["result"]["requestState"].clone();
    again["inputResponses"] = json!({"q0": {"action": "accept", "content": {"approve": true}}});
    let mut call = modern(3, "tools/call", again);
    call["params"]["_meta"]["progressToken"] = 1.into();
    piped.say(call).await;
    assert_eq!(piped.hear().await["method"], "notifications/progress");
    piped.say(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}})).await;
    crate::support::until("the call has ended", async || {
        hub.get("/metrics").await.text().contains("interlingua_exchanges_in_flight 0")
    })
    .await;
    piped.end().await;
}

#[tokio::test]
async fn two_clients_with_hubs_of_their_own_do_not_want_the_same_port() {
    let taken = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = taken.local_addr().expect("an address").port();
    // The usual port, and one that somebody else has.
    let files = ["mcp: { names: bare }\n".to_owned(), format!("listen: 127.0.0.1:{port}\n")];
    let mut both = Vec::new();
    for text in files.iter().chain(&files) {
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::write(directory.path().join("hub.yaml"), text).expect("written");
        let piped = Piped::start_with(directory.path(), &["mcp", "-c", "hub.yaml", "--data", "data"]);
        both.push((piped, directory));
    }
    for (piped, _) in &mut both {
        piped.say(modern(1, "tools/list", json!({}))).await;
        assert!(piped.answer(json!(1)).await["result"]["tools"].is_array());
    }
    for (piped, _directory) in both {
        piped.end().await;
    }
}
