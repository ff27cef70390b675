//! Operator rules, over the wire: what they hide, what they refuse, and how they change.

use http::Method;
use interlingua_testkit::{Answer, Hub};
use serde_json::{Value, json};

use super::{as_, program};
use crate::support::{builder, send, until};

const TOKENS: &str = "
- { name: ann, token: ann-token, roles: [clerk] }
- { name: bob, token: bob-token }
- { name: boss, token: boss-token, approve: true }
";
const CONFIG: &str = "
tools: { directory: ./tools }
access: { tokens: file:./tokens.yaml, policy: ./rules.cedar }
";
const RULES: &str = r#"
@id("clerks")
permit (principal in Role::"clerk", action in Action::"use", resource in Peer::"hub");
@id("steps")
permit (principal, action in Action::"use", resource == Skill::"local/steps") unless { principal is Anonymous };
@id("erasers")
permit (principal == User::"bob", action in Action::"use", resource == Skill::"local/erase");
@id("hush")
forbid (principal, action == Action::"call", resource)
when { context.arguments.hasTag("text") && context.arguments.getTag("text") like "*secret*" };
@id("approvers")
permit (principal == User::"boss", action == Action::"approve", resource == Skill::"local/erase");
"#;

async fn hub() -> Hub {
    builder().file("tokens.yaml", TOKENS).file("rules.cedar", RULES).config(CONFIG).start().await
}

async fn called(hub: &Hub, who: &str, skill: &str, arguments: Value) -> Answer {
    as_(hub, who, Method::POST, "/api/exchanges", Some(json!({"skill": skill, "arguments": arguments}))).await
}

async fn listed(hub: &Hub, who: &str) -> Vec<String> {
    let page = as_(hub, who, Method::GET, "/api/skills?limit=200", None).await.json();
    let items = page["items"].as_array().expect("items").clone();
    items.iter().map(|skill| skill["id"].as_str().unwrap_or_default().to_owned()).collect()
}

#[tokio::test]
async fn what_a_rule_does_not_allow_is_not_listed_and_looks_like_it_is_not_there() {
    let hub = hub().await;
    assert!(listed(&hub, "ann").await.iter().any(|id| id == "hub/echo"));
    assert_eq!(listed(&hub, "boss").await, ["local/steps"]);
    assert_eq!(called(&hub, "ann", "hub/echo", json!({"text": "hello"})).await.status, 200);
    let hidden = called(&hub, "boss", "hub/echo", json!({"text": "hello"})).await;
    let absent = called(&hub, "boss", "hub/no_such", json!({"text": "hello"})).await;
    let same = |answer: &Answer| answer.text().replace("hub/echo", "…").replace("hub/no_such", "…");
    assert_eq!((hidden.status, same(&hidden)), (absent.status, same(&absent)));
    assert_eq!(hidden.status, 404);
    assert_eq!(
        hub.post_json("/api/exchanges", &json!({"skill": "hub/echo", "arguments": {"text": "x"}})).await.status,
        200,
        "the Owner is in no rule"
    );
}

#[tokio::test]
async fn arguments_that_a_rule_forbids_are_refused_on_every_path() {
    let hub = hub().await;
    assert_eq!(called(&hub, "ann", "hub/echo", json!({"text": "a secret"})).await.status, 404);
    let around = json!({"skill": "hub/echo", "arguments": {"text": "a secret"}});
    assert_eq!(called(&hub, "ann", "hub/call_skill", around).await.status, 404, "by another skill's hand");
    let open = json!({"skill": "hub/echo", "arguments": {"text": "nothing"}});
    assert_eq!(called(&hub, "ann", "hub/call_skill", open).await.status, 200);
    let mcp = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "hub__echo", "arguments": {"text": "a secret"},
            "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {}}}});
    let headers = [
        ("authorization", "Bearer ann-token"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "hub__echo"),
    ];
    let answer = send(&hub, Method::POST, "/mcp", &headers, Some(mcp)).await;
    assert!(!answer.text().contains("a secret"), "{}", answer.text());
}

#[tokio::test]
async fn a_yes_is_given_by_whom_the_rules_name_and_nobody_approves_their_own() {
    let hub = hub().await;
    let call = json!({"skill": "local/erase", "arguments": {"what": "it"}});
    let task = as_(&hub, "bob", Method::POST, "/api/tasks", Some(call)).await;
    assert_eq!(task.status, 202, "{}", task.text());
    let open = async |who: &str| {
        let page = as_(&hub, who, Method::GET, "/api/confirmations", None).await.json();
        page["items"].as_array().expect("items").clone()
    };
    until("the question", async || open("boss").await.len() == 1).await;
    assert!(open("bob").await.is_empty() && open("ann").await.is_empty());
    let id = open("boss").await[0]["id"].as_str().expect("an id").to_owned();
    let path = format!("/api/confirmations/{id}");
    let yes = Some(json!({"approve": true}));
    assert_eq!(
        as_(&hub, "bob", Method::POST, &path, yes.clone()).await.status,
        403,
        "his task, and not his to approve"
    );
    assert_eq!(as_(&hub, "ann", Method::POST, &path, yes.clone()).await.status, 404, "nothing of hers");
    assert_eq!(as_(&hub, "boss", Method::POST, &path, yes).await.status, 200);
    let path = format!("/api/tasks/{}", task.json()["id"].as_str().expect("an id"));
    until("the end", async || as_(&hub, "bob", Method::GET, &path, None).await.json()["state"] == "completed").await;
}

#[tokio::test]
async fn changed_rules_count_at_once_and_wrong_ones_not_at_all() {
    let hub = hub().await;
    assert_eq!(called(&hub, "bob", "local/steps", json!({})).await.status, 200);
    hub.write("rules.cedar", "permit (principal, action, resource) when { contxt.time };");
    until("the word about it", async || hub.log().contains("rules.cedar:1:")).await;
    assert_eq!(called(&hub, "bob", "local/steps", json!({})).await.status, 200, "the rules before it stand");
    hub.write("rules.cedar", "permit (principal == User::\"ann\", action, resource);");
    until("the new rules", async || called(&hub, "bob", "local/steps", json!({})).await.status == 404).await;
    assert_eq!(called(&hub, "ann", "local/steps", json!({})).await.status, 200);
}

fn interlingua(folder: &std::path::Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = std::process::Command::new(program())
        .current_dir(folder)
        .env_remove("INTERLINGUA_HUB")
        .env_remove("INTERLINGUA_TOKEN")
        .env_remove("INTERLINGUA_DATA")
        .args(arguments)
        .output()
        .expect("the program runs");
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

#[tokio::test]
async fn explain_says_which_rule_it_was() {
    let hub = hub().await;
    let explain = |arguments: &[&str]| {
        let all: Vec<&str> = ["explain", "--data", "data"].iter().chain(arguments).copied().collect();
        interlingua(hub.directory(), &all)
    };
    assert_eq!(
        explain(&["user:ann", "call", "hub/echo", "--args", r#"{"text":"x"}"#]),
        (Some(0), "allowed: clerks\n".into())
    );
    let (code, said) = explain(&["user:ann", "call", "hub/echo", "--args", r#"{"text":"secret"}"#]);
    assert_eq!((code, said.as_str()), (Some(7), "refused: hush (of user:ann)\n"));
    assert_eq!(
        explain(&["user:bob", "call", "hub/echo"]),
        (Some(7), "refused: no rule says yes (of user:bob)\n".into())
    );
    assert_eq!(explain(&["owner", "call", "hub/echo"]), (Some(0), "allowed: owner\n".into()));
    let (code, said) = explain(&["user:ann>agent:helper", "call", "hub/echo"]);
    assert_eq!(code, Some(7), "{said}");
    assert!(said.contains("agent:helper"), "a chain needs both: {said}");
    assert_eq!(explain(&["ann", "call", "hub/echo"]).0, Some(2));
    assert_eq!(explain(&["user:ann", "eat", "hub/echo"]).0, Some(2));
    let refused = as_(
        &hub,
        "ann",
        Method::POST,
        "/api/explain",
        Some(json!({"principal": "owner", "action": "call", "resource": "hub/echo"})),
    )
    .await;
    assert_eq!(refused.status, 403, "only the Owner asks");
}

#[test]
fn check_holds_rules_against_the_schema_and_the_configuration() {
    let folder = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
    write("hub.yaml", "access: { policy: ./rules.cedar, roles: { clerk: [user:ann] } }\n");
    write("rules.cedar", "\npermit (principal in Role::\"clrk\", action == Action::\"call\", resource);\n");
    let (code, said) = interlingua(folder.path(), &["check", "hub.yaml"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("rules.cedar:2:1") && said.contains("did you mean `clerk`?"), "{said}");
    write(
        "rules.cedar",
        "permit (principal == Agent::\"desk\", action, resource);\npermit (principal == Agent::\"planner\", action, resource);\n\npermit (principal, action, resource) when { principal.subject == \"agent:lab\" };\n",
    );
    write("lines.yaml", "[]\n");
    let agents = "models: { canned: { provider: scripted, file: ./lines.yaml } }\nagents: { planner: { model: canned, skills: [\"hub/*\"] } }\n";
    write("agents.yaml", &format!("access: {{ policy: ./rules.cedar, roles: {{ lab: [agent:lab] }} }}\n{agents}"));
    let (code, said) = interlingua(folder.path(), &["check", "agents.yaml"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("rules.cedar:1:1") && said.contains("`Orchestrator::\"desk\"`"), "{said}");
    assert!(said.contains("rules.cedar:4:1") && said.contains("`Orchestrator::\"lab\"`"), "{said}");
    assert!(said.contains("access.roles.lab") && said.contains("`orchestrator:lab`"), "{said}");
    assert!(!said.contains("`planner`"), "it is an agent: {said}");
    write("rules.cedar", "permit (principal, action == Action::\"cal\", resource);\n");
    let (code, said) = interlingua(folder.path(), &["check", "hub.yaml"]);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("rules.cedar:1:") && said.contains("call"), "{said}");
    write("hub.yaml", "access: { policy: ./none.cedar }\n");
    let (code, said) = interlingua(folder.path(), &["check", "hub.yaml"]);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("none.cedar"), "{said}");
}
