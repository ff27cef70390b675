//! `check`: validates a configuration, a website definition, a plan or a tool manifest. The keys of a file decide which of them it is.

use std::path::Path;

use interlingua_model::PeerId;
use interlingua_sites::browser::file;
use interlingua_tools::custom::read_manifest;
use serde_json::json;

use super::arguments::CheckArguments;
use super::run::plan;
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
        Err(rejected) if has(&rejected, "interface_id") => definition(&arguments.file, screen),
        Err(rejected) if has(&rejected, "tasks") => match plan::check(&arguments.file) {
            Ok(()) => told(screen, &arguments.file, "plan; `interlingua run` works through it", &[], &[]),
            Err(rejected) => refused(screen, &rejected),
        },
        Err(rejected) if has(&rejected, "name") && has(&rejected, "description") => manifest(&arguments.file, screen),
        Err(rejected) => refused(screen, &rejected),
    }
}

/// Each problem with its place.
fn refused(screen: Screen, rejected: &Rejected) -> Result<Exit, Failure> {
    if screen.json {
        let problems: Vec<_> = rejected.problems.iter().map(view).collect();
        screen.value(&json!({ "valid": false, "problems": problems, "warnings": [] }))?;
    } else {
        screen.note(&rejected.render());
    }
    Ok(Exit::Configuration)
}

/// Does the file have this key, which no configuration has?
fn has(rejected: &Rejected, key: &str) -> bool {
    rejected.problems.iter().any(|problem| problem.path == key)
}

fn definition(path: &Path, screen: Screen) -> Result<Exit, Failure> {
    let problems = file::read(path).err().unwrap_or_default();
    told(screen, path, "definition of a website", &problems, &[])
}

fn manifest(path: &Path, screen: Screen) -> Result<Exit, Failure> {
    let (problems, warnings) = match read_manifest(path, &PeerId::from("local")) {
        Ok((_, odd)) => (Vec::new(), odd),
        Err(problems) => (problems, Vec::new()),
    };
    let [problems, warnings] =
        [problems, warnings].map(|list| list.iter().map(ToString::to_string).collect::<Vec<String>>());
    told(screen, path, "manifest of a tool", &problems, &warnings)
}

/// What came of a file that is no configuration.
fn told(screen: Screen, path: &Path, what: &str, problems: &[String], warnings: &[String]) -> Result<Exit, Failure> {
    let valid = problems.is_empty();
    if screen.json {
        let views =
            |texts: &[String]| -> Vec<_> { texts.iter().map(|text| json!({ "path": "", "message": text })).collect() };
        let (problems, warnings) = (views(problems), views(warnings));
        screen.value(&json!({ "valid": valid, "problems": problems, "warnings": warnings }))?;
    } else {
        warnings.iter().for_each(|warning| screen.note(&format!("warning: {warning}")));
        match valid {
            true => screen.say(&format!("{} is a valid {what}", path.display()))?,
            false => screen.note(&problems.join("\n")),
        }
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
