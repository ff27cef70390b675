//! Servers that require tokens: a person signs in, for the hub or each caller for itself; what is stored, and what is refused.

use http::Method;
use interlingua_testkit::{Answer, Connection, browser, post};

use super::*;
use crate::support::{reaches, send};

/// A server that wants tokens, and what it wrote down.
struct Guarded {
    server: Peer,
    log: Log,
}

impl Guarded {
    async fn start(options: Value) -> Guarded {
        let log = Log::new();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/mcp_client/guarded.py");
        let server = Peer::listening(|address| {
            let mut command = std::process::Command::new(python());
            command.arg(script).arg(address.to_string()).arg(&log.path).arg(options.to_string());
            command
        })
        .await;
        Guarded { server, log }
    }

    /// Changes what it does from now on.
    async fn control(&self, options: Value) {
        let mut connection = Connection::http1(self.server.address()).await;
        let done = connection.send(post("/control", "application/json", options.to_string())).await;
        assert_eq!(done.status, 200);
    }

    fn peer(&self, more: &str) -> String {
        format!("{{ trust_hints: true, mcp: {{ url: \"http://{}/mcp\"{more} }} }}", self.server.address())
    }
}

/// The link that waits for the owner of the hub.
async fn link(hub: &Hub, name: &str) -> String {
    another_link(hub, name, "").await
}

/// One that is not `old`, which is used up.
async fn another_link(hub: &Hub, name: &str, old: &str) -> String {
    let mut found = String::new();
    until("a link to sign in by", async || {
        let shown = peer(hub, name).await["problems"].to_string();
        let link = shown.split_once("open ").map(|(_, rest)| rest.split('"').next().unwrap_or_default().to_owned());
        found = link.unwrap_or_default();
        !found.is_empty() && found != old
    })
    .await;
    found
}

async fn problem(hub: &Hub, name: &str, words: &str) {
    until(words, async || peer(hub, name).await["problems"].to_string().contains(words)).await;
}

fn is_signed_in(page: &Answer) -> bool {
    page.status == 200 && page.text().contains("Signed in")
}

/// A call by whom a token names.
async fn call_as(hub: &Hub, token: &str) -> Value {
    let body = json!({"skill": "g/whoami", "arguments": {}});
    let bearer = format!("Bearer {token}");
    send(hub, Method::POST, "/api/exchanges", &[("authorization", &bearer)], Some(body)).await.json()
}

/// All files of the hub's data directory.
fn files(folder: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a directory").flatten() {
        let path = entry.path();
        all.extend(if path.is_dir() { files(&path) } else { std::fs::read(&path).unwrap_or_default() });
    }
    all
}

#[tokio::test]
async fn m_39_somebody_signs_in_by_a_link_once_and_a_restart_forgets_nothing() {
    let guarded = Guarded::start(json!({"user": "ada"})).await;
    let loud = "telemetry: { log: { level: trace } }\n";
    let mut hub = builder_with(&[("g", guarded.peer(""))], loud).keeping_lines(2_000_000).start().await;
    let page = browser::sign_in(&link(&hub, "g").await).await;
    assert!(is_signed_in(&page), "{}", page.text());
    listed(&hub, "g").await;
    assert_eq!(said(&call(&hub, "g/whoami", json!({})).await), "you are ada");
    let mut told = format!("{}{}", page.text(), hub.log());
    for path in ["/metrics", "/api/peers", "/api/audit", "/api/health", "/api/skills"] {
        told.push_str(&hub.get(path).await.text());
    }
    let asked = guarded.log.lines("authorize ");
    let resource = format!("http://{}/mcp", guarded.server.address());
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(asked[0].starts_with(&format!("authorize {resource} S256 client-")), "{asked:?}");
    assert_eq!(guarded.log.lines("token "), [format!("token authorization_code {resource}")]);
    hub.restart().await;
    listed(&hub, "g").await;
    assert_eq!(said(&call(&hub, "g/whoami", json!({})).await), "you are ada");
    assert_eq!((guarded.log.count("authorize"), guarded.log.count("register")), (1, 1), "it is all still known");
    assert!(!peer(&hub, "g").await["problems"].to_string().contains("sign in"));
    let _ = hub.stop().await;
    let (kept, log) = (files(&hub.data()), told + &hub.log());
    assert!(log.contains("TRACE"), "the log is as loud as it can be");
    for secret in ["secret-access", "secret-refresh", "secret-code"] {
        let holds = |bytes: &[u8]| bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!holds(&kept) && !holds(log.as_bytes()), "{secret} is kept or logged in clear");
    }
}

#[tokio::test]
async fn m_39_m_36_each_caller_signs_in_for_itself_and_nobody_calls_with_another_ones_token() {
    let guarded = Guarded::start(json!({"plain": true})).await;
    let access = "access: { tokens: [{ name: ann, token: ann-token }, { name: bob, token: bob-token }] }\n";
    let peers = format!("peers:\n  g: {}\n{access}", guarded.peer(", credentials: caller"));
    let hub = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config(&peers).start().await;
    listed(&hub, "g").await;
    for (name, token) in [("ann", "ann-token"), ("bob", "bob-token")] {
        let waiting = call_as(&hub, token).await;
        assert_eq!(waiting["state"], "waiting", "{waiting}");
        let question = &waiting["questions"][0];
        assert_eq!(question["kind"], "visit", "{question}");
        guarded.control(json!({"user": name})).await;
        let url = question["url"].as_str().unwrap_or_else(|| panic!("no link in {question}"));
        let first = browser::visit(url, None).await.text();
        assert!(first.contains(&format!("user:{name}")), "whoever opens it is told for whom it is: {first}");
        let task = waiting["task"].as_str().expect("a task");
        let (path, bearer) = (format!("/api/tasks/{task}/signals"), format!("Bearer {token}"));
        let answer = json!({"answer": {"question": question["id"], "visited": true}});
        // A client says that the link was opened, not that somebody came back.
        let taken = send(&hub, Method::POST, &path, &[("authorization", &bearer)], Some(answer)).await;
        assert!(taken.status < 300, "{}", taken.text());
        assert!(is_signed_in(&browser::sign_in(url).await));
        let done = reaches(&hub, task, "completed").await;
        assert_eq!(said(&done), format!("you are {name}"));
    }
    for (name, token) in [("ann", "ann-token"), ("bob", "bob-token"), ("ann", "ann-token")] {
        assert_eq!(said(&call_as(&hub, token).await), format!("you are {name}"));
    }
    let shown = guarded.log.lines("header authorization");
    assert!(!shown.iter().any(|line| line.contains("-token")), "no caller's own credential is sent on: {shown:?}");
    assert_eq!(guarded.log.count("authorize"), 2);
}

#[tokio::test]
async fn m_39_one_refresh_serves_all_who_were_refused_together() {
    let guarded = Guarded::start(json!({"user": "ada"})).await;
    let hub = builder(&[("g", guarded.peer(""))]).start().await;
    assert!(is_signed_in(&browser::sign_in(&link(&hub, "g").await).await));
    listed(&hub, "g").await;
    for _ in 0..3 {
        let before = guarded.log.count("token refresh_token");
        guarded.control(json!({"revoke": true})).await;
        let calls = (0..16).map(|_| call(&hub, "g/whoami", json!({})));
        let all = futures_util::future::join_all(calls).await;
        assert!(all.iter().all(|one| said(one) == "you are ada"), "{all:?}");
        assert_eq!(guarded.log.count("token refresh_token"), before + 1);
    }
    assert_eq!(guarded.log.count("authorize"), 1, "nobody was asked again");
    // A refresh token that is refused ends it: somebody signs in again, and is asked by the call that needs it.
    guarded.control(json!({"revoke": true, "refuse": true, "user": "eve"})).await;
    let waiting = call(&hub, "g/whoami", json!({})).await;
    assert_eq!(
        (&waiting["state"], &waiting["questions"][0]["kind"]),
        (&json!("waiting"), &json!("visit")),
        "{waiting}"
    );
    let url = waiting["questions"][0]["url"].as_str().expect("a link");
    assert!(is_signed_in(&browser::sign_in(url).await));
    assert_eq!(said(&call(&hub, "g/whoami", json!({})).await), "you are eve");
}

#[tokio::test]
async fn m_39_an_answer_is_taken_once_from_the_right_issuer_and_by_the_browser_that_asked() {
    let guarded = Guarded::start(json!({"user": "ada", "iss": "https://evil.example"})).await;
    let hub = builder(&[("g", guarded.peer(""))]).start().await;
    let first = link(&hub, "g").await;
    let refused = browser::sign_in(&first).await;
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("another issuer"), "{}", refused.text());
    assert_eq!(guarded.log.count("token"), 0, "the code is not shown to anyone");
    let base = format!("http://{}", guarded.server.address());
    guarded.control(json!({"iss": base})).await;
    let again = another_link(&hub, "g", &first).await;
    let (back, cookie) = browser::begin(&again).await.expect("the way goes on");
    for other in [None, Some("interlingua-sign-in=0"), Some("x=y")] {
        assert_eq!(browser::visit(&back, other).await.status, 404, "another browser: {other:?}");
    }
    assert_eq!(browser::visit(&back.replace("state=", "state=0"), Some(&cookie)).await.status, 404);
    assert_eq!(guarded.log.count("token"), 0);
    assert!(is_signed_in(&browser::visit(&back, Some(&cookie)).await));
    assert_eq!(browser::visit(&back, Some(&cookie)).await.status, 404, "it is used up");
    assert_eq!(browser::visit(&again, None).await.status, 404, "and so is the link");
    listed(&hub, "g").await;
    assert_eq!(guarded.log.count("token"), 1);
}

#[tokio::test]
async fn m_39_metadata_that_cannot_be_believed_sends_nobody_anywhere() {
    let cases = [
        (json!({"metadata": {"resource": "https://evil.example/mcp"}}), "another resource"),
        (json!({"metadata": {"authorization_servers": ["http://as.example"]}}), "must be https"),
        (json!({"metadata": {"authorization_servers": []}}), "authorization_servers"),
        (json!({"server": {"issuer": "https://evil.example"}}), "another issuer"),
        (json!({"server": {"token_endpoint": "http://as.example/token"}}), "must be https"),
        (json!({"server": {"code_challenge_methods_supported": ["plain"]}}), "PKCE"),
        (json!({"server": {"registration_endpoint": null}}), "client_id"),
        (json!({"large": true}), "cannot be fetched"),
        (json!({"challenge": "http://169.254.169.254/latest/meta-data"}), "resource_metadata"),
    ];
    for (options, words) in cases {
        let guarded = Guarded::start(options.clone()).await;
        let hub = builder(&[("g", guarded.peer(""))]).start().await;
        problem(&hub, "g", words).await;
        let shown = peer(&hub, "g").await["problems"].to_string();
        assert!(!shown.contains("/oauth/start/"), "{options}: {shown}");
        assert_eq!(guarded.log.count("register") + guarded.log.count("authorize"), 0, "{options}");
    }
}

#[tokio::test]
async fn m_39_tokens_go_with_the_peer_they_were_for() {
    let guarded = Guarded::start(json!({"user": "ada"})).await;
    let with = format!("peers:\n  g: {}\n", guarded.peer(""));
    let mut hub = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config(&with).start().await;
    assert!(is_signed_in(&browser::sign_in(&link(&hub, "g").await).await));
    listed(&hub, "g").await;
    for yaml in ["limits: { depth: 100 }\n", &with] {
        let before = hub.log().matches("configuration applied").count();
        hub.write("interlingua.yaml", yaml);
        hub.reload();
        until("the change", async || hub.log().matches("configuration applied").count() > before).await;
    }
    link(&hub, "g").await;
    assert_eq!(guarded.log.count("authorize"), 1, "it has to be asked for anew");
}

#[tokio::test]
async fn m_39_only_an_owner_of_the_hub_signs_in_for_the_hub() {
    let guarded = Guarded::start(json!({"plain": true})).await;
    let access = "access: { tokens: [{ name: ann, token: ann-token }] }\n";
    let peers = format!("peers:\n  g: {}\n{access}", guarded.peer(""));
    let hub = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config(&peers).start().await;
    listed(&hub, "g").await;
    let refused = call_as(&hub, "ann-token").await;
    assert!(refused.to_string().contains("somebody must sign in"), "{refused}");
    assert!(!refused.to_string().contains("/oauth/start/"), "{refused}");
    let waiting = call(&hub, "g/whoami", json!({})).await;
    assert_eq!(waiting["questions"][0]["kind"], "visit", "{waiting}");
}

#[tokio::test]
async fn m_38_a_401_of_the_hub_names_where_it_says_what_it_wants() {
    let access = "access: { anonymous: refused, tokens: [{ name: ann, token: ann-token }] }\n";
    let hub = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config(access).start().await;
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}});
    for path in ["/mcp", "/agents/hub/mcp"] {
        for headers in [&[("sec-fetch-site", "same-origin")][..], &[("authorization", "Bearer altered")]] {
            let refused = send(&hub, Method::POST, path, headers, Some(request.clone())).await;
            let place = hub.url(&format!("/.well-known/oauth-protected-resource{path}"));
            let wanted = format!("Bearer resource_metadata=\"{place}\"");
            assert_eq!((refused.status, refused.header("www-authenticate")), (401, Some(wanted.as_str())));
            let metadata = hub.get(&format!("/.well-known/oauth-protected-resource{path}")).await;
            assert_eq!(metadata.status, 200, "{}", metadata.text());
            assert_eq!(metadata.json()["resource"], hub.url(path));
            assert_eq!(metadata.json()["bearer_methods_supported"], json!(["header"]));
        }
    }
    assert_eq!(hub.get("/.well-known/oauth-protected-resource").await.json()["resource"], hub.url(""));
    assert_eq!(hub.get("/.well-known/oauth-protected-resource/nowhere").await.status, 404);
}

#[tokio::test]
async fn m_39_a_hub_with_an_address_of_its_own_is_known_by_it_and_describes_itself_there() {
    let config = "hub: { name: Alpha, url: \"https://hub.example/\" }\n";
    let hub = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config(config).start().await;
    let described = send(&hub, Method::GET, "/oauth/client.json", &[("host", "hub.example")], None).await;
    assert_eq!(described.status, 200, "{}", described.text());
    let described = described.json();
    assert_eq!(described["client_id"], "https://hub.example/oauth/client.json", "{described}");
    assert_eq!(described["redirect_uris"], json!(["https://hub.example/oauth/callback"]));
    assert_eq!((&described["client_name"], &described["application_type"]), (&json!("Alpha"), &json!("web")));
    let other = send(&hub, Method::GET, "/oauth/client.json", &[("host", "other.example")], None).await;
    assert_eq!(other.status, 403, "a name that leads here and is not the hub's");
}
