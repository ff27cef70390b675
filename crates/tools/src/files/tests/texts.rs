//! The contract of each tool when it is allowed to work.

use super::*;
use crate::files::diff::unified;
use crate::files::glob::Glob;
use interlingua_machines::words::{Match, Matcher};
use interlingua_model::Time;
use proptest::prelude::*;

fn small() -> Limits {
    Limits {
        read_bytes: 10,
        write_bytes: 10,
        edit_bytes: 10,
        directory_entries: 2,
        search_results: 2,
        ..Limits::default()
    }
}

fn bounded(ground: &Ground) -> Workspace {
    Workspace::open(RootSpec::workspace(ground.path("work")), &[], small()).unwrap().0
}

fn part(workspace: &Workspace, arguments: Tree) -> (String, bool) {
    let output = call(workspace, "read_file", arguments).unwrap();
    let tree = structured(&output);
    (tree["content"].as_str().unwrap().to_owned(), tree["truncated"].as_bool().unwrap())
}

#[test]
fn the_head_and_the_tail_of_a_file_are_read() {
    let ground = Ground::new();
    ground.put("work/a.txt", "one\ntwo\nthree\n");
    let workspace = ground.plain();
    assert_eq!(part(&workspace, json!({ "path": "a.txt" })), ("one\ntwo\nthree\n".into(), false));
    assert_eq!(part(&workspace, json!({ "path": "a.txt", "head": 2 })), ("one\ntwo\n".into(), true));
    assert_eq!(part(&workspace, json!({ "path": "a.txt", "head": 3.0 })), ("one\ntwo\nthree\n".into(), false));
    assert_eq!(part(&workspace, json!({ "path": "a.txt", "tail": 1 })), ("three\n".into(), true));
    assert_eq!(part(&workspace, json!({ "path": "a.txt", "tail": 9 })), ("one\ntwo\nthree\n".into(), false));
    let both = call(&workspace, "read_file", json!({ "path": "a.txt", "head": 1, "tail": 1 })).unwrap_err();
    assert_eq!(both.kind, FaultKind::InvalidInput);
    let none = call(&workspace, "read_file", json!({ "path": "a.txt", "head": 0 })).unwrap_err();
    assert_eq!(none.kind, FaultKind::InvalidInput);
}

#[test]
fn a_large_file_is_read_in_part_only() {
    let ground = Ground::new();
    ground.put("work/a.txt", "ññññññññ\n0123456789\n");
    let workspace = bounded(&ground);
    assert_eq!(read(&workspace, "a.txt").unwrap_err(), FaultKind::TooLarge);
    assert_eq!(part(&workspace, json!({ "path": "a.txt", "head": 1 })), ("ñññññ".into(), true));
    assert_eq!(part(&workspace, json!({ "path": "a.txt", "tail": 2 })), ("123456789\n".into(), true));
}

#[test]
fn writes_and_edits_are_bounded() {
    let ground = Ground::new();
    ground.put("work/a.txt", "0123456789x").put("work/b.txt", "b");
    let workspace = bounded(&ground);
    assert_eq!(write(&workspace, "c.txt", "0123456789x").unwrap_err(), FaultKind::TooLarge);
    let edit = |path: &str| json!({ "path": path, "edits": [{ "oldText": "b", "newText": "0123456789x" }] });
    assert_eq!(call(&workspace, "edit_file", edit("a.txt")).unwrap_err().kind, FaultKind::TooLarge);
    assert_eq!(call(&workspace, "edit_file", edit("b.txt")).unwrap_err().kind, FaultKind::TooLarge);
}

#[test]
fn a_failed_write_leaves_nothing_behind() {
    let ground = Ground::new();
    ground.put("work/a.txt", "a").put("work/dir/x", "x");
    let workspace = ground.plain();
    assert!(write(&workspace, "a.txt", "b").is_err());
    assert!(write(&workspace, "dir", "b").is_err());
    write(&workspace, "new/b.txt", "b").unwrap();
    let mut names: Vec<_> =
        fs::read_dir(ground.path("work")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.txt", "dir", "new"]);
}

#[test]
fn an_edit_keeps_the_mode_and_returns_a_diff() {
    use std::os::unix::fs::PermissionsExt;
    let ground = Ground::new();
    ground.put("work/run.sh", "#!/bin/sh\necho one\necho two\n");
    fs::set_permissions(ground.path("work/run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let workspace = ground.plain();
    let arguments =
        |dry: bool| json!({ "path": "run.sh", "edits": [{ "oldText": "one", "newText": "1" }], "dryRun": dry });
    let expected = "--- a/run.sh\n+++ b/run.sh\n@@ -1,3 +1,3 @@\n #!/bin/sh\n-echo one\n+echo 1\n echo two\n";
    let dry = call(&workspace, "edit_file", arguments(true)).unwrap();
    assert_eq!(structured(&dry), &json!({ "path": "run.sh", "diff": expected, "applied": false }));
    assert_eq!(ground.text("work/run.sh"), "#!/bin/sh\necho one\necho two\n");
    let done = call(&workspace, "edit_file", arguments(false)).unwrap();
    assert_eq!(structured(&done), &json!({ "path": "run.sh", "diff": expected, "applied": true }));
    assert_eq!(ground.text("work/run.sh"), "#!/bin/sh\necho 1\necho two\n");
    assert_eq!(fs::metadata(ground.path("work/run.sh")).unwrap().permissions().mode() & 0o777, 0o755);
}

#[test]
fn edits_are_made_all_or_none_and_never_guessed() {
    let ground = Ground::new();
    ground.put("work/a.txt", "same\nsame\nother\n");
    let workspace = ground.plain();
    let edit = |edits: Tree| call(&workspace, "edit_file", json!({ "path": "a.txt", "edits": edits }));
    let twice =
        edit(json!([{ "oldText": "other", "newText": "x" }, { "oldText": "same", "newText": "y" }])).unwrap_err();
    assert_eq!(twice.kind, FaultKind::InvalidInput);
    assert_eq!(&*twice.fields[0].path, "edits[1].oldText");
    let absent = edit(json!([{ "oldText": "absent", "newText": "x" }])).unwrap_err();
    assert_eq!(&*absent.fields[0].problem, "was not found");
    assert!(edit(json!([])).is_err());
    assert!(edit(json!([{ "oldText": "", "newText": "x" }])).is_err());
    assert_eq!(ground.text("work/a.txt"), "same\nsame\nother\n");
}

#[test]
fn an_edit_finds_lines_with_another_indentation() {
    let ground = Ground::new();
    ground.put("work/a.py", "def f():\n    if x:\n        return 1\n    return 2\n");
    let edits = json!([{ "oldText": "if x:\n    return 1", "newText": "if y:\n    return 3" }]);
    call(&ground.plain(), "edit_file", json!({ "path": "a.py", "edits": edits })).unwrap();
    assert_eq!(ground.text("work/a.py"), "def f():\n    if y:\n        return 3\n    return 2\n");
}

#[test]
fn an_edit_keeps_windows_line_ends() {
    let ground = Ground::new();
    ground.put("work/a.txt", "one\r\ntwo\r\n");
    let edits = json!([{ "oldText": "one\ntwo", "newText": "1\n2" }]);
    call(&ground.plain(), "edit_file", json!({ "path": "a.txt", "edits": edits })).unwrap();
    assert_eq!(ground.text("work/a.txt"), "1\r\n2\r\n");
}

#[test]
fn a_directory_is_listed_by_name_and_bounded() {
    let ground = Ground::new();
    ground.put("work/b.txt", "").put("work/a/x", "").link("b.txt", "work/c");
    let listed = call(&ground.plain(), "list_directory", json!({ "path": "." })).unwrap();
    let entries = json!([
        { "name": "a", "kind": "directory" }, { "name": "b.txt", "kind": "file" }, { "name": "c", "kind": "link" },
    ]);
    assert_eq!(structured(&listed), &json!({ "path": ".", "entries": entries, "truncated": false }));
    assert_eq!(listed.parts[0].as_text(), Some("[DIR] a\n[FILE] b.txt\n[LINK] c"));
    let bounded = call(&bounded(&ground), "list_directory", json!({ "path": "." })).unwrap();
    assert_eq!(structured(&bounded)["truncated"], json!(true));
    assert_eq!(structured(&bounded)["entries"].as_array().unwrap().len(), 2);
}

#[test]
fn a_search_matches_globs_and_leaves_out_what_is_excluded() {
    let ground = Ground::new();
    for path in ["a.txt", "deep/b.txt", "deep/er/c.txt", "deep/er/d.md", "node_modules/e.txt", ".hidden.txt"] {
        ground.put(&format!("work/{path}"), "");
    }
    let workspace = ground.plain();
    let search = |path: &str, pattern: &str, exclude: &[&str]| {
        let arguments = json!({ "path": path, "pattern": pattern, "excludePatterns": exclude });
        structured(&call(&workspace, "search_files", arguments).unwrap())["matches"].clone()
    };
    assert_eq!(search(".", "*.txt", &[]), json!([".hidden.txt", "a.txt"]));
    assert_eq!(
        search(".", "**/*.txt", &["node_modules"]),
        json!([".hidden.txt", "a.txt", "deep/b.txt", "deep/er/c.txt"])
    );
    assert_eq!(search("deep", "**/*.{txt,md}", &["er/**"]), json!(["deep/b.txt"]));
    assert_eq!(search("deep/", "er/[cd].*", &[]), json!(["deep/er/c.txt", "deep/er/d.md"]));
    assert_eq!(search(".", "**/er", &[]), json!(["deep/er"]));
    let few = call(&bounded(&ground), "search_files", json!({ "path": ".", "pattern": "**" })).unwrap();
    assert_eq!(structured(&few)["truncated"], json!(true));
}

#[test]
fn unknown_arguments_are_refused() {
    let ground = Ground::new();
    let fault = call(&ground.plain(), "list_directory", json!({ "path": ".", "sort": "size" })).unwrap_err();
    assert_eq!(fault.kind, FaultKind::InvalidInput);
}

#[test]
fn every_skill_has_schemas_phrases_in_two_languages_and_examples() {
    for skill in Workspace::skills(&PeerId::from("local")) {
        assert!(skill.output.is_some(), "{}", skill.id);
        assert!(!skill.examples.is_empty(), "{}", skill.id);
        assert_eq!(skill.input.0.get("additionalProperties"), Some(&json!(false)), "{}", skill.id);
        if &*skill.id.skill.0 != "edit_file" {
            assert!(["en", "es"].iter().all(|locale| skill.phrases.iter().any(|phrase| &*phrase.locale == *locale)));
        }
    }
}

#[test]
fn every_phrase_can_be_used_and_says_what_it_means() {
    let skills = Workspace::skills(&PeerId::from("local"));
    let (matcher, problems) = Matcher::compile(&skills);
    assert_eq!(problems, []);
    let said = [
        ("read notes.txt", "read_file", json!({ "path": "notes.txt" })),
        ("show me the last 3 lines of log.txt", "read_file", json!({ "path": "log.txt", "tail": 3 })),
        ("lee el archivo docs/notas.txt", "read_file", json!({ "path": "docs/notas.txt" })),
        ("list files in .", "list_directory", json!({ "path": "." })),
        ("lista el directorio informes", "list_directory", json!({ "path": "informes" })),
        ("search for **/*.md in docs", "search_files", json!({ "path": "docs", "pattern": "**/*.md" })),
        ("escribe hola en a.txt", "write_file", json!({ "path": "a.txt", "content": "hola" })),
    ];
    for (text, name, args) in said {
        match matcher.match_words(text, Time(0), None, |_| true) {
            Match::One(found) => {
                assert_eq!((found.skill.skill.as_str(), found.args.tree()), (name, &args), "{text}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn a_pattern_made_to_be_slow_is_not() {
    let glob = Glob::compile(&format!("{}b", "*a".repeat(500))).unwrap();
    assert!(!glob.matches(&["a".repeat(200)]));
    let deep = Glob::compile(&format!("{}x", "**/*a/".repeat(100))).unwrap();
    assert!(!deep.matches(&vec!["a".to_owned(); 64]));
    assert!(Glob::compile(&"{a,b,c}".repeat(20)).is_err());
}

/// Applies a unified diff to lines: the other way to get from before to after.
fn patched(before: &str, diff: &str) -> String {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let (mut out, mut at) = (String::new(), 0);
    let mut lines = diff.split_inclusive('\n').skip(2).peekable();
    while let Some(line) = lines.next() {
        if let Some(rest) = line.strip_prefix("@@ -") {
            let (start, rest) = rest.split_once(',').unwrap();
            let count: usize = rest.split(' ').next().unwrap().parse().unwrap();
            let begin = start.parse::<usize>().unwrap() - usize::from(count > 0);
            old[at..begin].iter().for_each(|line| out.push_str(line));
            at = begin;
            continue;
        }
        let bare = lines.next_if(|next| next.starts_with('\\')).is_some();
        let body = if bare { line[1..].strip_suffix('\n').unwrap() } else { &line[1..] };
        match &line[..1] {
            "+" => out.push_str(body),
            "-" => {
                assert_eq!(old[at], body);
                at += 1;
            }
            _ => {
                assert_eq!(old[at], body);
                out.push_str(body);
                at += 1;
            }
        }
    }
    old[at..].iter().for_each(|line| out.push_str(line));
    out
}

proptest! {
    #[test]
    fn a_diff_leads_from_before_to_after(before in "([abc]\n){0,30}[ab]?", after in "([abc]\n){0,30}[ab]?") {
        prop_assert_eq!(patched(&before, &unified("f", &before, &after)), after);
    }

    #[test]
    fn no_path_or_pattern_panics(path in any::<String>(), pattern in any::<String>()) {
        let ground = Ground::new();
        let workspace = ground.plain();
        let _ = read(&workspace, &path);
        let _ = write(&workspace, &path, "x");
        let _ = call(&workspace, "search_files", json!({ "path": ".", "pattern": pattern }));
        prop_assert!(!ground.path("x").exists());
    }
}

#[test]
fn texts_with_nothing_in_common_still_make_a_right_diff() {
    let before: String = (0..2_000).map(|n| format!("a{n}\n")).collect();
    let after: String = (0..2_000).map(|n| format!("b{n}\n")).collect();
    assert_eq!(patched(&before, &unified("f", &before, &after)), after);
}
