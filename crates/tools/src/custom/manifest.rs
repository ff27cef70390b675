//! Tool manifest, read and checked. Both forms are accepted: ours with schemas, and a tool definition with a list of `parameters` and
//! `returns`, which can be used unchanged.

use std::path::Path;
use std::time::Duration;

use interlingua_machines::words::Matcher;
use interlingua_model::json::Tree;
use interlingua_model::{CardFrom, Effects, PeerId, Phrase, Schema, Skill, SkillId, SkillKind, Text};
use serde::Deserialize;
use serde_json::{Map, json};

use super::definition::{self, DIALECT, Parameter};
use super::fields::Fields;
use super::program::{self, Program};
use super::reply::ReplyForm;
use crate::files::Tool as FileTool;
use interlingua_process::child::group::Share;

const MAX_NAME: usize = 100;
const MAX_LIST: usize = 64;
const MAX_TEXT: usize = 4096;
const MAX_TIMEOUT: Duration = Duration::from_secs(3600);
const MAX_OUTPUT: usize = 64 * 1024 * 1024;
/// Unless a manifest says otherwise: memory, and how many processors may be busy for all of the timeout.
const MEMORY: usize = 2 * 1024 * 1024 * 1024;
const MAX_MEMORY: usize = 1024 * 1024 * 1024 * 1024;
const PROCESSORS: u32 = 8;
const MAX_CPU: Duration = Duration::from_secs(24 * 3600);

/// Words that mean something else to some callers, in any case.
const RESERVED: [&str; 18] = [
    "connect",
    "disconnect",
    "list",
    "help",
    "version",
    "status",
    "health",
    "ping",
    "debug",
    "admin",
    "system",
    "config",
    "settings",
    "auth",
    "login",
    "logout",
    "exit",
    "quit",
];

/// Bounds of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLimits {
    pub timeout: Duration,
    /// More on standard output ends the call.
    pub stdout: usize,
    /// More on standard error is dropped.
    pub stderr: usize,
    /// How many calls run at once; others wait.
    pub parallel: usize,
    pub share: Share,
}

/// One tool that can be called.
#[derive(Debug, Clone, PartialEq)]
pub struct CustomTool {
    pub skill: Skill,
    pub limits: RunLimits,
    pub reply: ReplyForm,
    pub(super) program: Program,
    /// Variables passed on from the hub's environment.
    pub(super) environment: Vec<String>,
}

/// How effects are written: `reads`, `[writes, idempotent]` or `{ reads: true }`.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected `reads`, `writes`, `destroys`, `spends`, a list of these, or a map of them")]
enum Written {
    Word(Word),
    Words(Vec<Word>),
    Map(Declared),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Reads,
    Writes,
    Destroys,
    Spends,
    Idempotent,
}

/// What was said of effects. Declaring nothing means that anything may change.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Declared {
    reads: bool,
    writes: bool,
    destroys: bool,
    spends: bool,
    idempotent: Option<bool>,
}

impl Default for Declared {
    fn default() -> Self {
        Declared { reads: true, writes: false, destroys: false, spends: false, idempotent: None }
    }
}

impl From<Written> for Declared {
    fn from(written: Written) -> Declared {
        let words = match written {
            Written::Map(declared) => return declared,
            Written::Word(word) => vec![word],
            Written::Words(words) => words,
        };
        let says = |word| words.contains(&word);
        Declared {
            writes: says(Word::Writes),
            destroys: says(Word::Destroys),
            spends: says(Word::Spends),
            idempotent: says(Word::Idempotent).then_some(true),
            ..Declared::default()
        }
    }
}

impl From<Declared> for Effects {
    /// A manifest in the tools directory was put there by the operator: it may say that a tool changes nothing.
    fn from(declared: Declared) -> Effects {
        let change = declared.writes || declared.destroys || declared.spends;
        Effects {
            reads: declared.reads,
            writes: declared.writes,
            destroys: declared.destroys,
            spends: declared.spends,
            idempotent: declared.idempotent.unwrap_or(!change),
            unknown: false,
            calls: false,
            claimed_by: CardFrom::Configuration,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Command {
    Name(String),
    WithArguments(Vec<String>),
}

pub(crate) type Problems = Vec<(Option<String>, String)>;

/// A tool, and what to tell the operator beside it; or only what is wrong. `home` is the manifest's directory.
pub(crate) fn read(tree: Tree, home: &Path, peer: &PeerId) -> Result<(CustomTool, Problems), Problems> {
    let mut fields = Fields::new(tree).map_err(|reason| vec![(None, reason)])?;
    let name = name(&mut fields);
    let description = fields.text("description", MAX_TEXT);
    if description.is_none() {
        fields.problem("description", "is needed: people and models choose by it");
    }
    let input = input(&mut fields);
    let id = SkillId::new(peer.clone(), name.as_deref().unwrap_or_default());
    let effects = effects(&mut fields);
    let mut skill = Skill::new(id, SkillKind::Tool, description.unwrap_or_default(), Schema(input.into()), effects);
    describe(&mut fields, &mut skill);
    let program = program(&mut fields, home, name.as_deref());
    let limits = limits(&mut fields);
    let reply = fields.read("reply").unwrap_or_default();
    let environment = environment(&mut fields);
    let problems = fields.finish();
    match (program, problems.is_empty()) {
        (Some(program), true) => {
            let notes = drop_bad_phrases(&mut skill);
            Ok((CustomTool { skill: skill.sealed(), limits, reply, program, environment }, notes))
        }
        (Some(_) | None, _) => Err(problems),
    }
}

/// Letters, digits, `_`, `.` and `-`; `__` separates peer and skill in some spellings and cannot be part of either.
fn name(fields: &mut Fields) -> Option<String> {
    let Some(name) = fields.text("name", MAX_NAME) else {
        fields.problem("name", "is needed");
        return None;
    };
    let edge = |c: Option<char>| c.is_some_and(|c| "_-.".contains(c));
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c));
    let problem = match name.as_str() {
        _ if !plain => "may have letters, digits, `_`, `.` and `-` only",
        _ if edge(name.chars().next()) || edge(name.chars().next_back()) => "must begin and end with a letter or digit",
        _ if name.contains("__") => "must not contain `__`",
        _ if RESERVED.iter().any(|word| word.eq_ignore_ascii_case(&name)) => "is a reserved word",
        _ if FileTool::ALL.iter().any(|tool| tool.name().eq_ignore_ascii_case(&name)) => {
            "is the name of a built-in tool"
        }
        _ => return Some(name),
    };
    fields.problem("name", problem);
    None
}

/// `input` is a schema; `parameters` is a list; neither means that the tool takes nothing.
fn input(fields: &mut Fields) -> Tree {
    let listed = fields.read::<Vec<Parameter>>("parameters");
    let given = schema(fields, "input");
    match (given, listed) {
        (Some(_), Some(_)) => {
            fields.problem("parameters", "`input` says the same; keep one");
            Tree::Null
        }
        (Some(schema), None) => {
            if schema.get("type").is_some_and(|kind| kind != "object") {
                fields.problem("input", "must describe an object");
            }
            schema
        }
        (None, listed) => definition::input(listed.unwrap_or_default()).unwrap_or_else(|reason| {
            fields.problem("parameters", reason);
            Tree::Null
        }),
    }
}

fn schema(fields: &mut Fields, key: &str) -> Option<Tree> {
    let mut schema = fields.read::<Map<String, Tree>>(key)?;
    schema.entry("$schema").or_insert_with(|| json!(DIALECT));
    Some(Tree::Object(schema))
}

/// S-11: declared, in `effects` or in the definition's `metadata`, never read from the name.
fn effects(fields: &mut Fields) -> Effects {
    let metadata = fields.read::<Map<String, Tree>>("metadata").unwrap_or_default();
    let inner = metadata.get("effects").map(Written::deserialize);
    match (fields.read::<Written>("effects"), inner) {
        (Some(written), _) | (None, Some(Ok(written))) => Declared::from(written).into(),
        (None, Some(Err(error))) => {
            fields.problem("metadata.effects", error.to_string());
            Effects::unknown()
        }
        (None, None) => Effects::unknown(),
    }
}

fn describe(fields: &mut Fields, skill: &mut Skill) {
    if let Some(title) = fields.text("title", MAX_TEXT) {
        skill.title = title.into();
    }
    if let Some(version) = fields.text("version", MAX_NAME) {
        skill.version = version.into();
    }
    let returns = fields.read::<Map<String, Tree>>("returns").map(definition::output);
    skill.output = schema(fields, "output").or(returns).map(|schema| Schema(schema.into()));
    skill.category = fields.text("category", MAX_NAME).map(Text::from);
    skill.capability = fields.text("capability", MAX_NAME).map(Text::from);
    skill.tags = fields.list("tags", MAX_LIST);
    skill.examples = fields.list("examples", MAX_LIST).into_iter().map(example).collect();
    skill.phrases = phrases(fields);
}

/// A sentence, or a call written out.
fn example(example: Tree) -> Text {
    match example {
        Tree::String(text) => text.into(),
        other => other.to_string().into(),
    }
}

/// Patterns by language: `en: [find flights to {destination}]`.
fn phrases(fields: &mut Fields) -> Vec<Phrase> {
    let by_locale: Map<String, Tree> = fields.read("phrases").unwrap_or_default();
    let mut phrases = Vec::new();
    for (locale, patterns) in by_locale {
        match Vec::<Text>::deserialize(patterns) {
            Ok(patterns) if patterns.len() <= MAX_LIST => {
                phrases.extend(patterns.into_iter().map(|pattern| Phrase { locale: locale.as_str().into(), pattern }));
            }
            Ok(_) => fields.problem("phrases", format!("`{locale}` has more than {MAX_LIST} items")),
            Err(error) => fields.problem("phrases", format!("`{locale}`: {error}")),
        }
    }
    phrases
}

/// A phrase that cannot be used is told and left out; the tool can still be called by name.
fn drop_bad_phrases(skill: &mut Skill) -> Problems {
    let (_, problems) = Matcher::compile([&*skill]);
    skill.phrases.retain(|phrase| problems.iter().all(|problem| problem.pattern != phrase.pattern));
    problems
        .iter()
        .map(|problem| (Some("phrases".to_owned()), format!("`{}`: {}", problem.pattern, problem.problem)))
        .collect()
}

fn program(fields: &mut Fields, home: &Path, name: Option<&str>) -> Option<Program> {
    let command = fields.read::<Command>("command");
    let mut args: Vec<String> = fields.list("args", MAX_LIST);
    let file = match (command, name) {
        (Some(Command::Name(program)), _) => program::named(home, &program),
        (Some(Command::WithArguments(words)), _) => match words.split_first() {
            Some((program, rest)) => {
                args.splice(0..0, rest.iter().cloned());
                program::named(home, program)
            }
            None => Err("is empty".to_owned()),
        },
        (None, Some(name)) => program::of_name(home, name),
        // The missing name was told already.
        (None, None) => return None,
    };
    let directory = home.join(fields.text("directory", MAX_TEXT).unwrap_or_default());
    if !directory.is_dir() {
        fields.problem("directory", "is not a directory");
    }
    match file {
        Ok(file) => Some(Program { file, args: args.into_iter().map(Into::into).collect(), directory }),
        Err(reason) => {
            fields.problem("command", reason);
            None
        }
    }
}

fn limits(fields: &mut Fields) -> RunLimits {
    let parallel = fields.read::<usize>("parallel").unwrap_or(4);
    if !(1..=MAX_LIST).contains(&parallel) {
        fields.problem("parallel", format!("must be from 1 to {MAX_LIST}"));
    }
    let timeout = fields.duration("timeout", Duration::from_secs(30), MAX_TIMEOUT);
    let memory = fields.size("memory", MEMORY, MAX_MEMORY);
    RunLimits {
        timeout,
        stdout: fields.size("stdout", 1024 * 1024, MAX_OUTPUT),
        stderr: fields.size("stderr", 64 * 1024, MAX_OUTPUT),
        parallel,
        share: Share {
            memory: u64::try_from(memory).unwrap_or(u64::MAX),
            cpu: fields.duration("cpu", timeout * PROCESSORS, MAX_CPU),
        },
    }
}

fn environment(fields: &mut Fields) -> Vec<String> {
    let names: Vec<String> = fields.list("environment", MAX_LIST);
    if names.iter().any(|name| name.is_empty() || name.contains(['=', '\0'])) {
        fields.problem("environment", "holds names of variables, without values");
    }
    names
}
