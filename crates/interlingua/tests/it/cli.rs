//! The program from outside: its output and exit codes. The hub is a canned one here, so that every end can be shown.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Output, Stdio};
use std::thread::JoinHandle;

use crate::support::logged;

fn interlingua(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a temporary directory");
    Command::new(env!("CARGO_BIN_EXE_interlingua"))
        .current_dir(folder.path())
        .env_remove("INTERLINGUA_HUB")
        .env_remove("INTERLINGUA_TOKEN")
        .env_remove("INTERLINGUA_DATA")
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("the program runs")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("it was not killed")
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// Answers one request after the other with these; returns what was asked.
fn hub(answers: &[(&str, &str, &str)]) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let answers: Vec<String> = answers
        .iter()
        .map(|(status, media, body)| {
            let length = body.len();
            format!("HTTP/1.1 {status}\r\ncontent-type: {media}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
        })
        .collect();
    let serving = std::thread::spawn(move || {
        let answer = |text: &String| {
            let (mut stream, _) = listener.accept().expect("a request");
            let asked = request(&mut stream);
            stream.write_all(text.as_bytes()).expect("the answer is sent");
            asked
        };
        answers.iter().map(answer).collect()
    });
    (url, serving)
}

fn request(stream: &mut impl Read) -> String {
    let mut text = String::new();
    let mut buffer = [0; 4096];
    loop {
        let head_end = text.find("\r\n\r\n");
        let length =
            text.to_lowercase().split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
        if head_end.is_some_and(|end| text.len() >= end + 4 + length.unwrap_or(0)) {
            return text;
        }
        let read = stream.read(&mut buffer).expect("the request is read");
        assert!(read > 0, "the request ended early: {text}");
        text.push_str(std::str::from_utf8(&buffer[..read]).expect("UTF-8"));
    }
}

const JSON: &str = "application/json";
const SSE: &str = "text/event-stream";

#[test]
fn a_configuration_is_checked_with_exit_codes_0_and_3() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hub.yaml");
    let path = file.to_str().unwrap();
    std::fs::write(&file, "limits: { depth: 64 }\n").unwrap();
    let good = interlingua(&["check", path]);
    assert_eq!((code(&good), out(&good)), (0, format!("{path} is valid\n")));
    std::fs::write(&file, "limits: { depht: 64 }\n").unwrap();
    let bad = interlingua(&["check", path]);
    let expected = format!(
        "{path}:1:11: limits.depht: unknown key `depht`; did you mean `depth`?\n   |\n 1 | limits: {{ depht: 64 }}\n   |           ^\n"
    );
    assert_eq!((code(&bad), err(&bad)), (3, expected));
}

#[test]
fn a_plan_is_checked_as_a_plan() {
    let path = format!("{}/../../examples/plan.yaml", env!("CARGO_MANIFEST_DIR"));
    let checked = interlingua(&["check", &path]);
    let said = format!("{path} is a valid plan; `interlingua run` works through it\n");
    assert_eq!((code(&checked), out(&checked)), (0, said), "{}", err(&checked));
}

#[test]
fn the_hubs_that_conformance_kits_meet_can_be_started() {
    for name in ["a2a-tck.yaml", "a2a-tck-off.yaml", "a2a-tck-03.yaml"] {
        let path = format!("{}/../../conformance/{name}", env!("CARGO_MANIFEST_DIR"));
        let checked = interlingua(&["check", &path]);
        assert_eq!(code(&checked), 0, "{name}: {}", err(&checked));
    }
}

#[test]
fn the_schema_is_a_schema_and_completions_are_scripts() {
    let schema: serde_json::Value = serde_json::from_slice(&interlingua(&["schema"]).stdout).unwrap();
    assert!(schema["properties"]["listen"].is_object());
    for shell in ["bash", "zsh", "fish"] {
        assert!(out(&interlingua(&["completions", shell])).contains("interlingua"), "{shell}");
    }
}

#[test]
fn usage_is_2_and_no_hub_is_4() {
    assert_eq!(code(&interlingua(&["nonsense"])), 2);
    assert_eq!(code(&interlingua(&["--help"])), 0);
    assert_eq!(code(&interlingua(&["call", "a/b", "not json"])), 2);
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let none = interlingua(&["peers", "--hub", &format!("http://{nobody}")]);
    assert_eq!(code(&none), 4);
    assert!(err(&none).contains("start one with `interlingua serve`"), "{}", err(&none));
}

#[test]
fn peers_are_a_table_for_people_and_json_for_programs() {
    let body = r#"{"items":[{"name":"hotels","title":"Hotels","description":"Finds\u001b[2J hotels","version":"1","class":"agent","protocol":"a2a","health":"up","skills":3,"resources":0,"seen":"2026-01-01T00:00:00.000Z"}]}"#;
    let (url, asked) = hub(&[("200 OK", JSON, body), ("200 OK", JSON, body)]);
    let table = interlingua(&["peers", "--hub", &url, "--token", "abc"]);
    assert_eq!(
        out(&table),
        "NAME    PROTOCOL  HEALTH  SCORE  SIGNED  CLASS  SKILLS  DESCRIPTION\nhotels  a2a       up      -      -       agent  3       Finds\\u{1b}[2J hotels\n"
    );
    let json: serde_json::Value =
        serde_json::from_slice(&interlingua(&["peers", "--hub", &url, "--json"]).stdout).unwrap();
    assert_eq!(json["items"][0]["name"], "hotels");
    let asked = asked.join().unwrap();
    assert!(asked[0].starts_with("GET /api/peers?limit=200 HTTP/1.1\r\n"), "{}", asked[0]);
    assert!(asked[0].contains("authorization: Bearer abc\r\n"), "{}", asked[0]);
}

#[test]
fn a_call_shows_what_is_said_and_ends_with_0() {
    let events = "event: started\nid: 1\ndata: {\"skill\":\"hotels/chat\",\"class\":\"agent\",\"why\":\"named\"}\n\n\
                  event: said\nid: 2\ndata: {\"message\":\"m\",\"channel\":\"answer\",\"piece\":\"delta\",\"parts\":[{\"kind\":\"text\",\"text\":\"Hel\",\"by\":\"hotels\"}]}\n\n\
                  event: said\nid: 3\ndata: {\"message\":\"m\",\"channel\":\"answer\",\"piece\":\"end\",\"parts\":[{\"kind\":\"text\",\"text\":\"lo\",\"by\":\"hotels\"}]}\n\n\
                  event: finished\nid: 4\ndata: {\"outcome\":\"completed\",\"said\":\"m\",\"usage\":{\"tokens_in\":0,\"tokens_out\":0,\"calls\":1,\"micro_money\":0}}\n\n";
    let (url, asked) = hub(&[("200 OK", SSE, events)]);
    let done = interlingua(&["call", "hotels/chat", "{\"n\":1.10}", "--key", "k1", "--deadline", "5s", "--hub", &url]);
    assert_eq!((code(&done), out(&done)), (0, "Hello\n".into()), "{}", err(&done));
    assert!(err(&done).contains("→ hotels/chat (named)"), "{}", err(&done));
    let asked = &asked.join().unwrap()[0];
    assert!(asked.contains("idempotency-key: k1\r\n"), "{asked}");
    assert!(asked.ends_with(r#"{"skill":"hotels/chat","arguments":{"n":1.10},"deadline":"5s"}"#), "{asked}");
}

#[test]
fn a_fault_ends_the_command_with_its_exit_code() {
    for (status, kind, exit) in
        [("404 Not Found", "not_found", 2), ("403 Forbidden", "denied", 7), ("504 Gateway Timeout", "deadline", 6)]
    {
        let body =
            format!(r#"{{"error":{{"kind":"{kind}","message":"no","origin":"hub","retry":"no","exit_code":{exit}}}}}"#);
        let (url, asked) = hub(&[(status, JSON, &body)]);
        let failed = interlingua(&["ask", "--hub", &url, "find", "hotels"]);
        assert_eq!((code(&failed), err(&failed)), (exit, "error: no\n".into()));
        assert!(asked.join().unwrap()[0].ends_with(r#"{"words":"find hotels"}"#));
    }
}

/// What approvers are asked says itself who can approve it, and how; what the caller is asked does not.
#[test]
fn a_question_without_a_terminal_ends_with_5_and_says_how_to_go_on() {
    let id = "00000000000000000000000000000007";
    let caller = format!("  interlingua approve {id}.1   or   interlingua deny {id}.1\n");
    let approvers = format!("  interlingua tasks {id}   shows what came of it\n");
    for (to, how) in [("caller", caller), ("approvers", approvers)] {
        let asked = format!(
            "event: asked\nid: 1\ndata: {{\"id\":\"{id}.1\",\"task\":\"{id}\",\"kind\":\"confirm\",\"to\":\"{to}\",\"text\":\"Delete it?\",\
             \"asked_by\":\"hub\",\"expires\":\"2026-01-01T00:00:00.000Z\"}}\n\n"
        );
        let (url, serving) = hub(&[("200 OK", SSE, &asked)]);
        let waiting = interlingua(&["call", "a/delete", "--hub", &url]);
        assert_eq!((code(&waiting), err(&waiting)), (5, format!("error: Delete it?\n{how}")), "{to}");
        serving.join().unwrap();
    }
}

#[test]
fn a_yes_goes_to_the_confirmation_of_the_task() {
    let task = r#"{"id":"07","state":"waiting","owner":"owner","created":"c","updated":"u","questions":[{"id":"07.1","task":"07","kind":"confirm","to":"approvers","text":"Delete it?","asked_by":"hub","expires":"e"}]}"#;
    let question = r#"{"id":"07.1","task":"07","kind":"confirm","to":"approvers","text":"Delete it?","asked_by":"hub","expires":"e"}"#;
    let open = format!(r#"{{"items":[{question}]}}"#);
    let running = task.replace("waiting", "running");
    let (url, asked) = hub(&[("200 OK", JSON, &open), ("200 OK", JSON, task), ("200 OK", JSON, &running)]);
    let done = interlingua(&["approve", "07", "--hub", &url]);
    assert!(err(&done).contains("Delete it?"), "what the yes is for is shown first: {}", err(&done));
    assert_eq!((code(&done), out(&done)), (0, "approved 07.1; its caller gets the result\n".into()), "{}", err(&done));
    let asked = asked.join().unwrap();
    assert!(
        asked[2].starts_with("POST /api/confirmations/07.1 ") && asked[2].ends_with(r#"{"approve":true}"#),
        "{}",
        asked[2]
    );
}

#[tokio::test]
async fn a_hub_starts_without_a_file_says_where_it_is_and_stops_with_0() {
    let mut hub = interlingua_testkit::Hub::builder(env!("CARGO_BIN_EXE_interlingua")).start().await;
    logged(&hub, &[&format!("listening on {}", hub.url(""))]).await;
    logged(&hub, &["the Owner's token is in data/token"]).await;
    logged(&hub, &["try:     interlingua ask \"what can you do\""]).await;
    logged(&hub, &[&format!("others over MCP at {}", hub.url("/mcp"))]).await;
    logged(&hub, &["console: interlingua open"]).await;
    assert!(!hub.log().contains("schema_migrated"), "a new database is not migrated: {}", hub.log());
    assert_eq!(hub.stop().await.code(), Some(0));
    assert!(!hub.log().contains("exchanges_not_ended"), "nothing was under way: {}", hub.log());
}

#[tokio::test]
async fn a_hub_refuses_a_wrong_configuration_with_3() {
    let builder = interlingua_testkit::Hub::builder(env!("CARGO_BIN_EXE_interlingua"));
    let (status, said) = builder.config("limits: { dpeth: 1 }").refused().await;
    assert_eq!(status.code(), Some(3));
    let expected = "interlingua.yaml:1:11: limits.dpeth: unknown key `dpeth`; did you mean `depth`?";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn a_client_is_connected_by_its_own_file() {
    let home = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_interlingua"))
            .current_dir(home.path())
            .env("HOME", home.path())
            .env("XDG_CONFIG_HOME", home.path().join("settings"))
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .expect("the program runs")
    };
    std::fs::write(home.path().join("hub.yaml"), "").expect("a configuration");
    let shown = run(&["connect", "cursor", "-c", "hub.yaml"]);
    assert_eq!(code(&shown), 0, "{}", err(&shown));
    let snippet: serde_json::Value = serde_json::from_str(&out(&shown)).expect("the snippet is JSON");
    let entry = &snippet["mcpServers"]["interlingua"];
    let file = home.path().canonicalize().unwrap().join("hub.yaml");
    assert_eq!(entry["args"], serde_json::json!(["mcp", "-c", file]), "relative paths would lead elsewhere");
    assert!(!home.path().join(".cursor").exists(), "only --write writes");

    let written = run(&["connect", "cursor", "-c", "hub.yaml", "--write"]);
    assert_eq!(code(&written), 0, "{}", err(&written));
    let text = std::fs::read_to_string(home.path().join(".cursor/mcp.json")).expect("it is there");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&text).expect("JSON")["mcpServers"]["interlingua"], *entry);

    let refused = run(&["connect", "claude-desktop", "--hub", "http://127.0.0.1:7447"]);
    assert_eq!(code(&refused), 2, "{}", err(&refused));
    let comments = home.path().join("settings/zed/settings.json");
    let left = run(&["connect", "zed", "--write"]);
    assert_eq!(code(&left), 2, "{}", err(&left));
    assert!(!comments.exists());
}

/// The end of a call as the hub streams it.
fn finished(body: &str) -> String {
    let usage = r#""usage":{"tokens_in":0,"tokens_out":0,"calls":0,"micro_money":0}"#;
    format!("event: finished\nid: 1\ndata: {{{body},{usage}}}\n\n")
}

#[test]
fn a_failure_is_told_once() {
    let fault =
        r#""fault":{"kind":"tool","message":"order 9 is not there","origin":"orders","exit_code":1,"retry":"no"}"#;
    let parts = r#""parts":[{"kind":"text","text":"order 9 is not there","by":"orders"}]"#;
    let failed = finished(&format!(r#""outcome":"failed",{fault},{parts}"#));
    let (url, serving) = hub(&[("200 OK", SSE, &failed)]);
    let output = interlingua(&["call", "orders/get", "{}", "--hub", &url]);
    serving.join().expect("asked");
    let both = out(&output) + &err(&output);
    assert_eq!((code(&output), both.matches("order 9 is not there").count()), (1, 1), "{both}");
}

#[test]
fn images_and_files_of_a_result_are_saved_under_clean_names_and_never_over_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let into = folder.path().join("out");
    let blob = |name: &str| {
        format!(r#"{{"kind":"blob","base64":"aGVsbG8=","size":5,"media":"image/png","name":"{name}","by":"painter"}}"#)
    };
    let parts = format!(r#""parts":[{},{}]"#, blob("../../chart.png"), blob(".ssh/authorized_keys"));
    let painted = finished(&format!(r#""outcome":"completed",{parts}"#));
    let call = |more: &[&str]| {
        let (url, serving) = hub(&[("200 OK", SSE, &painted)]);
        let output = interlingua(&[&["call", "painter/draw", "{}", "--hub", &url], more].concat());
        serving.join().expect("asked");
        output
    };
    let told = call(&[]);
    assert!(out(&told).contains("[../../chart.png, 5 bytes; --save DIR keeps it]"), "{}", out(&told));
    let into = into.to_str().expect("UTF-8");
    let saved = call(&["--save", into]);
    assert_eq!(code(&saved), 0, "{}", err(&saved));
    let mut names: Vec<String> = std::fs::read_dir(into)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["authorized_keys.png", "chart.png"]);
    std::fs::write(format!("{into}/chart.png"), "mine").expect("written");
    let refused = call(&["--save", into]);
    assert!(code(&refused) == 1 && err(&refused).contains("--force"), "{}", err(&refused));
    assert_eq!(std::fs::read(format!("{into}/chart.png")).expect("read"), b"mine");
    let forced = call(&["--save", into, "--force"]);
    assert_eq!(code(&forced), 0, "{}", err(&forced));
    assert_eq!(std::fs::read(format!("{into}/chart.png")).expect("read"), b"hello");
}
