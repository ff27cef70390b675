//! Calls and answers as messages, in every dialect and binding.

use interlingua_machines::bus::{self, Kind};
use interlingua_model::{
    Addressee, Answer, Ask as Wanted, Call, ConversationId, HubId, Input, Json, Loss, LossKind, MessageId, Meta, Party,
    Principal, Priority, Question, QuestionId, QuestionKind, Role, Schema, Secret, Skill, Target, TaskId, Time, Turn,
    Via, Wire,
};

use super::*;
use crate::Version;
use crate::client::encode::{Answered, Recipient, answer, call, more};
use crate::client::request::{Ask, Verb, http, other_verb, rpc};
use crate::client::skills::skills;
use crate::ext;
use crate::json::{Dialect, write};

fn skill(card: &AgentCard, name: &str) -> Skill {
    skills(card, &"p".into()).0.into_iter().find(|skill| skill.id.skill.as_str() == name).expect("a skill")
}

fn invoked(skill: &Skill, input: Input) -> Call {
    let mut call = Call::new(
        "m",
        interlingua_model::Origin::program(),
        Wanted::Invoke { target: Target::Skill(skill.id.clone(), None), input },
    );
    call.conversation = Some(ConversationId::from("c"));
    call
}

fn leg(card: &AgentCard) -> Recipient<'_> {
    Recipient { card, context: Some("ctx".into()), task: None }
}

fn args(value: Value) -> Input {
    Input::args(Json::from_tree(value))
}

#[test]
fn a_skill_is_chosen_by_the_extension_where_it_is_spoken_and_named_in_the_text_elsewhere() {
    let (ours, theirs) = (card(&hub()), card(&plain()));
    let find = skill(&ours, "find");
    let mut wanted = invoked(&find, args(json!({"town": "Oslo"})));
    wanted.limits.priority = Priority::new(9).expect("a priority");
    wanted.via = Some(Via { hubs: vec![HubId::from("a")], limit: 8 });
    let said = call(&wanted, &find, &"k".into(), &leg(&ours)).expect("a message");
    assert!(said.losses.is_empty(), "{:?}", said.losses);
    let written = parsed(&write::send(&said.value, None, Dialect::V1));
    assert_eq!(written["message"]["messageId"], "k");
    assert_eq!(written["message"]["contextId"], "ctx");
    assert_eq!(written["message"]["parts"][0]["data"], json!({"town": "Oslo"}));
    assert_eq!(written["message"]["metadata"][ext::URI], json!({"skill": "find", "priority": 10, "via": ["a"]}));

    let find = skill(&theirs, "find");
    let said = call(&invoked(&find, args(json!({"message": "in Oslo"}))), &find, &"k".into(), &leg(&theirs));
    let said = said.expect("a message");
    assert_eq!(said.losses[0].kind, LossKind::Flattened);
    let written = parsed(&write::send(&said.value, None, Dialect::V1));
    let texts: Vec<&str> = (written["message"]["parts"].as_array().expect("parts").iter())
        .filter_map(|part| part["text"].as_str())
        .collect();
    assert_eq!(texts, ["Use your skill \"Find a hotel\" (find).", "in Oslo"]);
    assert!(written["message"].get("metadata").is_none(), "nothing of ours to who does not speak it");
}

#[test]
fn to_chat_is_to_say_what_is_said_and_earlier_turns_are_told_in_one_text() {
    let theirs = card(&plain());
    let chat = skill(&theirs, "chat");
    let mut input = Input::text("and now?");
    input.history = vec![Turn { role: Role::User, parts: Input::text("hello").parts }];
    let said = call(&invoked(&chat, input), &chat, &"k".into(), &leg(&theirs)).expect("a message");
    let written = parsed(&write::send(&said.value, None, Dialect::V03));
    assert_eq!(written["message"]["parts"][0]["text"], "What was said before:\nuser: hello");
    assert_eq!(written["message"]["parts"][1], json!({"kind": "text", "text": "and now?"}));
    assert_eq!(&*said.losses[0].what, "input.history");
}

#[test]
fn a_callers_own_metadata_goes_on_by_the_same_protocol_without_what_the_hub_owns() {
    let theirs = card(&plain());
    let chat = skill(&theirs, "chat");
    let mut wanted = invoked(&chat, Input::text("x"));
    wanted.meta = Meta(Some(Json::from_tree(json!({"trip": 7, ext::URI: {"skill": "x"}}))));
    let metadata =
        |wanted: &Call| call(wanted, &chat, &"k".into(), &leg(&theirs)).expect("a message").value.message.metadata;
    assert_eq!(metadata(&wanted), None, "another protocol's metadata is not theirs");
    wanted.origin = Wire("a2a/1.0".into()).into();
    assert_eq!(metadata(&wanted).map(|json| json.tree().clone()), Some(json!({"trip": 7})));
}

/// A call that a message between agents made.
fn from_an_agent(skill: &Skill, kind: Kind) -> Call {
    let mut wanted = invoked(skill, args(json!({"town": "Oslo"})));
    let message = bus::Message {
        id: "m-7".into(),
        kind,
        from: "planner".into(),
        to: Some("p".into()),
        topic: None,
        skill: None,
        content: Json::empty_object(),
        correlation: None,
        priority: Priority::NORMAL,
        at: Time(0),
        meta: Meta::default(),
        by: Principal::anonymous().owner(),
        readers: Vec::new(),
        sender: None,
    };
    wanted.origin = bus::said::origin(Wire("api".into()));
    bus::said::mark(&mut wanted, &message);
    wanted
}

#[test]
fn an_event_is_marked_as_one_where_the_extension_is_spoken_and_a_declared_loss_elsewhere() {
    let (ours, theirs) = (card(&hub()), card(&plain()));
    for kind in [Kind::Event, Kind::Query, Kind::Artifact] {
        let find = skill(&ours, "find");
        let said = call(&from_an_agent(&find, kind), &find, &"k".into(), &leg(&ours)).expect("a message");
        assert!(said.losses.is_empty(), "{:?}", said.losses);
        let written = parsed(&write::send(&said.value, None, Dialect::V1));
        let expected = json!({"skill": "find", "type": kind.as_str(), "from": "planner", "correlationId": "m-7"});
        assert_eq!(written["message"]["metadata"][ext::URI], expected);
        assert_eq!(written["configuration"]["returnImmediately"], true, "nobody waits for it");

        let chat = skill(&theirs, "chat");
        let said = call(&from_an_agent(&chat, kind), &chat, &"k".into(), &leg(&theirs)).expect("a message");
        assert_eq!(said.losses, [Loss::new("call.kind", LossKind::Dropped)]);
        assert_eq!(said.value.message.metadata, None);
    }
}

#[test]
fn a_request_is_what_a_message_is_without_a_word() {
    let (ours, theirs) = (card(&hub()), card(&plain()));
    let (find, chat) = (skill(&ours, "find"), skill(&theirs, "chat"));
    let said = call(&from_an_agent(&find, Kind::Request), &find, &"k".into(), &leg(&ours)).expect("a message");
    let written = parsed(&write::send(&said.value, None, Dialect::V1));
    let expected = json!({"skill": "find", "from": "planner", "correlationId": "m-7"});
    assert_eq!(written["message"]["metadata"][ext::URI], expected);
    let said = call(&from_an_agent(&chat, Kind::Request), &chat, &"k".into(), &leg(&theirs)).expect("a message");
    assert!(said.losses.is_empty(), "{:?}", said.losses);
}

#[test]
fn what_a_message_of_this_protocol_says_it_is_goes_on_but_not_who_speaks() {
    let ours = card(&hub());
    let find = skill(&ours, "find");
    let mut wanted = invoked(&find, args(json!({"town": "Oslo"})));
    let hints = json!({"type": "event", "from": "somebody", "correlationId": "c", "skill": "x"});
    wanted.meta = Meta(Some(Json::from_tree(json!({ ext::URI: hints }))));
    let written = |wanted: &Call| {
        let said = call(wanted, &find, &"k".into(), &leg(&ours)).expect("a message");
        parsed(&write::send(&said.value, None, Dialect::V1))["message"]["metadata"][ext::URI].clone()
    };
    assert_eq!(written(&wanted), json!({"skill": "find"}), "another protocol's metadata is not believed");
    wanted.origin = Wire("a2a/1.0".into()).into();
    assert_eq!(written(&wanted), json!({"skill": "find", "type": "event", "correlationId": "c"}));
}

fn question(kind: QuestionKind) -> Question {
    Question {
        id: QuestionId(TaskId(1), 0),
        to: Addressee::Caller,
        kind,
        text: "?".into(),
        asked_by: Party::Peer("p".into()),
        expires: Time(1),
        resume: None,
        name: None,
    }
}

#[test]
fn an_answer_is_a_message_to_the_task_and_a_credential_travels_beside_it() {
    let theirs = card(&plain());
    let leg = Recipient { task: Some("t1".into()), ..leg(&theirs) };
    let form = || question(QuestionKind::Input { form: Schema(Json::empty_object()), choices: Vec::new() });
    let said = |asked: &Question, given: &Answer| match answer(asked, given, &MessageId::from("a1"), &leg).value {
        Answered::Say(send, secret) => (parsed(&write::send(&send, None, Dialect::V1))["message"].clone(), secret),
        Answered::Decline => panic!("declined"),
    };
    let (message, _) = said(&form(), &Answer::Given(args(json!({"answer": "May 1"}))));
    assert_eq!((&message["taskId"], &message["contextId"]), (&json!("t1"), &json!("ctx")));
    assert_eq!(message["parts"], json!([{"text": "May 1"}]));
    let both = Input { args: Some(Json::from_tree(json!({"answer": "May 1"}))), ..Input::text("on May 1, please") };
    assert_eq!(said(&form(), &Answer::Given(both)).0["parts"], json!([{"text": "on May 1, please"}]), "said once");
    let credential = question(QuestionKind::Credential { scheme: "bearer".into(), scopes: Vec::new() });
    let (message, secret) = said(&credential, &Answer::Token(Secret::new("s3cret")));
    assert!(!message.to_string().contains("s3cret"));
    assert_eq!(secret.as_ref().and_then(Secret::text), Some("s3cret"));
    assert!(matches!(answer(&form(), &Answer::Declined, &"a".into(), &leg).value, Answered::Decline));
    assert_eq!(more(&Input::text("hurry"), &"b".into(), &leg).value.message.task.as_deref(), Some("t1"));
}

#[test]
fn a_40_every_request_names_the_tenant_in_its_body_or_its_path() {
    let theirs = card(&plain());
    let chat = skill(&theirs, "chat");
    let send = call(&invoked(&chat, Input::text("x")), &chat, &"k".into(), &leg(&theirs)).expect("a message").value;
    let all = [
        (Ask::Send(&send), "SendMessage", "/acme/message:send"),
        (Ask::Stream(&send), "SendStreamingMessage", "/acme/message:stream"),
        (Ask::Get { task: "a b" }, "GetTask", "/acme/tasks/a%20b?historyLength=1"),
        (Ask::Cancel { task: "t" }, "CancelTask", "/acme/tasks/t:cancel"),
        (Ask::Subscribe { task: "t" }, "SubscribeToTask", "/acme/tasks/t:subscribe"),
    ];
    for (ask, method, path) in all {
        let request = parsed(&rpc(&ask, Version::V1, Some("acme"), 3));
        assert_eq!((&request["method"], &request["id"]), (&json!(method), &json!(3)));
        assert_eq!(request["params"]["tenant"], "acme", "{method}");
        assert_eq!(http(&ask, Version::V1, Some("acme")).path, path);
    }
}

#[test]
fn both_dialects_of_0_3_have_their_own_names_and_paths() {
    let theirs = card(&plain());
    let chat = skill(&theirs, "chat");
    let send = call(&invoked(&chat, Input::text("x")), &chat, &"k".into(), &leg(&theirs)).expect("a message").value;
    let request = parsed(&rpc(&Ask::Send(&send), Version::V03, None, 1));
    assert_eq!(request["method"], "message/send");
    assert_eq!(request["params"]["configuration"]["blocking"], false);
    assert_eq!(request["params"]["message"]["kind"], "message");
    let request = http(&Ask::Send(&send), Version::V03, None);
    assert_eq!(request.path, "/v1/message:send");
    assert_eq!(parsed(&request.body.expect("a body"))["message"]["content"][0]["text"], "x");
    assert_eq!(parsed(&rpc(&Ask::Subscribe { task: "t" }, Version::V03, None, 1))["method"], "tasks/resubscribe");
}

#[test]
fn a_17_who_does_not_take_a_subscription_by_post_is_asked_by_get() {
    let ask = Ask::Subscribe { task: "t" };
    let post = http(&ask, Version::V1, None);
    assert_eq!(post.verb, Verb::Post);
    let get = other_verb(&ask, &post).expect("another way");
    assert_eq!((get.verb, get.body.is_none(), get.path), (Verb::Get, true, post.path));
    assert!(other_verb(&Ask::Cancel { task: "t" }, &http(&Ask::Cancel { task: "t" }, Version::V1, None)).is_none());
}
