//! Custom tools: programs in a directory, each with a manifest that declares its name, input, output and effects.
//!
//! Reading order: `manifest` (what a file may say), [`Catalogue`] (a directory's tools and what is wrong with the others),
//! `run` (one call: a child process, JSON in, JSON out), [`CustomTools`] (the peer that the hub calls).
//!
//! # What a program sees
//!
//! The call's arguments as one JSON object on standard input, then its end. The environment holds `PATH`, `LANG`, `LC_ALL`
//! and `TZ`, the variables that the manifest allows, and `INTERLINGUA_KEY` and `INTERLINGUA_ATTEMPT`: the key is the same
//! when the same call is tried again. The working directory is that of the manifest unless it says otherwise.
//!
//! # What a program says
//!
//! With `reply: value` (the default) all of standard output is one JSON value, the result. With `reply: lines` each line is
//! one JSON object:
//!
//! | line | meaning |
//! |---|---|
//! | `{"progress": {"done": 1, "total": 3, "note": "…"}}` | progress; every key is optional, a bare text is a note |
//! | `{"log": "…"}`, `{"log": {"level": "warning", "text": "…"}}` | a note for watchers: debug, info, warning, error |
//! | `{"result": …}`, with `"text": "…"` beside it or not | the result, once and last; the text says it for people |
//! | `{"error": "…"}` | it failed, and the caller may see this text; last |
//!
//! Standard error becomes notes line by line. An exit code other than 0 is a failure; a program that then printed
//! `{"error": "…"}` chose the words. Values of allowed environment variables are redacted from notes and errors.
//!
//! # What is contained
//!
//! A program runs in a process group of its own, which is ended with it: first by a termination signal and then killed when its time is
//! up or the call is cancelled, killed at once when the call is dropped. Floods, crashes and bad JSON end that call and nothing else. On
//! Linux each process has a limit on memory (`memory: 2GiB`) and processor time (`cpu`, eight times the timeout), and a process that left
//! the group (`setsid`) is found and ended, too ([`interlingua_process::child::strays`] says which are not). What this does not do: hide
//! the file system. A tool is as trusted as the person who installed it, so if another user can write to the directory, a manifest or a
//! program, the tool is refused.

mod aide;
pub(crate) mod catalogue;
mod definition;
mod fields;
pub(crate) mod manifest;
mod peer;
mod program;
pub(crate) mod reply;
mod run;
#[cfg(test)]
mod tests;
mod writable;

pub use aide::{Aide, Unhelpful};
pub use catalogue::{Catalogue, fingerprint, read_manifest};
pub use fields::ManifestProblem;
pub use interlingua_process::child::group::Share;
pub use manifest::{CustomTool, RunLimits};
pub use peer::{Change, CustomTools};
pub use reply::ReplyForm;
