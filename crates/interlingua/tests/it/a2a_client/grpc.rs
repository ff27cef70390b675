//! Agents over gRPC: requests, streams that break off, errors in trailers, and invalid answers.

use std::collections::BTreeMap;

use bytes::Bytes;
use interlingua_a2a::fault::Error;
use interlingua_a2a::grpc::{details, frame, unframe};
use interlingua_a2a::method::Method;
use interlingua_a2a::request::read_grpc;
use interlingua_a2a::wire::{Asked, Operation};
use interlingua_a2a::{Version, proto};

use super::*;

/// An agent whose card has one interface, by gRPC.
async fn by_grpc(version: &str, script: impl Fn(&Heard) -> Say + Send + Sync + 'static) -> Agent {
    let agent = Agent::start(card(), script).await;
    agent.shows(grpc_card(&agent, version));
    agent
}

fn grpc_card(agent: &Agent, version: &str) -> Value {
    let mut card = card();
    let url = agent.scripted.address().to_string();
    card["supportedInterfaces"] =
        json!([{"url": url, "protocolBinding": "GRPC", "protocolVersion": version, "tenant": "acme"}]);
    card
}

/// The name of the method.
fn called(heard: &Heard) -> &str {
    heard.path.rsplit('/').next().unwrap_or_default()
}

fn calls(agent: &Agent) -> Vec<String> {
    agent.heard().iter().map(|heard| called(heard).to_owned()).collect()
}

async fn is_called(agent: &Agent, name: &str) {
    until(name, async || calls(agent).iter().any(|called| called == name)).await;
}

fn asked(heard: &Heard) -> Asked {
    let method = Method::of_grpc(called(heard), Version::V1).expect("a method");
    read_grpc(method, &unframe(&heard.body).expect("a frame"), Version::V1, 64).expect("a request")
}

/// One message of an answer.
fn piece(method: Method, answer: &Value) -> Piece {
    let message = proto::answer_from_json(method, Version::V1, answer.to_string().as_bytes()).expect("a message");
    Piece::Bytes(frame(&message))
}

fn ended(code: &str) -> Piece {
    Piece::Trailers(vec![("grpc-status", code.to_owned())])
}

fn whole(method: Method, answer: &Value) -> Say {
    Say::Call(Vec::new(), vec![piece(method, answer), ended("0")])
}

/// A stream of these, and then this.
fn messages(updates: &[Value], last: impl IntoIterator<Item = Piece>) -> Say {
    Say::Call(Vec::new(), updates.iter().map(|update| piece(Method::Stream, update)).chain(last).collect())
}

/// A status and nothing else.
fn refused(code: &str) -> Say {
    Say::Call(vec![("grpc-status", code.to_owned()), ("grpc-message", "not%20now".to_owned())], Vec::new())
}

#[tokio::test]
async fn a_43_an_agent_is_called_by_grpc_over_http_2_in_its_own_package() {
    for (version, service) in [("1.0", "lf.a2a.v1.A2AService"), ("0.3", "a2a.v1.A2AService")] {
        let agent = by_grpc(version, move |heard| {
            let old = heard.path.starts_with("/a2a.v1.");
            let (version, said) = if old { (Version::V03, "content") } else { (Version::V1, "parts") };
            let answer = json!({"message": {"messageId": "m", "role": "ROLE_AGENT", said: [{"text": "by grpc"}]}});
            let message = proto::answer_from_json(Method::Stream, version, answer.to_string().as_bytes());
            Say::Call(Vec::new(), vec![Piece::Bytes(frame(&message.expect("a message"))), ended("0")])
        })
        .await;
        let hub = agent.hub().await;
        let answer = say(&hub, "hello").await;
        assert_eq!(texts(&answer), ["by grpc"], "{version}: {answer}");
        let heard = &agent.heard()[0];
        assert_eq!(heard.path, format!("/{service}/SendStreamingMessage"));
        assert_eq!((heard.version, heard.method.as_str()), (http::Version::HTTP_2, "POST"));
        let headers = [("content-type", "application/grpc"), ("te", "trailers"), ("a2a-version", version)];
        for (name, value) in headers {
            assert_eq!(heard.header(name), Some(value), "{name}");
        }
        assert_eq!(heard.header("grpc-timeout"), None, "nobody set a deadline");
    }
}

#[tokio::test]
async fn a_40_a_deadline_goes_along_and_so_does_the_tenant() {
    let agent = by_grpc("1.0", |_| messages(&[message("ok")], [ended("0")])).await;
    let hub = agent.hub().await;
    let body = json!({"skill": "agent/chat", "text": "x", "deadline": "60s"});
    assert_eq!(texts(&hub.post_json("/api/exchanges", &body).await.json()), ["ok"]);
    let heard = &agent.heard()[0];
    let wait = heard.header("grpc-timeout").and_then(interlingua_a2a::grpc::timeout).expect("a deadline");
    assert!(wait <= std::time::Duration::from_secs(60) && !wait.is_zero(), "{wait:?}");
    let asked = asked(heard);
    assert_eq!(asked.tenant.as_deref(), Some("acme"));
    assert!(matches!(asked.operation, Operation::Stream(_)));
}

fn so_far(state: &str) -> Value {
    let mut task = task(state);
    task["artifacts"] = json!([{"artifactId": "page", "name": "page", "parts": [{"text": "one "}, {"text": "two "}]}]);
    task
}

#[tokio::test]
async fn a_45_a_stream_that_breaks_off_is_taken_up_by_a_subscription_and_nothing_is_told_twice() {
    // The connection is cut; the trailers do not come; somebody on the way says that the server is gone.
    let breaks: [fn() -> Vec<Piece>; 4] =
        [|| vec![Piece::Cut], Vec::new, || vec![ended("14")], || vec![Piece::Bytes(b"\0\0\0"[..].into()), Piece::Cut]];
    for cut in breaks {
        let agent = by_grpc("1.0", move |heard| match called(heard) {
            "SendStreamingMessage" => {
                let begun = [json!({"task": task("SUBMITTED")}), status("WORKING"), artifact("one ", false, false)];
                messages(&begun, cut())
            }
            "SubscribeToTask" => {
                let rest = [json!({"task": so_far("WORKING")}), artifact("three", true, true), status("COMPLETED")];
                messages(&rest, [ended("0")])
            }
            other => panic!("{other} was not needed"),
        })
        .await;
        let hub = agent.hub().await;
        let answer = say(&hub, "x").await;
        assert_eq!(texts(&answer), ["one ", "two ", "three"], "{answer}");
        assert_eq!(calls(&agent), ["SendStreamingMessage", "SubscribeToTask"]);
        let Operation::Subscribe { task } = asked(&agent.heard()[1]).operation else { panic!("another operation") };
        assert_eq!(&*task, "t1");
    }
}

#[tokio::test]
async fn a_45_what_ended_meanwhile_is_asked_for() {
    let agent = by_grpc("1.0", |heard| match called(heard) {
        "SendStreamingMessage" => messages(&[json!({"task": task("WORKING")})], [Piece::Cut]),
        "SubscribeToTask" => refused("9"),
        _ => whole(Method::Get, &so_far("COMPLETED")),
    })
    .await;
    let hub = agent.hub().await;
    let answer = say(&hub, "x").await;
    assert_eq!(texts(&answer), ["one ", "two "], "{answer}");
    assert_eq!(calls(&agent), ["SendStreamingMessage", "SubscribeToTask", "GetTask"]);
}

/// Works until it is cancelled.
fn working(heard: &Heard) -> Say {
    match called(heard) {
        "CancelTask" => whole(Method::Cancel, &task("CANCELED")),
        _ => {
            let begun = [json!({"task": task("WORKING")}), artifact("one ", false, false)];
            messages(&begun, [Piece::Until(Arc::new(tokio::sync::Notify::new()))])
        }
    }
}

#[tokio::test]
async fn a_13_a_cancel_and_a_deadline_reach_the_agent() {
    let agent = by_grpc("1.0", working).await;
    let hub = agent.hub().await;
    let id = begin(&hub, "x").await;
    until("a task that is busy", async || hub.get(&format!("/api/tasks/{id}")).await.text().contains("page")).await;
    signal(&hub, &id, json!({"cancel": true})).await;
    reaches(&hub, &id, "cancelled").await;
    let heard = agent.heard().into_iter().find(|heard| called(heard) == "CancelTask").expect("a cancel");
    let Operation::Cancel { task } = asked(&heard).operation else { panic!("another operation") };
    assert_eq!(&*task, "t1");
    let late = by_grpc("1.0", working).await;
    let hub = late.hub().await;
    let body = json!({"skill": "agent/chat", "text": "x", "deadline": "1s"});
    assert_eq!(fault(&hub.post_json("/api/exchanges", &body).await.json()), "deadline");
    is_called(&late, "CancelTask").await;
}

#[tokio::test]
async fn a_47_a_hub_that_was_killed_takes_the_agents_task_up_again() {
    let agent = by_grpc("1.0", |heard| match called(heard) {
        "SubscribeToTask" => messages(&[json!({"task": so_far("WORKING")}), status("COMPLETED")], [ended("0")]),
        _ => working(heard),
    })
    .await;
    let mut hub = agent.hub().await;
    let id = begin(&hub, "x").await;
    until("an artifact", async || hub.get(&format!("/api/tasks/{id}")).await.text().contains("page")).await;
    hub.kill_9();
    hub.restart().await;
    let done = reaches(&hub, &id, "completed").await;
    assert_eq!(done["finished"]["artifacts"], json!(["page"]), "{done}");
    assert_eq!(calls(&agent), ["SendStreamingMessage", "SubscribeToTask"], "it was not sent again");
}

/// What the agent's answer comes to, and how often it was asked.
async fn outcome(script: impl Fn(&Heard) -> Say + Send + Sync + 'static) -> (String, Vec<String>) {
    let agent = by_grpc("1.0", script).await;
    let hub = agent.hub().await;
    let answer = say(&hub, "x").await;
    assert_eq!(hub.get("/healthz").await.status, 200);
    let kind = if fault(&answer).is_null() { &answer["error"]["kind"] } else { fault(&answer) };
    (kind.as_str().unwrap_or_else(|| panic!("{answer}")).to_owned(), calls(&agent))
}

#[tokio::test]
async fn a_32_what_is_no_answer_of_grpc_is_a_bad_reply_and_is_not_asked_again() {
    let garbage: [fn() -> Vec<Piece>; 5] = [
        || vec![Piece::Bytes("<html>hello</html>".into()), ended("0")],
        || vec![Piece::Bytes(Bytes::from_static(b"\x01\0\0\0\x01x")), ended("0")],
        || vec![Piece::Bytes(Bytes::from_static(b"\0\xff\xff\xff\xff")), ended("0")],
        || vec![Piece::Bytes(frame(b"\xff\xff")), ended("0")],
        || vec![Piece::Bytes(frame(b"")), ended("0")],
    ];
    for (number, pieces) in garbage.into_iter().enumerate() {
        let (kind, asked) = outcome(move |_| Say::Call(Vec::new(), pieces())).await;
        assert_eq!((kind.as_str(), asked.len()), ("bad_reply", 1), "{number}");
    }
    let (kind, asked) = outcome(|_| Say::Raw(200, "text/html", "<html></html>".into())).await;
    assert_eq!((kind.as_str(), asked.len()), ("bad_reply", 1));
}

#[tokio::test]
async fn a_45_a_call_that_ends_without_a_status_is_an_outcome_nobody_knows() {
    let nothing: [fn() -> Say; 3] =
        [|| Say::Nothing, || Say::Call(Vec::new(), Vec::new()), || Say::Call(Vec::new(), vec![Piece::Cut])];
    for (number, says) in nothing.into_iter().enumerate() {
        let (kind, asked) = outcome(move |_| says()).await;
        assert_eq!((kind.as_str(), asked.len()), ("outcome_unknown", 1), "{number}");
    }
}

/// A status with its details, as the official servers write it: the name of the error is there and nowhere else.
fn detailed(fault: &interlingua_model::Fault, code: &str) -> Say {
    let error = Error::of(fault, None);
    Say::Call(vec![("grpc-status", code.to_owned()), ("grpc-status-details-bin", details(&error))], Vec::new())
}

#[tokio::test]
async fn a_31_an_error_is_known_by_its_details_then_by_its_code() {
    use interlingua_model::{Fault, FaultKind, Feature};
    for (code, kind) in [
        ("3", "invalid_input"),
        ("4", "deadline"),
        ("7", "peer_declined"),
        ("8", "busy"),
        ("13", "peer_failed"),
        ("14", "busy"),
        ("16", "unreachable"),
        ("99", "peer_failed"),
    ] {
        let (told, _) = outcome(move |_| refused(code)).await;
        assert_eq!(told, kind, "{code}");
    }
    for (kind, code, told) in [
        (FaultKind::Unsupported(Feature::Media), "3", "invalid_input"),
        (FaultKind::BadReply, "13", "bad_reply"),
        (FaultKind::Loop, "9", "loop"),
    ] {
        let (heard, _) = outcome(move |_| detailed(&Fault::caller(kind, "x"), code)).await;
        assert_eq!(heard, told, "{code}");
    }
}

#[tokio::test]
async fn a_43_where_grpc_is_not_served_the_next_interface_is_taken() {
    let absent: [fn() -> Say; 3] =
        [|| refused("12"), || Say::Status(404, Vec::new(), Value::Null), || Say::Raw(405, "text/html", "".into())];
    for says in absent {
        let agent = Agent::start(card(), move |heard| match heard.path.as_str() {
            "/rpc" => Say::Json(result(message("by json-rpc"))),
            _ => says(),
        })
        .await;
        let mut both = grpc_card(&agent, "1.0");
        let rpc = card()["supportedInterfaces"][0].clone();
        both["supportedInterfaces"].as_array_mut().expect("a list").push(rpc);
        agent.shows(both);
        let hub = agent.hub().await;
        assert_eq!(texts(&say(&hub, "x").await), ["by json-rpc"]);
        let first = agent.heard().len();
        assert_eq!(texts(&say(&hub, "x").await), ["by json-rpc"]);
        assert_eq!(agent.heard().len(), first + 1, "what works is remembered");
        let only = agent.builder(", binding: grpc").start().await;
        listed(&only).await;
        let answer = say(&only, "x").await;
        assert!(texts(&answer).is_empty(), "{answer}");
    }
}

#[tokio::test]
async fn a_48_calls_that_stay_open_do_not_stand_in_the_way_of_the_next() {
    const MANY: usize = 230;
    let agent = by_grpc("1.0", working).await;
    let hub = agent.hub().await;
    let mut tasks = Vec::new();
    for _ in 0..MANY {
        tasks.push(begin(&hub, "x").await);
    }
    until("every call", async || agent.heard().len() >= MANY).await;
    let mut open: BTreeMap<usize, usize> = BTreeMap::new();
    for heard in agent.heard() {
        *open.entry(heard.connection).or_default() += 1;
    }
    assert!(open.len() >= 3 && open.values().all(|count| *count <= 100), "{open:?}");
    signal(&hub, &tasks[0], json!({"cancel": true})).await;
    reaches(&hub, &tasks[0], "cancelled").await;
}

#[tokio::test]
async fn a_43_over_tls_http_2_is_agreed_on() {
    let certificate = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let far = Hub::builder(env!("CARGO_BIN_EXE_interlingua"))
        .config("tls: { cert: ./cert.pem, key: ./key.pem }\nscripts: { far: ./agent.yaml }\nfront_door: far\n")
        .file("agent.yaml", "public: true\nscenes: [ { play: [ { answer: { text: \"Hello there\" } } ] } ]\n")
        .file("cert.pem", certificate.cert.pem())
        .file("key.pem", certificate.signing_key.serialize_pem())
        .tls()
        .start()
        .await;
    let url = far.url("").replace("http://", "https://");
    let config = format!("peers: {{ agent: {{ a2a: {{ url: \"{url}\", ca: ca.pem, binding: grpc }} }} }}\n");
    let hub = Hub::builder(env!("CARGO_BIN_EXE_interlingua"))
        .config(&config)
        .file("ca.pem", certificate.cert.pem())
        .start()
        .await;
    listed(&hub).await;
    let answer = say(&hub, "hello").await;
    assert_eq!(texts(&answer), ["Hello there"], "{answer}");
}
