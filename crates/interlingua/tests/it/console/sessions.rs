//! Sessions of browsers: what counts as one, and what does not.

use http::Method;
use http_body_util::Full;
use interlingua_testkit::{Hub, request};
use serde_json::{Value, json};

use super::{Browser, OWN, ask, owner, owners, signed_in, ticket};
use crate::support::{builder, hub, until};

const CALLERS: &str = "tools: { directory: ./tools }\naccess: { tokens: file:./tokens.yaml }\n";
const ANN: &str = "- { name: ann, token: ilg_ann, approve: true }\n";

async fn status(hub: &Hub, browser: &Browser) -> u16 {
    browser.ask(hub, Method::GET, "/api/session", None).await.status
}

#[tokio::test]
async fn a_ticket_signs_a_browser_in_and_the_session_says_who_and_where() {
    let hub = hub("").await;
    let browser = owners(&hub).await;
    let answer = browser.ask(&hub, Method::GET, "/api/session", None).await;
    assert_eq!((answer.status, answer.header("cache-control")), (200, Some("no-store")));
    let seen = answer.json();
    assert_eq!(
        (&seen["subject"], &seen["proof"], &seen["chain"]),
        (&json!("owner"), &json!("console"), &json!(["owner"]))
    );
    assert_eq!(
        seen["may"],
        json!({"owner": true, "approve": true, "register": true, "observe": true, "operate": true})
    );
    assert!(seen["hub"]["build"].as_str().expect("a build").starts_with(env!("CARGO_PKG_VERSION")), "{seen}");
    assert!(seen["until"].as_str() > seen["idle_until"].as_str(), "{seen}");
    let listed = browser.ask(&hub, Method::GET, "/api/tasks", None).await;
    assert_eq!((listed.status, listed.header("cache-control")), (200, Some("no-store")));
}

#[tokio::test]
async fn attack_neither_the_cookie_nor_the_key_counts_alone() {
    let hub = hub("access: { anonymous: refused }\n").await;
    let browser = owners(&hub).await;
    let other = owners(&hub).await;
    assert_eq!(status(&hub, &browser).await, 200);
    let (cookie, key) = (("cookie", browser.cookie.as_str()), ("interlingua-console", browser.key.as_str()));
    let cases: [(&str, Vec<(&str, &str)>); 4] = [
        ("a cookie alone, as a page on another port makes a browser send it", vec![cookie, OWN]),
        ("a key alone", vec![key, OWN]),
        ("the key of another session", vec![cookie, ("interlingua-console", other.key.as_str()), OWN]),
        ("the value of the cookie as the key", vec![cookie, ("interlingua-console", &browser.cookie), OWN]),
    ];
    for (what, headers) in cases {
        for (method, path) in
            [(Method::GET, "/api/session"), (Method::GET, "/api/tasks"), (Method::DELETE, "/api/session")]
        {
            let answer = ask(&hub, method.clone(), path, &headers, None).await;
            assert_eq!(answer.status, 401, "{what}: {method} {path}: {}", answer.text());
        }
    }
    assert_eq!(status(&hub, &browser).await, 200, "and nobody signed it out");
}

#[tokio::test]
async fn v_75_a_session_is_a_cookie_and_a_key_of_which_the_hub_stores_digests() {
    let hub = hub("access: { anonymous: refused }\n").await;
    let body = json!({ "ticket": ticket(&hub, &owner(&hub)).await });
    let answer = ask(&hub, Method::POST, "/api/session", &[OWN], Some(body)).await;
    let set = answer.header("set-cookie").expect("a cookie").to_owned();
    let key = answer.json()["key"].as_str().expect("a key").to_owned();
    let (pair, attributes) = set.split_once("; ").expect("attributes");
    let (name, value) = pair.split_once('=').expect("a name and a value");
    assert_eq!(attributes, "Path=/; HttpOnly; SameSite=Strict");
    let browser = Browser { cookie: pair.to_owned(), key: key.clone() };
    let seen = browser.ask(&hub, Method::GET, "/api/session", None).await;
    assert_eq!(seen.status, 200, "{}", seen.text());
    assert!(name.ends_with(seen.json()["hub"]["id"].as_str().expect("an id")), "{name}");
    let is_256_bits = |secret: &str| secret.len() == 64 && secret.bytes().all(|byte| byte.is_ascii_hexdigit());
    assert!(is_256_bits(value) && is_256_bits(&key) && value != key, "{set}");
    let alone = [("cookie", pair), ("interlingua-console", key.as_str())];
    for shown in alone {
        assert_eq!(ask(&hub, Method::GET, "/api/session", &[shown, OWN], None).await.status, 401, "{shown:?}");
    }
    for entry in std::fs::read_dir(hub.data()).expect("the data directory") {
        let stored = std::fs::read(entry.expect("an entry").path()).unwrap_or_default();
        let has = |secret: &str| stored.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!has(value) && !has(&key), "only digests are stored");
    }
}

#[tokio::test]
async fn v_77_a_session_changes_something_from_its_own_origin_with_json_or_nothing() {
    let hub = hub("").await;
    let browser = owners(&hub).await;
    let own = format!("http://{}", hub.address());
    let both = [("cookie", browser.cookie.as_str()), ("interlingua-console", browser.key.as_str())];
    let call = || Some(json!({"skill": "local/steps"}));
    let started = async |extra: &[(&str, &str)], body: Option<Value>| {
        let headers = [&both[..], extra].concat();
        ask(&hub, Method::POST, "/api/tasks", &headers, body).await.status
    };
    assert_eq!(started(&[OWN], call()).await, 202);
    assert_eq!(started(&[("origin", &own)], call()).await, 202);
    assert_eq!(started(&[], call()).await, 403, "it does not say where it is from");
    assert_eq!(started(&[("origin", "http://evil.example")], call()).await, 403);
    for media in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"] {
        let status = started(&[OWN, ("content-type", media)], None).await;
        assert_eq!(status, 415, "{media}");
    }
    let nothing = [&both[..], &[OWN]].concat();
    assert_eq!(ask(&hub, Method::DELETE, "/api/session", &nothing, None).await.status, 204);
}

/// A browser sends every cookie of the host, those that pages of other ports have set among them.
#[tokio::test]
async fn attack_the_cookie_of_another_session_does_not_hide_the_right_one() {
    let hub = hub("").await;
    let (browser, other) = (owners(&hub).await, owners(&hub).await);
    let cookie = format!("{}; {}", other.cookie, browser.cookie);
    let both = Browser { cookie, key: browser.key.clone() };
    assert_eq!(status(&hub, &both).await, 200);
    assert_eq!(both.ask(&hub, Method::DELETE, "/api/session", None).await.status, 204);
    assert_eq!((status(&hub, &browser).await, status(&hub, &other).await), (401, 200), "the key says which one ends");
}

type Headers = Vec<(&'static str, &'static str)>;

/// Whole requests of each protocol: only who sends them is left open.
fn elsewhere() -> [(&'static str, Headers, Value); 4] {
    let nlip = json!({"format": "text", "subformat": "english", "content": "hello"});
    let mcp = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "hub__echo", "arguments": {"text": "hello"},
            "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {}}}});
    let of_mcp = vec![
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "hub__echo"),
    ];
    let message = json!({"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "hello"}]});
    let a2a = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
    let nlweb = json!({"query": {"text": "hello"}, "prefer": {"streaming": false}, "meta": {"api_version": "0.55"}});
    let of_a2a = vec![("a2a-version", "1.0")];
    [("/nlip", Vec::new(), nlip), ("/mcp", of_mcp, mcp), ("/a2a", of_a2a, a2a), ("/ask", Vec::new(), nlweb)]
}

/// What such a request gets from who shows this.
async fn said(hub: &Hub, shown: &[(&str, &str)], (path, own, body): &(&str, Headers, Value)) -> (u16, String) {
    let headers = [shown, own.as_slice()].concat();
    let answer = ask(hub, Method::POST, path, &headers, Some(body.clone())).await;
    let mut said = answer.json();
    // NLWeb gives every request an id.
    said["_meta"]["request_id"] = Value::Null;
    (answer.status, said.to_string())
}

#[tokio::test]
async fn v_76_a_session_counts_on_the_api_alone() {
    let hub = hub("access: { anonymous: refused }\n").await;
    let browser = owners(&hub).await;
    let bearer = format!("Bearer {}", owner(&hub));
    for path in ["/metrics", "/llms.txt", "/.well-known/agent-card.json"] {
        let with = browser.ask(&hub, Method::GET, path, None).await.status;
        let without = ask(&hub, Method::GET, path, &[OWN], None).await.status;
        assert_eq!(with, without, "{path}");
    }
    for call in elsewhere() {
        let known = said(&hub, &[("authorization", &bearer), OWN], &call).await;
        assert_eq!(known.0, 200, "the request itself is good: {known:?}");
        let (with, without) = (said(&hub, &browser.headers(), &call).await, said(&hub, &[OWN], &call).await);
        assert_eq!((with.0, &with), (401, &without), "{}", call.0);
    }
    assert_eq!(status(&hub, &browser).await, 200, "all the while it counts at /api");
}

/// The same where anybody may call: then the answer is the one for strangers.
#[tokio::test]
async fn v_76_elsewhere_a_session_acts_as_anonymous() {
    const STRANGER: &str = "you are anonymous here";
    let hub = hub("").await;
    let browser = owners(&hub).await;
    let bearer = format!("Bearer {}", owner(&hub));
    for call in elsewhere() {
        let (_, with) = said(&hub, &browser.headers(), &call).await;
        assert!(with.contains(STRANGER), "{}: {with}", call.0);
        let (_, known) = said(&hub, &[("authorization", &bearer), OWN], &call).await;
        assert!(!known.contains(STRANGER), "{}: {known}", call.0);
    }
}

#[tokio::test]
async fn attack_a_page_of_another_origin_reads_and_changes_nothing_with_any_method() {
    let hub = hub("").await;
    let browser = owners(&hub).await;
    let own = format!("http://{}", hub.address());
    let port = format!("http://127.0.0.1:{}", hub.address().port() ^ 1);
    let both = [("cookie", browser.cookie.as_str()), ("interlingua-console", browser.key.as_str())];
    let foreign: [Vec<(&str, &str)>; 5] = [
        vec![("origin", "http://evil.example"), ("sec-fetch-site", "cross-site")],
        vec![("origin", &port), ("sec-fetch-site", "same-site")],
        vec![("origin", "null")],
        vec![("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")],
        vec![("sec-fetch-site", "same-site"), ("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "image")],
    ];
    for extra in &foreign {
        let headers = [&both[..], extra.as_slice()].concat();
        for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS, Method::HEAD] {
            for path in ["/api/session", "/api/tasks", "/api/session/tickets"] {
                let answer = ask(&hub, method.clone(), path, &headers, None).await;
                assert_eq!(answer.status, 403, "{extra:?} {method} {path}: {}", answer.text());
                assert_eq!(answer.header("access-control-allow-origin"), None);
            }
        }
    }
    // Of the right origin, but a browser would have said so: what says nothing changes nothing.
    let answer = ask(&hub, Method::DELETE, "/api/session", &both, None).await;
    assert_eq!(answer.status, 403, "{}", answer.text());
    let typed = [&both[..], &[("sec-fetch-site", "none")]].concat();
    assert_eq!(ask(&hub, Method::DELETE, "/api/session", &typed, None).await.status, 403);
    assert_eq!(status(&hub, &browser).await, 200, "the session is still there");
    let proper = [&both[..], &[("origin", own.as_str())]].concat();
    assert_eq!(ask(&hub, Method::DELETE, "/api/session", &proper, None).await.status, 204);
    assert_eq!(status(&hub, &browser).await, 401);
}

#[tokio::test]
async fn v_73_attack_a_ticket_is_taken_once_and_a_session_makes_no_other() {
    let hub = hub("").await;
    let once = ticket(&hub, &owner(&hub)).await;
    let browser = signed_in(&hub, json!({ "ticket": once })).await;
    let again = ask(&hub, Method::POST, "/api/session", &[OWN], Some(json!({ "ticket": once }))).await;
    assert_eq!((again.status, again.header("set-cookie")), (401, None), "{}", again.text());
    let more = browser.ask(&hub, Method::POST, "/api/session/tickets", None).await;
    assert_eq!(more.status, 403, "{}", more.text());
    let nobody = ask(&hub, Method::POST, "/api/session/tickets", &[OWN], None).await;
    assert_eq!(nobody.status, 401, "{}", nobody.text());
    let lines = hub.get("/api/audit?limit=200").await.text();
    assert!(lines.contains("sign_in") && !lines.contains(&once), "{lines}");
    assert!(!hub.log().contains(&once), "no log has the ticket");
}

#[tokio::test]
async fn v_74_attack_a_link_signs_nobody_in_as_somebody_else() {
    let hub = builder().file("tokens.yaml", ANN).config(CALLERS).start().await;
    let hers = ticket(&hub, "ilg_ann").await;
    let asked = ask(&hub, Method::POST, "/api/session", &[OWN], Some(json!({ "ticket": hers }))).await;
    assert_eq!((asked.status, asked.header("set-cookie")), (200, None), "{}", asked.text());
    assert_eq!(asked.json(), json!({ "confirm": "user:ann" }));
    let other = json!({ "ticket": hers, "as": "user:bob" });
    let other = ask(&hub, Method::POST, "/api/session", &[OWN], Some(other)).await;
    assert_eq!((other.status, other.header("set-cookie")), (200, None));
    let browser = signed_in(&hub, json!({ "ticket": hers, "as": "user:ann" })).await;
    let seen = browser.ask(&hub, Method::GET, "/api/session", None).await.json();
    assert_eq!(
        (&seen["subject"], &seen["may"]["approve"], &seen["may"]["owner"]),
        (&json!("user:ann"), &json!(true), &json!(false))
    );
    let by_token = signed_in(&hub, json!({ "token": "ilg_ann", "as": "user:ann" })).await;
    assert_eq!(status(&hub, &by_token).await, 200);
}

#[tokio::test]
async fn v_87_a_flood_of_sign_ins_and_tickets_is_refused() {
    let hub = hub("").await;
    let wrong = || Some(json!({ "token": "ilg_wrong" }));
    for _ in 0..5 {
        assert_eq!(ask(&hub, Method::POST, "/api/session", &[OWN], wrong()).await.status, 401);
    }
    let refused = ask(&hub, Method::POST, "/api/session", &[OWN], wrong()).await;
    assert_eq!(refused.status, 429, "{}", refused.text());
    assert!(refused.header("retry-after").is_some());
    let right = json!({ "ticket": ticket(&hub, &owner(&hub)).await });
    assert_eq!(ask(&hub, Method::POST, "/api/session", &[OWN], Some(right)).await.status, 429);
    for _ in 0..15 {
        ticket(&hub, &owner(&hub)).await;
    }
    assert_eq!(hub.post_json("/api/session/tickets", &json!({})).await.status, 429, "sixteen are open");
}

#[tokio::test]
async fn attack_a_revoked_token_ends_its_session_and_its_stream() {
    let hub = builder().file("tokens.yaml", ANN).config(CALLERS).start().await;
    let browser = signed_in(&hub, json!({ "token": "ilg_ann", "as": "user:ann" })).await;
    let started = browser.ask(&hub, Method::POST, "/api/tasks", Some(json!({"skill": "local/slow"}))).await;
    assert_eq!(started.status, 202, "{}", started.text());
    let path = format!("/api/tasks/{}/events", started.json()["id"].as_str().expect("an id"));
    let mut sent = request(Method::GET, &path).header("accept", "text/event-stream");
    for (name, value) in browser.headers() {
        sent = sent.header(name, value);
    }
    let mut connection = hub.connect_anonymous().await;
    let mut events = connection.events(sent.body(Full::default()).expect("a request")).await;
    assert_eq!(events.status, 200);
    assert!(events.next().await.is_some(), "it streams");
    hub.write("tokens.yaml", "[]\n");
    let mut last = Value::Null;
    while let Some(event) = events.next().await {
        last = json!(format!("{event:?}"));
    }
    assert!(last.to_string().contains("credential"), "{last}");
    assert_eq!(status(&hub, &browser).await, 401);
}

#[tokio::test]
async fn attack_a_rotated_owner_token_ends_the_sessions_of_the_owner() {
    let mut hub = hub("").await;
    let browser = owners(&hub).await;
    hub.kill_9();
    hub.restart().await;
    assert_eq!(status(&hub, &browser).await, 200, "a restart does not end it");
    let stored = std::fs::read(hub.data().join("hub.db")).unwrap_or_default();
    let text = String::from_utf8_lossy(&stored);
    assert!(!text.contains(&browser.key), "only digests are stored");
    let rotated = hub.post_json("/api/keys/rotate", &json!({"what": "owner_token"})).await;
    assert_eq!(rotated.status, 200, "{}", rotated.text());
    until("the session to end", async || status(&hub, &browser).await == 401).await;
}

#[tokio::test]
async fn signing_out_ends_the_session_in_every_tab() {
    let hub = hub("").await;
    let (browser, other) = (owners(&hub).await, owners(&hub).await);
    let out = browser.ask(&hub, Method::DELETE, "/api/session", None).await;
    assert_eq!(out.status, 204);
    assert!(out.header("set-cookie").expect("it is removed").contains("Max-Age=0"));
    assert_eq!((status(&hub, &browser).await, status(&hub, &other).await), (401, 200));
}

/// The paths are those of the hub's own description, so a new one is not forgotten.
#[tokio::test]
async fn attack_a_read_only_console_changes_nothing_at_any_path() {
    let hub = hub("console: { read_only: true }\n").await;
    let browser = owners(&hub).await;
    let described = browser.ask(&hub, Method::GET, "/api/openapi.json", None).await.json();
    let mut tried = 0;
    for (path, operations) in described["paths"].as_object().expect("paths") {
        for method in operations.as_object().expect("operations").keys().filter(|method| *method != "get") {
            let method: Method = method.to_ascii_uppercase().parse().expect("a method");
            if path == "/api/session" {
                continue;
            }
            let body = (method != Method::DELETE).then(|| json!({}));
            let answer = browser.ask(&hub, method.clone(), &path.replace("{id}", "0"), body).await;
            assert_eq!(answer.status, 403, "{method} {path}: {}", answer.text());
            assert!(answer.text().contains("read-only"), "{method} {path}: {}", answer.text());
            tried += 1;
        }
    }
    assert!(tried > 15, "{tried}");
    assert_eq!(browser.ask(&hub, Method::GET, "/api/session", None).await.json()["read_only"], json!(true));
    assert_eq!(browser.ask(&hub, Method::DELETE, "/api/session", None).await.status, 204);
}

#[tokio::test]
async fn v_87_a_subject_has_so_many_sessions() {
    let hub = hub("").await;
    let body = || Some(json!({ "token": owner(&hub) }));
    for _ in 0..32 {
        assert_eq!(ask(&hub, Method::POST, "/api/session", &[OWN], body()).await.status, 201);
    }
    assert_eq!(ask(&hub, Method::POST, "/api/session", &[OWN], body()).await.status, 429);
}
