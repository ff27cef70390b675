//! Refusals of gRPC: the table of errors, row by row as far as a client can cause it, and invalid input (sections 5.4, 10).

use http_body_util::Full;
use interlingua_a2a::Version;
use interlingua_a2a::method::Method;
use interlingua_testkit::grpc::call;
use serde_json::{Value, json};

use super::grpc::{Caller, ended};
use super::{builder, hub, result, task, text, to};

#[tokio::test]
async fn a_31_refusals_have_the_codes_and_reasons_of_the_table() {
    let hub = hub().await;
    let done = task(&hub, "tck-complete-task-1").await;
    let mut caller = Caller::new(&hub, Version::V1).await;
    let mut strange = text("m", "hi");
    strange["parts"][0]["mediaType"] = "application/x-strange".into();
    let none = json!({"id": "nobody"});
    for (method, headers, request, code, reason) in [
        (Method::Get, &[][..], none.clone(), 5, "TASK_NOT_FOUND"),
        (Method::Subscribe, &[], none.clone(), 5, "TASK_NOT_FOUND"),
        (Method::Send, &[], json!({"message": to(&none, text("m", "hi"))}), 5, "TASK_NOT_FOUND"),
        (Method::Cancel, &[], json!({"id": done["id"]}), 9, "TASK_NOT_CANCELABLE"),
        (Method::Send, &[], json!({"message": to(&done, text("m", "hi"))}), 9, "UNSUPPORTED_OPERATION"),
        (Method::Send, &[], json!({ "message": strange }), 3, "CONTENT_TYPE_NOT_SUPPORTED"),
        (Method::Get, &[("a2a-version", "9.9")], none.clone(), 9, "VERSION_NOT_SUPPORTED"),
        (Method::Get, &[("a2a-version", "0.3")], none.clone(), 9, "VERSION_NOT_SUPPORTED"),
        (Method::Get, &[("a2a-version", "1.0.1")], none.clone(), 5, "TASK_NOT_FOUND"),
        (Method::Get, &[], json!({}), 3, "INVALID_INPUT"),
        (Method::List, &[], json!({"pageSize": 0}), 3, "INVALID_INPUT"),
        (Method::List, &[], json!({"pageSize": 101}), 3, "INVALID_INPUT"),
        (Method::Send, &[], json!({}), 3, "INVALID_INPUT"),
        (
            Method::Send,
            &[],
            json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{}]}}),
            3,
            "INVALID_INPUT",
        ),
        (
            Method::Send,
            &[],
            json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "a", "url": "b"}]}}),
            3,
            "INVALID_INPUT",
        ),
        (Method::Send, &[], json!({"tenant": "nobody", "message": text("m", "hi")}), 5, "TASK_NOT_FOUND"),
    ] {
        let refused = caller.all(method, headers, &request).await.expect_err("it is refused");
        assert_eq!((refused.code, refused.reason.as_str()), (code, reason), "{method:?} {request}: {refused:?}");
        assert!(!refused.message.is_empty());
    }
    assert_eq!(result(&hub, "ListTasks", json!({})).await["totalSize"], 1, "nothing was begun");
}

#[tokio::test]
async fn a_23_what_the_card_says_is_off_is_refused() {
    let hub = builder("a2a: { streaming: false, push: false, extended_card: false }\n").start().await;
    let waiting = task(&hub, "tck-input-required-1").await;
    let id = &waiting["id"];
    let mut caller = Caller::new(&hub, Version::V1).await;
    let config = json!({"taskId": id, "id": "c", "url": "https://example.com/hook"});
    for (method, request, reason) in [
        (Method::Stream, json!({"message": text("m", "hi")}), "UNSUPPORTED_OPERATION"),
        (Method::Subscribe, json!({ "id": id }), "UNSUPPORTED_OPERATION"),
        (Method::ExtendedCard, json!({}), "UNSUPPORTED_OPERATION"),
        (Method::PushCreate, config, "PUSH_NOTIFICATION_NOT_SUPPORTED"),
        (Method::PushGet, json!({"taskId": id, "id": "c"}), "PUSH_NOTIFICATION_NOT_SUPPORTED"),
        (Method::PushList, json!({ "taskId": id }), "PUSH_NOTIFICATION_NOT_SUPPORTED"),
        (Method::PushDelete, json!({"taskId": id, "id": "c"}), "PUSH_NOTIFICATION_NOT_SUPPORTED"),
    ] {
        let refused = caller.all(method, &[], &request).await.expect_err("it is off");
        assert_eq!((refused.code, refused.reason.as_str()), (9, reason), "{method:?}");
    }
}

#[tokio::test]
async fn a_32_what_is_no_call_is_refused_in_grpcs_own_words() {
    let hub = builder("limits: { body: 100KiB }\n").start().await;
    let mut caller = Caller::new(&hub, Version::V1).await;
    let path = caller.path(Method::Send);
    for (body, code) in [
        (&b""[..], "3"),
        (b"\0\0\0\0", "3"),
        (b"\0\0\0\0\x09x", "3"),
        (b"\0\0\0\0\x01xyz", "3"),
        (b"\0\xff\xff\xff\xff", "3"),
        (b"\x01\0\0\0\x01x", "12"),
        (b"\0\0\0\0\x02\x0b\x0c", "3"),
        (b"\0\0\0\0\x02\x12\x7f", "3"),
    ] {
        let mut request = call(&path, &[], b"");
        *request.body_mut() = Full::new(bytes::Bytes::copy_from_slice(body));
        let messages = caller.connection.messages(request).await;
        assert_eq!((messages.status, messages.code()), (200, Some(code)), "{body:?}");
    }
    let large = json!({"message": text("m", &"x".repeat(200_000))});
    let refused = caller.call(Method::Send, &[], &large).await.expect_err("too large");
    assert_eq!((refused.code, refused.reason.as_str()), (8, "TOO_LARGE"));
    let depth = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!([inner]));
    let mut deep = text("m", "hi");
    deep["metadata"] = json!({"deep": depth(200)});
    let deep = json!({ "message": deep });
    assert_eq!(caller.call(Method::Send, &[], &deep).await.expect_err("too deep").code, 3);
    for unknown in
        ["/lf.a2a.v1.A2AService/NoSuchMethod", "/lf.a2a.v1.A2AService/TaskSubscription", "/a2a.v1.A2AService/ListTasks"]
    {
        let messages = caller.connection.messages(call(unknown, &[], b"")).await;
        assert_eq!(ended(&messages).expect_err("it is not there").code, 12, "{unknown}");
    }
    let mut plain = call(&path, &[], b"");
    plain.headers_mut().insert("content-type", "application/json".parse().expect("a header"));
    assert_eq!(caller.connection.messages(plain).await.status, 415);
    let mut page = call(&path, &[], b"");
    page.headers_mut().insert("origin", "https://evil.example".parse().expect("a header"));
    assert_eq!(caller.connection.messages(page).await.code(), Some("7"), "a page of another site");
    let elsewhere = call("/a2a", &[], b"");
    assert_eq!(caller.connection.messages(elsewhere).await.status, 415, "only where gRPC is spoken");
    assert_eq!(result(&hub, "ListTasks", json!({})).await["totalSize"], 0);
}

#[tokio::test]
async fn a_21_a_credential_with_a_line_end_is_refused() {
    let hub = builder("a2a: { push_private_addresses: true }\n").start().await;
    let waiting = task(&hub, "tck-input-required-1").await;
    let mut caller = Caller::new(&hub, Version::V1).await;
    for authentication in [
        json!({"scheme": "Bearer", "credentials": "a\r\nX-Evil: 1"}),
        json!({"scheme": "Bearer\r\nX-Evil: 1", "credentials": "a"}),
    ] {
        let config = json!({"taskId": waiting["id"], "url": "http://127.0.0.1:9/", "authentication": authentication});
        let refused = caller.call(Method::PushCreate, &[], &config).await.expect_err("it is refused");
        assert_eq!((refused.code, refused.reason.as_str()), (3, "INVALID_INPUT"));
    }
}

const TOKENS: &str =
    "access:\n  anonymous: refused\n  tokens: [{ name: ann, token: token-ann }, { name: bob, token: token-bob }]\n";

#[tokio::test]
async fn a_38_a_39_whoever_is_not_known_is_refused_and_another_callers_task_is_not_there() {
    let hub = builder(TOKENS).start().await;
    let mut caller = Caller::new(&hub, Version::V1).await;
    let request = json!({"message": text("tck-input-required-1", "hi")});
    let page = [("sec-fetch-site", "same-origin")];
    let refused = caller.call(Method::Send, &page, &request).await.expect_err("nobody");
    assert_eq!((refused.code, refused.reason.as_str()), (16, "UNAUTHENTICATED"));
    let wrong = [("authorization", "Bearer ilg_wrong")];
    assert_eq!(caller.call(Method::Send, &wrong, &request).await.expect_err("a wrong one").code, 16);
    let (ann, bob) = ([("authorization", "Bearer token-ann")], [("authorization", "Bearer token-bob")]);
    let told = caller.call(Method::Send, &ann, &request).await.expect("an answer");
    let named = |id: &Value| json!({ "id": id });
    for method in [Method::Get, Method::Cancel, Method::Subscribe] {
        let theirs = caller.all(method, &bob, &named(&told["task"]["id"])).await;
        let never = caller.all(method, &bob, &named(&json!("0123456789abcdef0123456789abcdef"))).await;
        assert_eq!(theirs, never, "{method:?}");
        assert_eq!(theirs.expect_err("not theirs").code, 5);
    }
    let pushes = json!({"taskId": told["task"]["id"]});
    assert_eq!(caller.call(Method::PushList, &bob, &pushes).await.expect_err("not theirs").code, 5);
    assert!(caller.call(Method::PushList, &ann, &pushes).await.is_ok());
}
