//! Tokens that others issue: verified with their keys, for this hub, now; keys change while the hub runs.

use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::Method;
use interlingua_keys::jws::{PublicKey, Signer};
use interlingua_testkit::{Answer, Hub};
use interlingua_wire::jwk::{Material, WebKey, write_key_set};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::support::{builder, send, until};

pub(crate) const ISSUER: &str = "https://login.example";

/// A key of an issuer, under a name.
pub(crate) struct Key {
    name: &'static str,
    signer: Signer,
}

impl Key {
    pub(crate) fn new(name: &'static str) -> Key {
        let pem = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).expect("a key").serialize_pem();
        Key { name, signer: Signer::from_pem(&pem).expect("a key") }
    }

    fn web(&self) -> WebKey {
        let material = match self.signer.public().clone() {
            PublicKey::P256 { x, y } => Material::P256 { x, y },
            PublicKey::Ed25519 { x } => Material::Ed25519 { x },
            PublicKey::Rsa { n, e } => Material::Rsa { n, e },
        };
        WebKey { id: Some(self.name.into()), material }
    }

    pub(crate) fn token(&self, change: &Value) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
        let mut claims = json!({"iss": ISSUER, "aud": "hub", "sub": "ann", "exp": now + 600, "scope": "hub/*"});
        for (name, value) in change.as_object().expect("claims") {
            claims[name] = value.clone();
        }
        let piece = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", piece(&json!({"alg": "ES256", "kid": self.name})), piece(&claims));
        let signature = self.signer.sign(signed.as_bytes()).expect("a signature");
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

/// Serves the keys that are put into it.
pub(crate) struct Keys {
    pub(crate) url: String,
    set: Arc<Mutex<String>>,
}

impl Keys {
    pub(crate) async fn serve(keys: &[&Key]) -> Keys {
        let set = Arc::new(Mutex::new(text(keys)));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/jwks.json", listener.local_addr().expect("an address"));
        let served = set.clone();
        #[expect(clippy::disallowed_methods, reason = "a test's own server, which ends with it")]
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut asked = [0; 4096];
                let _ = stream.read(&mut asked).await;
                let body = served.lock().expect("not poisoned").clone();
                let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
                let answer = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        Keys { url, set }
    }

    pub(crate) fn change(&self, keys: &[&Key]) {
        *self.set.lock().expect("not poisoned") = text(keys);
    }
}

fn text(keys: &[&Key]) -> String {
    let keys: Vec<WebKey> = keys.iter().map(|key| key.web()).collect();
    write_key_set(&keys).as_str().to_owned()
}

async fn hub(keys: &Keys, more: &str) -> Hub {
    let issuer = format!("issuer: \"{ISSUER}\", audience: [hub], keys: \"{}\", skew: 5s{more}", keys.url);
    builder().config(&format!("access: {{ anonymous: refused, issuers: {{ corp: {{ {issuer} }} }} }}\n")).start().await
}

async fn echo(hub: &Hub, token: &str) -> Answer {
    let body = json!({"skill": "hub/echo", "arguments": {"text": "xyzzy"}});
    let bearer = format!("Bearer {token}");
    let headers = [("authorization", bearer.as_str()), ("sec-fetch-site", "same-origin")];
    send(hub, Method::POST, "/api/exchanges", &headers, Some(body)).await
}

#[tokio::test]
async fn m_38_a_token_counts_for_this_hub_from_this_issuer_signed_with_its_key() {
    let (key, other) = (Key::new("one"), Key::new("one"));
    let keys = Keys::serve(&[&key]).await;
    let hub = hub(&keys, "").await;
    until("the keys", async || echo(&hub, &key.token(&json!({}))).await.status == 200).await;
    for change in [
        json!({"aud": "another"}),
        json!({"iss": "https://evil.example"}),
        json!({"exp": 1_000_000_000}),
        json!({"nbf": 4_000_000_000_u64}),
        json!({"sub": ""}),
    ] {
        let answer = echo(&hub, &key.token(&change)).await;
        assert_eq!((answer.status, answer.header("www-authenticate")), (401, Some("Bearer")), "{change}");
    }
    assert_eq!(echo(&hub, &other.token(&json!({}))).await.status, 401, "signed with somebody else's key of that name");
    let good = key.token(&json!({}));
    let (signed, signature) = good.rsplit_once('.').expect("a token");
    let (head, _) = signed.split_once('.').expect("a token");
    let forged = URL_SAFE_NO_PAD
        .encode(json!({"iss": ISSUER, "aud": "hub", "sub": "boss", "exp": 4_000_000_000_u64}).to_string());
    assert_eq!(echo(&hub, &format!("{head}.{forged}.{signature}")).await.status, 401);
    let none = URL_SAFE_NO_PAD.encode(r#"{"alg":"none"}"#);
    assert_eq!(echo(&hub, &format!("{none}.{forged}.")).await.status, 401);
    let narrow = echo(&hub, &key.token(&json!({"scope": "local/*"}))).await;
    assert_eq!(narrow.status, 404, "known, but what is out of reach is not there");
    let role = echo(&hub, &key.token(&json!({"scope": "role:admin"}))).await;
    assert_eq!(role.status, 404);
}

#[tokio::test]
async fn keys_are_rotated_without_a_restart() {
    let (old, new) = (Key::new("old"), Key::new("new"));
    let keys = Keys::serve(&[&old]).await;
    let hub = hub(&keys, "").await;
    until("the keys", async || echo(&hub, &old.token(&json!({}))).await.status == 200).await;
    keys.change(&[&new]);
    until("the new key", async || echo(&hub, &new.token(&json!({}))).await.status == 200).await;
    assert_eq!(echo(&hub, &old.token(&json!({"jti": "another"}))).await.status, 401, "the old key is gone");
}

#[tokio::test]
async fn m_38_a_missing_scope_is_named_and_the_resource_says_who_gives_tokens() {
    let key = Key::new("one");
    let keys = Keys::serve(&[&key]).await;
    let hub = hub(&keys, ", scopes: { \"say\": [hub/echo], \"read\": [\"local/*\"] }").await;
    until("the keys", async || echo(&hub, &key.token(&json!({"scope": "say"}))).await.status == 200).await;
    let call = |tool: &'static str| {
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": tool, "arguments": {"text": "xyzzy"},
                "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
                    "io.modelcontextprotocol/clientCapabilities": {}}}})
    };
    let ask = async |tool: &'static str, scope: &str| {
        let bearer = format!("Bearer {}", key.token(&json!({"scope": scope})));
        let headers = [
            ("authorization", bearer.as_str()),
            ("sec-fetch-site", "same-origin"),
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", tool),
        ];
        send(&hub, Method::POST, "/mcp", &headers, Some(call(tool))).await
    };
    assert_eq!(ask("hub__echo", "say").await.status, 200);
    let missing = ask("hub__echo", "read").await;
    assert_eq!(missing.status, 403, "{}", missing.text());
    let told = missing.header("www-authenticate").expect("a challenge").to_owned();
    assert!(told.contains("error=\"insufficient_scope\"") && told.contains("scope=\"say\""), "{told}");
    assert!(told.contains("/.well-known/oauth-protected-resource/mcp"), "{told}");
    let hidden = ask("hub__find_skills", "say").await;
    assert_ne!(hidden.status, 403, "no scope is for it, so it is not there: {}", hidden.text());
    let described = send(&hub, Method::GET, "/.well-known/oauth-protected-resource/mcp", &[], None).await.json();
    assert_eq!(described["authorization_servers"], json!([ISSUER]));
    assert_eq!(described["scopes_supported"], json!(["read", "say"]));
}
