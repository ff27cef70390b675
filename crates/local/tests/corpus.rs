//! The seeds of the fuzz target match their names.

#[test]
fn the_seed_that_is_whole_is_a_model_and_the_others_of_its_kind_are_not() {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/fuzz/gguf");
    let opens = |name: &str| interlingua_local::Model::open(&directory.join(name)).is_ok();
    assert!(opens("whole.gguf"));
    for broken in ["cut.gguf", "head.gguf", "many_blocks.gguf", "wide_tensor.gguf"] {
        assert!(!opens(broken), "{broken}");
    }
}
