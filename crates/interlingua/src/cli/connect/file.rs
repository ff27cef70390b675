//! In-place JSON edit: puts one entry into a JSON file of another program, and removes entries that are named. Everything else in the file is
//! preserved byte for byte; a file that is not plain JSON is not changed. The new file replaces the old one atomically.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::cli::{Exit, Failure};

/// A settings file larger than this is none.
const LARGEST: u64 = 16 << 20;
/// How many copies of one file may be beside it.
const MOST_COPIES: usize = 100;

type Object = IndexMap<String, Box<RawValue>>;

/// What became of the entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Added,
    Replaced,
    None,
}

/// The entry that a list of servers gets, and entries that it loses.
#[derive(Debug)]
pub(super) struct Edit<'a> {
    pub(super) name: &'a str,
    pub(super) entry: &'a Value,
    pub(super) without: &'a [String],
}

/// What was done to a file.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) change: Change,
    /// The file as it was, where entries were removed from it.
    pub(super) copy: Option<PathBuf>,
}

/// Edits the list under `key`.
pub(super) fn put(file: &Path, key: &str, edit: &Edit<'_>) -> Result<Done, Failure> {
    // A link stays one: what it leads to is changed.
    let file = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
    let old = read(&file)?;
    let (new, change) = with(old.as_deref().unwrap_or("{}"), key, edit)
        .map_err(|why| failure(&file, &format!("{why}; it is left as it is, add what `connect` prints by hand")))?;
    let unwritten = |error: &std::io::Error| failure(&file, &format!("cannot be written: {}", error.kind()));
    let copy = match old.filter(|_| change != Change::None && !edit.without.is_empty()) {
        Some(old) => Some(keep(&file, &old).map_err(|error| unwritten(&error))?),
        None => None,
    };
    if change != Change::None {
        replace(&file, &new).map_err(|error| unwritten(&error))?;
    }
    Ok(Done { change, copy })
}

/// The text with the entry in it.
pub(super) fn with(text: &str, key: &str, edit: &Edit<'_>) -> Result<(String, Change), String> {
    let text = if text.trim().is_empty() { "{}" } else { text };
    let mut whole: Object = serde_json::from_str(text).map_err(|error| format!("is not plain JSON ({error})"))?;
    let mut servers: Object = match whole.get(key) {
        Some(servers) => {
            serde_json::from_str(servers.get()).map_err(|_| format!("has something else under `{key}`"))?
        }
        None => Object::new(),
    };
    let listed = servers.len();
    servers.retain(|name, _| name == edit.name || !edit.without.contains(name));
    let before = servers.get(edit.name).map(|old| serde_json::from_str::<Value>(old.get()));
    let change = match before {
        Some(Ok(old)) if old == *edit.entry && servers.len() == listed => return Ok((text.to_owned(), Change::None)),
        Some(_) => Change::Replaced,
        None => Change::Added,
    };
    servers.insert(edit.name.to_owned(), written(edit.entry)?);
    whole.insert(key.to_owned(), around(&servers)?);
    let mut new = serde_json::to_string_pretty(&whole).map_err(|error| error.to_string())?;
    new.push('\n');
    Ok((new, change))
}

/// A copy beside the file, under a name that is free. There may be credentials in it.
fn keep(file: &Path, text: &str) -> std::io::Result<PathBuf> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let names = std::iter::once(format!("{name}.before-interlingua"));
    let names = names.chain((2..=MOST_COPIES).map(|number| format!("{name}.before-interlingua-{number}")));
    let mut taken = std::io::Error::from(std::io::ErrorKind::AlreadyExists);
    for name in names {
        let copy = file.with_file_name(name);
        match fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&copy) {
            Ok(mut out) => {
                out.write_all(text.as_bytes())?;
                out.sync_all()?;
                return Ok(copy);
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => taken = error,
            Err(error) => return Err(error),
        }
    }
    Err(taken)
}

/// The entry as it is written two levels deep, two spaces a level.
fn written(entry: &Value) -> Result<Box<RawValue>, String> {
    let text = serde_json::to_string_pretty(entry).map_err(|error| error.to_string())?;
    RawValue::from_string(text.replace('\n', "\n    ")).map_err(|error| error.to_string())
}

/// The object of all entries, one level deep. The lines of each are indented already.
fn around(servers: &Object) -> Result<Box<RawValue>, String> {
    let written = |name: &str, entry: &RawValue| format!("\n    {}: {}", Value::from(name), entry.get());
    let entries: Vec<String> = servers.iter().map(|(name, entry)| written(name, entry)).collect();
    RawValue::from_string(format!("{{{}\n  }}", entries.join(","))).map_err(|error| error.to_string())
}

/// The text of a file, if it is there.
pub(super) fn read(file: &Path) -> Result<Option<String>, Failure> {
    match fs::metadata(file) {
        Ok(about) if about.len() > LARGEST => Err(failure(file, "is too large for a settings file")),
        Ok(_) => {
            let text = fs::read_to_string(file);
            text.map(Some).map_err(|error| failure(file, &format!("cannot be read: {}", error.kind())))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failure(file, &format!("cannot be read: {}", error.kind()))),
    }
}

/// A reader sees the old file or the new one, never half of one.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let folder = file.parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf);
    fs::create_dir_all(&folder)?;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let draft = folder.join(format!(".{name}.{}", std::process::id()));
    // There may be a token in it: a new file is its owner's alone.
    let draft_of = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft);
    let written = draft_of.and_then(|mut new| {
        if let Ok(about) = fs::metadata(file) {
            new.set_permissions(about.permissions())?;
        }
        new.write_all(text.as_bytes())?;
        new.sync_all()
    });
    let done = written.and_then(|()| fs::rename(&draft, file));
    if done.is_err() {
        let _ = fs::remove_file(&draft);
    }
    done
}

fn failure(file: &Path, why: &str) -> Failure {
    Failure::new(Exit::Failed, format!("{} {why}", file.display()))
}
