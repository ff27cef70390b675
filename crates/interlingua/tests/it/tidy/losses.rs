//! Names of losses: every codec takes them from the lists of the model, and `docs/losses.md` says what each means.

use std::fs;

use interlingua_model::{NAMES, PART_NAMES};

use super::{Tracked, root_file, tracked};

/// Names that are made from what was lost, as `docs/losses.md` writes them.
const MADE: [&str; 3] = ["message.MEMBER", "submessages[INDEX]", "COUNT notifications"];

/// What comes after `before` in a text, up to the next quotation mark.
fn quoted<'a>(text: &'a str, before: &str) -> Vec<&'a str> {
    text.split(before).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

/// Sources of the program, without their unit tests.
fn sources() -> Vec<(String, String)> {
    let is_test = |path: &str| path.contains("/tests/") || path.ends_with("/tests.rs") || path.contains("/testkit/");
    let is_program = |file: &Tracked| file.path.starts_with("crates/") && file.path.contains("/src/");
    let files = tracked(".rs").into_iter().filter(|file| is_program(file) && !is_test(&file.path));
    let code = |file: Tracked| {
        let code = file.text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned();
        (file.path, code)
    };
    files.map(code).collect()
}

#[test]
fn the_names_of_losses_come_from_one_list() {
    let (mut wrong, mut used) = (Vec::new(), Vec::new());
    for (path, code) in sources() {
        let whole = quoted(&code, "Loss::new(\"").into_iter().filter(|name| *name != "message: more unknown members");
        for name in whole {
            used.push(name.to_owned());
            if !NAMES.iter().any(|(known, _)| *known == name) {
                wrong.push(format!("{path}: {name}"));
            }
        }
        for before in ["way.part(\"", "Way::Input.part(\"", "Way::Output.part(\""] {
            let unknown = quoted(&code, before).into_iter().filter(|name| !PART_NAMES.contains(name));
            wrong.extend(unknown.map(|name| format!("{path}: {name}")));
        }
    }
    assert!(wrong.is_empty(), "not in the lists of crates/model/src/loss.rs:\n{}", wrong.join("\n"));
    let unused: Vec<&str> =
        NAMES.iter().map(|(name, _)| *name).filter(|name| !used.iter().any(|one| one == name)).collect();
    assert!(unused.is_empty(), "nobody loses these: {unused:?}");
}

#[test]
fn docs_losses_says_what_every_name_means() {
    let page = fs::read_to_string(root_file("docs/losses.md")).expect("the page");
    let missing = |name: &str| !page.contains(&format!("| `{name}` |"));
    let names = NAMES.iter().map(|(name, _)| (*name).to_owned());
    let parts = PART_NAMES.iter().flat_map(|name| ["input", "output"].map(|way| format!("{way}.parts.{name}")));
    let part_of = |name: &String| {
        name.contains(".parts.") && page.contains(&format!("| `…{}` |", &name[name.find(".parts").unwrap_or(0)..]))
    };
    let absent: Vec<String> =
        names.chain(parts).chain(MADE.map(str::to_owned)).filter(|name| missing(name) && !part_of(name)).collect();
    assert!(absent.is_empty(), "docs/losses.md lacks {absent:?}");
    for (name, meaning) in NAMES {
        assert!(page.contains(&format!("| `{name}` | {meaning} |")), "{name}: {meaning}");
    }
}
