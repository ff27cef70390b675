//! Refusals in the form of each binding (sections 5.4, 9.5, 11.6).

use interlingua_a2a::Version;
use interlingua_a2a::method::Method;
use interlingua_testkit::raw::Raw;
use serde_json::{Value, json};

use super::grpc::Caller;
use super::{V1, get, hub, post, send, text};

#[tokio::test]
async fn a_32_what_cannot_be_read_is_told_apart() {
    let hub = hub().await;
    let call = |method: &str, params: Value| {
        json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
    };
    for (body, code, id) in [
        ("{".to_owned(), -32700, Value::Null),
        ("[]".to_owned(), -32600, Value::Null),
        (format!("[{}]", call("GetTask", json!({"id": "x"}))), -32600, Value::Null),
        (json!({"id": 3, "method": "GetTask"}).to_string(), -32600, json!(3)),
        (call("NoSuchMethod", json!({})), -32601, json!(1)),
        (call("GetTask", json!({})), -32602, json!(1)),
        (call("SendMessage", json!({})), -32602, json!(1)),
        (
            call("SendMessage", json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{}]}})),
            -32602,
            json!(1),
        ),
        (
            call(
                "SendMessage",
                json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "a", "url": "b"}]}}),
            ),
            -32602,
            json!(1),
        ),
        (call("GetTask", json!([1])), -32602, json!(1)),
    ] {
        let mut request = post("/a2a", &[V1], &Value::Null);
        *request.body_mut() = http_body_util::Full::new(body.clone().into());
        let answer = send(&hub, request).await;
        let response = answer.json();
        assert_eq!(
            (answer.status, &response["error"]["code"], &response["id"]),
            (200, &json!(code), &id),
            "{body}: {response}"
        );
    }
    let answer = hub.post("/a2a", "text/plain", "{").await;
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (415, &json!(-32005)));
    let answer = hub.post("/a2a/message:send", "text/plain", "{").await;
    assert_eq!(
        (answer.status, &answer.json()["error"]["details"][0]["reason"]),
        (415, &json!("CONTENT_TYPE_NOT_SUPPORTED"))
    );
}

#[tokio::test]
async fn a_26_a_version_that_is_not_spoken_is_refused_by_header_and_by_parameter() {
    let hub = hub().await;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "x"}});
    for (path, headers) in [("/a2a", &[("a2a-version", "9.9")][..]), ("/a2a?A2A-Version=9.9", &[])] {
        let answer = send(&hub, post(path, headers, &body)).await.json();
        assert_eq!(answer["error"]["code"], -32009, "{answer}");
        assert_eq!(answer["error"]["data"][0]["reason"], "VERSION_NOT_SUPPORTED");
    }
    let message = json!({"message": text("tck-complete-task-1", "hi")});
    let answer = send(&hub, post("/a2a/message:send", &[("a2a-version", "9.9")], &message)).await;
    assert_eq!(
        (answer.status, &answer.json()["error"]["details"][0]["reason"]),
        (400, &json!("VERSION_NOT_SUPPORTED"))
    );
    let answer = send(&hub, post("/a2a/message:send?A2A-Version=9.9", &[], &message)).await;
    assert_eq!(answer.status, 400, "{}", answer.text());
    let mut grpc = Caller::new(&hub, Version::V1).await;
    let refused = grpc.call(Method::Get, &[("a2a-version", "9.9")], &json!({"id": "x"})).await.expect_err("refused");
    assert_eq!((refused.code, refused.reason.as_str()), (9, "VERSION_NOT_SUPPORTED"));
    for (path, headers) in [("/a2a", &[("a2a-version", "1.0.1")][..]), ("/a2a?A2A-Version=1.0", &[])] {
        assert_eq!(send(&hub, post(path, headers, &body)).await.json()["error"]["code"], -32001, "{path}");
    }
    for (path, headers) in [("/a2a/tasks/x", &[("a2a-version", "1.0.1")][..]), ("/a2a/tasks/x?A2A-Version=1.0", &[])] {
        let mut request = interlingua_testkit::request(http::Method::GET, path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let answer = send(&hub, request.body(http_body_util::Full::default()).expect("a request")).await;
        assert_eq!(answer.json()["error"]["details"][0]["reason"], "TASK_NOT_FOUND", "{path}: {}", answer.text());
    }
    let unknown = grpc.call(Method::Get, &[("a2a-version", "1.0.1")], &json!({"id": "x"})).await.expect_err("unknown");
    assert_eq!(unknown.reason, "TASK_NOT_FOUND");
}

#[tokio::test]
async fn a_30_http_errors_have_status_name_and_reason() {
    let hub = hub().await;
    let answer = send(&hub, get("/a2a/tasks/nobody", &[])).await;
    let error = &answer.json()["error"];
    assert_eq!((answer.status, &error["code"], &error["status"]), (404, &json!(404), &json!("NOT_FOUND")));
    assert_eq!(error["details"][0]["@type"], "type.googleapis.com/google.rpc.ErrorInfo");
    assert_eq!(
        (&error["details"][0]["reason"], &error["details"][0]["domain"]),
        (&json!("TASK_NOT_FOUND"), &json!("a2a-protocol.org"))
    );
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(send(&hub, get("/a2a/nothing/here/at/all", &[])).await.status, 404);
    assert_eq!(send(&hub, get("/a2a/message:send", &[])).await.status, 405);
    assert_eq!(send(&hub, get("/a2a", &[])).await.status, 405);
}

/// What was sent is in the history of its task, as it was.
#[tokio::test]
async fn a_34_bytes_and_any_json_value_make_the_round_trip_on_every_binding() {
    let hub = hub().await;
    let data =
        [json!(null), json!([1, "a", null, {"b": [true]}]), json!({"a": null}), json!(1.5), json!("x"), json!(false)];
    let mut parts: Vec<Value> =
        data.into_iter().map(|data| json!({"data": data, "mediaType": "application/json"})).collect();
    parts.push(json!({"raw": "AP8QgA==", "mediaType": "text/plain", "filename": "bytes.bin"}));
    let message = |id: &str| {
        let mut message = text(&format!("tck-input-required-{id}"), "hi");
        message["parts"].as_array_mut().expect("parts").extend(parts.clone());
        json!({ "message": message })
    };
    let rpc = super::result(&hub, "SendMessage", message("rpc")).await;
    let http = send(&hub, post("/a2a/message:send", &[V1], &message("http"))).await.json();
    let mut grpc = Caller::new(&hub, Version::V1).await;
    let by_grpc = grpc.call(Method::Send, &[], &message("grpc")).await.expect("an answer");
    for (sent, binding) in [(&rpc, "JSON-RPC"), (&http, "HTTP"), (&by_grpc, "gRPC")] {
        let id = &sent["task"]["id"];
        let path = format!("/a2a/tasks/{}", id.as_str().unwrap_or_else(|| panic!("{binding}: {sent}")));
        let shown = [
            super::result(&hub, "GetTask", json!({ "id": id })).await,
            send(&hub, get(&path, &[])).await.json(),
            grpc.call(Method::Get, &[], &json!({ "id": id })).await.expect("a task"),
        ];
        for task in shown {
            let kept = &task["history"][0]["parts"].as_array().expect("parts")[1..];
            assert_eq!(numbers(&json!(kept)), numbers(&json!(parts)), "sent by {binding}");
        }
    }
    for parts in [json!([{}]), json!([{"text": "a", "data": null}]), json!([{"raw": "", "url": "http://x/"}])] {
        let message = json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": parts}});
        assert_eq!(super::refused(&hub, "SendMessage", message).await.0, -32602, "{parts}");
    }
}

/// The proto's numbers are doubles.
fn numbers(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(all) => all.iter().map(numbers).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), numbers(value))).collect(),
        other => other.clone(),
    }
}

#[tokio::test]
async fn a_33_an_answer_in_the_media_type_of_the_protocol_for_who_speaks_it() {
    let hub = hub().await;
    let mut request = post("/a2a/message:send", &[V1], &json!({"message": text("tck-complete-task-1", "hi")}));
    request.headers_mut().insert("content-type", "application/a2a+json".parse().expect("a header"));
    let answer = send(&hub, request).await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, Some("application/a2a+json")),
        "{}",
        answer.text()
    );
    let at = answer.json()["task"]["status"]["timestamp"].as_str().expect("a time").to_owned();
    assert!(at.ends_with('Z') && at.len() == "2026-01-01T00:00:00.000Z".len(), "{at}");
}

/// A hundred mebibytes, announced or not, are refused without being taken in.
#[tokio::test]
async fn a_48_a_hundred_mebibytes_are_refused_on_both_paths() {
    let hub = hub().await;
    for path in ["/a2a", "/a2a/message:send", "/a2a/v1/message:send"] {
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\na2a-version: {}\r\n{}",
            hub.address(),
            if path.contains("/v1/") { "0.3" } else { "1.0" },
            hub.bearer_line()
        );
        let mut announced = Raw::connect(hub.address()).await;
        announced.write(format!("{head}content-length: 104857600\r\n\r\n").as_bytes()).await;
        assert_eq!(announced.read_status().await.map(|(status, _)| status), Some(413), "{path}");
        let mut pieces = Raw::connect(hub.address()).await;
        pieces.write(format!("{head}transfer-encoding: chunked\r\n\r\n").as_bytes()).await;
        let piece = [b"100000\r\n".as_slice(), &[b' '; 1 << 20], b"\r\n"].concat();
        let mut taken = 0;
        while taken < 100 && pieces.write(&piece).await {
            taken += 1;
        }
        assert!(taken < 100, "{path}: all of it was taken");
    }
    assert_eq!(super::result(&hub, "ListTasks", json!({})).await["totalSize"], 0);
}

/// Of a hundred mebibytes that nobody announced no more is in memory than a body may have.
#[tokio::test]
async fn a_48_a_body_that_grows_is_not_taken_in() {
    let hub = super::builder("limits: { body: 4MiB }\n").start().await;
    let most = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", hub.id())).expect("a process");
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a size");
        line.trim().trim_end_matches(" kB").trim().parse::<u64>().expect("a number") / 1024
    };
    let before = most();
    for path in ["/a2a", "/a2a/message:send", "/a2a/v1/message:send"] {
        let mut pieces = Raw::connect(hub.address()).await;
        let version = if path.contains("/v1/") { "0.3" } else { "1.0" };
        let head =
            format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\na2a-version: {version}\r\n");
        pieces.write(format!("{head}{}transfer-encoding: chunked\r\n\r\n", hub.bearer_line()).as_bytes()).await;
        let piece = [b"100000\r\n".as_slice(), &[b' '; 1 << 20], b"\r\n"].concat();
        let mut taken = 0;
        while taken < 100 && pieces.write(&piece).await {
            taken += 1;
        }
        assert!(taken < 100, "{path}: all of it was taken");
    }
    let grown = most() - before;
    assert!(grown < 32, "three bodies of a hundred mebibytes took {grown} MiB at a time");
}

/// Ten thousand in `make soak`; as many as a test run can afford else, each with its share of the gibibyte.
#[tokio::test]
async fn a_48_ten_thousand_idle_streams_take_less_than_a_gibibyte() {
    let count = if std::env::var_os("SOAK_SECONDS").is_some() { 10_000 } else { 400 };
    let hub = hub().await;
    let waiting = super::task(&hub, "tck-input-required-1").await;
    let path = format!("/a2a/tasks/{}:subscribe", waiting["id"].as_str().expect("an id"));
    let memory = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", hub.id())).expect("a process");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
        line.trim().trim_end_matches(" kB").trim().parse::<usize>().expect("a number") * 1024
    };
    let before = memory();
    let mut open = Vec::with_capacity(count);
    for _ in 0..count {
        let (connection, mut events) = super::stream(&hub, get(&path, &[])).await;
        events.next().await.expect("a snapshot");
        open.push((connection, events));
    }
    let grown = memory().saturating_sub(before);
    let share = (1_usize << 30) / 10_000;
    assert!(grown < count * share, "{count} streams took {grown} bytes, {} each", grown / count);
    // Each of them is alive.
    let answer = json!({"message": super::to(&waiting, text("tck-complete-task-2", "x"))});
    super::result(&hub, "SendMessage", answer).await;
    for (_, events) in &mut open {
        let mut last = String::new();
        while let Some(event) = events.next().await {
            last = event;
        }
        assert!(last.contains("TASK_STATE_COMPLETED"), "{last}");
    }
}

#[tokio::test]
async fn a_48_a_body_over_the_limit_is_refused_and_nothing_is_begun() {
    let hub = super::builder("limits: { body: 100KiB }\n").start().await;
    let big = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": text("m", &"x".repeat(200_000))}});
    let answer = send(&hub, post("/a2a", &[V1], &big)).await;
    assert_eq!((answer.status, &answer.json()["error"]["code"]), (413, &json!(-32600)));
    for path in ["/a2a/message:send", "/a2a/v1/message:send"] {
        let version = if path.contains("/v1/") { ("a2a-version", "0.3") } else { V1 };
        let answer = send(&hub, post(path, &[version], &big["params"])).await;
        assert_eq!(answer.status, 413, "{path}: {}", answer.text());
    }
    let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
    let mut request = post("/a2a/message:send", &[V1], &Value::Null);
    *request.body_mut() = http_body_util::Full::new(format!("{{\"message\":{{\"metadata\":{deep}}}}}").into());
    assert_eq!(send(&hub, request).await.status, 400);
    assert_eq!(super::result(&hub, "ListTasks", json!({})).await["totalSize"], 0);
}
