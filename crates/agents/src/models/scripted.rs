//! Scripted model: its answers are read from a YAML file. See [`interlingua_machines::llm::script`] for the format.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::vec;

use interlingua_machines::llm::script::{Script, Step, Used};
use interlingua_machines::llm::{Event, Model, Prompt, Speaking, Speech};
use tokio::time::{Sleep, sleep};

/// A larger file is no script.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Why a file is not a script.
#[derive(Debug, thiserror::Error)]
pub enum BadScript {
    #[error("the script cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    #[error("the script has more than 4 MiB")]
    TooLarge,
    #[error("the script is not one: {0}")]
    Malformed(String),
}

#[derive(Debug)]
pub struct Scripted {
    script: Script,
    used: Mutex<Used>,
}

impl Scripted {
    pub fn read(path: &Path) -> Result<Scripted, BadScript> {
        if std::fs::metadata(path)?.len() > MAX_BYTES {
            return Err(BadScript::TooLarge);
        }
        Scripted::parse(&std::fs::read_to_string(path)?)
    }

    pub fn parse(yaml: &str) -> Result<Scripted, BadScript> {
        let script = serde_saphyr::from_str(yaml).map_err(|error| BadScript::Malformed(error.to_string()))?;
        Ok(Scripted { script, used: Mutex::default() })
    }
}

impl Model for Scripted {
    fn speak(self: Arc<Self>, prompt: Prompt) -> Speech {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let steps = match self.script.next(&mut used, &prompt) {
            Ok(steps) => steps,
            Err(failure) => vec![Step::Event(Event::Error(failure))],
        };
        Box::new(Playing { steps: steps.into_iter(), pause: None })
    }
}

struct Playing {
    steps: vec::IntoIter<Step>,
    pause: Option<Pin<Box<Sleep>>>,
}

impl Speaking for Playing {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        loop {
            if let Some(pause) = &mut self.pause {
                ready!(pause.as_mut().poll(cx));
                self.pause = None;
            }
            match self.steps.next() {
                None => return Poll::Ready(None),
                Some(Step::Event(event)) => return Poll::Ready(Some(event)),
                Some(Step::Wait(span)) => self.pause = Some(Box::pin(sleep(span))),
            }
        }
    }
}
