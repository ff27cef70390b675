//! Replays the seeds of the fuzz target, so that what was once found stays found.

#[path = "../../../fuzz/checks/gguf.rs"]
mod gguf;

#[test]
fn seeds_of_model_files_hold() {
    let seeds = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/fuzz/gguf");
    let mut seen = 0;
    for entry in std::fs::read_dir(seeds).expect("the seeds are there") {
        let path = entry.expect("a seed").path();
        gguf::file(&std::fs::read(&path).expect("a seed can be read"));
        seen += 1;
    }
    assert!(seen > 0, "no seeds");
}

#[test]
fn the_seed_that_is_whole_is_a_model_and_the_others_of_its_kind_are_not() {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/fuzz/gguf");
    let opens = |name: &str| interlingua_local::Model::open(&directory.join(name)).is_ok();
    assert!(opens("whole.gguf"));
    for broken in ["cut.gguf", "head.gguf", "many_blocks.gguf", "wide_tensor.gguf"] {
        assert!(!opens(broken), "{broken}");
    }
}
