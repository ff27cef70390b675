//! JSON Schema validation of input and output against the skill's schemas, for every caller and every peer. Schemas are compiled once per
//! digest; a network `$ref` is never fetched, because the validator is built without any resolver for one.
//!
//! Peers supply schemas and callers supply values, so both are hostile: the possible cost of a schema is bounded when it is read, and the
//! cost of a value is counted before it is checked ([`interlingua_model::schema`]). A skill with an unusable schema cannot be called.

use std::sync::Arc;

use interlingua_model::json::Tree;
use interlingua_model::schema::{LITTLE, Outline, TooCostly};
use interlingua_model::{Card, Digest, Fault, FaultKind, Feature, Json, Party, Schema, Skill, Text};
use jsonschema::{Draft, PatternOptions, Validator};
use moka::sync::Cache;
use tokio::runtime::{Handle, RuntimeFlavor};

use super::Hub;

/// How many bytes of compiled schemas are kept.
const MAX_SCHEMAS: u64 = 64 * 1024 * 1024;
/// What a compiled schema is taken to weigh: by itself, for each byte of its text, for each of its subschemas, for each regular
/// expression and each of its states, and for each value and object of its tree, of which a validator keeps copies. Meant to be
/// too much rather than too little: the figures of the tests were measured.
const ITSELF: u64 = 16 * 1024;
const BY_BYTE: u64 = 4;
const BY_SUBSCHEMA: u64 = 2_048;
const BY_EXPRESSION: u64 = 20 * 1024;
const BY_STATE: u64 = 512;
const BY_VALUE: u64 = 160;
const BY_OBJECT: u64 = 800;
/// How many problems of one input are told.
const MAX_PROBLEMS: usize = 16;
/// How many schemas are compiled when a peer is registered; further ones are compiled when they are first used.
const COMPILED_AT_ONCE: usize = 256;
/// What a regular expression that looks around or back may try.
const MAX_TRIED: usize = 10_000;
/// Bytes of one compiled regular expression.
const MAX_EXPRESSION: usize = 1024 * 1024;

/// What a schema became, or why no value is held against it.
type Compiled = Result<Arc<Usable>, Text>;

#[derive(Debug)]
struct Usable {
    validator: Validator,
    outline: Outline,
    /// What it takes of memory, about.
    weight: u32,
}

#[derive(Debug, Clone)]
pub(crate) struct Schemas {
    compiled: Cache<Digest, Compiled>,
}

impl Default for Schemas {
    fn default() -> Self {
        let weigher = |_: &Digest, compiled: &Compiled| compiled.as_ref().map_or(1_024, |usable| usable.weight);
        Schemas { compiled: Cache::builder().max_capacity(MAX_SCHEMAS).weigher(weigher).build() }
    }
}

/// Runs work that may take longer than a worker of the runtime should be blocked.
fn aside<T>(work: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        Ok(_) | Err(_) => work(),
    }
}

fn outlined(schema: &Schema) -> Result<Outline, Text> {
    Outline::of(schema.0.tree(), schema.0.as_bytes().len()).map_err(|unfit| unfit.to_string().into())
}

fn compile(schema: &Schema) -> Compiled {
    let outline = outlined(schema)?;
    let build = |draft| {
        let patterns = PatternOptions::fancy_regex().backtrack_limit(MAX_TRIED);
        let patterns = patterns.size_limit(MAX_EXPRESSION).dfa_size_limit(MAX_EXPRESSION);
        let options = jsonschema::options().with_draft(draft).with_pattern_options(patterns);
        options.should_validate_formats(false).build(schema.0.tree())
    };
    // Many tools describe themselves in draft 7, whose lists of `items` the newest draft does not know.
    let built = build(Draft::Draft202012).or_else(|error| build(Draft::Draft7).map_err(|_| error));
    let validator = built.map_err(|error| format!("its schema does not compile: {}", error.masked()))?;
    let weight = weight(schema, &outline);
    Ok(Arc::new(Usable { validator, outline, weight }))
}

fn weight(schema: &Schema, outline: &Outline) -> u32 {
    let (subschemas, states) = outline.size();
    let bytes = schema.0.as_bytes().len() as u64;
    let weight = ITSELF + bytes * BY_BYTE + subschemas as u64 * BY_SUBSCHEMA + states.saturating_mul(BY_STATE);
    u32::try_from(weight.saturating_add(tree_weight(schema.0.tree()))).unwrap_or(u32::MAX)
}

/// Of the values, and of the regular expressions among them. What only looks like one counts as well.
fn tree_weight(tree: &Tree) -> u64 {
    let below = match tree {
        Tree::Array(list) => list.iter().map(tree_weight).sum(),
        Tree::Object(members) => {
            let expressions = |(name, value): (&String, &Tree)| match (name.as_str(), value) {
                ("pattern", Tree::String(_)) => BY_EXPRESSION,
                ("patternProperties", Tree::Object(named)) => named.len() as u64 * BY_EXPRESSION,
                _ => 0,
            };
            BY_OBJECT + members.iter().map(|member| expressions(member) + tree_weight(member.1)).sum::<u64>()
        }
        Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::String(_) => 0,
    };
    BY_VALUE + below
}

impl Schemas {
    /// `digest` names the definition the schema belongs to.
    fn compiled(&self, digest: Digest, schema: &Schema) -> Compiled {
        match self.compiled.get(&digest) {
            Some(known) => known,
            None => aside(|| self.compiled.get_with(digest, || compile(schema))),
        }
    }

    /// Why no value is held against a schema; without `compiling` only what can be said of it as it is written.
    fn unusable(&self, schema: &Schema, compiling: bool) -> Option<Text> {
        let digest = schema.0.digest();
        match self.compiled.get(&digest) {
            Some(known) => known.err(),
            None if compiling => self.compiled(digest, schema).err(),
            None => outlined(schema).err(),
        }
    }

    /// Takes the skills off a card that cannot be called, and says why of each.
    pub(super) fn close(&self, card: &mut Card) -> Vec<Text> {
        let (mut closed, mut seen) = (Vec::new(), 0);
        card.skills.retain(|skill| {
            seen += 1;
            let schemas = [("input", Some(&skill.input)), ("output", skill.output.as_ref())];
            let unusable = schemas.into_iter().find_map(|(which, schema)| {
                let why = self.unusable(schema?, seen <= COMPILED_AT_ONCE)?;
                Some(format!("{} is closed ({which}): {why}", skill.id))
            });
            if let Some(problem) = &unusable {
                tracing::warn!(event = "skill_closed", peer = %card.peer, skill = %skill.id, %problem, "a schema cannot be used; the skill cannot be called");
                closed.push(problem.as_str().into());
            }
            unusable.is_none()
        });
        closed
    }

    /// What is wrong with the arguments, as one fault that names each place.
    pub(crate) fn check(&self, digest: Digest, schema: &Schema, args: &Json) -> Result<(), Fault> {
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
        let usable = match self.compiled(digest, schema) {
            Ok(usable) => usable,
            Err(why) => {
                let text = format!("nothing can be held against the schema: {why}");
                return Err(Fault::hub(FaultKind::Unsupported(Feature::Operation), text));
            }
        };
        if usable.outline.is_little(value) {
            return checked(&usable.validator, value, whole, fault);
        }
        aside(|| match usable.outline.steps(value.tree(), value.as_bytes().len()) {
            Err(TooCostly) => {
                let fault = fault();
                Err(Fault { public: format!("{whole}: too deep or too large for this schema").into(), ..fault })
            }
            Ok(steps) if steps <= LITTLE => checked(&usable.validator, value, whole, fault),
            // Each problem is kept with those of all that was tried: more than there should be room for.
            Ok(_) if usable.validator.is_valid(value.tree()) => Ok(()),
            Ok(_) => Err(fault()),
        })
    }
}

fn checked(validator: &Validator, value: &Json, whole: &str, fault: impl FnOnce() -> Fault) -> Result<(), Fault> {
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

impl Hub {
    /// Does this value fit this schema? Compiled once, like those of skills.
    pub fn fits(&self, schema: &Schema, value: &Json) -> Result<(), Fault> {
        let fault = || Fault::hub(FaultKind::InvalidInput, "it does not fit");
        self.schemas.fits(schema.0.digest(), schema, value, "the whole", fault)
    }
}

#[cfg(test)]
mod tests {
    use interlingua_model::{CardFrom, Effects, SkillId, SkillKind};
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
    fn a_remote_reference_is_never_fetched_and_nothing_passes_unchecked() {
        let schema = Schema(json!({"$ref": "http://127.0.0.1:9/schema.json"}).into());
        let digest = schema.0.digest();
        let fault = Schemas::default().check(digest, &schema, &json!({}).into()).expect_err("not checked, not fetched");
        assert!(fault.public.contains("only references within the schema"), "{}", fault.public);
    }

    #[test]
    fn tuples_of_draft_7_are_still_understood() {
        let schema = Schema(
            json!({"type": "object", "properties": {"at": {"items": [{"type": "number"}, {"type": "number"}]}}}).into(),
        );
        let digest = schema.0.digest();
        let schemas = Schemas::default();
        schemas.check(digest, &schema, &json!({"at": [1, 2]}).into()).expect("fits");
        schemas.check(digest, &schema, &json!({"at": [1, "x"]}).into()).expect_err("does not fit");
    }

    /// The deepest that is let through must not end the stack.
    #[test]
    fn the_deepest_value_of_a_recursive_schema_is_checked() {
        let chained =
            |depth: usize, last: serde_json::Value| (0..depth).fold(last, |inner, _| json!({"allOf": [inner]}));
        let node = chained(3, json!({"properties": {"next": {"$ref": "#/$defs/node"}}}));
        let schema = Schema(json!({"type": "object", "$ref": "#/$defs/node", "$defs": {"node": node}}).into());
        let digest = schema.0.digest();
        let value = |depth: usize| -> Json { (0..depth).fold(json!({}), |inner, _| json!({"next": inner})).into() };
        let schemas = Schemas::default();
        schemas.check(digest, &schema, &value(70)).expect("fits");
        let fault = schemas.check(digest, &schema, &value(120)).expect_err("too deep");
        assert!(fault.public.contains("too deep"), "{}", fault.public);
    }

    /// A schema of this shape; `number` makes each another.
    fn shaped(shape: &str, number: usize) -> Schema {
        let of = |count: usize, one: &dyn Fn(usize) -> serde_json::Value| -> serde_json::Value {
            let members = (0..count).map(|index| (format!("m{number}_{index}"), one(index)));
            json!({"type": "object", "properties": members.collect::<serde_json::Map<_, _>>()})
        };
        let schema = match shape {
            "tiny" => json!({"type": "object", "title": number.to_string()}),
            "plain" => of(5, &|index| json!({"type": "string", "description": format!("What number {index} is for.")})),
            "many properties" => of(500, &|_| json!({"type": "string"})),
            "empty properties" => of(500, &|_| json!({})),
            "required" => {
                let names: Vec<String> = (0..500).map(|index| format!("m{number}_{index}")).collect();
                json!({"type": "object", "required": names})
            }
            "deep" => (0..100).fold(
                json!({"type": "string", "title": number.to_string()}),
                |inner, _| json!({"type": "object", "properties": {"a": inner}, "additionalProperties": false}),
            ),
            "enum" => {
                let words: Vec<String> = (0..500).map(|index| format!("word {number} {index}")).collect();
                json!({"type": "object", "properties": {"a": {"enum": words}}})
            }
            "enum of objects" => {
                let all: Vec<_> = (0..200).map(|index| json!({"a": {"b": [number, index]}})).collect();
                json!({"enum": all})
            }
            "small enums" => of(300, &|index| json!({"enum": [index]})),
            "const" => of(300, &|index| json!({"const": {"a": index, "b": [1, 2, 3]}})),
            "letters" => json!({"type": "string", "pattern": format!("^\\p{{L}}{{8}}{number}$")}),
            "any character" => json!({"type": "string", "pattern": format!("^.{{0,200}}{number}$")}),
            "looking around" => of(100, &|index| json!({"pattern": format!("^(?!b{index})a+$")})),
            "any of" => {
                let all: Vec<_> = (0..300)
                    .map(|index| json!({"type": "object", "required": [format!("{number}_{index}")]}))
                    .collect();
                json!({"anyOf": all})
            }
            "one of objects" => {
                let all: Vec<_> =
                    (0..100).map(|index| of(3, &|_| json!({"type": "integer", "minimum": index}))).collect();
                json!({"oneOf": all})
            }
            "recursion" => {
                let defs: serde_json::Map<_, _> = (0..100)
                    .map(|index| {
                        (
                            format!("d{index}"),
                            json!({"properties": {"next": {"$ref": format!("#/$defs/d{}", (index + 1) % 100)}}}),
                        )
                    })
                    .collect();
                json!({"$ref": "#/$defs/d0", "$defs": defs, "title": number.to_string()})
            }
            "long text" => json!({"type": "object", "description": "x".repeat(200_000), "title": number.to_string()}),
            "lists without meaning" => json!({"type": "object", "x": vec![number; 20_000]}),
            other => panic!("{other}"),
        };
        Schema(schema.into())
    }

    /// Bytes that a schema of each shape was measured to take when it was compiled.
    const MEASURED: [(&str, u32); 18] = [
        ("tiny", 2_142),
        ("plain", 9_070),
        ("many properties", 484_488),
        ("empty properties", 191_488),
        ("required", 43_144),
        ("deep", 474_248),
        ("enum", 69_222),
        ("enum of objects", 424_140),
        ("small enums", 361_745),
        ("const", 519_918),
        ("letters", 205_619),
        ("any character", 151_005),
        ("looking around", 1_779_029),
        ("any of", 321_945),
        ("one of objects", 491_724),
        ("recursion", 65_262),
        ("long text", 196_676),
        ("lists without meaning", 1_440_017),
    ];

    #[test]
    fn a_compiled_schema_weighs_no_less_than_it_was_measured_to_take() {
        for (shape, measured) in MEASURED {
            let usable = compile(&shaped(shape, 7)).unwrap_or_else(|why| panic!("{shape}: {why}"));
            assert!(usable.weight >= measured, "{shape}: {} of {measured}", usable.weight);
        }
    }
}
