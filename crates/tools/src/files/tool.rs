//! Tool definitions: the five tools as skills with their names and declared effects, and the conversion from checked JSON to a typed call.

use interlingua_model::json::Tree;
use interlingua_model::{
    Body, CardFrom, Effects, Fault, FaultKind, Json, Noun, Output, Owner, Part, PeerId, Phrase, Provenance, Schema,
    Skill, SkillId, SkillKind, Text,
};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error as _};
use serde_json::json;

use super::root::Permission;
use super::workspace::Workspace;
use super::{edit, list, read, search, write};

/// Arguments that hold text to be stored or a pattern to be matched; all others are looked at as paths (S-06).
const CONTENT: [&str; 3] = ["content", "oldText", "newText"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    ReadFile,
    WriteFile,
    EditFile,
    SearchFiles,
    ListDirectory,
}

impl Tool {
    pub const ALL: [Tool; 5] =
        [Tool::ReadFile, Tool::WriteFile, Tool::EditFile, Tool::SearchFiles, Tool::ListDirectory];

    pub fn name(self) -> &'static str {
        match self {
            Tool::ReadFile => "read_file",
            Tool::WriteFile => "write_file",
            Tool::EditFile => "edit_file",
            Tool::SearchFiles => "search_files",
            Tool::ListDirectory => "list_directory",
        }
    }

    pub fn from_name(name: &str) -> Option<Tool> {
        Tool::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// S-11: declared here, never read from the name.
    pub fn effects(self) -> Effects {
        let reads = Effects::reads_only(CardFrom::Configuration);
        match self {
            Tool::ReadFile | Tool::SearchFiles | Tool::ListDirectory => reads,
            Tool::WriteFile => Effects { reads: false, writes: true, ..reads },
            Tool::EditFile => Effects { writes: true, idempotent: false, ..reads },
        }
    }

    /// The permission that follows from the declared effects.
    pub(super) fn needs(self) -> Permission {
        if self.effects().change() { Permission::Write } else { Permission::Read }
    }

    pub fn skill(self, peer: &PeerId) -> Skill {
        let facts = match self {
            Tool::ReadFile => read::facts(),
            Tool::WriteFile => write::facts(),
            Tool::EditFile => edit::facts(),
            Tool::SearchFiles => search::facts(),
            Tool::ListDirectory => list::facts(),
        };
        let id = SkillId::new(peer.clone(), self.name());
        let mut skill = Skill::new(id, SkillKind::Tool, facts.description, Schema(facts.input.into()), self.effects());
        skill.title = facts.title.into();
        skill.output = Some(Schema(facts.output.into()));
        skill.category = Some("filesystem".into());
        skill.tags = vec!["files".into(), "workspace".into()];
        skill.examples = facts.examples.iter().map(|example| Text::from(*example)).collect();
        skill.phrases = facts.phrases.iter().map(|(locale, pattern)| phrase(locale, pattern)).collect();
        skill.sealed()
    }
}

fn phrase(locale: &str, pattern: &str) -> Phrase {
    Phrase { locale: locale.into(), pattern: pattern.into() }
}

/// What each tool's own file says of it.
pub(super) struct Facts {
    pub title: &'static str,
    pub description: &'static str,
    pub input: Tree,
    pub output: Tree,
    pub examples: &'static [&'static str],
    pub phrases: &'static [(&'static str, &'static str)],
}

/// The schema of a closed object.
pub(super) fn object(properties: Tree, required: &[&str]) -> Tree {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

pub(super) fn path_schema(description: &str) -> Tree {
    json!({ "type": "string", "minLength": 1, "maxLength": 4096, "description": description })
}

/// JSON Schema counts 3.0 as an integer, and so do we.
pub(super) fn count<'de, D: Deserializer<'de>>(d: D) -> Result<Option<u64>, D::Error> {
    let Some(number) = Option::<f64>::deserialize(d)? else { return Ok(None) };
    match number >= 1.0 && number <= f64::from(u32::MAX) && number.fract() == 0.0 {
        // Whole and within 32 bits, so nothing is lost.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked in the condition")]
        true => Ok(Some(number as u64)),
        false => Err(D::Error::custom("expected a whole number from 1")),
    }
}

impl Workspace {
    /// The file tools as skills of `peer`.
    pub fn skills(peer: &PeerId) -> Vec<Skill> {
        Tool::ALL.into_iter().map(|tool| tool.skill(peer)).collect()
    }

    /// Calls a tool by name. `peer` marks whose words the answer is. Blocks.
    pub fn call(&self, peer: &PeerId, name: &str, arguments: &Json, owner: &Owner) -> Result<Output, Fault> {
        let tool = Tool::from_name(name)
            .ok_or_else(|| Fault::hub(FaultKind::NotFound(Noun::Skill), format!("no file tool is called {name:?}")))?;
        self.check_arguments(arguments, &CONTENT)?;
        let answer = match tool {
            Tool::ReadFile => self.read_file(&arguments_of(arguments)?)?.answer(),
            Tool::WriteFile => self.write_file(&arguments_of(arguments)?, owner)?.answer(),
            Tool::EditFile => self.edit_file(&arguments_of(arguments)?, owner)?.answer(),
            Tool::SearchFiles => self.search_files(&arguments_of(arguments)?)?.answer(),
            Tool::ListDirectory => self.list_directory(&arguments_of(arguments)?)?.answer(),
        };
        let part = Part::new(answer.body, Provenance::peer(peer.clone()));
        Ok(Output { parts: vec![part], structured: Some(answer.structured.into()), ..Output::default() })
    }
}

/// The same thing twice: for people and for programs.
pub(super) struct Answer {
    pub body: Body,
    pub structured: Tree,
}

impl Answer {
    pub(super) fn text(text: impl Into<Text>, structured: Tree) -> Answer {
        Answer { body: Body::Text { text: text.into(), language: None }, structured }
    }
}

fn arguments_of<T: DeserializeOwned>(arguments: &Json) -> Result<T, Fault> {
    serde_json::from_slice(arguments.as_bytes())
        .map_err(|error| Fault::caller(FaultKind::InvalidInput, format!("the arguments do not fit: {error}")))
}
