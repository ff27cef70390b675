//! Out-of-band uploads, and the list of skills.

use interlingua_model::{CardFrom, Effects, Schema, Skill, SkillId, SkillKind};
use serde_json::json;

use super::messages::annex_a;
use super::*;
use crate::encode::ReplyTo;

#[test]
fn n_37_an_upload_is_offered_by_a_control_message_with_a_uri() {
    let to = ReplyTo { control: true, echo: vec![Submessage::token("conversation", "A")], ..ReplyTo::default() };
    let offer = upload::offer("https://hub:7447/nlip/uploads/u1", &[], to);
    assert_eq!(
        written(&offer),
        r#"{"messagetype":"control","format":"text","subformat":"english","content":"Upload here.","submessages":[{"format":"structured","subformat":"uri","content":"https://hub:7447/nlip/uploads/u1"},{"format":"token","subformat":"conversation","content":"A"}]}"#
    );
}

#[test]
fn n_71_a_client_asks_where_large_content_goes_and_finds_the_address() {
    let question = upload::ask([Submessage::token("conversation_srv", "S")].into_iter());
    let context = Context {
        hub: &HubId::from("other"),
        door: Addressed::Front,
        message: "m".into(),
        now: NOW,
        headers: Headers::default(),
        depth: 128,
        hook: None,
    };
    let asked = decode(question, &context).unwrap().value;
    assert!(matches!(asked.meaning, Meaning::Own(Own::Upload)), "another hub understands it");
    let offer = upload::offer("https://other/nlip/uploads/u1", &[], asked.reply);
    assert_eq!(upload::address(&offer).as_deref(), Some("https://other/nlip/uploads/u1"));
    assert_eq!(upload::address(&Message::text("I cannot.").typed("control")), None);
    let data = Message::text("look").with(Submessage::uri("https://elsewhere/"));
    assert_eq!(upload::address(&data), None, "only a control message offers");
}

#[test]
fn n_38_an_address_of_ours_names_its_upload() {
    for (uri, id) in [
        ("https://hub:7447/nlip/uploads/u-1", Some("u-1")),
        ("/nlip/uploads/u1", Some("u1")),
        ("https://hub/nlip/uploads/", None),
        ("https://hub/nlip/uploads/../secret", None),
        ("https://hub/other", None),
        ("https://hub", None),
        ("https://hub?x=/nlip/uploads/u1", None),
        ("https://hub?/nlip/uploads/u1", None),
    ] {
        assert_eq!(upload::referred(uri), id, "{uri}");
    }
}

#[test]
fn skills_are_listed_for_people_and_for_programs() {
    let skill = Skill::new(
        SkillId::new("files", "read_file"),
        SkillKind::Tool,
        "Reads a file.\nMore about it.",
        Schema(json!({"type": "object"}).into()),
        Effects::reads_only(CardFrom::Manifest),
    );
    let reply = discover::skills([&skill], &[], ReplyTo::default());
    assert_eq!(reply.first, Submessage::text("Hello! I can do this:\n- files/read_file: Reads a file"));
    let text = written(&reply);
    annex_a(&interlingua_model::Json::parse(text.clone().into()).unwrap());
    let shown: serde_json::Value = serde_json::from_str(&text).unwrap();
    let listed = &shown["submessages"][0];
    assert_eq!(listed["label"], "interlingua-skills");
    assert_eq!(listed["content"]["skills"][0]["input"], json!({"type": "object"}));
    assert_eq!(listed["content"]["skills"][0]["effects"], json!(["reads", "idempotent"]));
    assert!(discover::skills([], &[], ReplyTo::default()).submessages.len() == 1);
}
