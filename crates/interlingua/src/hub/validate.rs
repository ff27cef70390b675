//! Input against the skill's schema, for every caller. Schemas are compiled once per digest; a network `$ref` is never
//! fetched, because the validator is built without any resolver for one.

use std::sync::Arc;

use interlingua_core::{Digest, Fault, FaultKind, Json, Schema};
use jsonschema::Validator;
use moka::sync::Cache;

/// How many compiled schemas are kept.
const MAX_SCHEMAS: u64 = 10_000;
/// How many problems of one input are told.
const MAX_PROBLEMS: usize = 16;

#[derive(Debug, Clone)]
pub(super) struct Schemas {
    compiled: Cache<Digest, Option<Arc<Validator>>>,
}

impl Default for Schemas {
    fn default() -> Self {
        Schemas { compiled: Cache::new(MAX_SCHEMAS) }
    }
}

impl Schemas {
    /// `digest` names the definition the schema belongs to.
    fn compiled(&self, digest: Digest, schema: &Schema) -> Option<Arc<Validator>> {
        self.compiled.get_with(digest, || match jsonschema::draft202012::new(schema.0.tree()) {
            Ok(validator) => Some(Arc::new(validator)),
            Err(error) => {
                tracing::warn!(%error, "a skill's schema does not compile; its input is not checked against it");
                None
            }
        })
    }

    /// What is wrong with the arguments, as one fault that names each place.
    pub(super) fn check(&self, digest: Digest, schema: &Schema, args: &Json) -> Result<(), Fault> {
        let Some(validator) = self.compiled(digest, schema) else { return Ok(()) };
        if validator.is_valid(args.tree()) {
            return Ok(());
        }
        let mut fault = Fault::caller(FaultKind::InvalidInput, "the arguments do not fit the skill");
        let mut first = None;
        for error in validator.iter_errors(args.tree()).take(MAX_PROBLEMS) {
            let path = error.instance_path().to_string();
            let problem = error.masked().to_string();
            first
                .get_or_insert_with(|| format!("{}: {problem}", if path.is_empty() { "the arguments" } else { &path }));
            fault = fault.field(path, problem);
        }
        if let Some(first) = first {
            fault.public = first.into();
        }
        Err(fault)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_problem_is_named_with_its_place_and_values_are_not_repeated() {
        let schema =
            Schema(json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["path"]}).into());
        let digest = schema.0.digest();
        let schemas = Schemas::default();
        schemas.check(digest, &schema, &json!({"path": "a", "n": 1}).into()).expect("fits");
        let fault = schemas.check(digest, &schema, &json!({"n": "secret value"}).into()).expect_err("does not fit");
        assert_eq!(fault.kind, FaultKind::InvalidInput);
        let places: Vec<&str> = fault.fields.iter().map(|field| &*field.path).collect();
        assert!(places.contains(&"/n") && places.contains(&""), "{places:?}");
        assert!(!format!("{fault:?}").contains("secret value"));
    }

    #[test]
    fn a_remote_reference_is_never_fetched() {
        let schema = Schema(json!({"$ref": "http://127.0.0.1:9/schema.json"}).into());
        let digest = schema.0.digest();
        Schemas::default().check(digest, &schema, &json!({}).into()).expect("not checked, not fetched");
    }
}
