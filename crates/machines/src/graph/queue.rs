//! Ready queue: steps that could run, ordered by urgency, then by their position in the plan.
//!
//! There is one queue for each requirement, and only the first steps of the queues are compared. A busy peer therefore costs one
//! comparison, however many steps wait for it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::plan::Want;
use interlingua_model::call::Priority;
use interlingua_model::id::NodeId;

pub(super) type Rank = (Reverse<Priority>, u64);

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Queue {
    rows: BTreeMap<Want, BTreeMap<Rank, NodeId>>,
    heads: BTreeSet<(Rank, Want)>,
}

impl Queue {
    pub(super) fn insert(&mut self, want: &Want, rank: Rank, node: NodeId) {
        let row = self.rows.entry(want.clone()).or_default();
        let before = row.first_key_value().map(|(rank, _)| *rank);
        row.insert(rank, node);
        if before.is_none_or(|before| rank < before) {
            if let Some(before) = before {
                self.heads.remove(&(before, want.clone()));
            }
            self.heads.insert((rank, want.clone()));
        }
    }

    pub(super) fn remove(&mut self, want: &Want, rank: Rank) {
        let Some(row) = self.rows.get_mut(want) else { return };
        row.remove(&rank);
        let next = row.first_key_value().map(|(rank, _)| *rank);
        if self.heads.remove(&(rank, want.clone()))
            && let Some(next) = next
        {
            self.heads.insert((next, want.clone()));
        }
        if next.is_none() {
            self.rows.remove(want);
        }
    }

    /// The first of every row, the most urgent row first.
    pub(super) fn heads(&self) -> impl Iterator<Item = (Rank, &Want)> {
        self.heads.iter().map(|(rank, want)| (*rank, want))
    }

    pub(super) fn node(&self, want: &Want, rank: Rank) -> Option<&NodeId> {
        self.rows.get(want)?.get(&rank)
    }

    /// Who stands behind `rank` in its row.
    pub(super) fn behind(&self, want: &Want, rank: Rank) -> Option<Rank> {
        use std::ops::Bound::{Excluded, Unbounded};
        let row = self.rows.get(want)?;
        row.range((Excluded(rank), Unbounded)).next().map(|(rank, _)| *rank)
    }
}
