//! Generator of arbitrary messages for property tests, also for those of the crate that carries such messages.

use bytes::Bytes;
use interlingua_model::Json;
use interlingua_model::json::Tree;
use proptest::prelude::*;
use serde_json::json;

use crate::{Content, Format, Message, Submessage};

fn value() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Tree::from),
        any::<i64>().prop_map(Tree::from),
        any::<u64>().prop_map(Tree::from),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Tree::from),
        any::<String>().prop_map(Tree::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Tree::from),
            prop::collection::hash_map(any::<String>(), inner, 0..6)
                .prop_map(|map| Tree::Object(map.into_iter().collect())),
        ]
    })
}

/// Any content a format other than binary can have.
fn content() -> impl Strategy<Value = Content> {
    prop_oneof![
        any::<String>().prop_map(|text| Content::Text(text.into())),
        value()
            .prop_filter("a string is text", |tree| !tree.is_string())
            .prop_map(|tree| Content::Json(Json::from_tree(tree))),
    ]
}

fn submessage() -> impl Strategy<Value = Submessage> {
    let plain = (
        prop::sample::select(Format::ALL.to_vec()).prop_filter("has bytes", |format| *format != Format::Binary),
        any::<String>(),
        content(),
    )
        .prop_map(|(format, subformat, content)| Submessage::new(format, subformat, content));
    let binary = (
        prop::sample::select(vec!["audio/wav", "image/.png", "VIDEO/mp4", "sensor/raw", "generic/text/csv"]),
        prop::collection::vec(any::<u8>(), 0..64),
    )
        .prop_map(|(subformat, bytes)| Submessage::new(Format::Binary, subformat, Content::Bytes(Bytes::from(bytes))));
    (prop_oneof![plain, binary], any::<Option<String>>(), any::<bool>()).prop_map(|(mut submessage, label, shout)| {
        submessage.label = label.map(Into::into);
        submessage.spelt = shout.then(|| submessage.format.as_str().to_uppercase().into());
        submessage
    })
}

/// Any message, with parts of every format.
pub fn any_message() -> impl Strategy<Value = Message> {
    (any::<Option<String>>(), submessage(), prop::collection::vec(submessage(), 0..5)).prop_map(
        |(messagetype, first, submessages)| Message { messagetype: messagetype.map(Into::into), first, submessages },
    )
}
