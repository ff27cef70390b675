//! What of a card is signed (section 8.4), against the specification's example and what the official Python SDK signs.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use interlingua_model::peer::Vouched;
use interlingua_model::{Json, Text};
use serde_json::{Value, json};

use super::parsed;
use crate::client::vouch::{Keys, judge, places};
use crate::discover::signature::{Key, Material, WebKey, key_set, keys, signatures, signed, write_key_set};

fn fixture(name: &str) -> Vec<u8> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/a2a");
    std::fs::read(folder.join(name)).expect("a fixture")
}

fn json(bytes: impl Into<bytes::Bytes>) -> Json {
    Json::parse(bytes.into()).expect("JSON")
}

/// The payloads a card is signed over.
fn payloads(card: &Json) -> Vec<String> {
    let (mut seen, key) = (Vec::new(), Key { algorithm: "EdDSA", id: "k", url: None });
    let made = signed(card, key, |input| {
        let payload = std::str::from_utf8(input).ok()?.split_once('.')?.1.to_owned();
        seen.push(String::from_utf8(URL_SAFE_NO_PAD.decode(payload).ok()?).ok()?);
        Some(vec![1, 2, 3])
    });
    assert!(made.is_some());
    seen
}

#[test]
fn a_41_defaults_are_left_out_unless_they_are_required_or_set() {
    let card = json!({"name": "Example Agent", "description": "", "capabilities":
        {"streaming": false, "pushNotifications": false, "extensions": []}, "skills": []});
    let forms = payloads(&json(card.to_string()));
    let expected = r#"{"capabilities":{"pushNotifications":false,"streaming":false},"description":"","name":"Example Agent","skills":[]}"#;
    assert_eq!(forms[0], expected);
    assert_eq!(forms[1], r#"{"capabilities":{"pushNotifications":false,"streaming":false},"name":"Example Agent"}"#);
}

#[test]
fn a_41_the_form_of_the_official_sdk_is_signed_too_where_it_is_another() {
    let forms = payloads(&json(fixture("card.json")));
    assert_eq!(forms.len(), 2);
    assert_eq!(forms[1], String::from_utf8(fixture("card.pruned.txt")).expect("UTF-8"));
    let whole = r#""securityRequirements":[{"schemes":{"bearer":{}}}]"#;
    assert!(forms[0].contains(whole) && !forms[1].contains(whole), "{}", forms[0]);
    let plain = json!({"name": "a", "description": "b", "version": "1", "url": "https://of.an.older.client"});
    let forms = payloads(&json(plain.to_string()));
    assert_eq!(forms, [r#"{"description":"b","name":"a","version":"1"}"#], "what 1.0 does not know is not signed");
}

#[test]
fn a_42_signatures_of_others_do_not_stay_on_a_card_that_is_signed_anew() {
    let card = json(json!({"name": "a", "signatures": [{"protected": "x", "signature": "y"}]}).to_string());
    let made = signed(&card, Key { algorithm: "ES256", id: "k", url: Some("https://x/jwks.json") }, |_| Some(vec![7]));
    let made = parsed(made.expect("a card").as_bytes());
    assert_eq!(made["signatures"].as_array().map(Vec::len), Some(1));
    let protected = made["signatures"][0]["protected"].as_str().expect("a header");
    let header: Value = parsed(&URL_SAFE_NO_PAD.decode(protected).expect("base64"));
    assert_eq!(header, json!({"alg": "ES256", "typ": "JOSE", "kid": "k", "jku": "https://x/jwks.json"}));
    assert!(signed(&card, Key { algorithm: "ES256", id: "k", url: None }, |_| None).is_none());
}

#[test]
fn a_41_signatures_that_cannot_be_read_are_none() {
    let header = |header: &str| URL_SAFE_NO_PAD.encode(header);
    let card = json!({"name": "a", "signatures": [
        {"protected": header(r#"{"alg":"ES256","kid":"k"}"#), "signature": "AAAA"},
        {"protected": header(r#"{"alg":"ES256","crit":["b64"],"b64":false}"#), "signature": "AAAA"},
        {"protected": header("[]"), "signature": "AAAA"},
        {"protected": "!", "signature": "AAAA"},
        {"protected": header(r#"{"alg":"ES256"}"#), "signature": "!"},
        {"protected": header(r#"{"alg":"ES256"}"#)}, 7
    ]});
    let found = signatures(&json(card.to_string()));
    assert_eq!(found.len(), 1);
    assert_eq!((&*found[0].algorithm, found[0].id.as_deref()), ("ES256", Some("k")));
    assert!(signatures(&json(r#"{"signatures":{}}"#)).is_empty());
}

/// The example of RFC 7638, section 3.1.
#[test]
fn a_41_a_key_is_called_by_its_thumbprint() {
    let n = "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw";
    let set =
        json!({"keys": [{"kty": "RSA", "n": n, "e": "AQAB", "alg": "RS256", "kid": "2011-04-29"}, {"kty": "oct"}]});
    let keys = key_set(&json(set.to_string())).expect("a set");
    assert_eq!((keys.len(), keys[0].material.algorithm()), (1, "RS256"));
    assert_eq!(keys[0].material.thumbprint(), "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs");
    assert_eq!(key_set(&write_key_set(&keys)), Some(keys));
    assert_eq!(key_set(&json("[]")), None);
    let short =
        key_set(&json(r#"{"keys":[{"kty":"EC","crv":"P-256","x":"AQ"},{"kty":"OKP","crv":"X25519","x":"AQ"}]}"#));
    assert_eq!(short, Some(Vec::new()));
    assert_eq!(Material::Ed25519 { x: vec![1] }.algorithm(), "EdDSA");
}

/// A stand-in for cryptography: the signature of something by a key is the key's first byte, and then what was signed.
fn by(key: &Material, input: &[u8]) -> Vec<u8> {
    let Material::Ed25519 { x } = key else { panic!("another kind") };
    [&x[..1], input].concat()
}

fn verify(key: &Material, input: &[u8], signature: &[u8]) -> bool {
    by(key, input) == signature
}

fn web_key(id: Option<&str>, number: u8) -> WebKey {
    WebKey { id: id.map(Text::from), material: Material::Ed25519 { x: vec![number] } }
}

fn card_by(key: &WebKey, id: &str, url: Option<&str>) -> Json {
    let card = json(json!({"name": "a", "description": "b", "version": "1"}).to_string());
    signed(&card, Key { algorithm: "EdDSA", id, url }, |input| Some(by(&key.material, input))).expect("a card")
}

#[test]
fn a_41_a_card_is_vouched_for_by_keys_that_are_trusted_and_by_no_others() {
    let (one, two) = (web_key(Some("one"), 1), web_key(Some("two"), 2));
    let pinned = |keys: &[WebKey], card: &Json| judge(card, &Keys { pinned: keys, fetched: &[] }, verify);
    let card = card_by(&one, "one", None);
    assert_eq!(pinned(&[two.clone(), one.clone()], &card), Vouched::Verified("one".into()));
    assert_eq!(pinned(std::slice::from_ref(&two), &card), Vouched::Unknown);
    assert_eq!(pinned(&[], &card), Vouched::Unknown);
    assert_eq!(
        pinned(std::slice::from_ref(&one), &card_by(&two, "one", None)),
        Vouched::Altered,
        "in the name of another"
    );
    let altered = json(card.as_str().replace(r#""b""#, r#""c""#));
    assert_eq!(pinned(std::slice::from_ref(&one), &altered), Vouched::Altered);
    let nameless = web_key(None, 1);
    let Vouched::Verified(name) = pinned(std::slice::from_ref(&nameless), &card) else { panic!("not verified") };
    assert_eq!(*name, *nameless.material.thumbprint());
    assert_eq!(pinned(&[nameless], &altered), Vouched::Unknown);
    let unsigned = json(r#"{"name":"a"}"#);
    assert_eq!(pinned(&[one], &unsigned), Vouched::Unsigned);
    assert_eq!(pinned(&[two], &json(r#"{"name":"a","signatures":[7]}"#)), Vouched::Unknown);
}

#[test]
fn a_41_a_key_set_counts_for_signatures_that_name_its_place() {
    let (key, here, there) = (web_key(Some("k"), 1), "https://a.example/keys", "https://b.example/keys");
    let sets = [(Text::from(here), vec![key.clone()])];
    let judged = |card: &Json| judge(card, &Keys { pinned: &[], fetched: &sets }, verify);
    let (ours, theirs) = (card_by(&key, "k", Some(here)), card_by(&key, "k", Some(there)));
    assert_eq!(judged(&ours), Vouched::Verified("k".into()));
    assert_eq!(judged(&theirs), Vouched::Unknown);
    assert_eq!(judged(&card_by(&key, "k", None)), Vouched::Unknown);
    assert_eq!(places(&theirs), [Text::from(there)]);
    assert!(places(&json("{}")).is_empty());
}

#[test]
fn a_41_one_key_alone_is_a_set_too() {
    let alone = json(r#"{"kty":"OKP","crv":"Ed25519","x":"AQ","kid":"k"}"#);
    assert_eq!(keys(&alone), [web_key(Some("k"), 1)]);
    assert!(keys(&json("[]")).is_empty() && keys(&json(r#"{"kty":"oct"}"#)).is_empty());
}
