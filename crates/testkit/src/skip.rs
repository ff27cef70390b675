//! Skipped tests: a test that needs another user, a program or a kernel that this machine does not have says so and ends; `scripts/test`
//! names it in its last lines, because a runner counts it as passed.

use std::{fs, panic::Location, process::Command, thread};

use crate::root;

/// Writes down that the running test, or a part of it, was not run, and why. `return skipped(…)` is the one way in which a test
/// may end early.
#[track_caller]
pub fn skipped(missing: &str) {
    let caller = Location::caller();
    let name = match thread::current().name() {
        Some(test) if test.contains("::") => test.to_owned(),
        _ => format!("{}:{}", caller.file().replace('/', "."), caller.line()),
    };
    let folder = root().join("target/skipped");
    fs::create_dir_all(&folder).expect("target/ can be written");
    fs::write(folder.join(name), format!("{missing}\n")).expect("target/ can be written");
}

/// The user and group that nobody's files belong to.
pub const NOBODY: u32 = 65_534;

/// A command of another user of this machine, or what is missing to be one.
pub fn as_another_user(program: &str) -> Result<Command, String> {
    if !rustix::process::getuid().is_root() {
        return Err("only root can become another user".to_owned());
    }
    let has = |tool: &str| Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success());
    if let Some(missing) = ["setpriv", program].into_iter().find(|tool| !has(tool)) {
        return Err(format!("there is no `{missing}`"));
    }
    let mut command = Command::new("setpriv");
    let id = NOBODY.to_string();
    command.args(["--reuid", &id, "--regid", &id, "--clear-groups", "--", program]);
    Ok(command)
}
