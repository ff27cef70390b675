//! `read_file`: a text file, whole or its first or last lines (S-09: text only).

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::fault::{FileFault, Problem};
use super::tool::{Answer, Facts, Tool, count, object, path_schema};
use super::walk::Missing;
use super::workspace::Workspace;

/// S-09: known by name to hold no text. What is not listed is known by its content.
const BINARY: [&str; 40] = [
    "png", "jpg", "jpeg", "gif", "bmp", "ico", "tiff", "webp", "avif", "heic", "mp3", "wav", "ogg", "flac", "m4a",
    "mp4", "mkv", "avi", "mov", "webm", "zip", "gz", "bz2", "xz", "zst", "7z", "rar", "tar", "pdf", "doc", "docx",
    "xls", "xlsx", "ppt", "pptx", "exe", "dll", "so", "wasm", "sqlite",
];

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadFile {
    pub path: String,
    /// Only this many lines from the beginning.
    #[serde(default, deserialize_with = "count")]
    pub head: Option<u64>,
    /// Only this many lines from the end.
    #[serde(default, deserialize_with = "count")]
    pub tail: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReadText {
    pub path: String,
    pub content: String,
    /// Of the whole file.
    pub bytes: u64,
    /// The file has more than `content`.
    pub truncated: bool,
}

pub(super) fn facts() -> Facts {
    let line_count = |which: &str| json!({ "type": "integer", "minimum": 1, "maximum": u32::MAX, "description": format!("Only this many lines from the {which}; not together with the other end.") });
    let mut input = object(
        json!({
            "path": path_schema("The file, relative to the workspace or absolute within a declared root."),
            "head": line_count("beginning"),
            "tail": line_count("end"),
        }),
        &["path"],
    );
    input["not"] = json!({ "required": ["head", "tail"] });
    Facts {
        title: "Read a file",
        description: "Reads a UTF-8 text file of the workspace, whole or only its first (head) or last (tail) lines.",
        input,
        output: object(
            json!({
                "path": { "type": "string" },
                "content": { "type": "string" },
                "bytes": { "type": "integer", "minimum": 0, "description": "Size of the whole file." },
                "truncated": { "type": "boolean", "description": "The file has more than is given here." },
            }),
            &["path", "content", "bytes", "truncated"],
        ),
        examples: &["read notes.txt", "show the first 10 lines of log.txt", "lee notas.txt"],
        phrases: &[
            ("en", "read [the file] {path:path}"),
            ("en", "show [me] [the file] {path:path}"),
            ("en", "(show|read) [me] [the] first {head:integer} lines of {path:path}"),
            ("en", "(show|read) [me] [the] last {tail:integer} lines of {path:path}"),
            ("es", "lee [el archivo] {path:path}"),
            ("es", "muestra [el archivo] {path:path}"),
            ("es", "(muestra|lee) las primeras {head:integer} líneas de {path:path}"),
            ("es", "(muestra|lee) las últimas {tail:integer} líneas de {path:path}"),
        ],
    }
}

impl ReadText {
    pub(super) fn answer(self) -> Answer {
        let structured = json!({
            "path": self.path, "content": self.content, "bytes": self.bytes, "truncated": self.truncated,
        });
        Answer::text(self.content, structured)
    }
}

impl Workspace {
    pub fn read_file(&self, args: &ReadFile) -> Result<ReadText, FileFault> {
        self.read(args).map_err(|problem| problem.at(&args.path))
    }

    fn read(&self, args: &ReadFile) -> Result<ReadText, Problem> {
        if args.head.is_some() && args.tail.is_some() {
            return Err(Problem::argument("tail", "cannot be combined with `head`"));
        }
        let place = self.locate(Tool::ReadFile, &args.path, Missing::Refuse)?;
        let extension = place.real.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        if BINARY.iter().any(|known| known.eq_ignore_ascii_case(extension)) {
            return Err(Problem::Binary);
        }
        let mut file = place.open_file()?;
        let bytes = file.metadata()?.len();
        let limit = self.limits().read_bytes;
        let (content, truncated) = match (args.head, args.tail) {
            (None, None) => (whole(&mut file, bytes, limit)?, false),
            (Some(lines), _) => head(&mut file, lines, limit)?,
            (None, Some(lines)) => tail(&mut file, bytes, lines, limit)?,
        };
        Ok(ReadText { path: args.path.clone(), content, bytes, truncated })
    }
}

fn whole(file: &mut File, size: u64, limit: u64) -> Result<String, Problem> {
    let bytes = take(file, limit.saturating_add(1))?;
    match u64::try_from(bytes.len()).is_ok_and(|len| len <= limit) {
        true => text(bytes),
        false => Err(Problem::TooLarge { size, limit, hint: "; ask for its head or tail" }),
    }
}

fn head(file: &mut File, lines: u64, limit: u64) -> Result<(String, bool), Problem> {
    let mut bytes = take(file, limit.saturating_add(1))?;
    let cut_by_limit = bytes.len() as u64 > limit;
    let wanted = usize::try_from(lines).unwrap_or(usize::MAX);
    let nth_end = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(wanted - 1).map(|(at, _)| at + 1);
    let end = nth_end.unwrap_or(bytes.len());
    let truncated = cut_by_limit || end < bytes.len();
    bytes.truncate(end);
    if nth_end.is_none() && cut_by_limit {
        trim_broken_end(&mut bytes);
    }
    Ok((text(bytes)?, truncated))
}

fn tail(file: &mut File, size: u64, lines: u64, limit: u64) -> Result<(String, bool), Problem> {
    let from = size.saturating_sub(limit);
    file.seek(SeekFrom::Start(from))?;
    let bytes = take(file, limit)?;
    let wanted = usize::try_from(lines).unwrap_or(usize::MAX);
    let body = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let nth = body.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n').nth(wanted - 1).map(|(at, _)| at + 1);
    // Without the n-th break in reach, the text starts at the first whole character.
    let start = nth.unwrap_or_else(|| match from {
        0 => 0,
        _ => bytes.iter().position(|byte| byte & 0xc0 != 0x80).unwrap_or(bytes.len()),
    });
    Ok((text(bytes[start..].to_vec())?, from > 0 || start > 0))
}

fn take(file: &mut File, limit: u64) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A character cut by the limit is left out.
fn trim_broken_end(bytes: &mut Vec<u8>) {
    if let Err(error) = std::str::from_utf8(bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
}

/// S-09: whatever its name, a file with a NUL byte or without UTF-8 is no text.
pub(super) fn text(bytes: Vec<u8>) -> Result<String, Problem> {
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        Ok(_) | Err(_) => Err(Problem::Binary),
    }
}
