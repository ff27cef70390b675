//! `check`: is this configuration right? Or this definition of a website.

use std::path::Path;

use interlingua_drivers::browser::file;
use serde_json::json;

use super::arguments::CheckArguments;
use super::screen::Screen;
use super::{Exit, Failure};
use crate::config::{self, Overrides, Problem, Rejected};

pub(super) fn check(arguments: &CheckArguments) -> Result<Exit, Failure> {
    let screen = Screen { json: arguments.json };
    let environment = |name: &str| std::env::var(name).ok();
    match config::load(&arguments.file, &Overrides::default(), &environment) {
        Ok(loaded) => {
            let warnings: Vec<_> = loaded.warnings.iter().map(view).collect();
            if screen.json {
                screen.value(&json!({ "valid": true, "problems": [], "warnings": warnings }))?;
                return Ok(Exit::Done);
            }
            for warning in &loaded.warnings {
                screen.note(&format!("warning: {}", warning.render(&loaded.sources)));
            }
            screen.say(&format!("{} is valid", arguments.file.display()))?;
            Ok(Exit::Done)
        }
        Err(rejected) if is_definition(&rejected) => definition(&arguments.file, screen),
        Err(rejected) => {
            if screen.json {
                let problems: Vec<_> = rejected.problems.iter().map(view).collect();
                screen.value(&json!({ "valid": false, "problems": problems, "warnings": [] }))?;
            } else {
                screen.note(&rejected.render());
            }
            Ok(Exit::Configuration)
        }
    }
}

/// The file of a website has a key that no configuration has.
fn is_definition(rejected: &Rejected) -> bool {
    rejected.problems.iter().any(|problem| problem.path == "interface_id")
}

fn definition(path: &Path, screen: Screen) -> Result<Exit, Failure> {
    let problems = file::read(path).err().unwrap_or_default();
    let valid = problems.is_empty();
    if screen.json {
        let problems: Vec<_> = problems.iter().map(|problem| json!({ "path": "", "message": problem })).collect();
        screen.value(&json!({ "valid": valid, "problems": problems, "warnings": [] }))?;
    } else if valid {
        screen.say(&format!("{} is a valid definition of a website", path.display()))?;
    } else {
        screen.note(&problems.join("\n"));
    }
    Ok(if valid { Exit::Done } else { Exit::Configuration })
}

fn view(problem: &Problem) -> serde_json::Value {
    let mut view = json!({ "path": problem.path, "message": problem.message });
    if let Some((file, at)) = &problem.at {
        view["file"] = file.display().to_string().into();
        view["line"] = at.line.into();
        view["column"] = at.column.into();
    }
    view
}
