//! `approve` and `deny`: a human's yes or no. What a yes would do is shown first; on a terminal it is asked for once more.

use interlingua_core::percent::encoded;

use super::arguments::DecideArguments;
use super::client::{Client, Extras};
use super::screen::Screen;
use super::{Exit, Failure, answer};
use crate::api::view::{ConfirmationRequest, QuestionView, TaskView};

pub(super) async fn decide(arguments: &DecideArguments, approve: bool) -> Result<Exit, Failure> {
    let client = Client::new(&arguments.hub)?;
    let id = confirmation(&client, &arguments.id).await?;
    let path = format!("/api/confirmations/{}", encoded(&id));
    let screen = Screen { json: arguments.hub.json };
    if approve && !screen.json {
        let question: QuestionView = client.get(&path).await?;
        screen.note(&answer::described(&question));
        if screen.can_ask() && !arguments.yes && !answer::agrees(screen)? {
            return Err(Failure::new(Exit::Needed, format!("nothing was decided: {id} still waits")));
        }
    }
    let task: TaskView = client.post(&path, &ConfirmationRequest { approve }, &Extras::default()).await?;
    let word = if approve { "approved" } else { "denied" };
    if screen.json {
        screen.value(&task)?
    } else {
        screen.say(&format!("{word} {id}; its task is {}", task.state))?
    }
    Ok(Exit::Done)
}

/// The confirmation that was named, or the one its task waits for.
async fn confirmation(client: &Client, id: &str) -> Result<String, Failure> {
    if id.contains('.') {
        return Ok(id.to_owned());
    }
    let task: TaskView = client.get(&format!("/api/tasks/{}", encoded(id))).await?;
    let waiting: Vec<&str> =
        task.questions.iter().filter(|question| question.kind == "confirm").map(|q| q.id.as_str()).collect();
    match waiting.as_slice() {
        [one] => Ok((*one).to_owned()),
        [] => Err(Failure::new(
            Exit::Usage,
            "this task does not wait for a confirmation\n  `interlingua tasks --state waiting` lists what waits",
        )),
        several => Err(Failure::new(Exit::Usage, format!("it waits for several; name one: {}", several.join(", ")))),
    }
}
