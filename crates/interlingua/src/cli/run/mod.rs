//! `run`: executes a plan on the hub, and shows its progress.
//!
//! On a terminal the plan is redrawn with every change; elsewhere each change is a line. With `--json` each event is one line of JSON, the
//! last one with the whole plan. Ctrl-C cancels it.

mod board;
pub(super) mod plan;

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};
use interlingua_model::Json;
use interlingua_model::percent::encoded;
use serde_json::{Value, json};

use self::board::Board;
use super::arguments::{RunArguments, SaveArguments};
use super::client::{Client, Extras};
use super::screen::{Screen, plain};
use super::{Exit, Failure, save};
use crate::config::Span;
use interlingua_api::view::{EventView, ExchangeRequest, FinishedView, OutcomeView, TaskView};

/// A plan may take longer than a call.
const DEADLINE: Span = Span::hours(24);

pub(super) async fn run(arguments: RunArguments) -> Result<Exit, Failure> {
    let plan = plan::read(&arguments.plan)?;
    let mut given = json!({ "plan": plan });
    if let Some(width) = arguments.width {
        given["width"] = width.into();
    }
    if let Some(planner) = &arguments.planner {
        given["planner"] = planner.as_str().into();
    }
    let request = ExchangeRequest {
        skill: Some("graph/run".to_owned()),
        arguments: Some(Json::from_tree(given)),
        deadline: Some(arguments.deadline.unwrap_or(DEADLINE)),
        ..ExchangeRequest::default()
    };
    let client = Client::new(&arguments.hub)?;
    let screen = Screen { json: arguments.hub.json };
    let task: TaskView = client.post("/api/tasks", &request, &Extras { key: None, last_event: None }).await?;
    if arguments.detach {
        screen.say(&task.id)?;
        return Ok(Exit::Done);
    }
    let mut watcher = Watcher::new(screen, arguments.save);
    tokio::select! {
        done = watcher.follow(&client, &task.id) => done,
        _ = tokio::signal::ctrl_c() => {
            let _ = client.delete(&format!("/api/tasks/{}", encoded(&task.id))).await;
            Err(Failure::new(Exit::Interrupted, "interrupted; the plan was cancelled"))
        }
    }
}

struct Watcher {
    screen: Screen,
    bar: ProgressBar,
    board: Board,
    /// Drawn anew, or told line by line.
    drawn: bool,
    save: SaveArguments,
}

impl Watcher {
    fn new(screen: Screen, save: SaveArguments) -> Watcher {
        let drawn = !screen.json && std::io::stderr().is_terminal();
        let bar = if drawn { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{msg}") {
            bar.set_style(style);
        }
        Watcher { screen, bar, board: Board::default(), drawn, save }
    }

    /// To the end; a connection that is lost on the way is taken up after the last event seen.
    async fn follow(&mut self, client: &Client, task: &str) -> Result<Exit, Failure> {
        let path = format!("/api/tasks/{}/events", encoded(task));
        let mut last: Option<String> = None;
        loop {
            let extras = Extras { key: None, last_event: last.as_deref() };
            let mut events = client.get_events(&path, &extras).await?;
            let mut heard = false;
            while let Some(event) = events.next().await? {
                heard = true;
                match event {
                    EventView::Said(said) => {
                        for part in said.parts.iter().filter_map(|part| part.data.as_ref()) {
                            self.told(part.tree())?;
                        }
                    }
                    EventView::Finished(finished) => return self.finish(client, &finished).await,
                    EventView::Asked(question) => self.aside(&format!("waits for an answer: {}", question.text)),
                    EventView::Started(_)
                    | EventView::Progress(_)
                    | EventView::Step(_)
                    | EventView::Artifact(_)
                    | EventView::Settled(_) => {}
                }
            }
            last = events.last.clone().or(last);
            if !heard {
                return Err(Failure::new(Exit::Unreachable, "the hub closed the connection before the end"));
            }
        }
    }

    fn aside(&self, text: &str) {
        self.bar.suspend(|| self.screen.note(&plain(text)));
    }

    fn told(&mut self, event: &Value) -> Result<(), Failure> {
        if self.screen.json {
            return self.screen.say(&event.to_string());
        }
        let line = self.board.take(event);
        if self.drawn {
            self.bar.set_message(self.board.draw(self.screen.width()));
        } else if let Some(line) = line {
            self.screen.note(&plain(&line));
        }
        Ok(())
    }

    async fn finish(&mut self, client: &Client, finished: &FinishedView) -> Result<Exit, Failure> {
        self.bar.finish_and_clear();
        let plan = finished.structured.as_ref().map(Json::tree);
        if self.screen.json {
            let last = json!({"event_type": "finished", "outcome": finished.outcome, "constellation": plan});
            self.screen.say(&last.to_string())?;
        } else if let Some(plan) = plan {
            self.board.become_plan(plan);
            self.screen.say(&self.board.draw(self.screen.width()))?;
        }
        save::fetch_and_save(client, self.screen, &self.save, finished.parts.clone()).await?;
        match finished.outcome {
            OutcomeView::Completed => Ok(Exit::Done),
            OutcomeView::Failed => {
                let fault = finished.fault.as_ref();
                let exit = fault.map_or(Exit::Failed, |fault| Exit::of_fault(fault.exit_code));
                Err(Failure::new(exit, fault.map_or("the plan failed".into(), |fault| plain(&fault.message))))
            }
            OutcomeView::Cancelled => Err(Failure::new(Exit::Failed, "the plan was cancelled")),
        }
    }
}
