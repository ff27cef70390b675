//! Everything from the Python package registry is pinned by its checksum.

use super::{paths, root_file, tracked};

/// Lines that end in a backslash go on; comments are left out.
fn joined(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#')).collect::<Vec<_>>().join("\n");
    lines.replace("\\\n", " ").lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect()
}

/// `name==version`, whatever follows.
fn is_requirement(line: &str) -> bool {
    let named = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.[]".contains(c));
    line.split_once("==").is_some_and(|(name, _)| named(name))
}

#[test]
fn every_package_of_python_is_pinned_by_its_checksum() {
    let mut files = 0;
    for file in tracked(".txt") {
        let lines = joined(&file.text);
        if !lines.iter().any(|line| is_requirement(line)) {
            continue;
        }
        files += 1;
        let loose: Vec<&String> =
            lines.iter().filter(|line| !(is_requirement(line) && line.contains("--hash=sha256:"))).collect();
        assert!(loose.is_empty(), "{} takes what it does not know the checksum of: {loose:?}", file.path);
    }
    assert!(files >= 6, "the pins of the reference programs are found: {files}");
}

#[test]
fn every_script_that_installs_packages_of_python_wants_their_checksums() {
    let mut installs = 0;
    for path in paths().into_iter().filter(|path| path.starts_with("scripts/")) {
        let text = std::fs::read_to_string(root_file(&path)).unwrap_or_default();
        for line in joined(&text).iter().filter(|line| line.contains("pip install")) {
            installs += 1;
            assert!(line.contains("--require-hashes"), "{path}: {line}");
        }
    }
    assert!(installs >= 2, "{installs}");
}

#[test]
fn requirements_are_told_from_other_lines() {
    assert!(is_requirement("uvicorn==0.54.0 --hash=sha256:0") && is_requirement("mcp[cli]==1.0"));
    assert!(!is_requirement("when a == b") && !is_requirement("==1.0"));
    assert_eq!(joined("# no\na==1 \\\n    --hash=sha256:0\n"), ["a==1      --hash=sha256:0"]);
}
