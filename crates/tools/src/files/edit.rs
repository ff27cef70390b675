//! `edit_file`: replaces pieces of text and shows what changed as a unified diff. All edits are made or none.
//!
//! A piece must be found exactly once: an edit that could mean two places is refused rather than guessed. When it is not
//! found as written it is looked for line by line without regard to indentation, which models often get wrong; the new
//! lines are then moved to the indentation found.

use std::io::Read;

use interlingua_model::{Body, Owner};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::diff::unified;
use super::fault::{FileFault, Problem};
use super::read::text;
use super::temp::{self, Seen};
use super::tool::{Answer, Facts, Tool, object, path_schema};
use super::walk::Missing;
use super::workspace::Workspace;

const MAX_EDITS: usize = 200;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct EditFile {
    pub path: String,
    pub edits: Vec<Edit>,
    /// Only show what would change.
    #[serde(default)]
    pub dry_run: bool,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Edit {
    pub old_text: String,
    pub new_text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Edited {
    pub path: String,
    pub diff: String,
    /// False after a dry run, and when the edits changed nothing.
    pub applied: bool,
}

pub(super) fn facts() -> Facts {
    Facts {
        title: "Edit a file",
        description: "Replaces pieces of a text file of the workspace and returns a git-style diff. Each oldText must occur \
                      exactly once; all edits are made or none.",
        input: object(
            json!({
                "path": path_schema("The file, relative to the workspace or absolute within a root declared for writing."),
                "edits": {
                    "type": "array", "minItems": 1, "maxItems": MAX_EDITS, "description": "What to replace, in order.",
                    "items": {
                        "type": "object",
                        "properties": {
                            "oldText": { "type": "string", "minLength": 1, "description": "Text to find; it must occur exactly once." },
                            "newText": { "type": "string", "description": "Text to put in its place." },
                        },
                        "required": ["oldText", "newText"],
                        "additionalProperties": false,
                    },
                },
                "dryRun": { "type": "boolean", "default": false, "description": "Only show what would change." },
            }),
            &["path", "edits"],
        ),
        output: object(
            json!({
                "path": { "type": "string" },
                "diff": { "type": "string", "description": "A unified diff; empty when nothing changed." },
                "applied": { "type": "boolean", "description": "False after a dry run, and when nothing changed." },
            }),
            &["path", "diff", "applied"],
        ),
        examples: &["in notes.txt replace \"teh\" by \"the\"", "en notas.txt cambia \"uno\" por \"dos\""],
        phrases: &[],
    }
}

impl Edited {
    pub(super) fn answer(self) -> Answer {
        let structured = json!({ "path": self.path, "diff": self.diff, "applied": self.applied });
        match self.diff.is_empty() {
            true => Answer::text("nothing changed", structured),
            false => Answer { body: Body::Code { source: self.diff.into(), language: "diff".into() }, structured },
        }
    }
}

impl Workspace {
    pub fn edit_file(&self, args: &EditFile, owner: &Owner) -> Result<Edited, FileFault> {
        self.edit(args, owner).map_err(|problem| problem.at(&args.path))
    }

    fn edit(&self, args: &EditFile, owner: &Owner) -> Result<Edited, Problem> {
        if args.edits.is_empty() || args.edits.len() > MAX_EDITS {
            return Err(Problem::argument("edits", format!("must have from 1 to {MAX_EDITS} items")));
        }
        let mut claims = self.claims();
        let place = self.locate(Tool::EditFile, &args.path, Missing::Refuse)?;
        let name = place.name()?;
        let file = place.open_file()?;
        let seen = Seen::of(&file)?;
        if self.rights().protects(seen.id) {
            return Err(Problem::ReadOnly);
        }
        let before = self.editable(file, seen)?;
        let after = apply(&before, &args.edits)?;
        self.fits(after.len() as u64)?;
        let applied = !args.dry_run && after != before;
        if applied {
            temp::replace(&place.dir, name, seen, after.as_bytes())?;
            claims.touched(&place.real, owner);
        }
        Ok(Edited { path: args.path.clone(), diff: unified(&args.path, &before, &after), applied })
    }

    fn editable(&self, file: std::fs::File, seen: Seen) -> Result<String, Problem> {
        self.fits(seen.len)?;
        let mut bytes = Vec::new();
        file.take(self.limits().edit_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
        self.fits(bytes.len() as u64)?;
        text(bytes)
    }

    fn fits(&self, size: u64) -> Result<(), Problem> {
        let limit = self.limits().edit_bytes;
        if size > limit { Err(Problem::TooLarge { size, limit, hint: "" }) } else { Ok(()) }
    }
}

/// A file whose every line ends with CR LF keeps them, however the edits are spelt.
fn apply(before: &str, edits: &[Edit]) -> Result<String, Problem> {
    let crlf = before.contains("\r\n") && before.matches('\n').count() == before.matches("\r\n").count();
    let plain = |text: &str| text.replace("\r\n", "\n");
    let mut content = if crlf { plain(before) } else { before.to_owned() };
    for (index, edit) in edits.iter().enumerate() {
        content = match crlf {
            true => replace_once(&content, &plain(&edit.old_text), &plain(&edit.new_text), index)?,
            false => replace_once(&content, &edit.old_text, &edit.new_text, index)?,
        };
    }
    Ok(if crlf { content.replace('\n', "\r\n") } else { content })
}

fn replace_once(content: &str, old: &str, new: &str, index: usize) -> Result<String, Problem> {
    let field = || format!("edits[{index}].oldText");
    if old.is_empty() {
        return Err(Problem::argument(field(), "is empty"));
    }
    let mut places = content.match_indices(old);
    match (places.next(), places.next()) {
        (Some((at, _)), None) => Ok([&content[..at], new, &content[at + old.len()..]].concat()),
        (Some(_), Some(_)) => Err(Problem::argument(field(), "occurs more than once; give more of its surroundings")),
        (None, _) => replace_lines(content, old, new).map_err(|reason| Problem::argument(field(), reason)),
    }
}

/// Whole lines compared without their surrounding white space.
fn replace_lines(content: &str, old: &str, new: &str) -> Result<String, &'static str> {
    let lines: Vec<&str> = content.split_inclusive('\n').collect();
    let wanted: Vec<&str> = old.lines().map(str::trim).collect();
    if wanted.iter().all(|line| line.is_empty()) {
        return Err("was not found");
    }
    let same = |window: &[&str]| window.iter().zip(&wanted).all(|(line, wanted)| line.trim() == *wanted);
    let mut places = lines.windows(wanted.len()).enumerate().filter(|(_, window)| same(window)).map(|(at, _)| at);
    let (Some(at), second) = (places.next(), places.next()) else { return Err("was not found") };
    if second.is_some() {
        return Err("occurs more than once; give more of its surroundings");
    }
    let end = at + wanted.len();
    let mut replaced = lines[..at].concat();
    replaced.push_str(&reindented(new, indent(lines[at]), indent(old)));
    if !replaced.ends_with('\n') && lines[end - 1].ends_with('\n') {
        replaced.push('\n');
    }
    replaced.push_str(&lines[end..].concat());
    Ok(replaced)
}

fn indent(line: &str) -> &str {
    let text = line.trim_start_matches([' ', '\t']);
    &line[..line.len() - text.len()]
}

/// Lines that carry the indentation which `old` had carry the found one instead.
fn reindented(new: &str, found: &str, old: &str) -> String {
    let moved = |line: &str| match line.strip_prefix(old) {
        Some(rest) if !line.trim().is_empty() => format!("{found}{rest}"),
        Some(_) | None => line.to_owned(),
    };
    new.split_inclusive('\n').map(moved).collect()
}
