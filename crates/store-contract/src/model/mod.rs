//! Model test. Random sequences of operations on a driver and on a model of a few maps; after each both must have answered
//! the same. A seed makes the same sequence for every driver. Sequences have names of their own, so many run at once on one
//! store, as the callers of a hub do.

mod expected;
mod operation;

use futures_util::StreamExt;
use interlingua_model::ports::Store;

use expected::Model;
use operation::{Names, Operation};

/// Sequences that run at once.
const AT_ONCE: usize = 64;
/// Operations of one sequence.
const LENGTH: usize = 12;

/// Runs the sequences of these seeds on one store.
pub async fn compare(store: Store, seeds: std::ops::Range<u64>) {
    futures_util::stream::iter(seeds).for_each_concurrent(AT_ONCE, |seed| sequence(&store, seed)).await;
}

async fn sequence(store: &Store, seed: u64) {
    let (mut random, mut model) = (Random(seed ^ 0x9e37_79b9_7f4a_7c15), Model::default());
    let names = Names::of(seed);
    let mut done = Vec::new();
    for _ in 0..LENGTH {
        let operation = Operation::choose(&mut random, &names, &model);
        let found = operation.perform(store).await;
        let expected = model.perform(&operation, &found);
        done.push(format!("{operation:?}"));
        assert_eq!(found.answer, expected, "seed {seed}, after:\n{}", done.join("\n"));
    }
}

/// SplitMix64: small, and the same on every machine.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn of<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[usize::try_from(self.below(choices.len() as u64)).unwrap()]
    }
}
