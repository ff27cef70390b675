//! 12. Two hubs that would send a call to each other for ever.

use super::*;
use interlingua_model::call::Via;
use interlingua_model::id::HubId;

#[test]
fn scenario_12_a_hub_that_was_passed_before_stops_the_call() {
    let (a, b) = (HubId::from("A"), HubId::from("B"));
    let through_a = Via::through(None, &a).expect("a first hub");
    assert_eq!(through_a.hubs, std::slice::from_ref(&a));
    let through_b = Via::through(Some(&through_a), &b).expect("another hub");
    assert_eq!(through_b.hubs, [a.clone(), b]);
    let fault = Via::through(Some(&through_b), &a).expect_err("it was here before");
    assert_eq!(
        (fault.kind, fault.origin.clone(), fault.retry),
        (FaultKind::Loop, Party::Hub, interlingua_model::fault::Retry::No)
    );
    assert!(fault.public.contains("A") && fault.public.contains("B"), "it names the hubs passed: {}", fault.public);
}

#[test]
fn scenario_12_eight_different_hubs_in_a_row_are_enough() {
    let mut via = None;
    for n in 0..Via::LIMIT {
        via = Some(Via::through(via.as_ref(), &HubId::from(format!("h{n}"))).expect("room"));
    }
    let fault = Via::through(via.as_ref(), &HubId::from("one more")).expect_err("full");
    assert_eq!(fault.kind, FaultKind::Loop);
}

#[test]
fn scenario_12_a_callers_own_limit_can_only_be_stricter() {
    let strict = Via { hubs: vec!["A".into()], limit: 1 };
    assert_eq!(Via::through(Some(&strict), &"B".into()).expect_err("full").kind, FaultKind::Loop);
    let lax = Via { hubs: (0..8).map(|n| HubId::from(format!("h{n}"))).collect(), limit: 255 };
    assert_eq!(Via::through(Some(&lax), &"B".into()).expect_err("full").kind, FaultKind::Loop);
}

#[test]
fn scenario_12_the_refusal_of_the_far_hub_is_the_outcome() {
    let mut walk = Walk::accept(call("b/translate", OnDisconnect::Detach));
    walk.on(send("b/translate", true));
    assert_eq!(walk.on(fails(FaultKind::Loop)), "failed loop => stop", "no other way is tried after the dispatch");
}
