//! File tools in a workspace: `read_file`, `write_file`, `edit_file`, `search_files`, `list_directory`, with the parameter
//! names of the filesystem server that models already know.
//!
//! Reading order: [`Workspace`] (what a caller holds), `root` and `rights` (what may be reached, rules S-01 to S-05),
//! `walk` (how a path becomes handles, S-02), then one file per tool. Everything is opened by handle, one component at a
//! time and never through a link, so there is no moment between check and use in which a path can be swapped.
//!
//! Several who work side by side have a workspace each: it is [`run_workspaces`] to them, and others read a [`fn@snapshot`] of it.
//!
//! What is deliberately absent: a shell (S-10), deletion (S-08 is kept by having no tool that deletes), moving, and any
//! guess at what a tool does from its name (S-11: effects are declared, and rights follow from the declaration).
//! The functions block; an async caller runs them on a blocking thread.

mod claims;
mod diff;
mod edit;
mod fault;
pub(crate) mod glob;
mod list;
mod read;
mod rights;
mod root;
pub mod run_workspaces;
mod search;
mod snapshot;
mod temp;
#[cfg(test)]
mod tests;
mod tool;
mod walk;
mod workspace;
mod write;

pub use edit::{Edit, EditFile, Edited};
pub use fault::{FileFault, Problem};
pub use list::{DirectoryEntry, EntryKind, ListDirectory, Listing};
pub use read::{ReadFile, ReadText};
pub use root::{Permission, RootKind, RootSpec, Skipped};
pub use search::{Found, SearchFiles};
pub use snapshot::{Copied, Room, snapshot};
pub use tool::Tool;
pub use workspace::{Limits, Workspace};
pub use write::{WriteFile, Written};
