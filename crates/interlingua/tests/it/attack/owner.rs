//! A connection never proves the Owner: not by its user, its address, its Host or its headers. The socket in the data directory and the
//! Owner's token are the only ways.

use http::Method;
use http_body_util::Full;
use interlingua_testkit::{Answer, Connection, Hub, Say, Scripted, WebSocket, as_another_user, post, request, skipped};
use serde_json::{Value, json};

use crate::support::{logged, until};

fn program() -> &'static str {
    env!("CARGO_BIN_EXE_interlingua")
}

/// Writing a file is the Owner's alone on a hub without configuration.
fn write(path: &str) -> Value {
    json!({"skill": "local/write_file", "arguments": {"path": path, "content": "by somebody else"}})
}

fn was_written(hub: &Hub, path: &str) -> bool {
    hub.data().join("workspace").join(path).exists()
}

fn asked(path: &str, body: &Value, headers: &[(&str, &str)]) -> http::Request<Full<bytes::Bytes>> {
    let mut sent = request(Method::POST, path).header("content-type", "application/json");
    for (name, value) in headers {
        sent = sent.header(*name, *value);
    }
    sent.body(Full::new(body.to_string().into())).expect("a request")
}

async fn anonymous(hub: &Hub, path: &str, body: &Value, headers: &[(&str, &str)]) -> Answer {
    hub.connect_anonymous().await.send(asked(path, body, headers)).await
}

/// The tests run as the user the hub runs as, over loopback: that used to be enough.
#[tokio::test]
async fn attack_a_connection_of_the_same_user_is_anonymous() {
    let hub = Hub::builder(program()).start().await;
    let host = format!("localhost:{}", hub.address().port());
    let url = hub.url("");
    let claims: [&[(&str, &str)]; 6] = [
        &[],
        &[("host", &host)],
        &[("origin", &url)],
        &[("x-forwarded-for", "127.0.0.1"), ("forwarded", "for=127.0.0.1")],
        &[("x-remote-user", "root"), ("x-forwarded-user", "owner")],
        &[("via", "1.1 interlingua"), ("user-agent", "interlingua")],
    ];
    for headers in claims {
        let answer = anonymous(&hub, "/api/exchanges", &write("claimed.txt"), headers).await;
        assert_eq!(answer.json()["error"]["kind"], "not_found", "{headers:?}: {}", answer.text());
        assert!(!was_written(&hub, "claimed.txt"), "{headers:?}");
        let mut over_http_2 = Connection::h2c(hub.address()).await;
        let without_host: Vec<_> = headers.iter().copied().filter(|(name, _)| *name != "host").collect();
        let answer = over_http_2.send(asked("/api/exchanges", &write("claimed.txt"), &without_host)).await;
        assert_ne!(answer.status, 200, "{headers:?}: {}", answer.text());
    }
    for path in ["/api/audit", "/api/keys", "/api/tasks", "/api/confirmations"] {
        let answer =
            hub.connect_anonymous().await.send(request(Method::GET, path).body(Full::default()).expect("a path")).await;
        let items = || answer.json()["items"].as_array().map_or(0, Vec::len);
        assert!(answer.status >= 400 || items() == 0, "{path}: {}", answer.text());
    }
    assert!(WebSocket::try_open(hub.address(), "/ws", None).await.is_err(), "no device of nobody's");
    assert_eq!(hub.post_json("/api/exchanges", &write("mine.txt")).await.json()["finished"]["outcome"], "completed");
}

/// A client that has gone is reported by the kernel as a socket of user 0. Nothing asks the kernel any more.
#[tokio::test]
async fn attack_a_client_that_closed_before_it_was_looked_at_writes_nothing() {
    let hub = Hub::builder(program()).start().await;
    let (head, body) = (
        "POST /api/exchanges HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n",
        write("gone.txt").to_string(),
    );
    for _ in 0..200 {
        let mut raw = interlingua_testkit::raw::Raw::connect(hub.address()).await;
        raw.write(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).as_bytes()).await;
        raw.finish().await;
    }
    until("all were looked at", async || {
        let lines = hub.get("/api/audit?limit=200").await.json();
        lines["items"].as_array().into_iter().flatten().any(|line| line["who"] == "anonymous")
    })
    .await;
    assert!(!was_written(&hub, "gone.txt"));
}

/// What the hub itself sends, to wherever a hostile peer leads it, is nobody's word.
#[tokio::test]
async fn attack_a_connection_that_the_hub_makes_to_itself_is_nobodys() {
    let there = Scripted::web(|_, _| Say::Json(json!({}))).await;
    let port = interlingua_testkit::port::free();
    // The peer leads to the hub's own listener: a configuration may do so, and is no Owner for it.
    let yaml = format!("peers: {{ me: {{ nlip: {{ url: \"http://{port}/nlip\" }}, effects: reads }} }}\n");
    let hub = Hub::builder(program()).config(&yaml).listen(port).start().await;
    let call = json!({"format": "structured", "subformat": "json", "label": "interlingua-call",
        "content": write("deputy.txt")});
    let message = json!({"format": "text", "subformat": "english", "content": "", "submessages": [call]}).to_string();
    let asked = json!({"skill": "me/chat", "arguments": {"message": message}});
    hub.post_json("/api/exchanges", &asked).await;
    assert!(!was_written(&hub, "deputy.txt"));
    let lines = hub.get("/api/audit?limit=200").await.json();
    let owners = lines["items"].as_array().into_iter().flatten().filter(|line| line["who"] == "owner");
    let theirs = owners.filter(|line| line["wire"].as_str().is_some_and(|wire| wire.starts_with("nlip")));
    assert_eq!(theirs.count(), 0, "{lines}");
    drop(there);
}

/// A peer of another hub of the same user: what it passes on is anonymous there.
#[tokio::test]
async fn attack_another_hub_of_the_same_user_is_anonymous() {
    let right = Hub::builder(program()).start().await;
    let yaml = format!("peers: {{ right: {{ nlip: {{ url: \"{}\" }}, hub: true }} }}\n", right.url("/nlip"));
    let left = Hub::builder(program()).config(&yaml).start().await;
    until("the other hub was asked for its skills", async || left.get("/api/peers").await.text().contains("\"right\""))
        .await;
    let asked = json!({"skill": "right/local.write_file", "arguments": {"path": "crosshub.txt", "content": "x"}});
    left.post_json("/api/exchanges", &asked).await;
    assert!(!was_written(&right, "crosshub.txt"));
    let skills = left.get("/api/skills?limit=1000").await.text();
    assert!(!skills.contains("right/local."), "{skills}");
}

/// A name of the attacker's that leads to the hub: the page is of the same origin, so its GET says nothing of itself.
#[tokio::test]
async fn attack_a_rebound_page_beyond_loopback_reads_and_writes_nothing() {
    let hub = Hub::builder(program())
        .config("insecure: true\n")
        .listen(std::net::SocketAddr::from(([0, 0, 0, 0], interlingua_testkit::port::free().port())))
        .start()
        .await;
    for path in ["/api/audit", "/api/keys", "/ask?query=write+x+to+pwned.txt&streaming=false"] {
        let sent = request(Method::GET, path).header("host", "evil.example:80").body(Full::default()).expect("a path");
        let answer = hub.connect_anonymous().await.send(sent).await;
        assert!(answer.status >= 400 || !answer.text().contains("pwned.txt"), "{path}: {}", answer.text());
    }
    assert!(!was_written(&hub, "pwned.txt"));
    let keys =
        request(Method::GET, "/api/keys").header("host", "evil.example:80").body(Full::default()).expect("a path");
    assert!(hub.connect_anonymous().await.send(keys).await.status >= 400);
}

/// Who reads the log of a service or a container is not its Owner.
#[tokio::test]
async fn attack_a_reader_of_the_log_finds_no_token_there() {
    let mut hub = Hub::builder(program()).start().await;
    logged(&hub, &["the Owner's token is in", "token"]).await;
    let token = hub.token().expect("a token");
    hub.restart().await;
    logged(&hub, &["the Owner's token is in"]).await;
    assert_eq!(hub.token(), Some(token.clone()), "it is kept over a restart");
    assert!(!hub.log().contains("ilg_"), "{}", hub.log());
    let answer =
        hub.connect().await.send(post("/api/exchanges", "application/json", write("kept.txt").to_string())).await;
    assert_eq!(answer.json()["finished"]["outcome"], "completed", "and counts: {}", answer.text());
}

/// A hub that runs as root says so: whoever takes it over has the machine.
#[tokio::test]
async fn a_hub_of_root_says_that_it_is() {
    if !rustix::process::getuid().is_root() {
        return skipped("the tests do not run as root");
    }
    let hub = Hub::builder(program()).start().await;
    logged(&hub, &["WARN", "runs_as_root"]).await;
}

/// The same from a real user of the machine, where there is a way to be one.
#[tokio::test]
async fn attack_another_user_of_this_machine_writes_nothing() {
    let mut command = match as_another_user("curl") {
        Ok(command) => command,
        Err(missing) => return skipped(&missing),
    };
    let hub = Hub::builder(program()).start().await;
    let body = write("nobody.txt").to_string();
    command.args([
        "--silent",
        "--header",
        "content-type: application/json",
        "--data",
        &body,
        &hub.url("/api/exchanges"),
    ]);
    let said = command.output().expect("setpriv runs");
    assert!(String::from_utf8_lossy(&said.stdout).contains("not_found"), "{said:?}");
    assert!(!was_written(&hub, "nobody.txt"));
}
