//! Crates that are published: every one packs, and holds all that it needs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use interlingua_testkit::root;
use serde_json::Value;

use super::{root_file, tracked};

/// For tests and fuzzing; no program needs them.
const PRIVATE: [&str; 4] =
    ["interlingua-fuzz", "interlingua-mcp-fixture", "interlingua-store-contract", "interlingua-testkit"];
/// Registries take no larger one.
const LARGEST: u64 = 10 << 20;

fn cargo(arguments: &[&str]) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(arguments).current_dir(root()).env_remove("CARGO_TARGET_DIR");
    cargo
}

fn packages() -> Vec<Value> {
    let said =
        cargo(&["metadata", "--format-version=1", "--no-deps", "--locked", "--offline"]).output().expect("cargo");
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let metadata: Value = serde_json::from_slice(&said.stdout).expect("JSON");
    metadata["packages"].as_array().expect("packages").clone()
}

fn name(package: &Value) -> &str {
    package["name"].as_str().expect("a name")
}

#[test]
fn a_crate_is_published_with_the_others_or_not_at_all() {
    let packages = packages();
    let private = |package: &&Value| package["publish"].as_array().is_some_and(Vec::is_empty);
    let found: BTreeSet<&str> = packages.iter().filter(private).map(name).collect();
    assert_eq!(found, BTreeSet::from(PRIVATE));
    let mut problems = Vec::new();
    for package in packages.iter().filter(|package| !private(package)) {
        let crate_name = name(package);
        assert_eq!(package["version"], env!("CARGO_PKG_VERSION"), "{crate_name}");
        for field in ["description", "license", "readme", "rust_version"] {
            if package[field].as_str().is_none_or(str::is_empty) {
                problems.push(format!("{crate_name} has no {field}"));
            }
        }
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let other = dependency["name"].as_str().expect("a name");
            let needed = dependency["kind"] != "dev" && other.starts_with("interlingua");
            let exact = dependency["req"] == format!("={}", env!("CARGO_PKG_VERSION"));
            if needed && (PRIVATE.contains(&other) || !exact) {
                problems.push(format!("{crate_name} depends on {other} {}", dependency["req"]));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Packs them all, as `cargo publish --workspace` does before it sends them. Nothing is compiled, and no registry is asked.
fn packed(target: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut cargo = cargo(&["package", "--workspace", "--no-verify", "--allow-dirty", "--offline", "--locked"]);
    cargo.args(PRIVATE.iter().flat_map(|name| ["--exclude", name])).arg("--target-dir").arg(target);
    let said = cargo.output().expect("cargo");
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let files = std::fs::read_dir(target.join("package")).expect("packages").flatten();
    let files = files.filter(|file| file.path().extension().is_some_and(|ending| ending == "crate"));
    files
        .map(|file| {
            assert!(file.metadata().expect("a file").len() < LARGEST, "{:?} is too large", file.path());
            let listed = Command::new("tar").arg("-tzf").arg(file.path()).output().expect("tar");
            let listed = String::from_utf8(listed.stdout).expect("UTF-8");
            let inside = listed.lines().filter_map(|path| path.split_once('/').map(|(_, path)| path.to_owned()));
            let whole = file.file_name().to_string_lossy().into_owned();
            let ending = format!("-{}.crate", env!("CARGO_PKG_VERSION"));
            (whole.strip_suffix(&ending).expect("name and version").to_owned(), inside.collect())
        })
        .collect()
}

#[test]
fn every_published_crate_packs_with_its_readme_and_every_file_that_it_includes() {
    let target = tempfile::tempdir().expect("a directory");
    let packed = packed(target.path());
    let published = packages()
        .iter()
        .map(|package| name(package).to_owned())
        .filter(|name| !PRIVATE.contains(&name.as_str()))
        .count();
    assert_eq!(packed.len(), published, "{:?}", packed.keys());
    for (crate_name, files) in &packed {
        assert!(files.contains("README.md") && files.contains("Cargo.toml"), "{crate_name}: {files:?}");
        assert!(!files.iter().any(|file| file.starts_with("tests/it/")), "{crate_name} has the tests of the workspace");
    }
    let manifests = tracked("Cargo.toml").into_iter().filter(|file| file.path.starts_with("crates/"));
    let folders: BTreeMap<String, String> = manifests
        .filter_map(|file| {
            let name = file.text.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))?;
            Some((name.to_owned(), file.path.strip_suffix("Cargo.toml")?.to_owned()))
        })
        .collect();
    let (mut missing, sources) = (Vec::new(), tracked(".rs"));
    for (crate_name, files) in &packed {
        let folder = &folders[crate_name];
        for source in sources.iter().filter(|file| file.path.starts_with(folder.as_str())) {
            let inner = &source.path[folder.len()..];
            if files.contains(inner) && !is_test(inner) {
                missing.extend(included(&source.text).filter_map(|path| lacks(files, inner, path, crate_name)));
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

fn is_test(path: &str) -> bool {
    path.contains("tests/") || path.ends_with("tests.rs") || path.starts_with("examples/")
}

/// The files that a source includes when it is compiled; what its tests include is another matter.
fn included(text: &str) -> impl Iterator<Item = &str> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    let after = ["include_str!(\"", "include_bytes!(\"", "include!(\""]
        .into_iter()
        .flat_map(move |call| text.split(call).skip(1));
    after.filter_map(|rest| rest.split('"').next())
}

/// What is wrong with a file that a source names from where it is.
fn lacks(files: &BTreeSet<String>, source: &str, path: &str, crate_name: &str) -> Option<String> {
    let mut parts: Vec<&str> = source.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            ".." => {
                if parts.pop().is_none() {
                    return Some(format!("{crate_name}: {source} includes {path}, which is outside the crate"));
                }
            }
            "." => {}
            part => parts.push(part),
        }
    }
    let whole = parts.join("/");
    (!files.contains(&whole)).then(|| format!("{crate_name}: {source} includes {path}, which is not packed"))
}

#[test]
fn a_file_outside_of_a_crate_is_found() {
    let files = BTreeSet::from(["src/lib.rs".to_owned(), "src/a.txt".to_owned()]);
    assert_eq!(lacks(&files, "src/lib.rs", "a.txt", "x"), None);
    assert!(lacks(&files, "src/lib.rs", "b.txt", "x").is_some_and(|told| told.contains("not packed")));
    assert!(lacks(&files, "src/lib.rs", "../../fixtures/a.txt", "x").is_some_and(|told| told.contains("outside")));
    let planted = "const A: &str = include_str!(\"a.txt\");\n#[cfg(test)]\nmod tests {\n include_str!(\"no.txt\") }";
    assert_eq!(included(planted).collect::<Vec<_>>(), ["a.txt"]);
}

#[test]
fn the_changelog_has_the_version_that_is_built() {
    let text = std::fs::read_to_string(root_file("CHANGELOG.md")).expect("a changelog");
    assert!(
        text.contains(&format!("\n## {} ", env!("CARGO_PKG_VERSION"))),
        "no section for {}",
        env!("CARGO_PKG_VERSION")
    );
}
