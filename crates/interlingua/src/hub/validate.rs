//! Input and output against the skill's schemas, for every caller and every peer. Schemas are compiled once per digest; a network `$ref` is never
//! fetched, because the validator is built without any resolver for one.

use std::sync::Arc;

use interlingua_core::{Digest, Fault, FaultKind, Json, Party, Schema, Skill};
use jsonschema::Validator;
use moka::sync::Cache;

use super::Hub;

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
                tracing::warn!(%error, "a skill's schema does not compile; nothing is checked against it");
                None
            }
        })
    }

    /// What is wrong with the arguments, as one fault that names each place.
    pub(super) fn check(&self, digest: Digest, schema: &Schema, args: &Json) -> Result<(), Fault> {
        let fault = || Fault::caller(FaultKind::InvalidInput, "the arguments do not fit the skill");
        self.fits(digest, schema, args, "the arguments", fault)
    }

    /// What is wrong with a result, as one fault of the peer that names each place. A skill without an output schema
    /// promised nothing, and one that says its result only in words has nothing to hold against its schema.
    pub(super) fn check_output(&self, skill: &Skill, structured: Option<&Json>) -> Result<(), Fault> {
        let (Some(schema), Some(structured)) = (&skill.output, structured) else { return Ok(()) };
        let peer = || Party::Peer(skill.id.peer.clone());
        let fault = || Fault::new(FaultKind::BadReply, peer(), "the result does not fit the skill");
        let checked = self.fits(schema.0.digest(), schema, structured, "the result", fault);
        checked.map_err(|fault| {
            let public = format!("{} broke its promise: {}", skill.id, fault.public);
            Fault { public: public.into(), ..fault }
        })
    }

    fn fits(
        &self,
        digest: Digest,
        schema: &Schema,
        value: &Json,
        whole: &str,
        fault: impl FnOnce() -> Fault,
    ) -> Result<(), Fault> {
        let Some(validator) = self.compiled(digest, schema) else { return Ok(()) };
        if validator.is_valid(value.tree()) {
            return Ok(());
        }
        let mut fault = fault();
        let mut first = None;
        for error in validator.iter_errors(value.tree()).take(MAX_PROBLEMS) {
            let path = error.instance_path().to_string();
            let problem = error.masked().to_string();
            first.get_or_insert_with(|| format!("{}: {problem}", if path.is_empty() { whole } else { &path }));
            fault = fault.field(path, problem);
        }
        if let Some(first) = first {
            fault.public = first.into();
        }
        Err(fault)
    }
}

impl Hub {
    /// Does this value fit this schema? Compiled once, like those of skills.
    pub fn fits(&self, schema: &Schema, value: &Json) -> Result<(), Fault> {
        let fault = || Fault::hub(FaultKind::InvalidInput, "it does not fit");
        self.schemas.fits(schema.0.digest(), schema, value, "the whole", fault)
    }
}

#[cfg(test)]
mod tests {
    use interlingua_core::{CardFrom, Effects, SkillId, SkillKind};
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
    fn a_result_that_breaks_the_promise_is_the_peers_fault_and_names_the_place() {
        let effects = Effects::reads_only(CardFrom::Configuration);
        let input = Schema(json!({"type": "object"}).into());
        let mut skill = Skill::new(SkillId::new("shop", "price"), SkillKind::Tool, "Prices.", input, effects);
        let schemas = Schemas::default();
        schemas.check_output(&skill, Some(&json!("anything").into())).expect("nothing was promised");
        skill.output = Some(Schema(json!({"type": "object", "properties": {"price": {"type": "number"}}}).into()));
        schemas.check_output(&skill, Some(&json!({"price": 3}).into())).expect("as promised");
        schemas.check_output(&skill, None).expect("said in words alone");
        let fault =
            schemas.check_output(&skill, Some(&json!({"price": "hidden"}).into())).expect_err("not as promised");
        assert_eq!((fault.kind, &fault.origin), (FaultKind::BadReply, &Party::Peer("shop".into())));
        assert!(fault.public.contains("/price") && !fault.public.contains("hidden"), "{}", fault.public);
    }

    #[test]
    fn a_remote_reference_is_never_fetched() {
        let schema = Schema(json!({"$ref": "http://127.0.0.1:9/schema.json"}).into());
        let digest = schema.0.digest();
        Schemas::default().check(digest, &schema, &json!({}).into()).expect("not checked, not fetched");
    }
}
