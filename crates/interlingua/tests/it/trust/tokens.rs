//! Configured tokens: their owners, permissions and expiry.

use http::Method;
use http_body_util::Full;
use interlingua_testkit::{Hub, request};
use serde_json::json;

use super::{OWN_PAGE, call, echo, owner_token, post, program, was_let_in, with_token};

async fn hub(access: &str) -> Hub {
    Hub::start(program(), &format!("access:\n  {access}\n")).await
}

#[tokio::test]
async fn n_39_a_token_of_this_hub_that_was_altered_or_has_expired_is_refused_not_ignored() {
    let hub = hub("tokens: [{ name: old, token: \"ilg_old\", expires: \"2020-01-01T00:00:00Z\" }]").await;
    let issued = owner_token(&hub);
    assert!(was_let_in(&post(&hub, &with_token(echo(), &issued), OWN_PAGE).await));
    let last = if issued.ends_with('0') { "1" } else { "0" };
    let altered = format!("{}{last}", &issued[..issued.len() - 1]);
    for wrong in [altered.as_str(), "ilg_old", "ilg_"] {
        // On the Owner's own connection: showing a wrong credential is worse than showing none.
        for signs in [&[][..], OWN_PAGE] {
            let answer = post(&hub, &with_token(echo(), wrong), signs).await;
            assert_eq!(answer.status, 401, "{}", answer.text());
            assert_eq!(answer.json()["messagetype"], "error");
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
        }
    }
}

#[tokio::test]
async fn n_61_where_strangers_are_refused_every_path_but_health_needs_a_credential() {
    let hub = hub("anonymous: refused\n  tokens: [{ name: ann, token: token-1 }]").await;
    let answer = post(&hub, &json!({"format": "text", "subformat": "english", "content": "hello"}), OWN_PAGE).await;
    assert_eq!((answer.status, answer.header("www-authenticate")), (401, Some("Bearer")), "{}", answer.text());
    assert_eq!(answer.json()["messagetype"], "error", "in the caller's own protocol: {}", answer.text());
    let get = async |path: &str, token: Option<&str>| {
        let mut builder = request(Method::GET, path).header("sec-fetch-site", "same-origin");
        if let Some(token) = token {
            builder = builder.header("authorization", format!("Bearer {token}"));
        }
        hub.connect().await.send(builder.body(Full::default()).expect("a request")).await.status
    };
    for path in ["/metrics", "/api/peers", "/api/skills", "/api/tasks", "/api/conversations"] {
        assert_eq!(get(path, None).await, 401, "{path}");
        assert_eq!(get(path, Some("token-2")).await, 401, "{path}");
        assert_eq!(get(path, Some("token-1")).await, 200, "{path}");
    }
    assert!(was_let_in(&post(&hub, &with_token(echo(), "token-1"), OWN_PAGE).await), "in the message is as good");
    assert_eq!(get("/healthz", None).await, 200);
}

#[tokio::test]
async fn n_62_a_credential_of_small_scope_reaches_what_is_in_it_and_sees_nothing_else() {
    let hub = hub("tokens: [{ name: ned, token: token-1, skills: [hub/find_skills] }]").await;
    let find = with_token(call("hub/find_skills", &json!({})), "token-1");
    let found = post(&hub, &find, OWN_PAGE).await;
    assert_eq!(found.status, 200, "{}", found.text());
    assert!(found.text().contains("hub/find_skills"), "{}", found.text());
    assert!(!found.text().contains("hub/echo"), "what it may not call is not listed: {}", found.text());
    let denied = post(&hub, &with_token(echo(), "token-1"), OWN_PAGE).await;
    let unknown = post(&hub, &with_token(call("hub/no_such", &json!({})), "token-1"), OWN_PAGE).await;
    assert!(!was_let_in(&denied), "{}", denied.text());
    assert_eq!(denied.status, unknown.status, "hidden looks like absent");
}

#[tokio::test]
async fn n_63_each_caller_is_throttled_on_its_own_and_told_when_to_come_back() {
    let config =
        "limits: { rate: 3/s }\naccess: { tokens: [{ name: ann, token: token-1 }, { name: bob, token: token-2 }] }\n";
    let hub = Hub::start(program(), config).await;
    let mut connection = hub.connect().await;
    let mut send = async |token: &str| {
        let message = with_token(echo(), token).to_string();
        connection.send(interlingua_testkit::post("/nlip", "application/json", message)).await
    };
    let mut refused = None;
    for _ in 0..200 {
        let answer = send("token-1").await;
        if answer.status == 429 {
            refused = Some(answer);
            break;
        }
    }
    let refused = refused.expect("a burst of two hundred is more than three a second");
    let after: u64 = refused.header("retry-after").and_then(|after| after.parse().ok()).expect("seconds");
    assert!((1..=2).contains(&after), "{after}");
    assert!(was_let_in(&send("token-2").await), "somebody else's burst is not theirs");
}
