//! Values in a sentence.

use super::*;
use crate::words::given::{Given, Unclear, given};
use serde_json::json as tree;

const ORDER: &str =
    r#"{"type":"object","properties":{"order_id":{"title":"Order Id","type":"integer"}},"required":["order_id"]}"#;
/// As pydantic writes `Literal[…] | None`, an `Enum`, and plain types.
const LIST: &str = r##"{"type":"object","properties":{
    "status":{"anyOf":[{"enum":["open","shipped","cancelled"],"type":"string"},{"type":"null"}],"default":null},
    "sort":{"$ref":"#/$defs/Sort"},"limit":{"type":"integer"},"archived":{"type":"boolean"},
    "since":{"anyOf":[{"type":"string","format":"date"},{"type":"null"}]}},
    "$defs":{"Sort":{"enum":["by price","by_date"],"type":"string"}}}"##;

fn gives(schema: &str, text: &str) -> Given {
    given(&skill("orders/list_orders", schema, &[]), text, None, None)
}

/// The arguments, where nothing is unclear.
fn args(schema: &str, text: &str) -> Tree {
    let Given { args, unclear } = gives(schema, text);
    assert_eq!(unclear, [], "{text}");
    args.tree().clone()
}

fn unclear(schema: &str, text: &str) -> (Vec<String>, Vec<String>) {
    let unclear = gives(schema, text).unclear;
    let [Unclear { said, names }] = unclear.as_slice() else { panic!("{text}: {unclear:?}") };
    let texts = |texts: &[interlingua_model::id::Text]| texts.iter().map(ToString::to_string).collect();
    (texts(said), texts(names))
}

#[test]
fn the_one_required_number_is_taken_from_the_sentence() {
    for text in ["get order 1001", "what is the state of order #1001?", "order 1001, please", "1001", "order_id=1001"] {
        assert_eq!(args(ORDER, text), tree!({"order_id": 1001}), "{text}");
    }
    assert_eq!(args(ORDER, "order -7"), tree!({"order_id": -7}));
    let price = r#"{"properties":{"price":{"type":"number"}},"required":["price"]}"#;
    assert_eq!(args(price, "set it to 10.5"), tree!({"price": 10.5}));
    // Not written as one number everywhere, no whole number, no number at all.
    for text in
        ["order 1,001", "order 1.001", "order 10.5", "order A-1001", "order 10:30", "order 2026-12-01", "orders"]
    {
        assert_eq!(args(ORDER, text), tree!({}), "{text}");
    }
    assert_eq!(args(LIST, "list 5 orders"), tree!({}), "a number that is not required is not guessed at");
}

#[test]
fn two_numbers_or_two_parameters_are_asked_for() {
    let both = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(unclear(ORDER, "order 1001 or 1002"), (both(&["1001", "1002"]), both(&["order_id"])));
    assert_eq!(unclear(ORDER, "order 1001 for 1,500"), (both(&["1001", "1,500"]), both(&["order_id"])));
    assert_eq!(args(ORDER, "order 1001, yes, 1001"), tree!({"order_id": 1001}), "the same twice is one");
    let two =
        r#"{"properties":{"source":{"type":"integer"},"target":{"type":"integer"}},"required":["source","target"]}"#;
    assert_eq!(unclear(two, "move 5"), (both(&["5"]), both(&["source", "target"])));
    assert_eq!(args(two, "move source 5 target 7"), tree!({"source": 5, "target": 7}));
    let level = r#"{"properties":{"id":{"type":"integer"},"level":{"enum":[1,2,3]}},"required":["id"]}"#;
    assert_eq!(unclear(level, "get order 2"), (both(&["2"]), both(&["id", "level"])));
    assert_eq!(args(level, "get order 9"), tree!({"id": 9}));
    assert_eq!(args(level, "get order 9 level 2"), tree!({"id": 9, "level": 2}));
}

#[test]
fn a_choice_is_taken_wherever_it_stands_also_for_an_optional_parameter() {
    assert_eq!(args(LIST, "list open orders"), tree!({"status": "open"}));
    assert_eq!(args(LIST, "List the OPEN orders by price"), tree!({"status": "open", "sort": "by price"}));
    assert_eq!(args(LIST, "shipped orders by date"), tree!({"status": "shipped", "sort": "by_date"}));
    assert_eq!(args(LIST, "list orders status=shipped"), tree!({"status": "shipped"}));
    assert_eq!(args(LIST, "list \"open\" orders"), tree!({"status": "open"}));
    assert_eq!(args(LIST, "list orders"), tree!({}));
    let both = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(unclear(LIST, "open or shipped orders"), (both(&["open", "shipped"]), both(&["status"])));
    let doors = r#"{"properties":{"door":{"enum":["open","shut"]},"window":{"enum":["open","shut"]}}}"#;
    assert_eq!(unclear(doors, "leave it open"), (both(&["open"]), both(&["door", "window"])));
    assert_eq!(args(doors, "door open, window shut"), tree!({"door": "open", "window": "shut"}));
    let meant = given(&skill("p/s", doors, &[]), "leave it open", None, Some("window"));
    assert_eq!((meant.args.tree().clone(), meant.unclear), (tree!({"window": "open"}), vec![]));
    let answered = json(r#"{"door":"open"}"#);
    let rest = given(&skill("p/s", doors, &[]), "leave it open", Some(&answered), None);
    assert_eq!(rest.args.tree().clone(), tree!({"window": "open"}));
}

#[test]
fn what_is_said_in_passing_or_names_the_skill_is_no_choice() {
    let unit = r#"{"properties":{"unit":{"enum":["in","cm","all"]},"mode":{"enum":["list","count"]}}}"#;
    assert_eq!(args(unit, "list all orders in the store"), tree!({}));
    assert_eq!(args(unit, "orders, unit in"), tree!({"unit": "in"}));
    assert_eq!(args(unit, "count orders in cm"), tree!({"unit": "cm", "mode": "count"}));
    let longer = r#"{"properties":{"when":{"enum":["open","open late"]}}}"#;
    assert_eq!(args(longer, "is it open late"), tree!({"when": "open late"}));
    let alike = r#"{"properties":{"when":{"enum":["open","Open","ópen"]}}}"#;
    assert_eq!(unclear(alike, "is it open").1, ["when"]);
}

#[test]
fn a_yes_or_no_needs_the_name_of_its_parameter() {
    assert_eq!(args(LIST, "list archived orders"), tree!({"archived": true}));
    assert_eq!(args(LIST, "list orders that are not archived"), tree!({"archived": false}));
    assert_eq!(args(LIST, "list orders, archived: no"), tree!({"archived": false}));
    assert_eq!(args(LIST, "list orders archived=yes"), tree!({"archived": true}));
    assert_eq!(args(LIST, "list orders, yes"), tree!({}));
    assert_eq!(unclear(LIST, "do not show archived orders").1, ["archived"]);
}

#[test]
fn a_date_in_iso_form_is_taken_for_the_one_parameter_that_takes_one() {
    assert_eq!(args(LIST, "orders since 2026-12-01"), tree!({"since": "2026-12-01"}));
    assert_eq!(args(LIST, "orders of 2026-12-01"), tree!({"since": "2026-12-01"}));
    for text in ["orders of 2026-02-30", "orders of 01/12/2026", "orders of tomorrow"] {
        assert_eq!(args(LIST, text), tree!({}), "{text}");
    }
    let span =
        r#"{"properties":{"since":{"type":"string","format":"date"},"until":{"type":"string","format":"date"}}}"#;
    assert_eq!(unclear(span, "orders of 2026-12-01").1, ["since", "until"]);
    assert_eq!(
        args(span, "orders since 2026-12-01 until 2026-12-31"),
        tree!({"since": "2026-12-01", "until": "2026-12-31"})
    );
}

#[test]
fn only_a_quotation_fills_the_one_text_that_is_required() {
    let one = r#"{"properties":{"query":{"type":"string"},"n":{"type":"integer"}},"required":["query"]}"#;
    assert_eq!(args(one, "please find \"big red bus\" now"), tree!({"query": "big red bus"}));
    for text in ["find big red bus", "find \"open", &"\"".repeat(100_000)] {
        assert_eq!(args(one, text), tree!({}), "{}", text.len());
    }
    assert_eq!(unclear(one, "find \"a\" or \"b\"").1, ["query"]);
    let mut either = unclear(FLIGHTS, "fly \"Paris\"").1;
    either.sort_unstable();
    assert_eq!(either, ["destination", "origin"], "in the order of the schema, which depends on how JSON is read");
    assert_eq!(args(ORDER, "show \"5\""), tree!({}), "a quoted number is a text");
}

#[test]
fn a_secret_is_never_filled_from_a_sentence() {
    for schema in [
        r#"{"properties":{"pin":{"type":"integer","writeOnly":true}},"required":["pin"]}"#,
        r#"{"properties":{"door":{"type":"string","format":"password"}},"required":["door"]}"#,
        r##"{"properties":{"door":{"$ref":"#/$defs/s"}},"$defs":{"s":{"type":"string","writeOnly":true}},"required":["door"]}"##,
        r#"{"properties":{"api_key":{"type":"string"}},"required":["api_key"]}"#,
    ] {
        for text in ["open with 1234", "open \"1234\"", "pin 1234", "api_key=\"1234\"", "door \"1234\""] {
            assert_eq!(args(schema, text), tree!({}), "{schema} {text}");
        }
    }
}

#[test]
fn letters_that_look_alike_and_figures_of_other_scripts_are_not_taken() {
    // Cyrillic o and e, full-width and Arabic figures.
    for text in ["list \u{43e}pen orders", "list op\u{435}n orders", "list ｏｐｅｎ orders"] {
        assert_eq!(args(LIST, text), tree!({}), "{text}");
    }
    for text in
        ["order １００１", "order \u{661}\u{660}\u{660}\u{661}", "order 1\u{660}01", "order 1\u{200b}001\u{660}"]
    {
        assert_eq!(args(ORDER, text), tree!({}), "{text}");
    }
}

#[test]
fn hostile_sentences_and_schemas_are_read_in_bounded_work() {
    assert_eq!(args(ORDER, &format!("order {}", "9".repeat(400))), tree!({}));
    assert_eq!(args(ORDER, &format!("order 1{}", "0".repeat(15))), tree!({}));
    assert_eq!(args(ORDER, &"7 ".repeat(32 * 1024)), tree!({}), "64 KiB are not taken apart");
    let values: Vec<String> = (0..10_000).map(|number| format!("value {number}")).collect();
    let many = tree!({"properties": {"v": {"enum": values}}}).to_string();
    assert_eq!(args(&many, "show value 9999 now"), tree!({"v": "value 9999"}));
    let too_many: Vec<String> = (0..20_001).map(|number| format!("value {number}")).collect();
    assert_eq!(args(&tree!({"properties": {"v": {"enum": too_many}}}).to_string(), "show value 1"), tree!({}));
    // Ten thousand spellings of one word, and a sentence of nothing else.
    let alike: Vec<String> =
        (0..10_000).map(|n| format!("q{}", "\u{200b}".repeat(n % 50) + &"\u{300}".repeat(n / 50))).collect();
    let alike = tree!({"properties": {"v": {"enum": alike}}}).to_string();
    assert_eq!(unclear(&alike, &"q ".repeat(500)).1, ["v"]);
    // Every parameter takes every word.
    let all: serde_json::Map<String, Tree> =
        (0..256).map(|n| (format!("p{n}"), tree!({"enum": ["xx", "yy"]}))).collect();
    let all = tree!({ "properties": all }).to_string();
    let (said, names) = unclear(&all, &"xx yy ".repeat(250));
    assert_eq!((said, names.len()), (vec!["xx".to_owned(), "yy".to_owned()], 8));
    let over: serde_json::Map<String, Tree> = (0..257).map(|n| (format!("p{n}"), tree!({"enum": ["xx"]}))).collect();
    assert_eq!(args(&tree!({ "properties": over }).to_string(), "xx"), tree!({}));
    // References that lead nowhere, or round and round.
    for schema in [
        r##"{"properties":{"a":{"$ref":"#/properties/a"}},"required":["a"]}"##,
        r##"{"properties":{"a":{"anyOf":[{"$ref":"#"},{"type":"null"}]}}}"##,
        r##"{"properties":{"a":{"$ref":"http://x/y"},"b":{"$ref":"#/nowhere"}}}"##,
        r#"{"properties":{"":{"type":"integer"}},"required":[""]}"#,
        r#"{"properties":[],"required":{}}"#,
    ] {
        gives(schema, "a 5 b=6 =7 8= = open \"x\" 2026-01-01");
    }
}
