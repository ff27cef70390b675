//! This program as a device of another server: the skills of the hub inside it are its tools.
//!
//! [`Device::run`] maintains the connection; [`tools`] lists and runs the tools. The state of the machine is sent on request, and when it
//! changed. On a path that ends in `/aip/ws` the wider profile is used.

mod tools;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::backoff::Backoff;
use crate::client::connection::{ClientConnection, Pulse};
use crate::client::device::{self, Effect, Happening};
use crate::link::Tongue;
use crate::say::Stamp;
use crate::wire::{Limits, ServerMessage};
use bytes::Bytes;
use interlingua_model::{Fault, Json, Text, uuid_v4};
use interlingua_process::machine::{Account, Machine};
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use interlingua_hub::{Hub, entropy};
use interlingua_net::client::websocket::{Carrier, Place, Turn};
use interlingua_net::large;
use tools::{Done, LogLine, Tools};

/// How often the machine is looked at.
const LOOK: Duration = Duration::from_secs(5);

/// How often the server hears how the machine is, also when nothing has changed: it keeps a sample of every minute.
const REPORT: Duration = Duration::from_secs(25);

/// COMMANDs run one at a time: what came of one waits until it is taken, and whoever brings the next waits for that.
const RESULTS: usize = 1;

/// Log lines that wait to be sent, and how many go in one frame besides the first.
const SAID: usize = 256;
const AT_ONCE: usize = 63;

/// What a device is.
#[derive(Debug)]
pub struct Join {
    /// Where the server is; a bare address means this program's own path.
    pub url: String,
    pub id: String,
    pub key: Option<String>,
    pub ca: Option<PathBuf>,
    /// Where files of interest are, for how full the disk is.
    pub disk: PathBuf,
}

/// What people are told while it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    Joined,
    /// The connection is gone, or was never there; it comes back by itself.
    Away(String),
    /// The server said something that is for people.
    Complaint(String),
}

pub struct Device {
    hub: Arc<Hub>,
    machine: device::Device,
    carrier: Carrier,
    limits: Limits,
    tools: Tools,
    account: Account,
    looks: Machine,
    disk: PathBuf,
    id: String,
    /// COMMANDs that run, and how to stop them.
    running: HashMap<Text, CancellationToken>,
    done: mpsc::Sender<Done>,
    finished: mpsc::Receiver<Done>,
    /// Log lines of the COMMAND that runs.
    said: mpsc::Sender<LogLine>,
    heard: mpsc::Receiver<LogLine>,
    ready: bool,
    /// When the server was last told how the machine is.
    reported: Instant,
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device").field("id", &self.id).field("carrier", &self.carrier).finish_non_exhaustive()
    }
}

impl Device {
    pub fn new(hub: Arc<Hub>, join: Join) -> Result<Device, Fault> {
        let limits = Limits { bytes: hub.answers().message(), ..Limits::default() };
        let url = address(&join.url);
        let tongue = if is_wide(&url) { Tongue::Profile } else { Tongue::Plain };
        let query = join.key.as_deref().map(interlingua_model::percent::encoded).map(|key| format!("token={key}"));
        let place = Place::new(&hub, &url, query.as_deref(), join.ca.as_deref())?;
        let mut looks = Machine::default();
        let account = looks.look(&join.disk);
        // Chance spreads the return of many devices that were cut off at once.
        let line = ClientConnection::new(Pulse::default(), Backoff { jitter: 50, ..Backoff::device() }, hub.now());
        let instance = uuid_v4(entropy::bits()).into();
        let platform = account.platform.as_str().into();
        let info = info(&join.id, &account);
        let (done, finished) = mpsc::channel(RESULTS);
        let (said, heard) = mpsc::channel(SAID);
        Ok(Device {
            machine: device::Device::new(join.id.as_str().into(), instance, tongue, line, info, platform),
            carrier: Carrier::new(place),
            tools: Tools::new(hub.clone()),
            hub,
            limits,
            account,
            looks,
            disk: join.disk,
            id: join.id,
            running: HashMap::new(),
            done,
            finished,
            said,
            heard,
            ready: false,
            reported: Instant::now(),
        })
    }

    /// Until `stop`; then the server is told goodbye.
    pub async fn run(mut self, stop: CancellationToken, mut tell: impl FnMut(Word)) {
        let mut look = tokio::time::interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut news = self.hub.notices();
        self.machine.set_tools(self.tools.list());
        while let Some(happening) = self.next(&stop, &mut look, &mut news, &mut tell).await {
            self.happen(happening, &mut tell).await;
        }
        self.happen(Happening::Stop, &mut tell).await;
    }

    async fn next(
        &mut self,
        stop: &CancellationToken,
        look: &mut Interval,
        news: &mut interlingua_hub::news::Listener,
        tell: &mut impl FnMut(Word),
    ) -> Option<Happening> {
        loop {
            let timer = self.machine.line().next_timer().map(|at| self.hub.instant(at));
            tokio::select! {
                () = stop.cancelled() => return None,
                Some(Done { response, results, lines }) = self.finished.recv() => {
                    self.running.remove(&response);
                    // What it said before it was done and nobody has sent comes with its results.
                    let before = std::iter::from_fn(|| self.heard.try_recv().ok());
                    let before = before.filter(|line| line.response == response).map(|line| line.text);
                    let lines = before.chain(lines).collect();
                    return Some(Happening::Done { response, results, lines });
                }
                Some(LogLine { response, text }) = self.heard.recv() => {
                    let more = std::iter::from_fn(|| self.heard.try_recv().ok()).filter(|line| line.response == response);
                    let lines = std::iter::once(text).chain(more.map(|line| line.text).take(AT_ONCE)).collect();
                    return Some(Happening::Lines { response, lines });
                }
                _ = look.tick() => {
                    let account = self.looks.look(&self.disk);
                    if account.is_news_to(&self.account) || self.reported.elapsed() >= REPORT {
                        (self.account, self.reported) = (account, Instant::now());
                        return Some(Happening::Info { question: None, info: self.info() });
                    }
                }
                _ = news.next() => {
                    self.machine.set_tools(self.tools.list());
                    return Some(Happening::Info { question: None, info: self.info() });
                }
                turn = self.carrier.next(timer) => match turn {
                    Turn::Opened => return Some(Happening::Connected),
                    Turn::Text(frame) => if let Some(frame) = self.frame(&frame) {
                        return Some(Happening::Frame(Box::new(frame)));
                    },
                    Turn::Alive => {}
                    Turn::Gone(why) => {
                        self.away(why.map_or_else(|| "the connection was closed".to_owned(), |why| why.to_string()), tell);
                        return Some(Happening::Closed);
                    }
                    Turn::Due => return Some(Happening::Tick),
                },
            }
        }
    }

    fn away(&mut self, why: String, tell: &mut impl FnMut(Word)) {
        self.ready = false;
        tell(Word::Away(why));
    }

    fn frame(&self, bytes: &Bytes) -> Option<ServerMessage> {
        large::beside(bytes.len(), || ServerMessage::decode(bytes, &self.limits))
            .inspect_err(|invalid| tracing::warn!(event = "frame_not_read", error = %invalid, "a frame of the server could not be read and is ignored"))
            .ok()
    }

    fn info(&self) -> Json {
        info(&self.id, &self.account)
    }

    async fn happen(&mut self, happening: Happening, tell: &mut impl FnMut(Word)) {
        let mut waiting = std::collections::VecDeque::from([happening]);
        while let Some(happening) = waiting.pop_front() {
            let mut mint = entropy::bits;
            let effects = self.machine.step(happening, &mut Stamp { now: self.hub.now(), mint: &mut mint });
            if self.machine.line().is_ready() && !std::mem::replace(&mut self.ready, true) {
                tell(Word::Joined);
            }
            for effect in effects {
                waiting.extend(self.perform(effect, tell).await);
            }
        }
    }

    async fn perform(&mut self, effect: Effect, tell: &mut impl FnMut(Word)) -> Option<Happening> {
        match effect {
            Effect::Connect => self.carrier.connect(),
            Effect::Close => {
                self.carrier.close().await;
                self.ready = false;
                return Some(Happening::Closed);
            }
            Effect::Send(frame) => {
                if !self.carrier.send(frame.encode()).await {
                    self.carrier.close().await;
                    self.away("the connection broke".to_owned(), tell);
                    return Some(Happening::Closed);
                }
            }
            Effect::Run(frame) => {
                let stop = CancellationToken::new();
                if let Some(response) = &frame.response_id {
                    self.running.insert(response.clone(), stop.clone());
                }
                self.hub.spawn(self.tools.run(*frame, stop, self.done.clone(), self.said.clone()));
            }
            Effect::Cancel { response } => {
                if let Some(stop) = self.running.remove(&response) {
                    stop.cancel();
                }
            }
            Effect::Describe { question } => {
                self.account = self.looks.look(&self.disk);
                return Some(Happening::Info { question: Some(question), info: self.info() });
            }
            Effect::Complaint(text) => tell(Word::Complaint(text.to_string())),
            Effect::Ended { .. } => {}
        }
        None
    }
}

/// A bare address means this program's own path.
fn address(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    if rest.trim_end_matches('/').contains('/') {
        url.to_owned()
    } else {
        format!("{}/aip/ws", url.trim_end_matches('/'))
    }
}

fn is_wide(url: &str) -> bool {
    url.split('?').next().is_some_and(|path| path.trim_end_matches('/').ends_with("/aip/ws"))
}

/// In the shape that the Python device tells, with what it leaves out.
fn info(id: &str, account: &Account) -> Json {
    let told = serde_json::json!({
        "device_id": id,
        "platform": account.platform,
        "os_version": account.os_version,
        "cpu_count": account.cpu_count,
        "memory_total_gb": account.memory_total_gb,
        "hostname": account.hostname,
        "ip_address": account.ip_address,
        "supported_features": ["files", "custom_tools", "mcp"],
        "platform_type": "computer",
        "schema_version": "1.0",
        "custom_metadata": {},
        "cpu_percent": account.cpu_percent,
        "memory_available_gb": account.memory_available_gb,
        "disk_total_gb": account.disk_total_gb,
        "disk_free_gb": account.disk_free_gb,
        "gpu": account.gpu,
        "gpu_percent": account.gpu_percent,
        "gpu_memory_total_gb": account.gpu_memory_total_gb,
        "gpu_memory_free_gb": account.gpu_memory_free_gb,
        "cpu": account.cpu,
        "active_processes": account.active_processes,
        "network": account.network,
        "network_status": account.network_status,
        "load": account.load,
    });
    told.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_address_means_our_own_path_and_only_that_path_is_wide() {
        for (given, meant, wide) in [
            ("ws://hub:7447", "ws://hub:7447/aip/ws", true),
            ("http://hub:7447/", "http://hub:7447/aip/ws", true),
            ("ws://ufo:5000/ws", "ws://ufo:5000/ws", false),
            ("wss://x/aip/ws?y=1", "wss://x/aip/ws?y=1", true),
        ] {
            assert_eq!(address(given), meant);
            assert_eq!(is_wide(&address(given)), wide, "{given}");
        }
    }
}
