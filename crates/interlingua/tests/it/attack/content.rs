//! Addresses of stored content: guessed, altered, taken from another caller.

use http::Method;
use interlingua_testkit::request;
use serde_json::json;

use crate::addresses::{ANN, BOB, addresses, hub, picture};
use crate::support::send;

#[tokio::test]
async fn attack_addresses_of_stored_content_are_guessed_altered_or_taken_from_another() {
    let (hub, _agent) = hub("").await;
    let call = json!({"skill": "desk/chat", "arguments": {"message": "a picture, please"}});
    let mut given = Vec::new();
    for _ in 0..2 {
        let answer = send(&hub, Method::POST, "/api/exchanges", &[ANN], Some(call.clone())).await.json();
        let sealed = addresses(&answer, "/content/").pop().expect("an address");
        given.push(sealed.rsplit('/').next().expect("a last step").to_owned());
    }
    assert_ne!(given[0], given[1], "an address says nothing of what it leads to");
    let digest = interlingua_model::Digest::of(&picture()).to_string();
    let sealed = &given[0];
    assert!(!sealed.contains(&digest) && !sealed.contains("ilg_"), "{sealed}");
    let mut tried = vec![
        digest.clone(),
        format!("{sealed}A"),
        sealed[1..].to_owned(),
        sealed[..sealed.len() - 1].to_owned(),
        format!("{}{}", &given[0][..given[0].len() / 2], &given[1][given[1].len() / 2..]),
        "..%2f..%2fblobs".to_owned(),
        "A".repeat(20_000),
        "%00".to_owned(),
    ];
    for at in (0..sealed.len() - 1).step_by(7) {
        let other = if &sealed[at..=at] == "A" { "B" } else { "A" };
        tried.push(format!("{}{other}{}", &sealed[..at], &sealed[at + 1..]));
    }
    for path in &tried {
        let answer = send(&hub, Method::GET, &format!("/content/{path}"), &[ANN], None).await;
        assert_eq!(answer.status, 404, "{path}: {}", answer.text());
    }
    let path = format!("/content/{sealed}");
    assert_eq!(send(&hub, Method::GET, &path, &[BOB], None).await.status, 404, "another caller");
    let nobody = request(Method::GET, &path).body(http_body_util::Full::default()).expect("a request");
    assert_eq!(hub.connect_anonymous().await.send(nobody).await.status, 404, "nobody");
    for method in [Method::PUT, Method::POST, Method::DELETE] {
        assert_eq!(send(&hub, method.clone(), &path, &[ANN], None).await.status, 405, "{method}");
    }
    let ours = send(&hub, Method::GET, &path, &[ANN], None).await;
    assert!(ours.status == 200 && ours.body == picture(), "whoever was told it");
}
