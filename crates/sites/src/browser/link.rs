//! CDP client: the DevTools protocol over a pipe, with commands, their answers, and the events of pages, which are folded into the state of
//! each page as they arrive. No events queue up: the state of a page is replaced, not collected.
//!
//! Messages are JSON, each ended by a zero byte. Sessions are flat: one pipe carries all pages, distinguished by id.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::BytesMut;
use interlingua_model::json::Tree;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot, watch};

/// The world in which the engine runs.
pub(super) const WORLD: &str = "interlingua";
const CHUNK: usize = 64 * 1024;
/// One message: a picture is the largest we ask for.
const MAX_MESSAGE: usize = 64 * 1024 * 1024;
const QUEUE: usize = 1_024;

/// Why a command has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum CommandError {
    /// The browser is gone.
    #[error("the browser is gone")]
    Gone,
    #[error("the browser refused: {0}")]
    Refused(String),
    #[error("the browser's answer cannot be read")]
    Unreadable,
}

/// What is known of one page.
#[derive(Debug, Clone, Default)]
pub(super) struct Tab {
    target: String,
    /// Where the engine runs in the main frame.
    pub(super) world: Option<i64>,
    /// The document that has loaded last.
    pub(super) loaded: Option<String>,
    pub(super) loading: bool,
    pub(super) crashed: bool,
}

#[derive(Debug, Default)]
struct LinkState {
    waiting: HashMap<u64, oneshot::Sender<Result<Box<RawValue>, CommandError>>>,
    tabs: HashMap<String, watch::Sender<Tab>>,
    /// Contexts of ours, and the page each was made for.
    contexts: HashMap<String, Option<String>>,
    gone: bool,
}

/// The near end of the pipe. Clones speak through the same one.
#[derive(Debug, Clone)]
pub(super) struct Link {
    outgoing: mpsc::Sender<Vec<u8>>,
    next: Arc<AtomicU64>,
    state: Arc<Mutex<LinkState>>,
}

/// An answer on its way.
pub(super) struct Pending(oneshot::Receiver<Result<Box<RawValue>, CommandError>>);

impl Pending {
    pub(super) async fn raw(self) -> Result<Box<RawValue>, CommandError> {
        self.0.await.unwrap_or(Err(CommandError::Gone))
    }

    pub(super) async fn read<T: DeserializeOwned>(self) -> Result<T, CommandError> {
        serde_json::from_str(self.raw().await?.get()).map_err(|_| CommandError::Unreadable)
    }
}

impl Link {
    /// The work must be run for anything to happen; it ends when the pipe does.
    pub(super) fn open(input: ChildStdin, output: ChildStdout) -> (Link, impl Future<Output = ()> + Send + 'static) {
        let (outgoing, queue) = mpsc::channel(QUEUE);
        let link = Link { outgoing, next: Arc::new(AtomicU64::new(1)), state: Arc::default() };
        let reading = link.clone();
        let work = async move {
            tokio::select! {
                () = write(input, queue) => {}
                () = reading.read(output) => {}
            }
            reading.end();
        };
        (link, work)
    }

    pub(super) fn is_gone(&self) -> bool {
        self.state().gone
    }

    /// Sends a command; several may be under way at once, and arrive in this order.
    pub(super) async fn send(
        &self,
        session: Option<&str>,
        method: &str,
        params: Tree,
    ) -> Result<Pending, CommandError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (tell, told) = oneshot::channel();
        {
            let mut state = self.state();
            if state.gone {
                return Err(CommandError::Gone);
            }
            state.waiting.insert(id, tell);
        }
        self.outgoing.send(message(id, session, method, params)).await.map_err(|_| CommandError::Gone)?;
        Ok(Pending(told))
    }

    pub(super) async fn ask<T: DeserializeOwned>(
        &self,
        session: Option<&str>,
        method: &str,
        params: Tree,
    ) -> Result<T, CommandError> {
        self.send(session, method, params).await?.read().await
    }

    /// A context whose first page is ours; any further one is closed as it appears.
    pub(super) fn expect_page(&self, context: &str) {
        self.state().contexts.insert(context.to_owned(), None);
    }

    /// What is known of this page, from now on.
    pub(super) fn follow(&self, session: &str, target: &str) -> watch::Receiver<Tab> {
        let (tell, told) = watch::channel(Tab { target: target.to_owned(), ..Tab::default() });
        self.state().tabs.insert(session.to_owned(), tell);
        told
    }

    pub(super) fn forget(&self, session: Option<&str>, context: &str) {
        let mut state = self.state();
        state.contexts.remove(context);
        if let Some(session) = session {
            state.tabs.remove(session);
        }
    }

    /// Of this page nothing more is heard; its context stays as it is.
    pub(super) fn forget_page(&self, session: &str) {
        self.state().tabs.remove(session);
    }

    fn state(&self) -> MutexGuard<'_, LinkState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) {
        let mut state = self.state();
        state.gone = true;
        // Whoever waits is told by the drop.
        state.waiting.clear();
        state.tabs.values().for_each(|tab| tab.send_modify(|tab| tab.crashed = true));
    }

    async fn read(&self, mut output: ChildStdout) {
        let mut buffer = BytesMut::new();
        let mut searched = 0;
        loop {
            while let Some(at) = buffer[searched..].iter().position(|byte| *byte == 0) {
                let message = buffer.split_to(searched + at + 1);
                searched = 0;
                self.hear(&message[..message.len() - 1]);
            }
            searched = buffer.len();
            if buffer.len() > MAX_MESSAGE {
                tracing::warn!(
                    event = "browser_message_too_large",
                    "a message of the browser is too large; its connection is closed"
                );
                return;
            }
            buffer.reserve(CHUNK);
            match output.read_buf(&mut buffer).await {
                Ok(1..) => {}
                Ok(0) | Err(_) => return,
            }
        }
    }

    fn hear(&self, message: &[u8]) {
        let Ok(message) = serde_json::from_slice::<Message>(message) else {
            tracing::debug!("a message of the browser cannot be read");
            return;
        };
        match (message.id, message.method) {
            (Some(id), _) => {
                let waiting = self.state().waiting.remove(&id);
                let result = match (message.result, message.error) {
                    (_, Some(error)) => Err(CommandError::Refused(error.message.chars().take(300).collect())),
                    (Some(result), None) => Ok(result),
                    (None, None) => Err(CommandError::Unreadable),
                };
                if let Some(waiting) = waiting {
                    // Whoever asked may have left.
                    let _ = waiting.send(result);
                }
            }
            (None, Some(method)) => self.tell(&method, message.session.as_deref(), message.params.as_deref()),
            (None, None) => {}
        }
    }

    fn tell(&self, method: &str, session: Option<&str>, params: Option<&RawValue>) {
        let params = params.map_or("null", RawValue::get);
        match (method, session) {
            ("Target.targetCreated", _) => self.appeared(params),
            ("Target.detachedFromTarget", _) => {
                if let Ok(gone) = serde_json::from_str::<Detached>(params) {
                    self.change(&gone.session, |tab| tab.crashed = true);
                }
            }
            ("Target.targetCrashed", _) => {
                if let Ok(crashed) = serde_json::from_str::<Crashed>(params) {
                    let state = self.state();
                    let of_it = state.tabs.values().filter(|tab| tab.borrow().target == crashed.target);
                    of_it.for_each(|tab| tab.send_modify(|tab| tab.crashed = true));
                }
            }
            ("Inspector.targetCrashed", Some(session)) => self.change(session, |tab| tab.crashed = true),
            ("Page.javascriptDialogOpening", Some(session)) => self.dismiss(session, params),
            ("Fetch.requestPaused", Some(session)) => self.blank(session, params),
            ("Runtime.executionContextsCleared", Some(session)) => self.change(session, |tab| tab.world = None),
            ("Runtime.executionContextCreated", Some(session)) => self.world_made(session, params),
            ("Page.lifecycleEvent", Some(session)) => self.in_main_frame(session, params, |tab, frame| {
                if frame.name == "load" {
                    tab.loaded = Some(frame.loader);
                }
            }),
            ("Page.frameStartedLoading" | "Page.frameRequestedNavigation", Some(session)) => {
                self.in_main_frame(session, params, |tab, _| tab.loading = true);
            }
            ("Page.frameStoppedLoading", Some(session)) => {
                self.in_main_frame(session, params, |tab, _| tab.loading = false);
            }
            _ => {}
        }
    }

    /// A world of ours; that of a frame within the page is not looked at.
    fn world_made(&self, session: &str, params: &str) {
        let Ok(Created { context }) = serde_json::from_str::<Created>(params) else { return };
        if context.name != WORLD {
            return;
        }
        self.change(session, |tab| {
            if tab.target == context.aux.frame {
                tab.world = Some(context.id);
            }
        });
    }

    /// Frames within the page come and go without the page being another.
    fn in_main_frame(&self, session: &str, params: &str, change: impl FnOnce(&mut Tab, InFrame)) {
        let Ok(frame) = serde_json::from_str::<InFrame>(params) else { return };
        self.change(session, |tab| {
            if tab.target == frame.frame {
                change(tab, frame);
            }
        });
    }

    fn change(&self, session: &str, change: impl FnOnce(&mut Tab)) {
        if let Some(tab) = self.state().tabs.get(session) {
            tab.send_modify(change);
        }
    }

    /// The first page of a context is the one we asked for; any other is a window the page opened.
    fn appeared(&self, params: &str) {
        let Ok(Appeared { info }) = serde_json::from_str::<Appeared>(params) else { return };
        if info.kind != "page" {
            return;
        }
        let close = {
            let mut state = self.state();
            match state.contexts.get_mut(&info.context) {
                None => false,
                Some(page @ None) => {
                    *page = Some(info.target.clone());
                    false
                }
                Some(Some(page)) => *page != info.target,
            }
        };
        if close {
            self.shout(None, "Target.closeTarget", json!({"targetId": info.target}));
        }
    }

    /// Nobody is there to answer, and the page stands still until somebody does. Leaving it is allowed.
    fn dismiss(&self, session: &str, params: &str) {
        let leaving = serde_json::from_str::<Dialog>(params).is_ok_and(|dialog| dialog.kind == "beforeunload");
        self.shout(Some(session), "Page.handleJavaScriptDialog", json!({"accept": leaving}));
    }

    /// Requests are held back only while storage is put back: an empty page of that origin is all it takes.
    fn blank(&self, session: &str, params: &str) {
        let Ok(Paused { request }) = serde_json::from_str::<Paused>(params) else { return };
        let html = json!([{"name": "Content-Type", "value": "text/html"}]);
        let answer = json!({"requestId": request, "responseCode": 200, "responseHeaders": html, "body": ""});
        self.shout(Some(session), "Fetch.fulfillRequest", answer);
    }

    /// A command whose answer nobody waits for.
    pub(super) fn shout(&self, session: Option<&str>, method: &str, params: Tree) {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        // A full queue means a browser that does not read: its pages time out anyway.
        let _ = self.outgoing.try_send(message(id, session, method, params));
    }
}

async fn write(mut input: ChildStdin, mut queue: mpsc::Receiver<Vec<u8>>) {
    while let Some(message) = queue.recv().await {
        if input.write_all(&message).await.is_err() {
            return;
        }
    }
}

fn message(id: u64, session: Option<&str>, method: &str, params: Tree) -> Vec<u8> {
    let mut message = json!({"id": id, "method": method, "params": params});
    if let Some(session) = session {
        message["sessionId"] = session.into();
    }
    let mut bytes = message.to_string().into_bytes();
    bytes.push(0);
    bytes
}

#[derive(Deserialize)]
struct Message {
    id: Option<u64>,
    method: Option<String>,
    #[serde(rename = "sessionId")]
    session: Option<String>,
    params: Option<Box<RawValue>>,
    result: Option<Box<RawValue>>,
    error: Option<ErrorText>,
}

#[derive(Deserialize)]
struct ErrorText {
    #[serde(default)]
    message: String,
}

#[derive(Deserialize)]
struct Detached {
    #[serde(rename = "sessionId")]
    session: String,
}

#[derive(Deserialize)]
struct Paused {
    #[serde(rename = "requestId")]
    request: String,
}

#[derive(Deserialize)]
struct Crashed {
    #[serde(rename = "targetId")]
    target: String,
}

#[derive(Deserialize)]
struct Created {
    context: Context,
}

#[derive(Deserialize)]
struct Context {
    id: i64,
    name: String,
    #[serde(rename = "auxData")]
    aux: Aux,
}

#[derive(Deserialize)]
struct Aux {
    #[serde(rename = "frameId", default)]
    frame: String,
}

#[derive(Deserialize)]
struct InFrame {
    #[serde(rename = "frameId")]
    frame: String,
    #[serde(rename = "loaderId", default)]
    loader: String,
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
struct Appeared {
    #[serde(rename = "targetInfo")]
    info: Info,
}

#[derive(Deserialize)]
struct Info {
    #[serde(rename = "targetId")]
    target: String,
    #[serde(rename = "type")]
    kind: String,
    #[serde(rename = "browserContextId", default)]
    context: String,
}

#[derive(Deserialize)]
struct Dialog {
    #[serde(rename = "type")]
    kind: String,
}
