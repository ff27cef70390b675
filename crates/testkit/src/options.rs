//! Options that a program sets on its sockets.

use std::fs;
use std::path::{Path, PathBuf};

use crate::shim;

/// What one program asked of its connections.
#[derive(Debug)]
pub struct SocketOptions {
    shim: PathBuf,
    seen: PathBuf,
}

impl SocketOptions {
    /// What this needs is made below `home`.
    pub fn below(home: &Path) -> Self {
        Self { shim: shim::build("options.c", home), seen: home.join("options-seen") }
    }

    /// What the program's environment must hold.
    pub fn environment(&self) -> [(&'static str, &str); 2] {
        let [shim, seen] = [&self.shim, &self.seen].map(|path| path.to_str().expect("a plain path"));
        [("LD_PRELOAD", shim), ("OPTIONS_SEEN", seen)]
    }

    /// Whether small writes to this port of another end are sent at once (`TCP_NODELAY`).
    pub fn sends_at_once(&self, port: u16) -> bool {
        let seen = fs::read_to_string(&self.seen).unwrap_or_default();
        seen.lines().any(|line| line == port.to_string())
    }
}
