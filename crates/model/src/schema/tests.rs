use serde_json::json;

use super::pattern::{is_tried, states};
use super::*;

fn outline(schema: &Tree) -> Result<Outline, Unfit> {
    Outline::of(schema, schema.to_string().len())
}

fn steps(schema: &Tree, value: &Tree) -> Result<u64, TooCostly> {
    outline(schema).expect("is fit").steps(value, value.to_string().len())
}

/// Forty definitions, each made of the next one twice.
fn doubling(made: impl Fn(Tree) -> Tree) -> Tree {
    let mut defs = serde_json::Map::new();
    for at in 0..40 {
        defs.insert(format!("d{at}"), made(json!({"$ref": format!("#/$defs/d{}", at + 1)})));
    }
    defs.insert("d40".to_owned(), json!({"type": "object"}));
    json!({"type": "object", "$defs": defs, "$ref": "#/$defs/d0"})
}

/// A value of lists or objects within one another.
fn nested(depth: usize, wrap: impl Fn(Tree) -> Tree) -> Tree {
    (0..depth).fold(json!({}), |value, _| wrap(value))
}

#[test]
fn a_schema_that_doubles_at_one_place_is_refused() {
    for made in [
        |next: Tree| json!({"allOf": [next, next]}),
        |next: Tree| json!({"anyOf": [next, next]}),
        |next: Tree| json!({"oneOf": [next, next]}),
        |next: Tree| json!({"if": next, "then": next}),
        |next: Tree| json!({"not": next, "else": next, "if": true}),
        |next: Tree| json!({"dependentSchemas": {"a": next, "b": next}}),
        |next: Tree| json!({"dependencies": {"a": next, "b": next}}),
        |next: Tree| json!({"unevaluatedProperties": false, "$ref": next["$ref"]}),
        |next: Tree| json!({"$dynamicRef": next["$ref"], "$ref": next["$ref"]}),
    ] {
        assert_eq!(outline(&doubling(made)).err(), Some(Unfit::Expansion));
    }
}

#[test]
fn a_schema_that_doubles_going_into_the_value_is_counted_with_the_value() {
    let schema = doubling(
        |next: Tree| json!({"properties": {"a": next}, "additionalProperties": next, "patternProperties": {"a": next}}),
    );
    steps(&schema, &nested(8, |value| json!({"a": value}))).expect("is little");
    assert_eq!(steps(&schema, &nested(30, |value| json!({"a": value}))), Err(TooCostly));
}

#[test]
fn a_recursive_schema_takes_deep_values_but_not_exponentially_many_steps() {
    let tree = json!({
        "$ref": "#/$defs/node",
        "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "children": {"items": {"$ref": "#/$defs/node"}}}}},
    });
    steps(&tree, &nested(60, |value| json!({"next": value, "children": [1, 2]}))).expect("is linear");
    let either = json!({
        "$ref": "#/$defs/node",
        "$defs": {"node": {"anyOf": [
            {"properties": {"next": {"$ref": "#/$defs/node"}}, "required": ["a"]},
            {"properties": {"next": {"$ref": "#/$defs/node"}}, "required": ["b"]},
        ]}},
    });
    steps(&either, &nested(10, |value| json!({"next": value}))).expect("is little");
    assert_eq!(steps(&either, &nested(60, |value| json!({"next": value}))), Err(TooCostly));
}

#[test]
fn references_are_followed_within_the_schema_only() {
    let to = |reference: &str| {
        outline(&json!({"$ref": reference, "$defs": {"a b": {}, "x": {"$anchor": "here"}}})).map(|_| ())
    };
    to("#/$defs/a%20b").expect("a pointer");
    to("#here").expect("an anchor");
    for unknown in ["http://127.0.0.1:9/x.json", "other.json", "#/$defs/none", "#nowhere", "#/$defs/%GG"] {
        assert_eq!(to(unknown), Err(Unfit::Reference(unknown.to_owned())));
    }
    assert_eq!(to("#"), Err(Unfit::Loop));
    let inner = json!({"$id": "http://a/", "properties": {"x": {"$id": "http://b/", "$ref": "#/$defs/x"}}});
    assert_eq!(outline(&inner).err(), Some(Unfit::Resource));
    let named = json!({"$id": "http://a/", "properties": {"$id": {"type": "string"}, "$ref": {"type": "string"}}});
    outline(&named).expect("members may be called so");
}

#[test]
fn large_values_are_not_refused_for_being_large() {
    let numbers = json!({"type": "object", "properties": {"n": {"type": "array", "items": {"type": "number"}, "uniqueItems": true}}});
    let many: Vec<u32> = (0..300_000).collect();
    steps(&numbers, &json!({"n": many})).expect("is linear");
}

#[test]
fn a_schema_too_large_or_too_deep_is_refused() {
    assert_eq!(Outline::of(&json!({}), MAX_BYTES + 1).err(), Some(Unfit::Large));
    let wide: Vec<Tree> = (0..MAX_SUBSCHEMAS).map(|_| json!({})).collect();
    assert_eq!(outline(&json!({"prefixItems": wide})).err(), Some(Unfit::Subschemas));
    let mut defs = serde_json::Map::new();
    for at in 0..1000 {
        defs.insert(format!("d{at}"), json!({"items": {"$ref": format!("#/$defs/d{}", at + 1)}}));
    }
    defs.insert("d1000".to_owned(), json!(true));
    assert_eq!(outline(&json!({"$ref": "#/$defs/d0", "$defs": defs})).err(), Some(Unfit::Nested));
}

#[test]
fn expressions_cost_what_they_repeat() {
    assert_eq!(states("abc"), 3);
    assert!(states("^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{12}$") < 64);
    assert!(states("((a{100}){100}){100}") >= 1_000_000);
    assert_eq!((states(r"\p{L}{20}"), states(r"\pL"), states("[^a]b")), (5_120, 257, 9), "never too little");
    let letters: serde_json::Map<_, _> =
        (0..100).map(|at| (format!("p{at}"), json!({"pattern": format!(r"\p{{L}}{{20}}{at}")}))).collect();
    assert_eq!(outline(&json!({"properties": letters})).err(), Some(Unfit::Patterns), "each takes a megabyte");
    assert!(is_tried("^(?=.*[A-Z])") && is_tried(r"(a)\1") && !is_tried(r"^\d+\.[a-z]*$"));
    assert_eq!(outline(&json!({"pattern": "((a{100}){100}){100}"})).err(), Some(Unfit::Patterns));
    let tried = json!({"items": {"pattern": "^(?=(a+)+$)"}});
    let many: Vec<&str> = vec!["aaaaaaaaaaaaaaaaaaaaaaaaaab"; 5_000];
    assert_eq!(steps(&tried, &json!(many)), Err(TooCostly));
}

/// Schemas whose cost follows from the length of a value alone, and values that take as much of them as they can.
fn plain() -> Vec<(Tree, Vec<Tree>)> {
    let texts = |count: usize| -> Tree { (0..count).map(|at| json!("x".repeat(at % 40))).collect() };
    vec![
        (
            json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}),
            vec![json!({"text": "said"})],
        ),
        (
            json!({"items": {"items": {"type": "string", "pattern": "^[a-z]{1,40}$"}}}),
            vec![json!([texts(50), texts(7)])],
        ),
        (
            json!({"additionalProperties": {"allOf": [{"type": "string"}, {"maxLength": 9}, {"enum": ["a", "b"]}]}}),
            vec![json!({"": "", "a": "", "b": ""})],
        ),
        (
            json!({"patternProperties": {"^a+$": {"type": "null"}, "b": {}}, "propertyNames": {"pattern": "^[ab]*$"}}),
            vec![json!({"aaaa": null, "b": 1, "": 2})],
        ),
        (
            json!({"prefixItems": [{"anyOf": [{"type": "null"}, {"const": [1, 2]}]}], "contains": {"type": "number"}}),
            vec![json!([[1, 2], 3, 4])],
        ),
    ]
}

#[test]
fn the_cost_of_a_plain_schema_is_known_by_the_length_of_the_value_and_is_never_less_than_what_is_counted() {
    for (schema, values) in plain() {
        let outline = outline(&schema).expect("is fit");
        let each = outline.by_byte.unwrap_or_else(|| panic!("nothing of it needs a value: {schema}"));
        for value in values {
            let counted = ValidationCost::over(&outline.graph, &value, u64::MAX).count().expect("no limit");
            assert!(counted <= each * value.to_string().len() as u64, "{schema} {value}: {counted}, {each} a byte");
            assert!(outline.is_little(&value.into()), "{schema}");
        }
    }
}

#[test]
fn what_the_length_does_not_tell_is_counted_and_no_further_than_it_is_little() {
    let unique = outline(&json!({"uniqueItems": true})).expect("is fit");
    assert_eq!(unique.by_byte, None, "items are compared");
    assert!(unique.is_little(&json!([1, 2, 3]).into()));
    let node = json!({"properties": {"a": {"$ref": "#"}}, "additionalProperties": {"$ref": "#"}});
    let recursive = outline(&node).expect("is fit");
    assert!(recursive.is_little(&nested(5, |value| json!({"a": value})).into()));
    assert!(!recursive.is_little(&nested(25, |value| json!({"a": value})).into()), "2^25 evaluations");
    let long: Tree = (0..LITTLE).map(|number| json!(number)).collect();
    assert!(!unique.is_little(&long.into()), "reading it takes longer than that");
}
