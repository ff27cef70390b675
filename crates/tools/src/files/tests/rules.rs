//! S-01 to S-09 and S-11.

use super::*;
use interlingua_model::{CardFrom, Effects, Feature, Noun};

#[test]
fn s_01_the_workspace_is_written_and_other_kinds_are_read() {
    let ground = Ground::new();
    ground.put("context/a.txt", "a").put("temporary/b.txt", "b").put("previous/c.txt", "c");
    let workspace = ground.open(&[
        RootSpec::context(ground.path("context"), Permission::Read),
        // What it declares does not matter: these kinds are never written.
        RootSpec { permission: Permission::Write, ..RootSpec::temporary(ground.path("temporary")) },
        RootSpec { permission: Permission::Write, ..RootSpec::previous(ground.path("previous")) },
    ]);
    write(&workspace, "new.txt", "new").unwrap();
    assert_eq!(ground.text("work/new.txt"), "new");
    for (path, content) in [("context/a.txt", "a"), ("temporary/b.txt", "b"), ("previous/c.txt", "c")] {
        assert_eq!(read(&workspace, &ground.spelt(path)).unwrap(), content);
        let beside = ground.spelt(path).replace(".txt", ".new");
        assert_eq!(write(&workspace, &beside, "x").unwrap_err(), FaultKind::Denied, "{path}");
        assert!(!Path::new(&beside).exists());
    }
}

#[test]
fn s_01_a_context_declared_for_writing_is_written() {
    let ground = Ground::new();
    ground.put("context/a.txt", "a");
    let workspace = ground.open(&[RootSpec::context(ground.path("context"), Permission::Write)]);
    write(&workspace, &ground.spelt("context/deep/b.txt"), "b").unwrap();
    assert_eq!(ground.text("context/deep/b.txt"), "b");
}

#[test]
fn s_02_symlinks_are_resolved() {
    let ground = Ground::new();
    ground.put("work/real/a.txt", "inside").link("real", "work/door").link(ground.path("outside"), "work/hole");
    ground.link("../outside/secret.txt", "work/peek").link("door/a.txt", "work/chain");
    let workspace = ground.plain();
    assert_eq!(read(&workspace, "door/a.txt").unwrap(), "inside");
    assert_eq!(read(&workspace, "chain").unwrap(), "inside");
    assert_eq!(read(&workspace, "hole/secret.txt").unwrap_err(), FaultKind::Denied);
    assert_eq!(read(&workspace, "peek").unwrap_err(), FaultKind::Denied);
    assert_eq!(write(&workspace, "hole/new.txt", "x").unwrap_err(), FaultKind::Denied);
    assert!(!ground.path("outside/new.txt").exists());
}

#[test]
fn s_02_an_absolute_link_into_a_declared_root_is_followed_with_that_roots_rights() {
    let ground = Ground::new();
    ground.put("context/a.txt", "a").link(ground.path("context"), "work/context");
    let workspace = ground.open(&[RootSpec::context(ground.path("context"), Permission::Read)]);
    assert_eq!(read(&workspace, "context/a.txt").unwrap(), "a");
    assert_eq!(write(&workspace, "context/b.txt", "b").unwrap_err(), FaultKind::Denied);
}

#[test]
fn s_02_parents_are_resolved_and_relative_paths_start_in_the_workspace() {
    let ground = Ground::new();
    ground.put("work/a/b.txt", "b").put("work/c.txt", "c");
    let workspace = ground.plain();
    assert_eq!(read(&workspace, "a/../c.txt").unwrap(), "c");
    assert_eq!(read(&workspace, "./a/./b.txt").unwrap(), "b");
    assert_eq!(read(&workspace, &ground.spelt("work/a/../c.txt")).unwrap(), "c");
    assert_eq!(read(&workspace, "../outside/secret.txt").unwrap_err(), FaultKind::Denied);
    assert_eq!(read(&workspace, "a/../../outside/secret.txt").unwrap_err(), FaultKind::Denied);
    assert_eq!(read(&workspace, &ground.spelt("outside/secret.txt")).unwrap_err(), FaultKind::Denied);
}

#[test]
fn s_02_home_is_resolved() {
    let workspace = Ground::new();
    let workspace = workspace.plain();
    assert_eq!(read(&workspace, "~/.profile").unwrap_err(), FaultKind::Denied);
    assert_eq!(read(&workspace, "~").unwrap_err(), FaultKind::Denied);
    assert_eq!(read(&workspace, "~root/.profile").unwrap_err(), FaultKind::Denied);
}

/// All of them.
const EXCLUDED: [&str; 13] = [
    ".massgen",
    ".gemini",
    ".env",
    ".git",
    "node_modules",
    "__pycache__",
    ".venv",
    "venv",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".DS_Store",
    "massgen_logs",
];

#[test]
fn s_03_excluded_names_are_read_only_outside_a_workspace() {
    let ground = Ground::new();
    for name in EXCLUDED {
        ground.put(&format!("context/{name}/x.txt"), "x").put(&format!("work/{name}/x.txt"), "x");
    }
    let workspace = ground.open(&[RootSpec::context(ground.path("context"), Permission::Write)]);
    write(&workspace, &ground.spelt("context/plain.txt"), "x").unwrap();
    for name in EXCLUDED {
        let path = ground.spelt(&format!("context/{name}/new.txt"));
        assert_eq!(write(&workspace, &path, "x").unwrap_err(), FaultKind::Denied, "{name}");
        assert_eq!(read(&workspace, &ground.spelt(&format!("context/{name}/x.txt"))).unwrap(), "x");
        write(&workspace, &format!("{name}/new.txt"), "x").unwrap();
    }
}

#[test]
fn s_03_protected_paths_and_all_below_them_are_read_only() {
    let ground = Ground::new();
    ground
        .put("work/rules/deep/a.txt", "a")
        .put("work/one.txt", "")
        .put("work/free.txt", "")
        .link("rules", "work/alias");
    let spec = RootSpec::workspace(ground.path("work")).protecting("rules").protecting("one.txt").protecting("later");
    let (workspace, skipped) = Workspace::open(spec, &[], Limits::default()).unwrap();
    assert_eq!(skipped, []);
    for path in ["rules/new.txt", "rules/deep/new.txt", "alias/new.txt", "one.txt", "later", "later/x.txt"] {
        assert_eq!(write(&workspace, path, "x").unwrap_err(), FaultKind::Denied, "{path}");
    }
    assert!(!ground.path("work/later").exists());
    let edit = json!({ "path": "rules/deep/a.txt", "edits": [{ "oldText": "a", "newText": "b" }] });
    assert_eq!(call(&workspace, "edit_file", edit).unwrap_err().kind, FaultKind::Denied);
    assert_eq!(read(&workspace, "rules/deep/a.txt").unwrap(), "a");
    write(&workspace, "free.txt", "x").unwrap();
}

#[test]
fn s_03_the_deepest_containing_root_decides() {
    let ground = Ground::new();
    ground.put("work/given/a.txt", "a").put("shared/team/b.txt", "b");
    let workspace = ground.open(&[
        RootSpec::context(ground.path("work/given"), Permission::Read),
        RootSpec::context(ground.path("shared"), Permission::Read),
        RootSpec::context(ground.path("shared/team"), Permission::Write),
    ]);
    assert_eq!(write(&workspace, "given/new.txt", "x").unwrap_err(), FaultKind::Denied);
    assert_eq!(write(&workspace, &ground.spelt("shared/new.txt"), "x").unwrap_err(), FaultKind::Denied);
    write(&workspace, &ground.spelt("shared/team/new.txt"), "x").unwrap();
}

#[test]
fn s_03_an_exact_file_goes_before_the_directory_that_contains_it() {
    let ground = Ground::new();
    ground.put("papers/a.txt", "").put("papers/b.txt", "").put("books/a.txt", "").put("books/b.txt", "");
    let workspace = ground.open(&[
        RootSpec::context(ground.path("papers"), Permission::Write),
        RootSpec::context(ground.path("papers/a.txt"), Permission::Read),
        RootSpec::context(ground.path("books"), Permission::Read),
        RootSpec::context(ground.path("books/a.txt"), Permission::Write),
    ]);
    let write = |path: &str| write(&workspace, &ground.spelt(path), "x");
    assert_eq!(write("papers/a.txt").unwrap_err(), FaultKind::Denied);
    write("papers/b.txt").unwrap();
    write("books/a.txt").unwrap();
    assert_eq!(write("books/b.txt").unwrap_err(), FaultKind::Denied);
}

#[test]
fn s_03_excluded_names_go_before_an_exact_file() {
    let ground = Ground::new();
    ground.put("x/.env", "").put("context/a.txt", "").put("shots/a.txt", "");
    let workspace = ground.open(&[
        RootSpec::context(ground.path("x/.env"), Permission::Write),
        RootSpec::context(ground.path("context"), Permission::Write),
    ]);
    assert_eq!(write(&workspace, &ground.spelt("x/.env"), "x").unwrap_err(), FaultKind::Denied);
    for name in EXCLUDED {
        let path = ground.spelt(&format!("context/{name}"));
        assert_eq!(write(&workspace, &path, "x").unwrap_err(), FaultKind::Denied, "{name} as a file");
        assert!(!Path::new(&path).exists(), "{name}");
        write(&workspace, name, "x").unwrap();
    }
}

#[test]
fn s_03_what_no_root_contains_is_denied() {
    let ground = Ground::new();
    let workspace = ground.plain();
    for path in ["/", "/etc/passwd", "/proc/self/environ", &ground.spelt(""), &ground.spelt("work-too/a.txt")] {
        assert_eq!(read(&workspace, path).unwrap_err(), FaultKind::Denied, "{path}");
    }
}

#[test]
fn s_04_contexts_are_read_only_while_coordinating_and_writable_for_the_presenter() {
    let ground = Ground::new();
    ground.put("context/a.txt", "a");
    let presenter = ground.open(&[RootSpec::context(ground.path("context"), Permission::Write)]);
    let path = ground.spelt("context/new.txt");
    assert_eq!(write(&presenter.coordinating(), &path, "x").unwrap_err(), FaultKind::Denied);
    write(&presenter.coordinating(), "own.txt", "x").unwrap();
    write(&presenter, &path, "x").unwrap();
}

#[test]
fn s_04_what_does_not_exist_or_lies_outside_is_skipped_and_told() {
    let ground = Ground::new();
    ground.put("context/a.txt", "a");
    let specs = [
        RootSpec::context(ground.path("nowhere"), Permission::Write),
        RootSpec::context(ground.path("context"), Permission::Read).protecting("../outside"),
    ];
    let (workspace, skipped) =
        Workspace::open(RootSpec::workspace(ground.path("work")), &specs, Limits::default()).unwrap();
    let paths: Vec<_> = skipped.iter().map(|skipped| skipped.path.clone()).collect();
    assert_eq!(paths, [ground.path("nowhere"), PathBuf::from("../outside")]);
    assert_eq!(read(&workspace, &ground.spelt("context/a.txt")).unwrap(), "a");
}

#[test]
fn s_01_s_05_a_file_context_allows_that_file_only() {
    let ground = Ground::new();
    ground.put("papers/given.txt", "given").put("papers/sibling.txt", "sibling");
    let workspace = ground.open(&[RootSpec::context(ground.path("papers/given.txt"), Permission::Write)]);
    assert_eq!(read(&workspace, &ground.spelt("papers/given.txt")).unwrap(), "given");
    assert_eq!(read(&workspace, &ground.spelt("papers/sibling.txt")).unwrap_err(), FaultKind::Denied);
    assert_eq!(write(&workspace, &ground.spelt("papers/new.txt"), "x").unwrap_err(), FaultKind::Denied);
    assert_eq!(write(&workspace, &ground.spelt("papers/new/x.txt"), "x").unwrap_err(), FaultKind::Denied);
    assert!(!ground.path("papers/new").exists());
    for tool in ["list_directory", "search_files"] {
        let mut arguments = json!({ "path": ground.spelt("papers") });
        if tool == "search_files" {
            arguments["pattern"] = json!("*");
        }
        assert_eq!(call(&workspace, tool, arguments).unwrap_err().kind, FaultKind::Denied, "{tool}");
    }
    let edit =
        json!({ "path": ground.spelt("papers/given.txt"), "edits": [{ "oldText": "given", "newText": "taken" }] });
    call(&workspace, "edit_file", edit).unwrap();
    assert_eq!(ground.text("papers/given.txt"), "taken");
}

#[test]
fn s_06_any_string_argument_that_leads_outside_is_denied() {
    let ground = Ground::new();
    ground.link(ground.path("outside"), "work/hole");
    let workspace = ground.plain();
    for argument in ["/etc/passwd", "../outside", "~/x", "hole/secret.txt"] {
        let search = json!({ "path": ".", "pattern": "*", "excludePatterns": ["fine", argument] });
        assert_eq!(call(&workspace, "search_files", search).unwrap_err().kind, FaultKind::Denied, "{argument}");
        let nested = Json::from_tree(json!({ "options": { "deep": [1, { "target": argument }] } }));
        assert_eq!(workspace.check_arguments(&nested, &["content"]).unwrap_err().kind, FaultKind::Denied);
    }
    let content = Json::from_tree(json!({ "path": "a.txt", "content": "/etc/passwd" }));
    workspace.check_arguments(&content, &["content"]).unwrap();
    write(&workspace, "a.txt", "../outside/secret.txt").unwrap();
}

#[test]
fn s_06_a_nul_byte_is_denied() {
    let ground = Ground::new();
    let workspace = ground.plain();
    assert_eq!(read(&workspace, "a.txt\0.png").unwrap_err(), FaultKind::Denied);
    assert_eq!(write(&workspace, "a\0", "x").unwrap_err(), FaultKind::Denied);
}

#[test]
fn s_06_a_flood_of_strings_is_refused() {
    let ground = Ground::new();
    let many: Vec<String> = (0..5_000).map(|n| n.to_string()).collect();
    let fault = ground.plain().check_arguments(&Json::from_tree(json!({ "many": many })), &[]).unwrap_err();
    assert_eq!(fault.kind, FaultKind::InvalidInput);
}

#[test]
fn s_07_write_file_does_not_replace_what_the_caller_did_not_make() {
    let ground = Ground::new();
    ground.put("work/theirs.txt", "theirs").put("work/empty.txt", "");
    let workspace = ground.plain();
    let fault = call(&workspace, "write_file", json!({ "path": "theirs.txt", "content": "mine" })).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Conflict);
    assert!(fault.public.contains("edit_file"), "{}", fault.public);
    assert_eq!(ground.text("work/theirs.txt"), "theirs");
    write(&workspace, "empty.txt", "filled").unwrap();
    write(&workspace, "mine.txt", "one").unwrap();
    write(&workspace, "mine.txt", "two").unwrap();
    assert_eq!(ground.text("work/mine.txt"), "two");
}

#[test]
fn s_07_another_callers_file_is_not_replaced_and_their_edit_ends_the_claim() {
    let ground = Ground::new();
    let workspace = ground.plain();
    write(&workspace, "ana.txt", "ana").unwrap();
    let by_ben = json!({ "path": "ana.txt", "content": "ben" });
    assert_eq!(call_as(&workspace, "ben", "write_file", by_ben).unwrap_err().kind, FaultKind::Conflict);
    let edit = json!({ "path": "ana.txt", "edits": [{ "oldText": "ana", "newText": "ana and ben" }] });
    call_as(&workspace, "ben", "edit_file", edit).unwrap();
    assert_eq!(write(&workspace, "ana.txt", "gone").unwrap_err(), FaultKind::Conflict);
    assert_eq!(ground.text("work/ana.txt"), "ana and ben");
}

#[test]
fn s_07_a_new_run_knows_no_claims() {
    let ground = Ground::new();
    write(&ground.plain(), "a.txt", "one").unwrap();
    assert_eq!(write(&ground.plain(), "a.txt", "two").unwrap_err(), FaultKind::Conflict);
}

#[test]
fn no_tool_deletes() {
    let ground = Ground::new();
    let workspace = ground.plain();
    assert!(Tool::ALL.iter().all(|tool| !tool.effects().destroys));
    let fault = call(&workspace, "delete_file", json!({ "path": "a.txt" })).unwrap_err();
    assert_eq!(fault.kind, FaultKind::NotFound(Noun::Skill));
}

#[test]
fn s_09_text_tools_refuse_binary_files() {
    let ground = Ground::new();
    ground.put("work/picture.PNG", "text in disguise").put("work/nul.txt", b"a\0b").put("work/latin.txt", b"caf\xe9");
    let workspace = ground.plain();
    for path in ["picture.PNG", "nul.txt", "latin.txt"] {
        assert_eq!(read(&workspace, path).unwrap_err(), FaultKind::Unsupported(Feature::Media), "{path}");
    }
    let edit = json!({ "path": "nul.txt", "edits": [{ "oldText": "a", "newText": "b" }] });
    assert_eq!(call(&workspace, "edit_file", edit).unwrap_err().kind, FaultKind::Unsupported(Feature::Media));
}

#[test]
fn s_11_effects_are_declared_and_rights_follow_from_them() {
    let reads = Effects::reads_only(CardFrom::Configuration);
    let peer = PeerId::from("local");
    let declared: Vec<_> = Workspace::skills(&peer).iter().map(|skill| (skill.id.to_string(), skill.effects)).collect();
    let expected = [
        ("local/read_file", reads),
        ("local/write_file", Effects { reads: false, writes: true, ..reads }),
        ("local/edit_file", Effects { writes: true, idempotent: false, ..reads }),
        ("local/search_files", reads),
        ("local/list_directory", reads),
    ];
    assert_eq!(declared, expected.map(|(id, effects)| (id.to_owned(), effects)));
    for tool in Tool::ALL {
        let needs = if tool.effects().change() { Permission::Write } else { Permission::Read };
        assert_eq!(tool.needs(), needs, "{tool:?}");
    }
}

#[test]
fn the_hub_knows_the_file_tools_by_their_names() {
    assert_eq!(Tool::ALL.map(Tool::name), interlingua_hub::names::FILE_TOOLS);
}
