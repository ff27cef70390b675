//! `check`: is this configuration right?

use serde_json::json;

use super::arguments::CheckArguments;
use super::screen::Screen;
use super::{Exit, Failure};
use crate::config::{self, Overrides, Problem};

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

fn view(problem: &Problem) -> serde_json::Value {
    let mut view = json!({ "path": problem.path, "message": problem.message });
    if let Some((file, at)) = &problem.at {
        view["file"] = file.display().to_string().into();
        view["line"] = at.line.into();
        view["column"] = at.column.into();
    }
    view
}
