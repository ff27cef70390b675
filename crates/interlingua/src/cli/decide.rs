//! `approve` and `deny`: a person's decision about one call. The call is shown first; on a terminal the command asks for confirmation, and
//! afterwards it shows the progress of the task.

use std::time::Duration;

use interlingua_model::percent::encoded;

use super::arguments::DecideArguments;
use super::call::{Notes, Watcher};
use super::client::{Client, Extras};
use super::screen::{Screen, plain};
use super::{Exit, Failure, answer, ids, inbox, pending};
use interlingua_api::view::{ConfirmationRequest, QuestionView, TaskView};

/// How long a task is watched after its question was settled.
const AFTERWARDS: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decision {
    Approve,
    Deny,
}

impl Decision {
    fn done(self) -> &'static str {
        match self {
            Decision::Approve => "approved",
            Decision::Deny => "denied",
        }
    }
}

pub(super) async fn decide(arguments: &DecideArguments, decision: Decision) -> Result<Exit, Failure> {
    let Some(typed) = &arguments.id else { return inbox::inbox(arguments).await };
    let question = ids::pending(&arguments.hub, typed).await?;
    let screen = Screen { json: arguments.hub.json };
    if decision == Decision::Approve && !screen.json {
        screen.note(&pending::described(&question));
        if screen.can_ask() && !arguments.yes && !answer::agrees(screen)? {
            return Err(Failure::new(Exit::Needed, format!("nothing was decided: {} is still pending", question.id)));
        }
    }
    settle(screen, arguments, &question, decision).await?;
    Ok(Exit::Done)
}

/// Tells the hub, for exactly the call that was shown.
pub(super) async fn settle(
    screen: Screen,
    arguments: &DecideArguments,
    question: &QuestionView,
    decision: Decision,
) -> Result<(), Failure> {
    let client = Client::new(&arguments.hub)?;
    let before = seen_so_far(&client, &question.task).await;
    let request = ConfirmationRequest { approve: decision == Decision::Approve, call: question.call.clone() };
    let path = format!("/api/confirmations/{}", encoded(&question.id));
    let task: TaskView = client.post(&path, &request, &Extras::default()).await?;
    if screen.json {
        return screen.value(&task);
    }
    match (decision, before) {
        (Decision::Approve, Some(seq)) => {
            screen.note(&format!("{} {}", decision.done(), question.id));
            afterwards(&client, screen, &task.id, seq).await
        }
        // Somebody else's task: its result is theirs.
        (Decision::Approve, None) => {
            let owner = question.owner.as_deref().unwrap_or("its caller");
            screen.say(&plain(&format!("{} {}; {owner} gets the result", decision.done(), question.id)))
        }
        (Decision::Deny, _) => screen.say(&format!("{} {}", decision.done(), question.id)),
    }
}

/// Up to which event a task of one's own was told; none for those of others.
pub(super) async fn seen_so_far(client: &Client, task: &str) -> Option<u64> {
    client.get::<TaskView>(&format!("/api/tasks/{}", encoded(task))).await.ok()?.seq
}

/// How a task goes on: its result, what it waits for next, or that it still runs. The decision stands whatever comes of it.
pub(super) async fn afterwards(client: &Client, screen: Screen, task: &str, seq: u64) -> Result<(), Failure> {
    let mut watcher = Watcher::new(client, screen, Notes::fitting());
    match tokio::time::timeout(AFTERWARDS, watcher.resume(task, seq)).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(failure)) if failure.exit == Exit::Unreachable => Err(failure),
        Ok(Err(failure)) => {
            screen.note(&format!("the task did not complete: {}", failure.message));
            Ok(())
        }
        Err(_) => {
            watcher.clear();
            screen.note(&format!("the task goes on: `interlingua tasks {}` shows it", ids::short(task)));
            Ok(())
        }
    }
}
