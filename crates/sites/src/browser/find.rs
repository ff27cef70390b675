//! Chromium lookup on this machine.

use std::path::{Path, PathBuf};

use interlingua_process::programs::on_path;

/// Programs themselves before the scripts that packages put in front of them.
const USUAL: [&str; 7] = [
    "/usr/lib/chromium/chromium",
    "/usr/lib/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

const NAMES: [&str; 5] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];

/// What to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotFound {
    #[error(
        "there is no Chromium on this machine: install it (Debian and Ubuntu: `apt-get install chromium`), or name it with `browser: {{ path: … }}`"
    )]
    Nowhere,
    #[error("`browser.path` names {}, and there is no such program", .0.display())]
    NotThere(PathBuf),
}

/// The program that configuration names, or the first one that is where it usually is.
pub fn find(named: Option<&Path>) -> Result<PathBuf, NotFound> {
    if let Some(named) = named {
        return if named.is_file() { Ok(named.to_owned()) } else { Err(NotFound::NotThere(named.to_owned())) };
    }
    let usual = USUAL.iter().map(PathBuf::from).find(|path| path.is_file());
    usual.or_else(called_as_usual).ok_or(NotFound::Nowhere)
}

fn called_as_usual() -> Option<PathBuf> {
    NAMES.iter().find_map(|name| on_path(name))
}
