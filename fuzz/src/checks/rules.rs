//! Invariants of rules for any text: an accepted policy decides the same each time, and validating a value against a schema ends.

use interlingua_hub::fuzzing;
use interlingua_model::Json;
use interlingua_model::policy::{Legislator, Roles, Source};
use interlingua_model::schema::Outline;
use interlingua_policy::Cedar;

pub(crate) fn policy(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let sources = [Source { name: "rules.cedar".into(), text: text.into() }];
    match Cedar.read(&sources, &Roles::default()) {
        Ok(ruling) => {
            let again = Cedar.read(&sources, &Roles::default()).expect("it was read before");
            assert_eq!(again.judge.version(), ruling.judge.version());
            assert_eq!(again.names.len(), ruling.names.len());
        }
        Err(flaws) => assert!(!flaws.is_empty(), "a refusal says why"),
    }
}

/// A schema, a line end, a value.
pub(crate) fn schema(data: &[u8]) {
    let at = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    let (schema, value) = data.split_at(at);
    let json = |bytes: &[u8]| Json::parse(bytes.to_vec().into()).ok();
    let Some(schema) = json(schema) else { return };
    let value = json(value).unwrap_or_else(Json::empty_object);
    let outline = Outline::of(schema.tree(), schema.as_bytes().len());
    let fits = fuzzing::fits(&schema, &value);
    assert!(outline.is_ok() || !fits, "a schema that cannot be weighed was used");
    if let Ok(outline) = outline {
        let _ = outline.steps(value.tree(), value.as_bytes().len());
    }
}
