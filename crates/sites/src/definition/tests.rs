mod definitions;

use serde_json::json;

use super::bind::Doing;
use super::repair::{Alike, Fingerprint, Leaf, called, choose, choose_called, choose_rows, drifted, score};
use super::*;
use interlingua_machines::words::{Clock, Match, Matcher};
use interlingua_model::fault::FaultKind;
use interlingua_model::id::PeerId;
use interlingua_model::json::Json;

const AIRLINE: &str = include_str!("../../../../fixtures/site/airline_booking.json");

fn airline() -> Site {
    read(serde_json::from_str(AIRLINE).unwrap()).unwrap()
}

fn site(actions: Tree) -> Result<Site, Vec<Problem>> {
    read(
        json!({"interface_id": "s", "name": "S", "base_url": "https://s.example/app/", "description": "d", "actions": actions}),
    )
}

fn args(tree: Tree) -> Json {
    Json::from_tree(tree)
}

fn only(problems: Result<Site, Vec<Problem>>) -> String {
    let problems = problems.unwrap_err();
    assert_eq!(problems.len(), 1, "{problems:?}");
    problems[0].to_string()
}

#[test]
fn w_03_w_05_the_example_is_read_unchanged() {
    let site = airline();
    assert_eq!((&*site.id, &*site.version), ("airline_booking", "1.0.0"));
    let action = &site.actions["search_flights"];
    let kinds: Vec<&str> = action.steps.iter().map(|step| step.does.as_str()).collect();
    assert_eq!(kinds, ["navigate", "type", "type", "type", "click", "wait", "extract"]);
    let Does::Extract(Extract { fields, .. }) = &action.steps[6].does else { panic!("an extract") };
    let names: Vec<&str> = fields.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["airline", "price", "time"]);
    assert_eq!((action.steps[5].limit.as_secs(), action.steps[4].limit.as_secs()), (10, 30));
}

#[test]
fn w_05_unknown_keys_are_kept() {
    let step = json!({"action_type": "navigate", "value": "/x", "later": 1, "metadata": {"note": "n"}});
    let site = site(json!({"go": [step.clone()]})).unwrap();
    assert_eq!(site.source["actions"]["go"][0], step);
}

#[test]
fn w_01_w_65_an_unknown_kind_of_step_names_action_and_step() {
    let problem = only(site(
        json!({"go": [{"action_type": "navigate", "value": "/"}, {"action_type": "evaluate", "value": "1"}]}),
    ));
    assert!(problem.starts_with("actions.go[2].action_type: `evaluate` is none of"), "{problem}");
}

#[test]
fn w_02_w_06_each_kind_of_step_says_what_it_lacks() {
    for (step, lacks) in [
        (json!({"action_type": "navigate"}), "value"),
        (json!({"action_type": "click"}), "selector"),
        (json!({"action_type": "type", "selector": "#a"}), "value"),
        (json!({"action_type": "type", "value": "a"}), "selector"),
        (json!({"action_type": "select", "selector": "#a"}), "value"),
        (json!({"action_type": "wait"}), "wait_condition"),
        (json!({"action_type": "extract", "selector": ".a"}), "extract_schema"),
        (json!({"action_type": "extract", "selector": ".a", "extract_schema": null}), "extract_schema"),
    ] {
        let problem = only(site(json!({"go": [step]})));
        assert_eq!(problem, format!("actions.go[1].{lacks}: is missing"));
    }
    assert!(only(site(json!({"go": []}))).contains("from 1 to"));
}

#[test]
fn w_04_aliases_are_resolved_when_the_definition_is_read() {
    let with = |selector: &str| {
        read(json!({"interface_id": "s", "name": "S", "base_url": "https://s.example", "description": "d",
            "selectors": {"box": ["#box", "label=Box"]},
            "actions": {"go": [{"action_type": "click", "selector": selector}]}}))
    };
    for written in ["@box", "${selectors.box}"] {
        let site = with(written).unwrap();
        let locator = site.actions["go"].steps[0].does.locator().unwrap();
        assert_eq!(locator.tries, ["#box".into(), "label=Box".into()] as [Text; 2]);
        assert_eq!(locator.alias.as_deref(), Some("box"));
    }
    assert!(only(with("@gone")).contains("there is no `gone`"));
}

#[test]
fn w_10_w_12_values_are_put_in_once_and_never_looked_at_again() {
    let site = airline();
    let plan = site
        .bind(
            "search_flights",
            Some(&args(json!({"origin": "{destination}", "destination": "Paris", "date": "{{x}}"}))),
        )
        .unwrap();
    let typed: Vec<&str> = plan
        .steps
        .iter()
        .filter_map(|step| match &step.does {
            Doing::Type { text, .. } => Some(text.value.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(typed, ["{destination}", "Paris", "{{x}}"]);
}

#[test]
fn w_11_binding_leaves_the_definition_alone() {
    let site = airline();
    let before = site.clone();
    site.bind("search_flights", Some(&args(json!({"origin": "a", "destination": "b", "date": "c"})))).unwrap();
    assert_eq!(site, before);
}

#[test]
fn w_13_what_is_missing_is_told_at_once() {
    let trouble = airline().bind("search_flights", Some(&args(json!({"origin": "NYC"})))).unwrap_err();
    assert_eq!(trouble, Trouble::MissingParameters(vec!["destination".into(), "date".into()]));
    let fault = trouble.fault(&PeerId::from("air"), false);
    assert_eq!((fault.kind, fault.fields.len()), (FaultKind::InvalidInput, 2));
}

#[test]
fn w_14_parameters_nobody_uses_are_named_or_refused() {
    let given = args(json!({"origin": "a", "destination": "b", "date": "c", "seat": "12A"}));
    let mut site = airline();
    assert_eq!(site.bind("search_flights", Some(&given)).unwrap().ignored, ["seat".into()] as [Text; 1]);
    site.strict = true;
    assert!(matches!(site.bind("search_flights", Some(&given)), Err(Trouble::InvalidParameter { .. })));
}

#[test]
fn w_15_braces_defaults_and_a_block_of_parameters() {
    let template = Template::parse("a{{b}} {n=1} {m}").unwrap();
    assert_eq!(template.fill(&[("m".into(), "x".into())].into(), str::to_owned), "a{b} 1 x");
    assert!(Template::parse("{a b}").is_err() && Template::parse("{a").is_err() && Template::parse("a}").is_err());
    let site = site(json!({"go": {
        "parameters": {"n": {"type": "integer", "default": 1, "description": "How many"}, "cabin": {"enum": ["economy", "business"]}},
        "steps": [{"action_type": "type", "selector": "#n", "value": "{n}"}, {"action_type": "select", "selector": "#c", "value": "{cabin}"}]}}))
    .unwrap();
    let skill = &skills(&site, &PeerId::from("s"))[0];
    assert_eq!(
        skill.input.0.tree()["properties"]["n"],
        json!({"type": "integer", "default": 1, "description": "How many"})
    );
    assert_eq!(skill.input.0.tree()["required"], json!(["cabin"]));
}

#[test]
fn w_16_w_23_values_in_addresses_are_components_and_relative_ones_start_at_the_base() {
    let site = site(json!({
        "find": [{"action_type": "navigate", "value": "find?q={q}&next=1"}],
        "open": [{"action_type": "navigate", "value": "{url}"}]}))
    .unwrap();
    let open = |action: &str, given: Tree| match site.bind(action, Some(&args(given)))?.steps.remove(0).does {
        Doing::Navigate(address) => Ok(address.to_string()),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        open("find", json!({"q": "a&b=c/../é"})).unwrap(),
        "https://s.example/app/find?q=a%26b%3Dc%2F..%2F%C3%A9&next=1"
    );
    assert_eq!(open("open", json!({"url": "/x"})).unwrap(), "https://s.example/x");
    for elsewhere in [
        "https://evil.example/",
        "//evil.example/",
        "http://s.example/",
        "https://s.example:8443/",
        "https://s.example@evil.example/",
    ] {
        assert!(
            matches!(open("open", json!({"url": elsewhere})), Err(Trouble::NavigationBlocked { step: 1, .. })),
            "{elsewhere}"
        );
    }
}

#[test]
fn w_61_only_web_addresses_can_be_written() {
    for written in [
        "file:///etc/passwd",
        "chrome://version",
        "data:text/html,x",
        "view-source:https://s.example/",
        "javascript:alert(1)",
        "FILE:/etc/passwd",
        "blob:https://s.example/1",
    ] {
        let site = site(json!({"open": [{"action_type": "navigate", "value": "{url}"}]})).unwrap();
        let bound = site.bind("open", Some(&args(json!({"url": written}))));
        assert!(matches!(bound, Err(Trouble::NavigationBlocked { .. })), "{written}");
    }
}

#[test]
fn w_62_hosts_in_disguise_are_no_hosts() {
    for host in
        ["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "１２７.0.0.1", "%31%32%37.0.0.1", "[::1", "a..b", "a_b\\c"]
    {
        assert!(Address::parse(&format!("http://{host}/")).is_err(), "{host}");
    }
    for odd in ["http://s.example..", "http://s.example..:80/", "http://s.example:+80/"] {
        assert!(Address::parse(odd).is_err(), "{odd}");
    }
    // What a browser, and the library that reads as one, would repair into another host.
    for repaired in [
        "http:/s.example/",
        "http:s.example",
        "http:///s.example/",
        "http:\\\\s.example/",
        "http://s.example\\@evil.example/",
        "http://@s.example/",
        "http://:@s.example/",
        "http://s.example%2e/",
        "http://s.ex\u{ad}ample/",
        "http://b\u{fc}cher.example/",
        "http://B\u{fc}cher.example/",
        "http://a.examAAA\u{17e}AAAple/?y",
        "http://%C3%BCBER.example/",
        "http://s.example:\u{ff18}0/",
        "http://s\u{3002}example/",
        "http://s.ex\tample/",
        " http://s.example/",
        "http://127.0.0.1../",
        "http://127.0.0.01/",
        "http://127.0.0x1/",
        "http://1.2.3/",
        "http://0/",
        "http://[::1%25eth0]/",
        "http://[127.0.0.1]/",
        "http://[s.example]/",
        "http://s.example:0/",
        "http://s.example:65536/",
        "http://s.example:80:80/",
        "http://s~x.example/",
        "http://s!x.example/",
        "http://./",
    ] {
        assert!(Address::parse(repaired).is_err(), "{repaired:?}");
    }
    assert_eq!(Address::parse("HTTP://LocalHost.:80/a").unwrap().to_string(), "http://localhost/a");
    assert_eq!(Address::parse("http://[::1]:81").unwrap().to_string(), "http://[::1]:81/");
    assert_eq!(Address::parse("http://127.0.0.1./").unwrap().to_string(), "http://127.0.0.1/");
    assert_eq!(Address::parse("http://[0:0::FFFF:7f00:1]/").unwrap().to_string(), "http://[::ffff:127.0.0.1]/");
}

/// Only the host is brought into one spelling; whoever is spoken to gets the rest as it was written.
#[test]
fn what_stands_behind_the_host_is_left_as_it_is() {
    for text in
        ["http://s.example/a/../b", "http://s.example/%7e?x=\u{e9}&y=%zz#'{}|", "https://s.example:8443/a//b/./"]
    {
        assert_eq!(Address::parse(text).unwrap().to_string(), text);
    }
    let base = Address::parse("https://s.example/a/b?c").unwrap();
    for (value, expected) in [
        ("../x", "https://s.example/a/../x"),
        ("?d", "https://s.example/a/b?d"),
        ("/x?y", "https://s.example/x?y"),
        ("//t.example/x", "https://t.example/x"),
        ("http://T.example.:80", "http://t.example/"),
        ("", "https://s.example/a/b?c"),
    ] {
        assert_eq!(base.join(value).unwrap().to_string(), expected, "{value}");
    }
    for value in ["///t.example/", "https:t.example", "https:/x", "/\\t.example", "javascript:1", "//u@t.example/"] {
        assert!(base.join(value).is_err(), "{value}");
    }
}

#[test]
fn w_18_values_are_bounded_and_have_no_control_characters() {
    for bad in [json!("a\nb"), json!("\u{0}"), json!("x".repeat(9_000)), json!(["a"]), json!({})] {
        let bound =
            airline().bind("search_flights", Some(&args(json!({"origin": bad, "destination": "b", "date": "c"}))));
        assert!(matches!(bound, Err(Trouble::InvalidParameter { .. })));
    }
}

#[test]
fn w_20_an_unknown_action_is_said_in_the_known_words() {
    let trouble = airline().bind("fly", None).unwrap_err();
    assert_eq!(trouble.to_string(), "Action 'fly' not found in interface");
    assert_eq!(trouble.code(), "unknown_action");
}

#[test]
fn w_31_fields_say_attributes_lists_and_types() {
    let field = |text: &str| {
        let f = extract::Field::parse(text);
        (f.selector.to_string(), f.attribute.map(|a| a.to_string()))
    };
    assert_eq!(field("a.x@href"), ("a.x".into(), Some("href".into())));
    assert_eq!(field("."), (".".into(), None));
    assert_eq!(field("@data-id"), (".".into(), Some("data-id".into())));
    assert_eq!(field("//a/@href"), ("//a".into(), Some("href".into())));
    assert_eq!(field("a[href*='@']"), ("a[href*='@']".into(), None));
    for (text, value) in [
        ("$1,299.50", 1299.5),
        ("1.299,50 €", 1299.5),
        ("EUR 1.299", 1299.0),
        ("12", 12.0),
        ("-3,5", -3.5),
        ("1 234 567", 1_234_567.0),
    ] {
        assert_eq!(extract::number(text), Some(value), "{text}");
    }
    let price = extract::Field { kind: extract::Kind::Price, ..extract::Field::parse("x") };
    let read = price.value(1, &"p".into(), Some(&json!("€650"))).unwrap().unwrap();
    assert_eq!(read, json!({"amount": 650.0, "currency": "EUR", "text": "€650"}));
    let date = extract::Field { kind: extract::Kind::Date, required: true, ..extract::Field::parse("x") };
    assert_eq!(date.value(1, &"d".into(), Some(&json!("May 1, 2027"))).unwrap(), Some(json!("2027-05-01")));
    assert!(matches!(
        date.value(7, &"d".into(), Some(&json!("May 1"))),
        Err(Trouble::ExtractionInvalid { step: 7, .. })
    ));
    assert!(date.value(1, &"d".into(), None).is_err());
}

#[test]
fn w_66_page_text_is_cleaned_and_bounded() {
    assert_eq!(extract::clean(" a\u{200b}b\u{202e}c\u{7}\t d\u{e0041} \n"), "abc d");
    assert!(extract::clean(&"x".repeat(100_000)).len() <= extract::MAX_TEXT);
    assert!(extract::is_cut(&"x".repeat(extract::MAX_TEXT + 1)) && !extract::is_cut(&"x".repeat(extract::MAX_TEXT)));
    assert!(!extract::is_cut(&" ".repeat(100_000)), "what is not kept anyhow is no loss");
}

#[test]
fn w_67_a_secret_in_an_address_that_is_refused_is_not_told_with_it() {
    let secret = json!({"key": {"secret": true}});
    for (to, given) in [
        ("{key}", "https://evil.example/?k=s3cret"),
        ("{key}", "s3cret://x"),
        ("https://evil.example/{key}", "a/s3cret é"),
        ("https://evil.example/?k={key}&x=1", "s3cret"),
    ] {
        let steps = json!([{"action_type": "navigate", "value": to}]);
        let site = site(json!({"go": {"parameters": secret, "steps": steps}})).unwrap();
        let trouble = site.bind("go", Some(&args(json!({"key": given})))).unwrap_err();
        let Trouble::NavigationBlocked { address, .. } = &trouble else { panic!("{trouble:?}") };
        assert!(address.contains("(secret)"), "{to}: {address}");
        let told = format!("{trouble} {trouble:?}");
        assert!(!told.contains("s3cret"), "{to}: {told}");
    }
}

#[test]
fn w_67_a_secret_is_not_shown() {
    let site = site(json!({"go": {"parameters": {"pw": {"secret": true}}, "steps": [{"action_type": "type", "selector": "#p", "value": "{pw}"}]}})).unwrap();
    let plan = site.bind("go", Some(&args(json!({"pw": "hunter2"})))).unwrap();
    assert!(!format!("{plan:?}").contains("hunter2"));
}

#[test]
fn w_40_w_42_plain_words_find_the_action_with_its_date() {
    let skills = skills(&airline(), &PeerId::from("airline"));
    let (matcher, problems) = Matcher::compile(&skills);
    assert!(problems.is_empty(), "{problems:?}");
    let now = "2025-01-02T00:00:00Z".parse::<jiff::Timestamp>().unwrap();
    let now = interlingua_model::id::Time(u64::try_from(now.as_millisecond()).unwrap());
    let found = matcher.match_words("Search flights from NYC to Paris on May 1", Clock::from(now), None, |_| true);
    let Match::One(found) = found else { panic!("{found:?}") };
    assert_eq!(found.args, args(json!({"origin": "NYC", "destination": "Paris", "date": "2025-05-01"})));
    let Match::One(found) = matcher.match_words("search flights from NYC to Paris", Clock::from(now), None, |_| true)
    else {
        panic!()
    };
    assert_eq!(found.missing, ["date".into()] as [Text; 1]);
}

#[test]
fn w_43_what_a_sequence_may_change_is_told_from_what_it_is() {
    let effects = |name: &str, steps: Tree| site(json!({name: steps})).unwrap().actions[name].effects;
    let click = json!({"action_type": "click", "selector": "#a"});
    let extract = json!({"action_type": "extract", "selector": ".a", "extract_schema": {"a": "."}});
    assert!(!effects("search_x", json!([click, extract])).change());
    assert!(effects("send_x", json!([click, extract])).writes);
    assert!(effects("search_x", json!([{"action_type": "click", "selector": "#a", "commits": true}, extract])).writes);
    assert!(effects("book_flight", json!([click])).spends && effects("delete_account", json!([click])).destroys);
    assert!(!effects("open", json!([{"action_type": "navigate", "value": "/"}, extract])).change());
    assert!(!airline().actions["search_flights"].effects.change());
}

fn seen(id: &str, label: &str, name: &str) -> Fingerprint {
    Fingerprint {
        tag: "input".into(),
        input: "text".into(),
        role: "textbox".into(),
        name: label.into(),
        label: label.into(),
        field: name.into(),
        id: id.into(),
        ..Fingerprint::default()
    }
}

#[test]
fn w_46_a_renamed_control_is_found_by_what_it_looks_like() {
    let known = seen("from", "From", "from");
    let page = [seen("x-to", "To", "to"), seen("x-from", "From", "from"), seen("x-date", "Date", "date")];
    let chosen = choose(&known, &page).unwrap();
    assert_eq!(chosen.index, 1);
    assert!(chosen.ahead > repair::MARGIN);
    // Two that are equally good: nobody guesses.
    assert_eq!(choose(&known, &[page[1].clone(), page[1].clone()]), None);
    // A button is no box for text.
    let button = Fingerprint { tag: "button".into(), ..seen("from", "From", "from") };
    assert_eq!(choose(&known, &[button]), None);
    assert!(score(&known, &seen("newsletter", "Your e-mail", "mail")) < repair::SAME);
}

#[test]
fn w_46_another_element_under_the_same_id_is_noticed() {
    let button = |id: &str, text: &str| Fingerprint {
        tag: "button".into(),
        role: "button".into(),
        id: id.into(),
        name: text.into(),
        text: text.into(),
        path: "form>button".into(),
        ..Fingerprint::default()
    };
    let known = button("send", "Send order");
    assert_eq!(drifted(&known, &button("send", "Send order now")), None);
    assert_eq!(drifted(&known, &button("other", "Send order")), None, "a new id is not a new element");
    assert!(drifted(&known, &button("send", "Delete my account")).is_some());
    let blank = button("send", "");
    assert_eq!(drifted(&blank, &blank), None);
    assert!(drifted(&blank, &Fingerprint { tag: "input".into(), role: "textbox".into(), ..blank.clone() }).is_some());
}

#[test]
fn w_46_a_control_never_seen_is_found_by_what_its_selector_calls_it() {
    let page = [
        seen("flight-origin-box", "Leaving from", "origin"),
        seen("dest", "Going to", "destination"),
        seen("d", "When", "date"),
    ];
    let find = |selector: &str, tag: &str, also: &[&str]| {
        choose_called(&called(selector, tag, also), &page).map(|chosen| chosen.index)
    };
    assert_eq!(find("#from", "input", &["origin"]), Some(0));
    assert_eq!(find("#to", "input", &["destination"]), Some(1));
    assert_eq!(find("#unheard-of", "input", &[]), None);
    let button = |text: &str, input: &str| Fingerprint {
        tag: "button".into(),
        input: input.into(),
        text: text.into(),
        ..Fingerprint::default()
    };
    let submit = called("form button[type='submit']", "button", &["search_flights"]);
    let buttons = [button("Sign in", "submit"), button("Search flights", "button")];
    assert_eq!(choose_called(&submit, &buttons).map(|chosen| chosen.index), Some(1));
}

#[test]
fn w_46_rows_are_found_again_by_shape_and_names() {
    let fields: Vec<(Text, extract::Field)> =
        [("airline", ".airline-name"), ("price", ".price"), ("time", ".departure-time")]
            .map(|(name, sel)| (name.into(), extract::Field::parse(sel)))
            .into();
    let leaf = |selector: &str, class: &str, text: &str| Leaf {
        selector: selector.into(),
        class: class.into(),
        text: text.into(),
    };
    let cards = Alike {
        selector: "li.r-flight".into(),
        class: "r-flight".into(),
        count: 10,
        leaves: vec![
            leaf("h3", "r-airline", "Air France"),
            leaf("b", "r-cost", "$650"),
            leaf("time", "r-when", "10:00"),
        ],
    };
    let menu =
        Alike { selector: "nav a".into(), class: "menu".into(), count: 5, leaves: vec![leaf("span", "item", "Home")] };
    let rows = choose_rows(".flight-card", &fields, &[menu.clone(), cards]).unwrap();
    assert_eq!((rows.selector.as_str(), rows.fields), ("li.r-flight", vec!["h3".into(), "b".into(), "time".into()]));
    assert_eq!(choose_rows(".flight-card", &fields, &[menu]), None);
}

fn with_sessions(session: Tree, actions: Tree) -> Result<Site, Vec<Problem>> {
    read(json!({"interface_id": "s", "name": "S", "base_url": "https://s.example/", "description": "d",
        "session": session, "actions": actions}))
}

#[test]
fn w_51_sessions_are_opted_in_to_and_named_by_a_call() {
    let go = json!({"go": [{"action_type": "navigate", "value": "/{page}"}]});
    let plain = site(go.clone()).unwrap();
    assert_eq!(plain.sessions, None);
    let named = args(json!({"page": "x", "session": "mine"}));
    let plan = plain.bind("go", Some(&named)).unwrap();
    assert_eq!(
        (plan.session, plan.ignored),
        (None, vec!["session".into()]),
        "a site without sessions knows no such word"
    );

    let site = with_sessions(json!({"keep": "30m"}), go.clone()).unwrap();
    assert_eq!(
        site.sessions.as_ref().map(|sessions| (sessions.keep.as_secs(), sessions.persist)),
        Some((1_800, false))
    );
    let plan = site.bind("go", Some(&named)).unwrap();
    assert_eq!((plan.session.as_deref(), plan.ignored.len()), (Some("mine"), 0));
    assert_eq!(site.bind("go", Some(&args(json!({"page": "x"})))).unwrap().session, None);
    let skill = &skills(&site, &PeerId::from("s"))[0];
    assert_eq!(skill.input.0.tree()["properties"]["session"]["type"], "string");
    assert_eq!(skill.input.0.tree()["required"], json!(["page"]));

    let site = with_sessions(json!({"keep": 60_000, "default": "main", "persist": true}), go).unwrap();
    let plan = site.bind("go", Some(&args(json!({"page": "x"})))).unwrap();
    assert_eq!(plan.session.as_deref(), Some("main"));
    for wrong in [json!(""), json!("../x"), json!("a b"), json!(7), json!("x".repeat(65))] {
        let refused = site.bind("go", Some(&args(json!({"page": "x", "session": wrong})))).unwrap_err();
        assert_eq!(refused.code(), "invalid_parameter", "{wrong}");
    }
}

#[test]
fn w_51_what_is_wrong_with_sessions_is_said_when_the_definition_is_read() {
    let go = json!({"go": [{"action_type": "navigate", "value": "/"}]});
    for (session, at) in [
        (json!("yes"), "session: "),
        (json!({}), "session.keep: "),
        (json!({"keep": "0s"}), "session.keep: "),
        (json!({"keep": "25h"}), "session.keep: "),
        (json!({"keep": "1m", "default": "a/b"}), "session.default: "),
        (json!({"keep": "1m", "persist": "yes"}), "session.persist: "),
    ] {
        let problem = only(with_sessions(session, go.clone()));
        assert!(problem.starts_with(at), "{problem}");
    }
    let taken = json!({"go": [{"action_type": "navigate", "value": "/{session}"}]});
    assert!(only(with_sessions(json!({"keep": "1m"}), taken)).starts_with("actions.go.parameters.session: "));
}
