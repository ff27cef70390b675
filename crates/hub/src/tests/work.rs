//! A peer whose work the test controls, and a hub with it on an observed store.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use interlingua_keys::Keyring;
use interlingua_model::peer::{Calling, Dispatch, Duplex, Peer, Reply};
use interlingua_model::*;
use interlingua_store_sqlite::{Embedded, Options};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::super::admission::AdmissionLimits;
use super::super::{Hub, Settings, entropy};
use super::observed::Observed;
use super::owner;

/// `wait` ends when the test lets it; `talk` says `n` messages and then waits; `panic` does.
pub(super) struct Work {
    released: watch::Sender<bool>,
    running: AtomicUsize,
    pub most: AtomicUsize,
    pub calls: AtomicUsize,
}

impl Work {
    pub(super) fn release(&self) {
        self.released.send_replace(true);
    }
}

/// Counts as running until it is dropped.
struct Counted(Arc<Work>);

impl Counted {
    fn new(work: Arc<Work>) -> Counted {
        work.calls.fetch_add(1, Ordering::SeqCst);
        let running = work.running.fetch_add(1, Ordering::SeqCst) + 1;
        work.most.fetch_max(running, Ordering::SeqCst);
        Counted(work)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Peer for Work {
    fn call(self: Arc<Self>, dispatch: Dispatch) -> Calling {
        let counted = Counted::new(self);
        Box::pin(async move {
            let n = dispatch.call.input().and_then(|input| input.args.as_ref()?.get("n")?.as_u64()).unwrap_or(0);
            match dispatch.skill.id.skill.as_str() {
                "panic" => panic!("as asked"),
                "talk" => Ok(Reply::Live(Box::new(Talk::new(counted, n)))),
                _ => {
                    let mut released = counted.0.released.subscribe();
                    let _ = released.wait_for(|released| *released).await;
                    Ok(Reply::Done(Box::new(Finished::completed(Output::default())), None))
                }
            }
        })
    }
}

/// Messages, then silence until it is released, then the end.
struct Talk {
    said: u64,
    of: u64,
    silence: std::pin::Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Talk {
    fn new(counted: Counted, of: u64) -> Talk {
        let mut released = counted.0.released.subscribe();
        let silence = Box::pin(async move {
            let _ = released.wait_for(|released| *released).await;
            drop(counted);
        });
        Talk { said: 0, of, silence }
    }
}

impl Duplex for Talk {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Record>> {
        if self.said < self.of {
            self.said += 1;
            let parts = vec![Part::text(format!("message {}", self.said), Provenance::hub())];
            let message = MessageId::from(format!("m{}", self.said));
            let said = Event::Said { message, channel: Channel::Answer, piece: Piece::Whole, parts };
            return Poll::Ready(Some(Record::emitted(said)));
        }
        if self.said > self.of {
            return Poll::Ready(None);
        }
        self.silence.as_mut().poll(cx).map(|()| {
            self.said += 1;
            Some(Record::emitted(Event::Finished(Finished::completed(Output::default()))))
        })
    }

    fn signal(&mut self, signal: Signal) -> Result<(), Fault> {
        match signal {
            Signal::Cancel(_) => Err(Fault::hub(FaultKind::Unreachable, "it does not listen")),
            Signal::Said { .. } | Signal::Answered { .. } => Ok(()),
        }
    }
}

pub(super) fn card() -> Card {
    let reads = Effects::reads_only(CardFrom::Configuration);
    let writes = Effects { writes: true, idempotent: false, ..reads };
    let destroys = Effects { destroys: true, ..writes };
    let skill = |name: &str, effects| {
        let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
        Skill::new(SkillId::new("work", name), SkillKind::Tool, name, Schema(schema.into()), effects)
    };
    Card {
        peer: "work".into(),
        title: "Work".into(),
        description: "".into(),
        version: "1".into(),
        class: RouteClass::InProcess,
        provider: None,
        skills: vec![
            skill("wait", reads),
            skill("write", writes),
            skill("delete", destroys),
            skill("talk", reads),
            skill("panic", writes),
        ],
        resources: Vec::new(),
        sources: Vec::new(),
        health: Health::Up,
        telemetry: None,
        seen: Time(0),
        raw: None,
    }
}

/// A hub, its peer and its store.
pub(super) struct Bench {
    pub hub: Arc<Hub>,
    pub work: Arc<Work>,
    pub observed: Arc<Observed>,
    pub store: Embedded,
    idle: usize,
    dir: tempfile::TempDir,
}

impl Bench {
    pub(super) fn new(limits: AdmissionLimits) -> Bench {
        let dir = tempfile::tempdir().expect("a directory");
        let store = Embedded::open(dir.path(), Options::default()).expect("opens");
        Bench::on(dir, store, limits)
    }

    fn on(dir: tempfile::TempDir, store: Embedded, limits: AdmissionLimits) -> Bench {
        let (ports, observed) = Observed::over(store.ports());
        let keys = Keyring::from_text(&"07".repeat(32)).expect("a key");
        let hub = Hub::new("test".into(), ports, Arc::new(keys), limits, Settings::default());
        let (running, most, calls) = Default::default();
        let work = Arc::new(Work { released: watch::Sender::new(false), running, most, calls });
        hub.registry.register(card(), work.clone()).expect("registers");
        let idle = hub.supervisor.count();
        Bench { hub, work, observed, store, idle, dir }
    }

    /// What a crash leaves is the journal: another hub on the same store, which has not recovered yet.
    pub(super) async fn restarted(self) -> Bench {
        let Bench { hub, store, dir, .. } = self;
        hub.stop(Duration::from_secs(5)).await;
        drop(hub);
        Bench::on(dir, store, AdmissionLimits::default())
    }

    /// Waits until nothing runs that did not run at the start, and no place is taken.
    pub(super) async fn idle(&self) {
        let idle = || {
            self.hub.supervisor.count() == self.idle
                && self.hub.admission.load() == (0, 0)
                && self.hub.live.count() == 0
        };
        let hub = &self.hub;
        eventually(idle, || {
            format!("{} run, admission {:?}, {} live", hub.supervisor.count(), hub.admission.load(), hub.live.count())
        })
        .await;
    }
}

/// Waits for something that other tasks bring about.
pub(super) async fn eventually(there: impl Fn() -> bool, instead: impl Fn() -> String) {
    let waited = tokio::time::timeout(Duration::from_secs(60), async {
        while !there() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    });
    assert!(waited.await.is_ok(), "it did not come about: {}", instead());
}

pub(super) fn call(skill: &str, args: Value) -> Box<Call> {
    let target = Target::Skill(SkillId::new("work", skill), None);
    let mut call = Call::new(
        entropy::message_id(),
        interlingua_model::Origin::program(),
        Ask::Invoke { target, input: Input::args(args.into()) },
    );
    call.caller.can_answer = KindSet::INPUT.with(KindSet::CONFIRM);
    Box::new(call)
}

pub(super) fn plain(skill: &str) -> Request {
    request(call(skill, json!({})))
}

/// Kept, and not bound to its caller.
pub(super) fn kept(skill: &str, args: Value) -> Request {
    let mut call = call(skill, args);
    call.limits.keep = true;
    call.limits.on_disconnect = OnDisconnect::Detach;
    request(call)
}

pub(super) fn request(call: Box<Call>) -> Request {
    Request { by: owner(), connection: 1, call }
}
