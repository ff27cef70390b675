//! Pending approvals: `approve` without an id lists every call that this approver can decide. On a terminal each is shown and asked for;
//! elsewhere they are a table, or JSON. With `--watch` it continues with new ones.

use std::collections::BTreeSet;
use std::time::Duration;

use super::arguments::{DecideArguments, HubArguments};
use super::decide;
use super::list::all;
use super::screen::Screen;
use super::{Exit, Failure, answer, pending};
use interlingua_api::view::{PageView, QuestionView};

/// How often is looked for new ones.
const PACE: Duration = Duration::from_secs(1);
/// How many ids are remembered as shown; beyond that old ones may be shown again.
const REMEMBERED: usize = 10_000;

pub(super) async fn inbox(arguments: &DecideArguments) -> Result<Exit, Failure> {
    let screen = Screen { json: arguments.hub.json };
    if arguments.watch {
        return tokio::select! {
            ended = watch(screen, arguments) => ended,
            _ = tokio::signal::ctrl_c() => Ok(Exit::Interrupted),
        };
    }
    let page = open(screen, &arguments.hub).await?;
    if screen.json {
        screen.value(&page)?;
    } else if page.items.is_empty() {
        screen.note("no call waits for your approval");
    } else if screen.can_ask() {
        for question in &page.items {
            ask(screen, arguments, question).await?;
        }
    } else {
        screen.say(&pending::table(&page.items).render(screen.width()))?;
        screen.note("`interlingua approve ID` or `interlingua deny ID` decides one");
    }
    Ok(Exit::Done)
}

async fn open(screen: Screen, hub: &HubArguments) -> Result<PageView<QuestionView>, Failure> {
    let mut page: PageView<QuestionView> = all(hub, "/api/confirmations?limit=200").await?;
    if !screen.json {
        page.items = one_a_call(page.items);
    }
    // What expires first is decided first.
    page.items.sort_by(|one, other| one.expires.cmp(&other.expires));
    Ok(page)
}

/// A person decides a call once. Of several questions about one call the one that a run asks is kept: its task has the result.
fn one_a_call(mut items: Vec<QuestionView>) -> Vec<QuestionView> {
    items.sort_by_key(|question| question.asked_by == "hub");
    let mut covered = BTreeSet::new();
    items.retain(|question| {
        let names = [Some(&question.id), question.twin.as_ref()];
        let is_new = names.iter().flatten().all(|id| !covered.contains(*id));
        covered.extend(names.into_iter().flatten().cloned());
        is_new
    });
    items
}

/// Each once, as it comes.
async fn watch(screen: Screen, arguments: &DecideArguments) -> Result<Exit, Failure> {
    if screen.can_ask() {
        screen.note("waiting for calls that need your approval; Ctrl-C ends it");
    }
    let mut seen = BTreeSet::new();
    loop {
        for question in open(screen, &arguments.hub).await?.items {
            if seen.len() >= REMEMBERED {
                seen.clear();
            }
            if !seen.insert(question.id.clone()) {
                continue;
            }
            if screen.json {
                screen.say(&serde_json::to_string(&question).unwrap_or_default())?;
            } else if screen.can_ask() {
                ask(screen, arguments, &question).await?;
            } else {
                screen.say(&pending::described(&question))?;
            }
        }
        tokio::time::sleep(PACE).await;
    }
}

/// One of them on a terminal. What cannot be decided any more is no reason to leave the others.
async fn ask(screen: Screen, arguments: &DecideArguments, question: &QuestionView) -> Result<(), Failure> {
    screen.note(&pending::described(question));
    let decision = match answer::decision(screen)? {
        Some(decision) => decision,
        None => {
            screen.note("left as it is");
            return Ok(());
        }
    };
    match decide::settle(screen, arguments, question, decision).await {
        Err(failure) if failure.exit != Exit::Unreachable => screen.complain(&failure.message),
        other => other?,
    }
    Ok(())
}
