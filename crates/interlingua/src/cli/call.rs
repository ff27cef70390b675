//! `call` and `ask`: one exchange, shown as it happens.
//!
//! A question ends the hub's response, not the exchange: it is asked on the terminal, the answer is sent, and the events
//! are followed from where they stopped. Ctrl-C cancels.

use std::collections::BTreeMap;
use std::io::{IsTerminal, Read};
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use interlingua_machines::words::folded;
use interlingua_model::Json;
use interlingua_model::percent::encoded;

use super::answer;
use super::arguments::{AskArguments, CallArguments, ExchangeArguments, HubArguments, SaveArguments};
use super::client::{Client, Events, Extras};
use super::screen::{Screen, plain};
use super::shown::Shown;
use super::team::Board;
use super::{Exit, Failure, did_you_mean, save};
use crate::config;
use interlingua_api::view::{
    ArtifactView, EventView, ExchangeRequest, ExchangeView, FinishedView, OutcomeView, PartKind, PartView,
    ProgressView, QuestionView, RouteView, SaidView, StepView, TaskView,
};

/// How the skill of every agent and team ends.
const CHAT: &str = "/chat";
/// Why the hub answers words that fit none of its skills.
const LAST_RESORT: &str = "last_resort";
/// How many artifacts are held until the end, and how much of each.
const ARTIFACTS: usize = 100;
const HELD: usize = 1 << 20;
/// No arguments are longer than the default body of a request.
const ARGUMENTS: u64 = 64 << 20;

pub(super) async fn call(arguments: CallArguments) -> Result<Exit, Failure> {
    let given = arguments.arguments.as_deref().map(read_arguments).transpose()?;
    let request = ExchangeRequest {
        skill: Some(arguments.skill.clone()),
        arguments: given,
        text: arguments.text,
        ..ExchangeRequest::default()
    };
    match exchange(&arguments.hub, arguments.exchange, request).await {
        Err(failure) => Err(did_you_mean::skill(&arguments.hub, &arguments.skill, failure).await),
        done => done,
    }
}

pub(super) async fn ask(arguments: AskArguments) -> Result<Exit, Failure> {
    let words = arguments.words.join(" ");
    let Some(peer) = arguments.peer else {
        let request = ExchangeRequest { words: Some(words), ..ExchangeRequest::default() };
        return exchange(&arguments.hub, arguments.exchange, request).await;
    };
    let request = ExchangeRequest { peer: Some(peer.clone()), text: Some(words), ..ExchangeRequest::default() };
    match exchange(&arguments.hub, arguments.exchange, request).await {
        Err(failure) => Err(did_you_mean::peer(&arguments.hub, &peer, failure).await),
        done => done,
    }
}

/// A JSON object as typed, from `@FILE`, or from standard input.
fn read_arguments(text: &str) -> Result<Json, Failure> {
    let bad = |message: String| Failure::new(Exit::Usage, message);
    let bytes = match text.strip_prefix('@') {
        Some(file) => std::fs::read(file).map_err(|error| bad(config::unreadable(Path::new(file), &error)))?,
        None if text == "-" => {
            let mut bytes = Vec::new();
            let read = std::io::stdin().lock().take(ARGUMENTS).read_to_end(&mut bytes);
            read.map_err(|error| bad(format!("cannot read standard input: {}", error.kind())))?;
            bytes
        }
        None => text.as_bytes().to_vec(),
    };
    let json = Json::parse(bytes.into()).map_err(|error| {
        bad(format!("the arguments are not JSON: {error}; expected an object, such as '{{\"path\":\".\"}}'"))
    })?;
    if json.is_object() {
        Ok(json)
    } else {
        Err(bad("the arguments are a JSON object, such as '{\"path\":\".\"}'".into()))
    }
}

async fn exchange(
    hub: &HubArguments,
    options: ExchangeArguments,
    mut request: ExchangeRequest,
) -> Result<Exit, Failure> {
    request.conversation = options.conversation;
    request.deadline = options.deadline;
    request.priority = options.priority;
    request.confirm = options.confirm;
    let client = Client::new(hub)?;
    let screen = Screen { json: hub.json };
    let extras = Extras { key: options.key.as_deref(), last_event: None };
    if options.detach {
        let task: TaskView = client.post("/api/tasks", &request, &extras).await?;
        if screen.json {
            screen.value(&task)?
        } else {
            screen.say(&task.id)?
        }
        return Ok(Exit::Done);
    }
    let mut watcher = Watcher::new(&client, screen, if options.steps { Notes::Steps } else { Notes::fitting() });
    watcher.save = options.save;
    tokio::select! {
        done = watcher.run(&request, &extras) => {
            // At a question that it asked.
            if !done.as_ref().is_err_and(|failure| failure.exit == Exit::Interrupted) {
                return done;
            }
        }
        _ = tokio::signal::ctrl_c() => {}
    }
    watcher.cancel().await;
    Err(Failure::new(Exit::Interrupted, "interrupted; the call was cancelled"))
}

/// Where what happens beside the answer is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notes {
    /// In one line that changes.
    Bar,
    /// A line each.
    Lines,
    /// Every step a line, for programs.
    Steps,
}

impl Notes {
    /// A line that changes needs a terminal.
    pub(super) fn fitting() -> Notes {
        if std::io::stderr().is_terminal() { Notes::Bar } else { Notes::Lines }
    }
}

/// Follows one exchange to its end.
pub(super) struct Watcher<'a> {
    pub(super) client: &'a Client,
    pub(super) screen: Screen,
    pub(super) bar: ProgressBar,
    /// Known once the exchange is kept.
    pub(super) task: Option<String>,
    open: Vec<QuestionView>,
    /// What of the answer was already written.
    pub(super) shown: Shown,
    pub(super) notes: Notes,
    /// What somebody thinks aloud, until the line is whole: the message and its text.
    thinking: Option<(String, String)>,
    /// What an agent or a team does, step by step, once it is known to be one.
    pub(super) steps: Option<Events>,
    pub(super) team: Board,
    /// The conversation it belongs to, once the hub has said it.
    pub(super) conversation: Option<String>,
    /// What was made on the way, by the artifact's id.
    artifacts: BTreeMap<String, String>,
    /// Where files go.
    pub(super) save: SaveArguments,
    /// Files that came before the end.
    files: Vec<PartView>,
    /// The last line of the answer has no end yet.
    unended: bool,
    /// No skill was found for the words: what is answered is help.
    unmatched: bool,
}

impl<'a> Watcher<'a> {
    pub(super) fn new(client: &'a Client, screen: Screen, notes: Notes) -> Watcher<'a> {
        // Hidden by itself where standard error is not a terminal.
        let bar = if screen.json { ProgressBar::hidden() } else { ProgressBar::new_spinner() };
        let (task, open, shown) = Default::default();
        let (thinking, steps, team, conversation, artifacts) = Default::default();
        let (save, files, unended, unmatched) = Default::default();
        Watcher {
            client,
            screen,
            bar,
            task,
            open,
            shown,
            notes,
            thinking,
            steps,
            team,
            conversation,
            artifacts,
            save,
            files,
            unended,
            unmatched,
        }
    }

    /// A task of one's own from after this event, as if its call had been made here.
    pub(super) async fn resume(&mut self, task: &str, after: u64) -> Result<Exit, Failure> {
        self.task = Some(task.to_owned());
        let last = after.to_string();
        let path = format!("/api/tasks/{}/events", encoded(task));
        let extras = Extras { key: None, last_event: Some(&last) };
        let mut events = self.client.get_events(&path, &extras).await?;
        events.last = Some(last);
        self.run_out(events).await
    }

    /// Nothing of the progress stays on the screen.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// Cancels what is followed. A kept exchange does not end with its connection.
    pub(super) async fn cancel(&mut self) {
        if let Some(task) = self.task.take() {
            let _ = self.client.delete(&format!("/api/tasks/{}", encoded(&task))).await;
        }
    }

    pub(super) async fn run(&mut self, request: &ExchangeRequest, extras: &Extras<'_>) -> Result<Exit, Failure> {
        if self.screen.json && self.notes != Notes::Steps {
            let view: ExchangeView = self.client.post("/api/exchanges", request, extras).await?;
            self.conversation.clone_from(&view.conversation);
            self.screen.value(&view)?;
            self.unmatched = view.route.as_ref().is_some_and(|route| route.why == LAST_RESORT);
            let Some(finished) = &view.finished else { return Ok(Exit::Needed) };
            self.keep(finished).await?;
            return Ok(self.ended(finished));
        }
        let events = self.client.post_events("/api/exchanges", request, extras).await?;
        self.run_out(events).await
    }

    async fn run_out(&mut self, mut events: Events) -> Result<Exit, Failure> {
        self.bar.enable_steady_tick(std::time::Duration::from_millis(120));
        loop {
            if let Some(finished) = self.follow(&mut events).await? {
                self.last_steps().await?;
                return self.finish(&finished).await;
            }
            self.settle().await?;
            let Some(task) = &self.task else {
                return Err(Failure::new(Exit::Unreachable, "the hub closed the connection before the end"));
            };
            let extras = Extras { key: None, last_event: events.last.as_deref() };
            let last = events.last.clone();
            let path = format!("/api/tasks/{}/events", encoded(task));
            events = self.client.get_events(&path, &extras).await?;
            events.last = last;
        }
    }

    /// Shows events until the exchange has finished, or the response ends.
    async fn follow(&mut self, events: &mut Events) -> Result<Option<FinishedView>, Failure> {
        self.task = events.task().or_else(|| self.task.take());
        self.conversation = events.conversation().or_else(|| self.conversation.take());
        loop {
            let event = tokio::select! {
                biased;
                step = next_step(&mut self.steps) => {
                    self.stepped(step)?;
                    continue;
                }
                event = events.next() => event?,
            };
            let Some(event) = event else { return Ok(None) };
            self.thought_over(&event);
            match event {
                EventView::Started(route) => {
                    self.aside(&way(&route));
                    self.unmatched = route.why == LAST_RESORT;
                    if route.skill.ends_with(CHAT) {
                        self.watch_steps().await;
                    }
                }
                EventView::Said(said) => self.said(&said)?,
                EventView::Progress(progress) => self.progress(&progress),
                EventView::Step(step) => self.progress(&ProgressView { done: None, total: None, note: step.note() }),
                EventView::Artifact(artifact) => self.made(&artifact),
                EventView::Asked(question) => {
                    self.task = Some(question.task.clone());
                    self.open.push(*question);
                    // Answered first, followed on afterwards: the stream of a task goes on past its questions.
                    return Ok(None);
                }
                EventView::Settled(settled) => self.open.retain(|question| question.id != settled.question),
                EventView::Finished(finished) => return Ok(Some(*finished)),
            }
        }
    }

    /// A line beside the answer, above the progress.
    pub(super) fn aside(&self, text: &str) {
        if self.screen.json {
            return;
        }
        // Where answer and remarks share a terminal, a remark does not go on in the answer's line.
        let line = if self.unended && std::io::stdout().is_terminal() { "\n" } else { "" };
        self.bar.suspend(|| self.screen.note(&plain(&format!("{line}{text}"))));
    }

    /// A line beside the answer once it is whole; what it holds is the answer where nothing else is said.
    fn made(&mut self, artifact: &ArtifactView) {
        let text: Vec<String> = artifact.parts.iter().filter_map(shown).collect();
        self.keep_files(&artifact.parts, artifact.name.as_deref());
        if self.artifacts.len() < ARTIFACTS || self.artifacts.contains_key(&artifact.artifact) {
            let held = self.artifacts.entry(artifact.artifact.clone()).or_default();
            if artifact.index == 0 {
                held.clear();
            }
            if held.len() < HELD {
                held.push_str(&text.concat());
            }
        }
        if artifact.last {
            self.aside(&format!("artifact {}", artifact.name.as_deref().unwrap_or(&artifact.artifact)));
        }
    }

    /// Files of a streamed answer are not told again at its end.
    fn keep_files(&mut self, parts: &[PartView], named: Option<&str>) {
        if self.save.save.is_none() {
            return;
        }
        let files =
            parts.iter().filter(|part| part.kind == PartKind::Blob).take(ARTIFACTS - self.files.len().min(ARTIFACTS));
        let named =
            |part: &PartView| PartView { name: part.name.clone().or_else(|| named.map(str::to_owned)), ..part.clone() };
        let files: Vec<PartView> = files.map(named).collect();
        self.files.extend(files);
    }

    fn said(&mut self, said: &SaidView) -> Result<(), Failure> {
        let text = said.parts.iter().filter_map(shown).collect::<Vec<_>>().join("\n");
        if said.channel != "answer" {
            self.thinks(said, &text);
            return Ok(());
        }
        if self.screen.json {
            return Ok(());
        }
        self.close_board();
        self.keep_files(&said.parts, None);
        self.shown.note(said);
        let end = if said.piece == "delta" { "" } else { "\n" };
        let text = format!("{}{end}", plain(&text));
        self.unended = !text.is_empty() && !text.ends_with('\n');
        // The answer takes the place of the progress, which would be drawn into its last line.
        self.bar.finish_and_clear();
        self.screen.write(&text)
    }

    /// Thoughts come in pieces; they are shown a line at a time, with whose they are.
    fn thinks(&mut self, said: &SaidView, text: &str) {
        let whose = said.parts.first().map_or("", |part| part.by.as_str());
        if self.notes == Notes::Bar && self.team.overhear(whose, text) {
            return self.draw();
        }
        let (_, line) = self.thinking.get_or_insert_with(|| (said.message.clone(), format!("{whose}: ")));
        line.push_str(text);
        if said.piece != "delta" {
            self.think_aloud();
        }
    }

    fn think_aloud(&mut self) {
        if let Some((_, line)) = self.thinking.take().filter(|(_, line)| !line.trim().is_empty()) {
            self.aside(&line);
        }
    }

    /// Anything but more of the same thought ends it.
    fn thought_over(&mut self, event: &EventView) {
        let goes_on = match (event, &self.thinking) {
            (EventView::Said(said), Some((message, _))) => said.message == *message && said.channel != "answer",
            _ => false,
        };
        if !goes_on {
            self.think_aloud();
        }
    }

    fn progress(&self, progress: &ProgressView) {
        if self.notes == Notes::Bar && self.team.is_team() {
            return;
        }
        if let Some(note) = &progress.note {
            match self.notes {
                Notes::Bar => self.bar.set_message(plain(note)),
                Notes::Lines | Notes::Steps => self.aside(&format!("· {note}")),
            }
        }
        if let (Some(done), Some(total)) = (progress.done, progress.total)
            && total > 0.0
            && let Ok(style) = ProgressStyle::with_template("{wide_bar} {percent}% {msg}")
        {
            self.bar.set_style(style);
            self.bar.set_length(1000);
            // The bar counts in thousandths; a fraction outside 0 to 1 is shown at the edge.
            self.bar.set_position((done / total * 1000.0).clamp(0.0, 1000.0) as u64);
        }
    }

    /// Asks the person what the exchange waits for.
    async fn settle(&mut self) -> Result<(), Failure> {
        for question in std::mem::take(&mut self.open) {
            if !self.screen.can_ask() {
                return Err(answer::needed(&question));
            }
            let reply = self.bar.suspend(|| answer::ask(self.screen, &question))?;
            match answer::send(self.client, &question, reply).await {
                Ok(()) => {}
                Err(failure) if failure.exit == Exit::Denied => {
                    self.aside("you may not approve this; waiting for an approver of this hub");
                }
                Err(failure) => return Err(failure),
            }
        }
        Ok(())
    }

    /// Words that fit nothing were answered, and not done.
    fn ended(&self, finished: &FinishedView) -> Exit {
        match finished.outcome {
            OutcomeView::Completed if self.unmatched => Exit::Failed,
            OutcomeView::Completed => Exit::Done,
            OutcomeView::Failed => {
                finished.fault.as_ref().map_or(Exit::Failed, |fault| Exit::of_fault(fault.exit_code))
            }
            OutcomeView::Cancelled => Exit::Failed,
        }
    }

    /// Saves the files of the result, if that is wanted.
    async fn keep(&mut self, finished: &FinishedView) -> Result<(), Failure> {
        let mut files = std::mem::take(&mut self.files);
        files.extend(finished.parts.iter().cloned());
        save::fetch_and_save(self.client, self.screen, &self.save, files).await
    }

    async fn finish(&mut self, finished: &FinishedView) -> Result<Exit, Failure> {
        if self.screen.json {
            let last = serde_json::json!({"step": "outcome", "data": finished});
            self.screen.say(&last.to_string())?;
            self.keep(finished).await?;
            return Ok(self.ended(finished));
        }
        self.close_board();
        self.bar.finish_and_clear();
        if std::mem::take(&mut self.unended) {
            self.screen.write("\n")?;
        }
        let streamed = self.shown.answer(finished)
            || (!finished.parts.is_empty() && finished.parts.iter().all(|part| self.shown.part(part)));
        let mut result = if streamed { String::new() } else { result(finished) };
        if !streamed && result.is_empty() {
            let held = finished.artifacts.iter().filter_map(|artifact| self.artifacts.get(artifact));
            result = plain(&held.map(String::as_str).collect::<Vec<_>>().join("\n"));
        }
        // A failure that is its own result is told once, as the failure.
        let told = finished.fault.as_ref().is_some_and(|fault| plain(&fault.message).contains(result.trim()));
        if !result.is_empty() && !told {
            self.screen.say(&result)?;
        }
        self.keep(finished).await?;
        match finished.outcome {
            OutcomeView::Completed => Ok(self.ended(finished)),
            OutcomeView::Failed => {
                let message = finished.fault.as_ref().map_or("the call failed".into(), |fault| plain(&fault.message));
                Err(Failure::new(self.ended(finished), message))
            }
            OutcomeView::Cancelled => {
                let why = finished.cancelled_why.as_deref().unwrap_or("no reason was given");
                Err(Failure::new(Exit::Failed, format!("the call was cancelled: {}", plain(why))))
            }
        }
    }
}

/// What a run wrote down next; never, where nothing is watched.
pub(super) async fn next_step(steps: &mut Option<Events>) -> Result<Option<StepView>, Failure> {
    match steps {
        Some(steps) => steps.step().await,
        None => std::future::pending().await,
    }
}

/// Which way was taken, and what plain words were found to say.
fn way(route: &RouteView) -> String {
    let with = route.arguments.as_ref().map(|args| format!(" with {}", folded::arguments(args.as_str())));
    format!("→ {}{} ({})", route.skill, with.unwrap_or_default(), route.why)
}

/// The result for a person: its words, else its data.
pub(super) fn result(finished: &FinishedView) -> String {
    let words: Vec<String> = finished.parts.iter().filter_map(shown).collect();
    if !words.is_empty() {
        return plain(&words.join("\n"));
    }
    let structured = finished.structured.as_ref();
    structured.map(|json| plain(&format!("{:#}", json.tree()))).unwrap_or_default()
}

fn shown(part: &PartView) -> Option<String> {
    match part.kind {
        PartKind::Text | PartKind::Code => part.text.clone(),
        PartKind::Data | PartKind::Other => part.data.as_ref().map(|data| format!("{:#}", data.tree())),
        PartKind::Place => part.text.clone().or_else(|| part.gps.clone()),
        PartKind::Link => part.uri.clone(),
        PartKind::Blob => Some(super::save::placeholder(part)),
    }
}
