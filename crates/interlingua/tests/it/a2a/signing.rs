//! Signed cards (section 8.4): what the hub signs can be verified with the key it offers, and with nothing else.

use interlingua_a2a::discover::signature::{Forms, Material, WebKey, key_set, signatures};
use interlingua_keys::jws::PublicKey;
use interlingua_model::Json;
use interlingua_testkit::Hub;
use serde_json::{Value, json};

use super::{builder, get, send};
use crate::support::until;

async fn signing(algorithm: &'static rcgen::SignatureAlgorithm, more: &str) -> Hub {
    let key = rcgen::KeyPair::generate_for(algorithm).expect("a key").serialize_pem();
    builder(&format!("a2a: {{ sign_with: file:./card.pem{more} }}\n")).file("card.pem", key).start().await
}

fn public(key: &WebKey) -> PublicKey {
    match key.material.clone() {
        Material::P256 { x, y } => PublicKey::P256 { x, y },
        Material::Ed25519 { x } => PublicKey::Ed25519 { x },
        Material::Rsa { n, e } => PublicKey::Rsa { n, e },
    }
}

/// How many signatures of a card one of the keys verifies.
fn valid(card: &Value, keys: &[WebKey]) -> usize {
    let card = Json::from_tree(card.clone());
    let forms = Forms::of(&card);
    let holds = |signature: &interlingua_a2a::discover::signature::Signature| {
        let named = keys.iter().filter(|key| key.id == signature.id);
        let mut named = named.filter(|key| key.material.algorithm() == &*signature.algorithm);
        named.any(|key| signature.holds(&forms, |input, bytes| public(key).verifies(input, bytes)))
    };
    signatures(&card).iter().filter(|signature| holds(signature)).count()
}

async fn keys(hub: &Hub) -> Vec<WebKey> {
    key_set(&Json::from_tree(hub.get("/.well-known/jwks.json").await.json())).expect("a key set")
}

#[tokio::test]
async fn a_41_every_card_is_signed_and_one_changed_byte_is_seen() {
    for algorithm in [&rcgen::PKCS_ECDSA_P256_SHA256, &rcgen::PKCS_ED25519] {
        let hub = signing(algorithm, "").await;
        let keys = keys(&hub).await;
        assert_eq!(keys.len(), 1);
        let extended = send(&hub, get("/a2a/extendedAgentCard", &[])).await.json();
        let shown = [
            hub.get("/.well-known/agent-card.json").await.json(),
            hub.get("/agents/agent/.well-known/agent-card.json").await.json(),
            send(&hub, get("/.well-known/agent-card.json", &[])).await.json(),
            extended,
        ];
        for card in shown {
            let count = card["signatures"].as_array().map(Vec::len).expect("signatures");
            assert_eq!(valid(&card, &keys), count, "{card}");
            let mut changed = card.clone();
            changed["description"] = "altered".into();
            assert_eq!(valid(&changed, &keys), 0);
            let mut changed = card.clone();
            changed["supportedInterfaces"][0]["url"] = "https://evil.example".into();
            assert_eq!(valid(&changed, &keys), 0);
        }
    }
}

#[tokio::test]
async fn a_41_a_new_key_in_its_file_signs_cards_without_a_restart() {
    let mut hub = signing(&rcgen::PKCS_ED25519, "").await;
    let (old, before) = (keys(&hub).await, hub.get("/.well-known/agent-card.json").await.json());
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).expect("a key").serialize_pem();
    hub.write("card.pem", key);
    hub.reload();
    until("the new key is offered", async || keys(&hub).await[0].id != old[0].id).await;
    let (new, after) = (keys(&hub).await, hub.get("/.well-known/agent-card.json").await.json());
    assert!(valid(&after, &new) > 0 && valid(&after, &old) == 0, "{after}");
    assert!(valid(&before, &old) > 0 && valid(&before, &new) == 0, "{before}");
}

#[tokio::test]
async fn a_03_a_card_that_is_signed_is_the_same_card_the_next_time() {
    let hub = signing(&rcgen::PKCS_ECDSA_P256_SHA256, "").await;
    let (one, two) = (hub.get("/.well-known/agent-card.json").await, hub.get("/.well-known/agent-card.json").await);
    assert_eq!(one.body, two.body);
    assert_eq!(one.header("etag"), two.header("etag"));
}

#[tokio::test]
async fn a_41_a_card_says_the_address_that_is_configured_and_where_its_key_is() {
    let hub = signing(&rcgen::PKCS_ED25519, ", url: \"https://hub.example/\"").await;
    let card = hub.get("/.well-known/agent-card.json").await.json();
    assert_eq!(card["supportedInterfaces"][0]["url"], "https://hub.example/a2a");
    let grpc = card["supportedInterfaces"].as_array().expect("a list").iter();
    let grpc: Vec<&Value> = grpc.filter(|interface| interface["protocolBinding"] == "GRPC").collect();
    assert_eq!(grpc[0]["url"], "hub.example:443");
    let found = signatures(&Json::from_tree(card));
    assert_eq!(found[0].url.as_deref(), Some("https://hub.example/.well-known/jwks.json"));
}

#[tokio::test]
async fn a_41_without_a_key_nothing_is_signed() {
    let hub = super::hub().await;
    assert!(hub.get("/.well-known/agent-card.json").await.json().get("signatures").is_none());
    assert_eq!(hub.get("/.well-known/jwks.json").await.status, 404);
}

#[test]
fn a_41_a_card_that_the_official_sdk_signed_is_verified() {
    let folder = interlingua_testkit::root().join("fixtures/a2a");
    let read = |name: &str| -> Value {
        serde_json::from_slice(&std::fs::read(folder.join(name)).expect("a fixture")).expect("JSON")
    };
    let (card, keys) = (read("card.signed.json"), key_set(&Json::from_tree(read("card.keys.json"))).expect("keys"));
    assert_eq!(keys.len(), 3);
    assert_eq!(valid(&card, &keys), 3, "ES256, EdDSA and RS256");
    let mut changed = card.clone();
    changed["skills"][0]["name"] = json!("T");
    assert_eq!(valid(&changed, &keys), 0);
    let stranger: Vec<WebKey> = keys.iter().map(|key| WebKey { id: None, ..key.clone() }).collect();
    assert_eq!(valid(&card, &stranger), 0);
}
