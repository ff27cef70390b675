//! Cards: where they are, what they say, how they are cached (sections 4.4, 8).

use http::Method;
use http_body_util::Full;
use interlingua_a2a::Version;
use interlingua_a2a::method::Method as GrpcMethod;
use interlingua_testkit::{Hub, request};
use serde_json::{Value, json};

use super::grpc::Caller;
use super::{V1, builder, get, hub, post, send};

#[tokio::test]
async fn a_01_the_card_has_every_member_that_is_required() {
    let hub = hub().await;
    for path in ["/.well-known/agent-card.json", "/agents/agent/.well-known/agent-card.json"] {
        let answer = hub.get(path).await;
        assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")), "{path}");
        let card = answer.json();
        for member in ["name", "description", "version"] {
            assert!(card[member].as_str().is_some_and(|text| !text.is_empty()), "{member}: {card}");
        }
        for list in ["supportedInterfaces", "defaultInputModes", "defaultOutputModes", "skills"] {
            assert!(card[list].as_array().is_some_and(|list| !list.is_empty()), "{list}: {card}");
        }
        assert!(card["capabilities"]["streaming"] == true);
        let skill = &card["skills"][0];
        assert!(skill["id"].is_string() && skill["name"].is_string() && skill["description"].is_string());
        assert!(skill["tags"].as_array().is_some_and(|tags| !tags.is_empty()), "{skill}");
    }
    assert_eq!(hub.get("/agents/nobody/.well-known/agent-card.json").await.status, 404);
}

#[tokio::test]
async fn a_01_without_a_front_door_the_card_is_the_hubs_with_all_skills_and_their_schemas() {
    let hub = interlingua_testkit::Hub::builder(env!("CARGO_BIN_EXE_interlingua")).start().await;
    let card = hub.get("/.well-known/agent-card.json").await.json();
    let ids: Vec<&str> =
        card["skills"].as_array().expect("skills").iter().filter_map(|skill| skill["id"].as_str()).collect();
    assert!(ids.contains(&"ask") && ids.contains(&"hub/echo"), "{ids:?}");
    let params = &card["capabilities"]["extensions"][0]["params"]["skills"]["hub/find_skills"];
    assert_eq!(params["inputSchema"]["properties"]["query"]["type"], "string");
}

#[tokio::test]
async fn a_02_every_interface_answers_at_its_address() {
    let (hub, mut number) = (hub().await, 0);
    // The older gRPC has no word for an agent: it is only the hub's.
    for (card, count) in [("/agents/agent/.well-known/agent-card.json", 5), ("/.well-known/agent-card.json", 6)] {
        let card = hub.get(card).await.json();
        let interfaces = card["supportedInterfaces"].as_array().expect("interfaces").clone();
        assert_eq!(interfaces.len(), count, "{interfaces:?}");
        for interface in &interfaces {
            number += 1;
            let id = format!("tck-complete-task-{number}");
            let version = interface["protocolVersion"].as_str().expect("a version");
            match interface["protocolBinding"].as_str() {
                Some("GRPC") => grpc_answers(&hub, interface, version, &id).await,
                _ => json_answers(&hub, interface, version, &id).await,
            }
        }
    }
}

async fn grpc_answers(hub: &Hub, interface: &Value, version: &str, id: &str) {
    assert_eq!(interface["url"], hub.address().to_string(), "an authority, without a scheme");
    let (version, parts) = match version {
        "1.0" => (Version::V1, "parts"),
        _ => (Version::V03, "content"),
    };
    let mut message = json!({"messageId": id, "role": "ROLE_USER"});
    message[parts] = json!([{"text": "hi"}]);
    let mut request = json!({ "message": message });
    if let Some(tenant) = interface.get("tenant") {
        request["tenant"] = tenant.clone();
    }
    let told = Caller::new(hub, version).await.call(GrpcMethod::Send, &[], &request).await;
    assert!(told.expect("an answer")["task"].is_object(), "{interface}");
}

async fn json_answers(hub: &Hub, interface: &Value, version: &str, id: &str) {
    let url = interface["url"].as_str().expect("a url");
    let path = url.strip_prefix(&hub.url("")).expect("the hub's own address");
    let new = version == "1.0";
    let role = if new { "ROLE_USER" } else { "user" };
    let mut message = json!({"messageId": id, "role": role, "parts": [{"kind": "text", "text": "hi"}]});
    let (path, body) = match (interface["protocolBinding"].as_str(), new) {
        (Some("JSONRPC"), _) => {
            let method = if new { "SendMessage" } else { "message/send" };
            (path.to_owned(), json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}}))
        }
        (_, true) => (format!("{path}/message:send"), json!({ "message": message })),
        (_, false) => {
            message["role"] = "ROLE_USER".into();
            message["content"] = message["parts"].take();
            (format!("{path}/v1/message:send"), json!({ "message": message }))
        }
    };
    let answer = send(hub, post(&path, &[("a2a-version", version)], &body)).await;
    assert_eq!(answer.status, 200, "{interface}: {}", answer.text());
    assert!(answer.json().get("error").is_none(), "{interface}: {}", answer.text());
}

#[tokio::test]
async fn a_03_a_card_may_be_kept_and_asked_for_again_by_its_tag() {
    let hub = hub().await;
    let card = hub.get("/.well-known/agent-card.json").await;
    assert!(card.header("cache-control").is_some_and(|text| text.contains("max-age=")));
    assert!(card.header("last-modified").is_some_and(|date| date.ends_with("GMT")));
    let tag = card.header("etag").expect("a tag").to_owned();
    for (known, status) in [(tag.as_str(), 304), ("\"other\"", 200), ("*", 304), (&*format!("\"x\", W/{tag}"), 304)] {
        let request = request(Method::GET, "/.well-known/agent-card.json").header("if-none-match", known);
        let answer = send(&hub, request.body(Full::default()).expect("a request")).await;
        assert_eq!(answer.status, status, "{known}");
        assert_eq!(answer.body.is_empty(), status == 304);
        assert_eq!(answer.header("etag"), Some(tag.as_str()));
    }
}

#[tokio::test]
async fn a_29_one_card_is_read_by_both_generations() {
    let hub = hub().await;
    let card = hub.get("/.well-known/agent-card.json").await.json();
    assert_eq!(card["protocolVersion"], "0.3.0");
    assert_eq!((&card["url"], &card["preferredTransport"]), (&json!(hub.url("/a2a")), &json!("JSONRPC")));
    let others = card["additionalInterfaces"].as_array().expect("a list");
    assert!(others.contains(&json!({"url": hub.url(""), "transport": "GRPC"})), "{others:?}");
    assert_eq!(card["additionalInterfaces"][1]["transport"], "HTTP+JSON");
    assert_eq!(card["supportsAuthenticatedExtendedCard"], true);
    // Who says that it speaks 1.0 is shown nothing else.
    let new = send(&hub, get("/.well-known/agent-card.json", &[])).await.json();
    assert!(new.get("url").is_none() && new.get("protocolVersion").is_none(), "{new}");
    let versions = new["supportedInterfaces"].as_array().expect("interfaces").iter().map(|one| &one["protocolVersion"]);
    assert!(versions.into_iter().all(|version| version == "1.0"));
}

#[tokio::test]
async fn a_23_what_a_card_says_is_off_is_refused() {
    let hub = builder("a2a: { streaming: false, push: false, extended_card: false }\n").start().await;
    let card = hub.get("/.well-known/agent-card.json").await.json();
    for member in ["streaming", "pushNotifications", "extendedAgentCard"] {
        assert_eq!(card["capabilities"][member], false);
    }
    let message = super::text("tck-input-required-1", "hi");
    let waiting = super::task(&hub, "tck-input-required-2").await;
    let id = &waiting["id"];
    for (method, params, code) in [
        ("SendStreamingMessage", json!({ "message": message }), -32004),
        ("SubscribeToTask", json!({ "id": id }), -32004),
        ("GetExtendedAgentCard", json!({}), -32004),
        ("CreateTaskPushNotificationConfig", json!({"taskId": id, "url": "https://example.com/"}), -32003),
        ("GetTaskPushNotificationConfig", json!({"taskId": id, "id": "c"}), -32003),
        ("ListTaskPushNotificationConfigs", json!({ "taskId": id }), -32003),
        ("DeleteTaskPushNotificationConfig", json!({"taskId": id, "id": "c"}), -32003),
    ] {
        assert_eq!(super::refused(&hub, method, params).await.0, code, "{method}");
    }
    let gone = builder("a2a: { enabled: false }\n").start().await;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "x"}});
    assert_eq!(send(&gone, post("/a2a", &[V1], &body)).await.json()["error"]["code"], -32004);
}

#[tokio::test]
async fn a_24_an_extension_that_is_activated_is_confirmed_and_an_unknown_one_ignored() {
    let hub = hub().await;
    let body = |id: &str| json!({"message": super::text(id, "hi")});
    let ours = [V1, ("a2a-extensions", "urn:x:other, urn:interlingua:hub:1")];
    let answer = send(&hub, post("/a2a/message:send", &ours, &body("tck-complete-task-1"))).await;
    let confirmed = (answer.status, answer.header("a2a-extensions"));
    assert_eq!(confirmed, (200, Some("urn:interlingua:hub:1")), "{}", answer.text());
    let theirs = [V1, ("a2a-extensions", "urn:x:other")];
    let answer = send(&hub, post("/a2a/message:send", &theirs, &body("tck-complete-task-2"))).await;
    assert_eq!((answer.status, answer.header("a2a-extensions")), (200, None), "{}", answer.text());
}

#[tokio::test]
async fn a_25_the_extended_card_is_for_who_says_who_they_are() {
    let hub = hub().await;
    let card = super::result(&hub, "GetExtendedAgentCard", json!({})).await;
    assert_eq!(card["skills"][0]["id"], "agent/chat");
    // A page in a browser is not its visitor.
    let page = [V1, ("sec-fetch-site", "same-origin")];
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "GetExtendedAgentCard"});
    let answer = send(&hub, post("/a2a", &page, &body)).await;
    assert_eq!((answer.status, answer.header("www-authenticate")), (401, Some("Bearer")), "{}", answer.text());
    let answer = send(&hub, get("/a2a/extendedAgentCard", &[("sec-fetch-site", "same-origin")])).await;
    assert_eq!((answer.status, &answer.json()["error"]["status"]), (401, &Value::from("UNAUTHENTICATED")));
}

#[tokio::test]
async fn a_40_a_tenant_is_a_peer_in_the_path_and_in_the_body() {
    let hub = hub().await;
    let body = json!({"message": super::text("tck-complete-task-1", "hi"), "tenant": "agent"});
    assert_eq!(send(&hub, post("/a2a/message:send", &[V1], &body)).await.status, 200);
    let task = super::result(&hub, "SendMessage", body).await["task"].take();
    let id = task["id"].as_str().expect("an id");
    assert_eq!(send(&hub, get(&format!("/a2a/agent/tasks/{id}"), &[])).await.json()["id"], id);
    for path in
        [format!("/a2a/nobody/tasks/{id}"), format!("/a2a/hub/tasks/{id}"), format!("/agents/agent/a2a/hub/tasks/{id}")]
    {
        assert_eq!(send(&hub, get(&path, &[])).await.status, 404, "{path}");
    }
    let wrong = json!({"message": super::text("m1", "hi"), "tenant": "nobody"});
    assert_eq!(super::refused(&hub, "SendMessage", wrong).await.0, -32001);
}

#[tokio::test]
async fn a_24_a_required_extension_must_be_activated_and_is_echoed() {
    let hub = builder("a2a: { extension_required: true }\n").start().await;
    let card = hub.get("/.well-known/agent-card.json").await.json();
    let extension = &card["capabilities"]["extensions"][0];
    assert_eq!(extension["required"], true);
    let uri = extension["uri"].as_str().expect("a URI").to_owned();
    let message = json!({"message": super::text("tck-complete-task-1", "hi")});
    for method in ["SendMessage", "SendStreamingMessage"] {
        let (code, reason) = super::refused(&hub, method, message.clone()).await;
        assert_eq!((code, reason.as_str()), (-32008, "EXTENSION_SUPPORT_REQUIRED"), "{method}");
    }
    let refused = send(&hub, post("/a2a/message:send", &[V1], &message)).await;
    assert_eq!(
        (refused.status, &refused.json()["error"]["details"][0]["reason"]),
        (400, &json!("EXTENSION_SUPPORT_REQUIRED"))
    );
    let refused =
        Caller::new(&hub, Version::V1).await.call(GrpcMethod::Send, &[], &message).await.expect_err("required");
    assert_eq!((refused.code, refused.reason.as_str()), (9, "EXTENSION_SUPPORT_REQUIRED"));
    assert_eq!(super::result(&hub, "ListTasks", json!({})).await["totalSize"], 0, "nothing was begun");
    for (path, activated) in [("/a2a/message:send", uri.clone()), ("/a2a/message:send", format!("urn:other, {uri}"))] {
        let answer = send(&hub, post(path, &[V1, ("a2a-extensions", &activated)], &message)).await;
        assert_eq!((answer.status, answer.header("a2a-extensions")), (200, Some(uri.as_str())), "{}", answer.text());
    }
    assert!(super::result(&hub, "ListTasks", json!({})).await["tasks"][0].is_object(), "only messages need it");
}

#[tokio::test]
async fn a_25_an_extended_card_that_is_not_there_is_told_apart_in_each_generation() {
    let hub = builder("a2a: { extended_card: false }\n").start().await;
    let (code, reason) = super::refused(&hub, "GetExtendedAgentCard", json!({})).await;
    assert_eq!((code, reason.as_str()), (-32004, "UNSUPPORTED_OPERATION"));
    let old = json!({"jsonrpc": "2.0", "id": 1, "method": "agent/getAuthenticatedExtendedCard"});
    assert_eq!(send(&hub, post("/a2a", &[], &old)).await.json()["error"]["code"], -32007);
    let refused = Caller::new(&hub, Version::V03).await.call(GrpcMethod::ExtendedCard, &[], &json!({})).await;
    assert_eq!(refused.expect_err("off").reason, "EXTENDED_AGENT_CARD_NOT_CONFIGURED");
}
