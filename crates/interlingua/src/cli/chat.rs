//! `chat`: a conversation with one peer, line by line. Answers stream; the agent's steps are shown beside them.
//!
//! Lines come from a terminal, with editing and a history, or from a pipe: then the command ends with the last line, and fails if an answer
//! did. A line that begins with a slash is a command to this program.

use std::io::IsTerminal;

use super::arguments::{ChatArguments, SaveArguments};
use super::call::{Notes, Watcher};
use super::client::{self, Client, Extras};
use super::lines::{Prompt, Typed};
use super::screen::Screen;
use super::{Exit, Failure, did_you_mean};
use interlingua_api::view::ExchangeRequest;

/// What is said to this program instead of the peer.
#[derive(Debug, PartialEq, Eq)]
enum ParsedLine<'a> {
    Say(&'a str),
    Nothing,
    Help,
    New,
    Leave,
    Unknown(&'a str),
}

fn read(line: &str) -> ParsedLine<'_> {
    match line.trim() {
        "" => ParsedLine::Nothing,
        "/help" | "/?" => ParsedLine::Help,
        "/new" => ParsedLine::New,
        "/exit" | "/quit" => ParsedLine::Leave,
        other => match other.strip_prefix('/') {
            // Two slashes say one.
            Some(said) if said.starts_with('/') => ParsedLine::Say(said),
            Some(_) => ParsedLine::Unknown(other),
            None => ParsedLine::Say(other),
        },
    }
}

const HELP: &str = "/new begins another conversation, /exit or Ctrl-D leaves, // says a line that begins with a slash; \
                    the arrow keys bring back what you said, and a line that begins with a space is not remembered";

pub(super) async fn chat(arguments: ChatArguments) -> Result<Exit, Failure> {
    let screen = Screen { json: arguments.hub.json };
    let asks = std::io::stdin().is_terminal() && !screen.json;
    did_you_mean::known_peer(&arguments.hub, &arguments.peer).await?;
    if asks {
        screen.note(&format!("talking to {}; /help", arguments.peer));
    }
    let client = Client::new(&arguments.hub)?;
    let mut talk = ChatSession {
        client: &client,
        screen,
        peer: &arguments.peer,
        save: &arguments.save,
        conversation: arguments.conversation,
        last: Exit::Done,
    };
    let mut lines = match asks {
        true => ChatInput::Typed(Box::new(Prompt::new(client::data(&arguments.hub))?)),
        false => ChatInput::Piped,
    };
    while let Some(line) = lines.next(screen) {
        match read(&line) {
            ParsedLine::Nothing => {}
            ParsedLine::Help => screen.note(HELP),
            ParsedLine::New => talk.conversation = None,
            ParsedLine::Leave => break,
            ParsedLine::Unknown(command) => screen.note(&format!("there is no {command}; {HELP}")),
            ParsedLine::Say(text) => match talk.say(text).await {
                Ok(exit) => talk.last = exit,
                // On a terminal one answer that failed is not the end of a conversation.
                Err(failure) if asks && failure.exit != Exit::Unreachable => screen.complain(&failure.message),
                Err(failure) => return Err(did_you_mean::peer(&arguments.hub, &arguments.peer, failure).await),
            },
        }
    }
    if !asks {
        return Ok(talk.last);
    }
    if let Some(conversation) = &talk.conversation {
        screen.note(&format!("go on with: interlingua chat {} --conversation {conversation}", arguments.peer));
    }
    Ok(Exit::Done)
}

/// Where lines come from.
enum ChatInput {
    Typed(Box<Prompt>),
    Piped,
}

impl ChatInput {
    /// None at the end. Standard input is not held on to: an answer may ask, and its answer is a line, too.
    fn next(&mut self, screen: Screen) -> Option<String> {
        let prompt = match self {
            ChatInput::Typed(prompt) => prompt,
            ChatInput::Piped => {
                let mut line = String::new();
                return std::io::stdin().read_line(&mut line).is_ok_and(|count| count > 0).then_some(line);
            }
        };
        loop {
            match prompt.next() {
                Typed::Line(line) => {
                    prompt.remember(screen, &line);
                    return Some(line);
                }
                Typed::Nothing => screen.note("/exit or Ctrl-D leaves"),
                Typed::End => return None,
            }
        }
    }
}

/// What goes on between a person and a peer.
struct ChatSession<'a> {
    client: &'a Client,
    screen: Screen,
    peer: &'a str,
    save: &'a SaveArguments,
    /// The one that the next line belongs to; none before the first answer.
    conversation: Option<String>,
    /// How the last answer ended.
    last: Exit,
}

impl ChatSession<'_> {
    /// One thing said, and its answer; the conversation goes on with the next.
    async fn say(&mut self, text: &str) -> Result<Exit, Failure> {
        let request = ExchangeRequest {
            peer: Some(self.peer.to_owned()),
            text: Some(text.to_owned()),
            conversation: self.conversation.clone(),
            ..ExchangeRequest::default()
        };
        let extras = Extras::default();
        let mut watcher = Watcher::new(self.client, self.screen, Notes::Lines);
        watcher.save = self.save.clone();
        let interrupted = || Failure::new(Exit::Interrupted, "interrupted; the answer was cancelled");
        let mut done = tokio::select! {
            done = watcher.run(&request, &extras) => done,
            _ = tokio::signal::ctrl_c() => Err(interrupted()),
        };
        // Also at a question that it asked.
        if done.as_ref().is_err_and(|failure| failure.exit == Exit::Interrupted) {
            watcher.cancel().await;
            done = Err(interrupted());
        }
        if let Some(token) = watcher.conversation.take() {
            self.conversation = Some(token);
        }
        done
    }
}

#[cfg(test)]
mod tests {
    use super::{ParsedLine, read};

    #[test]
    fn a_slash_is_for_the_program_and_two_say_one() {
        assert_eq!(read(" hello "), ParsedLine::Say("hello"));
        assert_eq!(read("//etc"), ParsedLine::Say("/etc"));
        assert_eq!((read("/new"), read("/quit"), read("")), (ParsedLine::New, ParsedLine::Leave, ParsedLine::Nothing));
        assert_eq!(read("/nwe"), ParsedLine::Unknown("/nwe"));
    }
}
