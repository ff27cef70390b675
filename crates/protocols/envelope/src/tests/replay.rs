//! Replays the fuzzing corpus: what holds for arbitrary bytes holds for these.

use std::path::PathBuf;

use bytes::Bytes;

use super::registry;
use crate::decode::{Context, decode};
use crate::ecma::{from_ecma, to_ecma};
use crate::names::Table;
use crate::translators::Translators;
use crate::wire::{self, Limits};

fn corpus() -> Vec<(String, Bytes)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/fuzz/envelope_json");
    let files = std::fs::read_dir(folder).expect("the corpus").map(|entry| entry.expect("an entry").path());
    files
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, Bytes::from(std::fs::read(path).expect("a file")))
        })
        .collect()
}

#[test]
fn files_named_bad_are_refused_and_the_others_survive_every_way() {
    let translators = Translators::default();
    let (names, _) = Table::build(&translators, registry());
    let context =
        Context { names: &names, translators: &translators, now: super::NOW, default_timeout: None, peer: None };
    let corpus = corpus();
    assert!(corpus.len() >= 20);
    for (name, frame) in corpus {
        let read = wire::read(&frame, &Limits::default());
        assert_eq!(read.is_err(), name.starts_with("bad_"), "{name}");
        let Ok(carried) = read else { continue };
        let again = wire::read(&carried.value.to_bytes(), &Limits::default()).expect("readable").value;
        assert_eq!(again, carried.value, "{name}");
        let back = from_ecma(&to_ecma(&again), &Limits::default()).expect("an envelope").value;
        assert_eq!(back, again, "{name}");
        let _ = decode(back, &context);
    }
}
