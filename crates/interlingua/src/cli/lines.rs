//! Line editor for input on a terminal: editing with arrow keys, and a history of the conversation.
//!
//! The history of a conversation is stored in the data directory of the hub, for its user alone. Answers to questions are not stored, and a
//! token is not shown while it is typed. If the store is encrypted, no history is written beside it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use interlingua_keys::is_wrapped;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{Behavior, ColorMode, Config, Editor, Helper};

use super::screen::Screen;
use super::{Exit, Failure};

/// The file of lines that were said.
const FILE: &str = "chat_history";
/// How many lines are remembered, and how many bytes one has at most.
const LINES: usize = 1_000;
const LONGEST: usize = 8 * 1024;

/// What a person did at the prompt of a conversation.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Typed {
    Line(String),
    /// Ctrl-C: the line is given up.
    Nothing,
    /// Ctrl-D, or the terminal is gone.
    End,
}

/// The prompt of a conversation.
pub(super) struct Prompt {
    editor: Editor<Mask, FileHistory>,
    /// None where lines are remembered until the end only.
    file: Option<PathBuf>,
}

impl Prompt {
    /// `data`: the data directory of the hub, where it is on this machine.
    pub(super) fn new(data: Option<&Path>) -> Result<Prompt, Failure> {
        let mut editor = editor(ColorMode::Enabled)?;
        let file = data.filter(|data| keeps_plain_text(data)).map(|data| data.join(FILE));
        if let Some(file) = &file {
            // The first conversation has none to read.
            let _ = editor.load_history(file);
        }
        Ok(Prompt { editor, file })
    }

    pub(super) fn next(&mut self) -> Typed {
        loop {
            match self.editor.readline("> ") {
                Ok(line) => return Typed::Line(line),
                Err(ReadlineError::Interrupted) => return Typed::Nothing,
                // The window changed its size.
                Err(ReadlineError::Signal(_)) => {}
                Err(_) => return Typed::End,
            }
        }
    }

    /// This line was said. One that begins with a space is not remembered.
    pub(super) fn remember(&mut self, screen: Screen, line: &str) {
        if line.len() > LONGEST || !self.editor.add_history_entry(line).unwrap_or(false) {
            return;
        }
        if let Some(file) = &self.file
            && let Err(error) = self.editor.append_history(file)
        {
            screen.note(&format!("what you say is not remembered for the next time: {error}"));
            self.file = None;
        }
    }
}

/// A store that is sealed has nothing readable beside it; one whose keys cannot be read may be.
fn keeps_plain_text(data: &Path) -> bool {
    data.is_dir() && matches!(is_wrapped(data), Ok(false))
}

/// One line in answer to a question.
pub(super) fn answer() -> Result<String, Failure> {
    typed(editor(ColorMode::Enabled)?)
}

/// The same, not shown while it is typed.
pub(super) fn secret() -> Result<String, Failure> {
    let mut editor = editor(ColorMode::Forced)?;
    editor.set_helper(Some(Mask));
    typed(editor)
}

fn editor(colors: ColorMode) -> Result<Editor<Mask, FileHistory>, Failure> {
    let cannot = |error: ReadlineError| Failure::new(Exit::Failed, format!("cannot read from the terminal: {error}"));
    // The terminal itself, also where the answers go to a file.
    let config = Config::builder().behavior(Behavior::PreferTerm).color_mode(colors).auto_add_history(false);
    let config = config.history_ignore_space(true).max_history_size(LINES).map_err(cannot)?;
    Editor::with_config(config.build()).map_err(cannot)
}

fn typed(mut editor: Editor<Mask, FileHistory>) -> Result<String, Failure> {
    loop {
        match editor.readline("") {
            Ok(line) => return Ok(line.trim().to_owned()),
            Err(ReadlineError::Signal(_)) => {}
            Err(ReadlineError::Interrupted) => return Err(Failure::new(Exit::Interrupted, "interrupted")),
            Err(_) => return Err(Failure::new(Exit::Needed, "no answer was given")),
        }
    }
}

/// Shows a star for each character.
struct Mask;

impl Helper for Mask {}
impl Validator for Mask {}

impl Completer for Mask {
    type Candidate = String;
}

impl Hinter for Mask {
    type Hint = String;
}

impl Highlighter for Mask {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        Cow::Owned("*".repeat(line.chars().count()))
    }

    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        true
    }
}
