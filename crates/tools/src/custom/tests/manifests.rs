//! Valid manifests, the reported problems of others, and how tools are added and removed.

use interlingua_model::{CardFrom, Effects};

use super::*;

/// As the tool definition's own example has it, unchanged.
const DEFINITION: &str = r#"{
    "name": "search_flights",
    "description": "Search for available flights between two cities",
    "parameters": [
        {"name": "origin", "type": "string", "description": "Departure city or airport code", "required": true},
        {"name": "destination", "type": "string", "description": "Arrival city or airport code", "required": true},
        {"name": "date", "type": "string", "description": "Departure date (YYYY-MM-DD)", "required": true},
        {"name": "passengers", "type": "number", "description": "Number of passengers", "required": false, "default": 1}
    ],
    "returns": {"type": "array", "description": "List of available flights"},
    "category": "travel",
    "version": "1.0.0"
}"#;

fn names(catalogue: &Catalogue) -> Vec<String> {
    catalogue.skills().map(|skill| format!("{}@{}", skill.id, skill.version)).collect()
}

fn problems(shop: &Shop) -> Vec<String> {
    shop.load().problems.iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn a_tool_definition_is_accepted_unchanged_and_paired_with_its_program() {
    let shop = Shop::new();
    shop.put("search_flights.json", DEFINITION).program("search_flights.sh", "cat");
    let tools = shop.open();
    let found = skill(&tools, "search_flights");
    assert_eq!(found.description.as_ref(), "Search for available flights between two cities");
    assert_eq!((found.category.as_deref(), &*found.version), (Some("travel"), "1.0.0"));
    let input = found.input.0.tree();
    assert_eq!(input["required"], json!(["origin", "destination", "date"]));
    assert_eq!(
        input["properties"]["passengers"],
        json!({ "type": "number", "description": "Number of passengers", "default": 1 })
    );
    assert_eq!(input["additionalProperties"], json!(false));
    assert_eq!(found.output.as_ref().unwrap().0.tree()["type"], json!("array"));
    assert_eq!(found.effects, Effects::unknown());
    let args = json!({ "origin": "NYC", "destination": "Paris", "date": "2026-05-01" });
    assert_eq!(run(&tools, "search_flights", args.clone()).await.1.output.structured.unwrap().tree(), &args);
}

#[test]
fn a_definition_as_its_own_library_dumps_it_is_accepted() {
    let shop = Shop::new();
    let dumped = json!({
        "name": "t", "description": "d", "returns": { "type": "List[str]" },
        "parameters": [{ "name": "a", "type": "string", "description": "", "required": false, "enum": null, "default": null }],
        "examples": [{ "a": "x" }], "category": "general", "version": "1.0.0", "metadata": { "effects": { "reads": true } },
    });
    shop.put("t.json", &dumped.to_string()).program("t", "cat");
    let catalogue = shop.load();
    assert_eq!(catalogue.problems, []);
    let skill = &catalogue.tools[0].skill;
    assert_eq!(skill.input.0.tree()["properties"]["a"], json!({ "type": "string", "description": "" }));
    assert_eq!(skill.output.as_ref().unwrap().0.get("type"), None);
    assert_eq!(&*skill.examples[0], r#"{"a":"x"}"#);
    assert_eq!(skill.effects, Effects::reads_only(CardFrom::Configuration));
}

#[test]
fn s_11_effects_are_what_the_manifest_declares_whatever_the_name() {
    let shop = Shop::new();
    let manifest = |effects: &str| format!("name: write_delete\ndescription: d\ncommand: 'true'\n{effects}");
    shop.put("a.yaml", &manifest("effects: { reads: true }"));
    assert!(!shop.load().tools[0].skill.effects.change());
    shop.put("a.yaml", &manifest("effects: { writes: true, spends: true }"));
    let effects = shop.load().tools[0].skill.effects;
    assert!(effects.writes && effects.spends && !effects.idempotent);
    shop.put("a.yaml", &manifest(""));
    assert_eq!(shop.load().tools[0].skill.effects, Effects::unknown());
}

#[test]
fn effects_may_be_a_word_or_a_list_of_words() {
    let shop = Shop::new();
    let effects = |written: &str| {
        shop.put("a.yaml", &format!("name: a\ndescription: d\ncommand: 'true'\neffects: {written}\n"));
        shop.load().tools.first().map(|tool| tool.skill.effects)
    };
    assert_eq!(effects("reads"), Some(Effects::reads_only(CardFrom::Configuration)));
    assert_eq!(effects("[reads]"), effects("{ reads: true }"));
    assert_eq!(effects("[writes, idempotent]"), effects("{ writes: true, idempotent: true }"));
    assert_eq!(effects("spends"), effects("{ spends: true }"));
    assert_eq!(effects("harmless"), None);
    assert!(problems(&shop)[0].contains("`effects`: expected `reads`"), "{:?}", problems(&shop));
}

#[test]
fn problems_name_file_key_and_reason_and_hide_no_good_tool() {
    let shop = Shop::new();
    shop.program("good", "cat").put("good.yaml", "name: good\ndescription: d\n");
    shop.put("a.json", "{\"name\": }").put("b.yaml", "name: b\n").put("c.yaml", "- list\n");
    shop.put("d.yaml", "name: d\ndescription: d\ncommand: nowhere-to-be-found\ntimeout: soon\ncolour: red\n");
    assert_eq!(names(&shop.load()), ["local/good@1"]);
    let told = problems(&shop);
    let expected = [
        "a.json: is not JSON: unexpected byte at byte 9",
        "b.yaml: `description`: is needed: people and models choose by it",
        "b.yaml: `command`: there is no command, and no executable `b` beside the manifest",
        "c.yaml: a manifest is an object",
        "d.yaml: `command`: no program `nowhere-to-be-found` beside the manifest or in PATH",
        "d.yaml: `timeout`: must be a time such as 500ms, 30s or 2m",
        "d.yaml: `colour`: unknown key",
    ];
    assert_eq!(told, expected);
}

#[test]
fn names_that_cannot_be_spelt_everywhere_are_refused() {
    for name in ["a__b", "_a", "a-", "a b", "añ", "ping", "Status", "read_file", "LIST_DIRECTORY", "a/b", ""] {
        let shop = Shop::new();
        shop.put("x.yaml", &format!("name: '{name}'\ndescription: d\ncommand: 'true'\n"));
        let catalogue = shop.load();
        assert!(catalogue.tools.is_empty(), "{name}");
        assert_eq!(catalogue.problems[0].key.as_deref(), Some("name"), "{name}");
    }
}

#[test]
fn versions_lie_side_by_side_and_the_same_one_twice_is_refused() {
    let shop = Shop::new();
    let manifest = |version: &str| format!("name: t\ndescription: d\ncommand: 'true'\nversion: '{version}'\n");
    shop.put("a.yaml", &manifest("1.0")).put("b.yaml", &manifest("2.0")).put("c.yaml", &manifest("1.0"));
    assert_eq!(names(&shop.load()), ["local/t@1.0", "local/t@2.0"]);
    assert_eq!(problems(&shop), ["c.yaml: `name`: `t` version 1.0 is there already"]);
}

#[tokio::test]
async fn each_version_runs_its_own_program() {
    let shop = Shop::new();
    for version in ["1", "2"] {
        shop.program(&format!("p{version}"), &format!("echo {version}"));
        shop.put(
            &format!("{version}.yaml"),
            &format!("name: t\ndescription: d\ncommand: p{version}\nversion: '{version}'\n"),
        );
    }
    let tools = shop.open();
    for (skill, expected) in tools.skills().into_iter().zip([json!(1), json!(2)]) {
        let Reply::Live(exchange) = Arc::clone(&tools).call(dispatch(skill, None)).await.unwrap() else { panic!() };
        assert_eq!(drain(exchange).await.1.output.structured.unwrap().tree(), &expected);
    }
}

#[test]
fn a_folder_holds_one_manifest_and_the_tools_own_data() {
    let shop = Shop::new();
    fs::create_dir(shop.path("t")).unwrap();
    shop.put("t/tool.yaml", "name: t\ndescription: d\ncommand: 'true'\n")
        .put("t/data.json", "[1]")
        .put(".hidden.yaml", "x");
    let catalogue = shop.load();
    assert_eq!((names(&catalogue), catalogue.problems), (vec!["local/t@1".to_owned()], vec![]));
}

#[test]
fn a_phrase_that_cannot_be_used_is_told_and_the_tool_stays() {
    let shop = Shop::new();
    let phrases = "phrases: { en: ['greet {name:text}', 'hello {other:text}'] }";
    let parameters = "parameters: [{ name: name, type: string, required: true }]";
    shop.put("t.yaml", &format!("name: t\ndescription: d\ncommand: 'true'\n{parameters}\n{phrases}\n"));
    let catalogue = shop.load();
    assert_eq!(catalogue.tools[0].skill.phrases.len(), 1);
    assert_eq!(catalogue.problems[0].key.as_deref(), Some("phrases"));
}

#[test]
fn a_program_that_is_not_executable_is_told() {
    let shop = Shop::new();
    shop.put("t.yaml", "name: t\ndescription: d\n").put("t", "echo 1");
    assert_eq!(problems(&shop), ["t.yaml: `command`: `t` is not executable"]);
}

#[test]
fn a_huge_or_hostile_manifest_is_refused() {
    let shop = Shop::new();
    let bomb = "a: &a [x,x,x,x,x,x,x,x]\n".to_owned()
        + &(b'b'..=b'z')
            .map(|c| {
                let (this, last) = (char::from(c), char::from(c - 1));
                format!("{this}: &{this} [*{last},*{last},*{last},*{last},*{last},*{last},*{last},*{last}]\n")
            })
            .collect::<String>();
    shop.put("a.yaml", &bomb).put("b.yaml", &"[".repeat(100_000)).put("c.json", &"x".repeat(300_000));
    shop.put("d.json", &format!("{{\"name\":{}", "[".repeat(100_000)));
    let catalogue = shop.load();
    assert!(catalogue.tools.is_empty());
    let files: Vec<_> = catalogue.problems.iter().map(|problem| problem.file.to_str().unwrap()).collect();
    assert_eq!(files, ["a.yaml", "b.yaml", "c.json", "d.json"]);
}

#[tokio::test]
async fn tools_appear_change_and_disappear_without_a_restart() {
    let shop = Shop::new();
    let tools = shop.open();
    let id = |name: &str| interlingua_model::SkillId::new("local", name);
    assert_eq!((tools.skills(), tools.reload()), (vec![], None));
    shop.program("one", "cat").put("one.yaml", "name: one\ndescription: d\n");
    assert_eq!(tools.reload().unwrap().appeared, [id("one")]);
    let old = skill(&tools, "one");
    let running = start(&tools, "one", json!({ "still": "here" })).await.unwrap();

    shop.put("one.yaml", "name: one\ndescription: another\n").put("two.yaml", "name: two\ndescription: d\n");
    let change = tools.reload().unwrap();
    assert_eq!((change.changed, change.appeared), (vec![id("one")], vec![]));
    assert_eq!(change.problems[0].file, Path::new("two.yaml"));
    shop.program("two", "cat");
    assert_eq!(tools.reload().unwrap().appeared, [id("two")]);

    fs::remove_file(shop.path("one.yaml")).unwrap();
    assert_eq!(tools.reload().unwrap().disappeared, [id("one")]);
    assert_eq!(tools.reload(), None);
    let gone = Arc::clone(&tools).call(dispatch(old, None)).await.unwrap_err();
    assert_eq!(gone.kind, FaultKind::NotFound(interlingua_model::Noun::Skill));
    let (_, finished) = drain(running).await;
    assert_eq!(finished.output.structured.unwrap().tree(), &json!({ "still": "here" }));
}

#[tokio::test]
async fn commands_have_arguments_and_a_directory() {
    let shop = Shop::new();
    fs::create_dir(shop.path("inner")).unwrap();
    shop.put(
        "t.yaml",
        "name: t\ndescription: d\ncommand: [sh, -c]\nargs: ['printf \\\"%s\\\" \"${PWD##*/}\"']\ndirectory: inner\n",
    );
    assert_eq!(result(&shop, json!({})).await.unwrap(), json!("inner"));
}
