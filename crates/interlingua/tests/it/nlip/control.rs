//! ECMA-430, clause 6.3: control messages.

use super::{ask, hub, text};

#[tokio::test]
async fn n_35_a_control_message_is_answered_by_a_control_message() {
    let mut message = text("hello");
    message["messagetype"] = "control".into();
    let reply = ask(&hub().await, &message).await;
    assert_eq!(reply["messagetype"], "control", "{reply}");
}

#[tokio::test]
async fn n_36_the_boolean_of_the_first_draft_is_understood() {
    let mut message = text("hello");
    message["control"] = true.into();
    let reply = ask(&hub().await, &message).await;
    assert_eq!(reply["messagetype"], "control", "{reply}");
}
