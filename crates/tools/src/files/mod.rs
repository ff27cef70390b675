//! File tools in a workspace: `read_file`, `write_file`, `edit_file`, `search_files`, `list_directory`, with the parameter
//! names of the filesystem server that models already know.
//!
//! Reading order: [`Workspace`] (the handle of a caller), `root` and `rights` (what may be reached, rules S-01 to S-05),
//! `walk` (how a path becomes handles, S-02), then one file per tool. Everything is opened by handle, one component at a
//! time and never through a link, so there is no moment between check and use in which a path can be swapped.
//!
//! Runs that work in parallel have a workspace each ([`run_workspaces`]), and others read a [`fn@snapshot`] of it.
//!
//! Deliberately absent: a shell (S-10), deletion (no tool deletes, which fulfils S-08), moving, and any guess at what a tool does from its
//! name (S-11: effects are declared, and permissions follow from the declaration). The functions block; an async caller runs them on a
//! blocking thread.

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
