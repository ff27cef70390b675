//! Attempts to escape the workspace, or to hang or flood the hub from inside of it.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

/// Also when an assertion fails: the other thread must end.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn s_03_a_directory_swapped_for_a_link_never_lets_a_read_or_write_out() {
    let ground = Ground::new();
    ground.put("work/real/secret.txt", "inside");
    ground.link(ground.path("outside"), "work/trap");
    let workspace = ground.plain();
    let stop = AtomicBool::new(false);
    let (real, trap, spot) = (ground.path("work/real"), ground.path("work/trap"), ground.path("work/spot"));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                for side in [&real, &trap] {
                    match fs::rename(side, &spot) {
                        Ok(()) => fs::rename(&spot, side).unwrap(),
                        // The writer made a directory of its own there.
                        Err(_) => drop(fs::remove_dir_all(&spot)),
                    }
                }
            }
        });
        let _stop = StopOnDrop(&stop);
        for round in 0..4_000 {
            // Found inside, or refused because it was swapped on the way.
            if let Ok(text) = read(&workspace, "spot/secret.txt") {
                assert_eq!(text, "inside");
            }
            let _ = write(&workspace, &format!("spot/{}.txt", round % 8), "x");
        }
    });
    let left: Vec<_> = fs::read_dir(ground.path("outside")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["secret.txt"]);
}

#[test]
fn s_03_a_file_swapped_for_a_link_never_lets_a_write_into_a_protected_file() {
    let ground = Ground::new();
    ground.put("work/rules.txt", "rules").put("work/draft.txt", "");
    let (workspace, _) =
        Workspace::open(RootSpec::workspace(ground.path("work")).protecting("rules.txt"), &[], Limits::default())
            .unwrap();
    let stop = AtomicBool::new(false);
    let (draft, link, side) = (ground.path("work/draft.txt"), ground.path("work/link"), ground.path("work/side"));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let _ = std::os::unix::fs::symlink("rules.txt", &link);
                let _ = fs::rename(&link, &draft);
                let _ = fs::write(&side, "");
                let _ = fs::rename(&side, &draft);
            }
        });
        let _stop = StopOnDrop(&stop);
        for _ in 0..2_000 {
            let _ = write(&workspace, "draft.txt", "overwritten");
        }
    });
    assert_eq!(ground.text("work/rules.txt"), "rules");
}

#[test]
fn spellings_that_try_to_leave_are_denied() {
    let ground = Ground::new();
    ground.put("work/a.txt", "a");
    let workspace = ground.plain();
    let spellings = [
        "..",
        "../",
        "./../outside/secret.txt",
        "a.txt/../../outside/secret.txt",
        "//etc/passwd",
        "/./etc/passwd",
        "/proc/self/root/etc/passwd",
        "/dev/stdin",
        "nowhere/../../outside/secret.txt",
    ];
    for path in spellings {
        assert!(read(&workspace, path).is_err(), "{path}");
        assert!(write(&workspace, path, "x").is_err(), "{path}");
    }
    assert_eq!(ground.text("outside/secret.txt"), "secret");
}

#[test]
fn look_alikes_of_dots_and_slashes_are_ordinary_names() {
    let ground = Ground::new();
    let workspace = ground.plain();
    for name in ["\u{2024}\u{2024}", "..\u{2215}outside", "%2e%2e%2foutside", "..\\outside", "\u{202e}txt", "…"] {
        write(&workspace, name, "x").unwrap();
        assert!(ground.path("work").join(name).exists(), "{name}");
    }
}

#[test]
fn another_case_of_an_excluded_name_is_excluded_too() {
    let ground = Ground::new();
    ground.put("context/a.txt", "a");
    let workspace = ground.open(&[RootSpec::context(ground.path("context"), Permission::Write)]);
    assert_eq!(write(&workspace, &ground.spelt("context/.GIT/hook"), "x").unwrap_err(), FaultKind::Denied);
}

#[test]
fn a_hard_link_is_replaced_and_its_other_name_keeps_its_content() {
    let ground = Ground::new();
    fs::hard_link(ground.path("outside/secret.txt"), ground.path("work/linked.txt")).unwrap();
    let workspace = ground.plain();
    let edit = json!({ "path": "linked.txt", "edits": [{ "oldText": "secret", "newText": "public" }] });
    call(&workspace, "edit_file", edit).unwrap();
    assert_eq!(ground.text("work/linked.txt"), "public");
    assert_eq!(ground.text("outside/secret.txt"), "secret");
}

#[test]
fn a_second_name_of_a_protected_file_is_protected() {
    let ground = Ground::new();
    ground.put("work/rules.txt", "rules");
    fs::hard_link(ground.path("work/rules.txt"), ground.path("work/second.txt")).unwrap();
    let spec = RootSpec::workspace(ground.path("work")).protecting("rules.txt");
    let (workspace, _) = Workspace::open(spec, &[], Limits::default()).unwrap();
    let edit = json!({ "path": "second.txt", "edits": [{ "oldText": "rules", "newText": "none" }] });
    assert_eq!(call(&workspace, "edit_file", edit).unwrap_err().kind, FaultKind::Denied);
}

#[test]
fn circles_of_links_end() {
    let ground = Ground::new();
    ground.link("b", "work/a").link("a", "work/b").link(".", "work/self");
    let workspace = ground.plain();
    assert_eq!(read(&workspace, "a").unwrap_err(), FaultKind::InvalidInput);
    assert_eq!(read(&workspace, &"self/".repeat(60)).unwrap_err(), FaultKind::InvalidInput);
    let found = call(&workspace, "search_files", json!({ "path": ".", "pattern": "**/*" })).unwrap();
    assert_eq!(structured(&found)["matches"], json!(["a", "b", "self"]));
}

#[test]
fn pipes_and_devices_are_refused_without_waiting() {
    let ground = Ground::new();
    rustix::fs::mkfifoat(rustix::fs::CWD, ground.path("work/pipe"), rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let workspace = ground.plain();
    assert_eq!(read(&workspace, "pipe").unwrap_err(), FaultKind::InvalidInput);
    assert_eq!(write(&workspace, "pipe", "x").unwrap_err(), FaultKind::InvalidInput);
}

#[test]
fn deep_and_long_paths_are_refused() {
    let ground = Ground::new();
    let workspace = ground.plain();
    assert_eq!(write(&workspace, &format!("{}x", "d/".repeat(100)), "x").unwrap_err(), FaultKind::InvalidInput);
    assert_eq!(write(&workspace, &"n".repeat(300), "x").unwrap_err(), FaultKind::InvalidInput);
    assert_eq!(write(&workspace, &"n/".repeat(4_000), "x").unwrap_err(), FaultKind::InvalidInput);
    assert_eq!(read(&workspace, "").unwrap_err(), FaultKind::InvalidInput);
}

#[test]
fn names_of_unfinished_writes_cannot_be_used() {
    let ground = Ground::new();
    ground.put("work/.interlingua-write-0", "half");
    let workspace = ground.plain();
    assert_eq!(read(&workspace, ".interlingua-write-0").unwrap_err(), FaultKind::Denied);
    let listed = call(&workspace, "list_directory", json!({ "path": "." })).unwrap();
    assert_eq!(structured(&listed)["entries"], json!([]));
}

#[test]
fn texts_of_faults_name_the_path_as_given_and_nothing_else() {
    let ground = Ground::new();
    ground.link(ground.path("outside"), "work/hole");
    let fault = call(&ground.plain(), "read_file", json!({ "path": "hole/secret.txt\n" })).unwrap_err();
    assert_eq!(&*fault.public, "hole/secret.txt: outside the workspace and its declared roots");
}
