//! Live view of a run: the steps of an agent or a team, shown beside its exchange. A team on a terminal is redrawn with every step,
//! elsewhere a step is a line. [`super::call`] shows the exchange itself.

use std::time::Duration;

use indicatif::ProgressStyle;
use interlingua_model::percent::encoded;

use super::Failure;
use super::call::{Notes, Watcher, next_step};
use super::client::Extras;
use interlingua_api::view::StepView;

/// How long the last steps are waited for once the outcome is there.
const LAST: Duration = Duration::from_secs(5);

impl Watcher<'_> {
    /// From its beginning, whenever that was. An exchange that keeps none has none to show.
    pub(super) async fn watch_steps(&mut self) {
        let Some(task) = self.task.as_ref().filter(|_| self.steps.is_none()) else { return };
        let path = format!("/api/tasks/{}/timeline", encoded(task));
        self.steps = self.client.get_events(&path, &Extras::default()).await.ok();
    }

    /// The watch ends with its stream; the exchange tells what is left to tell.
    pub(super) fn stepped(&mut self, step: Result<Option<StepView>, Failure>) -> Result<(), Failure> {
        let Ok(Some(step)) = step else {
            self.steps = None;
            return Ok(());
        };
        if step.step == FINISHED {
            self.steps = None;
        }
        if self.screen.json {
            return self.screen.say(&serde_json::to_string(&step).unwrap_or_default());
        }
        let line = self.team.take(&step);
        if !self.team.is_team() {
            // What an agent does alone, its exchange tells.
            self.steps = None;
        }
        match (self.notes, line) {
            (Notes::Bar, _) => self.draw(),
            (Notes::Lines | Notes::Steps, Some(line)) => self.aside(&line),
            (Notes::Lines | Notes::Steps, None) => {}
        }
        Ok(())
    }

    /// What was written down before the outcome was told.
    pub(super) async fn last_steps(&mut self) -> Result<(), Failure> {
        while self.steps.is_some() {
            match tokio::time::timeout(LAST, next_step(&mut self.steps)).await {
                Ok(step) => self.stepped(step)?,
                Err(_) => self.steps = None,
            }
        }
        Ok(())
    }

    pub(super) fn draw(&self) {
        if !self.team.is_team() || !self.shown.is_empty() {
            return;
        }
        if let Ok(style) = ProgressStyle::with_template("{msg}") {
            self.bar.set_style(style);
        }
        self.bar.set_message(self.team.draw(self.screen.width()));
    }

    /// The last view stays above the answer.
    pub(super) fn close_board(&mut self) {
        if self.notes == Notes::Bar && self.team.is_team() && self.shown.is_empty() {
            self.bar.finish_and_clear();
            self.screen.note(&self.team.draw(self.screen.width()));
            self.team = super::team::Board::default();
        }
    }
}

/// The last step of every run.
const FINISHED: &str = "finished";
