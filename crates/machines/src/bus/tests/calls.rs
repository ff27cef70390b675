//! A call remembers the message that made it, and no caller can pretend to one.

use serde_json::json;

use super::*;
use crate::bus::said::{self, Said};
use interlingua_model::content::{Input, Trust};
use interlingua_model::origin::{Maker, Origin};
use interlingua_model::{Ask, Call, Target, Wire};

fn called() -> Call {
    Call::new("c", said::origin(Wire("api".into())), Ask::Invoke { target: Target::Words, input: Input::text("x") })
}

#[test]
fn a_call_says_what_its_message_said() {
    for kind in Kind::ALL {
        let (mut call, mut message) = (called(), message("m", kind));
        message.meta = Meta(Some(json!({"trip": 7}).into()));
        said::mark(&mut call, &message);
        let trip = json!({"trip": 7});
        let expected = Said { id: "m", kind, from: "agent_flight", metadata: Some(&trip) };
        assert_eq!(Said::of(&call), Some(expected));
    }
    let mut call = called();
    said::mark(&mut call, &message("m", Kind::Event));
    assert_eq!(Said::of(&call).map(|said| said.metadata), Some(None), "a message without metadata");
}

#[test]
fn what_came_by_another_way_is_not_believed() {
    let mut call = called();
    assert_eq!(Said::of(&call), None);
    said::mark(&mut call, &message("m", Kind::Event));
    let made = call.origin.child(Maker::Agent, Trust::Caller);
    for other in [Origin::program(), Origin::from(Wire("buses/1".into())), made] {
        call.origin = other;
        assert_eq!(Said::of(&call), None);
    }
}
