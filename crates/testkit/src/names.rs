//! Fake DNS name for a child process (DNS rebinding tests).

use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use crate::shim;

/// One name, for one program.
#[derive(Debug)]
pub struct Names {
    shim: PathBuf,
    asked: PathBuf,
    name: String,
    address: String,
}

impl Names {
    /// `name` leads to `address`; what this needs is made below `home`.
    pub fn below(home: &Path, name: &str, address: IpAddr) -> Self {
        let shim = shim::build("names.c", home);
        Self { shim, asked: home.join("names-asked"), name: name.to_owned(), address: address.to_string() }
    }

    /// What the program's environment must hold.
    pub fn environment(&self) -> [(&'static str, &str); 4] {
        [
            ("LD_PRELOAD", plain(&self.shim)),
            ("NAMES_NAME", &self.name),
            ("NAMES_ADDRESS", &self.address),
            ("NAMES_ASKED", plain(&self.asked)),
        ]
    }

    /// How often the name was looked up.
    pub fn asked(&self) -> usize {
        fs::read_to_string(&self.asked).map_or(0, |lines| lines.lines().count())
    }
}

fn plain(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}
