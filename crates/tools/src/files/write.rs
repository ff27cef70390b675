//! `write_file`: a new file, or one that the same caller made in this run (S-07). Directories on the way are made.

use interlingua_model::Owner;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::fault::{FileFault, Problem};
use super::temp::{self, Seen};
use super::tool::{Answer, Facts, Tool, object, path_schema};
use super::walk::Missing;
use super::workspace::Workspace;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteFile {
    pub path: String,
    pub content: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Written {
    pub path: String,
    pub bytes: u64,
    /// There was no such file before.
    pub created: bool,
}

pub(super) fn facts() -> Facts {
    Facts {
        title: "Write a file",
        description: "Writes a new text file in the workspace, with the directories it needs. An existing file that is not \
                      empty is refused unless this caller wrote it since the hub started: change such a file with edit_file.",
        input: object(
            json!({
                "path": path_schema("The file, relative to the workspace or absolute within a root declared for writing."),
                "content": { "type": "string", "description": "The whole content." },
            }),
            &["path", "content"],
        ),
        output: object(
            json!({
                "path": { "type": "string" },
                "bytes": { "type": "integer", "minimum": 0 },
                "created": { "type": "boolean", "description": "There was no such file before." },
            }),
            &["path", "bytes", "created"],
        ),
        examples: &["write \"hello\" to notes.txt", "escribe \"hola\" en notas.txt"],
        phrases: &[
            ("en", "write {content:text} (to|into) [the file] {path:path}"),
            ("en", "save {content:text} (as|to) {path:path}"),
            ("es", "escribe {content:text} en [el archivo] {path:path}"),
            ("es", "guarda {content:text} (como|en) {path:path}"),
        ],
    }
}

impl Written {
    pub(super) fn answer(self) -> Answer {
        let verb = if self.created { "created" } else { "replaced" };
        let text = format!("{verb} {} ({} bytes)", self.path, self.bytes);
        Answer::text(text, json!({ "path": self.path, "bytes": self.bytes, "created": self.created }))
    }
}

impl Workspace {
    pub fn write_file(&self, args: &WriteFile, owner: &Owner) -> Result<Written, FileFault> {
        self.write(args, owner).map_err(|problem| problem.at(&args.path))
    }

    fn write(&self, args: &WriteFile, owner: &Owner) -> Result<Written, Problem> {
        let size = args.content.len() as u64;
        let limit = self.limits().write_bytes;
        if size > limit {
            return Err(Problem::TooLarge { size, limit, hint: "" });
        }
        let mut claims = self.claims();
        let place = self.locate(Tool::WriteFile, &args.path, Missing::Create)?;
        let name = place.name()?;
        let seen = Seen::at(&place.dir, name)?;
        match seen {
            None => temp::create(&place.dir, name, args.content.as_bytes())?,
            Some(seen) if self.rights().protects(seen.id) => return Err(Problem::ReadOnly),
            Some(seen) if seen.len > 0 && !claims.holds(&place.real, owner) => return Err(Problem::HasContent),
            Some(seen) => temp::replace(&place.dir, name, seen, args.content.as_bytes())?,
        }
        claims.claim(&place.real, owner);
        Ok(Written { path: args.path.clone(), bytes: size, created: seen.is_none() })
    }
}
