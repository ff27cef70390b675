//! Races in the workspace (TOCTOU): a writer swaps files between the check and the use.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use interlingua_testkit::Hub;
use serde_json::{Value, json};

/// Of each file tool.
const ROUNDS: usize = 400;
const SECRET: &str = "a secret of outside";

/// Swaps a directory, a file and a directory deeper down for links that lead out, as fast as the system lets it.
struct Swapper {
    stop: Arc<AtomicBool>,
    swaps: Arc<AtomicUsize>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Swapper {
    fn start(workspace: &Path, outside: &Path) -> Swapper {
        let (stop, swaps) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (stopped, counted) = (stop.clone(), swaps.clone());
        let (work, out) = (workspace.to_owned(), outside.to_owned());
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                for (spot, target) in
                    [("spot", out.clone()), ("deep/spot", out.clone()), ("file.txt", out.join("secret.txt"))]
                {
                    let (spot, real, link) = (work.join(spot), work.join(format!("{spot}.real")), work.join("link"));
                    let _ = fs::rename(&spot, &real);
                    if symlink(&target, &link).is_ok() {
                        let _ = fs::rename(&link, &spot);
                    }
                    let _ = fs::remove_file(&spot);
                    // A tool may have made a directory of its own meanwhile: that is inside and in the way.
                    if fs::rename(&real, &spot).is_err() {
                        let _ = fs::remove_dir_all(&spot).or_else(|_| fs::remove_file(&spot));
                        let _ = fs::rename(&real, &spot);
                    }
                    counted.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        Swapper { stop, swaps, thread: Some(thread) }
    }
}

impl Drop for Swapper {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn calls(round: usize) -> Vec<(&'static str, Value)> {
    let name = round % 8;
    vec![
        ("local/read_file", json!({"path": "spot/secret.txt"})),
        ("local/read_file", json!({"path": "file.txt"})),
        ("local/read_file", json!({"path": "deep/spot/secret.txt"})),
        ("local/write_file", json!({"path": format!("spot/{name}.txt"), "content": "written"})),
        ("local/write_file", json!({"path": format!("deep/spot/new{name}/x.txt"), "content": "written"})),
        ("local/list_directory", json!({"path": "spot"})),
        ("local/search_files", json!({"path": ".", "pattern": "**/*"})),
        ("local/search_files", json!({"path": "deep/spot", "pattern": "**/*"})),
    ]
}

#[tokio::test]
async fn attack_a_neighbour_swaps_directories_of_the_workspace_for_links_while_tools_use_them() {
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua"));
    let outside = builder.directory().join("outside");
    let builder = builder
        .file("outside/secret.txt", SECRET)
        .file("outside/only-outside/inner.txt", SECRET)
        .file("ws/spot/secret.txt", "inside")
        .file("ws/deep/spot/secret.txt", "inside")
        .file("ws/file.txt", "inside");
    let hub = builder.config("tools: { workspace: ./ws }\n").start().await;
    let swapper = Swapper::start(&hub.directory().join("ws"), &outside);
    let mut inside = 0;
    for round in 0..ROUNDS {
        for (skill, arguments) in calls(round) {
            let answer = hub.post_json("/api/exchanges", &json!({"skill": skill, "arguments": arguments})).await;
            let text = answer.text();
            assert!(!text.contains(SECRET) && !text.contains("only-outside"), "{skill} {arguments}: {text}");
            inside += usize::from(text.contains("inside") || text.contains("\"completed\""));
        }
    }
    let swaps = swapper.swaps.load(Ordering::Relaxed);
    drop(swapper);
    assert!(swaps > ROUNDS, "it was swapped {swaps} times");
    assert!(inside > ROUNDS, "the tools worked {inside} times in between");
    let mut left: Vec<_> =
        fs::read_dir(&outside).expect("it is there").map(|it| it.expect("an entry").file_name()).collect();
    left.sort();
    assert_eq!(left, ["only-outside", "secret.txt"], "nothing was written outside");
    assert_eq!(fs::read_to_string(outside.join("secret.txt")).expect("it is there"), SECRET);
    assert_eq!(fs::read_dir(outside.join("only-outside")).expect("it is there").count(), 1);
}
