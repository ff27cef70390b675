//! Fake wall clock for a child process.

use std::path::{Path, PathBuf};

use crate::shim;

/// A clock for one program.
#[derive(Debug)]
pub struct WallClock {
    shim: PathBuf,
    at: String,
}

impl WallClock {
    /// The program starts at this time, in seconds since 1970; what this needs is made below `home`.
    pub fn below(home: &Path, at: i64) -> Self {
        Self { shim: shim::build("clock.c", home), at: at.to_string() }
    }

    /// What the program's environment must hold.
    pub fn environment(&self) -> [(&'static str, &str); 2] {
        [("LD_PRELOAD", self.shim.to_str().expect("a plain path")), ("CLOCK_AT", &self.at)]
    }
}
