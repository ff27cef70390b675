//! The description covers the interface.

use super::document;

#[test]
fn every_path_of_the_contract_is_described() {
    let document = document();
    for path in [
        "peers",
        "skills",
        "agents",
        "messages",
        "artifacts",
        "exchanges",
        "tasks",
        "conversations",
        "sessions",
        "confirmations",
        "questions",
        "questions/{id}/settled",
        "sites/pages",
        "audit",
        "sites/sessions",
        "devices",
        "session",
        "session/tickets",
    ] {
        assert!(document["paths"].get(format!("/api/{path}")).is_some(), "{path}");
    }
    assert!(
        document["paths"]["/api/exchanges"]["post"]["responses"]["200"]["content"]["text/event-stream"].is_object()
    );
}

#[test]
fn every_reference_leads_somewhere() {
    let document = document();
    let text = document.to_string();
    let references: Vec<&str> =
        text.split("\"$ref\":\"#").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(references.len() > 20);
    for reference in references {
        assert!(document.pointer(reference).is_some(), "{reference}");
    }
}
