//! What programs of others rely on is additive within 0.x: everything of the last release is still there (`fixtures/release-0.2.0`).
//!
//! `RECORD_RELEASE=1` writes the lists anew. That is for a release, and for a change that a release announces as breaking.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use clap::CommandFactory as _;
use interlingua::cli::arguments::Arguments;
use interlingua_testkit::root;
use serde_json::Value;

use crate::support::builder;
use crate::tidy::events;

/// One fact a line, sorted.
type Facts = BTreeSet<String>;

fn file(list: &str) -> PathBuf {
    root().join("fixtures/release-0.2.0").join(format!("{list}.txt"))
}

/// What the last release had. `now` becomes that where it is recorded.
fn released(list: &str, now: &Facts) -> Facts {
    if std::env::var_os("RECORD_RELEASE").is_some() {
        let lines: String = now.iter().map(|fact| format!("{fact}\n")).collect();
        fs::write(file(list), lines).expect("written");
    }
    let text = fs::read_to_string(file(list)).unwrap_or_else(|error| panic!("{}: {error}", file(list).display()));
    text.lines().map(str::to_owned).collect()
}

/// Everything of the last release is still there.
fn is_additive(list: &str, now: &Facts) {
    let released = released(list, now);
    assert!(released.len() > 5, "{list} of the last release: {released:?}");
    let gone: Vec<&String> = released.difference(now).collect();
    assert!(gone.is_empty(), "{list} of the last release that are gone or have changed: {gone:#?}");
}

/// The last part of a reference to a schema.
fn referred(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next())
}

/// A type in short.
fn kind(schema: &Value) -> String {
    if let Some(name) = referred(schema) {
        return name.to_owned();
    }
    if let Some(choices) = ["anyOf", "oneOf"].iter().find_map(|key| schema[*key].as_array()) {
        let mut choices: Vec<String> = choices.iter().map(kind).collect();
        choices.sort();
        return choices.join(" or ");
    }
    match &schema["type"] {
        Value::String(name) if name == "array" => format!("list of {}", kind(&schema["items"])),
        Value::String(name) => name.clone(),
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => "anything".to_owned(),
    }
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Operations with their parameters and bodies, schemas with their fields and values.
fn api(document: &Value) -> Facts {
    let mut facts = Facts::new();
    for (path, methods) in members(&document["paths"]) {
        for (method, operation) in members(methods) {
            let name = format!("{} {path}", method.to_uppercase());
            for parameter in items(&operation["parameters"]) {
                let (place, parameter) = (&parameter["in"], &parameter["name"]);
                facts.insert(format!(
                    "{name}: {} {}",
                    place.as_str().unwrap_or("?"),
                    parameter.as_str().unwrap_or("?")
                ));
            }
            for (status, answer) in members(&operation["responses"]) {
                let answer = kind(&answer["content"]["application/json"]["schema"]);
                facts.insert(format!("{name}: answers {status} {answer}"));
            }
            if let Some(name_of_body) = referred(&operation["requestBody"]["content"]["application/json"]["schema"]) {
                facts.insert(format!("{name}: takes {name_of_body}"));
            }
            facts.insert(name);
        }
    }
    for (name, schema) in members(&document["components"]["schemas"]) {
        for variant in std::iter::once(schema).chain(items(&schema["oneOf"])).chain(items(&schema["anyOf"])) {
            facts.extend(members(&variant["properties"]).map(|(field, of)| format!("{name}.{field}: {}", kind(of))));
            let values = items(&variant["enum"]).chain(variant.get("const"));
            facts.extend(values.map(|value| format!("{name} may be {value}")));
        }
    }
    facts
}

/// What the bodies of requests must have.
fn required(document: &Value) -> Facts {
    let operations = members(&document["paths"]).flat_map(|(_, methods)| members(methods));
    let bodies = operations.map(|(_, operation)| &operation["requestBody"]["content"]["application/json"]["schema"]);
    let mut facts = Facts::new();
    for name in bodies.filter_map(referred) {
        let schema = &document["components"]["schemas"][name];
        facts.extend(items(&schema["required"]).filter_map(Value::as_str).map(|field| format!("{name}.{field}")));
    }
    facts
}

/// Fields that are required now and were not, of bodies that there were.
fn newly_required(now: &Facts, released: &Facts, api: &Facts) -> Vec<String> {
    let was_there = |fact: &&String| {
        let schema = fact.split('.').next().unwrap_or_default();
        api.iter().any(|line| line.starts_with(&format!("{schema}.")))
    };
    now.difference(released).filter(was_there).cloned().collect()
}

#[tokio::test]
async fn the_api_has_everything_of_the_last_release() {
    let document = builder().start().await.get("/api/openapi.json").await.json();
    let (now, needed) = (api(&document), required(&document));
    is_additive("api", &now);
    let refused = newly_required(&needed, &released("api-required", &needed), &released("api", &now));
    assert!(refused.is_empty(), "requests of the last release lack what is required now: {refused:?}");
}

#[tokio::test]
async fn the_metrics_have_everything_of_the_last_release() {
    let text = builder().start().await.get("/metrics").await.text();
    let metrics: Facts = text.lines().filter_map(|line| line.strip_prefix("# TYPE ").map(str::to_owned)).collect();
    is_additive("metrics", &metrics);
}

#[test]
fn the_log_has_every_event_of_the_last_release() {
    let page = fs::read_to_string(root().join("docs/operations.md")).expect("the page for operators");
    is_additive("events", &events::with_fields(&page));
}

#[test]
fn exit_codes_and_commands_are_those_of_the_last_release_and_more() {
    let help = Arguments::command().get_after_help().expect("examples and exit codes").to_string();
    let codes = help.split_once("Exit codes: ").expect("exit codes").1.replace('\n', " ");
    is_additive("exit-codes", &codes.trim_end_matches('.').split(", ").map(|code| code.trim().to_owned()).collect());
    let mut facts = Facts::new();
    commands(&Arguments::command(), "", &mut facts);
    is_additive("commands", &facts);
}

/// Commands, their options and the variables that stand for options.
fn commands(command: &clap::Command, path: &str, facts: &mut Facts) {
    for option in command.get_arguments().filter(|option| !option.is_hide_set()) {
        facts.extend(option.get_long().map(|long| format!("{path} --{long}").trim().to_owned()));
        facts.extend(option.get_short().map(|short| format!("{path} -{short}").trim().to_owned()));
        facts.extend(option.get_env().map(|name| format!("{path} ${}", name.to_string_lossy()).trim().to_owned()));
    }
    for below in command.get_subcommands() {
        for name in std::iter::once(below.get_name()).chain(below.get_all_aliases()) {
            facts.insert(format!("{path} {name}").trim().to_owned());
        }
        commands(below, format!("{path} {}", below.get_name()).trim(), facts);
    }
}

#[test]
fn a_configuration_of_the_last_release_has_no_key_that_is_unknown() {
    is_additive("configuration", &interlingua::config::schema::keys().into_iter().collect());
}

#[test]
fn what_is_gone_changed_or_newly_required_is_found() {
    let of = |text: &str| -> Value { serde_json::from_str(text).expect("JSON") };
    let old = of(r##"{"paths": {"/api/x": {"post": {"parameters": [{"in": "query", "name": "limit"}],
        "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Body"}}}},
        "responses": {"200": {"content": {"application/json": {"schema": {"type": "string"}}}}}}}},
        "components": {"schemas": {"Body": {"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a"]},
        "State": {"enum": ["on", "off"]}}}}"##);
    let facts = api(&old);
    for fact in
        ["POST /api/x", "POST /api/x: query limit", "POST /api/x: takes Body", "POST /api/x: answers 200 string"]
    {
        assert!(facts.contains(fact), "{fact}: {facts:?}");
    }
    assert!(facts.contains("Body.b: integer") && facts.contains("State may be \"off\""), "{facts:?}");
    let mut new = old.clone();
    new["components"]["schemas"]["Body"]["properties"]["b"]["type"] = "string".into();
    new["components"]["schemas"]["Body"]["required"] = of(r#"["a", "b"]"#);
    new["components"]["schemas"]["State"]["enum"] = of(r#"["on"]"#);
    let now = api(&new);
    let gone: Vec<&String> = facts.difference(&now).collect();
    assert_eq!(gone, ["Body.b: integer", "State may be \"off\""]);
    assert_eq!(newly_required(&required(&new), &required(&old), &facts), ["Body.b"]);
    assert_eq!(newly_required(&required(&old), &required(&new), &facts), [""; 0], "what is optional now is no harm");
}
