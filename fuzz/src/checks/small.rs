//! Invariants of the smaller decoders for any bytes.

use bytes::Bytes;
use interlingua_agents::plans::constellation;
use interlingua_api::view::{EventView, ExchangeRequest};
use interlingua_hub::hooks::{Verdict, When};
use interlingua_keys::Keyring;
use interlingua_keys::jws::{PublicKey, Signer};
use interlingua_machines::graph::{Graph, Rules};
use interlingua_model::Json;
use interlingua_model::{TaskId, Time};
use interlingua_wire::oauth::jwt::{Expected, Jwt};
use interlingua_wire::protobuf::{Fields, Value, Writer};
use interlingua_wire::rpc::{self, Frame};
use interlingua_wire::{jcs, jwk};

/// A batch is as many messages as its array has elements, and each is read as it would be alone.
pub(crate) fn batch(data: &[u8]) {
    let frame = Bytes::copy_from_slice(data);
    let Ok(Frame::Batch(messages)) = rpc::decode(&frame, 64) else { return };
    let json = Json::parse_within(frame, 64).expect("a batch is JSON");
    let elements = json.tree().as_array().expect("a batch is an array");
    assert_eq!(messages.len(), elements.len());
    for (message, element) in messages.iter().zip(elements) {
        let alone = rpc::decode(&Bytes::from(element.to_string()), 64);
        assert_eq!(message.is_ok(), matches!(alone, Ok(Frame::One(_))), "{element}");
    }
}

/// Fields that were read can be written, and are the same fields then.
pub(crate) fn protobuf(data: &[u8]) {
    let Ok(fields) = Fields::of(data).collect::<Result<Vec<_>, _>>() else { return };
    let mut written = Vec::new();
    let mut writer = Writer::new(&mut written);
    for (number, value) in &fields {
        match value {
            Value::Varint(value) => writer.varint(*number, *value),
            Value::Fixed64(value) => writer.double(*number, f64::from_bits(*value)),
            Value::Bytes(value) => writer.bytes(*number, value),
            // Nothing that is written here has one.
            Value::Fixed32(_) => return,
        }
    }
    assert!(written.len() <= data.len(), "there is no shorter spelling");
    assert_eq!(Fields::of(&written).collect::<Result<Vec<_>, _>>().as_ref(), Ok(&fields));
}

/// A token, a line end, a set of keys.
pub(crate) fn token(data: &[u8]) {
    let at = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let (token, set) = data.split_at(at);
    let keys = interlingua_access::fuzzing::issuer_keys(set).unwrap_or_default();
    let written = jwk::write_key_set(&keys);
    assert_eq!(jwk::key_set(&written).as_ref(), Some(&keys), "a set that was written is another");
    assert!(keys.iter().all(|key| !key.material.thumbprint().is_empty()));
    let Some((text, jwt)) = std::str::from_utf8(token).ok().and_then(|text| Some((text, Jwt::decode(text)?))) else {
        return;
    };
    assert!(!jwt.is_signed(text, &[], |_, _, _| true), "nobody signed it");
    if jwt.is_signed(text, &keys, |_, signed, _| text.as_bytes().starts_with(signed) && text.len() > signed.len()) {
        assert!(jwt.is_of(&keys));
    }
    let audiences = ["hub".to_owned()];
    let expected = Expected { issuer: "https://as.example", audiences: &audiences, now: Time(1_000_000), skew: 60_000 };
    if let Ok(claims) = jwt.claims(&expected, Some("groups")) {
        assert_eq!(jwt.issuer().as_deref(), Some(expected.issuer));
        assert!(!claims.subject.is_empty() && claims.until.0.saturating_add(60_000) > 1_000_000);
    }
}

/// Keys in texts, private and public.
pub(crate) fn keys(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(ring) = Keyring::from_text(text) {
        assert!(!ring.keys().is_empty());
        assert!(!format!("{ring:?}").contains(text.trim()), "a key is printed");
    }
    let _ = PublicKey::all_from_pem(text);
    if let Some(signer) = Signer::from_pem(text) {
        assert!(signer.sign(b"x").is_some());
    }
}

/// A plan of many calls, and a change of one.
pub(crate) fn plan(data: &[u8]) {
    let frame = Bytes::copy_from_slice(data);
    if let Ok(plan) = constellation::read(&frame, 64) {
        let good = plan.check().is_ok();
        let opened = Graph::open(TaskId(1), plan, Rules::default(), Time(0));
        assert!(good || opened.is_err(), "a plan that cannot be is opened");
        if let Ok((_, graph)) = opened {
            let written = constellation::write(&graph);
            let again = constellation::read(written.as_bytes(), usize::MAX).expect("what was written can be read");
            again.check().expect("and is a plan");
            graph.steps().for_each(|step| drop(graph.filled(step)));
            graph.taken_up(&[]).expect("what was not done can be done");
        }
    }
    if let Ok(json) = Json::parse(frame) {
        let _ = interlingua_agents::fuzzing::plan_change(&json);
    }
}

/// What a hook answers.
pub(crate) fn hook(data: &[u8]) {
    for when in [When::Before, When::After, When::Confirm, When::Notification] {
        match interlingua_hooks::fuzzing::verdict(data, when) {
            Some(Verdict::Arguments(arguments)) => {
                assert!(when == When::Before && arguments.is_object());
            }
            Some(Verdict::Result(_)) => assert_eq!(when, When::After),
            Some(Verdict::Refuse(why)) => {
                assert!(matches!(when, When::Before | When::After) && why.chars().count() <= 1_000);
            }
            Some(Verdict::Pass) | None => {}
        }
    }
}

/// What the hub's own interface is asked, and what it says in a stream: the first line is the name of an event.
pub(crate) fn api(data: &[u8]) {
    if let Ok(request) = serde_json::from_slice::<ExchangeRequest>(data) {
        let written = serde_json::to_vec(&request).expect("a request can be written");
        let again: ExchangeRequest = serde_json::from_slice(&written).expect("what was written can be read");
        assert_eq!(again, request);
    }
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (name, event) = text.split_once('\n').unwrap_or((text, "{}"));
    if let Ok(Some(view)) = EventView::read(name, event) {
        let again = EventView::read(name, &view.data().expect("an event can be written"));
        assert_eq!(again.expect("what was written can be read"), Some(view));
    }
}

/// A card that somebody signed: its canonical form is one, and has the same value.
pub(crate) fn signed_card(data: &[u8]) {
    let Ok(card) = Json::parse(Bytes::copy_from_slice(data)) else { return };
    if let Ok(canonical) = jcs::canonical(&card) {
        let once = Json::parse(canonical.into()).expect("a canonical form is JSON");
        let twice = jcs::canonical(&once).expect("it has a canonical form");
        assert_eq!(once.as_bytes().as_ref(), twice, "a canonical form has another");
    }
    let forms = interlingua_a2a::discover::signature::Forms::of(&card);
    for signature in interlingua_a2a::discover::signature::signatures(&card) {
        assert!(!signature.holds(&forms, |_, _| false), "nobody signed it");
    }
}
