//! A wall clock that stands where a test says when a program starts, and a clock that hurries.

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

/// Time that passes faster for one program: what it waits for in minutes takes seconds.
#[derive(Debug)]
pub struct HurriedClock {
    shim: PathBuf,
    speed: String,
}

impl HurriedClock {
    /// So many times as fast; what this needs is made below `home`.
    pub fn below(home: &Path, speed: u32) -> Self {
        Self { shim: shim::build("clock.c", home), speed: speed.to_string() }
    }

    /// What the program's environment must hold.
    pub fn environment(&self) -> [(&'static str, &str); 2] {
        [("LD_PRELOAD", self.shim.to_str().expect("a plain path")), ("CLOCK_SPEED", &self.speed)]
    }
}
