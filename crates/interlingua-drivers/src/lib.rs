//! The outside world behind the core's ports.
//!
//! [`store`] keeps what must survive the process, [`keys`] seals what must not be read, [`jws`] signs what others verify and verifies
//! what they sign,
//! [`files`] are the text tools of a workspace, [`tools`] are programs of a directory, [`local`] is both of them as one peer,
//! [`child`] is a program that is spoken to line by line for as long as it runs, [`models`] are asked, [`browser`] drives
//! websites, [`machine`] is what this machine says of itself, and [`programs`] which file a program's name means there. Each module depends on the core alone; none knows a protocol.

pub mod browser;
pub mod child;
mod exchange;
pub mod files;
#[doc(hidden)]
pub mod fuzzing;
pub mod jws;
pub mod keys;
pub mod local;
pub mod machine;
pub mod models;
pub mod programs;
pub mod store;
pub mod tools;
mod waiting;
