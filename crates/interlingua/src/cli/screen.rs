//! Output: answers go to standard output, everything about them to standard error.
//!
//! Texts of peers are escaped: no peer can move the cursor, set a title, or show a person something else than the actual text.

use std::io::{IsTerminal, Write};

use interlingua_model::visible::{visible, visible_json};

use super::{Exit, Failure};

/// What a terminal shows when it does not say.
const WIDTH: usize = 120;

#[derive(Debug, Clone, Copy)]
pub(super) struct Screen {
    /// JSON for programs instead of tables for people.
    pub(super) json: bool,
}

impl Screen {
    pub(super) fn people() -> Screen {
        Screen { json: false }
    }

    /// A line of the answer.
    pub(super) fn say(self, text: &str) -> Result<(), Failure> {
        self.write(&format!("{text}\n"))
    }

    /// A piece of the answer, as it comes.
    pub(super) fn write(self, text: &str) -> Result<(), Failure> {
        // Whatever a text has passed before, nothing hidden leaves here.
        let text = if self.json { visible_json(text) } else { visible(text) };
        let mut out = std::io::stdout().lock();
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Ok(()) => Ok(()),
            // Whoever read us has seen enough.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Err(Failure::new(Exit::Done, "")),
            Err(error) => Err(Failure::new(Exit::Failed, format!("cannot write the answer: {}", error.kind()))),
        }
    }

    /// A line about the answer.
    pub(super) fn note(self, text: &str) {
        let _ = writeln!(std::io::stderr().lock(), "{}", visible(text));
    }

    pub(super) fn complain(self, text: &str) {
        if !text.is_empty() {
            self.note(&format!("error: {text}"));
        }
    }

    /// A value for programs.
    pub(super) fn value(self, value: &impl serde::Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(value)
            .map_err(|_| Failure::new(Exit::Failed, "the answer cannot be written as JSON"))?;
        self.say(&visible_json(&text))
    }

    /// Is there a person who can be asked?
    pub(super) fn can_ask(self) -> bool {
        !self.json && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
    }

    /// What `COLUMNS` says, else what the terminal says.
    pub(super) fn width(self) -> usize {
        let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let fits = |columns: &usize| (20..=1000).contains(columns);
        told.filter(fits).or_else(|| terminal().filter(fits)).unwrap_or(WIDTH)
    }
}

/// How wide the terminal is; none where neither stream is one.
fn terminal() -> Option<usize> {
    let of = |size: rustix::io::Result<rustix::termios::Winsize>| size.ok().map(|size| usize::from(size.ws_col));
    let out = of(rustix::termios::tcgetwinsize(std::io::stdout()));
    out.or_else(|| of(rustix::termios::tcgetwinsize(std::io::stderr())))
}

/// The text with what a terminal would take as a command, or would not show, spelt out.
pub(super) fn plain(text: &str) -> String {
    visible(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_peer_cannot_command_the_terminal() {
        assert_eq!(plain("a\u{1b}[2Jb\r\n\tc\u{9b}1m"), "a\\u{1b}[2Jb\\u{d}\n\tc\\u{9b}1m");
        assert_eq!(plain("pay \u{202e}ecila\u{200b}"), "pay \\u{202e}ecila\\u{200b}");
    }
}
