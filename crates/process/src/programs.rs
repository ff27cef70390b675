//! Program lookup: which file a program name means on this machine. Nothing is started.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The file that would be started: a name with a `/` is a path, seen from `home`; any other is looked for in `PATH`.
pub fn find(command: &str, home: &Path) -> Option<PathBuf> {
    match command.contains('/') {
        true => Some(home.join(command)).filter(|file| is_executable(file)),
        false => on_path(command),
    }
}

pub fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| is_executable(file))
}

pub fn is_executable(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::find;

    #[test]
    fn a_name_is_looked_for_and_a_path_is_taken_from_home() {
        assert!(find("sh", Path::new("/nowhere")).is_some_and(|file| file.ends_with("sh")));
        assert_eq!(find("bin/sh", Path::new("/")).as_deref(), Some(Path::new("/bin/sh")));
        for absent in ["no-such-program-anywhere", "./sh", ""] {
            assert_eq!(find(absent, Path::new("/nowhere")), None, "{absent}");
        }
    }
}
