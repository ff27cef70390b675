//! Peers that direct the hub elsewhere (SSRF): to its own endpoints, to a neighbour's, to an authorization server of their choice.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::Method;
use interlingua_testkit::{Answer, Connection, Heard, Hub, Peer, Say, Scripted, port, post, root, scripted};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{send, until};

/// A caller who may use the peer `evil` and nothing else.
const ALICE: &str = "access: { anonymous: refused, tokens: [{ name: alice, token: t-alice, skills: [\"evil/*\"] }] }\n";

async fn start(yaml: &str, at: SocketAddr) -> Hub {
    Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config(yaml).listen(at).start().await
}

async fn by_owner(hub: &Hub, method: Method, path: &str, body: Option<Value>) -> Answer {
    let token = std::fs::read_to_string(hub.data().join("token")).expect("the Owner's token");
    send(hub, method, path, &[("authorization", &format!("Bearer {}", token.trim()))], body).await
}

/// What the Owner is told is wrong with a peer.
async fn problems(hub: &Hub, peer: &str) -> String {
    let peers = by_owner(hub, Method::GET, "/api/peers", None).await.json();
    let found = peers["items"].as_array().into_iter().flatten().find(|shown| shown["name"] == peer);
    found.map(|shown| shown["problems"].to_string()).unwrap_or_default()
}

async fn problem(hub: &Hub, peer: &str, words: &[&str]) {
    let mut told = String::new();
    until(&format!("a problem of {peer} with {words:?}"), async || {
        told = problems(hub, peer).await;
        words.iter().all(|word| told.contains(word))
    })
    .await;
}

fn words(text: &str) -> Value {
    json!({"format": "text", "subformat": "english", "content": text})
}

/// An NLIP agent that wants large content at `place`, and answers what comes to other paths by `otherwise`.
async fn wants_uploads(place: String, otherwise: impl Fn(&Heard) -> Say + Send + Sync + 'static) -> Scripted {
    Scripted::http(move |heard, _| {
        if heard.path != "/nlip" {
            return otherwise(heard);
        }
        match heard.json()["messagetype"] == "control" {
            true => {
                let mut offer = words("Upload here.");
                offer["messagetype"] = "control".into();
                offer["submessages"] = json!([{"format": "structured", "subformat": "uri", "content": place}]);
                Say::Json(offer)
            }
            false => Say::Json(words("thank you")),
        }
    })
    .await
}

/// What alice says to the agent, with something large beside it that she calls JSON.
async fn alice_sends(hub: &Hub, large: &Value) -> Answer {
    let mut message = words("look");
    let content = STANDARD.encode(large.to_string());
    message["submessages"] = json!([{"format": "binary", "subformat": "generic/json", "content": content}]);
    send(hub, Method::POST, "/agents/evil/nlip", &[("authorization", "Bearer t-alice")], Some(message)).await
}

#[tokio::test]
async fn attack_an_agent_has_the_hub_upload_a_call_to_its_own_door() {
    for spelt in ["127.0.0.1", "localhost", "0.0.0.0"] {
        let at = port::free();
        let place = format!("http://{spelt}:{}/api/exchanges", at.port());
        let evil = wants_uploads(place, |_| Say::Nothing).await;
        let url = format!("http://{spelt}:{}/nlip", evil.address().port());
        let hub = start(
            &format!("{ALICE}tools: {{ workspace: ./ws }}\npeers: {{ evil: {{ nlip: {{ url: \"{url}\", insecure: true }} }} }}\n"),
            at,
        )
        .await;
        let content = format!("alice is the Owner now {}", "x".repeat(300_000));
        let call = json!({"skill": "local/write_file", "arguments": {"path": "by_alice.txt", "content": content}});
        let answer = alice_sends(&hub, &call).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert!(!hub.directory().join("ws/by_alice.txt").exists(), "{spelt}: the hub called itself");
        problem(&hub, "evil", &[&format!("http://{spelt}:{}", at.port()), "`peers.evil.origins`"]).await;
        assert!(evil.heard().iter().any(|heard| heard.body.len() > 300_000), "the agent got it in the message");
    }
}

#[tokio::test]
async fn attack_an_agent_has_the_hub_upload_to_a_neighbour_on_another_port() {
    let (neighbour, connections) = scripted::counting_listener().await;
    let place = format!("http://{neighbour}/up");
    let evil = wants_uploads(place, |_| Say::Nothing).await;
    let url = format!("http://{}/nlip", evil.address());
    let hub = start(&format!("{ALICE}peers: {{ evil: {{ nlip: {{ url: \"{url}\" }} }} }}\n"), port::free()).await;
    alice_sends(&hub, &json!("x".repeat(300_000))).await;
    assert_eq!(connections.load(Ordering::SeqCst), 0);
    problem(&hub, "evil", &["`peers.evil.origins`"]).await;
    // Where the operator says that the other port is the agent's own, it is used.
    let stored = Scripted::http(|_, _| Say::Json(words("stored"))).await;
    let place = format!("http://{}/up", stored.address());
    let evil = wants_uploads(place, |_| Say::Nothing).await;
    let (url, origin) = (format!("http://{}/nlip", evil.address()), format!("http://{}", stored.address()));
    let yaml = format!("{ALICE}peers: {{ evil: {{ nlip: {{ url: \"{url}\" }}, origins: [\"{origin}\"] }} }}\n");
    let hub = start(&yaml, port::free()).await;
    alice_sends(&hub, &json!("x".repeat(300_000))).await;
    assert_eq!(stored.heard().len(), 1);
}

#[tokio::test]
async fn attack_a_caller_chooses_as_what_an_upload_is_understood() {
    for (allow, methods) in [(None, vec!["PUT"]), (Some("GET, POST"), vec!["PUT", "POST"])] {
        let place = "/up".to_owned();
        let evil = wants_uploads(place, move |heard| match (heard.method == Method::PUT, allow) {
            (true, Some(allow)) => Say::Status(405, vec![("allow", allow.to_owned())], Value::Null),
            (true, None) => Say::Status(405, Vec::new(), Value::Null),
            (false, _) => Say::Json(words("stored")),
        })
        .await;
        let url = format!("http://{}/nlip", evil.address());
        let hub = start(&format!("{ALICE}peers: {{ evil: {{ nlip: {{ url: \"{url}\" }} }} }}\n"), port::free()).await;
        alice_sends(&hub, &json!("x".repeat(300_000))).await;
        let uploads: Vec<Heard> = evil.heard().into_iter().filter(|heard| heard.path == "/up").collect();
        let types: Vec<_> = uploads.iter().map(|heard| heard.header("content-type")).collect();
        assert!(types.iter().all(|media| *media == Some("application/octet-stream")), "{types:?}");
        assert_eq!(uploads.iter().map(|heard| heard.method.as_str()).collect::<Vec<_>>(), methods, "{allow:?}");
    }
}

/// The generations of A2A, and the places where a card names an address.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Named {
    /// The one interface of 1.0.
    Interface,
    /// The address of 0.3.
    Url,
    /// Another interface of 0.3, beside an address of the agent's own.
    Additional,
}

/// An A2A agent whose card names this address.
async fn a2a_agent(named: Named, address: String) -> Scripted {
    Scripted::web(move |heard, _| {
        let (text, old) = (json!({"text": "hello"}), json!({"kind": "text", "text": "hello"}));
        if heard.path != "/.well-known/agent-card.json" {
            let result = match named {
                Named::Interface => json!({"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [text]}}),
                Named::Url | Named::Additional => {
                    json!({"kind": "message", "messageId": "m", "role": "agent", "parts": [old]})
                }
            };
            return Say::Json(json!({"jsonrpc": "2.0", "id": heard.json()["id"], "result": result}));
        }
        let mut card = json!({
            "name": "Evil", "description": "Leads elsewhere.", "version": "1", "capabilities": {},
            "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
            "skills": [{"id": "find", "name": "Find", "description": "Finds.", "tags": []}],
        });
        let more = match named {
            Named::Interface => json!({"supportedInterfaces":
                [{"url": address, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]}),
            Named::Url => json!({"protocolVersion": "0.3.0", "url": address, "preferredTransport": "JSONRPC"}),
            Named::Additional => {
                let own = format!("http://{}/rpc", heard.header("host").unwrap_or_default());
                json!({"protocolVersion": "0.3.0", "url": own, "preferredTransport": "JSONRPC",
                    "additionalInterfaces": [{"url": address, "transport": "HTTP+JSON"}]})
            }
        };
        let (card_members, more) = (card.as_object_mut().expect("an object"), more.as_object().expect("an object"));
        card_members.extend(more.clone());
        Say::Json(card)
    })
    .await
}

async fn alice_says_hi(hub: &Hub) -> String {
    let body = json!({"skill": "evil/chat", "text": "hi"});
    send(hub, Method::POST, "/api/exchanges", &[("authorization", "Bearer t-alice")], Some(body)).await.text()
}

#[tokio::test]
async fn attack_a_card_leads_to_a_neighbour_of_the_agent_or_to_the_hub_itself() {
    let (neighbour, connections) = scripted::counting_listener().await;
    let at = port::free();
    for named in [Named::Interface, Named::Url, Named::Additional] {
        for target in [neighbour, at] {
            let agent = a2a_agent(named, format!("http://{target}/a2a")).await;
            let url = format!("http://{}", agent.address());
            let hub = start(&format!("{ALICE}peers: {{ evil: {{ a2a: {{ url: \"{url}\" }} }} }}\n"), at).await;
            problem(&hub, "evil", &[&format!("http://{target}"), "`peers.evil.origins`"]).await;
            let said = alice_says_hi(&hub).await;
            assert_eq!(said.contains("completed"), named == Named::Additional, "only by an address of its own: {said}");
            assert_eq!(connections.load(Ordering::SeqCst), 0, "{named:?}");
            let audit = by_owner(&hub, Method::GET, "/api/audit", None).await.text();
            assert!(!audit.contains("loop"), "the hub heard from itself: {audit}");
        }
    }
    for named in [Named::Interface, Named::Url] {
        let elsewhere = a2a_agent(named, String::new()).await;
        let agent = a2a_agent(named, format!("http://{}/rpc", elsewhere.address())).await;
        let (url, origin) = (format!("http://{}", agent.address()), format!("http://{}", elsewhere.address()));
        let yaml = format!("{ALICE}peers: {{ evil: {{ a2a: {{ url: \"{url}\" }}, origins: [\"{origin}\"] }} }}\n");
        let hub = start(&yaml, at).await;
        until("an answer from where the operator allows it", async || alice_says_hi(&hub).await.contains("hello"))
            .await;
        assert!(!elsewhere.heard().is_empty(), "{named:?}");
    }
}

#[tokio::test]
async fn attack_a_program_that_speaks_mcp_names_addresses_of_a_neighbour_and_of_the_hub() {
    let (neighbour, connections) = scripted::counting_listener().await;
    let at = port::free();
    for target in [neighbour, at] {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/attack/names_addresses.py");
        let (python, place) = (root().join(".venv/bin/python"), format!("http://{target}"));
        let args = json!([script, place]);
        let mcp = format!("mcp: {{ command: \"{}\", args: {args} }}, trust_hints: true", python.display());
        let hub = start(&format!("{ALICE}peers: {{ evil: {{ {mcp} }} }}\n"), at).await;
        let alice = [("authorization", "Bearer t-alice")];
        until("its tool", async || {
            send(&hub, Method::GET, "/api/skills", &alice, None).await.text().contains("evil/look")
        })
        .await;
        let body = json!({"skill": "evil/look", "arguments": {}});
        let said = send(&hub, Method::POST, "/api/exchanges", &alice, Some(body)).await;
        assert!(said.text().contains("/embedded"), "what it names is passed on as text: {}", said.text());
        // A schema that stands elsewhere is not fetched: nothing fits it, or it does not count.
        let body = json!({"skill": "evil/refers", "arguments": {"a": 1}});
        send(&hub, Method::POST, "/api/exchanges", &alice, Some(body)).await;
        assert_eq!(connections.load(Ordering::SeqCst), 0);
        let audit = by_owner(&hub, Method::GET, "/api/audit", None).await.json();
        let own = audit["items"].as_array().into_iter().flatten().filter(|line| line["who"] == "anonymous").count();
        assert_eq!(own, 0, "the hub heard from itself: {audit}");
    }
}

#[tokio::test]
async fn attack_an_agent_is_registered_that_is_the_hub_itself() {
    let at = port::free();
    let hub = start("", at).await;
    for spelt in ["127.0.0.1", "0.0.0.0", "[::ffff:127.0.0.1]"] {
        let url = format!("http://{spelt}:{}", at.port());
        let answer = by_owner(&hub, Method::POST, "/api/agents", Some(json!({"agent_id": "me", "url": url}))).await;
        assert_eq!(answer.status, 422, "{url}: {}", answer.text());
        assert!(answer.text().contains("cannot be reached"), "{}", answer.text());
    }
}

#[tokio::test]
async fn attack_a_file_for_models_leads_to_a_neighbour_of_the_site() {
    let (neighbour, connections) = scripted::counting_listener().await;
    let site = Scripted::web(move |heard, _| match heard.path.as_str() {
        "/llms.txt" => Say::Raw(200, "text/plain", format!("# S\n- [Ask](http://{neighbour}/ask)\n").into()),
        _ => Say::Json(json!({"query_id": "1", "results": []})),
    })
    .await;
    let url = format!("http://{}", site.address());
    let hub = start(&format!("{ALICE}peers: {{ evil: {{ nlweb: {{ url: \"{url}\" }} }} }}\n"), port::free()).await;
    let body = json!({"skill": "evil/ask", "arguments": {"query": "soup"}});
    send(&hub, Method::POST, "/api/exchanges", &[("authorization", "Bearer t-alice")], Some(body)).await;
    problem(&hub, "evil", &[&format!("http://{neighbour}"), "`peers.evil.origins`"]).await;
    assert_eq!(connections.load(Ordering::SeqCst), 0);
}

/// An MCP server that wants tokens, with an authorization server beside it, and what it wrote down.
struct Guarded {
    server: Peer,
    log: PathBuf,
    _directory: TempDir,
}

impl Guarded {
    async fn start(options: Value) -> Guarded {
        let directory = tempfile::tempdir().expect("a directory");
        let log = directory.path().join("log");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/mcp_client/guarded.py");
        let server = Peer::listening(|address| {
            let mut command = std::process::Command::new(root().join(".venv/bin/python"));
            command.arg(script).arg(address.to_string()).arg(&log).arg(options.to_string());
            command
        })
        .await;
        Guarded { server, log, _directory: directory }
    }

    fn origin(&self) -> String {
        format!("http://{}", self.server.address())
    }

    /// Changes what it does from now on.
    async fn control(&self, options: Value) {
        let mut connection = Connection::http1(self.server.address()).await;
        let done = connection.send(post("/control", "application/json", options.to_string())).await;
        assert_eq!(done.status, 200);
    }

    fn count(&self, begin: &str) -> usize {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        text.lines().filter(|line| line.starts_with(begin)).count()
    }

    fn yaml(&self, more: &str) -> String {
        format!("{ALICE}peers: {{ evil: {{ mcp: {{ url: \"{}/mcp\"{more} }} }} }}\n", self.origin())
    }
}

#[tokio::test]
async fn attack_an_mcp_server_names_a_neighbour_or_the_hub_as_the_place_of_its_metadata() {
    let (neighbour, connections) = scripted::counting_listener().await;
    let at = port::free();
    for target in [neighbour, at] {
        let challenge = format!("http://{target}/ask?site=graph&streaming=false&query=x");
        let server = Guarded::start(json!({"challenge": challenge})).await;
        let hub = start(&server.yaml(""), at).await;
        problem(&hub, "evil", &["resource_metadata", &format!("http://{target}"), "`peers.evil.origins`"]).await;
        assert_eq!(connections.load(Ordering::SeqCst), 0);
    }
}

#[tokio::test]
async fn attack_an_authorization_server_is_at_the_hubs_own_door() {
    let at = port::free();
    let own = format!("http://{at}");
    let cases = [
        json!({"metadata": {"authorization_servers": [own]}}),
        json!({"server": {"registration_endpoint": format!("{own}/api/keys/rotate")}}),
        json!({"server": {"authorization_endpoint": format!("{own}/ask?site=graph&query=x")}}),
        json!({"server": {"authorization_endpoint": format!("http://localhost:{}/ask?query=x", at.port())}}),
    ];
    for options in cases {
        let server = Guarded::start(options.clone()).await;
        let hub = start(&server.yaml(""), at).await;
        problem(&hub, "evil", &["this hub's own"]).await;
        assert!(!problems(&hub, "evil").await.contains("/oauth/start/"), "{options}");
    }
}

#[tokio::test]
async fn attack_a_server_on_loopback_names_an_authorization_server_elsewhere_inside() {
    let inside = TcpListener::bind("127.0.0.9:0").expect("every address of 127.0.0.0/8 is this machine's");
    inside.set_nonblocking(true).expect("a listener");
    let at = inside.local_addr().expect("bound");
    let server = Guarded::start(json!({"metadata": {"authorization_servers": [format!("https://{at}/x")]}})).await;
    let hub = start(&server.yaml(""), port::free()).await;
    problem(&hub, "evil", &["no address that may be called"]).await;
    assert!(inside.accept().is_err(), "somebody connected");
    // The operator may say that it may.
    let hub_again = start(&server.yaml(", oauth: { private_addresses: true }"), port::free()).await;
    until("a connection", async || inside.accept().is_ok()).await;
    drop((hub, hub_again));
}

#[tokio::test]
async fn attack_a_server_names_another_authorization_server_to_be_shown_the_clients_secret() {
    let shows = json!({"token_endpoint_auth_methods_supported": ["client_secret_post"]});
    let evil = Guarded::start(json!({ "server": shows })).await;
    let server = Guarded::start(json!({ "server": shows })).await;
    let client = "grant: client_credentials, client_id: hub, client_secret: TOPSECRET";
    let mut hub = start(&server.yaml(&format!(", oauth: {{ {client} }}")), port::free()).await;
    until("the secret is shown to the first", async || server.count("token client_credentials") > 0).await;
    server.control(json!({"metadata": {"authorization_servers": [evil.origin()]}})).await;
    let told = ["oauth.issuer", &evil.origin(), &server.origin()];
    problem(&hub, "evil", &told).await;
    // It is remembered.
    hub.restart().await;
    problem(&hub, "evil", &told).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(evil.count("token"), 0, "the secret was sent to another");
    // The operator may name it, and then no other: also one that was there first.
    let named = format!(", oauth: {{ {client}, issuer: \"{}\" }}", evil.origin());
    let other = start(&server.yaml(&named), port::free()).await;
    until("the secret is shown to whom the operator names", async || evil.count("token client_credentials") > 0).await;
    let before = server.count("token");
    server.control(json!({"metadata": {}})).await;
    hub.kill_9();
    let before = before.max(server.count("token"));
    problem(&other, "evil", &["oauth.issuer"]).await;
    assert_eq!(server.count("token"), before);
}
