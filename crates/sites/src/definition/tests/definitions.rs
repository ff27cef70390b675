//! Allowed and required keys of a definition, and the defaults.

use std::time::Duration;

use super::*;

fn step(step: &Tree) -> Step {
    site(json!({"go": [step]})).unwrap().actions["go"].steps[0].clone()
}

fn least() -> [Tree; 6] {
    [
        json!({"action_type": "navigate", "value": "/"}),
        json!({"action_type": "click", "selector": "#a"}),
        json!({"action_type": "type", "selector": "#a", "value": "x"}),
        json!({"action_type": "select", "selector": "#a", "value": "x"}),
        json!({"action_type": "extract", "selector": ".a", "extract_schema": {"a": "."}}),
        json!({"action_type": "wait", "wait_condition": "#a"}),
    ]
}

#[test]
fn w_01_there_are_six_kinds_of_steps_and_no_other() {
    let kinds: Vec<&str> = least().iter().map(|tree| step(tree).does.as_str()).collect();
    assert_eq!(kinds, ["navigate", "click", "type", "select", "extract", "wait"]);
    for other in ["Click", "NAVIGATE", "press", "script", ""] {
        let problem = only(site(json!({"look": [{"action_type": "navigate", "value": "/"}, {"action_type": other}]})));
        let said =
            format!("actions.look[2].action_type: `{other}` is none of navigate, click, type, select, wait, extract");
        assert_eq!(problem, said);
    }
    assert_eq!(only(site(json!({"look": [{"value": "/"}]}))), "actions.look[1].action_type: is missing");
}

#[test]
fn w_02_a_step_has_kind_selector_value_fields_condition_and_metadata() {
    let click = |selector: &str| step(&json!({"action_type": "click", "selector": selector})).does;
    for selector in ["#a > b", "//button[1]"] {
        assert_eq!(click(selector).locator().unwrap().first(), selector, "CSS or XPath, as it is written");
    }
    let Does::Select { from, option } = step(&json!({"action_type": "select", "selector": "#f", "value": "Two"})).does
    else {
        panic!("a select")
    };
    assert_eq!((from.first(), option), ("#f", Template::parse("Two").unwrap()));
    let Does::Wait { until } = step(&json!({"action_type": "wait", "wait_condition": ".results"})).does else {
        panic!("a wait")
    };
    assert_eq!(until.first(), ".results");
    let rows = json!({"action_type": "extract", "selector": ".row", "extract_schema": {"b": ".x", "a": ".y"}});
    let Does::Extract(extract) = step(&rows).does else { panic!("an extract") };
    let fields: Vec<(&str, &str)> = extract.fields.iter().map(|(name, field)| (&**name, &*field.selector)).collect();
    assert_eq!(fields, [("b", ".x"), ("a", ".y")]);
    // Metadata may be left out; what it says counts as if the step said it.
    let slow =
        json!({"action_type": "click", "selector": "#a", "metadata": {"timeout": "5s", "commits": true, "note": 1}});
    assert_eq!((step(&slow).limit, step(&slow).commits), (Duration::from_secs(5), true));
    let plain = json!({"action_type": "click", "selector": "#a", "metadata": {}});
    assert_eq!(step(&plain), step(&json!({"action_type": "click", "selector": "#a"})));
}

#[test]
fn w_03_five_members_are_required_and_two_have_defaults() {
    let whole = json!({"interface_id": "shop", "name": "Shop", "base_url": "https://s.example", "description": "d",
        "actions": {"go": [{"action_type": "navigate", "value": "/"}]}});
    let site = read(whole.clone()).unwrap();
    assert_eq!((&*site.id, &*site.name, &*site.description, &*site.version), ("shop", "Shop", "d", "1.0.0"));
    assert_eq!(site.base.to_string(), "https://s.example/");
    for missing in ["interface_id", "name", "base_url", "description", "actions"] {
        let mut without = whole.clone();
        without.as_object_mut().unwrap().remove(missing);
        assert!(only(read(without)).starts_with(&format!("{missing}: ")), "{missing}");
    }
    let mut versioned = whole;
    versioned["version"] = "2.1.0".into();
    assert_eq!(&*read(versioned).unwrap().version, "2.1.0");
}

#[test]
fn w_05_unknown_keys_anywhere_are_kept_and_do_not_fail() {
    let mut source: Tree = serde_json::from_str(AIRLINE).unwrap();
    source["later"] = json!({"a": 1});
    source["actions"]["search_flights"][0]["later"] = json!([1]);
    let read = read(source.clone()).unwrap();
    assert_eq!(read.source, source);
    assert_eq!(read.actions["search_flights"].steps, airline().actions["search_flights"].steps);
}

#[test]
fn w_06_what_any_kind_of_step_lacks_is_told() {
    let needs: [(usize, &[&str]); 6] = [
        (0, &["value"]),
        (1, &["selector"]),
        (2, &["selector", "value"]),
        (3, &["selector", "value"]),
        (4, &["selector", "extract_schema"]),
        (5, &["wait_condition"]),
    ];
    for (index, needed) in needs {
        for member in needed {
            let mut step = least()[index].clone();
            step.as_object_mut().unwrap().remove(*member);
            assert_eq!(only(site(json!({"go": [step]}))), format!("actions.go[1].{member}: is missing"));
        }
    }
    assert!(only(site(json!({"go": []}))).contains("from 1 to"));
}

#[test]
fn w_10_placeholders_stand_in_values_only_and_values_become_text() {
    let site = site(json!({"go": [
        {"action_type": "type", "selector": "#a", "value": "{n} of {all}"}, {"action_type": "select", "selector": "#b", "value": "{on}"}]}))
    .unwrap();
    let plan = site.bind("go", Some(&args(json!({"n": 3, "all": 4.5, "on": true})))).unwrap();
    let said = plan.steps.iter().map(|step| match &step.does {
        Doing::Type { text, .. } | Doing::Select { option: text, .. } => text.value.clone(),
        other => panic!("{other:?}"),
    });
    assert_eq!(said.collect::<Vec<_>>(), ["3 of 4.5", "true"]);
    let based = json!({"interface_id": "s", "name": "S", "base_url": "https://{host}/", "description": "d",
        "actions": {"go": [{"action_type": "navigate", "value": "/"}]}});
    assert!(only(read(based)).starts_with("base_url: "));
}

#[test]
fn w_15_a_block_of_parameters_gives_the_schema_of_an_action() {
    let parameters = json!({
        "n": {"type": "integer", "default": 1, "description": "How many"},
        "cabin": {"enum": ["economy", "business"]},
        "day": {"type": "string", "format": "date", "required": true},
        "note": {"type": "string", "required": false, "maxLength": 20},
    });
    let typed = |value: &str| json!({"action_type": "type", "selector": "#a", "value": value});
    let steps = json!([typed("{n}"), typed("{cabin}"), typed("{day}"), typed("{note}"), typed("{seats=2}")]);
    let site = site(json!({"go": {"parameters": parameters, "steps": steps}})).unwrap();
    let input = skills(&site, &PeerId::from("s"))[0].input.0.tree().clone();
    let properties = &input["properties"];
    assert_eq!(properties["n"], json!({"type": "integer", "default": 1, "description": "How many"}));
    assert_eq!(properties["cabin"], json!({"enum": ["economy", "business"]}));
    assert_eq!(properties["day"], json!({"type": "string", "format": "date"}));
    assert_eq!(properties["note"], json!({"type": "string", "maxLength": 20}));
    assert_eq!(
        input["required"],
        json!(["cabin", "day"]),
        "a default, or `required: false`, makes the others optional"
    );
    let plan = site.bind("go", Some(&args(json!({"cabin": "economy", "day": "2027-05-01"})))).unwrap();
    let typed: Vec<&str> = plan
        .steps
        .iter()
        .filter_map(|step| match &step.does {
            Doing::Type { text, .. } => Some(text.value.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(typed, ["1", "economy", "2027-05-01", "", "2"]);
}

#[test]
fn w_17_no_selector_of_any_kind_holds_a_placeholder() {
    for (step, at) in [
        (json!({"action_type": "click", "selector": "#{id}"}), "selector"),
        (json!({"action_type": "click", "selector": "//a[text()='{x}']"}), "selector"),
        (json!({"action_type": "wait", "wait_condition": ".{x}"}), "wait_condition"),
        (json!({"action_type": "extract", "selector": "{x}", "extract_schema": {"a": "."}}), "selector"),
        (json!({"action_type": "extract", "selector": ".a", "extract_schema": {"a": ".{x}"}}), "extract_schema.a"),
    ] {
        let problem = only(site(json!({"go": [step]})));
        assert!(problem.starts_with(&format!("actions.go[1].{at}: ")), "{problem}");
        assert!(problem.contains("cannot hold a placeholder"), "{problem}");
    }
}

#[test]
fn w_23_w_24_w_27_w_33_times_of_steps_and_sequences_where_nothing_is_said() {
    let seconds: Vec<u64> = least().iter().map(|tree| step(tree).limit.as_secs()).collect();
    assert_eq!(seconds, [30, 30, 30, 30, 30, 10], "a wait has ten seconds, all others thirty");
    assert_eq!(site(json!({"go": least()})).unwrap().actions["go"].limit, Duration::from_secs(60));
}

#[test]
fn w_23_w_61_absolute_addresses_of_declared_origins_may_be_opened() {
    let source = json!({"interface_id": "s", "name": "S", "base_url": "https://s.example/app/", "description": "d",
        "origins": ["https://cdn.example", "https://pay.example:8443"], "actions": {"open": [{"action_type": "navigate", "value": "{url}"}]}});
    let site = read(source).unwrap();
    let open = |url: &str| site.bind("open", Some(&args(json!({ "url": url })))).map(|plan| plan.steps[0].does.clone());
    for (url, address) in [
        ("x", "https://s.example/app/x"),
        ("https://s.example/y", "https://s.example/y"),
        ("https://cdn.example/z", "https://cdn.example/z"),
        ("https://pay.example:8443/", "https://pay.example:8443/"),
    ] {
        let Ok(Doing::Navigate(opened)) = open(url) else { panic!("{url}: {:?}", open(url)) };
        assert_eq!(opened.to_string(), address);
    }
    for url in ["https://pay.example/", "http://cdn.example/", "https://a.cdn.example/", "devtools://devtools/"] {
        assert!(matches!(open(url), Err(Trouble::NavigationBlocked { .. })), "{url}");
    }
}

/// The whole list, and what a program may do about each: `true` where the same call may be made again before anything that
/// cannot be taken back was begun.
#[test]
fn w_35_the_list_of_troubles_is_closed_and_says_what_may_be_repeated() {
    let (step, text) = (3, || "x".to_owned());
    let all = [
        (Trouble::UnknownAction("x".into()), "unknown_action", "not_found"),
        (Trouble::MissingParameters(vec![text()]), "missing_parameters", "invalid_input"),
        (Trouble::InvalidParameter { name: "x".into(), problem: text() }, "invalid_parameter", "invalid_input"),
        (Trouble::NavigationFailed { step, error: text() }, "navigation_failed", "unreachable"),
        (Trouble::NavigationBlocked { step, address: text() }, "navigation_blocked", "denied"),
        (Trouble::SelectorNotFound { step, selector: text(), tried: vec![] }, "selector_not_found", "peer_failed"),
        (Trouble::NotActionable { step, selector: text(), reason: text() }, "not_actionable", "peer_failed"),
        (Trouble::OptionNotFound { step, selector: text(), option: text() }, "option_not_found", "invalid_input"),
        (Trouble::Timeout { step }, "timeout", "deadline"),
        (Trouble::BrowserCrashed { step }, "browser_crashed", "unreachable"),
        (Trouble::PageTooLarge { step }, "page_too_large", "peer_failed"),
        (Trouble::PoolExhausted, "pool_exhausted", "busy"),
        (Trouble::TooManySessions(1), "too_many_sessions", "busy"),
        (Trouble::SessionEnded, "session_ended", "session_expired"),
        (Trouble::ExtractionInvalid { step, field: "x".into(), problem: text() }, "extraction_invalid", "peer_failed"),
        (Trouble::MemoryUnreadable, "memory_unreadable", "internal"),
        (Trouble::NoBrowser(text()), "no_browser", "unreachable"),
    ];
    for (trouble, code, kind) in &all {
        let fault = trouble.fault(&PeerId::from("shop"), false);
        assert_eq!((trouble.code(), fault.peer_code.as_deref(), fault.kind.as_str()), (*code, Some(*code), *kind));
        // After a step that commits, nobody can say what has happened where the page was lost, and it is not done again.
        let after = trouble.fault(&PeerId::from("shop"), true).kind;
        let lost =
            ["navigation_failed", "timeout", "browser_crashed", "page_too_large", "session_ended"].contains(code);
        assert_eq!(after, if lost { FaultKind::OutcomeUnknown } else { fault.kind }, "{code}");
    }
    for (trouble, _, _) in &all[3..10] {
        let told = trouble.to_string();
        assert!(told.contains("step 3"), "{told}");
    }
}
