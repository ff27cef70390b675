//! Id prefixes: the beginning of an id is enough where no other begins the same.

use interlingua_model::percent::encoded;
use interlingua_model::{QuestionId, TaskId};

use super::arguments::HubArguments;
use super::client::Client;
use super::list::all;
use super::{Exit, Failure};
use interlingua_api::view::{QuestionView, TaskView};

/// How much of an id is shown in tables.
const SHOWN: usize = 12;
/// How many candidates are listed.
const LISTED: usize = 10;
/// No task has more questions at once; one that asked more is looked at in its events.
const QUESTIONS: u32 = 16;

/// As much of an id as a table shows, and as commands take.
pub(super) fn short(id: &str) -> String {
    id.chars().take(SHOWN).collect()
}

/// The task that is meant.
pub(super) async fn task(hub: &HubArguments, typed: &str) -> Result<String, Failure> {
    if typed.parse::<TaskId>().is_ok() {
        return Ok(typed.to_owned());
    }
    let tasks = all::<TaskView>(hub, "/api/tasks?limit=200").await?;
    let known = tasks.items.iter().map(|task| task.id.as_str());
    match begins(known, typed)? {
        Some(id) => Ok(id),
        None => {
            let text = format!("no task of yours begins with '{typed}'\n  `interlingua tasks` lists them");
            Err(Failure::new(Exit::Usage, text))
        }
    }
}

/// The call that waits for an approval and is meant, by its own id or its task's.
pub(super) async fn pending(hub: &HubArguments, typed: &str) -> Result<QuestionView, Failure> {
    let client = Client::new(hub)?;
    let whole = typed.parse::<QuestionId>().is_ok();
    if whole {
        return client.get(&format!("/api/confirmations/{}", encoded(typed))).await;
    }
    let mut open = all::<QuestionView>(hub, "/api/confirmations?limit=200").await?.items;
    let found = begins(open.iter().map(|question| question.id.as_str()), typed)?;
    if let Some(id) = found
        && let Some(place) = open.iter().position(|question| question.id == id)
    {
        return Ok(open.swap_remove(place));
    }
    let task = task(hub, typed).await?;
    Err(why_not(&client, &task).await)
}

/// Nothing of a task waits for this approver: what the hub says of its questions, the last one first.
async fn why_not(client: &Client, task: &str) -> Failure {
    let mut said = None;
    for number in 0..QUESTIONS {
        match client.get::<QuestionView>(&format!("/api/confirmations/{}.{number}", encoded(task))).await {
            Ok(_) => {}
            Err(failure) if failure.message.starts_with("no such question") => break,
            Err(failure) => said = Some(failure),
        }
    }
    said.unwrap_or_else(|| {
        Failure::new(Exit::Usage, "this task waits for no approval\n  `interlingua approve` lists what does")
    })
}

/// The one that begins so; several are an error that names them.
fn begins<'a>(known: impl Iterator<Item = &'a str>, typed: &str) -> Result<Option<String>, Failure> {
    let found: Vec<&str> = known.filter(|id| id.starts_with(typed)).collect();
    match found.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some((*one).to_owned())),
        several => {
            let more = if several.len() > LISTED { "\n  …" } else { "" };
            let listed: Vec<String> = several.iter().take(LISTED).map(|id| format!("  {id}")).collect();
            Err(Failure::new(Exit::Usage, format!("several begin with '{typed}':\n{}{more}", listed.join("\n"))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::begins;

    #[test]
    fn a_beginning_names_one_id_or_lists_those_it_could_mean() {
        let known = ["ab12.0", "ab34.0", "cd56.0"];
        assert_eq!(begins(known.into_iter(), "cd").unwrap().as_deref(), Some("cd56.0"));
        assert_eq!(begins(known.into_iter(), "ef").unwrap(), None);
        let several = begins(known.into_iter(), "ab").unwrap_err();
        assert_eq!(several.message, "several begin with 'ab':\n  ab12.0\n  ab34.0");
    }
}
