//! Signed cards of other agents (section 8.4): the signer is verified and shown, and if a signature is required, an unsigned card is not
//! trusted.

use interlingua_a2a::discover::signature::{self, Key, Material, WebKey, write_key_set};
use interlingua_keys::jws::Signer;
use interlingua_model::Json;

use super::*;

/// A key, as its owner has it and as others do.
struct Pair {
    signer: Signer,
    pem: String,
}

impl Pair {
    fn new() -> Pair {
        let pair = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).expect("a key");
        Pair { signer: Signer::from_pem(&pair.serialize_pem()).expect("a key"), pem: pair.public_key_pem() }
    }

    /// The card, signed; `place`: where it says the key is.
    fn sign(&self, card: &Value, place: Option<&str>) -> Value {
        let key = Key { algorithm: "ES256", id: "hotels-1", url: place };
        let signed = signature::signed(&Json::from_tree(card.clone()), key, |input| self.signer.sign(input));
        signed.expect("a card").tree().clone()
    }

    fn set(&self) -> Value {
        let interlingua_keys::jws::PublicKey::P256 { x, y } = self.signer.public().clone() else {
            panic!("another kind")
        };
        let key = WebKey { id: Some("hotels-1".into()), material: Material::P256 { x, y } };
        write_key_set(&[key]).tree().clone()
    }
}

async fn answers(card: Value) -> Agent {
    Agent::start(card, |_| Say::Json(result(message("ok")))).await
}

/// A hub that knows these keys.
async fn knows(agent: &Agent, policy: &str, keys: &str) -> Hub {
    let more = format!(", signature: {policy}, keys: ./keys");
    agent.builder(&more).file("keys", keys).start().await
}

#[tokio::test]
async fn a_41_a_card_signed_by_a_pinned_key_is_taken_and_shown_as_verified() {
    let pair = Pair::new();
    let agent = answers(pair.sign(&card(), None)).await;
    let set = pair.set();
    for keys in [pair.pem.clone(), set.to_string(), set["keys"][0].to_string()] {
        let hub = knows(&agent, "require", &keys).await;
        listed(&hub).await;
        let shown = peer(&hub).await;
        assert_eq!(shown["signature"], "verified", "{shown}");
        assert!(shown["signed_by"].is_string() && shown["problems"].is_null(), "{shown}");
        assert_eq!(texts(&say(&hub, "x").await), ["ok"]);
    }
}

#[tokio::test]
async fn a_41_where_a_signature_is_required_no_other_card_is_taken_and_a_call_says_why() {
    let (pair, stranger) = (Pair::new(), Pair::new());
    let mut altered = pair.sign(&card(), None);
    altered["description"] = "altered".into();
    let refused =
        [(card(), "not signed"), (altered, "altered"), (stranger.sign(&card(), None), "altered, or signed by another")];
    for (shown, why) in refused {
        let agent = answers(shown).await;
        let hub = knows(&agent, "require", &pair.set().to_string()).await;
        until("a problem that is told", async || peer(&hub).await["problems"].to_string().contains(why)).await;
        assert_eq!(peer(&hub).await["skills"], 0, "{why}");
        assert!(agent.heard().is_empty(), "{why}");
    }
}

#[tokio::test]
async fn a_41_a_card_that_was_altered_later_leaves_the_one_that_was_verified() {
    let pair = Pair::new();
    let agent = Agent::start(pair.sign(&card(), None), |_| error(-32009, "VERSION_NOT_SUPPORTED")).await;
    let mut hub = knows(&agent, "require", &pair.pem).await;
    listed(&hub).await;
    let mut altered = pair.sign(&card(), None);
    altered["skills"][0]["id"] = "steal".into();
    agent.shows(altered);
    say(&hub, "x").await;
    until("a card that is refused", async || peer(&hub).await["problems"].to_string().contains("refused")).await;
    let shown = peer(&hub).await;
    assert_eq!((&shown["skills"], &shown["signature"]), (&json!(2), &json!("verified")));
    assert!(!hub.get("/api/skills?limit=200").await.text().contains("agent/steal"));
    drop(agent);
    hub.restart().await;
    let shown = peer(&hub).await;
    assert_eq!(
        (&shown["skills"], &shown["signature"]),
        (&json!(2), &json!("verified")),
        "verified again when it was read"
    );
    // A key that is not trusted any more verifies nothing.
    hub.stop().await;
    hub.write("keys", Pair::new().pem);
    hub.restart().await;
    assert_eq!(peer(&hub).await["skills"], 0);
}

#[tokio::test]
async fn a_41_where_it_is_only_looked_at_every_card_is_taken_and_what_was_seen_is_shown() {
    let (pair, stranger) = (Pair::new(), Pair::new());
    let mut altered = pair.sign(&card(), None);
    altered["description"] = "altered".into();
    for (shown, seen) in [(card(), "unsigned"), (altered, "altered"), (pair.sign(&card(), None), "verified")] {
        let agent = answers(shown).await;
        let hub = knows(&agent, "check", &pair.set().to_string()).await;
        listed(&hub).await;
        let shown = peer(&hub).await;
        assert_eq!(shown["signature"], seen);
        assert_eq!(shown["problems"].is_null(), seen == "verified", "{shown}");
    }
    let agent = answers(stranger.sign(&card(), None)).await;
    let hub = agent.hub().await;
    assert_eq!((&peer(&hub).await["signature"], &peer(&hub).await["problems"]), (&json!("unknown"), &Value::Null));
    let hub = agent.builder(", signature: off").start().await;
    listed(&hub).await;
    assert!(peer(&hub).await["signature"].is_null());
}

#[tokio::test]
async fn a_41_keys_are_fetched_from_places_that_are_named_here_and_from_no_others() {
    let pair = Pair::new();
    let set = pair.set();
    let agent = Agent::start(card(), move |heard| match heard.path.as_str() {
        "/keys.json" => Say::Json(set.clone()),
        _ => Say::Json(result(message("ok"))),
    })
    .await;
    let place = format!("{}/keys.json", agent.url());
    agent.shows(pair.sign(&card(), Some(&place)));
    let elsewhere = agent.builder(&format!(", token: t0ken, key_urls: [\"{}/other.json\"]", agent.url())).start().await;
    listed(&elsewhere).await;
    assert_eq!(peer(&elsewhere).await["signature"], "unknown");
    assert!(agent.heard().is_empty(), "where a card says its key is proves nothing");
    let more = format!(", token: t0ken, signature: require, key_urls: [\"{place}\"]");
    let mut hub = agent.builder(&more).start().await;
    listed(&hub).await;
    assert_eq!(peer(&hub).await["signature"], "verified");
    let heard = agent.heard();
    assert_eq!((heard[0].path.as_str(), heard[0].header("authorization")), ("/keys.json", None));
    drop(agent);
    hub.restart().await;
    assert_eq!(peer(&hub).await["signature"], "verified", "by the keys that were fetched before");
}

#[tokio::test]
async fn a_41_a_card_that_the_official_sdk_signed_is_verified_as_it_came() {
    let folder = interlingua_testkit::root().join("fixtures/a2a");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a fixture");
    let agent = answers(serde_json::from_str(&read("card.signed.json")).expect("JSON")).await;
    let hub = knows(&agent, "require", &read("card.keys.json")).await;
    until("a card that was read", async || peer(&hub).await["signature"] == "verified").await;
    assert!(!peer(&hub).await["problems"].to_string().contains("refused"));
}

/// What a hub shows of an agent behind it is the hub's own card: its addresses are others, and so is its signature.
#[tokio::test]
async fn a_42_a_foreign_signature_never_stands_on_a_card_of_the_hubs() {
    let pair = Pair::new();
    let foreign = pair.sign(&card(), None);
    let agent = answers(foreign.clone()).await;
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).expect("a key").serialize_pem();
    for more in ["", "a2a: { sign_with: file:./card.pem }\n"] {
        let config = format!("{more}peers: {{ agent: {{ a2a: {{ url: \"{}\" }} }} }}\n", agent.url());
        let hub = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config(&config).file("card.pem", &key).start().await;
        listed(&hub).await;
        for path in ["/.well-known/agent-card.json", "/agents/agent/.well-known/agent-card.json"] {
            let shown = hub.get(path).await.json();
            let signatures = shown["signatures"].as_array().map(Vec::as_slice).unwrap_or_default();
            assert_eq!(signatures.is_empty(), more.is_empty(), "{shown}");
            for signature in signatures {
                assert_ne!(signature["signature"], foreign["signatures"][0]["signature"]);
                let header = signature["protected"].as_str().expect("a header");
                assert_ne!(header, foreign["signatures"][0]["protected"].as_str().expect("a header"));
            }
            assert!(!shown.to_string().contains(&agent.url()), "{shown}");
        }
    }
}
