mod calls;
mod inboxes;
mod lists;

use std::sync::Arc;

use super::{Kind, Message};
use interlingua_model::call::Priority;
use interlingua_model::content::Meta;
use interlingua_model::id::Time;
use interlingua_model::json::Json;
use interlingua_model::principal::{Link, Owner, Principal, Proof, Subject};

fn message(id: &str, kind: Kind) -> Message {
    Message {
        id: id.into(),
        kind,
        from: "agent_flight".into(),
        to: Some("agent_hotel".into()),
        topic: None,
        skill: Some("search_hotels".into()),
        content: Json::empty_object(),
        correlation: None,
        priority: Priority::NORMAL,
        at: Time(0),
        meta: Meta::default(),
        by: Owner(Arc::new([Subject::HubOwner])),
        readers: Vec::new(),
        sender: None,
    }
}

fn link(subject: Subject) -> Link {
    Link { subject, proof: Proof::Token, scopes: Vec::new(), until: None }
}

fn principal(subject: Subject) -> Principal {
    Principal::new(link(subject))
}
