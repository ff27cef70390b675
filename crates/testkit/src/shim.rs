//! Preloaded C libraries (`LD_PRELOAD`) between a program and the system.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds one of the sources beside this file into `home`; loaded with `LD_PRELOAD`.
pub(crate) fn build(source: &str, home: &Path) -> PathBuf {
    let built = home.join(source).with_extension("so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(source);
    let cc = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&built).arg(source).arg("-ldl").status();
    assert!(cc.expect("a C compiler").success(), "cc could not build {}", built.display());
    built
}
