//! A configuration file as a tree in which every value has its position in the file.
//!
//! [`tree`] reads YAML 1.2 into the tree: one document, duplicate keys refused, aliases allowed within a bound. [`substitute`] inserts
//! external values: `${NAME}` from the environment, `file:PATH` from a file. [`mod@decode`] turns the tree into typed configuration, and
//! continues after a problem to find the others.
//!
//! A plain scalar stays text until a type asks for it, so `version: 1.10` is the text `1.10` and not a number.

mod decode;
mod substitute;
mod tree;

pub use decode::{Later, decode};
pub use substitute::Environment;
pub use substitute::{Substitution, join};
pub use tree::{Key, Node, Unreadable, Value, parse, parse_list};
