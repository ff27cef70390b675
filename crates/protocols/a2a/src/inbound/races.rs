//! Invariants under races: a subscription against events, a cancel against the end, one reader against another. Many tasks run at once on
//! the real store, on several threads, so that the interleavings differ. Also what is sent while a task is idle.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::encode::View;
use crate::fault::Error;
use crate::json::{Dialect, write};
use crate::wire::{Artifact, Content, TaskState, Update};
use bytes::Bytes;
use futures_util::future::join_all;
use http_body_util::BodyExt;
use interlingua_keys::Keyring;
use interlingua_model::peer::{Calling, Dispatch, Duplex, Peer, Reply};
use interlingua_model::{
    Ask, Call, CancelWhy, Card, CardFrom, Chunk, Effects, Event, Fault, FaultKind, Finished, Health, Input, Outcome,
    Output, Part, Principal, Proof, Provenance, Record, Request, RouteClass, Schema, Signal, Skill, SkillId, SkillKind,
    Target, TaskId, Time,
};
use interlingua_store_sqlite::{Embedded, Options};
use serde_json::json;

use super::feed::{Ear, Feed, FeedUpdate};
use super::links::Links;
use super::sse::{self, Wrap};
use interlingua_hub::admission::AdmissionLimits;
use interlingua_hub::{Hub, Settings, entropy};

const PIECES: usize = 6;
const AT_ONCE: usize = 50;

/// Tells an artifact piece by piece, letting others run in between.
struct Talker;

struct Talk {
    left: VecDeque<Record>,
    pause: bool,
}

impl Peer for Talker {
    fn call(self: Arc<Self>, dispatch: Dispatch) -> Calling {
        Box::pin(async move {
            if dispatch.skill.id.skill.as_str() == "wait" {
                return std::future::pending().await;
            }
            let piece = |index: usize| {
                Record::emitted(Event::Artifact(Chunk {
                    artifact: "a".into(),
                    index: u32::try_from(index).unwrap_or_default(),
                    last: index + 1 == PIECES,
                    parts: vec![Part::text(index.to_string(), Provenance::hub())],
                    header: None,
                }))
            };
            let end = Record::emitted(Event::Finished(Finished::completed(Output::default())));
            let left = (0..PIECES).map(piece).chain([end]).collect();
            Ok(Reply::Live(Box::new(Talk { left, pause: true })))
        })
    }
}

impl Duplex for Talk {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Record>> {
        self.pause = !self.pause;
        if !self.pause {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(self.left.pop_front())
    }

    /// It does not listen: what it has begun it ends.
    fn signal(&mut self, _: Signal) -> Result<(), Fault> {
        Ok(())
    }
}

struct Bench {
    hub: Arc<Hub>,
    _store: Embedded,
    _dir: tempfile::TempDir,
}

fn bench() -> Bench {
    let dir = tempfile::tempdir().expect("a directory");
    let store = Embedded::open(dir.path(), Options::default()).expect("opens");
    let keys = Arc::new(Keyring::from_text(&"07".repeat(32)).expect("a key"));
    let hub = Hub::new("test".into(), store.ports(), keys, AdmissionLimits::default(), Settings::default());
    let schema = Schema(json!({"type": "object"}).into());
    let effects = Effects::reads_only(CardFrom::Configuration);
    let skill = |name: &str| {
        Skill::new(SkillId::new("talker", name), SkillKind::Agent, "talks", schema.clone(), effects).sealed()
    };
    let card = Card {
        peer: "talker".into(),
        title: "Talker".into(),
        description: "".into(),
        version: "1".into(),
        class: RouteClass::InProcess,
        provider: None,
        skills: vec![skill("talk"), skill("wait")],
        resources: Vec::new(),
        sources: Vec::new(),
        health: Health::Up,
        telemetry: None,
        seen: Time(0),
        raw: None,
    };
    hub.registry().register(card, Arc::new(Talker)).expect("registers");
    Bench { hub, _store: store, _dir: dir }
}

fn owner() -> Principal {
    Principal::hub_owner(Proof::LocalSocket)
}

impl Bench {
    /// A task that has begun, and whose caller has left it.
    async fn begun(&self, skill: &str) -> TaskId {
        let target = Target::Skill(SkillId::new("talker", skill), None);
        let ask = Ask::Invoke { target, input: Input::args(json!({}).into()) };
        let mut call = Box::new(Call::new(entropy::message_id(), interlingua_model::Origin::program(), ask));
        call.limits.keep = true;
        call.limits.on_disconnect = interlingua_model::OnDisconnect::Detach;
        let request = Request { by: owner(), connection: 1, call };
        let mut running = self.hub.open(request).await.expect("opens");
        running.keep().await.expect("is kept")
    }

    async fn subscribed(&self, task: TaskId) -> Feed {
        let folded = self.hub.task(&owner(), task).await.expect("is there");
        let reader = self.hub.watch(&owner(), task, folded.seq).await.expect("is read");
        let (links, wire) = (Links::new(String::new(), task), crate::Version::V1.wire());
        Feed::joined(folded, reader, View::WHOLE, Ear { hub: self.hub.clone(), by: owner(), wire, links })
    }
}

/// Lets others run, so often that the next thing comes at another moment in every run.
async fn a_moment(run: usize) {
    for _ in 0..run % 23 {
        tokio::task::yield_now().await;
    }
}

/// Waits until the task has so many records, or is over.
async fn records(hub: &Hub, task: TaskId, least: usize) {
    let least = u64::try_from(least).expect("a small number");
    while hub.live(task).is_some_and(|live| live.seq() < least) {
        tokio::task::yield_now().await;
    }
}

async fn all(mut feed: Feed) -> Vec<FeedUpdate> {
    let mut told = Vec::new();
    while let Some(next) = feed.next().await.expect("goes on") {
        told.push(next);
    }
    told
}

fn texts(artifact: &Artifact) -> Vec<String> {
    let text = |part: &crate::wire::Part| match &part.content {
        Content::Text(text) => text.to_string(),
        other => panic!("{other:?}"),
    };
    artifact.parts.iter().map(text).collect()
}

/// What a reader has put together from a snapshot and what came after it, and the state it ended in.
fn rebuilt(told: &[FeedUpdate]) -> (Vec<String>, Option<TaskState>) {
    let (mut parts, mut state) = (Vec::new(), None);
    for told in told {
        match &told.update {
            Update::Task(task) => {
                parts.extend(task.artifacts.iter().filter(|artifact| &*artifact.id == "a").flat_map(texts));
                state = Some(task.status.state);
            }
            Update::Artifact(update) => parts.extend(texts(&update.artifact)),
            Update::Status(update) => state = Some(update.status.state),
            Update::Message(message) => panic!("{message:?}"),
        }
    }
    (parts, state)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_18_in_a_thousand_subscriptions_nothing_is_lost_and_nothing_told_twice() {
    let bench = &bench();
    let wanted: Vec<String> = (0..PIECES).map(|piece| piece.to_string()).collect();
    let mut moments = std::collections::BTreeSet::new();
    for batch in 0..1000 / AT_ONCE {
        let runs = (0..AT_ONCE).map(|run| async move {
            let task = bench.begun("talk").await;
            a_moment(batch + run).await;
            records(&bench.hub, task, run % (PIECES + 3)).await;
            let told = all(bench.subscribed(task).await).await;
            let seen = match &told[0].update {
                Update::Task(task) => task.artifacts.iter().map(|artifact| artifact.parts.len()).sum::<usize>(),
                other => panic!("a snapshot comes first: {other:?}"),
            };
            (seen, told)
        });
        for (seen, told) in join_all(runs).await {
            moments.insert(seen);
            assert_eq!(rebuilt(&told), (wanted.clone(), Some(TaskState::Completed)), "after {seen} pieces: {told:?}");
        }
    }
    assert!(moments.len() > 1, "every subscription came at the same moment: {moments:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_15_every_subscriber_sees_the_same_sequence_and_one_that_is_gone_changes_nothing() {
    let bench = bench();
    for run in 0..40 {
        let task = bench.begun("talk").await;
        let readers = (0..12).map(|reader| {
            let bench = &bench;
            async move {
                a_moment(run + 2 * reader).await;
                let mut feed = bench.subscribed(task).await;
                if reader % 4 == 3 {
                    // Leaves in the middle.
                    feed.next().await.expect("goes on");
                    return Vec::new();
                }
                all(feed).await
            }
        });
        let read = join_all(readers).await;
        let line = |told: &FeedUpdate| (told.id.clone(), format!("{:?}", told.update));
        let whole: Vec<_> = read.iter().map(|told| told.iter().skip(1).map(line).collect::<Vec<_>>()).collect();
        let longest = whole.iter().max_by_key(|told| told.len()).expect("readers");
        for told in &whole {
            assert_eq!(told[..], longest[longest.len() - told.len()..], "one saw another sequence");
        }
        let done = bench.hub.task(&owner(), task).await.expect("is there");
        assert!(matches!(done.finished().map(|finished| &finished.outcome), Some(Outcome::Completed)));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_13_a_cancel_against_the_end_leads_to_exactly_one_outcome() {
    let bench = &bench();
    // Too late; told in time to a peer that ended what it had begun; in time.
    let (mut late, mut ignored, mut cancelled) = (0, 0, 0);
    for batch in 0..1000 / AT_ONCE {
        let runs = (0..AT_ONCE).map(|run| async move {
            let task = bench.begun("talk").await;
            a_moment(3 * batch + run).await;
            let taken = bench.hub.signal(owner(), task, Signal::Cancel(CancelWhy::Asked)).await;
            let mut reader = bench.hub.watch(&owner(), task, 0).await.expect("is read");
            let mut ends = Vec::new();
            while let Some(entry) = reader.next().await.expect("goes on") {
                ends.extend(entry.record.event().and_then(|event| match event {
                    Event::Finished(finished) => Some(finished.outcome.clone()),
                    _ => None,
                }));
            }
            (task, taken, ends)
        });
        for (task, taken, ends) in join_all(runs).await {
            assert_eq!(ends.len(), 1, "{ends:?}");
            let kept = bench.hub.task(&owner(), task).await.expect("is there");
            assert_eq!(kept.finished().map(|finished| &finished.outcome), ends.first());
            match (&ends[0], taken) {
                // `CancelTask` is answered by how the task ended, and not by this.
                (Outcome::Completed, Ok(())) => ignored += 1,
                (Outcome::Completed, Err(fault)) => {
                    assert_eq!(fault.kind, FaultKind::AlreadyFinished);
                    late += 1;
                }
                (Outcome::Cancelled { .. }, Ok(())) => cancelled += 1,
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(late + ignored + cancelled, 1000);
    assert!(cancelled > 0 && late + ignored > 0, "{cancelled} were cancelled: there was no race");
}

struct Plain;

impl Wrap for Plain {
    fn update(&self, update: &Update) -> Bytes {
        write::update(update, Dialect::V1)
    }

    fn error(&self, error: &Error) -> Bytes {
        error.http(crate::Version::V1)
    }
}

#[tokio::test]
async fn a_37_a_quiet_stream_shows_every_15_seconds_that_it_lives() {
    let bench = bench();
    let task = bench.begun("wait").await;
    let mut body = sse::stream(bench.subscribed(task).await, Plain).into_body();
    let mut next = async || {
        let frame = body.frame().await.expect("it goes on").expect("a frame");
        String::from_utf8(frame.into_data().expect("data").to_vec()).expect("UTF-8")
    };
    assert!(next().await.starts_with("id: "), "the task as it stands");
    tokio::time::pause();
    // It may still say that it begins.
    let mut comments = 0;
    while comments < 3 {
        let before = tokio::time::Instant::now();
        let frame = next().await;
        // The clock moves in whole milliseconds.
        assert!(before.elapsed() <= Duration::from_millis(15_001), "{:?}: {frame}", before.elapsed());
        assert!(frame.starts_with("id: ") || frame.starts_with(": "), "a comment is no event: {frame}");
        comments += usize::from(frame.starts_with(": "));
    }
}
