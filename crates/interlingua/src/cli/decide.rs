//! `approve` and `deny`: a human's yes or no.

use interlingua_core::percent::encoded;

use super::arguments::DecideArguments;
use super::client::{Client, Extras};
use super::screen::Screen;
use super::{Exit, Failure};
use crate::api::view::{ConfirmationRequest, TaskView};

pub(super) async fn decide(arguments: &DecideArguments, approve: bool) -> Result<Exit, Failure> {
    let client = Client::new(&arguments.hub)?;
    let id = confirmation(&client, &arguments.id).await?;
    let path = format!("/api/confirmations/{}", encoded(&id));
    let task: TaskView = client.post(&path, &ConfirmationRequest { approve }, &Extras::default()).await?;
    let screen = Screen { json: arguments.hub.json };
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
