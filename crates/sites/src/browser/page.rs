//! Browser context with one page: created for a call and discarded with it, or stored for the next call of its session.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use bytes::Bytes;
use interlingua_model::INLINE_LIMIT;
use interlingua_model::json::Tree;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::watch;
use tokio::time::Instant;

use super::chromium::Chromium;
use super::link::{CommandError, Link, Tab, WORLD};

const ENGINE: &str = include_str!("engine.js");
const CALL: &str = "function(op, a) { return globalThis.__interlingua(op, a); }";
/// How much longer than its own limit a call into the page may take to come back.
const SLACK: Duration = Duration::from_millis(1_500);
const PICTURE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct Page {
    pub(super) chromium: Arc<Chromium>,
    /// Whom its requests go through.
    pub(super) proxy: SocketAddr,
    pub(super) context: String,
    target: String,
    pub(super) session: String,
    tab: watch::Receiver<Tab>,
}

/// Why the page did not do it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failed {
    Gone,
    Late,
    /// The browser's own words.
    Error(String),
}

impl From<CommandError> for Failed {
    fn from(lost: CommandError) -> Failed {
        match lost {
            CommandError::Gone => Failed::Gone,
            CommandError::Refused(text) => Failed::Error(text),
            CommandError::Unreadable => Failed::Error("an answer that cannot be read".to_owned()),
        }
    }
}

/// What the engine says; each operation fills what it has.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Found {
    pub(super) ok: bool,
    pub(super) why: String,
    pub(super) by: String,
    pub(super) href: String,
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) used: i32,
    pub(super) insert: bool,
    pub(super) landed: bool,
    pub(super) print: Option<crate::definition::repair::Fingerprint>,
    pub(super) candidates: Vec<crate::definition::repair::Fingerprint>,
    pub(super) groups: Vec<crate::definition::repair::Alike>,
    pub(super) rows: Vec<serde_json::Map<String, Tree>>,
    pub(super) count: usize,
    pub(super) stored: Vec<(String, String)>,
    #[serde(rename = "tooMuch")]
    pub(super) too_much: bool,
}

impl Page {
    /// A fresh context whose every request goes through this proxy.
    pub(super) async fn open(chromium: Arc<Chromium>, proxy: SocketAddr) -> Result<Page, CommandError> {
        let link = chromium.link.clone();
        #[derive(Deserialize)]
        struct Made {
            #[serde(rename = "browserContextId")]
            context: String,
        }
        let settings = json!({
            "disposeOnDetach": true, "proxyServer": format!("http://{proxy}"), "proxyBypassList": "<-loopback>",
        });
        let Made { context } = link.ask(None, "Target.createBrowserContext", settings).await?;
        link.expect_page(&context);
        // From here on the context is closed when anything fails: by the drop of what holds it.
        let (target, session, tab) = (String::new(), String::new(), watch::channel(Tab::default()).1);
        let mut page = Page { chromium, proxy, context, target, session, tab };
        page.attach().await?;
        Ok(page)
    }

    async fn attach(&mut self) -> Result<(), CommandError> {
        #[derive(Deserialize)]
        struct Target {
            #[serde(rename = "targetId")]
            target: String,
        }
        #[derive(Deserialize)]
        struct Attached {
            #[serde(rename = "sessionId")]
            session: String,
        }
        let link = &self.chromium.link;
        let at = json!({"url": "about:blank", "browserContextId": self.context});
        let Target { target } = link.ask(None, "Target.createTarget", at).await?;
        let Attached { session } =
            link.ask(None, "Target.attachToTarget", json!({"targetId": target, "flatten": true})).await?;
        self.session = session;
        self.tab = link.follow(&self.session, &target);
        self.target = target;
        let of_page = [
            ("Page.enable", json!({})),
            ("Page.setLifecycleEventsEnabled", json!({"enabled": true})),
            ("Runtime.enable", json!({})),
            (
                "Page.addScriptToEvaluateOnNewDocument",
                json!({"source": ENGINE, "worldName": WORLD, "runImmediately": true}),
            ),
            ("Page.setInterceptFileChooserDialog", json!({"enabled": true})),
            ("Emulation.setFocusEmulationEnabled", json!({"enabled": true})),
        ];
        let of_context = [
            ("Browser.setDownloadBehavior", json!({"behavior": "deny", "browserContextId": self.context})),
            ("Browser.grantPermissions", json!({"permissions": [], "browserContextId": self.context})),
        ];
        let mut answers = Vec::new();
        for (method, params) in of_page {
            answers.push(link.send(Some(&self.session), method, params).await?);
        }
        for (method, params) in of_context {
            answers.push(link.send(None, method, params).await?);
        }
        for answer in answers {
            answer.raw().await?;
        }
        Ok(())
    }

    /// Another page in the same context, in place of one that hangs, has crashed or was left halfway: what the context keeps
    /// stays.
    pub(super) async fn renew(&mut self) -> Result<(), CommandError> {
        let link = self.chromium.link.clone();
        link.forget_page(&self.session);
        // It may be gone already.
        let _ = link.ask::<Tree>(None, "Target.closeTarget", json!({"targetId": self.target})).await;
        link.expect_page(&self.context);
        self.attach().await
    }

    pub(super) fn is_gone(&self) -> bool {
        self.chromium.link.is_gone() || self.tab.borrow().crashed
    }

    /// Opens an address and waits for it to load. `Error` has the browser's name for what is wrong.
    pub(super) async fn navigate(&mut self, address: &str, until: Instant) -> Result<(), Failed> {
        #[derive(Deserialize)]
        struct Begun {
            #[serde(rename = "loaderId")]
            loader: Option<String>,
            #[serde(rename = "errorText", default)]
            error: String,
        }
        let before = self.tab.borrow().loaded.clone();
        let begun = self.chromium.link.ask::<Begun>(Some(&self.session), "Page.navigate", json!({"url": address}));
        let begun = in_time(&self.tab, until, begun).await??;
        if !begun.error.is_empty() {
            return Err(Failed::Error(begun.error));
        }
        match begun.loader {
            // A place within the same document.
            None => Ok(()),
            // It may lead elsewhere before it has loaded; then the load of that other one counts.
            Some(_) => self.tab_shows(until, |tab| tab.loaded.is_some() && tab.loaded != before && !tab.loading).await,
        }
    }

    /// Waits while a page is on its way.
    pub(super) async fn settled(&mut self, until: Instant) -> Result<(), Failed> {
        self.tab_shows(until, |tab| !tab.loading).await
    }

    async fn tab_shows(&mut self, until: Instant, what: impl Fn(&Tab) -> bool) -> Result<(), Failed> {
        let shown = self.tab.wait_for(|tab| tab.crashed || what(tab));
        match tokio::time::timeout_at(until, shown).await {
            Ok(Ok(tab)) if tab.crashed => Err(Failed::Gone),
            Ok(Ok(_)) => Ok(()),
            Ok(Err(_)) => Err(Failed::Gone),
            Err(_) => Err(Failed::Late),
        }
    }

    /// One operation of the engine. A page that goes away under it is asked again when the next one is there: nothing was
    /// done yet.
    pub(super) async fn engine(&mut self, op: &str, args: &Tree, until: Instant) -> Result<Found, Failed> {
        loop {
            self.tab_shows(until, |tab| tab.world.is_some()).await?;
            let Some(world) = self.tab.borrow().world else { continue };
            let mut args = args.clone();
            let left = until.saturating_duration_since(Instant::now());
            if let Tree::Object(args) = &mut args {
                args.insert("limit".into(), u64::try_from(left.as_millis()).unwrap_or(u64::MAX).into());
            }
            let call =
                self.chromium.link.ask::<Called>(Some(&self.session), "Runtime.callFunctionOn", call(world, op, &args));
            match in_time(&self.tab, until + SLACK, call).await? {
                Ok(called) => return called.found(),
                Err(CommandError::Refused(text)) if moved_on(&text) => {
                    self.tab_shows(until, |tab| tab.world != Some(world)).await?;
                }
                Err(lost) => return Err(lost.into()),
            }
        }
    }

    /// Presses the primary button there, as a person would. False: something else came in the way.
    pub(super) async fn press(&mut self, x: f64, y: f64, until: Instant) -> Result<bool, Failed> {
        let world = self.tab.borrow().world;
        let link = &self.chromium.link;
        let mut answers = Vec::new();
        for (kind, count) in [("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 1)] {
            let button = if count == 0 { "none" } else { "left" };
            let event = json!({"type": kind, "x": x, "y": y, "button": button, "clickCount": count});
            answers.push(link.send(Some(&self.session), "Input.dispatchMouseEvent", event).await?);
        }
        let checked = match world {
            Some(world) => Some(
                link.send(Some(&self.session), "Runtime.callFunctionOn", call(world, "pressed", &json!({}))).await?,
            ),
            None => None,
        };
        for answer in answers {
            in_time(&self.tab, until + SLACK, answer.raw()).await??;
        }
        let Some(checked) = checked else { return Ok(true) };
        match in_time(&self.tab, until + SLACK, checked.read::<Called>()).await? {
            Ok(called) => Ok(called.found()?.landed),
            // The press led to another page.
            Err(CommandError::Refused(_)) => Ok(true),
            Err(lost) => Err(lost.into()),
        }
    }

    /// Puts text where the focus is, over what is selected.
    pub(super) async fn insert(&mut self, text: &str, until: Instant) -> Result<(), Failed> {
        let link = &self.chromium.link;
        if !text.is_empty() {
            let insert = link.ask::<Tree>(Some(&self.session), "Input.insertText", json!({"text": text}));
            in_time(&self.tab, until + SLACK, insert).await??;
            return Ok(());
        }
        for kind in ["keyDown", "keyUp"] {
            let key = json!({"type": kind, "key": "Delete", "code": "Delete", "windowsVirtualKeyCode": 46});
            in_time(&self.tab, until + SLACK, link.ask::<Tree>(Some(&self.session), "Input.dispatchKeyEvent", key))
                .await??;
        }
        Ok(())
    }

    /// What can be seen now.
    pub(super) async fn picture(&mut self) -> Option<Bytes> {
        picture(&self.chromium.link, &self.session).await
    }
}

/// What can be seen on a page now, as JPEG; one that is too large to travel along is taken again, in less quality.
pub(super) async fn picture(link: &Link, session: &str) -> Option<Bytes> {
    let picture = taken(link, session, 60).await?;
    if picture.len() <= INLINE_LIMIT { Some(picture) } else { taken(link, session, 15).await }
}

async fn taken(link: &Link, session: &str, quality: u8) -> Option<Bytes> {
    #[derive(Deserialize)]
    struct Taken {
        data: String,
    }
    let how = json!({"format": "jpeg", "quality": quality, "optimizeForSpeed": true});
    let taken = link.ask::<Taken>(Some(session), "Page.captureScreenshot", how);
    let taken = tokio::time::timeout(PICTURE, taken).await.ok()?.ok()?;
    base64::engine::general_purpose::STANDARD.decode(taken.data).ok().map(Bytes::from)
}

impl Drop for Page {
    fn drop(&mut self) {
        let session = Some(self.session.as_str()).filter(|session| !session.is_empty());
        self.chromium.link.forget(session, &self.context);
        self.chromium.link.shout(None, "Target.disposeBrowserContext", json!({"browserContextId": self.context}));
    }
}

fn call(world: i64, op: &str, args: &Tree) -> Tree {
    json!({
        "functionDeclaration": CALL, "executionContextId": world, "arguments": [{"value": op}, {"value": args}],
        "awaitPromise": true, "returnByValue": true,
    })
}

/// The page was left while it was asked.
fn moved_on(text: &str) -> bool {
    ["context", "navigated", "Promise was collected"].iter().any(|sign| text.contains(sign))
}

/// A page that crashes does not answer any more; nobody should wait for it.
async fn in_time<T>(tab: &watch::Receiver<Tab>, until: Instant, work: impl Future<Output = T>) -> Result<T, Failed> {
    let mut tab = tab.clone();
    tokio::select! {
        biased;
        done = tokio::time::timeout_at(until, work) => done.map_err(|_| Failed::Late),
        _ = tab.wait_for(|tab| tab.crashed) => Err(Failed::Gone),
    }
}

/// The answer of a call into the page.
#[derive(Deserialize)]
struct Called {
    result: Value,
    #[serde(rename = "exceptionDetails")]
    exception: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Value {
    value: Option<Box<RawValue>>,
}

impl Called {
    fn found(self) -> Result<Found, Failed> {
        let unreadable = || Failed::Error("the page's answer cannot be read".to_owned());
        match (self.exception, self.result.value) {
            (Some(_), _) | (None, None) => Err(unreadable()),
            (None, Some(value)) => serde_json::from_str(value.get()).map_err(|_| unreadable()),
        }
    }
}
