//! How the hub asks sites: in which generation, within which bounds, and which addresses it never contacts.

use std::net::TcpListener;
use std::sync::Arc;

use interlingua_testkit::Piece;
use tokio::sync::Notify;

use super::*;
use crate::mcp::Modern;

/// What a site of the first generation says.
fn first_generation() -> Say {
    let message = |kind: &str, mut more: Value| {
        more["message_type"] = json!(kind);
        more["query_id"] = json!("");
        Piece::event(&more)
    };
    Say::Stream(vec![
        message("api_version", json!({"api_version": "0.1"})),
        message("result_batch", json!({"results": [item()]})),
        message("summary", json!({"message": "One snack."})),
        message("complete", json!({})),
    ])
}

#[tokio::test]
async fn q_03_q_50_a_site_of_the_first_generation_is_found_by_trying_and_remembered() {
    for refusal in [400, 404, 405, 200] {
        let site = Scripted::web(move |heard, _| match (heard.method.as_str(), refusal) {
            ("POST", 200) => Say::Stream(vec![
                Piece::event(&json!({"_meta": {"response_type": "Failure"}})),
                Piece::event(&json!({"error": {"code": "INVALID_REQUEST", "message": "query must be text"}})),
            ]),
            ("POST", status) => Say::Status(status, Vec::new(), json!({"error": "no"})),
            ("GET", _) if heard.path.starts_with("/ask?") => first_generation(),
            _ => Say::Status(404, Vec::new(), json!({})),
        })
        .await;
        let hub = asking(&site).await;
        for _ in 0..2 {
            let answer = asked(&hub).await;
            assert_eq!(answer["finished"]["structured"]["results"], json!([item()]), "{refusal}: {answer}");
            assert!(answer["finished"]["parts"].to_string().contains("One snack."), "{refusal}: {answer}");
        }
        let heard = site.heard();
        let posts: Vec<Value> =
            heard.iter().filter(|heard| heard.method == Method::POST).map(interlingua_testkit::Heard::json).collect();
        assert_eq!(posts.len(), 1, "{refusal}: it is tried once");
        assert_eq!(posts[0]["query"]["text"], "spicy snacks", "{refusal}: nested first");
        let gets: Vec<&str> =
            heard.iter().filter(|heard| heard.path.starts_with("/ask?")).map(|heard| heard.path.as_str()).collect();
        assert_eq!(gets.len(), 2, "{refusal}: {gets:?}");
        for said in ["query=spicy%20snacks", "&mode=list", "&generate_mode=none"] {
            assert!(gets.iter().all(|path| path.contains(said)), "{refusal}: {gets:?}");
        }
    }
}

async fn fails_with(site: &Scripted, more: &str) -> Value {
    let address = site.address();
    let yaml = format!("peers: {{ snacks: {{ {more} nlweb: {{ url: \"http://{address}/ask\" }} }} }}\n");
    let answer = asked(&builder().config(&yaml).start().await).await;
    assert_eq!(answer["state"], "failed", "{answer}");
    answer["finished"]["fault"].clone()
}

#[tokio::test]
async fn q_54_answers_that_are_too_large_are_not_taken() {
    let site = Scripted::http(|_, _| {
        let text = "a".repeat(17 << 20);
        Say::Json(json!({"_meta": {"response_type": "answer"}, "results": [{"name": "large", "text": text}]}))
    })
    .await;
    let is_more_than_is_read = |fault: Value| {
        let message = fault["message"].as_str().unwrap_or_default();
        assert!(message.contains("answered with more than is read"), "{fault}");
    };
    is_more_than_is_read(fails_with(&site, "").await);
    let site = Scripted::http(|_, _| {
        let event = json!({"results": [{"name": "large", "text": "a".repeat(1 << 20)}]});
        Say::Stream(vec![Piece::event(&event); 17])
    })
    .await;
    is_more_than_is_read(fails_with(&site, "").await);
    let site = Scripted::http(|_, _| {
        let event = json!({"results": [{"name": "large", "text": "a".repeat(5 << 20)}]});
        Say::Stream(vec![Piece::event(&event)])
    })
    .await;
    is_more_than_is_read(fails_with(&site, "").await);
}

#[tokio::test]
async fn q_54_so_many_items_are_taken_and_the_rest_is_declared_lost() {
    let site = Scripted::http(|_, _| {
        let many = |from: u32| json!({"results": (from..from + 600).map(|n| json!({"name": n.to_string()})).collect::<Vec<_>>()});
        Say::Stream(vec![Piece::event(&many(0)), Piece::event(&many(600))])
    })
    .await;
    let answer = asked(&asking(&site).await).await;
    assert_eq!(answer["finished"]["structured"]["results"].as_array().map(Vec::len), Some(1_000));
    assert!(answer["losses"].to_string().contains("output.structured"), "{}", answer["losses"]);
}

#[tokio::test]
async fn q_54_a_site_that_does_not_answer_in_time_has_failed() {
    let site = Scripted::http(|_, _| Say::Stream(vec![Piece::Until(Arc::new(Notify::new()))])).await;
    assert_eq!(fails_with(&site, "timeout: 1s,").await["kind"], "deadline");
}

#[tokio::test]
async fn q_54_a_redirect_is_not_followed() {
    let other =
        Scripted::web(|_, _| Say::Json(json!({"_meta": {"response_type": "answer"}, "results": [item()]}))).await;
    let elsewhere = format!("http://{}/ask", other.address());
    for status in [301, 302, 303, 307, 308] {
        let elsewhere = elsewhere.clone();
        let site =
            Scripted::web(move |_, _| Say::Status(status, vec![("location", elsewhere.clone())], json!({}))).await;
        fails_with(&site, "").await;
    }
    assert_eq!(other.heard().len(), 0, "nobody was sent there");
}

#[tokio::test]
async fn q_29_nothing_is_fetched_for_a_site_that_is_not_known() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    listener.set_nonblocking(true).expect("a socket has the option");
    let address = listener.local_addr().expect("an address");
    let mut hub = hub().await;
    for site in [address.to_string(), format!("http://{address}/"), format!("localhost:{}", address.port())] {
        let body = json!({"query": {"text": "x", "site": site}, "prefer": {"streaming": false}});
        let answer = ask(&hub, body).await;
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (404, &json!("NOT_FOUND")), "{}", answer.text());
        let both = json!({"query": {"text": "x", "site": [&site, "nobody"]}, "prefer": {"streaming": false}});
        assert_eq!(ask(&hub, both).await.status, 404);
        let flat =
            json!({"query": "x", "site": site, "streaming": "false", "context_url": format!("http://{address}/")});
        assert_eq!(ask(&hub, flat).await.status, 404);
        let tool = json!({"name": "hub__ask", "arguments": {"query": "x", "site": site}});
        let refused = Modern::new(&hub).ask("tools/call", tool).await.text();
        assert!(refused.contains("no site"), "{refused}");
    }
    let known = format!("/ask?query=recipes%20with%20leek&streaming=false&context_url=http://{address}/&site=local");
    assert_eq!(hub.get(&known).await.json()["results"][0]["name"], "Soup");
    hub.stop().await;
    let came = listener.accept();
    assert!(came.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock), "somebody was fetched");
}

#[tokio::test]
async fn q_63_a_site_is_named_by_its_peer_or_its_host() {
    let site =
        Scripted::http(|_, _| Say::Json(json!({"_meta": {"response_type": "answer"}, "results": [item()]}))).await;
    let hub = asking(&site).await;
    for named in ["snacks", "127.0.0.1"] {
        let said = hub.get(&format!("/ask?query=x&streaming=false&site={named}")).await.json();
        assert_eq!(said["results"][0]["name"], "Snack", "{named}: {said}");
    }
}

#[tokio::test]
async fn q_51_q_52_answers_of_every_shape_are_read() {
    let data = |value: Value| format!("data: {value}\n\n");
    let meta = json!({"_meta": {"version": "0.54", "response_type": "Answer"}});
    let results = json!({"results": [item()]});
    let broken = results.to_string().replacen(':', ":\ndata: ", 1);
    let events = "text/event-stream; charset=utf-8";
    for (what, kind, body) in [
        ("JSON although events were asked for", "application/json", results.to_string()),
        ("JSON of another type", "text/plain", json!({"_meta": {}, "results": [item()]}).to_string()),
        ("unnamed events", events, data(meta.clone()) + &data(results.clone())),
        (
            "named events",
            events,
            format!("event: start\n{}event: result\n{}", data(meta.clone()), data(results.clone())),
        ),
        ("comments", events, format!(": hello\n\n{}: more\n{}", data(meta.clone()), data(results.clone()))),
        ("other line ends", events, (data(meta.clone()) + &data(results.clone())).replace('\n', "\r\n")),
        ("data in several lines", events, data(meta.clone()) + &format!("data: {broken}\n\n")),
        ("a mark at the end", events, data(results.clone()) + "data: [DONE]\n\n"),
        ("the first generation, whole", "application/json", json!({"query_id": "1", "results": [item()]}).to_string()),
        (
            "version 0.5",
            "application/json",
            json!({"_meta": {}, "content": [{"type": "resource", "resource": item()}]}).to_string(),
        ),
    ] {
        let site = Scripted::http(move |_, _| Say::Raw(200, kind, body.clone().into())).await;
        let answer = asked(&asking(&site).await).await;
        assert_eq!(answer["finished"]["structured"]["results"], json!([item()]), "{what}: {answer}");
    }
}

#[tokio::test]
async fn q_08_q_26_q_53_actions_pass_in_every_generation_and_keys_in_none() {
    let action = json!({"@type": "AddToCartAction", "protocol": "HTTP", "method": "POST", "endpoint": "/cart"});
    let said = json!({"name": "Tea", "url": "https://s.example/1", "score": 80, "actions": [action]});
    let site = Scripted::http(move |_, _| {
        Say::Stream(vec![
            Piece::event(&json!({"message_type": "api_key", "key_name": "maps", "key_value": "the-key-of-the-site"})),
            Piece::event(&json!({"message_type": "header", "content": "the-key-of-the-site"})),
            Piece::event(&json!({"message_type": "result_batch", "results": [said.clone()]})),
            Piece::event(&json!({"message_type": "never_heard_of", "results": [{"name": "no"}]})),
            Piece::event(&json!({"message_type": "complete"})),
        ])
    })
    .await;
    let hub = asking(&site).await;
    for (version, streaming) in [("0.55", false), ("0.54", true), ("0.1", false), ("0.1", true)] {
        let body = match version {
            "0.1" => json!({"query": "tea", "site": "snacks", "streaming": streaming}),
            _ => {
                json!({"query": {"text": "tea", "site": "snacks"}, "meta": {"api_version": version}, "prefer": {"streaming": streaming}})
            }
        };
        let text = ask(&hub, body).await.text();
        assert!(text.contains("AddToCartAction") && text.contains("/cart"), "{version}: {text}");
        assert!(!text.contains("the-key-of-the-site") && !text.contains("api_key"), "{version}: {text}");
    }
}
