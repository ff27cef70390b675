//! Rule loader: parses rule files, checks them against the schema, names the rules, and reports every problem with its position.

use std::collections::HashMap;
use std::sync::Arc;

use cedar_policy::{Policy, PolicyId, PolicySet, Schema, ValidationMode, Validator};
use interlingua_model::policy::{Flaw, Named, Noticed, Roles, Ruling, Source};
use interlingua_model::{Digest, Text};
use miette::Diagnostic;

use crate::SCHEMA;
use crate::index::Rule;
use crate::judge::Rules;
use crate::reads::{Reads, agents_in_texts};
use crate::roles::Membership;
use crate::world::Types;

/// How many rules there may be.
const MAX_RULES: usize = 100_000;

pub(crate) fn read(sources: &[Source], roles: &Roles) -> Result<Ruling, Vec<Flaw>> {
    let broken = |error: String| vec![Flaw { source: "schema".into(), at: None, text: error }];
    let (schema, _) = Schema::from_cedarschema_str(SCHEMA).map_err(|error| broken(error.to_string()))?;
    let types = Types::new().map_err(|unfit| broken(unfit.0))?;
    let mut reading = Reading {
        validator: Validator::new(schema),
        types,
        rules: Vec::new(),
        named: HashMap::new(),
        flaws: Vec::new(),
        warnings: Vec::new(),
        names: Vec::new(),
    };
    for source in sources {
        reading.source(source);
    }
    let Reading { types, rules, flaws, warnings, names, .. } = reading;
    if !flaws.is_empty() {
        return Err(flaws);
    }
    let judge = Rules::new(version(sources, roles), types, rules, Membership::new(roles));
    Ok(Ruling { judge: Arc::new(judge), warnings, names })
}

/// What the version of rules begins with: the schema of the first release. Later ones only add to it, so rules that it admits mean
/// what they meant, and an approval that waits for its answer outlives an upgrade.
const FIRST_SCHEMA: &str = include_str!("world-0.1.0.cedarschema");

/// Of the text that was read, so that the same rules read again are the same.
fn version(sources: &[Source], roles: &Roles) -> Digest {
    let files = sources.iter().map(|source| source.text.as_bytes());
    let members =
        roles.0.iter().flat_map(|(role, members)| [role].into_iter().chain(members).map(|name| name.as_bytes()));
    Digest::of_fields([FIRST_SCHEMA.as_bytes()].into_iter().chain(files).chain(members))
}

struct Reading {
    validator: Validator,
    types: Types,
    rules: Vec<Rule>,
    /// Where a name was given first.
    named: HashMap<Text, Place>,
    flaws: Vec<Flaw>,
    warnings: Vec<Flaw>,
    names: Vec<Named>,
}

type Place = (Text, usize);

impl Reading {
    fn source(&mut self, source: &Source) {
        let lines = Lines::of(&source.text);
        let parsed: PolicySet = match source.text.parse() {
            Ok(parsed) => parsed,
            Err(errors) => {
                return self.flaws.extend(errors.iter().map(|error| flaw(source, &lines, error)));
            }
        };
        for template in parsed.templates() {
            let text = "rules with a blank (`?principal`, `?resource`) are not taken: write it out".to_owned();
            let at = lines.find(&template.to_cedar(), 0).map(|(_, place)| place);
            self.flaws.push(Flaw { source: source.name.clone(), at, text });
        }
        let judged = self.validator.validate(&parsed, ValidationMode::Strict);
        self.flaws.extend(judged.validation_errors().map(|error| flaw(source, &lines, error)));
        self.warnings.extend(judged.validation_warnings().map(|warning| flaw(source, &lines, warning)));
        let mut policies: Vec<&Policy> = parsed.policies().collect();
        policies.sort_by_key(|policy| number(policy));
        let mut from = 0;
        for policy in policies {
            let found = lines.find(&policy.to_string(), from);
            let (end, place) = found.unwrap_or((from, (1, 1)));
            from = end;
            self.rule(source, policy, place);
        }
    }

    fn rule(&mut self, source: &Source, policy: &Policy, (line, column): (usize, usize)) {
        let mut refuse = |text: String| {
            self.flaws.push(Flaw { source: source.name.clone(), at: Some((line, column)), text });
        };
        let name: Text = match policy.annotation("id") {
            Some(given) if !given.is_empty() => given.into(),
            Some(_) | None => format!("{}:{line}", source.name).into(),
        };
        if let Some((file, first)) = self.named.get(&name) {
            return refuse(format!("the name `{name}` is given twice; first at {file}:{first}"));
        }
        if self.rules.len() == MAX_RULES {
            return refuse(format!("there are more than {MAX_RULES} rules"));
        }
        let reads = match Reads::of(policy) {
            Ok(reads) => reads,
            Err(text) => return refuse(text),
        };
        for literal in policy.entity_literals() {
            let id = literal.id().unescaped();
            let (what, name) = match id.split_once('/') {
                Some((peer, _)) if self.types.is_skill(&literal) => (Noticed::Peer, peer),
                None if self.types.is_skill(&literal) => {
                    return refuse(format!("`Skill::\"{id}\"` is not a skill's name: write `Skill::\"PEER/SKILL\"`"));
                }
                _ if self.types.is_peer(&literal) => (Noticed::Peer, id),
                _ if self.types.is_role(&literal) => (Noticed::Role, id),
                _ if self.types.is_agent(&literal) => (Noticed::Agent, id),
                _ => continue,
            };
            self.names.push(Named { what, name: name.into(), source: source.name.clone(), line });
        }
        for name in agents_in_texts(policy) {
            self.names.push(Named { what: Noticed::Agent, name: name.into(), source: source.name.clone(), line });
        }
        self.named.insert(name.clone(), (source.name.clone(), line));
        self.rules.push(Rule { policy: policy.new_id(PolicyId::new(&*name)), reads });
    }
}

/// Cedar counts the policies of a text in their order.
fn number(policy: &Policy) -> usize {
    let id: &str = policy.id().as_ref();
    id.trim_start_matches(|letter: char| !letter.is_ascii_digit()).parse().unwrap_or(usize::MAX)
}

/// A text whose places can be told as people count them.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Lines<'a> {
        let after = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Lines { text, starts: [0].into_iter().chain(after).collect() }
    }

    /// Line and column, from 1.
    fn place(&self, offset: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|&start| start <= offset).max(1);
        let before = self.text.get(self.starts[line - 1]..offset).unwrap_or_default();
        (line, before.chars().count() + 1)
    }

    /// Where this piece of the text begins, looked for from a point on; and where it ends.
    fn find(&self, piece: &str, from: usize) -> Option<(usize, (usize, usize))> {
        let start = from + self.text.get(from..)?.find(piece)?;
        Some((start + piece.len(), self.place(start)))
    }
}

fn flaw(source: &Source, lines: &Lines<'_>, error: &dyn Diagnostic) -> Flaw {
    let label = error.labels().and_then(|mut labels| labels.next());
    let at = label.map(|label| lines.place(label.offset()));
    let mut text = plain(&error.to_string());
    if let Some(help) = error.help() {
        text.push_str("; ");
        text.push_str(&plain(&help.to_string()));
    }
    Flaw { source: source.name.clone(), at, text }
}

/// Cedar's own name for a rule says nothing to whoever wrote it: the place does.
fn plain(text: &str) -> String {
    match text.strip_prefix("for policy `").and_then(|rest| rest.split_once("`, ")) {
        Some((_, rest)) => rest.to_owned(),
        None => text.to_owned(),
    }
}
