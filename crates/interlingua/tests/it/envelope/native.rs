//! Tool calls as the APIs of models write them, and results in the same form (O-30 to O-35).

use interlingua_testkit::provider::{Provider, Reply, Spelling, Turn};
use serde_json::{Value, json};

use super::kit::{Route, call, message, one, refused};
use crate::support;

const NAME: &str = "mcp__bench__say";

/// A request with these calls, as they are written.
fn native(id: &str, calls: Value) -> Value {
    let mut asked = message("request", id);
    asked["tool_calls"] = calls;
    asked
}

/// A call as each API writes it, with this id and arguments as object or text.
fn forms(name: &str, id: &str, arguments: &Value) -> Vec<(&'static str, Value)> {
    let text = arguments.to_string();
    vec![
        ("openai", json!({"id": id, "type": "function", "function": {"name": name, "arguments": text}})),
        (
            "openai_responses",
            json!({"type": "function_call", "id": "fc_1", "call_id": id, "name": name, "arguments": text, "status": "completed"}),
        ),
        ("anthropic", json!({"type": "tool_use", "id": id, "name": name, "input": arguments})),
        ("gemini", json!({"functionCall": {"id": id, "name": name, "args": arguments}})),
    ]
}

/// A result as each API takes it: in words, except for Gemini.
fn result(form: &str, id: &str, name: &str, words: &str, output: &Value, is_error: bool) -> Value {
    match form {
        "openai" => json!({"role": "tool", "tool_call_id": id, "content": words}),
        "openai_responses" => json!({"type": "function_call_output", "call_id": id, "output": words}),
        "anthropic" => json!({"type": "tool_result", "tool_use_id": id, "content": words, "is_error": is_error}),
        "gemini" if is_error => json!({"functionResponse": {"id": id, "name": name, "response": {"error": words}}}),
        "gemini" => json!({"functionResponse": {"id": id, "name": name, "response": {"output": output}}}),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn o_30_a_function_call_of_openai_is_a_call_however_its_arguments_are_written() {
    let route = Route::start("").await;
    let arguments = json!({"n": {"city": "Zürich"}});
    let text = arguments.to_string();
    let twice = Value::from(text.clone()).to_string();
    for (at, written) in [arguments.clone(), text.into(), twice.into()].into_iter().enumerate() {
        let form = json!({"id": "call_9", "type": "function", "function": {"name": NAME, "arguments": written}});
        let response = one(&route.send(&native(&format!("m{at}"), json!([form]))).await);
        let result = &response["tool_results"][0];
        assert_eq!((&result["tool_id"], &result["tool_name"]), (&json!("call_9"), &json!(NAME)), "{response}");
        assert_eq!((&result["status"], &result["result"]), (&json!("success"), &arguments), "{response}");
        assert_eq!(response["metadata"]["losses"], Value::Null, "{response}");
    }
    let nameless = json!({"type": "function", "function": {"name": NAME, "arguments": "{}"}});
    let asked = native("m9", json!([nameless, nameless]));
    let responses = super::kit::list(&route.send(&asked).await);
    let ids: Vec<&Value> = responses.iter().map(|response| &response["tool_results"][0]["tool_id"]).collect();
    assert_eq!(ids, [&json!("call_0"), &json!("call_1")], "an id is made for each, and returned");
    assert_eq!(responses[1]["metadata"]["native_result"]["tool_call_id"], "call_1");
}

#[tokio::test]
async fn o_31_calls_of_the_other_apis_are_the_same_call() {
    let route = Route::start("").await;
    let arguments = json!({"n": 5});
    let mut all = forms(NAME, "c1", &arguments);
    // As Google's library for Python dumps it.
    all.push(("gemini", json!({"function_call": {"id": "c1", "name": NAME, "args": arguments}})));
    for (at, (form, written)) in all.iter().enumerate() {
        let mut asked = native(&format!("m{at}"), json!([written]));
        let response = one(&route.send(&asked).await);
        let result = &response["tool_results"][0];
        assert_eq!((&result["tool_id"], &result["tool_name"]), (&json!("c1"), &json!(NAME)), "{form}: {response}");
        assert_eq!((&result["status"], &result["result"]), (&json!("success"), &arguments), "{form}: {response}");
        asked["tool_calls"][0]["require_confirmation"] = json!(true);
        asked["control"]["message_id"] = format!("c{at}").into();
        let pending = one(&route.send(&asked).await);
        assert_eq!(pending["tool_results"][0]["status"], "pending", "{form}: {pending}");
    }
    assert_eq!(route.bench.count("say"), all.len());
    let mut signed = forms(NAME, "c1", &arguments).remove(3).1;
    signed["thoughtSignature"] = "abc".into();
    let response = one(&route.send(&native("m9", json!([signed]))).await);
    assert!(response["metadata"]["losses"].to_string().contains("tool_calls.thoughtSignature"), "{response}");
}

#[tokio::test]
async fn o_32_our_own_members_win_and_two_forms_that_disagree_are_refused() {
    let route = Route::start("").await;
    let other = "mcp__bench__write";
    // What is given twice and equal is one call; of two ids the envelope's own counts.
    for (at, (id, form)) in [
        (
            "mine",
            json!({"tool_id": "mine", "tool_name": NAME, "parameters": {"n": 1}, "type": "tool_use", "id": "theirs"}),
        ),
        ("mine", json!({"tool_id": "mine", "functionCall": {"id": "theirs", "name": NAME, "args": {"n": 1}}})),
        ("c", json!({"type": "tool_use", "id": "c", "name": NAME, "input": {"n": 1}, "parameters": {"n": 1}})),
        (
            "c",
            json!({"id": "c", "name": NAME, "input": {"n": 1}, "function": {"name": NAME, "arguments": "{\"n\": 1}"}}),
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let response = one(&route.send(&native(&format!("m{at}"), json!([form]))).await);
        let result = &response["tool_results"][0];
        assert_eq!((&result["tool_id"], &result["result"]), (&json!(id), &json!({"n": 1})), "{form}: {response}");
        // A call with members of the envelope is the envelope's: its result has no other form.
        assert_eq!(response["metadata"]["native_result"].is_null(), id == "mine", "{form}: {response}");
    }
    let ran = route.bench.count("say");
    for form in [
        json!({"tool_id": "c", "tool_name": NAME, "name": other}),
        json!({"tool_id": "c", "tool_name": NAME, "functionCall": {"name": other}}),
        json!({"id": "c", "name": NAME, "function": {"name": other}}),
        json!({"id": "c", "function": {"name": NAME}, "functionCall": {"name": other}}),
        json!({"id": "c", "functionCall": {"id": "d", "name": NAME}}),
        json!({"id": "c", "name": NAME, "input": {"n": 1}, "parameters": {"n": 2}}),
        json!({"functionCall": {"name": NAME, "args": {"n": 1}}, "arguments": "{\"n\": 2}"}),
        json!({"functionCall": {"name": NAME, "args": [1]}}),
        json!({"functionCall": "say"}),
        json!({"functionCall": {"args": {}}}),
        json!({"id": "c", "type": "web_search_call", "name": NAME}),
    ] {
        assert_eq!(refused(&route.send(&native("m1", json!([form]))).await), (400, "malformed".into()), "{form}");
    }
    assert_eq!((route.bench.count("say"), route.bench.count("write")), (ran, 0), "none of these ran");
}

/// A chat whose last message asks something, after a call and its result in this form.
fn after_a_call(form: &str, call: &Value) -> Value {
    let sum = result(form, "c7", "add", "four", &json!("four"), false);
    let told = match form {
        "openai" => vec![json!({"role": "assistant", "content": null, "tool_calls": [call]}), sum],
        "openai_responses" => vec![call.clone(), sum],
        "anthropic" => {
            vec![json!({"role": "assistant", "content": [call]}), json!({"role": "user", "content": [sum]})]
        }
        "gemini" => vec![json!({"role": "model", "parts": [call]}), json!({"role": "user", "parts": [sum]})],
        other => panic!("{other}"),
    };
    let mut messages = vec![json!({"role": "user", "content": "What is two and two?"})];
    messages.extend(told);
    messages.push(json!({"role": "user", "content": "Thank you. Why?"}));
    messages.into()
}

#[tokio::test]
async fn o_33_calls_and_results_of_every_form_are_turns_that_the_agent_is_shown() {
    let turns = (0..4).map(|_| Turn::Says(Reply::text("Because."), 4)).collect();
    let provider = Provider::start(Spelling::Openai, turns).await;
    let config = format!(
        "models: {{ m: {{ provider: openai, model: m, base_url: \"{}\" }} }}\nagents: {{ ann: {{ model: m }} }}\nfront_door: ann\n",
        provider.base_url()
    );
    let hub = support::builder().config(&config).start().await;
    let mut shown = Vec::new();
    for (form, call) in forms("add", "c7", &json!({"a": 2, "b": 2})) {
        let mut asked = message("request", &format!("m-{form}"));
        asked["content"] = json!({"messages": after_a_call(form, &call)});
        let response = hub.post_json("/nlip/route", &asked).await.json()[0].clone();
        assert_eq!(response["content"]["content"], "Because.", "{form}: {response}");
        assert_eq!(response["metadata"]["losses"], Value::Null, "{form}: {response}");
        let body = provider.asked().last().expect("the model was asked").body["messages"].clone();
        let said: Vec<String> = body.as_array().expect("messages").iter().map(|it| it["content"].to_string()).collect();
        let place = |words: &str| said.iter().position(|message| message.contains(words));
        let places = ["two and two", "tool_name", "four", "Why?"].map(place);
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{form}: {said:?}");
        shown.push(said[place("tool_name").expect("the call")].clone());
    }
    assert!(shown.iter().all(|call| *call == shown[0]), "the same call, whatever its form: {shown:?}");
    assert!(shown[0].contains("c7") && shown[0].contains("add") && shown[0].contains("parameters"), "{}", shown[0]);
}

#[tokio::test]
async fn o_34_results_come_back_in_the_form_of_the_call_or_in_the_one_that_is_wanted() {
    let route = Route::start("").await;
    let said = json!({"n": 5});
    let arrived = |response: &Value| response["metadata"]["native_result"].clone();
    for (form, written) in forms(NAME, "c1", &said) {
        let response = one(&route.send(&native(&format!("s-{form}"), json!([written]))).await);
        assert_eq!(arrived(&response), result(form, "c1", NAME, &said.to_string(), &said, false), "{form}");
        assert_eq!(response["tool_results"][0]["result"], said, "beside the envelope's own");
    }
    // Text is text, not JSON of it.
    for (form, written) in forms("mcp__bench__stream", "c1", &json!({})) {
        let response = one(&route.send(&native(&format!("t-{form}"), json!([written]))).await);
        let expected = result(form, "c1", "mcp__bench__stream", "one\ntwo", &json!("one\ntwo"), false);
        assert_eq!(arrived(&response), expected, "{form}");
    }
    // A failure, and a tool that is not there, are errors in the form as well.
    for tool in ["mcp__bench__fail", "mcp__bench__nothing"] {
        for (form, written) in forms(tool, "c1", &json!({})) {
            let response = one(&route.send(&native(&format!("{tool}-{form}"), json!([written]))).await);
            let why = response["tool_results"][0]["error"].as_str().expect("an error").to_owned();
            assert_eq!(arrived(&response), result(form, "c1", tool, &why, &Value::Null, true), "{form}");
        }
    }
    for wanted in ["openai", "openai_responses", "anthropic", "gemini"] {
        let mut own = call(&format!("w-{wanted}"), "say", said.clone());
        own["metadata"]["tool_format"] = wanted.into();
        let expected = result(wanted, "t1", NAME, &said.to_string(), &said, false);
        assert_eq!(arrived(&one(&route.send(&own).await)), expected, "{wanted}");
        let mut other = native(&format!("o-{wanted}"), json!([forms(NAME, "t1", &said).remove(2).1]));
        other["metadata"]["tool_format"] = wanted.into();
        assert_eq!(arrived(&one(&route.send(&other).await)), expected, "it overrides the form of the call");
    }
    let plain = one(&route.send(&call("p", "say", said)).await);
    assert_eq!(arrived(&plain), Value::Null, "without a form all is as before");
    for wrong in [json!("klingon"), json!(7), json!({})] {
        let mut asked = call("x", "say", json!({}));
        asked["metadata"]["tool_format"] = wrong;
        assert_eq!(refused(&route.send(&asked).await), (400, "malformed".into()));
    }
}

#[tokio::test]
async fn o_34_a_call_that_waited_for_its_approval_is_answered_in_its_form() {
    let route = Route::start("").await;
    for (form, mut written) in forms("mcp__bench__write", "c1", &json!({})) {
        written["require_confirmation"] = json!(true);
        let pending = one(&route.send(&native(&format!("m-{form}"), json!([written]))).await);
        assert_eq!(pending["tool_results"][0]["status"], "pending", "{form}: {pending}");
        assert_eq!(pending["metadata"]["native_result"], Value::Null, "there is no result yet");
        let mut yes = message("request", &format!("y-{form}"));
        yes["metadata"]["confirmation"] = json!({"id": pending["metadata"]["confirmation"]["id"], "approve": true});
        let done = one(&route.send(&yes).await);
        let said = done["tool_results"][0]["result"].clone();
        let expected = result(form, "c1", "mcp__bench__write", &said.to_string(), &said, false);
        assert_eq!(done["metadata"]["native_result"], expected, "{form}: {done}");
    }
}

#[tokio::test]
async fn o_35_r_25_every_form_that_the_requirement_names_is_understood_and_its_result_says_where_it_came_from() {
    let route = Route::start("").await;
    let arguments = json!({"n": 1});
    for (at, (form, confirms)) in [
        (json!({"type": "tool_use", "id": "c", "name": NAME, "input": arguments, "parameters": arguments}), false),
        (json!({"id": "c", "function": {"name": NAME, "arguments": arguments}, "parameters": arguments, "options": {}}), false),
        (json!({"tool_id": "c", "tool_name": NAME, "parameters": arguments, "options": {"require_confirmation": true}}), true),
    ]
    .into_iter()
    .enumerate()
    {
        let response = one(&route.send(&native(&format!("m{at}"), json!([form]))).await);
        let result = &response["tool_results"][0];
        let status = if confirms { "pending" } else { "success" };
        assert_eq!((&result["tool_id"], &result["status"]), (&json!("c"), &json!(status)), "{form}: {response}");
        let metadata = &result["metadata"];
        assert_eq!((&metadata["protocol"], &metadata["original_format"]), (&"mcp".into(), &"mcp_tool_result".into()));
    }
}

#[tokio::test]
async fn attack_a_native_form_opens_no_way_around_limits_and_rights() {
    let yaml = "access: { tokens: [{ name: ada, token: ada-token-0123456789, skills: [bench/s*] }] }";
    let route = Route::start(yaml).await;
    let bearer = [("authorization", "Bearer ada-token-0123456789")];
    for (form, written) in forms("mcp__bench__write", "c1", &json!({})) {
        let response = one(&route.send_with(&native(&format!("r-{form}"), json!([written])), &bearer).await);
        assert_eq!(response["tool_results"][0]["metadata"]["code"], "not_found", "{form}: {response}");
    }
    assert_eq!(route.bench.count("write"), 0);
    let large = json!({"n": "x".repeat(4 * 1024 * 1024)});
    for (form, written) in forms(NAME, "c1", &large) {
        assert_eq!(refused(&route.send(&native("big", json!([written]))).await).0, 413, "{form}");
    }
    let many: Vec<Value> = (0..65).map(|_| json!({"functionCall": {"name": NAME, "args": {}}})).collect();
    assert_eq!(refused(&route.send(&native("many", json!(many))).await).0, 413);
    let long = "n".repeat(2_000);
    for (form, written) in forms(&long, "c1", &json!({})) {
        assert_eq!(refused(&route.send(&native("long", json!([written]))).await).0, 413, "{form}");
    }
    assert_eq!(route.bench.count("say"), 0, "nothing of it ran");
}
