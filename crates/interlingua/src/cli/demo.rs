//! `demo`: the travel demo of `examples/travel`, with this program as its hub and its device.
//!
//! The demo is a script that starts the example peers beside a hub. It is not part of the program, so it is searched for in the checkout
//! that holds the working directory or the program. `make demo` installs what the peers need first.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::arguments::DemoArguments;
use super::{Exit, Failure};

const STORY: &str = "examples/travel/story.py";

/// Becomes the story: what a person types and how it ends is between them and it.
pub(super) fn demo(arguments: &DemoArguments) -> Result<Exit, Failure> {
    let failed = |error: std::io::Error| Failure::new(Exit::Failed, format!("cannot start: {}", error.kind()));
    let program = std::env::current_exe().map_err(failed)?;
    let here = std::env::current_dir().map_err(failed)?;
    let story = arguments.story.clone().or_else(|| find(&[&here, &program])).ok_or_else(missing)?;
    let mut command = Command::new("python3");
    command.arg(story).arg("--program").arg(&program);
    if arguments.script {
        command.arg("--script");
    }
    let error = command.exec();
    Err(Failure::new(Exit::Failed, format!("python3, which tells the story, cannot be started: {}", error.kind())))
}

/// In one of these places or above it, the nearest first.
fn find(places: &[&Path]) -> Option<PathBuf> {
    let above = places.iter().flat_map(|place| place.ancestors());
    above.map(|folder| folder.join(STORY)).find(|story| story.is_file())
}

fn missing() -> Failure {
    let text = format!("{STORY} is not here: run this in a checkout of the project, or say where it is with --story");
    Failure::new(Exit::Usage, text)
}
