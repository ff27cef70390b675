//! `--save DIR`: writes the images and files of a result to a folder. Their names come from peers: each becomes one plain name inside the
//! folder, and an existing file is overwritten only if that was requested.

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::arguments::SaveArguments;
use super::client::Client;
use super::screen::{Screen, plain};
use super::{Exit, Failure};
use interlingua_api::view::{PartKind, PartView};

/// In bytes: longer names are cut in front of their ending.
const LONGEST: usize = 100;
const ENDING: usize = 12;

/// Saves what these parts hold, and says where. What is too large to travel along is fetched from the hub first.
pub(super) async fn fetch_and_save(
    client: &Client,
    screen: Screen,
    arguments: &SaveArguments,
    mut parts: Vec<PartView>,
) -> Result<(), Failure> {
    if arguments.save.is_none() {
        return Ok(());
    }
    for part in parts.iter_mut().filter(|part| part.kind == PartKind::Blob && part.base64.is_none()) {
        if let Some(url) = &part.url {
            part.base64 = Some(STANDARD.encode(client.bytes(url).await?));
        }
    }
    save(screen, arguments, &parts)
}

/// Saves what these parts hold, and says where.
fn save(screen: Screen, arguments: &SaveArguments, parts: &[PartView]) -> Result<(), Failure> {
    let Some(folder) = &arguments.save else { return Ok(()) };
    let mut saved = Vec::new();
    for part in parts.iter().filter(|part| part.kind == PartKind::Blob) {
        let Some(encoded) = &part.base64 else {
            screen.note(&plain(&format!("{} stays at the hub, which tells no address for it", shown(part))));
            continue;
        };
        let bytes =
            STANDARD.decode(encoded).map_err(|_| Failure::new(Exit::Failed, "a file of the result is damaged"))?;
        fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
        let place = folder.join(free(&name(part, saved.len() + 1), &saved));
        write(&place, &bytes, arguments.force)?;
        screen.note(&format!("saved {} ({} bytes)", plain(&place.display().to_string()), bytes.len()));
        saved.push(place);
    }
    Ok(())
}

fn write(place: &Path, bytes: &[u8], force: bool) -> Result<(), Failure> {
    if force {
        // Removed first: what a link leads to is not written to.
        match fs::remove_file(place) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(place, &error)),
            Ok(()) | Err(_) => {}
        }
    }
    let created = OpenOptions::new().write(true).create_new(true).open(place);
    created.and_then(|mut file| file.write_all(bytes)).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            Failure::new(Exit::Failed, format!("{} is there already; --force overwrites it", place.display()))
        }
        _ => failed(place, &error),
    })
}

fn failed(place: &Path, error: &std::io::Error) -> Failure {
    Failure::new(Exit::Failed, format!("{}: {}", place.display(), error.kind()))
}

/// What stands for a file in an answer.
pub(super) fn placeholder(part: &PartView) -> String {
    format!("[{}, {} bytes; --save DIR keeps it]", shown(part), part.size.unwrap_or_default())
}

fn shown(part: &PartView) -> &str {
    part.name.as_deref().or(part.uri.as_deref()).unwrap_or("unnamed")
}

/// A name of this folder: the last step of what the peer calls it, in letters, digits, `.`, `-` and `_`, never hidden.
fn name(part: &PartView, number: usize) -> String {
    let called = part.name.as_deref().or_else(|| part.uri.as_deref().map(without_query)).unwrap_or_default();
    let last = called.rsplit(['/', '\\']).next().unwrap_or_default();
    let keep = |c: char| if c.is_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '_' };
    let clean: String = last.trim().trim_start_matches('.').chars().map(keep).collect();
    let clean = clean.trim_end_matches('.');
    let (stem, ending) = match clean.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() && (1..=ENDING).contains(&ending.len()) => (stem, Some(ending)),
        _ => (clean, None),
    };
    let ending = ending.or_else(|| part.media.as_deref().and_then(usual)).map(|ending| format!(".{ending}"));
    let ending = ending.unwrap_or_default();
    let mut stem = if stem.is_empty() { format!("file-{number}") } else { stem.to_owned() };
    while stem.len() + ending.len() > LONGEST {
        stem.pop();
    }
    format!("{stem}{ending}")
}

fn without_query(uri: &str) -> &str {
    uri.split(['?', '#']).next().unwrap_or(uri)
}

/// How files of a type usually end.
fn usual(media: &str) -> Option<&'static str> {
    let bare = media.split(';').next().unwrap_or(media).trim();
    Some(match bare {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "application/pdf" => "pdf",
        "application/json" => "json",
        "audio/mpeg" => "mp3",
        "audio/wav" => "wav",
        "text/html" => "html",
        "text/plain" => "txt",
        _ => return None,
    })
}

/// Two files of one result under one name are two files.
fn free(name: &str, saved: &[PathBuf]) -> String {
    let taken = |name: &str| saved.iter().any(|place| place.file_name().is_some_and(|taken| taken == name));
    let numbered = |number: usize| match name.rsplit_once('.') {
        Some((stem, ending)) => format!("{stem}-{number}.{ending}"),
        None => format!("{name}-{number}"),
    };
    if !taken(name) {
        return name.to_owned();
    }
    (2..).map(numbered).find(|name| !taken(name)).unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blob(name: Option<&str>, media: &str) -> PartView {
        let mut part = PartView::from(&interlingua_model::Part::text("", interlingua_model::Provenance::hub()));
        part.kind = PartKind::Blob;
        part.base64 = Some(STANDARD.encode(b"bytes"));
        part.name = name.map(str::to_owned);
        part.media = Some(media.to_owned());
        part
    }

    fn into(folder: &Path, force: bool) -> SaveArguments {
        SaveArguments { save: Some(folder.to_owned()), force }
    }

    #[test]
    fn names_of_peers_stay_inside_the_folder() {
        for (given, clean) in [
            (Some("page-1.jpg"), "page-1.jpg"),
            (Some("../../etc/passwd"), "passwd.png"),
            (Some("/abs/olute.png"), "olute.png"),
            (Some("..\\..\\evil.exe"), "evil.exe"),
            (Some(".bashrc"), "bashrc.png"),
            (Some(".."), "file-1.png"),
            (Some("a\u{202e}gnp.exe\u{0}\n"), "a_gnp.exe__"),
            (Some(""), "file-1.png"),
            (None, "file-1.png"),
        ] {
            let found = name(&blob(given, "image/png"), 1);
            if clean.ends_with("__") {
                assert!(!found.contains(['\u{0}', '\n', '\u{202e}', '/']), "{found:?}");
            } else {
                assert_eq!(found, clean, "{given:?}");
            }
        }
        assert!(name(&blob(Some(&"x".repeat(5_000)), "image/png"), 1).len() <= LONGEST);
    }

    #[test]
    fn nothing_is_overwritten_unless_that_was_asked_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let (screen, parts) = (Screen::people(), [blob(Some("a.png"), "image/png"), blob(Some("a.png"), "image/png")]);
        save(screen, &into(folder.path(), false), &parts).expect("saved");
        assert!(folder.path().join("a.png").exists() && folder.path().join("a-2.png").exists());
        let refused = save(screen, &into(folder.path(), false), &parts).expect_err("they are there");
        assert!(refused.message.contains("--force"), "{}", refused.message);
        // A link where a file is to be: the link goes, what it led to stays.
        let kept = folder.path().join("kept");
        fs::write(&kept, "mine").expect("written");
        fs::remove_file(folder.path().join("a.png")).expect("removed");
        std::os::unix::fs::symlink(&kept, folder.path().join("a.png")).expect("a link");
        save(screen, &into(folder.path(), true), &parts).expect("saved");
        assert_eq!(fs::read(folder.path().join("a.png")).expect("read"), b"bytes");
        assert_eq!(fs::read_to_string(&kept).expect("read"), "mine");
    }
}
