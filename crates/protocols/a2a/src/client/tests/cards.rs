//! Cards of either generation, good and bad.

use interlingua_model::SkillKind;

use super::*;
use crate::Version;
use crate::client::skills::{skills, theirs};
use crate::discover::read::{Binding, Interface, Scheme, decode};

fn interface(url: &str, binding: Binding, version: Version) -> Interface {
    Interface { url: url.into(), binding, version, tenant: None }
}

#[test]
fn a_43_the_interfaces_of_a_card_stand_in_its_own_order_and_foreign_ones_are_left_out() {
    let mut json = plain();
    json["supportedInterfaces"] = json!([
        {"url": "h:1", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
        {"url": "http://h/x", "protocolBinding": "urn:own", "protocolVersion": "1.0"},
        {"url": "http://h/9", "protocolBinding": "JSONRPC", "protocolVersion": "9.9"},
        {"url": "http://h/rest", "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0.1", "tenant": "acme"},
        {"url": "http://h/old", "protocolBinding": "JSONRPC", "protocolVersion": "0.3.0"},
    ]);
    let card = card(&json);
    let rest = Interface { tenant: Some("acme".into()), ..interface("http://h/rest", Binding::HttpJson, Version::V1) };
    let expected =
        [interface("h:1", Binding::Grpc, Version::V1), rest, interface("http://h/old", Binding::JsonRpc, Version::V03)];
    assert_eq!(card.interfaces, expected);
    assert_eq!(card.problems.len(), 2, "{:?}", card.problems);
}

#[test]
fn a_43_a_card_of_0_3_is_accepted() {
    let card = card(&json!({
        "name": "Old", "description": "Of last year.", "version": "1", "protocolVersion": "0.3.0",
        "url": "http://h/a2a", "preferredTransport": "HTTP+JSON",
        "additionalInterfaces": [
            {"url": "http://h/a2a", "transport": "HTTP+JSON"}, {"url": "http://h/rpc", "transport": "JSONRPC"},
        ],
        "capabilities": {"streaming": true}, "defaultInputModes": ["text"], "defaultOutputModes": ["text"],
        "skills": [{"id": "talk", "name": "Talk", "description": "Talks.", "tags": []}],
        "securitySchemes": {"k": {"type": "apiKey", "in": "header", "name": "X-Key"}, "b": {"type": "http", "scheme": "Bearer"}},
        "security": [{"k": []}],
    }));
    let expected = [
        interface("http://h/a2a", Binding::HttpJson, Version::V03),
        interface("http://h/rpc", Binding::JsonRpc, Version::V03),
    ];
    assert_eq!(card.interfaces, expected);
    assert!(card.streaming && card.guarded);
    assert!(card.schemes.contains(&Scheme::Header("X-Key".into())) && card.schemes.contains(&Scheme::Bearer));
}

#[test]
fn a_29_a_card_for_both_generations_is_read_by_its_newer_members() {
    let mut json = plain();
    json["url"] = "http://h/elsewhere".into();
    json["protocolVersion"] = "0.3.0".into();
    json["securitySchemes"] = json!({"b": {"httpAuthSecurityScheme": {"scheme": "basic"}}});
    let card = card(&json);
    assert_eq!(card.interfaces, [interface("http://h/rpc", Binding::JsonRpc, Version::V1)]);
    assert_eq!((card.schemes.as_slice(), card.guarded), ([Scheme::Basic].as_slice(), false));
}

#[test]
fn a_card_with_nothing_to_go_by_is_refused_and_says_why() {
    for (bad, path) in [
        (json!({"name": "x"}), "supportedInterfaces"),
        (json!({"url": "http://h"}), "name"),
        (json!({"name": "x", "supportedInterfaces": [{"url": "u", "protocolBinding": "SOAP"}]}), "supportedInterfaces"),
        (json!({"name": "x", "url": "http://h", "skills": 7}), "skills"),
    ] {
        assert_eq!(decode(&bytes(&bad), 64).expect_err("no card").path, path, "{bad}");
    }
    for garbage in ["", "[]", "<html>", "{\"name\":", "null"] {
        decode(&Bytes::from(garbage), 64).expect_err(garbage);
    }
}

#[test]
fn an_extension_that_is_insisted_on_and_not_known_is_named() {
    let mut json = plain();
    json["capabilities"]["extensions"] = json!([{"uri": "urn:x:1", "required": true}, {"uri": "urn:y:1"}]);
    assert_eq!(&*card(&json).foreign[0], "urn:x:1");
    assert_eq!(card(&json).foreign.len(), 1);
}

#[test]
fn a_49_skills_have_schemas_where_the_extension_tells_them_and_take_words_elsewhere() {
    let (found, problems) = skills(&card(&hub()), &"p".into());
    assert!(problems.is_empty());
    let names: Vec<String> = found.iter().map(|skill| skill.id.to_string()).collect();
    assert_eq!(names, ["p/find", "p/book", "p/chat"]);
    let find = &found[0];
    assert_eq!((find.kind, &*find.version, find.output.is_some()), (SkillKind::Tool, "7", true));
    assert!(find.input.0.get("properties").is_some_and(|properties| properties.get("town").is_some()));
    assert!(find.effects.reads && find.effects.idempotent && !find.effects.writes);
    let book = &found[1];
    assert_eq!((book.kind, &*book.title, book.effects.writes), (SkillKind::Agent, "Book a hotel", true));
    assert!(book.input.0.get("properties").is_some_and(|properties| properties.get("message").is_some()));
}

#[test]
fn any_id_of_a_skill_becomes_a_name_that_leads_back() {
    let mut json = hub();
    json["skills"] = json!([
        {"id": "Buch einen Flug!", "name": "x"}, {"id": "local/read_file", "name": "y"}, {"id": "hub/about", "name": "z"},
        {"id": "far/off", "name": "w", "tags": ["imported"]}, {"id": "???", "name": "v"}, {"name": "no id"},
        {"id": "local.read_file", "name": "again"}, {"id": "chat", "name": "Talk to me"},
    ]);
    let card = card(&json);
    let (found, problems) = skills(&card, &"p".into());
    let names: Vec<&str> = found.iter().map(|skill| skill.id.skill.as_str()).collect();
    assert_eq!(names, ["Buch_einen_Flug_", "local.read_file", "chat"]);
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert_eq!(theirs(&card, &found[0].id.skill), Some("Buch einen Flug!"));
    assert_eq!(theirs(&card, &found[1].id.skill), Some("local/read_file"));
    assert!(found[1].tags.iter().any(|tag| &**tag == "imported"));
}
