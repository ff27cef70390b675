//! The table of targets against the sources: every decoder has a target, every target has seeds, and no folder of seeds has no target.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use interlingua_fuzz::TARGETS;

/// Functions of these names, or whose name begins with one of them and `_`, decode what they are given.
const NAMES: [&str; 9] = ["decode", "parse", "read", "from", "feed", "unescape", "unframe", "convert", "boundary"];
/// What they are given it as.
const GIVEN: [&str; 6] = ["&[u8]", "&'a [u8]", "&str", "&'a str", "Bytes", "Vec<u8>"];

/// Files with such functions that need no target of their own, and why.
const NONE: &[(&str, &str)] = &[
    ("crates/endpoint/src/ports.rs", "looks a session up by its id"),
    ("crates/protocols/envelope/src/inspect.rs", "looks a session up by its id, and reads what the hub itself stored"),
    ("crates/tools/src/files/tool.rs", "one word of a closed list"),
    ("crates/tools/src/custom/run.rs", "it writes to a program"),
    ("crates/net/src/client/oauth/sign_ins.rs", "a mark of a fixed length, compared letter by letter"),
    ("crates/settings/src/document/substitute.rs", "it reads a file that the configuration names"),
    ("crates/protocols/mcp/src/inbound/artifacts.rs", "it reads content from the store"),
    ("crates/protocols/nlip/src/inbound/ws.rs", "the decoders of nlip_json and nlip_cbor"),
    ("crates/protocols/nlip/src/outbound/transport.rs", "the decoders of nlip_json and nlip_cbor"),
    ("crates/interlingua/src/telemetry/log.rs", "a level that the operator writes, read by a library"),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        let name = entry.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // The command line reads what its own hub says, and what stands behind it on the command line.
        if entry.is_dir() && name != "tests" && name != "cli" {
            sources(&entry, found);
        } else if name.ends_with(".rs") && name != "tests.rs" && name != "fuzzing.rs" {
            found.push(entry);
        }
    }
}

/// Does a line begin a function that decodes bytes or text?
fn decodes(line: &str) -> bool {
    let Some((_, rest)) = line.split_once("fn ").filter(|(before, _)| !before.contains("//")) else { return false };
    let Some((name, parameters)) = rest.split_once('(') else { return false };
    let name = name.split('<').next().unwrap_or(name);
    let named =
        NAMES.iter().any(|known| name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('_')));
    let parameters = parameters.split(')').next().unwrap_or(parameters);
    named && GIVEN.iter().any(|given| parameters.contains(given))
}

/// Files, from the root of the project, outside their test modules.
fn decoders() -> BTreeSet<String> {
    let mut files = Vec::new();
    let root = root();
    for folder in ["crates", "crates/protocols"] {
        let crates =
            std::fs::read_dir(root.join(folder)).expect("a folder").map(|entry| entry.expect("an entry").path());
        // The kit of the tests is another program.
        for sources_of in crates.filter(|path| !path.ends_with("testkit")).map(|path| path.join("src")) {
            if sources_of.is_dir() {
                sources(&sources_of, &mut files);
            }
        }
    }
    let decoding = files.into_iter().filter(|file| {
        let text = std::fs::read_to_string(file).expect("a source");
        let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or(&text).to_owned();
        text.lines().any(decodes)
    });
    decoding.map(|file| file.strip_prefix(&root).expect("below the root").to_string_lossy().into_owned()).collect()
}

#[test]
fn every_decoder_has_a_target() {
    let reached: BTreeSet<&str> = TARGETS.iter().flat_map(|target| target.decoders).copied().collect();
    let none: BTreeSet<&str> = NONE.iter().map(|(file, _)| *file).collect();
    let found = decoders();
    let missing: Vec<&String> =
        found.iter().filter(|file| !reached.contains(file.as_str()) && !none.contains(file.as_str())).collect();
    assert!(missing.is_empty(), "decoders without a target in fuzz/src/lib.rs: {missing:#?}");
    let idle: Vec<&&str> = none.iter().filter(|file| reached.contains(*file) || !found.contains(**file)).collect();
    assert!(idle.is_empty(), "excused for nothing: {idle:#?}");
    assert!(NONE.iter().all(|(_, why)| !why.is_empty()));
}

#[test]
fn the_files_of_the_table_exist_and_every_target_names_one() {
    for target in TARGETS {
        assert!(!target.decoders.is_empty(), "{}", target.name);
        for file in target.decoders {
            assert!(root().join(file).is_file(), "{}: {file}", target.name);
        }
    }
}

#[test]
fn targets_and_folders_of_seeds_are_the_same() {
    let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
    assert!(names.is_sorted() && names.windows(2).all(|pair| pair[0] != pair[1]), "sorted, and each once");
    let folder = root().join("fixtures/fuzz");
    let mut folders: Vec<String> = std::fs::read_dir(&folder)
        .expect("the seeds")
        .map(|entry| entry.expect("a folder").file_name().to_string_lossy().into_owned())
        .collect();
    folders.sort();
    assert_eq!(folders, names);
    for name in names {
        assert!(std::fs::read_dir(folder.join(name)).expect("a folder").count() > 0, "{name} has no seeds");
    }
}

#[test]
fn a_decoder_is_known_by_its_name_and_what_it_is_given() {
    for yes in [
        "pub fn decode(frame: &Bytes, limits: &Limits) -> Result<Message, Invalid> {",
        "    fn from_text(text: &str) -> Option<Key> {",
        "pub(super) fn parse(bytes: &'a [u8]) -> Option<Head<'a>> {",
    ] {
        assert!(decodes(yes), "{yes}");
    }
    for no in [
        "fn decoded(text: &str) -> bool {",
        "fn read(&self, digest: Digest) -> Pending<'_, Bytes> {",
        "/// Like fn decode(text: &str)",
        "let read = || decode(text);",
    ] {
        assert!(!decodes(no), "{no}");
    }
}
