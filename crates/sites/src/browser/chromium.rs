//! One Chromium process, from its start to its end. Dropping it kills it with everything it started, and removes its directory.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use interlingua_model::json::Tree;
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, Command};

use super::link::{CommandError, Link};
use super::weight::{self, Bounds, Cuts};
use super::{Background, Sandbox, Settings, Shown};
use interlingua_process::child::group::Group;

const STARTING: Duration = Duration::from_secs(30);
/// The browser reads commands on descriptor 3 and answers on 4; a shell puts our two pipes there and becomes the browser.
const PLACED: &str = r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >&2"#;
const COMMON: [&str; 5] = ["PATH", "LANG", "LC_ALL", "TZ", "FONTCONFIG_PATH"];

/// What a browser with windows finds its display by.
const DISPLAY: [&str; 4] = ["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR"];

const FLAGS: [&str; 30] = [
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-features=Translate,MediaRouter,OptimizationHints,AutofillServerCommunication,HttpsUpgrades,DialMediaRouteProvider,InterestFeedContentSuggestions",
    "--disable-gpu",
    "--disable-hang-monitor",
    "--disable-popup-blocking",
    "--disable-prompt-on-repost",
    "--disable-sync",
    // The same in the words of newer and of older ones: peers are not spoken to past the proxy.
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--hide-scrollbars",
    // A page that hoards memory ends itself before it ends others.
    "--js-flags=--max-old-space-size=512",
    "--metrics-recording-only",
    "--mute-audio",
    "--password-store=basic",
    "--window-size=1280,900",
    // Whatever is in no context of ours reaches nobody.
    "--proxy-server=http://127.0.0.1:9",
];

#[derive(Debug)]
pub(super) struct Chromium {
    pub(super) link: Link,
    pub(super) born: Instant,
    pub(super) calls: AtomicU32,
    /// Memory at the last look, in bytes.
    pub(super) memory: AtomicU64,
    pub(super) cuts: Arc<Cuts>,
    /// It was asked for a page and did not answer in time: it takes no further call.
    pub(super) silent: AtomicBool,
    group: Group,
    /// After the group: what still runs would write into it.
    _home: Home,
}

impl Chromium {
    pub(super) async fn start(
        program: &Path,
        settings: &Settings,
        background: &Background,
    ) -> Result<Chromium, String> {
        settings.sandbox.possible()?;
        let display = DISPLAY[..2].iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
        settings.shown.possible(display.as_deref())?;
        let home = Home::make(&settings.directory).map_err(|error| format!("no directory for it: {error}"))?;
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(PLACED).arg(program).args(arguments(&home.0, settings.sandbox, settings.shown));
        let common = COMMON.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)));
        let display = DISPLAY.iter().filter(|_| settings.shown == Shown::InWindows);
        let display = display.filter_map(|name| Some((*name, std::env::var_os(name)?)));
        command.env_clear().envs(common).envs(display).env("HOME", &home.0).current_dir(&home.0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut group = Group::start(&mut command).await.map_err(|error| error.to_string())?;
        let (Some(input), Some(output), Some(errors)) = group.pipes() else {
            return Err("a pipe is missing".to_owned());
        };
        let (link, work) = Link::open(input, output);
        background(Box::pin(work));
        background(Box::pin(swallow(errors)));
        let cuts = Arc::new(Cuts::new());
        if let Some(leader) = group.leader() {
            let bounds = Bounds { page: settings.page_memory, all: settings.memory.max(settings.page_memory) };
            background(Box::pin(weight::watch(leader, link.clone(), bounds, Arc::clone(&cuts))));
        }
        let chromium = Chromium {
            link,
            born: Instant::now(),
            calls: AtomicU32::new(0),
            memory: AtomicU64::new(0),
            cuts,
            silent: AtomicBool::new(false),
            group,
            _home: home,
        };
        let ready = async {
            chromium.link.ask::<Tree>(None, "Browser.getVersion", json!({})).await?;
            chromium.link.ask::<Tree>(None, "Target.setDiscoverTargets", json!({"discover": true})).await
        };
        match tokio::time::timeout(STARTING, ready).await {
            Ok(Ok(_)) => Ok(chromium),
            Ok(Err(CommandError::Gone)) => Err("it ended at once".to_owned()),
            Ok(Err(lost)) => Err(lost.to_string()),
            Err(_) => Err(format!("it did not answer within {} s", STARTING.as_secs())),
        }
    }

    /// Looks at the memory of the process and of those it started.
    pub(super) fn weigh(&self) {
        if let Some(leader) = self.group.leader() {
            self.memory.store(weight::whole(leader), Ordering::Relaxed);
        }
    }
}

/// What a browser is started with.
fn arguments(home: &Path, sandbox: Sandbox, shown: Shown) -> Vec<String> {
    let mut arguments: Vec<String> = FLAGS.map(String::from).to_vec();
    if shown == Shown::Nowhere {
        arguments.push("--headless".to_owned());
    }
    arguments.push("--proxy-bypass-list=<-loopback>".to_owned());
    arguments.push(format!("--user-data-dir={}", home.display()));
    if sandbox == Sandbox::Off {
        arguments.push("--no-sandbox".to_owned());
    }
    arguments
}

/// A pipe nobody reads would stop the browser. What it says there is for its makers.
async fn swallow(mut errors: ChildStderr) {
    let mut chunk = vec![0; 4 * 1024];
    while let Ok(1..) = errors.read(&mut chunk).await {}
}

/// A directory of its own, removed in the end.
#[derive(Debug)]
struct Home(PathBuf);

static COUNT: AtomicU32 = AtomicU32::new(0);

impl Home {
    fn make(directory: &Path) -> io::Result<Home> {
        use std::os::unix::fs::DirBuilderExt;
        std::fs::create_dir_all(directory)?;
        let directory = directory.canonicalize()?;
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = directory.join(format!("chromium-{}-{number}", std::process::id()));
            match std::fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Home(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        clear(&self.0);
    }
}

/// Removes a browser's directory, and the one with its socket. Processes that were just killed may write a last time: what is left
/// is removed at the next start.
fn clear(home: &Path) {
    if let Some(socket) = socket_directory(home) {
        // Only what it is known to put there: a link that leads elsewhere removes nothing of anybody's.
        for name in ["SingletonSocket", "SingletonCookie"] {
            let _ = std::fs::remove_file(socket.join(name));
        }
        let _ = std::fs::remove_dir(socket);
    }
    let _ = std::fs::remove_dir_all(home);
}

/// Chromium keeps a socket outside of its directory, whose path may be too long for one, and leaves it there when it is killed.
fn socket_directory(home: &Path) -> Option<PathBuf> {
    let socket = std::fs::read_link(home.join("SingletonSocket")).ok()?;
    let directory = socket.parent()?;
    let named = directory.file_name()?.to_str()?.starts_with("org.chromium.");
    named.then(|| directory.to_owned())
}

/// Removes what processes of earlier hubs left behind.
pub(super) fn sweep(directory: &Path) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    let own = format!("chromium-{}-", std::process::id());
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("chromium-") && !name.starts_with(&own) {
            clear(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sandbox_is_on_and_no_port_is_open_unless_it_is_said_otherwise() {
        let user = arguments(Path::new("/x"), Sandbox::On, Shown::Nowhere);
        assert!(!user.iter().any(|flag| flag == "--no-sandbox"));
        let root = arguments(Path::new("/x"), Sandbox::Off, Shown::Nowhere);
        assert!(root.iter().any(|flag| flag == "--no-sandbox"));
        assert!(user.iter().any(|flag| flag == "--remote-debugging-pipe"));
        assert!(!user.iter().any(|flag| flag.starts_with("--remote-debugging-port")));
        assert!(user.iter().any(|flag| flag == "--webrtc-ip-handling-policy=disable_non_proxied_udp"));
    }

    #[test]
    fn w_21_pages_have_windows_only_where_that_is_asked_for_and_there_is_a_display() {
        let headless = |shown| arguments(Path::new("/x"), Sandbox::On, shown).iter().any(|flag| flag == "--headless");
        assert!(headless(Shown::default()));
        assert!(!headless(Shown::InWindows));
        let windows = arguments(Path::new("/x"), Sandbox::On, Shown::InWindows);
        assert!(windows.iter().any(|flag| flag == "--remote-debugging-pipe"), "driven in the same way");
        assert_eq!(Shown::Nowhere.possible(None), Ok(()));
        assert_eq!(Shown::InWindows.possible(Some(":0")), Ok(()));
        assert!(Shown::InWindows.possible(None).is_err_and(|why| why.contains("needs a display")));
    }

    #[test]
    fn w_52_what_earlier_hubs_left_is_swept_and_our_own_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let own = Home::make(directory.path()).unwrap();
        std::fs::create_dir(directory.path().join("chromium-1-0")).unwrap();
        std::fs::create_dir(directory.path().join("other")).unwrap();
        sweep(directory.path());
        let entries = std::fs::read_dir(directory.path()).unwrap();
        let mut left: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [own.0.file_name().unwrap(), "other".as_ref()]);
        drop(own);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn w_52_the_directory_of_a_browsers_socket_goes_with_it_and_no_other() {
        let elsewhere = tempfile::tempdir().unwrap();
        for (name, expected) in [("org.chromium.Chromium.x", false), ("precious", true)] {
            let directory = tempfile::tempdir().unwrap();
            let home = Home::make(directory.path()).unwrap();
            let socket = elsewhere.path().join(name);
            std::fs::create_dir(&socket).unwrap();
            std::fs::write(socket.join("SingletonSocket"), "").unwrap();
            std::os::unix::fs::symlink(socket.join("SingletonSocket"), home.0.join("SingletonSocket")).unwrap();
            drop(home);
            assert_eq!(socket.exists(), expected, "{name}");
        }
    }
}
