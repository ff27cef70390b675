use bytes::Bytes;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn problem(text: &[u8]) -> Problem {
    Json::parse(Bytes::copy_from_slice(text)).expect_err("must be refused").problem
}

#[test]
fn refuses_what_two_readers_could_read_differently() {
    assert_eq!(problem(br#"{"a":1,"a":2}"#), Problem::DuplicateKey);
    assert_eq!(problem(br#"{"a":1,"\u0061":2}"#), Problem::DuplicateKey);
    assert_eq!(problem(br#""\ud800""#), Problem::LoneSurrogate);
    assert_eq!(problem(br#""\ud800\u0041""#), Problem::LoneSurrogate);
    assert_eq!(problem(b"\"\xff\""), Problem::NotUtf8);
    assert_eq!(problem(b"NaN"), Problem::Unexpected);
    assert_eq!(problem(b"01"), Problem::BadNumber);
    assert_eq!(problem(b"{} {}"), Problem::Trailing);
    assert_eq!(problem(b"\"a\nb\""), Problem::ControlCharacter);
    assert_eq!(problem("[".repeat(200_000).as_bytes()), Problem::TooDeep);
}

#[test]
fn more_values_than_may_be_are_refused_wherever_they_are() {
    let list = |count: usize| format!("[{}1]", "1,".repeat(count - 1));
    assert!(Json::parse(Bytes::from(list(MOST_VALUES))).is_ok());
    assert_eq!(problem(list(MOST_VALUES + 1).as_bytes()), Problem::TooMany);
    let (half, members) =
        (list(MOST_VALUES / 2), |count| (0..count).map(|n| format!("\"{n}\":0")).collect::<Vec<_>>().join(","));
    assert_eq!(problem(format!("[{half},{half}]").as_bytes()), Problem::TooMany);
    assert_eq!(problem(format!("{{{}}}", members(MOST_VALUES + 1)).as_bytes()), Problem::TooMany);
    let checked = Json::written(list(MOST_VALUES + 1).into_bytes());
    assert!(Reader::of(&checked).skip().is_ok(), "what was checked before is read as it is");
}

#[test]
fn many_duplicate_keys_are_found_too() {
    let keys: Vec<String> = (0..40).map(|n| format!("\"k{n}\":1")).collect();
    assert!(Json::parse(Bytes::from(format!("{{{}}}", keys.join(",")))).is_ok());
    assert_eq!(problem(format!("{{{},\"k0\":2}}", keys.join(",")).as_bytes()), Problem::DuplicateKey);
}

const SPELLED: [&str; 14] = [
    "129.90",
    "1.0",
    "-0",
    "-0.0",
    "1E5",
    "1e5",
    "1e+05",
    "2.50e-3",
    "1e400",
    "-1E-400",
    "18446744073709551615",
    "12345678901234567890123",
    "0.1234567890123456789",
    "0.00012345678901234567",
];

#[test]
fn a_number_is_written_back_as_it_was_written() {
    for text in SPELLED {
        let document = format!(r#"{{"price":{text},"list":[{text},{{"deep":{text}}}]}}"#);
        let json = Json::parse(Bytes::from(document.clone())).unwrap();
        assert_eq!(json.as_str(), document);
        assert_eq!(Json::from_tree(json.tree().clone()).as_str(), document);
        assert_eq!(serde_json::to_string(json.tree()).unwrap(), document);
        assert_eq!(json.get("price").unwrap().to_string(), text);
        let view = std::collections::BTreeMap::from([("value", &json)]);
        assert_eq!(Json::of(&view).unwrap().tree()["value"].to_string(), document, "through serde, too");
    }
}

#[test]
fn a_number_that_no_type_holds_says_so_to_whoever_wants_that_type() {
    let number = |text: &'static str| Json::parse(Bytes::from(text)).unwrap().tree().clone();
    assert_eq!((number("1.10").as_f64(), number("1.10").as_i64()), (Some(1.1), None));
    assert_eq!(number("18446744073709551615").as_u64(), Some(u64::MAX));
    assert_eq!((number("1e400").as_f64(), number("1e400").is_number()), (None, true));
    assert_eq!(number("12345678901234567890123").as_i64(), None);
    assert_eq!(number("12345678901234567890123").as_u64(), None);
}

#[test]
fn attack_an_object_that_looks_like_serdes_own_number_is_an_object() {
    let text = r#"{"a":{"$serde_json::private::Number":"5"}}"#;
    let json = Json::parse(Bytes::from_static(text.as_bytes())).unwrap();
    assert!(json.get("a").unwrap().is_object());
    assert_eq!(Json::from_tree(json.tree().clone()).as_str(), text);
}

#[test]
fn attack_a_number_of_a_million_digits_is_a_text_of_its_length() {
    let digits = "7".repeat(1_000_000);
    let json = Json::parse(Bytes::from(format!("[{digits},{digits}.5e-{digits}]"))).unwrap();
    let list = json.tree().as_array().unwrap();
    assert_eq!(list[0].as_number().unwrap().as_str(), digits);
    assert_eq!((list[0].as_i64(), list[0].as_f64(), list[1].as_f64()), (None, None, None), "no type holds it");
    assert_eq!(Json::from_tree(json.tree().clone()), json);
}

#[test]
fn the_digest_is_of_the_value_not_of_its_spelling() {
    let a = Json::parse(Bytes::from(r#"{"b": [1, "\u0041"], "a": null}"#)).unwrap();
    let b = Json::parse(Bytes::from(r#"{"a":null,"b":[1,"A"]}"#)).unwrap();
    assert_eq!(a, b);
    let c = Json::parse(Bytes::from(r#"{"a":null,"b":[1.0,"A"]}"#)).unwrap();
    assert_ne!(a, c, "numbers count as written");
}

#[test]
fn the_digest_of_a_value_that_was_looked_into_is_the_same() {
    let json = Json::parse(Bytes::from(r#"{"b": 1, "a": [1, "x"]}"#)).unwrap();
    let before = json.digest();
    assert!(json.get("a").is_some());
    assert_eq!((json.digest(), json.clone().digest()), (before, before));
    assert_eq!(Json::from_tree(json.tree().clone()).digest(), before);
}

fn value() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Tree::from),
        any::<i64>().prop_map(Tree::from),
        any::<String>().prop_map(Tree::from),
    ];
    leaf.prop_recursive(4, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Tree::from),
            prop::collection::hash_map(any::<String>(), inner, 0..8)
                .prop_map(|map| Tree::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn agrees_with_serde_json_on_every_document(tree in value()) {
        let text = serde_json::to_vec(&tree).unwrap();
        let json = Json::parse(Bytes::from(text)).unwrap();
        prop_assert_eq!(json.tree(), &tree);
        let mut canonical = Vec::new();
        write::canonical(&json, &mut canonical);
        prop_assert_eq!(serde_json::from_slice::<Tree>(&canonical).unwrap(), tree);
    }

    #[test]
    fn refuses_whatever_serde_json_refuses(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let ours = Json::parse(Bytes::from(bytes.clone()));
        if ours.is_ok() {
            prop_assert!(serde_json::from_slice::<&serde_json::value::RawValue>(&bytes).is_ok());
        }
    }
}

#[test]
fn what_is_to_stay_does_not_keep_the_frame_it_came_in() {
    let frame = Bytes::from(br#"{"kept": {"a": 1}, "rest": "long"}"#.to_vec());
    let slice = Json::slice(&frame, (9, 17));
    let alone = slice.alone();
    assert_eq!((alone.as_str(), &alone), (r#"{"a": 1}"#, &slice));
    drop(slice);
    assert!(frame.is_unique(), "nobody else holds the frame");
}

/// A value that was checked is walked to the same places as one that is checked on the way.
#[test]
fn a_checked_value_is_walked_to_the_same_places() {
    let text =
        r#" {"a" : [1, {"b":"\\\"]}"} , -2.5e3 ], "c\n": {} , "d":[[],[true ,null]], "e":"\u00e9\ud83d\ude00" } "#;
    let json = Json::parse(Bytes::from_static(text.as_bytes())).expect("JSON");
    let spans = |mut reader: Reader<'_>| {
        let mut found = Vec::new();
        let read = reader.object::<BadJson>(|key, reader| {
            found.push((key.into_owned(), reader.skip()?));
            Ok(())
        });
        read.map(|()| found)
    };
    let checked = spans(Reader::of(&json)).expect("an object");
    assert_eq!(checked, spans(Reader::new(json.as_bytes(), 8).expect("UTF-8")).expect("an object"));
    assert_eq!(checked.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), ["a", "c\n", "d", "e"]);
}

/// Whoever reads a value from a document with serde gets one that was checked, too.
#[test]
fn a_value_from_a_document_has_no_key_twice() {
    assert!(serde_json::from_str::<Json>(r#"{"a":{"b":1,"c":2}}"#).is_ok());
    let twice = serde_json::from_str::<Json>(r#"{"a":{"b":1,"b":2}}"#);
    assert!(twice.is_err_and(|error| error.to_string().contains("the same key twice")));
}

proptest::proptest! {
    /// Cut anywhere, the walk over what claims to be checked ends in an error or a span within the text.
    #[test]
    fn a_walk_over_anything_stays_within_the_text(text in "[\\[\\]{}\",:\\\\ a0-9]{0,40}") {
        let claimed = Json::written(text.clone().into_bytes());
        if let Ok((from, to)) = Reader::of(&claimed).skip() {
            proptest::prop_assert!(from <= to && to <= text.len());
        }
    }
}
