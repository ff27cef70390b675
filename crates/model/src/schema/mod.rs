//! Cost of JSON Schema validation, computed before a value is validated.
//!
//! A peer supplies the schema and a caller supplies the value, and a validator follows both: forty definitions that each use the next one
//! twice are 2^40 evaluations. [`Outline`] reads a schema as a graph of subschemas. While reading, it refuses a schema that could cost too
//! much at one location of a value ([`Unfit`]); later it counts the evaluations of a value under a budget ([`Outline::steps`]). The count
//! assumes that nothing is skipped, so it is an upper bound for a validator.
//!
//! Only references within the schema are followed (`#`, `#/pointer`, `#anchor`): the schema is one resource without an inner `$id`, so this
//! graph is the one that a validator sees.

mod graph;
mod pattern;
mod read;
#[cfg(test)]
mod tests;

use crate::json::{Json, Tree};
use graph::{Graph, Sizes, ValidationCost};

/// Bytes of one schema.
pub const MAX_BYTES: usize = 1024 * 1024;
/// Subschemas of one schema.
pub const MAX_SUBSCHEMAS: usize = 20_000;
/// Evaluations that one place of a value may cost.
pub const MAX_EXPANSION: u64 = 10_000;
/// Subschemas within one another, references followed: a validator recurses this deep.
pub const MAX_NESTED: u32 = 384;
/// States of all regular expressions of a schema.
pub const MAX_STATES: u64 = 100_000;
/// What is never counted beforehand, because it is little.
pub const LITTLE: u64 = 100_000;
/// Evaluations that any value may cost, and more for each of its bytes: reading it costs as much.
const BUDGET: u64 = 1_000_000;
const BUDGET_BY_BYTE: u64 = 4;

/// Why no value is held against a schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// Larger than [`MAX_BYTES`].
    #[error("its schema is larger than {MAX_BYTES} bytes")]
    Large,
    /// More subschemas than [`MAX_SUBSCHEMAS`].
    #[error("its schema has more than {MAX_SUBSCHEMAS} subschemas")]
    Subschemas,
    /// More evaluations at one place than [`MAX_EXPANSION`].
    #[error("its schema costs more than {MAX_EXPANSION} evaluations for one place of a value")]
    Expansion,
    /// A `$ref` leads back to itself at the same place of the value.
    #[error("its schema refers to itself without going into the value")]
    Loop,
    /// Nested deeper than [`MAX_NESTED`].
    #[error("its schema is nested deeper than {MAX_NESTED} subschemas")]
    Nested,
    /// A `$ref` leads out of the schema, or to nothing.
    #[error("its schema refers to '{0}'; only references within the schema are followed")]
    Reference(String),
    /// Another resource within the schema would change what references mean.
    #[error("its schema has an $id inside it; only one resource is followed")]
    Resource,
    /// More states than [`MAX_STATES`].
    #[error("its schema has regular expressions of more than {MAX_STATES} states")]
    Patterns,
}

/// A value costs more evaluations, or is nested deeper, than its schema is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooCostly;

/// A schema as a graph of its subschemas.
#[derive(Debug)]
pub struct Outline {
    graph: Graph,
    /// Evaluations for each byte of a value, when that is bounded for all values.
    by_byte: Option<u64>,
}

impl Outline {
    /// Reads a schema; `bytes` is the length of its text.
    pub fn of(schema: &Tree, bytes: usize) -> Result<Outline, Unfit> {
        if bytes > MAX_BYTES {
            return Err(Unfit::Large);
        }
        let graph = read::read(schema)?;
        let Sizes { expansion, by_byte, nested } = graph.sizes()?;
        if expansion > MAX_EXPANSION {
            return Err(Unfit::Expansion);
        }
        if nested > MAX_NESTED {
            return Err(Unfit::Nested);
        }
        Ok(Outline { graph, by_byte })
    }

    /// How many subschemas it has, and states of regular expressions.
    pub fn size(&self) -> (usize, u64) {
        (self.graph.nodes.len(), self.graph.states)
    }

    /// Does this value cost so little that it can be checked while others wait? Counted only where the schema does not say it of every
    /// value of this length, and no further than that.
    pub fn is_little(&self, value: &Json) -> bool {
        let bytes = u64::try_from(value.as_bytes().len()).unwrap_or(u64::MAX).max(1);
        if self.by_byte.is_some_and(|each| each.saturating_mul(bytes) <= LITTLE) {
            return true;
        }
        // Reading a longer value costs too much by itself.
        bytes.saturating_mul(BUDGET_BY_BYTE) <= LITTLE
            && ValidationCost::over(&self.graph, value.tree(), LITTLE).count().is_ok()
    }

    /// How many evaluations this value costs at most; `bytes` is the length of its text.
    pub fn steps(&self, value: &Tree, bytes: usize) -> Result<u64, TooCostly> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX).max(1);
        match self.by_byte.map(|each| each.saturating_mul(bytes)) {
            Some(most) if most <= LITTLE => Ok(most),
            Some(_) | None => {
                let budget = BUDGET.saturating_add(bytes.saturating_mul(BUDGET_BY_BYTE));
                ValidationCost::over(&self.graph, value, budget).count()
            }
        }
    }
}
